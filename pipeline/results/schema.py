"""The vocabulary of the outputs: every variable's dimensions, units and meaning, in one table.

The bridge describes every dataset from it and refuses one that departs from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .cycle_variables import CYCLES, ON_REQUEST, STUDY
from .metrics import METRICS, SCORES
from .trial_variables import OF_TRIALS, WITH_DRAWS, Variable

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
COORDINATES = {
    "time": ("s", "time of the marker frame on the file's own time axis"),
    "plate_time": ("s", "time of the analog sample on the file's own time axis"),
    "side": ("", "side of the body"),
    "segment": ("", "body segment"),
    "joint": ("", "joint, named with the segment distal to it"),
    "axis": ("", "lab axis, ISB: x forward, y up, z to the right"),
    "local_axis": ("", "segment axis: x anterior, y proximal, z to the right"),
    "angle": ("", "joint coordinate"),
    "term": ("", "term of the equations of motion"),
    "cause": ("", "whose motion contributes: a joint's rotation, the pelvis, or translation between the segments"),
    "motion": ("", "acceleration, or velocity (centripetal, Coriolis and gyroscopic)"),
    "formulation": ("", "formulation of the equations of motion that is compared with the block matrix"),
    "load": ("", "force (N) or moment (N m)"),
    "percentile": ("percent", "share of the draws that lie below"),
    "error_source": ("", "source of error: see Uncertainty in theory.md"),
    "phase": ("percent", "share of the gait cycle"),
    "stance_phase": ("percent", "share of the stance, foot strike to foot off"),
    "metric": ("", "number of the gait cycle, named as in study.nc and metrics.csv"),
    "metric_units": ("", "units of the number"),
    "start_time": ("s", "foot strike that starts the cycle, on the file's own time axis"),
    "end_time": ("s", "foot strike that ends the cycle, on the file's own time axis"),
    "mass_kg": ("kg", "body mass"),
    "height_m": ("m", "body height"),
    "kinetics_valid": ("", "whether the ground reaction of the cycle's stance could be used"),
    "reason": ("", "why the kinetics are left out"),
    "measured_share": ("1", "share of the frames in which the landmark was measured"),
    "filled_share": ("1", "share of the frames in which the landmark was filled; the rest is missing"),
    "cutoff_hz": ("Hz", "-3 dB point of the marker's filter"),
    "marker": ("", "marker: label of the file, or from clean on its name in the body model"),
    "label": ("", "the file's label, or labels, of the marker"),
    "plate": ("", "number of the plate"),
    "corner": ("", "number of the plate's corner, as in the file"),
    "event": ("", "gait event"),
    "event_side": ("", "side of the gait event"),
    "source": ("", "what told the gait event: plate, c3d or kinematic"),
    "contact_side": ("", "side of the foot on the ground"),
    "plates": ("", "plates under the foot"),
    "valid": ("", "whether the ground reaction of the stance could be used"),
    "stance_side": ("", "side of the stance"),
    "stance_plates": ("", "plates under the foot"),
    "stance_reason": ("", "why the kinetics of the stance are left out"),
    "pose": ("", "body segment that has a pose"),
    "local_axis_2": ("", "second segment axis of a tensor"),
    "landmark": ("", "landmark that the static trial shows"),
    "landmark_2": ("", "second landmark of a pair"),
    "technical_axis": ("", "axis built from markers in motion"),
    "joint_carrier": ("", "segment that carries the joint centre; empty where it is found in every frame"),
    "cluster_marker": ("", "marker of a rigid cluster"),
    "cluster_side": ("", "side of the cluster's segment"),
    "cluster_segment": ("", "segment of the cluster"),
    "cycle": ("", "number of the gait cycle in the study"),
    "participant": ("", "participant_id of participants.tsv"),
    "session": ("", "lab session"),
    "trial": ("", "trial of trials.tsv"),
    "condition": ("", "condition of trials.tsv"),
}
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


def stacked_metrics(columns: Mapping[str, NDArray[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return variable and coordinates of cycles.nc that hold all metrics (cycle,) in one array."""
    values = np.stack([columns[name] for name in METRICS], axis=-1)
    units = [metric.units for metric in METRICS.values()]
    return {"metric_value": (("cycle", "metric"), values)}, {"metric": [*METRICS], "metric_units": ("metric", units)}


def separate_metrics(names: Iterable[str], values: NDArray[np.float64]) -> dict[str, tuple[str, NDArray[np.float64]]]:
    """Return the variables of study.nc, one for each metric, from values (cycle, metric)."""
    return {str(name): ("cycle", column) for name, column in zip(names, values.T, strict=True)}
