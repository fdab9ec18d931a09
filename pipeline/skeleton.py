"""The skeleton of one side - frames and joint centres - standing still (calibration) and in motion.

Segments are found proximal to distal, because a joint centre is needed to build the next segment: pelvis with
the hip centre, thigh with the knee centre, shank with the ankle centre, foot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.body_model import Points, point
from pipeline.errors import UserError
from pipeline.frames import frame
from pipeline.joint_centres import chord
from pipeline.joint_centres import hip_centre as hip_regression
from pipeline.rigid import fit_pose

Array = NDArray[np.float64]
ORDER = ("pelvis", "thigh", "shank", "foot")
JOINTS = ("hip", "knee", "ankle")
ORIGIN = {"thigh": "hip", "shank": "knee", "foot": "ankle"}
DISTAL = {"thigh": "knee", "shank": "ankle"}


@dataclass
class Skeleton:
    """Frames and joint centres of one side over time.

    Attributes:
        frames: (time, 3, 3) per segment, v_segment = rotation @ v_lab.
        origins: (time, 3) per segment, m: the proximal joint centre; of the pelvis its own origin.
        centres: (time, 3) by name (``hip_centre``, ...), m.
        residuals: (time,) per cluster, root-mean-square misfit, m.
        clusters, carrier, carried, technical, chord_radius: what calibration finds, see :func:`static_skeleton`.
    """

    frames: dict[str, Array] = field(default_factory=dict)
    origins: dict[str, Array] = field(default_factory=dict)
    centres: dict[str, Array] = field(default_factory=dict)
    residuals: dict[str, Array] = field(default_factory=dict)
    clusters: dict[str, dict[str, Array]] = field(default_factory=dict)
    carrier: dict[str, str] = field(default_factory=dict)
    carried: dict[str, Array] = field(default_factory=dict)
    technical: dict[str, Array] = field(default_factory=dict)
    chord_radius: dict[str, float] = field(default_factory=dict)


def centre_rules(body_model: Mapping[str, Any], joint: str) -> list[dict[str, Any]]:
    """Return the ways in which the body model finds a joint centre, the preferred one first."""
    rules = body_model["joint_centres"][joint]
    return [rules] if isinstance(rules, dict) else list(rules)


def static_rules(points: Points, body_model: Mapping[str, Any], side: str) -> tuple[dict[str, Any], list[str]]:
    """Return, for one side, the rule of each joint centre that the static trial allows, and the landmarks it lacks.

    Of alternative rules the first whose landmarks are all seen is taken; of clusters any three markers will do.
    """
    sided = {name for name, labels in body_model["landmarks"].items() if "{side}" in str(labels)}

    def landmarks(names: Iterable[str]) -> list[str]:
        full = (f"{name}_{side}" if name in sided else name for name in names)
        return [name for name in full if name.removesuffix("_left").removesuffix("_right") in body_model["landmarks"]]

    chosen, needed = {}, []
    for joint in JOINTS:
        rules = centre_rules(body_model, joint)
        wanted = [
            landmarks([*rule.get("between", ()), *(rule[k] for k in ("lateral", "wand") if k in rule)])
            for rule in rules
        ]
        best = next((i for i, names in enumerate(wanted) if points.keys() >= set(names)), 0)
        chosen[joint] = rules[best]
        needed += wanted[best]
    for segment in body_model["segments"].values():
        expressions = [segment.get("origin", [])]
        for rule in (*segment["axes"], *segment.get("technical_axes", ())):
            expressions += [rule[key] for key in ("from", "to", "medial", "lateral") if key in rule]
        needed += landmarks(name for item in expressions for name in ([item] if isinstance(item, str) else item))
    return chosen, sorted(set(needed) - points.keys())


def static_skeleton(
    points: Points,
    body_model: Mapping[str, Any],
    rules: Mapping[str, Any],
    side: str,
    sizes: Mapping[str, float],
    *,
    hip_centre: str,
) -> Skeleton:
    """Return the skeleton of one side in the static trial, with what motion needs of it.

    Args:
        points: landmarks (time, 3), m.
        body_model: see config/body_model.schema.yaml.
        rules: the rule of each joint centre, of :func:`static_rules`.
        side: ``left`` or ``right``.
        sizes: anthropometry, kg and m, by participants.tsv column.
        hip_centre: name of the regression.

    Returns:
        The skeleton; ``clusters`` marker positions in segment axes from the segment's origin, ``carrier`` the
        segment that carries each joint centre (empty where it is evaluated in every frame) and ``carried`` the
        centre in that segment, ``technical``
        the turn from the axes built in motion to the anatomical ones, ``chord_radius`` half joint widths.

    Raises:
        UserError: a size is missing.
    """
    still = Skeleton()
    for joint, rule in rules.items():
        if rule["method"] == "chord":
            still.chord_radius[joint] = _chord_radius(rule["width"], side, sizes)
    for segment in ORDER:
        axes = body_model["segments"][segment]["axes"]
        if segment == "pelvis":
            still.frames[segment] = frame(axes, points, still.frames, side)
            still.origins[segment] = point(points, body_model["segments"][segment]["origin"], side)
            still.centres["hip_centre"] = _static_hip(points, still, side, sizes, hip_centre)
            continue
        if distal := DISTAL.get(segment):
            still.centres[f"{distal}_centre"] = _static_centre(points, still, rules[distal], distal, side)
        still.frames[segment] = frame(axes, points | still.centres, still.frames, side)
        still.origins[segment] = still.centres[f"{ORIGIN[segment]}_centre"]
    for segment in ORDER:
        _record_pose(still, points, body_model["segments"][segment], segment, side)
    for joint, rule in rules.items():
        still.carrier[joint] = rule.get("moves_with", "")
        centre = still.centres[f"{joint}_centre"]
        still.carried[joint] = _local(still, rule["moves_with"], centre) if still.carrier[joint] else np.full(3, np.nan)
    return still


class Model(NamedTuple):
    """What calibration tells motion, by (side, segment) or (side, joint).

    Attributes:
        clusters: names of the markers and their positions (marker, 3) in segment axes from the origin, m.
        carrier: segment that carries the joint centre; empty where it is evaluated in every frame.
        carried: joint centre (3,) in the axes, from the origin, of its carrier, m.
        technical: (3, 3) turn from the axes built in motion to the anatomical ones.
        chord_radius: half joint width plus marker radius, m.
    """

    clusters: dict[tuple[str, str], tuple[list[str], Array]]
    carrier: dict[tuple[str, str], str]
    carried: dict[tuple[str, str], Array]
    technical: dict[tuple[str, str], Array]
    chord_radius: dict[tuple[str, str], float]


def model_of(calibration: xr.Dataset) -> Model:
    """Return the model that the step ``calibrate`` stored."""

    def table(name: str, dim: str) -> dict[tuple[str, str], Any]:
        values = calibration[name].values
        sides, others = calibration.side.values, calibration[dim].values
        return {(str(s), str(o)): values[i, j] for i, s in enumerate(sides) for j, o in enumerate(others)}

    clusters: dict[tuple[str, str], tuple[list[str], Array]] = {}
    owner = list(zip(calibration.cluster_side.values, calibration.cluster_segment.values, strict=True))
    markers, where = calibration.cluster_marker.values, calibration.cluster_position.values
    for key in dict.fromkeys(owner):
        rows = [i for i, own in enumerate(owner) if own == key]
        clusters[(str(key[0]), str(key[1]))] = ([str(markers[i]) for i in rows], where[rows])
    return Model(
        clusters,
        table("joint_carrier", "joint"),
        table("joint_position", "joint"),
        table("technical_rotation", "pose"),
        table("chord_radius", "joint"),
    )


def moving_pelvis(points: Points, body_model: Mapping[str, Any], model: Model, count: int) -> Skeleton:
    """Return the skeleton of the pelvis alone; arguments as :func:`moving_leg`."""
    moving = Skeleton()
    _pose(moving, points, body_model, model, "pelvis", "right", count)
    return moving


def moving_leg(
    points: Points, body_model: Mapping[str, Any], model: Model, pelvis: Skeleton, side: str, count: int
) -> Skeleton:
    """Return the skeleton of one side in motion.

    Args:
        points: landmarks (time, 3), m, NaN where unseen.
        body_model: the model of the calibration.
        model: what calibration found.
        pelvis: the skeleton of the pelvis.
        side: ``left`` or ``right``.
        count: number of frames.
    """
    moving = Skeleton(frames=dict(pelvis.frames), origins=dict(pelvis.origins), residuals=dict(pelvis.residuals))
    for segment in ORDER:
        joint = DISTAL.get(segment, "")
        if joint and not model.carrier[(side, joint)]:
            rule = next(rule for rule in centre_rules(body_model, joint) if rule["method"] == "chord")
            radius = model.chord_radius[(side, joint)]
            centre = _or_nan(
                lambda rule=rule, radius=radius: chord(*_chord_points(points | moving.centres, rule, side), radius),
                (count, 3),
            )
            moving.centres[f"{joint}_centre"] = centre
        if segment != "pelvis":
            _pose(moving, points, body_model, model, segment, side, count)
        for name in JOINTS:
            if model.carrier[(side, name)] == segment:
                local = model.carried[(side, name)]
                moving.centres[f"{name}_centre"] = moving.origins[segment] + local @ moving.frames[segment]
    return moving


def _pose(
    moving: Skeleton, points: Points, body_model: Mapping[str, Any], model: Model, segment: str, side: str, count: int
) -> None:
    """Add a segment's frame and origin, by its cluster or by its axes."""
    rules = body_model["segments"][segment]
    known = points | moving.centres
    if "cluster" in rules:
        names, reference = model.clusters[(side, segment)]
        nowhere = np.full((count, 3), np.nan)
        measured = np.stack([known.get(name, known.get(f"{name}_{side}", nowhere)) for name in names], axis=1)
        moving.frames[segment], moving.origins[segment], moving.residuals[segment] = fit_pose(reference, measured)
        return
    axes = rules.get("technical_axes", rules["axes"])
    built = _or_nan(lambda: frame(axes, known, moving.frames, side), (count, 3, 3))
    moving.frames[segment] = model.technical[(side, segment)] @ built
    if segment == "pelvis":
        moving.origins[segment] = _or_nan(lambda: point(points, rules["origin"], side), (count, 3))
    else:
        moving.origins[segment] = moving.centres[f"{ORIGIN[segment]}_centre"]


def _chord_radius(width: str, side: str, sizes: Mapping[str, float]) -> float:
    column = f"{width}_{side}_m"
    if column not in sizes:
        raise UserError(f"the body model needs the {width.replace('_', ' ')}: add {column} to participants.tsv")
    return (sizes[column] + sizes["marker_diameter_m"]) / 2


def _static_hip(points: Points, still: Skeleton, side: str, sizes: Mapping[str, float], method: str) -> Array:
    """Return the hip centre in the lab from the mean pelvis of the trial."""
    asis = {name: points[f"asis_{name}"] for name in ("left", "right")}
    posterior = points["sacrum"] if "sacrum" in points else (points["psis_left"] + points["psis_right"]) / 2
    middle = (asis["left"] + asis["right"]) / 2
    known = {
        "pelvis_width": float(np.nanmean(np.linalg.norm(asis["right"] - asis["left"], axis=-1))),
        "pelvis_depth": float(np.nanmean(np.linalg.norm(middle - posterior, axis=-1))),
        "marker_radius": sizes["marker_diameter_m"] / 2,
    }
    legs = [sizes[f"leg_length_{name}_m"] for name in ("left", "right") if f"leg_length_{name}_m" in sizes]
    if legs:
        known |= {"leg_length": sizes.get(f"leg_length_{side}_m", legs[0]), "leg_length_mean": float(np.mean(legs))}
    if f"asis_trochanter_distance_{side}_m" in sizes:
        known["asis_trochanter_distance"] = sizes[f"asis_trochanter_distance_{side}_m"]
    if "asis_distance_m" in sizes and method == "davis":
        known["pelvis_width"] = sizes["asis_distance_m"]
    return np.asarray(middle + hip_regression(method, side, known) @ still.frames["pelvis"])


def _static_centre(points: Points, still: Skeleton, rule: Mapping[str, Any], joint: str, side: str) -> Array:
    if rule["method"] == "midpoint":
        return point(points, rule["between"], side)
    return chord(*_chord_points(points | still.centres, rule, side), still.chord_radius[joint])


def _chord_points(points: Points, rule: Mapping[str, Any], side: str) -> tuple[Array, Array, Array]:
    return (
        point(points, rule["proximal"], side),
        point(points, rule["lateral"], side),
        point(points, rule["wand"], side),
    )


def _record_pose(still: Skeleton, points: Points, rules: Mapping[str, Any], segment: str, side: str) -> None:
    """Keep what tells the segment's pose in motion: its cluster, or the turn from its technical axes."""
    still.technical[segment] = np.eye(3)
    if "cluster" in rules:
        known = points | still.centres
        here = [name for name in rules["cluster"] if name in known or f"{name}_{side}" in known]
        if len(here) < 3:
            wanted = ", ".join(rules["cluster"])
            raise UserError(f"the {side} {segment} has {len(here)} of its cluster markers {wanted}; three are needed")
        still.clusters[segment] = {name: _local(still, segment, point(known, name, side)) for name in here}
    elif "technical_axes" in rules:
        built = frame(rules["technical_axes"], points | still.centres, still.frames, side)
        turns = still.frames[segment] @ np.swapaxes(built, -1, -2)
        u, _, vt = np.linalg.svd(np.nanmean(turns, axis=0))
        still.technical[segment] = u @ vt


def _local(still: Skeleton, segment: str, position: Array) -> Array:
    """Return a point, mean of the trial, in a segment's axes from the segment's origin."""
    inside = np.einsum("tij,tj->ti", still.frames[segment], position - still.origins[segment])
    return np.asarray(np.nanmean(inside, axis=0))


def _or_nan(build: Any, shape: tuple[int, ...]) -> Array:
    """Return what is built, or NaN where a landmark is absent from the trial."""
    try:
        return np.asarray(build())
    except KeyError:
        return np.full(shape, np.nan)
