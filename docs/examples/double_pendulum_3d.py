"""A double pendulum in space: two cylinders on ball joints, by recursion, closed form and simulation.

Two cylinders hang one below the other. Each ball joint consists of three hinges with massless links between them:
z and x, across the cylinder at rest, then y, along it. So six angles describe the motion.

1. Released with a swing and a spin about its axis, the pendulum moves in all directions. Its energy stays constant to
   1e-9 J in 5 s, and so does its angular momentum about the vertical through the upper joint, which gravity does not
   change.
2. Free joints need no torque: recursion and closed form, fed with the simulated motion, both find zero.
3. For a motion that is chosen, sines of six frequencies, recursion and closed form find the same six torques, and a
   simulation with these torques gives the motion back.
4. Without spin and sideways motion it is the pendulum in a plane, to rounding. A cylinder differs there from a slender
   rod by its radius: I = m (3 r^2 + h^2) / 12.

``python docs/examples/double_pendulum_3d.py [output.svg]`` draws the figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gaitlab.pipeline.dynamics.screws import pose, spatial_inertia
from gaitlab.pipeline.extras.teaching import open_chain, pendulum
from gaitlab.pipeline.extras.teaching.equations_of_motion import (
    coriolis_matrix,
    forward_dynamics,
    gravity_torque,
    mass_matrix,
    simulate,
    torque_terms,
)
from gaitlab.pipeline.extras.teaching.open_chain import (
    Chain,
    Surroundings,
    inverse_dynamics,
    link_jacobians,
    link_poses,
)
from gaitlab.pipeline.extras.teaching.planar import Links

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

HEIGHT, RADIUS, MASS = np.array([0.5, 0.4]), np.array([0.04, 0.06]), np.array([1.0, 1.5])
GRAVITY = 9.81
AROUND = Surroundings(gravity=np.array([0, -GRAVITY, 0]))
ACROSS, ALONG = MASS * (3 * RADIUS**2 + HEIGHT**2) / 12, MASS * RADIUS**2 / 2
BODIES = [2, 5]  # the links with mass


def chain() -> Chain:
    """Return the six hinges; y up, the cylinders hang down at q = 0."""
    tensor = np.stack([ACROSS, ALONG, ACROSS], axis=-1)[:, None, :] * np.eye(3)
    inertia = np.zeros((6, 6, 6))
    inertia[BODIES] = spatial_inertia(MASS, HEIGHT[:, None] * np.array([0, -0.5, 0]), tensor)
    screw = np.zeros((6, 6))
    screw[np.arange(6), [2, 0, 1, 2, 0, 1]] = 1
    to_joint = np.zeros((6, 3))
    to_joint[3, 1] = -HEIGHT[0]
    return Chain(screw, pose(np.eye(3), to_joint), inertia, pose(np.eye(3), np.array([0, -HEIGHT[1], 0])))


PENDULUM = chain()


def free(_: float, q: Array, qd: Array) -> Array:
    """Return the accelerations without torques."""
    return forward_dynamics(PENDULUM, q, qd, 0 * q, AROUND)


def chosen(time: Array) -> tuple[Array, Array, Array]:
    """Return q, q' and q'' of the chosen motion, (time, 6)."""
    size, pace = np.array([0.6, 0.4, 0.5, 0.7, 0.3, 0.4]), np.array([2.0, 3, 4, 5, 6, 7])
    phase = pace * time[..., None]
    return size * np.sin(phase), size * pace * np.cos(phase), -size * pace**2 * np.sin(phase)


def conserved(q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """Return kinetic energy, its sum with potential energy, J, and vertical angular momentum, kg m2/s, by vectors."""
    jacobian, _ = link_jacobians(PENDULUM, q, qd)
    twist = (jacobian @ qd[:, None, :, None])[..., 0][:, BODIES]
    poses = link_poses(PENDULUM, q)[:, BODIES]
    momentum = (PENDULUM.inertia[BODIES] @ twist[..., None])[..., 0]
    kinetic = (momentum * twist).sum(axis=(1, 2)) / 2
    turn, origin = poses[..., :3, :3], poses[..., :3, 3]
    com = origin - (turn[..., 1] * HEIGHT[:, None]) / 2
    spin, push = ((turn @ part[..., None])[..., 0] for part in (momentum[..., :3], momentum[..., 3:]))
    about_base = spin + np.cross(origin, push)
    return kinetic, kinetic + GRAVITY * (com[..., 1] @ MASS), about_base[..., 1].sum(axis=1)


def planar_difference() -> float:
    """Return the largest difference from the pendulum in a plane, rad/s2."""
    links = Links(HEIGHT, HEIGHT / 2, MASS, ACROSS)
    theta, rate = np.random.default_rng(1).normal(size=(2, 50, 2))
    q, qd = np.zeros((2, 50, 6))
    q[:, [0, 3]], qd[:, [0, 3]] = np.diff(theta, prepend=0), np.diff(rate, prepend=0)
    found = forward_dynamics(PENDULUM, q, qd, 0 * q, AROUND)
    expected = np.diff(pendulum.forward_dynamics(links, theta, rate, gravity_m_s2=GRAVITY), prepend=0)
    return float(max(np.abs(found[:, [0, 3]] - expected).max(), np.abs(found[:, [1, 2, 4, 5]]).max()))


def main(output: Path) -> dict[str, Any]:
    """Draw the figure and return the numbers above."""
    time = np.linspace(0, 5, 501)
    start, spin = np.array([1.0, 0.3, 0, 0.5, -0.4, 0]), np.array([0, 1.5, 10.0, 0, 0, 8])
    q, qd = simulate(free, start, spin, time, tolerance=1e-12)
    qdd = np.stack([free(0, *state) for state in zip(q, qd, strict=True)])
    kinetic, energy, vertical = conserved(q, qd)
    terms = torque_terms(PENDULUM, q, qd, qdd, AROUND)

    short = time[:101]
    place, rate, second = chosen(short)
    torque = inverse_dynamics(PENDULUM, place, rate, second, AROUND)
    mass, coriolis = mass_matrix(PENDULUM, place), coriolis_matrix(PENDULUM, place, rate)
    closed = (mass @ second[..., None] + coriolis @ rate[..., None])[..., 0]
    closed += gravity_torque(PENDULUM, place, AROUND.gravity)
    by_terms = torque_terms(PENDULUM, place, rate, second, AROUND).sum(axis=1)

    def driven(t: float, q: Array, qd: Array) -> Array:
        wanted = inverse_dynamics(PENDULUM, *chosen(np.array(t)), AROUND)
        return forward_dynamics(PENDULUM, q, qd, wanted, AROUND)

    back, _ = simulate(driven, place[0], rate[0], short, tolerance=1e-12)

    figure = Figure((11, 3.6), layout="constrained")
    above, kept, needed = figure.subplots(1, 3)
    tips = open_chain.tip_pose(PENDULUM, q)[:, :3, 3]
    above.plot(tips[:, 2], tips[:, 0], linewidth=0.8)
    above.set(aspect="equal", title="lower end from above, 5 s", xlabel="m", ylabel="m")
    kept.plot(time, kinetic, label="kinetic")
    kept.plot(time, energy - kinetic, label="potential")
    kept.plot(time, energy, "k", label="sum")
    kept.set(title="energy, J", xlabel="s")
    kept.legend(fontsize="small", loc="upper right")
    for i, name in enumerate(("z", "x", "y")):
        (line,) = needed.plot(short, by_terms[:, i], label=f"upper joint, {name}")
        needed.plot(short[::8], torque[::8, i], ".", color=line.get_color())
    needed.set(title="closed form, and recursion (dots), N m", xlabel="s")
    needed.legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "double_pendulum_3d"}):
        figure.savefig(output, metadata={"Date": None})

    return {
        "change of energy in 5 s, J": np.ptp(energy),
        "change of angular momentum, kg m2/s": np.ptp(vertical),
        "energy at the start, J": energy[0],
        "torques of the free motion by recursion, N m": np.abs(inverse_dynamics(PENDULUM, q, qd, qdd, AROUND)).max(),
        "torques of the free motion in closed form, N m": np.abs(terms.sum(axis=1)).max(),
        "largest term of the free motion, N m": np.abs(terms).max(),
        "recursion, from the closed form, N m": np.abs(torque - by_terms).max(),
        "recursion, from M q'' + C q' + g, N m": np.abs(torque - closed).max(),
        "simulation, from the chosen motion, rad": np.abs(back - place).max(),
        "planar swing, from the pendulum in a plane, rad/s2": planar_difference(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "double_pendulum_3d.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
