"""The skeleton of one side in the static trial, and what motion needs of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import FROM_HIP, FROM_PELVIS, SIDES
from ..errors import UserError
from .joint_centres import chord, device_corner, shifted
from .joint_centres import hip_centre as hip_regression
from .landmarks import Points, landmark_labels, point
from .model_rules import names_in_centre, names_in_frame
from .segment_poses import frame, mean_rotation
from .skeleton import DISTAL, ORIGIN, Skeleton, centre_rules, chord_points

Array = NDArray[np.float64]


def with_virtual(points: Points, body_model: Mapping[str, Any]) -> Points:
    """Return the landmarks (time, 3) with those that other markers stand in for in the static trial."""
    whole = dict(points)
    for full, (markers, side) in virtual_landmarks(body_model, points).items():
        ends = (points[markers[0]], points[markers[1]], points[markers[2]])
        whole[full] = device_corner(ends, points["asis_right"] - points["asis_left"], side)
    return whole


def virtual_landmarks(body_model: Mapping[str, Any], seen: Collection[str]) -> dict[str, tuple[list[str], str]]:
    """Return, of landmarks not seen, those that markers which are seen stand in for: these markers, and the side."""
    found = {}
    for name, rule in body_model.get("virtual", {}).items():
        for side in SIDES:
            markers = [f"{marker}_{side}" for marker in rule["markers"]]
            if f"{name}_{side}" not in seen and set(seen) >= {*markers, "asis_left", "asis_right"}:
                found[f"{name}_{side}"] = (markers, side)
    return found


def static_rules(points: Points, body_model: Mapping[str, Any], side: str) -> tuple[dict[str, Any], list[str]]:
    """Return, for one side, the rule of each joint centre that the static trial allows, and the landmarks it lacks.

    Of alternative rules the first whose landmarks are all seen is taken; of clusters any three markers will do.
    Markers that stand in for a virtual landmark are asked for, and it counts as seen where they are.
    """
    sided = body_model["landmarks"].keys() - landmark_labels(body_model).keys()
    seen = {*points, *virtual_landmarks(body_model, points)}

    def landmarks(names: Iterable[str]) -> list[str]:
        full = (f"{name}_{side}" if name in sided else name for name in names)
        return [name for name in full if name.removesuffix("_left").removesuffix("_right") in body_model["landmarks"]]

    chosen, needed = {}, []
    for joint in FROM_HIP:
        rules = centre_rules(body_model, joint)
        wanted = [landmarks(names_in_centre(rule)) for rule in rules]
        best = next((i for i, names in enumerate(wanted) if seen >= set(names)), 0)
        chosen[joint] = rules[best]
        needed += wanted[best]
    for segment in body_model["segments"].values():
        needed += landmarks(names_in_frame(segment))
    for rule in body_model.get("virtual", {}).values():
        needed += landmarks(rule["markers"])
    return chosen, sorted(set(needed) - seen)


def static_skeleton(
    points: Points,
    body_model: Mapping[str, Any],
    rules: Mapping[str, Any],
    side: str,
    sizes: Mapping[str, float],
    *,
    hip_centre: str | Array,
) -> Skeleton:
    """Return the skeleton of one side in the static trial, with what motion needs of it.

    Args:
        points: landmarks (time, 3), m.
        body_model: see config/body_model.schema.yaml.
        rules: the rule of each joint centre, of :func:`static_rules`.
        side: ``left`` or ``right``.
        sizes: anthropometry, kg and m, by participants.tsv column.
        hip_centre: name of the regression, or the centre (3,) in pelvis axes from the mid-ASIS point, m.

    Returns:
        The skeleton; ``clusters`` marker positions in segment axes from the segment's origin, ``carrier`` the
        segment that carries each joint centre (empty where it is evaluated in every frame), ``carried`` the centre
        in that segment, ``technical`` the turn from the axes built in motion to the anatomical ones,
        ``chord_radius`` half joint widths.

    Raises:
        UserError: a size is missing.
    """
    still = Skeleton()
    for joint, rule in rules.items():
        if rule["method"] == "chord":
            still.chord_radius[joint] = (_size(rule["width"], side, sizes) + sizes["marker_diameter_m"]) / 2
    for segment in FROM_PELVIS:
        axes = body_model["segments"][segment]["axes"]
        if segment == "pelvis":
            still.frames[segment] = frame(axes, points, still.frames, side)
            still.origins[segment] = point(points, body_model["segments"][segment]["origin"], side)
            still.centres["hip_centre"] = _static_hip(points, still, side, sizes, hip_centre)
            continue
        if distal := DISTAL.get(segment):
            still.centres[f"{distal}_centre"] = _static_centre(points, still, rules[distal], distal, side, sizes)
        still.frames[segment] = frame(axes, points | still.centres, still.frames, side)
        still.origins[segment] = still.centres[f"{ORIGIN[segment]}_centre"]
    for segment in FROM_PELVIS:
        if not np.isfinite(still.frames[segment]).all(axis=(1, 2)).any():
            raise UserError(f"no frame shows all landmarks that the {side} {segment} is built from; use another trial")
        _record_pose(still, points, body_model["segments"][segment], segment, side)
    for joint, rule in rules.items():
        still.carrier[joint] = rule.get("moves_with", "")
        centre = still.centres[f"{joint}_centre"]
        still.carried[joint] = _local(still, rule["moves_with"], centre) if still.carrier[joint] else np.full(3, np.nan)
    return still


def _size(name: str, side: str, sizes: Mapping[str, float]) -> float:
    column = f"{name}_{side}_m"
    if column not in sizes:
        raise UserError(f"the body model needs the {name.replace('_', ' ')}: add {column} to participants.tsv")
    return sizes[column]


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


def _static_centre(
    points: Points, still: Skeleton, rule: Mapping[str, Any], joint: str, side: str, sizes: Mapping[str, float]
) -> Array:
    if rule["method"] == "midpoint":
        return point(points, rule["between"], side)
    if rule["method"] == "predictive":
        known = points | still.centres
        length: Array | float
        if isinstance(rule["of"], str):
            length = _size(rule["of"], side, sizes)
        else:
            start, end = (point(known, name, side) for name in rule["of"])
            length = np.linalg.norm(end - start, axis=-1)
        axes = frame(rule["axes"], known, still.frames, side)
        return shifted(point(known, rule["from"], side), axes, rule["shift"], length, side)
    return chord(*chord_points(points | still.centres, rule, side), still.chord_radius[joint])


def _record_pose(still: Skeleton, points: Points, rules: Mapping[str, Any], segment: str, side: str) -> None:
    """Keep what tells the segment's pose in motion: its cluster, or the turn from its technical axes."""
    still.technical[segment] = np.eye(3)
    if "cluster" in rules:
        known = points | still.centres
        here = [name for name in rules["cluster"] if name in known or f"{name}_{side}" in known]
        places = {name: _local(still, segment, point(known, name, side)) for name in here}
        still.clusters[segment] = {name: place for name, place in places.items() if np.isfinite(place).all()}
        if (count := len(still.clusters[segment])) < 3:
            wanted = ", ".join(rules["cluster"])
            raise UserError(f"the {side} {segment} has {count} of its cluster markers {wanted}; three are needed")
    elif "technical_axes" in rules:
        built = frame(rules["technical_axes"], points | still.centres, still.frames, side)
        still.technical[segment] = mean_rotation(still.frames[segment] @ np.swapaxes(built, -1, -2))


def _local(still: Skeleton, segment: str, position: Array) -> Array:
    """Return a point, mean of the trial, in a segment's axes from the segment's origin."""
    inside = np.einsum("tij,tj->ti", still.frames[segment], position - still.origins[segment])
    seen = inside[np.isfinite(inside).all(axis=1)]
    return np.asarray(seen.mean(axis=0)) if len(seen) else np.full(3, np.nan)
