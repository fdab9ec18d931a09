"""Angles and moments of trunk, head and arms with the signs of Plug-in Gait, found by comparison with its files."""

import itertools

import xarray as xr

from ..arrays import Array
from ..conventions import CONVENTIONAL, MIDDLE, SIDE_SIGN, SIDES
from ..dynamics.vectors import rotate, transpose
from .angles import PARTS, of_part
from .loads import LOADS
from .skeleton import ARM_JOINTS, JOINTS, SEGMENTS, bare, of_either_side

# of flexion, adduction and rotation against those of pipeline.whole_body.angles
SIGNS = {
    "thorax": (1, 1, 1), "head": (-1, 1, 1), "spine": (1, -1, -1), "neck": (1, -1, -1),
    "shoulder": (1, -1, 1), "elbow": (1, -1, -1), "wrist": (1, -1, 1),
}  # fmt: skip
# of moments against those of these angles; segments in the axes of which they are, where that is not the distal one
MOMENT_SIGNS = {"waist": (-1, -1, -1), "neck": (-1, -1, -1), **dict.fromkeys(ARM_JOINTS, (-1, -1, 1))}
IN_PROXIMAL_AXES = {"waist": "pelvis", "neck": "thorax"}


def angles(kinematics: xr.Dataset) -> dict[tuple[str, str], Array]:
    """Return the angles (time, 3) by side and part, degrees, of the parts that a trial shows."""
    frames, result = _frames(kinematics), {}
    seen = {name for name, flag in zip(SEGMENTS, kinematics.upper_segment_seen.values, strict=True) if flag}
    for side in SIDES:
        names = {name: name if name in MIDDLE else f"{name}_{side}" for name in map(bare, frames)}
        poses = {name: frames[full] for name, full in names.items() if full in {*seen, "pelvis"}}
        for part, joint in PARTS.items():
            if {joint.distal, joint.proximal} - {""} <= poses.keys():
                result[side, part] = of_part(part, poses, side, CONVENTIONAL, 0.0) * SIGNS[part]
    return result


def moments(kinematics: xr.Dataset, kinetics: xr.Dataset) -> dict[tuple[str, str], Array]:
    """Return the moments (time, 3) by side and joint of a trial, N m: about flexion, adduction and rotation axis.

    The first two are positive against flexion and adduction, the third of waist and neck against internal rotation.
    """
    frames, result = _frames(kinematics), {}
    for side, (joint, part) in itertools.product(SIDES, LOADS.items()):
        row = JOINTS.index(joint if joint in JOINTS else f"{joint}_{side}")
        moment = kinetics.upper_joint_moment.values[:, row]
        if joint in IN_PROXIMAL_AXES:
            turn = frames[IN_PROXIMAL_AXES[joint]] @ transpose(frames[SEGMENTS[row]])
            moment = rotate(turn, moment)
        clinical = moment[:, [2, 0, 1]] * PARTS[part].signs * [1, SIDE_SIGN[side], SIDE_SIGN[side]]
        result[side, joint] = clinical * MOMENT_SIGNS[joint]
    return result


def _frames(kinematics: xr.Dataset) -> dict[str, Array]:
    """Return the axes (time, 3, 3) of the segments and of the pelvis, v_segment = rotation @ v_lab."""
    pelvis = of_either_side(kinematics.rotation.sel(side=list(SIDES), segment="pelvis").values)
    upper = kinematics.upper_rotation.values
    return {name: upper[:, i] for i, name in enumerate(SEGMENTS)} | {"pelvis": pelvis}
