"""Known walks as results of step ``clean``; :mod:`c3d_writer` writes C3D files for the steps before it.

A walk is a list of footfalls. From strike to off a foot rests or moves with a belt. Its vertical force is half a sine
in time and moves linearly from one point of the sole, 3 cm in front of the heel, to another, 17 cm in front of it; the
plate under a point carries its part. It brakes, then drives, by a cosine, and pushes the foot inwards. So events,
centres of pressure and distances have closed forms. ISB lab axes (x forward, y up, z right), m, s, N.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.body_model import BodyModel
from pipeline.conventions import SIDES
from pipeline.plates.wrench import at_instants
from tests.support.studies.step_results import UNREPAIRED

Array = NDArray[np.float64]

MARKER_HZ, ANALOG_HZ = 100, 1000
SPEED_M_S, STRIDE_S, STANCE_S, FIRST_STRIKE_S = 1.2, 1.1, 0.7, 0.2
HALF_WIDTH_M, FOOT_M, AHEAD_M = 0.08, 0.2, 0.25  # foot to midline; heel to toe; heel to pelvis at strike
SOLE_M = (0.03, 0.17)
PEAK_N = 800.0
DRIVE, INWARDS = 0.2, 0.05  # force per vertical force: forwards at off (backwards at strike), and towards the midline
FREE_MOMENT_M = 0.005  # free moment per vertical force
BODY_MODEL = BodyModel.of(
    {
        "name": "pelvis_and_feet",
        "side_labels": {"left": "L", "right": "R"},
        "landmarks": {name: f"{{side}}{label}" for name, label in (("asis", "ASI"), ("heel", "HEE"), ("toe", "TOE"))},
    }
)
LABELS = {landmark: groups[0][0] for landmark, groups in BODY_MODEL.landmarks.items()}


class Footfall(NamedTuple):
    """One stance: side, foot strike and foot off, s, and where the heel strikes (x forward, z right), m."""

    side: str
    start_s: float
    end_s: float
    x: float
    z: float


class Rectangle(NamedTuple):
    """A plate in the floor, its extent forward and to the right, m."""

    back: float
    front: float
    left: float
    right: float

    @property
    def corners(self) -> Array:
        """Return corners 1 to 4 (4, 3): seen from above, plate axes are x forward, y right, z down."""
        back, front, left, right = self
        return np.array([[front, 0, right], [back, 0, right], [back, 0, left], [front, 0, left]], dtype=float)

    def under(self, point: Array) -> NDArray[np.bool_]:
        """Return which points (time, 3) are over the plate."""
        x, z = point[:, 0], point[:, 2]
        return (self.back <= x) & (x < self.front) & (self.left <= z) & (z < self.right)


@dataclass(frozen=True)
class Walk:
    """Footfalls in order of time; ``belt_m_s`` is the backward speed of the ground."""

    steps: tuple[Footfall, ...]
    end_s: float
    belt_m_s: float = 0.0
    start_s: float = 0.0

    def of(self, side: str) -> list[Footfall]:
        """Return one side's footfalls."""
        return [step for step in self.steps if step.side == side]

    def seen(self) -> list[Footfall]:
        """Return the footfalls that begin and end within the trial."""
        return [step for step in self.steps if self.start_s < step.start_s and step.end_s < self.end_s]

    def times(self, rate_hz: float) -> Array:
        """Return the sample times of a trial, s."""
        return self.start_s + np.arange(round((self.end_s - self.start_s) * rate_hz)) / rate_hz


def walk(*, strides: int = 2, stride_s: float = STRIDE_S, belt_m_s: float = 0.0, start_s: float = 0.0) -> Walk:
    """Return an even walk at ``SPEED_M_S`` relative to the ground; the right foot strikes first, after 0.2 s.

    Footfalls before and after the trial complete the motion.
    """
    steps = []
    for number in range(-3, 2 * strides + 3):
        strike = FIRST_STRIKE_S + number * stride_s / 2
        side = SIDES[(number + 1) % 2]
        z = HALF_WIDTH_M if side == "right" else -HALF_WIDTH_M
        x = (SPEED_M_S - belt_m_s) * strike + AHEAD_M
        steps.append(Footfall(side, start_s + strike, start_s + strike + STANCE_S, x, z))
    return Walk(tuple(steps), start_s + FIRST_STRIKE_S + (strides + 0.5) * stride_s, belt_m_s, start_s)


def heel(known: Walk, side: str, time: Array) -> Array:
    """Return the heel of a side (time, 3): on the ground in stance, on a cosine in between."""
    steps = known.of(side)
    where = np.full((len(time), 3), np.nan)
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        stance = (time >= step.start_s) & (time <= step.end_s)
        where[stance] = _standing(known, step, time[stance])
        if following:
            swing = (time > step.end_s) & (time < following.start_s)
            share = (time[swing] - step.end_s) / (following.start_s - step.end_s)
            start = _standing(known, step, np.array([step.end_s]))
            end = _standing(known, following, np.array([following.start_s]))
            where[swing] = start + (end - start) * (1 - np.cos(np.pi * share))[:, None] / 2
            where[swing, 1] += 0.1 * np.sin(np.pi * share)
    return where


def _standing(known: Walk, step: Footfall, time: Array) -> Array:
    x = step.x - known.belt_m_s * (time - step.start_s)
    return np.stack([x, np.full_like(x, 0.03), np.full_like(x, step.z)], axis=1)


def markers(known: Walk) -> dict[str, Array]:
    """Return landmark -> (time, 3): both ASIS, heels and toes."""
    time = known.times(MARKER_HZ)
    pelvis = (SPEED_M_S - known.belt_m_s) * (time - known.start_s)
    paths = {}
    for side, z in (("left", -0.12), ("right", 0.12)):
        paths[f"asis_{side}"] = np.stack([pelvis, np.ones_like(time), np.full_like(time, z)], axis=1)
        paths[f"heel_{side}"] = heel(known, side, time)
        paths[f"toe_{side}"] = paths[f"heel_{side}"] + np.array([FOOT_M, 0, 0])
    return paths


def vertical(step: Footfall, time: Array) -> Array:
    """Return the vertical force of a footfall (time,), N."""
    share = (time - step.start_s) / (step.end_s - step.start_s)
    return np.where((share > 0) & (share < 1), PEAK_N * np.sin(np.pi * np.clip(share, 0, 1)), 0.0)


def pressed(step: Footfall, time: Array) -> Array:
    """Return how far in front of the heel the centre of pressure of a footfall is (time,), m."""
    share = (time - step.start_s) / (step.end_s - step.start_s)
    return SOLE_M[0] + share * (SOLE_M[1] - SOLE_M[0])


def direction(step: Footfall, time: Array) -> Array:
    """Return the force per vertical force of a footfall (time, 3)."""
    share = (time - step.start_s) / (step.end_s - step.start_s)
    inwards = np.full_like(share, -INWARDS if step.side == "right" else INWARDS)
    return np.stack([-DRIVE * np.cos(np.pi * share), np.ones_like(share), inwards], axis=1)


def crossing(step: Footfall, threshold_n: float) -> tuple[float, float]:
    """Return when the whole force of a footfall rises above a threshold and falls below it, s."""
    delay = (step.end_s - step.start_s) * np.arcsin(threshold_n / PEAK_N) / np.pi
    return step.start_s + delay, step.end_s - delay


def wrenches(known: Walk, plates: Sequence[Rectangle], time: Array) -> tuple[Array, Array]:
    """Return force and moment about the lab origin (time, plate, 3) of the ground on the person."""
    force, moment = np.zeros((2, len(time), len(plates), 3))
    for step in known.steps:
        front = np.clip((time - step.start_s) / (step.end_s - step.start_s), 0, 1)
        for ahead, share in zip(SOLE_M, (1 - front, front), strict=True):
            point = _standing(known, step, time) + np.array([ahead, -0.03, 0.0])
            load = (share * vertical(step, time))[:, None] * direction(step, time)
            for number, plate in enumerate(plates):
                carried = np.where(plate.under(point)[:, None], load, 0.0)
                force[:, number] += carried
                moment[:, number] += np.cross(point, carried) + FREE_MOMENT_M * carried[:, 1:2] * np.array(
                    [0.0, 1.0, 0.0]
                )
    return force, moment


def cleaned(
    known: Walk,
    plates: Sequence[Rectangle] = (),
    *,
    events: Sequence[tuple[float, str, str]] = (),
    noise_n: float = 0.0,
    plates_left_out: str = "",
) -> xr.Dataset:
    """Return a walk like step ``clean``; events are (time, label, side); vertical forces have white noise.

    Filtered plate signals are along ``plate_time``, so that tests can alter them; see :func:`as_stored`.
    """
    paths, time = markers(known), known.times(ANALOG_HZ if plates else 0)
    force, moment = wrenches(known, plates, time)
    force[..., 1] += noise_n * np.random.default_rng(1).normal(size=force.shape[:2])
    times, labels, sides = zip(*events, strict=True) if events else ((), (), ())
    return xr.Dataset(
        {
            "marker_position": (("time", "marker", "axis"), np.stack(list(paths.values()), axis=1)),
            "plate_force": (("plate_time", "plate", "axis"), force),
            "plate_moment": (("plate_time", "plate", "axis"), moment),
            "plate_corner": (("plate", "corner", "axis"), np.array([p.corners for p in plates]).reshape(-1, 4, 3)),
            "vertical_force": (("plate_time", "plate"), force[..., 1]),
            "plate_drift": ("plate", np.zeros(len(plates))),
            "plate_wander": ("plate", np.zeros(len(plates))),
            "plate_prediction_error": ("plate", np.zeros(len(plates))),
            "plate_wander_of_moment": ("plate", np.zeros(len(plates))),
            "plate_prediction_error_of_moment": ("plate", np.zeros(len(plates))),
            "plate_edges_known": ("plate", np.ones(len(plates), dtype=bool)),
            "plate_fault": ("plate", np.full(len(plates), "")),
            "event_time": ("event", np.array(times, dtype=float)),
        },
        {
            "time": known.times(MARKER_HZ),
            "plate_time": time,
            "marker": list(paths),
            "plate": np.arange(1, len(plates) + 1),
            "axis": list("xyz"),
            "event": np.array(labels, dtype=str),
            "event_side": ("event", np.array(sides, dtype=str)),
        },
        UNREPAIRED
        | {
            "marker_rate_hz": float(MARKER_HZ),
            "direction_of_travel": "none" if known.belt_m_s else "forwards",
            "plates_left_out": plates_left_out,
            "landmarks_absent": "",
        },
    )


def as_stored(trial: xr.Dataset) -> xr.Dataset:
    """Return a cleaned trial with filtered plate signals along ``plate_time`` as step ``clean`` stores it."""
    if trial.plate_force.dims[0] == "time":
        return trial
    instants, time = trial.plate_time.values, trial.time.values
    plates: dict[str, Any] = {
        name: (("time", "plate", "axis"), at_instants(trial[name].values, instants, time))
        for name in ("plate_force", "plate_moment")
    }
    plates["vertical_force_filtered"] = (("plate_time", "plate"), trial.plate_force.values[..., 1])
    return trial.assign(plates)
