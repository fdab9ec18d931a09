r"""Pelvis residual: what motion, masses and ground reactions leave unexplained of the whole body's balance.

Pelvis, trunk, head and arms are one body, the upper body, with the mass that the legs leave of the body mass. It moves
with the midpoint o of the hip centres h_s and keeps upright; its centre of mass c is a fixed height above o. The legs
hand over their loads at the hips, F_s and M_s of the pelvis on each thigh. The balance of the upper body needs::

    F = m (c'' - g) + sum of F_s
    M = (c - o) x m (c'' - g) + sum of M_s + (h_s - o) x F_s

F and M are the residual, on the pelvis at o. They would be zero if all were exact (Kuo AD 1998, J Biomech Eng
120:148-159; Hicks JL et al. 2015, J Biomech Eng 137:020905).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.legs import Legs, body_height_m
from ...conventions import HIP, SAME_STRIKE_S, UP
from ...dynamics.vectors import Array, cross

# Hip to shoulder per body height (.818 - .530, Drillis and Contini 1966) and centre of mass of head, arms and trunk
# along it (Dempster), both in Winter DA (2009) Biomechanics and Motor Control of Human Movement, figure and table 4.1
LENGTH_PER_HEIGHT, COM_FROM_HIPS = 0.288, 0.626


class UpperBody(NamedTuple):
    """Pelvis, trunk, head and arms: mass in kg, height of the centre of mass above the hips in m."""

    mass: float
    com_height: float


def upper_body(calibrate: xr.Dataset) -> UpperBody:
    """Return the upper body of a session; its mass is NaN if a leg is refused."""
    mass = float(calibrate.attrs["body_mass_kg"]) - float(calibrate.variables["segment_mass"].values.sum())
    return UpperBody(mass, COM_FROM_HIPS * LENGTH_PER_HEIGHT * body_height_m(calibrate))


def pelvis_residual(legs: Legs, joint_force: Array, joint_moment: Array, upper: UpperBody) -> tuple[Array, Array]:
    """Return the residual force and moment on the pelvis, (time, 3), N and N m, lab axes.

    The moment is about the midpoint of the hip centres. NaN where the load of either hip is unknown.

    Args:
        legs: the frames.
        joint_force, joint_moment: (time, side, joint, 3), on the distal segment, lab axes, N and N m.
        upper: the upper body.
    """
    hip, force, moment = (part[:, :, HIP] for part in (legs.centre, joint_force, joint_moment))
    middle = hip.mean(axis=1)
    arm = np.zeros(3)
    arm[UP] = upper.com_height
    needed = upper.mass * (legs.centre_acceleration[:, :, HIP].mean(axis=1) - legs.gravity)
    return (
        needed + force.sum(axis=1),
        cross(arm, needed) + (moment + cross(hip - middle[:, None], force)).sum(axis=1),
    )


def beside_unknown(residual: Array, spans: Sequence[slice], rates_hz: Sequence[float]) -> NDArray[np.bool_]:
    """Return at which samples (sample,) the residual is unknown, or known but within 0.05 s of an unknown one.

    Without a plate a strike is found by the markers, with a standard deviation of 16 ms (O'Connor et al. 2007): just
    before it the foot may already bear an unknown load. Accelerations are uncertain at the ends of a trial.

    Args:
        residual: (sample, 3), NaN where it is unknown.
        spans, rates_hz: samples and rate of each trial.
    """
    unknown = np.isnan(residual[:, 0])
    for span, rate_hz in zip(spans, rates_hz, strict=True):
        reach = round(SAME_STRIKE_S * rate_hz)
        padded = np.pad(unknown[span], reach, constant_values=True)
        unknown[span] = np.convolve(padded, np.ones(2 * reach + 1), mode="valid") > 0.5
    return unknown
