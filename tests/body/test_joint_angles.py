"""Joint angles: rotations and back, axes and rates, signs of described poses, gimbal lock."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pipeline.body import joint_angles
from pipeline.conventions import ANGLES, JOINTS, SIDES
from tests.support.walks.person import PROPERTY, SEED, Array, close, derivative, random_turns

LOCK = 0.1  # smallest_floating_axis


turn = st.floats(-3.1, 3.1)
moderate = st.floats(-1.4, 1.4)


def turned_about(axis: str, degrees: float) -> Array:
    """Return v_segment = rotation . v_lab of a segment turned from the lab's axes about one of them."""
    return np.asarray(Rotation.from_euler(axis, degrees, degrees=True).as_matrix()).T


@given(turn, moderate, turn, SEED)
@PROPERTY
def test_angles_undo_the_turns_about_z_x_and_y(z: float, x: float, y: float, seed: int) -> None:
    proximal = random_turns(np.random.default_rng(seed), 1)[0]
    distal = Rotation.from_euler("ZXY", [z, x, y]).as_matrix().T @ proximal
    close(joint_angles.angles(proximal, distal, smallest_floating_axis=LOCK), [z, x, y])


@given(SEED)
@PROPERTY
def test_joint_axes_are_unit_and_the_floating_one_is_normal_to_the_others(seed: int) -> None:
    proximal, distal = random_turns(np.random.default_rng(seed), 2)
    e1, e2, e3 = joint_angles.axes(proximal, distal)
    close(e1, proximal[2])
    close(e3, distal[1])
    close(np.linalg.norm(e2), 1)
    close([e2 @ e1, e2 @ e3], 0)
    assert np.linalg.det([e1, e2, e3]) > 0


@given(turn, moderate, turn, SEED)
@PROPERTY
def test_relative_angular_velocity_is_the_sum_of_rates_along_the_joint_axes(
    z: float, x: float, y: float, seed: int
) -> None:
    """Power is the sum of M.e_i times rate, so that the orthogonal projection M.e_i is consistent with power."""
    rng = np.random.default_rng(seed)
    rates, proximal = rng.normal(size=3), random_turns(rng, 1)[0]

    def to_lab(time: Array) -> Array:
        angles = np.array([z, x, y]) + np.outer(time, rates)
        return np.asarray(proximal.T @ Rotation.from_euler("ZXY", angles).as_matrix())

    now = np.zeros(1)
    spin = derivative(to_lab, now)[0] @ to_lab(now)[0].T
    velocity = [spin[2, 1], spin[0, 2], spin[1, 0]]
    close(rates @ joint_angles.axes(proximal, to_lab(now)[0].T), velocity)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("joint", JOINTS)
def test_clinical_signs_of_described_poses(joint: str, side: str) -> None:
    """The meaning of positive angles, by the directions of the distal segment's axes."""
    sin, cos = 0.5, np.sqrt(0.75)
    midline = np.array([0, 0, -1.0 if side == "right" else 1.0])  # towards the other leg
    x, y, z = np.eye(3)
    knee_bent = np.stack([cos * x - sin * y, cos * y + sin * x, z])  # the shank's lower end goes back
    thigh_raised = np.stack([cos * x + sin * y, cos * y - sin * x, z])  # the knee, or the toes, go forward and up
    leg_inwards = cos * y - sin * midline  # the lower end, or the sole, goes towards the midline
    toes_inwards = cos * x + sin * midline
    poses = {
        "flexion": knee_bent if joint == "knee" else thigh_raised,
        "adduction": np.stack([x, leg_inwards, np.cross(x, leg_inwards)]),
        "rotation": np.stack([toes_inwards, y, np.cross(toes_inwards, y)]),
    }
    for i, name in enumerate(ANGLES):
        found = joint_angles.angles(np.eye(3), poses[name], smallest_floating_axis=LOCK)
        clinical = np.degrees(found) * joint_angles.signs(joint, side)
        close(clinical, 30 * np.eye(3)[i])


def test_angles_near_gimbal_lock_are_nan() -> None:
    """cos 84 degrees is above 0.1, cos 85 degrees below."""
    kept, lost = (
        joint_angles.angles(np.eye(3), turned_about("x", tilt), smallest_floating_axis=LOCK) for tilt in (84, 85)
    )
    close(np.degrees(kept), [0, 84, 0])
    assert np.isnan(lost).all()
