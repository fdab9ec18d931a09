r"""Inverse dynamics of a chain of N rigid segments, all at once, by the skew-symmetric block matrix.

The segments are numbered distal to proximal. The unknowns of segment i are the force :math:`F_i` (lab axes)
and the moment :math:`M_i` (segment axes, about the joint centre) that the next proximal body applies to it at
its proximal joint, stacked as :math:`\mathcal F = [F_1, M_1, F_2, M_2, \dots]`. Newton-Euler for all segments
reads :math:`A \mathcal F = b` with, for segment i (:math:`R_i` lab to segment, :math:`S(v) w = v \times w`,
:math:`r_p, r_d` from the centre of mass to the proximal and distal joint, lab axes)::

    force row :  F_i - F_(i-1)                                                        = m a - m g - E_force
    moment row:  R_i S(r_p) F_i + M_i - R_i S(r_d) F_(i-1) - R_i R_(i-1)^T M_(i-1)    = I w' + w x I w - E_moment

(the loads on the proximal segment are the opposite of those on the distal one, hence the minus signs; the
first segment has no distal joint). A is unit block lower triangular, so its determinant is 1 and forward
substitution solves it exactly, and splitting b into terms splits every joint load into what each contributes:

    inertia   m a          and  I w'
    velocity  0            and  w x I w
    gravity   -m g
    ground    -E_force     and  -E_moment

Shapes: arrays broadcast over leading dimensions ``...`` (time, side); the segment axis is the last but one of
vectors ``(..., N, 3)`` and the third last of matrices ``(..., N, 3, 3)``. SI units.

This is the system as it is read; :mod:`.kernel` solves it for many frames at a time.

Sources: Dumas R, Aissaoui R, de Guise JA (2004) Comput Methods Biomech Biomed Engin 7:159-166 for the
three-dimensional recursion; Featherstone R (2008) Rigid Body Dynamics Algorithms, chapter 5, for chains.
"""

from __future__ import annotations

import numpy as np

from .vectors import Array, cross, rotate, skew, transpose

TERMS = ("inertia", "velocity", "gravity", "ground")


def system_matrix(rotation: Array, to_proximal: Array, to_distal: Array) -> Array:
    """Return the dense A, to look at and to test with; the solver never builds it.

    Args:
        rotation: (..., N, 3, 3), v_segment = rotation @ v_lab.
        to_proximal: (..., N, 3), centre of mass to proximal joint, lab axes, m.
        to_distal: (..., N, 3), centre of mass to distal joint, lab axes, m; that of the first is not used.

    Returns:
        (..., 6 N, 6 N); unit block lower triangular.
    """
    n = rotation.shape[-3]
    matrix = np.broadcast_to(np.eye(6 * n), (*rotation.shape[:-3], 6 * n, 6 * n)).copy()
    proximal, distal = skew(to_proximal), skew(to_distal)
    for i in range(n):
        force, moment = slice(6 * i, 6 * i + 3), slice(6 * i + 3, 6 * i + 6)
        matrix[..., moment, force] = rotation[..., i, :, :] @ proximal[..., i, :, :]
        if i:
            force_below, moment_below = slice(6 * i - 6, 6 * i - 3), slice(6 * i - 3, 6 * i)
            matrix[..., force, force_below] = -np.eye(3)
            matrix[..., moment, force_below] = -rotation[..., i, :, :] @ distal[..., i, :, :]
            matrix[..., moment, moment_below] = -rotation[..., i, :, :] @ transpose(rotation[..., i - 1, :, :])
    return matrix


def right_hand_sides(
    rotation: Array,
    mass: Array,
    inertia: Array,
    com_acceleration: Array,
    angular_velocity: Array,
    angular_acceleration: Array,
    external_force: Array,
    external_moment: Array,
    gravity: Array,
) -> tuple[Array, Array]:
    """Return b split into the four terms of :data:`TERMS`.

    Args:
        rotation: (..., N, 3, 3), v_segment = rotation @ v_lab.
        mass: (..., N), kg.
        inertia: (..., N, 3, 3), about the centre of mass, segment axes, kg m2.
        com_acceleration: (..., N, 3), lab axes, m/s2.
        angular_velocity: (..., N, 3), segment axes, rad/s.
        angular_acceleration: (..., N, 3), segment axes, rad/s2.
        external_force: (..., N, 3), of the surroundings on the segment, lab axes, N.
        external_moment: (..., N, 3), about the segment's centre of mass, free moment included, lab axes, N m.
        gravity: (3,), acceleration of gravity, lab axes, m/s2.

    Returns:
        Forces (..., 4, N, 3) in lab axes and moments (..., 4, N, 3) in segment axes.
    """
    vectors = np.broadcast_shapes(com_acceleration.shape, external_force.shape)
    force = np.zeros((*vectors[:-2], len(TERMS), *vectors[-2:]))
    moment = np.zeros_like(force)
    force[..., 0, :, :] = mass[..., None] * com_acceleration
    force[..., 2, :, :] = -mass[..., None] * gravity
    force[..., 3, :, :] = -external_force
    moment[..., 0, :, :] = rotate(inertia, angular_acceleration)
    moment[..., 1, :, :] = cross(angular_velocity, rotate(inertia, angular_velocity))
    moment[..., 3, :, :] = -rotate(rotation, external_moment)
    return force, moment


def solve(rotation: Array, to_proximal: Array, to_distal: Array, force: Array, moment: Array) -> tuple[Array, Array]:
    """Solve A F = b by forward substitution, from the free end of the chain to its root.

    Args:
        rotation: (..., N, 3, 3), v_segment = rotation @ v_lab.
        to_proximal: (..., N, 3), centre of mass to proximal joint, lab axes, m.
        to_distal: (..., N, 3), centre of mass to distal joint, lab axes, m; that of the first is not used.
        force: (..., K, N, 3), force rows of K right-hand sides, lab axes, N.
        moment: (..., K, N, 3), moment rows, segment axes, N m.

    Returns:
        Joint forces (..., K, N, 3) in lab axes and joint moments (..., K, N, 3) in segment axes, both on the
        segment at its proximal joint. Their sum over K is the solution for the sum of the right-hand sides.
    """
    turn, proximal, distal = rotation[..., None, :, :, :], to_proximal[..., None, :, :], to_distal[..., None, :, :]
    joint_force = np.cumsum(force, axis=-2)
    in_lab = rotate(transpose(turn), moment) - cross(proximal, joint_force)
    in_lab[..., 1:, :] += cross(distal[..., 1:, :], joint_force[..., :-1, :])
    # R_i R_(i-1)^T M_(i-1) hands a moment on from segment to segment: in lab axes that is a running sum
    return joint_force, rotate(turn, np.cumsum(in_lab, axis=-2))


def inverse_dynamics(
    rotation: Array,
    mass: Array,
    inertia: Array,
    com_acceleration: Array,
    angular_velocity: Array,
    angular_acceleration: Array,
    to_proximal: Array,
    to_distal: Array,
    external_force: Array,
    external_moment: Array,
    gravity: Array,
) -> tuple[Array, Array]:
    """Return the joint loads of a chain by term: :func:`solve` of :func:`right_hand_sides`, arguments as there.

    Returns:
        Joint forces (..., 4, N, 3) in lab axes, N, and joint moments (..., 4, N, 3) in segment axes about the
        joint centres, N m, on each segment at its proximal joint; their sums over the terms are the loads.
    """
    rows = right_hand_sides(
        rotation,
        mass,
        inertia,
        com_acceleration,
        angular_velocity,
        angular_acceleration,
        external_force,
        external_moment,
        gravity,
    )
    return solve(rotation, to_proximal, to_distal, *rows)
