"""A slow and a fast reach: torques that depend on speed, and those of gravity.

The arm of a person of 70 kg and 1.75 m, shoulder to hand (Winter 2009, table 4.1: upper arm, forearm and hand), moves
the hand across the body on the smoothest straight path from rest to rest (Flash and Hogan 1985), in 4 s and in 0.5 s.

1. Path and angles are the same, at another pace: in the fast reach velocities are 8 times and accelerations 64 times as
   large.
2. On a table (horizontal plane) every torque is 64 times as large, the inertia torque M q'' and the velocity torque
   alike: both are proportional to 1 / T^2. The fast torques are the slow ones, scaled.
3. Upright, gravity needs the same torque at any pace: at the shoulder's peak 99 % of the slow torque, 50 % of the fast
   one. The factor 64 holds for the rest.
4. The links act on each other: a part of the elbow torque exists only because the shoulder accelerates, and the
   velocity torque at the shoulder only because the elbow turns (Hollerbach and Flash 1982).

``python docs/examples/reaching.py [output.svg]`` draws the figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gaitlab.pipeline.extras.teaching import planar
from gaitlab.pipeline.extras.teaching.reaching import reach

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

# upper arm; forearm and hand, with the tip in the hand: fractions of mass, and of the length from joint to joint
MASS, BONE = 70 * np.array([0.028, 0.022]), 1.75 * np.array([0.186, 0.146])
ARM = planar.Links(
    length=np.array([BONE[0], BONE[1] + 0.09]),
    to_com=BONE * np.array([0.436, 0.682]),
    mass=MASS,
    inertia=MASS * (BONE * np.array([0.322, 0.468])) ** 2,
)
START, END = np.array([0.3, 0.25]), np.array([-0.15, 0.4])  # of the hand, m; the shoulder is at 0
SLOW_S, FAST_S = 4.0, 0.5
PLANES = {"table": np.zeros(2), "upright": np.array([0, -9.81])}


def torques(duration_s: float, gravity: Array) -> Array:
    """Return the torque terms (101, 4, 2) along a reach, N m."""
    time = np.linspace(0, duration_s, 101)
    return planar.torque_terms(ARM, *reach(ARM, START, END, time, duration_s=duration_s), gravity)


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above, torques at shoulder and elbow."""
    q, qd, qdd = reach(ARM, START, END, np.linspace(0, FAST_S, 101), duration_s=FAST_S)
    both = (SLOW_S, FAST_S)
    of_reach = {(plane, pace): torques(pace, gravity) for plane, gravity in PLANES.items() for pace in both}

    figure = Figure((11, 3.6), layout="constrained")
    arm, *panels = figure.subplots(1, 3)
    for shape in planar.joints(ARM, q[::10]):
        arm.plot(*shape.T, "o-", color="0.7", markersize=3)
    arm.plot(*planar.tip(ARM, q).T, "k", linewidth=2)
    arm.set(aspect="equal", title="hand along its way", xlabel="m", ylabel="m")
    share = np.linspace(0, 1, 101)
    for panel, plane in zip(panels, PLANES, strict=True):
        fast, slow = of_reach[plane, FAST_S], of_reach[plane, SLOW_S]
        for i, term in enumerate(planar.TERMS[:3]):
            panel.plot(share, fast[:, i, 0], label=term)
        panel.plot(share, fast.sum(axis=1)[:, 0], "k", label="0.5 s")
        panel.plot(share, slow.sum(axis=1)[:, 0], "k--", label="4 s")
        panel.set(title=f"{plane}: torque at the shoulder", xlabel="share of the time", ylabel="N m")
    panels[1].legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "reaching"}):
        figure.savefig(output, metadata={"Date": None})

    fast, slow = of_reach["table", FAST_S], of_reach["table", SLOW_S]
    upright = np.stack([of_reach["upright", pace][:, :, 0] for pace in both])
    peak = np.abs(upright.sum(axis=2)).argmax(axis=1)
    at_peak = upright[[0, 1], peak]
    from_shoulder = planar.mass_matrix(ARM, q)[:, 1, 0] * qdd[:, 0]
    speed = np.linalg.norm(planar.jacobian(ARM, q) @ qd[..., None], axis=(1, 2))
    return {
        "peak speed over mean speed": speed.max() / (np.linalg.norm(END - START) / FAST_S),
        "peak torques on the table, slow, N m": np.abs(slow.sum(axis=1)).max(axis=0),
        "peak torques on the table, fast, N m": np.abs(fast.sum(axis=1)).max(axis=0),
        "largest departure of any term from 64 times, N m": np.abs(fast - 64 * slow).max(),
        "share of gravity in the shoulder's peak, slow and fast": at_peak[:, 2] / at_peak.sum(axis=1),
        "elbow torque by the shoulder's acceleration, fast, N m": np.abs(from_shoulder).max(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "reaching.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
