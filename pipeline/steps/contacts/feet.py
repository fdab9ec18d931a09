"""The motion of a foot: its markers and when it rests on the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...c3d.event_names import OFF, STRIKE
from ...signals.filters import interval_s, stretches
from .events import GaitEvent

Array = NDArray[np.float64]

STILL_M_S = 0.4
SHORTEST_REST_S = 0.08
# a foot comes to rest after its strike and moves before its off: medians over the files of validation.md
STRIKE_LATE_S, OFF_LATE_S = -0.005, -0.042
LOW_PERCENT = 30  # the toe is on the ground for a larger part of a gait cycle


@dataclass(frozen=True, eq=False)
class Foot:
    """The markers of a foot and its rests.

    Attributes:
        heel, toe: (time, 3), lab axes, m.
        still: (time,) whether heel or toe is at rest on the ground, or on a belt.
        rests: start and end of its rests, s, interpolated between frames; only whole ones.
    """

    heel: Array
    toe: Array
    still: NDArray[np.bool_]
    rests: list[tuple[float, float]]

    @cached_property
    def ahead(self) -> Array:
        """Return the horizontal unit vector (time, 3) from heel to toe."""
        line = (self.toe - self.heel) * [1, 0, 1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(line / np.hypot(line[:, :1], line[:, 2:]))


Feet = Mapping[str, Foot]


def foot_of(heel: Array, toe: Array, time: Array, *, travel: str) -> Foot:
    """Return a foot from its markers (time, 3), m.

    Without travel the person may be on a belt, which moves like the toe while it is low. Walking backwards is walking
    with time reversed: the delays at strike and off are exchanged, which is corrected here.

    Args:
        heel, toe: (time, 3), lab axes, m.
        time: (time,), s.
        travel: ``forwards``, ``backwards`` or ``none``.
    """
    if len(time) < 2:
        return Foot(heel, toe, np.zeros(len(time), dtype=bool), [])
    velocities = np.gradient(np.stack([heel, toe]), interval_s(time), axis=1)
    belt = np.zeros(3)
    if travel == "none" and np.isfinite(toe[:, 1]).any():
        low = toe[:, 1] <= np.nanpercentile(toe[:, 1], LOW_PERCENT)
        belt[[0, 2]] = np.nanmedian(velocities[1][low][:, [0, 2]], axis=0)
    speed = np.fmin(*np.sqrt(((velocities - belt) ** 2).sum(axis=-1)))
    still = np.where(np.isfinite(speed), speed, np.inf) < STILL_M_S
    delay_s = STRIKE_LATE_S + OFF_LATE_S if travel == "backwards" else 0.0
    return Foot(heel, toe, still, [(a + delay_s, b + delay_s) for a, b in _rests(time, speed, still)])


def _rests(time: Array, speed: Array, still: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Return start and end, s, of the rests with both ends within the trial."""

    def crossing(after: int) -> float:
        share = (STILL_M_S - speed[after - 1]) / (speed[after] - speed[after - 1])
        return float(time[after - 1] + share * (time[after] - time[after - 1]))

    whole = [
        (a, b)
        for a, b in stretches(still)
        if a > 0 and b < len(time) and np.isfinite(speed[[a - 1, b]]).all() and time[b - 1] - time[a] >= SHORTEST_REST_S
    ]
    return [(crossing(a), crossing(b)) for a, b in whole]


def at_rest(foot: Foot) -> list[GaitEvent]:
    """Return foot strikes and offs from the foot's rests, less accurate than others."""
    return [
        GaitEvent(time_s, kind, "kinematic")
        for start, end in foot.rests
        for time_s, kind in ((start - STRIKE_LATE_S, STRIKE), (end - OFF_LATE_S, OFF))
    ]
