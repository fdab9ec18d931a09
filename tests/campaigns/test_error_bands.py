"""Bands and standard uncertainties of a few copies hold as often as stated; the campaign makes a thousand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.results.averages import standard_uncertainty
from pipeline.uncertainty import spread
from tests.campaigns.error_bands import KAM1, campaign, pooled, with_turned_knees
from tests.support.studies.noisy_copies import SIZES, generated

KINDS = ("angle", "moment", "power", "metric")


@pytest.fixture(autouse=True)
def few_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here looks at the shares of the sources."""
    monkeypatch.setattr(spread, "SHARE_DRAWS", 2)


def test_bands_hold_as_often_as_stated() -> None:
    """12 copies of four walks; the mean of a kind has a standard error of some 2.5 %: three of them."""
    found = pooled(campaign(12, 4, 40, seed=70))
    for kind in KINDS:
        assert 88 < found[found.index.str.startswith(kind)].mean() <= 100, kind


def test_twice_the_error_is_detected() -> None:
    """Bands of half the width hold 67 % of a normal distribution."""
    twice = {name: 2 * size for name, size in SIZES.items()}
    found = pooled(campaign(8, 2, 40, injected=twice, seed=90))
    for kind in KINDS:
        assert 45 < found[found.index.str.startswith(kind)].mean() < 86, kind


def test_a_knee_axis_turned_by_two_of_its_errors_moves_kam_within_its_band(tmp_path: Path) -> None:
    """10 degrees are two standard deviations; other sources add to the band."""
    trial = generated(tmp_path, 71)
    found = trial.results(draws=40)["cycles"]
    kam = found.metric_value.sel(metric=KAM1).values
    wide = standard_uncertainty(found.metric_draw.sel(metric=KAM1).values - kam[:, None])
    for degrees in (-10.0, 10.0):
        other = replace(trial, calibration=with_turned_knees(trial.calibration, degrees)).results()["cycles"]
        change = np.abs(other.metric_value.sel(metric=KAM1).values - kam)
        known = np.isfinite(change)
        assert known.any()
        assert (change[known] > 0.002).all()
        assert (change[known] < 1.96 * wide[known]).all()
