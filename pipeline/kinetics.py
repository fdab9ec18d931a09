"""Step ``kinetics``: joint forces and moments of both legs by the block matrix, split into terms; joint power."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import joint_coordinates
from pipeline.dynamics import block_matrix

Array = NDArray[np.float64]
JOINTS = ("ankle", "knee", "hip")
CHAIN = ("foot", "shank", "thigh")
PROXIMAL = ("shank", "thigh", "pelvis")


def kinetics(kinematics: xr.Dataset, contacts: xr.Dataset, calibrate: xr.Dataset, *, gravity_m_s2: float) -> xr.Dataset:
    """Solve the chain foot, shank, thigh of each side for its joint loads.

    Args:
        kinematics, contacts: the trial's motion and ground wrenches.
        calibrate: the session's body-segment parameters.
        gravity_m_s2: magnitude of the acceleration of gravity, along -y of the lab.

    Returns:
        ``joint_force`` (time, side, joint, axis), N, lab axes, and ``joint_moment`` (time, side, joint,
        local_axis), N m, distal segment axes about the joint centre: what the proximal segment applies to the
        distal one. ``joint_moment_term`` by :data:`pipeline.dynamics.block_matrix.TERMS`, ``joint_moment_jcs``
        (orthogonal projection on the joint coordinate axes, positive towards a positive angle) and
        ``joint_power`` = M . (w_distal - w_proximal), W. NaN where a segment or the ground wrench is unknown.
    """
    sides = [str(side) for side in kinematics.side.values]
    solved = [_side(kinematics.sel(side=side), contacts.sel(side=side), calibrate.sel(side=side), side, gravity_m_s2) for side in sides]
    result = xr.concat(solved, dim=kinematics.side).transpose("time", "side", ...)
    return result.assign_coords(
        joint=list(JOINTS),
        axis=list("xyz"),
        local_axis=list("xyz"),
        angle=list(joint_coordinates.ANGLES),
        term=list(block_matrix.TERMS),
    )


def _side(kinematics: xr.Dataset, contacts: xr.Dataset, calibrate: xr.Dataset, side: str, gravity_m_s2: float) -> xr.Dataset:
    chain = kinematics.sel(segment=list(CHAIN))
    rotation, com = chain.rotation.values, chain.com_position.values
    omega = chain.angular_velocity.values
    centre = kinematics.joint_centre.sel(joint=list(JOINTS)).values
    external_force, external_moment = np.zeros_like(com), np.zeros_like(com)
    external_force[:, 0] = contacts.ground_force.values
    external_moment[:, 0] = contacts.ground_moment.values - block_matrix.cross(com[:, 0], contacts.ground_force.values)
    force, moment = block_matrix.right_hand_sides(
        rotation,
        calibrate.segment_mass.sel(segment=list(CHAIN)).values,
        calibrate.segment_inertia.sel(segment=list(CHAIN)).values,
        chain.com_acceleration.values,
        omega,
        chain.angular_acceleration.values,
        external_force,
        external_moment,
        np.array([0.0, -gravity_m_s2, 0.0]),
    )
    distal = np.concatenate([com[:, :1], centre[:, :-1]], axis=1)
    joint_force, term = block_matrix.solve(rotation, centre - com, distal - com, force, moment)
    joint_moment = term.sum(axis=1)
    in_lab = _to_lab(rotation, joint_moment)
    around = kinematics.sel(segment=list(PROXIMAL))
    relative = _to_lab(rotation, omega) - _to_lab(around.rotation.values, around.angular_velocity.values)
    along = joint_coordinates.axes(around.rotation.values, rotation)
    clinical = np.stack([joint_coordinates.signs(joint, side) for joint in JOINTS])
    return xr.Dataset(
        {
            "joint_force": (("time", "joint", "axis"), joint_force.sum(axis=1)),
            "joint_moment": (("time", "joint", "local_axis"), joint_moment),
            "joint_moment_jcs": (("time", "joint", "angle"), (along @ in_lab[..., None])[..., 0] * clinical),
            "joint_moment_term": (("time", "term", "joint", "local_axis"), term),
            "joint_power": (("time", "joint"), (in_lab * relative).sum(axis=-1)),
        },
        {"time": kinematics.time},
    ).transpose("time", "joint", "term", ...)


def _to_lab(rotation: Array, vector: Array) -> Array:
    return (np.swapaxes(rotation, -1, -2) @ vector[..., None])[..., 0]
