"""Tests along curves: what is left out, and how often a difference is found where there is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import spm1d
from scipy import stats

from pipeline.demo.group import effect_shape, smooth_fields
from pipeline.errors import UserError
from pipeline.extras.statistics.curve_test import compare_curves, largest_block, left_out, welch_field


def test_the_largest_block_is_that_of_all_choices() -> None:
    """Against every set of people, who lack samples at the start."""
    draw = np.random.default_rng(0)
    for _ in range(200):
        known = np.ones((5, 12), dtype=bool)
        for person in range(5):
            known[person, : draw.integers(0, 5) * draw.integers(0, 2)] = False
        kept, samples = largest_block(known)
        assert known[kept][:, samples].all()
        some = itertools.chain.from_iterable(itertools.combinations(range(5), count) for count in range(1, 6))
        sizes = [len(people) * int(known[[*people]].all(axis=0).sum()) for people in some]
        assert kept.sum() * (samples.stop - samples.start) == max(sizes)


def test_a_few_missing_samples_cost_percents_and_not_people_and_each_is_named() -> None:
    known = np.ones((8, 101), dtype=bool)
    known[:4, 96:] = False
    known[4] = False
    known[5, 40:60] = False
    kept, samples = largest_block(known)
    assert kept.tolist() == [True] * 4 + [False, False] + [True] * 2
    assert samples == slice(0, 96)
    names = [f"p{number}" for number in range(8)]
    assert left_out(names, known, kept, samples, doubts={}) == [
        "p4 left out: 101 of 101 samples missing",
        "p5 left out: 20 of 101 samples missing",
        "tested from 0 to 95 % only, where all have data; samples missing: p0 (5), p1 (5), p2 (5), p3 (5)",
    ]
    assert left_out(names, np.ones((8, 101), dtype=bool), np.ones(8, dtype=bool), slice(0, 101), doubts={}) == []
    assert not largest_block(np.zeros((3, 101), dtype=bool))[0].any()


@pytest.mark.parametrize(
    ("paired", "counts", "scatter"),
    [(True, (10, 10), 1.0), (False, (10, 14), 1.5), (False, (15, 5), 3.0), (False, (5, 15), 3.0), (False, (3, 3), 1.0)],
)
def test_one_study_in_twenty_finds_a_difference_of_equal_groups(
    paired: bool, counts: tuple[int, int], scatter: float
) -> None:
    """Of 100 studies: with a true rate of 5 %, 12 or more are found once in 200 times."""
    draw, found = np.random.default_rng(4), 0
    for _ in range(100):
        first, second = smooth_fields(counts[0], draw), scatter * smooth_fields(counts[1], draw)
        found += bool(compare_curves(first, second, paired=paired, alpha=0.05).clusters)
    assert found < 12


def test_t_of_groups_is_that_of_welch_and_its_field_that_of_spm1d_where_groups_are_alike() -> None:
    """Residuals of one SD for both groups: of equal scatter the smoothness is that of the pooled test."""
    draw = np.random.default_rng(7)
    first, second = smooth_fields(12, draw), 2 * smooth_fields(7, draw)
    expected = stats.ttest_ind(second, first, equal_var=False)
    field = welch_field(first, second)
    assert field.z == pytest.approx(expected.statistic, abs=1e-9)
    assert field.df[1] == pytest.approx(np.mean(expected.df))
    alike = np.concatenate([first, second / 2])
    assert field.fwhm == pytest.approx(spm1d.rft1d.geom.estimate_fwhm(alike - alike.mean(axis=0)), rel=0.15)
    first, second = smooth_fields(200, draw), smooth_fields(200, draw)
    ours, pooled = welch_field(first, second), spm1d.stats.ttest2(second, first, equal_var=True)
    assert ours.df[1] == pytest.approx(pooled.df[1], rel=0.02)
    assert (ours.fwhm, ours.resels[1]) == pytest.approx((pooled.fwhm, pooled.resels[1]), rel=0.01)


def test_a_sample_at_which_all_are_equal_is_no_difference() -> None:
    draw = np.random.default_rng(2)
    first, second = smooth_fields(6, draw), smooth_fields(6, draw)
    first[:, :5] = second[:, :5] = 0.0
    test = compare_curves(first, second, paired=False, alpha=0.05)
    assert (test.t[:5] == 0).all()
    assert np.isfinite(test.threshold)


def test_an_effect_is_found_where_it_is() -> None:
    draw = np.random.default_rng(5)
    first, second = smooth_fields(15, draw), smooth_fields(12, draw) + 4 * effect_shape()
    test = compare_curves(first, second, paired=False, alpha=0.05)
    ((start, end, p),) = test.clusters
    assert 40 <= start < 50 < end <= 60
    assert p < 0.05
    assert test.t[50] > test.threshold > 2.8
    assert np.abs(compare_curves(second, first, paired=False, alpha=0.05).t + test.t).max() < 1e-9
    with pytest.raises(UserError, match="2 and 12 people"):
        compare_curves(first[:2], second, paired=False, alpha=0.05)


def test_at_equal_size_more_people_are_kept() -> None:
    known = np.ones((4, 8), dtype=bool)
    known[2:, 4:] = False
    kept, samples = largest_block(known)
    assert (kept.tolist(), samples) == ([True] * 4, slice(0, 4))


def test_a_small_group_of_large_spread_needs_a_larger_t() -> None:
    """It tells more of the scatter: of 23 degrees of freedom 8 to 10 are left, whose threshold is a fifth larger."""
    draw = np.random.default_rng(6)
    small, large = smooth_fields(5, draw), smooth_fields(20, draw)
    alike, unlike = (compare_curves(size * small, large, paired=False, alpha=0.05).threshold for size in (1, 4))
    assert unlike > 1.1 * alike
