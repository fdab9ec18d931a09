"""Clean recordings of every way of moving, generated: how many valid stances are refused, and why.

``python -m tests.campaigns moving_campaign`` prints the table of docs/validation.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import xarray as xr

from pipeline.errors import UserError
from tests.campaigns.runner import Report
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, INVALID, VALID, Recorded, Truth, recorded
from tests.support.walks.ways_of_moving import WAYS

SHORT = {"walks": 22, "first_seed": 100}


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


def kind(reason: str) -> str:
    """Return a reason without its numbers."""
    return re.sub(r": [A-Z].*|(?<=plate )\d+|(?<=plates )\d+ and \d+|-?\d+(?= (?:cm|ms|N)\b)", "..", reason)


def main(report: Report, *, walks: int = 500, first_seed: int = 0) -> None:
    """Report valid stances refused and doubted by way of moving and by reason, with their seeds."""
    seeds = range(first_seed, first_seed + walks)
    listed = [one._replace(seed=seed) for seed in seeds for one in judged(recorded(WAYS[seed % len(WAYS)], seed))]
    report.table("way of moving", "valid stances", "refused", "why (seeds)", "doubted (seeds)", "invalid stances used")
    for way in [*dict.fromkeys(verdict.way for verdict in listed), ""]:
        own = [verdict for verdict in listed if way in ("", verdict.way)]
        valid = [verdict for verdict in own if verdict.truth.verdict == VALID]
        refused = [v for v in valid if v.reason or not v.right_place]
        why = Counter(kind(v.reason or "on other plates") for v in refused)
        seeds_of = {name: [v.seed for v in refused if kind(v.reason or "on other plates") == name] for name in why}
        texts = [f"{count} {name} ({first_seeds(seeds_of[name])})" for name, count in why.most_common()]
        wrong = [v for v in own if v.truth.verdict == INVALID and not v.reason]
        doubted = [v for v in valid if v.doubt and v not in refused]
        share = f"{len(refused)} ({100 * len(refused) / max(len(valid), 1):.1f} %)"
        doubts = f"{len(doubted)} {first_seeds(v.seed for v in doubted)}".strip()
        used = f"{len(wrong)} of {len(own) - len(valid)} {first_seeds(v.seed for v in wrong)}".strip()
        if not way:
            report.allow(0.01, refused, len(valid), "valid stances refused")
            report.allow(0.03, wrong, len(own) - len(valid), "invalid stances used")
        report.row(way or "all", len(valid), share, "; ".join(texts) if way else "", doubts, used)


def first_seeds(seeds: Iterable[int]) -> str:
    return " ".join(map(str, sorted({*seeds})[:6]))
