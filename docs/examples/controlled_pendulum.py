"""Pendulums with a controller at a joint, and a misprint that looks like chaos.

1. A rod of 1 kg and 1 m is to be held at 60 degrees from hanging down. Feedback of angle and velocity leaves an offset
   where it balances the weight: K_p (wanted - angle) = m g l / 2 sin(angle). The integral of the error removes it.
2. Two rods, 1 m and 0.5 m of 1 kg each, start with a strong swing: angles 18 and 60 degrees from the downward
   vertical, 360 and -1080 degrees/s. A controller at the lower joint, with K_p = 30 N m/rad, K_d = 2 N m s/rad and
   K_i = 3 N m/(rad s), holds the lower rod near 60 degrees. The upper rod has no controller and goes on swinging, so
   the error stays below 8 degrees in the last 5 s without going to zero.
3. The same two rods without a controller. Code with ``m2*g*l2*sin(theta1)`` for the weight of the lower rod on the
   upper angle, where the equation has ``m2*g*l1*sin(theta1)``, is .33 rad off in the upper angle after .5 s and 1.25
   rad after 1 s. Its energy is not constant, which tells an error from chaos: it changes by 6.1 J in 1 s, that of the
   right equation by less than 1e-8 J.

The double pendulum, its controller and the misprint are those of Watanabe RN, "Matrix formalism of the equations of
movement", in Duarte M, Watanabe RN, Notes on Scientific Computing for Biomechanics and Motor Control
(github.com/BMClab/BMC).

``python docs/examples/controlled_pendulum.py [output.svg]`` draws the figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gaitlab.pipeline.extras.teaching import pendulum
from gaitlab.pipeline.extras.teaching.control import Gains, Plan, Plant, simulate_controlled
from gaitlab.pipeline.extras.teaching.equations_of_motion import simulate
from gaitlab.pipeline.extras.teaching.planar import Links, rods

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

GRAVITY, WANTED = 9.81, np.pi / 3
ONE, TWO = rods(np.array([1.0]), np.array([1.0])), rods(np.ones(2), np.array([1.0, 0.5]))
ANGLES, RATES = np.array([np.pi / 10, np.pi / 3]), np.array([2 * np.pi, -6 * np.pi])
HOLDING = {"without integral": Gains(40.0, 0.0, 8.0), "with integral": Gains(40.0, 60.0, 8.0)}
AT_LOWER_JOINT = Gains(np.array([0, 30.0]), np.array([0, 3.0]), np.array([0, 2.0]))


def plant_of(links: Links) -> Plant:
    """Return the pendulum's acceleration with joint torques."""
    return lambda _, theta, rate, torque: pendulum.forward_dynamics(
        links, theta, rate, gravity_m_s2=GRAVITY, torque=torque
    )


def stay(count: int) -> Plan:
    """Return the plan to stay at the wanted angle."""
    return lambda _: (np.full(count, WANTED), np.zeros(count), np.zeros(count))


def free(_: float, theta: Array, rate: Array) -> Array:
    """Return the acceleration of the two rods without torques."""
    return pendulum.forward_dynamics(TWO, theta, rate, gravity_m_s2=GRAVITY)


def misprinted(_: float, theta: Array, rate: Array) -> Array:
    """Return the same with l2 for l1 in the load of the lower rod's weight on the upper angle."""
    too_little = np.array([GRAVITY * TWO.mass[1] * (TWO.length[0] - TWO.length[1]) * np.sin(theta[0]), 0])
    return free(0, theta, rate) + np.linalg.solve(pendulum.mass_matrix(TWO, theta), too_little)


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above, angles in rad."""
    time = np.linspace(0, 10, 1001)
    held = {
        name: simulate_controlled(plant_of(ONE), np.zeros(1), np.zeros(1), stay(1), gains, time)
        for name, gains in HOLDING.items()
    }
    double = simulate_controlled(plant_of(TWO), ANGLES, RATES, stay(2), AT_LOWER_JOINT, time)
    short = np.linspace(0, 1, 101)
    right, wrong = (simulate(law, ANGLES, RATES, short, tolerance=1e-12) for law in (free, misprinted))
    energies = [pendulum.energy(TWO, *states, gravity_m_s2=GRAVITY).sum(axis=1) for states in (right, wrong)]

    figure = Figure((11, 3.6), layout="constrained")
    one, two, off = figure.subplots(1, 3)
    for name, found in held.items():
        one.plot(time[:401], np.degrees(found.q[:401, 0]), label=name)
    one.set(title="one rod, held at 60 degrees", xlabel="s", ylabel="degrees")
    for i, name in enumerate(("upper, free", "lower, controlled")):
        two.plot(time, np.degrees(double.q[:, i]), label=name)
    two.set(title="two rods, one controller", xlabel="s")
    for panel in (one, two):
        panel.axhline(60, color="0.8", linewidth=0.8, zorder=0)
    for name, states, line in (("m2 g l1", right, "-"), ("m2 g l2", wrong, "--")):
        off.plot(short, np.degrees(states[0][:, 0]), line, label=name)
    off.set(title="upper angle without controller", xlabel="s")
    for panel in (one, two, off):
        panel.legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "controlled_pendulum"}):
        figure.savefig(output, metadata={"Date": None})

    apart = np.abs(right[0] - wrong[0])
    offset = WANTED - held["without integral"].q[-1, 0]
    return {
        "offset without integral": offset,
        "its torque, from the weight's, N m": 40 * offset - GRAVITY / 2 * np.sin(WANTED - offset),
        "offset with integral": WANTED - held["with integral"].q[-1, 0],
        "largest error of the lower rod in the last 5 s": np.abs(double.q[time > 5, 1] - WANTED).max(),
        "swing of the upper rod in the last 5 s": np.ptp(double.q[time > 5, 0]),
        "misprint: both angles off after .5 s": apart[50],
        "misprint: both angles off after 1 s": apart[100],
        "change of energy in 1 s, right and misprinted, J": np.array([np.ptp(energy) for energy in energies]),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "controlled_pendulum.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
