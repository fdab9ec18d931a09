"""What sound laboratories, tables and people do not know, and what each of it does to the momentum of the whole body.

Each unknown has a prior standard deviation, and its part in what the intervals of a session show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array
from .known_intervals import Known
from .single_support import borne_by_plates

# All of these are standard deviations, and were written down before the law was tried on a recording, but for DELAY_S,
# which was 4.5 ms, and TURN and TORQUE, which were added later and widened when generated sessions showed false alarms.
#
# Sound laboratories. Spot checks with an instrumented pole find centres of pressure within 1 to 3 mm and axes within
# some tenths of a degree of a well kept lab (Holden et al. 2003; Collins et al. 2009, Gait Posture 29:59-64); a wand on
# the floor is level to 1 mm in .4 m. LEAN: makers of plates state a crosstalk of at most 1 to 2 % of the vertical
# force.
SHIFT_M, TILT, LEAN = 0.003, np.radians(0.25), 0.006
# Triggers: a frame of 10 ms, anywhere in it, 2.9 ms. Viscera and soft tissue, a quarter of the body, hang on the bones
# with some 6 Hz and a damping of .3: at two steps a second they lag by .22 rad, 18 ms, and forces with them by 4.5
# ms, a quarter of that.
DELAY_S = 0.0053
# A wand of .4 m is known to .5 mm; makers state a gain of moments to 1 %, and free torques and the depth of a plate's
# origin, some mm, act as one; quartz clocks differ by less than 1 in 10,000, frame rates that are rounded by 1 in
# 1,000.
SCALE, MOMENTS, CLOCK = 0.00125, 0.015, 0.001
# TURN of one plate: a centre of pressure .15 m from the middle is 2 mm off. TORQUE: a crosstalk of 1 % of the vertical
# force with a lever of .15 m is 1 N m, of some 6 in walking.
TURN, TORQUE = np.radians(0.8), 0.15
# Where tables put the body's centre of mass. The trunk has .35 of the mass. By computed tomography its centre lies 20
# to 50 mm ahead of the vertebrae (Pearsall et al. 1996, Ann Biomed Eng 24:198-210), by photogrammetry 7 to 17 mm behind
# the line from neck to L5/S1 (Dumas et al. 2007, J Biomech 40:543-553): 22 mm, 8 of the body's. Hip centres, 12 mm off
# (Mantovani et al. 2016), carry a quarter of the mass: 3 mm. To the side people are nearly symmetric: hips and markers
# of the trunk 4 mm. INWARDS, to the side of the swinging leg: masses of legs err by 12 % of .16, .1 m from the middle,
# and as much for skin of thigh and pelvis.
AHEAD_M, ASIDE_M, INWARDS_M = 0.0085, 0.004, 0.003
# Of one interval. LEVER_M: a centre of pressure is known to 3 mm, the centre of mass moves by 4 mm as the trunk bends.
# The sway of skin, that of :mod:`.single_support`, changes momentum, and with the radius of gyration of the body
# angular momentum, between both ends. Of one trial: the centre of mass and its sway as the person walks in it.
LEVER_M, GYRATION_M = 0.005, 0.3
# About the vertical: a free torque is known to 1 N m (Holden et al. 2003), 1.5 mm of weight; the radius of gyration is
# half of that, and the swing of arms, 4 N m a step, errs by an eighth as their mass, left against right.
FREE_M, AXIAL_M, ARMS_M = 0.0015, 0.15, 0.001
TRIAL_LEVER_M, TRIAL_LEAN = 0.003, 0.003
NO_DEVIATION = 1e-9  # of an unknown that sound laboratories do not have


class Steps(NamedTuple):
    """The intervals of all trials of a session, one after the other, as those of :class:`.known_intervals.Known`."""

    lever: Array
    lean: Array
    twist: Array
    free: Array
    height: Array
    place: Array
    pressed: Array
    since_s: Array
    late: Array
    side: Array
    lasts_s: Array
    ahead: Array  # (interval, 2)
    trial: NDArray[np.intp]  # (interval,)
    names: list[str]  # of the plates
    load: Array  # (interval, plate), share of the vertical impulse

    @classmethod
    def of(cls, trials: Sequence[Known], plates: Sequence[NDArray[np.str_]]) -> Steps:
        """Return them.

        Args:
            trials: what each shows.
            plates: of each trial, the numbers of the plates of each stance, "1 3" of two.
        """
        joined = [np.concatenate([getattr(one, name) for one in trials]) for name in cls._fields[:10]]
        trial = np.repeat(np.arange(len(trials)), [len(one.start_s) for one in trials])
        names, _, load = borne_by_plates([one.share for one in trials], plates)
        lasts_s = np.concatenate([one.end_s - one.start_s for one in trials])
        ahead = np.stack([one.ahead for one in trials])[trial]
        return cls._make([*joined, lasts_s, ahead, trial, names, load])


@dataclass
class Unknowns:
    """The unknowns of a least-squares problem: what each adds to the observations, and its prior deviation."""

    steps: Steps
    sharp: Array  # (2, 2), makes the errors of the slope 1
    columns: list[Array] = field(default_factory=list)
    prior: list[float] = field(default_factory=list)
    faults: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # unknowns by kind of fault and plate

    def add(self, deviation: float, kind: str = "", plate: str = "", **observed: Array | float) -> None:
        """Add an unknown; ``observed``: its part in lever, lean, twist, slope and delay, 0 if not given."""
        self.columns.append(self.column(**observed))
        self.prior.append(max(deviation, NO_DEVIATION))
        if kind:
            self.faults.setdefault((kind, plate), []).append(len(self.prior) - 1)

    def column(
        self, lever: Array | float = 0.0, lean: Array | float = 0.0, twist: Array | float = 0.0,
        slope: Array | float = 0.0, delay: Array | float = 0.0,
    ) -> Array:  # fmt: skip
        """Return all observations of a kind in their order."""
        shape = self.steps.lever.shape
        vectors = [np.broadcast_to(each, shape).ravel() for each in (lever, lean)]
        turning, sloping = np.broadcast_to(twist, shape[:1]), self.sharp @ np.broadcast_to(slope, 2)
        return np.concatenate([*vectors, turning, sloping, np.atleast_1d(delay)])


def unknowns_of(steps: Steps, sharp: Array) -> Unknowns:
    """Return what sound laboratories, tables and people do not know, and what a fault may make of it."""
    every, none = Unknowns(steps, sharp), np.ones(len(steps.side))
    aside, height = steps.ahead[:, ::-1] * [-1, 1], steps.height[:, None]
    several = steps.names if len(steps.names) > 1 else []  # one plate is all plates
    loads = [("", none), *((name, steps.load[:, steps.names.index(name)]) for name in several)]
    for axis in np.eye(2):
        every.add(TILT, "tilt", lever=height * axis, slope=axis)
        every.add(TILT, "level", lean=axis)
        for name, load in loads:
            part = load[:, None] * axis
            every.add(SHIFT_M, "shift", name, lever=part)
            every.add(LEAN if name else 0.0, "lean", name, lever=height * part, lean=part)
        for i in range(steps.trial[-1] + 1):
            here = (steps.trial == i)[:, None] * axis
            every.add(TRIAL_LEVER_M, lever=here)
            every.add(TRIAL_LEAN, lean=here)
    for name, load in loads[1:]:
        every.add(TURN, "turn", name, lever=load[:, None] * steps.pressed[:, ::-1] * [1, -1])
    every.add(TILT, "yaw", lever=steps.place[:, ::-1] * [-1, 1])
    every.add(SCALE, "scale", lever=-steps.place)
    every.add(MOMENTS, "moments", lever=steps.pressed)
    every.add(TORQUE, "torque", twist=2 * steps.free)
    then = steps.late * steps.since_s[:, None]
    mean_s = float(np.average(steps.since_s, weights=steps.lasts_s))
    every.add(CLOCK, "clock", lever=then[:, :2], lean=then[:, 2:], delay=mean_s)
    every.add(DELAY_S, "late", lever=steps.late[:, :2], lean=steps.late[:, 2:], delay=1.0)
    every.add(AHEAD_M, "centre", lever=-steps.ahead)
    every.add(ASIDE_M, "centre", lever=-aside)
    every.add(INWARDS_M, lever=steps.side[:, None] * aside)
    every.add(ARMS_M, twist=steps.side)
    return every
