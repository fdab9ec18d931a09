"""Twists, wrenches and poses: against matrices, moving points and particles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from pipeline.dynamics.screws import adjoint, bracket, exponential, gyroscopic, inverse
from pipeline.dynamics.vectors import apply, skew, transpose
from tests.support.dynamics.limbs import close, random_state
from tests.support.walks.person import Array, derivative, particles


def hat(twist: Array) -> Array:
    return np.block([[skew(twist[:3]), twist[3:, None]], [np.zeros((1, 4))]])


@pytest.mark.parametrize("angle", [0, 1e-9, 1e-4, 0.999e-4, 1.001e-4, 0.1, 2, 3.1415, np.pi - 1e-9])
def test_exponential_is_that_of_the_matrix(angle: float) -> None:
    rng = np.random.default_rng(5)
    twist = rng.normal(size=(4, 6))
    twist[:, :3] *= angle / np.linalg.norm(twist[:, :3], axis=-1, keepdims=True)
    np.testing.assert_allclose(exponential(twist), [expm(hat(one)) for one in twist], atol=1e-14)


def test_adjoint_transforms_twists_like_velocities_of_points_and_keeps_power() -> None:
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


def test_spatial_inertia_gives_the_momentum_of_the_particles() -> None:
    state = random_state(2)
    twist = state.rate[:, :1]  # (k, 1, 6)
    place = particles(state.mass, state.tensor) + state.com[..., None, :]
    velocity = twist[..., None, 3:] + np.cross(twist[..., None, :3], place)
    momentum = state.mass[..., None, None] / 6 * velocity
    expected = np.concatenate([np.cross(place, momentum).sum(axis=-2), momentum.sum(axis=-2)], axis=-1)
    close(apply(state.inertia, twist), expected)


def test_gyroscopic_matrix_is_skew_symmetric_and_turns_the_momentum() -> None:
    state = random_state(3)
    twist, inertia = state.rate, state.inertia
    matrix = gyroscopic(twist, inertia)
    assert np.abs(matrix + transpose(matrix)).max() < 1e-12 * np.abs(matrix).max()
    close(apply(matrix, twist), -apply(transpose(bracket(twist)), apply(inertia, twist)))
