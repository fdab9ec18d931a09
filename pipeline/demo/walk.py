"""The walk: its steps, and the motion of feet, pelvis and legs over time.

ISB lab axes (x forward, y up, z right), metres, seconds, radians. In stance a foot rolls without sliding over the arc
of its heel, is flat, and rolls over the arc of its ball (Perry's rockers); it then swings to its next footprint. The
pelvis moves on smooth harmonics, nearly as high as the straighter knee allows. The knees follow from the lengths of
thigh and shank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from ..arrays import Array
from .body import Walker
from .curves import DEGREE, cyclic, passage, rotation
from .legs import Guides, Pose, assemble, highest_middle

Motion = Callable[[Array], Pose]

# Curves over the gait cycle in percent from foot strike (foot off at 62), fitted to hip, knee and ankle angles and the
# pelvis height of normal walking (Winter 1991); in stance so that with the forces of loads.py also the moments
# of hip, knee and ankle are within two standard deviations of Schwartz et al. (2008) at the walk's speed.
FOOT_PITCH_DEG = cyclic(
    (0, 14), (7, 0), (33, 0), (38, -1.8), (43, -3.4), (47, -8), (51, -15.8), (56, -33.9), (62, -66.7), (67, -75),
    (72, -56.3), (78, -30.7), (83, -10.8), (88, 0.2), (95, 30),
)  # fmt: skip
CLEARANCE_M = cyclic(
    (0, 0), (62.8, 0), (67.5, 0.051), (72, 0.076), (76, 0.074), (82, 0.049), (88, 0.026), (93, 0.018), (98, 0)
)  # fmt: skip
SWING = passage((63.8, 0), (68, 0.075), (72.5, 0.234), (77, 0.418), (82, 0.627), (87, 0.802), (92, 0.953), (97, 1))
KNEE_AT_LEAST_DEG = cyclic(
    (0, 7.3), (6, 19), (13, 24.6), (20, 17.8), (30, 7.8), (38, 5), (46, 1.3), (52, 16), (75, 6), (90, 9.2),
    (95, 11.5),
)  # fmt: skip
THIGH_TURN_DEG = cyclic((0, 2), (15, -3), (45, 2), (70, -2))
SHANK_TURN_DEG = cyclic((0, -8), (20, -4), (50, -9), (75, -3))

# Arcs of the sole: position of the centre in front of the ankle, and radius, in foot lengths. The foot changes from one
# arc to the other in mid-stance, when it is exactly flat, and gradually in swing.
HEEL_ARC, BALL_ARC = (-0.13, 0.13), (0.44, 0.19)
FLAT = 0.20
HEEL_LEADS = passage((69, 0), (87, 1))

PELVIS_KNOT_S = 0.030
KNEE_SOFTNESS_M = 0.003
STRAIGHTEST_KNEE_DEG = 4.0

# Foot off in all curves over the gait cycle, independent of its actual time.
FOOT_OFF = 0.62
# Distance of a footprint in front of the pelvis at foot strike, in steps.
REACH = 0.456
# Steps before and after the recording, so that no curve ends within it.
BEYOND = 9


@dataclass(frozen=True)
class Gait:
    """Parameters of a walk along +x.

    ``first_foot`` (0 left, 1 right) strikes first, at ``first_strike_s``; with ``irregularity`` 0 all steps are equal.
    Realistic from 0.8 to 1.7 m/s with steps up to 0.43 body heights; longer steps jerk the hips at foot strike.
    """

    speed_m_s: float
    steps_per_min: float
    duration_s: float
    first_foot: int = 1
    first_strike_s: float = 0.2
    stance_percent: float = 62.0
    irregularity: float = 1.0


@dataclass(frozen=True)
class Style:
    """Factors, near 1, that differ between walks."""

    pitch: float
    clearance: float
    knee: float
    pelvis: float
    turn: float


@dataclass(frozen=True)
class Walk:
    """The steps of a walk; step ``number`` 0 has the first strike in the recording.

    ``side`` 0 left, 1 right; ``strike``, ``off`` s; ``place`` (step, 3) m: the floor point under the ankle of the flat
    foot; ``yaw`` rad: heading of the foot about y. ``start`` (3,) m: position of the pelvis at time 0.
    """

    walker: Walker
    gait: Gait
    style: Style
    number: NDArray[np.int64]
    side: NDArray[np.int64]
    strike: Array
    off: Array
    place: Array
    yaw: Array
    start: Array

    def move(self, by: Array) -> Walk:
        """Return the walk translated on the floor."""
        return replace(self, place=self.place + by, start=self.start + by)


def plan_walk(walker: Walker, gait: Gait, *, seed: int = 0) -> Walk:
    """Return the steps of one walk, with variation between steps and between walks."""
    rng = np.random.default_rng([seed, 3])
    step_s = 60 / gait.steps_per_min
    number = np.arange(-BEYOND, int(np.ceil(gait.duration_s / step_s)) + BEYOND)
    side = (number + gait.first_foot) % 2
    outwards = 2 * side - 1
    unsteady = gait.irregularity * np.clip(rng.normal(0, 1, (5, len(number))), -2, 2)
    strike = gait.first_strike_s + step_s * number + 0.004 * unsteady[0]
    off = strike + gait.stance_percent / 100 * 2 * step_s + 0.002 * unsteady[1]
    ahead = gait.speed_m_s * (strike + REACH * step_s) + 0.005 * unsteady[2]
    place = np.stack([ahead, 0 * ahead, 0.055 * outwards + 0.006 * unsteady[3]], axis=-1)
    yaw = -outwards * np.radians(walker.toe_out_deg + unsteady[4])
    style = Style(*(1 + gait.irregularity * np.clip(rng.normal(0, 0.04, 5), -0.08, 0.08)))
    return Walk(walker, gait, style, number, side, strike, off, place, yaw, np.zeros(3))


def cycles(walk: Walk, side: int, time: Array) -> Array:
    """Return the smooth cycle count of one foot at ``time``.

    It is k/2 at the strike of step k, and FOOT_OFF more at its foot off.
    """
    of_side = walk.side == side
    instants = np.concatenate([walk.strike[of_side], walk.off[of_side]])
    counts = np.concatenate([walk.number[of_side] / 2, walk.number[of_side] / 2 + FOOT_OFF])
    order = np.argsort(instants)
    return np.asarray(make_interp_spline(instants[order], counts[order], k=5)(time))


def motion(walk: Walk) -> Motion:
    """Return the pose as a function of time, valid to 0.5 s beyond the recording.

    The midpoint of the hips is at the largest height that both knees allow, smoothed by a soft minimum and a B-spline,
    and lowered as a whole if a knee would be too straight.
    """
    first, last = (round(t / PELVIS_KNOT_S) for t in (-0.5, walk.gait.duration_s + 0.5))
    knots: Array = PELVIS_KNOT_S * np.arange(first - DEGREE, last + DEGREE + 1, dtype=float)
    centres = knots[: -DEGREE - 1] + PELVIS_KNOT_S * (DEGREE + 1) / 2
    leads = guides(walk, centres)
    allowed = highest_middle(walk.walker, leads, leads.knee_at_least)
    spline = BSpline(knots, -KNEE_SOFTNESS_M * np.logaddexp.reduce(-allowed / KNEE_SOFTNESS_M, axis=1), DEGREE)
    times = np.arange(knots[DEGREE], knots[-DEGREE - 1], 0.005)
    straight = highest_middle(walk.walker, guides(walk, times), np.radians(STRAIGHTEST_KNEE_DEG)).min(axis=1)
    excess = max(0.0, float((spline(times) - straight).max()))
    return lambda time: assemble(walk.walker, guides(walk, time), np.asarray(spline(time)) - excess)


def standing(walker: Walker, time: Array) -> Pose:
    """Return quiet standing at the lab origin, with slightly bent knees, facing +x."""
    shape = (len(time), 2)
    ankle = np.tile([[0, walker.ankle_height_m, -0.09], [0, walker.ankle_height_m, 0.09]], (len(time), 1, 1))
    sole = rotation(1, np.tile(np.radians([walker.toe_out_deg, -walker.toe_out_deg]), (len(time), 1)))
    pelvis = rotation(2, np.full(len(time), -np.radians(walker.pelvis_tilt_deg)))
    knee, shank = np.full(shape, np.radians(4)), np.full(shape, np.radians(-6))
    middle = np.tile([0.03, 0, 0], (len(time), 1))
    over = Guides(ankle, sole, pelvis, middle, knee, np.zeros(shape), shank)
    return assemble(walker, over, highest_middle(walker, over, knee).mean(axis=1))


def guides(walk: Walk, time: Array) -> Guides:
    """Return the motion of feet and pelvis at the instants (time,)."""
    counted = np.stack([cycles(walk, side, time) for side in (0, 1)], axis=-1)
    # cycles of each foot, an integer at its foot strikes
    count = counted - np.where(np.arange(2) == walk.gait.first_foot, 0, 0.5)
    feet = [_foot(walk, side, counted[:, side]) for side in (0, 1)]
    ankle, sole = (np.stack(parts, axis=1) for parts in zip(*feet, strict=True))
    pelvis, middle = _pelvis(walk, counted.mean(axis=1) - (0 if walk.gait.first_foot else 0.5), time)
    knee = walk.style.knee * np.radians(KNEE_AT_LEAST_DEG(count))
    thigh, shank = (walk.style.turn * np.radians(curve(count)) for curve in (THIGH_TURN_DEG, SHANK_TURN_DEG))
    return Guides(ankle, sole, pelvis, middle, knee, thigh, shank)


def _foot(walk: Walk, side: int, counted: Array) -> tuple[Array, Array]:
    """Return ankle centre (time, 3) and rotation of the sole (time, 3, 3) of one foot."""
    of_side = walk.side == side
    begun = counted[:, None] - walk.number[of_side][:-1] / 2
    travelled = SWING(begun)
    place = walk.place[of_side][0] + travelled @ np.diff(walk.place[of_side], axis=0)
    yaw = walk.yaw[of_side][0] + travelled @ np.diff(walk.yaw[of_side])
    cycle = begun[:, 0] % 1
    pitch = walk.style.pitch * np.radians(FOOT_PITCH_DEG(cycle))
    on_ball = np.where(cycle < FLAT, 0.0, 1 - HEEL_LEADS(cycle))[:, None]
    rolled = (1 - on_ball) * _roll(walk.walker, pitch, HEEL_ARC) + on_ball * _roll(walk.walker, pitch, BALL_ARC)
    rolled[:, 1] += walk.style.clearance * CLEARANCE_M(cycle)
    heading = rotation(1, yaw)
    return place + np.einsum("tij,tj->ti", heading, rolled), heading @ rotation(2, pitch)


def _roll(walker: Walker, pitch: Array, arc: tuple[float, float]) -> Array:
    """Return the ankle (time, 3) from the footprint after rolling to a pitch."""
    place, radius = (walker.foot_m * fraction for fraction in arc)
    centre = np.stack([place - radius * pitch, np.full_like(pitch, radius), 0 * pitch], axis=-1)
    ankle_from_centre = np.array([-place, walker.ankle_height_m - radius, 0])
    return np.asarray(centre + rotation(2, pitch) @ ankle_from_centre)


def _pelvis(walk: Walk, right_cycles: Array, time: Array) -> tuple[Array, Array]:
    """Return the rotation (time, 3, 3) and the hip midpoint (time, 3) at height 0."""
    turn, size = 2 * np.pi * right_cycles, walk.style.pelvis * np.sqrt(walk.gait.speed_m_s / 1.3)
    forward_rotation = np.radians(5 * size) * np.cos(turn)
    obliquity = np.radians(-4 * size) * np.sin(turn - 0.1)
    tilt = -np.radians(walk.walker.pelvis_tilt_deg + 1.2 * size * np.cos(2 * turn))
    x = walk.gait.speed_m_s * time + 0.006 * np.sin(2 * turn)
    z = 0.018 * walk.style.pelvis * np.sin(turn - 0.25)
    middle = walk.start + np.stack([x, 0 * x, z], axis=-1)
    return rotation(1, forward_rotation) @ rotation(0, obliquity) @ rotation(2, tilt), middle
