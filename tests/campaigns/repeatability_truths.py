"""Bias and coverage of the repeatability of simulated studies with known components.

``python -m tests.campaigns.repeatability_truths 1000`` prints the table of docs/repeatability.md.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from pipeline.steps.repeatability.components import Estimate, Repeatability, balanced, restricted_likelihood
from tests.support.studies.repeated import simulated

OWN = 0.3  # of the error's variance, with two repeated factors


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
    nested: bool,
    missing: float = 0.0,
) -> dict[str, Found]:
    """Return what is found over studies; with ``missing`` that share of the measurements is left out."""
    values = simulated(shape, studies, draw, icc=icc, share=share, own=OWN)
    found = _unbalanced(values, draw, missing, nested=nested) if missing else balanced(values, nested=nested)
    person = icc / (1 - icc)
    result = {"agreement": _compare(found.agreement, icc, 1.0)}
    if not nested:
        result["consistency"] = _compare(found.consistency, person / (person + 1 - share), np.sqrt(1 - share))
    return result


def _unbalanced(values: np.ndarray, draw: np.random.Generator, missing: float, *, nested: bool) -> Repeatability:
    shape = values.shape[:-1]
    kept = (draw.random(shape) > missing).reshape(shape[0], -1)
    kept[kept.sum(axis=1) < 2] = False
    codes = [each.ravel()[kept.ravel()] for each in np.indices(shape)]
    return restricted_likelihood(values.reshape(kept.size, -1)[kept.ravel()], codes[:1] if nested else codes)


def _compare(found: Estimate, icc: float, sem: float) -> Found:
    def held(of: np.ndarray, true: float) -> float:
        return float(100 * np.mean((of[1] <= true) & (true <= of[2])))

    return Found(
        100 * (found.icc[0].mean() / icc - 1),
        100 * (found.sem[0].mean() / sem - 1),
        held(found.icc, icc),
        held(found.sem, sem),
    )


def write(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def main(studies: int) -> None:
    """Print a table."""
    draw = np.random.default_rng(0)
    write(
        "| people x visits (x assessors) | shared | ICC | bias | interval holds | bias of SEM, MDC | interval holds |"
    )
    write("|---|---|---|---|---|---|---|")
    designs: list[tuple[tuple[int, ...], float]] = [
        ((n, k), share) for n in (5, 10, 20, 30, 50, 100) for k in (2, 3) for share in (0.0, 0.2, 0.5)
    ]
    designs += [((n, 2, 2), share) for n in (10, 30) for share in (0.0, 0.2)]
    for shape, share in designs:
        for icc in (0.7, 0.9):
            one = study_of(shape, studies, draw, icc=icc, share=share, nested=False)["agreement"]
            cells = (" x ".join(map(str, shape)), f"{100 * share:.0f} %", icc, f"{one.icc_bias_percent:.1f} %")
            held = f"{one.icc_held_percent:.0f} %", f"{one.sem_bias_percent:.1f} %", f"{one.sem_held_percent:.0f} %"
            write(f"| {' | '.join(map(str, (*cells, *held)))} |")
    unbalanced: list[tuple[int, ...]] = [(30, 2), (30, 3), (30, 2, 2)]
    for shape in unbalanced:
        one = study_of(shape, studies, draw, icc=0.8, share=0.1, nested=False, missing=0.15)["agreement"]
        write(f"{shape}, 15 % missing: {' '.join(f'{number:.1f}' for number in one)}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
