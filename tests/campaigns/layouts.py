"""Generated study folders of laboratories, and what ``init`` says of them.

``python -m tests.campaigns layouts`` prints how many layouts ``init`` understands, asks about or
gets wrong in silence, by kind; ``--by-hand`` takes those that are written by hand, ``--show KIND`` lists wrong ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.campaigns.runner import Report
from tests.commands.init.layouts.generated import generated
from tests.commands.init.layouts.judge import ASKED, KINDS, RIGHT, WRONG, judge, tables_of, worst
from tests.commands.init.layouts.layout import Layout, lab_layouts

SHORT = {"count": 200}
MOST_WRONG = 0.01


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


def main(report: Report, *, count: int = 3000, seed: int = 1, by_hand: bool = False, show: str = "") -> None:
    """Report how layouts end by what is asked of them.

    Args:
        by_hand: take the layouts that are written by hand instead of generated ones.
        show: list the layouts of which this is wrong.
    """
    layouts = lab_layouts() if by_hand else generated(count, seed)
    ends, wrong = scored(layouts)
    report.table("", RIGHT, ASKED, WRONG)
    for kind, of in ends.items():
        report.row(kind, of[RIGHT], of[ASKED], of[WRONG])
    for layout in wrong[show] if show else ():
        report.text("\n".join(["", f"{layout.name}: {layout.habit}", *(f"  {path}" for path in layout.recordings)]))
    report.allow(0 if by_hand else MOST_WRONG, ends["whole"][WRONG], len(layouts), "wrong in silence")
