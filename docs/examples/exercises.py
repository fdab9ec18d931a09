"""Worked exercises: a link and its torque, two links on a table, two machines by Lagrange.

Duarte M, "Multibody dynamics of simple biomechanical models", in Duarte M, Watanabe RN, Notes on Scientific
Computing for Biomechanics and Motor Control (github.com/BMClab/BMC), ends with exercises. These are its third to
fifth, and two of the kind that a chapter on Lagrange's equation ends with.

1. A link (a forearm and hand of 1.5 kg) rises from hanging to level in half a second on the smoothest way. At its
   end it is held by m g d alone, 3.2 N m; on the way it needs 3.6 N m, after 0.13 s, while it gains speed. The
   torque, given to the equation of motion, brings the link to level again.
2. The same link hangs, and a constant torque of 2 N m begins. It swings up by 86 degrees and back: it turns where
   the torque's work is the energy of height, tau q = m g d (1 - cos q). To go over the top needs 0.725 m g d = 2.35
   N m.
3. Two links on a table, no force from outside. The velocity torques are C1 = -h (2 q1' + q2') q2' and C2 = h q1'^2,
   with h = m2 l1 d2 sin q2:
   a. the first link at rest, q1' = 0: C2 is zero. The second link turns about the elbow; the shoulder bears -h
      q2'^2.
   b. a straight limb, q2 = 0: both are zero, at any speed. The mass matrix is at its largest, and constant.
   c. a stiff elbow, q2' = 0: C1 is zero. The limb turns as one body; the elbow bears the centrifugal h q1'^2.
   d. 2 q1 + q2 = 180 degrees: C1 is zero, for 2 q1' + q2' = 0. With links of equal length the tip moves on a
      straight line through the shoulder, like a slide.
4. A turning arm on which a mass slides (a polar manipulator), by Lagrange from kinetic and potential energy: tau =
   (I + m r^2) q'' + 2 m r r' q' + m g r cos q and f = m r'' - m r q'^2 + m g sin q. The recursion of an open chain
   of a hinge and a slide gives the same.
5. A pendulum on a cart, likewise: F = (M + m) x'' + m d (q'' cos q - q'^2 sin q) and tau = (I + m d^2) q'' + m d x''
   cos q + m g d sin q.

``python docs/examples/exercises.py [output.svg]`` draws the figure. It needs sympy (``pip install sympy``).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import sympy as sp
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from gaitlab.pipeline.dynamics.screws import pose, spatial_inertia
from gaitlab.pipeline.extras.teaching import open_chain, planar
from gaitlab.pipeline.extras.teaching.open_chain import Chain, Surroundings
from gaitlab.pipeline.extras.teaching.reaching import minimum_jerk

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

G = 9.81
DOWN, TABLE = np.array([0, -G]), np.zeros(2)
LINK = planar.Links(*(np.array([value]) for value in (0.35, 0.22, 1.5, 0.015)))
EQUAL = planar.rods(np.array([2.0, 1.5]), np.array([0.3, 0.3]))
TIME = np.linspace(0, 1, 1001)
RISE_S, PUSH_N_M = 0.5, 2.0
HANGING, LEVEL = np.array([-np.pi / 2]), np.zeros(1)


def swing(torque: Any, duration_s: float) -> Array:
    """Return angle and rate (time, 2) of the link that hangs at first, under a torque by time, N m."""

    def rate(t: float, state: Array) -> list[float]:
        return [state[1], *planar.forward_dynamics(LINK, state[:1], state[1:], np.atleast_1d(torque(t)), DOWN)]

    time = TIME * duration_s
    return np.asarray(solve_ivp(rate, (0, duration_s), [HANGING[0], 0], t_eval=time, rtol=1e-10, atol=1e-12).y.T)


def lifted_torque(t: Array) -> Array:
    """Return the torque (time) that lifts the link within half a second, N m."""
    q, qd, qdd = minimum_jerk(HANGING, LEVEL, np.atleast_1d(t), duration_s=RISE_S)
    return planar.inverse_dynamics(LINK, q, qd, qdd, DOWN)[:, 0]


def velocity_torques(q: list[float], qd: list[float]) -> Array:
    """Return C1 and C2 of two links of equal length on a table, N m."""
    return planar.velocity_torque(EQUAL, np.array(q), np.array(qd))


def lagrange(kinetic: sp.Expr, potential: sp.Expr, q: list[sp.Function], values: dict[sp.Basic, float]) -> Array:
    """Return the generalized forces, d/dt dL/dq' - dL/dq, with numbers for its symbols."""
    t = sp.Symbol("t")
    energy = kinetic - potential
    forces = [sp.diff(sp.diff(energy, sp.diff(angle, t)), t) - sp.diff(energy, angle) for angle in q]
    return np.array([float(force.doit().subs(values)) for force in forces])


def machines(state: Array) -> dict[str, tuple[Array, Array]]:
    """Return the forces of both machines by Lagrange and by recursion; state: (q, q', q'') of the joints (3, 2)."""
    t = sp.Symbol("t")
    first, second = (sp.Function(name)(t) for name in ("a", "b"))
    values = {sp.diff(q, t, order): state[order, i] for i, q in enumerate((first, second)) for order in (2, 1, 0)}
    first_rate, second_rate = sp.diff(first, t), sp.diff(second, t)
    arm_inertia, mass, cart, to_com, inertia = 0.4, 1.2, 3.0, 0.25, 0.02
    turn, slide, down = np.eye(6)[2], np.eye(6)[3], np.array([0, -G, 0])
    around, still = Surroundings(gravity=down), pose(np.eye(3), np.zeros(3))

    arm = spatial_inertia(np.array(0.0), np.zeros(3), np.diag([0, 0, arm_inertia]))
    slider = spatial_inertia(np.array(mass), np.zeros(3), np.zeros((3, 3)))
    polar = Chain(np.stack([turn, slide]), np.stack([still, still]), np.stack([arm, slider]), still)
    energy = (arm_inertia + mass * second**2) * first_rate**2 / 2 + mass * second_rate**2 / 2
    by_energy = lagrange(energy, mass * G * second * sp.sin(first), [first, second], values)

    wagon = spatial_inertia(np.array(cart), np.zeros(3), np.zeros((3, 3)))
    bob = spatial_inertia(np.array(mass), np.array([0, -to_com, 0]), np.diag([0, 0, inertia]))
    pendulum = Chain(np.stack([slide, turn]), np.stack([still, still]), np.stack([wagon, bob]), still)
    x, y = first + to_com * sp.sin(second), -to_com * sp.cos(second)
    moving = cart * first_rate**2 + mass * (sp.diff(x, t) ** 2 + sp.diff(y, t) ** 2) + inertia * second_rate**2
    on_cart = lagrange(moving / 2, mass * G * y, [first, second], values)
    return {
        "polar manipulator": (by_energy, open_chain.inverse_dynamics(polar, *state, around)),
        "pendulum on a cart": (on_cart, open_chain.inverse_dynamics(pendulum, *state, around)),
    }


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above."""
    needed = lifted_torque(TIME * RISE_S)
    risen, pushed = swing(lifted_torque, RISE_S), swing(lambda _: PUSH_N_M, 2)
    weight = (LINK.mass * LINK.to_com)[0] * G
    top = pushed[:, 0].max() - HANGING[0]
    first = np.radians(np.linspace(20, 80, 5))
    slid = planar.tip(EQUAL, np.stack([first, np.pi - 2 * first], axis=-1))

    figure = Figure((11, 3.4), layout="constrained")
    torque, angle, limb = figure.subplots(1, 3)
    torque.plot(TIME * RISE_S, needed)
    torque.set(title="torque that lifts a link, N m", xlabel="s")
    angle.plot(TIME * 2, np.degrees(pushed[:, 0] - HANGING[0]))
    angle.set(title=f"angle under a constant {PUSH_N_M:g} N m, degrees", xlabel="s")
    for bend in first:
        limb.plot(*planar.joints(EQUAL, np.array([bend, np.pi - 2 * bend])).T, "o-", color="0.6")
    limb.plot(*slid.T, "k.-")
    limb.set(aspect="equal", title="2 q1 + q2 = 180 degrees", xlabel="m", ylabel="m")
    with mpl.rc_context({"svg.hashsalt": "exercises"}):
        figure.savefig(output, metadata={"Date": None})

    return {
        "torque at the end, and m g d, N m": (needed[-1], weight),
        "largest torque, N m, and when, s": (needed.max(), TIME[needed.argmax()] * RISE_S),
        "angle after the torque of the rise, rad": risen[-1],
        "highest angle under a constant torque, degrees": np.degrees(top),
        "work there, and energy of height, J": (PUSH_N_M * top, weight * (1 - np.cos(top))),
        "torque to go over the top, N m": max((1 - np.cos(q)) / q for q in np.linspace(1, 3, 2001)) * weight,
        "a. first link at rest": velocity_torques([0.4, 1.1], [0, 3]),
        "b. straight": velocity_torques([0.4, 0], [2, 3]),
        "c. stiff elbow": velocity_torques([0.4, 1.1], [2, 0]),
        "d. 2 q1 + q2 = 180 degrees": velocity_torques([0.7, np.pi - 1.4], [2, -4]),
        "way of the tip across the line, m": np.ptp(slid[:, 0]),
        "machines": machines(np.array([[0.4, 0.7], [1.3, -0.8], [2.1, 1.7]])),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "exercises.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
