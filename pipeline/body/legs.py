"""Both legs of a trial as arrays: the inputs of the equations of motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..arrays import Array, Flags
from ..conventions import CHAIN, SEGMENTS
from ..dynamics.kernel import Segments
from ..dynamics.vectors import cross, dot, rotate
from . import joint_angles

# variables of kinematics and of contacts that Legs is built from
MOTION = (
    "rotation", "angular_velocity", "angular_acceleration", "com_position", "com_velocity", "com_acceleration",
    "joint_centre", "joint_centre_velocity", "joint_centre_acceleration",
)  # fmt: skip
GROUND = ("ground_force", "ground_moment")
OUTWARDS = slice(None, None, -1)  # reverses segments or joints: from the hip down, not from the foot up


@dataclass(frozen=True)
class Legs:
    """The motion and loads of both legs, (time, side, ...), segments and joints from the foot up, lab axes, SI units.

    Time may be that of several trials, one after the other.
    """

    rotation: Array  # (time, side, 4, 3, 3), v_segment = rotation @ v_lab; foot, shank, thigh, pelvis
    # spin, spin_rate: (time, side, 4, 3), angular velocity and acceleration
    spin: Array
    spin_rate: Array
    # com, com_velocity, com_acceleration: (time, side, 3, 3), centres of mass
    com: Array
    com_velocity: Array
    com_acceleration: Array
    # centre, centre_velocity, centre_acceleration: (time, side, 3, 3), ankle, knee and hip centre
    centre: Array
    centre_velocity: Array
    centre_acceleration: Array
    axes: Array  # (time, side, 3, 3, 3), joint coordinate axes as rows
    angle: Array  # (time, side, 3, 3), right-handed joint angles about these axes, rad; NaN in gimbal lock
    locked: Flags  # (time, side, 3), whether the joint is in gimbal lock
    signs: Array  # (side, 3, 3), the signs that make these angles clinical
    mass: Array  # (side, 3); inertia: (side, 3, 3, 3), about the centres of mass, segment axes
    inertia: Array
    # ground_force, ground_moment: (time, side, 3), on the foot, the moment about the lab origin
    ground_force: Array
    ground_moment: Array
    gravity: Array  # (3,), acceleration of gravity

    def part(self, frames: slice) -> Legs:
        """Return some of the frames, as views."""
        constant = {"signs", "mass", "inertia", "gravity"}
        return Legs(**{name: each if name in constant else each[frames] for name, each in vars(self).items()})

    def segments(self) -> Segments:
        """Return both chains of foot, shank and thigh, with the ground's force and moment on the foot."""
        turn = self.rotation[:, :, :-1]
        force, moment = np.zeros_like(self.com), np.zeros_like(self.com)
        force[:, :, 0] = self.ground_force
        moment[:, :, 0] = self.ground_moment - cross(self.com[:, :, 0], self.ground_force)
        distal = np.concatenate([self.com[:, :, :1], self.centre[:, :, :-1]], axis=2)
        return Segments(
            rotation=turn,
            mass=self.mass,
            inertia=self.inertia,
            com_acceleration=self.com_acceleration,
            angular_velocity=rotate(turn, self.spin[:, :, :-1]),
            angular_acceleration=rotate(turn, self.spin_rate[:, :, :-1]),
            to_proximal=self.centre - self.com,
            to_distal=distal - self.com,
            external_force=force,
            external_moment=moment,
            gravity=self.gravity,
        )


def legs_of(
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    gravity_m_s2: float,
    smallest_floating_axis: float,
    samples: slice | NDArray[np.intp] = slice(None),
) -> Legs:
    """Return the legs of a trial or a session, with time contiguous in memory.

    Args:
        kinematics, contacts: motion and ground wrenches at the same samples.
        calibrate: the session's body-segment parameters.
        gravity_m_s2: magnitude of the acceleration of gravity, along -y of the lab.
        smallest_floating_axis: cosine of the second joint angle below which a joint is in gimbal lock.
        samples: the samples to return.
    """
    segments = kinematics.variables["segment"].values.tolist()
    order = [segments.index(name) for name in SEGMENTS]

    def of_segments(name: str, count: int = len(SEGMENTS)) -> Array:
        values = kinematics.variables[name].values[samples]
        chosen = values[:, :, :count] if order == [*range(len(order))] else values[:, :, order[:count]]
        return np.asfortranarray(chosen)

    def of(data: xr.Dataset, name: str) -> Array:
        return np.asfortranarray(data.variables[name].values[samples])

    rotation, chain = of_segments("rotation"), len(CHAIN)
    back = np.swapaxes(rotation, -1, -2)
    proximal, distal = rotation[:, :, 1:], rotation[:, :, :-1]
    axes = joint_angles.axes(proximal, distal)
    angle = joint_angles.angles(proximal, distal, smallest_floating_axis=smallest_floating_axis)
    apart = np.isfinite(dot(axes[..., 0, :], axes[..., 2, :]))  # e2 is 0 / 0 where e1 and e3 are parallel
    return Legs(
        rotation=rotation,
        spin=rotate(back, of_segments("angular_velocity")),
        spin_rate=rotate(back, of_segments("angular_acceleration")),
        com=of_segments("com_position", chain),
        com_velocity=of_segments("com_velocity", chain),
        com_acceleration=of_segments("com_acceleration", chain),
        centre=of(kinematics, "joint_centre"),
        centre_velocity=of(kinematics, "joint_centre_velocity"),
        centre_acceleration=of(kinematics, "joint_centre_acceleration"),
        axes=axes,
        angle=angle,
        locked=apart & np.isnan(angle[..., 0]),
        signs=joint_angles.SIGNS,
        mass=calibrate.variables["segment_mass"].values,
        inertia=calibrate.variables["segment_inertia"].values,
        ground_force=of(contacts, "ground_force"),
        ground_moment=of(contacts, "ground_moment"),
        gravity=np.array([0.0, -gravity_m_s2, 0.0]),
    )
