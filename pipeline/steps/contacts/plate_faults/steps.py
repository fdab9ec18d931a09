"""Steps of one foot alone on one plate, from the plate's load and the motion of the feet.

The centre of pressure is not used to find them, as it may be wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ....arrays import Array, Flags
from ....conventions import LOADED_SHARE
from ....dynamics.vectors import dot
from ....plates.incline import normal_of_ground
from ....plates.sole import HALF_SOLE_M
from ....plates.wrench import centre_of_pressure
from ....signals.filters import stretches
from ..feet import Feet, Foot

SHORTEST_S, LONGEST_S = 0.15, 2.0  # a sprinter's stance lasts 0.1 s, a slow walker's 1.5 s; longer is standing
# standard deviation of a toe's velocity: smallest in swing, of steps of 0.3 m/s on average; largest in stance, as a
# share of that: the toe of a standing foot rises only at its end
SWING_M_S, STANCE_SHARE = 0.3, 0.4
PAST_M = 0.2  # by which the swinging foot passes the other one at least: a foot's length, else nobody walks
NEAR_M = 0.04  # of the plate's edge: markers to 2 cm from where they should be, edges and shoes as much
TOGETHER_S = 0.1  # longer at rest over the plate, the other foot is on it too
# parts of a load: the force is the whole body's in the middle three, the foot alone on the ground
PARTS = (0.05, 0.15, 0.38, 0.62, 0.85, 0.95)
ALONE = slice(1, 4)
SOLE_BEHIND_M, SOLE_AHEAD = 0.02, 0.3  # the sole behind the heel marker, and beyond the toe marker per distance of both
RAISED_M = 0.03  # a heel or toe marker that is higher than that over its lowest place has left the ground with its part


@dataclass(frozen=True, eq=False)
class PlateStep:
    """One foot alone and whole on a plate, in parts of its load; lab axes, places from the plate's middle, m."""

    # plate, side, frame: index of the plate; the foot; the middle frame
    plate: int
    side: str
    frame: int
    force: Array  # mean force (part, 3), N
    pressed: Array  # centre of pressure of the mean wrench (part, 3)
    # heel, toe: markers (part, 3)
    heel: Array
    toe: Array
    # heel_up, toe_up: whether heel or toe are off the ground throughout a part (part,)
    heel_up: Flags
    toe_up: Flags
    pelvis: Array  # middle of the pelvis (part, 3), NaN if unseen
    free: Array  # free moment of the mean wrench (part,), N m
    normal: Array  # of the ground, upward (3,): heights of the foot are along it
    loaded_s: float = math.nan  # how long the load lasts


def steps_on(
    plate: int, force: Array, moment: Array, corners: Array, feet: Feet, pelvis: Array, *, interval_s: float
) -> list[PlateStep]:
    """Return the steps of one foot alone and whole on a plate, in any way of walking or running.

    The foot on the plate moves evenly (rests, or moves with a belt) while the other swings past it.

    Args:
        plate: index of the plate.
        force, moment: (time, 3), N, and N m about the lab origin; lab axes, y up.
        corners: (4, 3), m.
        feet: by side.
        pelvis: its middle (time, 3), m, NaN if unseen.
        interval_s: between frames.
    """
    if len(feet) < 2:
        return []
    steps, vertical = [], force[:, 1]
    for start, stop in stretches(vertical > LOADED_SHARE * np.fmax.reduce(vertical)):
        if start == 0 or stop == len(force) or not SHORTEST_S < (stop - start) * interval_s < LONGEST_S:
            continue
        loaded = slice(start, stop)
        side = _stance_foot(loaded, corners, feet, interval_s=interval_s)
        step = side and _step(plate, side, loaded, force[loaded], moment[loaded], corners, feet[side], pelvis[loaded])
        steps += [replace(step, loaded_s=(stop - start) * interval_s)] if step else []
    return steps


def _stance_foot(loaded: slice, corners: Array, feet: Feet, *, interval_s: float) -> str:
    """Return the foot alone and whole on a plate, or an empty text. Arguments as in :func:`steps_on`."""
    fifth = (loaded.stop - loaded.start) // 5
    middle = slice(loaded.start + fifth, loaded.stop - fifth)
    speeds = {side: foot.velocity[1, middle] for side, foot in feet.items()}
    uneven = {side: math.hypot(*toe[:, ::2].std(axis=0)) for side, toe in speeds.items()}
    over = {side: bool(foot.over(corners[None], NEAR_M, middle)[:2].all()) for side, foot in feet.items()}
    side, other = sorted(uneven, key=lambda one: (not over[one], uneven[one]))
    # over the plate are both feet: which one swings? `not` also covers NaN, of a foot that is not seen
    least = uneven[other] if over[other] else SWING_M_S / STANCE_SHARE
    if not (over[side] and least > SWING_M_S and uneven[side] < STANCE_SHARE * least):
        return ""
    standing, swinging = feet[side], feet[other]
    line = (standing.toe - standing.heel)[middle].mean(axis=0)
    past_m = interval_s * (speeds[other] - speeds[side]).sum(axis=0)[::2] @ line[::2] / math.hypot(*line[::2])
    if not abs(past_m) > PAST_M:
        return ""
    together = (swinging.over(corners[None], 0.0, loaded)[:2, :, 0] & swinging.slow[:, loaded]).any(axis=0)
    return "" if together.sum() * interval_s > TOGETHER_S else side


def _step(
    plate: int, side: str, loaded: slice, force: Array, moment: Array, corners: Array, foot: Foot, pelvis: Array
) -> PlateStep | None:
    """Return one step, or None if its markers are not seen."""
    edges = np.round(np.array(PARTS) * len(force)).astype(int)
    heel, toe = foot.heel[loaded], foot.toe[loaded]
    every = np.stack([force, moment, heel, toe, pelvis], axis=1)[: edges[-1]]
    mean = np.add.reduceat(every, edges[:-1]) / np.diff(edges)[:, None, None]
    if not np.isfinite(mean[:, :4]).all():
        return None
    normal = normal_of_ground(corners[None])
    raised = np.stack([heel, toe])[:, : edges[-1]] @ normal
    raised = np.minimum.reduceat(raised, edges[:-1], axis=1) - raised.min(axis=1, keepdims=True) > RAISED_M
    centre = corners.mean(axis=0)
    pressed, free = centre_of_pressure(mean[:, 0], mean[:, 1], corners)
    heel, toe, pelvis = (mean[:, i] - centre for i in (2, 3, 4))
    frame = (loaded.start + loaded.stop) // 2
    return PlateStep(
        plate, side, frame, mean[:, 0], pressed - centre, heel, toe, raised[0], raised[1], pelvis, free, normal
    )


class Steps(NamedTuple):
    """Several steps, as arrays (step, ...) of the fields of :class:`PlateStep`."""

    outwards: Array  # (step,), 1 of a right foot, -1 of a left one
    force: Array
    pressed: Array
    heel: Array
    toe: Array
    heel_up: Flags
    toe_up: Flags
    pelvis: Array
    free: Array
    normal: Array
    loaded_s: Array

    @property
    def ahead(self) -> Array:
        """Return the horizontal unit vectors (step, part, 3) from heel to toe."""
        line = (self.toe - self.heel) * [1, 0, 1]
        return np.asarray(line / np.hypot(line[..., :1], line[..., 2:]))

    @property
    def length(self) -> Array:
        """Return the horizontal distance (step, part) of heel and toe marker, m."""
        line = self.toe - self.heel
        return np.asarray(np.hypot(line[..., 0], line[..., 2]))


def as_arrays(steps: Sequence[PlateStep]) -> Steps:
    """Return the steps as arrays."""
    outwards = np.array([1.0 if step.side == "right" else -1.0 for step in steps])
    return Steps(outwards, *(np.array([getattr(step, name) for step in steps]) for name in Steps._fields[1:]))


def lines_from_pelvis(steps: Steps, turns: Array) -> Array:
    """Return how far ground forces pass the pelvis, horizontally at its height, their plate turned, m.

    The body's angular momentum about its centre of mass changes little in walking, running, turning and on stairs, so
    that the force of the ground on a person points to it (Herr and Popovic 2008).

    Args:
        steps: of one foot, alone on the ground.
        turns: (reading, 3, 3).

    Returns:
        (step, reading, part, 3), in the middle parts of the load; y is 0.
    """
    force, pressed, pelvis = (of[:, ALONE] for of in (steps.force, steps.pressed, steps.pelvis))
    force, pressed = (np.einsum("rij,spj->srpi", turns, of) for of in (force, pressed))
    pelvis = pelvis[:, None]
    line = pressed + (pelvis - pressed)[..., 1:2] * force / force[..., 1:2]
    return np.asarray((line - pelvis) * [1, 0, 1])


def acceleration_of(steps: Steps) -> Array:
    """Return the mean acceleration (step, 3) of the pelvis while one foot bears the body, m/s2; NaN if unseen."""
    middles = np.convolve(PARTS, [0.5, 0.5], "valid")
    velocity = np.diff(steps.pelvis, axis=1) / np.diff(middles)[:, None]
    between = np.convolve(middles, [0.5, 0.5], "valid")
    return np.asarray((velocity[:, -1] - velocity[:, 0]) / (between[-1] - between[0]) / steps.loaded_s[:, None] ** 2)


def places_in_foot(steps: Steps, turns: Array) -> tuple[Array, Array]:
    """Return where ground forces press, in front of the heel marker and right of the foot's line, m.

    Both are (step, reading, part). Arguments as in :func:`lines_from_pelvis`.
    """
    ahead = steps.ahead[:, None]
    from_heel = np.einsum("rij,spj->srpi", turns, steps.pressed) - steps.heel[:, None]
    across = ahead[..., 0] * from_heel[..., 2] - ahead[..., 2] * from_heel[..., 0]
    return dot(from_heel, ahead), np.asarray(across)


def beside_sole(steps: Steps, turns: Array) -> Array:
    """Return how far ground forces press outside the part of the sole that is on the ground, m.

    If the heel is raised, that is the front half of the sole; if the toes are, the rear half.

    Args:
        steps, turns: as in :func:`lines_from_pelvis`.

    Returns:
        (step, reading, part, 2), along and across the foot.
    """
    along, across = places_in_foot(steps, turns)
    back = np.where(steps.heel_up, 0.5 * steps.length, -SOLE_BEHIND_M)[:, None]
    front = (np.where(steps.toe_up, 0.5, 1 + SOLE_AHEAD) * steps.length)[:, None]
    beyond = np.maximum(np.maximum(back - along, along - front), 0)
    return np.stack([beyond, np.maximum(np.abs(across) - HALF_SOLE_M, 0)], axis=-1)
