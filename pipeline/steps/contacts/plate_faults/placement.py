"""Detection of force plates with turned, mirrored or shifted corners from the steps on them.

Two relations hold in any way of moving: a force presses on the ground under the part of the sole that bears it, and
while one foot bears the body alone, its line passes near the body's centre of mass, for which the middle of the pelvis
stands. Wrong corners break them, although the centre of pressure stays inside the plate. Turned and mirrored
plates are judged by all steps of a session on plates with the same corners, shifts by those of a trial.
"""

from collections.abc import Sequence

import numpy as np

from ....arrays import Array, Flags
from ....plates.wrench import plate_axes
from ....variables.stance_verdicts import Verdict
from ..feet import Feet
from . import laws
from .steps import PlateStep, Steps, as_arrays, beside_sole, lines_from_pelvis, steps_on

LEAST_PEAK_N = 100.0
# how far the force's line passes from the centre of mass: 14 % of a foot's length (Herr and Popovic 2008)
LINE_M = 0.035
SOLE_M = 0.015  # markers and centre of pressure are known to a centimetre each
MOST_DEVIATIONS = 4.0  # so that no single part decides
INDEPENDENT = 2  # parts of a step: the deviation changes from its first half to the second
# least gain of another reading in squared deviations, exp(-3) in likelihood with generous deviations; and the most per
# step with which it fits, 2.4 deviations of each part
MARGIN, FITTING = 6.0, 12.0
SHIFT_M = 0.044  # least shift: two standard deviations of a centre of pressure in the foot
# least gain in squared deviations of a shift against other plates, and against where feet press and the pelvis is: one
# in a thousand for two numbers is 14, one in a hundred 9; and the difference to a second plate that may be the one
SHIFT_MARGIN, ALONE_MARGIN, DOUBT_MARGIN, EQUAL_MARGIN = 5.0, 14.0, 9.2, 2.0
MISREADINGS = [
    ([[-1, 0], [0, -1]], "turned by 180 degrees"),
    ([[-1, 0], [0, 1]], "mirrored"),
    ([[1, 0], [0, -1]], "mirrored"),
    ([[0, 1], [1, 0]], "mirrored"),
    ([[0, -1], [-1, 0]], "mirrored"),
    ([[0, -1], [1, 0]], "turned by 90 degrees"),
    ([[0, 1], [-1, 0]], "turned by 90 degrees"),
]


def steps_of(
    force: Array, moment: Array, corners: Array, feet: Feet, pelvis: Array, *, interval_s: float
) -> list[PlateStep]:
    """Return the steps of one foot alone and whole on a plate.

    Steps are found and assigned to feet by motion alone, as the centre of pressure may be wrong. Loads of two feet and
    of people who do not walk are left out.

    Args:
        force, moment: (time, plate, 3), baseline off, N, and N m about the lab origin; lab axes, y up.
        corners: (plate, 4, 3), m.
        feet: by side.
        pelvis: its middle (time, 3), m, NaN if unseen.
        interval_s: between frames.
    """
    vertical = force[..., 1] if len(force) > 2 else np.zeros((0, 0))
    used = (_largest(vertical) >= LEAST_PEAK_N) & ~upside_down(vertical)
    return [
        step
        for plate in np.flatnonzero(used).tolist()
        for step in steps_on(
            plate, force[:, plate], moment[:, plate], corners[plate], feet, pelvis, interval_s=interval_s
        )
    ]


def key_of(corners: Array) -> bytes:
    """Return what is equal for plates with the same corners (4, 3), m, in several trials."""
    return bytes((np.round(corners, 3) + 0.0).tobytes())


def pushing_down(vertical: Array, numbers: Sequence[int]) -> list[Verdict | None]:
    """Return the refusal of each plate of which the vertical force (sample, plate), N, points down, else None."""
    down = upside_down(vertical)
    return [
        Verdict.of("plate_pushes_down", number=number, newtons=-np.nanmin(vertical[:, plate])) if down[plate] else None
        for plate, number in enumerate(numbers)
    ]


def upside_down(vertical: Array) -> Flags:
    """Return which plates (plate,) pull, by the vertical force (sample, plate)."""
    largest, down = _largest(vertical), -np.fmin.reduce(vertical, axis=0, initial=0.0)
    return np.asarray((largest >= LEAST_PEAK_N) & (down > 0.5 * largest))


def _largest(vertical: Array) -> Array:
    return np.asarray(np.fmax.reduce(np.abs(vertical), axis=0, initial=0.0))


def misreading(steps: Sequence[PlateStep], corners: Array, number: int) -> Verdict | None:
    """Return the refusal of a plate with corners (4, 3) that seem to be turned or mirrored, or None.

    Another reading must fit, most of the steps and all together better than the file's, and better than a shift. Others
    that fit as well are named too.

    Args:
        steps: all of them on plates with these corners.
        corners: m.
        number: of the plate.
    """
    if not steps:
        return None
    axes, turns = plate_axes(corners), np.tile(np.eye(3), (1 + len(MISREADINGS), 1, 1))
    turns[1:, :2, :2] = [reading for reading, _ in MISREADINGS]
    turns = axes @ turns @ axes.T
    every = as_arrays(steps)
    lines, beside = lines_from_pelvis(every, turns), beside_sole(every, turns)  # (step, reading, part, axis)
    misfit = _misfit(lines, LINE_M) + _misfit(beside, SOLE_M)
    gain = misfit[:, :1] - misfit[:, 1:]
    fits = ((gain > 0).mean(axis=0) > 0.5) & (misfit[:, 1:].mean(axis=0) < FITTING)
    total = np.where(fits, gain.sum(axis=0), 0.0)
    best = int(np.argmax(total))
    if total[best] < MARGIN or _misfit_of_shift(every, lines[:, 0]) < misfit[:, 1 + best].sum():
        return None
    passed, pressed = ([_distance(of[:, reading]) for reading in (0, 1 + best)] for of in (lines, beside))
    words = [
        f"{what} {100 * was:.0f} cm ({100 * now:.0f} cm if it is)"
        for what, (was, now) in (
            ("the force passes the pelvis by", passed),
            ("and presses beside the sole by", pressed),
        )
        if was - now > 0.005
    ]
    alike = [what for (_, what), one in zip(MISREADINGS, total, strict=True) if one > total[best] - MARGIN]
    names = " or ".join(dict.fromkeys([MISREADINGS[best][1], *alike]))
    return Verdict.of("plate_turned", number=number, how=names, away=" ".join(words).removeprefix("and "))


def _misfit(away: Array, deviation: float) -> Array:
    """Return squared deviations (step, reading) of vectors (step, reading, part, axis); unseen ones do not count."""
    squares = np.minimum((away**2).sum(axis=-1) / deviation**2, MOST_DEVIATIONS**2)
    return np.asarray(INDEPENDENT * np.where(np.isfinite(squares), squares, 0.0).mean(axis=-1))


def _misfit_of_shift(steps: Steps, lines: Array) -> float:
    """Return the squared deviations of all steps if the plate is shifted so that its forces pass the pelvis.

    Two more numbers are fitted than for a turn, which costs two squared deviations each.
    """
    seen = np.isfinite(lines).all(axis=-1)
    shift = lines[seen].mean(axis=0) if seen.any() else np.zeros(3)
    beside = beside_sole(steps._replace(pressed=steps.pressed - shift), np.eye(3)[None])
    return float((_misfit((lines - shift)[:, None], LINE_M) + _misfit(beside, SOLE_M)).sum()) + 4.0


def _distance(away: Array) -> float:
    """Return the root mean square length of vectors; 0 if none is known."""
    squares = (away**2).sum(axis=-1)
    return float(np.sqrt(squares[np.isfinite(squares)].mean())) if np.isfinite(squares).any() else 0.0


def find_shifted_plates(
    steps: Sequence[PlateStep], numbers: Sequence[int], shown: tuple[Array, Array] | None = None
) -> dict[int, Verdict]:
    """Return the refusal, or the doubt, of the plate that seems shifted, of two that may be, or of all together.

    The limit is about 5 cm for steps on two plates; for a single one, or all together, 8 cm, and doubts from 6. Where a
    force presses in the foot and passes the pelvis depends on the person and the markers, and slightly on the foot and
    the step. A shift of each plate, and of all, is fitted by generalised least squares. ``shown``: `laws.numbers_of`.
    """
    plates = sorted({step.plate for step in steps})
    if not plates:
        return {}
    of_place = [[*laws.LAWS].index(name) for name in laws.OF_PLACE]
    every = as_arrays(steps)
    off, axes = (of[:, of_place] for of in shown or laws.numbers_of(every))
    each, defined = np.eye(len(steps)), np.isfinite(off).T
    seen = defined[:, :, None] & defined[:, None]  # (number, step, step)
    covariance = np.where(seen, laws.covariances(every)[of_place], each)
    weight, off = np.where(seen, np.linalg.inv(covariance), 0.0), np.where(defined.T, off, 0.0)
    gains, shifts, as_is = {}, {}, np.einsum("in,nij,jn->n", off, weight, off)
    for group in dict.fromkeys([*((plate,) for plate in plates), tuple(plates)]):
        here = np.array([step.plate in group for step in steps])
        design = axes[..., [0, 2]] * here[:, None, None]  # (step, number, x z)
        weighted = np.einsum("nij,jnk->ink", weight, design)
        normal = np.einsum("ink,inl->kl", design, weighted)
        shifts[group] = np.linalg.lstsq(normal, np.einsum("ink,in->k", weighted, off), rcond=1e-6)[0]
        rest = off - design @ shifts[group]
        better = as_is - np.einsum("in,nij,jn->n", rest, weight, rest)
        # a foot that lies otherwise in its markers, or a trunk that leans, agrees with only one of the two
        both = min(better[:3].sum(), better[3:].sum()) >= 0
        gains[group] = float(better.sum()) if both else 0.0
    best = max(gains, key=gains.__getitem__)
    size, gain = float(np.linalg.norm(shifts[best])), gains[best]
    together = best == tuple(plates)  # measured by feet and pelvis, not by other plates
    if size < SHIFT_M or gain < (DOUBT_MARGIN if together else SHIFT_MARGIN):
        return {}
    cm = 100 * size
    if together and gain < ALONE_MARGIN:
        names = " and ".join(str(numbers[plate]) for plate in best)
        return dict.fromkeys(best, Verdict.of("plate_shift_suspect", numbers=names, cm=cm))
    if together and len(plates) > 1:
        return dict.fromkeys(best, Verdict.of("all_plates_shifted", cm=cm))
    blamed = [plate for plate in plates if gains[(plate,)] > gain - EQUAL_MARGIN]
    if len(blamed) == 1:
        by = "where feet press" if together else "the other plates"
        return {blamed[0]: Verdict.of("plate_shifted", number=numbers[blamed[0]], cm=cm, by=by)}
    names = " and ".join(str(numbers[plate]) for plate in blamed)
    return dict.fromkeys(blamed, Verdict.of("plates_shifted", numbers=names, cm=cm))
