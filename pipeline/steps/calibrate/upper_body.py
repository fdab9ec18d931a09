"""Trunk, head and arms of a session: the sizes, masses and inertia of their segments, and the waist.

Masses are those of the table, scaled so that they and the legs make up the body's mass.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.landmarks import Points, positions
from ...body.skeleton import Skeleton, body_height_m
from ...conventions import ARM, SIDES
from ...dynamics.vectors import rotate, transpose
from ...errors import UserError
from ...tables.study_tables import ANTHROPOMETRY_RANGES
from ...whole_body.skeleton import ORIGIN, SEGMENTS, build, head_tilt, trunk_axes, upper_sizes, waist_centre
from .reference_trial import ReferenceTrial
from .segment_parameters import SegmentParameters, from_table

PELVIS = "pelvis"


def upper_body(
    reference: ReferenceTrial,
    legs: Mapping[str, Skeleton],
    calibrated: xr.Dataset,
    measured: Mapping[tuple[str, str], SegmentParameters],
    table: Mapping[str, Any],
    sizes: Mapping[str, float],
    sex: str,
) -> dict[str, Any]:
    """Return trunk, head and arms as variables; none if the reference trial shows no thorax or only one leg.

    Args:
        legs: of the reference trial, by side.
        calibrated: the legs of the session.
        measured: parameters by side (none for pelvis, thorax and head) and segment, which win over the table.
        table: of config/segment_parameters.yaml, for the person.
        sizes: kg and m, by column of participants.tsv.
        sex: ``M``, ``F`` or ``n/a``.
    """
    model = reference.model.body_model
    if not model.upper_body or len(legs) < len(SIDES) or "head" not in table.get("n/a", table.get("M", {})):
        return {}
    height = body_height_m(calibrated.assign_attrs(body_height_m=sizes.get("height_m", np.nan)))
    pelvis = legs[SIDES[0]].frames[PELVIS]
    hips = np.stack([legs[side].centres["hip_centre"] for side in SIDES], axis=1)
    middle, waist = hips.mean(axis=1), waist_centre(pelvis, hips)
    lengths, markers = upper_sizes(sizes, height), _markers(reference)
    still = build(model.upper_body, markers, pelvis, middle, waist, lengths)
    if still is None:
        return {}
    tilt = head_tilt(still.frames["head"]) if "head" in still.seen else 0.0
    still = build(model.upper_body, markers, pelvis, middle, waist, lengths | {"head_tilt": tilt}) or still
    whole = {**still.frames, PELVIS: pelvis}
    origins = {segment: still.centres[ORIGIN[segment]] for segment in SEGMENTS} | {PELVIS: middle}
    parameters = {}
    given = {(side if side in SIDES else "", name): one for (side, name), one in measured.items()}
    for segment in (PELVIS, *SEGMENTS):
        name, _, side = segment.rpartition("_")
        key = (side, name) if name in ARM else ("", segment)
        own = {"hip_middle": middle, "waist": waist}
        own |= {point.removesuffix(f"_{side}"): place for point, place in still.centres.items()}
        places = {point: _place(whole[segment], place - origins[segment]) for point, place in own.items()}
        if not np.isfinite(np.concatenate([*places.values()])).all():  # no frame shows the segment with the trunk
            return {}
        places |= {"floor": np.zeros(3), "crown": np.array([0.0, height, 0.0])}
        parameters[segment] = given.get(key) or from_table(
            table, key[1], side=side if name in ARM else "right", sex=sex, body_mass_kg=sizes["mass_kg"],
            landmarks=places,
        )  # fmt: skip
    ribs = transpose(whole["thorax"])
    in_trunk = rotate(trunk_axes(whole["thorax"], still.centres["neck"], waist), rotate(ribs, parameters["thorax"].com))
    parameters["thorax"] = parameters["thorax"]._replace(com=_median(in_trunk))
    scale = _scale_of_masses(parameters, given, calibrated.segment_mass.values, sizes["mass_kg"])
    rest = [parameters[segment] for segment in SEGMENTS]
    factor = np.array([scale.get(segment, 1.0) for segment in SEGMENTS])
    of_segment = ("upper_segment",)
    return {
        "upper_segment_mass": (of_segment, factor * [one.mass_kg for one in rest]),
        "upper_segment_com": ((*of_segment, "local_axis"), np.stack([one.com for one in rest])),
        "upper_segment_inertia": (
            (*of_segment, "local_axis", "local_axis_2"),
            factor[:, None, None] * np.stack([one.inertia for one in rest]),
        ),
        "head_tilt": ((), tilt),
        "pelvis_mass": ((), scale.get(PELVIS, 1.0) * parameters[PELVIS].mass_kg),
        "pelvis_com": ("local_axis", parameters[PELVIS].com),
        "pelvis_inertia": (("local_axis", "local_axis_2"), scale.get(PELVIS, 1.0) * parameters[PELVIS].inertia),
    }


def elbow_widths(reference: ReferenceTrial, radius_m: float) -> dict[str, float]:
    """Return the elbow widths that markers on both sides show, m, by column of participants.tsv."""
    seen, widths = _markers(reference), dict[str, float]()
    for side in SIDES:
        if {f"elbow_lateral_{side}", f"elbow_medial_{side}"} <= seen.keys():
            apart = np.linalg.norm(seen[f"elbow_lateral_{side}"] - seen[f"elbow_medial_{side}"], axis=1)
            column, apart = f"elbow_width_{side}_m", apart[np.isfinite(apart)]
            width = float(np.median(apart)) - 2 * radius_m if apart.size else np.nan
            lowest, highest = ANTHROPOMETRY_RANGES[column]
            widths |= {column: width} if lowest <= width <= highest else {}
    return widths


def why_left_out(reference: ReferenceTrial) -> str:
    """Return a note for a session without trunk and arms, empty if its reference trial has no marker of them."""
    shown = "the static trial does not show both legs and the thorax, with neck and shoulders"
    return f"trunk and arms are left out: {shown}" if _markers(reference) else ""


def _markers(reference: ReferenceTrial) -> Points:
    """Return the landmarks of the upper body in the reference trial."""
    model = reference.model.body_model
    return positions(BodyModel(model.name, model.upper_landmarks), reference.labels, reference.markers)


def _place(rotation: Array, arm: Array) -> Array:
    """Return the median place (3,) of arms (time, 3) in the axes of a segment, m; NaN where it is never seen."""
    return _median(rotate(rotation, arm))


def _median(vectors: Array) -> Array:
    """Return the median (3,) of vectors (time, 3); NaN where none is known."""
    seen = np.isfinite(vectors).all(axis=1)
    return np.median(vectors[seen], axis=0) if seen.any() else np.full(3, np.nan)


def _scale_of_masses(
    parameters: Mapping[str, SegmentParameters],
    measured: Mapping[tuple[str, str], SegmentParameters],
    legs_kg: Array,
    body_kg: float,
) -> dict[str, float]:
    """Return by which the masses of the table are multiplied so that all segments make up the body."""
    fixed = {(f"{name}_{side}" if side else name) for side, name in measured}
    free = {name: one.mass_kg for name, one in parameters.items() if name not in fixed}
    kept = sum(one.mass_kg for name, one in parameters.items() if name in fixed)
    left = body_kg - float(legs_kg.sum()) - kept
    if free and left <= 0:
        what = f"its masses and those of the legs leave {left:.1f} kg for {', '.join(free)}"
        raise UserError("segments.tsv", what, "correct mass_kg of its rows", "segment_parameters_wrong")
    return dict.fromkeys(free, left / sum(free.values())) if free else {}
