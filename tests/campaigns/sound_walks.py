"""Sound walks: how many valid stances of generated sessions are refused or doubted, and by what.

``python -m tests.campaigns sound_walks [--people drawn|moving] [--jobs 2]`` prints the table of false alarms of
docs/validation.md.

- ``drawn``: sessions of a static trial and four to six walks of people with trunk and arms, whose masses and
  proportions no table of the pipeline has, in nine ways of moving (:mod:`tests.support.drawn.sessions`).
- ``moving``: a static trial and one walk of :data:`EVERY_WAY` in turn, also running, on stairs and on belts, by a
  random person with one of four marker sets, 33 to 500 frames a second, noise, markers that move on the skin, plates
  with crosstalk, offsets and drift, and a mass in the table that is up to 2 % wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from tests.campaigns.corrupted_twins import Judged, harm_of, judged
from tests.campaigns.runner import Report, in_parallel
from tests.support.drawn.sessions import WALKS_A_SESSION, sound_session
from tests.support.faults.twins import Contact, Session
from tests.support.settings import DEFAULTS
from tests.support.walks.moving_on_plates import VALID, Truth
from tests.support.walks.moving_sessions import EVERY_WAY, whole_session

WALKS = {"drawn": 300, "moving": 2000}
SHORT = {"walks": 12}
MOST_REFUSED = 0.01
# A doubt about noise is right if noise alone, which the same session by exact cameras does not have, changes a moment
# by as much as a fault that must be found (root mean square over the stance)
NOISY, HARMED_N_M_KG = "markers_noisy", 0.10
# reasons that say what a recording lacks, not that something is wrong: too near its ends, or no whole foot seen
LACKING = ("near_an_end", "markers_not_seen")


class Verdict(NamedTuple):
    """The verdict on a stance that is valid in truth; ``refused`` and ``doubted`` hold codes."""

    way: str
    seed: int
    rate_hz: float
    model: str
    side: str
    refused: str
    doubted: tuple[str, ...]


def verdicts(seed: int, people: str = "drawn") -> list[Verdict]:
    """Return the verdicts on the valid stances of one session; ``people``: which generator's."""
    if people == "drawn":
        sound = sound_session(seed)
        exact = cache(lambda: judged(sound_session(seed, noise=False).session))
        return [*_rows(sound.session, sound.way, sound.truths, seed, exact)]
    whole = whole_session(EVERY_WAY[seed % len(EVERY_WAY)], seed, DEFAULTS)
    return [*_rows(whole.session, whole.way, {"gait.c3d": whole.truths}, seed)] if whole.human else []


def _rows(
    session: Session, way: str, truths: Mapping[str, Sequence[Truth]], seed: int,
    exact: Callable[[], Judged | str] | None = None,
) -> Iterator[Verdict]:  # fmt: skip
    """Yield the verdicts on valid stances; ``exact``: those of the same session by exact cameras, if there is one."""
    valid = [(file, truth) for file, own in truths.items() for truth in own if truth.verdict == VALID]
    if not valid:
        return
    found = judged(session)
    for file, truth in valid:
        rate_hz = session.recordings[file].marker_rate_hz
        refused, doubted = (found, ()) if isinstance(found, str) else _of(file, truth, found, rate_hz)
        if NOISY in doubted and exact and _is_harmed(file, truth, found, exact(), rate_hz):
            refused, doubted = NOISY, ()
        if refused not in LACKING:
            yield Verdict(way, seed, rate_hz, session.model.name, truth.side, refused, doubted)


def _is_harmed(file: str, truth: Truth, found: Judged | str, exact: Judged | str, rate_hz: float) -> bool:
    """Return whether the noise of markers alone changes a moment of a stance by :data:`HARMED_N_M_KG`."""
    if isinstance(found, str) or isinstance(exact, str):
        return False
    frames = (int(np.ceil(second * rate_hz)) for second in (truth.start_s, truth.end_s))
    contact = Contact(file, truth.side, tuple(truth.needed), *frames)
    return harm_of(contact, exact.moments[file], found.moments[file], None)[0] >= HARMED_N_M_KG


def _of(file: str, truth: Truth, found: Judged, rate_hz: float) -> tuple[str, tuple[str, ...]]:
    """Return refusal and doubts of the stance that overlaps a true one most."""
    best, longest = ("not_found", tuple[str, ...]()), 0.5 * (truth.end_s - truth.start_s)
    for contact, codes in zip(found.contacts, found.codes, strict=True):
        if contact.file != file:
            continue
        if not contact.side:  # the trial is rejected
            return codes
        overlap = min(contact.last / rate_hz, truth.end_s) - max(contact.first / rate_hz, truth.start_s)
        if contact.side == truth.side and overlap > longest:
            best, longest = codes, overlap
            if not codes[0] and not truth.needed <= {*contact.plates} <= truth.plates:
                best = ("on_other_plates", ())
    return best


def main(report: Report, *, walks: int = 0, first_seed: int = 0, people: str = "drawn", jobs: int = 1) -> None:
    """Report false refusals and doubts of valid stances by way of moving, and by code with some seeds.

    Args:
        walks: number of walks; 0: as many as the tables of docs/validation.md are to have.
    """
    walks = walks or WALKS[people]
    seeds = range(first_seed, first_seed + (walks if people == "moving" else round(walks / WALKS_A_SESSION)))
    listed = [one for part in in_parallel(partial(verdicts, people=people), seeds, jobs) for one in part]
    noisy = [one for one in listed if one.refused == NOISY]
    listed = [one for one in listed if one.refused != NOISY]
    report.table("way of moving", "valid stances", "refused", "doubted", "by")
    for way in [*dict.fromkeys(one.way for one in sorted(listed)), "all"]:
        own = [one for one in listed if way in ("all", one.way)]
        if own:
            refused, doubted = (sum(map(bool, part)) for part in zip(*(one[-2:] for one in own), strict=True))
            by = Counter(code for one in own for code in (one.refused, *one.doubted) if code)
            seeds_of = {code: [o.seed for o in own if code in (o.refused, *o.doubted)][:5] for code in by}
            texts = [f"{code} {count} ({' '.join(map(str, seeds_of[code]))})" for code, count in by.most_common()]
            shares = [f"{count} ({100 * count / len(own):.1f} %)" for count in (refused, doubted)]
            report.row(way, len(own), *shares, ", ".join(texts))
    report.text(f"{len(noisy)} stances doubted for noise, rightly ({' '.join(map(str, {one.seed for one in noisy}))})")
    report.allow(MOST_REFUSED, [one for one in listed if one.refused], len(listed), "sound stances refused")
