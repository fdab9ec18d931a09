"""Power of the foot as one deformable segment: rolling, sliding, any point of reference, energy of the legs."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.steps.kinetics.foot_power import foot_power
from tests.steps.kinetics.test_kinetics import particle_places
from tests.support.walks.person import GRAVITY, Array, close, derivative, landmarks, walk
from tests.support.walks.person_on_ground import CALIBRATION, INNER, TIME, ground, ground_at, loaded, loads, moving

RADIUS_M, ROUNDING = 0.3, 1e-9
SEED = 27


def rocker(*, slip_m_s: float = 0.0, belt_m_s: float = 0.0) -> tuple[xr.Dataset, xr.Dataset]:
    """Return motion and ground wrenches of two rigid cylinders that roll along x, with any force at the contact.

    The left axle is at 20 degrees to the right one, and the centres of mass are beside the axles.
    """
    rng = np.random.default_rng(SEED)
    time = np.linspace(0, 1, 50)
    heading = np.array([np.radians(20), 0.0])
    axle = np.stack([np.sin(heading), 0 * heading, np.cos(heading)], axis=-1)
    ahead = np.stack([np.cos(heading), 0 * heading, -np.sin(heading)], axis=-1)
    angle = -1.3 * time - 0.4 * time**2
    rate = np.broadcast_to((-1.3 - 0.8 * time)[:, None], (50, 2))
    rolled = (RADIUS_M * -angle)[:, None, None] * ahead
    contact = rolled + (slip_m_s - belt_m_s) * time[:, None, None] * [1, 0, 0]
    centre = contact + np.array([0, RADIUS_M, 0])
    spin = rate[..., None] * axle
    turn = Rotation.from_rotvec((angle[:, None, None] * axle).reshape(-1, 3))
    arm = turn.apply([0.05, -0.02, 0.01]).reshape(50, 2, 3)
    velocity = RADIUS_M * -rate[..., None] * ahead + [slip_m_s - belt_m_s, 0, 0] + np.cross(spin, arm)
    dims = ("sample", "side", "segment")
    motion = xr.Dataset(
        {
            "rotation": ((*dims, "local_axis", "axis"), np.broadcast_to(np.eye(3), (50, 2, 1, 3, 3))),
            "angular_velocity": ((*dims, "local_axis"), spin[:, :, None]),
            "com_position": ((*dims, "axis"), (centre + arm)[:, :, None]),
            "com_velocity": ((*dims, "axis"), velocity[:, :, None]),
        },
        {"segment": ["foot"], "sample_trial": ("sample", np.zeros(50, dtype=int))},
    )
    loads = ground_at(contact, rng.normal(0, 300, contact.shape), rng.normal(0, 5, (50, 2)))
    return motion, loads.assign(belt_speed=(("trial", "side"), [[belt_m_s, belt_m_s]]))


@pytest.mark.parametrize("belt_m_s", [0.0, 1.2])
def test_a_rigid_rocker_that_rolls_without_slipping_has_no_power(belt_m_s: float) -> None:
    """Over ground and on a belt; powers of a single term are some 100 W."""
    motion, contacts = rocker(belt_m_s=belt_m_s)
    close(foot_power(motion, contacts), np.zeros((50, 2)), ROUNDING)
    assert np.abs(contacts.ground_force.values * motion.com_velocity.values[:, :, 0]).max() > 100


@pytest.mark.parametrize("slope_deg", [12.0, -7.0])
def test_a_rocker_on_a_raised_belt_has_the_power_of_a_level_one(slope_deg: float) -> None:
    """All of it is turned with the belt; a belt taken as level would do work of some 100 W."""
    motion, contacts = rocker(slip_m_s=0.4, belt_m_s=1.2)
    expected = foot_power(motion, contacts)
    ramp = Rotation.from_euler("z", slope_deg, degrees=True).as_matrix()
    turned = {name: motion[name].copy(data=motion[name].values @ ramp.T) for name in ("com_position", "com_velocity")}
    turned["rotation"] = motion["rotation"].copy(data=motion["rotation"].values @ ramp.T)
    raised = contacts.assign(
        {name: contacts[name].copy(data=contacts[name].values @ ramp.T) for name in ("ground_force", "ground_moment")}
    )
    on_slope = raised.assign(ground_normal=(("trial", "axis"), ramp[None, :, 1]))
    close(foot_power(motion.assign(turned), on_slope), expected, ROUNDING)
    assert np.abs(foot_power(motion.assign(turned), raised) - expected).max() > 50


def test_a_foot_that_slides_has_the_power_of_the_friction() -> None:
    motion, contacts = rocker(slip_m_s=0.4, belt_m_s=1.2)
    close(foot_power(motion, contacts), 0.4 * contacts.ground_force.values[..., 0], ROUNDING)


def test_any_point_of_the_foot_and_of_the_lab_gives_the_same_power() -> None:
    """Another point than the centre of mass, and moments about another origin."""
    motion, contacts = rocker(slip_m_s=0.4)
    expected = foot_power(motion, contacts)
    away, moved = np.array([0.1, 0.2, -0.3]), np.array([4.0, -1.0, 2.0])
    spin = motion.angular_velocity.values
    place, velocity = motion.com_position + away + moved, motion.com_velocity + np.cross(spin, away)
    moment = contacts.ground_moment + np.cross(moved, contacts.ground_force)
    other = motion.assign(com_position=place, com_velocity=velocity), contacts.assign(ground_moment=moment)
    close(foot_power(*other), expected, ROUNDING)


def test_powers_of_feet_and_joints_are_the_change_of_the_energy_of_the_legs() -> None:
    """With a still pelvis and any forces on the feet nothing else does work."""

    def places(time: Array) -> Array:
        return particle_places(walk(time, still_pelvis=True))

    def energy(time: Array) -> Array:
        per_mass = (derivative(places, time) ** 2).sum(axis=-1) / 2 + GRAVITY * places(time)[..., 1]
        return np.asarray((CALIBRATION.segment_mass.values[..., None] / 6 * per_mass).sum(axis=(2, 3)))

    found = loads(moving(landmarks(walk(TIME, still_pelvis=True))), ground())
    expected = derivative(energy, TIME)
    assert np.abs(found.foot_power[INNER]).max() > 100
    # errors of moments of 10^-3 N m, at 3 rad/s, from three joints
    close((found.joint_power.sum("joint") + found.foot_power)[INNER], expected[INNER], 1e-2)
    close(found.ankle_foot_power, found.joint_power.sel(joint="ankle") + found.foot_power, 1e-4)  # single precision


def test_power_is_nothing_in_swing_and_unknown_where_the_ground_is() -> None:
    motion, contacts = moving(landmarks(walk(TIME))), ground()
    for name in ("ground_force", "ground_moment"):
        contacts[name][:50, 0], contacts[name][50:100, 0] = 0, np.nan
    found = loads(motion, contacts)
    assert (found.foot_power[:50, 0] == 0).all()
    assert np.isnan(found.foot_power[50:100, 0]).all()
    assert np.isnan(found.ankle_foot_power[50:100, 0]).all()
    close(found.foot_power[:, 1], loaded().foot_power[:, 1], ROUNDING)
