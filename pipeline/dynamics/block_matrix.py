r"""Inverse dynamics of a chain of rigid segments as one linear system, to read and to check.

The loads that are stored come from :mod:`.kernel`, its forward substitution made fast; the step ``kinetics`` compares
them with :func:`solve_as_one_system` in every frame.

The segments are numbered distal to proximal. The unknowns of segment i are the force :math:`F_i` (lab axes)
and the moment :math:`M_i` (segment axes, about the joint centre) that the next proximal body applies to it at
its proximal joint, stacked as :math:`\mathcal F = [F_1, M_1, F_2, M_2, \dots]`. Newton-Euler for all segments
reads :math:`A \mathcal F = b` with, for segment i (:math:`R_i` lab to segment, :math:`S(v) w = v \times w`,
:math:`r_p, r_d` from the centre of mass to the proximal and distal joint, lab axes)::

    force row :  F_i - F_(i-1)                                                        = m a - m g - E_force
    moment row:  R_i S(r_p) F_i + M_i - R_i S(r_d) F_(i-1) - R_i R_(i-1)^T M_(i-1)    = I w' + w x I w - E_moment

(the loads on the proximal segment are the opposite of those on the distal one, hence the minus signs; the
first segment has no distal joint). A is unit block lower triangular, so its determinant is 1 and forward
substitution solves it exactly. Splitting b into terms splits every joint load into the contributions::

    inertia   m a          and  I w'
    velocity  0            and  w x I w
    gravity   -m g
    ground    -E_force     and  -E_moment

Shapes, axes and units are those of :class:`.kernel.Segments`; here time may be absent and mass and inertia may depend
on it.

Sources: Dumas R, Aissaoui R, de Guise JA (2004) Comput Methods Biomech Biomed Engin 7:159-166 for the
three-dimensional recursion; Featherstone R (2008) Rigid Body Dynamics Algorithms, chapter 5, for chains.
"""

import numpy as np

from ..arrays import Array
from .kernel import GRAVITY, GROUND, INERTIA, TERMS, VELOCITY, Segments
from .vectors import cross, rotate, skew, transpose


def system_matrix(segments: Segments) -> Array:
    """Return A (..., 6 N, 6 N) of each chain and frame."""
    turn = segments.rotation
    n = turn.shape[-3]
    matrix = np.broadcast_to(np.eye(6 * n), (*turn.shape[:-3], 6 * n, 6 * n)).copy()
    proximal, distal = skew(segments.to_proximal), skew(segments.to_distal)
    for i in range(n):
        force, moment = slice(6 * i, 6 * i + 3), slice(6 * i + 3, 6 * i + 6)
        matrix[..., moment, force] = turn[..., i, :, :] @ proximal[..., i, :, :]
        if i:
            force_below, moment_below = slice(6 * i - 6, 6 * i - 3), slice(6 * i - 3, 6 * i)
            matrix[..., force, force_below] = -np.eye(3)
            matrix[..., moment, force_below] = -turn[..., i, :, :] @ distal[..., i, :, :]
            matrix[..., moment, moment_below] = -turn[..., i, :, :] @ transpose(turn[..., i - 1, :, :])
    return matrix


def right_hand_sides(segments: Segments) -> tuple[Array, Array]:
    """Return b by :data:`TERMS`: forces (..., 4, N, 3) in lab axes and moments (..., 4, N, 3) in segment axes."""
    mass, inertia, spin = segments.mass[..., None], segments.inertia, segments.angular_velocity
    shape = np.broadcast_shapes(segments.com_acceleration.shape, segments.external_force.shape)
    force = np.zeros((*shape[:-2], len(TERMS), *shape[-2:]))
    moment = np.zeros_like(force)
    force[..., INERTIA, :, :] = mass * segments.com_acceleration
    force[..., GRAVITY, :, :] = -mass * segments.gravity
    force[..., GROUND, :, :] = -segments.external_force
    moment[..., INERTIA, :, :] = rotate(inertia, segments.angular_acceleration)
    moment[..., VELOCITY, :, :] = cross(spin, rotate(inertia, spin))
    moment[..., GROUND, :, :] = -rotate(segments.rotation, segments.external_moment)
    return force, moment


def solve(segments: Segments, force: Array, moment: Array) -> tuple[Array, Array]:
    """Solve A F = b by forward substitution, from the free end to the root.

    Args:
        force: (..., K, N, 3), force rows of K right-hand sides, lab axes, N.
        moment: (..., K, N, 3), moment rows, segment axes, N m.

    Returns:
        Joint forces (..., K, N, 3) in lab axes and joint moments (..., K, N, 3) in segment axes, both on the
        segment at its proximal joint. Their sum over K is the solution for the sum of the right-hand sides.
    """
    turn = segments.rotation[..., None, :, :, :]
    proximal, distal = segments.to_proximal[..., None, :, :], segments.to_distal[..., None, :, :]
    joint_force = np.cumsum(force, axis=-2)
    in_lab = rotate(transpose(turn), moment) - cross(proximal, joint_force)
    in_lab[..., 1:, :] += cross(distal[..., 1:, :], joint_force[..., :-1, :])
    # R_i R_(i-1)^T M_(i-1) passes a moment from segment to segment: in lab axes, a running sum
    return joint_force, rotate(turn, np.cumsum(in_lab, axis=-2))


def inverse_dynamics(segments: Segments) -> tuple[Array, Array]:
    """Return the joint loads by term: :func:`solve` of :func:`right_hand_sides`.

    Returns:
        Joint forces (..., 4, N, 3) in lab axes, N, and joint moments (..., 4, N, 3) in segment axes about the
        joint centres, N m, on each segment at its proximal joint; their sums over the terms are the loads.
    """
    return solve(segments, *right_hand_sides(segments))


def solve_as_one_system(segments: Segments) -> tuple[Array, Array]:
    """Assemble A and b and solve A F = b by a general solver, which makes no use of the zeros in A.

    Returns:
        The joint loads, all terms together: forces (..., N, 3) in lab axes and moments (..., N, 3) in segment axes. NaN
        where a row of the system is unknown that the load depends on: forces depend on the force rows up to their
        segment, moments on all rows up to theirs.
    """
    matrix = system_matrix(segments)
    force, moment = (terms.sum(axis=-3) for terms in right_hand_sides(segments))
    b = np.concatenate([force, moment], axis=-1).reshape(matrix.shape[:-1])
    unknown = np.isnan(matrix)
    row_lost = unknown.any(axis=-1) | np.isnan(b)
    # without NaN in other rows, those that do not depend on unknown ones are solved
    matrix[unknown], b[row_lost] = 0, 0
    loads = np.linalg.solve(matrix, b[..., None]).reshape(*force.shape[:-1], 2, 3)
    lost = np.logical_or.accumulate(row_lost.reshape(loads.shape).any(axis=-1), axis=-2)
    lost[..., 1] |= lost[..., 0]
    loads[lost] = np.nan
    return loads[..., 0, :], loads[..., 1, :]
