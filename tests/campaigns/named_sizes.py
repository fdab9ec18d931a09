"""Sizes that verdicts name of tilts, shifts and delays, against those that were put into twins of sessions.

``python -m tests.campaigns named_sizes`` prints for each fault and dose in how many twins a verdict is new, in how many
of these the cause is named, first or beside others, and by how much its size is off. Drawn people and the
real sessions show trunk and arms; the way of a fault is drawn, once for each seed of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pipeline.errors import UserError
from tests.campaigns.corrupted_twins import REAL, drawn_sessions, judged, real_sessions, text_of
from tests.campaigns.runner import Report
from tests.support.checkout import SHARED
from tests.support.faults.twin_rows import faults
from tests.support.faults.twins import Session
from tests.support.studies.run_steps import run_session

SHORT = {"generated": 1, "labs": (), "seeds": 1}
SHIFTS = ((r"plates are shifted by (\d+)", 1.0), (r"all plates together seem shifted by (\d+) cm", 10.0))
# by row: how a cause is named with its size, and the size of these words in the unit of the dose
NAMED = {
    "markers tilted against the plates": ((r"are tilted by ([\d.]+)", 1.0),),
    "all plates shifted along the walk": SHIFTS,
    "all plates shifted": SHIFTS,
    "all plates out of time": ((r"plates are (?:late|early) by (\d+)", 1.0), (r"are (\d+) ms apart", 1.0)),
}
UP = "80 mm up"  # no cause, as a shift upwards only moves horizontal forces
# asked: the median of the sizes that are named, in the unit of the row
MOST = {"tilted": 0.5, "shifted": 8.0, "out of time": 6.0}


class Named(NamedTuple):
    """What a twin's verdicts say: whether any is new, the sizes named of the cause, whether it is named first."""

    found: bool
    sizes: list[float]
    first: bool


def texts_of(session: Session) -> tuple[set[str], bool]:
    """Return the reasons and doubts of a session's stances, and whether the momentum of the whole body is known."""
    try:
        steps = run_session(
            session.rows, session.recordings, session.participant, session.model, session.chosen, session.segments
        )
    except UserError as error:
        return {str(error)}, False
    cut = steps["cycles"]
    texts = {text for name in ("stance_reason", "stance_doubt") for text in text_of(cut, name)}
    return texts, "stance_trial" in cut and bool(np.isfinite(cut["stance_momentum_lever_ahead_mm"].values).any())


def named(texts: set[str], row: str) -> Named:
    """Return what texts that the clean session does not have say of the cause of a row."""
    sizes, first = set[float](), False
    for text in texts:
        own = [unit * float(size) for words, unit in NAMED[row] for size in re.findall(words, text)]
        cause = text.split(": ", 1)[-1].split(" or ")[0]
        sizes |= {*own}
        first |= bool(own) and any(re.search(words, one) for words, _ in NAMED[row] for one in (cause, text[:60]))
    return Named(bool(texts), sorted(sizes), first)


def twins(sessions: Sequence[Session], seeds: int) -> Iterator[tuple[str, str, Named]]:
    """Yield row, dose and what is said of each twin."""
    listed = [fault for fault in faults() if fault.row in NAMED and fault.dose != UP]
    for session in sessions:
        clean, (before, whole_body) = judged(session), texts_of(session)
        if isinstance(clean, str) or not clean.used or not whole_body:
            continue
        for number, fault in enumerate(listed):
            for seed in range(seeds):
                rng = np.random.default_rng([seed, number, sum(map(ord, session.name))])
                twin = fault.corrupt(session, clean.used, rng)
                if twin:
                    yield fault.row, fault.dose, named(texts_of(twin.session)[0] - before, fault.row)


def main(
    report: Report, *, generated: int = 12, first_seed: int = 830, labs: tuple[str, ...] = (*REAL,), seeds: int = 2
) -> None:
    """Report the sizes that are named of each dose.

    Args:
        generated, first_seed: number and first seed of the drawn sessions.
        labs: real sessions of these.
        seeds: of the faults, of which each has another way.
    """
    sessions = [one.session for one in drawn_sessions(generated, first_seed)]
    sessions += real_sessions(SHARED, {lab: REAL[lab] for lab in labs}) if SHARED.is_dir() else []
    by_dose = defaultdict[tuple[str, str], list[Named]](list)
    for row, dose, one in twins(sessions, seeds):
        by_dose[row, dose].append(one)
    off = defaultdict[str, list[float]](list)
    report.table("fault", "dose", "twins", "found", "cause named", "first", "size off, median", "90 %", "too large")
    for (row, dose), every in by_dose.items():
        size = float(dose.split()[0])
        errors = [float(np.mean(one.sizes)) - size for one in every if one.sizes]
        unit = next(kind for kind in MOST if kind in row)
        off[unit] += [abs(error) for error in errors]
        shares = [sum(one.found for one in every), len(errors), sum(one.first for one in every)]
        sizes = [*np.percentile(np.abs(errors), [50, 90]), np.median(errors)] if errors else []
        report.row(row, dose, len(every), *shares, *(f"{value:.1f}" for value in sizes))
    for unit, errors in off.items():
        report.text(f"{unit}: {np.median(errors):.2f} off in the median of {len(errors)} twins")
        report.allow(0.0, int(np.median(errors) > MOST[unit]), 1, f"named sizes are further off than asked: {unit}")
