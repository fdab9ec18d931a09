"""Spatio-temporal metrics of gait cycles: times, distances, support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...results.trials import AnyTrial

Array = NDArray[np.float64]
OTHER = {"left": "right", "right": "left"}


class Heels(NamedTuple):
    """The heels of a trial: time (time,), s; position (time, 3) by side, m, or NaN.

    The first coordinate is positive in the direction of travel, also in backward walking.
    """

    time: Array
    position: dict[str, Array]

    @classmethod
    def of(cls, clean: AnyTrial) -> Heels:
        """Return the heels of a trial of the step ``clean``."""
        names, position = list(clean.marker.values), clean.marker_position.values
        unseen = np.full((len(position), 3), np.nan)
        heel = {side: position[:, names.index(f"heel_{side}")] if f"heel_{side}" in names else unseen for side in OTHER}
        ahead = np.array([-1.0 if clean.attrs["direction_of_travel"] == "backwards" else 1.0, 1.0, 1.0])
        return cls(clean.time.values, {side: position * ahead for side, position in heel.items()})

    def at(self, instant_s: Array) -> dict[str, Array]:
        """Return the heels' positions (..., 3) at instants (...), linear between frames."""
        return {
            side: np.stack([np.interp(instant_s, self.time, column) for column in position.T], axis=-1)
            for side, position in self.position.items()
        }


def belt_speed(heels: Heels, contacts: AnyTrial, direction_of_travel: str) -> float:
    """Return the belt speed of a treadmill from the heels in mid-stance, m/s.

    0 over ground. A person who walks without travelling is on a treadmill; a heel in mid-stance moves with the belt.
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
    heels: Heels, *, side: ArrayLike, start_s: ArrayLike, off_s: ArrayLike, end_s: ArrayLike, belt_speed_m_s: float
) -> dict[str, Array]:
    """Return times and distances (...) of cycles in s, m, m/s, percent, steps/min.

    Args:
        heels: the trial's heels.
        side: (...), side of the cycle.
        start_s, off_s, end_s: (...), foot strike, foot off, next foot strike of the side.
        belt_speed_m_s: speed of the treadmill, added to the speed of the heel.
    """
    start, stance = np.asarray(start_s), np.subtract(off_s, start_s)
    stride = np.subtract(end_s, start)
    left = (np.asarray(side) == "left")[..., None]
    at_start, at_end = heels.at(start), heels.at(np.asarray(end_s))
    own, other = (np.where(left == (name == "left"), at_start["left"], at_start["right"]) for name in OTHER)
    length = np.where(left, at_end["left"], at_end["right"])[..., 0] - own[..., 0] + belt_speed_m_s * stride
    return {
        "stride_time": stride,
        "stance_time": stance,
        "stance_share": 100 * stance / stride,
        "cadence": 120 / stride,
        "stride_length": length,
        "step_length": own[..., 0] - other[..., 0],
        "step_width": np.abs(own[..., 2] - other[..., 2]),
        "walking_speed": length / stride,
    }


def support(
    contacts: AnyTrial, *, side: ArrayLike, start_s: ArrayLike, off_s: ArrayLike, end_s: ArrayLike
) -> dict[str, Array]:
    """Return step time, s, and single and double support, percent of the cycle.

    The step is that of the cycle's side: from the other foot's strike to the strike at the end of the cycle. Double
    support is the sum of both phases: until the other foot is off, and from its strike on; 0 in running. NaN unless the
    other foot has exactly one strike and one foot off in the cycle.

    Args:
        contacts: the trial's events.
        side: (...), side of the cycle.
        start_s, off_s, end_s: (...), foot strike, foot off, next foot strike of the side.
    """
    start, off, end = (np.asarray(instant) for instant in (start_s, off_s, end_s))
    time, kind = contacts.event_time.values, contacts.event.values
    within = (time > start[..., None]) & (time < end[..., None])
    within &= contacts.event_side.values != np.asarray(side)[..., None]

    def only(event: str) -> Array:
        seen = within & (kind == event)
        return np.where(seen.sum(axis=-1) == 1, np.where(seen, time, 0).sum(axis=-1), np.nan)

    strike, other_off = only("foot_strike"), only("foot_off")
    walked, ran = (other_off <= strike) & (strike <= off), (off < strike) & (strike < other_off)
    single = np.where(walked, strike - other_off, np.where(ran, off - start, np.nan))
    return {
        "step_time": end - strike,
        "single_support_share": 100 * single / (end - start),
        "double_support_share": 100 * (off - start - single) / (end - start),
    }
