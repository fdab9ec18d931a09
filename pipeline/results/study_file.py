"""Opening ``study.nc`` for statistics: the file, and each participant's mean curves."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ..errors import UserError
from ..tables.reference_curves import COLUMNS, COMPONENTS
from . import netcdf
from .averages import average


def load_study(path: str | Path, *, kinetics_only: bool = False) -> xr.Dataset:
    """Return ``study.nc``: curves and metrics along ``cycle``, with units in their attributes.

    Args:
        path: the file, or the study's directory.
        kinetics_only: whether cycles without valid kinetics are left out. Else they stay, with their angles, and
            NaN for kinetics.

    Raises:
        UserError: there is no such file, it is damaged, or it is not that of a study.
    """
    file = study_path(path)
    study = netcdf.load(file)
    if "cycle" not in study.dims or "kinetics_valid" not in study.coords:
        raise UserError(f"{file}: is no study.nc; give the one of the study's derived folder")
    return study.isel(cycle=study.kinetics_valid.values.astype(bool)) if kinetics_only else study


def study_path(path: str | Path) -> Path:
    """Return the path of ``study.nc``, given it or the study's directory.

    Raises:
        UserError: there is no such file.
    """
    file = Path(path)
    if file.is_dir():
        file = file / "derived" / "study.nc"
    if not file.is_file():
        raise UserError(f"{file}: no such file; snakemake --cores all --directory STUDY makes it")
    return file


SAME = ("angle_convention", "static_offset")


def table_of(study: xr.Dataset) -> str:
    """Return the table of reference curves, see :mod:`pipeline.tables.reference_curves`, of a study.

    Mean and standard deviation over participants; over cycles where there is one participant.
    """
    participant = study.participant.values if len(np.unique(study.participant)) > 1 else None
    lines = ["\t".join(COLUMNS)]
    for variable, dims in COMPONENTS.items():
        curves = study[variable].transpose("cycle", *dims, "phase")
        for labels in itertools.product(*dims.values()):
            where = dict(zip(dims, labels, strict=True))
            mean, sd, _ = average(curves.sel(where).values, participant)
            cells = [variable, where.get("joint", ""), where.get("angle", where.get("axis", ""))]
            known = np.isfinite(mean) & np.isfinite(sd)
            if known.sum() > 1:
                rows = zip(study.phase.values[known], mean[known], sd[known], strict=True)
                lines += ["\t".join([*cells, *(f"{number:.6g}" for number in row)]) for row in rows]
    return "\n".join(lines) + "\n"


def differences(reference: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Return what of the reference was made otherwise; empty where nothing is known to be.

    Args:
        reference, own: attributes of both files of the step ``study``, with their ``settings``.

    Raises:
        UserError: the joint angles of both are not the same quantity.
    """
    there, here = (json.loads(attributes.get("settings", "{}")) for attributes in (reference, own))
    for name in SAME:
        values = [made.get("kinematics", {}).get(name) for made in (there, here)]
        if None not in values and values[0] != values[1]:
            raise UserError(
                f"study.reference: was made with kinematics.{name} {values[0]}, this study with {values[1]}; "
                "angles of both are compared: make them alike"
            )
    models = [made.get("body_model") for made in (there, here)]
    return f"body_model {models[0]} there, {models[1]} here" if None not in models and models[0] != models[1] else ""
