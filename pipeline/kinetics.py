"""Step ``kinetics``: joint forces and moments of both legs by the block matrix, split into terms; joint power."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import joint_coordinates
from pipeline.dynamics import block_matrix

Array = NDArray[np.float64]
SIDES = ("left", "right")
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
    chain = [list(kinematics.segment.values).index(name) for name in CHAIN]
    around = [list(kinematics.segment.values).index(name) for name in PROXIMAL]
    rotation, omega = kinematics.rotation.values, kinematics.angular_velocity.values
    com, centre = kinematics.com_position.values[:, :, chain], kinematics.joint_centre.values
    distal = np.concatenate([com[:, :, :1], centre[:, :, :-1]], axis=2)
    joint_force, term = block_matrix.inverse_dynamics(
        rotation[:, :, chain],
        calibrate.segment_mass.values,
        calibrate.segment_inertia.values,
        kinematics.com_acceleration.values[:, :, chain],
        omega[:, :, chain],
        kinematics.angular_acceleration.values[:, :, chain],
        centre - com,
        distal - com,
        *_ground(contacts, com),
        np.array([0.0, -gravity_m_s2, 0.0]),
    )
    joint_moment = term.sum(axis=2)
    in_lab = _to_lab(rotation[:, :, chain], joint_moment)
    relative = _to_lab(rotation[:, :, chain], omega[:, :, chain]) - _to_lab(rotation[:, :, around], omega[:, :, around])
    along = joint_coordinates.axes(rotation[:, :, around], rotation[:, :, chain])
    signs = np.array([[joint_coordinates.signs(joint, side) for joint in JOINTS] for side in SIDES])
    vector = ("time", "side", "joint")
    return xr.Dataset(
        {
            "joint_force": ((*vector, "axis"), joint_force.sum(axis=2)),
            "joint_moment": ((*vector, "local_axis"), joint_moment),
            "joint_moment_jcs": ((*vector, "angle"), block_matrix.rotate(along, in_lab) * signs),
            "joint_moment_term": ((*vector, "term", "local_axis"), np.moveaxis(term, 2, 3)),
            "joint_power": (vector, (in_lab * relative).sum(axis=-1)),
        },
        {
            "time": kinematics.time,
            "side": list(SIDES),
            "joint": list(JOINTS),
            "axis": list("xyz"),
            "local_axis": list("xyz"),
            "angle": list(joint_coordinates.ANGLES),
            "term": list(block_matrix.TERMS),
        },
    )


def _ground(contacts: xr.Dataset, com: Array) -> tuple[Array, Array]:
    """Return force and moment about the centre of mass of the ground on each segment; only the foot meets it."""
    force, moment = np.zeros_like(com), np.zeros_like(com)
    force[:, :, 0] = contacts.ground_force.values
    moment[:, :, 0] = contacts.ground_moment.values - block_matrix.cross(com[:, :, 0], force[:, :, 0])
    return force, moment


def _to_lab(rotation: Array, vector: Array) -> Array:
    return block_matrix.rotate(np.swapaxes(rotation, -1, -2), vector)
