"""Both legs of a trial as arrays: the inputs of the equations of motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..conventions import SEGMENTS
from ..dynamics.vectors import rotate
from . import joint_angles

Array = NDArray[np.float64]
# variables of kinematics and of contacts that Legs is built from
MOTION = (
    "rotation", "angular_velocity", "angular_acceleration", "com_position", "com_velocity", "com_acceleration",
    "joint_centre", "joint_centre_velocity", "joint_centre_acceleration",
)  # fmt: skip
LOADS = ("ground_force", "ground_moment")
OUTWARDS = slice(None, None, -1)  # reverses segments or joints: from the hip down, not from the foot up


@dataclass(frozen=True)
class Legs:
    """The motion and loads of both legs, (time, side, ...), segments and joints from the foot up, lab axes, SI units.

    Attributes:
        rotation: (time, side, 4, 3, 3), v_segment = rotation @ v_lab; foot, shank, thigh, pelvis.
        spin, spin_rate: (time, side, 4, 3), angular velocity and acceleration.
        com, com_velocity, com_acceleration: (time, side, 3, 3), centres of mass.
        centre, centre_velocity, centre_acceleration: (time, side, 3, 3), ankle, knee and hip centre.
        axes: (time, side, 3, 3, 3), joint coordinate axes as rows.
        angle: (time, side, 3, 3), right-handed joint angles about these axes, rad; NaN in gimbal lock.
        locked: (time, side, 3), whether the joint is in gimbal lock.
        signs: (side, 3, 3), the signs that make these angles clinical.
        mass: (side, 3); inertia: (side, 3, 3, 3), about the centres of mass, segment axes.
        ground_force, ground_moment: (time, side, 3), on the foot, the moment about the lab origin.
        gravity: (3,), acceleration of gravity.
    """

    rotation: Array
    spin: Array
    spin_rate: Array
    com: Array
    com_velocity: Array
    com_acceleration: Array
    centre: Array
    centre_velocity: Array
    centre_acceleration: Array
    axes: Array
    angle: Array
    locked: NDArray[np.bool_]
    signs: Array
    mass: Array
    inertia: Array
    ground_force: Array
    ground_moment: Array
    gravity: Array


def legs_of(kinematics: xr.Dataset, contacts: xr.Dataset, calibrate: xr.Dataset, *, gravity_m_s2: float) -> Legs:
    """Return the legs of a trial; gravity points along -y of the lab."""
    segments = list(kinematics.segment.values)
    order = [segments.index(name) for name in SEGMENTS]
    rotation = kinematics.rotation.values[:, :, order]
    back = np.swapaxes(rotation, -1, -2)
    proximal, distal = rotation[:, :, 1:], rotation[:, :, :-1]
    axes = joint_angles.axes(proximal, distal)
    angle = joint_angles.angles(proximal, distal, smallest_floating_axis=kinematics.attrs["smallest_floating_axis"])

    known = np.isfinite(axes[..., ::2, :]).all(axis=(-1, -2))  # e2 is 0 / 0 where e1 and e3 are parallel

    def masses(name: str) -> Array:
        return np.asarray(kinematics[name].values[:, :, order[:-1]])

    return Legs(
        rotation=rotation,
        spin=rotate(back, kinematics.angular_velocity.values[:, :, order]),
        spin_rate=rotate(back, kinematics.angular_acceleration.values[:, :, order]),
        com=masses("com_position"),
        com_velocity=masses("com_velocity"),
        com_acceleration=masses("com_acceleration"),
        centre=kinematics.joint_centre.values,
        centre_velocity=kinematics.joint_centre_velocity.values,
        centre_acceleration=kinematics.joint_centre_acceleration.values,
        axes=axes,
        angle=angle,
        locked=np.asarray(known & np.isnan(angle).all(axis=-1)),
        signs=joint_angles.SIGNS,
        mass=calibrate.segment_mass.values,
        inertia=calibrate.segment_inertia.values,
        ground_force=contacts.ground_force.values,
        ground_moment=contacts.ground_moment.values,
        gravity=np.array([0.0, -gravity_m_s2, 0.0]),
    )
