"""Values with their first and second derivatives in time, by the rules of differentiation: exact to rounding."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Array = NDArray[np.float64]


class Jet:
    """An array (time, ...) with its first and second time derivatives, of the same shape."""

    __array_ufunc__ = None  # so that array * jet calls the jet

    def __init__(self, value: Any, first: Any = None, second: Any = None) -> None:
        self.value = np.asarray(value, dtype=float)
        self.first = np.zeros_like(self.value) if first is None else np.asarray(first)
        self.second = np.zeros_like(self.value) if second is None else np.asarray(second)

    def __add__(self, other: Jet | Array | float) -> Jet:
        other = of(other)
        return Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    def __mul__(self, other: Jet | Array | float) -> Jet:
        return product(np.multiply, self, other)

    def __matmul__(self, other: Jet | Array) -> Jet:
        return product(np.matmul, self, other)

    def __rmatmul__(self, other: Array) -> Jet:
        return product(np.matmul, other, self)

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Jet | Array | float) -> Jet:
        return self + -of(other)

    def __rsub__(self, other: Array | float) -> Jet:
        return -self + other

    def __getitem__(self, key: Any) -> Jet:
        return self.each(lambda x: x[key])

    __radd__, __rmul__ = __add__, __mul__

    def each(self, function: Callable[[Array], Array]) -> Jet:
        """Return the jet of a linear function."""
        return Jet(function(self.value), function(self.first), function(self.second))

    def transposed(self) -> Jet:
        """Return the jet of the transposed matrices (time, i, j)."""
        return self.each(lambda x: np.swapaxes(x, -1, -2))


def of(value: Jet | Array | float) -> Jet:
    """Return a value as a jet, constant unless it is one."""
    return value if isinstance(value, Jet) else Jet(value)


def product(function: Callable[[Any, Any], Any], left: Jet | Array | float, right: Jet | Array | float) -> Jet:
    """Return the jet of a bilinear function such as ``numpy.cross``, by the rule of Leibniz."""
    a, b = of(left), of(right)
    return Jet(
        function(a.value, b.value),
        function(a.first, b.value) + function(a.value, b.first),
        function(a.second, b.value) + 2 * function(a.first, b.first) + function(a.value, b.second),
    )


def _chained(x: Jet, value: Array, first: Array, second: Array) -> Jet:
    """Return the jet of a function with the given value and derivatives at x, by the chain rule."""
    return Jet(value, first * x.first, second * x.first**2 + first * x.second)


def sin(x: Jet) -> Jet:
    sine = np.sin(x.value)
    return _chained(x, sine, np.cos(x.value), -sine)


def cos(x: Jet) -> Jet:
    return sin(x + pi / 2)


def power(x: Jet, exponent: float) -> Jet:
    slope = exponent * x.value ** (exponent - 1)
    return _chained(x, x.value**exponent, slope, (exponent - 1) * slope / x.value)


def bump(x: Jet) -> Jet:
    """Return exp(-x^2 / 2)."""
    value = np.exp(-(x.value**2) / 2)
    return _chained(x, value, -x.value * value, (x.value**2 - 1) * value)


def rise(x: Jet) -> Jet:
    """Return a smooth step from 0 to 1 about x = 0: the integral of the normal distribution."""
    slope = np.exp(-(x.value**2) / 2) / sqrt(2 * pi)
    return _chained(x, (1 + erf(x.value / sqrt(2))) / 2, slope, -x.value * slope)


def cross(left: Jet | Array, right: Jet | Array) -> Jet:
    return product(np.cross, left, right)


def dot(left: Jet | Array, right: Jet | Array) -> Jet:
    """Return the inner products (time, 1) of vectors (time, 3)."""
    return product(lambda a, b: (a * b).sum(axis=-1, keepdims=True), left, right)


def unit(x: Jet) -> Jet:
    return x * power(dot(x, x), -0.5)


def stack(parts: list[Jet], axis: int = -1) -> Jet:
    arrays = [[getattr(part, order) for part in parts] for order in ("value", "first", "second")]
    return Jet(*(np.stack(each, axis=axis) for each in arrays))


def turn(axis: int, angle: Jet) -> Jet:
    """Return the right-handed turns (time, 3, 3) by the angles (time,), rad, about a coordinate axis."""
    c, s, one, zero = cos(angle), sin(angle), Jet(np.ones_like(angle.value)), Jet(np.zeros_like(angle.value))
    rows = [[one, zero, zero], [zero, c, -s], [zero, s, c]]
    if axis == 1:
        rows = [[c, zero, s], [zero, one, zero], [-s, zero, c]]
    elif axis == 2:
        rows = [[c, -s, zero], [s, c, zero], [zero, zero, one]]
    return stack([stack(row) for row in rows], axis=-2)


def spin(axes: Jet) -> tuple[Array, Array]:
    """Return angular velocity and acceleration (time, 3) of a body, in its own axes, rad/s and rad/s^2.

    Args:
        axes: (time, 3, 3); the columns are the body's axes in the lab, or in a parent's axes for relative motion.
    """
    back = np.swapaxes(axes.value, -1, -2)
    rate = np.swapaxes(axes.first, -1, -2) @ axes.first + back @ axes.second
    return _vector(back @ axes.first), _vector(rate)


def _vector(skew: Array) -> Array:
    half = (skew - np.swapaxes(skew, -1, -2)) / 2
    return np.stack([half[..., 2, 1], half[..., 0, 2], half[..., 1, 0]], axis=-1)
