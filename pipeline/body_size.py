"""The size of a person's legs, and gait made dimensionless by it.

Hof AL (1996) Scaling gait data to body size. Gait Posture 4:222-223: lengths over leg length l, times over
sqrt(l / g), forces over m g, moments over m g l, powers over m g sqrt(g l).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Array = NDArray[np.float64]
STANDARD_GRAVITY_M_S2 = 9.80665


def leg_lengths(kinematics: xr.Dataset) -> Array:
    """Return the length (side,) of the legs in m, hip to knee to ankle centre, median of the trial.

    It is known wherever joint angles are, and measured alike for everybody; sole to ankle is not in it.
    """
    names = kinematics.joint.values.tolist()
    centre = kinematics.joint_centre.values[:, :, [names.index(name) for name in ("ankle", "knee", "hip")]]
    lengths = np.linalg.norm(np.diff(centre, axis=2), axis=-1).sum(axis=-1)
    return np.array([np.median(own[np.isfinite(own)]) if np.isfinite(own).any() else np.nan for own in lengths.T])


def dimensionless(metrics: Mapping[str, Array], *, leg_length_m: Array) -> dict[str, Array]:
    """Return leg length and dimensionless speed, lengths, stride time and cadence of cycles, all (cycle,)."""
    time_s = np.sqrt(leg_length_m / STANDARD_GRAVITY_M_S2)
    return {
        "leg_length": leg_length_m,
        "walking_speed_dimensionless": metrics["walking_speed"] * time_s / leg_length_m,
        "stride_length_dimensionless": metrics["stride_length"] / leg_length_m,
        "step_length_dimensionless": metrics["step_length"] / leg_length_m,
        "step_width_dimensionless": metrics["step_width"] / leg_length_m,
        "stride_time_dimensionless": metrics["stride_time"] / time_s,
        "cadence_dimensionless": metrics["cadence"] / 60 * time_s,
    }


def per_height(metrics: Mapping[str, Array], *, height_m: float) -> dict[str, Array]:
    """Return stride and step length of cycles over body height; NaN without one."""
    return {f"{name}_per_height": metrics[name] / height_m for name in ("stride_length", "step_length")}
