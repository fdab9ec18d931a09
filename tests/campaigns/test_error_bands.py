"""Bands and standard uncertainties of a few copies hold as often as stated; the campaign makes a thousand."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pipeline.uncertainty import spread
from tests.campaigns.error_bands import KINDS, campaign, pooled, turned
from tests.support.studies.noisy_copies import METHODS, SIZES, generated

SOURCES = {  # beginnings of the settings of their sizes
    "noise": ("marker_mm",),
    "skin": ("pelvis_soft", "thigh_soft", "shank_soft", "foot_soft"),
    "axes": ("knee_axis", "ankle_axis", "foot_axes"),
    "hip centre": ("hip_centre",),
    "knee centre": ("knee_centre",),
    "ankle centre": ("ankle_centre",),
    "plates and tables": ("centre_of_pressure", "segment_"),
}
# each source with one of the methods; all pairs with FULL=1
ALONE = [
    (source, method)
    for number, source in enumerate(SOURCES)
    for place, method in enumerate(METHODS)
    if os.environ.get("FULL") or (number + place) % 2
]


@pytest.fixture(autouse=True)
def few_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here looks at the shares of the sources."""
    monkeypatch.setattr(spread, "SHARE_DRAWS", 2)


@pytest.mark.parametrize("method", METHODS)
def test_bands_hold_as_often_as_stated(method: str) -> None:
    """12 copies of four walks; the mean of a kind has a standard error of some 2.5 %: three of them."""
    found = pooled(campaign(12, 4, 40, method, seed=70))
    for kind in (*KINDS, "metric"):
        assert 88 < found.loc[kind].held.mean() <= 100, kind


@pytest.mark.parametrize(("source", "method"), ALONE)
def test_each_source_alone_makes_errors_of_the_stated_size(source: str, method: str) -> None:
    """So no source of the judge is without effect, and none is drawn too large for another that is too small.

    Nine copies of three walks have some 20 independent numbers of each source; a mean square of these is known to 30 %.
    That of the stated errors, of 27 times ten draws, is known to 9 %.
    """
    sizes = {name: size * name.startswith(SOURCES[source]) for name, size in SIZES.items()}
    found = pooled(campaign(9, 3, 10, method, injected=sizes, stated=sizes, seed=50))
    for kind in ("angle", "moment"):
        ratio = found.loc[kind]["true over stated"].to_numpy()
        if kind == "moment" or source != "plates and tables":
            assert 0.7 < np.median(ratio[np.isfinite(ratio)]) < 1.4, kind


def test_twice_the_error_is_detected() -> None:
    """Bands of half the width hold 67 % of a normal distribution."""
    twice = {name: 2 * size for name, size in SIZES.items()}
    found = pooled(campaign(8, 2, 40, "segments", injected=twice, seed=90))
    for kind in (*KINDS, "metric"):
        assert 45 < found.loc[kind].held.mean() < 86, kind


def test_a_knee_axis_turned_by_two_of_its_errors_moves_kam_within_its_band(tmp_path: Path) -> None:
    """10 degrees are two standard deviations; other sources add to the band."""
    generated(tmp_path, 71)
    for row in kam_of_turned_knees(tmp_path):
        assert row["change"] > 0.002
        assert row["change"] < 1.96 * row["u"]


def kam_of_turned_knees(study: Path) -> list[dict[str, float]]:
    (study / "study.yaml").write_text("body_model: isb_clusters\n", encoding="utf-8")
    rows = [turned(study, degrees, 40) for degrees in (-10.0, 10.0)]
    assert all(len(each) for each in rows)
    return [{"change": abs(row["change"]), "u": row["u"]} for each in rows for row in each.to_dict("records")]
