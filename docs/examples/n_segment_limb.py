"""The joint load is the same for every observer; the explanations differ.

A limb of three segments, 0.8, 0.6 and 0.4 m long, turns in a plane without gravity, at 1, 2 and 4 rad/s, each segment
relative to the one before. Each is a point mass (0.7, 0.5 and 0.3 kg) in the middle of a massless rod. The example
computes the wrench that the second segment applies to the third at their joint.

Three observers ride on the segments, A on the first, B on the second, C on the third, with their origins in the
proximal joints. Each adds the visible inertia, m a, and the negative fictitious wrenches of his own motion:

- A turns about a fixed point: centrifugal and Coriolis wrenches, no D'Alembert wrench.
- B sees the mass circle about the joint: the visible and the Coriolis force point along the segment, so the moment is
  centrifugal and D'Alembert's.
- C sees no motion, and the centrifugal force points along the segment, so the moment is D'Alembert's alone.

No observer has an Euler wrench, because all turn at constant rates.

All find, in the axes of C (x across the third segment, y along it), the same force and moment::

    f = -(81/50 sin 4t + 6/25 sin 6t,  81/50 cos 4t + 6/25 cos 6t + 147/50)   N
    m =  81/250 sin 4t + 6/125 sin 6t                                         N m

The block matrix, in lab axes, gives the same. The example is that of Mielke F (2020) "The N-segment piglet limb",
mielke-bio.info/falk.

``python docs/examples/n_segment_limb.py [output.svg]`` draws the figure of the moment.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gaitlab.pipeline.dynamics import block_matrix, wrenches
from gaitlab.pipeline.dynamics.kernel import Segments
from gaitlab.pipeline.dynamics.vectors import rotate
from gaitlab.pipeline.dynamics.wrenches import Body, Observer, Wrench

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

LENGTH, MASS, RATE = np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.5, 0.3]), np.array([1.0, 2, 4])
TIME = np.linspace(0, np.pi, 201)  # s; one period of the load
NO_GRAVITY = np.zeros(3)


def limb() -> tuple[Body, Array, list[Observer]]:
    """Return segments, distal first, proximal joints, and observers A to C; lab axes."""
    spin = np.cumsum(RATE)
    x, y = np.cos(spin * TIME[:, None]), np.sin(spin * TIME[:, None])
    along, ahead = (np.stack([a, b, 0 * a], axis=-1) for a, b in ((x, y), (-y, x)))
    rod = LENGTH[:, None] * np.stack([along, spin[:, None] * ahead, -(spin[:, None] ** 2) * along])
    end = np.cumsum(rod, axis=2)  # place, velocity, acceleration of the ends
    start, middle = end - rod, end - rod / 2
    turning, zero = along * 0 + spin[:, None] * np.array([0, 0, 1.0]), 0 * along
    place, velocity, acceleration = middle[:, :, ::-1]
    bodies = Body(MASS[::-1], np.zeros((3, 3, 3)), place, velocity, acceleration, turning[:, ::-1], zero)
    axes = np.stack([-ahead, along, zero + np.array([0, 0, 1.0])], axis=-2)  # rows: x across, y along, z of the hinges
    observers = [Observer(*(part[:, [i]] for part in (axes, *start, turning, zero))) for i in range(3)]
    return bodies, start[0][:, ::-1], observers


def by_observer(bodies: Body, joint: Array, observer: Observer, to_axes: Array) -> dict[str, Wrench]:
    """Return the observer's parts of the wrench on the third segment, at its joint."""
    body = wrenches.observe(bodies, observer)
    fictitious = wrenches.fictitious(body, observer)
    parts = {"seen": wrenches.dynamic(body)} | {name: wrenches.opposite(load) for name, load in fictitious.items()}
    place = rotate(observer.rotation, joint - observer.position)
    turn = to_axes @ np.swapaxes(observer.rotation, -1, -2)
    moved = {name: wrenches.translate(part, place) for name, part in parts.items()}
    third = {name: wrenches.transform(part, turn, place) for name, part in moved.items()}
    return {name: Wrench(*(x[:, 0] for x in (part.force, part.moment, part.point))) for name, part in third.items()}


def by_block_matrix(bodies: Body, joint: Array, to_axes: Array) -> tuple[Array, Array]:
    """Return force and moment on the third segment, solved for the whole limb."""
    lab, nothing = np.broadcast_to(np.eye(3), (*joint.shape, 3)), np.zeros(joint.shape)
    distal = np.concatenate([joint[:, :1], joint[:, :-1]], axis=1)
    segments = Segments(
        lab, bodies.mass, bodies.inertia, bodies.acceleration, bodies.angular_velocity, nothing,
        joint - bodies.position, distal - bodies.position, nothing, nothing, NO_GRAVITY,
    )  # fmt: skip
    loads = block_matrix.inverse_dynamics(segments)
    force, moment = (rotate(to_axes[:, 0], part.sum(axis=1)[:, 0]) for part in loads)
    return force, moment


def main(output: Path) -> dict[str, Any]:
    """Draw the figure; return moments by observer and part, and all errors, N and N m."""
    bodies, joint, observers = limb()
    to_axes = observers[2].rotation
    parts_of = {name: by_observer(bodies, joint, on, to_axes) for name, on in zip("ABC", observers, strict=True)}
    s4, c4, s6, c6 = np.sin(4 * TIME), np.cos(4 * TIME), np.sin(6 * TIME), np.cos(6 * TIME)
    force = -np.stack([81 / 50 * s4 + 6 / 25 * s6, 81 / 50 * c4 + 6 / 25 * c6 + 147 / 50, 0 * s4], axis=-1)
    moment = np.outer(81 / 250 * s4 + 6 / 125 * s6, [0, 0, 1])

    figure = Figure((11, 3.4), layout="constrained")
    for panel, (name, parts) in zip(figure.subplots(1, 3, sharey=True), parts_of.items(), strict=True):
        for width, (part, wrench) in zip((7, 5, 4, 3, 2), parts.items(), strict=True):
            panel.plot(TIME, wrench.moment[:, 2], linewidth=width, label=part)
        panel.plot(TIME, moment[:, 2], "k--", label="sum")
        panel.set(title=f"observer {name}", xlabel="s", ylabel="N m" if name == "A" else "")
    figure.axes[0].legend(fontsize="small", framealpha=1)
    with mpl.rc_context({"svg.hashsalt": "n_segment_limb"}):
        figure.savefig(output, metadata={"Date": None})

    whole = {f"observer {name}": wrenches.total(*parts.values()) for name, parts in parts_of.items()}
    answers = {name: (wrench.force, wrench.moment) for name, wrench in whole.items()}
    answers["block matrix"] = by_block_matrix(bodies, joint, to_axes)
    away = {
        f"{name}, from the closed form": np.array([np.abs(f - force).max(), np.abs(m - moment).max()])
        for name, (f, m) in answers.items()
    }
    largest = {
        f"{name}, largest moment {part}": np.abs(wrench.moment[:, 2]).max()
        for name, parts in parts_of.items()
        for part, wrench in parts.items()
    }
    return away | largest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "n_segment_limb.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    for name, value in main(parser.parse_args().output).items():
        print(name, value)  # noqa: T201
