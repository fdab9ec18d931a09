"""Parts of a joint moment over one gait cycle: by term, and by cause of motion."""

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body import joint_angles
from ...dynamics.vectors import transpose
from ...signals.time_normalisation import over_one_cycle


def project_terms(kinematics: xr.Dataset, kinetics: xr.Dataset) -> Array:
    """Return ``joint_moment_term`` along the joint coordinate axes, N m, clinical signs.

    (time, side, joint, angle, term). The terms sum to ``joint_moment_jcs``. NaN in gimbal lock.
    """
    rotation = kinematics.rotation.values
    proximal, distal = rotation[:, :, 1:], rotation[:, :, :-1]
    onto = joint_angles.SIGNS[..., None] * (joint_angles.axes(proximal, distal) @ transpose(distal))
    projected = onto @ transpose(kinetics.joint_moment_term.values)
    return np.where(np.isfinite(kinetics.joint_moment_jcs.values)[..., None], projected, np.nan)


def parts_over_cycle(
    kinematics: xr.Dataset, kinetics: xr.Dataset, *, row: int, start_s: float, end_s: float
) -> tuple[Array, Array]:
    """Return the parts of the joint moments of one side over one cycle, N m, along the joint axes, clinical signs.

    Returns:
        (joint, angle, term, phase), and the terms of motion (inertia and velocity) by cause (joint, angle, cause,
        phase).
    """
    by_term = project_terms(kinematics, kinetics)[:, row]
    by_cause = kinetics.interaction_torque.values[:, row].sum(axis=-1)
    time = kinetics.time.values
    terms, causes = (np.moveaxis(over_one_cycle(part, time, start_s, end_s), 0, -1) for part in (by_term, by_cause))
    return terms, causes
