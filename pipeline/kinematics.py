"""Step ``kinematics``: poses, angular velocity and acceleration, joint centres and angles, centres of mass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import joint_coordinates, segment_angles
from pipeline.derivatives import angular_rates, derivatives
from pipeline.errors import UserError
from pipeline.skeleton import Skeleton, model_of, moving_leg, moving_pelvis
from pipeline.static_exchanges import refuse_exchanged

Array = NDArray[np.float64]
SIDES = ("left", "right")
JOINTS = ("ankle", "knee", "hip")
SEGMENTS = ("foot", "shank", "thigh", "pelvis")  # each but the last one distal to the next


def kinematics(
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    body_model: Mapping[str, Any],
    smallest_floating_axis: float,
    angle_convention: str,
    static_offset: str,
) -> xr.Dataset:
    """Return the motion of both legs in one trial.

    Args:
        clean: a trial of the step ``clean``.
        calibrate: the session's calibration.
        body_model: the model of the calibration.
        smallest_floating_axis: cosine of the second joint angle below which joint angles are NaN.
        angle_convention: ``isb``, or ``plug_in_gait``, which turns the ankle in another order.
        static_offset: ``keep``, or ``subtract`` the static trial's joint angles.

    Returns:
        ``rotation`` (time, side, segment, local_axis, axis), v_segment = rotation . v_lab; ``joint_centre`` and
        ``com_position`` with their velocities and accelerations in lab axes; ``angular_velocity`` and
        ``angular_acceleration`` in segment axes; ``joint_angle``, ``pelvis_angle`` (time, side, angle) and
        ``foot_progression`` (time, side) in degrees; ``fit_residual`` (time, side, segment) of marker clusters.
        What markers do not show is NaN.

    Raises:
        UserError: no segment of either side can be followed, or two markers are exchanged against the static trial.
    """
    refuse_exchanged(clean, calibrate)
    count, time = clean.sizes["time"], clean.time.values
    position = clean.marker_position.values
    points = {str(name): position[:, i] for i, name in enumerate(clean.marker.values)}
    model = model_of(calibrate)
    pelvis = moving_pelvis(points, body_model, model, count)
    legs = {side: moving_leg(points, body_model, model, pelvis, side, count) for side in SIDES}
    rotation = _stack(legs, lambda leg: [leg.frames[segment] for segment in SEGMENTS])
    if not np.isfinite(rotation).any():
        absent = clean.attrs["landmarks_absent"] or "none; they are hidden"
        raise UserError(f"no leg can be followed: too few markers of the body model are seen (absent: {absent})")
    centre = _stack(legs, lambda leg: [leg.centres[f"{joint}_centre"] for joint in JOINTS])
    origin = _stack(legs, lambda leg: [leg.origins[segment] for segment in SEGMENTS])
    com = _centres_of_mass(rotation, origin, calibrate)
    first, second = _derivatives(rotation, com, centre, time)
    velocity, acceleration = angular_rates(rotation, first.rotation, second.rotation)
    joint_angle = segment_angles.joint_angles(rotation, angle_convention, smallest_floating_axis)
    if static_offset == "subtract":
        static = calibrate.static_rotation.sel(side=list(SIDES), pose=list(SEGMENTS)).values
        joint_angle = joint_angle - segment_angles.joint_angles(static[None], angle_convention, smallest_floating_axis)
    hidden = np.full(count, np.nan)
    vector = ("time", "side", "segment", "local_axis")
    return xr.Dataset(
        {
            "rotation": ((*vector, "axis"), rotation),
            "joint_centre": (("time", "side", "joint", "axis"), centre),
            "joint_centre_velocity": (("time", "side", "joint", "axis"), first.centre),
            "joint_centre_acceleration": (("time", "side", "joint", "axis"), second.centre),
            "com_position": (("time", "side", "segment", "axis"), com),
            "com_velocity": (("time", "side", "segment", "axis"), first.com),
            "com_acceleration": (("time", "side", "segment", "axis"), second.com),
            "angular_velocity": (vector, velocity),
            "angular_acceleration": (vector, acceleration),
            "joint_angle": (("time", "side", "joint", "angle"), joint_angle),
            "pelvis_angle": (
                ("time", "side", "angle"),
                segment_angles.pelvis_angles(rotation[:, :, -1], smallest_floating_axis),
            ),
            "foot_progression": (
                ("time", "side"),
                segment_angles.foot_progression(rotation[:, :, 0], smallest_floating_axis),
            ),
            "fit_residual": (
                ("time", "side", "segment"),
                _stack(legs, lambda leg: [leg.residuals.get(segment, hidden) for segment in SEGMENTS]),
            ),
        },
        {
            "time": clean.time,
            "side": list(SIDES),
            "segment": list(SEGMENTS),
            "joint": list(JOINTS),
            "axis": list("xyz"),
            "local_axis": list("xyz"),
            "angle": list(joint_coordinates.ANGLES),
        },
        {
            **{name: clean.attrs[name] for name in ("direction_of_travel", "landmarks_absent")},
            "smallest_floating_axis": smallest_floating_axis,
            "marker_filter": [_cutoff_hz(clean), float(clean.attrs["marker_filter_order"])],
        },
    )


def _cutoff_hz(clean: xr.Dataset) -> float:
    """Return the cut-off of the markers' filter, the median where the data chose one for each; NaN for none."""
    known = clean.cutoff_hz.values[np.isfinite(clean.cutoff_hz.values)]
    return float(np.median(known)) if known.size else np.nan


def _stack(legs: Mapping[str, Skeleton], parts: Callable[[Skeleton], list[Array]]) -> Array:
    """Return (time, side, part, ...) of what each leg has."""
    return np.stack([np.stack(parts(legs[side]), axis=1) for side in SIDES], axis=1)


def _centres_of_mass(rotation: Array, origin: Array, calibrate: xr.Dataset) -> Array:
    """Return (time, side, segment, 3) m; a centre of mass rides on its own segment's markers. NaN for the pelvis."""
    local = np.full((len(SIDES), len(SEGMENTS), 3), np.nan)
    local[:, :3] = calibrate.segment_com.values
    return origin + (local[..., None, :] @ rotation)[..., 0, :]


class _Rate(NamedTuple):
    """A time derivative of rotations (time, side, segment, 3, 3), centres of mass and joint centres."""

    rotation: Array
    com: Array
    centre: Array


def _derivatives(rotation: Array, com: Array, centre: Array, time: Array) -> tuple[_Rate, _Rate]:
    """Return first and second derivatives: one spline for all that has no gaps.

    The pelvis is on both sides the same, so that its derivatives are taken once; it has no centre of mass.
    """
    count, sides = rotation.shape[:2]
    parts = (rotation[:, :, :-1], rotation[:, 0, -1], com[:, :, :-1], centre)
    distinct = np.concatenate([part.reshape(count, -1) for part in parts], axis=1)
    ends = np.cumsum([part[0].size for part in parts])[:-1]
    both = []
    for columns in derivatives(distinct, time):
        legs, pelvis, masses, centres = (
            column.reshape(part.shape) for column, part in zip(np.split(columns, ends, axis=1), parts, strict=True)
        )
        turning = np.concatenate([legs, np.repeat(pelvis[:, None, None], sides, axis=1)], axis=2)
        moving = np.concatenate([masses, np.full((count, sides, 1, 3), np.nan)], axis=2)
        both.append(_Rate(turning, moving, centres))
    return both[0], both[1]
