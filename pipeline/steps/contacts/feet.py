"""The motion of a foot: its markers and when it rests on the ground."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import Array, Flags
from ...conventions import SIDES
from ...plates.incline import level_axes, normal_of_ground
from ...plates.sole import BALL_SHARE, HEEL_SHARE, PAD_SHARE, SOLE_STARTS_M, TIP_SHARE
from ...plates.wrench import heights_over, over_each_plate
from ...signals.filters import interval_s, stretches
from ...vocabulary.event_names import OFF, STRIKE
from .events import SAME_EVENT_S, GaitEvent
from .plate_contacts import Contact

# the part of a foot that is on the ground is at rest. A marker on it moves as the foot rolls, at some 0.2 m/s; in swing
# it is faster than the person on average
STILL_M_S = 0.4
# a swinging foot moves at twice the person's speed; heel and toe of one that rolls are not both fast
SWINGING_M_S = 1.0
SHORTEST_REST_S = 0.08  # rest in a run, of a stance of 0.2 s; noise is filtered at a few hertz
# a foot is stopped by the ground at its strike; before its off the toe marker, 6 cm behind the tips, rises and moves
STRIKE_LATE_S, OFF_LATE_S = -0.005, -0.042
# split belts differ by more of their speed: studies use ratios of 1.1 to 3, and heels on one belt differ by 1 %
SPLIT_SHARE = 0.05
LOW_PERCENT = 30  # the toe is on the ground for a larger part of a gait cycle
# plates of which the tops differ more than a plate's edge may stand out are on several levels, as on stairs
LEVELS_M = 0.05
# by which toes of people are longer or shorter beyond the toe marker: so much less of them surely is over a plate
TOES_M = 0.01
# the lower marker of a foot over a plate on which it stands: 1 to 8 cm on its sole, a few more on its toes, between
# that and the next stair, of 15 cm or more; and as much as a plate's height may be wrong below
LOWEST_M, HIGHEST_M = -0.05, 0.14


@dataclass(frozen=True, eq=False)
class Foot:
    """The markers of a foot and its rests."""

    # heel, toe: (time, 3), lab axes, m
    heel: Array
    toe: Array
    velocity: Array  # of heel and toe marker (2, time, 3), m/s
    slow: Flags  # whether heel and toe marker are at rest on the ground, or on a belt (2, time)
    swings: Flags  # whether both markers move over the ground, or a belt, as in swing (time,)
    rests: list[tuple[float, float]]  # start and end of its rests, s, interpolated between frames; only whole ones
    stands: list[tuple[float, float]]  # start and end of longer ones, s, also cut ones; none on a belt
    normal: Array  # of the ground, upward (3,)
    levels: bool = False  # whether the trial's plates are on several levels, so that heights matter

    @cached_property
    def to_level(self) -> Array:
        """Return the rotation (3, 3) to axes with the ground level, see :func:`level_axes`."""
        return level_axes(self.normal)

    @cached_property
    def on_level_ground(self) -> tuple[Array, Array, Array]:
        """Return heel and toe marker and the unit vector ahead in plan (time, 3), in axes with the ground level."""
        heel, toe = self.heel @ self.to_level.T, self.toe @ self.to_level.T
        line = (toe - heel) * [1, 0, 1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return heel, toe, line / np.hypot(line[:, :1], line[:, 2:])

    @cached_property
    def still(self) -> Flags:
        """Return whether the foot is at rest on the ground (time,)."""
        return np.asarray(self.slow.any(axis=0))

    def over(self, corners: Array, margin_m: float, frames: slice) -> Flags:
        """Return whether back, toe marker and tips are surely over plates (plate, 4, 3) + margin (3, time, plate)."""
        heel, toe, ahead = (part[frames] for part in self.on_level_ground)
        ends = np.stack([heel + SOLE_STARTS_M * ahead, toe, toe + TIP_SHARE * (toe - heel) - TOES_M * ahead])
        return self._over(ends, corners, margin_m, frames)

    def whole_over(self, corners: Array, margin_m: float, frames: slice) -> Flags:
        """Return whether heel and forefoot are over one or another of plates (plate, 4, 3) + margin (2, time)."""
        heel, toe, ahead = (part[frames] for part in self.on_level_ground)
        line = toe - heel
        length = np.hypot(line[:, :1], line[:, 2:])
        right = length * np.stack([-ahead[:, 2], np.zeros(len(ahead)), ahead[:, 0]], axis=1)
        back = heel + SOLE_STARTS_M * ahead
        middle = back + HEEL_SHARE * line
        sides = [middle - HEEL_SHARE * right, middle + HEEL_SHARE * right, toe - BALL_SHARE * right]
        points = np.stack([back, *sides, toe + BALL_SHARE * right, toe + PAD_SHARE * line])
        over = np.asarray(self._over(points, corners, margin_m, frames).any(axis=2))
        return np.stack([over[:3].all(axis=0), over[3:].all(axis=0)])

    def _over(self, points: Array, corners: Array, margin_m: float, frames: slice) -> Flags:
        """Return whether points, as of :attr:`on_level_ground`, are over plates, and the foot at their height."""
        level = corners @ self.to_level.T
        plan = over_each_plate(points.reshape(-1, 3), level, margin_m).reshape(len(points), -1, len(corners))
        return np.asarray(plan & self.at_height_of(corners, frames))

    def at_height_of(self, corners: Array, frames: slice) -> Flags:
        """Return whether the foot is at the height at which it stands on each plate (time, plate)."""
        if not self.levels:
            return np.ones((1, len(corners)), dtype=bool)
        middle = (self.heel[frames] + self.toe[frames]) / 2
        middle[:, 1] = np.fmin(self.heel[frames, 1], self.toe[frames, 1])
        height = heights_over(middle, corners)
        return np.asarray((height > LOWEST_M) & (height < HIGHEST_M))


Feet = Mapping[str, Foot]


def feet_of(landmarks: Mapping[str, Array], time: Array, corners: Array, *, travel: str) -> Feet:
    """Return the feet with heel and toe marker in the file, by side.

    Without travel the person may be on a belt, which moves along the ground like the toe while it is low. Walking
    backwards is walking with time reversed: the delays at strike and off are exchanged, which is corrected here.

    Args:
        landmarks: (time, 3) by name, lab axes, m.
        time: (time,), s.
        corners: (plate, 4, 3), m.
        travel: ``forwards``, ``backwards`` or ``none``.
    """
    tops = corners[..., 1].mean(axis=1)
    levels = bool(len(tops)) and float(np.ptp(tops)) > LEVELS_M
    normal = normal_of_ground(corners)
    seen = [side for side in SIDES if f"heel_{side}" in landmarks and f"toe_{side}" in landmarks]
    return {
        side: _foot(landmarks[f"heel_{side}"], landmarks[f"toe_{side}"], time, normal, travel=travel, levels=levels)
        for side in seen
    }


def _foot(heel: Array, toe: Array, time: Array, normal: Array, *, travel: str, levels: bool) -> Foot:
    if len(time) < 2:
        still = np.zeros((2, len(time)), dtype=bool)
        return Foot(heel, toe, np.zeros((2, len(time), 3)), still, still[0], [], [], normal, levels)
    velocity = np.gradient(np.stack([heel, toe]), interval_s(time), axis=1)
    belt = np.zeros(3)
    if travel == "none" and np.isfinite(toe[:, 1]).any():
        height = toe @ normal
        low = height <= np.nanpercentile(height, LOW_PERCENT)
        belt[[0, 2]] = np.nanmedian(velocity[1][low][:, [0, 2]], axis=0)
        belt[1] = -(belt @ normal) / normal[1]
    speeds = np.sqrt(((velocity - belt) ** 2).sum(axis=-1))
    slow = speeds < STILL_M_S
    speed = np.fmin(*speeds)
    delay_s = STRIKE_LATE_S + OFF_LATE_S if travel == "backwards" else 0.0
    rests = [(a + delay_s, b + delay_s) for a, b in _rests(time, speed, slow.any(axis=0))]
    # each foot may be on a belt of its own, of which the speed is not known yet
    rested = [(float(time[a]), float(time[b - 1])) for a, b in stretches(slow.any(axis=0) & (travel != "none"))]
    stands = [(start, end) for start, end in rested if end - start > SAME_EVENT_S]
    return Foot(heel, toe, velocity, slow, (speeds > SWINGING_M_S).all(axis=0), rests, stands, normal, levels)


def _rests(time: Array, speed: Array, still: Flags) -> list[tuple[float, float]]:
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


def belt_speeds(landmarks: Mapping[str, Array], time: Array, stances: Mapping[str, Sequence[Contact]]) -> Array:
    """Return the belt speed below each foot (side,) of a person who does not travel, in plan, m/s, backwards positive.

    A heel in mid-stance moves with its belt. One belt is below both feet if their speeds are alike. A side without a
    stance takes the speed of the other; 0 without any.
    """
    speeds: dict[str, list[float]] = {}
    for side in SIDES:
        forward = landmarks.get(f"heel_{side}", np.full((len(time), 3), np.nan))[:, 0]
        speeds[side] = []
        for start, length in ((one.start_s, one.end_s - one.start_s) for one in stances[side]):
            inside = (time > start + 0.2 * length) & (time < start + 0.5 * length) & np.isfinite(forward)
            if inside.sum() > 2:
                speeds[side].append(-np.polyfit(time[inside], forward[inside], 1)[0])
    every = np.concatenate([*speeds.values()])
    both = float(np.median(every)) if every.size else 0.0
    belts = np.array([np.median(of_side) if of_side else both for of_side in speeds.values()])
    return belts if np.ptp(belts) > SPLIT_SHARE * abs(both) else np.full(len(SIDES), both)


def at_rest(foot: Foot) -> list[GaitEvent]:
    """Return foot strikes and offs from the foot's rests, less accurate than others."""
    return [
        GaitEvent(time_s, kind, "kinematic")
        for start, end in foot.rests
        for time_s, kind in ((start - STRIKE_LATE_S, STRIKE), (end - OFF_LATE_S, OFF))
    ]
