"""The vocabulary of the outputs: every variable's dimensions, units and meaning, in one table.

The bridge describes every dataset from it and refuses one that departs from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import xarray as xr

from pipeline.coordinates import COORDINATES
from pipeline.curves import CYCLES, ON_REQUEST, SCORES, STUDY
from pipeline.variables import OF_TRIALS, WITH_DRAWS, Variable

TITLES = {
    "read": "Markers, plate wrenches and events of a session, ISB lab axes",
    "calibrate": "Calibrated model of a session's person",
    "clean": "Filled and filtered markers and plate wrenches of a session",
    "contacts": "Ground contacts, ground wrench per side and gait events of a session",
    "kinematics": "Poses, joint centres and joint angles of a session",
    "kinetics": "Joint forces, moments and powers of a session",
    "cycles": "Gait cycles of a session",
    "study": "Gait cycles of a study",
}

VARIABLES: dict[str, dict[str, Variable]] = {**OF_TRIALS, "cycles": CYCLES, "study": STUDY}
OPTIONAL = {"kinetics": WITH_DRAWS, "cycles": ON_REQUEST, "study": SCORES | ON_REQUEST}
FLAGS = {
    ("clean", "fill"): "none spline rigid_cluster neighbours spike exchanged_back",
    ("kinetics", "missing"): "known segment_not_seen ground_reaction_unknown gimbal_lock",
}
# attributes of clean.nc and cycles.nc, columns of quality.csv: how many marker samples of a trial have a flag of `fill`
REPAIRS = {
    "filled_by_spline": 1,
    "filled_by_cluster": 2,
    "filled_by_neighbours": 3,
    "spikes_removed": 4,
    "labels_put_right": 5,
}
VERDICTS = ("valid", "kinetics_valid")
COLUMN_UNITS = {"_kg": "kg", "_m": "m", "_mm": "mm", "_years": "year"}


class Group(Protocol):
    """A trial's results, coordinates among the variables: a dataset, or what was read of one."""

    @property
    def variables(self) -> Mapping[Any, xr.Variable]: ...  # noqa: D102

    @property
    def attrs(self) -> Mapping[Any, Any]: ...  # noqa: D102


def described(step: str, dataset: xr.Dataset) -> xr.Dataset:
    """Return the dataset with units and long names, variables and coordinates in the table's order.

    Raises:
        ValueError: a variable is unknown, absent or has other dimensions than the table says.
    """
    if "rejected" in dataset.attrs:
        return dataset
    table = {
        name: variable
        for name, variable in VARIABLES[step].items()
        if name in dataset or name not in OPTIONAL.get(step, {})
    }
    if set(dataset.data_vars) != set(table):
        raise ValueError(
            f"{step}: variables {sorted(set(map(str, dataset.data_vars)) ^ set(table))} depart from the vocabulary"
        )
    result = dataset[list(table)].copy()
    # of `variables`, since each DataArray of a dataset costs more than all that is done to it here
    for name, (dims, units, long_name) in table.items():
        variable = result.variables[name]
        if variable.dims != dims:
            raise ValueError(f"{step}: {name} has dimensions {variable.dims}, the vocabulary says {dims}")
        variable.attrs = {"units": units, "long_name": long_name}
        if meanings := FLAGS.get((step, name)):
            values = np.arange(len(meanings.split()), dtype=variable.dtype)
            variable.attrs |= {"flag_values": values, "flag_meanings": meanings}
    for name in map(str, result.coords):
        if name not in COORDINATES and step != "study":
            continue
        variable = result.variables[name]
        units, long_name = COORDINATES.get(name) or _column(name, variable)
        about: dict[str, Any] = ({"units": units} if units else {}) | {"long_name": long_name}
        if name in VERDICTS:
            about |= {"flag_values": np.array([0, 1], np.int8), "flag_meanings": "left_out used"}
        variable.attrs = about
    return result


def _column(name: str, values: xr.Variable) -> tuple[str, str]:
    """Return the units, by the end of its name, and the long name of a column of participants.tsv."""
    numeric = values.dtype.kind in "if"
    units = [unit for ending, unit in COLUMN_UNITS.items() if numeric and name.endswith(ending)]
    return "".join(units[:1]), f"column {name} of participants.tsv"
