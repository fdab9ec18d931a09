"""Loads of a walk: ground reaction of each foot, and the exact joint wrenches.

The vertical force supports the body's weight and accelerates its centre of mass; in double support it passes from the
trailing to the leading foot. The force brakes and propels by a share of its vertical part that is a curve over the
stance, and points sideways to a point above the pelvis. These and the centre of pressure, which begins at the heel, are
fitted so that the moments of hip, knee and ankle are those of people (Schwartz et al. 2008).
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .body import SegmentInertias
from .curves import cyclic, mirror_to_side, rotation
from .legs import Pose
from .walk import FOOT_OFF, Motion, Walk, cycles

GRAVITY = 9.81  # m s-2, down

# centre of pressure in the footprint, as fractions of foot length from the point under the ankle (outwards positive)
PRESSURE_AHEAD = cyclic((0, -0.18), (12, 0.166), (30, 0.449), (48, 0.5), (62, 0.666), (75, 0.666), (92, -0.18))
PRESSURE_OUTWARDS = cyclic((0, 0.056), (15, 0.059), (35, 0.077), (50, 0.059), (62, -0.022), (75, -0.022), (92, 0.056))
# forward over vertical force at a dimensionless speed of 0.43; braking and propulsion cancel over a stride
FORWARD_SHARE = cyclic(
    (0, -0.122), (5, -0.166), (10, -0.224), (16, -0.137), (31, -0.028), (46, 0.131), (53, 0.256), (58, 0.304),
    (62, 0.124), (75, 0.124), (92, -0.122),
)  # fmt: skip
USUAL_SPEED = 0.43  # dimensionless: speed / sqrt(gravity x leg length)
# sideways, the force points to this height above the midpoint of the hips, in leg lengths: 5 % of the vertical force
AIMED_ABOVE_HIPS = 0.8
# largest free moment per newton of vertical force
FREE_MOMENT_M = 0.006

# central differences of sixth order
STEP_S = 5e-4
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180


@dataclass(frozen=True)
class Ground:
    """Ground reaction on each foot, lab axes.

    ``force`` (time, side, 3) N; ``pressure_centre`` (time, side, 3) m, NaN off the ground; ``free_moment``
    (time, side) N m about the vertical, up positive.
    """

    force: Array
    pressure_centre: Array
    free_moment: Array


def ground(walk: Walk, body: Pose, time: Array) -> Ground:
    """Return the ground reaction on both feet at the instants (time,) of the pose."""
    counted = [cycles(walk, side, time) for side in (0, 1)]
    # the body rises twice per cycle, the more the faster the legs and hips move
    swing = 0.20 * (walk.gait.speed_m_s / 1.3) ** 2
    turn = 4 * np.pi * ((counted[0] + counted[1]) / 2 - 0.06)
    total = walk.walker.mass_kg * GRAVITY * (1 + swing * np.cos(turn) - 0.4 * swing * np.cos(2 * turn))
    aim = body.centre[:, :, 2].mean(axis=1) + np.array([0, AIMED_ABOVE_HIPS * walk.walker.leg_m, 0])
    forward = np.sqrt(walk.gait.speed_m_s / np.sqrt(GRAVITY * walk.walker.leg_m) / USUAL_SPEED)
    shape = (len(time), 2)
    force, centre, free = np.zeros((*shape, 3)), np.full((*shape, 3), np.nan), np.zeros(shape)
    for step in range(1, len(walk.strike) - 1):
        on = (time > walk.strike[step]) & (time < walk.off[step])
        if not on.any():
            continue
        side = walk.side[step]
        count = counted[side][on] - walk.number[step] / 2
        under = pressure_path(walk, step, count)
        taken = _hand_over(time[on], walk.strike[step], walk.off[step - 1])
        given = _hand_over(time[on], walk.strike[step + 1], walk.off[step])
        vertical = taken * (1 - given) * total[on]  # all of it in single support
        upwards = aim[on] - under
        slope = upwards / upwards[:, 1:2]
        slope[:, 0] = forward * FORWARD_SHARE(count)
        force[on, side] = vertical[:, None] * slope
        centre[on, side] = under
        outward = 1 if side else -1
        free[on, side] = (
            outward * FREE_MOMENT_M * walk.style.turn * vertical * np.sin(2 * np.pi * (count / FOOT_OFF - 0.1))
        )
    return Ground(force, centre, free)


def _hand_over(time: Array, start: float, end: float) -> Array:
    """Return a rise from 0 to 1 with the steep ends of contacts."""
    done = np.clip((time - start) / (end - start), 0, 1)
    return done - 0.6 * np.sin(2 * np.pi * done) / (2 * np.pi)


def pressure_path(walk: Walk, step: int, cycle: Array) -> Array:
    """Return the centre of pressure (time, 3), lab axes, at cycles since the strike."""
    ahead, outwards = PRESSURE_AHEAD(cycle), PRESSURE_OUTWARDS(cycle)
    in_print = walk.walker.foot_m * np.stack([ahead, 0 * ahead, outwards], axis=-1)
    heading = rotation(1, walk.yaw[step])
    return np.asarray(walk.place[step] + mirror_to_side(in_print, int(walk.side[step])) @ heading.T)


@dataclass(frozen=True)
class Wrenches:
    """Joint wrenches in lab axes.

    ``force`` and ``moment`` (time, side, joint, 3) act on the distal segment at the joint centre (ankle, knee, hip),
    N and N m; ``angular_velocity`` (time, side, segment, 3) rad/s.
    """

    force: Array
    moment: Array
    angular_velocity: Array


def joint_wrenches(
    bodies: Motion, time: Array, parameters: SegmentInertias, on_feet: Ground, *, step_s: float = STEP_S
) -> Wrenches:
    """Return the joint wrenches of a motion, with the ground reaction at ``time``."""
    nearby = [bodies(time + k * step_s) for k in range(-3, 4)]
    here = nearby[3]
    turning = np.stack([body.rotation for body in nearby])
    omega = axial(_weigh(FIRST, turning) / step_s @ _transpose(here.rotation))
    # R'' R^T = S(alpha) + S(omega)^2; the second part is symmetric
    alpha = axial(_weigh(SECOND, turning) / step_s**2 @ _transpose(here.rotation))
    com = np.stack([mass_centres(body, parameters) for body in nearby])
    acceleration = _weigh(SECOND, com) / step_s**2
    inertia = here.rotation @ parameters.inertia @ _transpose(here.rotation)
    momentum_rate = _apply(inertia, alpha) + np.cross(omega, _apply(inertia, omega))
    needed = parameters.mass[..., None] * (acceleration + np.array([0, GRAVITY, 0]))
    force, moment = _free_bodies(here, com[3], needed, momentum_rate, on_feet)
    return Wrenches(force, moment, omega)


def _free_bodies(here: Pose, com: Array, needed: Array, momentum_rate: Array, on_feet: Ground) -> tuple[Array, Array]:
    """Return the forces and moments that balance foot, shank and thigh, in this order."""
    force, moment = np.empty_like(here.centre), np.empty_like(here.centre)
    distal_force = on_feet.force
    distal_point = np.where(np.isnan(on_feet.pressure_centre), 0.0, on_feet.pressure_centre)
    distal_moment = on_feet.free_moment[..., None] * np.array([0.0, 1.0, 0.0])
    for segment in range(3):
        joint = here.centre[:, :, segment]
        force[:, :, segment] = needed[:, :, segment] - distal_force
        moment[:, :, segment] = (
            momentum_rate[:, :, segment]
            - distal_moment
            - np.cross(distal_point - com[:, :, segment], distal_force)
            - np.cross(joint - com[:, :, segment], force[:, :, segment])
        )
        distal_force, distal_moment, distal_point = -force[:, :, segment], -moment[:, :, segment], joint
    return force, moment


def mass_centres(body: Pose, parameters: SegmentInertias) -> Array:
    """Return the segments' centres of mass (time, side, segment, 3) in lab axes, m."""
    return body.centre + _apply(body.rotation, parameters.com)


def axial(matrix: Array) -> Array:
    """Return the vector (..., 3) of the skew part of matrices (..., 3, 3)."""
    skew = (matrix - _transpose(matrix)) / 2
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def _apply(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


def _transpose(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2)


def _weigh(weights: Array, values: Array) -> Array:
    return np.tensordot(weights, values, axes=1)
