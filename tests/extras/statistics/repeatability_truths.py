"""Bias and coverage of the repeatability of simulated studies with known components.

``python -m tests.extras.statistics.repeatability_truths 1000`` prints the table of docs/repeatability.md.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from pipeline.extras.statistics.repeatability.components import Estimate, repeatability_of
from tests.extras.statistics.repeated import simulated

OWN = 0.3  # of the error's variance, with two repeated factors
PATTERNS = 20  # of missing measurements


class Found(NamedTuple):
    """Bias of the estimates, and the share of limits that hold the true value, percent."""

    icc_bias_percent: float
    sem_bias_percent: float
    icc_held_percent: float
    sem_held_percent: float


def study_of(
    shape: tuple[int, ...],
    studies: int,
    draw: np.random.Generator,
    *,
    icc: float,
    share: float,
    nested: bool = False,
    missing: float = 0.0,
) -> dict[str, Found]:
    """Return what is found over studies; with ``missing`` that share of the measurements is left out."""
    true, results = icc / (1 - icc), []
    for values in np.array_split(
        simulated(shape, studies, draw, icc=icc, share=share, own=OWN), PATTERNS if missing else 1, axis=-1
    ):
        kept = (draw.random(shape) >= missing).reshape(shape[0], -1)
        kept[kept.sum(axis=1) < 2] = False
        codes = [each.ravel()[kept.ravel()] for each in np.indices(shape)]
        results.append(repeatability_of(values.reshape(kept.size, -1)[kept.ravel()], codes[:1] if nested else codes))
    found = {"agreement": _compare([one.agreement for one in results], icc, 1.0)}
    of_consistency = _compare([one.consistency for one in results], true / (true + 1 - share), np.sqrt(1 - share))
    return found if nested else found | {"consistency": of_consistency}


def _compare(found: list[Estimate], true_icc: float, true_sem: float) -> Found:
    icc, sem = (np.concatenate(each, axis=1) for each in ([one.icc for one in found], [one.sem for one in found]))
    held = [float(100 * np.mean((of[1] <= true) & (true <= of[2]))) for of, true in ((icc, true_icc), (sem, true_sem))]
    return Found(100 * (icc[0].mean() / true_icc - 1), 100 * (sem[0].mean() / true_sem - 1), *held)


def write(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def main(studies: int) -> None:
    """Print a table."""
    draw = np.random.default_rng(0)
    write("| design | missing | shared | ICC | bias | limits hold | bias of SEM, MDC | limits hold |")
    write("|---|---|---|---|---|---|---|---|")
    one: list[tuple[int, ...]] = [(n, 2) for n in (5, 10, 30, 100)]
    one += [*((n, 3) for n in (10, 30, 100)), *((30, k) for k in (4, 6, 10))]
    two: list[tuple[int, ...]] = [(10, 2, 2), (30, 2, 2), (30, 3, 2)]
    designs = [(shape, 0.0) for shape in (*one, *two)]
    designs += [(shape, 0.15) for shape in ((10, 3), (30, 2), (30, 3), (30, 4), (30, 2, 2))]
    for shape, missing in designs:
        for share, icc in ((share, icc) for share in (0.0, 0.2, 0.5) for icc in (0.7, 0.9)):
            found = study_of(shape, studies, draw, icc=icc, share=share, missing=missing)["agreement"]
            cells = (" x ".join(map(str, shape)), f"{100 * missing:.0f} %", f"{100 * share:.0f} %", icc)
            numbers = (found.icc_bias_percent, found.icc_held_percent, found.sem_bias_percent, found.sem_held_percent)
            write(f"| {' | '.join(map(str, (*cells, *(f'{number:.1f} %' for number in numbers))))} |")


if __name__ == "__main__":
    main(int(sys.argv[1]))
