"""A Hill-type muscle lifts a forearm, with a rigid and with a compliant tendon.

A forearm hangs from an upper arm at rest. An elbow flexor of 800 N, with curves and activation as in Thelen (2003), is
excited fully from 50 to 200 ms.

1. The force depends on the length of the fibres and on their velocity. Half of the largest velocity of shortening
   leaves 1/6 of the isometric force; lengthening at a tenth of it takes 1.29 of the isometric force.
2. Activation follows excitation with a delay, of 15 ms where it rises and 50 ms where it falls. The force reaches half
   of its peak 6 ms after the excitation begins with a rigid tendon and 16 ms with a compliant one, which the fibres
   have to stretch first.
3. At any time the work of the fibres is the change of kinetic, potential and elastic energy, to 1e-9 J.
4. The tendon stores 0.9 J of the work, 9.8 J in all, and returns it to the forearm.

``python docs/examples/hill_muscle.py [output.svg]`` draws the figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gaitlab.pipeline.extras.teaching import hill, planar
from gaitlab.pipeline.extras.teaching.hill import Hill
from gaitlab.pipeline.extras.teaching.muscle_driven import Limb, energy, simulate
from gaitlab.pipeline.extras.teaching.muscles import Muscle

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

FOREARM = planar.rods(np.array([1.6]), np.array([0.4]))
# upper arm vertical, the elbow at 0: from 250 mm above the elbow to 40 mm along the forearm
FLEXOR = Muscle((0, 1), np.array([[0.0, 0.25], [0.04, 0.01]]))
SIZES = Hill(np.array([800.0]), np.array([0.13]), np.array([0.155]), np.array([0.1]))
START, REST = np.radians([-80]), np.zeros(1)
TENDONS = {"rigid": False, "compliant": True}
ON_S, OFF_S = 0.05, 0.2


def excitation(t: float) -> Array:
    """Return full excitation for a while."""
    return np.array([1.0 if ON_S <= t < OFF_S else 0.0])


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above, by tendon."""
    time = np.linspace(0, 0.4, 201)
    limbs = {name: Limb(FOREARM, [FLEXOR], SIZES, np.array([0, -9.81]), way) for name, way in TENDONS.items()}
    idle = np.full(1, hill.LEAST_ACTIVATION)
    courses = {
        name: simulate(limb, START, REST, idle, excitation, time, tolerance=1e-12) for name, limb in limbs.items()
    }
    energies = {name: energy(limbs[name], course) for name, course in courses.items()}

    figure = Figure((11, 3.6), layout="constrained")
    curve, force, balance = figure.subplots(1, 3)
    normalised = np.linspace(0.4, 1.6, 121)
    curve.plot(normalised, hill.active_force(normalised), label="active, by length")
    curve.plot(normalised, hill.passive_force(normalised), label="passive, by length")
    velocity = np.linspace(-1, 0.3, 131)
    curve.plot(1 + velocity, hill.velocity_factor(velocity), "--", label="by 1 + velocity")
    curve.set(title="force per largest isometric force", xlabel="length per optimal length")
    curve.legend(fontsize="small")
    for name, course in courses.items():
        force.plot(time, course.force[:, 0], label=f"{name} tendon")
    force.plot(time, 800 * courses["rigid"].activation[:, 0], "0.6", label="800 N times activation")
    force.axvspan(ON_S, OFF_S, color="0.93", zorder=0)
    force.set(title="force of the muscle, N", xlabel="s")
    force.legend(fontsize="small", loc="upper right")
    course, stored = courses["compliant"], energies["compliant"]
    for i, name in enumerate(("kinetic", "potential", "passive", "tendon")):
        balance.plot(time, stored[:, i] - stored[0, i], label=name)
    balance.plot(time, stored.sum(axis=1) - stored[0].sum(), "k", label="sum")
    balance.plot(time[::10], course.work[::10, 0], "k.", label="work of the fibres")
    balance.set(title="energy since the start, J (compliant)", xlabel="s")
    balance.legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "hill_muscle"}):
        figure.savefig(output, metadata={"Date": None})

    half = {name: time[course.force[:, 0] > course.force[:, 0].max() / 2][0] for name, course in courses.items()}
    return {
        "force at half of the largest velocity in shortening, a tenth in lengthening": hill.velocity_factor(
            np.array([-0.5, 0.1])
        ),
        "work less change of energy, J": {
            name: np.abs(part.sum(axis=1) - part[0].sum() - courses[name].work[:, 0]).max()
            for name, part in energies.items()
        },
        "work at the end, J": {name: course.work[-1, 0] for name, course in courses.items()},
        "largest force, N": {name: course.force.max() for name, course in courses.items()},
        "half of the largest force, s": half,
        "elbow at the end, degrees": {name: np.degrees(course.q[-1, 0]) for name, course in courses.items()},
        "most in the tendon, J": np.ptp(stored[:, 3]),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "hill_muscle.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
