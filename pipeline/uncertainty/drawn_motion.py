"""The motion and loads of a session with one draw of the errors, by the equations of the results themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..arrays import Array
from ..body import joint_angles
from ..body.legs import Legs, legs_of
from ..conventions import CHAIN, SEGMENTS, SIDES
from ..dynamics.kernel import inverse_dynamics
from ..dynamics.vectors import cross, dot, rotate, skew, transpose
from ..trials.session import Trial
from .error_draws import SOURCES, DrawnFrom, ErrorDraws, Errors, carriers
from .linked_legs import LinkedDraws

FOOT = 0
DISTAL = tuple(range(len(CHAIN)))  # index of the distal segment of each joint


class DrawnSession:
    """The motion and loads of a session, with errors."""

    def __init__(self, source: DrawnFrom, kinetics: xr.Dataset, contacts: xr.Dataset, *, gravity_m_s2: float) -> None:
        """Take the results of a session, and draw the errors."""
        kinematics, calibrate = source.kinematics, source.calibrate
        self._limit = float(kinematics.variables["smallest_floating_axis"].values[0])
        self._legs = legs_of(
            kinematics, contacts, calibrate, gravity_m_s2=gravity_m_s2, smallest_floating_axis=self._limit
        )
        self._kinetics, self._kinematics = kinetics, kinematics
        linked = "linked_legs" in kinematics.variables
        self._carrier = np.array([DISTAL] * len(SIDES)) if linked else carriers(calibrate)
        self._errors: ErrorDraws | LinkedDraws = LinkedDraws(self._legs, source) if linked else ErrorDraws(source)
        self._pelvis = self._pelvis_angle(self._legs)
        self._foot_power = foot_power(self._legs)
        self._draws = source.draws

    def __iter__(self) -> Iterator[tuple[Trial, Trial]]:
        """Yield kinematics and kinetics with all errors, draw by draw."""
        yield from (self._drawn(self.legs(draw)) for draw in range(self._draws))

    def legs(self, draw: int, sources: Sequence[str] = SOURCES) -> Legs:
        """Return the legs with the errors of some sources."""
        return with_errors(self._legs, self._errors.errors(draw, sources), self._carrier, self._limit)

    def _drawn(self, legs: Legs) -> tuple[Trial, Trial]:
        moment, power = moments_and_powers(legs)
        off = (legs.angle - self._legs.angle + np.pi) % (2 * np.pi) - np.pi
        rotation = self._kinematics.variables["rotation"].copy(deep=True)
        names = self._kinematics.variables["segment"].values.tolist()
        rotation.values[:, :, [names.index(name) for name in SEGMENTS]] = legs.rotation
        stored = {name: self._kinematics.variables[name] for name in ("joint_angle", "pelvis_angle")}
        kinematics = {
            "rotation": rotation,
            "joint_angle": stored["joint_angle"] + np.degrees(off) * legs.signs,
            "pelvis_angle": stored["pelvis_angle"] + (self._pelvis_angle(legs) - self._pelvis),
        }
        foot = self._kinetics.variables["foot_power"] + (foot_power(legs) - self._foot_power)
        kinetics: dict[str, Any] = {
            "joint_moment_jcs": self._kinetics.variables["joint_moment_jcs"].copy(data=moment),
            "joint_power": self._kinetics.variables["joint_power"].copy(data=power),
            "foot_power": foot,
            "ankle_foot_power": foot + power[:, :, FOOT],
        }
        return (
            Trial.of({**self._kinematics.variables, **kinematics}),
            Trial.of({**self._kinetics.variables, **kinetics}),
        )

    def _pelvis_angle(self, legs: Legs) -> Array:
        return joint_angles.pelvis_angles(legs.rotation[:, :, -1], self._limit)


def with_errors(legs: Legs, errors: Errors, carrier: NDArray[np.intp], smallest_floating_axis: float) -> Legs:
    """Return the legs with errors; ``carrier`` has the segment (side, joint) with the axes of each centre's error.

    A turned segment takes its tensor, its centre of mass and the joint axes on both sides with it. With the turn a in
    segment axes its angular velocity w changes by R'b and its angular acceleration by R'b' + w x R'b, where
    b = a' + a x a' / 2 + ...: what is left out is a sixth of the square of the turn, 0.2 % at 6 degrees.
    """
    back = transpose(legs.rotation)
    turn, turn_rate, turn_bend = errors.turn
    half, matrix = np.linalg.norm(turn, axis=-1)[..., None, None] / 2 / np.pi, skew(turn)
    exponential = np.eye(3) - np.sinc(2 * half) * matrix + np.sinc(half) ** 2 / 2 * matrix @ matrix  # of -S(turn)
    rotation = exponential @ legs.rotation
    added = rotate(back, turn_rate + cross(turn, turn_rate) / 2)
    spin = legs.spin + added
    spin_rate = legs.spin_rate + rotate(back, turn_bend + cross(turn, turn_bend) / 2) + cross(legs.spin, added)
    proximal, distal = rotation[:, :, 1:], rotation[:, :, :-1]
    place, rate, acceleration = (rotate(back[:, :, :-1], shift) for shift in errors.shift)
    turning, swing = legs.spin[:, :, :-1], legs.spin_rate[:, :, :-1]
    swept = rate + cross(turning, place)
    sides = np.arange(len(SIDES))[:, None]
    return replace(
        legs,
        rotation=rotation,
        spin=spin,
        spin_rate=spin_rate,
        com=legs.com + place,
        com_velocity=legs.com_velocity + swept,
        com_acceleration=legs.com_acceleration + acceleration + cross(turning, rate + swept) + cross(swing, place),
        centre=legs.centre + rotate(back[:, sides, carrier], errors.centre),
        axes=joint_angles.axes(proximal, distal),
        angle=joint_angles.angles(proximal, distal, smallest_floating_axis=smallest_floating_axis),
        mass=legs.mass * (1 + errors.mass),
        inertia=legs.inertia * (1 + errors.inertia)[..., None, None],
        ground_moment=legs.ground_moment + cross(errors.pressure + 0 * legs.ground_force, legs.ground_force),
    )


def moments_and_powers(legs: Legs) -> tuple[Array, Array]:
    """Return moments along the joint axes (time, side, joint, 3), N m, clinical signs, and powers, W."""
    in_lab = rotate(transpose(legs.rotation[:, :, :-1]), inverse_dynamics(legs.segments())[1])
    moment = np.where(legs.locked[..., None], np.nan, rotate(legs.axes, in_lab) * legs.signs)
    return moment, dot(in_lab, legs.spin[:, :, :-1] - legs.spin[:, :, 1:])


def foot_power(legs: Legs) -> Array:
    """Return the power of the ground on a rigid foot (time, side), W, against ground at rest."""
    about_com = legs.ground_moment - cross(legs.com[:, :, FOOT], legs.ground_force)
    return dot(legs.ground_force, legs.com_velocity[:, :, FOOT]) + dot(about_com, legs.spin[:, :, FOOT])
