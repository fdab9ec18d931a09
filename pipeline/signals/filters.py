"""Zero-lag low-pass and high-pass filters; the cut-off is the -3 dB point of the whole filter."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import UserError

Kind = Literal["lowpass", "highpass"]
Section = tuple[Array, Array, Array]  # numerator, denominator, state
FADED_S = 0.1  # a period of the filter's default cut-off: what changes as slowly is no movement that it would remove


def design_cutoff_hz(cutoff_hz: float, rate_hz: float, *, order: int, kind: Kind = "lowpass") -> float:
    """Return the cut-off of each pass of a forward-backward Butterworth filter.

    Two passes multiply their gains: for the whole to be -3 dB at ``cutoff_hz``, each pass of order n must be
    designed at tan(pi fc / fs) / C (high-pass: times C) with C = (sqrt(2) - 1)^(1 / 2n), exact with the bilinear warp.

    Args:
        cutoff_hz: -3 dB point of the whole filter.
        order: order of one pass.

    Raises:
        UserError: the cut-off is not below half the sampling rate.

    Source: Winter DA (2009) Biomechanics and Motor Control of Human Movement, section 3.4.4.2; Robertson DGE,
    Dowling JJ (2003) J Electromyogr Kinesiol 13:569-573.
    """
    if not cutoff_hz < rate_hz / 2:
        what = f"cut-off {cutoff_hz:g} Hz is not below half the sampling rate ({rate_hz / 2:g} Hz)"
        raise UserError("", what, "lower it, or set it to null for no filter", "cutoff_too_high")
    correction = (np.sqrt(2) - 1) ** (1 / (2 * order))
    warped = np.tan(np.pi * cutoff_hz / rate_hz)
    return float(rate_hz / np.pi * np.arctan(warped * correction if kind == "highpass" else warped / correction))


def low_pass(values: Array, *, rate_hz: float, cutoff_hz: float | None, order: int, even_ends: bool = False) -> Array:
    """Filter each column forward and backward; missing samples stay missing.

    Each stretch between gaps is filtered by itself; one too short for the filter becomes NaN.

    Args:
        values: (time, ...), evenly sampled, NaN where missing.
        cutoff_hz: -3 dB point of the whole filter; None returns the values unchanged.
        order: order of the whole filter, both passes together.
        even_ends: whether a stretch goes on as its mirror image, so that its ends are means as well; otherwise turned
            about its first and last sample, which stay where they are.

    Raises:
        UserError: the cut-off is not below half the sampling rate.
    """
    if cutoff_hz is None:
        return values
    return _zero_lag(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order, kind="lowpass", even_ends=even_ends)


def high_pass(values: Array, *, rate_hz: float, cutoff_hz: float, order: int) -> Array:
    """Filter each column as :func:`low_pass` does, and keep what is above the cut-off."""
    return _zero_lag(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order, kind="highpass")


def _zero_lag(
    values: Array, *, rate_hz: float, cutoff_hz: float, order: int, kind: Kind, even_ends: bool = False
) -> Array:
    """Filter each column forward and backward; for the arguments see :func:`low_pass` and :func:`design_cutoff_hz`."""
    if not values.size:
        return values
    per_pass = order // 2
    each_hz = design_cutoff_hz(cutoff_hz, rate_hz, order=per_pass, kind=kind)
    sections = _sections(per_pass, each_hz, rate_hz, kind)
    shortest = 3 * (2 * len(sections) + 1) + 1
    # the response lasts longer at a lower cut-off and a higher order: pad by whole periods if long enough
    pad = int(np.ceil((per_pass + 1) * rate_hz / cutoff_hz))

    def filter_stretch(stretch: Array) -> Array:
        if len(stretch) < shortest:
            return np.full_like(stretch, np.nan)
        padding = min(max(pad, shortest - 1), len(stretch) - 1)
        ends = stretch[padding:0:-1], stretch[-2 : -padding - 2 : -1]
        if not even_ends:
            ends = 2 * stretch[0] - ends[0], 2 * stretch[-1] - ends[1]
        padded = np.concatenate([ends[0].T, stretch.T, ends[1].T], axis=1)
        forward = _one_pass(sections, padded)
        return _one_pass(sections, forward[:, ::-1])[:, -padding - 1 : padding - 1 : -1].T

    return by_stretches(filter_stretch, values)


@functools.lru_cache(maxsize=64)
def _sections(order: int, cutoff_hz: float, rate_hz: float, kind: Kind) -> list[Section]:
    """Return the second-order sections of one pass with their state for the input 1."""
    from scipy.signal import butter, sosfilt_zi

    sections = butter(order, cutoff_hz, btype=kind, fs=rate_hz, output="sos")
    return [(part[:3], part[3:], state) for part, state in zip(sections, sosfilt_zi(sections), strict=True)]


def _one_pass(sections: Sequence[Section], values: Array) -> Array:
    """Filter (columns, samples) forward, as scipy.signal.sosfiltfilt does."""
    from scipy.signal import lfilter

    first = values[:, :1]
    for numerator, denominator, state in sections:
        values, _ = lfilter(numerator, denominator, values, zi=state * first)
    return values


def by_stretches(function: Callable[[Array], Array], values: Array, *, outputs: int = 1) -> Array:
    """Apply a function to the stretches between gaps; gaps stay NaN.

    Columns with the same gaps are handled in one call.

    Args:
        function: maps (samples, columns) to as many, or to (outputs, samples, columns).
        values: (time, ...).
        outputs: number of arrays that the function returns.

    Returns:
        (time, ...), or (outputs, time, ...) if there are several.
    """
    flat = values.reshape(len(values), -1)
    shape = values.shape if outputs == 1 else (outputs, *values.shape)
    seen = np.isfinite(flat)
    if flat.size and seen.all():
        return function(flat).reshape(shape)
    result = np.full((outputs, *flat.shape), np.nan)
    for columns in _same_pattern(seen):
        for start, stop in stretches(seen[:, columns[0]]):
            result[:, start:stop, columns] = function(flat[start:stop, columns])
    return result.reshape(shape)


def interval_s(time: Array) -> float:
    """Return the time between samples at instants (time,), s; 0 for one sample."""
    return float((time[-1] - time[0]) / max(len(time) - 1, 1))


def stretches(seen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return start and stop (exclusive) of each run of True."""
    beside = np.zeros(len(seen) + 2, dtype=bool)
    beside[1:-1] = seen
    edges = np.flatnonzero(beside[1:] != beside[:-1]).tolist()
    return [*zip(edges[::2], edges[1::2], strict=True)]


def near_ends(seen: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """Return which samples (time, column) are among the ``reach`` nearest to an end of a stretch, or in no stretch."""
    unseen = np.pad(~seen, ((reach + 1, reach), (0, 0)), constant_values=True)
    count = np.cumsum(unseen, axis=0)
    return np.asarray(count[2 * reach + 1 :] > count[: len(seen)])


def fade_beside_gaps(seen: NDArray[np.bool_], time: Array, spans: Sequence[slice]) -> Array:
    """Return with which share of its weight (marker, time) a marker counts: less beside frames that do not show it.

    Without that a body jumps where one of its markers appears or vanishes, and accelerations have a spike there.

    Args:
        seen: (marker, time).
        time: (time,), s.
        spans: frames of each trial.
    """
    share = seen.astype(float)
    for span in spans:
        for row in np.flatnonzero(~seen[:, span].all(axis=1)):
            frame, unseen = np.arange(span.stop - span.start), np.flatnonzero(~seen[row, span])
            next_one = np.searchsorted(unseen, frame).clip(max=len(unseen) - 1)
            beside = unseen[[(next_one - 1).clip(0), next_one]]
            away_s = np.abs(beside - frame).min(axis=0) * interval_s(time[span])
            share[row, span] = (1 - np.cos(np.pi * np.minimum(away_s / FADED_S, 1))) / 2
    return share


def _same_pattern(seen: NDArray[np.bool_]) -> Iterator[NDArray[np.intp]]:
    """Yield the columns with the same gaps."""
    complete = seen.all(axis=0)
    if complete.any():
        yield np.flatnonzero(complete)
    rest = np.flatnonzero(~complete)
    if rest.size:
        _, group = np.unique(np.packbits(seen[:, rest], axis=0), axis=1, return_inverse=True)
        for number in range(int(group.max()) + 1):
            yield rest[group.ravel() == number]
