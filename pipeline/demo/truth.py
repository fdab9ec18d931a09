"""The joint wrenches of the motion: Newton and Euler for each segment by itself, from the foot up, in lab axes.

Rates come from central differences of sixth order on the closed-form motion, not on its samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.demo.body import SegmentParameters
from pipeline.demo.forces import GRAVITY, Ground
from pipeline.demo.legs import Pose
from pipeline.demo.walk import Motion

Array = NDArray[np.float64]
STEP_S = 5e-4
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180


@dataclass(frozen=True)
class Wrenches:
    """Lab axes.

    ``force`` and ``moment`` (time, side, joint, 3) act on the distal segment at the joint centre (ankle, knee, hip),
    N and N m; ``angular_velocity`` (time, side, segment, 3) rad/s.
    """

    force: Array
    moment: Array
    angular_velocity: Array


def joint_wrenches(
    bodies: Motion, time: Array, parameters: SegmentParameters, on_feet: Ground, *, step_s: float = STEP_S
) -> Wrenches:
    """Return the net joint wrenches of a motion, given the ground's action on the feet at the same instants."""
    nearby = [bodies(time + k * step_s) for k in range(-3, 4)]
    here = nearby[3]
    turning = np.stack([body.rotation for body in nearby])
    omega = axial(_weighted(FIRST, turning) / step_s @ _transposed(here.rotation))
    # R'' R^T = S(alpha) + S(omega)^2, whose second part is symmetric
    alpha = axial(_weighted(SECOND, turning) / step_s**2 @ _transposed(here.rotation))
    com = np.stack([mass_centres(body, parameters) for body in nearby])
    acceleration = _weighted(SECOND, com) / step_s**2
    inertia = here.rotation @ parameters.inertia @ _transposed(here.rotation)
    momentum_rate = _apply(inertia, alpha) + np.cross(omega, _apply(inertia, omega))
    needed = parameters.mass[..., None] * (acceleration + np.array([0, GRAVITY, 0]))
    force, moment = _free_bodies(here, com[3], needed, momentum_rate, on_feet)
    return Wrenches(force, moment, omega)


def _free_bodies(here: Pose, com: Array, needed: Array, momentum_rate: Array, on_feet: Ground) -> tuple[Array, Array]:
    """Balance foot, shank and thigh in turn; what a segment receives below is known when its turn comes."""
    force, moment = np.empty_like(here.centre), np.empty_like(here.centre)
    below_force = on_feet.force
    below_point = np.where(np.isnan(on_feet.pressure_centre), 0.0, on_feet.pressure_centre)
    below_moment = on_feet.free_moment[..., None] * np.array([0.0, 1.0, 0.0])
    for segment in range(3):
        joint = here.centre[:, :, segment]
        force[:, :, segment] = needed[:, :, segment] - below_force
        moment[:, :, segment] = (
            momentum_rate[:, :, segment]
            - below_moment
            - np.cross(below_point - com[:, :, segment], below_force)
            - np.cross(joint - com[:, :, segment], force[:, :, segment])
        )
        below_force, below_moment, below_point = -force[:, :, segment], -moment[:, :, segment], joint
    return force, moment


def mass_centres(body: Pose, parameters: SegmentParameters) -> Array:
    """Return the segments' centres of mass (time, side, segment, 3) in lab axes, m."""
    return body.centre + _apply(body.rotation, parameters.com)


def axial(matrix: Array) -> Array:
    """Return the vector (..., 3) of the skew part of matrices (..., 3, 3)."""
    skew = (matrix - _transposed(matrix)) / 2
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def _apply(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


def _transposed(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2)


def _weighted(weights: Array, values: Array) -> Array:
    return np.tensordot(weights, values, axes=1)
