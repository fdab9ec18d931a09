"""Step ``calibrate``: one model of the session's person from the static trial.

Joint centres, marker clusters and body-segment parameters in segment axes; motion then only carries them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.body_model import BodyModel
from ...body.landmarks import Points, missing, positions
from ...body.requirements import chosen_rules, lacking_landmarks
from ...body.skeleton import CalibratedSide, Skeleton
from ...body.static_skeleton import static_skeleton, with_virtual
from ...conventions import CHAIN, SIDES
from ...errors import UserError
from .anthropometry import note_on_widths, size_attributes, sizes_of
from .functional_hip import functional_hips, hip_text
from .marker_sensitivity import sensitivity
from .model_dataset import model_dataset, static_distances
from .segment_parameters import SegmentParameters, from_measurement, from_table, has_its_axes

Array = NDArray[np.float64]
# variables of its inputs that the step uses; the bridge loads no others
USES = {"read": ("marker_position",)}


def calibrate(
    read: Mapping[str, xr.Dataset],
    *,
    body_model: BodyModel,
    participant: Mapping[str, str],
    segments: Sequence[Mapping[str, str]],
    segment_table: Mapping[str, Any],
    segment_parameters: str,
    hip_centre: str,
    functional: Mapping[str, str] | None = None,
) -> xr.Dataset:
    """Calibrate a session.

    Args:
        read: the session's trials, the static one among them.
        body_model: the body model.
        participant: cells of participants.tsv; what they lack is looked up in the PROCESSING group of the
            static trial, then of the other trials.
        segments: the participant's rows of segments.tsv, which win over the table.
        segment_table: table of body-segment parameters, of config/segment_parameters.yaml.
        segment_parameters: its name.
        hip_centre: name of a regression, see :mod:`pipeline.body.joint_centres`, or ``functional``.
        functional: conditions of the functional trials: ``hip``, ``hip_left`` or ``hip_right``.

    Returns:
        A flat dataset. Per segment: ``segment_mass``, ``segment_com`` (from the proximal joint centre, segment
        axes), ``segment_inertia``, ``segment_length``. For the motion: ``cluster_position`` of the markers that
        show each segment's pose, ``joint_position`` of each joint centre in the segment that carries it,
        ``technical_rotation`` from the axes built in motion to the anatomical ones, ``chord_radius``;
        ``static_rotation``, the posture of the static trial, ``static_distance`` between its landmarks.

    Raises:
        UserError: no usable static trial, landmarks or body mass missing, functional trial that cannot be used.
    """
    name, static = _static_trial(read)
    sizes, origin = sizes_of(participant, name, read)
    labels = [str(label) for label in static.marker.values]
    shown = positions(body_model, labels, static.marker_position.values)
    points = with_virtual(shown, body_model)
    hips = functional_hips(read, functional or {}, body_model) if hip_centre == "functional" else {}
    measured = {(row["side"], row["segment"]): from_measurement(row) for row in segments}

    def of_side(side: str) -> _Side:
        return _side(
            points, labels, side, sizes, measured, body_model, table=segment_table,
            hip_centre=hips[side].centre if side in hips else hip_centre, sex=participant.get("sex") or "n/a",
        )  # fmt: skip

    sides = _both_sides(of_side, where=static.attrs.get("source", name))
    calibrated = {side: found.calibrated for side, found in sides.items()}
    dataset = model_dataset(
        {side: found.skeleton for side, found in sides.items()},
        calibrated,
        {side: found.parameters for side, found in sides.items()},
    )
    dataset = dataset.assign(_per_marker(body_model, calibrated, labels, static.marker_position.values, points))
    dataset = dataset.assign(static_distance=static_distances(shown))
    notes = [_note_on_sex(participant, segment_table, measured), *(found.note for found in sides.values())]
    dataset.attrs = {
        **size_attributes(sizes, origin),
        "static_trial": name,
        "segment_parameters": "segments.tsv" if len(measured) == 6 else segment_parameters,
        "note": "; ".join(dict.fromkeys(filter(None, [*notes, note_on_widths(participant)]))),
        **{f"hip_centre_{side}": hip_text(hips.get(side), hip_centre) for side in SIDES},
        **{f"{joint}_centre_{side}": sides[side].rules[joint] for joint in ("knee", "ankle") for side in SIDES},
    }
    return dataset


class _Side(NamedTuple):
    """What the static trial tells of one side.

    Attributes:
        skeleton: frames and joint centres.
        calibrated: clusters, and the places of joint centres in segments.
        parameters: of each segment.
        note: what is to be said of these.
        rules: how each joint centre was found.
    """

    skeleton: Skeleton
    calibrated: CalibratedSide
    parameters: dict[str, SegmentParameters]
    note: str
    rules: dict[str, str]


def _side(
    points: Points,
    labels: list[str],
    side: str,
    sizes: Mapping[str, float],
    measured: Mapping[tuple[str, str], SegmentParameters],
    body_model: BodyModel,
    *,
    hip_centre: str | Array,
    table: Mapping[str, Any],
    sex: str,
) -> _Side:
    """Return what the static trial tells of one side.

    Raises:
        UserError: landmarks or sizes are missing.
    """
    if absent := lacking_landmarks(body_model, points, side):
        raise UserError("; ".join(missing(name, body_model, labels) for name in absent))
    rules = chosen_rules(body_model, points, side)
    still, calibrated = static_skeleton(points, body_model, rules, side, sizes, hip_centre=hip_centre)
    parameters, unturned = {}, []
    for segment in CHAIN:
        landmarks = _in_segment_axes(points, still, segment, side)
        if own := measured.get((side, segment)):
            parameters[segment] = own
            continue
        parameters[segment] = from_table(
            table, segment, side=side, sex=sex, body_mass_kg=sizes["mass_kg"], landmarks=landmarks
        )
        if not has_its_axes(table, segment, landmarks):
            unturned.append(segment)
    said = f"parameters of {', '.join(unturned)} are used in the body model's axes" if unturned else ""
    told = {joint: f"{rule.method}: {', '.join(rule.points)}" for joint, rule in rules.items()}
    return _Side(still, calibrated, parameters, said, told)


def _both_sides(of_side: Callable[[str], _Side], *, where: str) -> dict[str, _Side]:
    """Return what is found of each side.

    Raises:
        UserError: what is wrong with either side, said once of both.
    """
    sides, problems = {}, []
    for side in SIDES:
        try:
            sides[side] = of_side(side)
        except UserError as error:
            problems.append(str(error))
    if problems:
        raise UserError(f"{where}: {'; '.join(dict.fromkeys(problems))}")
    return sides


def _static_trial(read: Mapping[str, xr.Dataset]) -> tuple[str, xr.Dataset]:
    statics = {name: trial for name, trial in read.items() if trial.attrs.get("role") == "static"}
    if not statics:
        raise UserError("no static trial: list one with role 'static' in trials.tsv (a file may stand in several rows)")
    name, trial = next(iter(statics.items()))
    if "rejected" in trial.attrs:
        raise UserError(f"static trial {name}: {trial.attrs['rejected']}")
    return name, trial


def _note_on_sex(participant: Mapping[str, str], table: Mapping[str, Any], measured: Mapping[Any, Any]) -> str:
    if len(measured) == 6 or "n/a" in table or participant.get("sex") in ("M", "F"):
        return ""
    return "sex is n/a: body-segment parameters are the mean of both sexes"


def _in_segment_axes(points: Points, still: Skeleton, segment: str, side: str) -> dict[str, Array]:
    """Return landmarks and joint centres, mean of the trial, in a segment's axes from its proximal joint centre."""
    rotation, origin = still.frames[segment], still.origins[segment]
    local = {}
    for name, position in (points | still.centres).items():
        if not name.endswith("_left" if side == "right" else "_right"):
            inside = np.einsum("tij,tj->ti", rotation, position - origin)
            local[name.removesuffix(f"_{side}")] = _mean(inside)
    return local


def _per_marker(
    body_model: BodyModel, calibrated: Mapping[str, CalibratedSide], labels: list[str], markers: Array, points: Points
) -> dict[str, Any]:
    """Return what displacements of markers do to poses and joint centres, for the uncertainty of ``kinetics``."""
    found = sensitivity(body_model, calibrated, labels, markers, points)
    where = ("local_axis", "marker", "axis")
    return {
        "marker": np.array(found.markers, dtype=str),
        "axis": list("xyz"),
        "segment_turn_per_marker": (("side", "pose", *where), found.turn),
        "segment_origin_per_marker": (("side", "pose", *where), found.origin),
        "joint_centre_per_marker": (("side", "joint", *where), found.centre),
    }


def _mean(values: Array) -> Array:
    seen = values[np.isfinite(values).reshape(len(values), -1).all(axis=1)]
    return np.asarray(seen.mean(axis=0)) if len(seen) else np.full(values.shape[1:], np.nan)
