"""The methods of a study in sentences to paste into a paper, from the settings and models in its results."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..conventions import JOINTS, SIDES
from ..json_text import object_in
from ..reference import resolve
from ..step import every_step
from ..text_template import known_paragraphs

WORDS = Path(__file__).with_suffix(".txt")
TABLES = {  # of body-segment parameters, as calibrate.nc names them
    "dempster": "Dempster (in Winter 2009)",
    "jensen": "Jensen (1986)",
    "de_leva": "de Leva (1996)",
    "dumas": "Dumas et al. (2007, 2015)",
    "dempster_proximal_radii": "Dempster (in Winter 2009) with the parallel axis of inertia counted twice",
    "segments.tsv": "measurements of the person",
}
HIP_CENTRES = {  # beginnings of the texts in calibrate.nc
    "harrington_multiple": "the regression of Harrington et al. (2007) on several sizes",
    "harrington": "the regression of Harrington et al. (2007)",
    "sangeux": "the regression of Sangeux (2015)",
    "bell": "the regression of Bell et al. (1990)",
    "hara": "the regression of Hara et al. (2016)",
    "davis": "the regression of Davis et al. (1991)",
    "functional": "the functional method of Gamage and Lasenby (2002)",
}
CITATION = (  # of CITATION.cff
    "The gait-lab-pipeline authors, gait-lab-pipeline: joint forces and moments of a gait study, from C3D to NetCDF, "
    "by Snakemake"
)
# attributes of calibrate.nc that are read, beside the joint centres
MODEL = ("rejected", "segment_parameters", "trunk_and_arms", "static_results", "segment_poses", "slopes_deg")


def describe_methods(study: Mapping[str, Any], models: Iterable[Mapping[str, Any]]) -> str:
    """Return the methods of a study in one paragraph, without the sentences of settings that its results lack.

    Args:
        study: attributes of study.nc.
        models: those of calibrate.nc of its sessions; a session that could not be calibrated says nothing.
    """
    used, reference = object_in(study, "settings"), object_in(study, "reference")
    calibrated = [model for model in models if "rejected" not in model]
    tables = [str(model.get("segment_parameters")) for model in calibrated]
    slopes = {slope for model in calibrated for slope in object_in(model, "slopes_deg").values()}
    added: list[str] = []
    for step in every_step().values():
        with suppress(KeyError):  # results of another version may lack a setting
            added += resolve(step.methods)(used[step.name]) if step.methods and step.name in used else []
    facts = {
        "version": study.get("pipeline_version") or "unknown",
        "citation": CITATION,
        "body_model": used.get("body_model", "(unknown)"),
        "centres": {joint: _centres(joint, calibrated) for joint in reversed(JOINTS)},
        "poses": any(model.get("segment_poses") for model in calibrated),
        "slopes": [f"{slope:g}" for slope in sorted(slopes)],
        "stated": sum(bool(model.get("static_results")) for model in calibrated),
        "sessions": len(calibrated),
        "trunk_and_arms": used.get("kinematics", {}).get("upper_body")
        and any(model.get("trunk_and_arms") for model in calibrated),
        "tables": dict.fromkeys(TABLES.get(name, name) for name in tables),
        "added": added,
        "reference": reference,
        "source": "; ".join(filter(None, [reference.get("people", ""), reference.get("citation", "")])),
    }
    return " ".join(filter(None, known_paragraphs(WORDS, **used | facts)))


def keep_of_model(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of calibrate.nc that :func:`describe_methods` reads."""
    return {name: text for name, text in model.items() if "_centre_" in name or name in MODEL}


def _centres(joint: str, models: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the ways in which the centres of a joint were found, in words, from their texts in calibrate.nc."""
    ways: dict[str, None] = {}
    for text in (str(model.get(f"{joint}_centre_{side}", "")) for model in models for side in SIDES):
        known = [words for name, words in HIP_CENTRES.items() if joint == "hip" and text.startswith(name)]
        name, _, stated = text.replace("_", " ").replace("midpoint: ", "the midpoint of ").partition(", stated: ")
        name = "the chord function" if name == "chord" else name
        ways |= dict.fromkeys([*known, f"{name} (with {stated} degrees)" if stated else name][:1] if text else [])
    return [*ways]
