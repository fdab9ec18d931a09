"""The calibrated model of a session as a dataset, read by :func:`pipeline.body.skeleton.calibrated_sides`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.landmarks import Points
from ...body.segment_poses import mean_rotation
from ...body.skeleton import CalibratedSide, Skeleton
from ...conventions import CHAIN, FROM_PELVIS, JOINTS, SIDES
from .segment_parameters import SegmentParameters

Array = NDArray[np.float64]


def model_dataset(
    still: Mapping[str, Skeleton],
    calibrated: Mapping[str, CalibratedSide],
    parameters: Mapping[str, Mapping[str, SegmentParameters]],
) -> xr.Dataset:
    """Return what is known of each side, the variables as told in :func:`pipeline.steps.calibrate.step.calibrate`.

    Args:
        still: skeleton of each side, of the static trial.
        calibrated: what motion needs of them.
        parameters: body-segment parameters of each side's segments.
    """
    coordinates = {
        "side": list(SIDES),
        "segment": list(CHAIN),
        "joint": list(JOINTS),
        "joint_carrier": (("side", "joint"), [[calibrated[side].carrier[joint] for joint in JOINTS] for side in SIDES]),
        "pose": list(FROM_PELVIS),
        **{name: list("xyz") for name in ("local_axis", "local_axis_2", "technical_axis")},
    }
    content = _of_segments(parameters) | _of_skeletons(still, calibrated)
    return xr.Dataset(content, coordinates).merge(_of_clusters(calibrated))


def _of_segments(parameters: Mapping[str, Mapping[str, SegmentParameters]]) -> dict[str, Any]:
    """Return the body-segment parameters of each side as variables."""

    def stack(field: str) -> Array:
        return np.array([[getattr(parameters[side][segment], field) for segment in CHAIN] for side in SIDES])

    return {
        "segment_mass": (("side", "segment"), stack("mass_kg")),
        "segment_com": (("side", "segment", "local_axis"), stack("com")),
        "segment_inertia": (("side", "segment", "local_axis", "local_axis_2"), stack("inertia")),
        "segment_length": (("side", "segment"), stack("length_m")),
    }


def _of_skeletons(still: Mapping[str, Skeleton], calibrated: Mapping[str, CalibratedSide]) -> dict[str, Any]:
    """Return each side's joint centres and poses as variables."""

    def stack(part: Callable[[str, str], Any], names: Sequence[str]) -> Array:
        return np.array([[part(side, name) for name in names] for side in SIDES])

    joint, turn = ("side", "joint"), ("side", "pose", "local_axis")
    return {
        "joint_position": ((*joint, "local_axis"), stack(lambda side, name: calibrated[side].carried[name], JOINTS)),
        "chord_radius": (joint, stack(lambda side, name: calibrated[side].chord_radius.get(name, np.nan), JOINTS)),
        "technical_rotation": (
            (*turn, "technical_axis"),
            stack(lambda side, name: calibrated[side].technical[name], FROM_PELVIS),
        ),
        "static_rotation": (
            (*turn, "axis"),
            stack(lambda side, name: mean_rotation(still[side].frames[name]), FROM_PELVIS),
        ),
    }


def _of_clusters(calibrated: Mapping[str, CalibratedSide]) -> xr.Dataset:
    """Return the places of the markers in their clusters."""
    rows = [
        (side, segment, marker, place)
        for side in SIDES
        for segment, cluster in calibrated[side].clusters.items()
        for marker, place in cluster.items()
    ]
    side, segment, marker = (np.array([row[i] for row in rows], dtype=str) for i in range(3))
    places = np.array([place for *_, place in rows]).reshape(-1, 3)
    return xr.Dataset(
        {"cluster_position": (("cluster_marker", "local_axis"), places)},
        {
            "cluster_marker": marker,
            "cluster_side": ("cluster_marker", side),
            "cluster_segment": ("cluster_marker", segment),
        },
    )


def static_distances(points: Points) -> xr.DataArray:
    """Return the distances (landmark, landmark_2) in a static trial, m: the median over its frames, NaN where unseen.

    Args:
        points: landmarks (time, 3), m.
    """
    names, position = list(points), np.stack(list(points.values()), axis=1)
    distance = np.full((len(names), len(names)), np.nan)
    for i in range(len(names)):
        away = np.linalg.norm(position - position[:, [i]], axis=2)
        seen = np.isfinite(away).any(axis=0)
        distance[i, seen] = np.nanmedian(away[:, seen], axis=0)
    return xr.DataArray(distance, {"landmark": names, "landmark_2": names}, ("landmark", "landmark_2"))
