"""Metrics of one gait cycle: times, distances, peaks."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Array = NDArray[np.float64]
OTHER = {"left": "right", "right": "left"}


def belt_speed(clean: xr.Dataset, contacts: xr.Dataset) -> float:
    """Return the speed of the treadmill belt in m/s, from the feet in mid-stance; 0 over ground.

    Whoever walks without travelling stands on a belt that moves backwards at the speed of the heel.
    """
    if clean.attrs["direction_of_travel"] != "none":
        return 0.0
    time, speeds = clean.time.values, []
    for i in range(contacts.sizes["contact"]):
        row = contacts.isel(contact=i)
        start, end = float(row.contact_start), float(row.contact_end)
        heel = _marker(clean, f"heel_{row.contact_side.item()}")
        inside = (time > start + 0.2 * (end - start)) & (time < start + 0.5 * (end - start)) & np.isfinite(heel[:, 0])
        if inside.sum() > 2:
            speeds.append(-np.polyfit(time[inside], heel[inside, 0], 1)[0])
    return float(np.median(speeds)) if speeds else 0.0


def spatiotemporal(
    clean: xr.Dataset, *, side: str, start_s: float, off_s: float, end_s: float, belt_speed_m_s: float
) -> dict[str, float]:
    """Return times and distances of a cycle of one side, in s, m, m/s, percent and steps per minute.

    Args:
        clean: the trial's markers.
        side: side of the cycle.
        start_s, off_s, end_s: foot strike, foot off, next foot strike of the side.
        belt_speed_m_s: speed of the treadmill, added to the distance that the heel covers.
    """
    stride = end_s - start_s
    at_start, at_end = (_at(clean, f"heel_{side}", instant) for instant in (start_s, end_s))
    other = _at(clean, f"heel_{OTHER[side]}", start_s)
    length = at_end[0] - at_start[0] + belt_speed_m_s * stride
    return {
        "stride_time": stride,
        "stance_time": off_s - start_s,
        "stance_share": 100 * (off_s - start_s) / stride,
        "cadence": 120 / stride,
        "stride_length": length,
        "step_length": at_start[0] - other[0],
        "step_width": abs(at_start[2] - other[2]),
        "walking_speed": length / stride,
    }


def peaks(cycle: xr.Dataset, *, stance_share: float) -> dict[str, float]:
    """Return the peaks of one cycle's curves; NaN where a curve is missing.

    Args:
        cycle: curves (joint, angle, phase) as in cycles.nc.
        stance_share: percent of the cycle at which the foot leaves the ground; NaN takes 60.
    """
    end = 60.0 if np.isnan(stance_share) else stance_share
    angle, moment = cycle.joint_angle, cycle.joint_moment_jcs

    def peak(curve: xr.DataArray, until: float = 100.0, sign: float = 1.0) -> float:
        values = sign * curve.sel(phase=slice(0, until)).values
        return float(np.nanmax(values)) if np.isfinite(values).any() else np.nan

    ankle, knee, hip = ({"joint": joint, "angle": "flexion"} for joint in ("ankle", "knee", "hip"))
    return {
        "peak_ankle_dorsiflexion": peak(angle.sel(ankle), end),
        "peak_ankle_plantarflexion": peak(angle.sel(ankle), sign=-1),
        "peak_knee_flexion_stance": peak(angle.sel(knee), end / 2),
        "peak_knee_flexion": peak(angle.sel(knee)),
        "peak_hip_flexion": peak(angle.sel(hip)),
        "peak_hip_extension": peak(angle.sel(hip), sign=-1),
        "peak_ankle_plantarflexor_moment": peak(moment.sel(ankle), sign=-1),
        "peak_knee_extensor_moment": peak(moment.sel(knee), end / 2, sign=-1),
        "peak_knee_abductor_moment": peak(moment.sel(joint="knee", angle="adduction"), end, sign=-1),
        "peak_hip_extensor_moment": peak(moment.sel(hip), sign=-1),
        "peak_hip_abductor_moment": peak(moment.sel(joint="hip", angle="adduction"), end, sign=-1),
        "peak_ankle_power": peak(cycle.joint_power.sel(joint="ankle")),
        "peak_vertical_force": peak(cycle.ground_force.sel(axis="y")),
    }


def _at(clean: xr.Dataset, marker: str, instant_s: float) -> Array:
    """Return a marker's position (3,) at an instant, linear between frames; NaN where it is not seen."""
    time, position = clean.time.values, _marker(clean, marker)
    return np.array([np.interp(instant_s, time, position[:, i]) for i in range(3)])


def _marker(clean: xr.Dataset, name: str) -> Array:
    if name not in clean.marker.values:
        return np.full((clean.sizes["time"], 3), np.nan)
    return np.asarray(clean.marker_position.sel(marker=name).values)
