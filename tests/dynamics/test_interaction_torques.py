"""Interaction torques: sums with gravity and ground, single moving joints, symmetries."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.body.legs import OUTWARDS, Legs
from pipeline.dynamics import limb
from pipeline.dynamics.vectors import rotate
from pipeline.steps.kinetics import cross_checks
from tests.support.walks import person
from tests.support.walks.person import HANDED, Array, close, derivative, landmarks, walk
from tests.support.walks.person_on_ground import (
    AGREED,
    INNER,
    ROUNDED,
    TIME,
    ground,
    largest,
    legs,
    loaded,
    loads,
    mirrored_loads,
    moved,
    moving,
    walked,
)


def clinical(own: Legs, motion: xr.Dataset, local: xr.DataArray) -> Array:
    """Return the projections on the joint axes of vectors (time, side, joint, 3) in distal segment axes."""
    back = np.swapaxes(motion.rotation.values[:, :, :3], -1, -2)
    return rotate(own.axes, rotate(back, local.values)) * own.signs


def test_interaction_torques_gravity_and_ground_are_the_joint_moment() -> None:
    found, own = loaded(), legs()
    static, dynamic = (
        clinical(own, moved(), found.joint_moment_term.sel(term=terms).sum("term", skipna=False))
        for terms in (["gravity", "ground"], ["inertia", "velocity"])
    )
    interaction = found.interaction_torque.sum(("cause", "motion"), skipna=False).values
    close(interaction + static, found.joint_moment_jcs, AGREED)
    close(interaction, dynamic, AGREED)
    for cause in cross_checks.CAUSES[:-1]:
        assert largest(found.interaction_torque.sel(cause=cause)) > 0.1, cause


def test_hinged_segments_have_no_translation() -> None:
    """The joints are hinges: the spline's error of 10^-4 m/s2 times 10 kg at 0.5 m remains."""
    assert largest(loaded().interaction_torque.sel(cause="translation")[INNER]) < 1e-3


def test_a_person_at_rest_has_no_interaction() -> None:
    pose = walk(np.full(30, 0.3))
    found = loads(moving(landmarks(pose), time=TIME[:30]), ground(TIME[:30])).interaction_torque
    # rounding of still positions over h^2 = 2.5e-5 s2, twice over rates of the joints
    assert largest(found) < 1e-6


def test_a_still_joint_causes_nothing() -> None:
    """Pelvis, ankles and hips do not move: the knees are the only cause."""
    swing = person.SWING_RAD
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(person, "SWING_RAD", swing * np.array([[0], [1], [0]]))
        found = loads(moving(landmarks(walk(TIME, still_pelvis=True))), ground()).interaction_torque[INNER]
    assert largest(found.sel(cause="knee")) > 1
    for cause in ("ankle", "hip"):
        # the spline's 10^-4 rad/s2, times 2 kg m2 of the leg
        assert largest(found.sel(cause=cause)) < 1e-3, cause


def test_accelerations_of_the_hinges_are_those_of_the_joint_angles() -> None:
    """Compared with the second derivative of the closed form, although no angle is differentiated."""
    motion = cross_checks.chain_motion(legs())[1]

    def angle(time: Array) -> Array:
        return np.asarray((walk(time).angle * HANDED)[:, :, OUTWARDS])

    first = derivative(angle, TIME)
    second = derivative(lambda time: derivative(angle, time), TIME)
    # errors of the spline: 10^-4 rad/s2 in the accelerations of two segments, 10^-7 rad/s in their velocities
    close(motion.rate[INNER, ..., limb.HINGES], first[INNER], 1e-5)
    close(motion.acceleration[INNER, ..., limb.HINGES], second[INNER], 1e-3)


def test_no_angle_is_differentiated() -> None:
    """Angles that jump by whole turns change nothing."""
    motion = moved()
    turns = 360 * np.random.default_rng(1).integers(-3, 3, motion.joint_angle.shape)
    found = loads(motion.assign(joint_angle=motion.joint_angle + turns), ground())
    for name in ("interaction_torque", "joint_moment_jcs", "disagreement", "missing"):
        np.testing.assert_array_equal(found[name], loaded()[name])


# ---- symmetries


def test_mirrored_walk_exchanges_the_sides() -> None:
    """Clinical quantities do not change."""
    found = mirrored_loads()
    close(found.interaction_torque, loaded().interaction_torque, ROUNDED)
    assert largest(found.disagreement) < AGREED


@pytest.mark.parametrize("velocity", [(1.3, 0, 0), (-3, 0.5, 2)])
def test_a_lab_at_constant_velocity_changes_nothing(velocity: tuple[float, float, float]) -> None:
    """As on a treadmill: the origin of the lab moves at constant velocity relative to person and ground."""
    away = TIME[:, None] * velocity
    contacts = ground()
    shifted = contacts.ground_moment + np.cross(away[:, None], contacts.ground_force.values)
    points = {name: where + away for name, where in walked().items()}
    found = loads(moving(points), contacts.assign(ground_moment=shifted))
    for name in ("interaction_torque", "joint_moment", "joint_force", "joint_power"):
        close(found[name], loaded()[name], ROUNDED)
    assert largest(found.disagreement) < AGREED
