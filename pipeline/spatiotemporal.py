"""Metrics of one gait cycle: times and distances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Array = NDArray[np.float64]
OTHER = {"left": "right", "right": "left"}


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


def support(contacts: xr.Dataset, *, side: str, start_s: float, off_s: float, end_s: float) -> dict[str, float]:
    """Return the time of the step that ends a cycle, in s, and the shares of single and double support, percent.

    The step is the one of the cycle's side: from the other foot's strike to the strike at the end. Double support is
    both parts together: until the other foot is off, and from its strike on. Who runs has none. NaN where the other
    foot's strike and foot off are not each seen once in the cycle.

    Args:
        contacts: the trial's events.
        side: side of the cycle.
        start_s, off_s, end_s: foot strike, foot off, next foot strike of the side.
    """
    time, kind = contacts.event_time.values, contacts.event.values
    other = (contacts.event_side.values == OTHER[side]) & (time > start_s) & (time < end_s)
    strikes, offs = time[other & (kind == "foot_strike")], time[other & (kind == "foot_off")]
    strike_s = float(strikes[0]) if len(strikes) == 1 else np.nan
    other_off_s = float(offs[0]) if len(offs) == 1 else np.nan
    if other_off_s <= strike_s <= off_s:
        single_s = strike_s - other_off_s
    else:
        single_s = off_s - start_s if off_s < strike_s < other_off_s else np.nan
    return {
        "step_time": end_s - strike_s,
        "single_support_share": 100 * single_s / (end_s - start_s),
        "double_support_share": 100 * (off_s - start_s - single_s) / (end_s - start_s),
    }
