"""Arithmetic of numbers of which some are unknown: without warnings, which are errors here."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.arrays import known_mean, quotient
from tests.support.walks.person import close

pytestmark = pytest.mark.filterwarnings("error")


def test_shares_sum_to_one_and_nothing_has_no_shares() -> None:
    variances = np.array([[1.0, 0.0], [3.0, 0.0]])
    shares = quotient(variances, variances.sum(axis=0))
    close(shares[:, 0], [0.25, 0.75])
    assert np.isnan(shares[:, 1]).all()


def test_a_quotient_by_zero_is_infinite() -> None:
    assert quotient(np.array([1.0, -1.0]), np.zeros(2)).tolist() == [np.inf, -np.inf]


def test_a_mean_leaves_out_what_is_unknown() -> None:
    values = np.array([[1.0, np.nan, 3.0], [np.nan, np.inf, np.nan]])
    close(known_mean(values, axis=1)[0], 2.0)
    assert np.isnan(known_mean(values, axis=1)[1]), "of none"
    close(known_mean(values, axis=(0, 1)), 2.0)
