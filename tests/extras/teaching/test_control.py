"""Feedback at the joints: closed forms of the linear loop, the offset without integral, limits of stability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

from pipeline.extras.teaching import planar
from pipeline.extras.teaching.control import OPEN_LOOP, Gains, Plan, Plant, pid, simulate_controlled
from tests.support.walks.person import GRAVITY, Array, close

ROD = planar.rods(np.array([1.2]), np.array([0.6]))
INERTIA = 1.2 * 0.6**2 / 3
DOWN, LEVEL = np.array([0, -GRAVITY]), np.zeros(2)


def plant_of(gravity: Array) -> Plant:
    return lambda _, q, qd, tau: planar.forward_dynamics(ROD, q, qd, tau, gravity)


def hold(angle: float) -> Plan:
    """Return the plan to stay at an angle, without torques known beforehand."""
    return lambda _: (np.array([angle]), np.zeros(1), np.zeros(1))


def test_linear_loop_is_the_exponential_of_its_matrix() -> None:
    """In a horizontal plane: I q'' = K_p e + K_i s + K_d e', s' = e."""
    gains, target, start, time = Gains(9.0, 5.0, 1.5), 0.7, -0.2, np.linspace(0, 2, 9)
    loop = np.array([[0, 1, 0], [-9 / INERTIA, -1.5 / INERTIA, -5 / INERTIA], [1.0, 0, 0]])  # of -e, q', and -s
    found = simulate_controlled(
        plant_of(LEVEL), np.array([start]), np.zeros(1), hold(target), gains, time, tolerance=1e-12
    )
    expected = np.stack([expm(loop * t) @ [start - target, 0, 0] for t in time])
    close(found.q[:, 0], target + expected[:, 0])
    close(found.qd[:, 0], expected[:, 1])
    close(found.torque[:, 0], -expected @ [9, 1.5, 5])


def test_weight_leaves_an_offset_that_the_integral_removes() -> None:
    """K_p (wanted - q) = m g d cos q at rest, against q = wanted."""
    target, moment = 0.5, 1.2 * GRAVITY * 0.3
    offset = brentq(lambda q: 20 * (target - q) - moment * np.cos(q), -2, 1, xtol=1e-14)
    assert offset < 0.4
    for integral, expected in ((0.0, offset), (40.0, target)):
        plant, gains = plant_of(DOWN), Gains(20.0, integral, 4.0)
        found = simulate_controlled(plant, np.array([-1.5]), np.zeros(1), hold(target), gains, np.linspace(0, 12, 3))
        # 12 s are more than 25 times the slowest time constant of both loops, some .4 s
        assert found.q[-1, 0] == pytest.approx(expected, abs=1e-9)
        assert found.torque[-1, 0] == pytest.approx(moment * np.cos(expected), abs=1e-7)


@pytest.mark.parametrize(("share", "grows"), [(0.9, False), (1.1, True)])
def test_too_much_integral_is_unstable(share: float, grows: bool) -> None:
    """Routh: K_i < K_p K_d / I."""
    gains = Gains(9.0, share * 9 * 1.5 / INERTIA, 1.5)
    time = np.linspace(0, 12, 601)
    found = simulate_controlled(plant_of(LEVEL), np.array([0.01]), np.zeros(1), hold(0), gains, time)
    early, late = np.abs(found.q[:100]).max(), np.abs(found.q[-100:]).max()
    assert (late > early) == grows


def test_known_torques_alone_follow_the_plan() -> None:
    """Inverse dynamics of a swing as open loop; and feedback changes nothing where there is no error."""

    def plan(t: float) -> tuple[Array, Array, Array]:
        q, qd, qdd = (np.array([x]) for x in (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)))
        return q, qd, planar.inverse_dynamics(ROD, q, qd, qdd, DOWN)

    time = np.linspace(0, 1, 5)
    for gains in (OPEN_LOOP, Gains(50.0, 10.0, 5.0)):
        found = simulate_controlled(plant_of(DOWN), np.zeros(1), np.array([3.0]), plan, gains, time, tolerance=1e-12)
        close(found.q[:, 0], np.sin(3 * time))
        close(found.torque[:, 0], np.stack([plan(float(t))[2][0] for t in time]), 1e-8)  # feedback of 1e-10 rad/s


def test_each_joint_has_its_gains() -> None:
    gains = Gains(np.array([2.0, 3]), np.array([5.0, 7]), np.array([11.0, 13]))
    close(pid(gains, np.array([1.0, 0]), np.array([0, 1.0]), np.array([10.0, 100])), [2 + 110, 7 + 1300])
