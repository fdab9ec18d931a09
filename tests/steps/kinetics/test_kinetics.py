"""Kinetics: a person with known motion, against Newton for particles, statics, energy and symmetries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.conventions import JOINTS, SIDES
from tests.support.steps import kinetics
from tests.support.walks.person import (
    GRAVITY,
    Array,
    Pose,
    calibrated,
    close,
    derivative,
    landmarks,
    particles,
    standing,
    walk,
)
from tests.support.walks.person_on_ground import (
    CALIBRATION,
    INNER,
    KINETICS,
    MODEL,
    TIME,
    UP,
    ground,
    ground_at,
    largest,
    loaded,
    loads,
    moved,
    moving,
    walked,
)

# The spline misses 2 10^-7 of the accelerations of this motion (0.9 Hz and its harmonics at 200 Hz): 10^-4 m/s2
# and rad/s2, times segments of 10 kg, reaching 0.4 m
FORCE_N, MOMENT_N_M = 3e-3, 1e-3
DOWN = np.array([0.0, -GRAVITY, 0])


def in_lab(motion: xr.Dataset, local: xr.DataArray) -> Array:
    """Return vectors (time, side, joint, 3) of the segments distal to the joints in lab axes."""
    rotation = motion.rotation.sel(segment=["foot", "shank", "thigh"]).values
    return np.asarray((local.values[..., None, :] @ rotation)[..., 0, :])


# ---- a second formulation


def particle_places(pose: Pose) -> Array:
    """Return (time, side, segment, particle, 3): six particles move like each segment, a sixth of its mass each."""
    arms = particles(CALIBRATION.segment_mass.values, CALIBRATION.segment_inertia.values)
    local = CALIBRATION.segment_com.values[:, :, None] + arms
    return np.asarray(pose.centre[..., None, :] + local @ pose.rotation[:, :, :3])


def test_equals_newton_for_particles() -> None:
    """No tensor, no angular velocity, no frame: accelerations of points by differences of the closed form."""

    def places(time: Array) -> Array:
        return particle_places(walk(time))

    acceleration = derivative(lambda time: derivative(places, time), TIME)
    needed = CALIBRATION.segment_mass.values[..., None, None] / 6 * (acceleration - DOWN)
    force, ground_moment = (ground()[f"ground_{name}"].values for name in ("force", "moment"))
    centre, moment = walk(TIME).centre, in_lab(moved(), loaded().joint_moment)
    for i, joint in enumerate(JOINTS):
        arm = places(TIME)[:, :, : i + 1] - centre[:, :, i, None, None]
        total = np.cross(arm, needed[:, :, : i + 1]).sum(axis=(2, 3))
        about_joint = ground_moment - np.cross(centre[:, :, i], force)
        expected_force = needed[:, :, : i + 1].sum(axis=(2, 3)) - force
        close(loaded().joint_force.sel(joint=joint)[INNER], expected_force[INNER], FORCE_N)
        close(moment[INNER, :, i], (total - about_joint)[INNER], MOMENT_N_M)


def test_powers_of_a_swinging_leg_are_the_change_of_its_energy() -> None:
    """With a still pelvis and no ground nothing else does work."""

    def places(time: Array) -> Array:
        return particle_places(walk(time, still_pelvis=True))

    def energy(time: Array) -> Array:
        per_mass = (derivative(places, time) ** 2).sum(axis=-1) / 2 + GRAVITY * places(time)[..., 1]
        return np.asarray((CALIBRATION.segment_mass.values[..., None] / 6 * per_mass).sum(axis=(2, 3)))

    found = loads(moving(landmarks(walk(TIME, still_pelvis=True))), ground_at(*np.zeros((2, len(TIME), 2, 3))))
    expected = derivative(energy, TIME)
    assert np.ptp(expected) > 10
    # errors of moments of 10^-3 N m, at 3 rad/s, from three joints
    close(found.joint_power.sum("joint")[INNER], expected[INNER], 1e-2)


def test_power_is_the_sum_of_jcs_moments_times_the_rates_of_the_angles() -> None:
    """True for the orthogonal projection M.e_i alone; includes the signs of both sides."""
    rates = derivative(lambda time: walk(time).angle, TIME)
    expected = (loaded().joint_moment_jcs.values * rates).sum(axis=-1)
    assert np.ptp(expected) > 10
    # the spline's velocities are 10^-7 rad/s off, the moments some 300 N m
    close(loaded().joint_power[INNER], expected[INNER], 1e-4)


def test_jcs_moments_are_projections_on_the_joint_axes() -> None:
    """Flexion about the proximal z axis, rotation about the distal y axis, adduction about their common normal."""
    moment = in_lab(moved(), loaded().joint_moment)
    mirror = np.array([-1, 1])  # left, right
    for i, (distal, proximal) in enumerate((("foot", "shank"), ("shank", "thigh"), ("thigh", "pelvis"))):
        e1 = moved().rotation.sel(segment=proximal, local_axis="z").values
        e3 = moved().rotation.sel(segment=distal, local_axis="y").values
        e2 = np.cross(e3, e1) / np.linalg.norm(np.cross(e3, e1), axis=-1, keepdims=True)
        along = [(moment[:, :, i] * axis).sum(axis=-1) for axis in (e1, e2, e3)]
        signed = [along[0] * (-1 if JOINTS[i] == "knee" else 1), along[1] * mirror, along[2] * mirror]
        close(loaded().joint_moment_jcs[:, :, i], np.stack(signed, axis=-1), 1e-8)


# ---- statics


def test_still_person_is_held_by_weights_and_ground_times_their_levers() -> None:
    """In a bent, asymmetric posture: moments of the distal weights about each joint centre, none from motion."""
    pose = walk(np.full(30, 0.3))
    still = moving(landmarks(pose))
    force = np.broadcast_to([[10.0, 320, -15], [-20, 380, 5]], (30, 2, 3))
    place = pose.centre[:, :, 0] + (0.09, -0.08, 0.02)
    found = loads(still, ground_at(place, force, 3.0))
    weight = CALIBRATION.segment_mass.values[..., None] * DOWN
    com = pose.centre + (CALIBRATION.segment_com.values[..., None, :] @ pose.rotation[:, :, :3])[..., 0, :]
    for i in range(3):
        centre, below = pose.centre[:, :, i], slice(0, i + 1)
        outside = np.cross(com[:, :, below] - centre[:, :, None], weight[:, below]).sum(axis=2)
        outside += np.cross(place - centre, force) + 3 * UP
        close(in_lab(still, found.joint_moment)[:, :, i], -outside, 1e-6)
        expected_force = -force - weight[:, below].sum(axis=1)
        close(found.joint_force[:, :, i], expected_force, 1e-6)
    # rounding of still positions over h^2 = 2.5e-5 s2
    close(found.joint_moment_term.sel(term=["inertia", "velocity"]), 0, 1e-6)


@pytest.mark.parametrize("side", SIDES)
def test_signs_of_the_moments_that_hold_a_standing_person(side: str) -> None:
    """The ground's force passes 50 mm ahead and 20 mm inside of all joints, the free moment turns the toes inwards.

    So plantarflexors, knee flexors, hip extensors, abductors and external rotators hold: all opposite to a positive
    angle but for the knee. Legs without mass leave the ground's force alone.
    """
    points = standing(30)
    weightless = CALIBRATION.copy()
    for name in ("segment_mass", "segment_inertia"):
        weightless[name] = 0 * CALIBRATION[name]
    still = moving(points)
    inwards = np.array([1.0, -1])  # z of the midline as seen from the left and from the right leg
    under = still.joint_centre.sel(joint="ankle").values * (1, 0, 1) + (0.05, 0, 0)
    under[..., 2] += 0.02 * inwards
    force = np.broadcast_to([0.0, 400, 0], under.shape)
    found = loads(still, ground_at(under, force, np.broadcast_to(-6 * inwards, (30, 2))), weightless)
    lever = {"ankle": [-20.0, -8, -6], "knee": [20, -8, -6], "hip": [-20, -8, -6]}
    for joint, expected in lever.items():
        close(found.joint_moment_jcs.sel(side=side, joint=joint), np.array([expected] * 30), 1e-6)


# ---- inputs


def test_a_turned_knee_axis_takes_the_knee_and_leaves_ankle_and_hip() -> None:
    """Epicondyle markers turned by 30 degrees about the thigh in the static trial; clusters follow the bones."""
    static = standing()
    for side, sign in (("left", 1), ("right", -1)):
        outer, inner = (f"{name}_epicondyle_{side}" for name in ("lateral", "medial"))
        middle, turn = (static[outer] + static[inner]) / 2, Rotation.from_euler("y", sign * 30, degrees=True)
        static |= {name: middle + turn.apply(static[name] - middle) for name in (outer, inner)}
    calibration = calibrated(MODEL, static)
    motion, right = moving(walked(), calibration), loaded()
    found = loads(motion, ground(), calibration)
    assert (motion.knee_refused != "").all()
    assert (motion.leg_refused == "").all()
    for name in ("joint_force", "joint_moment", "joint_moment_jcs", "joint_power"):
        assert found[name].sel(joint="knee").isnull().all(), name
    assert motion.joint_angle.sel(joint="knee").isnull().all()
    known = motion.joint_angle.sel(joint=["ankle", "hip"]).notnull().all(["time", "side"])
    assert known.values.tolist() == [[True, True, True], [True, True, False]]
    # .02 N m/kg, a fifth of what is harm: the marker of the knee is 4 mm off its axis, so that the knee's centre moves,
    # and with it the frames and masses of shank and thigh
    least_n_m = 0.02 * float(calibration.attrs["body_mass_kg"])
    for joint in ("ankle", "hip"):
        away = found.joint_moment_jcs.sel(joint=joint) - right.joint_moment_jcs.sel(joint=joint)
        assert largest(away) < least_n_m, joint
    np.testing.assert_array_equal(found.missing, right.missing)


def test_terms_sum_to_the_moment() -> None:
    close(loaded().joint_moment_term.sum("term"), loaded().joint_moment)


def test_gravity_setting_scales_the_gravity_term_alone() -> None:
    moon = kinetics(
        moved(), ground(), CALIBRATION, settings=replace(KINETICS, gravity_m_s2=GRAVITY / 6)
    ).joint_moment_term
    earth = loaded().joint_moment_term
    close(6 * moon.sel(term="gravity"), earth.sel(term="gravity"))
    rest = ["inertia", "velocity", "ground"]
    np.testing.assert_array_equal(moon.sel(term=rest), earth.sel(term=rest))


# ---- symmetries
