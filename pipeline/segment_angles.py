"""Angles that are reported: of joints, of the pelvis in the lab, of the foot on its way. Degrees, clinical signs.

On the right side a right-handed turn about x (forward) lowers the right, about y (up) brings the right side forward;
on the left the signs of both are exchanged, so that one sign means one thing on both sides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline import joint_coordinates
from pipeline.leg import JOINTS, SIDES

Array = NDArray[np.float64]
MIRROR = np.array([-1.0, 1.0])


def joint_angles(rotation: Array, convention: str, smallest_floating_axis: float) -> Array:
    """Return (time, side, joint, angle) of ankle, knee and hip.

    Args:
        rotation: (time, side, 4, 3, 3) of foot, shank, thigh and pelvis, v_segment = rotation @ v_lab.
        convention: one of :data:`pipeline.joint_coordinates.CONVENTIONS`.
        smallest_floating_axis: cosine of the second angle below which angles are NaN.
    """
    proximal, distal = rotation[:, :, 1:], rotation[:, :, :3]
    angle = joint_coordinates.angles(proximal, distal, smallest_floating_axis=smallest_floating_axis)
    if convention == "plug_in_gait":
        angle[:, :, 0] = joint_coordinates.angles_inversion_last(
            proximal[:, :, 0], distal[:, :, 0], smallest_floating_axis=smallest_floating_axis
        )
    signs = np.array([[joint_coordinates.signs(joint, side) for joint in JOINTS] for side in SIDES])
    return np.asarray(np.degrees(angle) * signs)


def pelvis_angles(rotation: Array, smallest_floating_axis: float) -> Array:
    """Return (time, side, 3): anterior tilt, obliquity (this side up) and internal rotation (this side forward).

    Cardan sequence Z-X-Y of the pelvis (time, side, 3, 3) in the lab, as Plug-in Gait has it (Davis RB et al. 1991, Hum
    Mov Sci 10:575-587).
    """
    lab = np.broadcast_to(np.eye(3), rotation.shape)
    angle = joint_coordinates.angles(lab, rotation, smallest_floating_axis=smallest_floating_axis)
    return np.asarray(np.degrees(angle) * np.stack([-np.ones(2), -MIRROR, MIRROR], axis=-1))


def foot_progression(rotation: Array, smallest_floating_axis: float) -> Array:
    """Return (time, side): the turn of the foot's long axis from lab x in the horizontal plane, toes inwards positive.

    NaN where the foot stands so steeply that its horizontal part is below ``smallest_floating_axis``.
    """
    forward, right = rotation[..., 0, 0], rotation[..., 0, 2]
    level = np.hypot(forward, right) >= smallest_floating_axis
    return np.where(level, np.degrees(np.arctan2(-right, forward)) * MIRROR, np.nan)
