"""``python -m pipeline export``: ``study.nc`` as one long table, for programs that read no NetCDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from ..errors import UserError
from ..results.study_file import load_study, study_path
from ..tables.csv_files import guarded

IDENTITY = ("participant", "session", "trial", "condition", "side", "kinetics_valid")
TOLD_ELSEWHERE = ("start_time", "end_time", "reason")  # once per cycle, in metrics.csv


def export(path: Path, *, form: str, output: Path | None = None) -> Path:
    """Write the long table of a study and return its path, by default beside ``study.nc``.

    Raises:
        UserError: there is no study there, the table cannot be written, or pyarrow is not installed.
    """
    table = long_table(load_study(path))
    output = output or study_path(path).with_suffix(f".{form}")
    try:
        if form == "parquet":
            table.to_parquet(output, index=False, engine="pyarrow")
        else:
            guarded(table).to_csv(output, index=False)
    except ImportError:
        raise UserError("--format parquet", "needs pyarrow", "pip install pyarrow, or take --format csv") from None
    except OSError as error:
        raise UserError(str(output), f"cannot be written ({error.strerror})", "choose another --output") from None
    return output


def long_table(study: xr.Dataset) -> pd.DataFrame:
    """Return one row per cycle, variable and element of it.

    Columns: ``cycle`` and what is known of it (participant, condition, side, ...), ``variable``, one column per
    dimension (``joint``, ``angle``, ``axis``, ``phase``, ...; empty where the variable has no such dimension),
    ``value`` (empty where missing) and ``units``. Metrics are variables without a dimension of their own.
    """
    people = _people(study)
    dims = sorted({str(dim) for dim in study.dims} - {"cycle"}, key=lambda dim: (dim == "phase", dim != "joint", dim))
    dtypes = {dim: _dtype(study[dim].values) for dim in dims}
    dtypes["variable"] = pd.CategoricalDtype([str(name) for name in study.data_vars])
    dtypes["units"] = pd.CategoricalDtype(sorted({variable.attrs["units"] for variable in study.data_vars.values()}))
    parts = []
    for name, variable in ((str(name), study[name]) for name in study.data_vars):
        rows = variable.reset_coords(drop=True).to_dataframe("value").reset_index()
        rows = rows.assign(variable=name, units=variable.attrs["units"])
        rows = rows.assign(**dict.fromkeys({*dims} - {str(dim) for dim in variable.dims})).astype(dtypes)
        parts.append(rows.join(people, on="cycle"))
    return pd.concat(parts, ignore_index=True)[["cycle", *people, "variable", *dims, "value", "units"]]


def _people(study: xr.Dataset) -> pd.DataFrame:
    """Return what is known of each cycle."""
    names = [str(name) for name in study.coords if study[name].dims == ("cycle",) and name != "cycle"]
    ordered = [*(name for name in IDENTITY if name in names)]
    ordered += [name for name in names if name not in (*IDENTITY, *TOLD_ELSEWHERE)]
    known = pd.DataFrame({name: study[name].values for name in ordered}, index=study.cycle.values)
    return known.astype({name: _dtype(study[name].values) for name in ordered})


def _dtype(values: Any) -> Any:
    """Return a column's type: text as categories, which costs a byte per row instead of a word."""
    return values.dtype if values.dtype.kind in "bif" else pd.CategoricalDtype(sorted(set(values)))
