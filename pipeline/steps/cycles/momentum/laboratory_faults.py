"""Faults of a laboratory that the momentum of the whole body shows, by all intervals with known loads of a session.

A lever of 20 mm may be plates that are shifted, markers that are tilted, late forces, or a centre of mass that tables
misplace. Two directions of walking, the slope, the lean and the delay part these. So all of it is one least-squares
problem: errors of sound laboratories and tables are unknowns with a prior standard deviation, and a fault is such an
unknown that is set free. The fault by which the misfit drops most is named, with all others that do nearly as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array
from ....conventions import STANDARD_GRAVITY_M_S2
from ....variables.stance_verdicts import Verdict
from .known_intervals import Known
from .single_support import REFUSED_SPREADS, SEEN_SWAY_M_S, SPREADS
from .unknowns import AXIAL_M, FREE_M, GYRATION_M, LEVER_M, Steps, Unknowns, unknowns_of

# Floors are flat to 3 mm in 2 m; soles, skin and markers of a standing foot do not repeat better.
FLOOR_M = 0.003
# For so long the sway of skin is alike, which moves the body at 2 Hz: a quarter of its period.
ALIKE_S = 0.125
# Difference of squared deviations up to which another fault explains them as well: e^-3 in likelihood.
ALIKE = 6.0
UNKNOWN_S = 1e3  # standard error of a delay that nothing shows
MOST_GAIN = 1000.0  # beyond it the probability is too small for a number; the root is off by less than 4 %


class Fault(NamedTuple):
    """A fault of a session that would explain its momentum, and how well."""

    kind: str
    plate: str  # its number; empty of all
    size: Array  # (1,) or (2,), of its unknowns: rad, m or s
    error: Array  # standard errors of them
    gain: float  # drop of the squared deviations

    @property
    def spreads(self) -> float:
        """The standard deviations of one normal number that is as rare as the gain, chi-squared by chance."""
        if len(self.size) == 1 or self.gain > MOST_GAIN:
            return float(np.sqrt(self.gain))
        return -NormalDist().inv_cdf(float(np.exp(-self.gain / 2)) / 2)  # of two unknowns

    @property
    def lead(self) -> float:
        """By how much it explains more than chance, of 2 for each unknown (Akaike 1974): the larger, the likelier."""
        return self.gain - 2 * len(self.size)

    @property
    def words(self) -> str:
        """Return what it says, with standard errors."""
        size = float(np.linalg.norm(self.size))
        error = float(np.linalg.norm(self.error * self.size)) / size if size else float(np.linalg.norm(self.error))
        who = f"plate {self.plate} is" if self.plate else "plates are"
        degrees, whole_degrees = (f"{np.degrees(size):.{n}f} ± {np.degrees(error):.{n}f} degrees" for n in (1, 0))
        mm, ms = (f"{1e3 * size:.0f} ± {1e3 * error:.0f} {unit}" for unit in ("mm", "ms"))
        percent, whole_percent = (f"{100 * size:.{n}f} ± {100 * error:.{n}f} %" for n in (1, 0))
        return {
            "tilt": f"plates and markers are tilted by {degrees}",
            "lean": f"{who} {degrees} out of level",
            "level": f"plates and markers are {degrees} out of level",
            "shift": f"{who} shifted by {mm}",
            "yaw": f"plates and markers are turned by {degrees} about the vertical",
            "turn": f"{who} turned by {whole_degrees}",
            "torque": "the sign of the plates' free torque is wrong",
            "scale": f"markers are {percent} too {'large' if self.size[0] > 0 else 'small'}",
            "moments": f"the plates' moments are {whole_percent} too {'large' if self.size[0] > 0 else 'small'}",
            "clock": f"the clock of the plates is {percent} {'slow' if self.size[0] > 0 else 'fast'}",
            "rate": f"the stated rate of the frames is {whole_percent} too {'high' if self.size[0] > 0 else 'low'}",
            "late": f"plates are {'late' if self.size[0] > 0 else 'early'} by {ms}",
            "centre": f"the body's centre of mass lies {mm} from where tables have it",
        }[self.kind]


def faults_of_session(trials: Sequence[Known | None], plates: Sequence[NDArray[np.str_]]) -> list[Fault]:
    """Return the faults that a session has beyond doubt, the most likely first and others that explain it as well.

    Args:
        trials: what each shows.
        plates: of each trial, the numbers of the plates of each stance, "1 3" of two.
    """
    known = [(one, of) for one, of in zip(trials, plates, strict=True) if one is not None]
    if not known:
        return []
    steps = Steps.of([one for one, _ in known], [of for _, of in known])
    slope, sharp = _slope([one for one, _ in known])
    delay_s, delay_error = _delay([one for one, _ in known])
    unknowns = unknowns_of(steps, sharp)
    off = unknowns.column(steps.lever, steps.lean, steps.twist, slope, delay_s)
    sway = np.sqrt(2) * SEEN_SWAY_M_S / (steps.lasts_s * STANDARD_GRAVITY_M_S2)
    of_lever, of_twist = np.hypot(LEVER_M, GYRATION_M * sway), np.hypot(FREE_M, AXIAL_M * sway)
    own = np.concatenate([np.repeat(of_lever, 2), np.repeat(sway, 2), of_twist, np.ones(2), [delay_error]])
    found = sorted([*_set_free(unknowns, off, own), *_rate([one for one, _ in known])], key=lambda one: -one.lead)
    return [one for one in found if one.lead > found[0].lead - ALIKE] if found[0].spreads >= SPREADS else []


def _set_free(unknowns: Unknowns, off: Array, own: Array) -> list[Fault]:
    """Return each fault as if its unknowns had no prior deviation, and all others theirs.

    Args:
        off: the observations (n,), which are zero in a laboratory without error.
        own: standard deviation (n,) of each by itself; larger if they scatter more.
    """
    shapes, prior, groups = np.stack(unknowns.columns, axis=1), np.array(unknowns.prior), unknowns.faults
    weighted = shapes / own[:, None] ** 2
    normal, right = shapes.T @ weighted, weighted.T @ off
    known, scale = np.count_nonzero(shapes.any(axis=1) & (own < UNKNOWN_S)), 1.0
    for _ in range(2):  # the second time with the scatter that the observations show, for each that the fit leaves free
        inverse = np.linalg.inv(normal / scale + np.diag(1 / prior**2))
        left = off - shapes @ (inverse @ right) / scale
        freedom = known - float((inverse * normal).sum()) / scale
        scale = max(1.0, float((left**2 / own**2).sum()) / freedom)
    normal, right = normal / scale, right / scale
    inverse = np.linalg.inv(normal + np.diag(1 / prior**2))
    found = []
    for (kind, plate), columns in groups.items():
        seen = normal[np.ix_(columns, columns)] - normal[columns] @ inverse @ normal[:, columns]
        pulls = right[columns] - normal[columns] @ inverse @ right
        spread = np.linalg.pinv(seen, rcond=1e-9, hermitian=True)
        size = spread @ pulls
        found.append(Fault(kind, plate, size, np.sqrt(np.diag(spread)), float(pulls @ size)))
    return found


def _slope(trials: Sequence[Known]) -> tuple[Array, Array]:
    """Return the slope of the floor (2,) and the matrix (2, 2) that makes its errors 1; zero where it is unknown."""
    marks = np.concatenate([one.feet for one in trials])
    same = marks[:, :1] == np.unique(marks[:, 0])  # (mark, label)
    means = (same.T @ marks[:, 1:]) / np.fmax(same.sum(axis=0), 1)[:, None]
    place, height = np.split(marks[:, 1:] - same @ means, [2], axis=1)
    freedom = len(marks) - same.shape[1] - 2
    if freedom < 1:
        return np.zeros(2), np.zeros((2, 2))
    squares, axes = np.linalg.eigh(place.T @ place)
    squares = np.where(squares > FLOOR_M**2, squares, 0.0)  # across, both feet may be always the same distance apart
    inverse = np.divide(1, squares, out=np.zeros(2), where=squares > 0)
    slope = axes @ (inverse * (axes.T @ place.T @ height[:, 0]))
    left = height[:, 0] - place @ slope
    # heel and toe of a foot stand on the same floor: two marks count as one
    error = np.sqrt(2) * max(FLOOR_M, float(np.sqrt((left**2).sum() / freedom)))
    return slope, np.sqrt(squares)[:, None] * axes.T / error


def _delay(trials: Sequence[Known]) -> tuple[float, float]:
    """Return the delay of the forces and its standard error by the scatter of the trials, s."""
    squares, products = np.stack([one.timing[:2] for one in trials]).T
    if not squares.any():
        return 0.0, UNKNOWN_S
    delay = products.sum() / squares.sum()
    share = squares / squares.sum()
    apart = np.divide(products, squares, out=np.zeros_like(products), where=squares > 0) - delay
    scatter = np.sqrt((share**2 * apart**2).sum() * len(trials) / max(len(trials) - 1, 1))
    sway = SEEN_SWAY_M_S / STANDARD_GRAVITY_M_S2 * np.sqrt(ALIKE_S / squares.sum())
    return float(delay), float(np.hypot(scatter, sway))


def _rate(trials: Sequence[Known]) -> list[Fault]:
    """Return the fault, if any, by which the stated rate is too high: velocity changes by more than forces make it.

    A delay is fitted beside it. Its error is the sway of skin in step with the walk, in any phase of it.
    """
    forces, late, gained, both, left, lasts_s = np.sum([one.carried for one in trials], axis=0).tolist()
    if not lasts_s:
        return []
    alone = gained - both**2 / forces
    more = (left - both * late / forces) / alone
    error = SEEN_SWAY_M_S / STANDARD_GRAVITY_M_S2 * np.sqrt(lasts_s / 2 / alone)
    size = np.sqrt(max(1 + more, 0)) - 1
    found = Fault("rate", "", np.array([size]), np.array([error / 2]), (more / error) ** 2)
    return [found] if found.spreads >= SPREADS else []


def verdicts_of_session(
    trials: Sequence[Known | None], plates: Sequence[NDArray[np.str_]]
) -> list[list[list[Verdict]]]:
    """Return the refusal or doubt, if any, of each stance of each trial.

    A fault of one plate is of the stances on it, others are of all. For the arguments see :func:`faults_of_session`.
    """
    faults = faults_of_session(trials, plates)
    found = list[Verdict]()
    if faults:
        code = "body_momentum_disagrees" if faults[0].spreads > REFUSED_SPREADS else "body_momentum_doubted"
        found.append(Verdict.of(code, causes=" or ".join(one.words for one in faults)))
    blamed = {one.plate for one in faults}
    return [
        [found if "" in blamed or blamed & {*text.split()} else [] for text in of_trial.tolist()] for of_trial in plates
    ]
