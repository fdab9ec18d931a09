"""Contributions of each joint's motion to the torques of a limb."""

from __future__ import annotations

import numpy as np

from pipeline.dynamics import interaction_torques, limb
from pipeline.dynamics.screws import bracket
from pipeline.dynamics.vectors import apply
from tests.support.dynamics.limbs import COUNT, EVERY_LIMB, State, close
from tests.support.walks.person import Array


def by_source(state: State, share: Array) -> tuple[Array, Array]:
    """Return the torques due to the base, (k, motion, 6 N), and due to slides and hinges, (k, 1 + N, ...)."""
    torque = apply(state.screw[:, :, None, None], np.swapaxes(share, 2, 3))
    torque = np.moveaxis(torque, 1, -2).reshape(COUNT, share.shape[3], 2, -1)
    return torque[:, 1], np.delete(torque, 1, axis=1)


@EVERY_LIMB
def test_contributions_sum_to_the_moving_part(state: State) -> None:
    motion = state.motion()
    found = limb.inverse_dynamics(state.at, motion, state.gravity, state.load)
    close(interaction_torques.contributions(state.at, motion).sum(axis=(-2, -3)), found.wrench - found.static)


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
