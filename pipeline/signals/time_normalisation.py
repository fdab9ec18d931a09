"""Time normalisation: quantities at 0 to 100 percent of gait cycles, linear between frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array

PHASE = np.arange(101.0)  # percent


class PhaseFrames(NamedTuple):
    """The frames around 0-100 % of cycles."""

    after: NDArray[np.intp]  # (cycle, 101), the frame at or after each instant
    share: Array  # (cycle, 101), the weight of that frame; the frame before has the rest
    beyond_last: NDArray[np.bool_]  # (cycle, 101), whether the instant is after the last frame of the cycle
    last: NDArray[np.intp]  # (cycle,), the last frame of the cycle

    def later(self, frames: int) -> PhaseFrames:
        """Return the frames on a time axis with more frames before."""
        return self._replace(after=self.after + frames, last=self.last + frames)

    @classmethod
    def join(cls, parts: Iterable[PhaseFrames]) -> PhaseFrames:
        """Return the frames of all cycles of the parts."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def between(self, values_at: Callable[[NDArray[np.intp]], Array]) -> Array:
        """Return a quantity at 0-100 % of each cycle (cycle, ..., 101), as :func:`at_phases` does.

        Args:
            values_at: gives the quantity (cycle, n, ...) at frames (cycle, n).
        """
        first = values_at(self.after - 1)
        share = self.share.reshape(*self.share.shape, *[1] * (first.ndim - 2))
        # a frame without weight may be missing
        result = np.where(share == 1, 0, first) * (1 - share)
        result += np.where(share == 0, 0, values_at(self.after)) * share
        late = self.beyond_last.reshape(share.shape) & np.isnan(result)
        return np.moveaxis(np.where(late, values_at(self.last[:, None]), result), 1, -1)


def phase_frames(time: Array, start_s: Array, end_s: Array) -> PhaseFrames:
    """Return the frames around 0-100 % of cycles (cycle,) on a time axis (time,). Shares are NaN if an end is NaN."""
    instants = start_s[:, None] + PHASE / 100 * (end_s - start_s)[:, None]
    after = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    share = np.clip((instants - time[after - 1]) / (time[after] - time[after - 1]), 0, 1)
    last = np.searchsorted(time, end_s + 1e-9, side="right") - 1
    return PhaseFrames(after, share, instants > time[last][:, None], last)


def at_phases(values: Array, frames: PhaseFrames, side: NDArray[np.intp]) -> Array:
    """Return a quantity at 0-100 % of each cycle, NaN next to missing frames.

    Between the last frame of a cycle and its end, a missing next frame is replaced by the last one: the next stance
    may be unknown.

    Args:
        values: (time, side, ...).
        side: (cycle,), the index of each cycle's side.

    Returns:
        (cycle, ..., 101).
    """
    return frames.between(lambda frame: values[frame, side[:, None]])


def over_one_cycle(values: Array, time: Array, start_s: float, end_s: float) -> Array:
    """Return a quantity (time, ...) at 0-100 % of one cycle, (101, ...)."""
    frames = phase_frames(time, np.array([start_s]), np.array([end_s]))
    return np.moveaxis(at_phases(values[:, None], frames, np.zeros(1, dtype=np.intp))[0], -1, 0)
