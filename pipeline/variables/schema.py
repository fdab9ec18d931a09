"""The schema of all outputs: dimensions, units and meaning of every variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import IN_ONE_TRIAL
from ..reference import resolve
from ..step import every_step
from ..tables.study_tables import VISIT_COLUMNS
from .cycle_variables import SEEN, SEEN_SHARE, STANCE
from .metrics import METRICS
from .rows import AS_JSON, Variable

if TYPE_CHECKING:  # each command and each plan reads this module; xarray takes longer than both
    import xarray as xr

_OUTPUTS = {name: output for step in every_step().values() for name, output in step.outputs.items() if output.variables}
TITLES = {name: output.title for name, output in _OUTPUTS.items()}
VARIABLES: dict[str, dict[str, Variable]] = {name: resolve(output.variables) for name, output in _OUTPUTS.items()}
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
    "cause": ("", "motion that contributes: rotation of a joint, of the pelvis, or translation between the segments"),
    "motion": ("", "acceleration, or velocity (centripetal, Coriolis and gyroscopic)"),
    "formulation": ("", "formulation of the equations of motion, compared with the stored loads"),
    "extent": ("", "singular value of a cluster of markers, the largest first"),
    "knee_axis_way": ("", "how motion shows a knee's axis, as calibrate.knee_axis"),
    "load": ("", "force or moment"),
    "percentile": ("percent", "share of the draws below the value"),
    "error_source": ("", "error source, see Uncertainty in theory.md"),
    "phase": ("percent", "share of the gait cycle"),
    "stance_phase": ("percent", "share of stance, foot strike to foot off"),
    "metric": ("", "metric, named as in study.nc and metrics.csv"),
    "metric_units": ("", "units of the metric"),
    "start_time": ("s", "foot strike that starts the cycle, on the file's own time axis"),
    "end_time": ("s", "foot strike that ends the cycle, on the file's own time axis"),
    "mass_kg": ("kg", "body mass"),
    "height_m": ("m", "body height"),
    "kinetics_valid": (
        "",
        "whether the kinetics are used: not if refused, nor, unless cycles.doubted_stances is use, if doubted",
    ),
    "reason": ("", "why the cycle has no kinetics"),
    "reason_code": ("", "code of the reason; empty without one"),
    "reason_values": ("", f"the reason, {AS_JSON}"),
    "doubt": ("", "why the numbers of the kinetics are doubted; empty if they are not"),
    "doubt_code": ("", "codes of the doubts, separated by blanks; empty without one"),
    "doubt_values": ("", f"the doubts in the order of their words, {AS_JSON}"),
    "measured_share": ("1", "share of frames in which the landmark was measured"),
    "filled_share": ("1", "share of frames in which the landmark was filled; the rest are missing"),
    "cutoff_hz": ("Hz", "cutoff frequency (-3 dB) of the marker's filter"),
    "marker": ("", "marker: label in the file; from step clean on, name in the body model"),
    "label": ("", "label or labels of the marker in the file"),
    "plate": ("", "number of the plate"),
    "point": ("", "joint centre or landmark"),
    "corner": ("", "number of the corner, as in the file"),
    "event": ("", "gait event"),
    "event_side": ("", "side of the gait event"),
    "event_source": ("", "source of the gait event: plate, c3d or kinematic"),
    "source": ("", "file of the trial, relative to the study"),
    "force_source": ("", "file with the forces of the trial, relative to the study; empty if source holds them"),
    "burst_side": ("", "side of the muscle"),
    "burst_muscle": ("", "muscle of the burst"),
    "burst_trial": ("1", "number of the trial along trial, from 0, of the burst"),
    "contact_side": ("", "side of the foot on the ground"),
    "plates": ("", "plates under the foot"),
    "valid": ("", "whether the ground reaction of the stance could be used"),
    "stance_side": ("", "side of the stance"),
    "stance_plates": ("", "plates under the foot"),
    "stance_reason": ("", "why the stance has no kinetics"),
    "stance_code": ("", "code of the reason for which the stance has no kinetics; empty if it has"),
    "stance_reason_values": ("", f"the reason for which the stance has no kinetics, {AS_JSON}"),
    "stance_doubt": ("", "why the kinetics of the stance are doubted; empty if they are not"),
    "stance_doubt_code": ("", "codes of the doubts, separated by blanks; empty without one"),
    "stance_doubt_values": ("", f"the doubts in the order of their words, {AS_JSON}"),
    "pose": ("", "body segment that has a pose"),
    "local_axis_2": ("", "second segment axis of a tensor"),
    "landmark": ("", "landmark seen in the static trial"),
    "landmark_2": ("", "second landmark of a pair"),
    "technical_axis": ("", "axis built from markers in motion"),
    "joint_carrier": ("", "segment that the joint centre is fixed to; empty if computed in every frame"),
    "cluster_marker": ("", "marker of a rigid cluster"),
    "cluster_side": ("", "side of the cluster's segment"),
    "fixed_marker": ("", "marker of the linked legs"),
    "fixed_side": ("", "side of the marker's segment"),
    "fixed_segment": ("", "segment that the marker is fixed to"),
    "cluster_segment": ("", "segment of the cluster"),
    "cycle": ("", "number of the gait cycle in the study"),
    "stance": ("", "number of the stance in the study"),
    f"cycle{STANCE}": ("", "number of the gait cycle that begins with the stance; -1 if none does"),
    SEEN: ("percent", SEEN_SHARE),
    f"start_time{STANCE}": ("s", "foot strike that starts the stance, on the file's own time axis"),
    f"end_time{STANCE}": ("s", "foot off that ends the stance, on the file's own time axis"),
    "participant": ("", "participant_id of participants.tsv"),
    "session": ("", "lab session"),
    "trial": ("", "trial of trials.tsv"),
    "condition": ("", "condition of trials.tsv"),
    "rejected": ("", "why the trial cannot be used; empty if it can"),
    "rejected_code": ("", "code of the reason for which the trial cannot be used; empty if it can"),
    "rejected_values": ("", f"what is wrong with the trial, {AS_JSON}: where, what, remedy"),
    "role": ("", "role of the trial: static, gait, functional, emg_reference or equipment"),
    "source_sha256": ("", "SHA-256 of the file of the trial"),
    "force_source_sha256": ("", "SHA-256 of the file with the forces of the trial"),
    "sample_trial": ("1", "number of the trial along trial, from 0, of the marker frame"),
    "plate_sample_trial": ("1", "number of the trial along trial, from 0, of the analog sample"),
    "event_trial": ("1", "number of the trial along trial, from 0, of the gait event"),
    "contact_trial": ("1", "number of the trial along trial, from 0, of the stance"),
    "cycle_trial": ("1", "number of the trial along trial, from 0, of the gait cycle"),
    "stance_trial": ("1", "number of the trial along trial, from 0, of the stance"),
    "whole_stance_trial": ("1", "number of the trial along trial, from 0, of the whole stance"),
    "marker_order": ("1", "place of the marker in the trial, from 1; 0 if the trial lacks it"),
    "plate_order": ("1", "place of the plate in the trial, from 1; 0 if the trial lacks it"),
    "channel": ("", "analog channel that no plate uses, by its label in the file"),
    "channel_order": ("1", "place of the channel in the trial, from 1; 0 if the trial lacks it"),
    "muscle": ("", "muscle"),
    "shoulder": ("", "side of the shoulder"),
    "upper_load": ("", "joint of trunk or arm that a moment is of"),
    "direction": ("", "direction from the body's middle"),
    "upper_joint": ("", "joint of trunk, head or arms"),
    "upper_part": ("", "segment or joint of trunk, head or arms that an angle is of"),
    "body_segment": ("", "segment of the body"),
    "upper_segment": ("", "segment of trunk, head or arms"),
    "upper_marker": ("", "landmark of trunk, head or arms"),
    "muscle_order": ("1", "place of the muscle in the trial, from 1; 0 if the trial lacks it"),
    "file_axis": ("", "axis of the file"),
    "limit": ("", "first or last"),
} | {
    name: about
    for output in _OUTPUTS.values()
    if output.coordinates
    for name, about in resolve(output.coordinates).items()
}
FLAGS = {  # those of `implausible` are given by step kinematics
    ("clean", "fill"): "none spline rigid_cluster neighbours spike exchanged_back",
    ("kinetics", "missing"): "known segment_not_seen ground_reaction_unknown gimbal_lock near_an_end",
}
# counts of marker samples by value of `fill`: attributes of a trial in clean.nc and cycles.nc, columns of quality.csv
REPAIRS = {
    "filled_by_spline": 1,
    "filled_by_cluster": 2,
    "filled_by_neighbours": 3,
    "spikes_removed": 4,
    "labels_put_right": 5,
}
INSTANCES = tuple(f"{dim}_trial" for dim in IN_ONE_TRIAL)
VERDICTS = ("valid", "kinetics_valid", f"kinetics_valid{STANCE}")
COLUMN_UNITS = {"_kg": "kg", "_m": "m", "_mm": "mm", "_years": "year"}


def describe(step: str, dataset: xr.Dataset) -> xr.Dataset:
    """Return a copy with units and long names, in the order of the schema; ValueError if the variables differ."""
    if not dataset.dims:  # a model of a session that could not be calibrated, or no trial to show
        return dataset.copy()
    all_rejected = "rejected" in dataset.coords and (dataset.variables["rejected"].values != "").all()
    names = [name for name, row in VARIABLES[step].items() if name in dataset or not row.optional]
    different = {*map(str, dataset.data_vars)} ^ {*names}
    if different and not all_rejected:
        raise ValueError(f"{step}: variables {sorted(different)} are not those of the schema")
    result = (dataset.drop_vars([*dataset.data_vars]) if all_rejected else dataset[names]).copy()
    for name in map(str, result.data_vars):
        row, variable = VARIABLES[step][name], result.variables[name]
        if variable.dims != row.dims:
            raise ValueError(f"{step}: {name} has dimensions {variable.dims}, the schema says {row.dims}")
        if row.dtype not in ("U", variable.dtype):
            variable.data = variable.data.astype(row.dtype)
        meanings = FLAGS.get((step, name)) or variable.attrs.get("flag_meanings", "")
        variable.attrs = {"units": row.units, "long_name": row.long_name}
        if meanings:
            values = np.arange(len(meanings.split()), dtype=variable.dtype)
            variable.attrs |= {"flag_values": values, "flag_meanings": meanings}
    for name in [str(name) for name in result.coords if step == "study" or name in COORDINATES]:
        variable, own = result.variables[name], name.removesuffix(STANCE)  # along stance what cycles have too
        numeric = variable.dtype.kind in "if"
        by_name = [unit for ending, unit in COLUMN_UNITS.items() if numeric and own.endswith(ending)]
        known = COORDINATES.get(name) or COORDINATES.get(own)
        units, long_name = known or ("".join(by_name[:1]), about_column(own))
        about: dict[str, Any] = ({"units": units} if units else {}) | {"long_name": long_name}
        if name in INSTANCES:
            about["instance_dimension"] = "trial"
        if name in VERDICTS:
            about |= {"flag_values": np.array([0, 1], np.int8), "flag_meanings": "left_out used"}
        variable.attrs = about
    return result


def about_column(name: str) -> str:
    """Return the long name of a column of participants.tsv, or of one that sessions.tsv alone is expected to have."""
    return f"column {name} of {'sessions.tsv or ' * (name in VISIT_COLUMNS)}participants.tsv"


def with_dims(step: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
    """Return arrays of a step by name with the dimensions that the schema gives them."""
    return {name: (VARIABLES[step][name].dims, values) for name, values in arrays.items()}


def stack_metrics(columns: Mapping[str, NDArray[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the variable and coordinates of cycles.nc that hold all metrics; ValueError for other names."""
    if columns.keys() != METRICS.keys():
        raise ValueError(f"metrics {sorted(columns.keys() ^ METRICS.keys())}: in metrics.py or in step cycles only")
    values = np.stack([columns[name] for name in METRICS], axis=-1)
    units = [metric.units for metric in METRICS.values()]
    return {"metric_value": (("cycle", "metric"), values)}, {"metric": [*METRICS], "metric_units": ("metric", units)}


def separate_metrics(names: Iterable[str], values: NDArray[np.float64]) -> dict[str, tuple[str, NDArray[np.float64]]]:
    """Return one variable of study.nc per metric from values (cycle, metric)."""
    return {str(name): ("cycle", column) for name, column in zip(names, values.T, strict=True)}
