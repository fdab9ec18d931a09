"""Forward dynamics of a leg: joint angles from joint moments.

The motion of the pelvis, the translations between the segments and the ground wrench are prescribed.

Kane's equations for the angles of hip, knee and ankle are::

    sum over segments of  Jv^T (m a - m g - E_F) + Jw^T (I w' + w x I w - E_M)  =  tau

with Jv and Jw the velocity of a centre of mass and the angular velocity per rotation rate of each segment about its
proximal joint, and tau the joint moments.

Shapes: components first, then segment or joint, then any other dimensions (window, or side and time). Joints hip, knee,
ankle, segments thigh, shank, foot; lab axes, SI units.

Source: Kane TR, Levinson DA (1985) Dynamics: Theory and Applications.
"""

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .vectors import cross

NEXT, LAST = [1, 2, 0], [2, 0, 1]
ABOVE, BEYOND = [0, 0, 1], [1, 2, 2]  # pairs of segments; the first carries the second


class Driven(NamedTuple):
    """The prescribed quantities."""

    rotation: Array  # (3, axis, ...), the axes of the pelvis; spin, spin_rate: (3, ...)
    spin: Array
    spin_rate: Array
    hip_acceleration: Array  # (3, ...), minus gravity
    # (3, 3, 2, segment, ...), segment axes; second index: position, velocity and acceleration relative to the rotating
    # segment, third: of its centre of mass and its distal joint centre from its proximal one
    reach: Array
    torque: Array  # (axis, joint, ...), right-handed projections of the joint moments on the joint axes
    # force, moment: (3, ...), of the ground on the foot, about the hip centre
    force: Array
    moment: Array


class Masses(NamedTuple):
    """Masses (2, segment, ...) of each segment and of those beyond it; inertia (3, 3, segment, ...), segment axes."""

    mass: Array
    inertia: Array


def acceleration(driven: Driven, masses: Masses, q: Array, qd: Array) -> Array:
    """Return q'' (axis, joint, ...), rad/s2, from angles and rates of the same shape.

    Angles are right-handed. The moments that remain at q'' = 0 give the additional angular accelerations of the
    segments, and these give q'' joint by joint.
    """
    turn, axes = _pose(driven.rotation, q)
    dual = cross(axes.take(NEXT, axis=1), axes.take(LAST, axis=1), axis=0)
    # interpolated axes of the pelvis are not exactly unit vectors
    dual = dual / (axes[:, 0] * dual[:, 0]).sum(axis=0)  # dual basis, for components along the axes
    first, second, third = np.swapaxes(axes * qd, 0, 1)
    turning = first + second + third
    above = _add_up(driven.spin, turning)
    bend = cross(above, turning, axis=0) + cross(first, second, axis=0) + cross(first + second, third, axis=0)
    spin, spin_rate = above + turning, _add_up(driven.spin_rate, bend) + bend
    arm, slip, slip_rate = np.einsum("cr...,rpk...->pck...", turn, driven.reach)
    w = spin[:, None]
    coriolis = cross(w, cross(w, arm, axis=0) + 2 * slip, axis=0)
    moved = slip_rate + cross(spin_rate[:, None], arm, axis=0) + coriolis
    arm[:, 1, -1] = -(arm[:, 1, 0] + arm[:, 1, 1])  # to the hip centre, where the ground's force acts
    force = np.empty_like(arm)  # required by each segment and by all segments beyond it
    np.multiply(masses.mass[0], _add_up(driven.hip_acceleration, moved[:, 1]) + moved[:, 0], out=force[:, 0])
    force[:, 1] = _add_up(-driven.force, force[:, 0, ::-1])[:, ::-1]
    tensor = np.einsum("cs...,ds...->cd...", np.einsum("cr...,rs...->cs...", turn, masses.inertia), turn)
    rest = np.einsum("ch...,h...->c...", dual, driven.torque)  # the joint moments
    rest[:, :-1] -= rest[:, 1:]
    rest[:, -1] += driven.moment
    lever = cross(arm, force, axis=0)
    rest -= _times(tensor, spin_rate) + cross(spin, _times(tensor, spin), axis=0) + lever[:, 0] + lever[:, 1]
    added = _solve(_mass_matrix(arm, masses.mass, tensor), rest)
    added[:, 1:] -= added[:, :-1].copy()
    return np.asarray(np.einsum("ch...,c...->h...", dual, added))


def _pose(base: Array, q: Array) -> tuple[Array, Array]:
    """Return poses (3, axis, segment, ...) and joint axes (3, axis, joint, ...).

    They are of angles (axis, joint, ...) in the sequence Z-X-Y, with the pelvis (3, axis, ...) as base. Columns of a
    pose are the axes of the segment.
    """
    (s1, s2, s3), (c1, c2, c3) = np.sin(q), np.cos(q)
    # the x axis after the first turn and the axes after all three, in the axes of the proximal segment
    local, z = np.zeros((3, 4, *s1.shape)), np.empty((3, *s1.shape))
    x, y = local[:, 0], local[:, 2]
    x[0], x[1] = c1, s1
    y[0], y[1], y[2] = -c2 * s1, c2 * c1, s2
    z[0], z[1], z[2] = s2 * s1, -s2 * c1, c2
    local[:, 1], local[:, 3] = c3 * x - s3 * z, c3 * z + s3 * x
    frames = np.empty_like(local)
    proximal = base
    for joint in range(len(s1)):
        np.einsum("cp...,pv...->cv...", proximal, local[:, :, joint], out=frames[:, :, joint])
        proximal = frames[:, 1:, joint]
    turn = frames[:, 1:]
    axes = np.empty_like(turn)
    axes[:, 0, 0], axes[:, 0, 1:], axes[:, 1], axes[:, 2] = base[:, 2], turn[:, 2, :-1], frames[:, 0], turn[:, 1]
    return turn, axes


def _add_up(first: Array, steps: Array) -> Array:
    """Return (3, joint, ...): the value of the hip plus the steps of the joints above."""
    result = np.empty_like(steps)
    result[:, 0] = first
    for joint in range(1, steps.shape[1]):
        np.add(result[:, joint - 1], steps[:, joint - 1], out=result[:, joint])
    return result


def _mass_matrix(arm: Array, mass: Array, tensor: Array) -> Array:
    """Return the mass matrix (segment, 3, segment, 3, ...) of angular accelerations.

    Each segment turns about its proximal joint and carries all segments beyond. With the arms r and l to its centre of
    mass and its distal joint, the mass m' beyond and s = m r + m' l, the blocks of k, k and of k, j beyond k are::

        T + m (r.r E - r r^T) + m' (l.l E - l l^T)        (l_k.s_j) E - s_j l_k^T

    Args:
        arm: (3, 2, segment, ...), r and l.
        mass: (2, segment, ...), m and m'; tensor: (3, 3, segment, ...), about the centres of mass, lab axes.
    """
    heavy = arm * mass
    squares = np.einsum("ck...,dk...->cd...", heavy, arm)
    carried = heavy[:, 0] + heavy[:, 1]
    pairs = carried[:, None, BEYOND] * arm[None, :, 1, ABOVE]
    products = np.concatenate([squares, pairs], axis=2)
    trace = products[0, 0] + products[1, 1] + products[2, 2]
    for k in range(3):
        products[k, k] -= trace
    diagonal, pairs = tensor - products[:, :, :3], -products[:, :, 3:]
    matrix = np.empty((3, 3, 3, 3, *trace.shape[1:]))
    for k in range(3):
        matrix[k, :, k] = diagonal[:, :, k]
        matrix[ABOVE[k], :, BEYOND[k]] = pairs[:, :, k]
        matrix[BEYOND[k], :, ABOVE[k]] = np.swapaxes(pairs[:, :, k], 0, 1)
    return matrix


def _solve(matrix: Array, rest: Array) -> Array:
    """Return angular accelerations (3, segment, ...) from moments of the same shape."""
    shape = rest.shape[2:]
    rows = np.swapaxes(rest, 0, 1).reshape(9, -1)
    solution = np.linalg.solve(matrix.reshape(9, 9, -1).transpose(2, 0, 1), rows.T[..., None])[..., 0]
    return np.swapaxes(solution.T.reshape(3, 3, *shape), 0, 1)


def _times(matrix: Array, vector: Array) -> Array:
    """Return matrix @ vector, components first."""
    return np.asarray(np.einsum("cd...,d...->c...", matrix, vector))
