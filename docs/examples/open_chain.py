"""An arm as an open chain: torques by recursion and in closed form, and the arm as its hand feels it.

An arm in space has two hinges at the shoulder, flexion about z and abduction about x, and one at the elbow. Upper arm
and forearm are cylinders. It moves on sines of three frequencies under gravity.

1. The recursion, out with the motion and back with the wrenches, and the closed form
   tau = M(q) q'' + C(q, q') q' + g(q) give the same torques.
2. M' - 2 C is skew-symmetric: the power of the velocity torques, q' . C q', is what the kinetic energy gains because
   the mass matrix changes, q' . M' q' / 2, and nothing else.
3. From the hand, the arm is a mass that differs by direction: f = Lambda(q) x'' + eta, with
   Lambda = (J M^-1 J^T)^-1. With the elbow at 90 degrees a force along the forearm meets 2.2 kg, one
   across it 0.5 kg (Khatib 1987).
4. The straighter the arm, the larger the mass along it: 40 kg at 10 degrees from straight. A straight arm does not
   yield along its length at all.

``python docs/examples/open_chain.py [output.svg]`` draws the figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gaitlab.pipeline.dynamics.limb import task_space
from gaitlab.pipeline.dynamics.screws import pose, spatial_inertia
from gaitlab.pipeline.extras.teaching import open_chain
from gaitlab.pipeline.extras.teaching.equations_of_motion import (
    TERMS,
    coriolis_matrix,
    gravity_torque,
    mass_matrix,
    torque_terms,
)
from gaitlab.pipeline.extras.teaching.open_chain import Chain, Surroundings

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

LENGTH, MASS, RADIUS = np.array([0.32, 0.35]), np.array([2.0, 1.5]), np.array([0.045, 0.035])
DOWN = np.array([0, -9.81, 0])
BENDS = (120, 90, 45)  # of the elbow, degrees


def arm() -> Chain:
    """Return the chain: flexion, abduction, elbow; x ahead, y up, the arm hangs down at q = 0."""
    across, axial = MASS * (3 * RADIUS**2 + LENGTH**2) / 12, MASS * RADIUS**2 / 2
    tensor = np.stack([across, axial, across], axis=-1)[:, None, :] * np.eye(3)
    links = spatial_inertia(MASS, LENGTH[:, None] * np.array([0, -0.5, 0]), tensor)
    screw = np.zeros((3, 6))
    screw[[0, 1, 2], [2, 0, 2]] = 1
    home = pose(np.eye(3), np.array([[0, 0, 0], [0, 0, 0], [0, -LENGTH[0], 0]]))
    return Chain(screw, home, np.stack([0 * links[0], *links]), pose(np.eye(3), np.array([0, -LENGTH[1], 0])))


def motion(time: Array) -> tuple[Array, Array, Array]:
    """Return q, q' and q'' (time, 3)."""
    size, pace, start = np.array([0.8, 0.4, 0.6]), np.array([3.0, 5, 7]), np.array([0.3, 0.2, 1.0])
    phase = pace * time[:, None]
    return start + size * np.sin(phase), size * pace * np.cos(phase), -size * pace**2 * np.sin(phase)


def hand(chain: Chain, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return the Jacobian of the hand's velocity in base axes and its rate, (..., 3, 3) each."""
    jacobian, rate = open_chain.body_jacobian(chain, q, qd)
    turn = open_chain.tip_pose(chain, q)[..., :3, :3]
    spin = (jacobian[..., :3, :] @ qd[..., None])[..., 0]
    turning = np.cross(spin[..., None, :], np.swapaxes(jacobian[..., 3:, :], -1, -2))
    return turn @ jacobian[..., 3:, :], turn @ (rate[..., 3:, :] + np.swapaxes(turning, -1, -2))


def felt_mass(chain: Chain, elbow: float, direction: Array) -> Array:
    """Return the mass that a force on the hand meets in each direction of the plane of the arm, kg."""
    q = np.array([0.0, 0, np.radians(elbow)])
    jacobian, _ = hand(chain, q, 0 * q)
    yields = jacobian @ np.linalg.solve(mass_matrix(chain, q), jacobian.T)
    return np.asarray(1 / np.einsum("ki,ij,kj->k", direction, yields, direction))


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above."""
    chain, time = arm(), np.linspace(0, 2, 401)
    q, qd, qdd = motion(time)
    around = Surroundings(gravity=DOWN)
    terms, recursion = torque_terms(chain, q, qd, qdd, around), open_chain.inverse_dynamics(chain, q, qd, qdd, around)
    mass, coriolis, weight = mass_matrix(chain, q), coriolis_matrix(chain, q, qd), gravity_torque(chain, q, DOWN)
    closed = (mass @ qdd[..., None] + coriolis @ qd[..., None])[..., 0] + weight
    jacobian, rate = hand(chain, q, qd)
    lam, eta = task_space(mass, closed - (mass @ qdd[..., None])[..., 0], jacobian, rate, qd)
    acceleration = (jacobian @ qdd[..., None] + rate @ qd[..., None])[..., 0]
    force = (lam @ acceleration[..., None])[..., 0] + eta
    step = 1e-5
    after, before = (mass_matrix(chain, q + qd * ahead) for ahead in (step, -step))
    change = (after - before) / (2 * step)
    skew = change - 2 * coriolis

    figure = Figure((11, 3.6), layout="constrained")
    torque, power, seen = figure.subplots(1, 3)
    for i, term in enumerate(TERMS[:3]):
        torque.plot(time, terms[:, i, 2], label=term)
    torque.plot(time, terms[:, :, 2].sum(axis=1), "k", label="closed form")
    torque.plot(time[::20], recursion[::20, 2], "k.", label="recursion")
    torque.set(title="torque at the elbow, N m", xlabel="s")
    torque.legend(fontsize="small")
    power.plot(time, (qd * (coriolis @ qd[..., None])[..., 0]).sum(axis=1), label="q' . C q'")
    power.plot(time[::10], (qd * (change @ qd[..., None])[..., 0]).sum(axis=1)[::10] / 2, ".", label="q' . M' q' / 2")
    power.set(title="power of the velocity torques, W", xlabel="s")
    power.legend(fontsize="small")
    angle = np.radians(np.arange(0, 361, 2))
    direction = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    for bend in BENDS:
        felt = felt_mass(chain, bend, direction)
        seen.plot(*(felt[:, None] * direction).T[:2], label=f"elbow at {bend} degrees")
    seen.set(aspect="equal", title="mass at the hand by direction, kg", xlabel="ahead")
    seen.set_ylabel("up")
    seen.legend(fontsize="small", loc="lower left")
    with mpl.rc_context({"svg.hashsalt": "open_chain"}):
        figure.savefig(output, metadata={"Date": None})

    forearm = felt_mass(chain, 90, np.eye(3)[:2])
    straight = felt_mass(chain, 10, np.stack([np.sin(angle / 2), -np.cos(angle / 2), 0 * angle], axis=-1))
    return {
        "recursion, from the closed form, N m": np.abs(recursion - closed).max(),
        "recursion, from the sum of the terms, N m": np.abs(recursion - terms.sum(axis=1)).max(),
        "M' - 2 C plus its transpose": np.abs(skew + np.swapaxes(skew, -1, -2)).max(),
        "J^T f, from the torques, N m": np.abs(
            (np.swapaxes(jacobian, -1, -2) @ force[..., None])[..., 0] - closed
        ).max(),
        "mass along and across the forearm at 90 degrees, kg": forearm,
        "largest mass at 10 degrees from straight, kg": straight.max(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "open_chain.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
