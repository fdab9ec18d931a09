"""Step ``kinematics``: poses with angular velocity and acceleration, joint centres and angles, centres of mass."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array, Flags
from ...body.body_model import BodyModel
from ...body.joint_angles import foot_progression, joint_angles, pelvis_angles
from ...body.plausibility import FLAG_MEANINGS, LARGEST_STANDING_BEND_DEG
from ...body.skeleton import CalibratedSide, Skeleton, moving_legs, read_sides, take_stated_results
from ...conventions import ANGLES, CHAIN, CONVENTIONAL, HIP, JOINTS, KNEE, ROTATION, SEGMENTS, SIDES
from ...errors import Problem, UserError
from ...signals.filters import interval_s, near_ends
from ...signals.splines import Spans, angular_rates, derivatives_of_trials
from ...trials.session import spans_of
from ...trials.usable_walks import UsableWalks, batches, has_model, reject
from .label_check import find_exchanged
from .leg_check import Verdicts, judge_legs
from .linked_model import LinkedModel, build_linked_model, describe_linkage, pose_linked_legs
from .marker_check import NONE, Shift, build_witness, farthest_markers
from .settings import Settings
from .upper_body import upper_body_frame, whole_body
from .witnesses import Shown, hear_witnesses

LABELS: dict[str, Any] = {
    "side": list(SIDES), "segment": list(SEGMENTS), "joint": list(JOINTS), "angle": list(ANGLES),
    "axis": list("xyz"), "local_axis": list("xyz"),
}  # fmt: skip
Variables = dict[str, tuple[tuple[str, ...], Array]]

HIDDEN = "none; they are hidden"  # in place of absent markers
PORTION = 2000  # samples, of whole trials, that are handled together: few enough for the processor's cache


class Posed(NamedTuple):
    """The motion of the legs in the walks of a session."""

    variables: Variables
    verdicts: list[Verdicts]  # of each portion of walks
    shifts: list[Shift]  # of each walk
    refused: dict[str, Problem]  # walks without a leg, by name; with any, the rest is not complete


def kinematics(clean: xr.Dataset, calibrate: xr.Dataset, *, settings: Settings, body_model: BodyModel) -> xr.Dataset:
    """Return the motion of both legs in the trials of a session.

    Returns:
        The variables of :data:`pipeline.variables.session_variables.OF_TRIALS`, ``marker_residual`` and ``linked_legs``
        with linked legs (:mod:`pipeline.steps.kinematics.linked_leg`), the upper body with shoulders. NaN where markers
        are not seen, accelerations also near the ends of what is seen, and for a leg that no person has:
        ``implausible`` and ``leg_refused`` give the reason. Angles that depend on a turned knee axis are NaN, too, for
        the reason ``knee_refused``. A walk is rejected if no segment of either side can be followed, neither leg can be
        used, or two markers are exchanged against the static trial. Without a static trial no walk is, and all motion
        is NaN.
    """
    walks = UsableWalks.of(clean, calibrate)
    if not walks.names:
        return walks.complete(xr.Dataset())
    clean = walks.take(clean)
    names, refused, linkage = clean.variables["marker"].values.tolist(), find_exchanged(clean, calibrate), None
    if settings.method == "linked" and has_model(calibrate):
        try:
            linkage = build_linked_model(
                calibrate, names, joint_types=settings.joint_types,
                marker_weights=settings.marker_weights, joint_limits=settings.joint_limits,
            )  # fmt: skip
        except UserError as error:
            refused = dict.fromkeys(walks.names, error.problems[0]) | refused
    offset = _static_angles(calibrate, settings) if settings.static_offset == "subtract" else 0.0
    time, spans = clean.variables["time"].values, spans_of(clean, "sample")
    ends = [round(s / (interval_s(time[at]) or 1)) for s, at in zip(clean.uncertain_end_s.values, spans, strict=True)]
    within = list(zip(spans, ends, strict=True))
    posed = _pose_walks(clean, calibrate, linkage, within, offset, settings, body_model)
    refused = posed.refused | refused
    if refused:  # all others are done again without them
        return kinematics(reject(walks.every, refused), calibrate, settings=settings, body_model=body_model)
    labels = {name: clean.variables[name] for name in ("marker", "marker_order")} if linkage else {}
    flags, *others = (np.concatenate(parts) for parts in zip(*posed.verdicts, strict=True))
    judgements: dict[str, Any] = {
        "implausible": (("sample", "side"), flags, {"flag_meanings": FLAG_MEANINGS}),
        **{name: (("trial", "side"), each) for name, each in zip(Verdicts._fields[1:], others, strict=True)},
    }
    is_plug_in_gait = body_model.may_be_stated or body_model.shows_untwisted_shank  # by markers, or by bones in a file
    compared = settings.angle_convention == CONVENTIONAL and is_plug_in_gait
    angle = posed.variables["joint_angle"][1] + offset
    witnesses = hear_witnesses(Shown(clean, calibrate, posed.shifts, angle, compared))
    upper, labels_of_upper = whole_body(clean, calibrate, body_model, posed.variables, within, settings)
    facts = _facts(clean, settings) | describe_linkage(linkage, names, len(spans))
    for trial, side in np.argwhere(judgements["knee_refused"][1] != "").tolist():  # the witnesses have seen all angles
        refused_angles = posed.variables["joint_angle"][1][spans[trial], side]
        refused_angles[:, KNEE] = refused_angles[:, HIP, ROTATION] = np.nan
    every = posed.variables | upper | judgements | witnesses | facts
    return walks.complete(xr.Dataset(every, LABELS | labels | labels_of_upper))


def _pose_walks(
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    linkage: LinkedModel | None,
    within: Spans,
    offset: Array | float,
    settings: Settings,
    body_model: BodyModel,
) -> Posed:
    """Return the motion of the legs, in portions of whole walks."""
    names, position, time = (clean.variables[name].values for name in ("marker", "marker_position", "time"))
    walks, absent = clean.trial.values.tolist(), clean.landmarks_absent.values.tolist()
    spans, calibrated = [span for span, _ in within], read_sides(calibrate)
    # points that another program computed do not lie in the segment that carries the markers
    blind = body_model.shows_untwisted_shank or not calibrated
    witness = None if blind else build_witness(calibrate, names.tolist())
    posed = Posed({}, [], [], {})
    by_file = calibrate.attrs.get("static_results") or body_model.shows_untwisted_shank
    stated = clean.static_results.values.tolist() if by_file else [""] * len(spans)
    for numbers in batches(spans, PORTION, stated):
        part = spans[numbers]
        here = slice(part[0].start, part[-1].stop)
        paths = np.ascontiguousarray(np.moveaxis(position[here], 0, -1))  # time last in memory, here and in results
        points = {name: path.T for name, path in zip(names.tolist(), paths, strict=True)}
        sides = take_stated_results(calibrated, stated[numbers.start], torsion_alone=body_model.shows_untwisted_shank)
        legs = moving_legs(points, body_model.legs, sides, paths.shape[-1])
        spans_here = [slice(span.start - here.start, span.stop - here.start) for span in part]
        verdicts = judge_legs(points, legs, calibrate, time[here], spans_here)
        posed.verdicts.append(verdicts)
        posed.refused.update(verdicts.refused(walks[numbers]) if calibrated else {})
        if posed.refused:
            continue
        hidden = [verdicts.hide(side, spans_here) for side in range(len(SIDES))]
        found = farthest_markers(witness, paths, legs, hidden, spans_here) if witness else [NONE] * len(part)
        posed.shifts.extend(found)
        if linkage:
            legs, residual = pose_linked_legs(linkage, paths, legs, hidden, time[here], spans_here)
        within_here = [(span, end) for span, (_, end) in zip(spans_here, within[numbers], strict=True)]
        motion = _motion([legs[side] for side in SIDES], calibrate.segment_com.values, time[here], within_here)
        if not linkage:
            _hide_beside_changes(motion, points, body_model, sides, within_here)
        rotation = motion["rotation"][1]
        if calibrated:
            posed.refused.update(_find_unfollowed(rotation, spans_here, walks[numbers], absent[numbers]))
        twisted = calibrated if linkage else sides  # all walks of a session have the same linkage
        torsion = np.array([twisted[side].tibial_torsion if side in twisted else 0.0 for side in SIDES])
        angles = _angles(rotation, offset, settings, torsion)
        _hide(motion | angles, hidden)
        if linkage:
            motion["marker_residual"] = ("sample", "marker"), residual.T
        if "shoulder_position" in clean:
            shoulders, hips = clean.shoulder_position.values[here], motion["joint_centre"][1][:, :, HIP]
            motion |= _of_upper_body(upper_body_frame(hips, shoulders), time[here], within_here)
        _store(posed.variables, motion | angles, here, len(time))
    return posed


def _static_angles(calibrate: xr.Dataset, settings: Settings) -> Array:
    """Return the joint angles (1, side, joint, angle) of the static trial, degrees; NaN if its knee is bent."""
    static = calibrate.static_rotation.sel(side=list(SIDES), pose=list(SEGMENTS)).values
    torsion = calibrate.tibial_torsion.values
    angle = joint_angles(static[None], settings.angle_convention, settings.smallest_floating_axis, torsion)
    bent = calibrate.static_knee_flexion.sel(side=list(SIDES)).values > LARGEST_STANDING_BEND_DEG
    return np.where(bent[:, None, None], np.nan, angle)


def _motion(legs: Sequence[Skeleton], local_com: Array, time: Array, spans: Spans) -> Variables:
    """Return the motion of both legs as variables, from their skeletons and centres of mass in segment axes."""
    frames = _stack([*(leg.frames[name] for leg in legs for name in CHAIN), legs[0].frames["pelvis"]])
    origin = _stack(leg.origins[name] for leg in legs for name in CHAIN)
    centre = _stack(leg.centres[f"{name}_centre"] for leg in legs for name in JOINTS)
    local = local_com.reshape(-1, 3)
    com = origin + sum(local[:, i, None] * frames[:, : len(local), i] for i in range(3))
    (turning, com_velocity, velocity), (bending, com_acceleration, acceleration) = derivatives_of_trials(
        [frames, com, centre], time, spans
    )
    rate, rate_change = angular_rates(frames, turning, bending)
    hidden = np.full(len(time), np.nan)
    residual = _stack(leg.residuals.get(name, hidden) for leg in legs for name in SEGMENTS)
    segment, joint = ("sample", "side", "segment"), ("sample", "side", "joint")
    return {
        "rotation": ((*segment, "local_axis", "axis"), _with_pelvis(frames)),
        "joint_centre": ((*joint, "axis"), _by_side(centre)),
        "joint_centre_velocity": ((*joint, "axis"), _by_side(velocity)),
        "joint_centre_acceleration": ((*joint, "axis"), _by_side(acceleration)),
        "com_position": ((*segment, "axis"), _with_pelvis(com)),
        "com_velocity": ((*segment, "axis"), _with_pelvis(com_velocity)),
        "com_acceleration": ((*segment, "axis"), _with_pelvis(com_acceleration)),
        "angular_velocity": ((*segment, "local_axis"), _with_pelvis(rate)),
        "angular_acceleration": ((*segment, "local_axis"), _with_pelvis(rate_change)),
        "fit_residual": (segment, _by_side(residual)),
    }


def _of_upper_body(frame: Array, time: Array, spans: Spans) -> Variables:
    """Return the motion of the upper body as variables, from its frame (sample, 3, 3)."""
    (first,), (second,) = derivatives_of_trials([frame], time, spans)
    rate, rate_change = angular_rates(frame, first, second)
    return {
        "upper_body_rotation": (("sample", "local_axis", "axis"), frame),
        "upper_body_angular_velocity": (("sample", "local_axis"), rate),
        "upper_body_angular_acceleration": (("sample", "local_axis"), rate_change),
    }


def _stack(parts: Iterable[Array]) -> Array:
    """Return (sample, part, ...) from parts (sample, ...), with time last in memory."""
    return np.moveaxis(np.stack([np.moveaxis(part, 0, -1) for part in parts]), -1, 0)


def _by_side(parts: Array) -> Array:
    """Return (sample, side, part of a side, ...) from (sample, part, ...)."""
    return parts.reshape(len(parts), len(SIDES), -1, *parts.shape[2:])


def _with_pelvis(bodies: Array) -> Array:
    """Return (sample, side, segment, ...) from the segments of the left and right leg and, else NaN, the pelvis."""
    rows, of_legs = np.moveaxis(bodies, 0, -1), len(SIDES) * len(CHAIN)
    whole = np.empty((len(SIDES), len(SEGMENTS), *rows.shape[1:]))
    whole[:, :-1] = rows[:of_legs].reshape(len(SIDES), len(CHAIN), *rows.shape[1:])
    whole[:, -1] = rows[of_legs] if len(rows) > of_legs else np.nan
    return np.moveaxis(whole, -1, 0)


def _hide_beside_changes(
    motion: Variables, points: Mapping[str, Array], model: BodyModel, sides: Mapping[str, CalibratedSide], spans: Spans
) -> None:
    """Hide accelerations of a segment near where one of its cluster's markers appears or is lost, as its pose jumps."""
    hidden = np.zeros(spans[-1][0].stop, dtype=bool)
    for side, segment in ((side, segment) for side, leg in sides.items() for segment in leg.clusters):
        names = [model.legs[side].clusters[segment][name] for name in sides[side].clusters[segment]]
        seen = np.stack([np.isfinite(points[name][:, 0]) for name in names if name in points] or [hidden], axis=1)
        for span, reach in spans:
            change = (near_ends(seen[span], reach) & near_ends(~seen[span], reach)).any(axis=1)
            for name in ("com_acceleration", "angular_acceleration"):
                motion[name][1][span, SIDES.index(side), SEGMENTS.index(segment)][change] = np.nan


def _store(variables: Variables, part: Variables, here: slice, count: int) -> None:
    """Set some samples of variables that have ``count`` of them, with time last in memory."""
    for name, (dims, values) in part.items():
        if name not in variables:
            variables[name] = dims, np.moveaxis(np.empty((*values.shape[1:], count)), -1, 0)
        variables[name][1][here] = values


def _find_unfollowed(
    rotation: Array, spans: Sequence[slice], walks: Sequence[str], absent: Sequence[str]
) -> dict[str, Problem]:
    """Return the problems of the walks that show no pose of any segment, by name."""
    problems = {}
    for walk, span, names in zip(walks, spans, absent, strict=True):
        if not np.isfinite(rotation[span]).any():
            what = f"no leg can be followed: too few markers of the body model are seen (absent: {names or HIDDEN})"
            problems[walk] = Problem("", what, "label them, or exclude the trial", "markers_missing")
    return problems


def _hide(variables: Variables, hidden: Sequence[Flags]) -> None:
    """Set variables (sample, side, ...) to NaN where nothing of a side is shown."""
    for side, rows in enumerate(hidden):
        for _, values in variables.values() if rows.any() else ():
            values[rows, side] = np.nan


def _angles(rotation: Array, offset: Array | float, settings: Settings, torsion: Array) -> Variables:
    """Return the angles as variables; the offset is taken off the joint angles."""
    smallest = settings.smallest_floating_axis
    angle = joint_angles(rotation, settings.angle_convention, smallest, torsion) - offset
    pelvis, foot = pelvis_angles(rotation[:, :, -1], smallest), foot_progression(rotation[:, :, 0])
    return {
        "joint_angle": (("sample", "side", "joint", "angle"), angle),
        "pelvis_angle": (("sample", "side", "angle"), pelvis),
        "foot_progression": (("sample", "side"), foot),
    }


def _facts(clean: xr.Dataset, settings: Settings) -> dict[str, Any]:
    """Return what holds for each trial as a whole."""
    cutoffs_hz = [row[np.isfinite(row)] for row in clean.cutoff_hz.values]
    return {
        **{name: clean.variables[name] for name in ("direction_of_travel", "landmarks_absent", "marker_filter_order")},
        **{
            name: ("trial", np.full(len(cutoffs_hz), getattr(settings, name)))
            for name in ("smallest_floating_axis", "line_of_progression")
        },
        "marker_cutoff_hz": ("trial", np.array([np.median(row) if row.size else np.nan for row in cutoffs_hz])),
    }
