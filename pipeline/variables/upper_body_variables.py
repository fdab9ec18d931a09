"""Variables of trunk, head and arms, and of the whole body, in the session files."""

from .rows import NO_ENDS, Variable

WITH_SHOULDERS = {
    "shoulder_position": Variable(("sample", "shoulder", "axis"), "m",
        "position of the shoulder marker, filled and filtered, lab axes"),
}  # fmt: skip
WITH_UPPER_MARKERS = {
    "upper_marker_position": Variable(("sample", "upper_marker", "axis"), "m",
        "position of a marker of trunk, head or arms, filled and filtered, lab axes"),
}  # fmt: skip
WITH_UPPER_BODY = {
    "upper_body_rotation": Variable(("sample", "local_axis", "axis"), "1",
        "rotation matrix of the upper body: v_segment = rotation . v_lab"),
    "upper_body_angular_velocity": Variable(("sample", "local_axis"), "rad s-1",
        "angular velocity of the upper body, its own axes", "f4"),
    "upper_body_angular_acceleration": Variable(("sample", "local_axis"), "rad s-2",
        f"angular acceleration of the upper body, its own axes; {NO_ENDS}", "f4"),
}  # fmt: skip
MEASURED_UPPER_BODY = {
    "upper_body_mass": Variable((), "kg", "measured mass of the upper body"),
    "upper_body_com": Variable(("local_axis",), "m",
        "measured centre of mass of the upper body from the midpoint of the hip centres, its axes"),
    "upper_body_inertia": Variable(("local_axis", "local_axis_2"), "kg m2",
        "measured inertia tensor of the upper body about its centre of mass"),
}  # fmt: skip
UPPER = "of trunk, head or arms"
WITH_TRUNK = {
    "upper_segment_mass": Variable(("upper_segment",), "kg",
        f"mass of a segment {UPPER}, scaled so that all segments make up the body"),
    "upper_segment_com": Variable(("upper_segment", "local_axis"), "m",
        f"centre of mass of a segment {UPPER}, segment axes (of the thorax with y from waist to "
        "neck), from neck (thorax, head), shoulder, elbow or wrist"),
    "upper_segment_inertia": Variable(("upper_segment", "local_axis", "local_axis_2"), "kg m2",
        f"inertia tensor of a segment {UPPER} about its centre of mass, segment axes"),
    "head_tilt": Variable((), "rad", "by how much the markers of the head are higher in front in the static trial"),
    "pelvis_mass": Variable((), "kg", "mass of the pelvis"),
    "pelvis_com": Variable(("local_axis",), "m",
        "centre of mass of the pelvis from the midpoint of the hip centres, pelvis axes"),
    "pelvis_inertia": Variable(("local_axis", "local_axis_2"), "kg m2",
        "inertia tensor of the pelvis about its centre of mass, pelvis axes"),
}  # fmt: skip
UPPER_ANGLES = (
    "angles of thorax and head (from {}), spine, neck, shoulder, elbow and wrist (of this side); flexion, adduction "
    "(of trunk and head: this side up) and internal rotation (this side forward) positive on both sides; of the "
    "shoulder with angle_convention isb: plane of elevation, elevation, axial rotation"
)
WHOLE_BODY = {
    "upper_rotation": Variable(("sample", "upper_segment", "local_axis", "axis"), "1",
        f"rotation matrix of a segment {UPPER}: v_segment = rotation . v_lab; that of the segment nearer to the pelvis "
        "where upper_segment_seen is 0"),
    "upper_angular_velocity": Variable(("sample", "upper_segment", "local_axis"), "rad s-1",
        f"angular velocity of a segment {UPPER}, segment axes", "f4"),
    "upper_angular_acceleration": Variable(("sample", "upper_segment", "local_axis"), "rad s-2",
        f"angular acceleration of a segment {UPPER}, segment axes; {NO_ENDS}", "f4"),
    "upper_com_position": Variable(("sample", "upper_segment", "axis"), "m",
        f"centre of mass of a segment {UPPER}, lab axes"),
    "upper_com_acceleration": Variable(("sample", "upper_segment", "axis"), "m s-2",
        f"acceleration of the centre of mass of a segment {UPPER}, lab axes; {NO_ENDS}", "f4"),
    "upper_joint_centre": Variable(("sample", "upper_joint", "axis"), "m", f"centre of a joint {UPPER}, lab axes"),
    "upper_angle": Variable(("sample", "side", "upper_part", "angle"), "degree", UPPER_ANGLES.format("lab x"), "f4"),
    "upper_segment_seen": Variable(("trial", "upper_segment"), "",
        "1 if the trial shows the segment, 0 if it is held as the neutral posture has it", "i1"),
    "whole_body_centre_of_mass": Variable(("sample", "axis"), "m", "centre of mass of the whole body, lab axes"),
    "whole_body_velocity": Variable(("sample", "axis"), "m s-1",
        "velocity of the centre of mass of the whole body, lab axes", "f4"),
    "whole_body_acceleration": Variable(("sample", "axis"), "m s-2",
        f"acceleration of the centre of mass of the whole body, lab axes; {NO_ENDS}", "f4"),
    "angular_momentum": Variable(("sample", "body_segment", "axis"), "kg m2 s-1",
        "part of the segment in the angular momentum about the centre of mass of the whole body, lab axes; their sum "
        "is that of the body", "f4"),
}  # fmt: skip
UPPER_LOADS = {
    "upper_joint_force": Variable(("sample", "upper_joint", "axis"), "N",
        "joint force of the segment nearer to the pelvis on the other, lab axes; NaN where upper_segment_seen is 0",
        "f4"),
    "upper_joint_moment": Variable(("sample", "upper_joint", "local_axis"), "N m",
        "internal joint moment of the segment nearer to the pelvis on the other about the joint centre, axes of the "
        "latter", "f4"),
    "upper_joint_moment_term": Variable(("sample", "upper_joint", "term", "local_axis"), "N m",
        "contribution of inertia, velocity and gravity to upper_joint_moment; that of the ground is 0", "f4"),
    "upper_joint_power": Variable(("sample", "upper_joint"), "W", "power of a joint of trunk or arms", "f4"),
    "residual_with_trunk": Variable(("trial",), "",
        "1 if the residual on the pelvis is that with trunk, head and arms, 0 if these are one stiff body", "i1"),
    "waist_force_from_legs": Variable(("sample", "axis"), "N",
        "force at the waist on the thorax by feet, legs and pelvis alone, lab axes; upper_joint_force has it by head "
        "and arms", "f4"),
    "waist_moment_from_legs": Variable(("sample", "local_axis"), "N m",
        "moment at the waist on the thorax by feet, legs and pelvis alone, thorax axes", "f4"),
}  # fmt: skip
