"""Poses of segments in a C3D file as virtual points, so that they take the same way as markers.

Theia3D writes a 4 x 4 matrix per segment and frame into the group ROTATION: in its columns the segment's axes and its
origin, in the file's axes. Each pose becomes its origin and the ends of its three axes, on both sides of the origin:
``pelvis_4X4.o``, ``pelvis_4X4.x+``, ``pelvis_4X4.x-``, ... The six ends lie alike in all directions, so that fitting
a rotation to them is taking the one nearest to the matrix.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from .point_labels import join_lists

# from origin to end: about the length of a foot or the width of a pelvis, so that filters, gaps and limits in metres
# mean at an end what they mean at a marker of that segment
ARM_M = 0.2
ENDS = {".o": (0, 0, 0), ".x+": (1, 0, 0), ".x-": (-1, 0, 0), ".y+": (0, 1, 0), ".y-": (0, -1, 0), ".z+": (0, 0, 1),
        ".z-": (0, 0, -1)}  # fmt: skip
LARGEST_ERROR = 1e-2  # of the products of axes; more, and a matrix is none of a rotation, as where it is not tracked
HEELS = {f"{letter}_foot_4X4": f"{letter}_heel" for letter in "lr"}  # in THEIA3D, m, in the axes of the foot


def read_poses(
    parameters: Mapping[str, Mapping[str, Any]], rotations: Array, count: int, unit_m: float
) -> tuple[list[str], Array]:
    """Return labels and positions (3, point, frame) of the virtual points, in the file's unit, NaN where not tracked.

    Args:
        rotations: (4, 4, segment, sample), origins in the file's unit; of several samples a frame the first counts.
        count: number of frames.
        unit_m: length of the file's unit, m.
    """
    names = [text.rpartition(":")[2] for text in join_lists(parameters.get("ROTATION", {}), "LABELS")]
    ratio = rotations.shape[3] // max(count, 1)
    if not ratio or not names:
        return [], np.empty((3, 0, count))
    poses = rotations[:3, :, : len(names), : ratio * count : ratio]
    axes, origin = poses[:, :3], poses[:, 3]
    products = np.einsum("iast,ibst->stab", axes, axes)
    right_handed = np.einsum("ist,ist->st", np.cross(axes[:, 0], axes[:, 1], axis=0), axes[:, 2]) > 0
    proper = (np.abs(products - np.eye(3)) < LARGEST_ERROR).all(axis=(2, 3)) & right_handed
    labels, points = [], []
    for i, name in enumerate(names[: poses.shape[2]]):
        arms = {end: ARM_M / unit_m * np.array(direction) for end, direction in ENDS.items()}
        heel = np.ravel(parameters.get("THEIA3D", {}).get(HEELS.get(name, ""), ()))
        if heel.size == 3 and heel.dtype.kind in "iuf":
            arms[".heel"] = heel / unit_m
        for end, arm in arms.items():
            labels.append(name + end)
            points.append(np.where(proper[i], origin[:, i] + np.einsum("iat,a->it", axes[:, :, i], arm), np.nan))
    return labels, np.stack(points, axis=1)
