"""The panels of the gait page: which component of which variable each one shows, and what its sign means.

The order is the one clinicians know (Davis RB et al. (1991) Hum Mov Sci 10:575-587): pelvis, hip, knee, ankle from
above, and sagittal, frontal and horizontal plane from the left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

UNITS = {
    "degree": "deg",
    "percent": "%",
    "min-1": "steps/min",
    "m s-1": "m/s",
    "N kg-1": "N/kg",
    "N m kg-1": "N m/kg",
    "W kg-1": "W/kg",
    "J kg-1": "J/kg",
    "N m s kg-1": "N m s/kg",
    "1": "",
}


class Panel(NamedTuple):
    """A component of a variable of the study, and its sign; ``component`` selects by dimension."""

    group: str
    title: str
    variable: str
    component: dict[str, str]
    sign: str


ANGLES = {
    ("pelvis", "flexion"): ("Pelvic tilt", "posterior < 0 < anterior"),
    ("pelvis", "adduction"): ("Pelvic obliquity", "side down < 0 < side up"),
    ("pelvis", "rotation"): ("Pelvic rotation", "side back < 0 < forward"),
    ("hip", "flexion"): ("Hip flexion", "extension < 0 < flexion"),
    ("hip", "adduction"): ("Hip adduction", "abduction < 0 < adduction"),
    ("hip", "rotation"): ("Hip rotation", "external < 0 < internal"),
    ("knee", "flexion"): ("Knee flexion", "extension < 0 < flexion"),
    ("knee", "adduction"): ("Knee adduction", "valgus < 0 < varus"),
    ("knee", "rotation"): ("Knee rotation", "external < 0 < internal"),
    ("ankle", "flexion"): ("Ankle dorsiflexion", "plantar < 0 < dorsal"),
    ("ankle", "adduction"): ("Ankle inversion", "eversion < 0 < inversion"),
}
MOMENTS = {
    ("hip", "flexion"): "extensor < 0 < flexor",
    ("hip", "adduction"): "abductor < 0 < adductor",
    ("hip", "rotation"): "external < 0 < internal",
    ("knee", "flexion"): "extensor < 0 < flexor",
    ("knee", "adduction"): "abductor < 0 < adductor",
    ("knee", "rotation"): "external < 0 < internal",
    ("ankle", "flexion"): "plantar < 0 < dorsal",
    ("ankle", "adduction"): "evertor < 0 < invertor",
    ("ankle", "rotation"): "external < 0 < internal",
}
FORCES = {
    "x": ("Fore-aft force", "braking < 0 < propulsion"),
    "y": ("Vertical force", "downward < 0 < upward"),
    "z": ("Lateral force", "to the left < 0 < right"),
}


def _panels() -> Iterator[Panel]:
    group = "Angles"
    for (joint, angle), (title, sign) in ANGLES.items():
        if joint == "pelvis":
            yield Panel(group, title, "pelvis_angle", {"angle": angle}, sign)
        else:
            yield Panel(group, title, "joint_angle", {"joint": joint, "angle": angle}, sign)
    yield Panel(group, "Foot progression", "foot_progression", {}, "toes out < 0 < toes in")
    for (joint, angle), sign in MOMENTS.items():
        title = f"{joint.capitalize()} {angle} moment"
        yield Panel("Internal moments", title, "joint_moment_jcs", {"joint": joint, "angle": angle}, sign)
    for joint in ("hip", "knee", "ankle"):
        sign = "absorption < 0 < generation"
        yield Panel("Powers", f"{joint.capitalize()} power", "joint_power", {"joint": joint}, sign)
    for axis, (title, sign) in FORCES.items():
        yield Panel("Ground reaction force", title, "ground_force", {"axis": axis}, sign)


PANELS = tuple(_panels())
