"""The legs as arrays: order, motion and gimbal lock."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.body.legs import Legs
from pipeline.conventions import JOINTS, SEGMENTS, SIDES
from tests.support.walks.person import HANDED, close, landmarks, walk
from tests.support.walks.person_on_ground import CALIBRATION, TIME, ground, legs, moving


@pytest.fixture(scope="module")
def own() -> Legs:
    return legs()


def test_legs_are_those_of_the_walk_in_lab_axes(own: Legs) -> None:
    """Centres of mass move with the segments; w x e is the rate of a segment axis e."""
    pose = walk(TIME)
    close(own.rotation, pose.rotation)
    close(own.centre, pose.centre)
    close(own.angle, pose.angle * HANDED)
    local = (own.rotation[:, :, :3] @ (own.com - own.centre)[..., None])[..., 0]
    close(local, np.broadcast_to(CALIBRATION.segment_com, local.shape))
    inner, middle = slice(25, -25), slice(24, -24)
    for axis in range(3):
        e = own.rotation[:, :, :, axis]
        central = (e[middle][2:] - e[middle][:-2]) * 100  # at 200 Hz
        # a central difference misses (2 pi f h)^2 / 6 of some 5 rad/s at 0.9 Hz and its harmonics
        close(np.cross(own.spin, e)[inner], central, 0.02)


def test_order_of_segments_in_the_file_does_not_matter(own: Legs) -> None:
    motion = moving(landmarks(walk(TIME)))
    other = legs(motion.sel(segment=list(SEGMENTS[::-1])))
    for name, value in vars(own).items():
        np.testing.assert_array_equal(getattr(other, name), value, err_msg=name)


def test_ground_and_gravity_are_those_of_the_lab(own: Legs) -> None:
    np.testing.assert_array_equal(own.ground_moment, ground().ground_moment)
    np.testing.assert_array_equal(own.gravity, [0, -9.80665, 0])
    assert own.signs.shape == (len(SIDES), len(JOINTS), 3)


@pytest.mark.parametrize("off", [0.0, 0.05])
def test_axes_that_are_one_line_are_locked_and_hidden_segments_are_not(off: float) -> None:
    """The foot's y axis is the shank's z axis, exactly or 3 degrees off it; the right foot is not seen."""
    motion = moving(landmarks(walk(TIME[:20])), time=TIME[:20])
    foot = np.array([[1, 0, 0], [0, np.sin(off), np.cos(off)], [0, -np.cos(off), np.sin(off)]])
    motion.rotation.values[:, 0, 1] = np.eye(3)
    motion.rotation.values[:, 0, 0] = foot
    motion.rotation.values[:, 1, 0] = np.nan
    found = legs(motion, ground(TIME[:20])).locked
    expected = np.zeros((20, 2, 3), dtype=bool)
    expected[:, 0, 0] = True
    np.testing.assert_array_equal(found, expected)
