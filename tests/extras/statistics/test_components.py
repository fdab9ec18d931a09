"""Variance components: published and known values, a second package, and the limits over simulated studies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec
from statsmodels.stats.anova import anova_lm

from pipeline.extras.statistics.repeatability.components import Repeatability, mean_squares, repeatability_of
from tests.extras.statistics.repeatability_truths import study_of
from tests.extras.statistics.repeated import simulated

# Shrout PE, Fleiss JL (1979) Intraclass correlations: uses in assessing rater reliability. Psychol Bull 86:420-428:
# four judges rate six people
RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)


def codes(shape: tuple[int, ...]) -> list[np.ndarray]:
    return [each.ravel() for each in np.indices(shape)]


def of_complete(values: np.ndarray, *, nested: bool = False) -> Repeatability:
    """Return the repeatability of measurements (person, level, ..., point)."""
    factors = codes(values.shape[:-1])
    return repeatability_of(values.reshape(-1, values.shape[-1]), factors[:1] if nested else factors)


def test_ratings_of_shrout_and_fleiss() -> None:
    """The exact limits are as McGraw and Wong's (1996) equations and other packages give them."""
    crossed, nested = (of_complete(RATINGS[..., None], nested=one) for one in (False, True))
    assert nested.agreement.icc[:, 0] == pytest.approx([0.166, -0.133, 0.723], abs=6e-4)
    assert crossed.agreement.icc[0, 0] == pytest.approx(0.290, abs=6e-4)
    assert crossed.consistency.icc[:, 0] == pytest.approx([0.715, 0.342, 0.946], abs=6e-4)


@pytest.mark.parametrize("shape", [(6, 4), (30, 2), (12, 5)])
def test_analysis_of_variance_is_that_of_another_package(shape: tuple[int, int]) -> None:
    n, k = shape
    values = simulated(shape, 1, np.random.default_rng(n), icc=0.8, share=0.3) + 50
    person, visit = codes(shape)
    data = pd.DataFrame({"y": values.ravel(), "person": person, "visit": visit})
    table = anova_lm(smf.ols("y ~ C(person) + C(visit)", data).fit())
    row, column, error = (table.loc[name, "mean_sq"] for name in ("C(person)", "C(visit)", "Residual"))
    agreement = (row - error) / (row + (k - 1) * error + k / n * (column - error))
    found = of_complete(values)
    assert found.agreement.icc[0, 0] == pytest.approx(agreement, rel=1e-8)
    assert found.consistency.icc[0, 0] == pytest.approx((row - error) / (row + (k - 1) * error), rel=1e-8)
    assert found.consistency.sem[0, 0] == pytest.approx(np.sqrt(error), rel=1e-8)
    within = values[..., 0].var(axis=1, ddof=1).mean()
    assert found.agreement.sem[0, 0] == pytest.approx(np.sqrt(within), rel=1e-8)  # all differences within a person
    one_way = anova_lm(smf.ols("y ~ C(person)", data).fit()).mean_sq
    expected = (one_way.iloc[0] - one_way.iloc[1]) / (one_way.iloc[0] + (k - 1) * one_way.iloc[1])
    assert of_complete(values, nested=True).agreement.icc[0, 0] == pytest.approx(expected, rel=1e-8)


def test_components_of_three_factors_add_up() -> None:
    """Without sampling error, the mean squares are those of the components: known effects, orthogonal by design."""
    draw = np.random.default_rng(2)
    values = simulated((7, 3, 4), 5, draw, icc=0.7, share=0.2, own=0.3)
    table = mean_squares(values.reshape(-1, 5), codes((7, 3, 4)))
    total = table.free @ table.square
    assert total == pytest.approx(np.sum((values - values.mean(axis=(0, 1, 2))) ** 2, axis=(0, 1, 2)))
    assert table.free.tolist() == [6, 2, 3, 12, 18, 6, 36]
    assert table.effects == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2, 3)]
    many = of_complete(simulated((40, 3, 3), 4000, draw, icc=0.75, share=0.2, own=0.3))
    means = {effect: part.mean() for effect, part in many.variance.items()}
    assert means[0,] == pytest.approx(3, rel=0.02)
    assert means[0, 1] == pytest.approx(0.15, rel=0.05)
    assert means[0, 2] == pytest.approx(0.15, rel=0.05)
    assert means[0, 1, 2, 3] == pytest.approx(0.5, rel=0.02)
    assert means[1,] + means[2,] == pytest.approx(0.2, rel=0.05)
    assert abs(means[1, 2]) < 0.01


def test_limits_of_an_error_are_those_of_graybill_and_wang() -> None:
    """The sum of two mean squares by hand, and chi squared where the error is one mean square."""
    found = of_complete(simulated((12, 3), 1, np.random.default_rng(1), icc=0.8, share=0.3))
    table = found.agreement.squares
    (visits, error), (of_visits, of_error) = table.square[1:, 0], table.free[1:]
    assert (of_visits, of_error) == (2, 22)
    for which, tail in ((1, 0.975), (2, 0.025)):
        ends = [1 - free / stats.chi2.ppf(tail, free) for free in (of_visits, of_error)]
        away = np.hypot(ends[0] * visits, ends[1] * 11 * error) / 12
        square = (visits + 11 * error) / 12 + (away if which == 2 else -away)
        assert found.agreement.sem[which, 0] == pytest.approx(np.sqrt(square), rel=1e-9)
        assert found.consistency.sem[which, 0] == pytest.approx(
            np.sqrt(22 * error / stats.chi2.ppf(tail, 22)), rel=1e-9
        )


@pytest.mark.parametrize("shape", [(12, 3), (8, 2, 2)])
def test_a_limit_of_agreement_is_where_the_sum_may_be_zero(shape: tuple[int, ...]) -> None:
    """The correlation x of which (1 - x) person - x error has a limit at zero, from the mean squares by hand."""
    found = of_complete(simulated(shape, 20, np.random.default_rng(3), icc=0.8, share=0.3, own=0.2)).agreement
    table, free = found.squares, found.squares.free[:, None]
    assert np.all((found.icc[1] < found.icc[0]) & (found.icc[0] < found.icc[2]) & (found.icc[2] < 1))
    for sign, limit in ((1, found.icc[1]), (-1, found.icc[2])):
        parts = ((1 - limit) * found.person[:, None] - limit * found.error[:, None]) * table.square
        near, far = 1 - free / stats.chi2.ppf(0.975, free), free / stats.chi2.ppf(0.025, free) - 1
        away = np.sum((np.where(sign * parts > 0, near, far) * parts) ** 2, axis=0)
        assert (parts.sum(axis=0) ** 2) == pytest.approx(away, rel=1e-6)
        assert np.all(sign * parts.sum(axis=0) > 0)


def test_mean_squares_of_incomplete_data_are_those_of_another_package() -> None:
    """Each factor adjusted for the other, by statsmodels; its expectation by definition, over unit effects."""
    kept = np.sort(np.random.default_rng(6).choice(75, 60, replace=False))
    person, visit = (each[kept] for each in codes((25, 3)))
    values = simulated((25, 3), 1, np.random.default_rng(7), icc=0.7, share=0.3).reshape(-1, 1)[kept]
    found = mean_squares(values, [person, visit])
    data = pd.DataFrame({"y": values[:, 0], "person": person, "visit": visit})
    table = anova_lm(smf.ols("y ~ C(person) + C(visit)", data).fit(), typ=2)
    assert found.square[:, 0] == pytest.approx((table.sum_sq / table.df).to_numpy(), rel=1e-8)
    assert found.free == pytest.approx(table.df.to_numpy())
    effects = np.random.default_rng(8).normal(size=(25, 20000))[person]
    of_effects = mean_squares(effects, [person, visit]).square.mean(axis=1)
    assert of_effects[1:] == pytest.approx([0, 0], abs=1e-9)
    assert found.share[0, 0] * of_effects[0] == pytest.approx(1, rel=0.02)


def test_one_way_components_of_unequal_counts() -> None:
    """The textbook case (Searle et al. 1992, 3.6): the mean count is (N - sum n^2 / N) / (people - 1)."""
    person = np.repeat([0, 1, 2, 3], [2, 3, 5, 2])
    values = np.random.default_rng(0).normal(size=(12, 1)) + person[:, None]
    groups = [values[person == one, 0] for one in range(4)]
    within = sum(one.var() * len(one) for one in groups) / 8
    between = sum(len(one) * (one.mean() - values.mean()) ** 2 for one in groups) / 3
    count = (12 - (4 + 9 + 25 + 4) / 12) / 3
    found = repeatability_of(values, [person])
    assert found.variance[0,] == pytest.approx((between - within) / count)
    assert found.agreement.sem[0] == pytest.approx(np.sqrt(within))


@pytest.mark.filterwarnings("ignore")
def test_incomplete_data_agree_with_the_likelihood_of_another_package() -> None:
    """Restricted likelihood, by statsmodels: two consistent methods differ by less than the sampling error."""
    draw = np.random.default_rng(6)
    kept = np.sort(draw.choice(120, 102, replace=False))
    factors = [each[kept] for each in codes((40, 3))]
    values = simulated((40, 3), 1, draw, icc=0.7, share=0.3).reshape(-1)[kept]
    designs = [(each[:, None] == np.unique(each)).astype(float) for each in factors]
    columns = [[[f"f{i}_{level}" for level in range(one.shape[1])]] for i, one in enumerate(designs)]
    spec = VCSpec(["f0", "f1"], columns, [[one] for one in designs])
    fit = MixedLM(values, np.ones((102, 1)), groups=np.zeros(102), exog_vc=spec).fit(reml=True)
    found = repeatability_of(values[:, None], factors)
    mine = [float(part[0]) for part in found.variance.values()]
    assert mine == pytest.approx([*fit.vcomp, fit.scale], rel=0.06, abs=0.02)


def test_effects_that_a_design_cannot_tell_apart_are_left_out() -> None:
    """A factor of one level, two names of one factor, and measurements of which each has a level of its own."""
    values = simulated((10, 3), 4, np.random.default_rng(1), icc=0.8, share=0.3).reshape(30, 4)
    person, visit = codes((10, 3))
    expected = repeatability_of(values, [person, visit])
    twice = repeatability_of(values, [person, visit, visit])
    assert [*twice.variance] == [(0,), (1,), (0, 1, 2, 3)]
    assert twice.agreement.icc == pytest.approx(expected.agreement.icc)
    for alone in (np.zeros(30, int), np.arange(30)):
        nested = repeatability_of(values, [person, alone])
        assert nested.agreement.icc == pytest.approx(repeatability_of(values, [person]).agreement.icc)


def test_replicates_of_a_person_at_a_visit_have_their_own_remainder() -> None:
    draw = np.random.default_rng(5)
    person, visit, _ = codes((30, 3, 2))
    common = np.sqrt(3) * draw.normal(size=(30, 1, 1, 200)) + np.sqrt(0.2) * draw.normal(size=(30, 3, 1, 200))
    values = common + np.sqrt(0.8) * draw.normal(size=(30, 3, 2, 200))
    found = repeatability_of(values.reshape(-1, 200), [person, visit])
    assert [*found.variance] == [(0,), (1,), (0, 1), (0, 1, 2)]
    assert found.variance[0, 1].mean() == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize(
    ("shape", "nested", "missing"),
    [
        *[((30, 2), True, 0.0), ((10, 2), False, 0.0), ((100, 2), False, 0.0), ((30, 4), False, 0.0)],
        *[((30, 2, 2), False, 0.0), ((30, 3), False, 0.15), ((15, 2, 2), False, 0.15)],
    ],
)
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_limits_of_simulated_studies(shape: tuple[int, ...], share: float, missing: float, *, nested: bool) -> None:
    """Of 1,000 studies; the standard error of a share of 95 % is 0.7 %. Modified limits may hold more than 95 %."""
    share = 0.0 if nested else share
    found = study_of(
        shape, 1000, np.random.default_rng([*shape, 1]), icc=0.8, share=share, nested=nested, missing=missing
    )
    for each in found.values():
        assert 92.5 <= each.icc_held_percent <= 99.3
        assert 92.5 <= each.sem_held_percent <= 98.5


def test_the_bias_of_a_small_study_is_stated() -> None:
    values = simulated((8, 2), 1000, np.random.default_rng(3), icc=0.8)
    found = of_complete(values).consistency
    of_icc, of_sem = (each.mean() for each in found.bias())
    assert found.icc[0].mean() - 0.8 < -0.02
    assert of_icc == pytest.approx(found.icc[0].mean() - 0.8, abs=0.015)
    assert of_sem == pytest.approx(100 * (found.sem[0].mean() - 1), abs=3)  # standard error 0.8
