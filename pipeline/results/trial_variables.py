"""Variables of the session files, read to kinetics: dimensions, units, meaning."""

from __future__ import annotations

from typing import NamedTuple


class Variable(NamedTuple):
    """Dimensions, CF units and long name (with frame and sign) of a variable."""

    dims: tuple[str, ...]
    units: str
    long_name: str


_PLATE = ("plate_time", "plate", "axis")
JCS = "flexion (ankle: dorsiflexion), adduction (ankle: inversion) and internal rotation positive on both sides"
ON_DISTAL = "of the proximal segment on the distal one"

PELVIS = "flexion is anterior tilt, adduction is obliquity with this side up, rotation is internal, this side forward"
PROGRESSION = (
    "angle of the foot's long axis from the direction of walking (lab x), in the horizontal plane, toes in positive"
)
_EVENTS = {"event_time": Variable(("event",), "s", "time of the gait event")}
_PLATES = {
    "plate_force": Variable(_PLATE, "N", "force of the plate on the person, lab axes"),
    "plate_moment": Variable(_PLATE, "N m", "moment of the plate on the person about the lab origin, lab axes"),
    "plate_corner": Variable(("plate", "corner", "axis"), "m", "corner of the plate, lab axes"),
}
BAND = "percentiles over Monte Carlo draws of measurement errors,"
SHARE = "share of each error source in the variance of joint_moment_jcs"
WITH_DRAWS = {
    "joint_moment_band": Variable(
        ("time", "side", "joint", "angle", "percentile"), "N m", f"{BAND} joint_moment_jcs; {JCS}"
    ),
    "joint_power_band": Variable(("time", "side", "joint", "percentile"), "W", f"{BAND} joint_power"),
    "joint_moment_variance_share": Variable(("time", "side", "joint", "angle", "error_source"), "1", SHARE),
}
OF_TRIALS: dict[str, dict[str, Variable]] = {
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
        "segment_length": Variable(("side", "segment"), "m", "segment length as the parameter table defines it"),
        "joint_position": Variable(
            ("side", "joint", "local_axis"),
            "m",
            "joint centre from the origin, and in the axes, of the segment that it is fixed to",
        ),
        "static_rotation": Variable(
            ("side", "pose", "local_axis", "axis"),
            "1",
            "rotation matrix in the static trial, mean over frames: v_segment = rotation . v_lab",
        ),
        "static_distance": Variable(
            ("landmark", "landmark_2"), "m", "distance of two landmarks in the static trial, median over frames"
        ),
        "chord_radius": Variable(("side", "joint"), "m", "half joint width plus marker radius"),
        "technical_rotation": Variable(
            ("side", "pose", "local_axis", "technical_axis"),
            "1",
            "rotation matrix from technical axes (built from markers in motion) to anatomical axes",
        ),
        "cluster_position": Variable(
            ("cluster_marker", "local_axis"),
            "m",
            "marker from the origin, and in the axes, of the segment that it is fixed to",
        ),
        "segment_turn_per_marker": Variable(
            ("side", "pose", "local_axis", "marker", "axis"),
            "rad m-1",
            "rotation of the segment, segment axes, per displacement of a marker, lab axes, in the static posture",
        ),
        "segment_origin_per_marker": Variable(
            ("side", "pose", "local_axis", "marker", "axis"),
            "1",
            "displacement of the segment's origin, segment axes, per displacement of a marker, lab axes",
        ),
        "joint_centre_per_marker": Variable(
            ("side", "joint", "local_axis", "marker", "axis"),
            "1",
            "displacement of the joint centre, axes of the segment that it is fixed to, per displacement of a marker",
        ),
    },
    "clean": {
        "marker_position": Variable(
            ("time", "marker", "axis"), "m", "landmark position, filled and filtered, lab axes"
        ),
        "fill": Variable(
            ("time", "marker"),
            "1",
            "repair of the sample: 0 none (measured or missing), 1 filled by spline, 2 filled from its rigid cluster, "
            "3 filled from neighbouring markers, 4 spike removed, 5 swapped label corrected",
        ),
        **_PLATES,
        "vertical_force": Variable(
            ("plate_time", "plate"), "N", "vertical force of the plate, baseline removed, unfiltered"
        ),
        "plate_baseline": Variable(
            ("plate", "axis"), "N", "mean force of the unloaded plate, subtracted from its force, lab axes"
        ),
        "plate_drift": Variable(
            ("plate",), "N", "largest unknown drift of the plate's force while it is loaded; NaN if never unloaded"
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
        "joint_angle": Variable(("time", "side", "joint", "angle"), "degree", f"joint angle; {JCS}"),
        "pelvis_angle": Variable(("time", "side", "angle"), "degree", f"angle of the pelvis in the lab; {PELVIS}"),
        "foot_progression": Variable(("time", "side"), "degree", PROGRESSION),
        "fit_residual": Variable(
            ("time", "side", "segment"), "m", "root-mean-square misfit of the segment's marker cluster"
        ),
    },
    "kinetics": {
        **WITH_DRAWS,
        "joint_force": Variable(("time", "side", "joint", "axis"), "N", f"joint force {ON_DISTAL}, lab axes"),
        "joint_moment": Variable(
            ("time", "side", "joint", "local_axis"),
            "N m",
            f"internal joint moment {ON_DISTAL} about the joint centre, distal segment axes",
        ),
        "joint_moment_jcs": Variable(
            ("time", "side", "joint", "angle"),
            "N m",
            f"internal joint moment {ON_DISTAL}, orthogonal projection on the joint coordinate axes; {JCS}",
        ),
        "joint_moment_term": Variable(
            ("time", "side", "joint", "term", "local_axis"),
            "N m",
            "contribution of inertia, velocity, gravity and ground to the joint moment, distal segment axes",
        ),
        "joint_power": Variable(("time", "side", "joint"), "W", "joint power, generation positive"),
        "interaction_torque": Variable(
            ("time", "side", "joint", "angle", "cause", "motion"),
            "N m",
            "contribution to joint_moment_jcs of the motion of each joint (cause), of the pelvis and of the "
            f"translation between segments; {JCS}",
        ),
        "missing": Variable(
            ("time", "side", "joint"),
            "1",
            "why joint_moment_jcs is NaN: 0 it is not, 1 segment not seen, 2 ground reaction unknown, 3 gimbal lock",
        ),
        "disagreement": Variable(
            ("formulation", "load"),
            "1",
            "largest absolute difference of joint force (N) and joint moment (N m) from the block matrix",
        ),
        "forward_closure": Variable(
            ("side", "joint", "angle"),
            "degree",
            "root-mean-square error of joint angles simulated from the computed moments over windows of 0.02 s",
        ),
        "energy_closure": Variable(
            ("side", "segment"),
            "W",
            "root-mean-square difference between a segment's rate of energy and the power that enters it",
        ),
    },
}
