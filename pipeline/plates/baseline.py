"""What an unloaded plate reads: its offset, how that drifts, and how much of a drift cannot be known.

Amplifiers leave an offset on a plate; charge and heat let it drift, that of piezo-electric plates most. It shows
while nobody is on the plate, and is taken as running straight in between. Nobody can pull a plate up: it rests where
its vertical force is lowest.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..dynamics.vectors import cross
from ..signals.filters import stretches

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Blocks = NDArray[np.intp]

BLOCK_S = 0.05
KNOT_BLOCKS = 3  # so much rest gives one knot of the drift
BAND_N, BAND_SHARE = 60.0, 0.35  # above the lowest level, and as a share of the largest load: room for drift
STEADY_N = 8.0  # from block to block, so that light touches do not count
QUIET_CHANGE_N, QUIET_BEND_N = 15.0, 6.0  # of blocks 0.1 s either side: a foot at that level changes faster
STANDING_N = 20.0  # a load that stays above it may be a light person
LARGEST_OFFSET_N = 300.0
DRIFT_N, DRIFT_N_M = 3.0, 1.0  # smaller changes are noise: one mean is the better answer
SLOPE_BLOCKS, MOST_SLOPE_BLOCKS = 4, 10  # fewest to tell a slope from, most beside a load


def rest_taken_off(
    force: Array, moment: Array, corners: Array, *, rate_hz: float, named: slice | None = None
) -> tuple[Array, Array, Array]:
    """Return wrenches (sample, plate, 6) without what the plates read at rest, and what that was.

    Args:
        force, moment: (sample, plate, 3), N, and N m about the lab origin; y is up.
        corners: (plate, 4, 3), m.
        rate_hz, named: see `resting_wrench`.

    Returns:
        The wrenches; the mean force taken off (plate, 3), N; the unknown drift (plate,), N, see `unknown_drift`.
    """
    # in memory with time last: that is how it is worked on, here and in the filter
    parts = [np.moveaxis(part, 0, -1) for part in (force, moment)]
    wrench = np.moveaxis(np.concatenate(parts, axis=1), -1, 0)
    baseline, drift = np.zeros((len(corners), 3)), np.zeros(len(corners))
    blocks = block_means(wrench, rate_hz)
    for plate, middle in enumerate(corners.mean(axis=1)):
        rest, drift[plate] = resting_wrench(wrench[:, plate], blocks[:, plate], middle, rate_hz=rate_hz, named=named)
        wrench[:, plate] -= rest
        baseline[plate] = rest[:, :3].mean(axis=0)
    return wrench, baseline, drift


def resting_wrench(
    wrench: Array, blocks: Array, middle: Array, *, rate_hz: float, named: slice | None = None
) -> tuple[Array, float]:
    """Return the wrench that a plate reads at rest, and the drift that cannot be known.

    Args:
        wrench: (sample, 6) of one plate, force, N, and moment about the lab origin, N m; y is up.
        blocks: (block, 6), its means over blocks of 50 ms.
        middle: (3,) middle of the plate, m.
        rate_hz: samples per second.
        named: samples that the file names as unloaded; they count where they are and no longer stretch is seen.

    Returns:
        (sample or 1, 6) force and moment about the lab origin, to take off: one row where they change by less than
        3 N and 1 N m over the trial; zeros where the plate is never seen unloaded. And the unknown drift, see
        `unknown_drift`.
    """
    free = unloaded(blocks[:, 1])
    if free.any():
        about_middle = np.concatenate([blocks[:, :3], blocks[:, 3:] - cross(middle, blocks[:, :3])], axis=1)
        rest = _through_knots(about_middle, free, len(wrench), _block_size(rate_hz))
        rest[:, 3:] += cross(middle, rest[:, :3])
    elif named is not None and _is_low(wrench[named, 1], wrench[:, 1]):
        rest = wrench[named].mean(axis=0)[None]
    else:
        rest = np.zeros((1, 6))
    return rest, unknown_drift(blocks[:, :3], free)


def unloaded(vertical: Array) -> Flags:
    """Return which blocks (block,) of 50 ms of the vertical force show a plate at rest.

    These are the steady blocks near the lowest level, and quiet ones that drifted further up; blocks beside a load
    belong to it. A plate that is loaded throughout has none. Where all load points down the sign is wrong: then the
    highest level is that of rest.
    """
    none = np.zeros(len(vertical), dtype=bool)
    seen = vertical[np.isfinite(vertical)]
    if not seen.size:
        return none
    ordered = np.sort(seen)
    lowest, highest = np.interp(0.02 * (len(seen) - 1), np.arange(len(seen)), ordered), ordered[-1]  # 2nd percentile
    if highest - lowest < STANDING_N:
        return np.isfinite(vertical) if -LARGEST_OFFSET_N < lowest < STANDING_N else none
    if abs(highest) < -BAND_SHARE * lowest:
        vertical, lowest, highest = -vertical, -highest, -lowest
    reach = BAND_SHARE * (highest - lowest)
    band = min(BAND_N, reach)
    if not -LARGEST_OFFSET_N < lowest < max(STANDING_N, band):
        return none
    first, last = vertical[:1], vertical[-1:]
    padded = np.concatenate([first, first, vertical, last, last])
    earlier, previous, here, following, later = (padded[k : len(vertical) + k] for k in range(5))
    quiet = (np.abs(later - earlier) < QUIET_CHANGE_N) & (np.abs(later - 2 * here + earlier) < QUIET_BEND_N)
    low = (here < lowest + band) | (quiet & (here < lowest + reach))
    beside = np.concatenate([[True], low, [True]])
    steady = np.maximum(np.abs(here - previous), np.abs(following - here)) < STEADY_N
    return np.asarray(low & steady & beside[:-2] & beside[2:])


def unknown_drift(force: Array, free: Flags) -> float:
    """Return how much of a plate's drift under load is not known, N.

    Across a load: the change of the resting force beyond what its slopes before and after foretell, at most all of
    the change; drift that runs straight counts as known, a jump does not. Where the trial begins or ends with a load:
    what the slope beside it adds up to. The largest of these; NaN where the plate is never at rest.

    Args:
        force: (block, 3), N.
        free: (block,) whether the plate is at rest.
    """
    runs = [np.arange(start, stop) for start, stop in stretches(free)]
    if not runs:
        return float("nan")
    found = [0.0]
    for before, after in pairwise(runs):
        left, right = before[-KNOT_BLOCKS:], after[:KNOT_BLOCKS]
        if np.nanmax(force[left[0] : right[-1] + 1, 1]) < force[[*left, *right], 1].max() + STEADY_N:
            continue  # a jump at rest, no load
        change = force[right].mean(axis=0) - force[left].mean(axis=0)
        slopes = [_slope(force, beside) for beside in (before[-MOST_SLOPE_BLOCKS:], after[:MOST_SLOPE_BLOCKS])]
        foretold = (right.mean() - left.mean()) * np.mean(slopes, axis=0)
        found.append(min(float(np.linalg.norm(change)), float(np.linalg.norm(change - foretold))))
    for blocks, slope in zip((runs[0][0], len(force) - 1 - runs[-1][-1]), _end_slopes(force, runs), strict=True):
        found.append(float(blocks * np.linalg.norm(slope)))
    return max(found)


def _through_knots(blocks: Array, free: Flags, samples: int, size: int) -> Array:
    """Return (samples or 1, columns) through means at rest and on to the ends, blocks being of ``size`` samples."""
    rest = np.flatnonzero(free)
    begins = np.diff(rest, prepend=-2) > 1
    run = np.cumsum(begins) - 1
    place, length = rest - rest[begins][run], np.bincount(run)[run]
    starts = np.flatnonzero((place % KNOT_BLOCKS == 0) & ((place == 0) | (place + KNOT_BLOCKS <= length)))
    counts = np.diff(starts, append=len(rest))
    knots, values = np.add.reduceat(rest, starts) / counts, np.add.reduceat(blocks[rest], starts) / counts[:, None]
    if (np.ptp(values, axis=0) < np.repeat([DRIFT_N, DRIFT_N_M], 3)).all():
        return np.asarray(blocks[rest].mean(axis=0)[None])
    before, after = _end_slopes(blocks, [np.arange(*span) for span in stretches(free)])
    time = (np.arange(samples) + 0.5) / size - 0.5  # in blocks, 0 in the middle of the first
    at = [-1.0, *knots, float(len(blocks))]
    first, last = values[0] + (at[0] - knots[0]) * before, values[-1] + (at[-1] - knots[-1]) * after
    return np.stack([np.interp(time, at, column) for column in np.vstack([first, values, last]).T], axis=1)


def _end_slopes(values: Array, runs: list[Blocks]) -> tuple[Array, Array]:
    """Return the slopes per block of the first rest and of the last one."""
    return _slope(values, runs[0][:MOST_SLOPE_BLOCKS]), _slope(values, runs[-1][-MOST_SLOPE_BLOCKS:])


def _slope(values: Array, blocks: Blocks) -> Array:
    """Return the slope per block (columns,) of a straight line; zero where there are too few blocks to tell."""
    if len(blocks) < SLOPE_BLOCKS:
        return np.zeros(values.shape[1])
    time = blocks - blocks.mean()
    return np.asarray(time @ values[blocks] / (time @ time))


def _block_size(rate_hz: float) -> int:
    return max(round(BLOCK_S * rate_hz), 1)


def block_means(values: Array, rate_hz: float) -> Array:
    """Return the means (block, ...) over 50 ms of samples (sample, ...) each; what is left at the end is dropped."""
    size = _block_size(rate_hz)
    count = len(values) // size
    blocks = np.moveaxis(values[: count * size], 0, -1).reshape(*values.shape[1:], count, size)
    return np.moveaxis(blocks.mean(axis=-1), -1, 0)


def _is_low(part: Array, vertical: Array) -> bool:
    """Return whether samples lie near the lowest level of the vertical force, and this is no standing person."""
    lowest = np.nanmin(vertical) if np.isfinite(vertical).any() else np.nan
    near = part.size and np.abs(part - lowest).max() < STANDING_N
    return bool(near and -LARGEST_OFFSET_N < lowest < STANDING_N)
