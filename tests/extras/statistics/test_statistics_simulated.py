"""Limits hold and curve tests find no more than they say, in studies simulated apart from the product."""

from __future__ import annotations

import numpy as np

from tests.extras.statistics.statistics_simulated import Groups, false_differences, held, one_factor, truths


def test_limits_hold_the_truth_where_visits_share_half_of_the_error() -> None:
    """Of 400 studies 95 % +- 4 standard errors (1.1 each); the limits before held in 67 to 79 %."""
    for people, visits in ((30, 2), (100, 2)):
        values = one_factor(np.random.default_rng(people), people, visits, 0.7, 0.5, 400)
        codes = [one.ravel() for one in np.indices((people, visits))]
        count = held(values.reshape(-1, 400), codes, truths(0.7, 0.5))
        assert all(0.906 <= number / 400 <= 0.994 for number in count.values()), count


def test_limits_of_a_wrong_truth_do_not_hold() -> None:
    values = one_factor(np.random.default_rng(0), 30, 3, 0.9, 0.0, 400)
    codes = [one.ravel() for one in np.indices((30, 3))]
    assert held(values.reshape(-1, 400), codes, {"ICC(A,1)": 0.6})["ICC(A,1)"] < 40


def test_five_who_scatter_three_times_as_much_give_no_false_differences() -> None:
    """Of 150 studies 5 % + 3.4 standard errors (1.8); the pooled test gave 35 %."""
    assert false_differences(Groups((5, 15), (3.0, 1.0)), 150) <= 11
