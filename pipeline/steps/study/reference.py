"""The reference that gait scores compare with, and how it differs from the study."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import xarray as xr

from ...conventions import CONVENTIONAL
from ...errors import UserError
from ...json_text import object_in
from ...results.definitions import about_people
from ...tables.reference_curves import about_norm_file

SAME_IN_BOTH = ("angle_convention", "static_offset", "line_of_progression")
CONSTANT = "constant differences of several degrees are possible, most in rotations and in pelvic tilt"


class Reference(NamedTuple):
    """What the gait scores compare with."""

    curves: xr.Dataset | str  # the study.nc of other people, or the text of a table of their mean curves
    about: Mapping[str, Any] = {}  # name, title, citation, people, their ages from and to, remarks for the reader


FILTERED = ("marker", "force")
UNFILTERED_HZ = 50.0  # of forces: a higher cut-off changes little in walking


def describe_reference(
    name: str, curves: xr.Dataset | str, shipped: Mapping[str, Any], attributes: Mapping[str, Any]
) -> Reference:
    """Return a reference, shipped or a file, with what study.nc holds of it."""
    remarks, own = [*shipped.get("remarks", [])], dict[str, Any]()
    if shipped:
        remarks += name_differences_from_conventional(attributes)
    elif isinstance(curves, xr.Dataset):
        remarks = name_differences(curves.attrs, attributes)
        if "participant" in curves.coords:  # else it is no study.nc, and the step refuses it
            own = about_people(curves)
    elif own := about_norm_file(curves):
        del own["definitions"]  # refused before any job if they differ from the study's
    else:
        remarks = ["definitions, filters and body model of the reference are not known: the table does not state them"]
    if people := own.get("people"):
        own["people"] = f"the {people} of {name}"
    about = {"name": name, "title": name, "citation": "", "people": "", **shipped, **own, "remarks": remarks}
    return Reference(curves, about)


def name_differences(reference: Mapping[str, Any], study: Mapping[str, Any]) -> list[str]:
    """Return how the angles and loads of two studies may differ by body models and filters, in sentences.

    Raises:
        UserError: the joint angles of the two have different definitions.
    """
    there, here = (object_in(attributes, "settings") for attributes in (reference, study))
    for name in SAME_IN_BOTH:
        values = [used.get("kinematics", {}).get(name) for used in (there, here)]
        if None not in values and values[0] != values[1]:
            what = f"computed with kinematics.{name} {values[0]}, this study with {values[1]}"
            raise UserError("study.reference", what, "use the same setting in both, their angles are compared")
    remarks, models = [], [used.get("body_model") for used in (there, here)]
    cutoffs_hz = [[used.get("clean", {}).get(f"{name}_cutoff_hz") for name in FILTERED] for used in (there, here)]
    if None not in models and models[0] != models[1]:
        remarks.append(f"the reference has the body model {models[0]}, this study {models[1]}: {CONSTANT}")
    if cutoffs_hz[0] != cutoffs_hz[1]:
        words = ["/".join("none" if each is None else f"{each} Hz" for each in pair) for pair in cutoffs_hz]
        remarks.append(
            f"the reference has filters of markers/forces of {words[0]}, this study of {words[1]}: peaks of moments "
            "and powers differ by that"
        )
    return remarks


def name_differences_from_conventional(attributes: Mapping[str, Any]) -> list[str]:
    """Return how a study may differ from published gait of the conventional gait model, in sentences.

    The shipped body models of its kind, and what extends them, have the angle convention of Plug-in Gait.
    """
    used = object_in(attributes, "settings")
    kinematics, remarks = used.get("kinematics", {}), []
    if (force_hz := used.get("clean", {}).get("force_cutoff_hz")) and force_hz < UNFILTERED_HZ:
        remarks.append(
            f"forces are filtered at {force_hz:g} Hz, those of the reference probably not (it does not say): at 50 Hz "
            "the peak of power K3 is 19 % and that of H3 7 % larger (median of 49 stances), and the hip moment has "
            "sharper peaks in the first 7 % of the cycle"
        )
    if kinematics.get("angle_convention", CONVENTIONAL) != CONVENTIONAL:
        model = used.get("body_model", "of another kind")
        remarks.append(f"the reference has the conventional gait model, this study the body model {model}: {CONSTANT}")
    if kinematics.get("static_offset") == "subtract":
        remarks.append(
            "kinematics.static_offset removes the angles of the static trial, which the reference includes: angles of "
            "hip, knee and ankle cannot be compared"
        )
    return remarks
