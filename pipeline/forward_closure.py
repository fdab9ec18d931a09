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
from pipeline.leg import OUTWARDS, Legs

Array = NDArray[np.float64]

WINDOW_S, EVERY_S = 0.02, 0.1
STEP_S = 0.007  # of the fourth-order rule: misses up to 0.009 degrees of noise-free walking; half of it, 0.0008
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
    whole = np.isfinite(flat).all(axis=-1) & np.isfinite(angle).all(axis=(-1, -2))
    frame, side = np.nonzero(whole[starts[:, None] + reach].all(axis=1))
    error = np.full(angle.shape[1:], np.nan)
    if not frame.size:
        return error
    at = starts[frame]
    masses = Masses(legs.mass[side][:, OUTWARDS], legs.inertia[side][:, OUTWARDS], legs.gravity)
    q, qd = angle[at, side][:, OUTWARDS], rate[at, side][:, OUTWARDS]
    weight = _interpolation(np.linspace(0, length, 2 * count + 1), reach)
    values = np.moveaxis(weight @ flat[at[:, None] + reach, side[:, None]], 1, 0)
    stages = [_unflattened(now, driven) for now in values]
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            for step in range(count):
                q, qd = _runge_kutta(q, qd, stages[2 * step : 2 * step + 3], masses, length / count / rate_hz)
        except np.linalg.LinAlgError:
            return error
        strayed = (q[:, OUTWARDS] - angle[at + length, side] + np.pi) % (2 * np.pi) - np.pi
    strayed = np.where(np.isfinite(strayed), strayed, np.pi)  # an angle that ran away beyond all numbers
    for number in np.unique(side):
        error[number] = np.sqrt(np.mean(strayed[side == number] ** 2, axis=0))
    return error


def _interpolation(instant: Array, frame: NDArray[np.intp]) -> Array:
    """Return the weights (instant, frame) of the polynomial through the six frames around each instant, in frames."""
    nodes = np.floor(instant + 1e-9)[:, None] + NODES
    weight = np.zeros((len(instant), len(frame)))
    for i, others in enumerate(~np.eye(len(NODES), dtype=bool)):
        part = np.prod(instant[:, None] - nodes[:, others], axis=1) / np.prod(NODES[i] - NODES[others])
        weight[nodes[:, i, None] == frame] = part
    return weight


def _unflattened(values: Array, like: Driven) -> Driven:
    """Return the fields again whose values stand in one row per window."""
    shapes = [getattr(like, f.name).shape[2:] for f in fields(like)]
    parts = np.split(values, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1], axis=1)
    return Driven(*(part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)))


def acceleration(driven: Driven, masses: Masses, q: Array, qd: Array) -> Array:
    """Return q'' (..., 3, 3) rad/s2 of hip, knee and ankle from angles and rates of the same shape, right-handed."""
    turn, axes = _posed(driven.rotation, q)
    push = (axes * qd[..., None]).reshape(*axes.shape[:-3], -1, 3)
    spins = driven.spin[..., None, :] + np.cumsum(push, axis=-2)  # beyond each of the nine hinges
    drift = np.cumsum(cross(spins, push), axis=-2)
    spin, spin_rate = spins[..., 2::3, :], driven.spin_rate[..., None, :] + drift[..., 2::3, :]
    arm, carried = _carried(driven.reach, turn, spin, spin_rate)
    joint = _handed_on(np.zeros_like(driven.spin), arm[..., 1, :])
    com = joint + arm[..., 0, :]
    moving = _handed_on(driven.hip_acceleration, carried[..., 1, :]) + carried[..., 0, :]
    tensor = transpose(turn) @ masses.inertia @ turn
    force = masses.mass[..., None] * (moving - masses.gravity)
    moment = rotate(tensor, spin_rate) + cross(spin, rotate(tensor, spin))
    force[..., -1, :] -= driven.force
    moment[..., -1, :] -= driven.moment - cross(com[..., -1, :], driven.force)
    turned, moved = limb.hinge_jacobians(axes, joint, com)
    mass_matrix = limb.hinge_mass_matrix(turned, moved, masses.mass, tensor)
    needed = (apply(moved, force) + apply(turned, moment)).sum(axis=-2)
    rest = driven.torque.reshape(needed.shape) - needed
    return np.asarray(np.linalg.solve(mass_matrix, rest[..., None])[..., 0].reshape(q.shape))


def _posed(base: Array, q: Array) -> tuple[Array, Array]:
    """Return rotations of the segments and joint axes, both (..., 3, 3, 3), of angles in the sequence Z-X-Y."""
    x, y, z = (base[..., row, :] for row in range(3))
    turns, axes = [], []
    for j in range(q.shape[-2]):
        axes.append(z)
        x, y = _turned(x, y, q[..., j, 0])
        axes.append(x)
        y, z = _turned(y, z, q[..., j, 1])
        axes.append(y)
        z, x = _turned(z, x, q[..., j, 2])
        turns += [x, y, z]
    shape = (*q.shape, 3)
    return np.stack(turns, axis=-2).reshape(shape), np.stack(axes, axis=-2).reshape(shape)


def _turned(a: Array, b: Array, angle: Array) -> tuple[Array, Array]:
    """Return two unit vectors at right angles, turned from the first towards the second."""
    s, c = np.sin(angle)[..., None], np.cos(angle)[..., None]
    return c * a + s * b, c * b - s * a


def _handed_on(first: Array, steps: Array) -> Array:
    """Return (..., 3, 3), of each joint: what the hip has and what the segments above add."""
    return np.cumsum(np.concatenate([first[..., None, :], steps[..., :-1, :]], axis=-2), axis=-2)


def _carried(reach: Array, turn: Array, spin: Array, spin_rate: Array) -> tuple[Array, Array]:
    """Return of the two points that each segment carries the arms and the accelerations against its proximal joint."""
    in_lab = (reach.reshape(*turn.shape[:-2], 6, 3) @ turn).reshape(reach.shape)
    arm, slip, slip_rate = (in_lab[..., part, :, :] for part in range(3))
    w, w_rate = spin[..., None, :], spin_rate[..., None, :]
    return arm, slip_rate + cross(w_rate, arm) + cross(w, cross(w, arm) + 2 * slip)


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
    return rotate(limb.dual_basis(legs.axes), relative)


def _driven(legs: Legs, torque: Array) -> Driven:
    """Return what is prescribed in every frame (time, side, ...), with the hip centre as origin."""
    hip = legs.centre[:, :, -1]
    return Driven(
        rotation=legs.rotation[:, :, -1],
        spin=legs.spin[:, :, -1],
        spin_rate=legs.spin_rate[:, :, -1],
        hip_acceleration=legs.centre_acceleration[:, :, -1],
        reach=_reach(legs)[:, :, OUTWARDS],
        torque=torque[:, :, OUTWARDS],
        force=legs.ground_force,
        moment=legs.ground_moment - cross(hip, legs.ground_force),
    )


def _reach(legs: Legs) -> Array:
    """Return (time, side, segment, 3, 2, 3) of :class:`Driven`, segments foot, shank, thigh as in ``legs``."""
    turn, spin, spin_rate = (part[:, :, :-1] for part in (legs.rotation, legs.spin, legs.spin_rate))

    def against_joint(of_com: Array, of_centre: Array) -> Array:
        # the foot has no distal joint: its own stands in, and moves nothing
        distal = np.concatenate([of_centre[:, :, :1], of_centre[:, :, :-1]], axis=2)
        return np.stack([of_com - of_centre, distal - of_centre], axis=-2)

    arm = against_joint(legs.com, legs.centre)
    velocity = against_joint(legs.com_velocity, legs.centre_velocity)
    w, w_rate = spin[..., None, :], spin_rate[..., None, :]
    slip = velocity - cross(w, arm)
    slip_rate = against_joint(legs.com_acceleration, legs.centre_acceleration)
    slip_rate -= cross(w_rate, arm) + cross(w, velocity + slip)
    parts = np.stack([arm, slip, slip_rate], axis=3)
    back = np.ascontiguousarray(transpose(turn))  # products with it are twice as fast
    return np.asarray((parts.reshape(*turn.shape[:-2], 6, 3) @ back).reshape(parts.shape))
