"""Where curves of groups or conditions differ: statistical parametric mapping over people, by spm1d.

A t test at each of 101 percents finds a difference in far more than 5 % of studies without any. The threshold here is
the largest t that curves of this smoothness reach by chance (Friston et al. 2007; for gait Pataky 2010). A person is
one sample. Nothing is interpolated: where a person lacks a sample, the test leaves out the percent or the person, and
says so.

Pataky TC (2010) Generalized n-dimensional biomechanical field analysis using statistical parametric mapping. J Biomech
43:1976-1982.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import UserError

FEWEST_PEOPLE = 3
INSTALL = "install it: pip install 'gait-lab-pipeline[statistics]'"


class CurveTest(NamedTuple):
    """t of the second minus the first (phase,), its threshold, and clusters beyond it: from and to percent, p."""

    t: Array
    threshold: float
    clusters: list[tuple[float, float, float]]


def largest_block(known: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], slice]:
    """Return people and neighbouring samples of known values (person, sample) that are complete and as many as can be.

    People are left out in the order of their missing samples, most first.
    """
    missing = (~known).sum(axis=1)
    best, size = (np.zeros(len(known), dtype=bool), slice(0, 0)), 0
    for most in np.unique(missing[missing < known.shape[1]])[::-1]:  # at equal size, more people
        kept = missing <= most
        ends = np.flatnonzero(np.diff(np.r_[0, known[kept].all(axis=0).astype(int), 0]))
        for start, stop in zip(ends[::2], ends[1::2], strict=True):
            if kept.sum() * (stop - start) > size:
                best, size = (kept, slice(int(start), int(stop))), int(kept.sum() * (stop - start))
    return best


def left_out(names: Sequence[str], known: NDArray[np.bool_], kept: NDArray[np.bool_], samples: slice) -> list[str]:
    """Return who is left out of a test, and who lacks the percents that are, in words."""
    missing, count = (~known).sum(axis=1), known.shape[1]
    who = [f"{name} left out: {n} of {count} samples missing" for name, n in zip(names, missing, strict=True)]
    lines = [line for line, stays in zip(who, kept, strict=True) if not stays]
    short = [f"{name} ({n})" for name, n in zip(names, missing, strict=True) if n]
    if (short := [one for one, stays in zip(short, kept[missing > 0], strict=True) if stays]) and kept.any():
        cut = f"tested from {samples.start} to {samples.stop - 1} % only, where all have data"
        lines.append(f"{cut}; samples missing: {', '.join(short)}")
    return lines


def compare_curves(first: Array, second: Array, *, paired: bool, alpha: float) -> CurveTest:
    """Return the two-sided test of the second minus the first; the arguments are complete.

    Args:
        first, second: (person, phase), one curve per person; of the same people in the same order if ``paired``.
        paired: whether to take the paired t, else Welch's, which allows for unequal variances.
        alpha: probability of a false difference anywhere along the curve.

    Raises:
        UserError: spm1d is not installed, or there are fewer than FEWEST_PEOPLE.
    """
    try:
        import spm1d
    except ImportError:
        raise UserError("spm1d", "not installed, curves cannot be compared", INSTALL) from None
    if min(len(first), len(second)) < FEWEST_PEOPLE:
        what = f"{len(first)} and {len(second)} people with complete curves, {FEWEST_PEOPLE} of each are needed"
        raise UserError("people", what, "record more, or choose another curve")
    t = spm1d.stats.ttest_paired(second, first) if paired else spm1d.stats.ttest2(second, first, equal_var=False)
    test = t.inference(alpha, two_tailed=True, interp=True)
    clusters = [(*map(float, one.endpoints), float(one.P)) for one in test.clusters]
    return CurveTest(np.asarray(test.z, dtype=float), float(test.zstar), [(a, b, p) for a, b, p in clusters])
