"""The skeleton of one side in the static trial, and its findings for motion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..conventions import FROM_PELVIS, SIDES
from ..errors import UserError
from .body_model import BodyModel, CentreRule, SegmentRule
from .joint_centres import device_corner, shifted
from .joint_centres import hip_centre as hip_regression
from .landmarks import Points, point
from .requirements import FEWEST_CLUSTER_MARKERS, virtual_landmarks
from .segment_poses import frame, mean_rotation
from .skeleton import DISTAL, ORIGIN, CalibratedSide, Skeleton, chord_of, shown_centres

Array = NDArray[np.float64]


def with_virtual(points: Points, body_model: BodyModel) -> Points:
    """Return the landmarks (time, 3) of the static trial with those that an alignment device shows, m."""
    whole = dict(points)
    for full, ((a, b, c), side) in virtual_landmarks(body_model, points).items():
        ends = (points[a], points[b], points[c])
        whole[full] = device_corner(ends, points["asis_right"] - points["asis_left"], side)
    return whole


def static_skeleton(
    points: Points,
    body_model: BodyModel,
    rules: Mapping[str, CentreRule],
    side: str,
    sizes: Mapping[str, float],
    *,
    hip_centre: str | Array,
) -> tuple[Skeleton, CalibratedSide]:
    """Return the skeleton of one side in the static trial, and its findings for motion.

    Args:
        points: landmarks (time, 3), m.
        body_model: the body model.
        rules: the rule of each joint centre, of :func:`pipeline.body.requirements.chosen_rules`.
        side: ``left`` or ``right``.
        sizes: anthropometry, kg and m, by participants.tsv column.
        hip_centre: name of the regression, or the centre (3,) in pelvis axes from the mid-ASIS point, m.

    Raises:
        UserError: a size is missing, or no frame shows a segment.
    """
    radius = {joint: _chord_radius(rule, side, sizes) for joint, rule in rules.items() if rule.method == "chord"}
    count = len(next(iter(points.values())))
    still = Skeleton(centres=shown_centres(points, body_model, side, count))
    for segment in FROM_PELVIS:
        rule = body_model.segments[segment]
        if segment == "pelvis":
            still.frames[segment] = frame(rule.axes, points, still.frames, side)
            still.origins[segment] = point(points, rule.origin, side)
            if "hip_centre" not in still.centres:
                still.centres["hip_centre"] = _static_hip(points, still, side, sizes, hip_centre)
            continue
        joint = DISTAL.get(segment, "")
        if joint and f"{joint}_centre" not in still.centres:
            centre = _static_centre(points | still.centres, still, rules[joint], side, sizes)
            still.centres[f"{joint}_centre"] = centre
        still.frames[segment] = frame(rule.axes, points | still.centres, still.frames, side)
        still.origins[segment] = still.centres[f"{ORIGIN[segment]}_centre"]
    for segment in FROM_PELVIS:
        if not np.isfinite(still.frames[segment]).all(axis=(1, 2)).any():
            what = f"no frame shows all landmarks that the {side} {segment} is built from"
            raise UserError("", what, "use another static trial")
    return still, _calibrated(points | still.centres, still, body_model, rules, side, radius)


def _calibrated(
    known: Points,
    still: Skeleton,
    body_model: BodyModel,
    rules: Mapping[str, CentreRule],
    side: str,
    radius: dict[str, float],
) -> CalibratedSide:
    """Return the findings of a static skeleton for motion."""
    segments = {name: body_model.segments[name] for name in FROM_PELVIS}
    clusters = {name: _cluster(known, still, name, rule, side) for name, rule in segments.items() if rule.cluster}
    technical = {name: np.eye(3) for name in segments}
    for name, rule in segments.items():
        if rule.technical_axes and not rule.cluster:
            built = frame(rule.technical_axes, known, still.frames, side)
            technical[name] = mean_rotation(still.frames[name] @ np.swapaxes(built, -1, -2))
    carrier = {joint: rule.moves_with for joint, rule in rules.items()}
    carried = {
        joint: place_in_segment(still, segment, known[f"{joint}_centre"]) if segment else np.full(3, np.nan)
        for joint, segment in carrier.items()
    }
    return CalibratedSide(clusters, carrier, carried, technical, radius)


def _size(name: str, side: str, sizes: Mapping[str, float]) -> float:
    column = f"{name}_{side}_m"
    if column not in sizes:
        raise UserError("", f"the body model needs the {name.replace('_', ' ')}", f"add {column} to participants.tsv")
    return sizes[column]


def _chord_radius(rule: CentreRule, side: str, sizes: Mapping[str, float]) -> float:
    return (_size(rule.size, side, sizes) + sizes["marker_diameter_m"]) / 2


def _static_hip(points: Points, still: Skeleton, side: str, sizes: Mapping[str, float], method: str | Array) -> Array:
    """Return the hip centre in the lab from the mean pelvis of the trial."""
    if not isinstance(method, str):
        return (points["asis_left"] + points["asis_right"]) / 2 + method @ still.frames["pelvis"]
    asis = {name: points[f"asis_{name}"] for name in SIDES}
    posterior = points["sacrum"] if "sacrum" in points else (points["psis_left"] + points["psis_right"]) / 2
    middle = (asis["left"] + asis["right"]) / 2
    known = {
        "pelvis_width": _mean_length(asis["right"] - asis["left"]),
        "pelvis_depth": _mean_length(middle - posterior),
        "marker_radius": sizes["marker_diameter_m"] / 2,
    }
    legs = [sizes[f"leg_length_{name}_m"] for name in SIDES if f"leg_length_{name}_m" in sizes]
    if legs:
        known |= {"leg_length": sizes.get(f"leg_length_{side}_m", legs[0]), "leg_length_mean": float(np.mean(legs))}
    if f"asis_trochanter_distance_{side}_m" in sizes:
        known["asis_trochanter_distance"] = sizes[f"asis_trochanter_distance_{side}_m"]
    if "asis_distance_m" in sizes and method == "davis":
        known["pelvis_width"] = sizes["asis_distance_m"]
    return np.asarray(middle + hip_regression(method, side, known) @ still.frames["pelvis"])


def _mean_length(vectors: Array) -> float:
    """Return the mean length of vectors (time, 3) over the frames that show them; NaN where none does."""
    lengths = np.linalg.norm(vectors[np.isfinite(vectors).all(axis=1)], axis=1)
    return float(lengths.mean()) if len(lengths) else np.nan


def _static_centre(known: Points, still: Skeleton, rule: CentreRule, side: str, sizes: Mapping[str, float]) -> Array:
    """Return the centre of knee or ankle (time, 3), m."""
    if rule.method == "midpoint":
        return point(known, rule.between, side)
    if rule.method == "chord":
        return chord_of(known, rule, side, _chord_radius(rule, side, sizes))
    length: Array | float
    if rule.size:
        length = _size(rule.size, side, sizes)
    else:
        start, end = (point(known, (name,), side) for name in rule.span)
        length = np.linalg.norm(end - start, axis=-1)
    axes = frame(rule.axes, known, still.frames, side)
    return shifted(point(known, rule.start, side), axes, rule.shift, length, side)


def _cluster(known: Points, still: Skeleton, segment: str, rule: SegmentRule, side: str) -> dict[str, Array]:
    """Return the position of each marker of a cluster in its segment, by name."""
    here = [name for name in rule.cluster if name in known or f"{name}_{side}" in known]
    places = {name: place_in_segment(still, segment, point(known, (name,), side)) for name in here}
    seen = {name: place for name, place in places.items() if np.isfinite(place).all()}
    if len(seen) < FEWEST_CLUSTER_MARKERS:
        what = f"the {side} {segment} has {len(seen)} of its cluster markers {', '.join(rule.cluster)}, expected three"
        raise UserError("", what, "label them, or use another static trial")
    return seen


def place_in_segment(still: Skeleton, segment: str, position: Array) -> Array:
    """Return the mean place (3,) of a point (time, 3) in a segment's axes from its origin, m; NaN if never seen."""
    inside = np.einsum("tij,tj->ti", still.frames[segment], position - still.origins[segment])
    seen = inside[np.isfinite(inside).all(axis=1)]
    return np.asarray(seen.mean(axis=0)) if len(seen) else np.full(3, np.nan)
