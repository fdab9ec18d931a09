"""Step ``kinematics``: poses with angular velocity and acceleration, joint centres and angles, centres of mass."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.body_model import BodyModel
from ...body.joint_angles import foot_progression, joint_angles, pelvis_angles
from ...body.skeleton import Skeleton, calibrated_sides, moving_legs
from ...conventions import ANGLES, JOINTS, SEGMENTS, SIDES
from ...errors import UserError
from ...results.trials import trial_by_trial
from ...signals.splines import angular_rates, derivatives
from .label_check import refuse_exchanged

Array = NDArray[np.float64]


@trial_by_trial
def kinematics(
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    body_model: BodyModel,
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
        angle_convention: ``isb``, or ``plug_in_gait`` with its sequence of the ankle.
        static_offset: ``keep``, or ``subtract`` the static trial's joint angles.

    Returns:
        ``rotation`` (time, side, segment, local_axis, axis), v_segment = rotation . v_lab; ``joint_centre`` and
        ``com_position`` with their velocities and accelerations in lab axes; ``angular_velocity`` and
        ``angular_acceleration`` in segment axes; ``joint_angle``, ``pelvis_angle`` (time, side, angle) and
        ``foot_progression`` (time, side) in degrees; ``fit_residual`` (time, side, segment) of marker clusters.
        NaN where markers are not seen.

    Raises:
        UserError: no segment of either side can be followed, or two markers are exchanged against the static trial.
    """
    refuse_exchanged(clean, calibrate)
    legs = _legs(clean, calibrate, body_model)
    rotation = _stack(legs, lambda leg: [leg.frames[segment] for segment in SEGMENTS])
    if not np.isfinite(rotation).any():
        absent = clean.attrs["landmarks_absent"] or "none; they are hidden"
        what = f"no leg can be followed: too few markers of the body model are seen (absent: {absent})"
        raise UserError("", what, "label them, or exclude the trial")
    centre = _stack(legs, lambda leg: [leg.centres[f"{joint}_centre"] for joint in JOINTS])
    origin = _stack(legs, lambda leg: [leg.origins[segment] for segment in SEGMENTS])
    com = _centres_of_mass(rotation, origin, calibrate)
    first, second = _derivatives(rotation, com, centre, clean.time.values)
    velocity, acceleration = angular_rates(rotation, first.rotation, second.rotation)
    hidden = np.full(len(rotation), np.nan)
    segment, joint = ("time", "side", "segment"), ("time", "side", "joint")
    return xr.Dataset(
        {
            "rotation": ((*segment, "local_axis", "axis"), rotation),
            "joint_centre": ((*joint, "axis"), centre),
            "joint_centre_velocity": ((*joint, "axis"), first.centre),
            "joint_centre_acceleration": ((*joint, "axis"), second.centre),
            "com_position": ((*segment, "axis"), com),
            "com_velocity": ((*segment, "axis"), first.com),
            "com_acceleration": ((*segment, "axis"), second.com),
            "angular_velocity": ((*segment, "local_axis"), velocity),
            "angular_acceleration": ((*segment, "local_axis"), acceleration),
            **_angles(rotation, calibrate, angle_convention, static_offset, smallest_floating_axis),
            "fit_residual": (segment, _stack(legs, lambda leg: [leg.residuals.get(name, hidden) for name in SEGMENTS])),
        },
        clean.time.coords | _names(),
        {
            **{name: clean.attrs[name] for name in ("direction_of_travel", "landmarks_absent")},
            "smallest_floating_axis": smallest_floating_axis,
            "marker_cutoff_hz": _cutoff_hz(clean),
            "marker_filter_order": clean.attrs["marker_filter_order"],
        },
    )


@functools.cache
def _names() -> xr.Coordinates:
    """Return the coordinates that are the same in every trial."""
    names = {"side": SIDES, "segment": SEGMENTS, "joint": JOINTS, "axis": "xyz", "local_axis": "xyz"}
    return xr.Coordinates({name: list(values) for name, values in {**names, "angle": ANGLES}.items()})


def _legs(clean: xr.Dataset, calibrate: xr.Dataset, body_model: BodyModel) -> dict[str, Skeleton]:
    """Return the skeleton of each side."""
    paths = np.ascontiguousarray(np.moveaxis(clean.marker_position.values, 0, -1))
    points = {name: path.T for name, path in zip(clean.marker.values.tolist(), paths, strict=True)}
    return moving_legs(points, body_model, calibrated_sides(calibrate), paths.shape[-1])


def _cutoff_hz(clean: xr.Dataset) -> float:
    """Return the median cut-off of the markers' filter; NaN for none."""
    cutoffs_hz = clean.cutoff_hz.values
    known = cutoffs_hz[np.isfinite(cutoffs_hz)]
    return float(np.median(known)) if known.size else np.nan


def _stack(legs: Mapping[str, Skeleton], parts: Callable[[Skeleton], list[Array]]) -> Array:
    """Return (time, side, part, ...) of parts of each leg (time, ...), with time last in memory."""
    every = np.stack([np.moveaxis(part, 0, -1) for side in SIDES for part in parts(legs[side])])
    return np.moveaxis(every.reshape(len(SIDES), -1, *every.shape[1:]), -1, 0)


def _centres_of_mass(rotation: Array, origin: Array, calibrate: xr.Dataset) -> Array:
    """Return the centres of mass (time, side, segment, 3), m, NaN for the pelvis."""
    local = np.full((len(SIDES), len(SEGMENTS), 3), np.nan)
    local[:, :3] = calibrate.segment_com.values
    return origin + sum(local[..., i, None] * rotation[..., i, :] for i in range(3))


class _Rate(NamedTuple):
    """A time derivative of rotations (time, side, segment, 3, 3), centres of mass and joint centres."""

    rotation: Array
    com: Array
    centre: Array


def _derivatives(rotation: Array, com: Array, centre: Array, time: Array) -> tuple[_Rate, _Rate]:
    """Return first and second derivatives by splines.

    The pelvis, the same on both sides and without a centre of mass, is differentiated once.
    """
    count = len(rotation)
    parts = [np.moveaxis(part, 0, -1) for part in (rotation[:, :, :-1], rotation[:, 0, -1], com[:, :, :-1], centre)]
    distinct = np.concatenate([part.reshape(-1, count) for part in parts])
    ends = np.cumsum([part[..., 0].size for part in parts])[:-1]
    both = []
    for columns in derivatives(distinct.T, time):
        legs, pelvis, masses, centres = (
            np.moveaxis(rows.reshape(part.shape), -1, 0)
            for rows, part in zip(np.split(columns.T, ends), parts, strict=True)
        )
        turning, moving = np.empty_like(rotation), np.full_like(com, np.nan)
        turning[:, :, :-1], turning[:, :, -1], moving[:, :, :-1] = legs, pelvis[:, None], masses
        both.append(_Rate(turning, moving, centres))
    return both[0], both[1]


def _angles(
    rotation: Array, calibrate: xr.Dataset, convention: str, static_offset: str, smallest_floating_axis: float
) -> dict[str, Any]:
    """Return the angles as variables; ``subtract`` takes the static trial's joint angles off."""
    angle = joint_angles(rotation, convention, smallest_floating_axis)
    if static_offset == "subtract":
        static = calibrate.static_rotation.sel(side=list(SIDES), pose=list(SEGMENTS)).values
        angle = angle - joint_angles(static[None], convention, smallest_floating_axis)
    pelvis = pelvis_angles(rotation[:, :, -1], smallest_floating_axis)
    foot = foot_progression(rotation[:, :, 0], smallest_floating_axis)
    return {
        "joint_angle": (("time", "side", "joint", "angle"), angle),
        "pelvis_angle": (("time", "side", "angle"), pelvis),
        "foot_progression": (("time", "side"), foot),
    }
