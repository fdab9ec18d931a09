"""A limb of one instant: against the open chain with frames of its own, whose links are all at their home poses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from chains import close
from geometry import Array, derivative, random_turns

from pipeline.dynamics import equations_of_motion, interaction, limb, open_chain
from pipeline.dynamics.screws import apply, commutator, exponential, spatial_inertia, transpose

COUNT = 25
FLAT_VOLUME = 0.1  # of the hinge axes: less is gimbal lock, where rates are large and so is their rounding
JOINTS = (1, 2, 3, 4)


class State(NamedTuple):
    """Limbs (k, N, ...) in any state: ``at`` in a random pose with skewed hinge axes, and what it was made from."""

    at: limb.Limb
    rotation: Array
    axes: Array
    centre: Array
    mass: Array
    com: Array
    tensor: Array
    rate: Array
    acceleration: Array
    gravity: Array
    load: Array
    base_twist: Array
    base_rate: Array

    @property
    def chain(self) -> open_chain.Chain:
        """The same as an open chain at q = 0: six joints per segment, only the sixth link has inertia."""
        return chain_of(flat(self.screw), self.inertia)

    @property
    def screw(self) -> Array:
        """The screw axes (k, N, 6, 6) of slides and hinges, one per row."""
        slides = np.concatenate([0 * self.axes, self.rotation[:, :-1]], axis=-1)
        through = np.cross(self.centre[:, :, None], self.axes)
        return np.concatenate([slides, np.concatenate([self.axes, through], axis=-1)], axis=-2)

    @property
    def inertia(self) -> Array:
        """The spatial inertias (k, N, 6, 6) of the segments."""
        return spatial_inertia(self.mass, self.com, self.tensor)

    def around(self) -> open_chain.Surroundings:
        on_links = np.zeros((*self.load.shape[:-1], 6, 6))
        on_links[..., -1, :] = self.load
        return open_chain.Surroundings(
            gravity=self.gravity, link_wrench=flat(on_links), base_twist=self.base_twist, base_twist_rate=self.base_rate
        )

    def motion(self) -> limb.Motion:
        """Return the limb's motion from the twists that the open chain's recursion gives the segments."""
        around = open_chain.Surroundings(base_twist=self.base_twist, base_twist_rate=self.base_rate)
        q, qd, qdd = 0 * flat(self.rate), flat(self.rate), flat(self.acceleration)
        _, twist, rate = open_chain.motion(self.chain, q, qd, qdd, around)
        whole = [
            np.concatenate([first[:, None], rest[:, 5::6]], axis=1)
            for first, rest in ((self.base_twist, twist), (self.base_rate, rate))
        ]
        return limb.joint_motion(self.at, *whole)


def flat(joints: Array) -> Array:
    """Return (k, N, 6, ...) as (k, 6 N, ...)."""
    return np.asarray(joints.reshape(COUNT, -1, *joints.shape[3:]))


def chain_of(screw: Array, inertia: Array) -> open_chain.Chain:
    """Return the chain with all frames in one place; the last links of every six weigh, the base's six do not."""
    count = screw.shape[1]
    heavy = np.zeros((COUNT, count, 6, 6))
    heavy[:, count - 6 * inertia.shape[1] :][:, 5::6] = inertia
    return open_chain.Chain(screw, np.broadcast_to(np.eye(4), (COUNT, count, 4, 4)), heavy, np.eye(4))


def skewed_axes(rng: np.random.Generator, *shape: int) -> Array:
    """Return three unit vectors (..., 3, 3), as rows, no two of them at right angles."""
    axes = random_turns(rng, *shape) @ (np.eye(3) + rng.uniform(-0.4, 0.4, (*shape, 3, 3)))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    assert np.abs(np.linalg.det(axes)).min() > FLAT_VOLUME
    return np.asarray(axes)


def random_state(count: int) -> State:
    rng, shape = np.random.default_rng(count), (COUNT, count)
    rotation, axes = random_turns(rng, COUNT, count + 1), skewed_axes(rng, *shape)
    centre, com = 0.5 * rng.normal(size=(2, *shape, 3))
    mass, second = rng.uniform(0.5, 10, shape), rng.uniform(0.001, 0.05, (*shape, 3))
    inertia = np.eye(3) * (second.sum(axis=-1, keepdims=True) - second)[..., None, :]
    turn = random_turns(rng, *shape)
    inertia = turn @ inertia @ transpose(turn)
    segment = rotation[:, 1:]
    return State(
        at=limb.limb_at(rotation, axes, centre, mass, com, inertia),
        rotation=rotation, axes=axes, centre=centre, mass=mass, com=com, tensor=transpose(segment) @ inertia @ segment,
        rate=2 * rng.normal(size=(*shape, 6)), acceleration=10 * rng.normal(size=(*shape, 6)),
        gravity=9 * rng.normal(size=3), load=np.repeat([20.0, 200], 3) * rng.normal(size=(*shape, 6)),
        base_twist=2 * rng.normal(size=(COUNT, 6)), base_rate=5 * rng.normal(size=(COUNT, 6)),
    )  # fmt: skip


@pytest.fixture(params=JOINTS)
def state(request: pytest.FixtureRequest) -> State:
    return random_state(request.param)


def by_source(state: State, share: Array) -> tuple[Array, Array]:
    """Return what the base asks of the joints, (k, motion, 6 N), and what slides and hinges do, (k, 1 + N, ...)."""
    torque = apply(state.screw[:, :, None, None], np.swapaxes(share, 2, 3))
    torque = np.moveaxis(torque, 1, -2).reshape(COUNT, share.shape[3], 2, -1)
    return torque[:, 1], np.delete(torque, 1, axis=1)


def by_group(joints: Array) -> Array:
    """Return (k, N, 2, 6): the sums over slides and hinges of (k, N, 6, 6)."""
    return np.asarray(joints.reshape(*joints.shape[:2], 2, 3, 6).sum(axis=-2))


def by_columns(matrix: Array, rate: Array) -> Array:
    """Return what a matrix (k, n, m) gives times the rates of all slides and of the hinges of each joint, (k, ., n)."""
    asked = np.swapaxes((matrix * rate[:, None]).reshape(*matrix.shape[:2], -1, 3).sum(axis=-1), 1, 2)
    return np.concatenate([asked[:, ::2].sum(axis=1, keepdims=True), asked[:, 1::2]], axis=1)


# ---- the limb as built


def test_slides_go_along_the_proximal_segment_and_hinges_leave_the_joint_centre_in_place() -> None:
    rng = np.random.default_rng(1)
    rotation, axes = random_turns(rng, COUNT, 2), skewed_axes(rng, COUNT, 1)
    centre, mass = rng.normal(size=(COUNT, 1, 3)), np.ones((COUNT, 1))
    inertia = np.broadcast_to(np.diag([0.01, 0.02, 0.03]), (COUNT, 1, 3, 3))
    at = limb.limb_at(rotation, axes, centre, mass, centre + 0.1, inertia)
    pushed = limb._pushed(at, rates := rng.normal(size=(COUNT, 1, 6)))
    slides, hinges = pushed[..., 0, :], pushed[..., 1, :]
    assert not slides[..., :3].any()
    close(slides[..., 3:], (rates[..., :3, None] * rotation[:, :1]).sum(axis=-2))
    close(hinges[..., :3], (rates[..., 3:, None] * axes).sum(axis=-2))
    of_centre = hinges[..., 3:] + np.cross(hinges[..., :3], centre)
    assert np.abs(of_centre).max() < 1e-14  # two products of order 10 cancel


def test_momentum_is_that_of_the_spatial_inertia(state: State) -> None:
    twist = np.random.default_rng(3).normal(size=(*state.mass.shape, 6))
    close(limb.momentum(state.at.inertia, twist), apply(state.inertia, twist))


def test_twists_tell_how_every_point_of_a_body_moves() -> None:
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


# ---- motion


def test_joint_motion_finds_the_rates_that_made_the_twists(state: State) -> None:
    motion = state.motion()
    close(motion.rate, state.rate)
    close(motion.acceleration, state.acceleration)
    close(motion.push, by_group(state.screw * state.rate[..., None]))


def test_drift_is_what_the_moving_axes_add(state: State) -> None:
    """ad(V_i) S_i q'_i with the open chain's V_i of each single joint."""
    around = open_chain.Surroundings(base_twist=state.base_twist)
    qd = flat(state.rate)
    twist = open_chain.motion(state.chain, 0 * qd, qd, 0 * qd, around).twist
    drift = commutator(twist, state.chain.screw * qd[..., None])
    close(state.motion().drift, by_group(drift.reshape(*state.mass.shape, 6, 6)))


# ---- what the joints do


def test_inverse_dynamics_is_that_of_the_open_chain(state: State) -> None:
    q, qd, qdd = 0 * flat(state.rate), flat(state.rate), flat(state.acceleration)
    expected = open_chain.joint_wrenches(state.chain, q, qd, qdd, state.around())
    found = limb.inverse_dynamics(state.at, state.motion(), state.gravity, state.load)
    close(found.wrench, expected[:, ::6])
    close(found.wrench, expected[:, 5::6])
    close(flat(found.torque), open_chain.inverse_dynamics(state.chain, q, qd, qdd, state.around()))


def test_static_part_is_the_wrench_of_a_limb_that_does_not_move(state: State) -> None:
    still = state.motion()._replace(**{name: 0 * part for name, part in state.motion()._asdict().items()})
    moving = limb.inverse_dynamics(state.at, state.motion(), state.gravity, state.load)
    held = limb.inverse_dynamics(state.at, still, state.gravity, state.load)
    close(moving.static, held.wrench)


def test_contributions_sum_to_the_moving_part(state: State) -> None:
    motion = state.motion()
    found = limb.inverse_dynamics(state.at, motion, state.gravity, state.load)
    close(interaction.contributions(state.at, motion).sum(axis=(-2, -3)), found.wrench - found.static)


def test_contributions_are_the_columns_of_mass_and_coriolis_matrix(state: State) -> None:
    state = state._replace(base_twist=0 * state.base_twist, base_rate=0 * state.base_rate)
    qd, qdd = flat(state.rate), flat(state.acceleration)
    of_base, found = by_source(state, interaction.contributions(state.at, state.motion()))
    close(found[:, :, 0], by_columns(equations_of_motion.mass_matrix(state.chain, 0 * qd), qdd))
    close(found[:, :, 1], by_columns(equations_of_motion.coriolis_matrix(state.chain, 0 * qd, qd), qd))
    assert not of_base.any(), "a base at rest does nothing"


LAB_SLIDES = np.concatenate([np.zeros((3, 3)), np.eye(3)], axis=1)


def turning_through(point: Array, axes: Array) -> Array:
    return np.concatenate([axes, np.cross(point, axes)], axis=-1)


@pytest.mark.parametrize("how", ["Cardan angles at the origin", "skewed hinges elsewhere", "hinges before slides"])
def test_contribution_of_the_base_does_not_hang_on_its_coordinates(state: State, how: str) -> None:
    """A moving base as six more joints of a chain that stands still: columns of the same matrices.

    Its six columns together are the base's share; those of the limb are as with any moving base.
    """
    hinges = turning_through(np.array([0.3, -0.2, 0.7]), skewed_axes(np.random.default_rng(4), 3)[0])
    base = {
        "Cardan angles at the origin": np.concatenate([LAB_SLIDES, turning_through(np.zeros(3), np.eye(3)[[2, 0, 1]])]),
        "skewed hinges elsewhere": np.concatenate([LAB_SLIDES, hinges]),
        "hinges before slides": np.concatenate([hinges, LAB_SLIDES]),
    }[how]
    screw = np.concatenate([np.broadcast_to(base, (COUNT, 6, 6)), flat(state.screw)], axis=1)
    chain = chain_of(screw, state.inertia)
    base_qd = np.linalg.solve(base.T, state.base_twist[..., None])[..., 0]
    push = screw[:, :6] * base_qd[..., None]
    drift = commutator(np.cumsum(push, axis=1), push).sum(axis=1)
    base_qdd = np.linalg.solve(base.T, (state.base_rate - drift)[..., None])[..., 0]
    qd, qdd = (
        np.concatenate([first, flat(rest)], axis=1)
        for first, rest in ((base_qd, state.rate), (base_qdd, state.acceleration))
    )
    mass, coriolis = (
        matrix[:, 6:]
        for matrix in (
            equations_of_motion.mass_matrix(chain, 0 * qd),
            equations_of_motion.coriolis_matrix(chain, 0 * qd, qd),
        )
    )
    of_base, found = by_source(state, interaction.contributions(state.at, state.motion()))
    close(of_base.sum(axis=1), apply(mass[..., :6], base_qdd) + apply(coriolis[..., :6], base_qd))
    close(found[:, :, 0], by_columns(mass[..., 6:], qdd[:, 6:]))
    close(found[:, :, 1], by_columns(coriolis[..., 6:], qd[:, 6:]))


def test_a_constant_velocity_of_everything_contributes_nothing(state: State) -> None:
    """Seen from a train, V' = (w', a - w' x r - w x v) is another one, but every share is the same.

    Of the base that is its acceleration and velocity together: what it moves with is not split into coordinates.
    """
    motion, drift = state.motion(), np.array([3.0, -1, 2])
    passing = np.concatenate([np.zeros(3), drift])
    seen = limb.joint_motion(
        state.at, motion.twist + passing, motion.twist_rate + commutator(passing, motion.twist) * ([0] * 3 + [1] * 3)
    )
    close(seen.rate, motion.rate)
    close(seen.acceleration, motion.acceleration)
    shares = [by_source(state, interaction.contributions(state.at, part)) for part in (seen, motion)]
    for found, expected in zip(*((of_base.sum(axis=1), rest) for of_base, rest in shares), strict=True):
        close(found, expected)


# ---- hinges alone


def test_hinge_jacobians_are_the_slopes_of_places_and_poses(state: State) -> None:
    """By differences of the product of exponentials; slides held."""
    count = state.mass.shape[1]
    screw = state.screw[:, :, limb.HINGES].reshape(COUNT, -1, 6)
    home = np.broadcast_to(np.eye(4), (*screw.shape[:2], 4, 4))
    chain = open_chain.Chain(screw, home, np.zeros((*screw.shape, 6)), np.eye(4))
    turning, moving = limb.hinge_jacobians(state.axes, state.centre, state.com)
    assert turning.shape == moving.shape == (COUNT, count, 3 * count, 3)

    for k, unit in enumerate(np.eye(3 * count)):

        def poses(angle: Array, unit: Array = unit) -> Array:
            q = np.broadcast_to(angle[:, None, None] * unit, (len(angle), COUNT, 3 * count))
            return open_chain.link_poses(chain, q)[:, :, 2::3]

        slope = derivative(poses, np.zeros(1))[0]
        close(moving[:, :, k], apply(slope[..., :3, :3], state.com) + slope[..., :3, 3])
        spin = np.stack([slope[..., 2, 1], slope[..., 0, 2], slope[..., 1, 0]], axis=-1)  # R = E: R' = [w]
        close(turning[:, :, k], spin)


def test_hinge_mass_matrix_is_a_part_of_that_of_all_joints(state: State) -> None:
    turning, moving = limb.hinge_jacobians(state.axes, state.centre, state.com)
    found = limb.hinge_mass_matrix(turning, moving, state.mass, state.tensor)
    hinges = np.arange(6 * state.mass.shape[1]).reshape(-1, 6)[:, limb.HINGES].ravel()
    whole = equations_of_motion.mass_matrix(state.chain, 0 * flat(state.rate))
    close(found, whole[:, hinges[:, None], hinges])
