"""Settings of the step ``kinematics``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...setting import group, setting

JointType = Literal["ball", "universal", "flexion_rotation", "hinge"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``kinematics`` of the settings."""

    # fmt: off
    method: Literal["segments", "linked"] = setting("segments",
        "segments poses each segment by its own markers; linked poses pelvis and both legs at once, held together at "
        "the joint centres (inverse kinematics, Lu and O'Connor 1999), and is the choice of isb_clusters, "
        "isb_clusters_2002 and cast")
    joint_types: Mapping[str, JointType] = group("joints of the linked legs", parts={
        joint: ("ball",
            f"{joint} of the linked legs; ball is free in all three angles, universal in flexion and adduction, "
            "flexion_rotation in flexion and rotation, hinge in flexion; an angle that is not free is that of the "
            "static trial")
        for joint in ("hip", "knee", "ankle")
    })
    marker_weights: Mapping[str, float] = setting({"pelvis": 10, "thigh": 1, "shank": 3, "foot": 10},
        "weights of markers in the linked legs, by landmark of the body model, with or without side, or by segment; a "
        "marker's weight is its own (1 where none is given) times that of its segment, which by default is about the "
        "inverse of the squared soft-tissue motion, 18 mm at the thigh, 12 at the shank, 7 at the foot, 4 at the "
        "pelvis (validation.md)", at_least=0, at_most=1000)
    joint_limits: Mapping[str, Sequence[float]] = setting({},
        "least and greatest angle of the linked legs, in degrees, by joint and angle, as knee adduction: [-10, 10]; "
        "soft, a degree beyond costs as much as a marker that is 17 mm off; the others have the limits that no person "
        "exceeds", names="^(hip|knee|ankle) (flexion|adduction|rotation)$", length=2, at_least=-180, at_most=180)
    smallest_floating_axis: float = setting(0.1,
        "cosine of the second joint angle below which joint angles are missing (near gimbal lock)", above=0, at_most=1)
    angle_convention: Literal["isb", "plug_in_gait"] = setting("isb",
        "rotation order of joint_angle; isb is flexion-adduction-rotation at all joints (Wu 2002); plug_in_gait "
        "differs at the ankle, flexion-rotation-inversion")
    line_of_progression: Literal["walker", "lab"] = setting("walker",
        "line from which cycles.nc and study.nc measure the angles of the pelvis and foot progression, and along "
        "which they have the ground force; walker is the line of the stride, so that turns and diagonal walks are "
        "described as the walker sees them; lab is the lab axis nearest to where the person faces, as in Plug-in Gait")
    static_offset: Literal["keep", "subtract"] = setting("keep",
        "offset of the static trial's joint angles in joint_angle; keep leaves it in; subtract removes it, so that "
        "ankle, knee and hip are zero in the static trial, and a leg with a bent knee (more than 15 degrees) in the "
        "static trial has none; moments and powers do not change")
    upper_body: bool = setting(True,
        "whether trunk, head and arms are posed where their markers are seen, and with them the whole body's centre "
        "of mass, angular momentum, loads of waist, neck and arms, and the residual at the pelvis; false leaves all "
        "of it out")
