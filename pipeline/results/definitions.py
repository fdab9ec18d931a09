"""What the numbers of a study depend on, so that those of another study are compared only where both are the same."""

import json
from collections.abc import Mapping
from typing import Any

from ..errors import Problem, UserError

SETTINGS = {  # that change angles, moments and metrics of every person
    "kinematics": ("angle_convention", "static_offset", "line_of_progression"),
    "clean": ("marker_cutoff_hz", "force_cutoff_hz"),
    "calibrate": ("hip_centre", "segment_parameters"),
}
VERSION = "pipeline_version"


def definitions_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return body model, definitions, filters and version of a study from the attributes of its study.nc."""
    used = json.loads(attributes.get("settings", "{}"))
    values = {f"{step}.{name}": used.get(step, {}).get(name) for step, names in SETTINGS.items() for name in names}
    return {"body_model": used.get("body_model"), **values, VERSION: attributes.get(VERSION)}


def refuse_others(there: Mapping[str, Any], attributes: Mapping[str, Any], *, where: str, remedy: str) -> None:
    """Refuse a file that was made with other definitions than a study.

    Args:
        there: :func:`definitions_of` the file.
        attributes: those of the study.

    Raises:
        UserError: with every difference. Versions may differ in their last part, which changes no result.
    """
    here = definitions_of(attributes)
    problems = []
    for name in here.keys() | there.keys():
        values = [each.get(name) for each in (there, here)]
        if name == VERSION:
            values = [str(value).rpartition(".")[0] for value in values]
        if values[0] != values[1]:
            words = ["none" if each.get(name) is None else each.get(name) for each in (there, here)]
            problems.append(Problem(where, f"made with {name} {words[0]}, this study with {words[1]}", remedy))
    if problems:
        raise UserError.of(sorted(problems, key=lambda problem: problem.what))
