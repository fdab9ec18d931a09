"""The person of :mod:`geometry` on the ground: motion, ground wrenches and legs, for the tests of what they need.

Forces that nothing but arithmetic connects with the motion act under both feet: no law may hold by their smoothness.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from geometry import GRAVITY, SIDES, Array, Landmarks, body_model, calibrated, cleaned, landmarks, standing, walk

from pipeline import agreement
from pipeline.dynamics import limb
from pipeline.kinematics import kinematics
from pipeline.leg import Legs, legs_of
from pipeline.settings import CONFIG, read_yaml

TIME = np.arange(200) / 200
INNER = slice(25, -25)  # where the spline's end error has died away
MODEL = body_model("isb_clusters")
CALIBRATION = calibrated(MODEL, standing())
DEFAULTS = read_yaml(CONFIG / "default.yaml")
SETTINGS, KINETICS = DEFAULTS["kinematics"], DEFAULTS["kinetics"]
UP = np.array([0.0, 1, 0])


def moving(points: Landmarks, calibration: xr.Dataset = CALIBRATION, time: Array | None = None) -> xr.Dataset:
    time = TIME[: len(points["heel_left"])] if time is None else time
    return kinematics(cleaned(MODEL, points, time), calibration, body_model=MODEL, **SETTINGS)


def ground(time: Array = TIME) -> xr.Dataset:
    """Return wrenches as the step ``contacts`` does, some 80 mm before the ankles of :func:`geometry.walk`."""
    swing = np.sin(2 * np.pi * time[:, None, None] + np.array([[0, 1, 2], [3, 4, 5]]))
    force = np.array([20, 350, 10]) + np.array([90, 250, 40]) * swing
    place = walk(time).centre[:, :, 0] + np.array([0.08, -0.08, 0.01]) + 0.03 * swing[..., ::-1]
    moment = np.cross(place, force) + 4 * swing[..., 1, None] * UP
    dims = ("time", "side", "axis")
    return xr.Dataset({"ground_force": (dims, force), "ground_moment": (dims, moment)}, {"side": list(SIDES)})


def legs(
    motion: xr.Dataset | None = None, contacts: xr.Dataset | None = None, calibration: xr.Dataset = CALIBRATION
) -> Legs:
    """Return the legs of a trial, by default of the walking person on the ground."""
    motion = moving(landmarks(walk(TIME)), calibration) if motion is None else motion
    contacts = ground(motion.time.values) if contacts is None else contacts
    return legs_of(motion, contacts, calibration, gravity_m_s2=GRAVITY)


def chain_motion(own: Legs) -> tuple[limb.Limb, limb.Motion]:
    """Return the limb, hip first, and its motion as :func:`pipeline.agreement.open_chain` finds them."""
    found: list[tuple[limb.Limb, limb.Motion]] = []
    solve = limb.joint_motion

    def listening(at: limb.Limb, *twists: Any) -> limb.Motion:
        found.append((at, solve(at, *twists)))
        return found[-1][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limb, "joint_motion", listening)
        agreement.open_chain(own)
    return found[0]
