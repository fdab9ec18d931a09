"""What the numbers of a study depend on, and of which people they are, for comparisons with other studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Problem, UserError
from ..json_text import object_in
from ..tables.tsv import ABSENT

if TYPE_CHECKING:  # each command and each plan reads this module; xarray takes longer than both
    import xarray as xr

SETTINGS = {  # that change angles, moments and metrics of every person
    "kinematics": ("angle_convention", "static_offset", "line_of_progression"),
    "clean": ("marker_cutoff_hz", "force_cutoff_hz"),
    "calibrate": ("hip_centre", "segment_parameters"),
}
VERSION = "pipeline_version"


def definitions_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return body model, definitions, filters and version of a study from the attributes of its study.nc."""
    used = object_in(attributes, "settings")
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


def about_people(study: xr.Dataset) -> dict[str, Any]:
    """Return the number of people of a study, the range of their ages, and both with their sexes in words."""
    _, first = np.unique(study.participant.values, return_index=True)
    words = "1 person" if len(first) == 1 else f"{len(first)} people"
    if "sex" in study.coords:
        sexes = study.sex.values[first].astype(str).tolist()
        counts = [f"{sexes.count(sex)} {sex}" for sex in dict.fromkeys(sexes) if sex not in ABSENT]
        words += f" ({', '.join(sorted(counts, key=lambda text: text[-1]))})" if counts else ""
    about: dict[str, Any] = {"count": len(first)}
    if "age_years" in study.coords and study.age_years.dtype.kind == "f":
        ages = study.age_years.values[first]
        if np.isfinite(ages).any():
            about["ages"] = youngest, oldest = [float(np.nanmin(ages)), float(np.nanmax(ages))]
            words += f", {youngest:g} to {oldest:g} years (mean {np.nanmean(ages):.1f})"
            words += f", {n} without age" if (n := int(np.isnan(ages).sum())) else ""
    return about | {"people": words}
