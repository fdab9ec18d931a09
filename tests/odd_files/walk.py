"""The plain walk: a generated person walks over three plates; every odd file holds it, written in another way.

File axes: z up, walking along x. Metres, newtons, seconds. Lab axes of the product: x forward, y up, z right.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.demo.body import make_walker
from pipeline.demo.loads import ground
from pipeline.demo.plates import ForcePlate, channels, file_axes, stepping_on
from pipeline.demo.recording import marker_paths
from pipeline.demo.walk import Gait, Walk, motion, plan_walk, standing

Array = NDArray[np.float64]
Event = tuple[float, str, str]  # seconds from the first frame, side, foot_strike or foot_off

MODEL = "isb_clusters"
WALKER = make_walker("virtual", sex="F", mass_kg=64.0, height_m=1.70, seed=7)
PLATES = (ForcePlate((0.3, 0.25)), ForcePlate((1.06, 0.25), 0.9, turn_deg=180), ForcePlate((1.82, 0.25)))
DIRECTION = "+X"
MARKER_HZ, FORCE_HZ, DURATION_S, STANDING_S = 100.0, 500.0, 1.8, 0.5
MARKER_NOISE_M, FORCE_NOISE_N, MOMENT_NOISE_N_M = 1e-4, 0.3, 0.01  # without any, channels would look dead
LAB = file_axes(DIRECTION)  # vectors in file axes are LAB @ those in lab axes


class Recorded(NamedTuple):
    """What cameras and plates see of a walk or of standing, file axes."""

    marker_hz: float
    force_hz: float
    labels: tuple[str, ...]
    markers: Array  # (frame, marker, 3), m
    readings: Array  # (sample, plate, 6), N and N m: channels of plates of type 2, plate axes
    force: Array  # (sample, plate, 3), N, on the person
    moment: Array  # (sample, plate, 3), N m, about the lab origin


def _walk() -> Walk:
    walk = plan_walk(WALKER, Gait(1.28, 112, DURATION_S), seed=7)
    return stepping_on(walk, DIRECTION, PLATES[1], (0, 2))


WALK = _walk()
BODIES = motion(WALK)
EVENTS: tuple[Event, ...] = tuple(
    sorted(
        (round(float(time), 4), ("left", "right")[side], kind)
        for kind, times in (("foot_strike", WALK.strike), ("foot_off", WALK.off))
        for time, side in zip(times, WALK.side, strict=True)
        if 0.05 < time < DURATION_S - 0.05
    )
)


@cache
def walking(marker_hz: float = MARKER_HZ, force_hz: float = FORCE_HZ) -> Recorded:
    """Return the plain walk, sampled at other rates if given; both begin at time 0."""
    frames = round(DURATION_S * marker_hz)
    samples = round(frames * force_hz / marker_hz)
    rng = np.random.default_rng(7)
    paths = marker_paths(WALKER, BODIES(np.arange(frames) / marker_hz), medial=False)
    markers = np.stack([path @ LAB.T for path in paths.values()], axis=1)
    markers += MARKER_NOISE_M * rng.normal(size=markers.shape)
    time = np.arange(samples) / force_hz
    readings = channels(ground(WALK, BODIES(time), time), DIRECTION, PLATES)
    readings += np.repeat([FORCE_NOISE_N, MOMENT_NOISE_N_M], 3) * rng.normal(size=readings.shape)
    force, moment = wrenches(readings)
    return Recorded(marker_hz, force_hz, tuple(paths), markers, readings, force, moment)


@cache
def standing_still() -> Recorded:
    """Return the same person standing still, with medial markers and no plates."""
    time = np.arange(round(STANDING_S * MARKER_HZ)) / MARKER_HZ
    paths = marker_paths(WALKER, standing(WALKER, time), medial=True)
    markers = np.stack([path @ LAB.T for path in paths.values()], axis=1)
    markers += MARKER_NOISE_M * np.random.default_rng(8).normal(size=markers.shape)
    none = np.empty((0, 0, 3))
    return Recorded(MARKER_HZ, FORCE_HZ, tuple(paths), markers, np.empty((0, 0, 6)), none, none)


def wrenches(readings: Array) -> tuple[Array, Array]:
    """Return force and moment about the lab origin (sample, plate, 3) of the channels of the plates."""
    force, moment = np.empty_like(readings[..., :3]), np.empty_like(readings[..., :3])
    for i, plate in enumerate(PLATES):
        sensor = np.append(plate.centre_m, -plate.sensor_depth_m)
        force[:, i] = readings[:, i, :3] @ plate.axes.T
        moment[:, i] = readings[:, i, 3:] @ plate.axes.T + np.cross(sensor, force[:, i])
    return force, moment


LABELS = tuple(marker_paths(WALKER, BODIES(np.zeros(1)), medial=False))
