"""The calibrated model of a session as a dataset, read by :func:`pipeline.body.skeleton.read_sides`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.landmarks import Points
from ...body.segment_poses import mean_rotation
from ...body.skeleton import CalibratedSide, Skeleton
from ...conventions import CHAIN, FROM_PELVIS, JOINTS, SIDES
from ...dynamics.vectors import length
from ...errors import Problem
from ...signals.marker_distances import medians
from .leg_doubts import knee_bend_deg, singular_values
from .segment_parameters import SegmentParameters


class Side(NamedTuple):
    """One side of the static trial."""

    skeleton: Skeleton  # frames and joint centres
    calibrated: CalibratedSide  # its findings for motion
    texts: Mapping[str, str]  # how each joint centre is found, by joint
    parameters: Mapping[str, SegmentParameters]  # of each segment
    note: str  # a note on these, or empty


def model_dataset(sides: Mapping[str, Side], refused: Mapping[str, Sequence[Problem]]) -> xr.Dataset:
    """Return both sides as variables, see :func:`pipeline.steps.calibrate.step.calibrate`."""

    def both(values: Callable[[Side], Any], *shape: int) -> Array:
        """Return (side, ...) values of a shape, NaN for a side that cannot be used."""
        nothing = np.full(shape, np.nan)
        return np.array([values(sides[side]) if side in sides else nothing for side in SIDES], dtype=float)

    def of_segments(field: str, *shape: int) -> Array:
        return both(lambda leg: [getattr(leg.parameters[segment], field) for segment in CHAIN], len(CHAIN), *shape)

    legs = {side: leg.calibrated for side, leg in sides.items()}
    of_joint, turn, nowhere = ("side", "joint"), ("side", "pose", "local_axis"), np.full(3, np.nan)
    chords = both(lambda leg: [leg.calibrated.chords.get(joint, nowhere) for joint in JOINTS], 3, 3)
    static = both(lambda leg: [mean_rotation(leg.skeleton.frames[name]) for name in FROM_PELVIS], 4, 3, 3)
    content = {
        "leg_refused": ("side", np.array([_in_words(refused.get(side, ())) for side in SIDES], dtype=str)),
        "segment_mass": (("side", "segment"), of_segments("mass_kg")),
        "segment_com": (("side", "segment", "local_axis"), of_segments("com", 3)),
        "segment_inertia": (("side", "segment", "local_axis", "local_axis_2"), of_segments("inertia", 3, 3)),
        "segment_length": (("side", "segment"), of_segments("length_m")),
        "joint_distance": (("side", "segment"), both(lambda leg: _joint_distances(leg.skeleton), len(CHAIN))),
        "joint_position": (
            (*of_joint, "local_axis"),
            both(lambda leg: [leg.calibrated.carried[joint] for joint in JOINTS], 3, 3),
        ),
        "joint_link": ((*of_joint, "local_axis"), both(lambda leg: [leg.calibrated.joints[j] for j in JOINTS], 3, 3)),
        **{f"chord_{name}": (of_joint, chords[..., i]) for i, name in enumerate(("radius", "rotation", "abduction"))},
        "static_knee_flexion": ("side", both(lambda leg: knee_bend_deg(leg.skeleton))),
        "cluster_extent": (
            ("side", "pose", "extent"),
            both(lambda leg: [singular_values(leg.calibrated.clusters.get(name, {})) for name in FROM_PELVIS], 4, 3),
        ),
        "tibial_torsion": ("side", both(lambda leg: leg.calibrated.tibial_torsion)),
        "technical_rotation": (
            (*turn, "technical_axis"),
            both(lambda leg: [leg.calibrated.technical[name] for name in FROM_PELVIS], 4, 3, 3),
        ),
        "static_rotation": ((*turn, "axis"), static),
    }
    clusters = _of_markers("cluster", {side: leg.clusters for side, leg in legs.items()})
    fixed = _of_markers("fixed", {side: leg.fixed for side, leg in legs.items()})
    return xr.Dataset(content | clusters[0] | fixed[0], _coordinates(legs) | clusters[1] | fixed[1])


def _coordinates(legs: Mapping[str, CalibratedSide]) -> dict[str, Any]:
    """Return what the axes of both sides' variables count; a joint of a refused side has the other's carrier."""
    carriers = {side: leg.carrier for side, leg in legs.items()}
    absent = next(iter(carriers.values()), dict.fromkeys(JOINTS, ""))
    carrier = [[carriers.get(side, absent)[joint] for joint in JOINTS] for side in SIDES]
    return {
        "side": list(SIDES),
        "segment": list(CHAIN),
        "joint": list(JOINTS),
        "joint_carrier": (("side", "joint"), carrier),
        "pose": list(FROM_PELVIS),
        "extent": ["largest", "middle", "smallest"],
        **{name: list("xyz") for name in ("local_axis", "local_axis_2", "technical_axis")},
    }


def _joint_distances(still: Skeleton) -> list[float]:
    """Return the median distance of the joint centres at both ends of each segment, m; NaN for the foot."""
    distances = dict.fromkeys(CHAIN, np.nan)
    for segment, (one, other) in {"thigh": ("hip", "knee"), "shank": ("knee", "ankle")}.items():
        away = np.linalg.norm(still.centres[f"{one}_centre"] - still.centres[f"{other}_centre"], axis=1)
        distances[segment] = float(np.median(away[np.isfinite(away)])) if np.isfinite(away).any() else np.nan
    return [*distances.values()]


def _of_markers(name: str, legs: Mapping[str, Mapping[str, Mapping[str, Array]]]) -> tuple[dict[str, Any], ...]:
    """Return the positions of markers in the segments of each leg, and their labels, as variables with a prefix."""
    rows = [
        (side, segment, marker, place)
        for side, leg in legs.items()
        for segment, markers in leg.items()
        for marker, place in markers.items()
    ]
    side, segment, marker = (np.array([row[i] for row in rows], dtype=str) for i in range(3))
    places, dim = np.array([place for *_, place in rows]).reshape(-1, 3), f"{name}_marker"
    labels = {dim: marker, f"{name}_side": (dim, side), f"{name}_segment": (dim, segment)}
    return {f"{name}_position": ((dim, "local_axis"), places)}, labels


def static_distances(points: Points) -> xr.DataArray:
    """Return the median distances (landmark, landmark_2) in a static trial, m; NaN where never seen together."""
    names, position = list(points), np.stack(list(points.values()) or [np.empty((0, 3))], axis=1)
    distance = np.empty((len(names), len(names)))
    for i in range(len(names)):
        distance[i] = medians(length(position - position[:, [i]]).T)
    return xr.DataArray(distance, {"landmark": names, "landmark_2": names}, ("landmark", "landmark_2"))


def _in_words(problems: Sequence[Problem]) -> str:
    """Return the first problem and how many more there are; empty if there is none."""
    more = f" (and {len(problems) - 1} more)" if problems[1:] else ""
    return f"{problems[0]}{more}" if problems else ""
