"""Closures: moments reproduce the motion they were computed from, power changes energy, and errors are detected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from pipeline.body.legs import OUTWARDS, Legs
from pipeline.dynamics import driven_leg, limb
from pipeline.dynamics.vectors import rotate
from pipeline.steps.kinetics import closures, cross_checks
from tests.support.steps import kinetics
from tests.support.walks.person import Array, close, landmarks, walk
from tests.support.walks.person_on_ground import CALIBRATION, KINETICS, TIME, ground, legs, moving

RATE_HZ = 200
ANKLE, KNEE, HIP = range(3)
LEFT, RIGHT = range(2)


def solved(motion: xr.Dataset, contacts: xr.Dataset, calibration: xr.Dataset = CALIBRATION) -> tuple[Legs, Array]:
    """Return the legs and the right-handed projections of the joint moments on the joint axes."""
    own = legs(motion, contacts, calibration)
    found = kinetics(motion, contacts, calibration, settings=KINETICS)
    return own, found.joint_moment_jcs.values * own.signs


def closure(own: Legs, torque: Array) -> Array:
    (windows,) = closures.windows_of([slice(0, len(torque))], [RATE_HZ])
    return np.degrees(closures.root_mean_square(closures.forward_errors(own, torque, windows)))


@pytest.fixture(scope="module")
def motion() -> xr.Dataset:
    return moving(landmarks(walk(TIME)))


@pytest.fixture(scope="module")
def loaded(motion: xr.Dataset) -> tuple[Legs, Array]:
    return solved(motion, ground())


@pytest.fixture(scope="module")
def airborne(motion: xr.Dataset) -> tuple[Legs, Array]:
    """The same motion without ground: smooth and stable."""
    contacts = ground()
    return solved(motion, contacts.assign({name: 0 * values for name, values in contacts.items()}))


# ---- forward closure


def test_kane_gives_the_measured_accelerations(loaded: tuple[Legs, Array]) -> None:
    """From moments of the block matrix, q'' by Kane's equations, at measured angles and rates, in every frame."""
    own, torque = loaded
    measured = cross_checks.chain_motion(own)[1]
    masses = closures.masses_of(own, np.tile([LEFT, RIGHT], (len(TIME), 1)))
    angle, rate = own.angle[:, :, OUTWARDS].T, measured.rate[..., limb.HINGES].T
    found = driven_leg.acceleration(closures.drive(own, torque), masses, angle, rate)
    # moments are rounded to 1e-12 N m, the foot has 5e-4 kg m2 about its long axis
    close(found.T, measured.acceleration[..., limb.HINGES], 1e-8)


def test_moments_reproduce_their_motion(loaded: tuple[Legs, Array], airborne: tuple[Legs, Array]) -> None:
    """What the rule misses at 5 ms: in the air the accelerations change by their own size in 0.1 s. On the ground 350 N
    tip the foot, of 5e-4 kg m2, by the square root of 1e5 per second, which magnifies it by thousands."""
    assert closure(*airborne).max() < 1e-6
    assert closure(*loaded).max() < 5e-3


def test_half_the_step_is_a_sixteenth_of_the_error(
    airborne: tuple[Legs, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule's fourth order, in windows of 0.1 s, down to 10^-6 degrees: the rest, measured values in between
    included, is at least as exact."""
    monkeypatch.setattr(closures, "WINDOW_S", 0.1)
    errors = []
    for step_s in (0.025, 0.0125, 0.00625, 0.003125):
        monkeypatch.setattr(closures, "STEP_S", step_s)
        errors.append(np.linalg.norm(closure(*airborne)))
    assert errors[-1] < 1e-6
    ratios = np.array(errors[:-1]) / errors[1:]
    assert ((ratios > 12) & (ratios < 18)).all()


@pytest.mark.parametrize("joint", [ANKLE, KNEE, HIP])
def test_a_moment_error_of_five_percent_is_detected(airborne: tuple[Legs, Array], joint: int) -> None:
    own, torque = airborne
    wrong = torque.copy()
    wrong[:, :, joint] *= 1.05
    assert (closure(own, wrong)[:, joint].max(axis=-1) > 1000 * closure(own, torque)[:, joint].max(axis=-1)).all()


def test_the_error_is_in_degrees_and_by_joint(airborne: tuple[Legs, Array]) -> None:
    """A moment of 0.01 N m too much about one axis of the hip turns it by M^-1 tau t^2 / 2; nothing else enters."""
    own, torque = airborne
    wrong = torque + np.array([[[0.0] * 3] * 2 + [[0.01, 0, 0]]])
    outwards = (slice(None), slice(None), OUTWARDS)
    tensor = np.swapaxes(own.rotation, -1, -2)[:, :, :3] @ own.inertia @ own.rotation[:, :, :3]
    turning, moving_ = limb.hinge_jacobians(own.axes[outwards], own.centre[outwards], own.com[outwards])
    matrix = limb.hinge_mass_matrix(turning, moving_, own.mass[:, OUTWARDS], tensor[outwards])
    bend = np.linalg.inv(matrix)[..., 0] * 0.01 * closures.WINDOW_S**2 / 2  # hip flexion comes first
    starts = np.arange(2, len(TIME) - 7, 10)
    expected = np.degrees(np.sqrt((bend[starts + 2] ** 2).mean(axis=0))).reshape(2, 3, 3)[:, OUTWARDS]
    # the leg moves on in 0.02 s, at 3 rad/s; the largest are 3e-4 degrees
    np.testing.assert_allclose(closure(own, wrong), expected, rtol=0.05, atol=1e-6)


def test_a_different_mass_is_detected(airborne: tuple[Legs, Array]) -> None:
    own, torque = airborne
    heavy = replace(own, mass=2 * own.mass, inertia=2 * own.inertia)
    assert (closure(heavy, torque) > 1000 * closure(own, torque)).all()


def test_windows_with_gaps_are_left_out(loaded: tuple[Legs, Array]) -> None:
    """And only these: windows after a gap are used like those before it."""
    own, torque = loaded
    whole = closure(own, torque)
    holed, wild = torque.copy(), torque.copy()
    holed[60:90, LEFT], wild[62:88, LEFT] = np.nan, 1e3
    found = closure(own, holed)
    np.testing.assert_array_equal(found[RIGHT], whole[RIGHT])
    assert np.isfinite(found).all()
    assert found[LEFT].max() < 2 * whole[LEFT].max()
    assert closure(own, wild)[LEFT].max() > 10, "angles that run away beyond all numbers are no gap"
    angle = own.angle.copy()
    angle[:, RIGHT, KNEE] = np.nan
    found = closure(replace(own, angle=angle), torque)
    assert np.isnan(found[RIGHT]).all()
    np.testing.assert_array_equal(found[LEFT], whole[LEFT])


@pytest.mark.parametrize("count", [7, 8, 9, 10, 11])
def test_a_trial_that_is_too_short_has_no_closure(motion: xr.Dataset, count: int) -> None:
    """Windows of 0.02 s are four frames here, with two frames before and three after for the interpolation."""
    time = TIME[:count]
    own, torque = solved(moving(landmarks(walk(time)), time=time), ground(time))
    assert np.isfinite(closure(own, torque)).all() == (count >= 2 + 4 + 3 + 1)
    assert np.isnan(closure(own, torque)).any() == (count < 2 + 4 + 3 + 1)


@pytest.mark.parametrize("segment", ["foot", "all"])
def test_segments_without_mass_cannot_be_driven(motion: xr.Dataset, segment: str) -> None:
    light = CALIBRATION.copy(deep=True)
    for name in ("segment_mass", "segment_inertia"):
        light[name].values[:, 0 if segment == "foot" else slice(None)] = 0
    own, torque = solved(motion, ground(), light)
    assert np.isfinite(torque).all()
    assert np.isnan(closure(own, torque)).all()


# ---- energy closure


def power_left_over(own: Legs, loads: xr.Dataset) -> Array:
    """Return the energy closure of joint loads."""
    in_lab = rotate(np.swapaxes(own.rotation[:, :, :3], -1, -2), loads.joint_moment.values)
    return closures.energy_closure(*closures.energy_and_power(own, loads.joint_force.values, in_lab), TIME)


@pytest.fixture(scope="module")
def loads(motion: xr.Dataset) -> xr.Dataset:
    return kinetics(motion, ground(), CALIBRATION, settings=KINETICS)


def test_power_changes_the_energy_of_every_segment(loads: xr.Dataset, loaded: tuple[Legs, Array]) -> None:
    """The spline misses (2 pi f h)^4 / 720 of accelerations, some 10^-6 of them, in each of two ways; of 300 W."""
    assert loads.joint_power.max() > 100
    found = power_left_over(loaded[0], loads)
    assert found.shape == (2, 3)
    assert found.max() < 1e-5
    close(loads.energy_closure, found)


@pytest.mark.parametrize("segment", [0, 1, 2])
def test_ten_newtons_too_much_are_ten_newtons_times_the_speed_of_the_joint(
    loads: xr.Dataset, loaded: tuple[Legs, Array], segment: int
) -> None:
    """At the joint between two segments it enters one and leaves the other: of a hinge, at the same speed."""
    own = loaded[0]
    wrong = loads.copy(deep=True)
    wrong.joint_force.values[:, :, segment, 0] += 10
    found = power_left_over(own, wrong)
    expected = np.zeros((2, 3))
    speed = own.centre_velocity[:, :, segment, 0]
    expected[:, segment : segment + 2] = 10 * np.sqrt((speed**2).mean(axis=0))[:, None]
    # tolerance: 10^-5 W without the force, and the spline's velocity of the joint centre
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_ten_newtons_too_much_under_the_foot(loads: xr.Dataset, loaded: tuple[Legs, Array]) -> None:
    """Through its centre of mass; the moment about the lab origin with it."""
    own = loaded[0]
    force = np.array([0.0, 10, 0])
    wrong = replace(
        own, ground_force=own.ground_force + force, ground_moment=own.ground_moment + np.cross(own.com[:, :, 0], force)
    )
    found = power_left_over(wrong, loads)
    expected = 10 * np.sqrt((own.com_velocity[:, :, 0, 1] ** 2).mean(axis=0))
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-4)
    assert found[:, 1:].max() < 1e-5


def test_a_moment_too_much_works_at_the_speed_of_turning(loads: xr.Dataset, loaded: tuple[Legs, Array]) -> None:
    """3 N m at the knee, along the shank's x axis."""
    own = loaded[0]
    wrong = loads.copy(deep=True)
    wrong.joint_moment.values[:, :, KNEE, 0] += 3
    axis = own.rotation[:, :, 1, 0]
    expected = [3 * np.sqrt(((axis * own.spin[:, :, i]).sum(axis=-1) ** 2).mean(axis=0)) for i in (1, 2)]
    np.testing.assert_allclose(power_left_over(own, wrong)[:, 1:].T, expected, atol=1e-4)


def test_velocities_filtered_differently_than_positions_are_detected(
    loads: xr.Dataset, loaded: tuple[Legs, Array]
) -> None:
    own = loaded[0]
    slow = replace(own, com_velocity=0.99 * own.com_velocity)
    assert power_left_over(slow, loads).min() > 0.05


def test_gaps_cost_their_frames_only(loads: xr.Dataset, loaded: tuple[Legs, Array]) -> None:
    """A gap makes two stretches; the error of the spline is a little larger at the new ends."""
    own = loaded[0]
    com = own.com.copy()
    com[80:120, RIGHT, KNEE] = np.nan
    found = power_left_over(replace(own, com=com), loads)
    np.testing.assert_array_equal(found[LEFT], power_left_over(own, loads)[LEFT])
    assert np.isfinite(found).all()
    assert found.max() < 1e-3
    com[:, RIGHT, KNEE] = np.nan
    found = power_left_over(replace(own, com=com), loads)
    np.testing.assert_array_equal(np.isnan(found), [[False] * 3, [False, True, False]])
