r"""A limb as an open chain of six one-degree-of-freedom joints per anatomical joint, one instant at a time.

Between two segments that follow their own markers stand three slides, along the axes of the proximal segment, and
three hinges, along the joint coordinate axes through the joint centre. Each is a joint of
:mod:`pipeline.dynamics.open_chain`; the links between them weigh nothing. Because only this one instant is looked at,
all twists and wrenches can be written in a single inertial frame (axes of the lab; origin and velocity of your choice,
best near the limb), where handing them from link to link needs no map: the recursions become running sums, ::

    V_i  = V_(i-1)  + S_i q'_i                               out, from the base
    V'_i = V'_(i-1) + S_i q''_i + ad(V_i) S_i q'_i
    F_i  = F_(i+1)  + G_i (V'_i - g) - ad(V_i)^T G_i V_i - E_i        back, from the tip
    tau_i = F_i . S_i

with the screw axes S_i = (w, v), spatial inertias G_i and loads E_i (moment, force) of this instant.

Shapes: N segments, **from the base outwards**, six joints each: screws (..., N, 6, 6), slides before hinges; the base
is a further first entry where poses and twists are given (N+1). Leading ``...`` time, side. SI units, lab axes.

Sources: Featherstone R (2008) Rigid Body Dynamics Algorithms, table 5.1, for the recursion in base coordinates;
Grood ES, Suntay WJ (1983) J Biomech Eng 105:136-144 for slides and hinges of an anatomical joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.dynamics.block_matrix import cross, skew
from pipeline.dynamics.screws import apply, commutator, dual_commutator, spatial_inertia, transpose

Array = NDArray[np.float64]
SLIDES, HINGES = slice(0, 3), slice(3, 6)
MOTIONS = ("acceleration", "velocity")


@dataclass(frozen=True)
class Limb:
    """The limb as it stands.

    screw (..., N, 6, 6) of the six joints of each anatomical joint, one per row; inertia (..., N, 6, 6) of the
    segments; centre (..., N, 3) of the anatomical joints from the frame's origin, m.
    """

    screw: Array
    inertia: Array
    centre: Array


class Motion(NamedTuple):
    """How the limb moves.

    twist, twist_rate: V and V' (..., N+1, 6), base first; rate, acceleration: q' and q'' (..., N, 6) of slides (m/s,
    m/s2) and hinges (rad/s, rad/s2); push, drift: S q' and ad(V) S q' (..., N, 6, 6).
    """

    twist: Array
    twist_rate: Array
    rate: Array
    acceleration: Array
    push: Array
    drift: Array


def limb_at(rotation: Array, axes: Array, centre: Array, mass: Array, com: Array, inertia: Array) -> Limb:
    """Return the limb of one instant.

    Args:
        rotation: (..., N+1, 3, 3), v_segment = rotation @ v_lab, the base first.
        axes: (..., N, 3, 3), joint coordinate axes as rows, unit vectors in lab axes.
        centre: (..., N, 3), joint centres from the frame's origin, lab axes, m.
        mass: (..., N), kg.
        com: (..., N, 3), centres of mass from the frame's origin, lab axes, m.
        inertia: (..., N, 3, 3), about the centres of mass, segment axes, kg m2.
    """
    screw = np.zeros((*axes.shape[:-2], 6, 6))
    screw[..., SLIDES, 3:] = rotation[..., :-1, :, :]
    screw[..., HINGES, :3] = axes
    screw[..., HINGES, 3:] = cross(centre[..., None, :], axes)
    turn = rotation[..., 1:, :, :]
    return Limb(screw, spatial_inertia(mass, com, transpose(turn) @ inertia @ turn), centre)


def twists(spin: Array, spin_rate: Array, point: Array, velocity: Array, acceleration: Array) -> tuple[Array, Array]:
    """Return V and V' (..., 6) of a body from the motion of one of its points, all vectors (..., 3) in lab axes.

    V = (w, v - w x r) and V' = (w', a - w' x r - w x v), r from the frame's origin and v against the frame.
    """
    twist = np.concatenate([spin, velocity - cross(spin, point)], axis=-1)
    rate = acceleration - cross(spin_rate, point) - cross(spin, velocity)
    return twist, np.concatenate([spin_rate, rate], axis=-1)


def joint_motion(limb: Limb, twist: Array, twist_rate: Array) -> Motion:
    """Return the joint rates and accelerations that the motion of the segments (..., N+1, 6) asks for.

    Solves S q' = V_i - V_(i-1) and S q'' = V'_i - V'_(i-1) - (sum of ad(V) S q') of each anatomical joint: no angle is
    differentiated. Near gimbal lock the hinges cannot be told apart: there the result grows without bound.
    """
    dual = dual_basis(limb.screw[..., HINGES, :3])
    rate = _solved(limb, dual, np.diff(twist, axis=-2))
    push = limb.screw * rate[..., None]
    drift = commutator(twist[..., :-1, None, :] + _running_sum(push, axis=-2), push)
    acceleration = _solved(limb, dual, np.diff(twist_rate, axis=-2) - _sum(drift))
    return Motion(twist, twist_rate, rate, acceleration, push, drift)


def dual_basis(axes: Array) -> Array:
    """Return the rows (..., 3, 3) that find the turns about three axes in what they add up to; inf or NaN if flat."""
    dual = cross(axes[..., [1, 2, 0], :], axes[..., [2, 0, 1], :])
    volume = (axes[..., 0, :] * dual[..., 0, :]).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(dual / volume[..., None, None])


def _solved(limb: Limb, dual: Array, difference: Array) -> Array:
    """Return S^-1 (w, v): hinges by the dual basis of their axes, slides by what the hinges leave of v."""
    turning, moving = difference[..., :3], difference[..., 3:]
    slides = apply(limb.screw[..., SLIDES, 3:], moving - cross(limb.centre, turning))
    return np.concatenate([slides, apply(dual, turning)], axis=-1)


class Recursion(NamedTuple):
    """What moves the limb.

    torque (..., N, 6) in N m (slides: N); wrench (..., N, 6), moment about the frame's origin and force, that each
    segment receives at its proximal joint; static: the part of it that weight and loads cause.
    """

    torque: Array
    wrench: Array
    static: Array


def inverse_dynamics(limb: Limb, motion: Motion, gravity: Array, load: Array) -> Recursion:
    """Return what the joints do, by the recursion from the base's motion and the joint rates outwards, then back.

    Args:
        limb, motion: of :func:`limb_at` and :func:`joint_motion`.
        gravity: (3,), acceleration of gravity, m/s2.
        load: (..., N, 6), of the surroundings on each segment: moment about the frame's origin, force.
    """
    bend = apply(transpose(limb.screw), motion.acceleration) + _sum(motion.drift)
    twist = motion.twist[..., :1, :] + np.cumsum(_sum(motion.push), axis=-2)
    rate = motion.twist_rate[..., :1, :] + np.cumsum(bend, axis=-2)
    turning = dual_commutator(twist, apply(limb.inertia, twist))
    static = _from_tip(-limb.inertia[..., 3:] @ gravity - load, axis=-2)
    wrench = _from_tip(apply(limb.inertia, rate) + turning, axis=-2) + static
    return Recursion(apply(limb.screw, wrench), wrench, static)


def contributions(limb: Limb, motion: Motion) -> Array:
    """Return by the closed form which motion causes which joint wrench.

    The sources are the base, then the slides and the hinges of each anatomical joint. With x, y the share of a source
    in the twist rate and twist of the segments beyond it, and z what drifts of its axes, the sum of ad(V_i) S_i q'_i,
    each segment needs of it G x by acceleration and G (z - ad(V) y) + B y by velocity. There z - ad(V) y is the rate
    of y as the segment itself sees it, and B that of the Coriolis matrix
    (:func:`~pipeline.dynamics.screws.gyroscopic`), which shares a product of two rates evenly.

    Args:
        limb, motion: of :func:`limb_at` and :func:`joint_motion`.

    Returns:
        (..., N, 6, 2, 1 + 2 N): wrench (moment about the frame's origin, force) at each joint by :data:`MOTIONS` and
        by source (base, slides and hinges of the first joint, ...). Its sum over both is the wrench of
        :func:`inverse_dynamics` without its static part.
    """
    count = limb.screw.shape[-3]
    twist = motion.twist[..., 1:, :]
    # a source per row, so that one product of matrices serves all
    x, y, z = (
        np.concatenate([first, _by_group(share)], axis=-2)
        for first, share in (
            (motion.twist_rate[..., :1, :], limb.screw * motion.acceleration[..., None]),
            (motion.twist[..., :1, :], motion.push),
            (np.zeros_like(motion.twist[..., :1, :]), motion.drift),
        )
    )
    found = np.concatenate([x, z], axis=-2)[..., None, :, :] @ _from_tip(limb.inertia, axis=-3)
    found = found.reshape(*found.shape[:-2], 2, 1 + 2 * count, 6)
    found[..., 1, :, :] += y[..., None, :, :3] @ _from_tip(_turning(twist, limb.inertia), axis=-3)
    for joint in range(1, count):  # a source moves the segments from its own joint outwards
        own = slice(2 * joint + 1, 2 * joint + 3)
        found[..., :joint, :, own, :] = found[..., joint, None, :, own, :]
    return np.moveaxis(found, -1, -3)


def _turning(twist: Array, inertia: Array) -> Array:
    """Return the first three rows (..., 3, 6) of (B - G ad(V))^T; of a rigid body the others are zero."""
    shape = (*twist.shape[:-1], 2, 3)
    momentum = skew(apply(inertia, twist).reshape(shape))
    spread = inertia[..., :3, :] @ skew(twist.reshape(shape)).reshape(*inertia.shape[:-1], 3)
    upper = momentum[..., 0, :, :] - spread - transpose(spread)
    return np.concatenate([upper / 2, momentum[..., 1, :, :]], axis=-1)


def hinge_jacobians(axes: Array, centre: Array, point: Array) -> tuple[Array, Array]:
    """Return what a unit rate of each hinge does to each segment: a joint moves the segments from its own outwards.

    Args:
        axes: (..., N, 3, 3), hinge axes as rows; centre: (..., N, 3), joint centres.
        point: (..., N, 3), a point of each segment.

    Returns:
        Transposed Jacobians (..., N, 3 N, 3): angular velocities, and velocities of the points, per hinge rate.
    """
    count = axes.shape[-3]
    reached = np.tril(np.ones((count, count)))[:, :, None, None]
    turning = axes[..., None, :, :, :] * reached
    moving = cross(turning, (point[..., :, None, :] - centre[..., None, :, :])[..., None, :])
    shape = (*turning.shape[:-3], 3 * count, 3)
    return turning.reshape(shape), moving.reshape(shape)


def hinge_mass_matrix(turning: Array, moving: Array, mass: Array, tensor: Array) -> Array:
    """Return M (..., 3 N, 3 N) of the hinges, base and slides held: the sum of m Jv^T Jv + Jw^T I Jw.

    Args:
        turning, moving: of :func:`hinge_jacobians` for the centres of mass.
        mass: (..., N), kg.
        tensor: (..., N, 3, 3), about the centres of mass, lab axes, kg m2.
    """
    by_mass = (mass[..., None, None] * moving) @ transpose(moving)
    return np.asarray((by_mass + turning @ tensor @ transpose(turning)).sum(axis=-3))


def _by_group(share: Array) -> Array:
    """Return (..., 2 N, 6): the sums over the three slides and the three hinges of each joint (..., N, 6, 6)."""
    halves = _sum(share.reshape(*share.shape[:-2], 2, 3, 6))
    return halves.reshape(*halves.shape[:-3], -1, 6)


def _from_tip(array: Array, *, axis: int) -> Array:
    """Return the running sum from the last segment to the first."""
    return np.flip(_running_sum(np.flip(array, axis), axis=axis), axis)


def _running_sum(array: Array, *, axis: int) -> Array:
    """Return numpy's cumsum, row by row: several times faster where there are few rows."""
    result = array.copy()
    rows = np.moveaxis(result, axis, 0)
    for i in range(1, len(rows)):
        rows[i] += rows[i - 1]
    return result


def _sum(array: Array) -> Array:
    """Return the sum over the last axis but one, row by row for the same reason."""
    rows: Array = reduce(np.add, np.moveaxis(array, -2, 0))
    return rows
