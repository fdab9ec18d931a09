"""Contributions of each joint's motion to the torques of a limb: columns of mass and Coriolis matrix."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.dynamics import interaction_torques, limb
from pipeline.dynamics.screws import bracket
from pipeline.dynamics.teaching import equations_of_motion, open_chain
from pipeline.dynamics.vectors import apply
from tests.support.dynamics.chains import close
from tests.support.dynamics.limbs import COUNT, EVERY_LIMB, State, chain_of, flat, skewed_axes
from tests.support.walks.person import Array

LAB_SLIDES = np.concatenate([np.zeros((3, 3)), np.eye(3)], axis=1)


def by_source(state: State, share: Array) -> tuple[Array, Array]:
    """Return the torques due to the base, (k, motion, 6 N), and due to slides and hinges, (k, 1 + N, ...)."""
    torque = apply(state.screw[:, :, None, None], np.swapaxes(share, 2, 3))
    torque = np.moveaxis(torque, 1, -2).reshape(COUNT, share.shape[3], 2, -1)
    return torque[:, 1], np.delete(torque, 1, axis=1)


def by_columns(matrix: Array, rate: Array) -> Array:
    """Return a matrix (k, n, m) times the rates of all slides and of the hinges of each joint, (k, ., n)."""
    asked = np.swapaxes((matrix * rate[:, None]).reshape(*matrix.shape[:2], -1, 3).sum(axis=-1), 1, 2)
    return np.concatenate([asked[:, ::2].sum(axis=1, keepdims=True), asked[:, 1::2]], axis=1)


def turning_through(point: Array, axes: Array) -> Array:
    return np.concatenate([axes, np.cross(point, axes)], axis=-1)


@EVERY_LIMB
def test_contributions_sum_to_the_moving_part(state: State) -> None:
    motion = state.motion()
    found = limb.inverse_dynamics(state.at, motion, state.gravity, state.load)
    close(interaction_torques.contributions(state.at, motion).sum(axis=(-2, -3)), found.wrench - found.static)


@EVERY_LIMB
def test_contributions_are_the_columns_of_mass_and_coriolis_matrix(state: State) -> None:
    state = state._replace(base_twist=0 * state.base_twist, base_rate=0 * state.base_rate)
    qd, qdd = flat(state.rate), flat(state.acceleration)
    of_base, found = by_source(state, interaction_torques.contributions(state.at, state.motion()))
    close(found[:, :, 0], by_columns(equations_of_motion.mass_matrix(state.chain, 0 * qd), qdd))
    close(found[:, :, 1], by_columns(equations_of_motion.coriolis_matrix(state.chain, 0 * qd, qd), qd))
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


@EVERY_LIMB
def test_a_constant_velocity_of_everything_contributes_nothing(state: State) -> None:
    """In a moving frame V' = (w', a - w' x r - w x v) changes, but every contribution is the same.

    Of the base that is its acceleration and velocity together: what it moves with is not split into coordinates.
    """
    motion, drift = state.motion(), np.array([3.0, -1, 2])
    passing = np.concatenate([np.zeros(3), drift])
    seen = limb.joint_motion(
        state.at,
        motion.twist + passing,
        motion.twist_rate + apply(bracket(passing), motion.twist) * ([0] * 3 + [1] * 3),
    )
    close(seen.rate, motion.rate)
    close(seen.acceleration, motion.acceleration)
    shares = [by_source(state, interaction_torques.contributions(state.at, part)) for part in (seen, motion)]
    for found, expected in zip(*((of_base.sum(axis=1), rest) for of_base, rest in shares), strict=True):
        close(found, expected)
