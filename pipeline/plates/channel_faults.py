"""Faults of a plate's channels: dead, wrapped, clipped; and a centre of pressure that leaps.

A channel that stays still, or jumps, gives a force or a centre of pressure that looks like one. Only plates that a foot
steps on or off are judged: a plate at rest, and a person standing still, move no channel.
"""

from collections.abc import Sequence

import numpy as np

from ..arrays import Array, Flags, quotient
from ..errors import join_some
from ..signals.filters import stretches
from .baseline import block_means
from .parameters import Plate
from .unloaded import BAND_SHARE
from .wrench import centre_of_pressure, channels_to_centre, plate_axes

STEP_N = 100.0  # smallest change of the vertical force to judge by; that of a child of 13 kg is 200 N
# A step, also of 0.9 s, gives 0.6 of its load in 0.2 s; a plate that drifts gives 0.3 at most in 1.5 s or more.
STEP_BLOCKS, STEPPED = 4, 0.4
# Smallest movement of a working channel, per change of the vertical force. Plates are specified to 1 or 2 % of
# crosstalk. A step on or off has a shear of 5 % or more along each axis, at any angle, and moves the centre of pressure
# by a centimetre or more; its moment about the vertical is 5 mm times the force or more.
SHEAR, LEVER_M, VERTICAL_LEVER_M = 0.01, 0.002, 0.001
ONE_OF_TWO_SHEARS, ONE_OF_FOUR_LOADS = 0.003, 0.005  # of type 3: each measures a share, which depends on the place
SLIDING = 1.0  # a foot slips before its shear exceeds the vertical force
PUSHED_N = 30.0  # shear that needs a vertical force
LOADED, WELL_LOADED = 0.1, 0.5  # as shares of the largest vertical force
# A wrapped channel jumps by its converter's whole range, which is then all of its movement. The steepest load, of a
# stamp or of a heel in running, takes 5 ms; so does a foot that rolls over the plate's edge with a patch of 2 cm at
# 4 m/s. A smooth rise is at most 1.5 times as steep as its mean: 0.75 of it in 2.5 ms.
WRAPPED, LOWEST_RATE_HZ = 0.75, 400
TO_AND_FRO, FEWEST_TO_AND_FRO = 0.9, 4  # by noise around the limit; a plate that rings does not keep its amplitude
LASTING = 3  # samples on each side of a jump
# A rounded top stays within one count for as long as it takes to fall by 8 counts on each side; a cut one falls more.
# The fall is 8 times what is cut off, of which a share of the movement does not matter.
FEWEST_CLIPPED, CUT_COUNTS, CUT_SHARE = 4, 30, 0.02
# Another foot that lands 0.6 m away at 25 body weights per second moves the centre of pressure by 7 cm in 5 ms.
LEAP_M, LEAP_S = 0.15, 0.005
POSITIONS = (3, 4)  # channels of type 1 that hold the centre of pressure, without meaning while nobody presses
MOST_LISTED = 2


def find_faults(
    plate: Plate,
    analog: Array,
    names: Sequence[str],
    force: Array,
    moment: Array,
    *,
    rate_hz: float,
    length_unit_m: float,
    moment_unit_n_m: float,
) -> list[str]:
    """Return what is wrong with the channels of a plate that is stepped on, each thing on its own.

    Args:
        plate: the plate, without ``problem``.
        analog: (sample, channel) all channels of the file; forces of this plate are in N.
        force, moment: (sample, 3) of the plate, N, and about the origin, N m, file axes.
        length_unit_m, moment_unit_n_m: as of :func:`pipeline.plates.wrench.decode`.
    """
    axes, corners = plate_axes(plate.corners), plate.corners * length_unit_m
    pressing = _pressing(-force @ axes[:, 2])
    loaded, well_loaded = (pressing > share * pressing.max(initial=0.0) for share in (LOADED, WELL_LOADED))
    readings = analog[:, plate.channels - 1]
    titles = [f"channel {(i <= len(names) and names[i - 1].strip()) or i}" for i in plate.channels.tolist()]
    if blank := [titles[i] for i in np.flatnonzero(np.isnan(readings).all(axis=0)).tolist()]:
        return [f"{join_some(blank, MOST_LISTED)} holds no numbers, only NaN"]
    if plate.type == 1:
        readings[np.ix_(~loaded, POSITIONS)] = np.nan
    blocks = block_means(np.hstack([force @ axes, readings]), rate_hz)
    movement = np.zeros(blocks.shape[1])  # of a column that is never seen
    if len(blocks):
        movement = np.nan_to_num(np.fmax.reduce(blocks) - np.fmin.reduce(blocks))
    shear_n, load_n = movement[:2].max(), movement[2]
    if shear_n > max(SLIDING * load_n, PUSHED_N):
        return [f"its vertical force moves by {load_n:.0f} N while a shear moves by {shear_n:.0f} N"]
    quick_n = np.abs(blocks[STEP_BLOCKS:, 2] - blocks[:-STEP_BLOCKS, 2])
    if load_n < STEP_N or np.fmax.reduce(quick_n, initial=0.0) < STEPPED * load_n:
        return []
    still = movement[3:] < _smallest_movements(plate, load_n, length_unit_m, moment_unit_n_m)
    pressed = _without_rest(readings)
    jumping = _may_jump(pressed) & (rate_hz >= LOWEST_RATE_HZ)
    faults = []
    for i in np.flatnonzero(still | jumping | _may_be_cut(readings.T.compress(loaded, axis=1))).tolist():
        fault = f"stays within {movement[3 + i]:.3g} while the vertical force moves by {load_n:.0f} N"
        if not still[i]:
            fault = (_jump(pressed[:, i]) if jumping[i] else "") or _describe_cut(readings, i, loaded)
        faults += [f"{titles[i]} {fault}"] if fault else []
    if faults:
        return faults
    idle = ~loaded & np.isfinite(force + moment).all(axis=1)
    offset = [np.median(of.T.compress(idle, axis=1), axis=1) if idle.any() else 0.0 for of in (force, moment)]
    cop = np.full_like(force, np.nan)
    cop[well_loaded] = centre_of_pressure(force[well_loaded] - offset[0], moment[well_loaded] - offset[1], corners)[0]
    leap = _leap(cop, rate_hz)
    return [leap] if leap else []


def in_words(faults: Sequence[str]) -> str:
    """Return the faults of a plate in one line, the first ones if there are many."""
    return " and ".join(faults[:MOST_LISTED]) + " and more" * (len(faults) > MOST_LISTED)


def _pressing(vertical: Array) -> Array:
    """Return the load (sample,) by the force up the plate's normal; if all of it is negative, its sign is wrong."""
    seen = vertical[np.isfinite(vertical)]
    if not seen.size:
        return np.zeros(len(vertical))
    up = -1 if abs(seen.max()) < -BAND_SHARE * seen.min() else 1
    return np.asarray(np.nan_to_num(up * vertical - np.percentile(up * seen, 5)))


def _smallest_movements(plate: Plate, load_n: float, length_unit_m: float, moment_unit_n_m: float) -> Array:
    """Return the smallest movement of each working channel (channel,), file units."""
    smallest = load_n * np.array([*[SHEAR] * 3, LEVER_M, LEVER_M, VERTICAL_LEVER_M])
    if plate.type == 1:
        return np.array([*smallest[:3], *[LEVER_M / length_unit_m] * 2, smallest[5] / moment_unit_n_m])
    if plate.type == 3:
        return load_n * np.repeat([ONE_OF_TWO_SHEARS, ONE_OF_FOUR_LOADS], 4)
    effect = np.abs(channels_to_centre(plate, length_unit_m, moment_unit_n_m))
    return np.asarray(quotient(smallest[:, None], effect).min(axis=0))


def _without_rest(readings: Array) -> Array:
    """Return (sample, channel) with NaN where all channels rest at one exact value, as where a lab zeroes small forces.

    All channels leave that value at once, which no cable and no converter does.
    """
    values = np.nan_to_num(readings)
    still = (values[1:] == values[:-1]).all(axis=1)
    if not still.any():
        return readings
    return np.where((values == values[still.argmax()]).all(axis=1)[:, None], np.nan, readings)


def _may_jump(readings: Array) -> Flags:
    """Return whether the largest change of each channel of (sample, channel) is most of its movement."""
    if len(readings) < 2 * LASTING:
        return np.zeros(readings.shape[1], dtype=bool)
    changes = np.fmax.reduce(np.abs(np.diff(readings, axis=0)))
    return np.asarray(changes > WRAPPED * (np.fmax.reduce(readings) - np.fmin.reduce(readings)))


def _jump(values: Array) -> str:
    """Return the largest jump of (sample,) if it lasts or comes again, or an empty text."""
    changes, range_ = np.abs(np.diff(values)), np.nanmax(values) - np.nanmin(values)
    windows = np.lib.stride_tricks.sliding_window_view(values, LASTING)
    before, after = windows[:-LASTING], windows[LASTING:]
    gap = np.maximum(after.min(axis=1) - before.max(axis=1), before.min(axis=1) - after.max(axis=1))
    lasts = np.nanmax(gap, initial=0.0) > WRAPPED * range_
    again = (changes > TO_AND_FRO * range_).sum() >= FEWEST_TO_AND_FRO
    return f"jumps by {np.nanmax(changes):.6g} from one sample to the next" if lasts or again else ""


def _may_be_cut(under_load: Array) -> Flags:
    """Return whether each channel of (channel, sample) has its extreme in several samples."""
    extremes = [extreme.reduce(under_load, axis=1)[:, None] for extreme in (np.fmin, np.fmax)]
    often = [(under_load == extreme).sum(axis=1) >= FEWEST_CLIPPED for extreme in extremes]
    return np.asarray(often[0] | often[1])


def _describe_cut(readings: Array, channel: int, loaded: Flags) -> str:
    """Return for how many samples a channel keeps its extreme under load while others move, or an empty text."""
    values = readings[:, channel]
    under_load = values[loaded]
    lowest, highest = np.nanmin(under_load), np.nanmax(under_load)
    runs = [
        span
        for level in (lowest, highest)
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


def _leap(cop: Array, rate_hz: float) -> str:
    """Return how far the centre of pressure (sample, 3), NaN without load, leaps, or an empty text."""
    apart = max(round(LEAP_S * rate_hz), 1)
    leaps = cop[apart:] - cop[:-apart]
    largest = float(np.sqrt(np.fmax.reduce((leaps * leaps) @ np.ones(3), initial=0.0)))
    limit_m = LEAP_M * max(apart / rate_hz / LEAP_S, 1.0)
    return f"its centre of pressure leaps by {largest:.2f} m at once" if largest > limit_m else ""
