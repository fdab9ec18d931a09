"""The variables of cycles.nc and study.nc: dimensions, units and meaning."""

from ..reference import resolve
from ..step import every_step
from .metrics import CO_CONTRACTION, JOINED_METRICS, METRICS, OF_STANCE, SCORES
from .rows import Variable, optional
from .session_variables import (
    ANKLE_FOOT_POWER,
    BAND,
    ENVELOPE,
    FOOT_POWER,
    JCS,
    JOINT_POWER,
    LINE,
    OF_TRIALS,
    ON_DISTAL,
    PELVIS,
    PROGRESSION,
    RESIDUAL,
    SHARE,
)
from .trial_facts import EVENTS_LEFT_OUT, FACTS
from .upper_body_variables import UPPER_ANGLES

# of a trial of clean.nc or contacts.nc, passed on to the tables and the report
REPAIRED = (
    "filled_by_spline", "filled_by_cluster", "filled_by_neighbours", "spikes_removed", "labels_put_right",
    "labels_exchanged_back", "filled_frames", "plates_left_out", "events_left_out", "emg_left_out",
)  # fmt: skip
_CURVES = {
    "joint_angle": Variable(("cycle", "joint", "angle", "phase"), "degree", f"joint angle; {JCS}"),
    "pelvis_angle": Variable(("cycle", "angle", "phase"), "degree", f"angle of the pelvis from {LINE}; {PELVIS}"),
    "foot_progression": Variable(("cycle", "phase"), "degree", f"{PROGRESSION} {LINE}"),
    "joint_moment_jcs": Variable(("cycle", "joint", "angle", "phase"), "N m kg-1",
        f"internal joint moment {ON_DISTAL} per body mass, orthogonal projection on the joint coordinate axes; {JCS}"),
    "joint_force": Variable(("cycle", "joint", "axis", "phase"), "N kg-1",
        f"joint force {ON_DISTAL} per body mass, lab axes"),
    "joint_power": Variable(("cycle", "joint", "phase"), "W kg-1",
        f"{JOINT_POWER}, per body mass, generation positive"),
    "foot_power": Variable(("cycle", "phase"), "W kg-1", f"{FOOT_POWER}, per body mass, generation positive"),
    "ankle_foot_power": Variable(("cycle", "phase"), "W kg-1",
        f"{ANKLE_FOOT_POWER}, per body mass, generation positive"),
    "ground_force": Variable(("cycle", "axis", "phase"), "N kg-1",
        f"ground reaction force on the foot per body mass, x along {LINE}, y up, z to the right"),
    "pelvis_residual": Variable(("cycle", "load", "phase"), "percent",
        f"magnitude of the residual force, of body weight, and moment, of body weight times height, {RESIDUAL}"),
}  # fmt: skip

CURVES = {name: variable._replace(dtype="f4") for name, variable in _CURVES.items()}
_ACTIVITY = ("cycle", "muscle", "activity")
_OF_BURST = "of a burst of the muscle; NaN if it is not in the cycle"
WITH_EMG = {
    "emg_envelope": Variable(("cycle", "muscle", "phase"), "mV", ENVELOPE, "f4"),
    "emg_onset": Variable(_ACTIVITY, "percent", f"onset {_OF_BURST}", "f4"),
    "emg_offset": Variable(_ACTIVITY, "percent", f"offset {_OF_BURST}", "f4"),
    "emg_onset_time": Variable(_ACTIVITY, "s", f"onset, from the foot strike that starts the cycle, {_OF_BURST}"),
    "emg_offset_time": Variable(_ACTIVITY, "s", f"offset, from the foot strike that starts the cycle, {_OF_BURST}"),
    "emg_active": Variable(("cycle", "muscle"), "percent",
        "share of the cycle in which the muscle is active; NaN if rest and activity are not distinct"),
    "emg_normalised": Variable(("cycle", "muscle", "phase"), "percent", f"{ENVELOPE}, per emg_divisor", "f4"),
    "emg_divisor": Variable(("cycle", "muscle"), "mV",
        "by cycles.emg_normalisation, peak or mean of the envelope over the cycles of the session, or emg_reference"),
}  # fmt: skip

LABELS_OF_TRUNK = {
    "upper_part": ["thorax", "head", "spine", "neck", "shoulder", "elbow", "wrist"],
    "upper_load": ["waist", "neck", "shoulder", "elbow", "wrist"],
    "direction": ["lateral", "forward"],
}
_TRUNK = {
    "upper_angle": Variable(("cycle", "upper_part", "angle", "phase"), "degree", UPPER_ANGLES.format(LINE)),
    "upper_moment": Variable(("cycle", "upper_load", "angle", "phase"), "N m kg-1",
        "internal moment per body mass of the segment nearer to the pelvis on the other, along its z, the floating "
        "axis and y of the other; positive turns towards a positive angle; arm of this side. From hands and head down; "
        "that of the waist is known no better than it agrees with waist_moment_from_legs"),
    "waist_moment_from_legs": Variable(("cycle", "angle", "phase"), "N m kg-1",
        "moment of the waist as in upper_moment, but by plates, feet, legs and pelvis alone; NaN where a loaded foot "
        "is on no valid plate"),
    "margin_of_stability": Variable(("cycle", "direction", "phase"), "m",
        "distance from the extrapolated centre of mass to the border of the sole, to the side of this foot and forward "
        "along the walk, positive if the border is further out; NaN in swing. The width of the sole is assumed: "
        "assumed_part_of_margin_of_stability"),
    "centre_of_mass_displacement": Variable(("cycle", "axis", "phase"), "m",
        "centre of mass of the whole body from the straight line between its places at both foot strikes, x along "
        f"{LINE}, y up, z to the right"),
    "angular_momentum": Variable(("cycle", "axis", "phase"), "1",
        "angular momentum about the centre of mass of the whole body, divided by body mass, body height and walking "
        f"speed, x along {LINE}, y up, z to the right"),
}  # fmt: skip
WITH_TRUNK = {name: variable._replace(dtype="f4") for name, variable in _TRUNK.items()}

SEEN = "stance_seen_percent"
SEEN_SHARE = (
    "share of the stance with known moments of the ankle; of a stance that an end of the recording cuts off, share of "
    "the usual stance of the trial"
)
STANCE = "_of_stance"  # end of the names of all that study.nc has along `stance`
# a stance from foot strike to foot off with valid kinetics, whether or not a whole gait cycle follows
STANCE_CURVES = {
    f"{name}{STANCE}": variable._replace(
        dims=("stance", *variable.dims[1:-1], "stance_phase"), long_name=f"{variable.long_name}; over the stance"
    )
    for name, variable in CURVES.items()
    if name in ("joint_angle", "joint_moment_jcs", "joint_power", "foot_power", "ankle_foot_power", "ground_force")
}

_ON_REQUEST = {
    **{
        f"{name}_in_stance": Variable((*dims[:-1], "stance_phase"), units, f"{long_name}; over stance")
        for name, (dims, units, long_name, *_) in CURVES.items()
        if dims[-1] == "phase"
    },
    **{
        f"joint_moment_{name}": Variable(
            ("cycle", "joint", axis, "phase"),
            "N m kg-1",
            f"internal joint moment {ON_DISTAL} per body mass, {meaning}",
        )
        for name, axis, meaning in (
            ("distal", "local_axis", "axes of the distal segment"),
            ("proximal", "local_axis", "axes of the proximal segment"),
            ("lab", "axis", "lab axes"),
        )
    },
    "external_moment_jcs": Variable(("cycle", "joint", "angle", "phase"), "N m kg-1",
        "external joint moment per body mass, the opposite of the internal moment; a positive moment turns the joint "
        f"towards positive angles; {JCS}"),
    "joint_moment_per_height": Variable(("cycle", "joint", "angle", "phase"), "N m kg-1 m-1",
        f"joint_moment_jcs per body mass and body height; {JCS}"),
    "joint_moment_dimensionless": Variable(("cycle", "joint", "angle", "phase"), "1",
        f"joint_moment_jcs divided by body weight and leg length; {JCS}"),
    "joint_power_dimensionless": Variable(("cycle", "joint", "phase"), "1",
        "joint power divided by body weight and sqrt(gravity * leg length)"),
    "interaction_torque": Variable(("cycle", "joint", "angle", "cause", "motion", "phase"), "N m kg-1",
        "contribution to joint_moment_jcs, per body mass, of the motion of each joint (cause), of the pelvis and of "
        f"the translation between segments; {JCS}"),
}  # fmt: skip

WITH_DRAWS = {
    "joint_angle_band": Variable(("cycle", "joint", "angle", "percentile", "phase"), "degree",
        f"{BAND} joint_angle; {JCS}", "f4"),
    "joint_moment_band": Variable(("cycle", "joint", "angle", "percentile", "phase"), "N m kg-1",
        f"{BAND} joint_moment_jcs; {JCS}", "f4"),
    "joint_power_band": Variable(("cycle", "joint", "percentile", "phase"), "W kg-1", f"{BAND} joint_power", "f4"),
    "joint_moment_variance_share": Variable(("cycle", "joint", "angle", "error_source", "phase"), "1", SHARE, "f4"),
    "metric_draw": Variable(("cycle", "metric", "draw"), "1",
        "metrics with the errors of each Monte Carlo draw, in the units of the metric; draws of one session share its "
        "errors of axes, joint centres, segments and soft tissue", "f4"),
}  # fmt: skip
BANDS = {"joint_angle": "joint_angle_band", "joint_moment_jcs": "joint_moment_band", "joint_power": "joint_power_band"}

ON_REQUEST = {name: variable._replace(dtype="f4") for name, variable in _ON_REQUEST.items()}

_FORCE, _MOMENT = "residual force on the pelvis, of body weight", "residual moment on it, of body weight times height"
_AGREES = "horizontal force per mass in the direction of the hips' acceleration, mean over single support,"
_PASSES = "how far the force passes the place where it would change the whole body's angular momentum as it changes,"
_LEANS = "how far the force leans from the one that moves the centre of mass of the whole body,"
_OVER_STEP = (
    "mean over the step of the stance in which all loads are known and plates bear the body; NaN where there is none, "
    "or trunk or arms are unseen"
)
# figures of a stance: unit and long name
RESIDUALS = {
    "residual_force_rms_percent": ("percent", f"root mean square of the {_FORCE}, in the stance"),
    "residual_force_peak_percent": ("percent", f"peak of the {_FORCE}, in the stance"),
    "residual_moment_rms_percent": ("percent", f"root mean square of the {_MOMENT}, in the stance"),
    "residual_moment_peak_percent": ("percent", f"peak of the {_MOMENT}, in the stance"),
    "residual_known_percent": ("percent", "share of the stance in which the residual at the pelvis is known"),
    "marker_residual_rms_mm": ("mm",
        "root mean square of the distances of the leg's markers from their places in the segments, in the stance"),
    "knee_marker_unseen_mm": ("mm",
        "how far a marker of the knee may lie off in the walk before it is doubted, in the direction that shows least; "
        "infinite where no other marker shows it, NaN if the walk has no marker there; of trial and side"),
    "momentum_ratio": ("1",
        "vertical force per force that the body's momentum needs, means over a step or single support; NaN if unknown"),
    "momentum_deviation": ("1", "standard deviation of momentum_ratio in sound walks"),
    "momentum_along": ("m s-2", f"{_AGREES} along the walk"),
    "momentum_aside": ("m s-2", f"{_AGREES} across the walk"),
    "momentum_variation": ("1",
        "standard deviation of the vertical force per mass over that of the body's vertical acceleration, in single "
        "support"),
    "steps_hz": ("Hz", "steps per second, from the foot strike to that of the other foot"),
    "momentum_lever_ahead_mm": ("mm", f"{_PASSES} ahead, towards which the person faces, {_OVER_STEP}"),
    "momentum_lever_aside_mm": ("mm", f"{_PASSES} to the right of the person, {_OVER_STEP}"),
    "momentum_lean_ahead_deg": ("degree", f"{_LEANS} ahead, {_OVER_STEP}"),
    "momentum_lean_aside_deg": ("degree", f"{_LEANS} to the right of the person, {_OVER_STEP}"),
}  # fmt: skip
# figures of the trial and side of a stance: unit and long name
KNEE_AXIS = {
    "knee_axis_error_deg": ("degree",
        "turn of the knee's flexion axis about the thigh that adduction in step with flexion suggests, positive "
        "inwards, of trial and side; NaN if the knee hardly bends"),
    "knee_axis_in_step": ("1", "correlation of the sines of knee adduction and flexion, of trial and side"),
    "knee_adduction_range_deg": ("degree",
        "largest minus smallest knee adduction in the gait cycle, mean over the cycles of trial and side"),
    "hip_rotation_mean_deg": ("degree", "hip rotation, mean over the gait cycles of trial and side, internal positive"),
}  # fmt: skip
CYCLES = {
    **CURVES,
    **optional(WITH_TRUNK),
    **optional(WITH_EMG),
    **optional({name: metric.variable for name, metric in CO_CONTRACTION.items()}),
    "metric_value": Variable(("cycle", "metric"), "1",
        "metrics of the gait cycle, each in its metric_units; separate variables in study.nc"),
    **optional(ON_REQUEST),
    **optional(WITH_DRAWS),
    **{name: curve._replace(dims=("whole_stance", *curve.dims[1:])) for name, curve in STANCE_CURVES.items()},
    "metric_value_of_stance": Variable(("whole_stance", "metric"), "1",
        "metrics of the whole stance, each in its metric_units; NaN if not defined in stance alone"),
    "stance_whole": Variable(("stance",), "1",
        "whether the stance has a foot strike, a foot off and valid kinetics, known wholly or in part; these follow "
        "each other along whole_stance", "i1"),
    "stance_used": Variable(("stance",), "1",
        "whether the kinetics of the stance are used: valid and, unless cycles.doubted_stances is use, not doubted",
        "i1"),
    "stance_start": Variable(("stance",), "s", "start of the stance"),
    "stance_end": Variable(("stance",), "s", "end of the stance"),
    SEEN: Variable(("stance",), "percent", SEEN_SHARE),
    "stance_disagreement": Variable(("stance",), "N m",
        "largest difference of four formulations from the trial's stored joint moments"),
    "stance_forward_closure": Variable(("stance", "joint"), "degree",
        "forward closure of the trial and side, root mean square over the three angles"),
    "stance_energy_closure": Variable(("stance", "segment"), "W", "energy closure of the trial and side"),
    **{f"stance_{name}": Variable(("stance",), *about) for name, about in (RESIDUALS | KNEE_AXIS).items()},
    **{name: (FACTS | EVENTS_LEFT_OUT)[name] for name in REPAIRED},
}  # fmt: skip
# the trial that the report shows
_PART = "of the internal joint moment over the cycle shown, along the joint coordinate axes"
REPRESENTATIVE = {
    "point_position": Variable(("time", "point", "axis"), "m", "joint centre or landmark, lab axes", "f4"),
    **{
        name: OF_TRIALS["contacts"][name]._replace(dims=("time", "side", "axis"), dtype="f4")
        for name in ("ground_force", "centre_of_pressure")
    },
    "joint_moment_by_term": Variable(("side", "joint", "angle", "term", "phase"), "N m",
        f"part {_PART}, by term; {JCS}", "f4"),
    "joint_moment_by_cause": Variable(("side", "joint", "angle", "cause", "phase"), "N m",
        f"part {_PART}, by motion that causes it; {JCS}", "f4"),
    "cycle_start": Variable(("side",), "s", "foot strike that starts the cycle shown; NaN without one"),
    "cycle_end": Variable(("side",), "s", "foot strike that ends the cycle shown; NaN without one"),
    "cycle_has_kinetics": Variable(("side",), "1", "whether the cycle shown has valid kinetics", "i1"),
}  # fmt: skip
CYCLE_METRICS = {name: metric.variable for name, metric in METRICS.items()}
STANCE_METRICS = {f"{name}{STANCE}": CYCLE_METRICS[name]._replace(dims=("stance",)) for name in OF_STANCE}
_SCORES = {name: score.variable for name, score in (SCORES | CO_CONTRACTION | JOINED_METRICS).items()}
# what a step adds to each gait cycle of study.nc, if it joins its results to cycles.nc
JOINED = {
    name: variable
    for step in every_step().values()
    if step.joins
    for name, variable in resolve(step.outputs[step.name].variables).items()
    if name not in JOINED_METRICS
}
STUDY = (
    CURVES
    | optional(WITH_TRUNK)
    | optional(WITH_EMG)
    | CYCLE_METRICS
    | optional(_SCORES)
    | optional(ON_REQUEST)
    | optional(WITH_DRAWS)
    | STANCE_CURVES
    | STANCE_METRICS
    | optional(JOINED)
)
# coordinates of study.nc along `cycle`, first columns of metrics.csv
IDENTITY = (
    *("participant", "session", "trial", "condition", "side"),
    *("start_time", "end_time", "kinetics_valid", "reason", "doubt", "doubt_code"),
)
# further ones of study.nc, which has verdicts as code and values too
IN_STUDY = (*IDENTITY, "reason_code", "reason_values", "doubt_values")
# coordinates of study.nc along `stance`, without the end of their names
STANCE_IDENTITY = (*(name for name in IDENTITY if name != "reason"), "doubt_values", "plates", "cycle")
_MOTION = ("joint_angle", "pelvis_angle", "foot_progression", "emg_envelope", "metric_draw", "upper_angle")
# curves and metrics of study.nc that need the ground force
KINETICS = frozenset(
    (
        "waist_moment_from_legs",
        *(name for name, variable in (JOINED | _SCORES).items() if variable.of_kinetics),
        *(name for name in CURVES | ON_REQUEST | WITH_DRAWS | STANCE_CURVES if not name.startswith(_MOTION)),
        *(
            f"{name}{ending}"
            for name, metric in METRICS.items()
            for ending in ("", STANCE)
            if (part := METRICS.get(name.removeprefix("phase_of_"), metric).part) and part.curve not in _MOTION
        ),
    )
)
