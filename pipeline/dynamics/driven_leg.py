"""A leg that is driven by its joint moments, while pelvis, slides between the segments and ground wrench are given.

Kane's equations for the angles of hip, knee and ankle, ::

    sum over segments of  Jv^T (m a - m g - E_F) + Jw^T (I w' + w x I w - E_M)  =  tau

with Jv and Jw the velocity of a centre of mass and the angular velocity per rate of turning, here of each segment about
its proximal joint, and tau the joint moments that turn it.

Shapes: components first, then what they belong to, and any dimensions after (window, or side and time): every operation
runs along memory. Joints hip, knee, ankle, segments thigh, shank, foot; lab axes, SI units.

Source: Kane TR, Levinson DA (1985) Dynamics: Theory and Applications.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .vectors import Array, cross

NEXT, LAST = [1, 2, 0], [2, 0, 1]
ABOVE, BEYOND = [0, 0, 1], [1, 2, 2]  # pairs of segments, of which the first carries the second along


@dataclass(frozen=True)
class Driven:
    """What is prescribed.

    Attributes:
        rotation: (3, axis, ...), the axes of the pelvis; spin, spin_rate: (3, ...).
        hip_acceleration: (3, ...), less gravity.
        reach: (3, 3, 2, segment, ...), segment axes: first places, velocities and accelerations, in the segment's own
            eyes, of its centre of mass and its distal joint centre, from its proximal joint centre (second index).
        torque: (axis, joint, ...), right-handed projections of the joint moments on the joint axes.
        force, moment: (3, ...), of the ground on the foot, about the hip centre.
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
    """mass (2, segment, ...) of each segment and of those beyond it; inertia (3, 3, segment, ...), segment axes."""

    mass: Array
    inertia: Array


def acceleration(driven: Driven, masses: Masses, q: Array, qd: Array) -> Array:
    """Return q'' (axis, joint, ...) rad/s2 from angles and rates of the same shape, right-handed.

    What q'' adds to the angular accelerations of the segments follows from the moments that each still needs, and
    from it q'' joint by joint.
    """
    turn, axes = _posed(driven.rotation, q)
    dual = _dual_basis(axes)
    first, second, third = np.swapaxes(axes * qd, 0, 1)
    turning = first + second + third
    above = _handed_on(driven.spin, turning)
    bend = cross(above, turning, axis=0) + cross(first, second, axis=0) + cross(first + second, third, axis=0)
    spin, spin_rate = above + turning, _handed_on(driven.spin_rate, bend) + bend
    arm, slip, slip_rate = np.einsum("cr...,rpk...->pck...", turn, driven.reach)
    w = spin[:, None]
    coriolis = cross(w, cross(w, arm, axis=0) + 2 * slip, axis=0)
    moved = slip_rate + cross(spin_rate[:, None], arm, axis=0) + coriolis
    arm[:, 1, -1] = -(arm[:, 1, 0] + arm[:, 1, 1])  # to the hip centre, where the ground's force stands in
    force = np.empty_like(arm)  # needed by each segment and by all that lies beyond it
    np.multiply(masses.mass[0], _handed_on(driven.hip_acceleration, moved[:, 1]) + moved[:, 0], out=force[:, 0])
    force[:, 1] = _handed_on(-driven.force, force[:, 0, ::-1])[:, ::-1]
    tensor = np.einsum("cs...,ds...->cd...", np.einsum("cr...,rs...->cs...", turn, masses.inertia), turn)
    rest = np.einsum("ch...,h...->c...", dual, driven.torque)  # the joint moments
    rest[:, :-1] -= rest[:, 1:]
    rest[:, -1] += driven.moment
    lever = cross(arm, force, axis=0)
    rest -= _times(tensor, spin_rate) + cross(spin, _times(tensor, spin), axis=0) + lever[:, 0] + lever[:, 1]
    added = _solved(_mass_matrix(arm, masses.mass, tensor), rest)
    added[:, 1:] -= added[:, :-1].copy()
    return np.asarray(np.einsum("ch...,c...->h...", dual, added))


def _posed(base: Array, q: Array) -> tuple[Array, Array]:
    """Return poses (3, axis, segment, ...), columns the axes of a segment, and joint axes (3, axis, joint, ...).

    Of angles (axis, joint, ...) in the sequence Z-X-Y; the base (3, axis, ...) is the pelvis.
    """
    (s1, s2, s3), (c1, c2, c3) = np.sin(q), np.cos(q)
    # the x axis after the first turn and the axes after all three, in the axes of the proximal segment
    local, z = np.zeros((3, 4, *s1.shape)), np.empty((3, *s1.shape))
    x, y = local[:, 0], local[:, 2]
    x[0], x[1] = c1, s1
    y[0], y[1], y[2] = -c2 * s1, c2 * c1, s2
    z[0], z[1], z[2] = s2 * s1, -s2 * c1, c2
    local[:, 1], local[:, 3] = c3 * x - s3 * z, c3 * z + s3 * x
    found = np.empty_like(local)
    proximal = base
    for joint in range(len(s1)):
        np.einsum("cp...,pv...->cv...", proximal, local[:, :, joint], out=found[:, :, joint])
        proximal = found[:, 1:, joint]
    turn = found[:, 1:]
    axes = np.empty_like(turn)
    axes[:, 0, 0], axes[:, 0, 1:], axes[:, 1], axes[:, 2] = base[:, 2], turn[:, 2, :-1], found[:, 0], turn[:, 1]
    return turn, axes


def _dual_basis(axes: Array) -> Array:
    """Return the rows (3, axis, ...) that find the turns about three axes (3, axis, ...) in what they add up to."""
    # of a measured pelvis in between frames not quite unit vectors
    dual = cross(axes.take(NEXT, axis=1), axes.take(LAST, axis=1), axis=0)
    return np.asarray(dual / (axes[:, 0] * dual[:, 0]).sum(axis=0))


def _handed_on(first: Array, steps: Array) -> Array:
    """Return (3, joint, ...) of each joint: what the hip has and what the segments above add."""
    result = np.empty_like(steps)
    result[:, 0] = first
    for joint in range(1, steps.shape[1]):
        np.add(result[:, joint - 1], steps[:, joint - 1], out=result[:, joint])
    return result


def _mass_matrix(arm: Array, mass: Array, tensor: Array) -> Array:
    """Return by which moments the segments resist angular accelerations of each other, (segment, 3, segment, 3, ...).

    Each segment turns about its proximal joint and carries along what lies beyond. With the arms r and l to its centre
    of mass and its distal joint, the mass m' beyond and s = m r + m' l, the blocks of k, k and of k, j beyond k are::

        T + m (r.r E - r r^T) + m' (l.l E - l l^T)        (l_k.s_j) E - s_j l_k^T

    Args:
        arm: (3, 2, segment, ...), r and l.
        mass: (2, segment, ...), m and m'; tensor: (3, 3, segment, ...), about the centres of mass, lab axes.
    """
    heavy = arm * mass
    own = np.einsum("ck...,dk...->cd...", heavy, arm)
    carried = heavy[:, 0] + heavy[:, 1]
    pairs = carried[:, None, BEYOND] * arm[None, :, 1, ABOVE]
    products = np.concatenate([own, pairs], axis=2)
    trace = products[0, 0] + products[1, 1] + products[2, 2]
    for k in range(3):
        products[k, k] -= trace
    own, pairs = tensor - products[:, :, :3], -products[:, :, 3:]
    matrix = np.empty((3, 3, 3, 3, *trace.shape[1:]))
    for k in range(3):
        matrix[k, :, k] = own[:, :, k]
        matrix[ABOVE[k], :, BEYOND[k]] = pairs[:, :, k]
        matrix[BEYOND[k], :, ABOVE[k]] = np.swapaxes(pairs[:, :, k], 0, 1)
    return matrix


def _solved(matrix: Array, rest: Array) -> Array:
    """Return the angular accelerations (3, segment, ...) that moments of the same shape lead to."""
    shape = rest.shape[2:]
    rows = np.swapaxes(rest, 0, 1).reshape(9, -1)
    found = np.linalg.solve(matrix.reshape(9, 9, -1).transpose(2, 0, 1), rows.T[..., None])[..., 0]
    return np.swapaxes(found.T.reshape(3, 3, *shape), 0, 1)


def _times(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("cd...,d...->c...", matrix, vector))
