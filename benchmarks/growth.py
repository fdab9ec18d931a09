"""Growth of cost: a trial from 5 s to 300 s, and with ``full`` the run of a study from 1 to 100 sessions.

``python -m benchmarks.growth [full]``; of planning, see :mod:`benchmarks.archive`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.figures import Figure, run_alone
from benchmarks.generated import write_study
from benchmarks.study import run_s
from benchmarks.trial import PARSE, TO_KINETICS, seconds

TITLE = "Growth"
LENGTHS_S = (5.0, 75.0, 300.0)
SESSIONS = (1, 10, 100)
TRIALS = 2
MOST_GROWTH = 1.25  # linear is 1; the rest allows for noise, and for caches too small for a long trial


def measure(*, full: bool = False) -> list[Figure]:
    """Return the growth of cost with the length of a trial and the number of sessions."""
    return [*of_lengths(), *(of_sessions() if full else ())]


def of_lengths() -> list[Figure]:
    """Return the time of a trial, read to kinetics, ms, and its growth with length."""
    cost = {}
    with tempfile.TemporaryDirectory() as folder:
        for length_s in LENGTHS_S:
            study = Path(folder) / f"{length_s:g}"
            write_study(study, sessions=1, trials=1, duration_s=length_s)
            cost[length_s] = seconds(study, rounds=3)
    ms = {length_s: 1e3 * one[TO_KINETICS] for length_s, one in cost.items()}
    parse_ms = {length_s: 1e3 * one[PARSE] for length_s, one in cost.items()}
    return [
        *(
            Figure(f"a trial of {length_s:g} s, read to kinetics, ms", ms[length_s], detail=f"parse {parse:.0f}")
            for length_s, parse in parse_ms.items()
        ),
        grown("ms a second of recording", ms),
    ]


def of_sessions() -> list[Figure]:
    """Return the time to run a study, s, and its growth."""
    cost = dict[float, float]()
    with tempfile.TemporaryDirectory() as folder:
        for sessions in SESSIONS:
            study = Path(folder) / f"{sessions}"
            write_study(study, sessions=sessions, trials=TRIALS)
            cost[sessions] = run_s(study)
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


if __name__ == "__main__":
    run_alone(TITLE, lambda: measure(full="full" in sys.argv))
