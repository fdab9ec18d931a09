"""Moment arms of strings: by the length, by the lever, and by the triangle.

An arm in a plane has an elbow flexor, an elbow extensor and a muscle over both joints, each a string through points
fixed on the bones. The elbow is bent from 10 to 150 degrees at a shoulder that keeps still.

1. Virtual work: a muscle that turns a joint by dq shortens by R dq, so that R = -dL/dq. The points of the figure are
   differences of the length; the lines are the motion of the string's points along the string.
2. The lever, r x u of the parts of the string that cross the joint, is the same number.
3. The flexor runs from a = 240 mm above the elbow to b = 40 mm below it: R = a b sin(q) / L, at most b, where it meets
   the forearm at a right angle: cos(q) = -b / a, near 100 degrees.
4. The two-joint muscle has an arm at each joint. When the elbow alone is bent, the arm at the shoulder stays the same,
   because the part of the string that crosses the shoulder does not move.

``python docs/examples/moment_arms.py [output.svg]`` draws the figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from gaitlab.pipeline.extras.teaching import planar
from gaitlab.pipeline.extras.teaching.muscles import Muscle, lengths, levers, moment_arms, path

HOUSE = Path(__file__).resolve().parents[2]

ARM = planar.rods(np.array([2.0, 1.5]), np.array([0.32, 0.35]))
ABOVE, BELOW = 0.24, 0.04
MUSCLES = {
    "elbow flexor": Muscle((1, 2), np.array([[0.32 - ABOVE, 0], [BELOW, 0]])),
    "elbow extensor": Muscle((1, 2), np.array([[0.1, -0.03], [-0.025, -0.012]])),
    "over both joints": Muscle((0, 1, 2), np.array([[0.02, 0.05], [0.24, 0.035], [0.05, 0.005]])),
}
SHOULDER = np.radians(-60)


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above, arms in m."""
    elbow = np.radians(np.linspace(10, 150, 141))
    q = np.stack([np.full_like(elbow, SHOULDER), elbow], axis=-1)
    strings = list(MUSCLES.values())
    length, arms = lengths(ARM, strings, q), moment_arms(ARM, strings, q)
    step = 1e-5
    ahead, behind = (lengths(ARM, strings, q + np.array([0, change])) for change in (step, -step))
    slope = (behind - ahead) / (2 * step)
    triangle = ABOVE * BELOW * np.sin(elbow) / np.sqrt(ABOVE**2 + BELOW**2 + 2 * ABOVE * BELOW * np.cos(elbow))

    figure = Figure((11, 3.6), layout="constrained")
    drawn, long, turning = figure.subplots(1, 3)
    drawn.plot(*planar.joints(ARM, q[80]).T, "o-", color="0.7", linewidth=6)
    degrees = np.degrees(elbow)
    for i, (name, muscle) in enumerate(MUSCLES.items()):
        drawn.plot(*path(ARM, muscle, q[80]).T, ".-", label=name)
        long.plot(degrees, 1000 * length[:, i])
        (line,) = turning.plot(degrees, 1000 * arms[:, i, 1])
        turning.plot(degrees[::10], 1000 * slope[::10, i], ".", color=line.get_color())
    turning.plot(degrees, 1000 * arms[:, 2, 0], "--", color=line.get_color(), label="at the shoulder")
    drawn.set(aspect="equal", title="elbow at 90 degrees", xlabel="m", ylabel="m")
    drawn.legend(fontsize="small", loc="upper right")
    long.set(title="length, mm", xlabel="elbow, degrees")
    turning.axhline(0, color="0.8", linewidth=0.8)
    turning.set(title="moment arm at the elbow, mm", xlabel="elbow, degrees")
    turning.legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "moment_arms"}):
        figure.savefig(output, metadata={"Date": None})

    return {
        "largest difference of lever and virtual work": np.abs(levers(ARM, strings, q) - arms).max(),
        "largest difference of flexor and triangle": np.abs(arms[:, 0, 1] - triangle).max(),
        "largest difference of arms and slopes of the length": np.abs(arms[..., 1] - slope).max(),
        "largest arm of the flexor": arms[:, 0, 1].max(),
        "elbow there, degrees": degrees[arms[:, 0, 1].argmax()],
        "change of the arm at the shoulder": np.ptp(arms[:, 2, 0]),
        "arms over both joints at 90 degrees": arms[80, 2],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "moment_arms.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
