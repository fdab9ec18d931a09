"""Random chains, and their joint wrenches by other formulations than the recursion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.dynamics import block_matrix, wrenches
from pipeline.dynamics.kernel import Segments
from pipeline.dynamics.screws import pose, spatial_inertia
from pipeline.dynamics.vectors import apply, rotate, transpose
from pipeline.extras.teaching.open_chain import Chain, Surroundings
from tests.support.checkout import FULL
from tests.support.walks.person import Array, random_turns

CHAINS = 1000 if FULL else 100
LENGTHS = (2, 3, 4, 5, 6)


class State(NamedTuple):
    """Chains (k, n, ...) in any state; hinges turn about a line through ``pivot``, the others slide along it.

    The first third of the links weighs nothing, like those between the axes of an anatomical joint.
    """

    chain: Chain
    around: Surroundings
    q: Array
    qd: Array
    qdd: Array
    hinge: NDArray[np.bool_]
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
    mass[:, : n // 3] = second[:, : n // 3] = 0
    principal = np.eye(3) * (second.sum(axis=-1, keepdims=True) - second)[..., None, :]
    tensor = axes @ principal @ np.swapaxes(axes, -1, -2)
    home = pose(random_turns(rng, *shape), 0.4 * rng.normal(size=(*shape, 3)))
    tip = pose(random_turns(rng, count), 0.4 * rng.normal(size=(count, 3)))
    load = np.repeat([20.0, 200], 3)  # N m, N
    around = Surroundings(
        gravity=9 * rng.normal(size=3),
        tip_wrench=load * rng.normal(size=(count, 6)),
        link_wrench=load * rng.normal(size=(*shape, 6)),
        base_twist=2 * rng.normal(size=(count, 6)),
        base_twist_rate=5 * rng.normal(size=(count, 6)),
    )
    q, qd, qdd = np.array([1.0, 2, 10])[:, None, None] * rng.normal(size=(3, *shape))
    chain = Chain(screw, home, spatial_inertia(mass, com, tensor), tip)
    return State(chain, around, q, qd, qdd, hinge, direction, pivot, mass, com, tensor)


class Laws(NamedTuple):
    """The chain in the lab, with axes and origin of the base at this instant, by vectors without twists."""

    rotation: Array
    origin: Array
    spin: Array
    spin_rate: Array
    com: Array
    com_velocity: Array
    com_acceleration: Array


def by_vectors(state: State) -> Laws:
    """Return the motion by the rules for relative motion: turn about a pivot, slide with Coriolis' acceleration."""
    base, rate = state.around.base_twist, state.around.base_twist_rate
    shape = state.q.shape[:1]
    rotation, origin = np.broadcast_to(np.eye(3), (*shape, 3, 3)), np.zeros((*shape, 3))
    spin, velocity, spin_rate = base[:, :3], base[:, 3:], rate[:, :3]
    acceleration = rate[:, 3:] + np.cross(spin, velocity)
    laws = []
    for i in range(state.q.shape[1]):
        turn = [x[:, i, None] * state.hinge[:, i] for x in (state.q, state.qd, state.qdd)]
        slide = [x[:, i, None] * ~state.hinge[:, i] for x in (state.q, state.qd, state.qdd)]
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


def as_wrenches(state: State, laws: Laws) -> tuple[wrenches.Body, wrenches.Wrench, wrenches.Wrench]:
    """Return the chain, distal first, in lab coordinates: bodies, loads on them, and load on the tip (k, 1, 3)."""
    tensor = wrenches.turn_tensor(laws.rotation, state.tensor)
    moving = (laws.com, laws.com_velocity, laws.com_acceleration, laws.spin, laws.spin_rate)
    bodies = wrenches.Body(*(part[:, ::-1] for part in (state.mass, tensor, *moving)))
    moment, force = (apply(laws.rotation, part) for part in np.split(state.around.link_wrench, 2, axis=-1))
    end = pose(laws.rotation, laws.origin)[:, -1] @ state.chain.tip
    end_moment, end_force = (
        apply(end[:, :3, :3], -part)[:, None] for part in np.split(state.around.tip_wrench, 2, axis=-1)
    )
    on_links = wrenches.Wrench(force[:, ::-1], moment[:, ::-1], laws.origin[:, ::-1])
    return bodies, on_links, wrenches.Wrench(end_force, end_moment, end[:, None, :3, 3])


def by_block_matrix(state: State) -> Array:
    """Return the joint wrenches (moment, force) about the origins of the link frames, in their axes; (k, n, 6)."""
    laws = by_vectors(state)
    bodies, load, tip = as_wrenches(state, laws)
    outside, ending = wrenches.translate(load, bodies.position), wrenches.translate(tip, bodies.position[:, :1])
    first = np.eye(state.q.shape[1])[0][:, None]
    rotation, joint = transpose(laws.rotation)[:, ::-1], laws.origin[:, ::-1]
    distal = np.concatenate([joint[:, :1], joint[:, :-1]], axis=1)
    segments = Segments(
        rotation, bodies.mass, state.tensor[:, ::-1], bodies.acceleration, apply(rotation, bodies.angular_velocity),
        apply(rotation, bodies.angular_acceleration), joint - bodies.position, distal - bodies.position,
        outside.force + first * ending.force, outside.moment + first * ending.moment, state.around.gravity,
    )  # fmt: skip
    solved = block_matrix.inverse_dynamics(segments)
    return np.concatenate([solved[1].sum(axis=1), apply(rotation, solved[0].sum(axis=1))], axis=-1)[:, ::-1]


def by_observer(state: State, seed: int) -> Array:
    """Return the same for a random tumbling observer."""
    rng, count = np.random.default_rng(seed), state.q.shape[0]
    laws = by_vectors(state)
    bodies, load, tip = as_wrenches(state, laws)
    observer = wrenches.Observer(random_turns(rng, count, 1), *(3 * rng.normal(size=(5, count, 1, 3))))
    turn, origin = observer.rotation, observer.position
    found = wrenches.joint_wrenches(
        wrenches.observe(bodies, observer),
        rotate(turn, laws.origin[:, ::-1] - origin),
        observer,
        rotate(turn, state.around.gravity + 0 * origin),
        wrenches.transform(load, turn, origin),
        tip=wrenches.transform(tip, turn, origin),
    )
    to_link = transpose(laws.rotation) @ transpose(turn)
    return np.concatenate([apply(to_link, part[:, ::-1]) for part in (found.moment, found.force)], axis=-1)
