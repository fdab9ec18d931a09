"""Spatio-temporal metrics of gait cycles: times, distances, support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...conventions import ANGLES, FORWARD, SIDES
from ...plates.incline import VERTICAL, per_level_metre, uphill
from ...trials.session import AnyTrial

Displacement = NDArray[np.complex128]  # horizontal, m: forward, and to the right times i
AT_REST_S = 0.1  # after foot strike
SHORTEST_STRIDE_M = 0.1  # of a shorter one the millimetres of a placement turn the direction by degrees
# root mean square over the strides of a straight walk, aside of its line: placements scatter by 2 to 3 cm sideways
# (Owings and Grabiner 2004), the difference of two by 1.4 times that; a turn of 10 degrees a step makes 0.2 m
STRAIGHT_M = 0.05


class Heels(NamedTuple):
    """The heels of a trial."""

    time: Array  # (time,), s
    position: dict[str, Array]  # (time, 3) by side, lab axes, m, or NaN
    backwards: bool  # whether the person walks backwards over the ground

    @classmethod
    def of(cls, clean: AnyTrial) -> Heels:
        """Return the heels of a trial of the step ``clean``."""
        names, position = list(clean["marker"].values), clean["marker_position"].values
        unseen = np.full((len(position), 3), np.nan)
        heel = {side: position[:, names.index(f"heel_{side}")] if f"heel_{side}" in names else unseen for side in SIDES}
        return cls(clean["time"].values, heel, clean.attrs["direction_of_travel"] == "backwards")

    def place_at(self, strike_s: Array, belt_speed_m_s: Array) -> dict[str, Displacement]:
        """Return where heels that strike at instants (...) come to rest on the ground, or on the belt, by side.

        A heel slides by 5 to 25 mm after the strike, of which less than 3 mm are left after 0.1 s. If it is not seen
        until then, or the recording ends, where it was seen last; NaN if it was not seen since the strike.
        """
        return {side: self._place(position, strike_s, belt_speed_m_s) for side, position in self.position.items()}

    def _place(self, position: Array, strike_s: Array, belt_speed_m_s: Array) -> Displacement:
        seen = np.where(np.isfinite(position[:, 0]), self.time, -np.inf)
        frame = np.searchsorted(self.time, strike_s + AT_REST_S, side="right") - 1
        instant = np.minimum(strike_s + AT_REST_S, np.maximum.accumulate(seen)[frame])
        instant = np.where(instant < strike_s, np.nan, instant)
        forward, right = (np.interp(instant, self.time, position[:, axis]) for axis in (0, 2))
        return np.asarray(forward + belt_speed_m_s * instant + 1j * right)


def spatiotemporal(
    heels: Heels,
    contacts: AnyTrial,
    *,
    side: ArrayLike,
    start_s: ArrayLike,
    off_s: ArrayLike,
    end_s: ArrayLike,
    belt_speed_m_s: ArrayLike,
) -> dict[str, Array]:
    """Return times, distances and directions (...) of cycles in s, m, m/s, percent, steps/min, degrees.

    Distances are those between successive placements of the feet: this foot's at both ends of the cycle and the other
    foot's in between. The step is the one that ends the cycle. Lengths are along the line of progression, so that the
    steps of both sides add up to the stride. It is one line in a straight walk (Whittle 2007), in a turn that of this
    foot's placements (Huxham 2006), from which the width is measured always. On a slope lengths are along the
    ground. Step and width are NaN unless the other foot strikes exactly once in the cycle.

    Args:
        side: (...), side of the cycle.
        start_s, off_s, end_s: (...), foot strike, foot off, next foot strike of the side.
        belt_speed_m_s: (...), speed of the belt below the foot, backwards; of split belts places of both feet are seen
            from that of the cycle's side.
    """
    ground = contacts.variables.get("ground_normal")
    normal = VERTICAL if ground is None else ground.values
    belt = np.asarray(belt_speed_m_s) * uphill(normal)[FORWARD]  # in plan
    start, end, right = np.asarray(start_s), np.asarray(end_s), np.asarray(side) == "right"
    time, stance = end - start, np.subtract(off_s, start)
    between = _only("foot_strike", contacts, side=side, start=start, end=end)
    at_start, at_end, other = (heels.place_at(strike, belt) for strike in (start, end, between))
    last = np.where(right, at_end["right"], at_end["left"])
    stride = last - np.where(right, at_start["right"], at_start["left"])
    step = last - np.where(right, other["left"], other["right"])
    of_stride = _direction(stride)
    walk = _direction(np.asarray(np.nansum(stride)))  # the line of a straight walk, else each stride has its own
    forwards = (stride * walk.conj())[np.isfinite(stride)]
    straight = np.mean(forwards.imag**2) <= STRAIGHT_M**2 and (forwards.real >= 0).all() if forwards.size else False
    line = np.full_like(stride, walk) if straight else _direction(stride)
    along = per_level_metre(normal, line)
    length = np.where(np.isnan(line), np.abs(stride), (stride * line.conj()).real * along)
    ahead = np.where(heels.backwards | (belt < 0), -1, 1)
    outwards = np.where(right, 1, -1) * ahead
    return {
        "stride_time": time,
        "stance_time": stance,
        "stance_share": 100 * stance / time,
        "cadence": 120 / time,
        "stride_length": length,
        "step_length": (step * line.conj()).real * along,
        "step_width": outwards * (step * of_stride.conj()).imag,
        "walking_speed": length / time,
        "stride_direction": -np.degrees(np.angle(ahead * line)),
    }


def turning_angle(pelvis_angle: ArrayLike, side: ArrayLike) -> Array:
    """Return the change of the pelvis heading (...) over cycles, degrees, to the left positive.

    Both headings are at foot strikes of the same side, at which the rotation of the pelvis in walking is the same.

    Args:
        pelvis_angle: (..., angle, 101), degrees.
        side: (...), side of the cycle.
    """
    rotation = np.asarray(pelvis_angle)[..., ANGLES.index("rotation"), :]
    left = (rotation[..., -1] - rotation[..., 0]) * np.where(np.asarray(side) == "right", 1, -1)
    return np.asarray((left + 180) % 360 - 180)


def _direction(way: Displacement) -> Displacement:
    """Return displacements divided by their length, NaN if too short."""
    length = np.abs(way)
    return np.divide(way, length, out=np.full_like(way, np.nan), where=length >= SHORTEST_STRIDE_M)


def support(
    contacts: AnyTrial, *, side: ArrayLike, start_s: ArrayLike, off_s: ArrayLike, end_s: ArrayLike
) -> dict[str, Array]:
    """Return step time, s, and single and double support, percent of the cycle.

    The step is that of the cycle's side: from the other foot's strike to the strike at the end of the cycle. Double
    support is the sum of both phases: until the other foot is off, and from its strike on; 0 in running. NaN unless the
    other foot has exactly one strike and one foot off in the cycle.

    Args:
        side: (...), side of the cycle.
        start_s, off_s, end_s: (...), foot strike, foot off, next foot strike of the side.
    """
    start, off, end = (np.asarray(instant) for instant in (start_s, off_s, end_s))
    strike, other_off = (_only(kind, contacts, side=side, start=start, end=end) for kind in ("foot_strike", "foot_off"))
    walked, ran = (other_off <= strike) & (strike <= off), (off < strike) & (strike < other_off)
    single = np.where(walked, strike - other_off, np.where(ran, off - start, np.nan))
    return {
        "step_time": end - strike,
        "single_support_share": 100 * single / (end - start),
        "double_support_share": 100 * (off - start - single) / (end - start),
    }


def _only(kind: str, contacts: AnyTrial, *, side: ArrayLike, start: Array, end: Array) -> Array:
    """Return when (...) the other foot has its only event of a kind in a cycle, s; NaN if it has none or several."""
    time, seen = contacts["event_time"].values, contacts["event"].values == kind
    seen = seen & (contacts["event_side"].values != np.asarray(side)[..., None])
    seen = seen & (time > start[..., None]) & (time < end[..., None])
    return np.where(seen.sum(axis=-1) == 1, np.where(seen, time, 0).sum(axis=-1), np.nan)
