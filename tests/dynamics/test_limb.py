"""A limb of one instant: its motion, and the wrenches in its joints."""

from __future__ import annotations

import numpy as np

from pipeline.dynamics import limb
from pipeline.dynamics.screws import exponential
from pipeline.dynamics.vectors import apply
from tests.support.dynamics.limbs import COUNT, EVERY_LIMB, State, close, skewed_axes
from tests.support.walks.person import Array, derivative, random_turns

# ---- the limb as built


def test_slides_go_along_the_proximal_segment_and_hinges_leave_the_joint_centre_in_place() -> None:
    rng = np.random.default_rng(1)
    rotation, axes = random_turns(rng, COUNT, 2), skewed_axes(rng, COUNT, 1)
    centre, mass = rng.normal(size=(COUNT, 1, 3)), np.ones((COUNT, 1))
    inertia = np.broadcast_to(np.diag([0.01, 0.02, 0.03]), (COUNT, 1, 3, 3))
    at = limb.limb_at(rotation, axes, centre, mass, centre + 0.1, inertia)
    pushed = limb._push(at, rates := rng.normal(size=(COUNT, 1, 6)))
    slides, hinges = pushed[..., 0, :], pushed[..., 1, :]
    assert not slides[..., :3].any()
    close(slides[..., 3:], (rates[..., :3, None] * rotation[:, :1]).sum(axis=-2))
    close(hinges[..., :3], (rates[..., 3:, None] * axes).sum(axis=-2))
    of_centre = hinges[..., 3:] + np.cross(hinges[..., :3], centre)
    assert np.abs(of_centre).max() < 1e-14  # two products of order 10 cancel


@EVERY_LIMB
def test_momentum_is_that_of_the_spatial_inertia(state: State) -> None:
    twist = np.random.default_rng(3).normal(size=(*state.mass.shape, 6))
    close(limb.momentum(state.at.inertia, twist), apply(state.inertia, twist))


# ---- motion


def test_twists_give_the_motion_of_every_point_of_a_body() -> None:
    """From one point of a tumbling body; another's velocity and acceleration by the rules for rigid bodies."""
    rng = np.random.default_rng(2)
    spin, spin_rate, point, velocity, acceleration = rng.normal(size=(5, COUNT, 3))
    V, V_rate = limb.twists(spin, spin_rate, point, velocity, acceleration)
    arm = rng.normal(size=(COUNT, 3))
    there = velocity + np.cross(spin, arm)
    rate_there = acceleration + np.cross(spin_rate, arm) + np.cross(spin, np.cross(spin, arm))
    other = limb.twists(spin, spin_rate, point + arm, there, rate_there)
    close(V, other[0])
    close(V_rate, other[1])
    # and from the exponential: the body moves with a constant twist about the frame's origin
    screw = np.concatenate([spin, velocity], axis=-1)

    def path(time: Array) -> Array:
        moved = exponential(screw * time[:, None, None])
        return apply(moved[..., :3, :3], point) + moved[..., :3, 3]

    now, later = derivative(path, np.zeros(1))[0], derivative(lambda t: derivative(path, t), np.zeros(1))[0]
    V, V_rate = limb.twists(spin, 0 * spin, point, now, later)
    close(V, screw)
    # differences twice of order 8 at 10 ms: rounding 1e-16 / 1e-4
    np.testing.assert_allclose(V_rate, 0, atol=1e-10)


@EVERY_LIMB
def test_joint_motion_finds_the_rates_that_made_the_twists(state: State) -> None:
    motion = state.motion()
    close(motion.rate, state.rate)
    close(motion.acceleration, state.acceleration)
    close(motion.push, by_group(state.screw * state.rate[..., None]))


def by_group(joints: Array) -> Array:
    """Return (k, N, 2, 6): the sums over slides and hinges of (k, N, 6, 6)."""
    return np.asarray(joints.reshape(*joints.shape[:2], 2, 3, 6).sum(axis=-2))


# ---- what the joints do


@EVERY_LIMB
def test_static_part_is_the_wrench_of_a_limb_that_does_not_move(state: State) -> None:
    still = state.motion()._replace(**{name: 0 * part for name, part in state.motion()._asdict().items()})
    moving = limb.inverse_dynamics(state.at, state.motion(), state.gravity, state.load)
    held = limb.inverse_dynamics(state.at, still, state.gravity, state.load)
    close(moving.static, held.wrench)
