"""A reach, simulated from its own torques: inverse dynamics, then forward dynamics.

The arm of a person of 70 kg and 1.70 m (shoulder to elbow, elbow to finger tip; Dempster) moves the finger tip from
beside the hanging body to where the upper arm points ahead and the forearm up, on the smoothest straight path (Flash
and Hogan 1985), in 4 s and in 0.5 s. Person and path are those of Duarte M, "Multibody dynamics of simple biomechanical
models", in Duarte M, Watanabe RN, Notes on Scientific Computing for Biomechanics and Motor Control
(github.com/BMClab/BMC), which proposes to feed the torques of inverse dynamics into a forward simulation.

1. The arm hangs straight in the source. A straight elbow would need an acceleration without limit to begin, which
   ``reach`` refuses. Differences of angles hide it: the more samples, the larger the largest acceleration of the elbow,
   338, 835 and 2656 rad/s2 with 100, 1000 and 10 000 samples of the fast reach. Here the elbow is bent by 5 degrees.
2. With the torques at every instant, the simulation gives the path back, to 1e-7 m in both reaches.
3. With torques known at 101 instants only, and straight lines between them, the open loop drifts: 4 mm in the fast
   reach, 0.66 m in the slow one. An arm that is held up is unstable like a pendulum on its head.
4. Feedback of the errors of both joints (PID) keeps the finger within 0.5 mm of the path in both reaches.

``python docs/examples/reaching_simulated.py [output.svg]`` draws the figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gaitlab.pipeline.errors import UserError
from gaitlab.pipeline.extras.teaching import planar
from gaitlab.pipeline.extras.teaching.control import OPEN_LOOP, Gains, Plan, simulate_controlled
from gaitlab.pipeline.extras.teaching.reaching import angles_at, minimum_jerk, reach

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

LENGTH, MASS = 1.70 * np.array([0.188, 0.253]), 70 * np.array([0.028, 0.022])
ARM = planar.Links(LENGTH, LENGTH * np.array([0.436, 0.682]), MASS, MASS * (LENGTH * np.array([0.322, 0.468])) ** 2)
DOWN = np.array([0, -9.81])
STRAIGHT, END = np.array([0, -LENGTH.sum()]), LENGTH  # upper arm ahead, forearm up
START = planar.tip(ARM, np.radians([-90, 5]))
SLOW_S, FAST_S = 4.0, 0.5
FEEDBACK = Gains(np.array([40.0, 20]), np.array([40.0, 20]), np.array([4.0, 1.5]))
WAYS = {"all torques": (False, OPEN_LOOP), "101 torques": (True, OPEN_LOOP), "with feedback": (True, FEEDBACK)}


def torques(duration_s: float, time: Array) -> tuple[Array, Array, Array]:
    """Return q, q' and the joint torques of the reach, (time, 2) each."""
    q, qd, qdd = reach(ARM, START, END, time, duration_s=duration_s)
    return q, qd, planar.inverse_dynamics(ARM, q, qd, qdd, DOWN)


def plan_of(duration_s: float, *, sampled: bool) -> Plan:
    """Return angles, rates and torques at any time; torques by straight lines between 101 instants if sampled."""
    instants = np.linspace(0, duration_s, 101)
    known = torques(duration_s, instants)[2]

    def plan(t: float) -> tuple[Array, Array, Array]:
        q, qd, torque = (part[0] for part in torques(duration_s, np.array([t])))
        if sampled:
            torque = np.array([np.interp(t, instants, column) for column in known.T])
        return q, qd, torque

    return plan


def simulated(duration_s: float, *, sampled: bool, gains: Gains, time: Array) -> Array:
    """Return the path of the finger tip, (time, 2), m."""
    start = np.radians([-90, 5])
    found = simulate_controlled(
        lambda _, q, qd, torque: planar.forward_dynamics(ARM, q, qd, torque, DOWN),
        start, 0 * start, plan_of(duration_s, sampled=sampled), gains, time, tolerance=1e-6 if sampled else 1e-9,
    )  # fmt: skip
    return planar.tip(ARM, found.q)


def largest_by_differences(samples: int) -> float:
    """Return the largest acceleration of the elbow in the fast reach from straight, by differences, rad/s2."""
    time = np.linspace(0, FAST_S, samples + 1)
    q = np.unwrap(angles_at(ARM, minimum_jerk(STRAIGHT, END, time, duration_s=FAST_S)[0])[:, 0], axis=0)
    return float(np.abs(np.gradient(np.gradient(q, time, axis=0), time, axis=0))[:, 1].max())


def refusal() -> str:
    """Return the message for the reach from a straight arm."""
    try:
        reach(ARM, STRAIGHT, END, np.linspace(0, FAST_S, 101), duration_s=FAST_S)
    except UserError as error:
        return str(error)
    raise AssertionError("a straight arm was not refused")


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above."""
    paths, errors = {}, {}
    for duration_s in (SLOW_S, FAST_S):
        time = np.linspace(0, duration_s, 41)
        wanted = minimum_jerk(START, END, time, duration_s=duration_s)[0]
        for name, (sampled, gains) in WAYS.items():
            paths[duration_s, name] = simulated(duration_s, sampled=sampled, gains=gains, time=time)
            errors[duration_s, name] = np.linalg.norm(paths[duration_s, name] - wanted, axis=1)

    figure = Figure((11, 3.6), layout="constrained")
    arm, slow, off = figure.subplots(1, 3)
    time = np.linspace(0, SLOW_S, 41)
    for shape in planar.joints(ARM, torques(SLOW_S, time)[0][::4]):
        arm.plot(*shape.T, "o-", color="0.8", markersize=3)
    for name, style in zip(WAYS, ("k", "r--", "c:"), strict=True):
        arm.plot(*paths[SLOW_S, name].T, style, linewidth=2, label=name)
        off.semilogy(time / SLOW_S, np.maximum(errors[SLOW_S, name], 1e-16), style)
    arm.set(aspect="equal", title="finger tip, 4 s", xlabel="m", ylabel="m")
    arm.legend(fontsize="small")
    for duration_s, line in ((SLOW_S, "--"), (FAST_S, "-")):
        of_joints = torques(duration_s, np.linspace(0, duration_s, 101))[2]
        for i, joint in enumerate(("shoulder", "elbow")):
            slow.plot(np.linspace(0, 1, 101), of_joints[:, i], line, color=f"C{i}", label=f"{joint}, {duration_s:g} s")
    slow.set(title="torques, N m", xlabel="share of the time")
    slow.legend(fontsize="small")
    off.set(title="finger tip from its path, m (4 s)", xlabel="share of the time")
    with mpl.rc_context({"svg.hashsalt": "reaching_simulated"}):
        figure.savefig(output, metadata={"Date": None})

    return {
        "straight start": refusal(),
        "elbow by differences of 100, 1000, 10 000 samples, rad/s2": np.array(
            [largest_by_differences(count) for count in (100, 1000, 10000)]
        ),
        "largest distance from the path, m": {key: float(error.max()) for key, error in errors.items()},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "reaching_simulated.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
