"""Generated study folders of laboratories, and what ``init`` says of them.

``python -m tests.campaigns.layouts --count 3000 --seed 1`` prints how many layouts ``init`` understands, asks about or
gets wrong in silence, by kind; ``--by-hand`` takes those that are written by hand, ``--show KIND`` lists wrong ones.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from tests.commands.init.layouts.generated import generated
from tests.commands.init.layouts.judge import ASKED, KINDS, RIGHT, WRONG, judge, tables_of, worst
from tests.commands.init.layouts.layout import Layout, lab_layouts


def scored(layouts: Sequence[Layout]) -> tuple[dict[str, Counter[str]], dict[str, list[Layout]]]:
    """Return how many layouts end right, asked or wrong, by kind and in whole, and the wrong ones by kind."""
    ends: dict[str, Counter[str]] = {kind: Counter() for kind in (*KINDS, "whole")}
    wrong: dict[str, list[Layout]] = {kind: [] for kind in ends}
    for layout in layouts:
        verdicts = judge(layout, tables_of(layout))
        for kind, verdict in (verdicts | {"whole": worst(verdicts.values())}).items():
            ends[kind][verdict] += 1
            if verdict == WRONG:
                wrong[kind].append(layout)
    return ends, wrong


def main() -> int:
    """Print the table; the status is 1 if anything is wrong in silence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--by-hand", action="store_true")
    parser.add_argument("--show", choices=(*KINDS, "whole"))
    options = parser.parse_args()
    ends, wrong = scored(lab_layouts() if options.by_hand else generated(options.count, options.seed))
    lines = [f"{'':10} {RIGHT:>6} {ASKED:>6} {WRONG:>6}"]
    lines += [f"{kind:10} {of[RIGHT]:6} {of[ASKED]:6} {of[WRONG]:6}" for kind, of in ends.items()]
    for layout in wrong[options.show] if options.show else ():
        lines += ["", f"{layout.name}: {layout.habit}", *(f"  {path}" for path in layout.recordings)]
    sys.stdout.write("\n".join([*lines, ""]))
    return int(bool(wrong["whole"]))


if __name__ == "__main__":
    sys.exit(main())
