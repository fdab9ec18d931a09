"""Step ``calibrate``: the session's model of the person, from the static trial or from static results in the files.

It holds joint centres, marker clusters and body-segment parameters in segment axes, which move with the segments.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.alignment_device import refuse_wrong_device
from ...body.body_model import BodyModel
from ...body.landmarks import Points, missing
from ...body.plausibility import REMEDY, measures, reason_of
from ...body.skeleton import CalibratedSide, Skeleton
from ...body.static_skeleton import (
    place_in_segment,
    skeleton_by_stated_foot,
    skeleton_by_stated_results,
    static_skeleton,
)  # fmt: skip
from ...conventions import CHAIN, FROM_PELVIS, JOINTS, NO_STATIC, SIDES, UPPER_BODY
from ...errors import WARNING, Problem, UserError, warning
from ...json_text import to_text
from ...tables.study_tables import SLOPE
from ...trials.session import AnyTrial, trials_of, verdict_by
from ...variables.schema import with_dims
from ...whole_body.skeleton import SEGMENTS
from .anthropometry import findings_on_sizes, note_on_estimates, size_attributes, sizes_of
from .functional_hip import functional_hips, hip_text
from .functional_knee import Knee, KneeTrials, find_knees, knee_variables
from .functional_trials import UNUSABLE
from .leg_doubts import find_doubts, orientation_noise
from .marker_sensitivity import per_marker
from .model_dataset import Side, model_dataset, static_distances
from .reference_trial import ReferenceTrial, find_reference
from .segment_parameters import Person, SegmentParameters, from_measurement, has_its_axes
from .settings import Settings
from .upper_body import elbow_widths, upper_body, why_left_out

SETTLE = "are all files of this person and visit? Process them alike, or set calibrate.static_results to static"


def calibrate(
    read: xr.Dataset,
    *,
    settings: Settings,
    body_model: BodyModel,
    participant: Mapping[str, str],
    segments: Sequence[Mapping[str, str]],
    segment_table: Mapping[str, Any],
    functional: Mapping[str, str] | None = None,
    session_row: Mapping[str, str] | None = None,
) -> xr.Dataset:
    """Calibrate a session.

    Args:
        read: the session, with the static trial unless its walks state their static results.
        participant: cells of participants.tsv; absent sizes are read from the PROCESSING group of the trial that
            defines the model, then of the other trials.
        segments: the participant's rows of segments.tsv, which replace the table's.
        segment_table: table of config/segment_parameters.yaml for the person, with its ``name`` and the ``reason``.
        functional: conditions of the functional trials: ``hip`` or ``knee``, alone or with ``_left`` or ``_right``.
        session_row: sizes of the session in sessions.tsv, which win over its files, and these over ``participant``;
            None if it has no row there.

    Returns:
        A flat dataset, see :data:`pipeline.variables.session_variables.OF_TRIALS`. ``leg_refused`` is why a side cannot
        be used; all else of it is NaN. The upper body is there if measured. Without a usable static trial it is
        rejected with the code ``no_static_trial`` and has sizes and no leg: later steps go on without angles and
        moments (:func:`pipeline.trials.usable_walks.has_model`).

    Raises:
        UserError: no side that can be used, body mass missing, functional trial that cannot be used.
    """
    trials = trials_of(read)
    try:
        reference = find_reference(trials, body_model, use_stated=settings.static_results == "stated")
    except UserError as error:
        if error.problems[0].code != NO_STATIC:
            raise
        return _without_static(error, trials, participant, session_row, segment_table["name"])
    sizes, origin, row = sizes_of(participant, reference.source or reference.name, trials, session_row)
    widths = {name: width for name, width in elbow_widths(reference, sizes).items() if name not in sizes}
    places = [(one["side"] if one["side"] in SIDES else "", one["segment"]) for one in segments]
    measured = dict(zip(places, map(from_measurement, segments), strict=True))
    person = Person(sizes | widths, participant.get("sex") or "n/a", segment_table, measured)
    origin |= dict.fromkeys(widths, f"markers in {reference.file}")
    by_motion = settings.hip_centre == "functional"
    hips = functional_hips(trials, functional or {}, body_model) if by_motion else {}
    centres = {side: hips[side].centre if side in hips else settings.hip_centre for side in SIDES}
    moving = KneeTrials.of(trials, functional or {}, body_model, settings.knee_axis)
    knees = _knees(moving, settings, reference, person.sizes, centres)
    sides, refused = _usable_sides(reference, person, centres, {side: knee.turn_rad for side, knee in knees.items()})
    dataset = _dataset(reference, person, sides, refused).assign(knee_variables(knees))
    doubts = [*find_doubts(reference.file, dataset)]
    doubts += [warning(reference.file, reference.unclear, SETTLE, "static_results_differ")] * bool(reference.unclear)
    doubts += [doubt for side, knee in knees.items() for doubt in knee.doubts(reference.file, side)]
    lost = [of_side[0]._replace(severity=WARNING) for of_side in refused.values()]
    table, may_move = segment_table["name"], body_model.takes_poses
    findings, masses = findings_on_sizes(row, trials, segment_table=table, may_move=may_move)
    has_trunk = "upper_segment" in dataset.coords
    notes = [*_notes(reference, person, sides), "" if has_trunk else why_left_out(reference), note_on_estimates(row)]
    source = reference.source
    dataset.attrs = {
        **size_attributes(person.sizes, origin, masses, session_row),
        "findings": to_text([finding._asdict() for finding in [*findings, *doubts]]),
        "leg_findings": to_text([finding._asdict() for finding in [*doubts, *lost]]),
        "static_trial": reference.name,
        "segment_parameters": "segments.tsv" if person.legs_measured else table,
        "segment_parameters_reason": "measured" if person.legs_measured else segment_table["reason"],
        "note": "; ".join(dict.fromkeys(filter(None, notes))),
        **{f"hip_centre_{side}": hip_text(hips.get(side), settings.hip_centre) for side in SIDES},
        **{f"knee_axis_{side}": knee.text(settings.knee_axis) for side, knee in knees.items()},
        **{f"{joint}_centre_{side}": text for side, leg in sides.items() for joint, text in leg.texts.items()},
        **({"trunk_and_arms": "posed"} if has_trunk else {}),
        **({"segment_poses": "stated"} if body_model.takes_poses else {}),
        **({"slopes_deg": to_text(slopes)} if (slopes := _stated_slopes(trials)) else {}),
        "static_results": source and f"stated in {trials[source].attrs.get('source', source)}",
    }
    return dataset


def _dataset(
    reference: ReferenceTrial, person: Person, sides: Mapping[str, Side], refused: Mapping[str, Sequence[Problem]]
) -> xr.Dataset:
    """Return the variables of legs, trunk and arms, and what an error of the markers does to them."""
    legs, more = model_dataset(sides, refused), dict[str, Any](static_distance=static_distances(reference.seen))
    if part := person.measured.get(("", UPPER_BODY)):
        more |= {"upper_body_mass": part.mass_kg, "upper_body_com": ("local_axis", part.com)}
        more["upper_body_inertia"] = ("local_axis", "local_axis_2"), part.inertia
    trunk = upper_body(reference, {side: leg.skeleton for side, leg in sides.items()}, legs, person)
    more |= trunk | ({"upper_segment": list(SEGMENTS)} if trunk else {})
    more |= per_marker(reference, {side: leg.calibrated for side, leg in sides.items()})
    noise = orientation_noise(more["segment_turn_per_marker"][1])
    noise[legs.variables["leg_refused"].values != ""] = np.nan
    return legs.assign(more | {"orientation_noise": (("side", "pose"), noise)})


def _notes(reference: ReferenceTrial, person: Person, sides: Mapping[str, Side]) -> list[str]:
    """Return what is assumed of the legs; an empty text for what is not."""
    virtual = [name for name in reference.points if name.startswith("heel_") and name not in reference.seen]
    of_both_sexes = not person.legs_measured and "n/a" not in person.table and person.sex not in ("M", "F")
    return [
        reference.note,
        "no heel marker: its place is that on a flat foot, from ankle, toe and knee" if virtual else "",
        "sex is n/a: body-segment parameters are the mean of both sexes" if of_both_sexes else "",
        *(leg.note for leg in sides.values()),
    ]


def _stated_slopes(trials: Mapping[str, AnyTrial]) -> dict[str, float]:
    """Return by how many degrees the axes of each walk's file rise where the person faces, where that is stated."""
    walks = {
        name: one for name, one in trials.items() if one.attrs.get("role") == "gait" and "rejected" not in one.attrs
    }
    return {name: slope for name, walk in walks.items() if (slope := float(walk.attrs.get(SLOPE, 0.0)))}


def _without_static(
    error: UserError,
    trials: Mapping[str, AnyTrial],
    participant: Mapping[str, str],
    session_row: Mapping[str, str] | None,
    segment_table: str,
) -> xr.Dataset:
    """Return the rejected model of a session without a static trial: sizes of the person, and no leg."""
    sizes, origin, row = sizes_of(participant, "", trials, session_row, mass_needed=False)
    findings, masses = findings_on_sizes(row, trials, segment_table=segment_table, mass_needed=False)
    dataset = model_dataset({}, dict.fromkeys(SIDES, error.problems)).assign(static_distance=static_distances({}))
    of_segments, of_markers = (len(SIDES), len(FROM_PELVIS)), (len("xyz"), 0, len("xyz"))
    unknown = {
        "orientation_noise": np.full(of_segments, np.nan),
        **{f"segment_{name}_per_marker": np.empty((*of_segments, *of_markers)) for name in ("turn", "origin")},
        "joint_centre_per_marker": np.empty((len(SIDES), len(JOINTS), *of_markers)),
    }
    dataset = dataset.assign(with_dims("calibrate", unknown))
    dataset = dataset.assign_coords(marker=np.array([], dtype=str), axis=list("xyz"))
    dataset.attrs = {
        **size_attributes(sizes, origin, masses, session_row),
        "findings": to_text([finding._asdict() for finding in findings]),
        "leg_findings": to_text([]),
        **verdict_by(error.problems),
    }
    return dataset


def _knees(
    trials: KneeTrials,
    settings: Settings,
    reference: ReferenceTrial,
    sizes: Mapping[str, float],
    hip_centres: Mapping[str, str | Array],
) -> dict[str, Knee]:
    """Return by side what functional trials, and walks if the setting takes them, show of the knee's axis."""
    if reference.stated and settings.knee_axis != "markers":
        what = f"calibrate.knee_axis is {settings.knee_axis}, but the files state the rotation of the thigh"
        raise UserError(reference.file, what, "set calibrate.static_results to static", UNUSABLE)
    if reference.stated:
        return {}

    def build(side: str, turn: float) -> CalibratedSide:
        return _build_leg(reference, side, sizes, hip_centres[side], turn)[1]

    return find_knees(
        trials, settings.knee_axis, build, {side: leg.rules for side, leg in reference.model.legs.items()}
    )


def _usable_sides(
    reference: ReferenceTrial, person: Person, hip_centres: Mapping[str, str | Array], knee_turns: Mapping[str, float]
) -> tuple[dict[str, Side], dict[str, tuple[Problem, ...]]]:
    """Return the sides that can be used, and the problems of the others; raise these if neither side can be used."""
    sides: dict[str, Side] = {}
    problems: dict[str, tuple[Problem, ...]] = {}
    for side in SIDES:
        try:
            still, findings, texts, note = _build_leg(
                reference, side, person.sizes, hip_centres[side], knee_turns.get(side, 0.0)
            )
            parameters, unturned = _parameters(reference.points, still, side, person)
        except UserError as error:
            problems[side] = error.within(reference.file).problems
        else:
            sides[side] = Side(still, findings, texts, parameters, "; ".join(filter(None, [unturned, note])))
    if not sides:
        raise UserError.of(dict.fromkeys(problem for of_side in problems.values() for problem in of_side))
    return sides, problems


def _build_leg(
    reference: ReferenceTrial, side: str, sizes: Mapping[str, float], hip_centre: str | Array, knee_turn: float
) -> tuple[Skeleton, CalibratedSide, dict[str, str], str]:
    """Return one side by stated static results or by the markers, how its joint centres are found, and a note.

    By the markers, whether its foot is flat follows from the static results that the trial states, if any.

    Raises:
        UserError: landmarks are missing, a device is wrong, or the leg is none that a person has.
    """
    points, leg, note = reference.points, reference.model.legs[side], ""
    if reference.stated:
        stated = reference.stated[side]
        still, calibrated = skeleton_by_stated_results(points, leg.rules, stated, sizes, hip_centre=hip_centre)
        texts = stated.texts()
    else:
        if leg.lacking:
            raise UserError.of(missing(leg.lacking, reference.model.body_model, reference.labels))
        refuse_wrong_device(reference.seen, reference.model.devices, side)
        if side in reference.own_results:
            stated_rad = reference.own_results[side].plantar_flexion
            still, calibrated, note = skeleton_by_stated_foot(
                points, leg, sizes, hip_centre=hip_centre, stated_rad=stated_rad, knee_turn=knee_turn
            )
        else:
            still, calibrated = static_skeleton(points, leg, sizes, hip_centre=hip_centre, knee_turn=knee_turn)
        texts = leg.texts()
    if reason := reason_of(measures(points, still, side), side):
        raise UserError("", reason, REMEDY, "leg_implausible")
    return still, calibrated, texts, note


def _parameters(points: Points, still: Skeleton, side: str, person: Person) -> tuple[dict[str, SegmentParameters], str]:
    """Return the parameters of one side's segments, the measured ones else those of the table, and a note."""
    parameters, unturned = {}, list[str]()
    other = "_left" if side == "right" else "_right"
    for segment in CHAIN:
        if (side, segment) in person.measured:
            parameters[segment] = person.measured[side, segment]
            continue
        landmarks = {
            name.removesuffix(f"_{side}"): place_in_segment(still, segment, position)
            for name, position in (points | still.centres).items()
            if not name.endswith(other)
        }
        parameters[segment] = person.parameters(segment, side, landmarks)
        if not has_its_axes(person.table, segment, landmarks):
            unturned.append(segment)
    note = f"parameters of {', '.join(unturned)} are used in the body model's axes" if unturned else ""
    return parameters, note
