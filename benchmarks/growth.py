"""Growth of cost: a trial from 5 s to 300 s, and the run of a study of several numbers of sessions.

Of planning, see :mod:`benchmarks.archive`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.generated import write_study
from benchmarks.timing import cost_of_run
from benchmarks.trial import PARSE, TO_KINETICS, first_walk, seconds

TITLE = "Growth"
LENGTHS_S = (5.0, 75.0, 300.0)
TRIALS = 2
MOST_GROWTH = 1.25  # linear is 1; the rest allows for noise, and for caches too small for a long trial


def measure(*, lengths_s: Sequence[float] = LENGTHS_S, sessions: Sequence[int] = (), rounds: int = 3) -> list[Figure]:
    """Return the growth of cost with the length of a trial and, if given, the number of sessions."""
    return [*of_lengths(lengths_s, rounds), *(of_sessions(sessions) if sessions else ())]


def of_lengths(lengths_s: Sequence[float], rounds: int) -> list[Figure]:
    """Return the time of a trial, read to kinetics, ms, and its growth with length."""
    figures, ms = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for length_s in lengths_s:
            study = Path(folder) / f"{length_s:g}"
            write_study(study, sessions=1, trials=1, duration_s=length_s)
            cost = seconds(first_walk(study), rounds=rounds)
            ms[length_s] = 1e3 * cost[TO_KINETICS]
            parse = f"parse {1e3 * cost[PARSE]:.0f}"
            figures.append(Figure(f"a trial of {length_s:g} s, read to kinetics, ms", ms[length_s], detail=parse))
    return [*figures, grown("ms a second of recording", ms)]


def of_sessions(numbers: Sequence[int]) -> list[Figure]:
    """Return the time to run a study, s, and its growth."""
    cost = dict[float, float]()
    with tempfile.TemporaryDirectory() as folder:
        for sessions in numbers:
            study = Path(folder) / f"{sessions}"
            write_study(study, sessions=sessions, trials=TRIALS)
            cost[sessions] = cost_of_run(study).cpu_s
    found = [Figure(f"{sessions} sessions of {TRIALS} trials run, s", run) for sessions, run in cost.items()]
    return [*found, grown("s a session run", cost)]


def grown(what: str, cost: Mapping[float, float]) -> Figure:
    """Return the marginal cost of the larger two of three sizes over the smaller two.

    It is 1 if the cost is a constant plus a part proportional to the size.
    """
    few, some, many = cost
    first, then = ((cost[b] - cost[a]) / (b - a) for a, b in ((few, some), (some, many)))
    name = f"{what}, from {some:g} to {many:g} over from {few:g} to {some:g}"
    return Figure(name, then / first, at_most=MOST_GROWTH, detail=f"{then:.3g} over {first:.3g}")
