"""The plane of inclined ground, of a ramp or a raised treadmill, by the corners of the plates in it."""

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics.vectors import cross, skew
from .wrench import plate_normal

VERTICAL = np.array([0.0, 1.0, 0.0])
PLACED_M = 0.02  # corners are known to 1 cm: a plate of which they differ less in height is level
ALIKE_DEG = 3.0  # plates of one plane: 2 cm over a plate of 40 cm


def normal_of_ground(corners: Array) -> Array:
    """Return the upward normal (3,) of the plane of plates (plate, 4, 3), y up.

    It is vertical, without rounding, if all are level, as on stairs, or if they are in planes of several slopes.
    """
    corners = corners[np.isfinite(corners).all(axis=(1, 2))]
    if not len(corners) or not (np.ptp(corners[..., 1], axis=1) > PLACED_M).any():
        return VERTICAL
    normals = np.stack([plate_normal(plate) for plate in corners])
    normals *= np.sign(normals[:, 1:2])
    mean = normals.mean(axis=0) / np.linalg.norm(normals.mean(axis=0))
    return mean if (normals @ mean > np.cos(np.radians(ALIKE_DEG))).all() else VERTICAL


def over_ground(points: Array, normal: Array) -> Array:
    """Return points (time, 3) with the heights over inclined ground, less a constant, in place of those in the lab."""
    leaning = points.copy()
    leaning[:, 1] = points @ normal / normal[1]
    return leaning


def level_axes(normal: Array) -> Array:
    """Return the shortest rotation (3, 3) that makes ground with an upward normal (3,) level; v_level = rotation @ v.

    It is the identity, without rounding, for level ground.
    """
    turn = skew(cross(normal, VERTICAL))
    return np.asarray(np.eye(3) + turn + turn @ turn / (1 + normal[1]))


def uphill(normal: Array) -> Array:
    """Return the direction (..., 3) in planes with upward normals (..., 3) that is above lab x, y up."""
    along = np.array([1.0, 0.0, 0.0]) - normal[..., :1] * normal
    return np.asarray(along / np.linalg.norm(along, axis=-1, keepdims=True))


def per_level_metre(normal: Array, direction: NDArray[np.complex128]) -> Array:
    """Return how far (...) one goes along the ground for each metre in plan.

    Args:
        normal: (3,) of the ground, upward.
        direction: (...), complex unit numbers: in plan, forward, and to the right times i.
    """
    rise = -(normal[0] * direction.real + normal[2] * direction.imag) / normal[1]
    return np.asarray(np.sqrt(1 + rise**2))
