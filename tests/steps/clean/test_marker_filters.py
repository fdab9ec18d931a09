"""Marker filters: the smoothing spline against scipy and closed forms, chosen cut-offs against known noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import make_smoothing_spline

from pipeline.signals.filters import low_pass
from pipeline.signals.splines import smooth, smoothing_weight
from pipeline.steps.clean.marker_filters import filter_markers, gcv_spline, residual_cutoffs_hz, uncertain_end_s
from tests.support.settings import settings_of
from tests.support.walks.as_read import cleaned, generated

Array = NDArray[np.float64]
RATE_HZ = 100.0
TIME = np.arange(500) / RATE_HZ
ROUNDING = 1e-9


def noisy(deviation_m: float, *, seed: int = 0) -> tuple[Array, Array]:
    """Return a motion with harmonics up to 4 Hz (time, 8, 3), without and with white noise."""
    rng = np.random.default_rng(seed)
    phase, size = rng.uniform(0, 6, (4, 8, 3)), 0.3 / np.arange(1, 5)[:, None, None] ** 2
    turns = 2 * np.pi * np.arange(1, 5)[:, None, None, None] * TIME[:, None, None]
    path = (size[:, None] * np.sin(turns + phase[:, None])).sum(axis=0)
    return path, path + rng.normal(0, deviation_m, path.shape)


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


# --- the spline ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e4])
def test_the_cubic_spline_equals_scipys(weight: float) -> None:
    samples = np.random.default_rng(0).normal(size=(60, 2)).cumsum(axis=0)
    ours, _ = smooth(samples, weight, half_order=2)
    theirs = make_smoothing_spline(np.arange(60.0), samples, lam=weight)(np.arange(60.0))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("half_order", [2, 3])
def test_the_trace_equals_that_of_the_matrix(half_order: int) -> None:
    matrix, trace = smooth(np.eye(50), 20.0, half_order=half_order)
    assert trace == pytest.approx(50 - np.trace(matrix), rel=1e-6)  # a central difference with a step of 1e-4


@pytest.mark.parametrize("half_order", [2, 3])
def test_polynomials_below_the_penalised_derivative_pass_unchanged(half_order: int) -> None:
    time = np.linspace(-1, 1, 80)
    curve = np.stack([time**k for k in range(half_order)], axis=1)
    np.testing.assert_allclose(smooth(curve, 100.0, half_order=half_order)[0], curve, rtol=0, atol=1e-7)


@pytest.mark.parametrize("half_order", [2, 3])
@pytest.mark.parametrize("cutoff_hz", [3.0, 10.0, 30.0])
def test_a_sine_at_the_cutoff_comes_out_3_db_smaller(half_order: int, cutoff_hz: float) -> None:
    wave = np.sin(2 * np.pi * cutoff_hz * TIME)[:, None]
    weight = smoothing_weight(cutoff_hz, RATE_HZ, half_order=half_order)
    inner = slice(150, 350)  # away from the ends
    smoothed, _ = smooth(wave, weight, half_order=half_order)
    np.testing.assert_allclose(smoothed[inner], np.sqrt(0.5) * wave[inner], rtol=0, atol=1e-4)


@pytest.mark.parametrize("deviation_m", [0.0003, 0.001, 0.003])
def test_cross_validation_finds_nearly_the_best_cutoff(deviation_m: float) -> None:
    """Compared with the best of all cut-offs by the true path."""
    path, recorded = noisy(deviation_m)
    result, chosen = gcv_spline(recorded, rate_hz=RATE_HZ)
    flat = recorded.reshape(len(TIME), -1)
    errors = [
        rms(smooth(flat, smoothing_weight(hz, RATE_HZ, half_order=3), half_order=3)[0] - path.reshape(len(TIME), -1))
        for hz in np.geomspace(1, 45, 60)
    ]
    assert rms(result - path) < 1.15 * min(errors)  # each marker's choice varies by chance
    assert ((chosen > 3) & (chosen < 20)).all()


def test_the_spline_does_not_cross_a_gap_and_drops_short_stretches() -> None:
    _, recorded = noisy(0.001)
    recorded[200:210, 0], recorded[213:220, 0] = np.nan, np.nan
    result, _ = gcv_spline(recorded, rate_hz=RATE_HZ)
    gone = ~np.isfinite(result[:, 0]).all(axis=1)
    assert list(np.flatnonzero(gone)) == list(range(200, 220))
    assert np.isfinite(result[:, 1:]).all()


def test_the_spline_does_not_depend_on_the_axes() -> None:
    _, recorded = noisy(0.001)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    straight, chosen = gcv_spline(recorded, rate_hz=RATE_HZ)
    turned, again = gcv_spline(recorded @ turn, rate_hz=RATE_HZ)
    np.testing.assert_array_equal(chosen, again)
    np.testing.assert_allclose(turned, straight @ turn, rtol=0, atol=ROUNDING)


# --- residual analysis -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("deviation_m", [0.0005, 0.002])
def test_the_residual_at_the_chosen_cutoff_equals_the_noise(deviation_m: float) -> None:
    """Up to chance and 5 % from the fit of the line (Winter)."""
    _, recorded = noisy(deviation_m)
    for marker, cutoff_hz in enumerate(residual_cutoffs_hz(recorded, rate_hz=RATE_HZ, order=4)):
        smoothed = low_pass(recorded[:, marker], rate_hz=RATE_HZ, cutoff_hz=float(cutoff_hz), order=4)
        assert rms(recorded[:, marker] - smoothed) == pytest.approx(deviation_m, rel=0.15)


def test_more_noise_gives_a_lower_cutoff() -> None:
    means = [residual_cutoffs_hz(noisy(d)[1], rate_hz=RATE_HZ, order=4).mean() for d in (0.0003, 0.001, 0.003)]
    assert means[0] > means[1] > means[2] > 3


def test_each_marker_has_its_own_cutoff_and_an_unseen_one_none() -> None:
    _, recorded = noisy(0.001)
    recorded[:, 1] = noisy(0.01, seed=1)[1][:, 1]
    recorded[:, 2] = np.nan
    filtered, chosen = filter_markers(
        recorded, rate_hz=RATE_HZ, settings=settings_of("clean", marker_cutoff_hz="residual")
    )
    assert chosen[1] < chosen[0]
    assert np.isnan(chosen[2])
    own = low_pass(recorded[:, 0], rate_hz=RATE_HZ, cutoff_hz=float(chosen[0]), order=4)
    np.testing.assert_allclose(filtered[:, 0], own, rtol=0, atol=ROUNDING)


# --- in the step -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"marker_cutoff_hz": 6}, (6, 6)),
        ({"marker_cutoff_hz": "residual"}, (1, 40)),
        ({"marker_filter": "gcv_spline"}, (1, 45)),
    ],
)
def test_clean_records_the_cutoffs(settings: dict[str, Any], expected: tuple[float, float]) -> None:
    trial, model = generated("isb_clusters", 8)
    result = cleaned(trial, model, **settings)
    assert ((result.cutoff_hz >= expected[0]) & (result.cutoff_hz <= expected[1])).all()
    assert rms((result.marker_position - cleaned(trial, model, marker_cutoff_hz=None).marker_position).values) > 1e-4


@pytest.mark.parametrize("name", ["butterworth", "gcv_spline"])
def test_null_switches_either_filter_off(name: str) -> None:
    trial, model = generated("isb_clusters", 8)
    result = cleaned(trial, model, marker_filter=name, marker_cutoff_hz=None)
    assert result.cutoff_hz.isnull().all()
    np.testing.assert_array_equal(
        result.marker_position.sel(marker="heel_left"), trial.marker_position.sel(marker="LHEE")
    )


@pytest.mark.parametrize(
    ("cutoffs_hz", "force_cutoff_hz", "seconds"),
    [
        ([12.0, 10.0, np.nan], 20.0, 0.08),
        ([12.0, 16.0], 10.0, 0.08),
        ([10.0], None, 0.08),
        ([np.nan], None, 0.0),
        ([4.0, 20.0], 20.0, 0.1),
    ],
)
def test_the_slowest_filter_decides_how_near_an_end_accelerations_are_uncertain(
    cutoffs_hz: list[float], force_cutoff_hz: float | None, seconds: float
) -> None:
    """By 0.8 periods of its cut-off, and 0.1 s at most."""
    assert uncertain_end_s(np.array(cutoffs_hz), force_cutoff_hz) == pytest.approx(seconds)
