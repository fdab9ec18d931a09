"""The reference that gait scores compare with, and how it differs from the study."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import xarray as xr

from ...errors import UserError

SAME_IN_BOTH = ("angle_convention", "static_offset")
CONVENTIONAL = "plug_in_gait"  # value of kinematics.angle_convention
CONSTANT = "constant differences of several degrees are possible, most in rotations and in pelvic tilt"


class Reference(NamedTuple):
    """What the gait scores compare with."""

    curves: xr.Dataset | str  # the study.nc of other people, or the text of a table of their mean curves
    about: Mapping[str, Any] = {}  # name, title, citation, people, and remarks for the reader of the report


def describe_reference(
    name: str, curves: xr.Dataset | str, shipped: Mapping[str, Any], attributes: Mapping[str, Any]
) -> Reference:
    """Return a reference, shipped or a file, with what study.nc holds of it."""
    remarks, people = name_differences_from_conventional(attributes) if shipped else [], ""
    if isinstance(curves, xr.Dataset):
        remarks = name_differences(curves.attrs, attributes)
        if "participant" in curves.coords:  # else it is no study.nc, and the step refuses it
            people = f"the {len(set(curves.participant.values.tolist()))} people of {name}"
    about = {"name": name, "title": name, "citation": "", "people": people, **shipped, "remarks": remarks}
    return Reference(curves, about)


def name_differences(reference: Mapping[str, Any], study: Mapping[str, Any]) -> list[str]:
    """Return how the angles of two studies may differ by their body models; refuse other definitions of the angles."""
    there, here = (json.loads(attributes.get("settings", "{}")) for attributes in (reference, study))
    for name in SAME_IN_BOTH:
        values = [used.get("kinematics", {}).get(name) for used in (there, here)]
        if None not in values and values[0] != values[1]:
            raise UserError(
                "study.reference",
                f"computed with kinematics.{name} {values[0]}, this study with {values[1]}",
                "use the same setting in both, their angles are compared",
            )
    models = [used.get("body_model") for used in (there, here)]
    if None in models or models[0] == models[1]:
        return []
    return [f"the reference has the body model {models[0]}, this study {models[1]}: {CONSTANT}"]


def name_differences_from_conventional(attributes: Mapping[str, Any]) -> list[str]:
    """Return how the angles of a study may differ from those of the conventional gait model, in sentences.

    The shipped body models of its kind, and what extends them, have the angle convention of Plug-in Gait.
    """
    used = json.loads(attributes.get("settings", "{}"))
    kinematics, remarks = used.get("kinematics", {}), []
    if kinematics.get("angle_convention", CONVENTIONAL) != CONVENTIONAL:
        model = used.get("body_model", "of another kind")
        remarks.append(f"the reference has the conventional gait model, this study the body model {model}: {CONSTANT}")
    if kinematics.get("static_offset") == "subtract":
        remarks.append(
            "kinematics.static_offset removes the angles of the static trial, which the reference includes: angles of "
            "hip, knee and ankle cannot be compared"
        )
    return remarks
