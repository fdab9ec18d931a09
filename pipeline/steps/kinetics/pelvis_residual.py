r"""Pelvis residual: what motion, masses and ground reactions leave unexplained of the whole body's balance.

Pelvis, trunk, head and arms are one body, the upper body. It moves with the midpoint o of the hip centres h_s, and
turns with the shoulders where they are seen, else keeps upright. The legs hand over their loads at the hips, F_s and
M_s of the pelvis on each thigh. With mass m, centre of mass c and tensor I, the balance of the upper body needs::

    F = m (c'' - g) + sum of F_s
    M = d(I w)/dt + (c - o) x m (c'' - g) + sum of M_s + (h_s - o) x F_s

F and M are the residual, on the pelvis at o. They would be zero if all were exact (Kuo AD 1998, J Biomech Eng
120:148-159; Hicks JL et al. 2015, J Biomech Eng 137:020905).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...body.skeleton import body_height_m
from ...conventions import HIP, SAME_STRIKE_S, SIDES
from ...dynamics.vectors import cross, rotate, transpose, unit
from ...signals.filters import near_ends

# Hip to shoulder per body height (.818 - .530, Drillis and Contini 1966), centre of mass of head, arms and trunk along
# it (Dempster) and radius of gyration across it, all in Winter DA (2009) Biomechanics and Motor Control of Human
# Movement, figure and table 4.1. About the long axis: trunk and head of de Leva P (1996) J Biomech 29:1223-1230, with
# arms that hang 0.2 m beside it.
LENGTH_PER_HEIGHT, COM_FROM_HIPS = 0.288, 0.626
RADII = (0.496, 0.24, 0.496)
TURNING = tuple(f"upper_body_{name}" for name in ("rotation", "angular_velocity", "angular_acceleration"))


class UpperBody(NamedTuple):
    """Pelvis, trunk, head and arms."""

    mass: float  # kg
    com: Array  # (3,), centre of mass from the midpoint of the hips, own axes, m
    inertia: Array  # (3, 3), about the centre of mass, own axes, kg m2


def upper_body(calibrate: xr.Dataset) -> UpperBody:
    """Return the upper body of a session, as measured, else by tables; then its mass is NaN if a leg is refused."""
    if "upper_body_mass" in calibrate:
        measured = [calibrate.variables[f"upper_body_{name}"].values for name in ("mass", "com", "inertia")]
        return UpperBody(float(measured[0]), *measured[1:])
    mass = float(calibrate.attrs["body_mass_kg"]) - float(calibrate.variables["segment_mass"].values.sum())
    length = LENGTH_PER_HEIGHT * body_height_m(calibrate)
    com = np.array([0.0, COM_FROM_HIPS * length, 0.0])
    return UpperBody(mass, com, mass * np.diag(np.square(np.multiply(RADII, length))))


class Hips(NamedTuple):
    """Motion and loads of both hips, lab axes, SI units."""

    # centre, acceleration: (sample, side, 3), of the hip centres
    centre: Array
    acceleration: Array
    # force, moment: (sample, side, 3), of the pelvis on each thigh
    force: Array
    moment: Array

    @classmethod
    def of(cls, kinematics: xr.Dataset, joint_force: Array, joint_moment: Array) -> Hips:
        """Return the hips by joint loads (sample, side, joint, 3); moments are in the axes of the distal segment."""
        values = {name: kinematics.variables[name].values for name in ("joint_centre", "joint_centre_acceleration")}
        thigh = kinematics.variables["segment"].values.tolist().index("thigh")
        back = transpose(kinematics.variables["rotation"].values[:, :, thigh])
        centre, acceleration = (each[:, :, HIP] for each in values.values())
        return cls(centre, acceleration, joint_force[:, :, HIP], rotate(back, joint_moment[:, :, HIP]))


def pelvis_residual(kinematics: xr.Dataset, hips: Hips, upper: UpperBody, gravity_m_s2: float) -> tuple[Array, Array]:
    """Return the residual force and moment on the pelvis, (sample, 3), N and N m, lab axes.

    The moment is about the midpoint of the hip centres. NaN where the load of either hip is unknown.

    Args:
        kinematics: motion of the legs, and of the upper body where shoulders are seen.
        hips: their motion and loads.
        upper: the upper body.
        gravity_m_s2: magnitude of the acceleration of gravity.
    """
    across = hips.centre[:, SIDES.index("right")] - hips.centre[:, SIDES.index("left")]
    up = np.broadcast_to([0.0, 1.0, 0.0], across.shape)
    forward = unit(cross(up, across))
    rotation = np.stack([forward, up, cross(forward, up)], axis=-2)
    spin, spin_rate = np.zeros_like(across), np.zeros_like(across)
    if TURNING[0] in kinematics:  # where shoulders are not seen, the upper body is upright and does not turn
        parts = [kinematics.variables[name].values for name in TURNING]
        seen = np.logical_and.reduce([np.isfinite(part.reshape(len(part), -1)).all(axis=1) for part in parts])
        for whole, part in zip((rotation, spin, spin_rate), parts, strict=True):
            whole[seen] = part[seen]
    return balance(hips, upper, rotation, spin, spin_rate, gravity_m_s2)


def balance(
    hips: Hips, body: UpperBody, rotation: Array, spin: Array, spin_rate: Array, gravity_m_s2: float
) -> tuple[Array, Array]:
    """Return force and moment (sample, 3) that a body on the hips needs beyond its weight and their loads.

    The moment is about the midpoint of the hip centres, which moves with the body; lab axes, N and N m.

    Args:
        body: that the hips carry, with the centre of mass from their midpoint.
        rotation: (sample, 3, 3), v_body = rotation @ v_lab.
        spin, spin_rate: (sample, 3), angular velocity and acceleration, body axes.
    """
    middle, back = hips.centre.mean(axis=1), transpose(rotation)
    arm, turn, turn_rate = (rotate(back, each) for each in (body.com, spin, spin_rate))
    acceleration = hips.acceleration.mean(axis=1) + cross(turn_rate, arm) + cross(turn, cross(turn, arm))
    needed = body.mass * (acceleration + np.array([0.0, gravity_m_s2, 0.0]))
    momentum_rate = spin_rate @ body.inertia + cross(spin, spin @ body.inertia)
    moment = hips.moment + cross(hips.centre - middle[:, None], hips.force)
    return (needed + hips.force.sum(axis=1), rotate(back, momentum_rate) + cross(arm, needed) + moment.sum(axis=1))


def beside_unknown(residual: Array, spans: Sequence[slice], rates_hz: Sequence[float]) -> NDArray[np.bool_]:
    """Return at which samples (sample,) the residual is unknown, or known but within 0.05 s of an unknown one.

    Without a plate a strike is found by the markers, with a standard deviation of 16 ms (O'Connor et al. 2007): just
    before it the foot may already bear an unknown load.

    Args:
        residual: (sample, 3), NaN where it is unknown.
        spans, rates_hz: samples and rate of each trial.
    """
    unknown = np.isnan(residual[:, 0])
    for span, rate_hz in zip(spans, rates_hz, strict=True):
        unknown[span] = near_ends(~unknown[span, None], round(SAME_STRIKE_S * rate_hz))[:, 0]
    return unknown
