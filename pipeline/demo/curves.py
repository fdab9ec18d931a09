"""Smooth curves over the gait cycle: polylines smoothed by a B-spline.

A uniform B-spline of degree 7 with coefficients on a polyline is that polyline averaged by a bell of 2.6 % of the cycle
(standard deviation; 12.5 % half-width): six times continuously differentiable, within the polyline's range, and exactly
flat where the polyline is flat over the bell's width (de Boor 1978, chapter XI).
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.interpolate import BSpline

from ..arrays import Array

Curve = Callable[[Array], Array]

DEGREE = 7
KNOTS = 32
CENTRES = (np.arange(KNOTS + DEGREE) - (DEGREE - 1) / 2) / KNOTS


def cyclic(*points: tuple[float, float]) -> Curve:
    """Return a smooth periodic function of cycles along (percent, value)."""
    percent, values = np.transpose(points)
    coefficients = np.interp(100 * (CENTRES % 1), percent, values, period=100)
    spline = BSpline(np.arange(-DEGREE, KNOTS + DEGREE + 1) / KNOTS, coefficients, DEGREE)
    return lambda cycles: np.asarray(spline(cycles % 1))


def passage(*points: tuple[float, float]) -> Curve:
    """Return a smooth function of cycles along (percent, value), constant outside."""
    percent, values = np.transpose(points)
    first, last = int(percent[0] / 100 * KNOTS) - DEGREE, int(percent[-1] / 100 * KNOTS) + DEGREE
    knots = np.arange(first - DEGREE, last + DEGREE + 1) / KNOTS
    centres = knots[: -DEGREE - 1] + (DEGREE + 1) / 2 / KNOTS
    spline = BSpline(knots, np.interp(100 * centres, percent, values), DEGREE)
    return lambda cycles: np.asarray(spline(np.clip(cycles, first / KNOTS, last / KNOTS)))


def rotation(axis: int, angle: Array) -> Array:
    """Return the rotations (..., 3, 3) by ``angle`` (rad) about lab axis 0, 1 or 2."""
    cos, sin = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((*angle.shape, 3, 3))
    matrix[..., axis, axis] = 1
    matrix[..., i, i] = matrix[..., j, j] = cos
    matrix[..., i, j], matrix[..., j, i] = -sin, sin
    return matrix


def mirror_to_side(right: Sequence[float] | Array, side: int) -> Array:
    """Return a right-side vector (..., 3), mirrored in z for the left side (0)."""
    return np.asarray(right, float) * (1, 1, 1 if side else -1)
