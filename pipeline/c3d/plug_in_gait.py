"""Results of a trial as the model outputs that Plug-in Gait writes: names, axes, signs and units of its C3D files.

Angles: degrees, flexion, adduction, rotation as everywhere here, but for the ankle's second one, in which eversion is
positive. Moments: internal, N mm per kg, distal segment axes, positive against a positive flexion, adduction and
internal rotation: plantarflexor, extensor, abductor, external rotator. Powers: W per kg, the third number; the first
two are 0. Ground force: N per kg, axes of the file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Array = NDArray[np.float64]
LETTERS = {"left": "L", "right": "R"}
JOINTS = {"ankle": "Ankle", "knee": "Knee", "hip": "Hip"}
EVENTS = {"foot_strike": "Foot Strike", "foot_off": "Foot Off"}
ANGLES = dict.fromkeys(JOINTS.values(), "flexion, adduction, internal rotation") | {
    "Ankle": "dorsiflexion, eversion, internal rotation"
}
MOMENTS = dict.fromkeys(JOINTS.values(), "internal: extensor, abductor, external rotator; distal segment axes") | {
    "Ankle": "internal: plantarflexor, evertor, external rotator; foot axes"
}
UNITS = {"ANGLES": "deg", "MOMENTS": "Nmm/kg", "POWERS": "W/kg", "FORCES": "N/kg"}


class Output(NamedTuple):
    """A model output: its group in POINT, its label, three numbers per frame (time, 3), NaN where not known."""

    group: str
    label: str
    values: Array
    description: str


def model_outputs(
    kinematics: xr.Dataset, kinetics: xr.Dataset, contacts: xr.Dataset, *, body_mass_kg: float, lab_rotation: Array
) -> list[Output]:
    """Return angles, moments, powers and forces of both sides, in the order of Plug-in Gait's groups.

    Args:
        kinematics, kinetics, contacts: the trial.
        body_mass_kg: body mass.
        lab_rotation: (3, 3), from the file's axes to the lab's.
    """
    outputs = []
    for side, letter in LETTERS.items():
        angle = kinematics.joint_angle.sel(side=side, joint=list(JOINTS)).values
        moment = _against_angles(kinetics.joint_moment.sel(side=side, joint=list(JOINTS)), side) * 1000 / body_mass_kg
        power = kinetics.joint_power.sel(side=side, joint=list(JOINTS)).values / body_mass_kg
        for i, name in enumerate(JOINTS.values()):
            turned = angle[:, i] * ([1, -1, 1] if name == "Ankle" else 1)
            outputs += [
                Output("ANGLES", f"{letter}{name}Angles", turned, ANGLES[name]),
                Output("MOMENTS", f"{letter}{name}Moment", moment[:, i], MOMENTS[name]),
                Output("POWERS", f"{letter}{name}Power", power[:, i, None] * [0, 0, 1], "total in Z"),
            ]
        pelvis = kinematics.pelvis_angle.sel(side=side).values
        ground = contacts.ground_force.sel(side=side).values @ lab_rotation / body_mass_kg
        turn = kinematics.foot_progression.sel(side=side).values[:, None] * [0, 0, 1]
        outputs += [
            Output("ANGLES", f"{letter}PelvisAngles", pelvis, "anterior tilt, this side up, this side forward"),
            Output("ANGLES", f"{letter}FootProgressAngles", turn, "toes in, in Z"),
            Output("FORCES", f"{letter}GroundReactionForce", ground, "on the foot, axes of the file"),
        ]
    return sorted(outputs, key=lambda output: list(UNITS).index(output.group))


def _against_angles(moment: xr.DataArray, side: str) -> Array:
    """Return moments (time, joint, 3), distal segment axes, positive against flexion, adduction and internal rotation.

    Positive flexion turns about +z at ankle and hip and about -z at the knee; adduction about +x, internal rotation
    about +y on the right and the opposite on the left.
    """
    x, y, z = np.moveaxis(moment.values, -1, 0)
    mirror = 1.0 if side == "right" else -1.0
    flexion = z * np.where(moment.joint.values == "knee", -1.0, 1.0)
    return -np.stack([flexion, mirror * x, mirror * y], axis=-1)


def gait_events(contacts: xr.Dataset) -> list[tuple[float, str, str]]:
    """Return time in s, label and context (Left, Right) of the trial's foot strikes and foot offs."""
    rows = zip(contacts.event_time.values, contacts.event.values, contacts.event_side.values, strict=True)
    return [(float(time), EVENTS[str(kind)], str(side).capitalize()) for time, kind, side in rows if kind in EVENTS]
