"""Time normalisation: curves of a gait cycle at 0 to 100 percent of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PHASE = np.arange(101.0)


def at_phases(values: Array, time: Array, start_s: float, end_s: float) -> Array:
    """Return (101, ...) of a quantity (time, ...) from 0 to 100 % of a cycle, linear; NaN beside what is not known."""
    instants = start_s + PHASE / 100 * (end_s - start_s)
    right = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    share = np.clip((instants - time[right - 1]) / (time[right] - time[right - 1]), 0, 1)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    # where an instant is a frame itself, a missing neighbour must not reach it
    return np.where(share == 1, 0, values[right - 1]) * (1 - share) + np.where(share == 0, 0, values[right]) * share


class _Places(NamedTuple):
    """Where 0-100 % of cycles lie among frames, (cycle, 101): the frame after, the share of the way there, ..."""

    right: NDArray[np.intp]
    share: Array
    late: NDArray[np.bool_]
    last: NDArray[np.intp]


def _places(time: Array, start_s: Array, end_s: Array) -> _Places:
    instants = start_s[:, None] + PHASE / 100 * (end_s - start_s)[:, None]
    right = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    share = np.clip((instants - time[right - 1]) / (time[right] - time[right - 1]), 0, 1)
    last = np.searchsorted(time, end_s + 1e-9, side="right") - 1
    return _Places(right, share, instants > time[last][:, None], last)


def _resampled(values: Array, places: _Places, row: NDArray[np.intp]) -> Array:
    """Return (cycle, ..., 101) of a quantity (time, side, ...) of each cycle's side, linear between frames.

    Where the frame after the end is missing (the next stance may not be known), the last one is kept. NaN without an
    end.
    """
    share = places.share.reshape(*places.share.shape, *[1] * (values.ndim - 2))
    # where an instant is a frame itself, a missing neighbour must not reach it
    low = np.where(share == 1, 0, values[places.right - 1, row[:, None]]) * (1 - share)
    high = np.where(share == 0, 0, values[places.right, row[:, None]]) * share
    result = low + high
    cycle, instant = np.nonzero(places.late)
    late = result[cycle, instant]
    result[cycle, instant] = np.where(np.isnan(late), values[places.last[cycle], row[cycle]], late)
    return np.moveaxis(result, 1, -1)
