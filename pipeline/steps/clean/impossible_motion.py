"""Frames that no motion explains: all markers stand still while the body moves, or jump together."""

import json
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags
from ...signals.filters import stretches

FEWEST = 4  # markers of a body
# a quarter of the markers of a moving body are as fast; from rest, at 25 frames a second, that takes 7 m/s2
MOVING_M_S = 0.15
# half of the markers or more change their acceleration by less from one frame to the next: an impact is one foot's
CHANGE_M_S2 = 20.0
AROUND_S = 0.02  # before and after, in which velocity is measured
TIMES_USUAL = 4.0  # of the jumps that noise makes in half of the frames; their largest are twice as large


class Breaks(NamedTuple):
    """Frames that are no measurement, and those before which time is lost or doubled; first and next frame of each."""

    frozen: list[tuple[int, int]]
    lost: list[tuple[int, int]]  # frames to leave out, so that nothing is filtered or filled across

    def as_text(self, time: Array) -> str:
        """Return the variable ``motion_breaks`` from instants (time,), s."""
        rows = [
            [kind, round(float(time[start]), 4), round(float(time[stop - 1]), 4)]
            for kind, spans in zip(self._fields, self, strict=True)
            for start, stop in spans
        ]
        return json.dumps(rows) if rows else ""


def frozen_frames(position: Array, interval_s: float) -> Flags:
    """Return which frames (time,) repeat the one before in all markers (time, marker, 3), m, while the body moves.

    Measured markers have noise, so that no two frames are equal. In a file of rounded numbers a body at rest may repeat
    itself, one that moves may not.
    """
    step = np.diff(position, axis=0)
    seen = np.isfinite(step[..., 0])
    same = (seen.sum(axis=1) >= FEWEST) & (np.nan_to_num(step) == 0).all(axis=(1, 2))
    same &= (np.isfinite(position[1:, :, 0]) == np.isfinite(position[:-1, :, 0])).all(axis=1)
    frozen = np.zeros(len(position), dtype=bool)
    for start, stop in stretches(same):
        beside = step[[i for i in (start - 1, stop) if 0 <= i < len(step)]]
        lengths = np.linalg.norm(beside, axis=2)
        if lengths.size and np.percentile(np.nan_to_num(lengths), 75, axis=1).max() > MOVING_M_S * interval_s:
            frozen[start + 1 : stop + 1] = True
    return frozen


def find_breaks(position: Array, frozen: Flags, interval_s: float) -> Breaks:
    """Return where frames are frozen, and where frames are lost or repeated.

    Between two frames every marker moves by its mean velocity before and after, within what a change of acceleration
    and noise allow. If k frames are lost, half of the markers miss k frames of their motion. Frozen frames are a
    drop-out, or repeated ones that came between, after which the motion goes on where it stopped. Half a frame of
    motion, or half of the frozen ones, decides.

    Args:
        position: (time, marker, 3), m, NaN where unseen and in frozen frames.
        frozen: (time,), see :func:`frozen_frames`.
        interval_s: from frame to frame.
    """
    wide = max(1, round(AROUND_S / interval_s))
    kept = np.flatnonzero(~frozen)
    path, count = position[kept], np.diff(kept)[wide:-wide]
    if len(count) < 1:
        return Breaks(stretches(frozen), [])
    speed = (path[wide:] - path[:-wide]) / wide  # per frame
    speed[kept[wide:] - kept[:-wide] > wide] = np.nan  # across frozen frames
    mean = (speed[: len(count)] + speed[-len(count) :]) / 2
    off = np.linalg.norm(np.diff(path, axis=0)[wide:-wide] - count[:, None, None] * mean, axis=2)
    enough = np.isfinite(off).sum(axis=1) >= FEWEST
    jump, motion = np.zeros((2, len(off)))
    jump[enough] = np.nanmedian(off[enough], axis=1)
    motion[enough] = np.nanmedian(np.linalg.norm(mean[enough], axis=2), axis=1)
    usual = float(np.median(jump[enough & (count == 1)])) if (enough & (count == 1)).any() else 0.0
    noise = TIMES_USUAL * usual * np.maximum(count / (2 * wide), 1)
    noise += (count == 1) * wide * CHANGE_M_S2 / 2 * interval_s**2
    beyond = (jump > noise) & (jump > np.maximum(count - 1, 1) * motion / 2)
    # lost frames show in the velocities around them as well, less than half as much
    spans = []
    for i in np.flatnonzero(beyond).tolist():
        if jump[i] == jump[max(i - wide, 0) : i + wide + 1].max():
            last, first = kept[wide + i], kept[wide + i + 1]
            spans.append((int(last) + 1, max(int(first), int(last) + 2)))
    return Breaks(stretches(frozen), spans)
