"""Wrenches: against particles, the block matrix and any observer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pipeline.dynamics import block_matrix
from pipeline.dynamics.kernel import Segments
from pipeline.dynamics.vectors import rotate
from pipeline.dynamics.wrenches import (
    FICTITIOUS,
    Body,
    Observer,
    Wrench,
    fictitious,
    joint_wrenches,
    observe,
    opposite,
    parallel_axis,
    total,
    transform,
    translate,
    turn_tensor,
)
from tests.support.dynamics.random_states import FRAMES, close, in_lab, random_bodies, random_observer, random_wrench
from tests.support.walks.person import PROPERTY, ROUNDING, SEED, Array, derivative, particles, random_turns


def inertial() -> Observer:
    return Observer(np.eye(3), *np.zeros((5, 3)))


def alike(a: Wrench, b: Wrench) -> None:
    for field in fields(Wrench):
        close(getattr(a, field.name), getattr(b, field.name))


# ---- what a wrench is


@given(SEED)
@PROPERTY
def test_translated_and_transformed_wrench_does_the_same_work_on_every_motion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wrench, (place, spin, velocity, origin) = random_wrench(rng), rng.normal(size=(4, 3))
    turn = random_turns(rng, 1)[0]

    def power(load: Wrench, spin: Array, velocity_at_zero: Array) -> float:
        return float(load.force @ (velocity_at_zero + np.cross(spin, load.point)) + load.moment @ spin)

    work = power(wrench, spin, velocity)
    moved = translate(wrench, place)
    close(moved.point, place)
    assert power(moved, spin, velocity) == pytest.approx(work, rel=ROUNDING, abs=ROUNDING * 200)
    new_velocity = turn @ (velocity + np.cross(spin, origin))
    assert power(transform(wrench, turn, origin), turn @ spin, new_velocity) == pytest.approx(work, abs=ROUNDING * 200)


@given(SEED)
@PROPERTY
def test_sum_of_wrenches_is_that_of_their_forces_at_their_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    point, force = rng.normal(size=(2, 5, 3))
    summed = total(*(Wrench(f, 0 * f, p) for f, p in zip(force, point, strict=True)))
    about_zero = translate(summed, np.zeros(3))
    close(about_zero.force, force.sum(axis=0))
    close(about_zero.moment, np.cross(point, force).sum(axis=0))
    nothing = total(summed, opposite(summed))
    assert not nothing.force.any()
    assert not nothing.moment.any()


# ---- dynamic and fictitious wrenches against particles


@given(SEED)
@PROPERTY
def test_tensor_about_another_point_and_in_other_axes_is_that_of_the_particles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body, arm, turn = random_bodies(rng, 2), rng.normal(size=3), random_turns(rng, 2)
    place = particles(body.mass, body.inertia) + arm
    place = (turn[:, None] @ place[..., None])[..., 0]
    sixth = body.mass[:, None, None, None] / 6
    inner, outer = (place**2).sum(axis=-1)[..., None, None] * np.eye(3), place[..., :, None] * place[..., None, :]
    expected = (sixth * (inner - outer)).sum(axis=1)
    close(turn_tensor(turn, body.inertia + parallel_axis(body.mass, arm)), expected)


@given(SEED)
@PROPERTY
def test_fictitious_wrenches_are_the_sums_of_fictitious_forces_on_particles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body, observer = random_bodies(rng, 2), random_observer(rng, 2)
    place = particles(body.mass, body.inertia) + body.position[:, None]
    velocity = body.velocity[:, None] + np.cross(body.angular_velocity[:, None], place - body.position[:, None])
    a_0, spin, rate = (
        rotate(observer.rotation, vector)[:, None]
        for vector in (observer.acceleration, observer.angular_velocity, observer.angular_acceleration)
    )
    accelerations = {
        "dalembert": a_0 + 0 * place,
        "euler": np.cross(rate, place),
        "centrifugal": np.cross(spin, np.cross(spin, place)),
        "coriolis": 2 * np.cross(spin, velocity),
    }
    found = fictitious(body, observer)
    assert tuple(found) == FICTITIOUS
    for name, acceleration in accelerations.items():
        force = -body.mass[:, None, None] / 6 * acceleration
        moment = np.cross(place - body.position[:, None], force).sum(axis=1)
        alike(found[name], Wrench(force.sum(axis=1), moment, body.position))


# ---- what an observer sees


Path = Callable[[Array], tuple[Array, Array]]


def spin(path: Path) -> Callable[[Array], Array]:
    """Return t -> angular velocity (time, 3) of a pose, in the axes it turns into: the vector of R' R^T."""

    def rotation(time: Array) -> Array:
        return path(time)[1]

    def rate(time: Array) -> Array:
        matrix = derivative(rotation, time) @ np.swapaxes(rotation(time), -1, -2)
        return np.stack([matrix[:, 2, 1], matrix[:, 0, 2], matrix[:, 1, 0]], axis=-1)

    return rate


@pytest.mark.parametrize("seed", range(5))
def test_relative_motion_is_the_derivative_of_the_measured_pose(seed: int) -> None:
    """Body and observer on smooth paths in the lab; the body's pose relative to the observer is differentiated."""
    place, angles = np.random.default_rng(seed).normal(size=(2, 2, 3, 3))  # times 1, t, t^2 / 2
    now = np.zeros(1)

    def in_lab(k: int) -> Path:
        def path(time: Array) -> tuple[Array, Array]:
            powers = np.stack([time**0, time, time**2 / 2], axis=-1)
            return powers @ place[k], np.asarray(Rotation.from_euler("ZYX", powers @ angles[k]).as_matrix())

        return path

    def measured(time: Array) -> tuple[Array, Array]:
        (position, rotation), (origin, turn) = in_lab(0)(time), in_lab(1)(time)
        back = np.swapaxes(turn, -1, -2)
        return rotate(back, position - origin), back @ rotation

    def place_of(time: Array) -> Array:
        return measured(time)[0]

    (at, velocity, acceleration), (origin, origin_rate, origin_second) = place[:, :, None]
    body_spin, watch_spin = spin(in_lab(0)), spin(in_lab(1))
    body = Body(np.ones(1), np.eye(3), at, velocity, acceleration, body_spin(now), derivative(body_spin, now))
    turn = np.swapaxes(in_lab(1)(now)[1], -1, -2)
    observer = Observer(turn, origin, origin_rate, origin_second, watch_spin(now), derivative(watch_spin, now))
    found = observe(body, observer)
    expected = {
        "position": place_of(now),
        "velocity": derivative(place_of, now),
        "acceleration": derivative(lambda time: derivative(place_of, time), now),
        "angular_velocity": spin(measured)(now),
        "angular_acceleration": derivative(spin(measured), now),
    }
    for name, value in expected.items():
        # differenced twice at steps of 10 ms: truncation (w h)^8 / 630 with w up to 10 rad/s, rounding 1e-16 / 1e-4
        np.testing.assert_allclose(getattr(found, name), value, rtol=0, atol=1e-7, err_msg=name)


# ---- the joint wrench


@given(SEED, st.integers(1, 6))
@PROPERTY
def test_every_observer_finds_the_joint_wrenches_of_the_block_matrix(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    bodies, load, tip = random_bodies(rng, FRAMES, n), random_wrench(rng, FRAMES, n), random_wrench(rng, FRAMES, 1)
    joint, gravity = rng.normal(size=(FRAMES, n, 3)), 9 * rng.normal(size=3)
    upright, first = np.broadcast_to(np.eye(3), (FRAMES, n, 3, 3)), np.eye(n)[0][:, None]
    outside, ending = translate(load, bodies.position), translate(tip, bodies.position[:, :1])
    distal = np.concatenate([joint[:, :1], joint[:, :-1]], axis=1)
    segments = Segments(
        upright, bodies.mass, bodies.inertia, bodies.acceleration, bodies.angular_velocity,
        bodies.angular_acceleration, joint - bodies.position, distal - bodies.position,
        outside.force + first * ending.force, outside.moment + first * ending.moment, gravity,
    )  # fmt: skip
    solved = block_matrix.inverse_dynamics(segments)
    expected = Wrench(solved[0].sum(axis=1), solved[1].sum(axis=1), joint)
    for observer in (inertial(), *(random_observer(rng, FRAMES, 1) for _ in range(3))):
        turn, origin = observer.rotation, observer.position
        there = rotate(turn, joint - origin)
        down = rotate(turn, gravity + 0 * origin)
        around, end = transform(load, turn, origin), transform(tip, turn, origin)
        found = joint_wrenches(observe(bodies, observer), there, observer, down, around, tip=end)
        alike(in_lab(found, observer), expected)
