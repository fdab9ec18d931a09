"""Recordings of moving people over force plates, as results of step ``read`` or C3D files, and what is true of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.body_model import BodyModel
from pipeline.conventions import SIDES
from pipeline.demo.curves import mirror_to_side, rotation
from pipeline.demo.plates import SOLE
from pipeline.plates.wrench import plate_axes
from pipeline.steps.read.lab_axes import to_isb
from pipeline.steps.read.step import read_trial as read
from tests.support.files.c3d_writer import Channels, write_c3d
from tests.support.walks.moving_person import Motion, markers, moved
from tests.support.walks.ways_of_moving import Plan, planned

Array = NDArray[np.float64]

LABELS = {"asis": "ASI", "psis": "PSI", "heel": "HEE", "toe": "TOE", "ankle": "ANK"}
BODY_MODEL = BodyModel.of(
    {
        "name": "pelvis_feet_and_ankles",
        "side_labels": {"left": "L", "right": "R"},
        "landmarks": {landmark: f"{{side}}{label}" for landmark, label in LABELS.items()},
    }
)
VALID, INVALID, DOUBTFUL = "valid", "invalid", "doubtful"
SURE_M, NEAR_M = 0.01, 0.02  # inside an edge, so that the foot is wholly on it; outside, so that a foot is not on it
SAME_LEVEL_M, SEAM_M = 0.03, 0.003  # height; half of the widest seam between plates that a sole does not feel
LOST = 0.02  # share of a foot's impulse that falls off its plates, or that another foot adds
DEPTH_M = 0.03  # of the sensors
MARKER_HZ, ANALOG_HZ = (50, 60, 100, 120, 150, 200, 250), (500, 2000)
Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


class Top(NamedTuple):
    """The top of a plate: its extent forwards and to the right, height, m; ``turn``: which corner is the first."""

    back: float
    front: float
    left: float
    right: float
    height: float = 0.0
    turn: int = 0

    @property
    def corners(self) -> Array:
        """Return the corners (4, 3) in the order of C3D, so that the plate's z axis points down."""
        back, front, left, right, y, turn = self
        return np.roll([[front, y, right], [back, y, right], [back, y, left], [front, y, left]], turn, axis=0)

    def overlaps(self, other: Top) -> bool:
        """Return whether two plates at one height overlap."""
        apart = self.back > other.front or other.back > self.front or self.left > other.right or other.left > self.right
        return not apart and abs(self.height - other.height) < SAME_LEVEL_M

    def inside(self, points: Array) -> Array:
        """Return how far inside the edges points (..., 3) are, m; far outside if they are at another height."""
        x, y, z = np.moveaxis(points, -1, 0)
        within = np.minimum.reduce([x - self.back, self.front - x, z - self.left, self.right - z])
        return np.where(np.abs(y - self.height) < SAME_LEVEL_M, within, -1.0)


class Truth(NamedTuple):
    """A stance: its step in the plan, side, foot strike and off on the file's time axis, s, and its plates.

    ``verdict``: whether the plates measure the foot whole and alone, :data:`VALID`, :data:`INVALID`, or
    :data:`DOUBTFUL` if it is within a centimetre of that, or cut off by the recording. ``margin_m``: from the sole to
    the nearest edge of its plates, negative outside.
    """

    step: int
    side: str
    start_s: float
    end_s: float
    plates: frozenset[int]
    verdict: str
    margin_m: float
    needed: frozenset[int] = frozenset()  # plates of which the share of the load matters


@dataclass(frozen=True)
class Recorded:
    """A recording: trial of step ``read``, what is true of its stances, and how it came about."""

    trial: xr.Dataset
    stances: list[Truth]
    plan: Plan
    motion: Motion
    tops: list[Top]


def recorded(way: str, seed: int, folder: Path | None = None) -> Recorded:
    """Return a random person's recording of one of :data:`ways_of_moving.WAYS`.

    Args:
        way: way of moving.
        seed: of everything random.
        folder: write a C3D file there, read it, and delete it; else make the trial without a file.
    """
    made = measured(planned(way, seed), np.random.default_rng([seed, 17]))
    time, rng = made.time, made.rng
    exact = markers(made.plan, made.motion, time, rng)
    paths = {name: path + soft(path, made.marker_hz, rng) for name, path in exact.items()}
    first_frame = int(rng.integers(0, 200))
    make = _without_file if folder is None else _through_file
    trial = make(paths, made.tops, made.readings, made.marker_hz, made.analog_hz, first_frame, folder or Path())
    return Recorded(trial, made.truths(first_frame / made.marker_hz - time[0]), made.plan, made.motion, made.tops)


class Measured(NamedTuple):
    """What plates measure of a person, and when she is seen.

    ``readings``: channels (sample, 6) of each plate; ``time`` (frame,) of the motion, s; ``carried``: vertical force
    (step, sample, plate); ``rng``: for what follows.
    """

    plan: Plan
    motion: Motion
    tops: list[Top]
    readings: list[Array]
    time: Array
    marker_hz: int
    analog_hz: int
    carried: Array
    rng: np.random.Generator

    def truths(self, late_s: float) -> list[Truth]:
        """Return what is true of the stances, ``late_s`` later than in the motion."""
        span = (float(self.time[0]), float(self.time[-1]))
        return truths_of(self.plan, self.motion, self.tops, self.carried, span, late_s)


def measured(
    plan: Plan,
    rng: np.random.Generator,
    rates_hz: Sequence[int] = MARKER_HZ,
    turning: Callable[[Plan, Motion], Array] | None = None,
) -> Measured:
    """Return what random plates measure of a plan, recorded at one of some rates of markers; ``turning`` as moved."""
    tops = _tops(plan, rng)
    plan = _lifted(plan, tops)
    marker_hz = int(rng.choice(rates_hz))
    analog_hz = marker_hz * int(rng.integers(-(-ANALOG_HZ[0] // marker_hz), ANALOG_HZ[1] // marker_hz + 1))
    motion = moved(plan, analog_hz, rng, turning and partial(turning, plan))
    first, frames = _window(plan, motion, marker_hz, analog_hz, rng)
    samples = slice(first, first + frames * (analog_hz // marker_hz))
    time = motion.time[first] + np.arange(frames) / marker_hz
    carried = carried_by(plan, motion, tops)
    force, moment = (part.sum(axis=0)[samples] for part in carried)
    idle = [number for number, top in enumerate(tops) if not np.abs(carried[0][:, :, number]).any()]
    readings = [
        _read_out(channels(top, force[:, i], moment[:, i]), rng, drifts=i in idle) for i, top in enumerate(tops)
    ]
    return Measured(plan, motion, tops, readings, time, marker_hz, analog_hz, carried[0][..., 1], rng)


# --- layouts ---------------------------------------------------------------------------------------------------------


def _tops(plan: Plan, rng: np.random.Generator) -> list[Top]:
    if plan.way.endswith("stairs"):
        tops = _treads(plan, rng)
    elif plan.belt_m_s.any():
        tops = [Top(-1.2, 1.2, -0.55, -0.005), Top(-1.2, 1.2, 0.005, 0.55)]
    else:
        fitted = _fitted(plan, rng) if rng.random() < 0.5 else []
        tops = fitted or _rows(plan, rng)
        tops += [top for top in _aside(rng) if not any(top.overlaps(other) for other in tops)]
    rng.shuffle(tops)
    return [top._replace(turn=int(rng.integers(4))) for top in tops]


def _aside(rng: np.random.Generator) -> list[Top]:
    """Return up to two plates beside the way, which idle unless the way turns there."""
    side, count = rng.choice([-1, 1]), rng.integers(0, 3)
    x, z = rng.uniform(-1, 1), side * rng.uniform(0.9, 2.5)
    return [Top(x + 0.7 * i, x + 0.7 * i + 0.6, z - 0.2, z + 0.2) for i in range(count)]


def _treads(plan: Plan, rng: np.random.Generator) -> list[Top]:
    """Return a plate under each tread, which reaches under the next higher one."""
    steps, foot = plan.inner, plan.person.foot_m
    margin, overlap, half = rng.uniform(0.013, 0.04), rng.uniform(0.05, 0.2), rng.uniform(0.25, 0.45)
    tread = float(np.diff(plan.place[steps.start : steps.stop, 0]).mean())
    tops = []
    for step in steps:
        x, y, _ = plan.place[step]
        length = max(tread + overlap, foot + 2 * margin)
        nose = x - 0.26 * foot - margin if plan.way == "upstairs" else x + 0.74 * foot + margin
        back, front = (nose, nose + length) if plan.way == "upstairs" else (nose - length, nose)
        tops.append(Top(float(back), float(front), -half, half, float(y)))
    return tops


def _fitted(plan: Plan, rng: np.random.Generator) -> list[Top]:
    """Return plates of any size under steps in a row, each ending between its foot and the others."""
    soles = np.stack([outline(plan, step) for step in range(len(plan.side))])
    low, high = soles[..., ::2].min(axis=1), soles[..., ::2].max(axis=1)  # (step, x z)
    uneven = rng.uniform(0, 0.015) if rng.random() < 0.5 else 0.0
    first = int(rng.integers(plan.inner.start, plan.inner.start + 2))
    tops = []
    for step in range(first, min(first + int(rng.integers(2, 6)), plan.inner.stop)):
        start, end = low[step] - rng.uniform(0.02, 0.2, 2), high[step] + rng.uniform(0.02, 0.2, 2)
        for other in [number for number in range(len(soles)) if number != step]:
            gaps = np.maximum(low[other] - high[step], low[step] - high[other])
            axis = int(np.argmax(gaps))
            if low[other, axis] > high[step, axis]:
                end[axis] = min(end[axis], high[step, axis] + gaps[axis] / 2 - 0.002)
            else:
                start[axis] = max(start[axis], low[step, axis] - gaps[axis] / 2 + 0.002)
        if (start < low[step]).all() and (end > high[step]).all():  # else the soles overlap
            tops.append(Top(start[0], end[0], start[1], end[1], float(rng.uniform(-uneven, uneven))))
    return tops


def _rows(plan: Plan, rng: np.random.Generator) -> list[Top]:
    """Return a row of equal plates, or two beside each other with the seam between the feet, one under some step."""
    length, width = rng.choice([0.4, 0.464, 0.508, 0.6, 0.9]), rng.choice([0.4, 0.464, 0.508, 0.6])
    pitch = length + rng.choice([0.003, 0.005, rng.uniform(0.02, 0.3)])
    inner = plan.place[plan.inner.start : plan.inner.stop]
    target = inner[rng.integers(len(inner) - 1)]
    back = target[0] + 0.24 * plan.person.foot_m - length / 2 - pitch * rng.integers(0, 2)
    middle = inner[:2, 2].mean()
    two = rng.random() < (0.7 if plan.way in ("short steps", "slow", "limping") else 0.2)
    columns = [(middle - width, middle - 0.002), (middle + 0.002, middle + width)] if two else [
        (middle - width / 2, middle + width / 2)
    ]  # fmt: skip
    return [
        Top(float(back + i * pitch), float(back + i * pitch + length), float(left), float(right))
        for i in range(int(rng.integers(2, 4)))
        for left, right in columns
    ]


def _lifted(plan: Plan, tops: Sequence[Top]) -> Plan:
    """Return the plan with the feet at the height of the plates under them."""
    place = plan.place.copy()
    for step in range(len(place)):
        under = [top.height for top in tops if top.inside(outline(plan, step).mean(axis=0)) > 0]
        place[step, 1] = under[0] if under else place[step, 1]
    return replace(plan, place=place)


def outline(plan: Plan, step: int) -> Array:
    """Return points (20, 3) of the edge of the flat sole of a step, where it strikes."""
    corners = plan.person.foot_m * SOLE
    edge = np.concatenate(
        [np.linspace(a, b, 5, endpoint=False) for a, b in zip(corners, np.roll(corners, -1, 0), strict=True)]
    )
    return np.asarray(plan.place[step] + mirror_to_side(edge, int(plan.side[step])) @ rotation(1, plan.yaw[step]).T)


# --- signals ---------------------------------------------------------------------------------------------------------


def _window(plan: Plan, motion: Motion, marker_hz: int, analog_hz: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return the first sample and the number of frames, some tenths of a second around the inner steps."""
    start = max(plan.strike[plan.inner.start] - rng.uniform(0.15, 0.6), motion.time[0])
    end = min(plan.off[plan.inner.stop - 1] + rng.uniform(0.15, 0.6), motion.time[-1] - 1 / marker_hz)
    first = int(np.ceil((start - motion.time[0]) * analog_hz - 1e-6))
    return first, int((end - motion.time[first]) * marker_hz)


def carried_by(plan: Plan, motion: Motion, tops: Sequence[Top]) -> tuple[Array, Array]:
    """Return force and moment about the origin (step, sample, plate, 3) of each foot on each plate.

    Over an edge, nine points of the sole around the centre of pressure carry a ninth each.
    """
    steps, samples = motion.free.shape
    force, moment = np.zeros((2, steps, samples, len(tops), 3))
    foot = plan.person.foot_m
    for step in range(steps):
        loaded = np.flatnonzero(motion.force[step].any(axis=1))
        if not len(loaded):
            continue
        on = slice(loaded[0], loaded[-1] + 1)
        sole = outline(plan, step)
        inside = np.stack([top.inside(sole) for top in tops])
        touched = np.flatnonzero((inside > -SEAM_M).any(axis=1)).tolist()
        if not len(touched):
            continue
        alone = len(touched) == 1 and (inside[touched[0]] > 0).all()
        ahead, _, right = rotation(1, plan.yaw[step]).T
        pressed = motion.pressed[step, on]
        along = (pressed - plan.place[step]) @ ahead
        reach = np.clip(np.minimum(along + 0.26 * foot, 0.74 * foot - along), 0, 0.12 * foot)
        spots = [(0, 0)] if alone else [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        for a, b in spots:
            point = pressed + a * reach[:, None] * ahead + 0.08 * b * foot * right
            under = np.stack([tops[number].inside(point) for number in touched])
            part, free = motion.force[step, on] / len(spots), motion.free[step, on] / len(spots)
            for row, number in enumerate(touched):
                here = np.ones(len(part)) if alone else (under.argmax(axis=0) == row) & (under[row] > -SEAM_M)
                force[step, on, number] += here[:, None] * part
                moment[step, on, number] += here[:, None] * np.cross(point, part)
                moment[step, on, number, 1] += here * free
    return force, moment


def channels(top: Top, force: Array, moment: Array) -> Array:
    """Return the channels (sample, 6) of a plate, about its sensor, from force and moment about the origin."""
    axes, sensor = plate_axes(top.corners), top.corners.mean(axis=0) - [0, DEPTH_M, 0]
    return np.hstack([force @ axes, (moment - np.cross(sensor, force)) @ axes])


def _read_out(readings: Array, rng: np.random.Generator, *, drifts: bool) -> Array:
    """Return the channels as an amplifier gives them: crosstalk, noise, offset, on an idle plate drift, and steps."""
    units = np.repeat([1.0, 0.1], 3)  # a moment is measured with a lever of some 10 cm
    crosstalk = np.eye(6) + rng.uniform(-0.005, 0.005, (6, 6)) * np.outer(units, 1 / units)
    offset = units * rng.uniform(-60, 60, 6) * (rng.random() < 0.5)
    noise = rng.uniform(0.5, 2.0) * units * rng.normal(size=readings.shape)
    result = readings @ crosstalk.T + offset + noise
    if drifts and rng.random() < 0.5:
        time = np.linspace(0, 1, len(readings))[:, None]
        shapes = (time, time**2, 1 - np.exp(-2 * time))  # even, warming up, charge that leaks
        result += shapes[rng.integers(3)] * rng.uniform(-250, 250) * units * rng.normal([0, 0, 1, 0, 0, 0], 0.1)
    step = rng.uniform(0.1, 1.2) * units
    return np.asarray(np.round(result / step) * step)


def soft(path: Array, rate_hz: float, rng: np.random.Generator) -> Array:
    """Return noise of a marker: white, and skin that moves by 0.3 to 1 mm at one to four waves a second."""
    time = np.arange(len(path))[:, None, None] / rate_hz
    waves = np.sin(2 * np.pi * (rng.uniform(1, 4, (3, 3)) * time + rng.random((3, 3)))).sum(axis=2)
    return np.asarray(
        rng.uniform(0.0003, 0.001) * waves / 1.2 + rng.uniform(0.0002, 0.0005) * rng.normal(size=path.shape)
    )


def _without_file(
    paths: dict[str, Array], tops: Sequence[Top], readings: Sequence[Array], marker_hz: int, analog_hz: int,
    first_frame: int, _folder: Path,
) -> xr.Dataset:  # fmt: skip
    """Return the trial as step ``read`` gives it."""
    turn, travel = to_isb(paths, quarter_turn=True)
    force, moment = [], []
    for top, reading in zip(tops, readings, strict=True):
        axes, sensor = plate_axes(top.corners), top.corners.mean(axis=0) - [0, DEPTH_M, 0]
        pushed = reading[:, :3] @ axes.T
        force.append(pushed @ turn.T)
        moment.append((reading[:, 3:] @ axes.T + np.cross(sensor, pushed)) @ turn.T)
    start, plate = first_frame / marker_hz, ("plate_time", "plate", "axis")
    positions = np.stack([path @ turn.T for path in paths.values()], axis=1)
    return xr.Dataset(
        {
            "marker_position": (("time", "marker", "axis"), positions),
            "plate_force": (plate, np.stack(force, axis=1)),
            "plate_moment": (plate, np.stack(moment, axis=1)),
            "plate_corner": (("plate", "corner", "axis"), np.stack([top.corners @ turn.T for top in tops])),
            "plate_edges_known": ("plate", np.ones(len(tops), dtype=bool)),
            "plate_fault": ("plate", np.full(len(tops), "")),
            "event_time": ("event", np.zeros(0)),
            "lab_rotation": (("axis", "file_axis"), turn),
            "zero_frames": ("limit", np.full(2, np.nan)),
        },
        {
            "time": start + np.arange(len(positions)) / marker_hz,
            "marker": [_label(name) for name in paths],
            "axis": list("xyz"),
            "plate_time": start + np.arange(len(readings[0])) / analog_hz,
            "plate": np.arange(1, len(tops) + 1, dtype=np.int32),
            "corner": np.arange(1, 5, dtype=np.int32),
            "file_axis": list("xyz"),
            "limit": ["first", "last"],
            "event": np.zeros(0, dtype=str),
            "event_side": ("event", np.zeros(0, dtype=str)),
        },
        {
            "marker_rate_hz": float(marker_hz),
            "direction_of_travel": travel,
            "plates_left_out": "",
            "label_notes": "",
            "anthropometry": "",
        },
    )


def _through_file(
    paths: dict[str, Array], tops: Sequence[Top], readings: Sequence[Array], marker_hz: int, analog_hz: int,
    first_frame: int, folder: Path,
) -> xr.Dataset:  # fmt: skip
    """Return the trial that step ``read`` finds in a C3D file, with z up."""
    plates = [Channels(top.corners @ Z_UP.T, reading) for top, reading in zip(tops, readings, strict=True)]
    points = {_label(name): path @ Z_UP.T for name, path in paths.items()}
    path = write_c3d(
        folder / "moving.c3d", points, first_frame=1 + first_frame, plates=plates, depth_m=DEPTH_M,
        marker_hz=marker_hz, analog_hz=analog_hz,
    )  # fmt: skip
    trial = read(path, body_model=BODY_MODEL, lab_axes="quarter_turn")
    path.unlink()
    return trial


def _label(landmark: str) -> str:
    name, side = landmark.split("_")
    return side[0].upper() + LABELS[name]


# --- truth -----------------------------------------------------------------------------------------------------------


def truths_of(
    plan: Plan, motion: Motion, tops: Sequence[Top], carried: Array, span: tuple[float, float], late_s: float
) -> list[Truth]:
    """Return the stances that overlap the recording; ``carried``: vertical force (step, sample, plate)."""
    impulse = carried.sum(axis=1)  # (step, plate)
    whole = motion.force[..., 1].sum(axis=1)
    soles = np.stack([outline(plan, step) for step in range(len(plan.side))])
    inside = np.stack([top.inside(soles) for top in tops], axis=-1)  # (step, point, plate)
    found = []
    for step in range(1, len(plan.side) - 1):
        if plan.off[step] < span[0] or plan.strike[step] > span[1]:
            continue
        own = np.flatnonzero(impulse[step] > 0)
        at = (motion.time >= plan.strike[step]) & (motion.time <= plan.off[step])
        together = [
            o
            for o in range(len(plan.side))
            if o != step and plan.strike[o] < plan.off[step] and plan.off[o] > plan.strike[step]
        ]
        others = carried[together][:, at][..., own].sum() / whole[step]
        near = inside[together][..., own].max(initial=-1.0)
        seam = SEAM_M if len(own) > 1 else 0.0
        margin = float(inside[step][:, own].max(axis=1, initial=-1.0).min()) + seam
        lost = 1 - impulse[step].sum() / whole[step]
        cut = plan.strike[step] < span[0] + 0.1 or plan.off[step] > span[1] - 0.1
        if not len(own) or (lost > LOST and margin < -SURE_M) or (others > LOST and near > SURE_M):
            verdict = INVALID
        elif margin > SURE_M and near < -NEAR_M and not cut:
            verdict = VALID
        else:
            verdict = DOUBTFUL
        names = frozenset(int(number) + 1 for number in own)
        needed = frozenset(int(number) + 1 for number in own if impulse[step, number] > LOST * whole[step])
        start, end = float(plan.strike[step] + late_s), float(plan.off[step] + late_s)
        found.append(Truth(step, SIDES[plan.side[step]], start, end, names, verdict, margin, needed))
    return found
