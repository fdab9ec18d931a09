"""Joint coordinate systems: angles and axes of hip, knee and ankle.

Cardan sequence Z-X-Y of the distal segment against the proximal one (Grood ES, Suntay WJ (1983) J Biomech Eng
105:136-144; Wu G et al. (2002) J Biomech 35:543-548): e1 = z of the proximal segment (flexion), e3 = y of the
distal segment (rotation), e2 = e3 x e1 floating (adduction). Flexion (of the ankle: dorsiflexion), adduction
(of the ankle: inversion) and internal rotation are positive on both sides.

Plug-in Gait turns the ankle in another order, Z-Y-X, so that inversion is about the long axis of the foot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ANGLES = ("flexion", "adduction", "rotation")
CONVENTIONS = ("isb", "plug_in_gait")
FLEXION_SIGN = {"ankle": 1.0, "knee": -1.0, "hip": 1.0}


def signs(joint: str, side: str) -> Array:
    """Return (3,): what turns right-handed rotations about e1, e2, e3 into clinical ones."""
    mirror = -1.0 if side == "left" else 1.0
    return np.array([FLEXION_SIGN[joint], mirror, mirror])


def angles(proximal: Array, distal: Array, *, smallest_floating_axis: float) -> Array:
    """Return the right-handed Cardan angles Z-X-Y of the distal segment against the proximal one.

    Args:
        proximal, distal: (..., 3, 3), v_segment = rotation @ v_lab.
        smallest_floating_axis: cosine of the second angle below which the angles are NaN (gimbal lock).

    Returns:
        (..., 3) rad, about e1, e2, e3.
    """
    relative = proximal @ np.swapaxes(distal, -1, -2)
    second = np.arcsin(np.clip(relative[..., 2, 1], -1, 1))
    result = np.stack(
        [
            np.arctan2(-relative[..., 0, 1], relative[..., 1, 1]),
            second,
            np.arctan2(-relative[..., 2, 0], relative[..., 2, 2]),
        ],
        axis=-1,
    )
    return np.where((np.cos(second) >= smallest_floating_axis)[..., None], result, np.nan)


def angles_inversion_last(proximal: Array, distal: Array, *, smallest_floating_axis: float) -> Array:
    """Return the right-handed Cardan angles Z-Y-X of the distal segment against the proximal one.

    Arguments and order of the result (about z, x, y) as of :func:`angles`.
    Source: Plug-in Gait's ankle; found by comparison with its stored angles.
    """
    relative = proximal @ np.swapaxes(distal, -1, -2)
    second = -np.arcsin(np.clip(relative[..., 2, 0], -1, 1))
    result = np.stack(
        [
            np.arctan2(relative[..., 1, 0], relative[..., 0, 0]),
            np.arctan2(relative[..., 2, 1], relative[..., 2, 2]),
            second,
        ],
        axis=-1,
    )
    return np.where((np.cos(second) >= smallest_floating_axis)[..., None], result, np.nan)


def axes(proximal: Array, distal: Array) -> Array:
    """Return the joint coordinate axes e1, e2, e3 as rows (..., 3, 3), unit vectors in lab axes.

    Args:
        proximal, distal: (..., 3, 3), v_segment = rotation @ v_lab.
    """
    e1, e3 = proximal[..., 2, :], distal[..., 1, :]
    e2 = np.cross(e3, e1)
    with np.errstate(invalid="ignore", divide="ignore"):
        e2 = e2 / np.linalg.norm(e2, axis=-1, keepdims=True)
    return np.stack([e1, e2, e3], axis=-2)
