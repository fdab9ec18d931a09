"""Pendulums: against Lagrange and the planar limb; periods, normal modes, energy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import laguerre
from scipy.special import ellipk

from pipeline.extras.teaching import pendulum, planar
from pipeline.extras.teaching.equations_of_motion import simulate
from pipeline.extras.teaching.planar import Links
from tests.support.walks.person import GRAVITY, PROPERTY, SEED, Array, close

M1, M2, L1, L2 = 1.3, 0.7, 0.5, 0.4
POINTS = planar.point_masses(np.array([M1, M2]), np.array([L1, L2]))
RODS = planar.rods(np.array([M1, M2]), np.array([L1, L2]))
DOUBLE = pytest.mark.parametrize("links", [POINTS, RODS], ids=["points", "rods"])


def relative(angle: Array) -> Array:
    """Return angles from the previous link, given angles from x; rates likewise."""
    return np.diff(angle, axis=-1, prepend=0)


def free(links: Links) -> Callable[[float, Array, Array], Array]:
    return lambda _, theta, rate: pendulum.forward_dynamics(links, theta, rate, gravity_m_s2=GRAVITY)


@pytest.mark.parametrize("n", [1, 2])
def test_acceleration_is_that_of_the_planar_limb_under_gravity(n: int) -> None:
    """With joint torques; the limb has relative angles from x, the pendulum absolute ones from the vertical."""
    rng = np.random.default_rng(n)
    links = Links(*(rng.uniform(0.1, 0.5, n) for _ in range(4)))
    theta, rate, torque = rng.normal(size=(3, 20, n)) * np.array([2.0, 4, 10])[:, None, None]
    q, qd = relative(theta - np.pi / 2), relative(rate)
    expected = planar.forward_dynamics(links, q, qd, torque, np.array([0, -GRAVITY]))
    found = pendulum.forward_dynamics(links, theta, rate, gravity_m_s2=GRAVITY, torque=torque)
    close(relative(found), expected, 1e-7)  # of up to 1e4 rad/s2


@pytest.mark.parametrize("n", [1, 2, 3])
def test_lagrange_gives_the_same_equations_by_symbols(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code itself with symbols; d/dt dL/dtheta' - dL/dtheta."""
    t, g = sp.symbols("t g", positive=True)
    sizes = [[sp.Symbol(f"{name}{i}", positive=True) for i in range(n)] for name in "ldmI"]
    theta = [sp.Function(f"theta{i}")(t) for i in range(n)]
    start, lagrangian = sp.Matrix([0, 0]), sp.Integer(0)
    for angle, length, to_com, mass, inertia in zip(theta, *sizes, strict=True):
        unit = sp.Matrix([sp.sin(angle), -sp.cos(angle)])
        com, start = start + to_com * unit, start + length * unit
        speed = com.diff(t)
        lagrangian += mass * speed.dot(speed) / 2 + inertia * angle.diff(t) ** 2 / 2 - mass * g * com[1]
    for name in ("sin", "cos"):
        monkeypatch.setattr(pendulum, name, np.vectorize(getattr(sp, name), otypes=[object]))
    links: Any = Links(*(np.array(size, dtype=object) for size in sizes))
    place, rate, second = (np.array([x.diff(t, k) for x in theta], dtype=object) for k in range(3))
    found = (
        pendulum.mass_matrix(links, place) @ second
        + pendulum.velocity_load(links, place, rate)
        + pendulum.gravity_load(links, place, gravity_m_s2=g)
    )
    for i, x in enumerate(theta):
        needed = lagrangian.diff(x.diff(t)).diff(t) - lagrangian.diff(x)
        assert sp.simplify(sp.expand_trig(sp.expand(needed - found[i]))) == 0


def test_textbook_double_pendulum() -> None:
    """Some printed versions have an error in m2 g l1 sin(theta1), the load of the lower mass on the upper angle."""
    load = pendulum.gravity_load(POINTS, np.array([0.6, -0.9]), gravity_m_s2=GRAVITY)
    close(load, [(M1 + M2) * GRAVITY * L1 * np.sin(0.6), M2 * GRAVITY * L2 * np.sin(-0.9)])
    square = pendulum.mass_matrix(POINTS, np.array([0.4, 0.4 + np.pi / 2]))
    close(square, np.diag([(M1 + M2) * L1**2, M2 * L2**2]))  # at right angles the links do not accelerate each other


# ---- what is known of pendulums


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.5, 3.1])
@pytest.mark.parametrize(("make", "shortened"), [(planar.point_masses, 1), (planar.rods, 2 / 3)])
def test_period_at_any_amplitude(amplitude: float, make: Callable[[Array, Array], Links], shortened: float) -> None:
    """4 sqrt(l / g) K(sin^2(amplitude / 2)); a rod swings like a point mass at two thirds of it."""
    links = make(np.array([2.0]), np.array([0.7]))
    period_s = 4 * np.sqrt(shortened * 0.7 / GRAVITY) * ellipk(np.sin(amplitude / 2) ** 2)
    quarters = np.arange(5) * period_s / 4
    theta, _ = simulate(free(links), np.array([amplitude]), np.zeros(1), quarters, tolerance=1e-12)
    # steps good to 1e-12; near the top (3.1 rad), where it is almost at rest, an error grows a thousandfold
    close(theta[:, 0], amplitude * np.array([1, 0, -1, 0, 1]), 1e-8)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_squares_of_frequencies_of_equal_masses_are_zeros_of_laguerre(n: int) -> None:
    """In g / l; for two masses 2 -+ sqrt(2). Goldstein's double pendulum and Bernoulli's hanging chain."""
    links = planar.point_masses(np.full(n, 0.3), np.full(n, 0.7))
    omega, _ = pendulum.normal_modes(links, gravity_m_s2=GRAVITY)
    close(omega**2 * 0.7 / GRAVITY, laguerre.lagroots(np.eye(n + 1)[n]))
    if n == 2:
        close(omega**2, GRAVITY / 0.7 * (2 + np.sqrt(2) * np.array([-1, 1])))


def test_modes_of_two_equal_rods() -> None:
    """omega^2 = 3 g / l (1 -+ 2 / sqrt(7))."""
    omega, _ = pendulum.normal_modes(planar.rods(np.ones(2), np.full(2, 0.4)), gravity_m_s2=GRAVITY)
    close(omega**2, 3 * GRAVITY / 0.4 * (1 + 2 / np.sqrt(7) * np.array([-1, 1])))


@DOUBLE
@pytest.mark.parametrize("mode", [0, 1])
def test_small_swing_in_a_mode_repeats_after_its_period(links: Links, mode: int) -> None:
    omega, shapes = pendulum.normal_modes(links, gravity_m_s2=GRAVITY)
    small = 1e-4
    time = np.linspace(0, 2 * np.pi / omega[mode], 9)
    theta, _ = simulate(free(links), small * shapes[:, mode], np.zeros(2), time, tolerance=1e-13)
    # the neglected cube of the angles is 1e-12 over a period, with shapes up to 3
    close(theta, small * np.cos(omega[mode] * time)[:, None] * shapes[:, mode], 1e-10)


# ---- simulation


@given(SEED, st.integers(1, 4))
@PROPERTY
def test_torques_give_energy_their_power(seed: int, n: int) -> None:
    """dE/dt = tau . q' with E' by the chain rule: theta' . (M theta'' + c + k sin theta), differenced in theta."""
    rng = np.random.default_rng(seed)
    links = Links(*(rng.uniform(0.1, 0.5, n) for _ in range(4)))
    theta, rate, torque = rng.normal(size=(3, n))
    second = pendulum.forward_dynamics(links, theta, rate, gravity_m_s2=GRAVITY, torque=torque)
    step = 1e-4
    ahead, behind = (
        pendulum.energy(links, theta + rate * s + second * s**2 / 2, rate + second * s, gravity_m_s2=GRAVITY).sum()
        for s in (step, -step)
    )
    power = torque @ relative(rate)
    # central difference: h^2 / 6 of the third derivative, which grows with the cube of rates and accelerations
    scale = 1 + np.abs(second).max() ** 3 + np.abs(rate).max() ** 3
    assert (ahead - behind) / (2 * step) == pytest.approx(power, abs=1e-7 * scale)
