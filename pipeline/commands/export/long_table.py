"""``gaitlab export``: ``study.nc`` as one long table, for programs that do not read NetCDF."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...results.study_file import load_study
from ...tables.csv_files import DIGITS, guard_formulas
from ...variables.cycle_variables import KINETICS, STANCE
from ...variables.data_dictionary import data_dictionary
from ...variables.rows import REASON
from ..shared.exported_files import sidecar

IDENTITY = ("participant", "session", "trial", "condition", "side", "kinetics_valid", "doubt_code")
# columns of metrics.csv, a row per cycle, or beside these in study.nc
IN_METRICS = ("start_time", "end_time", *REASON, "doubt", "doubt_values")


def described_table(source: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the long table of a study.nc, and what its columns and variables mean."""
    study, stances = load_study(source, doubted=True), load_study(source, part="stance", doubted=True)
    study = study.drop_dims(("draw", "metric"), errors="ignore")  # draws of errors would be most of the table
    table = long_table(study, stances)
    about = data_dictionary("study", map(str, table.columns))
    meanings = {
        str(name): data[name].attrs.get("long_name", "") for data in (stances, study) for name in data.data_vars
    }
    about["variable"]["Levels"] = {name: meanings[name] for name in table.variable.cat.categories}
    return table, about


def write_long_table(
    table: pd.DataFrame, about: dict[str, Any], output: Path, *, form: str, separator: str, decimal: str
) -> dict[str, Any]:
    """Write a long table as CSV or Parquet, and return what it is about.

    A CSV file for another locale begins with the mark by which Excel knows UTF-8.
    """
    sidecar(output).unlink(missing_ok=True)
    if form == "parquet":
        table.to_parquet(output, index=False, engine="pyarrow")
    else:
        given = guard_formulas(_as_given(table, decimal))
        mark = "utf-8" if (separator, decimal) == (",", ".") else "utf-8-sig"
        given.to_csv(output, index=False, float_format=DIGITS, sep=separator, decimal=decimal, encoding=mark)
    return about


def _as_given(table: pd.DataFrame, decimal: str) -> pd.DataFrame:
    """Return a table with the numbers of participants.tsv as text, which is not rounded."""

    def text(number: float) -> str:
        return repr(number).replace(".", decimal)

    of_rows = table.columns[: table.columns.get_loc("variable")]
    given = [name for name in of_rows if table[name].dtype == float]
    return table.assign(**{name: table[name].astype("category").cat.rename_categories(text) for name in given})


def long_table(study: xr.Dataset, stances: xr.Dataset | None = None) -> pd.DataFrame:
    """Return one row per cycle, or stance without a whole cycle, variable and element of the variable.

    Columns: ``cycle`` or ``stance``, its coordinates (participant, condition, side, ...), ``variable``, one column per
    dimension (``joint``, ``angle``, ``axis``, ``phase``, ...; empty for variables without that dimension), ``value``
    (empty if missing, or of kinetics that are not used), ``doubted_value`` (of these alone) and ``units``. A metric has
    a value per cycle or stance and no other dimension.
    """
    parts = {"cycle": study}
    if stances is not None:
        parts["stance"] = stances.isel(stance=stances.cycle.values < 0).drop_vars("cycle")
    everything = [(row, data, str(name)) for row, data in parts.items() for name in data.data_vars]
    dims = {str(dim): data[dim].values for data in parts.values() for dim in data.dims if dim not in parts}
    ordered = sorted(dims, key=lambda dim: ("phase" in dim, dim != "joint", dim))
    numbered = ["cycle", "stance", *(dim for dim in ordered if dims[dim].dtype.kind == "i")]  # empty in other rows
    dtypes = {dim: _dtype(dims[dim]) for dim in ordered} | dict.fromkeys(numbered, pd.Int64Dtype())
    dtypes["variable"] = pd.CategoricalDtype(list(dict.fromkeys(name for _, _, name in everything)))
    dtypes["units"] = pd.CategoricalDtype(sorted({data[name].attrs["units"] for _, data, name in everything}))
    labels = _rows(parts)
    tables = []
    for row, data, name in everything:
        variable = data[name]
        rows = variable.reset_coords(drop=True).to_dataframe("value").reset_index()
        if (name if row == "cycle" else f"{name}{STANCE}") in KINETICS:
            used = labels[row].kinetics_valid.loc[rows[row]].to_numpy()
            rows = rows.assign(doubted_value=rows.value.mask(used), value=rows.value.where(used))
        rows = rows.assign(variable=name, units=variable.attrs["units"])
        rows = rows.assign(**dict.fromkeys(({*dims} | {"cycle", "stance"}) - {str(dim) for dim in variable.dims}))
        tables.append(rows.astype(dtypes).join(labels[row], on=row))
    return pd.concat(tables, ignore_index=True)[
        ["cycle", "stance", *labels["cycle"], "variable", *ordered, "value", "doubted_value", "units"]
    ]


def _rows(parts: Mapping[str, xr.Dataset]) -> dict[str, pd.DataFrame]:
    """Return the coordinates of each cycle and stance, without those in other tables."""
    study = parts["cycle"]
    names = [str(name) for name in study.coords if study[name].dims == ("cycle",) and name != "cycle"]
    ordered = [*(name for name in IDENTITY if name in names)]
    ordered += [name for name in names if name not in (*IDENTITY, *IN_METRICS)]
    columns = {
        row: {name: data[name].values if name in data.coords else np.ones(data.sizes[row], bool) for name in ordered}
        for row, data in parts.items()
    }
    dtypes = {name: _dtype(np.concatenate([one[name] for one in columns.values()])) for name in ordered}
    return {row: pd.DataFrame(one, index=parts[row][row].values).astype(dtypes) for row, one in columns.items()}


def _dtype(values: Any) -> Any:
    """Return a column's type; text becomes a categorical."""
    return values.dtype if values.dtype.kind in "bif" else pd.CategoricalDtype(sorted(set(values)))
