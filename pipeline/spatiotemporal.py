"""Metrics of one gait cycle: times, distances, peaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Array = NDArray[np.float64]
OTHER = {"left": "right", "right": "left"}
ANKLE, KNEE, HIP = range(3)
FLEXION, ADDUCTION = range(2)
UP = 1


class Heels(NamedTuple):
    """The heels of a trial: time (time,) in s and position (time, 3) by side in m, NaN where unseen.

    The first coordinate is the direction of travel: who walks backwards covers distance too.
    """

    time: Array
    position: dict[str, Array]

    @classmethod
    def of(cls, clean: xr.Dataset) -> Heels:
        """Return the heels of a trial of the step ``clean``."""
        names, position = list(clean.marker.values), clean.marker_position.values
        nowhere = np.full((len(position), 3), np.nan)
        heel = {
            side: position[:, names.index(f"heel_{side}")] if f"heel_{side}" in names else nowhere for side in OTHER
        }
        ahead = np.array([-1.0 if clean.attrs["direction_of_travel"] == "backwards" else 1.0, 1.0, 1.0])
        return cls(clean.time.values, {side: position * ahead for side, position in heel.items()})

    def at(self, side: str, instant_s: float) -> Array:
        """Return a heel's position (3,) at an instant, linear between frames."""
        return np.array([np.interp(instant_s, self.time, column) for column in self.position[side].T])


def belt_speed(heels: Heels, contacts: xr.Dataset, direction_of_travel: str) -> float:
    """Return the speed of the treadmill belt in m/s, from the feet in mid-stance; 0 over ground.

    Whoever walks without travelling stands on a belt that moves backwards at the speed of the heel.
    """
    if direction_of_travel != "none":
        return 0.0
    speeds = []
    rows = zip(contacts.contact_side.values, contacts.contact_start.values, contacts.contact_end.values, strict=True)
    for side, start, end in rows:
        forward = heels.position[str(side)][:, 0]
        inside = (heels.time > start + 0.2 * (end - start)) & (heels.time < start + 0.5 * (end - start))
        inside &= np.isfinite(forward)
        if inside.sum() > 2:
            speeds.append(-np.polyfit(heels.time[inside], forward[inside], 1)[0])
    return float(np.median(speeds)) if speeds else 0.0


def spatiotemporal(
    heels: Heels, *, side: str, start_s: float, off_s: float, end_s: float, belt_speed_m_s: float
) -> dict[str, float]:
    """Return times and distances of a cycle of one side, in s, m, m/s, percent and steps per minute.

    Args:
        heels: the trial's heels.
        side: side of the cycle.
        start_s, off_s, end_s: foot strike, foot off, next foot strike of the side.
        belt_speed_m_s: speed of the treadmill, added to the distance that the heel covers.
    """
    stride = end_s - start_s
    at_start, at_end, other = heels.at(side, start_s), heels.at(side, end_s), heels.at(OTHER[side], start_s)
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


def peaks(curves: Mapping[str, Array], *, stance_share: float) -> dict[str, float]:
    """Return the peaks of one cycle; NaN where a curve is missing.

    Args:
        curves: ``joint_angle``, ``joint_moment_jcs`` (joint, angle, 101), ``joint_power`` (joint, 101) and
            ``ground_force`` (axis, 101) in the units of cycles.nc.
        stance_share: percent of the cycle at which the foot leaves the ground; NaN takes 60.
    """
    end = int(60 if np.isnan(stance_share) else stance_share)
    angle, moment = curves["joint_angle"], curves["joint_moment_jcs"]

    def peak(curve: Array, until: int = 100) -> float:
        values = curve[: until + 1]
        return float(np.nanmax(values)) if np.isfinite(values).any() else np.nan

    return {
        "peak_ankle_dorsiflexion": peak(angle[ANKLE, FLEXION], end),
        "peak_ankle_plantarflexion": peak(-angle[ANKLE, FLEXION]),
        "peak_knee_flexion_stance": peak(angle[KNEE, FLEXION], end // 2),
        "peak_knee_flexion": peak(angle[KNEE, FLEXION]),
        "peak_hip_flexion": peak(angle[HIP, FLEXION]),
        "peak_hip_extension": peak(-angle[HIP, FLEXION]),
        "peak_ankle_plantarflexor_moment": peak(-moment[ANKLE, FLEXION]),
        "peak_knee_extensor_moment": peak(-moment[KNEE, FLEXION], end // 2),
        "peak_knee_abductor_moment": peak(-moment[KNEE, ADDUCTION], end),
        "peak_hip_extensor_moment": peak(-moment[HIP, FLEXION]),
        "peak_hip_abductor_moment": peak(-moment[HIP, ADDUCTION], end),
        "peak_ankle_power": peak(curves["joint_power"][ANKLE]),
        "peak_vertical_force": peak(curves["ground_force"][UP]),
    }
