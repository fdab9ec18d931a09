"""Results with units and long names, as in the file of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.steps.contacts.time_offset import WITNESSES
from pipeline.trials.session import join_trials, one_trial
from pipeline.variables.cycle_variables import REPAIRED, STANCE_CURVES
from pipeline.variables.metrics import METRICS, OF_STANCE
from pipeline.variables.schema import VARIABLES, describe
from pipeline.variables.trial_facts import EVENTS_LEFT_OUT, FACTS

NUMBERS = {name for name, variable in FACTS.items() if variable.dtype != "U"} | {*WITNESSES}
NUMBERS |= {
    "marker_cutoff_hz",
    "static_misfit",
    "marker_shift",
    "knee_marker_unseen",
    "time_offset",
    "time_offset_error",
    "time_offset_corrected",
}
# of a trial in which step ``clean`` repaired nothing
UNREPAIRED = {name: "" if (FACTS | EVENTS_LEFT_OUT)[name].dtype == "U" else 0 for name in REPAIRED}


def described_trial(step: str, trial: xr.Dataset) -> xr.Dataset:
    """Return a trial with units and long names, its values as computed.

    A number of the whole trial that is NaN may be absent, as of :func:`pipeline.trials.session.one_trial`.

    Raises:
        ValueError: a variable is unknown, missing, or has other dimensions than the schema says.
    """
    return _as_stored(trial, one_trial(described_session(step, trial, "walk"), "walk"))


def only_trial(step: str, session: xr.Dataset) -> xr.Dataset:
    """Return the only trial of what a step makes of a session. Errors as of :func:`described_trial`."""
    return _as_stored(*(one_trial(data, str(session.trial.values[0])) for data in (session, describe(step, session))))


def _as_stored(trial: xr.Dataset, stored: xr.Dataset) -> xr.Dataset:
    """Return the variables that are stored, with their units and long names, their values as computed."""
    result = trial[[*stored.data_vars]].copy()
    for name, variable in result.variables.items():
        variable.attrs = stored.variables[name].attrs
    return result


def described_session(step: str, trial: xr.Dataset, name: str) -> xr.Dataset:
    """Return a session of one trial as a step stores it. Arguments and errors as of :func:`described_trial`."""
    numbers = {number for number, variable in VARIABLES[step].items() if variable.dims == ("trial",)} & NUMBERS
    return describe(step, join_trials({name: trial.assign_attrs(dict.fromkeys(numbers, np.nan) | trial.attrs)}))


def as_loaded(step: str, data: xr.Dataset) -> xr.Dataset:
    """Return a result as it comes back from the file of a step: with units, and stored in single precision where so.

    Raises:
        ValueError: as of :func:`described_trial`.
    """
    stored = describe(step, data)
    single = {name: one.astype(float) for name, one in stored.variables.items() if one.dtype == np.float32}
    return stored.assign(single)


def constant_stances(values: NDArray[np.float64]) -> dict[str, Any]:
    """Return the curves and metrics of whole stances in cycles.nc, each constant, given NaN for the others."""
    whole = np.isfinite(values)
    size = {"stance_phase": 101}  # all other dimensions have three labels
    curves: dict[str, Any] = {}
    for name, one in STANCE_CURVES.items():
        ones = np.ones([size.get(dim, 3) for dim in one.dims[1:]])
        curves[name] = (("whole_stance", *one.dims[1:]), np.multiply.outer(values[whole], ones))
    metrics = np.where([name in OF_STANCE for name in METRICS], values[whole, None], np.nan)
    metric_value = (("whole_stance", "metric"), metrics)
    flags = dict.fromkeys(("stance_whole", "stance_used"), ("stance", whole))
    return curves | flags | {"metric_value_of_stance": metric_value}
