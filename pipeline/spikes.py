"""Spikes: a few samples that leave a marker's path and come back to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.filters import stretches
from pipeline.marker_distances import bends

Array = NDArray[np.float64]

LONGEST_FRAMES = 5
TIMES_ROUGHNESS = 3.0  # of the marker's own 95th percentile: noisy cameras and fast feet have no spikes by that alone
SUPPORT_FRAMES = 4


def find_spikes(position: Array, *, spike_m: float | None) -> NDArray[np.bool_]:
    """Return which samples are spikes.

    A run of up to five samples is one if it lies away from the cubic through the four samples on either side
    by more than ``spike_m`` and three times the marker's own roughness (the 95th percentile of its second
    differences), and the path without it is smooth. A path that does not come back is no spike.

    Args:
        position: (time, marker, 3), m, NaN where unseen.
        spike_m: smallest distance from the path; None finds none.

    Returns:
        (time, marker).
    """
    found = np.zeros(position.shape[:2], dtype=bool)
    if spike_m is None or len(position) < 3:
        return found
    bent_by = bends(position)
    for marker in np.flatnonzero(np.fmax.reduce(bent_by, axis=0) > spike_m):
        bend = np.nan_to_num(bent_by[:, marker])
        limit = max(spike_m, TIMES_ROUGHNESS * float(np.percentile(bend, 95)))
        bent = np.flatnonzero(bend > limit) + 1
        for run in np.split(bent, np.flatnonzero(np.diff(bent) > SUPPORT_FRAMES) + 1):
            if run.size and run[-1] - run[0] < LONGEST_FRAMES + 2:
                off = _off_the_path(position[:, marker], int(run[0]), int(run[-1]), limit)
                found[off, marker] = True
    return found


def _off_the_path(path: Array, first: int, last: int, limit_m: float) -> NDArray[np.intp]:
    """Return the frames between ``first`` and ``last`` that are spikes; none where the path without them is bent."""
    # the last sample before or after a gap has no second difference of its own
    first -= int(first < 2 or not np.isfinite(path[first - 2]).all())
    last += int(last > len(path) - 3 or not np.isfinite(path[last + 2]).all())
    window = np.arange(max(first - SUPPORT_FRAMES, 0), min(last + SUPPORT_FRAMES + 1, len(path)))
    seen = np.isfinite(path[window]).all(axis=1)
    kept = window[seen & ((window < first) | (window > last))]
    before, after = int((kept < first).sum()), int((kept > last).sum())
    nothing = np.empty(0, dtype=np.intp)
    if max(before, after) < 3:
        return nothing
    # at the end of a visible stretch there is one side only: a line from there, over few samples
    inner = min(before, after) >= 2
    support = kept if inner else kept[-3:] if before > after else kept[:3]
    middle = (first + last) / 2
    degree = min(3, len(support) - 1) if inner else 1
    powers = np.vander((window - middle) / SUPPORT_FRAMES, degree + 1)
    smooth = powers @ np.linalg.lstsq(powers[support - window[0]], path[support], rcond=None)[0]
    away = np.linalg.norm(path[window] - smooth, axis=1)
    off = seen & (window >= first) & (window <= last) & (away > limit_m)
    mended = np.where(off[:, None], smooth, path[window])
    bend = np.linalg.norm(np.diff(mended, 2, axis=0), axis=1)
    longest = max((b - a for a, b in stretches(off)), default=0)
    if longest > (LONGEST_FRAMES if inner else 2) or np.nanmax(bend, initial=0.0) > limit_m:
        return nothing
    return np.asarray(window[off])
