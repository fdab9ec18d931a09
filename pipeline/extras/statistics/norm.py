"""``gaitlab norm``: the means of the people of a study as a file that other studies name in ``study.reference``."""

import json
from pathlib import Path

import numpy as np
import xarray as xr

from ...errors import UserError
from ...results.definitions import about_people, definitions_of
from ...results.study_file import load_study, study_path, table_of

BEGINNING = "# gaitlab norm "  # of the file, see pipeline.tables.reference_curves
FEWEST_PEOPLE = 3  # as for every standard deviation of the report


def write_norm(path: Path, *, output: Path, condition: str | None = None, group: str | None = None) -> str:
    """Write a norm file of a study of controls, and return in words of whom it is.

    It has mean and standard deviation over people of curves and metrics, without single people, and their number, ages
    and sexes, the body model, definitions, filters and version.

    Raises:
        UserError: several conditions or groups and none is named, one that the study lacks, fewer than FEWEST_PEOPLE,
            or the file exists.
    """
    study = _only(_only(load_study(path), "condition", condition), "group", group)
    about, definitions = about_people(study), definitions_of(study.attrs)
    if about["count"] < FEWEST_PEOPLE:
        what = f"{about['people']} with gait cycles, {FEWEST_PEOPLE} or more are needed"
        raise UserError(str(study_path(path)), what, "record more people")
    if output.exists():
        raise UserError(str(output), "exists", "give a new name, or remove it")
    about |= {"condition": str(study.condition.values[0]), "model": definitions["body_model"]}
    first = json.dumps(about | {"definitions": definitions}, sort_keys=True)
    output.write_text(f"{BEGINNING}{first}\n{table_of(study)}", encoding="utf-8")
    people = np.unique(study.participant.values)
    missing = [name for name in ("sex", "age_years") if name not in study.coords]
    kinetics = np.unique(study.participant.values[study.kinetics_valid.values.astype(bool)])
    lines = [f"Norm of {about['people']}: {output}"]
    lines += [f"participants.tsv has no column {name}: the norm does not state it" for name in missing]
    if len(kinetics) < len(people):
        lines.append(f"moments and powers are of {len(kinetics)} of the {len(people)} people")
    lines += ["Next: in study.yaml of another study", "study:"]
    return "\n".join([*lines, f"  reference: {json.dumps(str(output.resolve()), ensure_ascii=False)}"])


def _only(study: xr.Dataset, column: str, wanted: str | None) -> xr.Dataset:
    """Return the cycles of one condition or group, which must be named if there are several."""
    names = [*dict.fromkeys(study[column].values.astype(str).tolist())] if column in study.coords else []
    if wanted is None and len(names) < 2:
        return study
    if wanted not in names:
        what = f"the study's {column}s are {', '.join(names) or 'none'}" + (f", not {wanted}" if wanted else "")
        raise UserError(f"--{column}", what, "name one of them: a norm is of one way of walking and of one group")
    return study.isel(cycle=study[column].values.astype(str) == wanted)
