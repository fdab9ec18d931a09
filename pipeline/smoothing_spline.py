"""Smoothing spline through evenly spaced samples, the smoothing chosen by generalised cross-validation.

Woltring HJ (1985) Hum Mov Sci 4:229-245, (1986) Adv Eng Software 8:104-113; Craven P, Wahba G (1979) Numer Math
31:377-403. Written here because scipy's is cubic only, whose acceleration vanishes at both ends, and the wrapper of
Woltring's own program needs a Fortran compiler and may not be used commercially.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# inner products of neighbouring B-splines of degree m - 1: the middle one and those to its right
OVERLAPS = {2: (4 / 6, 1 / 6), 3: (66 / 120, 26 / 120, 1 / 120)}
DIFFERENCE = {2: (1.0, -2.0, 1.0), 3: (-1.0, 3.0, -3.0, 1.0)}


def smoothing_of(cutoff_hz: float, rate_hz: float, *, half_order: int) -> float:
    """Return the weight p of roughness, in samples^(2m - 1), for a gain of -3 dB at a frequency.

    Far from the ends the spline is the filter 1 / (1 + p (2 - 2 cos w)^m / r(w)), with r the transform of the
    overlaps of B-splines; for low frequencies 1 / (1 + p w^2m), a double Butterworth filter of order m.
    """
    angle = 2 * np.pi * cutoff_hz / rate_hz
    middle, *others = OVERLAPS[half_order]
    overlap = middle + 2 * sum(value * np.cos((k + 1) * angle) for k, value in enumerate(others))
    return float((np.sqrt(2) - 1) * overlap / (2 - 2 * np.cos(angle)) ** half_order)


def smooth(values: Array, weight: float, *, half_order: int) -> tuple[Array, float]:
    """Return the natural spline of degree 2m - 1 that minimises sum (y - f)^2 + p integral (f^(m))^2, at the samples.

    With D the m-th differences and R the overlaps, D f = R c and f = y - p D^T c, so (R + p D D^T) c = D y: banded.

    Args:
        values: (samples, columns), at least 2m samples.
        weight: p.
        half_order: m; 3 is the quintic spline, 2 the cubic.

    Returns:
        f, and the trace of the matrix that maps y to y - f: the samples' degrees of freedom that are noise.
    """
    from scipy.linalg import cho_solve_banded, cholesky_banded

    difference = np.array(DIFFERENCE[half_order])
    rows = len(values) - half_order
    product = np.correlate(difference, difference, "full")[half_order:]
    overlap = np.array([*OVERLAPS[half_order], 0.0])

    def factor(p: float) -> Array:
        return np.asarray(cholesky_banded(np.repeat((overlap + p * product)[:, None], rows, axis=1), lower=True))

    coefficients = cho_solve_banded((factor(weight), True), np.diff(values, half_order, axis=0))
    residual = np.zeros_like(values)
    for k, part in enumerate(difference):
        residual[k : k + rows] += weight * part * coefficients
    # the trace is d log det(R + p D D^T) / d log p, by a central difference
    step = 1e-4
    both = [2 * float(np.log(factor(weight * np.exp(sign * step))[0]).sum()) for sign in (1, -1)]
    return values - residual, (both[0] - both[1]) / (2 * step)
