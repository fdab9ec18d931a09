"""The ground under the feet: force, centre of pressure and free moment of each foot in stance.

The vertical force carries the body's weight and the rise and fall of its centre of mass; in double support it passes
from the trailing to the leading foot. The force points from the centre of pressure to a pivot above the pelvis (the
virtual pivot point, Maus et al. 2010), which brakes, propels and steadies as people do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.demo.curves import cyclic, mirrored, rotation
from pipeline.demo.legs import Pose
from pipeline.demo.steps import FOOT_OFF, Walk, cycles

Array = NDArray[np.float64]
GRAVITY = 9.81  # m s-2, down

# centre of pressure in the footprint, as fractions of foot length from the point under the ankle (outwards positive)
PRESSURE_AHEAD = cyclic((0, -0.18), (12, 0.10), (30, 0.34), (48, 0.55), (62, 0.65), (75, 0.65), (92, -0.18))
PRESSURE_OUTWARDS = cyclic((0, -0.02), (15, 0.06), (35, 0.07), (50, -0.02), (62, -0.10), (75, -0.10), (92, -0.02))
# of the point between the hips, in leg lengths: as far back as lets braking and propulsion balance over a stride
PIVOT_FROM_HIPS = (-0.04, 0.42, 0.0)
# free moment for each newton of vertical force, at most
FREE_MOMENT_M = 0.006


@dataclass(frozen=True)
class Ground:
    """The ground's action on each foot, lab axes.

    ``force`` (time, side, 3) N; ``pressure_centre`` (time, side, 3) m, NaN off the ground; ``free_moment``
    (time, side) N m about the vertical, up positive.
    """

    force: Array
    pressure_centre: Array
    free_moment: Array


def ground(walk: Walk, body: Pose, time: Array) -> Ground:
    """Return what the ground does to both feet at the instants (time,) of the pose."""
    counted = [cycles(walk, side, time) for side in (0, 1)]
    total = _vertical_force(walk, (counted[0] + counted[1]) / 2)
    pivot = body.centre[:, :, 2].mean(axis=1) + walk.walker.leg_m * np.array(PIVOT_FROM_HIPS)
    shape = (len(time), 2)
    force, centre, free = np.zeros((*shape, 3)), np.full((*shape, 3), np.nan), np.zeros(shape)
    for step in range(1, len(walk.strike) - 1):
        on = (time > walk.strike[step]) & (time < walk.off[step])
        if not on.any():
            continue
        side = walk.side[step]
        own = counted[side][on] - walk.number[step] / 2
        under = pressure_path(walk, step, own)
        vertical = load_share(walk, step, time[on]) * total[on]
        to_pivot = pivot[on] - under
        force[on, side] = vertical[:, None] * to_pivot / to_pivot[:, 1:2]
        centre[on, side] = under
        outward = 1 if side else -1
        free[on, side] = (
            outward * FREE_MOMENT_M * walk.style.turn * vertical * np.sin(2 * np.pi * (own / FOOT_OFF - 0.1))
        )
    return Ground(force, centre, free)


def _vertical_force(walk: Walk, cycle: Array) -> Array:
    """Return the force (time,) under both feet, N: weight, and the centre of mass rising twice in a cycle."""
    swing = 0.20 * (walk.gait.speed_m_s / 1.3) ** 1.5
    turn = 4 * np.pi * (cycle - 0.06)
    return np.asarray(walk.walker.mass_kg * GRAVITY * (1 + swing * np.cos(turn) - 0.25 * swing * np.cos(2 * turn)))


def load_share(walk: Walk, step: int, time: Array) -> Array:
    """Return the part of the load, 0 to 1, that the foot of a step carries: all of it while it stands alone."""
    taken = _handed_over(time, walk.strike[step], walk.off[step - 1])
    given = _handed_over(time, walk.strike[step + 1], walk.off[step])
    return taken * (1 - given)


def _handed_over(time: Array, start: float, end: float) -> Array:
    """Return a rise from 0 to 1 with the brisk ends that contacts have."""
    done = np.clip((time - start) / (end - start), 0, 1)
    return done - 0.6 * np.sin(2 * np.pi * done) / (2 * np.pi)


def pressure_path(walk: Walk, step: int, cycle: Array) -> Array:
    """Return the centre of pressure (time, 3) in lab axes at gait cycles since the strike of ``step``."""
    ahead, outwards = PRESSURE_AHEAD(cycle), PRESSURE_OUTWARDS(cycle)
    in_print = walk.walker.foot_m * np.stack([ahead, 0 * ahead, outwards], axis=-1)
    heading = rotation(1, walk.yaw[step])
    return np.asarray(walk.place[step] + mirrored(in_print, int(walk.side[step])) @ heading.T)
