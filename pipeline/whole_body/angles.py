"""Angles of trunk, head and arms: of thorax and head in the lab, and of spine, neck, shoulder, elbow and wrist.

Flexion (forwards; of the wrist towards the palm), adduction (of trunk and head: this side up) and internal rotation (of
trunk and head: this side forward) are positive on both sides. The sequence ``isb`` is that of Wu G et al. (2005)
J Biomech 38:981-992, Z-X-Y but for the shoulder: Y-X-Y. These are the plane of elevation (0 in abduction, 90 in
flexion), the elevation, and the axial rotation. ``plug_in_gait`` has the sequences of Plug-in Gait, found by comparison
with its stored angles.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..conventions import SIDES
from ..dynamics.vectors import transpose


class Joint(NamedTuple):
    """Two segments between which angles are measured."""

    proximal: str  # empty: the lab
    distal: str
    signs: tuple[int, int, int]  # that make right-handed angles about z, x and y of the right side clinical
    plug_in_gait: str  # sequence of the axes


TRUNK = (-1, -1, 1)
PARTS = {
    "thorax": Joint("", "thorax", TRUNK, "zxy"),
    "head": Joint("", "head", TRUNK, "zxy"),
    "spine": Joint("pelvis", "thorax", TRUNK, "yxz"),
    "neck": Joint("thorax", "head", TRUNK, "yxz"),
    "shoulder": Joint("thorax", "upper_arm", (1, 1, 1), "xzy"),
    "elbow": Joint("upper_arm", "forearm", (1, 1, 1), "zxy"),
    "wrist": Joint("forearm", "hand", (1, 1, 1), "zxy"),
}
IN_LAB = ("thorax", "head")
MIRROR = np.diag([1.0, 1.0, -1.0])


def of_part(part: str, rotation: Mapping[str, Array], side: str, convention: str, smallest: float) -> Array:
    """Return flexion, adduction and rotation (..., 3) of a part of the upper body, degrees.

    Args:
        part: of :data:`PARTS`.
        rotation: (..., 3, 3) by segment, v_segment = rotation @ v; thorax and head from the axes of v.
        side: of which the angles are; for trunk and head it decides the signs.
        convention: ``isb`` or ``plug_in_gait``.
        smallest: cosine of the second angle (of Y-X-Y its sine) below which the angles are NaN.
    """
    joint = PARTS[part]
    distal = rotation.get(joint.distal, rotation.get(f"{joint.distal}_{side}"))
    proximal = rotation.get(joint.proximal, rotation.get(f"{joint.proximal}_{side}"))
    if distal is None or (joint.proximal and proximal is None):
        raise KeyError(part)
    turn = transpose(distal) if proximal is None else proximal @ transpose(distal)
    if side == SIDES[0]:
        turn = MIRROR @ turn @ MIRROR
    if convention == "isb" and part == "shoulder":
        return np.asarray(np.degrees(elevation(turn, smallest)))
    angle = cardan(turn, joint.plug_in_gait if convention == "plug_in_gait" else "zxy", smallest)
    return np.asarray(np.degrees(angle) * joint.signs)


def cardan(turn: Array, sequence: str, smallest: float) -> Array:
    """Return the right-handed angles about z, x and y (..., 3) of an intrinsic sequence of these axes, rad.

    Args:
        turn: (..., 3, 3), v_proximal = turn @ v_distal.
        sequence: the three axes in their order, as ``zxy``.
        smallest: cosine of the second angle below which all are NaN (gimbal lock).
    """
    i, j, k = ("xyz".index(axis) for axis in sequence)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    second = np.arcsin(np.clip(sign * turn[..., i, k], -1, 1))
    first = np.arctan2(-sign * turn[..., j, k], turn[..., k, k])
    third = np.arctan2(-sign * turn[..., i, j], turn[..., i, i])
    by_axis = {i: first, j: second, k: third}
    angles = np.stack([by_axis["xyz".index(axis)] for axis in "zxy"], axis=-1)
    angles[~(np.cos(second) >= smallest)] = np.nan
    return angles


def elevation(turn: Array, smallest: float) -> Array:
    """Return plane of elevation, elevation and axial rotation (..., 3) of the right humerus, rad (Wu 2005, Y-X-Y).

    NaN where the sine of the elevation is below ``smallest``: the plane of an arm that hangs is unknown.
    """
    raised = np.arccos(np.clip(turn[..., 1, 1], -1, 1))
    plane = np.arctan2(-turn[..., 0, 1], -turn[..., 2, 1])
    axial = np.arctan2(-turn[..., 1, 0], turn[..., 1, 2])
    angles = np.stack([plane, raised, axial], axis=-1)
    angles[~(np.sin(raised) >= smallest)] = np.nan
    return angles
