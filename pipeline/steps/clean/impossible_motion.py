"""What no motion explains: markers that stand still, jump together, jump away and back or move straight, and noise."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags
from ...dynamics.vectors import length
from ...json_text import to_text
from ...signals.filters import stretches
from ...signals.marker_distances import bends
from ...variables.stance_verdicts import Verdict
from .marker_repair import LONGEST_FRAMES

FEWEST = 4  # markers of a body
# a quarter of the markers of a moving body are as fast; from rest, at 25 frames a second, that takes 7 m/s2
MOVING_M_S = 0.15
# half of the markers or more change their acceleration by less from one frame to the next: an impact is one foot's
CHANGE_M_S2 = 20.0
AROUND_S = 0.02  # before and after, in which velocity is measured
TIMES_USUAL = 4.0  # of the jumps that noise makes in half of the frames; their largest are twice as large
# A line fills a gap if the marker moves by more than MOVED_M from frame to frame, is not accelerated for STRAIGHT_S and
# turns at both ends by a CORNER. Feet on belts and filtered paths begin to bend gradually: no more than in the frames
# BESIDE. STRAIGHT_M: rounding of 32 bits, 4 m from the origin. CORNER: times STRAIGHT_M, and times the median bend
# beside; a fill of n frames of a steady acceleration has n / 2 times that, rounded steady motion twice at most
STRAIGHT_M, MOVED_M, STRAIGHT_S = 1e-6, 2e-4, 0.06
CORNER, BESIDE = (100.0, 3.0), 5
# A marker that jumps away and back, where a camera takes a reflection for it. JUMP_M: 5 mm of a knee centre are .05 N
# m/kg. TWICE: no other marker, and none of the BESIDE frames of its own, changes its velocity by half as much, as by an
# impact; one of nine jumps by noise is in millions twice the largest of the others. AWAY_S: half a stride. BACK: of the
# jump, which a turn of the segment by 35 degrees leaves at the return; two jumps by chance agree so in one of ten
JUMP_M, TWICE, AWAY_S, BACK = 0.005, 2.0, 1.0, 0.6
# below, fourth differences show motion as well
SLOWEST_HZ = 50.0
# share of a leg in the body's mass (Winter 2009), and its radius of gyration about the hip, m
LEG_SHARE, LEG_RADIUS_M = 0.16, 0.5
# Error of the hip moment by noise: that of a hip centre 10 mm from its place under the body's weight, which regressions
# do not find better (12 mm, Mantovani et al. 2016). Noise has no sign: a mean of steps has less of it, but as much of a
# plate's fault. Between steps of a person hip flexion differs by no less: the median SD of 14 legs of seven labs is
# .083, .074 to .086 without any one lab
LARGEST_N_M_KG = 0.1
# Of it, where three markers or more on thigh and shank share the noise: .6 to 1.0, a median of .8 [measured, with 1 mm
# added to drawn people]; with a marker on knee and ankle alone 1.0 to 1.5
IN_CLUSTERS, CLUSTER = 0.8, 3


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
        return to_text(rows)


def frozen_frames(position: Array, interval_s: float) -> Flags:
    """Return which frames (time,) repeat the one before in all markers (time, marker, 3), m, while the body moves.

    Measured markers have noise, so that no two frames are equal. In a file of rounded numbers a body at rest may repeat
    itself, one that moves may not.
    """
    step = np.diff(position, axis=0)
    seen = np.isfinite(step[..., 0])
    same = (seen.sum(axis=1) >= FEWEST) & ~(np.abs(step) > 0).any(axis=(1, 2))
    same &= (np.isfinite(position[1:, :, 0]) == np.isfinite(position[:-1, :, 0])).all(axis=1)
    frozen = np.zeros(len(position), dtype=bool)
    for start, stop in stretches(same):
        beside = step[[i for i in (start - 1, stop) if 0 <= i < len(step)]]
        lengths = np.linalg.norm(beside, axis=2)
        if lengths.size and np.percentile(np.nan_to_num(lengths), 75, axis=1).max() > MOVING_M_S * interval_s:
            frozen[start + 1 : stop + 1] = True
    return frozen


def held_frames(position: Array) -> Flags:
    """Return which samples (time, marker) of positions (time, marker, 3), m, repeat the one before, or the next one.

    Another program has filled a gap with the last place before it, or the first behind it: three frames or more are
    equal, the marker moves before and after, and it leaves or reaches the place by a jump. A foot that rests, in a file
    of rounded numbers, may stop at once, but does not jump.
    """
    held = np.zeros(position.shape[:2], dtype=bool)
    same = (position[1:] == position[:-1]).all(axis=2)
    moving = np.flatnonzero((same[1:] & same[:-1]).any(axis=0) & ~same.all(axis=0))
    step = length(np.diff(position[:, moving], axis=0))
    for marker, own, bend in zip(moving.tolist(), step.T, bends(position[:, moving]).T, strict=True):
        for start, stop in stretches(same[:, marker]):
            if stop - start < 2 or _corner(bend[:start][::-1]) * _corner(bend[stop - 1 :]) < CORNER[1] ** 2:
                continue
            if own[start - 1] > TWICE * own[start - 2] or own[stop] > TWICE * own[stop + 1]:
                later = int(own[start - 1] < own[stop])  # it leaves by a jump, as the first place was measured
                held[start + later : stop + later, marker] = True
    return held


def straight_frames(position: Array, interval_s: float) -> Flags:
    """Return which samples (time, marker) of positions (time, marker, 3), m, lie on a straight line at even distances.

    Another program has filled a gap so; its ends are measured. Where the path beside is not seen, nothing is found.
    """
    straight, bend = np.zeros(position.shape[:2], dtype=bool), bends(position)
    even = bend < STRAIGHT_M
    for marker in np.flatnonzero(even.sum(axis=0) * interval_s > STRAIGHT_S).tolist():
        for start, stop in stretches(even[:, marker]):
            moved = length(position[stop + 1, marker] - position[start, marker])
            long = (stop - start) * interval_s > STRAIGHT_S and moved > (stop + 1 - start) * MOVED_M
            if long and min(_corner(bend[:start, marker][::-1]), _corner(bend[stop:, marker])) > CORNER[1]:
                straight[start + 1 : stop + 1, marker] = True
    return straight


def _corner(bend: Array) -> float:
    """Return the first of the bends (time,), m, from the end of a line on, in medians of those beside; 0 for none."""
    beside = np.median(bend[1 : BESIDE + 1]) if len(bend) > BESIDE else np.nan
    return float(bend[0] / beside) if beside > STRAIGHT_M and bend[0] > CORNER[0] * STRAIGHT_M else 0.0


def displaced_frames(position: Array, interval_s: float) -> Flags:
    """Return which samples (time, marker) of positions (time, marker, 3), m, lie between a jump away and one back.

    A jump is a change from one frame to the next beyond the mean of the changes before and after. Up to five frames are
    a spike (:func:`.marker_repair.find_spikes`). Where the path beside is not seen, nothing is found.
    """
    away = np.zeros(position.shape[:2], dtype=bool)
    if len(position) < 2 * BESIDE or position.shape[1] < FEWEST:
        return away
    step = np.diff(position, axis=0)
    jump = step[1:-1] - (step[:-2] + step[2:]) / 2
    size = length(jump)
    largest = np.sort(np.nan_to_num(size), axis=1)[:, -2:]
    alone = np.flatnonzero(largest[:, 1] > np.maximum(JUMP_M, TWICE * largest[:, 0]))
    jumps: dict[int, int] = {}  # the last of each marker that none has followed back
    for i, marker in zip(alone.tolist(), np.nan_to_num(size[alone]).argmax(axis=1).tolist(), strict=True):
        beside = np.r_[size[max(i - BESIDE, 0) : max(i - 1, 0), marker], size[i + 2 : i + BESIDE + 1, marker]]
        if len(beside) < 2 * (BESIDE - 1) or not size[i, marker] > TWICE * beside.max():
            continue
        first = jumps.pop(marker, i)
        left = np.linalg.norm(jump[first, marker] + jump[i, marker])
        if LONGEST_FRAMES < i - first <= AWAY_S / interval_s and left < BACK * size[[first, i], marker].max():
            away[first + 2 : i + 2, marker] = True
        else:
            jumps[marker] = i
    return away


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
    off = length(np.diff(path, axis=0)[wide:-wide] - count[:, None, None] * mean)
    enough = np.isfinite(off).sum(axis=1) >= FEWEST
    jump = np.zeros(len(off))
    jump[enough] = _median(off[enough])
    usual = float(np.median(jump[enough & (count == 1)])) if (enough & (count == 1)).any() else 0.0
    noise = TIMES_USUAL * usual * np.maximum(count / (2 * wide), 1)
    noise += (count == 1) * wide * CHANGE_M_S2 / 2 * interval_s**2
    beyond = np.flatnonzero(jump > noise)
    motion = _median(length(mean[beyond]))
    # lost frames show in the velocities around them as well, less than half as much
    spans = []
    for i in beyond[jump[beyond] > np.maximum(count[beyond] - 1, 1) * motion / 2].tolist():
        if jump[i] == jump[max(i - wide, 0) : i + wide + 1].max():
            last, first = kept[wide + i], kept[wide + i + 1]
            spans.append((int(last) + 1, max(int(first), int(last) + 2)))
    return Breaks(stretches(frozen), spans)


def marker_noise(position: Array, rate_hz: float) -> float:
    """Return the standard deviation of the white noise of markers (time, marker, 3) along an axis, m, the median one's.

    From fourth differences: those of white noise have 70 times its variance, those of motion below 6 Hz, at 100 frames
    a second, 2 % of its amplitude. Filtered and smoothed recordings show less than they had. NaN below 50 frames a
    second, where motion is as large as noise.
    """
    away = np.moveaxis(np.abs(np.diff(position, 4, axis=0)) / np.sqrt(70), 0, -1).reshape(position.shape[1], -1)
    seen = np.isfinite(away).any(axis=1)
    if rate_hz < SLOWEST_HZ or not seen.any():
        return np.nan
    return float(np.median(1.4826 * _median(away[seen])))  # from the median of a normal variable


def _median(values: Array) -> Array:
    """Return numpy.nanmedian of rows, which takes several times as long as the median if nothing is unknown."""
    return np.asarray((np.median if np.isfinite(values).all() else np.nanmedian)(values, axis=1))


def doubt_noise(noise_m: float, cutoff_hz: float, rate_hz: float, in_clusters: int) -> Iterator[Verdict]:
    """Yield the doubt about a trial of which the noise changes the hip moment by more than is usual.

    White noise of variance s^2 at rate f has the acceleration s (2 pi c)^2 sqrt(2 c / 5 f) below a cut-off c. The leg
    turns about the hip: moment per body mass is its share of the mass times its radius of gyration times this
    acceleration. Clusters average some of it out; markers alone on knee and ankle, with wands, pass more on.

    Args:
        noise_m: of :func:`marker_noise`.
        cutoff_hz, rate_hz: of the markers.
        in_clusters: fewest markers that the trial has in a cluster of thigh or shank, of the legs that have any.
    """
    acceleration = noise_m * (2 * np.pi * cutoff_hz) ** 2 * np.sqrt(2 * cutoff_hz / (5 * rate_hz))
    error = LEG_SHARE * LEG_RADIUS_M * acceleration * (IN_CLUSTERS if in_clusters >= CLUSTER else 1.0)
    if error > LARGEST_N_M_KG:  # not of NaN, without a filter or a figure
        yield Verdict.of("markers_noisy", mm=1000 * noise_m, error=error)
