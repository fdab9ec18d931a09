"""A walk laid out on the floor: when and where each foot strikes and leaves, and how the walker moves between."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from pipeline.demo.body import Walker

Array = NDArray[np.float64]

# Curves over the gait cycle have foot off here, whatever its real instant.
FOOT_OFF = 0.62
# How many steps ahead of the pelvis a foot lands.
REACH = 0.437
# Steps before and after the recording, so that no curve ends in it.
BEYOND = 9


@dataclass(frozen=True)
class Gait:
    """How somebody walks along +x, and for how long.

    ``first_foot`` (0 left, 1 right) strikes first, at ``first_strike_s``; ``irregularity`` 0 makes all steps alike.
    Plausible from 0.8 to 1.7 m/s with steps up to 0.43 body heights; longer ones jerk the hips at foot strike.
    """

    speed_m_s: float
    steps_per_min: float
    duration_s: float
    first_foot: int = 1
    first_strike_s: float = 0.2
    stance_percent: float = 62.0
    irregularity: float = 1.0


@dataclass(frozen=True)
class Style:
    """Factors, near 1, by which one walk differs from the next."""

    pitch: float
    clearance: float
    knee: float
    pelvis: float
    turn: float


@dataclass(frozen=True)
class Walk:
    """One entry per step; step ``number`` 0 is the first to strike in the recording.

    ``side`` 0 left, 1 right; ``strike``, ``off`` s; ``place`` (step, 3) m: the floor point under the ankle of the
    flat foot; ``yaw`` rad: the foot's heading about y. ``start`` (3,) m: where the pelvis would be at time 0.
    """

    walker: Walker
    gait: Gait
    style: Style
    number: NDArray[np.int64]
    side: NDArray[np.int64]
    strike: Array
    off: Array
    place: Array
    yaw: Array
    start: Array

    def moved(self, by: Array) -> Walk:
        """Return the same walk elsewhere on the floor."""
        return replace(self, place=self.place + by, start=self.start + by)


def plan_walk(walker: Walker, gait: Gait, *, seed: int = 0) -> Walk:
    """Return the steps of one walk, irregular from step to step and a little from walk to walk."""
    rng = np.random.default_rng([seed, 3])
    step_s = 60 / gait.steps_per_min
    number = np.arange(-BEYOND, int(np.ceil(gait.duration_s / step_s)) + BEYOND)
    side = (number + gait.first_foot) % 2
    outwards = 2 * side - 1
    unsteady = gait.irregularity * np.clip(rng.normal(0, 1, (5, len(number))), -2, 2)
    strike = gait.first_strike_s + step_s * number + 0.004 * unsteady[0]
    off = strike + gait.stance_percent / 100 * 2 * step_s + 0.002 * unsteady[1]
    ahead = gait.speed_m_s * (strike + REACH * step_s) + 0.005 * unsteady[2]
    place = np.stack([ahead, 0 * ahead, 0.055 * outwards + 0.006 * unsteady[3]], axis=-1)
    yaw = -outwards * np.radians(walker.toe_out_deg + unsteady[4])
    style = Style(*(1 + gait.irregularity * np.clip(rng.normal(0, 0.04, 5), -0.08, 0.08)))
    return Walk(walker, gait, style, number, side, strike, off, place, yaw, np.zeros(3))


def cycles(walk: Walk, side: int, time: Array) -> Array:
    """Return the gait cycles of one foot up to ``time``, smooth: k/2 as it makes step k, FOOT_OFF more at foot off."""
    own = walk.side == side
    instants = np.concatenate([walk.strike[own], walk.off[own]])
    counts = np.concatenate([walk.number[own] / 2, walk.number[own] / 2 + FOOT_OFF])
    order = np.argsort(instants)
    return np.asarray(make_interp_spline(instants[order], counts[order], k=5)(time))
