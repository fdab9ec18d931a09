"""Standard uncertainties in the tables of metrics, from the metrics of each draw of errors; none without draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import xarray as xr

from ..arrays import Array
from ..conventions import SIDES
from ..variables.cycle_variables import KINETICS
from ..variables.metrics import METRICS, WITH_ERRORS
from .averages import average, errors_of, standard_uncertainty

PLACE = "cycle_of_draws"  # of a row: the index of its cycle among the draws
DIFFERENCE = "difference"  # right minus left
Row = Mapping[str, str]
Errors = Mapping[tuple[str, str], Array]  # by condition, and side or difference: errors of the means (metric, draw)


def number_cycles(rows: Iterable[Row]) -> list[dict[str, str]]:
    """Return the rows of the gait cycles of metrics.csv with their place among the cycles of study.nc."""
    return [{**row, PLACE: str(number)} for number, row in enumerate(rows)]


def errors_of_cycles(study: xr.Dataset, rows: Sequence[Row]) -> Array | None:
    """Return the errors (cycle, metric, draw) of the metrics of gait cycles; None without draws.

    Args:
        study: the cycles of study.nc.
        rows: the same cycles in metrics.csv; kinetics that are not used are NaN.
    """
    if "metric_draw" not in study.variables or study.sizes["cycle"] != len(rows):
        return None
    drawn = study.variables["metric_draw"].values.astype(float)
    unused = np.array([row["kinetics_valid"] == "False" for row in rows], dtype=bool)
    values = np.array([[float(row.get(name) or "nan") for name in METRICS] for row in rows])
    values[np.ix_(unused, [name in KINETICS for name in METRICS])] = np.nan
    values[:, [name not in WITH_ERRORS for name in METRICS]] = np.nan
    return errors_of(drawn, values, np.array([metric.kind == "phase" for metric in METRICS.values()]))


def errors_of_means(rows: Sequence[Row], errors: Array | None) -> Errors:
    """Return the errors of the means over the cycles of each condition and side, and of right minus left.

    Args:
        rows: of :func:`number_cycles`.
        errors: of :func:`errors_of_cycles`.
    """
    if errors is None:
        return {}
    result: dict[tuple[str, str], Array] = {}
    for condition in dict.fromkeys(row["condition"] for row in rows):
        for side in SIDES:
            mine = [int(row[PLACE]) for row in rows if (row["condition"], row["side"]) == (condition, side)]
            if mine:
                result[condition, side] = average(errors[mine]).mean
        left, right = (result.get((condition, side)) for side in SIDES)
        if left is not None and right is not None:
            result[condition, DIFFERENCE] = right - left
    return result


def uncertainties(shown: Sequence[str], errors: Array | None) -> list[float]:
    """Return the standard uncertainty of each metric shown, NaN if it has none."""
    if errors is None:
        return [np.nan] * len(shown)
    of = dict(zip(METRICS, standard_uncertainty(errors).tolist(), strict=True))
    return [of.get(name, np.nan) for name in shown]


def with_uncertainty(cell: str, uncertainty: float, places: int) -> str:
    """Return the cell of a number with its standard uncertainty, if it has one."""
    return f"{cell} \N{PLUS-MINUS SIGN}\N{NO-BREAK SPACE}{uncertainty:.{places}f}" if np.isfinite(uncertainty) else cell
