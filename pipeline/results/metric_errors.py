"""Standard uncertainties in the tables of metrics, from the metrics of each draw of errors; none without draws."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ..arrays import Array
from ..conventions import SIDES
from ..variables.metrics import METRICS, WITH_ERRORS
from .averages import IS_PHASE, average, errors_of, standard_uncertainty
from .symmetry import symmetry_index

DIFFERENCE, INDEX = "difference", "symmetry_index"  # right minus left, and the symmetry index
USUALLY_HELD = 90, 99  # percent
# By ``kinematics.method``, the metrics beyond USUALLY_HELD: how often, in percent, 1.96 standard uncertainties held the
# true value in the 640 copies of generated walks of docs/validation.md, with errors of the default sizes.
# ``python -m tests.campaigns.error_bands`` prints them.
HELD: Mapping[str, Mapping[str, float]] = {
    "linked": {"phase_of_peak_hip_abductor_moment": 88.8, "phase_of_peak_power_a1": 87.8, "range_of_pelvis_tilt": 89.6},
    "segments": {
        "phase_of_peak_hip_abductor_moment": 87.3,
        "phase_of_peak_knee_extension_stance": 89.3,
        "phase_of_peak_power_a1": 85.4,
        "range_of_knee_adduction": 80.0,
        "range_of_knee_rotation": 89.8,
        "range_of_pelvis_tilt": 89.5,
    },
}
Errors = Mapping[tuple[str, str], Array]  # by condition, and side or comparison of the sides: errors (metric, draw)


class DrawnMetrics(NamedTuple):
    """Metrics of gait cycles with errors and their errors, NaN of those that are not used or have no draws."""

    values: Array  # (cycle, metric)
    errors: Array  # (cycle, metric, draw)


class Exceptions(NamedTuple):
    """Metrics that are not held as often as others, each with how often, percent, in words."""

    too_small: str  # the uncertainty is
    too_large: str


def errors_of_cycles(study: xr.Dataset, rows: pd.DataFrame) -> DrawnMetrics | None:
    """Return the errors of the metrics of gait cycles; None without draws.

    Args:
        study: the cycles of study.nc.
        rows: the same cycles in metrics.csv.
    """
    if "metric_draw" not in study.variables:
        return None
    values = rows[[name for name in WITH_ERRORS if name in rows]].reindex(columns=[*METRICS]).to_numpy(dtype=float)
    return DrawnMetrics(values, errors_of(study.variables["metric_draw"].values.astype(float), values, IS_PHASE))


def errors_of_means(rows: pd.DataFrame, drawn: DrawnMetrics | None) -> Errors:
    """Return the errors of the means over the cycles of each condition and side, and of what compares the sides.

    These are right minus left and the symmetry index, of each session and averaged over sessions.

    Args:
        rows: some of those of :func:`errors_of_cycles`, of which the index is their place there.
        drawn: of :func:`errors_of_cycles`.
    """
    if drawn is None:
        return {}
    result: dict[tuple[str, str], Array] = {}
    for condition in rows["condition"].unique():
        here = rows[rows["condition"] == condition]
        for side in SIDES:
            mine = here.index[here["side"] == side]
            if len(mine):
                result[condition, side] = average(drawn.errors[mine]).mean
        apart = [*_errors_of_sides(here, drawn)]
        if apart:
            of_sessions = average(np.array(apart)).mean
            result |= {(condition, DIFFERENCE): of_sessions[0], (condition, INDEX): of_sessions[1]}
    return result


def _errors_of_sides(rows: pd.DataFrame, drawn: DrawnMetrics) -> Iterator[Array]:
    """Yield the errors (2, metric, draw) of right minus left and of the symmetry index of each session with both."""
    names = [*METRICS]
    for session in rows["session"].unique():
        places = [rows.index[(rows["session"] == session) & (rows["side"] == side)] for side in SIDES]
        if all(map(len, places)):
            (left, of_left), (right, of_right) = (
                (average(drawn.values[mine]).mean, average(drawn.errors[mine]).mean) for mine in places
            )
            with_errors = symmetry_index(left + of_left.T, right + of_right.T, names)
            yield np.array([of_right - of_left, (with_errors - symmetry_index(left, right, names)).T])


def exceptions_of(method: str, shown: Iterable[str]) -> Exceptions:
    """Return which of the metrics shown have too small or too large uncertainties with a ``kinematics.method``."""
    held = {name.replace("_", " "): HELD[method][name] for name in shown if name in HELD.get(method, {})}
    few, many = USUALLY_HELD
    return Exceptions(
        too_small=", ".join(f"{name} ({percent:g})" for name, percent in held.items() if percent < few),
        too_large=", ".join(f"{name} ({percent:g})" for name, percent in held.items() if percent > many),
    )


def uncertainties(shown: Sequence[str], errors: Array | None) -> list[float]:
    """Return the standard uncertainty of each metric shown, NaN if it has none."""
    if errors is None:
        return [np.nan] * len(shown)
    of = dict(zip(METRICS, standard_uncertainty(errors).tolist(), strict=True))
    return [of.get(name, np.nan) for name in shown]


def with_uncertainty(cell: str, uncertainty: float, places: int) -> str:
    """Return the cell of a number with its standard uncertainty, if it has one."""
    return f"{cell} \N{PLUS-MINUS SIGN}\N{NO-BREAK SPACE}{uncertainty:.{places}f}" if isfinite(uncertainty) else cell
