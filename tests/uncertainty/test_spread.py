"""Percentiles, and the strides that soft tissue follows."""

from __future__ import annotations

import numpy as np

from pipeline.uncertainty import spread
from tests.support.walks.person import close


def test_percentiles_are_those_of_the_definition() -> None:
    values = np.random.default_rng(0).normal(size=(57, 4, 3))
    expected = np.percentile(values, [2.5, 90], axis=0, method="weibull")
    close(spread.percentiles(values, np.array([2.5, 90])), expected)


def test_a_side_without_a_cycle_strikes_half_a_stride_after_the_other() -> None:
    """Two trials with cycles, the second of the right foot alone; the third has none."""
    trial, row = np.array([0, 0, 0, 1], dtype=np.int32), np.array([0, 1, 0, 1])
    strikes = np.array([[1.0, 2.1], [1.5, 2.5], [2.1, 3.0], [4.0, 5.2]])
    stride, strike = spread._strides(trial, row, strikes, 3)
    close(stride, [1.0, 1.2, 1.0])
    close(strike, [[1.0, 1.5], [4.6, 4.0], [0.0, 0.0]])
