"""The skeleton of one side in the static trial, and its findings for motion."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..conventions import DISTAL, FROM_PELVIS, PROXIMAL, SIDE_SIGN, SIDES
from ..dynamics.vectors import unit
from ..errors import UserError
from .joint_centres import Chord, chord_through, shift_centre
from .joint_centres import hip_centre as hip_regression
from .landmarks import Points, mean_length, point
from .resolved_model import FEWEST_CLUSTER_MARKERS, ResolvedLeg
from .rules import CentreRule, LegRules
from .segment_poses import frame, mean_rotation, turn_about_y
from .skeleton import (
    ORIGIN,
    CalibratedSide,
    Skeleton,
    chord_of,
    chord_points,
    find_shown_centres,
    find_torsion,
    moving_leg,
)
from .static_results import StaticResults, plantar_flexion


def static_skeleton(
    points: Points, leg: ResolvedLeg, sizes: Mapping[str, float], *, hip_centre: str | Array, knee_turn: float = 0.0
) -> tuple[Skeleton, CalibratedSide]:
    """Return the skeleton of one side in the static trial, and its findings for motion.

    Args:
        points: landmarks (time, 3), m.
        sizes: anthropometry, kg and m, by participants.tsv column.
        hip_centre: name of the regression, or the centre (3,) in pelvis axes from the mid-ASIS point, m; used if the
            body model leaves the hip to a regression.
        knee_turn: by which the thigh is turned about its long axis, with the chord of its knee, inwards positive, rad.

    Raises:
        UserError: a size is missing, or no frame shows a segment.
    """
    rules, side = leg.rules, leg.rules.side
    still = Skeleton(centres=find_shown_centres(points, rules, len(next(iter(points.values())))))
    _add_pelvis(still, points, rules)
    if "hip_centre" not in still.centres:
        still.centres["hip_centre"] = (
            _static_hip(points, still, side, sizes, hip_centre)
            if leg.centres["hip"].method == "regression"
            else _static_centre(points, still, leg.centres["hip"], side, sizes)
        )
    torsion = 0.0
    for segment in FROM_PELVIS[1:]:
        rule, joint = rules.segments[segment], DISTAL.get(segment, "")
        if joint and f"{joint}_centre" not in still.centres:
            turn = knee_turn if joint == "knee" else 0.0
            centre = _static_centre(points | still.centres, still, leg.centres[joint], side, sizes, turn)
            still.centres[f"{joint}_centre"] = centre
        still.frames[segment] = frame(rule.axes, points | still.centres, still.frames, side)
        if segment == "thigh" and knee_turn and leg.centres["knee"].method != "chord":
            still.frames[segment] = turn_about_y(SIDE_SIGN[side] * knee_turn) @ still.frames[segment]
        still.origins[segment] = still.centres[f"{ORIGIN[segment]}_centre"]
        if rule.torsion:
            torsion = find_torsion(still.frames[segment], rule.torsion, points | still.centres, still.frames, side)
        if rule.is_twisted:
            still.frames[segment] = turn_about_y(-SIDE_SIGN[side] * torsion) @ still.frames[segment]
    _refuse_unseen(still, side)
    findings = _findings(points | still.centres, still, leg, sizes, torsion)
    if knee_turn and "knee" in findings.chords and not leg.centres["knee"].in_motion:
        findings.chords["knee"] = findings.chords["knee"]._replace(rotation_rad=knee_turn)
    return still, _with_linkage(findings, points, still, rules)


def skeleton_by_stated_foot(
    points: Points,
    leg: ResolvedLeg,
    sizes: Mapping[str, float],
    *,
    hip_centre: str | Array,
    stated_rad: float,
    knee_turn: float = 0.0,
) -> tuple[Skeleton, CalibratedSide, str]:
    """Return the skeleton with the foot flat or not, by the plantar flexion that the static trial states; and a note.

    Plug-in Gait has an option "foot flat" for each foot, which its files do not state. Its static plantar flexion does:
    it equals one of both within 0.3 degrees in statics of four laboratories; the two are apart by heel and toe markers
    at different heights.
    """
    feet = [replace(leg, rules=rules) for rules in leg.rules.feet()]
    both = [static_skeleton(points, each, sizes, hip_centre=hip_centre, knee_turn=knee_turn) for each in feet]
    as_marked, flat = (plantar_flexion(findings.technical["foot"]) for _, findings in both)
    is_flat = abs(flat - stated_rad) < abs(as_marked - stated_rad)
    stated, *others = (f"{np.degrees(angle):.1f}" for angle in (stated_rad, flat, as_marked))
    how = f"{leg.rules.side} foot {'flat' if is_flat else 'as marked'}"
    note = f"{how}, by its stated plantar flexion of {stated} degrees ({others[0]} flat, {others[1]} as marked)"
    return *both[is_flat], note


def skeleton_by_stated_results(
    points: Points, rules: LegRules, stated: StaticResults, sizes: Mapping[str, float], *, hip_centre: str | Array
) -> tuple[Skeleton, CalibratedSide]:
    """Return the skeleton of one side in any trial, and what motion needs, from stated static results.

    Arguments and errors as of :func:`static_skeleton`.
    """
    pelvis = Skeleton()
    _add_pelvis(pelvis, points, rules)
    middle = place_in_segment(pelvis, "pelvis", _static_hip(points, pelvis, rules.side, sizes, hip_centre))
    radius = {joint: _radius(rules.joint_centres[joint][0], rules.side, sizes) for joint in ("knee", "ankle")}
    carried = {"hip": middle, "knee": np.full(3, np.nan), "ankle": np.full(3, np.nan)}
    carrier = {"hip": "pelvis", "knee": "", "ankle": ""}
    technical, chords = stated.technical(rules.side), stated.chords(radius)
    findings = CalibratedSide({}, carrier, carried, technical, chords, stated.tibial_torsion)
    still = moving_leg(points, rules, findings, pelvis, len(pelvis.frames["pelvis"]))
    _refuse_unseen(still, rules.side)
    return still, _with_linkage(findings, points, still, rules)


def _with_linkage(findings: CalibratedSide, points: Points, still: Skeleton, rules: LegRules) -> CalibratedSide:
    """Return the findings with what the linked leg needs: all markers and joint centres in segment axes."""
    fixed = {
        segment: _find_places(still, segment, {name: points[name] for name in names if name in points})
        for segment, names in rules.fixed.items()
    }
    joints = {name: place_in_segment(still, of, still.centres[f"{name}_centre"]) for name, of in PROXIMAL.items()}
    return findings._replace(fixed=fixed, joints=joints)


def _refuse_unseen(still: Skeleton, side: str) -> None:
    for segment in FROM_PELVIS:
        if not np.isfinite(still.frames[segment]).all(axis=(1, 2)).any():
            what = f"no frame shows all landmarks that the {side} {segment} is built from"
            raise UserError("", what, "use another static trial", "markers_missing")


def _add_pelvis(still: Skeleton, points: Points, rules: LegRules) -> None:
    rule = rules.segments["pelvis"]
    still.frames["pelvis"] = frame(rule.axes, points, {}, rules.side)
    still.origins["pelvis"] = point(points, rule.origin)


def _findings(
    shown: Points, still: Skeleton, leg: ResolvedLeg, sizes: Mapping[str, float], torsion: float
) -> CalibratedSide:
    """Return the findings of a static skeleton for motion."""
    side, segments = leg.rules.side, leg.rules.segments
    clusters = {name: _cluster(shown, still, name, leg.rules) for name in FROM_PELVIS if segments[name].cluster}
    technical = {name: np.eye(3) for name in FROM_PELVIS}
    for name in FROM_PELVIS:
        if segments[name].technical_axes and not segments[name].cluster:
            built = frame(segments[name].technical_axes, shown, still.frames, side)
            technical[name] = mean_rotation(still.frames[name] @ np.swapaxes(built, -1, -2))
    if segments["shank"].is_twisted:
        technical["shank"] = turn_about_y(-SIDE_SIGN[side] * torsion) @ technical["shank"]
    carrier = {joint: rule.moves_with for joint, rule in leg.centres.items()}
    chords = {}
    for joint, rule in leg.centres.items():
        if rule.moving and rule.moving.method == "chord":
            chords[joint] = (
                chord_through(*chord_points(shown, rule.in_motion), shown[f"{joint}_centre"], side)
                if rule.in_motion
                else Chord(_radius(rule, side, sizes))
            )
    carried = {
        joint: place_in_segment(still, segment, shown[f"{joint}_centre"]) if segment else np.full(3, np.nan)
        for joint, segment in carrier.items()
    }
    return CalibratedSide(clusters, carrier, carried, technical, chords, torsion)


def _size(name: str, side: str, sizes: Mapping[str, float]) -> float:
    column = f"{name}_{side}_m"
    if column not in sizes:
        what = f"the body model needs the {name.replace('_', ' ')}"
        raise UserError("", what, f"add {column} to participants.tsv", "size_missing")
    return sizes[column]


def _radius(rule: CentreRule, side: str, sizes: Mapping[str, float]) -> float:
    """Return half the joint's width plus the marker's radius, m."""
    return (_size(rule.size, side, sizes) + sizes["marker_diameter_m"]) / 2


def _static_hip(points: Points, still: Skeleton, side: str, sizes: Mapping[str, float], method: str | Array) -> Array:
    """Return the hip centre in the lab from the mean pelvis of the trial."""
    if not isinstance(method, str):
        return (points["asis_left"] + points["asis_right"]) / 2 + method @ still.frames["pelvis"]
    asis = {name: points[f"asis_{name}"] for name in SIDES}
    posterior = points["sacrum"] if "sacrum" in points else (points["psis_left"] + points["psis_right"]) / 2
    middle = (asis["left"] + asis["right"]) / 2
    lengths = {
        "pelvis_width": mean_length(asis["right"] - asis["left"]),
        "pelvis_depth": mean_length(middle - posterior),
        "marker_radius": sizes["marker_diameter_m"] / 2,
    }
    legs = [sizes[f"leg_length_{name}_m"] for name in SIDES if f"leg_length_{name}_m" in sizes]
    if legs:
        lengths |= {"leg_length": sizes.get(f"leg_length_{side}_m", legs[0]), "leg_length_mean": float(np.mean(legs))}
    if f"asis_trochanter_distance_{side}_m" in sizes:
        lengths["asis_trochanter_distance"] = sizes[f"asis_trochanter_distance_{side}_m"]
    if "asis_distance_m" in sizes and method == "davis":
        lengths["pelvis_width"] = sizes["asis_distance_m"]
    return np.asarray(middle + hip_regression(method, side, lengths) @ still.frames["pelvis"])


def _static_centre(
    shown: Points, still: Skeleton, rule: CentreRule, side: str, sizes: Mapping[str, float], turn: float = 0.0
) -> Array:
    """Return a joint centre (time, 3) by its own rule, m; ``turn`` turns the plane of a chord inwards, rad."""
    if rule.method == "midpoint":
        first, second = (shown[name] for name in rule.between)
        return first + _radius_between(second - first, rule, side, sizes) * unit(second - first)
    if rule.method == "chord" and rule.medial:
        lateral, medial = (point(shown, names) for names in (rule.lateral, rule.medial))
        radius = _radius_between(medial - lateral, rule, side, sizes)
        return chord_of(shown, rule, side, Chord(float(np.nanmean(radius)), turn))
    if rule.method == "chord":
        return chord_of(shown, rule, side, Chord(_radius(rule, side, sizes), turn))
    length: Array | float
    if rule.size:
        length = _size(rule.size, side, sizes)
    else:
        start, end = (shown[name] for name in rule.span)
        length = np.linalg.norm(end - start, axis=-1)
    return shift_centre(point(shown, rule.start), frame(rule.axes, shown, still.frames, side), rule.shift, length, side)


def _radius_between(across: Array, rule: CentreRule, side: str, sizes: Mapping[str, float]) -> Array | float:
    """Return the distance of the joint centre from a marker, m: by the joint's width, else half way to another.

    Args:
        across: vectors (time, 3) to the marker on the joint's other side, m.
        rule, side, sizes: as of :func:`_static_centre`.
    """
    if f"{rule.size}_{side}_m" in sizes:
        return _radius(rule, side, sizes)
    return np.asarray(np.linalg.norm(across, axis=-1, keepdims=True) / 2)


def _cluster(shown: Points, still: Skeleton, segment: str, rules: LegRules) -> dict[str, Array]:
    """Return the position of each marker of a cluster in its segment, by its name in the body model."""
    markers = rules.clusters[segment]
    places = _find_places(still, segment, {name: shown[full] for name, full in markers.items() if full in shown})
    if len(places) < FEWEST_CLUSTER_MARKERS:
        what = f"the {rules.side} {segment} has {len(places)} of its cluster markers {', '.join(markers)}"
        raise UserError("", f"{what}, expected three", "label them, or use another static trial", "markers_missing")
    return places


def _find_places(still: Skeleton, segment: str, points: Points) -> dict[str, Array]:
    """Return the place (3,) of each point (time, 3) in a segment's axes, m, without those that are never seen."""
    places = {name: place_in_segment(still, segment, position) for name, position in points.items()}
    return {name: place for name, place in places.items() if np.isfinite(place).all()}


def place_in_segment(still: Skeleton, segment: str, position: Array) -> Array:
    """Return the mean place (3,) of a point (time, 3) in a segment's axes from its origin, m; NaN if never seen."""
    inside = np.einsum("tij,tj->ti", still.frames[segment], position - still.origins[segment])
    seen = inside[np.isfinite(inside).all(axis=1)]
    return np.asarray(seen.mean(axis=0)) if len(seen) else np.full(3, np.nan)
