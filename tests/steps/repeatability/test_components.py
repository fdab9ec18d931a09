"""Variance components: published and known values, a second package, and the limits over simulated studies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.regression.mixed_linear_model import MixedLM, MixedLMParams, VCSpec
from statsmodels.stats.anova import anova_lm

from pipeline.steps.repeatability.components import balanced, mean_squares, restricted_likelihood
from tests.campaigns.repeatability_truths import study_of
from tests.support.studies.repeated import simulated

# Shrout PE, Fleiss JL (1979) Intraclass correlations: uses in assessing rater reliability. Psychol Bull 86:420-428:
# four judges rate six people
RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)


def codes(shape: tuple[int, ...]) -> list[np.ndarray]:
    return [each.ravel() for each in np.indices(shape)]


def test_ratings_of_shrout_and_fleiss() -> None:
    """Limits as McGraw and Wong's (1996) equations give them, of which packages print two or three digits."""
    crossed, nested = (balanced(RATINGS[..., None], nested=one) for one in (False, True))
    assert nested.agreement.icc[:, 0] == pytest.approx([0.166, -0.133, 0.723], abs=6e-4)
    assert crossed.agreement.icc[:, 0] == pytest.approx([0.290, 0.019, 0.761], abs=6e-4)
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
    found = balanced(values, nested=False)
    assert found.agreement.icc[0, 0] == pytest.approx(agreement, rel=1e-8)
    assert found.consistency.icc[0, 0] == pytest.approx((row - error) / (row + (k - 1) * error), rel=1e-8)
    assert found.consistency.sem[0, 0] == pytest.approx(np.sqrt(error), rel=1e-8)
    within = values[..., 0].var(axis=1, ddof=1).mean()
    assert found.agreement.sem[0, 0] == pytest.approx(np.sqrt(within), rel=1e-8)  # all differences within a person
    one_way = anova_lm(smf.ols("y ~ C(person)", data).fit()).mean_sq
    expected = (one_way.iloc[0] - one_way.iloc[1]) / (one_way.iloc[0] + (k - 1) * one_way.iloc[1])
    assert balanced(values, nested=True).agreement.icc[0, 0] == pytest.approx(expected, rel=1e-8)


def test_components_of_three_factors_add_up() -> None:
    """Without sampling error, the mean squares are those of the components: known effects, orthogonal by design."""
    draw = np.random.default_rng(2)
    values = simulated((7, 3, 4), 5, draw, icc=0.7, share=0.2, own=0.3)
    table = mean_squares(values)
    total = sum(square * free for square, free in table.values())
    assert total == pytest.approx(np.sum((values - values.mean(axis=(0, 1, 2))) ** 2, axis=(0, 1, 2)))
    assert sum(free for _, free in table.values()) == values[..., 0].size - 1
    many = balanced(simulated((40, 3, 3), 4000, draw, icc=0.75, share=0.2, own=0.3), nested=False)
    means = {effect: part.mean() for effect, part in many.variance.items()}
    assert means[0,] == pytest.approx(3, rel=0.02)
    assert means[0, 1] == pytest.approx(0.15, rel=0.05)
    assert means[0, 2] == pytest.approx(0.15, rel=0.05)
    assert means[0, 1, 2] == pytest.approx(0.5, rel=0.02)
    assert means[1,] + means[2,] == pytest.approx(0.2, rel=0.05)
    assert abs(means[1, 2]) < 0.01


@pytest.mark.parametrize("shape", [(30, 2), (20, 4), (25, 2, 3)])
def test_restricted_likelihood_of_balanced_data_is_the_analysis_of_variance(shape: tuple[int, ...]) -> None:
    """Equal where no component is negative (Searle et al. 1992)."""
    values = simulated(shape, 60, np.random.default_rng(4), icc=0.7, share=0.3, own=0.4)
    exact = balanced(values, nested=False)
    positive = np.all([part > 0 for part in exact.variance.values()], axis=0)
    assert positive.sum() >= 10
    chosen = values[..., positive].reshape(-1, positive.sum())
    found = restricted_likelihood(chosen, codes(shape))
    for effect, part in exact.variance.items():
        assert found.variance[effect] == pytest.approx(part[positive], rel=1e-4)
    assert found.agreement.icc[0] == pytest.approx(exact.agreement.icc[0, positive], rel=1e-6)
    assert found.agreement.sem == pytest.approx(exact.agreement.sem[:, positive], rel=1e-2)


def reml_of_statsmodels(values: np.ndarray, factors: list[np.ndarray], start: list[float]) -> tuple[np.ndarray, float]:
    """Return variances, the remainder last, and the restricted log-likelihood, by statsmodels from a start."""
    designs = [(each[:, None] == np.unique(each)).astype(float) for each in factors]
    names = [f"f{i}" for i in range(len(designs))]
    columns = [[[f"{name}_{i}" for i in range(one.shape[1])]] for name, one in zip(names, designs, strict=True)]
    spec = VCSpec(names, columns, [[one] for one in designs])
    ones = np.ones((len(values), 1))
    model = MixedLM(values, ones, groups=np.zeros(len(values)), exog_vc=spec)
    ratio = np.array(start[:-1]) / start[-1]
    given = MixedLMParams.from_components(fe_params=np.array([values.mean()]), vcomp=ratio)
    fit = model.fit(reml=True, start_params=given, method=["bfgs", "lbfgs", "powell"])
    return np.array([*fit.vcomp, fit.scale]), float(fit.llf)


@pytest.mark.filterwarnings("ignore")
def test_restricted_likelihood_of_unbalanced_data_is_that_of_another_package() -> None:
    draw = np.random.default_rng(6)
    for seed in range(4):
        values = simulated((25, 3), 1, draw, icc=0.7, share=0.3).reshape(-1)
        kept = np.sort(draw.choice(75, 62 - seed, replace=False))
        person, visit = (each[kept] for each in codes((25, 3)))
        found = restricted_likelihood(values[kept, None], [person, visit])
        mine = [float(part[0]) for part in found.variance.values()]
        if min(mine) > 1e-3:
            theirs, _ = reml_of_statsmodels(values[kept], [person, visit], [2.0, 0.5, 1.0])
            assert mine == pytest.approx(theirs, rel=1e-3)
            assert found.agreement.icc[0, 0] == pytest.approx(theirs[0] / theirs.sum(), abs=1e-4)


def test_a_component_at_zero_stays_there() -> None:
    """Visits without a difference: in about half of the studies the best variance of visits is 0."""
    values = simulated((20, 3), 40, np.random.default_rng(8), icc=0.8)
    visits = restricted_likelihood(values.reshape(60, 40), codes((20, 3))).variance[1,]
    exact = balanced(values, nested=False)
    below = exact.variance[1,] < 0
    assert 10 < below.sum() < 35
    assert np.array_equal(visits == 0, below)
    pooled = exact.agreement.sem[0] ** 2  # visit and remainder together, within people
    found = restricted_likelihood(values.reshape(60, 40), codes((20, 3))).agreement.sem[0] ** 2
    assert found[below] == pytest.approx(pooled[below], rel=1e-6)


@pytest.mark.parametrize(
    ("shape", "nested"), [((30, 2), True), ((40, 2), False), ((30, 3), False), ((30, 2, 2), False)]
)
@pytest.mark.parametrize("icc", [0.7, 0.9])
def test_bias_and_limits_of_simulated_studies(shape: tuple[int, ...], icc: float, *, nested: bool) -> None:
    """Of 2,000 studies; the standard error of a share of 95 % is 0.5 %."""
    for share in (0.0, 0.0 if nested else 0.2):
        found = study_of(shape, 2000, np.random.default_rng([*shape, 1]), icc=icc, share=share, nested=nested)
        for each in found.values():
            assert abs(each.icc_bias_percent) < 3
            assert abs(each.sem_bias_percent) < 3
            assert 93 <= each.icc_held_percent <= 97
            assert 93 <= each.sem_held_percent <= 97


def test_the_bias_of_a_small_study_is_stated() -> None:
    values = simulated((8, 2), 1000, np.random.default_rng(3), icc=0.8)
    found = balanced(values, nested=False).consistency
    of_icc, of_sem = (each.mean() for each in found.bias())
    assert found.icc[0].mean() - 0.8 < -0.02
    assert of_icc == pytest.approx(found.icc[0].mean() - 0.8, abs=0.015)
    assert of_sem == pytest.approx(100 * (found.sem[0].mean() - 1), abs=3)  # standard error 0.8


def test_people_with_unequal_numbers_have_as_many_repeats_as_their_means_are_exact() -> None:
    """The variance of the mean of n measurements is that of one divided by n; averaged over people, 1 / n counts."""
    person = np.repeat(np.arange(4), [2, 2, 2, 6])
    values = np.random.default_rng(8).normal(size=(person.size, 1)) + person[:, None]
    found = restricted_likelihood(values, [person]).agreement
    assert found.repeats == pytest.approx(1 / np.mean([1 / 2, 1 / 2, 1 / 2, 1 / 6]))
