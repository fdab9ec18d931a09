"""Foot strikes and offs from motion, by published methods."""

from collections.abc import Callable

import numpy as np

from ...arrays import Array, Flags
from ...signals.filters import stretches
from ...vocabulary.event_names import OFF, STRIKE
from .events import GaitEvent

LOW_SHARE = 0.35  # of the range of the foot's height (O'Connor et al. 2007)
SLIGHT_SHARE = 0.1
BACKWARDS = -0.3  # correlation; 0.53 in a walk of the demo, -0.53 with time reversed
DOWN_SHARE, AROUND_S = 0.35, 0.1
SHORTER_SHARE = 0.1  # of the range of the foot ahead of the pelvis: so much less far may a step of a walk reach
HALF_STRIDE_S = 0.6  # of usual walking, so that the floor is that of a stance before or after


def zeni(time: Array, heel: Array, toe: Array, pelvis: Array, forward: Array) -> list[GaitEvent]:
    """Return strikes and offs from the fore-aft position of the foot to the pelvis.

    Foot strike is where the heel is farthest in front of the pelvis, foot off where the toe is farthest behind it, on a
    treadmill, over ground and in turns, as forward is where the pelvis faces in each frame. Each excursion beyond the
    middle of the range gives one event. Of an excursion that is not seen whole the farthest place may be hidden: it
    gives one only if it reaches as far as others and, where its beginning is hidden, was seen to grow. So a foot that
    is down or in the middle of its swing when its markers first appear gives none. In walking backwards, when the
    raised foot swings back, the two are exchanged.

    Args:
        time: (time,), s.
        heel, toe, pelvis: (time, 3), lab axes, m, NaN where unseen.
        forward: (time, 3) horizontal unit vector.

    Source: Zeni JA, Richards JG, Higginson JS (2008) Gait Posture 27:710-714.
    """
    in_front, behind = (((point * forward) @ np.ones(3)) for point in (heel - pelvis, pelvis - toe))
    strikes, offs = _farthest(in_front), _farthest(behind)
    if _swings_back(time, (heel + toe)[:, 1] / 2 - pelvis[:, 1], in_front - behind):
        strikes, offs = offs, strikes
    return _events(time, strikes, offs)


def oconnor(time: Array, heel: Array, toe: Array, _pelvis: Array, _forward: Array) -> list[GaitEvent]:
    """Return strikes and offs from the vertical velocity of the foot's middle.

    Foot off is its fastest rise; foot strike its fastest fall while the heel is in the lowest 35 % of its range, over
    the lowest place of the stride, as the floor may be stairs.

    Source: O'Connor CM, Thorpe SK, O'Malley MJ, Vaughan CL (2007) Gait Posture 25:469-474.
    """
    if len(time) < 10 or np.isfinite(heel + toe).all(axis=1).sum() < 10:
        return []
    velocity, height = np.gradient((heel + toe)[:, 1] / 2, time), heel[:, 1]
    height = height - _floor(time, height)
    low, high = np.nanpercentile(height, [1, 99])
    fastest = np.nanpercentile(velocity, 98)
    with np.errstate(invalid="ignore"):
        landing = (height < low + LOW_SHARE * (high - low)) & (velocity < -SLIGHT_SHARE * fastest)
        rising = velocity > fastest / 2
    return _events(time, _tops(-velocity, landing), _tops(velocity, rising))


def handsaker(time: Array, heel: Array, toe: Array, _pelvis: Array, _forward: Array) -> list[GaitEvent]:
    """Return foot strikes and offs of running, for any strike pattern.

    Foot strike is the peak of the vertical acceleration of heel or toe, whichever is earlier, near the start of a
    stretch in which the foot is low; foot off is the peak of the toe's vertical jerk near its end. (The authors used
    the hallux instead of the toe marker.)

    Source: Handsaker JC, Forrester SE, Folland JP, Black MI, Allen SJ (2016) J Biomech 49:4128-4133.
    """
    if len(time) < 10 or np.isfinite(heel + toe).all(axis=1).sum() < 10:
        return []
    heights = [point[:, 1] for point in (heel, toe)]
    accelerations = [np.gradient(np.gradient(height, time), time) for height in heights]
    jerk = np.gradient(accelerations[1], time)
    lowest = np.minimum(*(height - np.nanpercentile(height, 2) for height in heights))
    down = np.where(np.isfinite(lowest), lowest, np.inf) < DOWN_SHARE * np.nanpercentile(lowest, 98)
    strikes, offs = [], []
    around = max(round(AROUND_S * (len(time) - 1) / (time[-1] - time[0])), 1)
    for start, stop in stretches(down):
        strikes += [min(peak for a in accelerations for peak in _highest(a, start, around))] if start > around else []
        offs += _highest(jerk, stop, around) if stop < len(time) - around else []
    return _events(time, strikes, offs)


METHODS: dict[str, Callable[[Array, Array, Array, Array, Array], list[GaitEvent]]] = {
    "zeni": zeni,
    "oconnor": oconnor,
    "handsaker": handsaker,
}


def _floor(time: Array, height: Array) -> Array:
    """Return the least height (time,) within half a stride before and after, which rises and falls with stairs."""
    around = max(round(HALF_STRIDE_S * (len(time) - 1) / (time[-1] - time[0])), 1)
    seen = np.where(np.isfinite(height), height, np.inf)
    padded = np.pad(seen, around, constant_values=np.inf)
    least = np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1).min(axis=1)
    return np.where(np.isfinite(least), least, np.nan)


def _swings_back(time: Array, height: Array, ahead: Array) -> bool:
    """Return whether height and forward speed (time,) of a foot correlate negatively."""
    if len(time) < 10:
        return False
    speed = np.gradient(ahead, time)
    seen = np.isfinite(height) & np.isfinite(speed)
    if seen.sum() < 10:
        return False
    height, speed = height[seen] - height[seen].mean(), speed[seen] - speed[seen].mean()
    return bool(height @ speed < BACKWARDS * np.sqrt((height @ height) * (speed @ speed)))


def _events(time: Array, strikes: list[int], offs: list[int]) -> list[GaitEvent]:
    events = [GaitEvent(float(time[i]), STRIKE, "kinematic") for i in strikes]
    return sorted(events + [GaitEvent(float(time[i]), OFF, "kinematic") for i in offs])


def _farthest(signal: Array) -> list[int]:
    seen = np.isfinite(signal)
    if seen.sum() < 10:
        return []
    ordered = np.sort(signal[seen])
    low, high = np.interp([0.05 * (len(ordered) - 1), 0.95 * (len(ordered) - 1)], np.arange(len(ordered)), ordered)
    shorter, around = SHORTER_SHARE * (high - low), np.concatenate([[False], seen, [False]])
    tops = []
    for start, stop in stretches(np.where(seen, signal, -np.inf) > (low + high) / 2):
        i = start + int(np.argmax(signal[start:stop]))
        if _is_peak(signal, i) and (around[start] or signal[i] - signal[start] >= shorter):
            tops.append((i, around[start] and around[stop + 1]))
    least = min((signal[i] for i, whole in tops if whole), default=-np.inf) - shorter
    return [i for i, whole in tops if whole or signal[i] >= least]


def _tops(signal: Array, beyond: Flags) -> list[int]:
    """Return the largest sample of each stretch if it is a peak."""
    peaks = [start + int(np.argmax(signal[start:stop])) for start, stop in stretches(beyond)]
    return [i for i in peaks if _is_peak(signal, i)]


def _is_peak(signal: Array, i: int) -> bool:
    return bool(0 < i < len(signal) - 1 and signal[i - 1] <= signal[i] >= signal[i + 1])


def _highest(signal: Array, middle: int, around: int) -> list[int]:
    part = signal[middle - around : middle + around + 1]
    return [middle - around + int(np.nanargmax(part))] if np.isfinite(part).any() else []
