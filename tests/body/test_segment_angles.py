"""Reported angles, and moments in other axes: known poses, invariants, the pelvis of Plug-in Gait."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from pipeline.body import joint_angles as joint_coordinates
from pipeline.body.joint_angles import foot_progression, from_line, joint_angles, pelvis_angles
from pipeline.steps.cycles.normalisation import further
from tests.support.studies.references import outputs
from tests.support.walks.person import ROUNDING, Array, close, landmarks, walk
from tests.support.walks.person_on_ground import CALIBRATION, TIME, ground_at, loads, moving

LEFT, RIGHT = 0, 1
LOCK = 0.1


def pose(axis: str, degrees: float) -> Array:
    """Return one frame of both sides (1, 2, 3, 3) turned about a lab axis, v_segment = rotation @ v_lab."""
    turn = Rotation.from_euler(axis, degrees, degrees=True).as_matrix().T
    return np.broadcast_to(turn, (1, 2, 3, 3))


@pytest.mark.parametrize(
    ("axis", "degrees", "left", "right"),
    [
        ("z", -10, (10, 0, 0), (10, 0, 0)),  # forward over: anterior tilt
        ("x", 10, (0, 10, 0), (0, -10, 0)),  # to the right: the left side comes up
        ("y", 10, (0, 0, -10), (0, 0, 10)),  # to the left: the right side comes forward
    ],
)
def test_signs_of_the_pelvis(axis: str, degrees: float, left: tuple[float, ...], right: tuple[float, ...]) -> None:
    found = pelvis_angles(pose(axis, degrees), LOCK)[0]
    assert_allclose(found[LEFT], left, atol=1e-12)
    assert_allclose(found[RIGHT], right, atol=1e-12)


@pytest.mark.parametrize("pitch", [0, -40, -90, 30])
def test_foot_progression_is_the_arcsine_of_the_lateral_part_of_the_long_axis(pitch: float) -> None:
    """Toes inwards are positive: to the left for a right foot. A foot on its tip has 0, at whatever heading."""
    turned = Rotation.from_euler("YZ", [15, pitch], degrees=True).as_matrix().T  # to the left, then heel up
    found = foot_progression(np.broadcast_to(turned, (1, 2, 3, 3)))[0]
    expected = np.degrees(np.arcsin(np.sin(np.radians(15)) * np.cos(np.radians(pitch))))
    assert_allclose(found, [-expected, expected], atol=1e-12)


def test_angles_from_a_line_are_those_of_the_same_walk_along_lab_x() -> None:
    poses = Rotation.random(20, rng=np.random.default_rng(3)).as_matrix()[:, None].repeat(2, axis=1)
    for degrees in (10, 45, 170):
        turned = poses @ Rotation.from_euler("y", -degrees, degrees=True).as_matrix()
        back = from_line(turned, np.radians(degrees))
        assert_allclose(back, poses, atol=1e-12)


def test_plug_in_gait_turns_the_ankle_in_another_order() -> None:
    """A rotation about one axis is the same in both sequences; about several it is not."""
    rng = np.random.default_rng(5)
    z, x, y = rng.uniform(-0.6, 0.6, (3, 20))
    relative = Rotation.from_euler("ZYX", np.stack([z, y, x], axis=-1)).as_matrix()
    found = joint_coordinates.angles_inversion_last(
        relative, np.broadcast_to(np.eye(3), relative.shape), smallest_floating_axis=LOCK
    )
    assert_allclose(found, np.stack([z, x, y], axis=-1), atol=1e-12)
    rotation = np.stack([np.broadcast_to(Rotation.random(rng=rng).as_matrix(), (1, 2, 3, 3)) for _ in range(4)], axis=2)
    isb, other = (joint_angles(rotation, name, 0.0) for name in ("isb", "plug_in_gait"))
    assert_allclose(isb[:, :, 1:], other[:, :, 1:])
    assert not np.allclose(isb[:, :, 0], other[:, :, 0])


def test_moments_in_other_axes_are_one_vector() -> None:
    motion = moving(landmarks(walk(TIME)))
    shape = (len(TIME), 2, 3)
    kinetics = loads(
        motion, ground_at(walk(TIME).centre[:, :, 0], np.broadcast_to([20.0, 350, 10], shape), 3.0), CALIBRATION
    )
    distal, proximal, lab, external = further(
        ["joint_moment_distal", "joint_moment_proximal", "joint_moment_lab", "external_moment_jcs"],
        kinetics,
        motion,
        CALIBRATION,
    ).values()
    close(distal, kinetics.joint_moment)
    close(external, -kinetics.joint_moment_jcs)
    for other in (proximal, lab):
        assert_allclose(np.linalg.norm(other, axis=-1), np.linalg.norm(distal, axis=-1), atol=ROUNDING)
    # the power of the lab's moment is the power of the joint
    names = ["foot", "shank", "thigh", "pelvis"]
    spin = xr.dot(motion.angular_velocity, motion.rotation, dim="local_axis").sel(segment=names).values
    power = (lab.values * (spin[:, :, :-1] - spin[:, :, 1:])).sum(axis=-1)
    close(kinetics.joint_power, power, 1e-8)
    # flexion is about z of the proximal segment
    flexion = proximal.isel(local_axis=2).values * [1, -1, 1]
    close(kinetics.joint_moment_jcs.sel(angle="flexion"), flexion)


def test_plug_in_gait_stores_the_same_pelvis(shared: Path) -> None:
    """Same markers and axes: only the smoothing of the markers differs, by 0.1 degrees at most."""
    from tests.support.studies.run_steps import run_study

    study = shared / "studies" / "plug_in_gait"
    for session in run_study(study, {"kinematics": {"angle_convention": "plug_in_gait"}}).values():
        for steps in session.trials.values():
            points = outputs(study / steps["read"].attrs["source"])
            for letter, side in (("L", "left"), ("R", "right")):
                angle = steps["kinematics"].pelvis_angle.sel(side=side).values
                theirs = next(
                    points[name] for name in (f"{letter}PelvisAngles", f"{letter}PelvisAnglesV") if name in points
                )
                apart = (angle - theirs + 180) % 360 - 180
                assert np.sqrt(np.nanmean(apart**2)) < 0.1
                ankle = steps["kinematics"].joint_angle.sel(side=side, joint="ankle").values
                name = f"{letter}AnkleAngles"
                stored = points[name if name in points else name + "V"]
                assert (
                    np.nanstd(ankle[:, 0] - stored[:, 0]) < 0.2
                )  # its offset belongs to the foot's axis in the static
