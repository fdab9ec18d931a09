"""Electromyograms: linear envelopes, and faults of channels that make an envelope meaningless.

Source: De Luca CJ, Gilmore LD, Kuznetsov M, Roy SH (2010) J Biomech 43:1573-1579 (high-pass at 20 Hz); Winter DA (2009)
Biomechanics and Motor Control of Human Movement, chapter 10 (linear envelope); De Luca CJ (2002) Surface
Electromyography: Detection and Recording (bands).
"""

import numpy as np

from ..arrays import Array
from ..errors import Problem
from .filters import high_pass, low_pass, stretches

ORDER = 4
UNITS_MV = {
    "v": 1e3, "volt": 1e3, "volts": 1e3, "mv": 1.0, "millivolt": 1.0, "millivolts": 1.0, "uv": 1e-3, "microvolt": 1e-3,
    "microvolts": 1e-3,
}  # fmt: skip  # millivolts per unit
LOWEST_RATE_HZ = 400.0  # most of the power of surface EMG is at 50 to 150 Hz (De Luca 2002)
LONGEST_SAME_S = 0.1  # no sample differs from the one before for two periods of the high-pass: the signal was lost
CLIPPED = 3  # samples in a row at the end of the range; a signal of up to 450 Hz has one at its maximum
MOST_CLIPPED = 0.01  # of all samples: 5 % of bursts that fill a fifth of the time
MAIN_HZ, TOP_HZ = (50.0, 150.0), (350.0, 450.0)
# power density of MAIN_HZ per that of TOP_HZ while the muscle is active: 1 for white noise; below 4 noise is a quarter
# of the power in MAIN_HZ or more. It is .6 to 2.4 in 55 channels of noise alone, 8.5 to 500 in 60 of walking people
LEAST_DENSITY = 4.0
# 95th per 5th percentile of the envelope; Gaussian noise has up to 1.6, with the least bandwidth, of 180 Hz
LEAST_RANGE = 2.0
RECTIFIED = 4.0  # how much farther from the median the largest sample is than the smallest, if none is negative


def millivolts_per(unit: str) -> float | None:
    """Return the millivolts of a unit as files write it; None if it is not one of voltage."""
    return UNITS_MV.get(unit.strip().casefold().replace("µ", "u").replace("μ", "u"))


def envelopes(values: Array, *, rate_hz: float, high_pass_hz: float, low_pass_hz: float) -> Array:
    """Return the linear envelopes: high-pass, full-wave rectified, low-pass; both filters of 4th order without lag.

    Args:
        values: (sample, channel), NaN where missing.
        high_pass_hz, low_pass_hz: -3 dB points of the whole filters.

    Returns:
        (sample, channel) in the units of the values; not below zero, where the low-pass would overshoot.
    """
    rectified = np.abs(high_pass(values, rate_hz=rate_hz, cutoff_hz=high_pass_hz, order=ORDER))
    smooth = low_pass(rectified, rate_hz=rate_hz, cutoff_hz=low_pass_hz, order=ORDER, even_ends=True)
    return np.maximum(smooth, 0.0)


def without_lost(values: Array, *, rate_hz: float) -> Array:
    """Return a channel (sample,) with NaN where the signal was lost: see :data:`LONGEST_SAME_S`."""
    lost = np.zeros(len(values), dtype=bool)
    for start, stop in stretches(np.diff(values) == 0):
        if stop - start >= LONGEST_SAME_S * rate_hz:
            lost[start : stop + 1] = True
    return np.where(lost, np.nan, values)


def fault(values: Array, envelope: Array, *, rate_hz: float) -> Problem | None:
    """Return why the envelope (sample,) of a channel shows no muscle activity, None if nothing is found."""
    finite = values[np.isfinite(values)]
    if not np.isfinite(envelope).any() or np.ptp(finite) == 0:
        return unusable("no_signal", "without a signal")
    clipped = _measure_clipping(finite)
    if clipped > MOST_CLIPPED:
        return unusable("clipped", f"clipped, {100 * clipped:.0f} % of the samples are at the ends of the range")
    low, middle, high = finite.min(), float(np.median(finite)), finite.max()
    if low >= 0 and high - middle > RECTIFIED * (middle - low):
        return unusable("rectified", "never negative, so rectified already or an envelope")
    least, most = np.nanpercentile(envelope, [5, 95])
    if most < LEAST_RANGE * least:
        return unusable("steady", "no activity, the envelope hardly changes, as that of noise or mains hum")
    if _density(values, envelope, rate_hz) < LEAST_DENSITY:
        return unusable("noise", "no activity, the spectrum is that of noise")
    return None


def unusable(code: str, words: str) -> Problem:
    """Return the reason why a channel cannot be used."""
    return Problem("", words, "", code)


def _measure_clipping(values: Array) -> float:
    """Return the share of samples that follow each other at the largest or at the smallest value."""
    runs = [stop - start for end in (values.min(), values.max()) for start, stop in stretches(values == end)]
    return sum(run for run in runs if run >= CLIPPED) / len(values)


def _density(values: Array, envelope: Array, rate_hz: float) -> float:
    """Return the median power density in :data:`MAIN_HZ` per that in :data:`TOP_HZ`; infinite if not recorded.

    Samples are weighted by the envelope, so that it is that of the bursts.
    """
    active = np.nan_to_num((values - np.nanmedian(values)) * envelope) * np.hanning(len(values))
    power = np.abs(np.fft.rfft(active)) ** 2
    frequency = np.fft.rfftfreq(len(values), 1 / rate_hz)
    bands = [power[(low <= frequency) & (frequency < high)] for low, high in (MAIN_HZ, TOP_HZ)]
    if rate_hz / 2 < TOP_HZ[1] or not all(len(band) for band in bands):
        return np.inf
    main, top = map(np.median, bands)
    return float(main / top) if top > 0 else np.inf
