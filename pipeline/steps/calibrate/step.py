"""Step ``calibrate``: the session's model of the person, from the static trial or from static results in the files.

It holds joint centres, marker clusters and body-segment parameters in segment axes, which move with the segments.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.body_model import BodyModel
from ...body.landmarks import Points, chosen_labels, missing, positions, seen_labels, with_heels
from ...body.plausibility import REMEDY, measures, reason_of
from ...body.requirements import chosen_rules, lacking_in_motion, lacking_landmarks, virtual_landmarks
from ...body.skeleton import CalibratedSide, Skeleton
from ...body.static_results import StaticResults, stated_in
from ...body.static_skeleton import (
    place_in_segment,
    refuse_wrong_device,
    skeleton_by_stated_foot,
    stated_skeleton,
    static_skeleton,
    with_virtual,
)  # fmt: skip
from ...conventions import CHAIN, SIDES, UPPER_BODY
from ...errors import Problem, UserError
from ...trials.session import AnyTrial, trials_of
from .anthropometry import findings_on_sizes, note_on_estimates, size_attributes, sizes_of
from .functional_hip import functional_hips, hip_text
from .marker_sensitivity import per_marker
from .model_dataset import Side, model_dataset, static_distances
from .segment_parameters import SegmentParameters, from_measurement, from_table, has_its_axes

Array = NDArray[np.float64]
NEEDS = {"read": ("marker_position",)}  # all that is loaded of an input


class Standing(NamedTuple):
    """How the person stands in the trial that defines the model.

    Attributes:
        labels: of the file.
        seen: its landmarks (time, 3), m; ``points`` also has those that an alignment device shows, and virtual heels.
        stated: by side, the static results that the trial itself states.
    """

    labels: list[str]
    seen: Points
    points: Points
    stated: Mapping[str, StaticResults]


def calibrate(
    read: xr.Dataset,
    *,
    body_model: BodyModel,
    participant: Mapping[str, str],
    segments: Sequence[Mapping[str, str]],
    segment_table: Mapping[str, Any],
    segment_parameters: str,
    hip_centre: str,
    static_results: str = "stated",
    functional: Mapping[str, str] | None = None,
) -> xr.Dataset:
    """Calibrate a session.

    Args:
        read: the session, with the static trial unless its walks state their static results.
        body_model: the body model.
        participant: cells of participants.tsv; absent sizes are read from the PROCESSING group of the trial that
            defines the model, then of the other trials.
        segments: the participant's rows of segments.tsv, which replace the table's.
        segment_table: table of config/segment_parameters.yaml.
        segment_parameters: its name.
        hip_centre: name of a regression, see :mod:`pipeline.body.joint_centres`, or ``functional``.
        static_results: ``stated`` takes the static results of Plug-in Gait where a file states them and the body model
            is of that kind, ``static`` always calibrates from the markers of the static trial.
        functional: conditions of the functional trials: ``hip``, ``hip_left`` or ``hip_right``.

    Returns:
        A flat dataset. Per segment: ``segment_mass``, ``segment_com`` (from the proximal joint centre, segment
        axes), ``segment_inertia``, ``segment_length``. For motion: ``cluster_position`` of the markers of each segment,
        ``joint_position`` of each joint centre in the segment that carries it, ``technical_rotation`` from the axes
        built in motion to the anatomical ones, the chords (``chord_radius``, ``chord_rotation``, ``chord_abduction``),
        ``tibial_torsion``; ``static_rotation``, the posture of the static trial;
        ``static_distance`` between its landmarks; the effects of markers (:func:`per_marker`). ``leg_refused`` is why
        a side cannot be used; all else of it is NaN. ``upper_body_mass``, ``_com`` (from the midpoint of the hips) and
        ``_inertia`` if measured.

    Raises:
        UserError: no usable static trial, no side that can be used, body mass missing, functional trial that cannot be
            used.
    """
    trials = trials_of(read)
    source, stated = _stated(trials) if static_results == "stated" and body_model.may_be_stated else ("", {})
    name, static = _reference_trial(trials, body_model, source)
    sizes, origin = sizes_of(participant, source or name, trials)
    standing = _standing(static, body_model)
    virtual = [name for name in standing.points if name.startswith("heel_") and name not in standing.seen]
    hips = functional_hips(trials, functional or {}, body_model) if hip_centre == "functional" else {}
    measured = {(row["side"], row["segment"]): from_measurement(row) for row in segments}
    upper = [measured.pop(key) for key in [*measured] if key[1] == UPPER_BODY]
    sex = participant.get("sex") or "n/a"

    def calibrated_side(side: str) -> Side:
        hip = hips[side].centre if side in hips else hip_centre
        own_results = stated[side] if stated else None
        still, calibrated, texts, note = _posed(standing, body_model, side, own_results, sizes, hip)
        own = {segment: parameters for (of, segment), parameters in measured.items() if of == side}
        parameters, unturned = _parameters(
            standing.points, still, own, side, segment_table, sex=sex, body_mass_kg=sizes["mass_kg"]
        )
        return Side(still, calibrated, texts, parameters, "; ".join(filter(None, [unturned, note])))

    sides, refused = _usable_sides(calibrated_side, where=static.attrs.get("source", name))
    dataset = model_dataset(sides, refused).assign(
        static_distance=static_distances(standing.seen), **_of_upper_body(upper)
    )
    calibrated = {side: found.calibrated for side, found in sides.items()}
    dataset = dataset.assign(
        per_marker(body_model, calibrated, standing.labels, static.marker_position.values, standing.points)
    )
    notes = [
        _note_on_results(source, trials),
        "no heel marker: its place is that on a flat foot, from ankle, toe and knee" if virtual else "",
        _note_on_sex(sex, segment_table, measured),
        *(found.note for found in sides.values()),
    ]
    findings, masses = findings_on_sizes(participant, trials, segment_table=segment_parameters)
    dataset.attrs = {
        **size_attributes(sizes, origin),
        "body_mass_shown": "; ".join(masses),
        "findings": json.dumps([finding._asdict() for finding in findings]),
        "static_trial": name,
        "segment_parameters": "segments.tsv" if len(measured) == 6 else segment_parameters,
        "note": "; ".join(dict.fromkeys(filter(None, [*notes, note_on_estimates(participant)]))),
        **{f"hip_centre_{side}": hip_text(hips.get(side), hip_centre) for side in SIDES},
        **{f"{joint}_centre_{side}": text for side, own in sides.items() for joint, text in own.texts.items()},
        "static_results": source and f"stated in {trials[source].attrs.get('source', source)}",
    }
    return dataset


def _standing(static: AnyTrial, body_model: BodyModel) -> Standing:
    labels = [str(label) for label in static.marker.values]
    seen = positions(body_model, labels, static.marker_position.values)
    points = with_heels(with_virtual(seen, body_model), {}, static.variables["time"].values)
    stated = stated_in(str(static.attrs.get("static_results", ""))) if body_model.may_be_stated else {}
    return Standing(labels, seen, points, stated)


def _posed(
    standing: Standing,
    body_model: BodyModel,
    side: str,
    stated: StaticResults | None,
    sizes: Mapping[str, float],
    hip_centre: str | Array,
) -> tuple[Skeleton, CalibratedSide, dict[str, str], str]:
    """Return one side by stated static results or by the markers, how its joint centres are found, and a note.

    By the markers, whether its foot is flat follows from the static results that the trial states, if any.

    Raises:
        UserError: landmarks are missing, a device is wrong, or the leg is none that a person has.
    """
    points, note = standing.points, ""
    if stated:
        still, calibrated = stated_skeleton(points, body_model, stated, side, sizes, hip_centre=hip_centre)
        texts = stated.texts()
    else:
        if absent := lacking_landmarks(body_model, points, side):
            raise UserError.of(missing(absent, body_model, standing.labels))
        refuse_wrong_device(standing.seen, body_model, side)
        rules = chosen_rules(body_model, points, side)
        if known := standing.stated.get(side):
            still, calibrated, note = skeleton_by_stated_foot(
                points, body_model, rules, side, sizes, hip_centre=hip_centre, stated_rad=known.plantar_flexion
            )
        else:
            still, calibrated = static_skeleton(points, body_model, rules, side, sizes, hip_centre=hip_centre)
        named = {joint: rule for joint, rule in rules.items() if joint != "hip" or rule.method == "shown"}
        texts = {joint: f"{rule.method}: {', '.join(rule.points)}" for joint, rule in named.items()}
    if reason := reason_of(measures(points, still, side), side):
        raise UserError("", reason, REMEDY)
    return still, calibrated, texts, note


def _parameters(
    points: Points,
    still: Skeleton,
    own: Mapping[str, SegmentParameters],
    side: str,
    table: Mapping[str, Any],
    *,
    sex: str,
    body_mass_kg: float,
) -> tuple[dict[str, SegmentParameters], str]:
    """Return the parameters of one side's segments, the measured ones else those of the table, and a note."""
    parameters, unturned = {**own}, []
    for segment in CHAIN:
        if segment in own:
            continue
        landmarks = _in_segment_axes(points, still, segment, side)
        parameters[segment] = from_table(
            table, segment, side=side, sex=sex, body_mass_kg=body_mass_kg, landmarks=landmarks
        )
        if not has_its_axes(table, segment, landmarks):
            unturned.append(segment)
    note = f"parameters of {', '.join(unturned)} are used in the body model's axes" if unturned else ""
    return parameters, note


def _of_upper_body(measured: Sequence[SegmentParameters]) -> dict[str, Any]:
    """Return the measured upper body as variables, none if there is none."""
    found: dict[str, Any] = {}
    for own in measured:
        found["upper_body_mass"] = ((), own.mass_kg)
        found["upper_body_com"] = ("local_axis", own.com)
        found["upper_body_inertia"] = (("local_axis", "local_axis_2"), own.inertia)
    return found


def _usable_sides(calibrated_side: Callable[[str], Side], *, where: str) -> tuple[dict[str, Side], dict[str, str]]:
    """Return the sides that can be used, and the reasons against the others.

    Raises:
        UserError: all problems of both sides, if neither can be used.
    """
    sides: dict[str, Side] = {}
    problems: dict[str, tuple[Problem, ...]] = {}
    for side in SIDES:
        try:
            sides[side] = calibrated_side(side)
        except UserError as error:
            problems[side] = error.within(where).problems
    if not sides:
        raise UserError.of(dict.fromkeys(problem for of_side in problems.values() for problem in of_side))
    more = {side: f" (and {len(of_side) - 1} more)" if of_side[1:] else "" for side, of_side in problems.items()}
    return sides, {side: f"{of_side[0]}{more[side]}" for side, of_side in problems.items()}


def _stated(read: Mapping[str, AnyTrial]) -> tuple[str, dict[str, StaticResults]]:
    """Return the trial that states the session's static results, and these by side; empty if none does.

    A walk states the results by which the laboratory processed it. If walks differ, those are taken that the static
    trial states too, else those of most walks; ``kinematics`` gives each walk its own.
    """
    texts = {name: str(trial.attrs.get("static_results", "")) for name, trial in read.items()}
    roles = {name: trial.attrs.get("role", "gait") for name, trial in read.items()}
    static = [name for name, text in texts.items() if text and roles[name] == "static"]
    walks = [name for name, text in texts.items() if text and roles[name] == "gait"]
    count = Counter(texts[name] for name in walks)
    same = [name for name in walks if texts[name] in {texts[other] for other in static}]
    usual = [name for name in walks if count[texts[name]] == max(count.values())]
    source = next(iter([*same, *usual, *static]), "")
    return source, stated_in(texts.get(source, ""))


def _note_on_results(source: str, read: Mapping[str, AnyTrial]) -> str:
    """Return a note on the use of stated static results, or an empty text."""
    if not source:
        return ""
    text = read[source].attrs["static_results"]
    walks = {name: trial for name, trial in read.items() if trial.attrs.get("role", "gait") == "gait"}
    others = [name for name, trial in walks.items() if trial.attrs.get("static_results", text) not in ("", text)]
    differ = f"; {', '.join(others)} {'state' if others[1:] else 'states'} others, used for walks" if others else ""
    return f"the model has the static results stated in {source}{differ}"


def _reference_trial(read: Mapping[str, AnyTrial], body_model: BodyModel, source: str) -> tuple[str, AnyTrial]:
    """Return the trial that defines the model by its markers: the static trial.

    With the static results of a ``source``, a walk that shows the markers will do.

    Raises:
        UserError: there is none, or it cannot be used.
    """
    statics = {name: trial for name, trial in read.items() if trial.attrs.get("role") == "static"}
    if source:
        walks = {name: trial for name, trial in read.items() if trial.attrs.get("role", "gait") == "gait"}
        for name, trial in (statics | {source: read[source]} | walks).items():
            if "rejected" not in trial.attrs and not _lacks(trial, body_model):
                return name, trial
    if not statics:
        raise UserError("trials.tsv", "no static trial", "list one with role static (a file may have several rows)")
    name, trial = next(iter(statics.items()))
    if "rejected" in trial.attrs:
        raise UserError(f"static trial {name}", trial.attrs["rejected"], "")
    return name, trial


def _lacks(trial: AnyTrial, body_model: BodyModel) -> bool:
    """Return whether a trial lacks landmarks that motion needs; those that a device shows count as seen."""
    labels = [str(label) for label in trial.marker.values]
    seen = {*chosen_labels(body_model, seen_labels(labels, trial.marker_position.values))}
    seen |= {*virtual_landmarks(body_model, seen)}
    return bool(lacking_in_motion(body_model, seen, seen))


def _note_on_sex(sex: str, table: Mapping[str, Any], measured: Mapping[Any, Any]) -> str:
    if len(measured) == 6 or "n/a" in table or sex in ("M", "F"):
        return ""
    return "sex is n/a: body-segment parameters are the mean of both sexes"


def _in_segment_axes(points: Points, still: Skeleton, segment: str, side: str) -> dict[str, Array]:
    """Return landmarks and joint centres (3,), mean of the trial, in a segment's axes from its proximal joint, m."""
    other = "_left" if side == "right" else "_right"
    return {
        name.removesuffix(f"_{side}"): place_in_segment(still, segment, position)
        for name, position in (points | still.centres).items()
        if not name.endswith(other)
    }
