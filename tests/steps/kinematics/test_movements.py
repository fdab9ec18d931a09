"""Movements that are no walk, from squats to lying: every one is posed, and its joint moments are solved."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.settings import settings_of
from tests.support.steps import kinematics
from tests.support.walks import person_on_ground as on_ground
from tests.support.walks.movements import MOVEMENTS, moved, seen
from tests.support.walks.person import (
    BODY_MODELS,
    GRAVITY,
    Pose,
    body_model,
    calibrated,
    cleaned,
    close,
    landmarks,
    standing,
)

SETTINGS = settings_of("kinematics")


@pytest.mark.parametrize("movement", MOVEMENTS)
def test_a_movement_is_posed_exactly(movement: str) -> None:
    for seed in range(3):
        time, pose = moved(movement, seed)
        motion = on_ground.moving(landmarks(pose), time=time)
        assert not motion.leg_refused.values.any()
        close(motion.rotation, pose.rotation)
        close(motion.joint_centre, pose.centre)


@pytest.mark.parametrize("movement", MOVEMENTS)
@pytest.mark.parametrize("name", BODY_MODELS)
def test_no_leg_is_refused_where_skin_moves(movement: str, name: str) -> None:
    model = body_model(name)
    calibration = calibrated(model, standing(), hip_centre="harrington")
    for seed in range(4):
        time, points = seen(movement, seed)
        motion = kinematics(cleaned(model, points, time), calibration, body_model=model, settings=SETTINGS)
        assert not motion.leg_refused.values.any(), motion.leg_refused.values
        assert not motion.implausible.values.any()


@pytest.mark.parametrize("movement", MOVEMENTS)
def test_moments_of_a_posture_held_still_balance_ground_and_weight(movement: str) -> None:
    """Of somebody who rests in the middle of a movement the forces and weights beyond a joint have no other moment."""
    time, pose = moved(movement, 5)
    held = Pose(*(np.repeat(part[150:151], 60, axis=0) for part in pose))
    motion = on_ground.moving(landmarks(held), time=time[:60])
    force = np.broadcast_to([30.0, 350.0, -20.0], (60, 2, 3))
    point = held.centre[:, :, 0] + np.array([0.08, -0.08, 0.01])
    contacts = on_ground.ground_at(point, force, 4.0)
    loads = on_ground.loads(motion, contacts)
    mass, com = on_ground.legs(motion, contacts).mass, motion.com_position.values[:, :, :3]
    weight = np.broadcast_to(mass[..., None] * [0.0, -GRAVITY, 0.0], com.shape)
    for joint in range(3):
        centre = held.centre[:, :, joint]
        about = np.cross(point - centre, force) + np.array([0.0, 4.0, 0.0])
        for segment in range(joint + 1):
            about = about + np.cross(com[:, :, segment] - centre, weight[:, :, segment])
        expected = np.einsum("tsij,tsj->tsi", held.rotation[:, :, joint], -about)
        close(loads.joint_moment.values[:, :, joint], expected, on_ground.ROUNDED)
