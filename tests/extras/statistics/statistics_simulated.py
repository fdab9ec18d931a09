"""Whether statistics hold in simulated studies: ``python -m tests.campaigns extras.statistics.statistics_simulated``.

The simulation draws measurements and curves from their models by NumPy and SciPy alone; of the product it calls only
what is judged. It prints how often 95 % limits hold the truth, and how often a 5 % test of two groups of equal mean
curves finds a difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from pipeline.extras.statistics.curve_test import compare_curves
from pipeline.extras.statistics.repeatability.components import repeatability_of
from tests.campaigns.runner import Report

Array = NDArray[np.float64]
SHORT = {"studies": 50}
DESIGNS = [
    *((people, 2) for people in (5, 10, 30, 100)),
    *((people, 3) for people in (10, 30, 100)),
    (30, 4),
    (30, 6),
    (30, 10),
]
SHARED, CORRELATIONS, MISSING = (0.0, 0.2, 0.5), (0.7, 0.9), 0.15
PATTERNS = 50  # of missing measurements: the studies of one pattern are computed together
FWHM_TO_SD = 2 * np.sqrt(2 * np.log(2))
SAMPLES = 101


class Groups(NamedTuple):
    """Two groups of people: numbers, standard deviations, full widths at half maximum of the smoothing, samples."""

    people: tuple[int, int]
    sd: tuple[float, float] = (1.0, 1.0)
    fwhm: tuple[float, float] = (20.0, 20.0)


GROUPS = [
    Groups((5, 15), (3, 1)), Groups((15, 5), (1, 3)), Groups((8, 20), (2, 1)), Groups((20, 8), (1, 2)),
    Groups((10, 10), (3, 1)), Groups((6, 12)), Groups((12, 12)), Groups((10, 10), (1, 1), (10, 30)), Groups((3, 3)),
]  # fmt: skip


def one_factor(rng: np.random.Generator, people: int, visits: int, icc: float, shared: float, studies: int) -> Array:
    """Return measurements (person, visit, study) of variance 1, of whose error a share is common to each visit."""
    person = np.sqrt(icc) * rng.normal(size=(people, 1, studies))
    visit = np.sqrt((1 - icc) * shared) * rng.normal(size=(1, visits, studies))
    return np.asarray(person + visit + np.sqrt((1 - icc) * (1 - shared)) * rng.normal(size=(people, visits, studies)))


def truths(icc: float, shared: float) -> dict[str, float]:
    """Return the true numbers of :func:`one_factor`."""
    own = (1 - icc) * (1 - shared)
    return {"ICC(A,1)": icc, "SEM(A)": np.sqrt(1 - icc), "ICC(C,1)": icc / (icc + own), "SEM(C)": np.sqrt(own)}


def held(values: Array, codes: list[NDArray[np.int64]], true: dict[str, float]) -> dict[str, int]:
    """Return in how many studies the limits hold the true numbers; MDC is a multiple of SEM and so are its limits."""
    found = repeatability_of(values, codes)
    both = {"A": found.agreement, "C": found.consistency}
    limits = {"ICC(A,1)": both["A"].icc, "SEM(A)": both["A"].sem, "ICC(C,1)": both["C"].icc, "SEM(C)": both["C"].sem}
    return {name: int(np.sum((limits[name][1] <= value) & (value <= limits[name][2]))) for name, value in true.items()}


def of_one_factor(studies: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each design with the share of studies, percent, whose limits hold."""
    for people, visits in DESIGNS:
        for icc in CORRELATIONS:
            for shared in SHARED:
                rng = np.random.default_rng([people, visits, round(100 * icc), round(100 * shared)])
                values = one_factor(rng, people, visits, icc, shared, studies)
                codes = [one.ravel() for one in np.indices((people, visits))]
                count = held(values.reshape(-1, studies), codes, truths(icc, shared))
                name = f"{people} people x {visits} visits, ICC {icc}, {shared:.0%} of the error shared"
                yield name, {key: 100 * number / studies for key, number in count.items()}


def with_missing(studies: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the same for designs of which 15 % of the measurements are missing; who is left has two or more."""
    each = max(studies // PATTERNS, 1)
    for people, visits in ((30, 3), (100, 3), (30, 4)):
        for shared in SHARED:
            rng, sums = np.random.default_rng([people, visits, round(100 * shared), 1]), dict[str, int]()
            for _ in range(PATTERNS):
                values = one_factor(rng, people, visits, 0.7, shared, each)
                seen = rng.random((people, visits)) > MISSING
                seen &= seen.sum(axis=1, keepdims=True) >= 2
                person, visit = np.nonzero(seen)
                for key, number in held(values[seen], [person, visit], truths(0.7, shared)).items():
                    sums[key] = sums.get(key, 0) + number
            name = f"{people} people x {visits} visits, {MISSING:.0%} missing, {shared:.0%} of the error shared"
            yield name, {key: 100 * number / (PATTERNS * each) for key, number in sums.items()}


def of_two_factors(studies: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the same for people measured at each visit by each assessor, all effects and their pairs being random."""
    for people, visits, assessors in ((10, 2, 2), (30, 2, 2), (30, 3, 3), (100, 2, 3)):
        rng, shape = np.random.default_rng([people, visits, assessors]), (people, visits, assessors, studies)
        variances = {(0,): 0.7, (1,): 0.04, (2,): 0.04, (0, 1): 0.06, (0, 2): 0.06, (1, 2): 0.02, (0, 1, 2): 0.08}
        values = np.zeros(shape)
        for effect, variance in variances.items():
            own = [number if axis in effect else 1 for axis, number in enumerate(shape[:3])]
            values += np.sqrt(variance) * rng.normal(size=(*own, studies))
        error = sum(variance for effect, variance in variances.items() if 0 in effect and effect != (0,))
        true = {"ICC(A,1)": 0.7, "SEM(A)": np.sqrt(0.3), "ICC(C,1)": 0.7 / (0.7 + error), "SEM(C)": np.sqrt(error)}
        codes = [one.ravel() for one in np.indices(shape[:3])]
        count = held(values.reshape(-1, studies), codes, true)
        yield (
            f"{people} people x {visits} visits x {assessors} assessors",
            {k: 100 * n / studies for k, n in count.items()},
        )


def curves(rng: np.random.Generator, people: int, sd: float, fwhm: float) -> Array:
    """Return smooth random curves (person, sample) of mean 0 and one standard deviation everywhere."""
    sigma, margin = fwhm / FWHM_TO_SD, round(4 * fwhm)
    smooth = gaussian_filter1d(rng.normal(size=(people, SAMPLES + 2 * margin)), sigma, axis=1)[:, margin:-margin]
    kernel = gaussian_filter1d(np.eye(1, 8 * round(fwhm) + 1, 4 * round(fwhm))[0], sigma)
    return np.asarray(sd * smooth / np.sqrt(np.sum(kernel**2)))


def false_differences(groups: Groups, studies: int) -> float:
    """Return how often a 5 % test finds a difference of two groups whose true means are equal, percent."""
    rng = np.random.default_rng([*groups.people, *(round(10 * one) for one in (*groups.sd, *groups.fwhm))])
    found = 0
    for _ in range(studies):
        first, second = (curves(rng, *one) for one in zip(*groups, strict=True))
        test = compare_curves(first, second, paired=False, alpha=0.05)
        found += bool(np.abs(test.t).max() > test.threshold)
    return 100 * found / studies


def main(report: Report, *, studies: int = 1000) -> None:
    """Report how often limits hold the truth, then how often tests of two groups find a difference that is none."""
    for part in (of_one_factor, with_missing, of_two_factors):
        report.text(f"\n{(part.__doc__ or '').splitlines()[0]}")
        for name, shares in part(studies):
            report.text(f"{'  '.join(f'{key} {share:5.1f}' for key, share in shares.items())}  {name}")
    report.text("\nFalse differences of a 5 % test of two groups of curves, percent")
    for groups in GROUPS:
        report.text(f"{false_differences(groups, studies):5.1f}  {groups}")
