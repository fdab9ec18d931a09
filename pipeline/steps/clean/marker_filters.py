"""Filters of marker positions, with a given cut-off or one chosen for each marker from the data."""

import numpy as np

from ...arrays import Array, known_mean, quotient
from ...signals.filters import by_stretches, low_pass
from ...signals.splines import smooth, smoothing_weight
from .settings import Settings

TAIL = (0.15, 0.35)  # shares of the sampling rate; the residual of filters in between is taken as noise
LOWEST_HZ = 1.0
HALF_ORDER = 3  # quintic, as usual since Woltring
CANDIDATES = 40
# In periods of the cut-off: how far from an end what lies beyond it acts on a second derivative; see theory.md
END_PERIODS, LONGEST_END_S = 0.8, 0.1


def filter_markers(position: Array, *, rate_hz: float, settings: Settings) -> tuple[Array, Array]:
    """Return filtered positions (time, marker, 3) and -3 dB points (marker,), Hz.

    Args:
        position: (time, marker, 3), m, NaN where missing; the filter does not cross gaps.
        rate_hz: frames per second.
        settings: of the step; ``gcv_spline`` chooses its own smoothing.

    Raises:
        UserError: the cut-off is not below half the sampling rate.
    """
    cutoff_hz, order, count = settings.marker_cutoff_hz, settings.filter_order, position.shape[1]
    if cutoff_hz is None or not position.size:
        return position, np.full(count, np.nan)
    if settings.marker_filter == "gcv_spline":
        return gcv_spline(position, rate_hz=rate_hz)
    if not isinstance(cutoff_hz, str):
        filtered = low_pass(position, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order)
        return filtered, np.full(count, float(cutoff_hz))
    cutoffs_hz = residual_cutoffs_hz(position, rate_hz=rate_hz, order=order)
    filtered = np.full_like(position, np.nan)
    for marker in np.flatnonzero(np.isfinite(cutoffs_hz)):
        filtered[:, marker] = low_pass(position[:, marker], rate_hz=rate_hz, cutoff_hz=cutoffs_hz[marker], order=order)
    return filtered, cutoffs_hz


def uncertain_end_s(cutoffs_hz: Array, force_cutoff_hz: float | None) -> float:
    """Return how near an end of a visible stretch accelerations are uncertain, s; 0 without a filter.

    A filter without lag also looks ahead, and what follows the end must be guessed. Most literature leaves out, or
    extrapolates by, 0.1 to 0.2 s.

    Args:
        cutoffs_hz: (marker,), -3 dB points of the markers, NaN for none; the slowest filter counts.
        force_cutoff_hz: that of the plates; None for none.

    Source: Smith G (1989) J Biomech 22:967-971; Vint PF, Hinrichs RN (1996) J Biomech 29:1637-1642.
    """
    slowest_hz = float(np.fmin.reduce(np.append(cutoffs_hz, force_cutoff_hz or np.nan)))
    return min(END_PERIODS / slowest_hz, LONGEST_END_S) if np.isfinite(slowest_hz) else 0.0


def residual_cutoffs_hz(position: Array, *, rate_hz: float, order: int) -> Array:
    """Return the cut-off of each marker (marker,), Hz, by residual analysis.

    The root-mean-square residual of the filter falls with the cut-off, linearly where the residual is noise alone; the
    intercept of that line at 0 Hz is the noise. At the chosen cut-off the residual equals it: signal lost equals noise
    passed. The line is fitted between 0.15 and 0.35 of the sampling rate, where for white noise its intercept is 5 %
    above the noise. Data without noise there get the highest cut-off, 0.35.

    Source: Winter DA (2009) Biomechanics and Motor Control of Human Movement, section 3.4.4.3.
    """
    candidates = np.linspace(LOWEST_HZ, TAIL[1] * rate_hz, CANDIDATES)
    residual = np.empty((CANDIDATES, position.shape[1]))
    for i, candidate in enumerate(candidates):
        away = position - low_pass(position, rate_hz=rate_hz, cutoff_hz=float(candidate), order=order)
        residual[i] = np.sqrt(known_mean(away**2, axis=(0, 2)))
    tail = candidates >= TAIL[0] * rate_hz
    cutoffs_hz = np.full(position.shape[1], np.nan)
    for marker in np.flatnonzero(np.isfinite(residual).all(axis=0)):
        noise = np.polynomial.polynomial.polyfit(candidates[tail], residual[tail, marker], 1)[0]
        below = residual[:, marker] <= noise
        if not below.any() or below[0]:
            cutoffs_hz[marker] = candidates[0] if below[0] else candidates[-1]
            continue
        k = int(np.argmax(below))
        cutoffs_hz[marker] = np.interp(noise, residual[[k, k - 1], marker], candidates[[k, k - 1]])
    return cutoffs_hz


def gcv_spline(position: Array, *, rate_hz: float) -> tuple[Array, Array]:
    """Return positions smoothed by quintic splines, and their -3 dB points, Hz.

    They have the least cross-validation score n |y - f|^2 / trace^2 over the three coordinates and all stretches of a
    marker, which does not depend on the axes. It assumes white noise: filtered recordings are hardly smoothed.
    """
    best = np.full(position.shape[1], np.inf)
    cutoffs_hz = np.full(position.shape[1], np.nan)
    result = np.full_like(position, np.nan)
    for candidate in np.geomspace(LOWEST_HZ, 0.45 * rate_hz, CANDIDATES):
        weight = smoothing_weight(float(candidate), rate_hz, half_order=HALF_ORDER)

        def smooth_stretch(stretch: Array, weight: float = weight) -> Array:
            if len(stretch) < 2 * HALF_ORDER + 1:
                return np.full((2, *stretch.shape), np.nan)
            curve, trace = smooth(stretch, weight, half_order=HALF_ORDER)
            return np.stack([curve, np.full_like(stretch, trace / len(stretch))])

        curve, freedom = by_stretches(smooth_stretch, position, outputs=2)
        score = quotient(np.nansum((position - curve) ** 2, axis=(0, 2)), np.nansum(freedom, axis=(0, 2)) ** 2)
        better = score < best
        best[better], cutoffs_hz[better] = score[better], candidate
        result[:, better] = curve[:, better]
    return result, cutoffs_hz
