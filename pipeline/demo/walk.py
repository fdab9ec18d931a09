"""The motion: two feet that roll and swing over the floor, a pelvis above them, and legs between.

ISB lab axes throughout (x forward, y up, z right), metres, seconds, radians inside. A foot in stance rolls without
sliding over the arc of its heel, stands flat, and rolls over the arc of its ball (Perry's rockers); it then swings
to its next footprint. The pelvis moves on smooth harmonics, as high as the less bent knee allows, and the knees
follow from the two segment lengths. Everything is a closed form of time, evaluated wherever it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from pipeline.demo.body import Walker, foot_in_sole, hip_in_pelvis
from pipeline.demo.curves import cyclic, passage, rotation

Array = NDArray[np.float64]

# Percent of the gait cycle from foot strike; foot off is drawn at FOOT_OFF whatever the real one is.
FOOT_OFF = 0.62
FLAT = 0.20
FOOT_PITCH_DEG = cyclic((0, 23), (8, 0), (30, 0), (42, -6), (51, -20), (62, -64), (67, -72), (78, -35), (88, 8), (95, 25))
SWING = passage((63, 0), (70, 0.08), (77, 0.4), (85, 0.75), (92, 0.95), (98, 1))
HEEL_LED = passage((68, 0), (92, 1))
CLEARANCE_M = cyclic((0, 0), (63, 0), (73, 0.045), (82, 0.02), (90, 0.015), (96, 0), (100, 0))
KNEE_AT_LEAST_DEG = cyclic((0, 5), (6, 12), (13, 20), (20, 16), (38, 6), (50, 6), (62, 10), (90, 5))
THIGH_TURN_DEG = cyclic((0, 2), (15, -3), (45, 2), (70, -2))
SHANK_TURN_DEG = cyclic((0, -8), (20, -4), (50, -9), (75, -3))
KNEE_SOFTNESS_M = 0.006
REACH = 0.48

# Rocker arcs of the sole: place of the centre along the foot and radius, as fractions of foot length.
HEEL_ARC, BALL_ARC = (-0.13, 0.13), (0.44, 0.19)


@dataclass(frozen=True)
class Gait:
    """How somebody walks along +x: speed, rhythm, and the time that is recorded."""

    speed_m_s: float
    steps_per_min: float
    duration_s: float
    first_strike_s: float = 0.2
    first_foot: int = 1
    stance_percent: float = 62.0
    irregularity: float = 1.0


@dataclass(frozen=True)
class Walk:
    """A walk laid out: one row per step, step ``number`` 0 being the first to strike in the recording.

    ``strike``, ``off`` (s), ``side`` (0 left, 1 right), ``place`` (n, 3): the floor point under the ankle of the
    flat foot, m, ``yaw``: its heading about y, rad. ``start`` (3,): where the pelvis would stand at time 0.
    """

    walker: Walker
    gait: Gait
    number: NDArray[np.int64]
    side: NDArray[np.int64]
    strike: Array
    off: Array
    place: Array
    yaw: Array
    start: Array
    style: dict[str, float]

    def moved(self, by: Array) -> Walk:
        """Return the same walk elsewhere on the floor."""
        return replace(self, place=self.place + by, start=self.start + by)


@dataclass(frozen=True)
class Pose:
    """Where the body is: rotations take segment axes to lab axes.

    ``pelvis_rotation`` (time, 3, 3), ``pelvis_origin`` (time, 3), ``rotation`` (time, side, segment, 3, 3),
    ``centre`` (time, side, joint, 3); sides left, right; segments foot, shank, thigh; joints ankle, knee, hip.
    """

    pelvis_rotation: Array
    pelvis_origin: Array
    rotation: Array
    centre: Array


def plan_walk(walker: Walker, gait: Gait, *, seed: int = 0) -> Walk:
    """Return the steps of one walk, irregular from step to step and a little from walk to walk."""
    rng = np.random.default_rng([seed, 3])
    step_s = 60 / gait.steps_per_min
    number = np.arange(-9, int(np.ceil(gait.duration_s / step_s)) + 9)
    side = (number + gait.first_foot) % 2
    wobble = gait.irregularity * np.clip(rng.normal(0, 1, (4, len(number))), -2, 2)
    strike = gait.first_strike_s + step_s * number + 0.004 * wobble[0]
    stance = gait.stance_percent / 100 * 2 * step_s
    right = np.where(side, 1, -1)
    forward = gait.speed_m_s * (strike + REACH * step_s) + 0.005 * wobble[1]
    place = np.stack([forward, 0 * forward, right * 0.055 + 0.006 * wobble[2]], axis=-1)
    yaw = -right * np.radians(walker.toe_out_deg + wobble[3])
    spread = gait.irregularity * np.clip(rng.normal(0, 0.04, 5), -0.08, 0.08)
    style = dict(zip(("pitch", "clearance", "knee", "pelvis", "turn"), 1 + spread, strict=True))
    return Walk(walker, gait, number, side, strike, strike + stance + 0.003 * rng.uniform(-1, 1, len(number)), place, yaw, np.zeros(3), style)


def cycles(walk: Walk, side: int, time: Array) -> Array:
    """Return the gait cycles of one foot up to ``time``: whole at its strikes, FOOT_OFF after them at foot off.

    Counted in strides since step 0, so that the foot which does not make step 0 strikes at whole cycles + 1/2.
    """
    own = walk.side == side
    instants = np.concatenate([walk.strike[own], walk.off[own]])
    counts = np.concatenate([walk.number[own] / 2, walk.number[own] / 2 + FOOT_OFF])
    order = np.argsort(instants)
    return np.asarray(make_interp_spline(instants[order], counts[order], k=5)(time))


def pose(walk: Walk, time: Array) -> Pose:
    """Return the body at any instants (time,) within the walk."""
    counted = [cycles(walk, side, time) for side in (0, 1)]
    feet = [_foot(walk, side, counted[side]) for side in (0, 1)]
    # gait cycles since a right foot strike, from both feet
    right_cycles = (counted[0] + counted[1]) / 2 - (0 if walk.gait.first_foot else 0.5)
    pelvis_rotation, middle = _pelvis(walk, right_cycles, time)
    own = [count - (0 if side == walk.gait.first_foot else 0.5) for side, count in enumerate(counted)]
    knee = np.radians([walk.style["knee"] * KNEE_AT_LEAST_DEG(count) for count in own])
    turn = walk.style["turn"] * np.radians([[THIGH_TURN_DEG(count), SHANK_TURN_DEG(count)] for count in own])
    return _assemble(walk.walker, feet, pelvis_rotation, middle, knee, turn)


def stand(walker: Walker, time: Array) -> Pose:
    """Return quiet standing at the lab origin, knees a little bent, facing +x."""
    shape = time.shape
    yaw = [np.full(shape, side * np.radians(walker.toe_out_deg)) for side in (1, -1)]
    ankle = [np.zeros((*shape, 3)) + (0, walker.ankle_height_m, z) for z in (-0.09, 0.09)]
    pelvis = rotation(2, np.full(shape, -np.radians(walker.pelvis_tilt_deg)))
    middle = np.zeros((*shape, 3)) + (0.03, 0, 0)
    turn = np.radians([[np.zeros(shape), np.full(shape, -6.0)]] * 2)
    feet = [(ankle[side], rotation(1, yaw[side])) for side in (0, 1)]
    return _assemble(walker, feet, pelvis, middle, np.full((2, *shape), np.radians(4)), turn)


def _foot(walk: Walk, side: int, counted: Array) -> tuple[Array, Array]:
    """Return ankle centre (time, 3) and rotation of the sole (time, 3, 3) of one foot."""
    own = walk.side == side
    begun = counted[:, None] - walk.number[own][:-1] / 2
    travelled = SWING(begun)
    place = walk.place[own][0] + travelled @ np.diff(walk.place[own], axis=0)
    yaw = walk.yaw[own][0] + travelled @ np.diff(walk.yaw[own])
    cycle = begun[:, 0]
    pitch = walk.style["pitch"] * np.radians(FOOT_PITCH_DEG(cycle))
    on_ball = np.where(cycle % 1 < FLAT, 0.0, 1 - HEEL_LED(cycle % 1))[:, None]
    rolled = (1 - on_ball) * _rolled(walk.walker, pitch, HEEL_ARC) + on_ball * _rolled(walk.walker, pitch, BALL_ARC)
    rolled[:, 1] += walk.style["clearance"] * CLEARANCE_M(cycle)
    heading = rotation(1, yaw)
    return place + np.einsum("tij,tj->ti", heading, rolled), heading @ rotation(2, pitch)


def _rolled(walker: Walker, pitch: Array, arc: tuple[float, float]) -> Array:
    """Return the ankle (time, 3) of a foot that rolled without sliding on an arc of its sole from flat to ``pitch``."""
    place, radius = (walker.foot_m * fraction for fraction in arc)
    centre = np.stack([place - radius * pitch, np.full_like(pitch, radius), 0 * pitch], axis=-1)
    ankle_from_centre = np.array([-place, walker.ankle_height_m - radius, 0])
    return centre + rotation(2, pitch) @ ankle_from_centre


def _pelvis(walk: Walk, right_cycles: Array, time: Array) -> tuple[Array, Array]:
    """Return rotation (time, 3, 3) and the point between the hips (time, 3), its height left at 0."""
    turn, walker, gait = 2 * np.pi * right_cycles, walk.walker, walk.gait
    size = walk.style["pelvis"] * np.sqrt(gait.speed_m_s / 1.3)
    yaw = np.radians(5 * size) * np.cos(turn)
    list_ = np.radians(-4 * size) * np.sin(turn - 0.1)
    tilt = -np.radians(walker.pelvis_tilt_deg + 1.2 * size * np.cos(2 * turn))
    x = gait.speed_m_s * time + 0.006 * np.sin(2 * turn)
    z = 0.018 * walk.style["pelvis"] * np.sin(turn - 0.25)
    middle = walk.start + np.stack([x, 0 * x, z], axis=-1)
    return rotation(1, yaw) @ rotation(0, list_) @ rotation(2, tilt), middle


def _assemble(walker: Walker, feet: list[tuple[Array, Array]], pelvis: Array, middle: Array, knee: Array, turn: Array) -> Pose:
    """Return the pose for given feet, pelvis rotation and horizontal place, least knee flexion and axial turns.

    Args:
        feet: per side ankle centre (time, 3) and sole rotation (time, 3, 3).
        middle: (time, 3) point between the hips; its height is found here.
        knee: (side, time) flexion that the knee keeps at least, rad.
        turn: (side, 2, time) of thigh and shank about their long axes, rad.
    """
    local = np.stack([hip_in_pelvis(walker, side) for side in (0, 1)])
    hips = middle[:, None] + np.einsum("tij,sj->tsi", pelvis, local - local.mean(axis=0))
    ankles = np.stack([ankle for ankle, _ in feet], axis=1)
    reach = _leg_length(walker, knee).T
    across = hips[..., [0, 2]] - ankles[..., [0, 2]]
    highest = ankles[..., 1] + np.sqrt(reach**2 - (across**2).sum(axis=-1)) - hips[..., 1]
    hips[..., 1] += _soft_minimum(highest)[:, None]
    origin = hips.mean(axis=1) - pelvis @ local.mean(axis=0)
    legs = [_leg(walker, side, *feet[side], hips[:, side], pelvis, turn[side]) for side in (0, 1)]
    return Pose(pelvis, origin, np.stack([r for r, _ in legs], axis=1), np.stack([c for _, c in legs], axis=1))


def _leg_length(walker: Walker, flexion: Array) -> Array:
    """Return the distance from ankle to hip, m, by the cosine rule."""
    thigh, shank = walker.thigh_m, walker.shank_m
    return np.sqrt(thigh**2 + shank**2 + 2 * thigh * shank * np.cos(flexion))


def _soft_minimum(heights: Array) -> Array:
    """Return a smooth value just below the lower of both (time, side): no knee is straighter than it may be."""
    lower = heights.min(axis=1, keepdims=True)
    total = np.exp(-(heights - lower) / KNEE_SOFTNESS_M).sum(axis=1)
    return np.asarray(lower[:, 0] - KNEE_SOFTNESS_M * np.log(total))


def _leg(
    walker: Walker, side: int, ankle: Array, sole: Array, hip: Array, pelvis: Array, turn: Array
) -> tuple[Array, Array]:
    """Return rotations (time, segment, 3, 3) and joint centres (time, joint, 3) of a leg with a hinge of a knee.

    The leg bends in the plane through hip and ankle that points where pelvis and foot point between them.
    """
    forward = pelvis[..., 0] + sole[..., 0]
    span = hip - ankle
    length = np.linalg.norm(span, axis=-1, keepdims=True)
    up = span / length
    hinge = np.cross(forward, up)
    hinge /= np.linalg.norm(hinge, axis=-1, keepdims=True)
    along = (walker.shank_m**2 + length**2 - walker.thigh_m**2) / (2 * length)
    knee = ankle + along * up + np.sqrt(walker.shank_m**2 - along**2) * np.cross(up, hinge)
    mirror = 1 if side else -1
    shank = _axes((knee - ankle) / walker.shank_m, hinge) @ rotation(1, mirror * turn[1])
    thigh = _axes((hip - knee) / walker.thigh_m, hinge) @ rotation(1, mirror * turn[0])
    return np.stack([sole @ foot_in_sole(walker, side), shank, thigh], axis=1), np.stack([ankle, knee, hip], axis=1)


def _axes(y: Array, z: Array) -> Array:
    return np.stack([np.cross(y, z), y, z], axis=-1)
