"""Clean recordings of every way of moving, generated: how many valid stances are refused, and why.

``python -m tests.campaigns.moving_campaign [WALKS [FIRST_SEED]]`` prints the table of docs/validation.md.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import xarray as xr

from pipeline.errors import UserError
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, INVALID, VALID, Recorded, Truth, recorded
from tests.support.walks.ways_of_moving import WAYS

WALKS = 500


class Judged(NamedTuple):
    """The verdict on one stance that is valid or invalid in truth; ``reason`` is empty if it is used.

    ``doubt``: codes of the doubts about it.
    """

    way: str
    seed: int
    truth: Truth
    plates: frozenset[int]
    reason: str
    doubt: str = ""

    @property
    def right_place(self) -> bool:
        """Return whether the stance was found on its plates."""
        return self.plates == self.truth.plates


def judged(walk: Recorded, **settings: object) -> list[Judged]:
    """Return the verdicts on the stances of a recording; of a stance that is not found the reason is ``not found``."""
    known = [truth for truth in walk.stances if truth.verdict in (VALID, INVALID)]
    try:
        trial = found(clean(walk.trial, body_model=BODY_MODEL, settings=settings_of("clean")), **settings)
    except UserError as error:
        return [Judged(walk.plan.way, -1, truth, frozenset(), str(error)) for truth in known]
    return [Judged(walk.plan.way, -1, truth, *_row(trial, truth)) for truth in known]


def _row(trial: xr.Dataset, truth: Truth) -> tuple[frozenset[int], str, str]:
    """Return plates, reason and doubts of the stance with the most overlap with a true one."""
    best, longest = (frozenset[int](), "not found", ""), 0.0
    rows = zip(*(trial[name].values for name in ("contact_side", "contact_start", "contact_end")), strict=True)
    for i, (side, start, end) in enumerate(rows):
        overlap = min(end, truth.end_s) - max(start, truth.start_s)
        if side == truth.side and overlap > max(longest, 0.5 * (truth.end_s - truth.start_s)):
            longest = overlap
            plates, reason, doubt = (str(trial[name].values[i]) for name in ("plates", "reason", "doubt_code"))
            best = frozenset(map(int, plates.split())), reason, doubt
    return best


def clean_walks(walks: int = WALKS, first_seed: int = 0) -> Iterator[Judged]:
    """Yield the verdicts on the stances of so many recordings, the ways of moving in turn."""
    for seed in range(first_seed, first_seed + walks):
        for verdict in judged(recorded(WAYS[seed % len(WAYS)], seed)):
            yield verdict._replace(seed=seed)


def kind(reason: str) -> str:
    """Return a reason without its numbers."""
    return re.sub(r": [A-Z].*|(?<=plate )\d+|(?<=plates )\d+ and \d+|-?\d+(?= (?:cm|ms|N)\b)", "..", reason)


def as_markdown(verdicts: Iterable[Judged]) -> str:
    """Return valid stances refused and doubted by way of moving and by reason, with their seeds."""
    listed = list(verdicts)
    lines = [
        "| way of moving | valid stances | refused | why (seeds) | doubted (seeds) | invalid stances used |",
        "|---|---|---|---|---|---|",
    ]
    for way in [*dict.fromkeys(verdict.way for verdict in listed), ""]:
        own = [verdict for verdict in listed if way in ("", verdict.way)]
        valid = [verdict for verdict in own if verdict.truth.verdict == VALID]
        refused = [v for v in valid if v.reason or not v.right_place]
        why = Counter(kind(v.reason or "on other plates") for v in refused)
        seeds = {name: sorted({v.seed for v in refused if kind(v.reason or "on other plates") == name}) for name in why}
        texts = [f"{count} {name} ({' '.join(map(str, seeds[name][:6]))})" for name, count in why.most_common()]
        wrong = [v for v in own if v.truth.verdict == INVALID and not v.reason]
        used = f"{len(wrong)} of {len(own) - len(valid)} {' '.join(map(str, sorted({v.seed for v in wrong})[:6]))}"
        doubted = [v for v in valid if v.doubt and v not in refused]
        share = f"{len(refused)} ({100 * len(refused) / max(len(valid), 1):.1f} %)"
        doubts = f"{len(doubted)} {' '.join(map(str, sorted({v.seed for v in doubted})[:6]))}".strip()
        why_not = "; ".join(texts) if way else ""
        lines.append(f"| {way or 'all'} | {len(valid)} | {share} | {why_not} | {doubts} | {used.strip()} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(as_markdown(clean_walks(*map(int, sys.argv[1:3]))) + "\n")
