"""Kinetics where a segment, the ground or a joint's axes are unknown: only dependent quantities are NaN."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline.body import plausibility
from tests.support.walks.person import Landmarks, landmarks, walk
from tests.support.walks.person_on_ground import (
    AGREED,
    TIME,
    ground,
    largest,
    loaded,
    loads,
    moved,
    moving,
    same,
    walked,
    without_cluster,
)


def test_unknown_ground_costs_its_side_and_instants_only() -> None:
    holed = ground()
    for name in ("ground_force", "ground_moment"):
        holed[name].values[50:80, 0] = np.nan
    found = loads(moved(), holed)
    assert np.isnan(found.joint_moment_term.sel(side="left", term="ground")[50:80]).all()
    for name in ("joint_force", "joint_moment", "joint_moment_jcs", "joint_power"):
        assert np.isnan(found[name].sel(side="left")[50:80]).all()
        whole = loaded()[name].values
        known = found[name].values
        known[50:80, 0] = whole[50:80, 0]
        np.testing.assert_array_equal(known, whole)


def test_hidden_shank_costs_the_joints_above_it_on_its_side() -> None:
    """The shank carries the ankle centre, so that the ankle's moment is unknown too."""
    found = loads(moving(without_cluster(walked(), "shank")), ground())
    for name in ("joint_moment", "joint_moment_jcs", "joint_power"):
        assert np.isnan(found[name].sel(side="left")).all()
        np.testing.assert_array_equal(found[name].sel(side="right"), loaded()[name].sel(side="right"))


def test_hidden_thigh_leaves_the_ankle() -> None:
    """The knee's moment in shank axes and along the shank is known; flexion and power need the thigh."""
    found = loads(moving(without_cluster(walked(), "thigh")), ground()).sel(side="left")
    whole = loaded().sel(side="left")
    loads_and_power = ("joint_force", "joint_moment", "joint_moment_term", "joint_moment_jcs", "joint_power")
    same(found.sel(joint="ankle"), whole.sel(joint="ankle"), *loads_and_power)
    assert set(found.missing.sel(joint="ankle").values) == {0}
    assert set(found.missing.sel(joint=["knee", "hip"]).values.ravel()) == {1}
    same(found.sel(joint="knee"), whole.sel(joint="knee"), "joint_force", "joint_moment")
    rotation = {"joint": "knee", "angle": "rotation"}
    same(found.sel(rotation), whole.sel(rotation), "joint_moment_jcs")
    assert np.isnan(found.joint_moment_jcs.sel(joint="knee", angle=["flexion", "adduction"])).all()
    assert np.isnan(found.joint_power.sel(joint=["knee", "hip"])).all()
    assert np.isnan(found.joint_moment.sel(joint="hip")).all()


def test_hidden_segments_leave_the_rest_compared() -> None:
    found = loads(moving(without_cluster(walked(), "thigh")), ground()).disagreement
    assert np.isfinite(found).all()
    assert largest(found) < AGREED


def test_missing_says_which_of_segment_ground_and_axes_is_unknown() -> None:
    """The segment takes precedence: without it the other causes are unknown."""
    hidden = {name: where.copy() for name, where in walked().items()}
    for number in range(1, 5):
        hidden[f"shank_{number}_right"][120:160] = np.nan
    contacts = ground()
    contacts.ground_force.values[40:80, 0] = np.nan
    contacts.ground_moment.values[140:180, 1] = np.nan
    found = loads(moving(hidden), contacts)
    expected = np.zeros((len(TIME), 2, 3))
    expected[40:80, 0] = 2
    expected[140:180, 1] = 2
    expected[120:160, 1] = 1
    np.testing.assert_array_equal(found.missing, expected)
    np.testing.assert_array_equal(found.missing > 0, np.isnan(found.joint_moment_jcs).any("angle"))


def tumbling_feet(nearest_rad: float) -> Landmarks:
    """Return a walk with feet that tumble about all axes, through the pose of gimbal lock at the ankle.

    They approach it to ``nearest_rad`` to it, in the middle of the trial.
    """
    pose = walk(TIME)
    lock = Rotation.from_euler("X", 90, degrees=True).inv().as_matrix()
    tumble = np.sin(2 * np.pi * (TIME - 0.5))[:, None] * [0.5, 0.7, 0.9] + nearest_rad * np.array([1.0, 0, 0])
    feet = (Rotation.from_rotvec(tumble).as_matrix() @ lock)[:, None] @ pose.rotation[:, :, 1]
    pose.rotation[:, :, 0] = feet
    return landmarks(pose)


@pytest.mark.parametrize("nearest_rad", [0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
def test_gimbal_lock_costs_the_axes_and_nothing_else(nearest_rad: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Near gimbal lock the rates of hinges are huge; the checks of the trial must not fail for it."""
    anything = {name: limit._replace(low=-np.inf, high=np.inf) for name, limit in plausibility.LIMITS.items()}
    monkeypatch.setattr(plausibility, "LIMITS", anything)  # no person has such feet
    motion = moving(tumbling_feet(nearest_rad))
    found = loads(motion, ground())
    unknown = np.isnan(motion.joint_angle).all("angle")
    assert 10 < int(unknown.sel(joint="ankle").sum()) < len(TIME)
    assert not unknown.sel(joint=["knee", "hip"]).any()
    np.testing.assert_array_equal(found.missing, np.where(unknown, 3, 0))
    for name in ("joint_force", "joint_moment", "joint_moment_term", "joint_power"):
        assert np.isfinite(found[name]).all(), name
    lost = np.isnan(found.joint_moment_jcs)
    np.testing.assert_array_equal(lost.all("angle"), unknown)
    np.testing.assert_array_equal(lost.any("angle"), unknown)
    interaction = found.interaction_torque
    assert np.isnan(interaction.values[unknown.values]).all()
    assert np.isnan(interaction.sel(cause="ankle").values[unknown.any("joint").values]).all(), "at no joint"
    assert np.isfinite(interaction.sel(joint=["knee", "hip"], cause=["hip", "knee", "pelvis"])).all()
    assert largest(interaction) < 1000, "no rounding blown up"
    assert largest(found.disagreement) < 1e-6
