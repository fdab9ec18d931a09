"""Energy closure: does the energy of each segment change by the power that enters it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.derivatives import derivatives
from pipeline.dynamics.block_matrix import cross, rotate
from pipeline.leg import Legs

Array = NDArray[np.float64]


def energy_closure(legs: Legs, joint_force: Array, joint_moment: Array, time: Array) -> Array:
    """Return the root-mean-square difference (side, segment) in W of energy rate and power; foot, shank, thigh.

    The energy m v.v / 2 + w.I w / 2 - m g.c is differentiated in time; the power is that of the loads at both joints,
    each at the segment's own material point, and of the ground. Newton's and Euler's laws make the two equal where
    velocities, accelerations and poses belong to one motion; filters or derivatives that do not fit show here.

    Args:
        legs: the trial.
        joint_force, joint_moment: (time, side, joint, 3), on the distal segment, lab axes, N and N m.
        time: (time,), s.
    """
    turn, spin = legs.rotation[:, :, :-1], legs.spin[:, :, :-1]
    local = rotate(turn, spin)
    kinetic = legs.mass * _dot(legs.com_velocity, legs.com_velocity) / 2 + _dot(local, rotate(legs.inertia, local)) / 2
    rate, _ = derivatives(kinetic - legs.mass * (legs.com @ legs.gravity), time)

    def entering(force: Array, moment: Array, place: Array) -> Array:
        return _dot(force, legs.com_velocity + cross(spin, place - legs.com)) + _dot(moment, spin)

    power = entering(joint_force, joint_moment, legs.centre)
    below = [part[:, :, :-1] for part in (-joint_force, -joint_moment, legs.centre)]
    ground = (legs.ground_force, legs.ground_moment, np.zeros_like(legs.ground_force))  # about the lab origin
    distal = (np.concatenate([first[:, :, None], rest], axis=2) for first, rest in zip(ground, below, strict=True))
    difference = rate - power - entering(*distal)
    known = np.isfinite(difference)
    with np.errstate(invalid="ignore"):
        mean = np.square(np.where(known, difference, 0.0)).sum(axis=0) / known.sum(axis=0)
    return np.asarray(np.sqrt(mean))


def _dot(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1))
