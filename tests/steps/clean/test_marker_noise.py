"""The noise of markers as a figure, and the doubt about a trial with too much of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.steps.clean.impossible_motion import doubt_noise, marker_noise
from pipeline.variables.stance_verdicts import verdicts_in
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, recorded


@pytest.mark.parametrize("noise_mm", [0.5, 1.0, 3.0])
def test_the_figure_is_the_noise_that_was_added(noise_mm: float) -> None:
    """A walk has noise of 0.2 to 0.5 mm of its own; the figure of ten markers and 200 frames is known to 5 %."""
    for seed in (708, 709, 712):
        raw = recorded("straight", seed).trial
        own = np.median(marker_noise(raw.marker_position.values, raw.attrs["marker_rate_hz"]))
        assert 0.0002 < own < 0.0005
        added = noise_mm / 1e3 * np.random.default_rng(seed).normal(size=raw.marker_position.shape)
        figure = np.median(marker_noise(raw.marker_position.values + added, raw.attrs["marker_rate_hz"]))
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
    assert bool([*doubt_noise({"heel_left": 0.0018}, 10.0, 100.0, in_clusters)]) == doubted


def test_a_rate_below_50_hz_has_no_figure() -> None:
    raw = recorded("straight", 709).trial
    assert np.isnan(marker_noise(raw.marker_position.values[::3], 100 / 3)).all()


@pytest.mark.parametrize(
    ("marker", "own_mm", "other_mm", "in_clusters", "leg"),
    [
        ("lateral_epicondyle_left", 1.7, 0.3, 0, "left"),
        ("lateral_malleolus_right", 1.7, 0.3, 2, "right"),
        ("thigh_wand_right", 2.5, 0.3, 0, "right"),
        ("thigh_wand_right", 1.7, 0.3, 0, ""),  # moves the knee centre by half
        ("lateral_epicondyle_left", 0.9, 0.1, 0, ""),  # too little to matter
        ("lateral_epicondyle_left", 1.5, 0.7, 0, ""),  # noise of all markers
        ("toe_left", 3.0, 0.3, 0, ""),  # places no joint
        ("lateral_epicondyle_left", 1.7, 0.3, 3, ""),  # others place the knee too
    ],
)
def test_one_noisy_marker_is_doubted_of_its_leg(
    marker: str, own_mm: float, other_mm: float, in_clusters: int, leg: str
) -> None:
    others = {f"{name}_{side}": other_mm / 1e3 for name in ("heel", "asis") for side in ("left", "right")}
    found = [*doubt_noise(others | {marker: own_mm / 1e3}, 10.0, 100.0, in_clusters)]
    assert [(one.code, one.values["leg"]) for one in found] == ([("marker_noisy", leg)] if leg else [])


def test_a_noisy_ankle_marker_of_a_walk_is_named() -> None:
    raw = recorded("straight", 709).trial.copy(deep=True)
    named = {name.replace("ankle", "lateral_malleolus"): labels for name, labels in BODY_MODEL.landmarks.items()}
    ((label,), *_) = named["lateral_malleolus_left"]
    raw.marker_position.loc[{"marker": label}] += 2e-3 * np.random.default_rng(1).normal(size=(raw.sizes["time"], 3))
    trial = clean(raw, body_model=replace(BODY_MODEL, landmarks=named), settings=settings_of("clean"))
    (doubt,) = verdicts_in(trial.attrs["doubt_values"])
    assert (doubt.code, doubt.values["marker"]) == ("marker_noisy", "lateral_malleolus_left")
    assert (doubt.concerns("left"), doubt.concerns("right")) == (True, False)
    assert doubt.values["mm"] == pytest.approx(2.0, rel=0.2), "200 frames tell it to 5 %; it has up to .5 of its own"
