"""The skeleton of one side in motion: segment frames and joint centres; static_skeleton.py has the static trial's.

Segments are found from proximal to distal, because each joint centre is needed to build the next segment: pelvis with
the hip centre, thigh with the knee centre, shank with the ankle centre, foot.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import starmap
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ..arrays import Array
from ..conventions import DISTAL, FROM_HIP, FROM_PELVIS, SIDE_SIGN
from ..dynamics.vectors import unit
from ..json_text import to_text
from .joint_angles import fit_torsion
from .joint_centres import Chord, chord
from .landmarks import Points, point
from .rules import AxisRule, CentreRule, LegRules
from .segment_poses import direction_of, fit_pose, frame
from .static_results import StaticResults, parse_results

# RMS of the stored ankle angles that the bones and a torsion leave: .0 to 1.0 in files of seven laboratories; more, and
# these angles are defined otherwise
LARGEST_MISFIT_DEG = 2.0
# thigh and shank per body height: .245 and .246 (Drillis R, Contini R 1966, in Winter 2009, figure 4.1)
LEG_PER_HEIGHT = 0.491
ORIGIN = {"thigh": "hip", "shank": "knee", "foot": "ankle"}


@dataclass
class Skeleton:
    """Frames and joint centres of one side over time."""

    frames: dict[str, Array] = field(default_factory=dict)  # (time, 3, 3) per segment, v_segment = rotation @ v_lab
    # (time, 3) per segment, m: the proximal joint centre; of the pelvis its own origin
    origins: dict[str, Array] = field(default_factory=dict)
    centres: dict[str, Array] = field(default_factory=dict)  # (time, 3) by name (``hip_centre``, ...), m
    residuals: dict[str, Array] = field(default_factory=dict)  # (time,) per cluster, root-mean-square misfit, m


class CalibratedSide(NamedTuple):
    """Findings of the static trial, or its stated results, that motion needs, for one side."""

    # by segment, the position (3,) of each marker in segment axes from the segment's origin, m
    clusters: dict[str, dict[str, Array]]
    # by joint, the segment that carries its centre; empty where the centre is evaluated in every frame
    carrier: dict[str, str]
    # by joint, the centre (3,) in the axes, from the origin, of its carrier, m; NaN without one
    carried: dict[str, Array]
    technical: dict[str, Array]  # by segment, the (3, 3) rotation from the axes built in motion to the anatomical ones
    # by joint, the place of the centre among the points of its chord; those of other centres left out
    chords: dict[str, Chord]
    # from the shank's z to the malleoli's line, about y, inwards positive, rad; taken off the shank
    tibial_torsion: float
    # by segment, the position (3,) of each marker that the linked leg fixes to it, as in ``clusters``, m
    fixed: Mapping[str, Mapping[str, Array]] = MappingProxyType({})
    # by joint, the centre (3,) in the axes, from the origin, of its proximal segment, m
    joints: Mapping[str, Array] = MappingProxyType({})


def read_sides(calibration: xr.Dataset) -> dict[str, CalibratedSide]:
    """Return each side of a session that is not refused, as the step ``calibrate`` stored it."""
    stored = {str(name): variable.values for name, variable in calibration.variables.items()}
    joints, poses = stored["joint"].tolist(), stored["pose"].tolist()
    clusters: dict[str, dict[str, dict[str, Array]]] = {side: {} for side in stored["side"].tolist()}
    owners = (stored[f"cluster_{name}"].tolist() for name in ("side", "segment", "marker"))
    for side, segment, marker, place in zip(*owners, stored["cluster_position"], strict=True):
        clusters[side].setdefault(segment, {})[marker] = place
    chords = np.stack([stored[f"chord_{name}"] for name in ("radius", "rotation", "abduction")], axis=-1)
    return {
        side: CalibratedSide(
            clusters[side],
            carrier=dict(zip(joints, stored["joint_carrier"][i].tolist(), strict=True)),
            carried=dict(zip(joints, stored["joint_position"][i], strict=True)),
            technical=dict(zip(poses, stored["technical_rotation"][i], strict=True)),
            chords=dict(zip(joints, starmap(Chord, chords[i].tolist()), strict=True)),
            tibial_torsion=float(stored["tibial_torsion"][i]),
        )
        for i, side in enumerate(clusters)
        if not stored["leg_refused"][i]
    }


def take_stated_results(
    calibrated: Mapping[str, CalibratedSide], results: str, *, torsion_alone: bool = False
) -> dict[str, CalibratedSide]:
    """Return the sides of a calibration with the static results that a walk states, JSON; unchanged if empty.

    ``torsion_alone``: they are those of :func:`state_torsion`.
    """
    sides = dict(calibrated)
    for side, stated in parse_results(results).items():
        if side in sides and torsion_alone:
            sides[side] = sides[side]._replace(tibial_torsion=stated.tibial_torsion)
        elif side in sides:
            radius = {joint: chord.radius_m for joint, chord in sides[side].chords.items()}
            technical, chords = stated.technical(side), stated.chords(radius)
            sides[side] = sides[side]._replace(technical=technical, chords=chords, tibial_torsion=stated.tibial_torsion)
    return sides


def state_torsion(points: Points, rules: Mapping[str, LegRules], stored: Mapping[str, Array], stated: str) -> str:
    """Return the static results of a file that shows bones of Plug-in Gait, JSON: the tibial torsion of each side.

    It is what turns the bone of the shank so that the stored ankle angles follow; else what the file states; else it
    follows from the line from ankle centre to marker, which a laboratory may have turned in the static trial.

    Args:
        points: landmarks (time, 3), m.
        rules: of a body model with the untwisted shank, by side.
        stored: ankle angles (time, 3) by side, degrees, see :func:`pipeline.body.joint_angles.fit_torsion`.
        stated: static results of the file, JSON, or empty.
    """
    results, count = {}, len(next(iter(points.values())))
    for side, leg in rules.items():
        shown, frames = points | find_shown_centres(points, leg, count), dict[str, Array]()
        for segment in ("shank", "foot"):
            axes = leg.segments[segment].axes
            frames[segment] = _or_nan(frame, axes, shown, frames, side, shape=(count, 3, 3))
        unknown = np.full((count, 3), np.nan)
        torsion, misfit_deg = fit_torsion(frames["shank"], frames["foot"], stored.get(side, unknown), side)
        if (rule := leg.segments["shank"].torsion) and not misfit_deg < LARGEST_MISFIT_DEG:
            by_line = find_torsion(frames["shank"], rule, shown, frames, side)
            torsion = parse_results(stated)[side].tibial_torsion if stated else by_line
        results[side] = StaticResults(tibial_torsion=torsion)._asdict()
    return to_text(results)


def find_torsion(
    shank: Array, rule: AxisRule, points: Mapping[str, Array], frames: Mapping[str, Array], side: str
) -> float:
    """Return the mean angle about y from the knee's axis to that of the malleoli, inwards positive, rad.

    One of them is z of the shank (time, 3, 3); the rule gives the other, see
    :class:`pipeline.body.rules.SegmentRule`. NaN if no frame shows both.
    """
    line = _or_nan(direction_of, rule, points, frames, side, shape=shank.shape[:-1])
    forward, _, right = np.einsum("tij,tj->it", shank, unit(line))
    seen = np.isfinite(forward)
    turn = float(SIDE_SIGN[side] * np.arctan2(forward[seen].mean(), right[seen].mean())) if seen.any() else np.nan
    return -turn if rule.along else turn


def moving_legs(
    points: Points, rules: Mapping[str, LegRules], calibrated: Mapping[str, CalibratedSide], count: int
) -> dict[str, Skeleton]:
    """Return the skeleton of each side in motion; NaN where landmarks are not seen, or for a side not calibrated.

    Args:
        points: landmarks (time, 3), m, NaN where unseen.
        rules: of the body model of the calibration, by side.
        calibrated: the sides of the calibration.
        count: number of frames.
    """
    pelvis = Skeleton()
    for side, findings in [*calibrated.items()][:1]:  # of either side
        _add_pose(pelvis, points, rules[side], findings, "pelvis", count)
    return {side: moving_leg(points, leg, calibrated.get(side), pelvis, count) for side, leg in rules.items()}


def moving_leg(
    points: Points, leg: LegRules, calibrated: CalibratedSide | None, pelvis: Skeleton, count: int
) -> Skeleton:
    """Return the skeleton of one side in motion, see :func:`moving_legs`; ``pelvis`` has the pelvis alone."""
    moving = Skeleton(frames=dict(pelvis.frames), origins=dict(pelvis.origins), residuals=dict(pelvis.residuals))
    if calibrated is None:
        nowhere = np.full((count, 3), np.nan)
        moving.frames = dict.fromkeys(FROM_PELVIS, np.full((count, 3, 3), np.nan)) | moving.frames
        moving.origins = dict.fromkeys(FROM_PELVIS, nowhere) | moving.origins
        moving.centres |= {f"{joint}_centre": nowhere for joint in FROM_HIP}
        return moving
    moving.centres |= find_shown_centres(points, leg, count)
    for segment in FROM_PELVIS:
        joint = DISTAL.get(segment, "")
        rule = leg.chord_in_motion(joint) if joint and not calibrated.carrier[joint] else None
        if rule and f"{joint}_centre" not in moving.centres:
            arguments = points | moving.centres, rule, leg.side, calibrated.chords[joint]
            moving.centres[f"{joint}_centre"] = _or_nan(chord_of, *arguments, shape=(count, 3))
        if segment != "pelvis":
            _add_pose(moving, points, leg, calibrated, segment, count)
        for name in FROM_HIP:
            if calibrated.carrier[name] == segment:
                local = calibrated.carried[name]
                moving.centres[f"{name}_centre"] = moving.origins[segment] + local @ moving.frames[segment]
    return moving


def find_shown_centres(points: Points, leg: LegRules, count: int) -> dict[str, Array]:
    """Return the joint centres (time, 3) that the file shows as points, by name; NaN where it lacks them."""
    first = {joint: leg.joint_centres[joint][0] for joint in FROM_HIP}
    return {
        f"{joint}_centre": _or_nan(point, points, rule.start, shape=(count, 3))
        for joint, rule in first.items()
        if rule.method == "shown"
    }


def _add_pose(
    moving: Skeleton, points: Points, leg: LegRules, calibrated: CalibratedSide, segment: str, count: int
) -> None:
    """Add a segment's frame and origin, by its cluster or by its axes."""
    rule, shown, nowhere = leg.segments[segment], points | moving.centres, np.full((count, 3), np.nan)
    if rule.cluster:
        places = calibrated.clusters[segment]
        paths = np.stack([shown.get(leg.clusters[segment][name], nowhere).T for name in places])
        pose = fit_pose(np.array(list(places.values())), np.moveaxis(paths, -1, 0))
        moving.frames[segment], moving.origins[segment], moving.residuals[segment] = pose
        return
    built = _or_nan(frame, rule.axes_in_motion, shown, moving.frames, leg.side, shape=(count, 3, 3))
    moving.frames[segment] = calibrated.technical[segment] @ built
    if segment == "pelvis":
        moving.origins[segment] = _or_nan(point, points, rule.origin, shape=(count, 3))
    else:
        moving.origins[segment] = moving.centres[f"{ORIGIN[segment]}_centre"]


def chord_of(points: Points, rule: CentreRule, side: str, place: Chord) -> Array:
    """Return the joint centre (time, 3) of a chord rule, m."""
    return chord(*chord_points(points, rule), place, side)


def chord_points(points: Points, rule: CentreRule) -> tuple[Array, Array, Array]:
    """Return proximal centre, lateral marker and wand (time, 3) of a chord rule, m.

    A medial marker is mirrored in the lateral one, to where a wand in its plane would be.
    """
    proximal, lateral = (point(points, names) for names in (rule.proximal, rule.lateral))
    if rule.medial:
        return proximal, lateral, 2 * lateral - point(points, rule.medial)
    return proximal, lateral, point(points, rule.wand)


def _or_nan(build: Callable[..., Array], *arguments: Any, shape: tuple[int, ...]) -> Array:
    """Return what a function builds, or NaN where the trial lacks a landmark."""
    try:
        return build(*arguments)
    except KeyError:
        return np.full(shape, np.nan)


def body_height_m(calibrate: xr.Dataset) -> float:
    """Return the person's height, m, estimated from hip to ankle centre if it is not stated."""
    if np.isfinite(stated := float(calibrate.attrs["body_height_m"])):
        return stated
    parts = calibrate["joint_distance"].sel(segment=["thigh", "shank"])
    return float(parts.sum("segment", skipna=False).mean()) / LEG_PER_HEIGHT
