"""Effective mass of the leg at foot strike."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...body.legs import OUTWARDS, Legs, legs_of
from ...dynamics import limb
from ...dynamics.limb import task_space
from ...plates.incline import VERTICAL
from .cut_trial import Inputs, marker_of_feet


def at_foot_strikes(session: Inputs[xr.Dataset], frames: NDArray[np.intp], row: NDArray[np.intp]) -> Array:
    """Return the effective foot mass (strike,) kg at heel or toe marker, whichever is lower over the ground.

    Args:
        frames: (strike,), frame of each foot strike.
        row: (strike,), index of its side.
    """
    kinematics, contacts = session.kinematics, session.contacts
    smallest = float(kinematics.variables["smallest_floating_axis"].values[0])
    legs = legs_of(
        kinematics, contacts, session.calibrate,
        gravity_m_s2=0.0, smallest_floating_axis=smallest, samples=frames,
    )  # fmt: skip
    heel, toe = (marker_of_feet(session.clean, name)[frames] for name in ("heel", "toe"))
    ground = contacts.variables.get("ground_normal")
    normal = VERTICAL if ground is None else ground.values[kinematics.variables["sample_trial"].values[frames]]
    is_toe = ((toe - heel) * normal[..., None, :]).sum(axis=-1) < 0
    lower = np.where(is_toe[..., None], toe, heel)
    mass = effective_foot_mass(legs, lower, normal)
    return np.asarray(mass[np.arange(len(frames)), row])


def effective_foot_mass(legs: Legs, point: Array, normal: Array = VERTICAL) -> Array:
    """Return the effective mass (time, side) of a point of the foot, kg.

    It is the task-space inertia of the leg towards the ground, 1 / (J M^-1 J^T), with J the velocity of the point along
    the ground's normal per hinge rate of hip, knee and ankle; the joints turn freely, the pelvis is fixed. It is larger
    with an extended than with a flexed knee. NaN where a segment is not seen, in gimbal lock, or where no hinge moves
    the point so.

    Args:
        point: (time, side, 3), point on the foot, lab axes, m.
        normal: (3,) or (time, 3) of the ground.

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
