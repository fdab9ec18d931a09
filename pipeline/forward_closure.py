r"""Forward closure: do the computed moments bring about the motion that they were computed from?

Over short windows the legs are let go: pelvis, slides between the segments and ground wrench are as measured, the
joints are driven by the computed moments, and the joint angles follow from the equations of motion, ::

    sum over segments of  Jv^T (m a - m g - E_F) + Jw^T (I w' + w x I w - E_M)  =  tau

with Jv and Jw the velocity of a centre of mass and the angular velocity per rate of turning, here of each segment about
its proximal joint, and tau the joint moments that turn it. How far the angles have strayed
from the measured ones when the window ends tells how well moments, accelerations and poses belong together. The window
has to be short: a leg on the ground, driven by given moments and not held by anybody, falls over, and the foot, light
under the whole body's weight, within hundredths of a second.

Source: Kane TR, Levinson DA (1985) Dynamics: Theory and Applications, for the equations.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from pipeline.dynamics.block_matrix import rotate
from pipeline.dynamics.limb import dual_basis
from pipeline.leg import OUTWARDS, Legs

Array = NDArray[np.float64]

WINDOW_S, EVERY_S = 0.02, 0.1
STEP_S = 0.007  # of the fourth-order rule: misses up to 0.009 degrees of noise-free walking; half of it, 0.0008
NODES = np.arange(-2, 4)  # frames around an instant, whose polynomial gives what was measured in between
RING = np.array([0, 1, 2, 0, 1])
ABOVE, BEYOND = [0, 0, 1], [1, 2, 2]  # pairs of segments, of which the first carries the second along


@dataclass(frozen=True)
class Driven:
    """What is prescribed; joints hip, knee, ankle, segments thigh, shank, foot; lab axes, components first.

    Attributes:
        rotation: (3, axis, ...), the axes of the pelvis; spin, spin_rate, hip_acceleration: (3, ...).
        reach: (3, 3, 2, segment, ...), segment axes: first places, velocities and accelerations, in the segment's own
            eyes, of its centre of mass and its distal joint centre, from its proximal joint centre (second index).
        torque: (axis, joint, ...), right-handed projections of the joint moments on the joint axes.
        force, moment: (3, ...), of the ground on the foot, the moment about the hip centre.
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
    """mass (segment, ...) and inertia (3, 3, segment, ...) about the centres of mass, segment axes; gravity (3,)."""

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
    driven = driven_by(legs, torque)
    length = max(2, round(WINDOW_S * rate_hz))
    count = int(np.ceil(length / rate_hz / STEP_S))
    reach = np.arange(NODES[0], length + NODES[-1] + 1)
    starts = np.arange(-NODES[0], max(len(legs.angle) - reach[-1], 0), max(length, round(EVERY_S * rate_hz)))
    flat = np.concatenate([getattr(driven, f.name).reshape(-1, *driven.spin.shape[1:]) for f in fields(driven)])
    whole = np.isfinite(flat).all(axis=0) & np.isfinite(legs.angle).all(axis=(-1, -2)).T
    side, number = np.nonzero(whole[:, starts + reach[:, None]].all(axis=1))
    error = np.full(legs.angle.shape[1:], np.nan)
    if not side.size:
        return error
    at = starts[number]
    masses = masses_of(legs, side)
    q, qd = (components_first(part) for part in (legs.angle[at, side], _joint_rates(legs, at, side)))
    weight = _interpolation(np.linspace(0, length, 2 * count + 1), reach)
    around = np.moveaxis(flat[:, side, at + reach[:, None]], 1, 0)
    stages = [_unflattened(now, driven) for now in np.tensordot(weight, around, axes=1)]
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            for step in range(count):
                q, qd = _runge_kutta(q, qd, stages[2 * step : 2 * step + 3], masses, length / count / rate_hz)
        except np.linalg.LinAlgError:
            return error
        strayed = (q.T[:, OUTWARDS] - legs.angle[at + length, side] + np.pi) % (2 * np.pi) - np.pi
    strayed = np.where(np.isfinite(strayed), strayed, np.pi)  # an angle that ran away beyond all numbers
    for one in np.unique(side):
        error[one] = np.sqrt(np.mean(strayed[side == one] ** 2, axis=0))
    return error


def components_first(joints: Array) -> Array:
    """Return what joints or segments have (..., 3, ...), ankle or foot first, as (..., 3, ...) from the hip out."""
    return np.ascontiguousarray(joints[..., OUTWARDS, :].T)


def masses_of(legs: Legs, side: NDArray[np.intp]) -> Masses:
    """Return the masses of the legs of these sides."""
    return Masses(legs.mass[side, OUTWARDS].T, np.ascontiguousarray(legs.inertia[side, OUTWARDS].T), legs.gravity)


def _interpolation(instant: Array, frame: NDArray[np.intp]) -> Array:
    """Return the weights (instant, frame) of the polynomial through the six frames around each instant, in frames."""
    nodes = np.floor(instant + 1e-9)[:, None] + NODES
    weight = np.zeros((len(instant), len(frame)))
    for i, others in enumerate(~np.eye(len(NODES), dtype=bool)):
        part = np.prod(instant[:, None] - nodes[:, others], axis=1) / np.prod(NODES[i] - NODES[others])
        weight[nodes[:, i, None] == frame] = part
    return weight


def _unflattened(values: Array, like: Driven) -> Driven:
    """Return the fields again whose values stand in one column per window."""
    shapes = [getattr(like, f.name).shape[:-2] for f in fields(like)]
    parts = np.split(values, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
    return Driven(*(part.reshape(*shape, -1) for part, shape in zip(parts, shapes, strict=True)))


def acceleration(driven: Driven, masses: Masses, q: Array, qd: Array) -> Array:
    """Return q'' (axis, joint, ...) rad/s2 from angles and rates of the same shape, right-handed.

    What q'' adds to the angular accelerations of the segments follows from the moments that each still needs, and
    from it q'' joint by joint.
    """
    turn, axes = _posed(driven.rotation, q)
    dual = _dual_basis(axes)
    first, second, third = np.moveaxis(axes * qd, 1, 0)
    turning = first + second + third
    above = _handed_on(driven.spin, turning)
    bend = _cross(above, turning) + _cross(first, second) + _cross(first + second, third)
    spin, spin_rate = above + turning, _handed_on(driven.spin_rate, bend) + bend
    arm, slip, slip_rate = np.einsum("cr...,rpk...->pck...", turn, driven.reach)
    w = spin[:, None]
    moved = slip_rate + _cross(spin_rate[:, None], arm) + _cross(w, _cross(w, arm) + 2 * slip)
    gravity = masses.gravity.reshape(-1, *[1] * (moved.ndim - 2))
    force = masses.mass * (_handed_on(driven.hip_acceleration, moved[:, 1]) + moved[:, 0] - gravity)
    tensor = np.einsum("cs...,ds...->cd...", np.einsum("cr...,rs...->cs...", turn, masses.inertia), turn)
    rest = np.einsum("ch...,h...->c...", dual, driven.torque)  # the joint moments
    rest[:, :-1] -= rest[:, 1:]
    rest -= _times(tensor, spin_rate) + _cross(spin, _times(tensor, spin))
    force[:, -1] -= driven.force
    rest[:, -1] += driven.moment - _cross(arm[:, 1, :-1].sum(axis=1) + arm[:, 0, -1], driven.force)
    rest -= _cross(arm, np.stack([force, _beyond(force)], axis=1)).sum(axis=1)
    added = _solved(_mass_matrix(arm, masses.mass, tensor), rest)
    added[:, 1:] -= added[:, :-1].copy()
    return np.asarray(np.einsum("ch...,c...->h...", dual, added))


def _posed(base: Array, q: Array) -> tuple[Array, Array]:
    """Return poses (3, axis, segment, ...), columns the axes of a segment, and joint axes (3, axis, joint, ...).

    Of angles (axis, joint, ...) in the sequence Z-X-Y; the base (3, axis, ...) is the pelvis.
    """
    (s1, s2, s3), (c1, c2, c3) = np.sin(q), np.cos(q)
    # the x axis after the first turn and the axes after all three, in the axes of the proximal segment
    local = np.zeros((4, 3, *s1.shape))
    local[0, 0], local[0, 1] = c1, s1
    local[2, 0], local[2, 1], local[2, 2] = -c2 * s1, c2 * c1, s2
    z = np.stack([s2 * s1, -s2 * c1, c2])
    local[1], local[3] = c3 * local[0] - s3 * z, c3 * z + s3 * local[0]
    found = np.empty((3, *local.shape[:1], *s1.shape))
    proximal = base
    for joint in range(len(s1)):
        np.einsum("cp...,vp...->cv...", proximal, local[:, :, joint], out=found[:, :, joint])
        proximal = found[:, 1:, joint]
    turn = found[:, 1:]
    axes = np.empty_like(turn)
    axes[:, 0, 0], axes[:, 0, 1:], axes[:, 1], axes[:, 2] = base[:, 2], turn[:, 2, :-1], found[:, 0], turn[:, 1]
    return turn, axes


def _dual_basis(axes: Array) -> Array:
    """Return the rows (3, axis, ...) that find the turns about three axes (3, axis, ...) in what they add up to."""
    dual = _cross(
        axes[:, [1, 2, 0]], axes[:, [2, 0, 1]]
    )  # of a measured pelvis in between frames not quite unit vectors
    return np.asarray(dual / (axes[:, 0] * dual[:, 0]).sum(axis=0))


def _handed_on(first: Array, steps: Array) -> Array:
    """Return (3, joint, ...) of each joint: what the hip has and what the segments above add."""
    result = np.empty_like(steps)
    result[:, 0] = first
    for joint in range(1, steps.shape[1]):
        np.add(result[:, joint - 1], steps[:, joint - 1], out=result[:, joint])
    return result


def _beyond(load: Array) -> Array:
    """Return (..., segment, ...), segments second, the sum over those beyond each."""
    result = np.zeros_like(load)
    for segment in reversed(range(load.shape[1] - 1)):
        np.add(result[:, segment + 1], load[:, segment + 1], out=result[:, segment])
    return result


def _mass_matrix(arm: Array, mass: Array, tensor: Array) -> Array:
    """Return by which moments the segments resist angular accelerations of each other, (segment, 3, segment, 3, ...).

    Each segment turns about its proximal joint and carries along what lies beyond. With the arms r and l to its centre
    of mass and its distal joint, the mass m' beyond and s = m r + m' l, the blocks of k, k and of k, j beyond k are::

        T + m (r.r E - r r^T) + m' (l.l E - l l^T)        (l_k.s_j) E - s_j l_k^T

    Args:
        arm: (3, 2, segment, ...), r and l.
        mass: (segment, ...); tensor: (3, 3, segment, ...), about the centres of mass, lab axes.
    """
    heavy = arm * np.stack([mass, _beyond(mass[None])[0]])
    own = np.einsum("ck...,dk...->cd...", heavy, arm)
    carrying, carried = arm[:, 1, ABOVE], heavy.sum(axis=1)[:, BEYOND]
    pairs = carried[:, None] * carrying
    own, pairs = tensor - _without_trace(own), -_without_trace(pairs)
    matrix = np.empty((3, 3, 3, 3, *mass.shape[1:]))
    for k in range(3):
        matrix[k, :, k] = own[:, :, k]
        matrix[ABOVE[k], :, BEYOND[k]] = pairs[:, :, k]
        matrix[BEYOND[k], :, ABOVE[k]] = np.swapaxes(pairs[:, :, k], 0, 1)
    return matrix


def _without_trace(matrix: Array) -> Array:
    """Return A - tr(A) E, (3, 3, ...), in place."""
    trace = matrix[0, 0] + matrix[1, 1] + matrix[2, 2]
    for k in range(3):
        matrix[k, k] -= trace
    return matrix


def _solved(matrix: Array, rest: Array) -> Array:
    """Return the angular accelerations (3, segment, ...) that moments of the same shape lead to."""
    shape = rest.shape[2:]
    rows = np.swapaxes(rest, 0, 1).reshape(9, -1)
    found = np.linalg.solve(np.moveaxis(matrix.reshape(9, 9, -1), -1, 0), rows.T[..., None])[..., 0]
    return np.swapaxes(found.T.reshape(3, 3, *shape), 0, 1)


def _times(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("cd...,d...->c...", matrix, vector))


def _cross(a: Array, b: Array) -> Array:
    """Return a x b, (3, ...)."""
    a, b = a.take(RING, axis=0), b.take(RING, axis=0)
    return np.asarray(a[1:4] * b[2:5] - a[2:5] * b[1:4])


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


def _joint_rates(legs: Legs, frame: NDArray[np.intp], side: NDArray[np.intp]) -> Array:
    """Return q' (window, joint, 3), the measured relative angular velocity along the joint axes."""
    spin = legs.spin[frame, side]
    return rotate(dual_basis(legs.axes[frame, side]), spin[:, :-1] - spin[:, 1:])


def driven_by(legs: Legs, torque: Array) -> Driven:
    """Return what is prescribed in every frame, (..., side, time), with the hip centre as origin."""
    force, moment = legs.ground_force.T, legs.ground_moment.T
    return Driven(
        rotation=legs.rotation[:, :, -1].T,
        spin=legs.spin[:, :, -1].T,
        spin_rate=legs.spin_rate[:, :, -1].T,
        hip_acceleration=legs.centre_acceleration[:, :, -1].T,
        reach=_reach(legs),
        torque=torque[:, :, OUTWARDS].T,
        force=force,
        moment=moment - _cross(legs.centre[:, :, -1].T, force),
    )


def _reach(legs: Legs) -> Array:
    """Return (3, 3, 2, segment, side, time) of :class:`Driven`."""
    turn, spin, spin_rate = (part[:, :, -2::-1].T for part in (legs.rotation, legs.spin, legs.spin_rate))

    def against_joint(of_com: Array, of_centre: Array) -> Array:
        com, centre = of_com[:, :, OUTWARDS].T, of_centre[:, :, OUTWARDS].T
        distal = centre[:, [1, 2, 2]]  # the foot has no distal joint: its own stands in, and moves nothing
        return np.stack([com - centre, distal - centre], axis=1)

    w, w_rate = spin[:, None], spin_rate[:, None]
    arm = against_joint(legs.com, legs.centre)
    velocity = against_joint(legs.com_velocity, legs.centre_velocity)
    slip = velocity - _cross(w, arm)
    slip_rate = against_joint(legs.com_acceleration, legs.centre_acceleration)
    slip_rate -= _cross(w_rate, arm) + _cross(w, velocity + slip)
    return np.asarray(np.einsum("cr...,cpk...->rpk...", turn, np.stack([arm, slip, slip_rate], axis=1)))
