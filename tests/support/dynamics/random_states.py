"""Chains of segments, bodies, wrenches and observers in random states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.dynamics.kernel import Segments
from pipeline.dynamics.vectors import rotate, transpose
from pipeline.dynamics.wrenches import Body, Observer, Wrench, transform, turn_tensor
from tests.support.walks.person import GRAVITY, ROUNDING, Array, random_turns

DOWN = np.array([0.0, -GRAVITY, 0.0])
FRAMES = 3
MOVING = ("rotation", "com", "joint", "acceleration", "spin", "spin_rate", "force", "moment")


class Chain(NamedTuple):
    """One state of a chain, arrays (frame, segment, ...), distal segment first; ``joint`` is its proximal one."""

    rotation: Array
    mass: Array
    inertia: Array
    com: Array
    joint: Array
    acceleration: Array
    spin: Array
    spin_rate: Array
    force: Array
    moment: Array
    gravity: Array = DOWN


def random_chain(seed: int, n: int) -> Chain:
    rng = np.random.default_rng(seed)
    mass, axes = rng.uniform(0.5, 10, n), random_turns(rng, n)
    second = rng.uniform(0.001, 0.05, (n, 3))  # mass times squared distance along each principal axis
    inertia = axes @ (np.eye(3) * (second.sum(axis=1, keepdims=True) - second)[:, None]) @ np.swapaxes(axes, 1, 2)
    sizes = np.array([1.0, 1, 5, 3, 20, 200, 20])  # m, m, m/s2, rad/s, rad/s2, N, N m
    com, joint, acceleration, spin, spin_rate, force, moment = sizes[:, None, None, None] * rng.normal(
        size=(7, FRAMES, n, 3)
    )
    return Chain(
        random_turns(rng, FRAMES, n), mass, inertia, com, joint, acceleration, spin, spin_rate, force, moment,
        9 * rng.normal(size=3),
    )  # fmt: skip


def both_sides(seed: int, n: int) -> Chain:
    """Return two chains, (time, side) at once, masses and tensors by side: the second is that of the next seed."""
    left, right = random_chain(seed, n), random_chain(seed + 1, n)
    moving = {name: np.stack([getattr(left, name), getattr(right, name)], axis=1) for name in MOVING}
    constant = {name: np.stack([getattr(left, name), getattr(right, name)]) for name in ("mass", "inertia")}
    return Chain(**moving, **constant)


def segments_of(chain: Chain) -> Segments:
    """Return the arguments of both solvers; the first segment has no distal joint."""
    distal = np.concatenate([np.full_like(chain.joint[..., :1, :], np.nan), chain.joint[..., :-1, :]], axis=-2)
    return Segments(
        chain.rotation, chain.mass, chain.inertia, chain.acceleration, chain.spin, chain.spin_rate,
        chain.joint - chain.com, distal - chain.com, chain.force, chain.moment, chain.gravity,
    )  # fmt: skip


def random_wrench(rng: np.random.Generator, *shape: int) -> Wrench:
    return Wrench(*(np.array([200.0, 20, 1])[:, *(None,) * (len(shape) + 1)] * rng.normal(size=(3, *shape, 3))))


def random_bodies(rng: np.random.Generator, *shape: int) -> Body:
    """Return segments (..., 3) of any motion; the last dimension of ``shape`` numbers them."""
    axes, second = random_turns(rng, *shape), rng.uniform(0.001, 0.05, (*shape, 3))
    principal = np.eye(3) * (second.sum(axis=-1, keepdims=True) - second)[..., None, :]
    sizes = np.array([1.0, 2, 20, 5, 30])  # m, m/s, m/s2, rad/s, rad/s2
    motion = sizes[:, *(None,) * (len(shape) + 1)] * rng.normal(size=(5, *shape, 3))
    return Body(rng.uniform(0.5, 10, shape), turn_tensor(axes, principal), *motion)


def random_observer(rng: np.random.Generator, *shape: int) -> Observer:
    motion = np.array([1.0, 2, 10, 3, 10])[:, *(None,) * (len(shape) + 1)] * rng.normal(size=(5, *shape, 3))
    return Observer(random_turns(rng, *shape), *motion)


def in_lab(wrench: Wrench, observer: Observer) -> Wrench:
    """Return an observer's wrench in the axes of the lab, about points measured from the lab's origin."""
    back = transpose(observer.rotation)
    return transform(wrench, back, -rotate(observer.rotation, observer.position))


def close(actual: Array, expected: Array) -> None:
    """Compare to rounding of the largest value: loads add up along the chain."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=ROUNDING * max(1.0, float(np.abs(expected).max())))
