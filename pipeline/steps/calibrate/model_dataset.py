"""The calibrated model of a session as a dataset, read by :func:`pipeline.body.skeleton.calibrated_sides`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.joint_centres import Chord
from ...body.landmarks import Points
from ...body.segment_poses import mean_rotation
from ...body.skeleton import CalibratedSide, Skeleton
from ...conventions import CHAIN, FROM_PELVIS, JOINTS, SIDES
from .segment_parameters import SegmentParameters

Array = NDArray[np.float64]


class Side(NamedTuple):
    """One side of the static trial.

    Attributes:
        skeleton: frames and joint centres.
        calibrated: its findings for motion.
        texts: how each joint centre is found, by joint.
        parameters: of each segment.
        note: a note on these, or empty.
    """

    skeleton: Skeleton
    calibrated: CalibratedSide
    texts: Mapping[str, str]
    parameters: Mapping[str, SegmentParameters]
    note: str


def model_dataset(sides: Mapping[str, Side], refused: Mapping[str, str]) -> xr.Dataset:
    """Return both sides as variables, see :func:`pipeline.steps.calibrate.step.calibrate`.

    Args:
        sides: those that can be used, at least one.
        refused: the reasons against the others.
    """
    used = next(iter(sides.values()))
    both = [sides.get(side) or _unknown(used) for side in SIDES]
    legs = [side.calibrated for side in both]
    of_joint, turn = ("side", "joint"), ("side", "pose", "local_axis")
    coordinates = {
        "side": list(SIDES),
        "segment": list(CHAIN),
        "joint": list(JOINTS),
        "joint_carrier": (of_joint, [[leg.carrier[joint] for joint in JOINTS] for leg in legs]),
        "pose": list(FROM_PELVIS),
        **{name: list("xyz") for name in ("local_axis", "local_axis_2", "technical_axis")},
    }
    carried = np.array([[leg.carried[joint] for joint in JOINTS] for leg in legs])
    unknown = Chord(np.nan, np.nan, np.nan)
    chords = np.array([[leg.chords.get(joint, unknown) for joint in JOINTS] for leg in legs])
    technical = np.array([[leg.technical[name] for name in FROM_PELVIS] for leg in legs])
    static = np.full((len(SIDES), len(FROM_PELVIS), 3, 3), np.nan)
    for side, found in sides.items():
        static[SIDES.index(side)] = [mean_rotation(found.skeleton.frames[name]) for name in FROM_PELVIS]
    content = {
        "leg_refused": ("side", np.array([refused.get(side, "") for side in SIDES], dtype=str)),
        **_of_segments([side.parameters for side in both]),
        "joint_distance": (("side", "segment"), np.array([_joint_distances(side.skeleton) for side in both])),
        "joint_position": ((*of_joint, "local_axis"), carried),
        "joint_link": (
            (*of_joint, "local_axis"),
            np.array([[leg.joints.get(joint, np.full(3, np.nan)) for joint in JOINTS] for leg in legs]),
        ),
        "chord_radius": (of_joint, chords[..., 0]),
        "chord_rotation": (of_joint, chords[..., 1]),
        "chord_abduction": (of_joint, chords[..., 2]),
        "tibial_torsion": ("side", [leg.tibial_torsion for leg in legs]),
        "technical_rotation": ((*turn, "technical_axis"), technical),
        "static_rotation": ((*turn, "axis"), static),
    }
    markers = (
        _of_markers(name, [getattr(leg, of) for leg in legs])
        for name, of in (("cluster", "clusters"), ("fixed", "fixed"))
    )
    return xr.merge([xr.Dataset(content, coordinates), *markers])


def _unknown(used: Side) -> Side:
    """Return a side of which nothing is known, in the form of one that is used."""
    centres = {name: np.full((1, 3), np.nan) for name in used.skeleton.centres}
    carried = dict.fromkeys(JOINTS, np.full(3, np.nan))
    technical = dict.fromkeys(FROM_PELVIS, np.full((3, 3), np.nan))
    parameters = dict.fromkeys(CHAIN, SegmentParameters(np.nan, np.full(3, np.nan), np.full((3, 3), np.nan), np.nan))
    calibrated = CalibratedSide({}, used.calibrated.carrier, carried, technical, {}, np.nan)
    return Side(Skeleton(centres=centres), calibrated, used.texts, parameters, "")


def _joint_distances(still: Skeleton) -> list[float]:
    """Return the median distance of the joint centres at both ends of each segment, m; NaN for the foot."""
    ends = {"thigh": ("hip", "knee"), "shank": ("knee", "ankle")}
    found = dict.fromkeys(CHAIN, np.nan)
    for segment, (one, other) in ends.items():
        away = np.linalg.norm(still.centres[f"{one}_centre"] - still.centres[f"{other}_centre"], axis=1)
        found[segment] = float(np.median(away[np.isfinite(away)])) if np.isfinite(away).any() else np.nan
    return [*found.values()]


def _of_segments(parameters: Sequence[Mapping[str, SegmentParameters]]) -> dict[str, Any]:
    """Return the body-segment parameters of each side as variables."""

    def stack(field: str) -> Array:
        return np.array([[getattr(leg[segment], field) for segment in CHAIN] for leg in parameters])

    return {
        "segment_mass": (("side", "segment"), stack("mass_kg")),
        "segment_com": (("side", "segment", "local_axis"), stack("com")),
        "segment_inertia": (("side", "segment", "local_axis", "local_axis_2"), stack("inertia")),
        "segment_length": (("side", "segment"), stack("length_m")),
    }


def _of_markers(name: str, legs: Sequence[Mapping[str, Mapping[str, Array]]]) -> xr.Dataset:
    """Return the positions of markers in the segments of each leg as variables with a prefix."""
    rows = [
        (side, segment, marker, place)
        for side, leg in zip(SIDES, legs, strict=True)
        for segment, markers in leg.items()
        for marker, place in markers.items()
    ]
    side, segment, marker = (np.array([row[i] for row in rows], dtype=str) for i in range(3))
    places, dim = np.array([place for *_, place in rows]).reshape(-1, 3), f"{name}_marker"
    return xr.Dataset(
        {f"{name}_position": ((dim, "local_axis"), places)},
        {dim: marker, f"{name}_side": (dim, side), f"{name}_segment": (dim, segment)},
    )


def static_distances(points: Points) -> xr.DataArray:
    """Return the median distances (landmark, landmark_2) in a static trial, m; NaN where never seen together.

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
