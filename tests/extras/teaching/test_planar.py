"""Limbs of one and two links: against the open chain, the block matrix and Lagrange; postures that simplify."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from scipy.spatial.transform import Rotation

from pipeline.dynamics.screws import pose, spatial_inertia
from pipeline.extras.teaching import equations_of_motion, planar
from pipeline.extras.teaching.open_chain import Chain, Surroundings
from pipeline.extras.teaching.planar import TERMS, Links, absolute, inverse_dynamics, torque_terms
from tests.support.walks.person import GRAVITY, PROPERTY, SEED, Array, close, derivative

COUNTS = pytest.mark.parametrize("n", [1, 2])
DOWN = np.array([0, -GRAVITY])


def random_links(rng: np.random.Generator, n: int) -> Links:
    return Links(*(rng.uniform(low, high, n) for low, high in ((0.2, 0.5), (0.05, 0.4), (0.5, 5), (0.005, 0.1))))


def random_motion(rng: np.random.Generator, n: int, count: int = 20) -> Array:
    """Return q, q' and q''; (3, time, n)."""
    return np.array([2.0, 4, 20])[:, None, None] * rng.normal(size=(3, count, n))


def in_space(vector: Array) -> Array:
    return np.concatenate([vector, 0 * vector[..., :1]], axis=-1)


def about_z(links: Links) -> Array:
    return links.inertia[:, None, None] * np.diag([0.0, 0, 1])


# ---- other formulations


@COUNTS
def test_terms_are_those_of_the_open_chain(n: int) -> None:
    rng = np.random.default_rng(n)
    links, (q, qd, qdd), gravity, force = random_links(rng, n), random_motion(rng, n), *(9 * rng.normal(size=(2, 2)))
    arms = links.length[:, None] * np.array([1.0, 0, 0])
    home = pose(np.eye(3), np.concatenate([0 * arms[:1], arms[:-1]]))
    inertia = spatial_inertia(links.mass, links.to_com[:, None] * np.array([1.0, 0, 0]), about_z(links))
    chain = Chain(np.array([[0, 0, 1.0, 0, 0, 0]] * n), home, inertia, pose(np.eye(3), arms[-1]))
    in_tip = Rotation.from_euler("z", absolute(q)[:, -1:]).inv().apply(in_space(force))
    on_surroundings = np.concatenate([0 * in_tip, -in_tip], axis=-1)
    around = Surroundings(gravity=in_space(gravity), tip_wrench=on_surroundings)
    expected = dict(
        zip(
            equations_of_motion.TERMS,
            np.moveaxis(equations_of_motion.torque_terms(chain, q, qd, qdd, around), 1, 0),
            strict=True,
        )
    )
    found = torque_terms(links, q, qd, qdd, gravity, force)
    for i, name in enumerate(TERMS):
        close(found[:, i], expected[name], 1e-8)  # of up to 1000 N m
    close(found.sum(axis=1), sum(expected.values()), 1e-8)


def symbolic(monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    for name in ("sin", "cos"):
        monkeypatch.setattr(module, name, np.vectorize(getattr(sp, name), otypes=[object]))


def is_zero(expression: Any) -> bool:
    return bool(sp.simplify(sp.expand_trig(sp.expand(expression))) == 0)


@COUNTS
def test_lagrange_gives_the_same_torques_by_symbols(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code itself with symbols; d/dt dL/dq' - dL/dq = tau + F . dx_tip/dq with L = T - U."""
    t = sp.Symbol("t")
    sizes = [[sp.Symbol(f"{name}{i}", positive=True) for i in range(n)] for name in "ldmI"]
    gravity, force = (np.array(sp.symbols(names), dtype=object) for names in ("gx gy", "fx fy"))
    q = [sp.Function(f"q{i}")(t) for i in range(n)]
    start, lagrangian, angle = sp.Matrix([0, 0]), sp.Integer(0), sp.Integer(0)
    for i, (length, to_com, mass, inertia) in enumerate(zip(*sizes, strict=True)):
        angle += q[i]
        unit = sp.Matrix([sp.cos(angle), sp.sin(angle)])
        com, start = start + to_com * unit, start + length * unit
        speed = com.diff(t)
        lagrangian += (
            mass * speed.dot(speed) / 2 + inertia * angle.diff(t) ** 2 / 2 + mass * com.dot(sp.Matrix(gravity))
        )
    symbolic(monkeypatch, planar)
    place, rate, second = (np.array([x.diff(t, k) for x in q], dtype=object) for k in range(3))
    links = Links(*(np.array(size, dtype=object) for size in sizes))
    found = inverse_dynamics(links, place, rate, second, gravity, force)
    for i, x in enumerate(q):
        needed = lagrangian.diff(x.diff(t)).diff(t) - lagrangian.diff(x) - start.diff(x).dot(sp.Matrix(force))
        assert is_zero(needed - found[i])


# ---- kinematics, power, forward dynamics


@given(SEED)
@PROPERTY
def test_jacobian_and_its_rate_are_derivatives_of_the_place(seed: int) -> None:
    rng = np.random.default_rng(seed)
    links, (q, qd, _) = random_links(rng, 2), random_motion(rng, 2, 1)
    now = np.zeros(1)

    def then(time: Array) -> Array:
        return np.asarray(q + qd * time[:, None] / 10)  # slow, for exact differences

    velocity = derivative(lambda time: planar.tip(links, then(time)), now)
    close(planar.jacobian(links, q) @ qd[..., None] / 10, velocity[..., None])
    change = derivative(lambda time: planar.jacobian(links, then(time)), now)
    close(planar.jacobian_rate(links, q, qd / 10), change)


def test_absolute_angles_add_up() -> None:
    q = np.random.default_rng(1).normal(size=(5, 2))
    close(absolute(q)[:, 1], q[:, 0] + q[:, 1])


@COUNTS
def test_forward_dynamics_is_the_inverse_of_inverse_dynamics(n: int) -> None:
    rng = np.random.default_rng(n)
    links, (q, qd, qdd), gravity, force = random_links(rng, n), random_motion(rng, n), *(9 * rng.normal(size=(2, 2)))
    torque = inverse_dynamics(links, q, qd, qdd, gravity, force)
    close(planar.forward_dynamics(links, q, qd, torque, gravity, force), qdd, 1e-8)  # condition up to 1000


def test_three_links_are_refused() -> None:
    links = random_links(np.random.default_rng(1), 3)
    with pytest.raises(ValueError, match="not for 3"):
        inverse_dynamics(links, *np.zeros((3, 3)))


# ---- postures that simplify


def test_inertia_of_rods_about_their_ends() -> None:
    rod = planar.rods(np.array([3.0]), np.array([0.5]))
    close(planar.mass_matrix(rod, np.zeros(1)), [[3 * 0.5**2 / 3]])


# ---- terms with errors in printed derivations


def test_load_in_the_balance_of_the_second_link() -> None:
    """Moments about its centre of mass: an upward force on the tip turns with + (l2 - d2) F_y cos(q1 + q2)."""
    rng = np.random.default_rng(1)
    links, (q, qd, qdd) = random_links(rng, 2), random_motion(rng, 2)
    force, (a, b), spin_rate = np.array([20.0, 35]), absolute(q).T, absolute(qdd)[:, 1]
    (l1, l2), (_, d2), (_, m2), (_, i2) = links.length, links.to_com, links.mass, links.inertia
    (first, second), (first_rate, second_rate) = absolute(qd).T, absolute(qdd).T
    x_rate = -l1 * (np.sin(a) * first_rate + np.cos(a) * first**2) - d2 * (
        np.sin(b) * second_rate + np.cos(b) * second**2
    )
    y_rate = l1 * (np.cos(a) * first_rate - np.sin(a) * first**2) + d2 * (
        np.cos(b) * second_rate - np.sin(b) * second**2
    )
    joint_x, joint_y = m2 * x_rate - force[0], m2 * (y_rate + GRAVITY) - force[1]
    by_joint = d2 * (joint_x * np.sin(b) - joint_y * np.cos(b))
    by_load = (l2 - d2) * (force[1] * np.cos(b) - force[0] * np.sin(b))
    torque = inverse_dynamics(links, q, qd, qdd, DOWN, force)[:, 1]
    close(torque + by_joint + by_load, i2 * spin_rate, 1e-8)  # of up to 1000 N m


def test_textbook_arm_of_two_point_masses() -> None:
    """Lynch and Park, section 8.1, of which copies differ: the coupling is m2 (l1 l2 cos q2 + l2^2), and the second
    torque has + m2 l1 l2 q1'^2 sin q2 and + m2 g l2 cos(q1 + q2).
    """
    (m1, m2), (l1, l2) = (1.3, 0.7), (0.5, 0.4)
    links = planar.point_masses(np.array([m1, m2]), np.array([l1, l2]))
    q, rates = np.array([0.3, 0.8]), np.array([2.0, -1])
    close(planar.mass_matrix(links, q)[0, 1], m2 * (l1 * l2 * np.cos(0.8) + l2**2))
    close(planar.velocity_torque(links, q, rates)[1], m2 * l1 * l2 * 2.0**2 * np.sin(0.8))
    close(planar.gravity_torque(links, q, DOWN)[1], m2 * GRAVITY * l2 * np.cos(1.1))


@COUNTS
def test_energy_has_the_power_of_the_torques(n: int) -> None:
    """dE/dt = tau . q', by the torques of inverse dynamics; kinetic energy alone without gravity."""
    rng = np.random.default_rng(n)
    links, (q, qd, qdd) = random_links(rng, n), random_motion(rng, n, 5) / np.array([2, 4, 20])[:, None, None]

    def total(gravity: Array) -> Array:
        def at(s: Array) -> Array:
            moved = q + qd * s[:, None, None] + qdd * s[:, None, None] ** 2 / 2
            return planar.energy(links, moved, qd + qdd * s[:, None, None], gravity)

        return np.asarray(derivative(at, np.zeros(1), 1e-2)[0])

    for gravity in (DOWN, 0 * DOWN):
        power = (inverse_dynamics(links, q, qd, qdd, gravity) * qd).sum(axis=-1)
        close(total(gravity).sum(axis=-1), power)
    close(total(0 * DOWN)[:, 1], np.zeros(5))
    assert planar.energy(links, 0 * q, qd, DOWN)[:, 1] == pytest.approx(0)
