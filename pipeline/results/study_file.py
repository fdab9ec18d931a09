"""``study.nc`` as scripts open it, and as a reference for another study."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from ..errors import UserError
from ..tables.reference_curves import COLUMNS, COMPONENTS
from ..variables.cycle_variables import KINETICS, STANCE
from ..variables.gait_profile import turning_cycles
from ..variables.metrics import METRICS
from . import netcdf
from .averages import PHASES, average, without_steps


def load_study(
    path: str | Path, *, kinetics_only: bool = False, part: Literal["cycle", "stance"] = "cycle", doubted: bool = False
) -> xr.Dataset:
    """Return ``study.nc``: curves and metrics along ``cycle`` or ``stance``, with units.

    Args:
        path: the file, or the study's directory.
        kinetics_only: whether to leave out cycles without valid kinetics, or with ``doubted`` without any. Otherwise
            their kinetics are NaN.
        part: ``cycle`` for the gait cycles, with curves along ``phase``. ``stance`` for all stances from foot strike to
            foot off with valid kinetics, with curves along ``stance_phase`` and under the same names; the coordinate
            ``cycle`` is the number of the gait cycle that begins with the stance, -1 without a whole one.
        doubted: whether to keep the kinetics that are in no mean because they are doubted. Otherwise they are NaN;
            ``doubt`` says why.

    Returns:
        Curves ``(cycle, joint, angle, phase)`` or the like and metrics ``(cycle)``, each with its units. Labels along
        ``cycle``: ``participant``, ``session``, ``trial``, ``condition``, ``side``, the columns of participants.tsv.

    Raises:
        UserError: the file is missing, is damaged, or is not a study.nc, or has no stances.

    Example:
        >>> study = load_study("data/demo", kinetics_only=True)
        >>> knee = study.joint_moment_jcs.sel(joint="knee", angle="flexion")
        >>> knee.dims, knee.units
        (('cycle', 'phase'), 'N m kg-1')
        >>> bool(study.kinetics_valid.all())
        True
        >>> load_study("data/demo", part="stance").joint_power.dims
        ('stance', 'joint', 'stance_phase')
    """
    file = study_path(path)
    if not netcdf.is_netcdf(file):
        raise UserError(str(file), "not a NetCDF file", "give the study.nc in a study's derived folder")
    study = netcdf.load(file)
    if "cycle" not in study.dims or "kinetics_valid" not in study.coords:
        raise UserError(str(file), "not a study.nc", "give the study.nc in a study's derived folder")
    study = study if doubted else without_doubted(study)
    if part == "stance":
        if "stance" not in study.dims:
            raise UserError(str(file), "has no stances", "it is of an earlier version, run the workflow again")
        return stances_of(study)
    cycles = _without(study, "stance")
    if not kinetics_only:
        return cycles
    known = cycles.kinetics_valid.values.astype(bool)
    return cycles.isel(cycle=known | (cycles.doubt_code.values != "") if doubted else known)


def without_doubted(study: xr.Dataset) -> xr.Dataset:
    """Return a study with NaN for the kinetics that are in no mean because they are doubted."""
    hidden: dict[Any, Any] = {}
    for row, ending in (("cycle", ""), ("stance", STANCE)):
        if not {f"doubt_code{ending}", f"kinetics_valid{ending}"} <= {*study.coords}:
            continue  # of an earlier version, or of contacts
        doubted = study[f"doubt_code{ending}"].values != ""
        left_out = doubted & ~study[f"kinetics_valid{ending}"].values.astype(bool)
        for name in KINETICS & {*study.data_vars} if left_out.any() else ():
            if study[name].dims[0] == row:
                hidden[name] = study[name].copy(deep=True)
                hidden[name][left_out] = np.nan
    return study.assign(hidden) if hidden else study


def stances_of(study: xr.Dataset) -> xr.Dataset:
    """Return what study.nc has along ``stance``, under the names that cycles have."""
    stances = _without(study, "cycle")
    names = {str(name): str(name).removesuffix(STANCE) for name in stances.variables}
    return stances.rename({name: short for name, short in names.items() if name != short})


def _without(study: xr.Dataset, dim: str) -> xr.Dataset:
    """Return a study without the variables along a dimension, and without labels that only these have."""
    kept = study.drop_dims(dim, errors="ignore")
    used = {name for variable in kept.data_vars.values() for name in variable.dims}
    return kept.drop_dims(set(kept.dims) - used)


def study_path(path: str | Path) -> Path:
    """Return the path of ``study.nc``, given that or the study's directory; raise UserError if it is missing."""
    file = Path(path)
    if file.is_dir():
        file = file / "derived" / "study.nc"
    if not file.is_file():
        raise UserError(str(file), "no such file", "create it with: gaitlab run STUDY")
    return file


def table_of(study: xr.Dataset) -> str:
    """Return a study as a table of :mod:`pipeline.tables.reference_curves`, curves and metrics.

    Mean and standard deviation over participants, or over cycles if there is one participant; both sides together.
    Turns are left out, as in the scores, and so is the lateral force, which has opposite signs on the two sides.
    """
    study = study.isel(cycle=~turning_cycles(study))
    participant = study.participant.values if len(np.unique(study.participant)) > 1 else None
    lines = ["\t".join(COLUMNS)]
    for variable, dims in COMPONENTS.items():
        curves = study[variable].transpose("cycle", *dims, "phase")
        for labels in itertools.product(*dims.values()):
            where = dict(zip(dims, labels, strict=True))
            if where.get("axis") == "z":
                continue
            people = [] if participant is None else [participant]
            mean, sd, _ = average(without_steps(curves.sel(where).values, people), participant)
            cells = [variable, where.get("joint", ""), where.get("angle", where.get("axis", ""))]
            finite = np.isfinite(mean) & np.isfinite(sd)
            if finite.sum() > 1:
                rows = zip(study.phase.values[finite], mean[finite], sd[finite], strict=True)
                lines += ["\t".join([*cells, *(f"{number:.6g}" for number in row)]) for row in rows]
    for name in (name for name in METRICS if name in study):
        mean, sd, _ = average(study[name].values, participant, phase=name in PHASES)
        lines += [f"{name}\t\t\t\t{mean:.6g}\t{sd:.6g}"] if np.isfinite(mean) and np.isfinite(sd) else []
    return "\n".join(lines) + "\n"
