"""Wrenches: against particles, the block matrix and any observer; by symbols in the limb of three point masses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from geometry import PROPERTY, ROUNDING, SEED, Array, derivative, particles, random_turns
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pipeline.dynamics import block_matrix
from pipeline.dynamics.wrenches import (
    FICTITIOUS,
    Body,
    Observer,
    Wrench,
    dynamic,
    fictitious,
    joint_wrenches,
    opposite,
    parallel_axis,
    same,
    seen,
    total,
    transform,
    translate,
    turn_tensor,
    up_the_chain,
    weight,
)

FRAMES = 3


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


def inertial() -> Observer:
    return Observer(np.eye(3), *np.zeros((5, 3)))


def to_lab(wrench: Wrench, observer: Observer) -> Wrench:
    back = np.swapaxes(observer.rotation, -1, -2)
    return transform(wrench, back, -block_matrix.rotate(observer.rotation, observer.position))


def close(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=ROUNDING * max(1.0, float(np.abs(expected).max())))


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


def test_equal_wrenches_are_equal_about_any_point_and_others_are_not() -> None:
    rng = np.random.default_rng(1)
    wrench = random_wrench(rng, 4)
    assert same(wrench, translate(wrench, rng.normal(size=3)))
    assert not same(wrench, replace(wrench, point=wrench.point + 1e-6))
    assert not same(wrench, replace(wrench, force=wrench.force * (1 + 1e-6)))


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
def test_turning_about_a_pivot_takes_the_tensor_about_the_pivot(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body, arm, spin, rate = random_bodies(rng, 1), *rng.normal(size=(3, 1, 3))
    body = replace(
        body,
        position=arm,
        acceleration=np.cross(rate, arm) + np.cross(spin, np.cross(spin, arm)),
        angular_velocity=spin,
        angular_acceleration=rate,
    )
    about_pivot = body.inertia + parallel_axis(body.mass, arm)
    momentum = block_matrix.rotate(about_pivot, spin)
    needed = translate(dynamic(body), np.zeros(3))
    close(needed.moment, block_matrix.rotate(about_pivot, rate) + np.cross(spin, momentum))


@given(SEED)
@PROPERTY
def test_fictitious_wrenches_are_the_sums_of_fictitious_forces_on_particles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body, observer = random_bodies(rng, 2), random_observer(rng, 2)
    place = particles(body.mass, body.inertia) + body.position[:, None]
    velocity = body.velocity[:, None] + np.cross(body.angular_velocity[:, None], place - body.position[:, None])
    a_0, spin, rate = (
        block_matrix.rotate(observer.rotation, vector)[:, None]
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
def test_what_an_observer_sees_are_the_derivatives_of_what_he_measures(seed: int) -> None:
    """Body and observer on smooth paths in the lab; the body's pose as measured from the observer, differenced."""
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
        return block_matrix.rotate(back, position - origin), back @ rotation

    def place_of(time: Array) -> Array:
        return measured(time)[0]

    (at, velocity, acceleration), (origin, origin_rate, origin_second) = place[:, :, None]
    body_spin, watch_spin = spin(in_lab(0)), spin(in_lab(1))
    body = Body(np.ones(1), np.eye(3), at, velocity, acceleration, body_spin(now), derivative(body_spin, now))
    turn = np.swapaxes(in_lab(1)(now)[1], -1, -2)
    observer = Observer(turn, origin, origin_rate, origin_second, watch_spin(now), derivative(watch_spin, now))
    found = seen(body, observer)
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
    rows = block_matrix.right_hand_sides(
        upright, bodies.mass, bodies.inertia, bodies.acceleration, bodies.angular_velocity,
        bodies.angular_acceleration, outside.force + first * ending.force, outside.moment + first * ending.moment,
        gravity,
    )  # fmt: skip
    distal = np.concatenate([joint[:, :1], joint[:, :-1]], axis=1)
    solved = block_matrix.solve(upright, joint - bodies.position, distal - bodies.position, *rows)
    expected = Wrench(solved[0].sum(axis=1), solved[1].sum(axis=1), joint)
    for observer in (inertial(), *(random_observer(rng, FRAMES, 1) for _ in range(3))):
        turn, origin = observer.rotation, observer.position
        there = block_matrix.rotate(turn, joint - origin)
        down = block_matrix.rotate(turn, gravity + 0 * origin)
        around, end = transform(load, turn, origin), transform(tip, turn, origin)
        found = joint_wrenches(seen(bodies, observer), there, observer, down, around, tip=end)
        alike(to_lab(found, observer), expected)


def test_weight_and_tip_load_of_a_limb_at_rest_go_up_to_every_joint() -> None:
    """Three segments level along x, root at 0, 0.2 m each; a hand pushes the end up with 30 N."""
    mass, down = np.array([1.0, 2, 4]), np.array([0, -10.0, 0])
    reach = np.array([0.5, 0.3, 0.1])[:, None] * [1.0, 0, 0]
    still = Body(mass, np.zeros((3, 3, 3)), reach, *np.zeros((4, 3, 3)))
    push = Wrench(np.array([0, 30.0, 0]), np.zeros(3), np.array([0.6, 0, 0]))
    found = up_the_chain(opposite(weight(still, down)), reach - [0.1, 0, 0], tip=push)
    close(found.force, np.array([[0, y, 0] for y in (10.0 - 30, 30 - 30, 70 - 30)]))
    close(found.moment, np.array([[0, 0, z] for z in (1.0 - 6, 3 + 2 - 12, 5 + 6 + 4 - 18)]))


# ---- the limb of three point masses, by symbols


t = sp.Symbol("t", real=True)
LENGTHS, MASSES = (sp.Rational(4, 5), sp.Rational(3, 5), sp.Rational(2, 5)), (7, 5, 3)
RATES = (1, 2, 4)  # rad/s, of each segment against the one before


def symbols(*rows: Any) -> Any:
    return np.array(rows, dtype=object)


def rate_of(vector: Any) -> Any:
    return np.vectorize(lambda x: sp.diff(x, t), otypes=[object])(vector)


def limb() -> tuple[Body, Any, list[Observer]]:
    """Return the segments (distal first) in the lab, their proximal joints and an observer on each (proximal first).

    The frame of a segment has its origin in its proximal joint, y along the segment away from it, z along the axes
    of the joints.
    """
    joint, angle = symbols(0, 0, 0), sp.Integer(0)
    zero, coms, joints, spins, observers = symbols(0, 0, 0), [], [], [], []
    for length, rate in zip(LENGTHS, RATES, strict=True):
        angle += rate * t
        x, y = sp.cos(angle), sp.sin(angle)
        along, spin = symbols(x, y, 0), symbols(0, 0, sp.diff(angle, t))
        turn = symbols([y, -x, 0], [x, y, 0], [0, 0, 1])
        observers.append(Observer(turn, joint, rate_of(joint), rate_of(rate_of(joint)), spin, zero))
        coms.append(joint + along * length / 2)
        joints.append(joint)
        spins.append(spin)
        joint = joint + along * length
    com, spin = np.stack(coms[::-1]), np.stack(spins[::-1])
    mass = symbols(*(sp.Rational(m, 10) for m in MASSES[::-1]))
    tensor = np.zeros((3, 3, 3), dtype=object)
    bodies = Body(mass, tensor, com, rate_of(com), rate_of(rate_of(com)), spin, rate_of(spin))
    return bodies, np.stack(joints[::-1]), observers


def is_zero(expression: Any) -> bool:
    return bool(sp.expand(sp.expand(sp.sympify(expression).rewrite(sp.exp))) == 0)


def test_limb_of_three_point_masses_whoever_looks() -> None:
    """The wrench of the second segment on the third, at their joint, in the axes of the third (Mielke 2020).

    Joints P0, P1, P2 and frames A, B, C are those of the first, second and third segment, so P2 is the joint between
    the second and the third. C turns at 4 rad/s against B and at 6 rad/s against A: hence 4t and 6t. Each product is a
    mass of 3/10 kg times a centripetal acceleration: 3/10 . 3/5 . 3^2 = 81/50 of the second segment's end,
    3/10 . 4/5 . 1^2 = 6/25 of the first's and 3/10 . 1/5 . 7^2 = 147/50 of the mass itself, which is 1/5 m away.
    """
    bodies, joints, (on_a, on_b, on_c) = limb()
    s4, c4, s6, c6 = sp.sin(4 * t), sp.cos(4 * t), sp.sin(6 * t), sp.cos(6 * t)
    q = sp.Rational
    force = symbols(-q(81, 50) * s4 - q(6, 25) * s6, -q(81, 50) * c4 - q(6, 25) * c6 - q(147, 50), 0)
    moment = symbols(0, 0, q(81, 250) * s4 + q(6, 125) * s6)
    zero = symbols(0, 0, 0)
    lab = Observer(np.eye(3, dtype=int).astype(object), *(zero,) * 5)
    for observer in (lab, on_a, on_b, on_c):
        there = block_matrix.rotate(observer.rotation, joints - observer.position)
        found = joint_wrenches(seen(bodies, observer), there, observer, zero)
        in_c = transform(to_lab(found, observer), on_c.rotation, on_c.position)
        for value, expected in zip(
            [*in_c.force[0], *in_c.moment[0], *in_c.point[0]], [*force, *moment, *zero], strict=True
        ):
            assert is_zero(value - expected)


def test_limb_takes_every_kind_of_wrench() -> None:
    """None of the terms is idle in the limb: seen from the second segment, all but Euler's act on the third."""
    bodies, _, (_, on_b, _) = limb()
    found = fictitious(seen(bodies, on_b), on_b)
    acting = {name for name, wrench in found.items() if not all(is_zero(x) for x in wrench.force[0])}
    assert acting == {"dalembert", "centrifugal", "coriolis"}
