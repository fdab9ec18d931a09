"""Which muscles make the torques of a reach, and which joints a muscle moves.

The arm of ``reaching.py`` makes its fast reach on a table. Six muscles move it: a flexor and an extensor of the
shoulder, of the elbow, and of both. Their strings give the moment arms.

1. Six forces for two torques: of all that are possible, those with the least sum of squared stresses, below 35 N/cm2.
   They give the torques of the reach to 1e-9 N m.
2. At each instant at least two muscles are silent. The extensor of both joints helps to stop the shoulder, and the
   elbow flexor makes up for what it does at the elbow: muscles that pull against each other can cost least.
3. A muscle moves joints that it does not cross. A person stands with bent knees, as three links above the ankle. The
   soleus crosses the ankle alone, but through the inertia of the links it accelerates the knee into extension, by
   more than it does the ankle (Zajac and Gordon 1989).
4. The gastrocnemius crosses ankle and knee, where its torque is one of flexion. Yet it accelerates the knee into
   **extension**, and the hip, which it does not cross, into flexion.

``python docs/examples/muscle_forces.py [output.svg]`` draws the figure.
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
from gaitlab.pipeline.extras.teaching.muscle_forces import induced_accelerations, joint_mass_matrix, share
from gaitlab.pipeline.extras.teaching.muscles import Muscle, moment_arms
from gaitlab.pipeline.extras.teaching.reaching import reach

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

# the arm of reaching.py: a person of 70 kg and 1.75 m (Winter 2009), and its fast reach
MASS, BONE = 70 * np.array([0.028, 0.022]), 1.75 * np.array([0.186, 0.146])
ARM = planar.Links(
    length=np.array([BONE[0], BONE[1] + 0.09]),
    to_com=BONE * np.array([0.436, 0.682]),
    mass=MASS,
    inertia=MASS * (BONE * np.array([0.322, 0.468])) ** 2,
)
START, END, DURATION_S = np.array([0.3, 0.25]), np.array([-0.15, 0.4]), 0.5
MUSCLES = {
    "shoulder flexor": Muscle((0, 1), np.array([[-0.04, 0.05], [0.12, 0.02]])),
    "shoulder extensor": Muscle((0, 1), np.array([[0.0, -0.06], [0.12, -0.02]])),
    "elbow flexor": Muscle((1, 2), np.array([[0.1, 0.02], [0.04, 0.01]])),
    "elbow extensor": Muscle((1, 2), np.array([[0.1, -0.03], [-0.025, -0.012]])),
    "flexor of both": Muscle((0, 1, 2), np.array([[-0.01, 0.04], [0.22, 0.035], [0.05, 0.005]])),
    "extensor of both": Muscle((0, 1, 2), np.array([[-0.01, -0.04], [0.2, -0.04], [-0.025, -0.012]])),
}
AREA_M2, LARGEST_STRESS_PA = 1e-4 * np.array([16, 14, 9, 9, 4, 6]), 35e4

# shank, thigh, and trunk with head and arms of 75 kg and 1.75 m (Winter 2009), both legs together, from the ankle up
BODY_MASS = 75 * np.array([0.093, 0.2, 0.678])
BODY_LENGTH = 1.75 * np.array([0.246, 0.245, 0.47])
BODY = planar.Links(
    length=BODY_LENGTH,
    to_com=BODY_LENGTH * np.array([0.567, 0.567, 0.626 * 0.288 / 0.47]),
    mass=BODY_MASS,
    inertia=BODY_MASS * (BODY_LENGTH * np.array([0.302, 0.323, 0.496 * 0.288 / 0.47])) ** 2,
)
# the person faces x: shank 15 degrees ahead of the vertical, knee bent by 40, hip by 30
STANDING = np.radians([75, 40, -30])
# arms at ankle, knee and hip, m; positive turns the upper link back, as plantarflexion, knee flexion, hip extension do
LEG = {
    "soleus": [0.05, 0, 0],
    "gastrocnemius": [0.05, 0.02, 0],
    "vasti": [0, -0.04, 0],
    "rectus femoris": [0, -0.04, -0.04],
    "hamstrings": [0, 0.03, 0.06],
    "gluteus": [0, 0, 0.05],
}
JOINTS = ("ankle, plantarflexion", "knee, flexion", "hip, extension")


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above."""
    time = np.linspace(0, DURATION_S, 101)
    q, qd, qdd = reach(ARM, START, END, time, duration_s=DURATION_S)
    torque, arms = planar.inverse_dynamics(ARM, q, qd, qdd), moment_arms(ARM, list(MUSCLES.values()), q)
    most = AREA_M2 * LARGEST_STRESS_PA
    force = np.stack([share(*instant, AREA_M2, most) for instant in zip(arms, torque, strict=True)])

    mass = joint_mass_matrix(BODY, STANDING)
    induced = induced_accelerations(mass, np.array(list(LEG.values()), dtype=float), np.full(len(LEG), 100.0))

    figure = Figure((11, 3.6), layout="constrained")
    needed, pulls, moved = figure.subplots(1, 3, width_ratios=(1, 1.2, 1.5))
    needed.plot(time, torque, label=("shoulder", "elbow"))
    needed.set(title="torques of the reach, N m", xlabel="s")
    needed.legend(fontsize="small")
    for i, name in enumerate(MUSCLES):
        pulls.plot(time, force[:, i], label=name)
    pulls.set(title="muscle forces, N", xlabel="s", ylim=(-10, 390))
    pulls.legend(fontsize="small", loc="upper left")
    places = np.arange(len(LEG))
    for i, joint in enumerate(JOINTS):
        moved.bar(places + 0.27 * (i - 1), induced[:, i], 0.25, label=joint)
    moved.axhline(0, color="k", linewidth=0.8)
    moved.set_xticks(places, list(LEG), fontsize="small", rotation=20)
    moved.set(title="standing: acceleration by 100 N, rad/s2")
    moved.legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "muscle_forces"}):
        figure.savefig(output, metadata={"Date": None})

    made = (arms * force[..., None]).sum(axis=1)
    return {
        "torques of the muscles, from those of the reach, N m": np.abs(made - torque).max(),
        "largest stress, share of the limit": (force / most).max(),
        "least number of silent muscles": int((force < 1e-9).sum(axis=1).min()),
        "silent muscles by instant, most": int((force < 1e-9).sum(axis=1).max()),
        "largest force of each muscle, N": dict(zip(MUSCLES, force.max(axis=0).round(1).tolist(), strict=True)),
        "induced by 100 N at ankle, knee and hip, rad/s2": dict(zip(LEG, induced.round(2).tolist(), strict=True)),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "muscle_forces.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
