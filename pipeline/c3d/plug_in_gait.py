"""Results of a trial as Plug-in Gait model outputs, with the labels, axes, signs and units of its C3D files.

- Angles: degrees; flexion, adduction, internal rotation positive; at the ankle the second is positive in eversion.
- Moments: internal, N mm/kg, distal segment axes, positive against positive flexion, adduction and internal rotation:
  plantarflexor, extensor, abductor, external rotator.
- Powers: W/kg, in the third number; the first two are 0.
- Ground force: N/kg, axes of the file.
- Centre of mass of the whole body and its projection on the floor: mm, axes of the file.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from ..arrays import Array
from ..conventions import JOINTS, UP

LETTERS = {"left": "L", "right": "R"}
NAMES = [joint.capitalize() for joint in JOINTS]
EVENTS = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
ANGLES = dict.fromkeys(NAMES, "flexion, adduction, internal rotation") | {
    "Ankle": "dorsiflexion, eversion, internal rotation"
}
MOMENTS = dict.fromkeys(NAMES, "internal: extensor, abductor, external rotator; distal segment axes") | {
    "Ankle": "internal: plantarflexor, evertor, external rotator; foot axes"
}
# of flexion, adduction and rotation against the clinical ones (joint, angle)
ANGLE_SIGNS = np.array([(1.0, -1.0 if joint == "ankle" else 1.0, 1.0) for joint in JOINTS])
UPPER_ANGLES = {
    "thorax": "forward tilt, this side up, this side forward; in the lab",
    "head": "backward tilt, this side up, this side forward; in the lab",
    "spine": "flexion, this side down, this side backward; thorax to pelvis",
    "neck": "flexion, this side down, this side backward; head to thorax",
    "shoulder": "flexion, abduction, internal rotation",
    "elbow": "flexion, abduction, external rotation",
    "wrist": "flexion, abduction, internal rotation",
}
UPPER_MOMENTS = {"waist": "pelvis axes", "neck": "thorax axes"}
POINTS = "MODELED_MARKERS"  # group of points in the length unit of the file
UNITS = {"ANGLES": "deg", "MOMENTS": "Nmm/kg", "POWERS": "W/kg", "FORCES": "N/kg", POINTS: "mm"}


class Output(NamedTuple):
    """A model output: group in POINT, label, values (time, 3), NaN where unknown."""

    group: str
    label: str
    values: Array
    description: str


def model_outputs(
    kinematics: xr.Dataset, kinetics: xr.Dataset, contacts: xr.Dataset, *, body_mass_kg: float, lab_rotation: Array
) -> list[Output]:
    """Return angles, moments, powers and forces of both sides; ``lab_rotation`` (3, 3) leads from file to lab axes."""
    outputs = []
    for side, letter in LETTERS.items():
        angle = kinematics.joint_angle.sel(side=side, joint=list(JOINTS)).values
        moment = oppose_angles(kinetics.joint_moment.sel(side=side, joint=list(JOINTS)), side) * 1000 / body_mass_kg
        power = kinetics.joint_power.sel(side=side, joint=list(JOINTS)).values / body_mass_kg
        for i, name in enumerate(NAMES):
            turned = angle[:, i] * ANGLE_SIGNS[i]
            outputs += [
                Output("ANGLES", f"{letter}{name}Angles", turned, ANGLES[name]),
                Output("MOMENTS", f"{letter}{name}Moment", moment[:, i], MOMENTS[name]),
                Output("POWERS", f"{letter}{name}Power", power[:, i, None] * [0, 0, 1], "total in Z"),
            ]
        pelvis = kinematics.pelvis_angle.sel(side=side).values
        ground = contacts.ground_force.sel(side=side).values @ lab_rotation / body_mass_kg
        foot = _foot_in_lab(kinematics, side)
        outputs += [
            Output("ANGLES", f"{letter}PelvisAngles", pelvis, "anterior tilt, this side up, this side forward"),
            Output("ANGLES", f"{letter}FootProgressAngles", foot, "pitch, inversion, toes in"),
            Output("FORCES", f"{letter}GroundReactionForce", ground, "on the foot, axes of the file"),
        ]
    return sorted(outputs, key=lambda output: list(UNITS).index(output.group))


def upper_outputs(
    angles: Mapping[tuple[str, str], Array], moments: Mapping[tuple[str, str], Array], kinematics: xr.Dataset,
    kinetics: xr.Dataset, *, body_mass_kg: float, lab_rotation: Array,
) -> list[Output]:  # fmt: skip
    """Return angles, moments and powers of trunk, head and arms, and the centre of mass of the whole body.

    Args:
        angles, moments: (time, 3) by side and part of :mod:`pipeline.whole_body.plug_in_gait`, degrees, N m.
        lab_rotation: (3, 3), leads from file to lab axes.
    """
    outputs, joints = [], kinetics.upper_joint.values.tolist()
    for (side, part), values in angles.items():
        outputs.append(Output("ANGLES", f"{LETTERS[side]}{part.capitalize()}Angles", values, UPPER_ANGLES[part]))
    for (side, joint), values in moments.items():
        name, axes = f"{LETTERS[side]}{joint.capitalize()}", UPPER_MOMENTS.get(joint, "distal segment axes")
        row = joints.index(joint if joint in joints else f"{joint}_{side}")
        power = kinetics.upper_joint_power.values[:, row, None] * [0, 0, 1] / body_mass_kg
        outputs.append(Output("MOMENTS", f"{name}Moment", values * 1000 / body_mass_kg, f"internal; {axes}"))
        outputs.append(Output("POWERS", f"{name}Power", power, "total in Z"))
    centre = kinematics.whole_body_centre_of_mass.values * 1000
    floor = np.where(np.arange(3) == UP, 0 * centre, centre)
    for label, values in (("CentreOfMass", centre), ("CentreOfMassFloor", floor)):
        outputs.append(Output(POINTS, label, values @ lab_rotation, "of the whole body, axes of the file"))
    return [output for output in outputs if np.isfinite(output.values).any()]


def _foot_in_lab(kinematics: xr.Dataset, side: str) -> Array:
    """Return the angles (time, 3) of the foot in the lab: pitch (-90 level, -180 toes up), inversion, toes in.

    Cardan sequence Y-X-Z of Plug-in Gait's foot, with x up, y to the left and z from toe to heel, in the lab, with x
    the lab axis of the walk, y to the left and z up. Found by comparison with stored angles, which it repeats.
    """
    forward, up, right = np.moveaxis(kinematics.rotation.sel(side=side, segment="foot").values, -1, 0)
    mirror = 1.0 if side == "right" else -1.0
    pitch = np.arctan2(-forward[:, 0], -up[:, 0])
    inversion, toes_in = np.arctan2(right[:, 1], right[:, 2]), np.arcsin(np.clip(-right[:, 0], -1, 1))
    return np.asarray(np.degrees(np.stack([pitch, mirror * inversion, mirror * toes_in], axis=-1)))


def oppose_angles(moment: xr.DataArray, side: str) -> Array:
    """Return moments (time, joint, 3) positive against positive angles.

    Distal segment axes. Positive flexion turns about +z at ankle and hip and about -z at the knee; adduction about +x,
    internal rotation about +y on the right and the opposite on the left.
    """
    x, y, z = np.moveaxis(moment.values, -1, 0)
    mirror = 1.0 if side == "right" else -1.0
    flexion = z * np.where(moment.joint.values == "knee", -1.0, 1.0)
    return -np.stack([flexion, mirror * x, mirror * y], axis=-1)


def gait_events(contacts: xr.Dataset) -> list[tuple[float, str, str]]:
    """Return time in s, label and context (Left, Right) of strikes and offs."""
    rows = zip(contacts.event_time.values, contacts.event.values, contacts.event_side.values, strict=True)
    return [(float(time), EVENTS[str(kind)], str(side).capitalize()) for time, kind, side in rows if kind in EVENTS]
