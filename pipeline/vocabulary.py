"""The vocabulary of the outputs: every variable's dimensions, units and meaning, in one table.

The bridge describes every dataset from it and refuses one that departs from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from pipeline import metrics


class Variable(NamedTuple):
    """Dimensions, CF units and long name (with frame and sign) of a variable."""

    dims: tuple[str, ...]
    units: str
    long_name: str


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

_PLATE = ("plate_time", "plate", "axis")
_JCS = "flexion (ankle: dorsiflexion), adduction (ankle: inversion) and internal rotation positive on both sides"
_ON_DISTAL = "of the proximal segment on the distal one"

_PELVIS = "flexion is anterior tilt, adduction is obliquity with this side up, rotation is internal, this side forward"
_PROGRESSION = (
    "turn of the foot's long axis from the direction of walking (lab x), in the horizontal plane, toes inwards"
)
_EVENTS = {"event_time": Variable(("event",), "s", "time of the gait event")}
_PLATES = {
    "plate_force": Variable(_PLATE, "N", "force of the plate on the person, lab axes"),
    "plate_moment": Variable(_PLATE, "N m", "moment of the plate on the person about the lab origin, lab axes"),
    "plate_corner": Variable(("plate", "corner", "axis"), "m", "corner of the plate, lab axes"),
}
METRICS = tuple(metrics.METRICS)
_CURVES = {
    "joint_angle": Variable(("cycle", "joint", "angle", "phase"), "degree", f"joint angle; {_JCS}"),
    "pelvis_angle": Variable(("cycle", "angle", "phase"), "degree", f"angle of the pelvis in the lab; {_PELVIS}"),
    "foot_progression": Variable(("cycle", "phase"), "degree", _PROGRESSION),
    "joint_moment_jcs": Variable(
        ("cycle", "joint", "angle", "phase"),
        "N m kg-1",
        f"internal joint moment {_ON_DISTAL} per body mass, orthogonal projection on the joint coordinate axes; {_JCS}",
    ),
    "joint_force": Variable(
        ("cycle", "joint", "axis", "phase"), "N kg-1", f"joint force {_ON_DISTAL} per body mass, lab axes"
    ),
    "joint_power": Variable(("cycle", "joint", "phase"), "W kg-1", "joint power per body mass, generation positive"),
    "ground_force": Variable(
        ("cycle", "axis", "phase"), "N kg-1", "ground reaction force on the foot per body mass, lab axes"
    ),
}
_METRICS = {name: Variable(("cycle",), units, meaning) for name, (units, meaning) in metrics.METRICS.items()}
SCORES = {
    name: Variable(("cycle",), units, meaning)
    for name, (units, meaning) in (metrics.SCORES | metrics.DEVIATION_INDEX).items()
}

_BAND = "percentiles of Monte Carlo draws of errors"
_SHARE = "share of each source of error in the variance of joint_moment_jcs"
WITH_DRAWS = {
    "joint_moment_band": Variable(
        ("time", "side", "joint", "angle", "percentile"), "N m", f"{_BAND} of joint_moment_jcs; {_JCS}"
    ),
    "joint_power_band": Variable(("time", "side", "joint", "percentile"), "W", f"{_BAND} of joint_power"),
    "joint_moment_variance_share": Variable(("time", "side", "joint", "angle", "error_source"), "1", _SHARE),
}
ON_REQUEST = {
    **{
        f"{name}_in_stance": Variable((*dims[:-1], "stance_phase"), units, f"{long_name}; over stance")
        for name, (dims, units, long_name) in _CURVES.items()
        if dims[-1] == "phase"
    },
    "joint_moment_band": Variable(
        ("cycle", "joint", "angle", "percentile", "phase"), "N m kg-1", f"{_BAND} of joint_moment_jcs; {_JCS}"
    ),
    "joint_power_band": Variable(("cycle", "joint", "percentile", "phase"), "W kg-1", f"{_BAND} of joint_power"),
    "joint_moment_variance_share": Variable(("cycle", "joint", "angle", "error_source", "phase"), "1", _SHARE),
    "joint_moment_distal": Variable(
        ("cycle", "joint", "local_axis", "phase"),
        "N m kg-1",
        f"internal joint moment {_ON_DISTAL} per body mass, axes of the distal segment",
    ),
    "joint_moment_proximal": Variable(
        ("cycle", "joint", "local_axis", "phase"),
        "N m kg-1",
        f"internal joint moment {_ON_DISTAL} per body mass, axes of the proximal segment",
    ),
    "joint_moment_lab": Variable(
        ("cycle", "joint", "axis", "phase"), "N m kg-1", f"internal joint moment {_ON_DISTAL} per body mass, lab axes"
    ),
    "external_moment_jcs": Variable(
        ("cycle", "joint", "angle", "phase"),
        "N m kg-1",
        "external joint moment per body mass: of what acts from outside, which the internal one resists; a positive "
        f"one turns towards a positive angle; {_JCS}",
    ),
    "joint_moment_per_height": Variable(
        ("cycle", "joint", "angle", "phase"), "N m kg-1 m-1", f"joint_moment_jcs per body mass and height; {_JCS}"
    ),
    "joint_moment_dimensionless": Variable(
        ("cycle", "joint", "angle", "phase"), "1", f"joint_moment_jcs over body weight times leg length; {_JCS}"
    ),
    "joint_power_dimensionless": Variable(
        ("cycle", "joint", "phase"), "1", "joint power over body weight times the root of gravity times leg length"
    ),
    "interaction_torque": Variable(
        ("cycle", "joint", "angle", "cause", "motion", "phase"),
        "N m kg-1",
        "what the motion of each joint (cause), of the pelvis and of the translation between segments contributes to "
        f"joint_moment_jcs per body mass; {_JCS}",
    ),
}

VARIABLES: dict[str, dict[str, Variable]] = {
    "read": {
        "marker_position": Variable(("time", "marker", "axis"), "m", "marker position as recorded, lab axes"),
        **_PLATES,
        **_EVENTS,
    },
    "calibrate": {
        "segment_mass": Variable(("side", "segment"), "kg", "segment mass"),
        "segment_com": Variable(
            ("side", "segment", "local_axis"), "m", "centre of mass from the proximal joint centre, segment axes"
        ),
        "segment_inertia": Variable(
            ("side", "segment", "local_axis", "local_axis_2"),
            "kg m2",
            "inertia tensor about the centre of mass, segment axes",
        ),
        "segment_length": Variable(("side", "segment"), "m", "segment length that the parameter table refers to"),
        "joint_position": Variable(
            ("side", "joint", "local_axis"),
            "m",
            "joint centre in the axes, from the origin, of the segment that carries it",
        ),
        "static_rotation": Variable(
            ("side", "pose", "local_axis", "axis"),
            "1",
            "rotation matrix in the static trial, mean over its frames: v_segment = rotation . v_lab",
        ),
        "static_distance": Variable(
            ("landmark", "landmark_2"), "m", "distance of two landmarks in the static trial, median over its frames"
        ),
        "chord_radius": Variable(("side", "joint"), "m", "half joint width plus marker radius"),
        "technical_rotation": Variable(
            ("side", "pose", "local_axis", "technical_axis"),
            "1",
            "turn from the axes built in motion to anatomical axes",
        ),
        "cluster_position": Variable(
            ("cluster_marker", "local_axis"), "m", "marker in the axes, from the origin, of the segment that carries it"
        ),
        "segment_turn_per_marker": Variable(
            ("side", "pose", "local_axis", "marker", "axis"),
            "rad m-1",
            "turn of the segment, segment axes, per displacement of a marker, lab axes, in the static trial's posture",
        ),
        "segment_origin_per_marker": Variable(
            ("side", "pose", "local_axis", "marker", "axis"),
            "1",
            "displacement of the segment's origin, segment axes, per displacement of a marker, lab axes",
        ),
        "joint_centre_per_marker": Variable(
            ("side", "joint", "local_axis", "marker", "axis"),
            "1",
            "displacement of the joint centre, axes of the segment that carries it, per displacement of a marker",
        ),
    },
    "clean": {
        "marker_position": Variable(
            ("time", "marker", "axis"), "m", "landmark position, filled and filtered, lab axes"
        ),
        "fill": Variable(
            ("time", "marker"),
            "1",
            "what was done to the sample: 0 nothing (measured or missing), 1 filled by spline, 2 from its rigid "
            "cluster, 3 from neighbours, 4 spike taken out, 5 label exchanged back",
        ),
        **_PLATES,
        "vertical_force": Variable(
            ("plate_time", "plate"), "N", "vertical force of the plate, baseline off, unfiltered"
        ),
        "plate_baseline": Variable(
            ("plate", "axis"), "N", "mean force of the unloaded plate that was taken off, lab axes"
        ),
        "plate_drift": Variable(
            ("plate",), "N", "drift of the unloaded plate's force under load that is not known; NaN if never unloaded"
        ),
        **_EVENTS,
    },
    "contacts": {
        "ground_force": Variable(("time", "side", "axis"), "N", "ground reaction force on the foot, lab axes"),
        "ground_moment": Variable(
            ("time", "side", "axis"), "N m", "ground reaction moment on the foot about the lab origin, lab axes"
        ),
        "centre_of_pressure": Variable(("time", "side", "axis"), "m", "centre of pressure, lab axes"),
        "free_moment": Variable(("time", "side"), "N m", "free moment on the foot about the plate's upward normal"),
        "contact_start": Variable(("contact",), "s", "start of the stance"),
        "contact_end": Variable(("contact",), "s", "end of the stance"),
        **_EVENTS,
    },
    "kinematics": {
        "rotation": Variable(
            ("time", "side", "segment", "local_axis", "axis"), "1", "rotation matrix: v_segment = rotation . v_lab"
        ),
        "joint_centre": Variable(("time", "side", "joint", "axis"), "m", "joint centre, lab axes"),
        "joint_centre_velocity": Variable(
            ("time", "side", "joint", "axis"), "m s-1", "velocity of the joint centre, lab axes"
        ),
        "joint_centre_acceleration": Variable(
            ("time", "side", "joint", "axis"), "m s-2", "acceleration of the joint centre, lab axes"
        ),
        "com_position": Variable(("time", "side", "segment", "axis"), "m", "segment centre of mass, lab axes"),
        "com_velocity": Variable(
            ("time", "side", "segment", "axis"), "m s-1", "velocity of the segment centre of mass, lab axes"
        ),
        "com_acceleration": Variable(
            ("time", "side", "segment", "axis"), "m s-2", "acceleration of the segment centre of mass, lab axes"
        ),
        "angular_velocity": Variable(
            ("time", "side", "segment", "local_axis"), "rad s-1", "angular velocity, segment axes"
        ),
        "angular_acceleration": Variable(
            ("time", "side", "segment", "local_axis"), "rad s-2", "angular acceleration, segment axes"
        ),
        "joint_angle": Variable(("time", "side", "joint", "angle"), "degree", f"joint angle; {_JCS}"),
        "pelvis_angle": Variable(("time", "side", "angle"), "degree", f"angle of the pelvis in the lab; {_PELVIS}"),
        "foot_progression": Variable(("time", "side"), "degree", _PROGRESSION),
        "fit_residual": Variable(
            ("time", "side", "segment"), "m", "root-mean-square misfit of the segment's marker cluster"
        ),
    },
    "kinetics": {
        **WITH_DRAWS,
        "joint_force": Variable(("time", "side", "joint", "axis"), "N", f"joint force {_ON_DISTAL}, lab axes"),
        "joint_moment": Variable(
            ("time", "side", "joint", "local_axis"),
            "N m",
            f"internal joint moment {_ON_DISTAL} about the joint centre, distal segment axes",
        ),
        "joint_moment_jcs": Variable(
            ("time", "side", "joint", "angle"),
            "N m",
            f"internal joint moment {_ON_DISTAL}, orthogonal projection on the joint coordinate axes; {_JCS}",
        ),
        "joint_moment_term": Variable(
            ("time", "side", "joint", "term", "local_axis"),
            "N m",
            "what inertia, velocity, gravity and ground contribute to the joint moment, distal segment axes",
        ),
        "joint_power": Variable(("time", "side", "joint"), "W", "joint power, generation positive"),
        "interaction_torque": Variable(
            ("time", "side", "joint", "angle", "cause", "motion"),
            "N m",
            "what the motion of each joint (cause), of the pelvis and of the translation between segments contributes "
            f"to joint_moment_jcs; {_JCS}",
        ),
        "missing": Variable(
            ("time", "side", "joint"),
            "1",
            "why joint_moment_jcs is not known: 0 it is, 1 segment not seen, 2 ground reaction unknown, 3 gimbal lock",
        ),
        "disagreement": Variable(
            ("formulation", "load"),
            "1",
            "largest absolute difference of joint force (N) and joint moment (N m) from the block matrix",
        ),
        "forward_closure": Variable(
            ("side", "joint", "angle"),
            "degree",
            "root-mean-square error of the joint angles that the computed moments bring about in windows of 0.02 s",
        ),
        "energy_closure": Variable(
            ("side", "segment"), "W", "root-mean-square difference of a segment's energy rate and the power entering it"
        ),
    },
    "cycles": {
        **_CURVES,
        "metric_value": Variable(
            ("cycle", "metric"), "1", "numbers of the gait cycle, each in its metric_units; in study.nc one by one"
        ),
        **ON_REQUEST,
        "stance_start": Variable(("stance",), "s", "start of the stance"),
        "stance_end": Variable(("stance",), "s", "end of the stance"),
        "stance_disagreement": Variable(
            ("stance",), "N m", "largest difference between the formulations of the trial's joint moments"
        ),
        "stance_forward_closure": Variable(
            ("stance", "joint"), "degree", "forward closure of the trial and side, root mean square of the three angles"
        ),
        "stance_energy_closure": Variable(("stance", "segment"), "W", "energy closure of the trial and side"),
    },
    "study": {**_CURVES, **_METRICS, **SCORES, **ON_REQUEST},
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
VERDICTS = ("valid", "kinetics_valid")
COLUMN_UNITS = {"_kg": "kg", "_m": "m", "_mm": "mm", "_years": "year"}


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
