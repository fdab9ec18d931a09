"""Smooth curves over the gait cycle, drawn as polylines and rounded by a B-spline.

A uniform B-spline of degree 7 whose coefficients lie on a polyline is that polyline averaged by a bell of 2.6 % of
the cycle (standard deviation; 12.5 % half-width): six times continuously differentiable, never outside the
polyline's range, and exactly flat where the polyline is flat over the bell's width (de Boor 1978, chapter XI).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

Array = NDArray[np.float64]
Curve = Callable[[Array], Array]

DEGREE = 7
KNOTS = 32
CENTRES = (np.arange(KNOTS + DEGREE) - (DEGREE - 1) / 2) / KNOTS


def cyclic(*points: tuple[float, float]) -> Curve:
    """Return the smooth periodic curve along (percent of the cycle, value); its argument counts cycles."""
    percent, values = np.transpose(points)
    coefficients = np.interp(100 * (CENTRES % 1), percent, values, period=100)
    spline = BSpline(np.arange(-DEGREE, KNOTS + DEGREE + 1) / KNOTS, coefficients, DEGREE)
    return lambda cycles: np.asarray(spline(cycles % 1))


def passage(*points: tuple[float, float]) -> Curve:
    """Return the smooth, once-only change along (percent of the cycle, value); constant before and after."""
    percent, values = np.transpose(points)
    first, last = int(percent[0] / 100 * KNOTS) - DEGREE, int(percent[-1] / 100 * KNOTS) + DEGREE
    knots = np.arange(first - DEGREE, last + DEGREE + 1) / KNOTS
    centres = knots[: -DEGREE - 1] + (DEGREE + 1) / 2 / KNOTS
    spline = BSpline(knots, np.interp(100 * centres, percent, values), DEGREE)
    return lambda cycles: np.asarray(spline(np.clip(cycles, first / KNOTS, last / KNOTS)))


def rotation(axis: int, angle: Array) -> Array:
    """Return (..., 3, 3) rotating vectors by ``angle`` (rad) about the lab axis 0, 1 or 2 (x, y, z)."""
    cos, sin = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((*angle.shape, 3, 3))
    matrix[..., axis, axis] = 1
    matrix[..., i, i] = matrix[..., j, j] = cos
    matrix[..., i, j], matrix[..., j, i] = -sin, sin
    return matrix


def mirrored(right: Sequence[float] | Array, side: int) -> Array:
    """Return a right-side vector (..., 3), or its image in the plane z = 0 for the left side (0 left, 1 right)."""
    return np.asarray(right, float) * (1, 1, 1 if side else -1)
