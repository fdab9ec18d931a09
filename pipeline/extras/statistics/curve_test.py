"""Where curves of groups or conditions differ: statistical parametric mapping over people, by spm1d.

A t test at each of 101 percents finds a difference in far more than 5 % of studies without any. The threshold here is
the largest t that curves of this smoothness reach by chance (Friston et al. 2007; for gait Pataky 2010, 2016). A person
is one sample. Nothing is interpolated: where a person lacks a sample, the test leaves out the percent or the person,
and says so.

Friston KJ, Ashburner JT, Kiebel SJ, Nichols TE, Penny WD (2007) Statistical parametric mapping. Academic Press.
Pataky TC (2010) Generalized n-dimensional biomechanical field analysis using statistical parametric mapping. J Biomech
43:1976-1982.
Pataky TC (2016) RFT1D: smooth one-dimensional random field upcrossing probabilities in Python. J Stat Softw 71(7).
Welch BL (1947) The generalization of Student's problem when several different population variances are involved.
Biometrika 34:28-35.
Satterthwaite FE (1946) An approximate distribution of estimates of variance components. Biometrics Bull 2:110-114.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import UserError
from .declaration import EXTRA

FEWEST_PEOPLE = 3


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


def left_out(
    names: Sequence[str],
    known: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    samples: slice,
    *,
    doubts: Mapping[str, str],
) -> list[str]:
    """Return who is left out of a test, and who lacks the percents that are, in words.

    Args:
        doubts: what the curves of people are doubted for, in words; nobody without a doubt.
    """
    lines, short = list[str](), list[str]()
    for name, missing, stays in zip(names, (~known).sum(axis=1), kept, strict=True):
        if not stays:
            doubt = f", doubted: {doubts[name]}" if name in doubts else ""
            lines.append(f"{name} left out: {missing} of {known.shape[1]} samples missing{doubt}")
        elif missing:
            short.append(f"{name} ({missing})")
    if short:
        cut = f"tested from {samples.start} to {samples.stop - 1} % only, where all have data"
        lines.append(f"{cut}; samples missing: {', '.join(short)}")
    return lines


def compare_curves(first: Array, second: Array, *, paired: bool, alpha: float) -> CurveTest:
    """Return the two-sided test of the second minus the first; the arguments are complete.

    Args:
        first, second: (person, phase), one curve per person; of the same people in the same order if ``paired``.
        paired: whether to take the paired t, else Welch's of :func:`welch_field`.
        alpha: probability of a false difference anywhere along the curve.

    Raises:
        UserError: spm1d is not installed, or there are fewer than FEWEST_PEOPLE.
    """
    try:
        import spm1d
    except ImportError:
        raise UserError("spm1d", "not installed, curves cannot be compared", f"install it: {EXTRA.install}") from None
    if min(len(first), len(second)) < FEWEST_PEOPLE:
        what = f"{len(first)} and {len(second)} people with complete curves, {FEWEST_PEOPLE} of each are needed"
        raise UserError("people", what, "record more, or choose another curve")
    field = spm1d.stats.ttest_paired(second, first) if paired else welch_field(first, second)
    test = field.inference(alpha, two_tailed=True, interp=True)
    clusters = [(float(one.endpoints[0]), float(one.endpoints[1]), float(one.P)) for one in test.clusters]
    return CurveTest(np.asarray(test.z, dtype=float), float(test.zstar), clusters)


def welch_field(first: Array, second: Array) -> Any:
    """Return Welch's t of the second group minus the first along curves (person, phase), as a field of spm1d.

    Each group has its own variance: in t at each sample, in the degrees of freedom (the mean of Satterthwaite's
    over the samples), and in the residuals that show how smooth the curves are. ``ttest2`` of spm1d 0.4.55 with
    ``equal_var=False`` has the variance of both groups together in t and in the residuals: where the smaller group
    scatters more, it finds far too many differences.
    """
    from spm1d import rft1d
    from spm1d.stats._spm import SPM_T

    groups = (first, second)
    variances = [of.var(axis=0, ddof=1) + np.finfo(float).eps for of in groups]  # a sample may be equal in all people
    squares = [variance / len(of) for variance, of in zip(variances, groups, strict=True)]
    error = squares[0] + squares[1]
    freedom = error**2 / sum(square**2 / (len(of) - 1) for square, of in zip(squares, groups, strict=True))
    alike = [(of - of.mean(axis=0)) / np.sqrt(variance) for variance, of in zip(variances, groups, strict=True)]
    residuals = np.concatenate(alike)
    fwhm = rft1d.geom.estimate_fwhm(residuals)
    resels = rft1d.geom.resel_counts(residuals, fwhm)
    t = (second.mean(axis=0) - first.mean(axis=0)) / np.sqrt(error)
    return SPM_T(t, (1, float(freedom.mean())), fwhm, resels)
