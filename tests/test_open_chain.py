"""The open chain: five formulations of one physics against each other, its identities, and the planar arm by symbols."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy as sp
from geometry import GRAVITY, ROUNDING, Array, derivative, particles, random_turns
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from pipeline.dynamics import block_matrix, wrenches
from pipeline.dynamics.equations_of_motion import (
    TERMS,
    coriolis_matrix,
    explicit_euler,
    forward_dynamics,
    gravity_torque,
    kinetic_energy,
    mass_matrix,
    potential_energy,
    simulate,
    task_space,
    tip_torque,
    torque_terms,
)
from pipeline.dynamics.open_chain import (
    Chain,
    Surroundings,
    body_jacobian,
    body_screws,
    com_jacobian,
    inverse_dynamics,
    joint_wrenches,
    link_jacobians,
    link_poses,
    motion,
    space_jacobian,
    space_screws,
    tip_pose,
)
from pipeline.dynamics.screws import (
    adjoint,
    apply,
    bracket,
    exponential,
    inverse,
    logarithm,
    pose,
    spatial_inertia,
    transpose,
    twist_rate,
)

CHAINS = 1000 if os.environ.get("FULL") else 100
LENGTHS = (2, 3, 4, 5, 6)
DOWN = np.array([0, -GRAVITY, 0])


class State(NamedTuple):
    """Chains (k, n, ...) in any state; hinges turn about a line through ``pivot``, the others slide along it."""

    chain: Chain
    around: Surroundings
    q: Array
    qd: Array
    qdd: Array
    hinge: Array
    direction: Array
    pivot: Array
    mass: Array
    com: Array
    tensor: Array


def random_state(seed: int, n: int, count: int = CHAINS // len(LENGTHS)) -> State:
    rng, shape = np.random.default_rng((seed, n)), (count, n)
    direction = rng.normal(size=(*shape, 3))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    pivot, com, hinge = *(0.3 * rng.normal(size=(2, *shape, 3))), rng.random((*shape, 1)) < 0.75
    screw = np.where(
        hinge, np.concatenate([direction, np.cross(pivot, direction)], axis=-1),
        np.concatenate([0 * direction, direction], axis=-1),
    )  # fmt: skip
    mass, axes, second = rng.uniform(0.5, 10, shape), random_turns(rng, *shape), rng.uniform(0.001, 0.05, (*shape, 3))
    principal = np.eye(3) * (second.sum(axis=-1, keepdims=True) - second)[..., None, :]
    tensor = axes @ principal @ np.swapaxes(axes, -1, -2)
    home = pose(random_turns(rng, *shape), 0.4 * rng.normal(size=(*shape, 3)))
    tip = pose(random_turns(rng, count), 0.4 * rng.normal(size=(count, 3)))
    load = np.repeat([20.0, 200], 3)  # N m, N
    around = Surroundings(
        gravity=9 * rng.normal(size=(count, 3)),
        tip_wrench=load * rng.normal(size=(count, 6)),
        link_wrench=load * rng.normal(size=(*shape, 6)),
        base_twist=2 * rng.normal(size=(count, 6)),
        base_twist_rate=5 * rng.normal(size=(count, 6)),
    )
    q, qd, qdd = np.array([1.0, 2, 10])[:, None, None] * rng.normal(size=(3, *shape))
    chain = Chain(screw, home, spatial_inertia(mass, com, tensor), tip)
    return State(chain, around, q, qd, qdd, hinge, direction, pivot, mass, com, tensor)


@pytest.fixture(params=LENGTHS)
def state(request: pytest.FixtureRequest) -> State:
    return random_state(1, request.param)


def close(actual: Array, expected: Array, tolerance: float = ROUNDING) -> None:
    """Compare chain by chain, relative to the largest number of the chain."""
    size = np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True)
    np.testing.assert_array_less(np.abs(actual - expected) / np.maximum(size, 1e-12), tolerance)


# ---- the alphabet


def hat(twist: Array) -> Array:
    return np.block([[block_matrix.skew(twist[:3]), twist[3:, None]], [np.zeros((1, 4))]])


@pytest.mark.parametrize("angle", [0, 1e-9, 1e-4, 0.999e-3, 1.001e-3, 0.1, 2, 3.1415, np.pi - 1e-9])
def test_exponential_is_that_of_the_matrix_and_logarithm_undoes_it(angle: float) -> None:
    rng = np.random.default_rng(5)
    twist = rng.normal(size=(4, 6))
    twist[:, :3] *= angle / np.linalg.norm(twist[:, :3], axis=-1, keepdims=True)
    reached = exponential(twist)
    np.testing.assert_allclose(reached, [expm(hat(one)) for one in twist], atol=1e-14)
    # near pi the axis hangs on the difference of R and its transpose, which has lost 7 digits
    np.testing.assert_allclose(logarithm(reached), twist, atol=1e-13 if angle < 3 else 1e-8)


def test_logarithm_of_a_pose_that_was_not_seen_is_unknown() -> None:
    seen = exponential(np.arange(12.0).reshape(2, 6) / 10)
    lost = seen.copy()
    lost[0, 1, 3] = np.nan
    assert np.isnan(logarithm(lost)[0]).all()
    np.testing.assert_array_equal(logarithm(lost)[1], logarithm(seen)[1])


def test_adjoint_carries_twists_as_velocities_of_points_and_leaves_power_alone() -> None:
    rng = np.random.default_rng(6)
    there, back, twist, wrench = (f(rng.normal(size=(3, 6))) for f in (exponential, exponential, np.array, np.array))
    rotation, position = there[:, :3, :3], there[:, :3, 3]
    spin = apply(rotation, twist[:, :3])
    expected = np.concatenate([spin, apply(rotation, twist[:, 3:]) + np.cross(spin, -position)], axis=-1)
    close(apply(adjoint(there), twist), expected)
    close(adjoint(there @ back), adjoint(there) @ adjoint(back))
    close(adjoint(inverse(there)) @ adjoint(there), np.broadcast_to(np.eye(6), (3, 6, 6)))
    power = (apply(transpose(adjoint(there)), wrench) * twist).sum(axis=-1)
    close(power, (wrench * apply(adjoint(there), twist)).sum(axis=-1))


def test_bracket_is_the_rate_of_the_adjoint_map() -> None:
    twist = np.random.default_rng(7).normal(size=6)
    now = derivative(lambda time: adjoint(exponential(twist * time[:, None])), np.array([0.3]))
    # 8th order at 10 ms and 2 rad/s: rounding 1e-16 / 1e-2
    np.testing.assert_allclose(now, adjoint(exponential(twist * 0.3)) @ bracket(twist)[None], atol=1e-12)


def test_spatial_inertia_gives_momentum_and_energy_of_the_particles(state: State) -> None:
    twist = state.qdd[:, :1, None] + np.arange(6.0)  # (k, 1, 6)
    place = particles(state.mass, state.tensor) + state.com[..., None, :]
    velocity = twist[..., None, 3:] + np.cross(twist[..., None, :3], place)
    momentum = state.mass[..., None, None] / 6 * velocity
    expected = np.concatenate([np.cross(place, momentum).sum(axis=-2), momentum.sum(axis=-2)], axis=-1)
    close(apply(state.chain.inertia, twist), expected)


# ---- where it is and how it moves


class Laws(NamedTuple):
    """The chain in the lab, whose axes and origin are the base's at this instant, by vectors and without twists."""

    rotation: Array
    origin: Array
    spin: Array
    spin_rate: Array
    com: Array
    com_velocity: Array
    com_acceleration: Array


def by_vectors(state: State) -> Laws:
    """Return the motion by the rules for relative motion: turn about a fixed pivot, slide with Coriolis' acceleration."""
    base, rate = state.around.base_twist, state.around.base_twist_rate
    shape = state.q.shape[:1]
    rotation, origin = np.broadcast_to(np.eye(3), (*shape, 3, 3)), np.zeros((*shape, 3))
    spin, velocity, spin_rate = base[:, :3], base[:, 3:], rate[:, :3]
    acceleration = rate[:, 3:] + np.cross(spin, velocity)
    laws = []
    for i in range(state.q.shape[1]):
        turn, slide = ([x[:, i, None] * on[:, i] for x in (state.q, state.qd, state.qdd)] for on in
                       (state.hinge, ~state.hinge))  # fmt: skip
        home = state.chain.home[:, i]
        pivot_arm = apply(rotation, home[:, :3, 3] + apply(home[:, :3, :3], state.pivot[:, i]))
        axis = apply(rotation @ home[:, :3, :3], state.direction[:, i])
        turned = Rotation.from_rotvec(axis * turn[0]).as_matrix()
        rotation = turned @ rotation @ home[:, :3, :3]
        back = axis * slide[0] - apply(rotation, state.pivot[:, i])  # from the pivot to the origin of the link
        at_pivot = acceleration + np.cross(spin_rate, pivot_arm) + np.cross(spin, np.cross(spin, pivot_arm))
        velocity = velocity + np.cross(spin, pivot_arm)
        spin_rate = spin_rate + axis * turn[2] + np.cross(spin, axis * turn[1])
        spin = spin + axis * turn[1]
        velocity = velocity + np.cross(spin, back) + axis * slide[1]
        acceleration = (
            at_pivot + np.cross(spin_rate, back) + np.cross(spin, np.cross(spin, back))
            + 2 * np.cross(spin, axis * slide[1]) + axis * slide[2]
        )  # fmt: skip
        origin = origin + pivot_arm + back
        arm = apply(rotation, state.com[:, i])
        com_acceleration = acceleration + np.cross(spin_rate, arm) + np.cross(spin, np.cross(spin, arm))
        laws.append((rotation, origin, spin, spin_rate, origin + arm, velocity + np.cross(spin, arm), com_acceleration))
    return Laws(*(np.stack(part, axis=1) for part in zip(*laws, strict=True)))


def test_poses_are_products_of_exponentials_in_base_and_tip_frame(state: State) -> None:
    chain, q = state.chain, state.q
    at_zero = tip_pose(chain, 0 * q)
    in_base = in_tip = np.broadcast_to(np.eye(4), at_zero.shape)
    for i in range(q.shape[-1]):
        in_base = in_base @ exponential(space_screws(chain)[:, i] * q[:, i, None])
        in_tip = in_tip @ exponential(body_screws(chain)[:, i] * q[:, i, None])
    close(in_base @ at_zero, tip_pose(chain, q))
    close(at_zero @ in_tip, tip_pose(chain, q))


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
    close(rate, twist_rate(twist, apply(back, laws.spin_rate), apply(back, acceleration)))


def test_jacobians_and_their_rates_are_derivatives_of_poses(state: State) -> None:
    """Along q(t) = q + q' t; the twist of a pose is the vector of T' T^-1 in base axes and of T^-1 T' in its own."""
    chain, q, qd, now = state.chain, state.q, state.qd / 5, np.zeros(1)

    def path(time: Array) -> Array:
        return q + qd * time[:, None, None]

    def vector(matrix: Array) -> Array:
        entries = ((2, 1), (0, 2), (1, 0), (0, 3), (1, 3), (2, 3))
        return np.stack([matrix[..., i, j] for i, j in entries], axis=-1)[0]

    def com(time: Array) -> Array:
        places = (
            apply(link_poses(chain, path(time))[..., :3, :3], state.com) + link_poses(chain, path(time))[..., :3, 3]
        )
        return np.asarray((state.mass[..., None] * places).sum(axis=-2) / state.mass.sum(axis=-1)[..., None])

    here, change = tip_pose(chain, q), derivative(lambda time: tip_pose(chain, path(time)), now)
    # 8th order at 10 ms, w below 10 rad/s: truncation 1e-8 / 630 of the largest, mostly far less
    for jacobian, expected in (
        (space_jacobian, vector(change @ inverse(here))),
        (body_jacobian, vector(inverse(here) @ change)),
        (com_jacobian, derivative(com, now)[0]),
    ):
        first, rate = jacobian(chain, q, qd)
        close(apply(first, qd), expected)
        close(rate, derivative(lambda time: np.stack([jacobian(chain, path(time)[0], qd)[0]]), now)[0])  # noqa: B023


# ---- five formulations


def as_wrenches(state: State, laws: Laws) -> tuple[wrenches.Body, wrenches.Wrench, wrenches.Wrench]:
    """Return the chain, distal first, in lab coordinates: bodies, loads on them, and load on the tip (k, 1, 3)."""
    tensor = wrenches.turn_tensor(laws.rotation, state.tensor)
    moving = (laws.com, laws.com_velocity, laws.com_acceleration, laws.spin, laws.spin_rate)
    bodies = wrenches.Body(*(part[:, ::-1] for part in (state.mass, tensor, *moving)))
    moment, force = (apply(laws.rotation, part) for part in np.split(state.around.link_wrench, 2, axis=-1))
    end = pose(laws.rotation, laws.origin)[:, -1] @ state.chain.tip
    tip = (apply(end[:, :3, :3], -part)[:, None] for part in np.split(state.around.tip_wrench, 2, axis=-1))
    on_links = wrenches.Wrench(*(part[:, ::-1] for part in (force, moment, laws.origin)))
    return bodies, on_links, wrenches.Wrench(*list(tip)[::-1], end[:, None, :3, 3])


def by_block_matrix(state: State) -> Array:
    laws = by_vectors(state)
    bodies, load, tip = as_wrenches(state, laws)
    outside, ending = wrenches.translate(load, bodies.position), wrenches.translate(tip, bodies.position[:, :1])
    force, moment = outside.force, outside.moment.copy()
    force = force + np.eye(force.shape[1])[0][:, None] * ending.force
    moment = moment + np.eye(force.shape[1])[0][:, None] * ending.moment
    rotation, joint = transpose(laws.rotation)[:, ::-1], laws.origin[:, ::-1]
    rows = block_matrix.right_hand_sides(
        rotation, bodies.mass, state.tensor[:, ::-1], bodies.acceleration, apply(rotation, bodies.angular_velocity),
        apply(rotation, bodies.angular_acceleration), force, moment, state.around.gravity[:, None],
    )  # fmt: skip
    distal = np.concatenate([joint[:, :1], joint[:, :-1]], axis=1)
    solved = block_matrix.solve(rotation, joint - bodies.position, distal - bodies.position, *rows)
    return np.concatenate([solved[1].sum(axis=1), apply(rotation, solved[0].sum(axis=1))], axis=-1)[:, ::-1]


def by_observer(state: State, seed: int) -> Array:
    """Return the joint wrenches as somebody finds them who tumbles past."""
    rng, count = np.random.default_rng(seed), state.q.shape[0]
    laws = by_vectors(state)
    bodies, load, tip = as_wrenches(state, laws)
    observer = wrenches.Observer(random_turns(rng, count, 1), *(3 * rng.normal(size=(5, count, 1, 3))))
    turn, origin = observer.rotation, observer.position
    found = wrenches.joint_wrenches(
        wrenches.seen(bodies, observer),
        block_matrix.rotate(turn, laws.origin[:, ::-1] - origin),
        observer,
        block_matrix.rotate(turn, state.around.gravity[:, None]),
        wrenches.transform(load, turn, origin),
        tip=wrenches.transform(tip, turn, origin),
    )
    to_link = transpose(laws.rotation) @ transpose(turn)
    return np.concatenate([apply(to_link, part[:, ::-1]) for part in (found.moment, found.force)], axis=-1)


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
    model.gravity.linear = state.around.gravity[k]
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


def test_each_term_is_what_its_own_formula_says(state: State) -> None:
    chain, around, q, qd, qdd = state[:5]
    terms = dict(zip(TERMS, np.moveaxis(torque_terms(chain, q, qd, qdd, around), 1, 0), strict=True))
    close(terms["inertia"], apply(mass_matrix(chain, q), qdd))
    close(terms["gravity"], gravity_torque(chain, q, around.gravity))
    tip_alone = torque_terms(chain, q, qd, qdd, Surroundings(tip_wrench=around.tip_wrench))
    close(tip_alone[:, TERMS.index("load")], tip_torque(chain, q, around.tip_wrench))
    close(tip_alone[:, TERMS.index("velocity")], apply(coriolis_matrix(chain, q, qd), qd))
    jacobian, _ = link_jacobians(chain, q, qd)
    on_links = -(transpose(jacobian) @ around.link_wrench[..., None]).sum(axis=1)[..., 0]
    close(terms["load"], tip_torque(chain, q, around.tip_wrench) + on_links)


# ---- identities


def test_mass_matrix_is_symmetric_and_positive_definite(state: State) -> None:
    mass = mass_matrix(state.chain, state.q)
    close(mass, transpose(mass))
    assert (np.linalg.eigvalsh(mass) > 0).all()


def test_passivity(state: State) -> None:
    """M' - 2 C is skew-symmetric, M' differenced along the path: internal forces do no work."""
    chain, q, qd = state.chain, state.q, state.qd
    slowly = qd / 50  # 8th order at 10 ms: (w h)^8 / 630 stays below 1e-16, and rounding is 1e-16 / 1e-2 of M
    change = derivative(lambda time: mass_matrix(chain, q + slowly * time[:, None, None]), np.zeros(1))[0]
    product = change - 2 * coriolis_matrix(chain, q, slowly)
    size = np.abs(mass_matrix(chain, q)).max(axis=(1, 2), keepdims=True)
    assert (np.abs(product + transpose(product)) < 1e-10 * size).all()


def test_coriolis_matrix_is_that_of_the_christoffel_symbols() -> None:
    """c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, with the mass matrix differenced by each coordinate."""
    for n in LENGTHS:
        chain, q, qd = (state := random_state(2, n, 5)).chain, state.q, state.qd
        slope = np.stack(
            [derivative(lambda x, e=e: mass_matrix(chain, q + x[:, None, None] * e / 10), np.zeros(1))[0] * 10
             for e in np.eye(n)], axis=-1)  # fmt: skip
        symbols = (slope + np.swapaxes(slope, -1, -2) - np.moveaxis(slope, -1, -3)) / 2
        close(coriolis_matrix(chain, q, qd), (symbols @ qd[:, None, :, None])[..., 0])


def test_forward_dynamics_undoes_inverse_dynamics(state: State) -> None:
    chain, around, q, qd, qdd = state[:5]
    torque = inverse_dynamics(chain, q, qd, qdd, around)
    close(forward_dynamics(chain, q, qd, torque, around), qdd)
    close(inverse_dynamics(chain, q, qd, forward_dynamics(chain, q, qd, state.mass, around), around), state.mass)


def test_work_of_all_loads_becomes_kinetic_energy(state: State) -> None:
    """Power balance with everything: joints, base, links, tip and gravity; T differenced along the path."""
    chain, around, q, qd, qdd = state[:5]
    slow = 0.1  # the same path at a tenth of the pace, to keep the differences exact
    qd, qdd = slow * qd, slow**2 * qdd
    base, rate = slow * around.base_twist, slow**2 * around.base_twist_rate
    around = Surroundings(around.gravity, around.tip_wrench, around.link_wrench, base, rate)

    def energy(time: Array) -> Array:
        t = time[:, None, None]
        then = Surroundings(base_twist=base + rate * t)
        return kinetic_energy(chain, q + qd * t + qdd * t**2 / 2, qd + qdd * t, then)

    twist = motion(chain, q, qd, qdd, around).twist
    wrench, poses = joint_wrenches(chain, q, qd, qdd, around), link_poses(chain, q)
    momentum = apply(poses[..., :3, :3], apply(chain.inertia, twist)[..., 3:]).sum(axis=1)
    power = (
        (wrench * chain.screw).sum(axis=-1) * qd,
        wrench[:, 0] * apply(adjoint(inverse(poses[:, 0])), base),
        (around.link_wrench * twist).sum(axis=-1),
        -around.tip_wrench * apply(adjoint(inverse(chain.tip)), twist[:, -1]),
        around.gravity * momentum,
    )
    close(derivative(energy, np.zeros(1))[0, :, None], sum(part.sum(axis=-1) for part in power)[:, None])


def test_gravity_torque_is_the_slope_of_the_potential(state: State) -> None:
    chain, gravity = state.chain, state.around.gravity
    for e in np.eye(state.q.shape[1]):
        slope = derivative(lambda x: potential_energy(chain, state.q + x[:, None, None] * e, gravity), np.zeros(1))[0]  # noqa: B023
        size = np.abs(gravity_torque(chain, state.q, gravity)).max(axis=-1)
        assert (np.abs(slope - gravity_torque(chain, state.q, gravity) @ e) < ROUNDING * size).all()


def test_base_that_moves_as_a_joint_would_is_that_joint(state: State) -> None:
    """Take the first joint away and move the base in its place: nothing changes farther out."""
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


def test_task_space_and_joint_space_accelerate_the_tip_alike(state: State) -> None:
    chain, _, q, qd, qdd = state[:5]
    around = Surroundings(state.around.gravity, state.around.tip_wrench, state.around.link_wrench)
    torque = inverse_dynamics(chain, q, qd, qdd, around)
    bias = inverse_dynamics(chain, q, qd, 0 * qd, around)
    jacobian, rate = (part[:, -min(3, q.shape[1] - 1):] for part in body_jacobian(chain, q, qd))  # fmt: skip
    mass = mass_matrix(chain, q)
    inertia, eta = task_space(mass, bias, jacobian, rate, qd)
    through = apply(inertia @ jacobian, apply(np.linalg.inv(mass), torque))
    in_task = apply(np.linalg.inv(inertia), through - eta)
    tip_rate = apply(adjoint(inverse(chain.tip)), motion(chain, q, qd, qdd).twist_rate[:, -1])
    # two inverses of matrices with condition numbers up to some 1e5
    close(in_task, tip_rate[:, -jacobian.shape[1] :], 1e-7)


def test_time_and_side_at_once_are_one_after_the_other() -> None:
    """Sides are different chains, time comes before them; what is missing at one instant stays there."""
    state = random_state(3, 4, 2)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 5, 2, 4))
    q[2, 1, 0] = np.nan
    together = torque_terms(state.chain, q, qd, qdd, state.around)
    assert together.shape == (5, 2, len(TERMS), 4)
    assert np.isnan(forward_dynamics(state.chain, q, qd, qdd, state.around)[2, 1]).all()
    for side in range(2):
        chain, around = (type(part)(*(x[side] for x in vars(part).values())) for part in (state.chain, state.around))
        for time in range(5):
            alone = torque_terms(chain, q[time, side], qd[time, side], qdd[time, side], around)
            np.testing.assert_allclose(together[time, side], alone, rtol=1e-12, atol=1e-10, equal_nan=True)
            assert np.isnan(alone).any() == ((time, side) == (2, 1))


# ---- the planar arm


M1, M2, L1, L2 = 1.3, 0.7, 0.5, 0.4  # kg, m; point masses at the ends of the links, angles from the x axis about z


def planar_arm() -> Chain:
    """Return the two links, each frame in its joint with x along the link."""
    home = pose(np.eye(3), np.array([[0, 0, 0], [L1, 0, 0]]))
    arms = np.array([[L1, 0, 0], [L2, 0, 0]])
    inertia = spatial_inertia(np.array([M1, M2]), arms, np.zeros((2, 3, 3)))
    return Chain(np.array([[0, 0, 1.0, 0, 0, 0]] * 2), home, inertia, pose(np.eye(3), arms[1]))


def closed_form(a: Any, b: Any, ad: Any, bd: Any, add: Any, bdd: Any, sizes: Any, *, sin: Any, cos: Any) -> list[Any]:
    """Return inertia, velocity and gravity torque of both joints.

    Lynch and Park, section 8.1, where the coupling must read m2 (L1 L2 cos(b) + L2^2) and the second torque has
    + m2 L1 L2 a'^2 sin(b) and + m2 g L2 cos(a + b).
    """
    m1, m2, l1, l2, g = sizes
    coupling, swing = m2 * (l1 * l2 * cos(b) + l2**2), m2 * l1 * l2 * sin(b)
    return [
        [
            (m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * cos(b) + l2**2)) * add + coupling * bdd,
            coupling * add + m2 * l2**2 * bdd,
        ],
        [-swing * (2 * ad * bd + bd**2), swing * ad**2],
        [(m1 + m2) * l1 * g * cos(a) + m2 * g * l2 * cos(a + b), m2 * g * l2 * cos(a + b)],
    ]


def test_planar_arm_is_the_closed_form_term_by_term() -> None:
    q, qd, qdd = np.random.default_rng(8).normal(size=(3, 50, 2)) * np.array([2.0, 4, 20])[:, None, None]
    found = torque_terms(planar_arm(), q, qd, qdd, Surroundings(gravity=DOWN))
    expected = closed_form(*q.T, *qd.T, *qdd.T, (M1, M2, L1, L2, GRAVITY), sin=np.sin, cos=np.cos)
    close(found[:, :3], np.moveaxis(np.array(expected), -1, 0))
    assert not found[:, 3:].any()


def test_lagrange_gives_the_closed_form_of_the_planar_arm_by_symbols() -> None:
    """d/dt dL/dq' - dL/dq of L = T - U for two particles, no frame and no joint load in it."""
    t, *sizes = sp.symbols("t m1 m2 L1 L2 g", positive=True)
    m1, m2, l1, l2, g = sizes
    a, b = (sp.Function(name)(t) for name in "ab")
    elbow = sp.Matrix([l1 * sp.cos(a), l1 * sp.sin(a)])
    hand = elbow + sp.Matrix([l2 * sp.cos(a + b), l2 * sp.sin(a + b)])
    lagrangian = sum(m * (p.diff(t).dot(p.diff(t)) / 2 - g * p[1]) for m, p in ((m1, elbow), (m2, hand)))
    parts = closed_form(a, b, a.diff(t), b.diff(t), a.diff(t, 2), b.diff(t, 2), sizes, sin=sp.sin, cos=sp.cos)
    for i, x in enumerate((a, b)):
        torque = lagrangian.diff(x.diff(t)).diff(t) - lagrangian.diff(x)
        assert sp.simplify(sp.expand_trig(sp.expand(torque - sum(part[i] for part in parts)))) == 0


def swinging(t: float, q: Array, qd: Array) -> Array:
    """Return the acceleration of the arm that nobody holds."""
    return forward_dynamics(planar_arm(), q, qd, np.zeros(2), Surroundings(gravity=DOWN))


def energy(q: Array, qd: Array) -> Array:
    return kinetic_energy(planar_arm(), q, qd) + potential_energy(planar_arm(), q, DOWN)


def test_double_pendulum_keeps_its_energy_for_20_s() -> None:
    """From level, so that it goes through its chaotic swings; 1e-8 of the energy that is exchanged."""
    q, qd = simulate(swinging, np.array([0.0, 0.3]), np.zeros(2), np.linspace(0, 20, 201))
    exchanged = np.ptp(kinetic_energy(planar_arm(), q, qd))
    assert exchanged > 5
    assert np.ptp(energy(q, qd)) < 1e-8 * exchanged


def test_half_the_step_of_explicit_euler_is_half_the_error() -> None:
    start, rest = np.array([-1.2, 0.3]), np.zeros(2)
    exact = simulate(swinging, start, rest, np.array([0, 0.5]))[0][-1]
    errors = [
        np.linalg.norm(explicit_euler(swinging, start, rest, np.linspace(0, 0.5, steps + 1))[0][-1] - exact)
        for steps in (200, 400)
    ]
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.05)  # the next order is a step, 1 %, of it
    gained = energy(*explicit_euler(swinging, start, rest, np.linspace(0, 0.5, 101)))
    assert gained[-1] > gained[0]


def test_arm_carried_in_free_fall_weighs_nothing() -> None:
    q, qd, qdd = np.random.default_rng(9).normal(size=(3, 2))
    falling = Surroundings(gravity=DOWN, base_twist_rate=np.array([0, 0, 0, *DOWN]))
    np.testing.assert_allclose(
        inverse_dynamics(planar_arm(), q, qd, qdd, falling), inverse_dynamics(planar_arm(), q, qd, qdd), atol=1e-12
    )
