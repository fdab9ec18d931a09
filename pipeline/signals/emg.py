"""Electromyograms: linear envelopes, when a muscle is active, co-contraction, and faults of channels.

Source: De Luca CJ, Gilmore LD, Kuznetsov M, Roy SH (2010) J Biomech 43:1573-1579 (high-pass at 20 Hz); Winter DA (2009)
Biomechanics and Motor Control of Human Movement, chapter 10 (linear envelope); De Luca CJ (2002) Surface
Electromyography: Detection and Recording (bands); Bonato P, D'Alessio T, Knaflitz M (1998) IEEE Trans Biomed Eng
45:287-299 (onset and offset); Falconer K, Winter DA (1985) Electromyogr Clin Neurophysiol 25:135-149 (co-contraction).
"""

from collections.abc import Iterable
from typing import NamedTuple

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
OBSERVED_S = (
    0.01  # time in which samples are held against the false alarms: 5 pairs at 500 Hz, as Bonato et al. have it
)
QUIET_S = 0.1  # the quietest stretch of this length is the first guess at the rest
LEAST_REST_S = 0.2  # with a bandwidth of 250 Hz the power at rest is then known to a seventh
LEAST_CONTRAST = (
    10**0.8
)  # power of the active muscle per power at rest, 8 dB: with less, onsets miss by more than 20 ms
LEAKED = 10**-2.5  # of a sudden burst's power, 10 ms before and after it: what the high-pass without lag makes of it
MOST_ROUNDS = 20  # of rest and activity, of which each needs the other; 2 to 5 are usual
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


class Activity(NamedTuple):
    """When a muscle is active."""

    bursts: list[tuple[int, int]]  # first sample of each burst, and the first after it
    rest: float  # root mean square of the signal between them; NaN, and no bursts, if they are not distinct


def activity(values: Array, *, rate_hz: float, high_pass_hz: float, false_alarm: float, shortest_s: float) -> Activity:
    """Find the bursts of a muscle in its raw signal by two thresholds (Bonato et al. 1998, with one pair of five).

    The sum of the squares of two neighbouring samples at rest is exponentially distributed. The first threshold is the
    one that such a sum passes in 10 ms with probability ``false_alarm``; the second is the duration: see
    :func:`_bursts`. The power at rest is that between the bursts, from the quietest 100 ms on, until it stays the same.

    Args:
        values: (sample,), NaN where missing.
        shortest_s: of a burst, and of a pause between two.
    """
    power = high_pass(values[:, None], rate_hz=rate_hz, cutoff_hz=high_pass_hz, order=ORDER)[:, 0] ** 2
    pairs = np.append(power[:-1] + power[1:], np.nan)
    observed, quiet = max(1, round(OBSERVED_S * rate_hz / 2)), round(QUIET_S * rate_hz)
    threshold = -2 * np.log(1 - (1 - false_alarm) ** (1 / observed))
    blocks = power[: len(power) // quiet * quiet].reshape(-1, quiet).mean(axis=1)
    level, active = min(blocks[np.isfinite(blocks)], default=np.nan), 0.0
    bursts, resting = list[tuple[int, int]](), np.zeros(len(power), dtype=bool)
    for _ in range(MOST_ROUNDS):
        # a burst begins and ends with crossings that go on for 10 ms, so that a false alarm next to it is no part of it
        lasting = _joined(
            ((start, stop + 1) for start, stop in stretches(pairs > threshold * max(level, LEAKED * active))),
            OBSERVED_S * rate_hz,
        )
        long = [(start, stop) for start, stop in lasting if stop - start >= OBSERVED_S * rate_hz]
        spans = np.array(_joined(lasting, shortest_s * rate_hz)).reshape(-1, 2)
        first, last = np.searchsorted([start for start, _ in long], spans).T
        bursts = [(long[a][0], long[b - 1][1]) for a, b in zip(first.tolist(), last.tolist(), strict=True) if a < b]
        before, bursts = resting, [(start, stop) for start, stop in bursts if stop - start >= shortest_s * rate_hz]
        resting = np.isfinite(power)
        for start, stop in bursts:
            resting[max(0, start - 2 * observed) : stop + 2 * observed] = False
        if np.array_equal(resting, before) or resting.sum() < LEAST_REST_S * rate_hz:
            break
        level = power[resting].mean()
        active = float(np.nanmean(np.concatenate([power[slice(*burst)] for burst in bursts]))) if bursts else 0.0
    if not bursts or resting.sum() < LEAST_REST_S * rate_hz or active < (1 + LEAST_CONTRAST) * level:
        return Activity([], np.nan)
    return Activity(bursts, float(np.sqrt(level)))


def _joined(runs: Iterable[tuple[int, int]], gap: float) -> list[tuple[int, int]]:
    """Return runs of samples, start and stop, with those joined that are less than ``gap`` apart."""
    joined = list[tuple[int, int]]()
    for start, stop in runs:
        near = joined and start - joined[-1][1] < gap
        joined.append((joined.pop()[0], stop) if near else (start, stop))
    return joined


def co_contraction(one: Array, other: Array) -> Array:
    """Return the co-contraction index (...) of two muscles, percent (Falconer and Winter 1985).

    It is twice the area below both envelopes per sum of their areas: 100 if they are equal, 0 if they never overlap.

    Args:
        one, other: (..., phase), envelopes, each normalised.
    """
    area = 2 * np.trapezoid(np.minimum(one, other), axis=-1)
    return np.asarray(100 * area / np.trapezoid(one + other, axis=-1))


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
    runs = [stop - start for end in (finite.min(), finite.max()) for start, stop in stretches(finite == end)]
    clipped = sum(run for run in runs if run >= CLIPPED) / len(finite)
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
