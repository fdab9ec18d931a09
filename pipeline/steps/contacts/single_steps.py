"""Steps of one foot alone on one plate, from the plate's load and the motion of the feet.

The centre of pressure is not used to find them, as it may be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...plates.wrench import centre_of_pressure, plate_axes
from ...signals.filters import stretches

Array = NDArray[np.float64]
Feet = Mapping[str, tuple[Array, Array]]

LOADED_SHARE, SHORTEST_S, LONGEST_S = 0.05, 0.25, 2.0
# standard deviation of a toe's velocity: smallest in swing; largest in stance, as a share of that
SWING_M_S, STANCE_SHARE = 0.3, 0.4
PAST_M = 0.2  # by which the swinging foot passes the other one at least
TOGETHER_M_S, TOGETHER_S = 0.4, 0.1  # a slower foot over the plate for longer is on it too
FIRST, FLAT, LAST = (0.05, 0.15), (0.15, 0.5), (0.85, 0.95)  # shares of a step


@dataclass(frozen=True, eq=False)
class Step:
    """One foot alone on a plate; vectors (3,), lab axes, places from its middle, m.

    Attributes:
        plate, side, frame: index of the plate; the foot; the middle frame.
        ahead, inwards: horizontal unit vectors, from heel to toe and towards the other foot.
        push, aside: force per vertical force: second half of the step minus first; mean.
        first, last, mean: centre of pressure after first contact, before last contact, mean weighted by the force.
        toe, line: toe marker before last contact; mean middle of heel and toe, weighted by the force.
        carried: displacement of the foot by a belt from first to last.
    """

    plate: int
    side: str
    frame: int
    ahead: Array
    inwards: Array
    push: Array
    aside: Array
    first: Array
    last: Array
    mean: Array
    toe: Array
    line: Array
    carried: Array


def speeds_of(feet: Feet, interval_s: float) -> Feet:
    """Return the velocity of heel and toe (time, 3) of each side, m/s."""
    return {side: tuple(np.gradient(np.stack(foot), interval_s, axis=1)) for side, foot in feet.items()}


def steps_on(
    plate: int, force: Array, moment: Array, corners: Array, feet: Feet, speeds: Feet, *, interval_s: float
) -> list[Step]:
    """Return the steps of one foot alone on a plate, in walking either way.

    The foot on the plate moves evenly (rests, or moves with a belt) while the other swings past it, forwards or, in
    walking backwards, backwards.

    Args:
        plate: index of the plate.
        force, moment: (time, 3), N, and N m about the lab origin; lab axes, y up.
        corners: (4, 3), m.
        feet, speeds: heel and toe (time, 3) of each side, m, and their velocities.
        interval_s: between frames.
    """
    if len(feet) < 2:
        return []
    found, vertical = [], force[:, 1]
    for start, stop in stretches(vertical > LOADED_SHARE * np.fmax.reduce(vertical)):
        if start == 0 or stop == len(force) or not SHORTEST_S < (stop - start) * interval_s < LONGEST_S:
            continue
        stance = _stance_foot(slice(start, stop), corners, feet, speeds, interval_s=interval_s)
        if stance is None:
            continue
        side, past_m, belt = stance
        order = slice(start, stop) if past_m > 0 else slice(stop - 1, start - 1, -1)
        own = [point[order] for point in feet[side]]
        carried = np.sign(past_m) * (stop - start) * interval_s * belt
        step = _step(plate, side, (start + stop) // 2, force[order], moment[order], corners, own, carried)
        found += [step] if step else []
    return found


def _stance_foot(
    loaded: slice, corners: Array, feet: Feet, speeds: Feet, *, interval_s: float
) -> tuple[str, float, Array] | None:
    """Return the foot alone on a plate, how far the other passes it, belt velocity.

    None if no foot is alone there. Arguments as in :func:`steps_on`.
    """
    fifth = (loaded.stop - loaded.start) // 5
    middle = {side: toe[loaded.start + fifth : loaded.stop - fifth] for side, (_, toe) in speeds.items()}
    uneven = {side: math.hypot(*toe[:, ::2].std(axis=0)) for side, toe in middle.items()}
    side, other = sorted(uneven, key=uneven.__getitem__)
    # `not` also covers NaN, of a foot that is not seen
    if not (uneven[other] > SWING_M_S and uneven[side] < STANCE_SHARE * uneven[other]):
        return None
    heel, toe = (point[loaded] for point in feet[side])
    past_m = float(interval_s * (middle[other] - middle[side]).sum(axis=0) @ _ahead(heel, toe))
    if not abs(past_m) > PAST_M:
        return None
    belt = np.median(middle[side], axis=0)
    points, moving = (np.stack([of[loaded] for of in each[other]]) for each in (feet, speeds))
    slow = ((moving - belt) ** 2).sum(axis=-1) < TOGETHER_M_S**2
    centre, plane = corners.mean(axis=0), plate_axes(corners)[:, :2]
    over = (np.abs((points - centre) @ plane) <= np.abs((corners[0] - centre) @ plane)).all(axis=-1)
    together = (slow & over).any(axis=0).sum() * interval_s > TOGETHER_S
    return None if together else (side, past_m, belt)


def _step(
    plate: int,
    side: str,
    frame: int,
    force: Array,
    moment: Array,
    corners: Array,
    foot: Sequence[Array],
    carried: Array,
) -> Step | None:
    """Return one step, or None if its markers are not seen."""
    places = np.stack([centre_of_pressure(force, moment, corners)[0], *foot], axis=1) - corners.mean(axis=0)
    share = np.linspace(0, 1, len(force))
    first, flat, last = (
        places[share.searchsorted(low, side="right") : share.searchsorted(high)].mean(axis=0)
        for low, high in (FIRST, FLAT, LAST)
    )
    ahead = _horizontal(flat[2] - flat[1])
    right = np.array([-ahead[2], 0.0, ahead[0]])
    load = force[:, 1].sum()
    cop, heel, toe = np.tensordot(force[:, 1] / load, places, 1)
    step = Step(
        plate,
        side,
        frame,
        ahead,
        -right if side == "right" else right,
        push=np.where(share > 0.5, 1.0, -1.0) @ force / load,
        aside=force.sum(axis=0) / load,
        first=first[0],
        last=last[0],
        mean=cop,
        toe=last[2],
        line=(heel + toe) / 2,
        carried=(np.mean(LAST) - np.mean(FIRST)) * carried,  # of the whole step
    )
    return step if np.isfinite([step.ahead, step.first, step.last, step.mean, step.toe, step.line]).all() else None


def _ahead(heel: Array, toe: Array) -> Array:
    """Return the mean horizontal unit vector from heel to toe."""
    return _horizontal((toe - heel).mean(axis=0))


def _horizontal(vector: Array) -> Array:
    """Return the unit vector of a vector's horizontal part."""
    x, _, z = vector
    return np.array([x, 0.0, z]) / math.hypot(x, z)


def numbers_of(step: Step, turns: Array) -> Array:
    """Return five numbers of a step (reading, 5), its plate turned (reading, 3, 3).

    Push and inward force per vertical force; path of the centre of pressure along the foot, its distance inwards of
    the foot's middle line, and in front of the toe marker at the end, m.
    """
    read = turns @ np.stack([step.push, step.aside, step.last - step.first, step.mean, step.last], axis=1)
    along, across = step.ahead @ read, step.inwards @ read  # (reading, 5)
    apart = [across[:, 3] - step.line @ step.inwards, along[:, 4] - step.toe @ step.ahead]
    run = along[:, 2] - step.carried @ step.ahead
    return np.stack([along[:, 0], across[:, 1], run, *apart], axis=1)
