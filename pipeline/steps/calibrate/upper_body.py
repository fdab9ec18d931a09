"""Trunk, head and arms of a session: the sizes, masses and inertia of their segments, and the waist.

Masses are those of the table, scaled so that they and the legs make up the body's mass.
"""

from collections.abc import Mapping
from functools import partial
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
from .segment_parameters import Person, SegmentParameters

PELVIS = "pelvis"


def upper_body(
    reference: ReferenceTrial, legs: Mapping[str, Skeleton], calibrated: xr.Dataset, person: Person
) -> dict[str, Any]:
    """Return trunk, head and arms as variables; none if the reference trial shows no thorax or only one leg.

    Args:
        legs: of the reference trial, by side.
        calibrated: the legs of the session.
    """
    has_head = "head" in person.table.get("n/a", person.table.get("M", {}))
    if not reference.model.body_model.upper_body or len(legs) < len(SIDES) or not has_head:
        return {}
    height = body_height_m(calibrated.assign_attrs(body_height_m=person.sizes.get("height_m", np.nan)))
    pelvis = legs[SIDES[0]].frames[PELVIS]
    hips = np.stack([legs[side].centres["hip_centre"] for side in SIDES], axis=1)
    middle, waist = hips.mean(axis=1), waist_centre(pelvis, hips)
    build_with = partial(build, reference.model.body_model.upper_body, _markers(reference), pelvis, middle, waist)
    lengths = upper_sizes(person.sizes, height)
    still = build_with(lengths)
    if still is None:
        return {}
    tilt = head_tilt(still.frames["head"]) if "head" in still.seen else 0.0
    still = build_with(lengths | {"head_tilt": tilt}) or still
    rotation = still.frames | {PELVIS: pelvis}
    origin = {segment: still.centres[ORIGIN[segment]] for segment in SEGMENTS} | {PELVIS: middle}
    points = {"hip_middle": middle, "waist": waist} | still.centres
    parameters = _parameters(person, rotation, origin, points, height)
    if not parameters:
        return {}
    trunk = trunk_axes(still.frames["thorax"], still.centres["neck"], waist)
    in_trunk = rotate(trunk, rotate(transpose(still.frames["thorax"]), parameters["thorax"].com))
    parameters["thorax"] = parameters["thorax"]._replace(com=_median(in_trunk))
    fixed = {segment for segment in parameters if _side_and_name(segment) in person.measured}
    free = {name: one.mass_kg for name, one in parameters.items() if name not in fixed}
    kept = sum(one.mass_kg for name, one in parameters.items() if name in fixed)
    left = person.sizes["mass_kg"] - float(calibrated.segment_mass.values.sum()) - kept
    if free and left <= 0:
        what = f"its masses and those of the legs leave {left:.1f} kg for {', '.join(free)}"
        raise UserError("segments.tsv", what, "correct mass_kg of its rows", "segment_parameters_wrong")
    scales = dict.fromkeys(free, left / sum(free.values())) if free else {}  # so that all segments make up the body
    return {"head_tilt": ((), tilt), **_variables(parameters, scales)}


def _parameters(
    person: Person,
    rotation: Mapping[str, Array],
    origin: Mapping[str, Array],
    points: Mapping[str, Array],
    height_m: float,
) -> dict[str, SegmentParameters]:
    """Return the parameters of each segment, measured or by the table; none if no frame shows one with the trunk.

    Args:
        rotation: axes (time, 3, 3) by segment.
        origin, points: (time, 3), m, by segment and by name.
    """
    parameters = {}
    for segment in (PELVIS, *SEGMENTS):
        places = {name: _median(rotate(rotation[segment], at - origin[segment])) for name, at in points.items()}
        if not np.isfinite(np.concatenate([*places.values()])).all():
            return {}
        side, name = _side_and_name(segment)
        own = {point.removesuffix(f"_{side}"): place for point, place in places.items()}
        own |= {"floor": np.zeros(3), "crown": np.array([0.0, height_m, 0.0])}
        parameters[segment] = person.measured.get((side, name)) or person.parameters(name, side or "right", own)
    return parameters


def _side_and_name(segment: str) -> tuple[str, str]:
    """Return side and name of a segment; the side is empty in the middle."""
    name, _, side = segment.rpartition("_")
    return (side, name) if name in ARM else ("", segment)


def _variables(parameters: Mapping[str, SegmentParameters], scale: Mapping[str, float]) -> dict[str, Any]:
    """Return masses, centres of mass and inertia, the masses of the table multiplied by a scale by segment."""
    rest, pelvis = [parameters[segment] for segment in SEGMENTS], parameters[PELVIS]
    factor, of_pelvis = np.array([scale.get(segment, 1.0) for segment in SEGMENTS]), scale.get(PELVIS, 1.0)
    axes, inertia = ("local_axis", "local_axis_2"), np.stack([one.inertia for one in rest])
    return {
        "upper_segment_mass": ("upper_segment", factor * [one.mass_kg for one in rest]),
        "upper_segment_com": (("upper_segment", "local_axis"), np.stack([one.com for one in rest])),
        "upper_segment_inertia": (("upper_segment", *axes), factor[:, None, None] * inertia),
        "pelvis_mass": ((), of_pelvis * pelvis.mass_kg),
        "pelvis_com": ("local_axis", pelvis.com),
        "pelvis_inertia": (axes, of_pelvis * pelvis.inertia),
    }


def elbow_widths(reference: ReferenceTrial, sizes: Mapping[str, float]) -> dict[str, float]:
    """Return the elbow widths that markers on both sides show, m, by column of participants.tsv."""
    seen, widths = _markers(reference), dict[str, float]()
    for side in SIDES:
        if {f"elbow_lateral_{side}", f"elbow_medial_{side}"} <= seen.keys():
            apart = np.linalg.norm(seen[f"elbow_lateral_{side}"] - seen[f"elbow_medial_{side}"], axis=1)
            column, apart = f"elbow_width_{side}_m", apart[np.isfinite(apart)]
            width = float(np.median(apart)) - sizes["marker_diameter_m"] if apart.size else np.nan
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


def _median(vectors: Array) -> Array:
    """Return the median (3,) of vectors (time, 3); NaN where none is known."""
    seen = np.isfinite(vectors).all(axis=1)
    return np.median(vectors[seen], axis=0) if seen.any() else np.full(3, np.nan)
