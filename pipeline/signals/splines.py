"""Splines: derivatives, angular rates, smoothing, and the noise of derivatives."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..dynamics.vectors import cross, transpose
from .filters import by_stretches, near_ends

Spans = Sequence[tuple[slice, int]]  # the samples of each trial, and how many at an end have no acceleration
DEGREE = 5  # of the spline that is differentiated
FREQUENCIES = 4096  # at which power spectra are summed
# inner products of neighbouring B-splines of degree m - 1: the middle one and those to its right
OVERLAPS = {2: (4 / 6, 1 / 6), 3: (66 / 120, 26 / 120, 1 / 120)}
DIFFERENCE = {2: (1.0, -2.0, 1.0), 3: (-1.0, 3.0, -3.0, 1.0)}


def derivatives(values: Array, time: Array) -> tuple[Array, Array]:
    """Return first and second time derivatives by a quintic interpolating spline.

    A central second difference misses (2 pi f h)^2 / 12 of the acceleration; the spline misses (2 pi f h)^4 / 720
    of it and (2 pi f h)^6 / 5040 of the velocity, more in the last few samples before an end. Each stretch
    between gaps has its own spline; a stretch of six samples or fewer gives NaN.

    Args:
        values: (time, ...), NaN where missing.
        time: (time,), s, evenly spaced.

    Returns:
        Two arrays (time, ...), per second and per second squared.

    Source: Woltring HJ (1985) Hum Mov Sci 4:229-245, for splines as differentiators of marker data.
    """
    from scipy.interpolate import make_interp_spline

    step = (time[-1] - time[0]) / (len(time) - 1) if len(time) > 1 else 1.0

    def of_stretch(stretch: Array) -> Array:
        if len(stretch) <= DEGREE + 1:
            return np.full((2, *stretch.shape), np.nan)
        instants = np.arange(len(stretch)) * step
        spline = make_interp_spline(instants, stretch, k=DEGREE)
        return np.stack([spline(instants, 1), spline(instants, 2)])

    first, second = by_stretches(of_stretch, values, outputs=2)
    return first, second


def derivatives_of_trials(parts: Sequence[Array], time: Array, spans: Spans) -> list[list[Array]]:
    """Return first and second derivatives of parts (sample, ...), by splines of each trial; no second near ends.

    Args:
        time: (sample,), s.
    """
    turned = [np.moveaxis(part, 0, -1) for part in parts]
    rows = np.concatenate([part.reshape(-1, len(time)) for part in turned])
    both = np.empty((2, *rows.shape))
    for span, reach in spans:
        for result, columns in zip(both, derivatives(rows[:, span].T, time[span]), strict=True):
            result[:, span] = columns.T
        both[1, :, span][near_ends(np.isfinite(rows[:, span].T), reach).T] = np.nan
    ends = np.cumsum([part[..., 0].size for part in turned])[:-1]
    return [
        [
            np.moveaxis(piece.reshape(part.shape), -1, 0)
            for piece, part in zip(np.split(result, ends), turned, strict=True)
        ]
        for result in both
    ]


def angular_rates(rotation: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Return angular velocity and acceleration from derivatives of rotation matrices.

    With v_segment = R v_lab, S(w) = R R'^T and S(w') is the skew part of R R''^T (R' R'^T is symmetric).
    The skew part of a sum of a b^T is S of half the sum of b x a, here over the columns of R and its derivative.

    Args:
        rotation: (..., 3, 3), NaN where unknown.
        first, second: its derivatives, per second and per second squared.

    Returns:
        (..., 3) each, segment axes, rad/s and rad/s2.

    Source: Zatsiorsky VM (1998) Kinematics of Human Motion, section 3.1.
    """
    columns, first, second = (transpose(matrix) for matrix in (rotation, first, second))
    return cross(first, columns).sum(axis=-2) / 2, cross(second, columns).sum(axis=-2) / 2


def smoothing_weight(cutoff_hz: float, rate_hz: float, *, half_order: int) -> float:
    """Return the weight p, in samples^(2m - 1), for a gain of -3 dB at a frequency.

    Far from the ends the spline is the filter 1 / (1 + p (2 - 2 cos w)^m / r(w)), with r the transform of the
    overlaps of B-splines; for low frequencies 1 / (1 + p w^2m), a double Butterworth filter of order m.
    """
    angle = 2 * np.pi * cutoff_hz / rate_hz
    middle, *others = OVERLAPS[half_order]
    overlap = middle + 2 * sum(value * np.cos((k + 1) * angle) for k, value in enumerate(others))
    return float((np.sqrt(2) - 1) * overlap / (2 - 2 * np.cos(angle)) ** half_order)


def smooth(values: Array, weight: float, *, half_order: int) -> tuple[Array, float]:
    """Return the smoothing spline of degree 2m - 1 at the samples.

    It is natural and minimises sum (y - f)^2 + p integral (f^(m))^2.

    With D the m-th differences and R the overlaps, D f = R c and f = y - p D^T c, so (R + p D D^T) c = D y: banded.

    Args:
        values: (samples, columns), at least 2m samples.
        weight: p, of :func:`smoothing_weight`.
        half_order: m; 3 is the quintic spline, 2 the cubic.

    Returns:
        f, and the trace of the matrix from y to y - f: the degrees of freedom of the samples that are noise.
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


class NoiseSpectrum(NamedTuple):
    """What is left of white noise of variance 1 after a filter, and its derivatives, by frequency (frequency,).

    The mean of ``power`` is the variance that is left. A wave of ``w`` per sample has the first derivative of one of
    ``first`` per second, and the second derivative ``second``, per second squared, times itself.
    """

    w: Array
    power: Array
    first: Array
    second: Array


def noise_spectrum(cutoff_hz: float, rate_hz: float, *, order: int) -> NoiseSpectrum:
    """Return the spectrum of filtered white noise and its derivatives.

    The zero-lag Butterworth filter passes the share 1 / (1 + (tan(w/2) / tan(pi fd / fs))^order) of an angular
    frequency w per sample, and the quintic spline through the samples has the derivatives of its B-spline.

    Args:
        cutoff_hz: -3 dB point of the whole filter; NaN for none.
        order: order of the whole filter, both passes together; 6 is the quintic smoothing spline.

    Source: Woltring HJ (1985) Hum Mov Sci 4:229-245, section on noise of derivatives; Schoenberg IJ (1946) Q Appl
    Math 4:45-99 for the B-spline.
    """
    w = np.pi * (np.arange(FREQUENCIES) + 0.5) / FREQUENCIES
    passed = np.ones_like(w)
    if np.isfinite(cutoff_hz):
        # -3 dB after both passes, as in design_cutoff_hz
        designed = np.tan(np.pi * cutoff_hz / rate_hz) / (np.sqrt(2) - 1) ** (1 / order)
        passed = 1 / (1 + (np.tan(w / 2) / designed) ** order)
    value = (66 + 52 * np.cos(w) + 2 * np.cos(2 * w)) / 120
    first = rate_hz * (20 * np.sin(w) + 2 * np.sin(2 * w)) / 24 / value
    second = -(rate_hz**2) * (1 - 2 / 3 * np.cos(w) - np.cos(2 * w) / 3) / value
    return NoiseSpectrum(w, passed**2, first, second)
