"""Movements of the person of :mod:`person` that are no walk, posed from the pelvis and the feet: the knees follow.

ISB lab axes: x forward, y up, z right; m, s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.conventions import SIDES
from tests.support.walks.person import HIP_M, SHANK_M, THIGH_M, Landmarks, Pose, landmarks, of_side

Array = NDArray[np.float64]

MOVEMENTS = ("squat", "sit to stand", "jump", "swing of a leg", "kneeling", "legs crossed", "supine", "on the side")
RATE_HZ = 100.0
LEG_M = THIGH_M + SHANK_M
ANKLE_M = 0.09  # above the floor
SKIN_M = 0.006  # of a marker on the thigh or below the knee, with the knee's bend; hardly at the malleoli
SOFT = ("thigh", "shank", "tibial", "fibula", "lateral_epi", "medial_epi")


class Place(NamedTuple):
    """Pelvis and feet in time: rows of ``turn`` and ``foot`` are the axes of pelvis and feet.

    ``pelvis`` (time, 3), ``turn`` (time, 3, 3), ``ankle`` (time, side, 3), ``foot`` (time, side, 3, 3) and ``knee``
    (time, side, 3), the direction into which each knee bends.
    """

    pelvis: Array
    turn: Array
    ankle: Array
    foot: Array
    knee: Array


def moved(movement: str, seed: int, *, seconds: float = 4.0) -> tuple[Array, Pose]:
    """Return the instants (time,) and the pose of a movement, of any depth, width and speed."""
    rng = np.random.default_rng([seed, 27])
    time = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    place = PLACES_OF[movement](time, rng)
    return time, posed(place)


def seen(movement: str, seed: int) -> tuple[Array, Landmarks]:
    """Return the instants and the landmarks of a movement; skin moves with the joints, noise is 1 mm."""
    time, pose = moved(movement, seed)
    rng = np.random.default_rng([seed, 28])
    points = landmarks(pose)
    for number, side in enumerate(SIDES):
        bend = 1 - np.sum(pose.rotation[:, number, 2, 1] * pose.rotation[:, number, 1, 1], axis=1, keepdims=True)
        for name in points:
            if name.endswith(side) and name.startswith(SOFT):
                points[name] = points[name] + bend * rng.normal(0, SKIN_M / np.sqrt(3), 3)
    return time, {name: path + rng.normal(0, 0.001, path.shape) for name, path in points.items()}


def posed(place: Place) -> Pose:
    """Return the pose of a person with hips and ankles in given places and knees that bend in given directions."""
    count = len(place.pelvis)
    hip = place.pelvis[:, None] + np.array([of_side(HIP_M, side) for side in SIDES]) @ place.turn
    along = hip - place.ankle
    length = np.linalg.norm(along, axis=-1, keepdims=True)
    assert (length < LEG_M).all(), "the feet are out of reach"
    assert (length > 0.1).all(), "the legs are folded through themselves"
    up = along / length
    ahead = place.knee - np.sum(place.knee * up, axis=-1, keepdims=True) * up
    ahead /= np.linalg.norm(ahead, axis=-1, keepdims=True)
    on_line = (SHANK_M**2 - THIGH_M**2 + length**2) / (2 * length)
    knee = place.ankle + on_line * up + np.sqrt(SHANK_M**2 - on_line**2) * ahead
    right = np.cross(ahead, up)
    rotation = np.empty((count, 2, 4, 3, 3))
    rotation[:, :, 0], rotation[:, :, 3] = place.foot, place.turn[:, None]
    for number, way in ((1, knee - place.ankle), (2, hip - knee)):
        y = way / np.linalg.norm(way, axis=-1, keepdims=True)
        rotation[:, :, number] = np.stack([np.cross(y, right), y, right], axis=-2)
    centre = np.stack([place.ankle, knee, hip], axis=2)
    return Pose(rotation, centre, place.pelvis, np.full((count, 2, 3, 3), np.nan))


def _turn(axes: str, *degrees: Array | float) -> Array:
    """Return (time, 3, 3) frames, rows of axes, turned about the lab's axes in order, degrees."""
    return np.asarray(
        Rotation.from_euler(axes, np.stack(np.broadcast_arrays(*degrees), -1), degrees=True).inv().as_matrix()
    )


def _sides(left: Array, right: Array) -> Array:
    return np.stack([left, right], axis=1)


def _planted(time: Array, half_m: float, out_deg: float) -> tuple[Array, Array, Array]:
    """Return ankles, feet and the knees' directions of feet on the floor, turned outwards."""
    still = np.ones((len(time), 1))
    ankle = _sides(*(still * [0.0, ANKLE_M, sign * half_m] for sign in (-1, 1)))
    foot = _sides(*(_turn("y", -sign * out_deg * still[:, 0]) for sign in (-1, 1)))
    return ankle, foot, foot[..., 0, :].copy()


def _repeated(time: Array, rng: np.random.Generator) -> Array:
    """Return (time,) from 0 to 1 and back, two to five times."""
    times = rng.integers(2, 6)
    return np.asarray((1 - np.cos(2 * np.pi * times * time / time[-1])) / 2)


def _squat(time: Array, rng: np.random.Generator, calm: Array | float = 1.0) -> Place:
    """Return squats, also those of a jump, less deep where ``calm`` (time,) is less than 1."""
    down, depth, half = calm * _repeated(time, rng), rng.uniform(0.15, 0.45), rng.uniform(0.06, 0.26)
    ankle, foot, knee = _planted(time, half, rng.uniform(-5, 35))
    sway = 0.004 * np.sin(2 * np.pi * rng.uniform(0.2, 0.8) * time + rng.uniform(0, 6))
    height = _standing_m(half) - 0.02 - depth * down
    pelvis = np.stack([0.046 - 0.25 * depth * down, height, sway], axis=1)
    return Place(pelvis, _turn("z", -5 - rng.uniform(0, 60) * depth / 0.45 * down), ankle, foot, knee)


def _standing_m(half_m: float) -> float:
    return float(ANKLE_M - HIP_M[1] + np.sqrt((0.99 * LEG_M) ** 2 - (half_m - HIP_M[2]) ** 2))


def _sit_to_stand(time: Array, rng: np.random.Generator) -> Place:
    half = rng.uniform(0.08, 0.2)
    ankle, foot, knee = _planted(time, half, rng.uniform(0, 20))
    risen = np.clip(1.6 * _repeated(time, rng) - 0.3, 0, 1)
    risen = risen**2 * (3 - 2 * risen)
    lean = -10 - 35 * np.sin(np.pi * risen)
    seat = np.array([-rng.uniform(0.3, 0.4), ANKLE_M + rng.uniform(0.42, 0.5)])
    stood = np.array([0.03, _standing_m(half) - 0.03])
    path = seat + risen[:, None] * (stood - seat)
    return Place(np.insert(path, 2, 0.0, axis=1), _turn("z", lean), ankle, foot, knee)


def _jump(time: Array, rng: np.random.Generator) -> Place:
    """Return a countermovement jump; the feet leave the floor with the pelvis."""
    height, leap = rng.uniform(0.1, 0.35), rng.uniform(1.2, 2.5)
    flight = 2 * np.sqrt(2 * height / 9.81)
    since = time - leap
    air = np.where((since > 0) & (since < flight), 9.81 / 2 * since * (flight - since), 0.0)
    squat = _squat(time, rng, 1 - np.exp(-((since - flight / 2) ** 2) / 0.06))  # nearly straight in the air
    pelvis = squat.pelvis + np.outer(air, [0.0, 1.0, 0.0])
    ankle = squat.ankle.copy()
    ankle[..., 1] += air[:, None]
    pointed = np.clip(air / 0.05, 0, 1) * 40
    foot = squat.foot.copy()
    for side in range(2):
        foot[:, side] = _turn("z", -pointed) @ foot[:, side]
    return Place(pelvis, squat.turn, ankle, foot, squat.knee)


def _swing(time: Array, rng: np.random.Generator) -> Place:
    """Return hip or knee moved through its range on one leg, and the other standing."""
    half = rng.uniform(0.05, 0.12)
    ankle, foot, knee = _planted(time, half, rng.uniform(0, 15))
    pelvis = np.tile([0.046, _standing_m(half) - 0.02, 0.0], (len(time), 1))
    side, part = int(rng.integers(2)), _repeated(time, rng)
    flexed, aside = rng.uniform(-25, 80) * part, rng.uniform(0, 40) * part * (2 * side - 1)
    length = LEG_M * (0.985 - rng.uniform(0, 0.45) * part)
    hip = pelvis + of_side(HIP_M, SIDES[side])
    swing = _turn("zx", flexed, -aside)  # rows: the leg's axes
    ankle[:, side] = hip - length[:, None] * swing[:, 1]
    lean = np.degrees(np.arccos(length / LEG_M))  # of the shank from the line to the hip, about
    foot[:, side], knee[:, side] = _turn("zx", flexed - lean, -aside), swing[:, 0]
    return Place(pelvis, _turn("z", -5 * np.ones(len(time))), ankle, foot, knee)


def _kneeling(time: Array, rng: np.random.Generator) -> Place:
    """Return sitting back from upright kneeling, with pointed feet: the toes are behind the heels."""
    back, half = _repeated(time, rng) * rng.uniform(0.3, 0.9), rng.uniform(0.06, 0.15)
    still = np.ones((len(time), 1))
    ankle = _sides(*(still * [-SHANK_M + 0.01, 0.06, sign * half] for sign in (-1, 1)))
    lean = np.radians(50) * back  # of the thighs, about the knees on the floor
    knee_at = np.array([0.0, 0.06])
    thigh = 0.98 * THIGH_M * np.stack([-np.sin(lean), np.cos(lean)], axis=1)
    hip = np.insert(knee_at + thigh, 2, 0.0, axis=1)
    turn = _turn("z", -10 - 20 * back)
    pelvis = hip - np.array([HIP_M[0], HIP_M[1], 0.0]) @ turn
    foot = _sides(*[_turn("z", -rng.uniform(140, 160) * still[:, 0])] * 2)
    knee = np.broadcast_to([0.7, -0.7, 0.0], ankle.shape)
    return Place(pelvis, turn, ankle, foot, knee)


def _crossed(time: Array, rng: np.random.Generator) -> Place:
    """Return somebody who sits on a high seat with one leg over the other and moves the upper foot."""
    turn = _turn("z", 10 + 5 * _repeated(time, rng))
    pelvis = np.tile([0.0, 0.75, 0.0], (len(time), 1))
    over = rng.uniform(0.12, 0.22)
    still, part = np.ones(len(time)), _repeated(time, rng)
    ankle = _sides(
        np.stack([0.45 * still + 0.1 * part, 0.35 * still + 0.15 * part, over * still], axis=1),
        np.stack([0.35 * still, ANKLE_M * still + 0.12, -0.05 * still], axis=1),
    )
    foot = _sides(_turn("yz", 10 * still, -20 + 15 * part), _turn("y", 5 * still))
    knee = np.broadcast_to([0.6, 0.8, 0.0], ankle.shape)
    return Place(pelvis, turn, ankle, foot, knee)


def _laid(place: Place, axes: str, *degrees: float) -> Place:
    """Return a person who lies on a bench."""
    turn = Rotation.from_euler(axes, degrees, degrees=True).as_matrix()
    turned = [values @ turn.T for values in place]
    for values in (turned[0], turned[2]):
        values += [0.0, 0.8, 0.0]
    return Place(*turned)


PLACES_OF: dict[str, Callable[[Array, np.random.Generator], Place]] = {
    "squat": _squat,
    "sit to stand": _sit_to_stand,
    "jump": _jump,
    "swing of a leg": _swing,
    "kneeling": _kneeling,
    "legs crossed": _crossed,
    "supine": lambda time, rng: _laid(_swing(time, rng), "z", 90),
    "on the side": lambda time, rng: _laid(_swing(time, rng), "x", 90 * rng.choice([-1, 1])),
}
