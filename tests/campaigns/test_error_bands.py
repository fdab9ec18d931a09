"""Bands and standard uncertainties of a few copies hold as often as stated; the campaign makes a thousand."""

from __future__ import annotations

import pytest

from pipeline.uncertainty import spread
from tests.campaigns.error_bands import campaign, pooled
from tests.support.studies.noisy_copies import SIZES

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
