"""The open chain: its motion by vectors, and its joint wrenches by five formulations of the same physics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pipeline.dynamics.screws import adjoint, exponential, inverse, pose
from pipeline.dynamics.vectors import apply, transpose
from pipeline.extras.teaching.equations_of_motion import coriolis_matrix, mass_matrix, torque_terms
from pipeline.extras.teaching.open_chain import (
    Chain,
    Surroundings,
    body_jacobian,
    com_jacobian,
    inverse_dynamics,
    joint_wrenches,
    link_poses,
    motion,
    tip_pose,
)
from tests.extras.teaching.chains import LENGTHS, State, by_block_matrix, by_observer, by_vectors, random_state
from tests.support.dynamics.limbs import close
from tests.support.walks.person import Array, derivative


@pytest.fixture(params=LENGTHS)
def state(request: pytest.FixtureRequest) -> State:
    return random_state(1, request.param)


# ---- motion


def test_pose_of_the_tip_is_a_product_of_exponentials_in_the_base_frame(state: State) -> None:
    chain, q = state.chain, state.q
    screws = apply(adjoint(link_poses(chain, 0 * q)), chain.screw)  # at q = 0
    in_base = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    for i in range(q.shape[-1]):
        in_base = in_base @ exponential(screws[:, i] * q[:, i, None])
    close(in_base @ tip_pose(chain, 0 * q), tip_pose(chain, q))


def test_recursion_moves_as_the_vector_rules_of_relative_motion_say(state: State) -> None:
    laws = by_vectors(state)
    poses = link_poses(state.chain, state.q)
    close(poses, pose(laws.rotation, laws.origin))
    still = Surroundings(base_twist=state.around.base_twist, base_twist_rate=state.around.base_twist_rate)
    _, twist, rate = motion(state.chain, state.q, state.qd, state.qdd, still)
    back, arm = transpose(laws.rotation), laws.origin - laws.com
    velocity = laws.com_velocity + np.cross(laws.spin, arm)
    acceleration = laws.com_acceleration + np.cross(laws.spin_rate, arm) + np.cross(laws.spin, np.cross(laws.spin, arm))
    close(twist, np.concatenate([apply(back, laws.spin), apply(back, velocity)], axis=-1))
    linear = apply(back, acceleration) - np.cross(twist[..., :3], twist[..., 3:])
    close(rate, np.concatenate([apply(back, laws.spin_rate), linear], axis=-1))


def test_jacobians_and_their_rates_are_derivatives_of_poses(state: State) -> None:
    """Along q(t) = q + q' t; the twist of a pose is the vector of T^-1 T' in its own axes."""
    chain, q, qd = state.chain, state.q, state.qd / 5

    def rate_of(function: Callable[[Array], Array]) -> Array:
        # 8th order at 10 ms and w up to 10 rad/s: truncation 1e-11, rounding 1e-14
        return np.asarray(derivative(lambda t: function(q + qd * t[:, None, None]), np.zeros(1))[0])

    def vector(matrix: Array) -> Array:
        return np.stack([matrix[:, i, j] for i, j in ((2, 1), (0, 2), (1, 0), (0, 3), (1, 3), (2, 3))], axis=-1)

    def com(q: Array) -> Array:
        poses, share = link_poses(chain, q), state.mass / state.mass.sum(axis=-1, keepdims=True)
        return np.asarray((share[..., None] * (apply(poses[..., :3, :3], state.com) + poses[..., :3, 3])).sum(axis=-2))

    here, change = tip_pose(chain, q), rate_of(lambda x: tip_pose(chain, x))
    expected = (vector(inverse(here) @ change), rate_of(com))
    for function, velocity in zip((body_jacobian, com_jacobian), expected, strict=True):
        jacobian, rate = function(chain, q, qd)
        close(apply(jacobian, qd), velocity)
        close(rate, rate_of(lambda x, function=function: function(chain, x, qd)[0]))  # type: ignore[misc]


# ---- five formulations


def test_block_matrix_observers_recursion_and_closed_form_agree(state: State) -> None:
    expected = by_block_matrix(state)
    arguments = (state.chain, state.q, state.qd, state.qdd, state.around)
    close(joint_wrenches(*arguments), expected)
    for seed in range(3):
        close(by_observer(state, seed), expected)
    torque = (expected * state.chain.screw).sum(axis=-1)
    close(inverse_dynamics(*arguments), torque)
    close(torque_terms(*arguments).sum(axis=-2), torque)


def to_pinocchio(pin: Any, state: State, k: int) -> tuple[Any, list[Array]]:
    """Return the model of chain k on a free-flying base, and the place of each joint's frame in its link.

    A joint of pinocchio turns about its own origin, so the joint frame is the link frame moved to the pivot.
    """
    model, parent, last = pin.Model(), 0, np.zeros(3)
    parent = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    for i in range(state.q.shape[1]):
        direction, place = state.direction[k, i], state.pivot[k, i]
        hinge, slide = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
        home = state.chain.home[k, i]
        moved = home[:3, 3] - last + home[:3, :3] @ place
        joint = (hinge if state.hinge[k, i, 0] else slide)(direction)
        parent = model.addJoint(parent, joint, pin.SE3(home[:3, :3], moved), f"joint_{i}")
        body = pin.Inertia(state.mass[k, i], state.com[k, i] - place, state.tensor[k, i])
        model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        last = place
    model.gravity.linear = state.around.gravity
    return model, list(state.pivot[k])


def test_pinocchio_finds_the_same(state: State) -> None:
    pin: Any = pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")
    arguments = (state.chain, state.q, state.qd, state.qdd, state.around)
    torque, wrench = inverse_dynamics(*arguments), joint_wrenches(*arguments)
    mass, coriolis = mass_matrix(state.chain, state.q), coriolis_matrix(state.chain, state.q, state.qd)
    n, swap = state.q.shape[1], [3, 4, 5, 0, 1, 2]  # pinocchio puts linear before angular
    end = transpose(adjoint(inverse(state.chain.tip)))
    outside = state.around.link_wrench.copy()
    outside[:, -1] -= apply(end, state.around.tip_wrench)
    found: dict[str, list[Any]] = {"torque": [], "wrench": [], "mass": [], "coriolis": []}
    for k in range(state.q.shape[0]):
        model, places = to_pinocchio(pin, state, k)
        data = model.createData()
        to_joint = [adjoint(pose(np.eye(3), place)).T for place in places]
        loads = pin.StdVec_Force()
        for load in (np.zeros(6), np.zeros(6), *((t @ o)[swap] for t, o in zip(to_joint, outside[k], strict=True))):
            loads.append(pin.Force(load))
        q = np.concatenate([[0, 0, 0, 0, 0, 0, 1], state.q[k]])
        qd = np.concatenate([state.around.base_twist[k][swap], state.qd[k]])
        qdd = np.concatenate([state.around.base_twist_rate[k][swap], state.qdd[k]])
        found["torque"].append(pin.rnea(model, data, q, qd, qdd, loads)[6:])
        back = [np.linalg.inv(t) for t in to_joint]
        found["wrench"].append([b @ data.f[i + 2].vector[swap] for i, b in enumerate(back)])
        whole = pin.crba(model, data, q)
        found["mass"].append((np.triu(whole) + np.triu(whole, 1).T)[6:, 6:])
        at_rest = np.concatenate([np.zeros(6), state.qd[k]])
        found["coriolis"].append((pin.computeCoriolisMatrix(model, data, q, at_rest) @ at_rest)[6:])
    assert len(found["torque"]) == state.q.shape[0]
    assert found["mass"][0].shape == (n, n)
    close(torque, np.array(found["torque"]))
    close(wrench, np.array(found["wrench"]))
    close(mass, np.array(found["mass"]))
    close(apply(coriolis, state.qd), np.array(found["coriolis"]))


# ---- the base


def test_base_that_moves_as_a_joint_would_is_that_joint(state: State) -> None:
    """Replacing the first joint by the same motion of the base changes nothing beyond it."""
    chain, around, q, qd, qdd = state[:5]
    step = motion(chain, q, qd, qdd, Surroundings(base_twist=around.base_twist, base_twist_rate=around.base_twist_rate))
    turn = link_poses(chain, q)[:, 0, :3, :3]
    shorter = Chain(chain.screw[:, 1:], chain.home[:, 1:], chain.inertia[:, 1:], chain.tip)
    carried = Surroundings(
        gravity=apply(transpose(turn), around.gravity),
        tip_wrench=around.tip_wrench,
        link_wrench=around.link_wrench[:, 1:],
        base_twist=step.twist[:, 0],
        base_twist_rate=step.twist_rate[:, 0],
    )
    close(
        joint_wrenches(shorter, q[:, 1:], qd[:, 1:], qdd[:, 1:], carried),
        joint_wrenches(chain, q, qd, qdd, around)[:, 1:],
    )


def test_chain_that_falls_with_its_base_weighs_nothing(state: State) -> None:
    chain, around, q, qd, qdd = state[:5]
    falling = Surroundings(around.gravity, base_twist_rate=np.concatenate([np.zeros(3), around.gravity]))
    close(joint_wrenches(chain, q, qd, qdd, falling), joint_wrenches(chain, q, qd, qdd))
