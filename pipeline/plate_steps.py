"""Steps of one foot alone on one plate, found by the plate's load and the feet's motion, and what each shows.

The centre of pressure has no say in it: it may be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.filters import stretches
from pipeline.plates import centre_of_pressure, plate_axes

Array = NDArray[np.float64]
Feet = Mapping[str, tuple[Array, Array]]

LOADED_SHARE, SHORTEST_S, LONGEST_S = 0.05, 0.25, 2.0
# deviation of a toe's velocity: of a swinging one at least, and of the standing one as a share of it at most
SWING_M_S, STANDING_SHARE = 0.3, 0.4
PAST_M = 0.2  # a foot that swings past the standing one passes it by far more
TOGETHER_M_S, TOGETHER_S = 0.4, 0.1  # the other foot, no faster than this one so long and over the plate, stands there
FIRST, FLAT, LAST = (0.05, 0.15), (0.15, 0.5), (0.85, 0.95)  # parts of a step


@dataclass(frozen=True, eq=False)
class Step:
    """One foot alone on one plate. Vectors (3,) in lab axes; places from the middle of the plate, m.

    Attributes:
        plate, side, frame: index; the foot; the frame amid the step.
        ahead, inwards: horizontal unit vectors, from heel to toe and towards the other foot.
        push, aside: force per vertical force: second half of the step minus first; mean.
        first, last, mean: centre of pressure after first contact, before the last, and mean weighted by the force.
        toe, line: toe marker before the last contact; mean middle of heel and toe, weighted likewise.
        carried: how far a belt carries the standing foot from first to last.
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
    return {
        side: (np.gradient(heel, interval_s, axis=0), np.gradient(toe, interval_s, axis=0))
        for side, (heel, toe) in feet.items()
    }


def steps_on(
    plate: int, force: Array, moment: Array, corners: Array, feet: Feet, speeds: Feet, *, interval_s: float
) -> list[Step]:
    """Return the steps of one foot alone on a plate; walking backwards is walking with time reversed.

    Of the two feet, the one on the plate moves evenly (it rests, or goes with a belt) while the other swings past
    it, ahead or, backwards, behind.

    Args:
        plate: its index.
        force, moment: (time, 3), N, and N m about the lab origin; lab axes, y up.
        corners: (4, 3), m.
        feet, speeds: heel and toe (time, 3) of each side, m, and their velocities.
        interval_s: between frames.
    """
    if len(feet) < 2:
        return []
    found = []
    for start, stop in stretches(force[:, 1] > LOADED_SHARE * np.nanmax(force[:, 1])):
        if start == 0 or stop == len(force) or not SHORTEST_S < (stop - start) * interval_s < LONGEST_S:
            continue
        fifth = (stop - start) // 5
        middle = {side: toe[start + fifth : stop - fifth] for side, (_, toe) in speeds.items()}
        uneven = {side: float(np.hypot(*np.std(toe[:, [0, 2]], axis=0))) for side, toe in middle.items()}
        if not np.isfinite(list(uneven.values())).all():
            continue
        side, other = sorted(uneven, key=uneven.__getitem__)
        swings = uneven[other] > SWING_M_S and uneven[side] < STANDING_SHARE * uneven[other]
        heel, toe = (point[start:stop] for point in feet[side])
        past_m = interval_s * (middle[other] - middle[side]).sum(axis=0) @ _ahead(heel, toe)
        belt = np.median(middle[side], axis=0)
        both = np.zeros(stop - start, dtype=bool)
        for point, speed in zip(feet[other], speeds[other], strict=True):
            apart = np.linalg.norm(speed[start:stop] - belt, axis=1)
            both |= (apart < TOGETHER_M_S) & _over(point[start:stop], corners)
        alone = both.sum() * interval_s <= TOGETHER_S
        if not (swings and abs(past_m) > PAST_M and alone):
            continue
        order = slice(start, stop) if past_m > 0 else slice(stop - 1, start - 1, -1)
        own = [point[order] for point in feet[side]]
        carried = np.sign(past_m) * (stop - start) * interval_s * belt
        step = _step(plate, side, (start + stop) // 2, force[order], moment[order], corners, own, carried)
        found += [step] if step else []
    return found


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
    """Return what one step shows, or None where its markers are not seen; a belt carries the foot so far all along."""
    centre = corners.mean(axis=0)
    heel, toe = (point - centre for point in foot)
    cop = centre_of_pressure(force, moment, corners)[0] - centre
    share = np.linspace(0, 1, len(force))
    first, flat, last = ((share > low) & (share < high) for low, high in (FIRST, FLAT, LAST))
    ahead = _ahead(heel[flat], toe[flat])
    right = np.cross(ahead, [0.0, 1.0, 0.0])
    weight = force[:, 1] / force[:, 1].sum()
    step = Step(
        plate,
        side,
        frame,
        ahead,
        -right if side == "right" else right,
        push=np.where(share > 0.5, 1, -1) @ force / force[:, 1].sum(),
        aside=force.sum(axis=0) / force[:, 1].sum(),
        first=cop[first].mean(axis=0),
        last=cop[last].mean(axis=0),
        mean=weight @ cop,
        toe=toe[last].mean(axis=0),
        line=weight @ (heel + toe) / 2,
        carried=(np.mean(LAST) - np.mean(FIRST)) * carried,
    )
    return step if np.isfinite([step.ahead, step.first, step.last, step.mean, step.toe, step.line]).all() else None


def _ahead(heel: Array, toe: Array) -> Array:
    """Return the horizontal unit vector from heel to toe, the mean over some frames."""
    ahead = np.mean(toe - heel, axis=0) * [1, 0, 1]
    return np.asarray(ahead / np.linalg.norm(ahead))


def numbers_of(step: Step, turns: Array) -> Array:
    """Return what is to be judged of a step (reading, 5), its plate read with turns (reading, 3, 3) about its middle.

    Push and inward force per vertical force; run of the centre of pressure along the foot, how far it is inwards of
    the foot's middle line, and before the toe marker at the end, m.
    """
    read = turns @ np.stack([step.push, step.aside, step.last - step.first, step.mean, step.last], axis=1)
    along, across = step.ahead @ read, step.inwards @ read  # (reading, 5)
    apart = [across[:, 3] - step.line @ step.inwards, along[:, 4] - step.toe @ step.ahead]
    run = along[:, 2] - step.carried @ step.ahead
    return np.stack([along[:, 0], across[:, 1], run, *apart], axis=1)


def _over(points: Array, corners: Array) -> NDArray[np.bool_]:
    """Return whether points (time, 3) are over the plate."""
    centre, axes = corners.mean(axis=0), plate_axes(corners)
    local = np.abs((points - centre) @ axes[:, :2])
    with np.errstate(invalid="ignore"):
        return np.asarray((local <= np.abs((corners[0] - centre) @ axes[:, :2])).all(axis=1))
