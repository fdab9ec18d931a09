"""``gaitlab export``: ``study.nc`` as one long table, for programs that do not read NetCDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from ..errors import UserError
from ..results.study_file import load_study, study_path
from ..tables.csv_files import guarded

IDENTITY = ("participant", "session", "trial", "condition", "side", "kinetics_valid")
IN_METRICS = ("start_time", "end_time", "reason")  # columns of metrics.csv, a row per cycle


def export(path: Path, *, form: str, output: Path | None = None) -> Path:
    """Write the long table of a study, by default next to study.nc; return its path.

    Raises:
        UserError: no study, the table cannot be written, or pyarrow is not installed.
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
    """Return one row per cycle, variable and element of the variable.

    Columns: ``cycle``, its coordinates (participant, condition, side, ...), ``variable``, one column per dimension
    (``joint``, ``angle``, ``axis``, ``phase``, ...; empty for variables without that dimension), ``value`` (empty if
    missing) and ``units``. A metric has a value per cycle and no other dimension.
    """
    cycles = _cycles(study)
    dims = sorted({str(dim) for dim in study.dims} - {"cycle"}, key=lambda dim: (dim == "phase", dim != "joint", dim))
    dtypes = {dim: _dtype(study[dim].values) for dim in dims}
    dtypes["variable"] = pd.CategoricalDtype([str(name) for name in study.data_vars])
    dtypes["units"] = pd.CategoricalDtype(sorted({variable.attrs["units"] for variable in study.data_vars.values()}))
    parts = []
    for name, variable in ((str(name), study[name]) for name in study.data_vars):
        rows = variable.reset_coords(drop=True).to_dataframe("value").reset_index()
        rows = rows.assign(variable=name, units=variable.attrs["units"])
        rows = rows.assign(**dict.fromkeys({*dims} - {str(dim) for dim in variable.dims})).astype(dtypes)
        parts.append(rows.join(cycles, on="cycle"))
    return pd.concat(parts, ignore_index=True)[["cycle", *cycles, "variable", *dims, "value", "units"]]


def _cycles(study: xr.Dataset) -> pd.DataFrame:
    """Return the coordinates of each cycle, without those in metrics.csv."""
    names = [str(name) for name in study.coords if study[name].dims == ("cycle",) and name != "cycle"]
    ordered = [*(name for name in IDENTITY if name in names)]
    ordered += [name for name in names if name not in (*IDENTITY, *IN_METRICS)]
    known = pd.DataFrame({name: study[name].values for name in ordered}, index=study.cycle.values)
    return known.astype({name: _dtype(study[name].values) for name in ordered})


def _dtype(values: Any) -> Any:
    """Return a column's type; text becomes a categorical."""
    return values.dtype if values.dtype.kind in "bif" else pd.CategoricalDtype(sorted(set(values)))
