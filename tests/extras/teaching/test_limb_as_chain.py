"""The limb of one instant and the effective foot mass, against an open chain with all links at their home poses."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.body.effective_mass import effective_foot_mass
from pipeline.body.legs import OUTWARDS
from pipeline.dynamics import interaction_torques, limb
from pipeline.dynamics.screws import bracket, pose, spatial_inertia
from pipeline.dynamics.vectors import apply
from pipeline.extras.teaching import equations_of_motion, open_chain
from pipeline.plates.incline import VERTICAL
from tests.dynamics.test_limb import by_group
from tests.dynamics.test_limb_contributions import by_source
from tests.steps.cycles.test_effective_mass import HEEL, SINGULAR, tensors
from tests.support.dynamics.limbs import COUNT, EVERY_LIMB, State, close, flat, skewed_axes
from tests.support.walks.person import Array, derivative
from tests.support.walks.person_on_ground import legs

LAB_SLIDES = np.concatenate([np.zeros((3, 3)), np.eye(3)], axis=1)


def as_chain(state: State) -> open_chain.Chain:
    """Return a limb as an open chain at q = 0: six joints per segment, only the sixth link has inertia."""
    return chain_of(flat(state.screw), state.inertia)


def chain_of(screw: Array, inertia: Array) -> open_chain.Chain:
    """Return the chain with all frames in one place; every sixth link has mass, the base's links have none."""
    count = screw.shape[1]
    heavy = np.zeros((COUNT, count, 6, 6))
    heavy[:, count - 6 * inertia.shape[1] :][:, 5::6] = inertia
    return open_chain.Chain(screw, np.broadcast_to(np.eye(4), (COUNT, count, 4, 4)), heavy, np.eye(4))


def around(state: State) -> open_chain.Surroundings:
    on_links = np.zeros((*state.load.shape[:-1], 6, 6))
    on_links[..., -1, :] = state.load
    return open_chain.Surroundings(
        gravity=state.gravity, link_wrench=flat(on_links), base_twist=state.base_twist, base_twist_rate=state.base_rate
    )


# ---- motion and dynamics


@EVERY_LIMB
def test_motion_is_that_of_the_open_chain(state: State) -> None:
    q, qd, qdd = 0 * flat(state.rate), flat(state.rate), flat(state.acceleration)
    moving = open_chain.Surroundings(base_twist=state.base_twist, base_twist_rate=state.base_rate)
    _, twist, rate = open_chain.motion(as_chain(state), q, qd, qdd, moving)
    close(state.motion().twist[:, 1:], twist[:, 5::6])
    close(state.motion().twist_rate[:, 1:], rate[:, 5::6])


@EVERY_LIMB
def test_drift_is_the_contribution_of_the_moving_axes(state: State) -> None:
    """ad(V_i) S_i q'_i with the open chain's V_i of each single joint."""
    around = open_chain.Surroundings(base_twist=state.base_twist)
    qd = flat(state.rate)
    twist = open_chain.motion(as_chain(state), 0 * qd, qd, 0 * qd, around).twist
    drift = apply(bracket(twist), as_chain(state).screw * qd[..., None])
    close(state.motion().drift, by_group(drift.reshape(*state.mass.shape, 6, 6)))


@EVERY_LIMB
def test_inverse_dynamics_is_that_of_the_open_chain(state: State) -> None:
    q, qd, qdd = 0 * flat(state.rate), flat(state.rate), flat(state.acceleration)
    expected = open_chain.joint_wrenches(as_chain(state), q, qd, qdd, around(state))
    found = limb.inverse_dynamics(state.at, state.motion(), state.gravity, state.load)
    close(found.wrench, expected[:, ::6])
    close(found.wrench, expected[:, 5::6])
    close(flat(found.torque), open_chain.inverse_dynamics(as_chain(state), q, qd, qdd, around(state)))


# ---- hinges alone


@EVERY_LIMB
def test_hinge_jacobians_are_the_slopes_of_places_and_poses(state: State) -> None:
    """By differences of the product of exponentials, with fixed slides."""
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


@EVERY_LIMB
def test_hinge_mass_matrix_is_a_part_of_that_of_all_joints(state: State) -> None:
    turning, moving = limb.hinge_jacobians(state.axes, state.centre, state.com)
    found = limb.hinge_mass_matrix(turning, moving, state.mass, state.tensor)
    hinges = np.arange(6 * state.mass.shape[1]).reshape(-1, 6)[:, limb.HINGES].ravel()
    whole = equations_of_motion.mass_matrix(as_chain(state), 0 * flat(state.rate))
    close(found, whole[:, hinges[:, None], hinges])


# ---- contributions of each motion


def by_columns(matrix: Array, rate: Array) -> Array:
    """Return a matrix (k, n, m) times the rates of all slides and of the hinges of each joint, (k, ., n)."""
    asked = np.swapaxes((matrix * rate[:, None]).reshape(*matrix.shape[:2], -1, 3).sum(axis=-1), 1, 2)
    return np.concatenate([asked[:, ::2].sum(axis=1, keepdims=True), asked[:, 1::2]], axis=1)


def turning_through(point: Array, axes: Array) -> Array:
    return np.concatenate([axes, np.cross(point, axes)], axis=-1)


@EVERY_LIMB
def test_contributions_are_the_columns_of_mass_and_coriolis_matrix(state: State) -> None:
    state = state._replace(base_twist=0 * state.base_twist, base_rate=0 * state.base_rate)
    qd, qdd = flat(state.rate), flat(state.acceleration)
    of_base, found = by_source(state, interaction_torques.contributions(state.at, state.motion()))
    close(found[:, :, 0], by_columns(equations_of_motion.mass_matrix(as_chain(state), 0 * qd), qdd))
    close(found[:, :, 1], by_columns(equations_of_motion.coriolis_matrix(as_chain(state), 0 * qd, qd), qd))
    assert not of_base.any(), "a base at rest does nothing"


def on_still_ground(state: State, base: Array) -> tuple[open_chain.Chain, Array, Array]:
    """Return a chain at rest, with rates and accelerations of its joints (k, 6 + 6 N).

    Its first six joints, of screw axes ``base`` (6, 6), move the next link as the limb's base moves.
    """
    screw = np.concatenate([np.broadcast_to(base, (COUNT, 6, 6)), flat(state.screw)], axis=1)
    base_qd = np.linalg.solve(base.T, state.base_twist[..., None])[..., 0]
    push = screw[:, :6] * base_qd[..., None]
    drift = apply(bracket(np.cumsum(push, axis=1)), push).sum(axis=1)
    base_qdd = np.linalg.solve(base.T, (state.base_rate - drift)[..., None])[..., 0]
    qd = np.concatenate([base_qd, flat(state.rate)], axis=1)
    return chain_of(screw, state.inertia), qd, np.concatenate([base_qdd, flat(state.acceleration)], axis=1)


@EVERY_LIMB
@pytest.mark.parametrize("how", ["Cardan angles at the origin", "skewed hinges elsewhere", "hinges before slides"])
def test_contribution_of_the_base_does_not_depend_on_its_coordinates(state: State, how: str) -> None:
    """A moving base as six more joints of a chain at rest: columns of the same matrices.

    Its six columns together are the base's share; those of the limb are as with any moving base.
    """
    hinges = turning_through(np.array([0.3, -0.2, 0.7]), skewed_axes(np.random.default_rng(4), 3)[0])
    base = {
        "Cardan angles at the origin": np.concatenate([LAB_SLIDES, turning_through(np.zeros(3), np.eye(3)[[2, 0, 1]])]),
        "skewed hinges elsewhere": np.concatenate([LAB_SLIDES, hinges]),
        "hinges before slides": np.concatenate([hinges, LAB_SLIDES]),
    }[how]
    chain, qd, qdd = on_still_ground(state, base)
    mass = equations_of_motion.mass_matrix(chain, 0 * qd)[:, 6:]
    coriolis = equations_of_motion.coriolis_matrix(chain, 0 * qd, qd)[:, 6:]
    of_base, found = by_source(state, interaction_torques.contributions(state.at, state.motion()))
    close(of_base.sum(axis=1), apply(mass[..., :6], qdd[:, :6]) + apply(coriolis[..., :6], qd[:, :6]))
    close(found[:, :, 0], by_columns(mass[..., 6:], qdd[:, 6:]))
    close(found[:, :, 1], by_columns(coriolis[..., 6:], qd[:, 6:]))


# ---- effective foot mass


def test_effective_foot_mass_is_that_of_the_task_space_of_an_open_chain() -> None:
    """Nine hinges with their frames in the hip; the struck point is the origin of the tip frame."""
    own = legs()
    heel = np.asarray(own.centre[:, :, 0] + HEEL)
    axes, centre, com = own.axes[:, :, OUTWARDS], own.centre[:, :, OUTWARDS], own.com[:, :, OUTWARDS]
    hip = centre[:, :, :1]
    count = axes.shape[:2]
    screw = np.concatenate([axes, np.cross((centre - hip)[..., None, :], axes)], axis=-1).reshape(*count, 9, 6)
    inertia = np.zeros((*count, 9, 6, 6))
    inertia[:, :, 2::3] = spatial_inertia(own.mass[:, OUTWARDS], com - hip, tensors(own)[:, :, OUTWARDS])
    tip = pose(np.broadcast_to(np.eye(3), (*count, 3, 3)), heel - hip[:, :, 0])
    chain = open_chain.Chain(screw, np.broadcast_to(np.eye(4), (*count, 9, 4, 4)), inertia, tip)
    q = np.zeros((*count, 9))
    jacobian, rate = open_chain.body_jacobian(chain, q, q)
    up = jacobian[..., 4:5, :]  # of the tip's velocity, in axes that are the lab's
    expected = limb.task_space(equations_of_motion.mass_matrix(chain, q), q, up, rate[..., 4:5, :], q)[0][..., 0, 0]
    np.testing.assert_allclose(effective_foot_mass(own, heel, VERTICAL), expected, rtol=SINGULAR)
