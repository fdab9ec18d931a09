"""The skeleton of one side - frames and joint centres - in motion; the static trial is in `standing`.

Segments are found proximal to distal, because a joint centre is needed to build the next segment: pelvis with
the hip centre, thigh with the knee centre, shank with the ankle centre, foot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..conventions import FROM_HIP, FROM_PELVIS
from .joint_centres import chord
from .landmarks import Points, point
from .segment_poses import fit_pose, frame

Array = NDArray[np.float64]
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
        clusters, carrier, carried, technical, chord_radius: what calibration finds, see
        :mod:`pipeline.body.static_skeleton`.
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
    sides = calibration.side.values.tolist()

    def table(name: str, dim: str) -> dict[tuple[str, str], Any]:
        others, rows = calibration[dim].values.tolist(), calibration[name].values
        return {(side, other): rows[i, j] for i, side in enumerate(sides) for j, other in enumerate(others)}

    where = calibration.cluster_position.values
    sides_of, segments, markers = (
        calibration[f"cluster_{name}"].values.tolist() for name in ("side", "segment", "marker")
    )
    rows: dict[tuple[str, str], list[int]] = {}
    for i, owner in enumerate(zip(sides_of, segments, strict=True)):
        rows.setdefault(owner, []).append(i)
    clusters = {owner: ([markers[i] for i in own], where[own]) for owner, own in rows.items()}
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
    for segment in FROM_PELVIS:
        joint = DISTAL.get(segment, "")
        if joint and not model.carrier[(side, joint)]:
            rule = next(rule for rule in centre_rules(body_model, joint) if rule["method"] == "chord")
            radius = model.chord_radius[(side, joint)]
            centre = _or_nan(
                lambda rule=rule, radius=radius: chord(*chord_points(points | moving.centres, rule, side), radius),
                (count, 3),
            )
            moving.centres[f"{joint}_centre"] = centre
        if segment != "pelvis":
            _pose(moving, points, body_model, model, segment, side, count)
        for name in FROM_HIP:
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
        paths = np.stack([known.get(name, known.get(f"{name}_{side}", nowhere)).T for name in names])
        pose = fit_pose(reference, np.moveaxis(paths, -1, 0))
        moving.frames[segment], moving.origins[segment], moving.residuals[segment] = pose
        return
    axes = rules.get("technical_axes", rules["axes"])
    built = _or_nan(lambda: frame(axes, known, moving.frames, side), (count, 3, 3))
    moving.frames[segment] = model.technical[(side, segment)] @ built
    if segment == "pelvis":
        moving.origins[segment] = _or_nan(lambda: point(points, rules["origin"], side), (count, 3))
    else:
        moving.origins[segment] = moving.centres[f"{ORIGIN[segment]}_centre"]


def chord_points(points: Points, rule: Mapping[str, Any], side: str) -> tuple[Array, Array, Array]:
    """Return the proximal centre, lateral marker and wand of a chord rule."""
    return (
        point(points, rule["proximal"], side),
        point(points, rule["lateral"], side),
        point(points, rule["wand"], side),
    )


def _or_nan(build: Any, shape: tuple[int, ...]) -> Array:
    """Return what is built, or NaN where a landmark is absent from the trial."""
    try:
        return np.asarray(build())
    except KeyError:
        return np.full(shape, np.nan)
