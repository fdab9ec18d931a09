r"""Forward closure: do the computed moments bring about the motion that they were computed from?

Over short windows the legs are let go: pelvis, slides between the segments and ground wrench are as measured, the
joints are driven by the computed moments, and the joint angles follow from the equations of motion, ::

    sum over segments of  Jv^T (m a - m g - E_F) + Jw^T (I w' + w x I w - E_M)  =  tau

with Jv and Jw the velocity of a centre of mass and the angular velocity per joint rate. How far the angles have strayed
from the measured ones when the window ends tells how well moments, accelerations and poses belong together. The window
has to be short: a leg on the ground, driven by given moments and not held by anybody, falls over, and the foot, light
under the whole body's weight, within hundredths of a second.

Source: Kane TR, Levinson DA (1985) Dynamics: Theory and Applications, for the equations.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from pipeline.dynamics import limb
from pipeline.dynamics.block_matrix import cross, rotate
from pipeline.dynamics.screws import apply, transpose
from pipeline.joint_coordinates import relative_rotation
from pipeline.leg import Legs

Array = NDArray[np.float64]
Index = tuple[NDArray[np.intp], NDArray[np.intp]]

WINDOW_S, EVERY_S = 0.02, 0.1
STEP_S = 0.007  # of the fourth-order rule
NODES = np.arange(-2, 4)  # frames around an instant, whose polynomial gives what was measured in between


@dataclass(frozen=True)
class Driven:
    """What is prescribed; joints hip, knee, ankle, segments thigh, shank, foot; lab axes.

    Attributes:
        rotation: (..., 3, 3) of the pelvis; spin, spin_rate: (..., 3); hip_acceleration: (..., 3).
        reach: (..., 3, 3, 2, 3): from each segment's proximal joint centre to its centre of mass and to its distal
            joint centre, in segment axes, and the first and second rates of these (first of the three axes).
        torque: (..., 3, 3), right-handed projections of the joint moments on the joint axes.
        force, moment: (..., 3), of the ground on the foot, the moment about the hip centre.
    """

    rotation: Array
    spin: Array
    spin_rate: Array
    hip_acceleration: Array
    reach: Array
    torque: Array
    force: Array
    moment: Array


@dataclass(frozen=True)
class Masses:
    """mass (..., 3) and inertia (..., 3, 3, 3) about the centres of mass, segment axes; gravity (3,)."""

    mass: Array
    inertia: Array
    gravity: Array


def forward_closure(legs: Legs, torque: Array, *, rate_hz: float) -> Array:
    """Return the root-mean-square error (side, joint, angle) in rad of angles that the moments brought about.

    Args:
        legs: the trial.
        torque: (time, side, joint, 3) N m, right-handed projections of the joint moments on the joint axes; joints
            ankle, knee, hip.
        rate_hz: frames per second.

    Returns:
        At the ends of windows of 0.02 s (at least two frames), one in 0.1 s; NaN where none is whole, or where a
        segment has no inertia that would tell how it turns.
    """
    angle, rate = legs.angle, _joint_rates(legs)
    driven = _driven(legs, torque)
    flat = np.concatenate([getattr(driven, f.name).reshape(*angle.shape[:2], -1) for f in fields(driven)], axis=-1)
    length = max(2, round(WINDOW_S * rate_hz))
    count = int(np.ceil(length / rate_hz / STEP_S))
    reach = np.arange(NODES[0], length + NODES[-1] + 1)
    starts = np.arange(-NODES[0], max(len(angle) - reach[-1], 0), max(length, round(EVERY_S * rate_hz)))
    whole = np.isfinite(np.concatenate([flat, angle.reshape(*flat.shape[:2], -1)], axis=-1)).all(axis=-1)
    frame, side = np.nonzero(whole[starts[:, None] + reach].all(axis=1))
    error = np.full(angle.shape[1:], np.nan)
    if not frame.size:
        return error
    at, outwards = starts[frame], slice(None, None, -1)
    masses = Masses(legs.mass[side][:, outwards], legs.inertia[side][:, outwards], legs.gravity)
    q, qd = angle[at, side][:, outwards], rate[at, side][:, outwards]
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            for instant in np.arange(count) * (length / count):
                stages = [_between(driven, flat, at, side, instant + length / count * part) for part in (0.0, 0.5, 1.0)]
                q, qd = _runge_kutta(q, qd, stages, masses, length / count / rate_hz)
        except np.linalg.LinAlgError:
            return error
        strayed = (q[:, outwards] - angle[at + length, side] + np.pi) % (2 * np.pi) - np.pi
    strayed = np.where(np.isfinite(strayed), strayed, np.pi)  # an angle that ran away beyond all numbers
    for number in np.unique(side):
        error[number] = np.sqrt(np.mean(strayed[side == number] ** 2, axis=0))
    return error


def _between(driven: Driven, flat: Array, at: NDArray[np.intp], side: NDArray[np.intp], instant: float) -> Driven:
    """Return what is prescribed ``instant`` frames after the frames ``at``, by the polynomial of the six around it."""
    first = int(np.floor(instant + 1e-9))
    away = instant - first - NODES
    others = ~np.eye(len(NODES), dtype=bool)
    weight = [np.prod(away[row]) / np.prod(NODES[i] - NODES[row]) for i, row in enumerate(others)]
    values = np.asarray(weight) @ flat[(at + first)[:, None] + NODES, side[:, None]]
    shapes = [getattr(driven, f.name).shape[2:] for f in fields(driven)]
    parts = np.split(values, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1], axis=1)
    return Driven(*(part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)))


def acceleration(driven: Driven, masses: Masses, q: Array, qd: Array) -> Array:
    """Return q'' (..., 3, 3) rad/s2 of hip, knee and ankle from angles and rates of the same shape, right-handed."""
    turn, spin, spin_rate, above = driven.rotation, driven.spin, driven.spin_rate, driven.hip_acceleration
    place = np.zeros_like(above)
    relative = transpose(relative_rotation(q))
    joints, coms, axes, moving, turning, tensors = [], [], [], [], [], []
    for j in range(q.shape[-2]):
        distal = relative[..., j, :, :] @ turn
        lean = (np.cos(q[..., j, 0, None]) * turn[..., 0, :]) + (np.sin(q[..., j, 0, None]) * turn[..., 1, :])
        e1, e2, e3 = turn[..., 2, :], lean, distal[..., 1, :]
        first, second, third = (e * qd[..., j, k, None] for k, e in enumerate((e1, e2, e3)))
        between = spin + first
        spin_rate = spin_rate + cross(spin, first) + cross(between, second)
        spin = between + second + third
        spin_rate = spin_rate + cross(spin, third)
        turn = distal
        mass_arm, next_arm, *accelerations = _carried(driven.reach[..., j, :, :], turn, spin, spin_rate)
        tensor = transpose(turn) @ masses.inertia[..., j, :, :] @ turn
        joints.append(place)
        coms.append(place + mass_arm)
        axes.append(np.stack([e1, e2, e3], axis=-2))
        moving.append(above + accelerations[0])
        turning.append(rotate(tensor, spin_rate) + cross(spin, rotate(tensor, spin)))
        tensors.append(tensor)
        place, above = place + next_arm, above + accelerations[1]
    needed_force = masses.mass[..., None] * (np.stack(moving, axis=-2) - masses.gravity)
    needed_moment = np.stack(turning, axis=-2)
    needed_force[..., -1, :] -= driven.force
    needed_moment[..., -1, :] -= driven.moment - cross(coms[-1], driven.force)
    turned, moved = limb.hinge_jacobians(np.stack(axes, -3), np.stack(joints, -2), np.stack(coms, -2))
    mass_matrix = limb.hinge_mass_matrix(turned, moved, masses.mass, np.stack(tensors, axis=-3))
    needed = (apply(moved, needed_force) + apply(turned, needed_moment)).sum(axis=-2)
    rest = driven.torque.reshape(needed.shape) - needed
    return np.asarray(np.linalg.solve(mass_matrix, rest[..., None])[..., 0].reshape(q.shape))


def _carried(reach: Array, turn: Array, spin: Array, spin_rate: Array) -> list[Array]:
    """Return arms (..., 3) of the two points that a segment carries, and accelerations against its proximal joint."""
    arm, slip, slip_rate = (part @ turn for part in np.moveaxis(reach, -3, 0))
    w, w_rate = spin[..., None, :], spin_rate[..., None, :]
    accelerations = cross(w_rate, arm) + cross(w, cross(w, arm) + 2 * slip) + slip_rate
    return [arm[..., 0, :], arm[..., 1, :], accelerations[..., 0, :], accelerations[..., 1, :]]


def _runge_kutta(q: Array, qd: Array, stages: list[Driven], masses: Masses, step_s: float) -> tuple[Array, Array]:
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


def _joint_rates(legs: Legs) -> Array:
    """Return q' (time, side, joint, 3), the measured relative angular velocity along the joint axes."""
    relative = legs.spin[:, :, :-1] - legs.spin[:, :, 1:]
    e1, e2, e3 = (legs.axes[..., k, :] for k in range(3))
    dual = np.stack([cross(e2, e3), cross(e3, e1), cross(e1, e2)], axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(rotate(dual, relative) / (e1 * dual[..., 0, :]).sum(axis=-1)[..., None])


def _driven(legs: Legs, torque: Array) -> Driven:
    """Return what is prescribed in every frame (time, side, ...), with the hip centre as origin."""
    outwards, hip = (slice(None), slice(None), slice(None, None, -1)), legs.centre[:, :, -1]
    return Driven(
        rotation=legs.rotation[:, :, -1],
        spin=legs.spin[:, :, -1],
        spin_rate=legs.spin_rate[:, :, -1],
        hip_acceleration=legs.centre_acceleration[:, :, -1],
        reach=np.moveaxis(_reach(legs), 0, 2)[:, :, :, ::-1],
        torque=torque[outwards],
        force=legs.ground_force,
        moment=legs.ground_moment - cross(hip, legs.ground_force),
    )


def _reach(legs: Legs) -> Array:
    """Return (3, time, side, segment, 2, 3) of :class:`Driven`, segments foot, shank, thigh as in ``legs``."""
    turn, spin, spin_rate = (part[:, :, :-1] for part in (legs.rotation, legs.spin, legs.spin_rate))

    def seen(place: Array, velocity: Array, acceleration: Array) -> Array:
        arm = place - legs.centre
        slip = velocity - legs.centre_velocity - cross(spin, arm)
        carried = cross(spin_rate, arm) + cross(spin, cross(spin, arm) + 2 * slip)
        slip_rate = acceleration - legs.centre_acceleration - carried
        return np.stack([rotate(turn, part) for part in (arm, slip, slip_rate)])

    def below(centre: Array) -> Array:  # the foot has no distal joint: its own stands in, and moves nothing
        return np.concatenate([centre[:, :, :1], centre[:, :, :-1]], axis=2)

    distal = (below(part) for part in (legs.centre, legs.centre_velocity, legs.centre_acceleration))
    return np.stack([seen(legs.com, legs.com_velocity, legs.com_acceleration), seen(*distal)], axis=-2)
