"""The axis of a knee by the motion of shank in thigh: the line about which it turns, and that of least cross-talk."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...conventions import SIDE_SIGN
from ...errors import UserError
from .functional_trials import span_deg

# An axis by palpated epicondyles is off by some 5 degrees (Della Croce U et al. 1999, Med Biol Eng Comput 37:155-161).
# An axis that is off by half of it by chance, or moves by all of it with the choice of markers, is hardly better.
LARGEST_CHANCE_DEG, LARGEST_DIFFERENCE_DEG = 2.5, 5.0
# The mean of rotations by angles spread over a range r keeps sin(r/2) / (r/2) of what lies across the axis: 2.5 % less
# at 45 degrees, so little that skin decides.
SMALLEST_RANGE_DEG = 45.0
FEWEST_FRAMES, PARTS = 50, 10
LONGEST_SEARCH, SETTLED_RAD = 10, 1e-5  # a centre by the chord function moves with the axis, and the axis with it
OTHERWISE = "or choose another calibrate.knee_axis"

Measure = Callable[[Array], float]  # of rotations (frame, 3, 3) from shank to thigh axes, the turn about y, rad


class KneeAxis(NamedTuple):
    """A direction of the knee's axis."""

    turn_deg: float  # from the axis of the markers to it, about the thigh's long axis, inwards positive
    chance_deg: float  # standard error of the turn
    range_deg: float  # of the knee's flexion, 5th to 95th percentile


def hinge(relative: Array) -> tuple[Array, Array]:
    """Return the direction in two segments about which one turns in the other, by the symmetrical axis of rotation.

    With rotations R to the lab of one segment and S of the other, points c of the one and d of the other on the axis
    minimise the sum of |R c + t - S d - u|^2 (SARA: Ehrig RM, Taylor WR, Duda GN, Heller MO 2007, J Biomech
    40:2150-2157). The direction is the right singular vector of the smallest singular value of [R, -S], stacked. Its
    normal matrix is [[I, -M], [-M^T, I]] with M the mean of R^T S, so that the directions are the singular vectors of M
    with the largest singular value, which is 1 for a perfect hinge.

    Args:
        relative: R^T S (frame, 3, 3), from axes of the second segment to those of the first.

    Returns:
        The direction (3,) in the first and the second segment, unit vectors to the right.
    """
    first, _, second = np.linalg.svd(relative.mean(axis=0))
    sign = np.sign(first[2, 0]) or 1.0
    return sign * first[:, 0], sign * second[0]


def turn_by_hinge(relative: Array) -> float:
    """Return the turn about y of the thigh, rad, from its z to the hinge's direction."""
    x, _, z = hinge(relative)[0]
    return float(np.arctan2(x, z))


def turn_by_crosstalk(relative: Array) -> float:
    """Return the turn about y of the thigh, rad, that leaves the least variance of knee adduction.

    Of a flexion axis z the sine of adduction is the share of the shank's y along z. Turned by d it is that along
    z cos(d) + x sin(d), so that the least variance is the smallest eigenvalue of their covariance (Baker R, Finney L,
    Orr J 1999, Hum Mov Sci 18:655-667; there by trial).

    Args:
        relative: from shank to thigh axes (frame, 3, 3).
    """
    along = relative[:, :, 1]
    z, x = np.linalg.eigh(np.cov(along[:, 2], along[:, 0]))[1][:, 0]
    return float(np.arctan2(x, z) if z > 0 else np.arctan2(-x, -z))


def knee_axis(relative: Callable[[float], Array], measure: Measure, side: str) -> KneeAxis:
    """Return the axis by one measure.

    Args:
        relative: rotations from shank to thigh axes (frame, 3, 3) for a turn of the knee's axis, inwards positive, rad.

    Raises:
        UserError: too few frames, a small range, a large chance error, or a thigh that does not follow the axis.
    """
    turn, turned = _settle(relative, lambda of: SIDE_SIGN[side] * measure(of), side)
    range_deg = span_deg(np.arctan2(-turned[:, 0, 1], turned[:, 1, 1]))
    if range_deg < SMALLEST_RANGE_DEG:
        what = f"the {side} knee bends by {range_deg:.0f} degrees, expected {SMALLEST_RANGE_DEG:.0f} or more"
        raise UserError("", what, f"bend it wider in a trial whose condition names the leg that moves, {OTHERWISE}")
    parts = np.array_split(np.arange(len(turned)), PARTS)
    without = np.degrees([measure(np.delete(turned, part, axis=0)) for part in parts])  # jackknife
    chance_deg = float(np.sqrt((PARTS - 1) / PARTS * np.sum((without - without.mean()) ** 2)))  # standard error
    if chance_deg > LARGEST_CHANCE_DEG:
        what = f"parts of the motion show axes of the {side} knee with a standard error of {chance_deg:.1f} degrees"
        expected = f"expected {LARGEST_CHANCE_DEG:g} or less"
        raise UserError("", f"{what}, {expected}", f"bend it more often and wider, {OTHERWISE}")
    return KneeAxis(float(np.degrees(turn)), chance_deg, range_deg)


def _settle(relative: Callable[[float], Array], measure: Measure, side: str) -> tuple[float, Array]:
    """Return the turn that leaves nothing to turn, rad, and the rotations with it, by the secant method.

    The first step is exact where only the axes turn. A centre by the chord function turns with them.

    Raises:
        UserError: too few frames, or a thigh that does not follow the axis.
    """
    turn, step, slope, before = 0.0, 0.0, -1.0, np.nan
    for _ in range(LONGEST_SEARCH):
        turned = relative(turn)
        if len(turned) < FEWEST_FRAMES:
            what = f"{len(turned)} frames show the {side} thigh and shank together, expected {FEWEST_FRAMES} or more"
            raise UserError("", what, f"record it again, {OTHERWISE}")
        left = measure(turned)
        if abs(left) < SETTLED_RAD:
            return turn, turned
        if np.isfinite(before):
            slope = (left - before) / step
        step, before = -left / slope, left
        turn += step
    what = f"the {side} thigh of the body model does not follow the knee's axis"
    raise UserError("", what, f"choose a body model with a cluster on the thigh, {OTHERWISE}")
