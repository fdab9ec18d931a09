"""Detection of force plates with turned, mirrored or shifted corners from the steps on them.

A foot presses on the ground below it, from heel to toe; the ground brakes a step before it drives it, and pushes the
foot inwards, under the body. Wrong corners break this, although the centre of pressure stays inside the plate. All
steps of a trial are judged together.
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
MARGIN = 6.0  # smallest gain in squared deviations of another reading
MISREADINGS = [
    ([[-1, 0], [0, -1]], "turned by 180 degrees"),
    ([[-1, 0], [0, 1]], "mirrored"),
    ([[1, 0], [0, -1]], "mirrored"),
    ([[0, 1], [1, 0]], "mirrored"),
    ([[0, -1], [-1, 0]], "mirrored"),
    ([[0, -1], [1, 0]], "turned by 90 degrees"),
    ([[0, 1], [-1, 0]], "turned by 90 degrees"),
]
SIDE_DEVIATION_M, STEP_DEVIATION_M = 0.012, 0.007  # between the feet of a person; between steps of a foot
SHIFT_M, SHIFT_MARGIN, EQUAL_MARGIN = 0.044, 5.0, 2.0
ALONE_MARGIN = 14.0  # for a single plate; exceeded by chance in one trial in a thousand


def misread_plates(
    time: Array, force: Array, moment: Array, corners: Array, feet: Feet, *, numbers: Sequence[int]
) -> tuple[list[str], list[Step]]:
    """Return a line on each misread plate, else empty, and the steps on the others.

    Detected are a vertical force that points down, and corners that are turned by 90 or 180 degrees or mirrored. Steps
    are found and assigned to feet by motion alone, as the centre of pressure may be wrong. Loads of two feet and of
    people who do not walk are ignored.

    Args:
        time: (time,) evenly spaced, s.
        force, moment: (time, plate, 3), baseline off, N, and N m about the lab origin; lab axes, y up.
        corners: (plate, 4, 3), m.
        feet: heel and toe (time, 3) of each side, m.
        numbers: of the plates.
    """
    verdicts, steps = [""] * len(corners), list[Step]()
    if len(time) < 3:
        return verdicts, steps
    interval_s = float(time[-1] - time[0]) / (len(time) - 1)
    speeds, down = speeds_of(feet, interval_s), upside_down(force[..., 1])
    for plate in np.flatnonzero(_loaded(force[..., 1])).tolist():
        if down[plate]:
            verdicts[plate] = (
                f"plate {numbers[plate]} pushes down by up to {-np.nanmin(force[:, plate, 1]):.0f} N: are its corners "
                "in the wrong order, or the signs of its channels turned?"
            )
            continue
        quad = corners[plate]
        here = steps_on(plate, force[:, plate], moment[:, plate], quad, feet, speeds, interval_s=interval_s)
        verdicts[plate] = _misreading(here, quad, numbers[plate])
        steps += here if not verdicts[plate] else []
    return verdicts, steps


def upside_down(vertical: Array) -> NDArray[np.bool_]:
    """Return which plates (plate,) pull, by the vertical force (sample, plate)."""
    return np.asarray(_loaded(vertical) & (-np.fmin.reduce(vertical, axis=0, initial=0.0) > 0.5 * _largest(vertical)))


def _loaded(vertical: Array) -> NDArray[np.bool_]:
    return _largest(vertical) >= LEAST_PEAK_N


def _largest(vertical: Array) -> Array:
    return np.asarray(np.fmax.reduce(np.abs(vertical), axis=0, initial=0.0))


def _misreading(steps: Sequence[Step], corners: Array, name: int) -> str:
    """Return how the plate's corners seem to be wrong, or an empty text.

    Another reading must fit most of the steps, and all together in the numbers that a shift of the plate keeps.
    """
    if not steps:
        return ""
    axes, turns = plate_axes(corners), np.tile(np.eye(3), (1 + len(MISREADINGS), 1, 1))
    turns[1:, :2, :2] = [reading for reading, _ in MISREADINGS]
    turns = axes @ turns @ axes.T
    numbers = np.array([numbers_of(step, turns) for step in steps])
    deviation = (numbers - TYPICAL[:, 0]) / TYPICAL[:, 1]
    misfit = np.minimum(np.abs(deviation), MOST_DEVIATIONS) ** 2  # bounded, so that no single number decides
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
    wrong = " and ".join(text for sign, text in signs if sign < 0)
    away = f"the centre of pressure is {100 * np.hypot(inwards, ahead):.0f} cm from where the foot presses"
    return f"plate {name} seems {MISREADINGS[best][1]}: {wrong or away}"


def shifted_plates(steps: Sequence[Step], numbers: Sequence[int]) -> dict[int, str]:
    """Return a line for the plate that seems shifted, or for two that may be.

    The limit is about 5 cm for steps on two plates, about 12 cm on a single one. The centre of pressure has an offset
    from the foot that depends on the person and the markers, and slightly on the foot and the step. A shift of each
    plate is fitted by generalised least squares.
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
