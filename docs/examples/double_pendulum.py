"""A double pendulum: known solutions, and the errors of a poor integration.

Two point masses of 1 kg hang one below the other on massless links of half a metre.

1. Small swings are the sum of two simple ones, in phase and in opposite phase, with omega^2 = g / l (2 -+ sqrt(2)):
   periods of 1.85 and 0.77 s.
2. Large swings have no such formula, but their energy is constant. The eighth-order rule of ``simulate`` keeps the
   14.7 J of a pendulum released with both links horizontal to within 1e-8 J for 20 s.
3. Explicit Euler, q += q' dt, gains energy all the time. During the first second, half the step gives half the error.
4. The motion is chaotic: two pendulums released a millionth of a radian apart have unrelated positions after 15 s.
   Each motion obeys Newton's laws; a more accurate rule cannot predict which one occurs.

``python docs/examples/double_pendulum.py [output.svg]`` draws the figure.
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
from gaitlab.pipeline.extras.teaching.equations_of_motion import explicit_euler, simulate
from gaitlab.pipeline.extras.teaching.planar import point_masses

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

GRAVITY, LENGTH = 9.81, 0.5
LINKS = point_masses(np.ones(2), np.full(2, LENGTH))
LEVEL, REST = np.full(2, np.pi / 2), np.zeros(2)  # angles from the downward vertical
STEPS_S = (0.001, 0.0005)


def free(_: float, theta: Array, rate: Array) -> Array:
    """Return the accelerations of free pendulums, two angles each."""
    theta, rate = theta.reshape(-1, 2), rate.reshape(-1, 2)
    return pendulum.forward_dynamics(LINKS, theta, rate, gravity_m_s2=GRAVITY).ravel()


def energy(theta: Array, rate: Array) -> Array:
    """Return kinetic plus potential energy, J."""
    return np.asarray(pendulum.energy(LINKS, theta, rate, gravity_m_s2=GRAVITY).sum(axis=-1))


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above."""
    omega, _ = pendulum.normal_modes(LINKS, gravity_m_s2=GRAVITY)
    time = np.linspace(0, 20, 2001)
    shifted = LEVEL + np.array([1e-6, 0])
    both = simulate(free, np.append(LEVEL, shifted), np.zeros(4), time, tolerance=1e-11)
    (theta, rate), neighbour = (part[:, :2] for part in both), both[0][:, 2:]
    by_euler = {step: explicit_euler(free, LEVEL, REST, np.linspace(0, 1, round(1 / step) + 1)) for step in STEPS_S}

    figure = Figure((11, 3.6), layout="constrained")
    path, energies, angles = figure.subplots(1, 3)
    places = np.cumsum(LENGTH * np.stack([np.sin(theta), -np.cos(theta)], axis=-1), axis=1)[:500]
    path.plot(*places[:, 1].T, linewidth=0.8)
    path.plot(*np.vstack([[0, 0], places[-1]]).T, "ko-")
    path.set(aspect="equal", title="lower mass, 5 s", xlabel="m", ylabel="m")
    gained = {step: energy(*states) - energy(LEVEL, REST) for step, states in by_euler.items()}
    for step, curve in gained.items():
        energies.plot(np.linspace(0, 1, len(curve)), curve, label=f"Euler, {step} s")
    energies.plot(time[:101], energy(theta, rate)[:101] - energy(LEVEL, REST), "k", label="eighth order")
    energies.set(title="energy gained, J", xlabel="s")
    energies.legend()
    angles.plot(time, theta[:, 1], time, neighbour[:, 1], "--")
    angles.set(title="lower angle, rad, of two neighbours", xlabel="s")
    with mpl.rc_context({"svg.hashsalt": "double_pendulum"}):
        figure.savefig(output, metadata={"Date": None})

    apart = np.abs(theta - neighbour)
    return {
        "period of the modes, s": 2 * np.pi / omega,
        "energy at the start, J": energy(LEVEL, REST),
        "change of energy in 20 s, J": np.ptp(energy(theta, rate)),
        "energy gained by Euler in 1 s, J": np.array([curve[-1] for curve in gained.values()]),
        "error of Euler after 1 s, rad": np.array([np.linalg.norm(x[-1] - theta[100]) for x, _ in by_euler.values()]),
        "neighbours apart, first 5 s and last 5 s, rad": np.array([apart[time < 5].max(), apart[time > 15].max()]),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "double_pendulum.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
