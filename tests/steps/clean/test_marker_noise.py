"""The noise of markers as a figure, and the doubt about a trial with too much of it."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.steps.clean.impossible_motion import doubt_noise, marker_noise
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, recorded


@pytest.mark.parametrize("noise_mm", [0.5, 1.0, 3.0])
def test_the_figure_is_the_noise_that_was_added(noise_mm: float) -> None:
    """A walk has noise of 0.2 to 0.5 mm of its own; the figure of ten markers and 200 frames is known to 5 %."""
    for seed in (708, 709, 712):
        raw = recorded("straight", seed).trial
        own = marker_noise(raw.marker_position.values, raw.attrs["marker_rate_hz"])
        assert 0.0002 < own < 0.0005
        added = noise_mm / 1e3 * np.random.default_rng(seed).normal(size=raw.marker_position.shape)
        figure = marker_noise(raw.marker_position.values + added, raw.attrs["marker_rate_hz"])
        assert figure == pytest.approx(np.hypot(own, noise_mm / 1e3), rel=0.1)


@pytest.mark.parametrize(
    ("noise_mm", "doubt"), [(0.0, ""), (0.3, ""), (1.2, ""), (2.0, "markers_noisy"), (3.0, "markers_noisy")]
)
def test_noise_that_changes_moments_is_doubted(noise_mm: float, doubt: str) -> None:
    """At 100 frames a second and 10 Hz the limit is 1.6 mm."""
    raw = recorded("straight", 709).trial
    assert raw.attrs["marker_rate_hz"] == 100
    bad = raw.copy(deep=True)
    bad.marker_position.values[:] += noise_mm / 1e3 * np.random.default_rng(1).normal(size=raw.marker_position.shape)
    trial = clean(bad, body_model=BODY_MODEL, settings=settings_of("clean"))
    assert trial.attrs.get("doubt_code", "") == doubt


@pytest.mark.parametrize(("in_clusters", "doubted"), [(0, True), (2, True), (3, False)])
def test_clusters_share_the_noise(in_clusters: int, doubted: bool) -> None:
    """1.8 mm at 100 Hz and 10 Hz: .114 N m/kg, .091 in clusters."""
    assert bool([*doubt_noise(0.0018, 10.0, 100.0, in_clusters)]) == doubted


def test_a_rate_below_50_hz_has_no_figure() -> None:
    raw = recorded("straight", 709).trial
    assert np.isnan(marker_noise(raw.marker_position.values[::3], 100 / 3))
