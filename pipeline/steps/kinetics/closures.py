r"""Forward and energy closure: do computed moments, accelerations and poses belong to one motion?

*Forward closure* simulates the legs over short windows: pelvis, translations between the segments and ground wrench are
as measured, the computed moments drive the joints, and the joint angles follow from the equations of motion
(:mod:`pipeline.dynamics.driven_leg`). The error of the angles at the end of a window measures how well moments,
accelerations and poses fit each other. Windows must be short: a leg under prescribed moments is unstable, and the light
foot under the weight of the whole body diverges within hundredths of a second.

*Energy closure* compares the change of each segment's energy with the power of its loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, known_mean
from ...body.legs import OUTWARDS, Legs
from ...dynamics.driven_leg import Driven, Masses, acceleration
from ...dynamics.limb import dual_basis
from ...dynamics.vectors import cross, dot, rotate, sum_from_last
from ...signals.splines import derivatives

WINDOW_S, EVERY_S = 0.02, 0.1
STEP_S = 0.007  # of the fourth-order rule: error up to 0.009 degrees in noise-free walking; half of it, 0.0008
NODES = np.arange(-2, 4)  # frames around an instant; their polynomial interpolates the measured values


class Windows(NamedTuple):
    """Windows of the same length in frames, of trials with similar rates."""

    length: int  # frames from the first to the last of a window
    steps: int  # number of steps of the rule
    start: NDArray[np.intp]  # (window,), first frame
    trial: NDArray[np.intp]  # (window,), number of the trial
    step_s: Array  # (window,), duration of a step

    def between(self, first: int, stop: int) -> tuple[Windows, NDArray[np.intp]]:
        """Return the windows that start in some frames, and their numbers."""
        chosen = np.flatnonzero((self.start >= first) & (self.start < stop))
        return self._replace(start=self.start[chosen], trial=self.trial[chosen], step_s=self.step_s[chosen]), chosen


def windows_of(trials: Sequence[slice], rates_hz: Sequence[float]) -> list[Windows]:
    """Return windows of 0.02 s (at least two frames), one every 0.1 s, with the frames that interpolation needs."""
    alike: dict[tuple[int, int, int], list[int]] = {}
    for number, rate_hz in enumerate(rates_hz):
        length = max(2, round(WINDOW_S * rate_hz))
        every = max(length, round(EVERY_S * rate_hz))
        alike.setdefault((length, every, int(np.ceil(length / rate_hz / STEP_S))), []).append(number)
    groups = []
    for (length, every, steps), numbers in alike.items():
        begun = [np.arange(trials[i].start - NODES[0], trials[i].stop - length - NODES[-1], every) for i in numbers]
        trial = np.repeat(numbers, [len(each) for each in begun])
        groups.append(Windows(length, steps, np.concatenate(begun), trial, length / steps / np.array(rates_hz)[trial]))
    return groups


def forward_errors(legs: Legs, torque: Array, windows: Windows) -> Array:
    """Return the errors (window, side, joint, angle) of simulated angles at the ends of windows, rad.

    NaN where something is unknown in the window, or if a segment has no inertia.

    Args:
        legs: frames of some trials.
        torque: (time, side, joint, 3) N m, right-handed projections of the joint moments on the joint axes; joints
            ankle, knee, hip.
        windows: within these frames.
    """
    driven = drive(legs, torque)
    flat = np.concatenate([part.reshape(-1, *driven.spin.shape[1:]) for part in driven])
    whole = np.isfinite(flat).all(axis=0) & np.isfinite(legs.angle).all(axis=(-1, -2)).T
    reach = np.arange(NODES[0], windows.length + NODES[-1] + 1)
    error = np.full((len(windows.start), *legs.angle.shape[1:]), np.nan)
    side, number = np.nonzero(whole[:, windows.start + reach[:, None]].all(axis=1))
    if not side.size:
        return error
    at, masses = windows.start[number], masses_of(legs, side)
    weight = _interpolation(np.linspace(0, windows.length, 2 * windows.steps + 1), reach)
    around = np.moveaxis(flat[:, side, at + reach[:, None]], 1, 0)
    values = np.tensordot(weight, around, axes=1)
    shapes = [part.shape[:-2] for part in driven]
    parts = np.split(values, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1], axis=1)
    parts = [part.reshape(len(values), *shape, -1) for part, shape in zip(parts, shapes, strict=True)]
    stages = [Driven(*now) for now in zip(*parts, strict=True)]
    spin = legs.spin[at, side]  # measured angular velocities, turned onto the joint axes
    rates = rotate(dual_basis(legs.axes[at, side]), spin[:, :-1] - spin[:, 1:])
    q, qd = components_first(legs.angle[at, side]), components_first(rates)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            for step in range(windows.steps):
                q, qd = _runge_kutta(q, qd, stages[2 * step : 2 * step + 3], masses, windows.step_s[number])
        except np.linalg.LinAlgError:
            return error
        away = (q.T[:, OUTWARDS] - legs.angle[at + windows.length, side] + np.pi) % (2 * np.pi) - np.pi
    error[number, side] = np.where(np.isfinite(away), away, np.pi)  # where the simulation diverged
    return error


def root_mean_square(values: Array) -> Array:
    """Return the root mean square of the known values along the first dimension; NaN if there are none."""
    return np.asarray(np.sqrt(known_mean(np.square(values), axis=0)))


def components_first(joints: Array) -> Array:
    """Return (..., joint, component) as (component, joint, ...), from the hip down."""
    return np.ascontiguousarray(joints[..., OUTWARDS, :].T)


def masses_of(legs: Legs, side: NDArray[np.intp]) -> Masses:
    """Return the masses of the legs of these sides (window,)."""
    mass = legs.mass[side, OUTWARDS].T
    beyond = sum_from_last(mass, axis=0) - mass
    return Masses(np.stack([mass, beyond]), np.ascontiguousarray(legs.inertia[side, OUTWARDS].T))


def _interpolation(instant: Array, frame: NDArray[np.intp]) -> Array:
    """Return weights (instant, frame) of polynomials through six frames. Instants are in frames."""
    nodes = np.floor(instant + 1e-9)[:, None] + NODES
    weight = np.zeros((len(instant), len(frame)))
    for i, others in enumerate(~np.eye(len(NODES), dtype=bool)):
        part = np.prod(instant[:, None] - nodes[:, others], axis=1) / np.prod(NODES[i] - NODES[others])
        weight[nodes[:, i, None] == frame] = part
    return weight


def _runge_kutta(q: Array, qd: Array, stages: list[Driven], masses: Masses, step_s: Array) -> tuple[Array, Array]:
    """Return q and q' one step later by the classical rule of fourth order."""
    begin, middle, end = stages
    a1 = acceleration(begin, masses, q, qd)
    v2 = qd + step_s / 2 * a1
    a2 = acceleration(middle, masses, q + step_s / 2 * qd, v2)
    v3 = qd + step_s / 2 * a2
    a3 = acceleration(middle, masses, q + step_s / 2 * v2, v3)
    v4 = qd + step_s * a3
    a4 = acceleration(end, masses, q + step_s * v3, v4)
    return q + step_s / 6 * (qd + 2 * v2 + 2 * v3 + v4), qd + step_s / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def drive(legs: Legs, torque: Array) -> Driven:
    """Return the prescribed quantities (..., side, time), with the hip as origin."""
    force, moment = legs.ground_force.T, legs.ground_moment.T
    return Driven(
        rotation=legs.rotation[:, :, -1].T,
        spin=legs.spin[:, :, -1].T,
        spin_rate=legs.spin_rate[:, :, -1].T,
        hip_acceleration=(legs.centre_acceleration[:, :, -1] - legs.gravity).T,
        reach=_reach(legs),
        torque=torque[:, :, OUTWARDS].T,
        force=force,
        moment=moment - cross(legs.centre[:, :, -1].T, force, axis=0),
    )


def _reach(legs: Legs) -> Array:
    """Return (3, 3, 2, segment, side, time) of :class:`Driven`."""
    turn, spin, spin_rate = (part[:, :, -2::-1].T for part in (legs.rotation, legs.spin, legs.spin_rate))

    def against_joint(of_com: Array, of_centre: Array) -> Array:
        com, centre = of_com[:, :, OUTWARDS].T, of_centre[:, :, OUTWARDS].T
        distal = centre[:, [1, 2, 2]]  # the foot has no distal joint: its ankle is a placeholder without effect
        return np.stack([com - centre, distal - centre], axis=1)

    w, w_rate = spin[:, None], spin_rate[:, None]
    arm = against_joint(legs.com, legs.centre)
    velocity = against_joint(legs.com_velocity, legs.centre_velocity)
    slip = velocity - cross(w, arm, axis=0)
    slip_rate = against_joint(legs.com_acceleration, legs.centre_acceleration)
    slip_rate -= cross(w_rate, arm, axis=0) + cross(w, velocity + slip, axis=0)
    return np.asarray(np.einsum("cr...,cpk...->rpk...", turn, np.stack([arm, slip, slip_rate], axis=1)))


def energy_and_power(legs: Legs, joint_force: Array, joint_moment: Array) -> tuple[Array, Array]:
    """Return the energy of each segment, J, and the power of its loads, W; (time, side, segment).

    Segments foot, shank, thigh. The energy is m v.v / 2 + w.I w / 2 - m g.c; the power is that of the ground and of the
    loads at both joints, each with the velocity of the segment's own point. By Newton's and Euler's laws the rate of
    the energy is the power if velocities, accelerations and poses belong to one motion; inconsistent filters or
    derivatives make them differ.

    Args:
        legs: frames of some trials.
        joint_force, joint_moment: (time, side, joint, 3), on the distal segment, lab axes, N and N m.
    """
    turn, spin = legs.rotation[:, :, :-1], legs.spin[:, :, :-1]
    local = rotate(turn, spin)
    kinetic = legs.mass * dot(legs.com_velocity, legs.com_velocity) / 2 + dot(local, rotate(legs.inertia, local)) / 2

    def power_of(force: Array, moment: Array, place: Array) -> Array:
        return dot(force, legs.com_velocity + cross(spin, place - legs.com)) + dot(moment, spin)

    below = [part[:, :, :-1] for part in (-joint_force, -joint_moment, legs.centre)]
    ground = (legs.ground_force, legs.ground_moment, np.zeros_like(legs.ground_force))  # about the lab origin
    distal = (np.concatenate([first[:, :, None], rest], axis=2) for first, rest in zip(ground, below, strict=True))
    power = power_of(joint_force, joint_moment, legs.centre) + power_of(*distal)
    return kinetic - legs.mass * (legs.com @ legs.gravity), power


def energy_closure(energy: Array, power: Array, time: Array) -> Array:
    """Return the RMS difference (side, segment) of the rate of energy (time, side, segment) and power of a trial, W."""
    return root_mean_square(derivatives(energy, time)[0] - power)
