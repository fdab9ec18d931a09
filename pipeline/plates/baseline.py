"""Baseline of a plate: its offset, the drift of that, and the part of the drift that is unknown.

Amplifiers cause an offset; charge and heat let it drift, most of all on piezo-electric plates. It is measured while
the plate is unloaded and interpolated linearly under load; beyond the first and last rest it goes on as straight as it
was. When it is unloaded: :mod:`pipeline.plates.unloaded`.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Flags
from ..dynamics.vectors import cross
from ..signals.filters import stretches
from .unloaded import STEADY_N, find_unloaded, is_low

Blocks = NDArray[np.intp]

BLOCK_S = 0.05
KNOT_BLOCKS = 3  # unloaded blocks for one knot of the drift
# so many standard deviations of a knot is the range of some 30 of them, if they differ by the noise of blocks only
NOISE_RANGE = 4.5
FEWEST_WANDER_BLOCKS = 20  # one second, longer than a load
FEWEST_SLOPE_BLOCKS, MOST_SLOPE_BLOCKS = 4, 10  # to fit a slope to
# a slope is carried on beyond an end from so many times as long: one of .5 s, over a load of .7 s, predicts real plates
# twice as badly as none
SLOPE_SPANS = 3
UNKNOWN = ("wander", "wander_of_moment", "prediction_error", "prediction_error_of_moment")  # of each plate


class Rest(NamedTuple):
    """What an unloaded plate reads.

    Attributes:
        wrench: (sample or 1, 6) force and moment about the lab origin: one row if they change by no more than noise
            over the trial, zeros if the plate is never unloaded.
        drift_n: the unknown drift, N, see `bound_unknown_drift`.
        wander: (2,) lengths of the ranges of force, N, and moment about the middle, N m, in means over 0.15 s; NaN if
            unloaded for less than a second, unless it reads the same in all of that, as corrected by a lab's software.
        prediction_error: (2,) N, N m, see `largest_prediction_error`.
    """

    wrench: Array
    drift_n: float
    wander: Array
    prediction_error: Array


def subtract_baseline(
    force: Array,
    moment: Array,
    corners: Array,
    *,
    rate_hz: float,
    named: slice | None = None,
    away: Flags | None = None,
) -> tuple[Array, dict[str, Array]]:
    """Return the wrenches (sample, plate, 6) without their baseline, and what is known of this.

    Args:
        force, moment: (sample, plate, 3), N, and N m about the lab origin; y is up.
        corners: (plate, 4, 3), m.
        rate_hz, named: see `resting_wrench`.
        away: (sample, plate) when no foot is over the plate; None if that is unknown.

    Returns:
        The wrenches; by name the mean ``baseline`` force (plate, 3), N, ``drift`` (plate,), N, and :data:`UNKNOWN`
        (plate,), N and N m, see `Rest`.
    """
    # time is last in memory, as the filter needs it
    parts = [np.moveaxis(part, 0, -1) for part in (force, moment)]
    wrench = np.moveaxis(np.concatenate(parts, axis=1), -1, 0)
    blocks = block_means(wrench, rate_hz)
    free_of_feet = _whole_blocks(away, rate_hz) if away is not None else np.zeros(blocks.shape[:2], dtype=bool)
    rests = []
    for plate, middle in enumerate(corners.mean(axis=1)):
        measured = wrench[:, plate], blocks[:, plate], middle
        rests.append(resting_wrench(*measured, rate_hz=rate_hz, named=named, away=free_of_feet[:, plate]))
        wrench[:, plate] -= rests[-1].wrench
    unknown = np.array([[*rest.wander, *rest.prediction_error] for rest in rests]).reshape(-1, len(UNKNOWN))
    return wrench, {
        "baseline": np.array([rest.wrench[:, :3].mean(axis=0) for rest in rests]).reshape(-1, 3),
        "drift": np.array([rest.drift_n for rest in rests]),
        **dict(zip(UNKNOWN, unknown.T, strict=True)),
    }


def resting_wrench(
    wrench: Array,
    blocks: Array,
    middle: Array,
    *,
    rate_hz: float,
    named: slice | None = None,
    away: Flags | None = None,
) -> Rest:
    """Return what a plate reads unloaded.

    Args:
        wrench: (sample, 6) of one plate, force, N, and moment about the lab origin, N m; y is up.
        blocks: (block, 6), its means over blocks of 50 ms.
        middle: (3,) middle of the plate, m.
        rate_hz: samples per second.
        named: samples that the file names as unloaded; used if no unloaded block is found and their force is low.
        away: (block,) without a foot over the plate; None if that is unknown.
    """
    free, wander = find_unloaded(blocks[:, 1], away), np.full(2, np.nan)
    about_middle = np.concatenate([blocks[:, :3], blocks[:, 3:] - cross(middle, blocks[:, :3])], axis=1)
    if free.any():
        rest, wander = _through_knots(about_middle, free, len(wrench), _block_size(rate_hz))
        rest[:, 3:] += cross(middle, rest[:, :3])
    elif named is not None and is_low(wrench[named, 1], wrench[:, 1]):
        rest = wrench[named].mean(axis=0)[None]
    else:
        rest = np.zeros((1, 6))
    drift_n, error = bound_unknown_drift(blocks[:, :3], free), largest_prediction_error(about_middle, free)
    return Rest(rest, drift_n, wander, error)


def _whole_blocks(flags: Flags, rate_hz: float) -> Flags:
    """Return for which blocks (block, ...) of 50 ms flags (sample, ...) hold, also in the blocks before and after."""
    size = _block_size(rate_hz)
    count = len(flags) // size
    whole: Flags = np.all(flags[: count * size].reshape(count, size, *flags.shape[1:]), axis=1)
    padded = np.concatenate([whole[:1], whole, whole[-1:]])
    return np.asarray(whole & padded[:-2] & padded[2:])


def bound_unknown_drift(force: Array, free: Flags) -> float:
    """Return the unknown drift of a plate under load, N; NaN if never unloaded.

    It is the largest of: for each load, the change of the baseline minus what its slopes before and after predict, but
    at most the change (linear drift is known, a jump is not); for a load at an end of the trial, the slope there times
    the duration.

    Args:
        force: (block, 3), N.
        free: (block,) which are unloaded.
    """
    runs = [np.arange(start, stop) for start, stop in stretches(free)]
    if not runs:
        return float("nan")
    drifts = [0.0]
    for before, after in pairwise(runs):
        left, right = before[-KNOT_BLOCKS:], after[:KNOT_BLOCKS]
        if not _is_load(force, left, right):
            continue
        change = force[right].mean(axis=0) - force[left].mean(axis=0)
        slopes = [_slope(force, blocks) for blocks in (before[-MOST_SLOPE_BLOCKS:], after[:MOST_SLOPE_BLOCKS])]
        predicted = (right.mean() - left.mean()) * np.mean(slopes, axis=0)
        drifts.append(min(float(np.linalg.norm(change)), float(np.linalg.norm(change - predicted))))
    counts = runs[0][0], len(force) - 1 - runs[-1][-1]
    for count, slope in zip(counts, _end_slopes(force, free), strict=True) if any(counts) else ():
        drifts.append(float(count * np.linalg.norm(slope)))
    return max(drifts)


def largest_prediction_error(wrench: Array, free: Flags) -> Array:
    """Return how far the level beyond a load is from what the rests on its one side predict, the largest, N and N m.

    It says how well the level under a load is known of which one side alone is seen. NaN if no load has rests of three
    blocks on both sides.

    Args:
        wrench: (block, 6), force, N, and moment about the plate's middle, N m.
        free: (block,) which are unloaded.
    """
    rest, errors, last = np.flatnonzero(free), [np.full(2, np.nan)], len(free) - 1
    for (first, end), (begin, stop) in pairwise(stretches(free)):
        left, right = np.arange(first, end)[-KNOT_BLOCKS:], np.arange(begin, stop)[:KNOT_BLOCKS]
        if min(len(left), len(right)) == KNOT_BLOCKS and _is_load(wrench, left, right):
            change, apart = wrench[right].mean(axis=0) - wrench[left].mean(axis=0), right.mean() - left.mean()
            back = _carried_on(wrench[::-1], last - rest[rest >= begin][::-1], last - int(left[0]))
            slopes = _carried_on(wrench, rest[rest < end], int(right[0])), -back
            errors += [_lengths(change - apart * slope) for slope in slopes]
    return np.asarray(np.fmax.reduce(errors))


def _lengths(wrench: Array) -> Array:
    """Return the lengths (2,) of force and moment of a wrench (6,)."""
    return np.asarray(np.linalg.norm(wrench.reshape(2, 3), axis=1))


def _is_load(force: Array, left: Blocks, right: Blocks) -> bool:
    """Return whether there is a load between rests, and not only a jump."""
    return bool(np.nanmax(force[left[0] : right[-1] + 1, 1]) >= force[[*left, *right], 1].max() + STEADY_N)


def _through_knots(blocks: Array, free: Flags, samples: int, size: int) -> tuple[Array, Array]:
    """Return the baseline (samples or 1, columns) through unloaded blocks of ``size``, and its wander, N, N m."""
    rest = np.flatnonzero(free)
    begins = np.diff(rest, prepend=-2) > 1
    run = np.cumsum(begins) - 1
    place, length = rest - rest[begins][run], np.bincount(run)[run]
    starts = np.flatnonzero((place % KNOT_BLOCKS == 0) & ((place == 0) | (place + KNOT_BLOCKS <= length)))
    counts = np.diff(starts, append=len(rest))
    knots, values = np.add.reduceat(rest, starts) / counts, np.add.reduceat(blocks[rest], starts) / counts[:, None]
    ranges = np.ptp(values, axis=0)
    known = len(rest) >= FEWEST_WANDER_BLOCKS or (len(rest) > 1 and not np.ptp(blocks[rest, :3], axis=0).any())
    wander = _lengths(ranges) if known else np.full(2, np.nan)
    changes = np.diff(blocks[rest], axis=0)[np.diff(rest) == 1]  # which drift does not move
    noise = np.sqrt((changes**2).mean(axis=0) / 2) if len(changes) else np.zeros(blocks.shape[1])
    if (ranges <= NOISE_RANGE * noise / np.sqrt(KNOT_BLOCKS)).all():
        return np.asarray(blocks[rest].mean(axis=0)[None]), wander
    before, after = _end_slopes(blocks, free)
    time = (np.arange(samples) + 0.5) / size - 0.5  # in blocks, 0 in the middle of the first
    at = [-1.0, *knots, float(len(blocks))]
    first, last = values[0] + (at[0] - knots[0]) * before, values[-1] + (at[-1] - knots[-1]) * after
    return np.stack([np.interp(time, at, column) for column in np.vstack([first, values, last]).T], axis=1), wander


def _end_slopes(values: Array, free: Flags) -> tuple[Array, Array]:
    """Return the slopes per block by which the baseline goes on before the first and after the last unloaded block."""
    rest = np.flatnonzero(free)
    before = _carried_on(values[::-1], len(free) - 1 - rest[::-1], len(free))
    return -before, _carried_on(values, rest, len(free))


def _carried_on(values: Array, rest: Blocks, until: int) -> Array:
    """Return the slope per block (columns,) by which the baseline goes on after unloaded blocks.

    It is that of a line through the last ones, times the squared share of their variance that the line explains: what
    wanders without direction is best held. The line spans three times as long as it goes on, where there are so many: a
    slope from n blocks over a span S, carried on over L blocks, has an error of about 3.5 L / (S sqrt(n)) times the
    noise of a block.

    Args:
        values: (block, columns).
        rest: the unloaded blocks.
        until: the block until which it goes on.
    """
    back = rest[-1] - rest[::-1]
    enough = int(np.searchsorted(back, SLOPE_SPANS * (until - rest[-1]))) + 1
    last = rest[-max(enough, MOST_SLOPE_BLOCKS) :]
    slope, spread = _slope(values, last), values[last].var(axis=0)
    explained = np.divide(slope**2 * last.var(), spread, out=np.zeros_like(spread), where=spread > 0)
    return np.asarray(slope * explained**2)


def _slope(values: Array, blocks: Blocks) -> Array:
    """Return the slope per block (columns,) of a line; zero for too few blocks."""
    if len(blocks) < FEWEST_SLOPE_BLOCKS:
        return np.zeros(values.shape[1])
    time = blocks - blocks.mean()
    return np.asarray(time @ values[blocks] / (time @ time))


def _block_size(rate_hz: float) -> int:
    return max(round(BLOCK_S * rate_hz), 1)


def block_means(values: Array, rate_hz: float) -> Array:
    """Return the means (block, ...) of (sample, ...) over complete blocks of 50 ms."""
    size = _block_size(rate_hz)
    count = len(values) // size
    blocks = np.moveaxis(values[: count * size], 0, -1).reshape(*values.shape[1:], count, size)
    return np.moveaxis(blocks.mean(axis=-1), -1, 0)
