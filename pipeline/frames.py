"""Segment frames by the axis rules of a body model.

Axes of every segment: x anterior, y proximal, z to the subject's right, on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.body_model import point
from pipeline.dynamics.block_matrix import cross
from pipeline.joint_centres import SIDE_SIGN

Array = NDArray[np.float64]


def frame(
    rules: Sequence[Mapping[str, Any]], points: Mapping[str, Array], frames: Mapping[str, Array], side: str
) -> Array:
    """Return the rotation matrices of a segment from two axis rules.

    The first rule's axis is kept; the second gives the plane: the third axis is normal to both, and the second
    one is completed at right angles.

    Args:
        rules: two rules, each an axis with ``from``/``to``, ``medial``/``lateral`` (pointing to the right on both
            sides) or ``along`` (an axis of another segment); ``level`` lays the direction horizontal (lab y is up).
        points: landmarks and joint centres (..., 3), m.
        frames: rotation matrices of the segments found so far.
        side: ``left`` or ``right``.

    Returns:
        (..., 3, 3), v_segment = rotation @ v_lab: the rows are the segment's axes in the lab.
    """
    (first, u), (second, v) = (
        (rule["axis"], _direction(rule, points, frames, side) * ((1, 0, 1) if rule.get("level") else 1))
        for rule in rules
    )
    i, j = "xyz".index(first), "xyz".index(second)
    k = 3 - i - j
    cyclic = 1.0 if (j - i) % 3 == 1 else -1.0
    axes = {i: unit(u)}
    axes[k] = cyclic * unit(cross(axes[i], v))
    axes[j] = cyclic * cross(axes[k], axes[i])
    return np.stack([axes[0], axes[1], axes[2]], axis=-2)


def _direction(rule: Mapping[str, Any], points: Mapping[str, Array], frames: Mapping[str, Array], side: str) -> Array:
    if "along" in rule:
        segment, axis = rule["along"].split(".")
        return frames[segment][..., "xyz".index(axis), :]
    if "medial" in rule:
        return SIDE_SIGN[side] * (point(points, rule["lateral"], side) - point(points, rule["medial"], side))
    return point(points, rule["to"], side) - point(points, rule["from"], side)


def unit(vector: Array) -> Array:
    """Return vectors (..., 3) at length one; NaN where they have none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(vector / np.sqrt(dot(vector, vector))[..., None])


def dot(a: Array, b: Array) -> Array:
    """Return the scalar products (...) of vectors (..., 3), written out: the fastest way for many short vectors."""
    return np.asarray(a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2])
