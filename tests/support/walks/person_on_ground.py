"""The person of :mod:`person` on the ground: motion, ground wrenches, loads and legs, for the tests that need them.

Forces that nothing but arithmetic connects with the motion act under both feet: no law may hold by their smoothness.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import xarray as xr

from pipeline.body.legs import Legs, legs_of
from pipeline.conventions import SIDES
from tests.support.settings import settings_of
from tests.support.steps import kinematics, kinetics
from tests.support.studies.step_results import described_trial
from tests.support.walks.person import (
    GRAVITY,
    Array,
    Landmarks,
    body_model,
    calibrated,
    cleaned,
    close,
    landmarks,
    mirrored,
    standing,
    walk,
)

TIME = np.arange(200) / 200
INNER = slice(25, -25)  # away from the spline's error at the ends
MODEL = body_model("isb_clusters")
CALIBRATION = calibrated(MODEL, standing())
SETTINGS, KINETICS = settings_of("kinematics"), settings_of("kinetics")
UP = np.array([0.0, 1, 0])
SWAPPED = {"side": list(SIDES[::-1])}
# formulations add numbers of some 1000 N and 300 N m in different orders, through matrices of condition 1 to 100
AGREED = 1e-9
ROUNDED = 1e-8  # rounding of positions over h^2 = 2.5e-5 s2, relative to moments of some 100 N m


def moving(points: Landmarks, calibration: xr.Dataset = CALIBRATION, time: Array | None = None) -> xr.Dataset:
    time = TIME[: len(points["heel_left"])] if time is None else time
    return kinematics(cleaned(MODEL, points, time), calibration, body_model=MODEL, settings=SETTINGS)


def ground(time: Array = TIME) -> xr.Dataset:
    """Return wrenches as the step ``contacts`` does, some 80 mm before the ankles of :func:`geometry.walk`."""
    swing = np.sin(2 * np.pi * time[:, None, None] + np.array([[0, 1, 2], [3, 4, 5]]))
    force = np.array([20, 350, 10]) + np.array([90, 250, 40]) * swing
    place = walk(time).centre[:, :, 0] + np.array([0.08, -0.08, 0.01]) + 0.03 * swing[..., ::-1]
    return ground_at(place, force, 4 * swing[..., 1])


def ground_at(place: Array, force: Array, free_moment: Array | float = 0.0) -> xr.Dataset:
    """Return the wrenches of forces (time, side, 3), N, at places of the same shape, m, and of free moments, N m."""
    moment = np.cross(place, force) + np.multiply.outer(free_moment, UP)
    dims = ("time", "side", "axis")
    wrench = {"ground_force": (dims, force), "ground_moment": (dims, moment), "belt_speed": ("side", np.zeros(2))}
    return xr.Dataset(wrench, {"side": list(SIDES)})


def loads(motion: xr.Dataset, contacts: xr.Dataset, calibration: xr.Dataset = CALIBRATION) -> xr.Dataset:
    """Return the dataset of the step ``kinetics``."""
    return described_trial("kinetics", kinetics(motion, contacts, calibration, settings=KINETICS))


@cache
def walked() -> Landmarks:
    """Return the landmarks of the walk that the tests share; do not change them."""
    return landmarks(walk(TIME))


@cache
def moved() -> xr.Dataset:
    """Return the motion of :func:`walked`."""
    return moving(walked())


@cache
def loaded() -> xr.Dataset:
    """Return the loads of :func:`walked` on the ground."""
    return loads(moved(), ground())


def mirrored_loads() -> xr.Dataset:
    """Return the loads of the mirror image of :func:`walked`, under the original sides."""
    calibration = calibrated(MODEL, mirrored(standing()))
    image = ground().sel(SWAPPED).assign_coords(side=list(SIDES))  # forces as vectors, moments as axial ones
    image = image.assign(ground_force=image.ground_force * (1, 1, -1), ground_moment=image.ground_moment * (-1, -1, 1))
    return loads(moving(mirrored(walked()), calibration), image, calibration).sel(SWAPPED)


def largest(values: xr.DataArray) -> float:
    return float(np.abs(values).max())


def same(actual: xr.Dataset, expected: xr.Dataset, *names: str) -> None:
    for name in names:
        close(actual[name], expected[name], ROUNDED)


def without_cluster(points: Landmarks, segment: str) -> Landmarks:
    """Return landmarks with a segment's left cluster missing."""
    lost = {f"{segment}_{number}_left" for number in range(1, 5)}
    return {name: np.nan * where if name in lost else where for name, where in points.items()}


def legs(
    motion: xr.Dataset | None = None, contacts: xr.Dataset | None = None, calibration: xr.Dataset = CALIBRATION
) -> Legs:
    """Return the legs of a trial, by default of the walking person on the ground."""
    motion = moving(walked(), calibration) if motion is None else motion
    contacts = ground(motion.time.values) if contacts is None else contacts
    limit = motion.attrs["smallest_floating_axis"]
    return legs_of(motion, contacts, calibration, gravity_m_s2=GRAVITY, smallest_floating_axis=limit)
