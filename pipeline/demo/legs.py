"""The pose of the legs from feet and pelvis: possible pelvis height, knee flexion."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .body import Walker, foot_in_sole, hip_in_pelvis
from .curves import rotation


@dataclass(frozen=True)
class Pose:
    """Pose of the body in ISB lab axes; rotations transform segment axes to lab axes.

    ``pelvis_rotation`` (time, 3, 3), ``pelvis_origin`` (time, 3), ``rotation`` (time, side, segment, 3, 3), ``centre``
    (time, side, joint, 3) m; sides left, right; segments foot, shank, thigh; joints ankle, knee, hip.
    """

    pelvis_rotation: Array
    pelvis_origin: Array
    rotation: Array
    centre: Array


@dataclass(frozen=True)
class Guides:
    """Motion that determines the legs, ISB lab axes.

    ``ankle`` (time, side, 3) m; ``sole`` (time, side, 3, 3) from sole to lab axes; ``pelvis`` (time, 3, 3); ``middle``
    (time, 3) m: the midpoint of the hips, with height 0; in rad (time, side): the smallest knee flexion
    ``knee_at_least``, and the rotation of thigh and shank about their long axes, internal positive.
    """

    ankle: Array
    sole: Array
    pelvis: Array
    middle: Array
    knee_at_least: Array
    thigh_turn: Array
    shank_turn: Array


def hips_at(walker: Walker, guides: Guides, height: Array | float) -> Array:
    """Return both hips (time, side, 3) with their midpoint at ``height`` (time,)."""
    local = np.stack([hip_in_pelvis(walker, side) for side in (0, 1)])
    hips = guides.middle[:, None] + np.einsum("tij,sj->tsi", guides.pelvis, local - local.mean(axis=0))
    hips[..., 1] += np.asarray(height)[..., None]
    return np.asarray(hips)


def highest_middle(walker: Walker, guides: Guides, flexion: Array | float) -> Array:
    """Return the hip midpoint's height (time, side) for a knee flexion in rad."""
    thigh, shank = walker.thigh_m, walker.shank_m
    squared = thigh**2 + shank**2 + 2 * thigh * shank * np.cos(flexion)
    away = hips_at(walker, guides, 0.0) - guides.ankle
    return np.sqrt(squared - away[..., 0] ** 2 - away[..., 2] ** 2) - away[..., 1]


def assemble(walker: Walker, guides: Guides, height: Array) -> Pose:
    """Return the pose with the midpoint of the hips at ``height`` (time,), m.

    The knee is a hinge with its axis orthogonal to the line ankle to hip and to the mean heading of pelvis and foot.
    Thigh and shank then rotate slightly about their long axes.
    """
    hips = hips_at(walker, guides, height)
    local = np.mean([hip_in_pelvis(walker, side) for side in (0, 1)], axis=0)
    rotations, centres = [], []
    for side, inwards in enumerate((-1, 1)):
        hip, ankle, sole = hips[:, side], guides.ankle[:, side], guides.sole[:, side]
        length = np.linalg.norm(hip - ankle, axis=-1, keepdims=True)
        up = (hip - ankle) / length
        hinge = np.cross(guides.pelvis[..., 0] + sole[..., 0], up)
        hinge /= np.linalg.norm(hinge, axis=-1, keepdims=True)
        along = (walker.shank_m**2 + length**2 - walker.thigh_m**2) / (2 * length)
        knee = ankle + along * up + np.sqrt(walker.shank_m**2 - along**2) * np.cross(up, hinge)
        shank = _axes((knee - ankle) / walker.shank_m, hinge) @ rotation(1, inwards * guides.shank_turn[:, side])
        thigh = _axes((hip - knee) / walker.thigh_m, hinge) @ rotation(1, inwards * guides.thigh_turn[:, side])
        rotations.append(np.stack([sole @ foot_in_sole(walker, side), shank, thigh], axis=1))
        centres.append(np.stack([ankle, knee, hip], axis=1))
    middle = hips.mean(axis=1) - guides.pelvis @ local
    return Pose(guides.pelvis, middle, np.stack(rotations, axis=1), np.stack(centres, axis=1))


def _axes(y: Array, z: Array) -> Array:
    return np.stack([np.cross(y, z), y, z], axis=-1)
