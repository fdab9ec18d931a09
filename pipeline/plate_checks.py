"""Whether a force plate lies where and as its file says: the steps on it must tell.

A foot presses on the ground beneath it, from heel to toe; the ground brakes a step before it drives it, and pushes
the foot inwards, under the body. A plate whose corners are turned, mirrored or misplaced breaks this, though its
centre of pressure stays inside the plate. All steps of a trial decide together.
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

LOADED_SHARE, LEAST_PEAK_N, SHORTEST_S, LONGEST_S = 0.05, 100.0, 0.25, 2.0
STANDING_SHARE = 0.4  # of the other toe's unevenness of motion; a foot that alone stands on the ground stays far below
TOGETHER_M_S, TOGETHER_S = 0.4, 0.1  # the other foot, no faster than this one so long and over the plate, stands there
FIRST, FLAT, LAST = (0.05, 0.15), (0.15, 0.5), (0.85, 0.95)  # parts of a step
# mean and deviation of a step's `_numbers`, from the recordings of docs/validation.md
TYPICAL = np.array([[0.09, 0.04], [0.045, 0.025], [0.13, 0.06], [0.01, 0.025], [0.0, 0.03]])
MOST_DEVIATIONS = 4.0
MARGIN = 6.0  # of squared deviations, by which another reading must fit better
MISREADINGS = [
    ([[-1, 0], [0, -1]], "turned by 180 degrees"),
    ([[-1, 0], [0, 1]], "mirrored"),
    ([[1, 0], [0, -1]], "mirrored"),
    ([[0, 1], [1, 0]], "mirrored"),
    ([[0, -1], [-1, 0]], "mirrored"),
    ([[0, -1], [1, 0]], "turned by 90 degrees"),
    ([[0, 1], [-1, 0]], "turned by 90 degrees"),
]
SIDE_DEVIATION_M, STEP_DEVIATION_M = 0.012, 0.007  # between a person's feet, and between steps of a foot
SHIFT_M, SHIFT_MARGIN, EQUAL_MARGIN = 0.044, 5.0, 2.0


@dataclass(frozen=True, eq=False)
class Step:
    """One foot alone on one plate. Vectors (3,) in lab axes; places from the middle of the plate, m.

    Attributes:
        plate, side: index; the foot.
        ahead, inwards: horizontal unit vectors, from heel to toe and towards the other foot.
        push, aside: force per vertical force: second half of the step minus first; mean.
        first, last, mean: centre of pressure after first contact, before the last, and mean weighted by the force.
        toe, line: toe marker before the last contact; mean middle of heel and toe, weighted likewise.
    """

    plate: int
    side: str
    ahead: Array
    inwards: Array
    push: Array
    aside: Array
    first: Array
    last: Array
    mean: Array
    toe: Array
    line: Array


def plate_verdicts(
    time: Array, force: Array, moment: Array, corners: Array, feet: Feet, *, backwards: bool = False
) -> list[str]:
    """Return for each plate in one plain line what seems wrong with it, or nothing.

    Found are a vertical force that points down; corners turned by 90 or 180 degrees or mirrored, where the steps on
    the plate fit better so; and a shift of some 5 cm and more against the trial's other plates, which needs whole
    steps on two plates. Steps are found here, and by their motion given to a foot: a centre of pressure that may be
    wrong has no say in it. Loads of two feet, and of people who stand, tell nothing.

    Args:
        time: (time,) evenly spaced, s.
        force, moment: (time, plate, 3), baseline off, N, and N m about the lab origin; lab axes, y up.
        corners: (plate, 4, 3), m.
        feet: heel and toe (time, 3) of each side, m.
        backwards: whether the person walks backwards.
    """
    verdicts = ["" for _ in corners]
    if len(time) < 3:
        return verdicts
    steps: list[Step] = []
    interval = (time[-1] - time[0]) / (len(time) - 1)
    speeds = {
        side: (np.gradient(heel, interval, axis=0), np.gradient(toe, interval, axis=0))
        for side, (heel, toe) in feet.items()
    }
    for plate, quad in enumerate(corners):
        vertical = force[:, plate, 1]
        largest = np.nanmax(np.abs(vertical), initial=0.0)
        if largest < LEAST_PEAK_N:
            continue
        if -np.nanmin(vertical) > 0.5 * largest:
            verdicts[plate] = (
                f"plate {plate + 1} pushes down by up to {-np.nanmin(vertical):.0f} N: are its corners in the wrong "
                "order, or the signs of its channels turned?"
            )
            continue
        if len(feet) < 2:
            continue
        mine = _steps(plate, interval, force[:, plate], moment[:, plate], quad, feet, speeds, backwards=backwards)
        verdicts[plate] = _misreading(mine, quad)
        steps += mine if not verdicts[plate] else []
    for plate, verdict in _shifted(steps).items():
        verdicts[plate] = verdict
    return verdicts


def _steps(
    plate: int,
    interval: float,
    force: Array,
    moment: Array,
    corners: Array,
    feet: Feet,
    speeds: Feet,
    *,
    backwards: bool,
) -> list[Step]:
    """Return the whole steps of one foot alone on a plate; walking backwards is walking with time reversed."""
    found = []
    for start, stop in stretches(force[:, 1] > LOADED_SHARE * np.nanmax(force[:, 1])):
        if start == 0 or stop == len(force) or not SHORTEST_S < (stop - start) * interval < LONGEST_S:
            continue
        fifth = (stop - start) // 5
        middle = {side: toe[start + fifth : stop - fifth] for side, (_, toe) in speeds.items()}
        uneven = {side: float(np.hypot(*np.std(toe[:, [0, 2]], axis=0))) for side, toe in middle.items()}
        if not np.isfinite(list(uneven.values())).all():
            continue
        side, other = sorted(uneven, key=uneven.__getitem__)
        both = np.zeros(stop - start, dtype=bool)
        for point, speed in zip(feet[other], speeds[other], strict=True):
            apart = np.linalg.norm(speed[start:stop] - np.median(middle[side], axis=0), axis=1)
            both |= (apart < TOGETHER_M_S) & _over(point[start:stop], corners)
        if uneven[side] > STANDING_SHARE * uneven[other] or both.sum() * interval > TOGETHER_S:
            continue
        order = slice(start, stop) if not backwards else slice(stop - 1, start - 1, -1)
        own = [point[order] for point in feet[side]]
        step = _step(plate, side, force[order], moment[order], corners, own)
        found += [step] if step else []
    return found


def _step(plate: int, side: str, force: Array, moment: Array, corners: Array, foot: Sequence[Array]) -> Step | None:
    """Return what one step shows, or None where its markers are not seen."""
    centre = corners.mean(axis=0)
    heel, toe = (point - centre for point in foot)
    cop = centre_of_pressure(force, moment, corners)[0] - centre
    share = np.linspace(0, 1, len(force))
    first, flat, last = ((share > low) & (share < high) for low, high in (FIRST, FLAT, LAST))
    ahead = np.mean((toe - heel)[flat], axis=0) * [1, 0, 1]
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0.0, 1.0, 0.0])
    weight = force[:, 1] / force[:, 1].sum()
    step = Step(
        plate,
        side,
        ahead,
        -right if side == "right" else right,
        push=np.where(share > 0.5, 1, -1) @ force / force[:, 1].sum(),
        aside=force.sum(axis=0) / force[:, 1].sum(),
        first=cop[first].mean(axis=0),
        last=cop[last].mean(axis=0),
        mean=weight @ cop,
        toe=toe[last].mean(axis=0),
        line=weight @ (heel + toe) / 2,
    )
    return step if np.isfinite([step.ahead, step.first, step.last, step.mean, step.toe, step.line]).all() else None


def _numbers(step: Step, turns: Array) -> Array:
    """Return what is to be judged of a step (reading, 5), its plate read with turns (reading, 3, 3) about its middle.

    Push and inward force per vertical force; run of the centre of pressure along the foot, how far it is inwards of
    the foot's middle line, and before the toe marker at the end, m.
    """
    read = turns @ np.stack([step.push, step.aside, step.last - step.first, step.mean, step.last], axis=1)
    along, across = step.ahead @ read, step.inwards @ read  # (reading, 5)
    apart = [across[:, 3] - step.line @ step.inwards, along[:, 4] - step.toe @ step.ahead]
    return np.stack([along[:, 0], across[:, 1], along[:, 2], *apart], axis=1)


def _misreading(steps: Sequence[Step], corners: Array) -> str:
    """Return how the plate's corners seem to be wrong, where its steps fit another reading far better.

    Most of the steps must, and all together in what a shift of the plate leaves as it is.
    """
    if not steps:
        return ""
    axes, turns = plate_axes(corners), np.tile(np.eye(3), (1 + len(MISREADINGS), 1, 1))
    turns[1:, :2, :2] = [reading for reading, _ in MISREADINGS]
    numbers = np.array([_numbers(step, axes @ turns @ axes.T) for step in steps])
    deviation = (numbers - TYPICAL[:, 0]) / TYPICAL[:, 1]
    misfit = np.minimum(np.abs(deviation), MOST_DEVIATIONS) ** 2  # bounded: one number alone must not decide
    gain = misfit[:, :1] - misfit[:, 1:]  # (step, reading, number)
    fits = ((gain.sum(axis=2) > 0).mean(axis=0) > 0.5) & (gain[..., :3].sum(axis=(0, 2)) > 0)
    total = np.where(fits, gain.sum(axis=(0, 2)), 0.0)
    best = int(np.argmax(total))
    if total[best] < MARGIN:
        return ""
    push, aside, run, inwards, ahead = numbers[:, 0].mean(axis=0)
    signs = [
        (push, "the fore-aft force drives before it brakes"),
        (run, "the centre of pressure runs from toe to heel"),
        (aside, "the side force pushes the foot outwards"),
    ]
    said = " and ".join(text for sign, text in signs if sign < 0)
    away = f"the centre of pressure is {100 * np.hypot(inwards, ahead):.0f} cm from where the foot presses"
    return f"plate {steps[0].plate + 1} seems {MISREADINGS[best][1]}: {said or away}"


def _shifted(steps: Sequence[Step]) -> dict[int, str]:
    """Return the plate that seems shifted against the others, or the plates between which this cannot be told.

    The centre of pressure stands off the foot by a distance that is the person's own (and the markers'), a little
    different for the two feet and for each step. By generalised least squares, each plate is tried with a shift.
    """
    plates = sorted({step.plate for step in steps})
    if len(plates) < 2:
        return {}
    axes = np.array([[step.inwards, step.ahead] for step in steps])
    off = np.array([_numbers(step, np.eye(3)[None])[0, 3:] for step in steps]) - TYPICAL[3:, 0]
    side = np.array([step.side for step in steps])
    same = (side[:, None] == side) * SIDE_DEVIATION_M**2 + np.eye(len(steps)) * STEP_DEVIATION_M**2
    weight = np.stack([np.linalg.inv(deviation**2 + same) for deviation in TYPICAL[3:, 1]])
    gains, shifts = {}, {}
    for plate in plates:
        here = np.array([step.plate == plate for step in steps])
        design = axes[..., [0, 2]] * here[:, None, None]  # (step, number, x z)
        weighted = np.einsum("nij,jnk->ink", weight, design)
        normal = np.einsum("ink,inl->kl", design, weighted)
        shifts[plate] = np.linalg.solve(normal, np.einsum("ink,in->k", weighted, off))
        gains[plate] = float(shifts[plate] @ normal @ shifts[plate])
    best = max(gains, key=gains.__getitem__)
    size = float(np.linalg.norm(shifts[best]))
    if gains[best] < SHIFT_MARGIN or size < SHIFT_M:
        return {}
    blamed = [plate for plate in plates if gains[plate] > gains[best] - EQUAL_MARGIN]
    if len(blamed) == 1:
        return {
            best: f"plate {best + 1} seems shifted by {100 * size:.0f} cm: that far from the foot is the centre of "
            "pressure, measured by the other plates"
        }
    names = " and ".join(str(plate + 1) for plate in blamed)
    return dict.fromkeys(blamed, f"plates {names} seem shifted against each other by {100 * size:.0f} cm")


def _over(points: Array, corners: Array) -> NDArray[np.bool_]:
    """Return whether points (time, 3) are over the plate."""
    centre, axes = corners.mean(axis=0), plate_axes(corners)
    local = np.abs((points - centre) @ axes[:, :2])
    with np.errstate(invalid="ignore"):
        return np.asarray((local <= np.abs((corners[0] - centre) @ axes[:, :2])).all(axis=1))
