"""When a plate is unloaded.

A plate without a foot over it is unloaded, whatever it reads; where the feet are not seen, or always over it, its
lowest vertical force is the unloaded level, as feet only push.
"""

import numpy as np

from ..arrays import Array, Flags
from ..signals.filters import stretches

BAND_N, BAND_SHARE = 60.0, 0.35  # largest drift above the lowest level; as a share of the largest load
STEADY_N = 8.0  # largest change between blocks; a light touch changes more
QUIET_CHANGE_N, QUIET_BEND_N = 15.0, 6.0  # largest change and bend over 0.2 s; a foot changes the force faster
# the same without a foot over the plate: amplifiers drift by less than 300 N/s, people step faster
AWAY_CHANGE_N = 60.0
FEWEST_AWAY_BLOCKS = 6  # without a foot over the plate, to see a bend over 0.2 s
STANDING_N = 20.0  # a higher load throughout may be a light person
LARGEST_OFFSET_N = 300.0


def find_unloaded(vertical: Array, away: Flags | None = None) -> Flags:
    """Return which blocks (block,) of 50 ms of the vertical force are unloaded.

    These are the blocks of a slow path without a foot over the plate (``away``), whatever it reads. Of the others,
    steady blocks near the lowest level, and quiet ones that drifted further up, but not the neighbours of a load;
    levels are relative to that without a foot. A plate that is loaded throughout has none. If all loads are negative
    the sign is wrong, and the highest level is the unloaded one.
    """
    none = np.zeros(len(vertical), dtype=bool)
    first, last = vertical[:1], vertical[-1:]
    padded = np.concatenate([first, first, vertical, last, last])
    earlier, previous, here, following, later = (padded[k : len(vertical) + k] for k in range(5))
    quiet = (np.abs(later - earlier) < QUIET_CHANGE_N) & (np.abs(later - 2 * here + earlier) < QUIET_BEND_N)
    steady = np.maximum(np.abs(here - previous), np.abs(following - here)) < STEADY_N
    level, sure = _without_feet(vertical, none if away is None else away)
    above = vertical - level
    seen = above[np.isfinite(above)]
    if not seen.size:
        return none
    ordered = np.sort(seen)
    lowest, highest = np.interp(0.02 * (len(seen) - 1), np.arange(len(seen)), ordered), ordered[-1]  # 2nd percentile
    if highest - lowest < STANDING_N:
        return np.isfinite(above) if -LARGEST_OFFSET_N < lowest < STANDING_N else none
    if abs(highest) < -BAND_SHARE * lowest:
        above, lowest, highest = -above, -highest, -lowest
    reach = BAND_SHARE * (highest - lowest)
    band = min(BAND_N, reach)
    if not -LARGEST_OFFSET_N < lowest < max(STANDING_N, band):
        return none
    low = sure | (above < lowest + band) | (quiet & (above < lowest + reach))
    low_around = np.concatenate([[True], low, [True]])
    return np.asarray(sure | (low & steady & low_around[:-2] & low_around[2:]))


def _without_feet(vertical: Array, away: Flags) -> tuple[Array, Flags]:
    """Return the level (block,) that a plate reads without a foot over it, and which blocks show it surely.

    Where the force follows a slow path as long as no foot is over the plate, that path is the level: it may be high, or
    drift. If the path bends, something else loads the plate as well (another person, a cane, or feet on a plate with
    wrong corners): then its lowest part is the level, and no block is sure. The level is interpolated, zero if unknown.
    """
    sure, quiet = np.zeros((2, len(vertical)), dtype=bool)
    for start, stop in stretches(away & np.isfinite(vertical)):
        part = vertical[start:stop]
        if len(part) < FEWEST_AWAY_BLOCKS:
            continue
        slow = np.abs(part[4:] - part[:-4]) < AWAY_CHANGE_N
        slow &= np.abs(part[4:] - 2 * part[2:-2] + part[:-4]) < QUIET_BEND_N
        sure[start:stop] = slow.all()
        quiet[start + 2 : stop - 2] = slow & (slow.all() | (part[2:-2] < part.min() + QUIET_CHANGE_N))
    quiet |= sure
    level = np.interp(np.arange(len(vertical)), np.flatnonzero(quiet), vertical[quiet]) if quiet.any() else 0 * vertical
    return level, sure


def is_low(part: Array, vertical: Array) -> bool:
    """Return whether samples are near the lowest level and nobody stands throughout."""
    lowest = np.nanmin(vertical) if np.isfinite(vertical).any() else np.nan
    near = part.size and np.abs(part - lowest).max() < STANDING_N
    return bool(near and -LARGEST_OFFSET_N < lowest < STANDING_N)
