"""Products of vectors: against numpy, along any axis, by symbols; running sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given

from pipeline.dynamics.vectors import cross, dot, length, running_sum, skew, sum_from_last, unit
from tests.support.walks.person import PROPERTY, SEED, close


@given(SEED)
@PROPERTY
def test_cross_and_skew_are_the_vector_product(seed: int) -> None:
    a, b = np.random.default_rng(seed).normal(size=(2, 5, 3))
    close(cross(a, b), np.cross(a, b))
    close((skew(a) @ b[..., None])[..., 0], np.cross(a, b))
    close(skew(a[0]) @ b[0], np.cross(a[0], b[0]))
    close(dot(cross(a, b), a), np.zeros(5))


@pytest.mark.parametrize("axis", [0, -1, -2])
@pytest.mark.parametrize("order", ["C", "F"])
def test_cross_along_an_axis_is_broadcast_and_keeps_the_memory_order(axis: int, order: Any) -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 4, 5, 3))
    b = b[:1] if axis else b[:, :1]
    expected = np.moveaxis(np.cross(a, b), -1, axis)
    turned, other = (np.array(np.moveaxis(x, -1, axis), order=order) for x in (a, b))
    for found in (cross(turned, other, axis=axis), -cross(other, turned, axis=axis)):
        np.testing.assert_array_equal(found, expected)
    assert cross(turned, other, axis=axis).flags[order]


def test_cross_of_vectors_of_fewer_dimensions() -> None:
    a, b = np.random.default_rng(2).normal(size=(4, 5, 3)), np.array([1.0, 2, 3])
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
    np.testing.assert_array_equal(cross(b, b), np.zeros(3))


def test_cross_of_symbols() -> None:
    a, b = (np.array(sp.symbols(f"{name}:3"), dtype=object) for name in "ab")
    assert list(cross(a, b)) == list(sp.Matrix(a).cross(sp.Matrix(b)))
    assert list(cross(np.stack([a, a]), np.array([0, 0, 1]))[1]) == [a[1], -a[0], 0]


def test_unit_vectors_have_length_one_and_zero_has_none() -> None:
    close(unit(np.array([[0.0, 3, 4], [-2, 0, 0]])), np.array([[0, 0.6, 0.8], [-1, 0, 0]]))
    assert np.isnan(unit(np.zeros(3))).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_lengths_are_those_of_numpy_to_the_last_bit(order: Any) -> None:
    vectors = np.array(np.random.default_rng(3).normal(size=(50, 7, 3)), order=order)
    vectors[2, 3, 1] = np.nan
    np.testing.assert_array_equal(length(vectors), np.linalg.norm(vectors, axis=-1))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_sums_from_either_end(axis: int) -> None:
    values = np.arange(24.0).reshape(4, 2, 3)
    np.testing.assert_array_equal(running_sum(values, axis=axis), np.cumsum(values, axis=axis))
    np.testing.assert_array_equal(
        sum_from_last(values, axis=axis), np.flip(np.cumsum(np.flip(values, axis), axis=axis), axis)
    )
    np.testing.assert_array_equal(values, np.arange(24.0).reshape(4, 2, 3))
