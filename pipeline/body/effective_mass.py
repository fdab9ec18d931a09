"""Effective mass of the leg at a point of the foot."""

import numpy as np

from ..arrays import Array
from ..dynamics import limb
from ..dynamics.limb import task_space
from .legs import OUTWARDS, Legs


def effective_foot_mass(legs: Legs, point: Array, normal: Array) -> Array:
    """Return the effective mass (time, side) of a point of the foot, kg.

    It is the task-space inertia of the leg towards the ground, 1 / (J M^-1 J^T), with J the velocity of the point along
    the ground's normal per hinge rate of hip, knee and ankle; the joints turn freely, the pelvis is fixed. It is larger
    with an extended than with a flexed knee. NaN where a segment is not seen, in gimbal lock, or where no hinge moves
    the point so.

    Args:
        point: (time, side, 3), point on the foot, lab axes, m.
        normal: (3,) or (time, 3), of the ground, upwards.

    Source: Khatib O (1987) IEEE J Robot Autom 3:43-53; Chi KJ, Schmitt D (2005) J Biomech 38:1387-1395 (effective
    mass at foot strike).
    """
    axes, centre, com, turn = (
        part[:, :, OUTWARDS] for part in (legs.axes, legs.centre, legs.com, legs.rotation[:, :, :-1])
    )
    tensor = np.swapaxes(turn, -1, -2) @ legs.inertia[:, OUTWARDS] @ turn
    turning, moving = limb.hinge_jacobians(axes, centre, com)
    matrix = limb.hinge_mass_matrix(turning, moving, legs.mass[:, OUTWARDS], tensor)
    _, struck = limb.hinge_jacobians(axes, centre, np.broadcast_to(point[..., None, :], com.shape))
    jacobian = (struck[..., -1, :, :] * normal[..., None, None, :]).sum(axis=-1)[..., None, :]
    seen = np.isfinite(matrix).all(axis=(-1, -2)) & np.isfinite(jacobian).all(axis=(-1, -2))
    solvable = seen & ~legs.locked.any(axis=-1) & jacobian.any(axis=(-1, -2))
    result = np.full(solvable.shape, np.nan)
    still = np.zeros(matrix.shape[-1])
    try:
        inertia, _ = task_space(matrix[solvable], still, jacobian[solvable], 0 * jacobian[solvable], still)
    except np.linalg.LinAlgError:  # a segment has no inertia about an axis
        return result
    result[solvable] = inertia[..., 0, 0]
    return result
