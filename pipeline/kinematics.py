"""Step ``kinematics``: poses, angular velocity and acceleration, joint centres and angles, centres of mass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import joint_coordinates
from pipeline.derivatives import angular_rates, derivative
from pipeline.errors import UserError
from pipeline.skeleton import Skeleton, moving_skeleton

Array = NDArray[np.float64]
SIDES = ("left", "right")
JOINTS = ("ankle", "knee", "hip")
SEGMENTS = ("foot", "shank", "thigh", "pelvis")
PROXIMAL = {"ankle": ("shank", "foot"), "knee": ("thigh", "shank"), "hip": ("pelvis", "thigh")}


def kinematics(
    clean: xr.Dataset, calibrate: xr.Dataset, *, body_model: Mapping[str, Any], smallest_floating_axis: float
) -> xr.Dataset:
    """Return the motion of both legs in one trial.

    Args:
        clean: a trial of the step ``clean``.
        calibrate: the session's calibration.
        body_model: the model of the calibration.
        smallest_floating_axis: cosine of the second joint angle below which joint angles are NaN.

    Returns:
        ``rotation`` (time, side, segment, local_axis, axis), v_segment = rotation . v_lab; ``joint_centre``,
        ``com_position``, ``com_acceleration`` in lab axes; ``angular_velocity``, ``angular_acceleration`` in
        segment axes; ``joint_angle`` in degrees; ``fit_residual`` (time, side, segment) of marker clusters.
        What markers do not show is NaN.

    Raises:
        UserError: no segment of either side can be followed.
    """
    points = {str(name): clean.marker_position.sel(marker=name).values for name in clean.marker.values}
    time = clean.time.values
    sides = [_side(moving_skeleton(points, body_model, calibrate, side), calibrate, side, time, smallest_floating_axis) for side in SIDES]
    result = xr.concat(sides, dim=xr.DataArray(list(SIDES), dims="side", name="side")).transpose("time", "side", ...)
    if not np.isfinite(result.rotation).any():
        absent = clean.attrs["landmarks_absent"] or "none; they are hidden"
        raise UserError(f"no leg can be followed: too few markers of the body model are seen (absent: {absent})")
    result = result.assign_coords(
        time=clean.time,
        segment=list(SEGMENTS),
        joint=list(JOINTS),
        axis=list("xyz"),
        local_axis=list("xyz"),
        angle=list(joint_coordinates.ANGLES),
    )
    result.attrs = {"direction_of_travel": clean.attrs["direction_of_travel"], "landmarks_absent": clean.attrs["landmarks_absent"]}
    return result


def _side(moving: Skeleton, calibrate: xr.Dataset, side: str, time: Array, smallest_floating_axis: float) -> xr.Dataset:
    centres = np.stack([moving.centres[f"{joint}_centre"] for joint in JOINTS], axis=1)
    rotation = np.stack([moving.frames[segment] for segment in SEGMENTS], axis=1)
    rates = [angular_rates(moving.frames[segment], time) for segment in SEGMENTS]
    com = np.full((len(time), len(SEGMENTS), 3), np.nan)
    local = calibrate.segment_com.sel(side=side, segment=list(SEGMENTS[:3])).values
    origins = np.stack([moving.origins[segment] for segment in SEGMENTS[:3]], axis=1)
    com[:, :3] = origins + np.einsum("si,tsij->tsj", local, rotation[:, :3])
    angle = np.stack(
        [
            np.degrees(
                joint_coordinates.angles(
                    moving.frames[proximal], moving.frames[distal], smallest_floating_axis=smallest_floating_axis
                )
                * joint_coordinates.signs(joint, side)
            )
            for joint, (proximal, distal) in PROXIMAL.items()
        ],
        axis=1,
    )
    hidden = np.full(len(time), np.nan)
    residual = np.stack([moving.residuals.get(segment, hidden) for segment in SEGMENTS], axis=1)
    vector = ("time", "segment", "local_axis")
    return xr.Dataset(
        {
            "rotation": (("time", "segment", "local_axis", "axis"), rotation),
            "joint_centre": (("time", "joint", "axis"), centres),
            "com_position": (("time", "segment", "axis"), com),
            "com_acceleration": (("time", "segment", "axis"), derivative(com, time, 2)),
            "angular_velocity": (vector, np.stack([velocity for velocity, _ in rates], axis=1)),
            "angular_acceleration": (vector, np.stack([acceleration for _, acceleration in rates], axis=1)),
            "joint_angle": (("time", "joint", "angle"), angle),
            "fit_residual": (("time", "segment"), residual),
        }
    )
