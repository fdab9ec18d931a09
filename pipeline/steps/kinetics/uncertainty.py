"""How sure joint moments are: the chain solved again for many draws of the errors of what it is computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from ...body.legs import Legs
from ...conventions import JOINTS
from ...dynamics.vectors import Array, cross
from .error_draws import drawn, together
from .moment_draws import carriers, measured_frames, moments, moments_and_powers

SOURCES = ("marker_noise", "joint_centres", "centre_of_pressure", "segment_parameters")
DRAWN_ALONE = ("marker_noise", "segment_parameters")
FRAMES_AT_A_TIME = 512


@dataclass(frozen=True)
class Spread:
    """What draws of the errors do to the loads.

    Attributes:
        moment: (time, side, joint, angle, percentile), percentiles of ``joint_moment_jcs``, N m.
        power: (time, side, joint, percentile), of ``joint_power``, W.
        share: (time, side, joint, angle, source), share of each source in the variance of the moment.
        percentile: (percentile,), percent.
    """

    moment: Array
    power: Array
    share: Array
    percentile: Array


def uncertainty(
    legs: Legs,
    joint_force: Array,
    kinematics: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    draws: int,
    band_percent: float,
    sizes: Mapping[str, float],
) -> Spread:
    """Return percentile bands of joint moments and powers, and the share of each source of error.

    Args:
        legs: the trial as measured.
        joint_force: (time, side, joint, 3), of the proximal segment on the distal one, lab axes, N.
        kinematics, calibrate: rate, filter and identity of the trial; what markers do to the skeleton.
        draws: how many.
        band_percent: share of the draws within the band.
        sizes: standard deviations, see :func:`pipeline.steps.kinetics.error_draws.drawn`.
    """
    errors = drawn(draws, sizes, calibrate, kinematics)
    whole = together(errors)
    outside = (100 - band_percent) / 2
    percentile = np.array([outside, 100 - outside])
    carrier = carriers(calibrate)
    parts = []
    for start in range(0, len(legs.com), FRAMES_AT_A_TIME):
        measured = measured_frames(legs, slice(start, start + FRAMES_AT_A_TIME), carrier)
        moment, power = moments_and_powers(measured, legs, whole)
        alone = [moments(measured, legs, errors[source]).var(axis=0) for source in DRAWN_ALONE]
        parts.append((_percentiles(moment, percentile), _percentiles(power, percentile), *alone))
    moment, power, *alone = (np.concatenate(part) for part in zip(*parts, strict=True))
    variance = dict(zip(DRAWN_ALONE, alone, strict=True)) | _variance_of_places(legs, joint_force, sizes)
    stacked = np.stack([variance[source] for source in SOURCES], axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Spread(moment, power, stacked / stacked.sum(axis=-1, keepdims=True), percentile)


def _variance_of_places(legs: Legs, joint_force: Array, sizes: Mapping[str, float]) -> dict[str, Array]:
    """Return the variance (time, side, joint, 3) of the moments along the axes by errors of places alone, (N m)2.

    A joint centre off by d changes its moment by -d x F, a centre of pressure those of all joints by -d x F of the
    ground: linear, so that the variance of e . (d x F) = d . (F x e) needs no draws.
    """
    centre_m = np.array([sizes[f"{joint}_centre_mm"] / 1000 for joint in JOINTS])[:, None]
    by_centre = ((cross(joint_force[:, :, :, None], legs.axes) * centre_m[..., None]) ** 2).sum(axis=-1)
    by_pressure = cross(legs.ground_force[:, :, None, None], legs.axes) * sizes["centre_of_pressure_mm"] / 1000
    unlocked = np.where(legs.locked, np.nan, 1.0)[..., None]
    return {
        "joint_centres": by_centre * unlocked,
        "centre_of_pressure": (by_pressure[..., ::2] ** 2).sum(axis=-1) * unlocked,
    }


def _percentiles(values: Array, percentile: Array) -> Array:
    """Return percentiles (..., percentile) of draws (draw, ...).

    A next draw falls below the k-th of n with probability k / (n + 1), whatever the distribution: the band then holds
    its share also where draws are few (Hyndman RJ, Fan Y (1996) Am Stat 50:361-365, definition 6).
    """
    ordered = np.sort(np.moveaxis(values, 0, -1), axis=-1)  # several times faster than numpy.percentile
    place = np.clip(percentile / 100 * (len(values) + 1) - 1, 0, len(values) - 1)
    low, high = np.floor(place).astype(int), np.ceil(place).astype(int)
    return np.asarray(ordered[..., low] + (place - low) * (ordered[..., high] - ordered[..., low]))
