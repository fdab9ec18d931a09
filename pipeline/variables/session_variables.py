"""Variables of the session files, read to kinetics: dimensions, units, meaning."""

from .rows import DOUBT, NO_ENDS, Variable, optional
from .trial_facts import EVENTS_LEFT_OUT, FACTS, facts
from .upper_body_variables import (
    MEASURED_UPPER_BODY,
    UPPER_LOADS,
    WHOLE_BODY,
    WITH_SHOULDERS,
    WITH_TRUNK,
    WITH_UPPER_BODY,
    WITH_UPPER_MARKERS,
)

_PLATE = ("plate_sample", "plate", "axis")
JCS = "flexion (ankle: dorsiflexion), adduction (ankle: inversion) and internal rotation positive on both sides"
JOINT_POWER = "joint power; that of the ankle is of a rigid foot"
FOOT_POWER = "power of the foot as one deformable segment on the ground"
ANKLE_FOOT_POWER = "power of ankle and foot together, joint_power of the ankle and foot_power"
ON_DISTAL = "of the proximal segment on the distal one"

PELVIS = "flexion is anterior tilt, adduction is obliquity with this side up, rotation is internal, this side forward"
PROGRESSION = "arcsine of the lateral part of the foot's long axis, toes in positive, from"
LINE = "the line of progression (kinematics.line_of_progression)"
RESIDUAL = "on the pelvis that the motion of the whole body needs beyond gravity and the ground reactions"
_EVENTS = {"event_time": Variable(("event",), "s", "time of the gait event")}
_WRENCH = {
    "plate_force": Variable(_PLATE, "N", "force of the plate on the person, lab axes"),
    "plate_moment": Variable(_PLATE, "N m", "moment of the plate on the person about the lab origin, lab axes"),
}
_CORNER = Variable(("trial", "plate", "corner", "axis"), "m", "corner of the plate, lab axes")
_EDGES = Variable(
    ("trial", "plate"), "", "whether plate_corner holds corners; else the load's file states none, and it holds the "
    "area on which the load pressed, with a foot's length around it", "i1"
)  # fmt: skip
_FAULT = Variable(("trial", "plate"), "", "first fault of the plate's channels; empty if it has none", "U")
AHEAD = "time by which the plates are ahead of the markers"
BAND = "percentiles over Monte Carlo draws of measurement errors,"
SHARE = "share of each error source in the variance of joint_moment_jcs"
WITH_DRAWS = {
    "uncertainty": Variable(("trial",), "",
        "number, band and sizes of the errors that the step cycles draws, and gravity, JSON", "U"),
}  # fmt: skip
WITH_LINKED_LEGS = {
    "marker_residual": Variable(("sample", "marker"), "m",
        "distance of the marker from its place in its segment of the linked legs", "f4"),
    "linked_legs": Variable(("trial",), "",
        "markers of the linked legs with number of the body and weight, and which joint angles are free, JSON", "U"),
}  # fmt: skip
WITH_INCLINE = {
    "ground_normal": Variable(("trial", "axis"), "1",
        "upward normal of the ground below the feet, by the corners of the plates, lab axes; there if a trial of the "
        "session is on a slope, along which belts then move"),
}  # fmt: skip
WITH_KNEE_MOTION = {
    "knee_axis_turn": Variable(("side", "knee_axis_way"), "degree",
        "turn about the thigh's long axis from the knee's axis by the markers to that by its motion, inwards positive"),
}  # fmt: skip
ENVELOPE = "linear envelope of the electromyogram, high-pass, rectified, low-pass"
WITH_EMG = {
    "emg_envelope": Variable(("sample", "side", "muscle"), "mV", ENVELOPE, "f4"),
    "emg_rest": Variable(("trial", "side", "muscle"), "mV",
        "root mean square of the electromyogram between bursts; NaN if rest and activity are not distinct"),
    "emg_reference": Variable(("trial", "side", "muscle"), "mV",
        "highest mean of the envelope over 0.5 s in the session's trials of role emg_reference; NaN without"),
    "burst_start": Variable(("burst",), "s", "onset of a burst of the electromyogram"),
    "burst_end": Variable(("burst",), "s", "offset of a burst of the electromyogram"),
}  # fmt: skip
OF_TRIALS: dict[str, dict[str, Variable]] = {
    "read": {
        "marker_position": Variable(("sample", "marker", "axis"), "m", "marker position as recorded, lab axes"),
        **{name: each._replace(dtype="f4") for name, each in _WRENCH.items()},
        "plate_corner": _CORNER,
        "plate_edges_known": _EDGES,
        "plate_fault": _FAULT,
        "analog": Variable(("plate_sample", "channel"), "",
            "channels that no plate uses, such as EMG, as scaled by the file", "f4"),
        "analog_units": Variable(("trial", "channel"), "", "units of analog, as the file states them", "U"),
        **_EVENTS,
        "lab_rotation": Variable(("trial", "axis", "file_axis"), "1", "lab axes in the axes of the file"),
        "zero_frames": Variable(("trial", "limit"), "1",
            "frames between which the file calls the plates unloaded; NaN if it does not"),
        **facts("marker_rate_hz", "direction_of_travel", "plates_left_out", "static_results", "stored_angles"),
        **optional({"slope_degrees": Variable(("trial",), "degree",
            "by how much the file's axes rise where the person faces, as stated; there if a trial's do")}),
        "label_notes": Variable(("trial",), "", "labels that were changed on reading, and why", "U"),
        "anthropometry": Variable(("trial",), "", "sizes of the person in the file, JSON, m and kg", "U"),
        "shown_sizes": Variable(("trial",), "",
            "weight on the plates, leg and travel that the recording shows, JSON, N and m", "U"),
    },
    "calibrate": {
        "segment_mass": Variable(("side", "segment"), "kg", "segment mass"),
        "segment_com": Variable(("side", "segment", "local_axis"), "m",
            "centre of mass from the proximal joint centre, segment axes"),
        "segment_inertia": Variable(("side", "segment", "local_axis", "local_axis_2"), "kg m2",
            "inertia tensor about the centre of mass, segment axes"),
        "segment_length": Variable(("side", "segment"), "m", "segment length as the parameter table defines it"),
        **optional(MEASURED_UPPER_BODY),
        **optional(WITH_TRUNK),
        **optional(WITH_KNEE_MOTION),
        "leg_refused": Variable(("side",), "", "why the leg cannot be used; empty if it can", "U"),
        "joint_distance": Variable(("side", "segment"), "m",
            "distance of the joint centres at the segment's ends in the static trial, median"),
        "joint_position": Variable(("side", "joint", "local_axis"), "m",
            "joint centre from the origin, and in the axes, of the segment that it is fixed to"),
        "static_rotation": Variable(("side", "pose", "local_axis", "axis"), "1",
            "rotation matrix in the static trial, mean over frames: v_segment = rotation . v_lab"),
        "static_knee_flexion": Variable(("side",), "degree",
            "flexion of the knee in the static trial where it is straightest (10th percentile of the frames)"),
        "cluster_extent": Variable(("side", "pose", "extent"), "m",
            "singular values of the cluster's markers about their centre; NaN of a segment without a cluster"),
        "orientation_noise": Variable(("side", "pose"), "rad m-1",
            "error of the orientation about its worst axis per error of each coordinate of the markers (independent)"),
        "static_distance": Variable(("landmark", "landmark_2"), "m",
            "distance of two landmarks in the static trial, median over frames"),
        "chord_radius": Variable(("side", "joint"), "m", "distance of the joint centre from the lateral marker"),
        "chord_rotation": Variable(("side", "joint"), "rad",
            "angle about the segment's axis from wand to lateral marker, inwards positive; rotation of thigh or shank"),
        "chord_abduction": Variable(("side", "joint"), "rad",
            "by how much the angle of the chord at the lateral marker is less than right-angled"),
        "tibial_torsion": Variable(("side",), "rad",
            "from the knee's axis to the malleoli's about the shank's axis, inwards positive"),
        "technical_rotation": Variable(("side", "pose", "local_axis", "technical_axis"), "1",
            "rotation matrix from technical axes (built from markers in motion) to anatomical axes"),
        "cluster_position": Variable(("cluster_marker", "local_axis"), "m",
            "marker from the origin, and in the axes, of the segment that it is fixed to"),
        "fixed_position": Variable(("fixed_marker", "local_axis"), "m",
            "marker of the linked legs from the origin, and in the axes, of its segment"),
        "joint_link": Variable(("side", "joint", "local_axis"), "m",
            "joint centre from the origin, and in the axes, of its proximal segment in the static trial"),
        "segment_turn_per_marker": Variable(("side", "pose", "local_axis", "marker", "axis"), "rad m-1",
            "rotation of the segment, segment axes, per displacement of a marker, lab axes, in the static posture"),
        "segment_origin_per_marker": Variable(("side", "pose", "local_axis", "marker", "axis"), "1",
            "displacement of the segment's origin, segment axes, per displacement of a marker, lab axes"),
        "joint_centre_per_marker": Variable(("side", "joint", "local_axis", "marker", "axis"), "1",
            "displacement of the joint centre, axes of the segment that it is fixed to, per displacement of a marker"),
    },
    "clean": {
        "marker_position": Variable(("sample", "marker", "axis"), "m",
            "landmark position, filled and filtered, lab axes"),
        "fill": Variable(("sample", "marker"), "1",
            "repair of the sample: 0 none (measured or missing), 1 filled by spline, 2 filled from its rigid cluster, "
            "3 filled from neighbouring markers, 4 spike removed, 5 swapped label corrected", "i1"),
        **{name: each._replace(dims=("sample", *each.dims[1:])) for name, each in _WRENCH.items()},
        "plate_corner": _CORNER,
        "plate_edges_known": _EDGES,
        "plate_fault": _FAULT,
        "vertical_force": Variable(("plate_sample", "plate"), "N",
            "vertical force of the plate, baseline removed, unfiltered", "f4"),
        "vertical_force_filtered": Variable(("plate_sample", "plate"), "N",
            "vertical force of the plate, baseline removed, filtered", "f4"),
        "plate_baseline": Variable(("trial", "plate", "axis"), "N",
            "mean force of the unloaded plate, subtracted from its force, lab axes"),
        "plate_drift": Variable(("trial", "plate"), "N",
            "largest unknown drift of the plate's force while loaded; NaN if never unloaded"),
        "plate_wander": Variable(("trial", "plate"), "N",
            "range of the force of the unloaded plate in means over 0.15 s; NaN if unloaded for less than 1 s"),
        "plate_wander_of_moment": Variable(("trial", "plate"), "N m",
            "as plate_wander, of the moment about the plate's middle"),
        "plate_prediction_error": Variable(("trial", "plate"), "N",
            "largest difference of the unloaded plate's force beyond a load from what its force on one side of the "
            "load predicts; NaN if no load has both sides"),
        "plate_prediction_error_of_moment": Variable(("trial", "plate"), "N m",
            "as plate_prediction_error, of the moment about the plate's middle"),
        **_EVENTS,
        **optional(WITH_SHOULDERS),
        **optional(WITH_UPPER_MARKERS),
        **optional(WITH_EMG),
        **FACTS,
    },
    "contacts": {
        "ground_force": Variable(("sample", "side", "axis"), "N", "ground reaction force on the foot, lab axes"),
        "ground_moment": Variable(("sample", "side", "axis"), "N m",
            "ground reaction moment on the foot about the lab origin, lab axes"),
        "centre_of_pressure": Variable(("sample", "side", "axis"), "m", "centre of pressure, lab axes", "f4"),
        "free_moment": Variable(("sample", "side"), "N m", "free moment on the foot about the plate's upward normal",
            "f4"),
        "contact_start": Variable(("contact",), "s", "start of the stance"),
        "contact_end": Variable(("contact",), "s", "end of the stance"),
        "plate_chance": Variable(("contact",), "1",
            "chance that steps on a sound plate break the laws of a step as much; NaN if none on it can be judged: "
            "one foot alone and whole on a plate, pelvis, both heels and toes seen"),
        "contact_rest_lead": Variable(("contact",), "s",
            "by how much later than usual, against the plate's load, the foot comes to rest and leaves, the mean of "
            "both; NaN if one is unseen, if they are .12 s apart, or if the contact is refused, or doubted for another "
            "reason than its time: the load may not be all that the foot bears"),
        "belt_speed": Variable(("trial", "side"), "m s-1",
            "speed of the belt below the foot against lab x: as trials.tsv states, else of the heel in stance if the "
            "person does not travel; 0 over ground"),
        **optional(WITH_INCLINE),
        **_EVENTS,
        **facts("plates_left_out"),
        **EVENTS_LEFT_OUT,
        "rest_lead": Variable(("trial",), "s", f"{AHEAD}, by when the feet rest; NaN if unknown"),
        "line_lead": Variable(("trial",), "s", f"{AHEAD}, by when the force's line passes the pelvis; NaN if unknown"),
        "acceleration_lead": Variable(("trial",), "s",
            f"{AHEAD}, by when the pelvis accelerates as the force demands; NaN if unknown"),
        "time_offset": Variable(("trial",), "s", f"{AHEAD}, of the session; NaN if one of the three is unknown"),
        "time_offset_error": Variable(("trial",), "s", "standard error of time_offset, as people differ"),
        "time_offset_corrected": Variable(("trial",), "s", "time by which the plates were taken later; 0 if not"),
    },
    "kinematics": {
        "rotation": Variable(("sample", "side", "segment", "local_axis", "axis"), "1",
            "rotation matrix: v_segment = rotation . v_lab"),
        "joint_centre": Variable(("sample", "side", "joint", "axis"), "m", "joint centre, lab axes"),
        "joint_centre_velocity": Variable(("sample", "side", "joint", "axis"), "m s-1",
            "velocity of the joint centre, lab axes", "f4"),
        "joint_centre_acceleration": Variable(("sample", "side", "joint", "axis"), "m s-2",
            f"acceleration of the joint centre, lab axes; {NO_ENDS}", "f4"),
        "com_position": Variable(("sample", "side", "segment", "axis"), "m", "segment centre of mass, lab axes"),
        "com_velocity": Variable(("sample", "side", "segment", "axis"), "m s-1",
            "velocity of the segment centre of mass, lab axes", "f4"),
        "com_acceleration": Variable(("sample", "side", "segment", "axis"), "m s-2",
            f"acceleration of the segment centre of mass, lab axes; {NO_ENDS}", "f4"),
        "angular_velocity": Variable(("sample", "side", "segment", "local_axis"), "rad s-1",
            "angular velocity, segment axes", "f4"),
        "angular_acceleration": Variable(("sample", "side", "segment", "local_axis"), "rad s-2",
            f"angular acceleration, segment axes; {NO_ENDS}", "f4"),
        "joint_angle": Variable(("sample", "side", "joint", "angle"), "degree", f"joint angle; {JCS}", "f4"),
        "pelvis_angle": Variable(("sample", "side", "angle"), "degree", f"angle of the pelvis from lab x; {PELVIS}",
            "f4"),
        "foot_progression": Variable(("sample", "side"), "degree", f"{PROGRESSION} lab x", "f4"),
        "fit_residual": Variable(("sample", "side", "segment"), "m",
            "root-mean-square misfit of the segment's marker cluster, or of all its markers in linked legs", "f4"),
        **optional(WITH_LINKED_LEGS),
        **optional(WITH_UPPER_BODY),
        **optional(WHOLE_BODY),
        **facts("direction_of_travel", "landmarks_absent", "marker_filter_order", *DOUBT),
        "implausible": Variable(("sample", "side"), "1",
            "why the leg's pose is refused, as no person has it: 0 it is not", "i1"),
        "leg_refused": Variable(("trial", "side"), "", "why the leg is refused in all of the trial; empty if not", "U"),
        "knee_refused": Variable(
            ("trial", "side"), "",
            "why the angles of the knee, its loads and hip rotation are left out in the trial; empty if not", "U",
        ),
        "knee_axis_error": Variable(("trial", "side"), "degree",
            "turn of the knee's flexion axis about the thigh that the swing of adduction with flexion suggests, "
            "positive inwards; NaN if the knee hardly bends"),
        "knee_axis_in_step": Variable(("trial", "side"), "1",
            "correlation of the sines of knee adduction and flexion; NaN if the knee hardly bends"),
        "static_misfit": Variable(("trial",), "m",
            "by how much distances between markers in the static trial are out of their range in the trial, RMS"),
        "marker_shift": Variable(("trial",), "m",
            "how far from its place by the other markers of the legs the farthest marker lies on average"
        ),
        "knee_marker_unseen": Variable(("trial", "side"), "m",
            "how far a marker of the knee may lie off in the walk before it is doubted, in the direction that shows "
            "least; infinite where no other marker shows it, NaN if the walk has no marker there"),
        "angle_misfit": Variable(("trial", "side", "joint", "angle"), "degree",
            "by how much joint_angle, without static_offset, is larger than the angle that Plug-in Gait stored in the "
            f"file, median over its frames; NaN where none is stored or the model is another; {JCS}"),
        "marker_cutoff_hz": Variable(("trial",), "Hz", "median cutoff frequency (-3 dB) of the markers; NaN for none"),
        "smallest_floating_axis": Variable(("trial",), "1", "setting kinematics.smallest_floating_axis"),
        "line_of_progression": Variable(("trial",), "", "setting kinematics.line_of_progression", "U"),
    },
    "kinetics": {
        **optional(WITH_DRAWS),
        "joint_force": Variable(("sample", "side", "joint", "axis"), "N", f"joint force {ON_DISTAL}, lab axes", "f4"),
        "joint_moment": Variable(("sample", "side", "joint", "local_axis"), "N m",
            f"internal joint moment {ON_DISTAL} about the joint centre, distal segment axes", "f4"),
        "joint_moment_jcs": Variable(("sample", "side", "joint", "angle"), "N m",
            f"internal joint moment {ON_DISTAL}, orthogonal projection on the joint coordinate axes; {JCS}", "f4"),
        "joint_moment_term": Variable(("sample", "side", "joint", "term", "local_axis"), "N m",
            "contribution of inertia, velocity, gravity and ground to the joint moment, distal segment axes", "f4"),
        "joint_power": Variable(("sample", "side", "joint"), "W", f"{JOINT_POWER}, generation positive", "f4"),
        "foot_power": Variable(("sample", "side"), "W", f"{FOOT_POWER}, generation positive", "f4"),
        "ankle_foot_power": Variable(("sample", "side"), "W", f"{ANKLE_FOOT_POWER}, generation positive", "f4"),
        "interaction_torque": Variable(("sample", "side", "joint", "angle", "cause", "motion"), "N m",
            "contribution to joint_moment_jcs of the motion of each joint (cause), of the pelvis and of the "
            f"translation between segments; {JCS}", "f4"),
        "missing": Variable(("sample", "side", "joint"), "1",
            "why joint_moment_jcs is NaN: 0 it is not, 1 segment not seen, 2 ground reaction unknown, 3 gimbal lock, "
            "4 near an end of the recording or of a gap", "i1"),
        "pelvis_residual_force": Variable(("sample", "axis"), "N", f"residual force {RESIDUAL}, lab axes", "f4"),
        "pelvis_residual_moment": Variable(("sample", "axis"), "N m",
            f"residual moment {RESIDUAL}, about the midpoint of the hips, lab axes", "f4"),
        **optional(UPPER_LOADS),
        "disagreement": Variable(("trial", "formulation", "load"), "1",
            "largest absolute difference of joint force (N) and joint moment (N m) from the stored loads"),
        "forward_closure": Variable(("trial", "side", "joint", "angle"), "degree",
            "root-mean-square error of joint angles simulated from the computed moments over windows of 0.02 s"),
        "energy_closure": Variable(("trial", "side", "segment"), "W",
            "root-mean-square difference between a segment's rate of energy and the power that enters it"),
        **facts(*DOUBT),
    },
}  # fmt: skip
READ, CALIBRATE, CLEAN, CONTACTS, KINEMATICS, KINETICS = OF_TRIALS.values()
