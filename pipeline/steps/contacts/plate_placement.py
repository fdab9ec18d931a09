"""Whether a force plate lies where and as its file says: the steps on it must tell.

A foot presses on the ground beneath it, from heel to toe; the ground brakes a step before it drives it, and pushes
the foot inwards, under the body. A plate whose corners are turned, mirrored or misplaced breaks this, though its
centre of pressure stays inside the plate. All steps of a trial decide together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...plates.wrench import plate_axes
from .single_steps import Feet, Step, numbers_of, speeds_of, steps_on

Array = NDArray[np.float64]

LEAST_PEAK_N = 100.0
# mean and deviation of a step's `numbers_of`, from the recordings of docs/validation.md
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
ALONE_MARGIN = 14.0  # of a plate without others: one trial in a thousand has more by chance


def misread_plates(
    time: Array, force: Array, moment: Array, corners: Array, feet: Feet, *, numbers: Sequence[int]
) -> tuple[list[str], list[Step]]:
    """Return for each plate in one plain line how it is misread, or nothing; and the steps on those that are not.

    Found are a vertical force that points down, and corners turned by 90 or 180 degrees or mirrored, where the steps
    on the plate fit better so. Steps are found here, and by their motion given to a foot: a centre of pressure that
    may be wrong has no say in it. Loads of two feet, and of people who do not walk, tell nothing.

    Args:
        time: (time,) evenly spaced, s.
        force, moment: (time, plate, 3), baseline off, N, and N m about the lab origin; lab axes, y up.
        corners: (plate, 4, 3), m.
        feet: heel and toe (time, 3) of each side, m.
        numbers: the plates' own.
    """
    verdicts, steps = [""] * len(corners), list[Step]()
    if len(time) < 3:
        return verdicts, steps
    interval_s = float(time[-1] - time[0]) / (len(time) - 1)
    speeds, down = speeds_of(feet, interval_s), upside_down(force)
    for plate in np.flatnonzero(_loaded(force)).tolist():
        if down[plate]:
            verdicts[plate] = (
                f"plate {numbers[plate]} pushes down by up to {-np.nanmin(force[:, plate, 1]):.0f} N: are its corners "
                "in the wrong order, or the signs of its channels turned?"
            )
            continue
        quad = corners[plate]
        mine = steps_on(plate, force[:, plate], moment[:, plate], quad, feet, speeds, interval_s=interval_s)
        verdicts[plate] = _misreading(mine, quad, numbers[plate])
        steps += mine if not verdicts[plate] else []
    return verdicts, steps


def upside_down(force: Array) -> NDArray[np.bool_]:
    """Return which plates (plate,) pull at the feet on them, by the force (time, plate, 3) in lab axes, y up."""
    vertical = force[..., 1]
    return np.asarray(_loaded(force) & (-np.fmin.reduce(vertical, axis=0, initial=0.0) > 0.5 * _largest(vertical)))


def _loaded(force: Array) -> NDArray[np.bool_]:
    return _largest(force[..., 1]) >= LEAST_PEAK_N


def _largest(vertical: Array) -> Array:
    return np.asarray(np.fmax.reduce(np.abs(vertical), axis=0, initial=0.0))


def _misreading(steps: Sequence[Step], corners: Array, name: int) -> str:
    """Return how the plate's corners seem to be wrong, where its steps fit another reading far better.

    Most of the steps must, and all together in what a shift of the plate leaves as it is.
    """
    if not steps:
        return ""
    axes, turns = plate_axes(corners), np.tile(np.eye(3), (1 + len(MISREADINGS), 1, 1))
    turns[1:, :2, :2] = [reading for reading, _ in MISREADINGS]
    turns = axes @ turns @ axes.T
    numbers = np.array([numbers_of(step, turns) for step in steps])
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
    return f"plate {name} seems {MISREADINGS[best][1]}: {said or away}"


def shifted_plates(steps: Sequence[Step], numbers: Sequence[int]) -> dict[int, str]:
    """Return the plate that seems shifted against the others, or the plates between which this cannot be told.

    Told, in one plain line, is a shift of some 5 cm and more by whole steps on two plates, of some 12 cm on one alone.
    The centre of pressure stands off the foot by a distance that is the person's own (and the markers'), a little
    different for the two feet and for each step. By generalised least squares, each plate is tried with a shift.
    """
    plates = sorted({step.plate for step in steps})
    if not plates:
        return {}
    axes = np.array([[step.inwards, step.ahead] for step in steps])
    off = np.array([numbers_of(step, np.eye(3)[None])[0, 3:] for step in steps]) - TYPICAL[3:, 0]
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
    if gains[best] < (SHIFT_MARGIN if len(plates) > 1 else ALONE_MARGIN) or size < SHIFT_M:
        return {}
    blamed = [plate for plate in plates if gains[plate] > gains[best] - EQUAL_MARGIN]
    if len(blamed) == 1:
        return {
            best: f"plate {numbers[best]} seems shifted by {100 * size:.0f} cm: that far from the foot is the centre "
            f"of pressure, measured by {'the other plates' if len(plates) > 1 else 'where feet press'}"
        }
    both = " and ".join(str(numbers[plate]) for plate in blamed)
    return dict.fromkeys(blamed, f"plates {both} seem shifted against each other by {100 * size:.0f} cm")
