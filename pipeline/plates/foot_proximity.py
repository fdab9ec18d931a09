"""Which plates have no foot over them, by the markers of both feet.

A plate without a foot is unloaded whatever it reads: its amplifier may idle at 46 N or drift over 200 N. Distances are
in three dimensions, as the plates of stairs overlap in plan.
"""

from collections.abc import Mapping

import numpy as np

from ..arrays import Array, Flags
from ..conventions import SIDES
from .wrench import over_each_plate

FRONT, REAR = "toe", ("heel", "lateral_malleolus")
# how far a sole reaches in plan beyond its markers: toes and sides of a long shoe, or a whole shoe beyond one marker
BEYOND_BOTH_M, BEYOND_ONE_M = 0.15, 0.35
# largest height of the lowest marker over the ground under the foot: on the toes, and with the toe marker not seen
HEIGHT_BOTH_M, HEIGHT_ONE_M = 0.20, 0.40
BELOW_M = 0.10  # a lower marker belongs to a foot beneath the plate; corners and floor may differ by centimetres


def without_feet(landmarks: Mapping[str, Array], corners: Array) -> Flags:
    """Return when both feet are seen and neither is over or near a plate (time, plate).

    Args:
        landmarks: positions (time, 3), m, y up, by name (``heel_left``); NaN where unseen.
        corners: (plate, 4, 3), m.
    """
    frames = len(next(iter(landmarks.values())))
    away = np.ones((frames, len(corners)), dtype=bool)
    for side in SIDES:
        names = [f"{name}_{side}" for name in (FRONT, *REAR) if f"{name}_{side}" in landmarks]
        if not names:
            return np.zeros_like(away)
        points = np.stack([landmarks[name] for name in names])  # (marker, time, 3)
        seen = np.isfinite(points[..., 0] + points[..., 1] + points[..., 2])
        both = seen[0] & seen[1:].any(axis=0) & names[0].startswith(FRONT)
        lowest = np.where(seen, points[..., 1], np.inf).min(axis=0)
        height = lowest[:, None] - corners[..., 1].max(axis=1)
        within = height < np.where(both, HEIGHT_BOTH_M, HEIGHT_ONE_M)[:, None]
        within &= lowest[:, None] - corners[..., 1].min(axis=1) > -BELOW_M
        close = _over(points, corners, BEYOND_BOTH_M)
        far = close if both.all() else _over(points, corners, BEYOND_ONE_M)
        away &= ~(within & np.where(both[:, None], close, far))
        away[~seen.any(axis=0)] = False
    return away


def _over(points: Array, corners: Array, margin_m: float) -> Flags:
    """Return whether any of the markers (marker, time, 3) is over each plate + margin in plan (time, plate)."""
    over = over_each_plate(points.reshape(-1, 3), corners, margin_m)
    return np.asarray(over.reshape(*points.shape[:2], -1).any(axis=0))
