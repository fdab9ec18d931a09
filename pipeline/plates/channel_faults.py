"""Faults of a plate's channels: dead, wrapped, clipped; and a centre of pressure that leaps.

A channel that stays still, or jumps, gives a force or a centre of pressure that looks like one. Only plates that a foot
steps on or off are judged: a plate at rest, and a person standing still, move no channel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..signals.filters import stretches
from .baseline import BAND_SHARE, block_means
from .parameters import Plate
from .wrench import centre_of_pressure, channels_to_centre, plate_axes

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

STEP_N = 100.0  # smallest change of the vertical force to judge by; that of a child of 13 kg is 200 N
# Smallest movement of a working channel, per change of the vertical force. Plates are specified to 1 or 2 % of
# crosstalk. A step on or off has a shear of 5 % or more along each axis, at any angle, and moves the centre of pressure
# by a centimetre or more; its moment about the vertical is 5 mm times the force or more.
SHEAR, LEVER_M, VERTICAL_LEVER_M = 0.01, 0.002, 0.001
ONE_OF_TWO_SHEARS, ONE_OF_FOUR_LOADS = 0.003, 0.005  # of type 3: each measures a share, which depends on the place
SLIDING = 1.0  # a foot slips before its shear exceeds the vertical force
PUSHED_N = 30.0  # shear that needs a vertical force
LOADED, WELL_LOADED = 0.1, 0.5  # as shares of the largest vertical force
# A wrapped channel jumps by its converter's whole range, which is then all of its movement; in healthy steps of 100
# to 2000 samples per second the largest change from sample to sample that lasts is 0.4 of it.
WRAPPED = 0.75
TO_AND_FRO, FEWEST_TO_AND_FRO = 0.9, 4  # by noise around the limit; a plate that rings does not keep its amplitude
LASTING, LOWEST_RATE_HZ = 3, 100  # samples on each side of a jump; slower ones may miss how a running foot lands
# A rounded top stays within one count for as long as it takes to fall by 8 counts on each side; a cut one falls more.
# The fall is 8 times what is cut off, of which a share of the movement does not matter.
FEWEST_CLIPPED, CUT_COUNTS, CUT_SHARE = 4, 30, 0.02
# Another foot that lands 0.6 m away at 25 body weights per second moves the centre of pressure by 7 cm in 5 ms.
LEAP_M, LEAP_S = 0.15, 0.005
POSITIONS = (3, 4)  # channels of type 1 that hold the centre of pressure, without meaning while nobody presses
MOST_LISTED = 2


def channel_fault(
    plate: Plate,
    analog: Array,
    names: Sequence[str],
    force: Array,
    moment: Array,
    *,
    rate_hz: float,
    length_unit_m: float,
    moment_unit_n_m: float,
) -> str:
    """Return what is wrong with the channels of a plate that is stepped on, or an empty text.

    Args:
        plate: the plate, without ``problem``.
        analog: (sample, channel) all channels of the file, as scaled by it.
        names: their labels.
        force, moment: (sample, 3) of the plate, N, and about the origin, N m, file axes.
        rate_hz: samples per second.
        length_unit_m, moment_unit_n_m: as of :func:`pipeline.plates.wrench.decode`.
    """
    axes, corners = plate_axes(plate.corners), plate.corners * length_unit_m
    pressing = _pressing(-force @ axes[:, 2])
    loaded, well_loaded = (pressing > share * pressing.max(initial=0.0) for share in (LOADED, WELL_LOADED))
    readings = analog[:, plate.channels - 1]
    if plate.type == 1:
        readings[np.ix_(~loaded, POSITIONS)] = np.nan
    movement = _movement(block_means(np.hstack([force @ axes, readings]), rate_hz))
    shear_n, load_n = movement[:2].max(), movement[2]
    if shear_n > max(SLIDING * load_n, PUSHED_N):
        return f"its vertical force moves by {load_n:.0f} N while a shear moves by {shear_n:.0f} N"
    if load_n < STEP_N:
        return ""
    still = movement[3:] < _smallest_movements(plate, load_n, length_unit_m, moment_unit_n_m)
    found = []
    for i, channel in enumerate(plate.channels - 1):
        name = names[channel].strip() if channel < len(names) else ""
        jump = _jump(readings[:, i]) if rate_hz >= LOWEST_RATE_HZ else ""
        if fault := _still(movement[3 + i], load_n) if still[i] else jump or _cut(readings, i, loaded):
            found.append(f"channel {name or channel + 1} {fault}")
    if not found:
        return _leap(centre_of_pressure(force, moment, corners)[0], well_loaded, rate_hz)
    return " and ".join(found[:MOST_LISTED]) + " and more" * (len(found) > MOST_LISTED)


def _still(movement: float, load_n: float) -> str:
    return f"stays within {movement:.3g} while the vertical force moves by {load_n:.0f} N"


def _pressing(vertical: Array) -> Array:
    """Return the load (sample,) by the force up the plate's normal; if all of it is negative, its sign is wrong."""
    seen = vertical[np.isfinite(vertical)]
    if not seen.size:
        return np.zeros(len(vertical))
    up = -1 if abs(seen.max()) < -BAND_SHARE * seen.min() else 1
    return np.asarray(np.nan_to_num(up * vertical - np.percentile(up * seen, 5)))


def _movement(blocks: Array) -> Array:
    """Return the range of each column of (block, column), gaps apart; zero for one that is never seen."""
    seen = (column[np.isfinite(column)] for column in blocks.T)
    return np.array([np.ptp(column) if column.size else 0.0 for column in seen])


def _smallest_movements(plate: Plate, load_n: float, length_unit_m: float, moment_unit_n_m: float) -> Array:
    """Return the smallest movement of each working channel (channel,), file units."""
    smallest = load_n * np.array([*[SHEAR] * 3, LEVER_M, LEVER_M, VERTICAL_LEVER_M])
    if plate.type == 1:
        return np.array([*smallest[:3], *[LEVER_M / length_unit_m] * 2, smallest[5] / moment_unit_n_m])
    if plate.type == 3:
        return load_n * np.repeat([ONE_OF_TWO_SHEARS, ONE_OF_FOUR_LOADS], 4)
    effect = np.abs(channels_to_centre(plate, length_unit_m, moment_unit_n_m))
    with np.errstate(divide="ignore"):
        return np.asarray((smallest[:, None] / effect).min(axis=0))


def _jump(values: Array) -> str:
    """Return the largest jump (sample,) if it is most of the movement and lasts or comes again, or an empty text."""
    if len(values) < 2 * LASTING:
        return ""
    changes, range_ = np.abs(np.diff(values)), np.nanmax(values) - np.nanmin(values)
    largest = np.nanmax(changes)
    if largest <= WRAPPED * range_:
        return ""
    windows = np.lib.stride_tricks.sliding_window_view(values, LASTING)
    before, after = windows[:-LASTING], windows[LASTING:]
    gap = np.maximum(after.min(axis=1) - before.max(axis=1), before.min(axis=1) - after.max(axis=1))
    lasts = np.nanmax(gap, initial=0.0) > WRAPPED * range_
    again = (changes > TO_AND_FRO * range_).sum() >= FEWEST_TO_AND_FRO
    return f"jumps by {largest:.6g} from one sample to the next" if lasts or again else ""


def _cut(readings: Array, channel: int, loaded: Flags) -> str:
    """Return for how many samples a channel keeps its extreme under load while others move, or an empty text."""
    values = readings[:, channel]
    under_load = values[loaded]
    lowest, highest = np.nanmin(under_load), np.nanmax(under_load)
    runs = [
        span
        for level in (lowest, highest)
        if (under_load == level).sum() >= FEWEST_CLIPPED
        for span in stretches(loaded & (values == level))
        if span[1] - span[0] >= FEWEST_CLIPPED
    ]
    if not runs or lowest == highest:
        return ""
    steps = np.diff(np.unique(under_load))
    fall = max(CUT_COUNTS * steps[steps > 1e-6 * (highest - lowest)].min(), CUT_SHARE * (highest - lowest))
    others = np.delete(readings, channel, axis=1)
    for start, stop in runs:
        length = stop - start
        around = values[max(start - length, 0) : start], values[stop : stop + length]
        falls = [np.abs(part - values[start]).max() for part in around if np.isfinite(part).any()]
        if falls and min(falls) > fall and (np.ptp(others[start:stop], axis=0) > 0).any():
            return f"is cut off at {values[start]:.6g} for {length} samples"
    return ""


def _leap(cop: Array, loaded: Flags, rate_hz: float) -> str:
    """Return how far the centre of pressure (sample, 3) leaps under load, or an empty text."""
    apart = max(round(LEAP_S * rate_hz), 1)
    both = loaded[apart:] & loaded[:-apart]
    leaps = np.linalg.norm(cop[apart:] - cop[:-apart], axis=1)[both]
    largest, limit_m = float(np.nanmax(leaps, initial=0.0)), LEAP_M * max(apart / rate_hz / LEAP_S, 1.0)
    return f"its centre of pressure leaps by {largest:.2f} m at once" if largest > limit_m else ""
