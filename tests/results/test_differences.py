"""Differences between groups and conditions: against SciPy, on the circle, and how often their intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pipeline.results.differences import between_groups, over_sides, within_people


def test_groups_have_the_interval_of_welch() -> None:
    """People without a value are left out, metric by metric."""
    draw = np.random.default_rng(1)
    first, second = draw.normal(1, 2, (9, 4)), draw.normal(3, 0.5, (14, 4))
    second[:5, 2] = np.nan
    found = between_groups(first, second)
    for i in range(4):
        test = stats.ttest_ind(second[:, i], first[:, i], equal_var=False, nan_policy="omit")
        ends = test.confidence_interval(0.95)
        assert [found.low[i], found.high[i]] == pytest.approx([ends.low, ends.high], rel=1e-12)
    np.testing.assert_allclose(found.difference, np.nanmean(second, axis=0) - first.mean(axis=0))
    assert found.second.n.tolist() == [14, 14, 9, 14]


def test_conditions_have_the_interval_of_the_paired_t_on_sides_that_have_both() -> None:
    """A side that a person has under one condition alone would make the difference one between legs."""
    draw = np.random.default_rng(2)
    first, second = draw.normal(0, 1, (8, 2, 3)) + np.array([0, 50, 100]), draw.normal(5, 1, (8, 2, 3))
    second[0, 1] = np.nan
    first[1] = np.nan
    found = within_people(first, second)
    apart = np.nanmean((second - first)[[0, 2, 3, 4, 5, 6, 7]], axis=1)
    for i in range(3):
        ends = stats.ttest_1samp(apart[:, i], 0).confidence_interval(0.95)
        assert [found.low[i], found.high[i]] == pytest.approx([ends.low, ends.high], rel=1e-12)
    np.testing.assert_allclose(found.second.mean - found.first.mean, found.difference)
    assert found.first.n.tolist() == [7, 7, 7]


def test_phases_differ_by_the_shorter_way_round() -> None:
    early, late = np.array([[98.0], [99], [0]]), np.array([[1.0], [2], [3]])
    found = between_groups(early, late, phase=np.array([True]))
    plain = between_groups(early % 100 - 100 * (early > 50), late)
    np.testing.assert_allclose([found.difference, found.low, found.high], [plain.difference, plain.low, plain.high])
    assert found.first.mean[0] == pytest.approx(99)
    both = [np.repeat(values[:, None], 2, axis=1) for values in (early, late)]
    assert within_people(*both, phase=np.array([True])).difference[0] == pytest.approx(3)
    assert over_sides(np.array([[[99.0], [3.0]]]), phase=np.array([True]))[0, 0] == pytest.approx(1)


def test_fewer_than_three_people_have_no_difference() -> None:
    values = np.ones((2, 1)), np.zeros((5, 1))
    assert np.isnan(between_groups(*values).difference).all()
    assert np.isnan(within_people(np.ones((2, 2, 1)), np.zeros((2, 2, 1))).low).all()


def test_intervals_of_unequal_groups_hold_in_95_of_100_studies() -> None:
    """The smaller group has the larger scatter, where Student's interval is too short; 4000 studies."""
    draw = np.random.default_rng(3)
    first, second = draw.normal(0, 4, (6, 4000)), draw.normal(1, 1, (20, 4000))
    found = between_groups(first, second)
    hold = np.mean((found.low < 1) & (found.high > 1))
    student = stats.ttest_ind(second, first).confidence_interval(0.95)
    assert hold == pytest.approx(0.95, abs=0.01)  # the standard error of 4000 is .0034
    assert np.mean((student.low < 1) & (student.high > 1)) < 0.85
