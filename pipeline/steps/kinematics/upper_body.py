"""Motion of trunk, head and arms, and of the whole body; the upper body as one by hips and shoulders."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.skeleton import body_height_m
from ...conventions import ANGLES, CHAIN, HIP, SIDES
from ...dynamics.vectors import cross, dot, rotate, transpose, unit
from ...json_text import object_in
from ...signals.splines import Spans, angular_rates, derivatives_of_trials
from ...whole_body.angles import PARTS, of_part
from ...whole_body.balance import Bodies, angular_momentum, centre_of_mass
from ...whole_body.skeleton import (
    JOINTS,
    ORIGIN,
    SEGMENTS,
    UpperSkeleton,
    bare,
    build,
    of_either_side,
    trunk_axes,
    upper_sizes,
    waist_centre,
)
from .settings import Settings

Variables = dict[str, Any]
# of the frames with a pelvis: a marker that is seen in fewer does not define a segment; the second where there would be
# no thorax
SEEN_SHARES = (0.9, 0.5)
BODIES = (*(f"{name}_{side}" for side in SIDES for name in CHAIN), "pelvis", *SEGMENTS)


def upper_body_frame(hips: Array, shoulders: Array) -> Array:
    """Return the axes (time, 3, 3) of the upper body as rows.

    y leads from the midpoint of the hips to that of the shoulders. z, to the right, is midway between the lines of
    hips and shoulders, which turn against each other in walking: one body turns as their mean. NaN where one of the
    four is unknown, or the shoulders point to the left of the hips: their labels are exchanged.

    Args:
        hips, shoulders: (time, side, 3), lab axes, m.
    """
    left, right = SIDES.index("left"), SIDES.index("right")
    y = unit(shoulders.mean(axis=1) - hips.mean(axis=1))
    across = [unit(points[:, right] - points[:, left]) for points in (hips, shoulders)]
    x = unit(cross(y, across[0] + across[1]))
    frame = np.stack([x, y, cross(x, y)], axis=-2)
    frame[~(dot(*across) > 0)] = np.nan
    return frame


def whole_body(
    clean: xr.Dataset, calibrate: xr.Dataset, model: BodyModel, motion: Mapping[str, Any], spans: Spans,
    settings: Settings,
) -> tuple[Variables, dict[str, Any]]:  # fmt: skip
    """Return the motion of trunk, head and arms and of the whole body, and their coordinates.

    Both are empty if trunk and arms are not calibrated, or left out by the settings.

    Args:
        motion: the variables of the legs.
    """
    if not settings.upper_body or "upper_segment_mass" not in calibrate or "upper_marker_position" not in clean:
        return {}, {}
    time, values = clean.variables["time"].values, {name: part[1] for name, part in motion.items()}
    pelvis = of_either_side(values["rotation"][:, :, -1])
    hips = values["joint_centre"][:, :, HIP]
    skeletons = _skeletons(clean, calibrate, model, pelvis, hips, [span for span, _ in spans])
    frames, centres = _join(skeletons, pelvis, [span for span, _ in spans])
    com = calibrate.variables["upper_segment_com"].values
    carriers = frames.copy()
    neck, waist = (centres[:, JOINTS.index(name)] for name in ("neck", "waist"))
    carriers[:, SEGMENTS.index("thorax")] = trunk_axes(frames[:, SEGMENTS.index("thorax")], neck, waist)
    arm = rotate(transpose(carriers), com)
    position = centres[:, [JOINTS.index(ORIGIN[name]) for name in SEGMENTS]] + arm
    (turning, velocity), (bending, acceleration) = derivatives_of_trials([frames, position], time, spans)
    spin, spin_rate = angular_rates(frames, turning, bending)
    seen = np.array([[name in (one.seen if one else ()) for name in SEGMENTS] for one in skeletons], dtype=np.int8)
    angles = _angles(skeletons, frames, pelvis, spans, settings)
    mass, inertia = (calibrate.variables[f"upper_segment_{name}"].values for name in ("mass", "inertia"))
    own = Bodies(mass, inertia, frames, spin, position, velocity, acceleration)
    bodies = _with_legs(own, calibrate, values, pelvis)
    whole, momentum = centre_of_mass(bodies), angular_momentum(bodies)
    upper, joints = ("sample", "upper_segment"), ("sample", "upper_joint", "axis")
    part = ("sample", "body_segment", "axis")
    names = ("whole_body_centre_of_mass", "whole_body_velocity", "whole_body_acceleration")
    return {
        "upper_rotation": ((*upper, "local_axis", "axis"), frames),
        "upper_angular_velocity": ((*upper, "local_axis"), spin),
        "upper_angular_acceleration": ((*upper, "local_axis"), spin_rate),
        "upper_com_position": ((*upper, "axis"), position),
        "upper_com_acceleration": ((*upper, "axis"), acceleration),
        "upper_joint_centre": (joints, centres),
        "upper_angle": (("sample", "side", "upper_part", "angle"), angles),
        "upper_segment_seen": (("trial", "upper_segment"), seen),
        **{name: (("sample", "axis"), each) for name, each in zip(names, whole, strict=True)},
        "angular_momentum": (part, momentum),
    }, {
        "upper_segment": list(SEGMENTS), "upper_joint": list(JOINTS), "upper_part": list(PARTS),
        "body_segment": list(BODIES),
    }  # fmt: skip


def _skeletons(
    clean: xr.Dataset, calibrate: xr.Dataset, model: BodyModel, pelvis: Array, hips: Array, spans: Sequence[slice]
) -> list[UpperSkeleton | None]:
    """Return the upper body of each trial by the markers that are seen in it."""
    names = clean.variables["upper_marker"].values.tolist()
    position = clean.variables["upper_marker_position"].values
    sizes = upper_sizes(object_in(calibrate.attrs, "anthropometry"), body_height_m(calibrate))
    sizes["head_tilt"] = float(calibrate.variables["head_tilt"].values)
    skeletons = []
    for span in spans:
        paths, waist = position[span], waist_centre(pelvis[span], hips[span])
        seen = np.isfinite(paths[np.isfinite(pelvis[span]).all(axis=(1, 2)), :, 0])
        shares = seen.mean(axis=0) if len(seen) else np.zeros(len(names))
        one = None
        for least in SEEN_SHARES:
            markers = {name: paths[:, i] for i, name in enumerate(names) if shares[i] >= least}
            one = one or build(model.upper_body, markers, pelvis[span], hips[span].mean(axis=1), waist, sizes)
        skeletons.append(one)
    return skeletons


def _join(skeletons: Sequence[UpperSkeleton | None], pelvis: Array, spans: Sequence[slice]) -> tuple[Array, Array]:
    """Return frames (sample, segment, 3, 3) and joint centres (sample, joint, 3) of all trials; NaN without a trunk."""
    frames = np.full((len(pelvis), len(SEGMENTS), 3, 3), np.nan)
    centres = np.full((len(pelvis), len(JOINTS), 3), np.nan)
    for one, span in zip(skeletons, spans, strict=True):
        if one:
            frames[span] = np.stack([one.frames[name] for name in SEGMENTS], axis=1)
            centres[span] = np.stack([one.centres[name] for name in JOINTS], axis=1)
    return frames, centres


def _angles(
    skeletons: Sequence[UpperSkeleton | None], frames: Array, pelvis: Array, spans: Spans, settings: Settings
) -> Array:
    """Return (sample, side, part, angle) in degrees; NaN of a part with a segment that the trial does not show."""
    angles = np.full((len(frames), len(SIDES), len(PARTS), len(ANGLES)), np.nan)
    chosen = settings.angle_convention, settings.smallest_floating_axis
    for one, (span, _) in zip(skeletons, spans, strict=True):
        rotation = {name: frames[span, i] for i, name in enumerate(SEGMENTS) if one and name in one.seen}
        for i, side in enumerate(SIDES):
            shown = {"pelvis", *(bare(name) for name in rotation if name in (bare(name), f"{bare(name)}_{side}"))}
            for j, (part, joint) in enumerate(PARTS.items()):
                if {joint.distal, joint.proximal} - {""} <= shown:
                    poses = rotation | {"pelvis": pelvis[span]}
                    angles[span, i, j] = of_part(part, poses, side, *chosen)
    return angles


def _with_legs(upper: Bodies, calibrate: xr.Dataset, values: Mapping[str, Array], pelvis: Array) -> Bodies:
    """Return all segments of the body, in the order of :data:`BODIES`."""
    turn, rate = (of_either_side(values[f"angular_{name}"][:, :, -1]) for name in ("velocity", "acceleration"))
    back = transpose(pelvis)
    arm, w, w_rate = (rotate(back, each) for each in (calibrate.pelvis_com.values, turn, rate))
    place, moves, accelerates = (
        values[name][:, :, HIP].mean(axis=1)
        for name in ("joint_centre", "joint_centre_velocity", "joint_centre_acceleration")
    )
    of_pelvis = (place + arm, moves + cross(w, arm), accelerates + cross(w_rate, arm) + cross(w, cross(w, arm)))
    of_legs = [values[f"com_{name}"][:, :, : len(CHAIN)] for name in ("position", "velocity", "acceleration")]
    of_legs += [values[name][:, :, : len(CHAIN)] for name in ("rotation", "angular_velocity")]
    of_upper = (upper.position, upper.velocity, upper.acceleration, upper.rotation, upper.spin)
    parts = [
        np.concatenate([leg.reshape(len(leg), -1, *leg.shape[3:]), middle[:, None], upper], axis=1)
        for leg, middle, upper in zip(of_legs, (*of_pelvis, pelvis, turn), of_upper, strict=True)
    ]
    mass, inertia = (
        [calibrate.variables[f"{name}_{what}"].values for name in ("segment", "pelvis")] for what in ("mass", "inertia")
    )
    return Bodies(
        np.concatenate([mass[0].ravel(), mass[1].reshape(1), upper.mass]),
        np.concatenate([inertia[0].reshape(-1, 3, 3), inertia[1][None], upper.inertia]),
        parts[3],
        parts[4],
        *parts[:3],
    )
