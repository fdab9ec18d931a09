"""Limbs in random states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from pipeline.dynamics import limb
from pipeline.dynamics.screws import bracket, spatial_inertia
from pipeline.dynamics.vectors import apply, transpose
from tests.support.walks.person import ROUNDING, Array, random_turns

COUNT = 25
FLAT_VOLUME = 0.1  # of the hinge axes: less is gimbal lock, where rates are large and so is their rounding


class State(NamedTuple):
    """Limbs (k, N, ...) in any state: ``at`` in a random pose with skewed hinge axes, and its inputs."""

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
    def screw(self) -> Array:
        """The screw axes (k, N, 6, 6) of slides and hinges, one per row."""
        slides = np.concatenate([0 * self.axes, self.rotation[:, :-1]], axis=-1)
        through = np.cross(self.centre[:, :, None], self.axes)
        return np.concatenate([slides, np.concatenate([self.axes, through], axis=-1)], axis=-2)

    @property
    def inertia(self) -> Array:
        """The spatial inertias (k, N, 6, 6) of the segments."""
        return spatial_inertia(self.mass, self.com, self.tensor)

    def motion(self) -> limb.Motion:
        """Return the limb's motion from the twists that its joints give the segments, one joint after the other."""
        twist, rate = [self.base_twist], [self.base_rate]
        for segment in range(self.mass.shape[1]):
            V, V_rate = twist[-1], rate[-1]
            for joint in range(6):
                screw = self.screw[:, segment, joint]
                push = screw * self.rate[:, segment, joint, None]
                V = V + push
                V_rate = V_rate + screw * self.acceleration[:, segment, joint, None] + apply(bracket(V), push)
            twist.append(V)
            rate.append(V_rate)
        return limb.joint_motion(self.at, np.stack(twist, axis=1), np.stack(rate, axis=1))


def close(actual: Array, expected: Array, tolerance: float = ROUNDING) -> None:
    """Compare limb by limb, or chain by chain, relative to the largest number of each."""
    size = np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True)
    np.testing.assert_array_less(np.abs(actual - expected) / np.maximum(size, 1e-12), tolerance)


def flat(joints: Array) -> Array:
    """Return (k, N, 6, ...) as (k, 6 N, ...)."""
    return np.asarray(joints.reshape(COUNT, -1, *joints.shape[3:]))


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


# a limb of each number of joints, for tests that take ``state``
EVERY_LIMB = pytest.mark.parametrize("state", [random_state(count) for count in (1, 2, 3, 4)], ids=("1", "2", "3", "4"))
