"""Envelopes and bursts of electromyograms against known ones, and the faults of channels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.signals.emg import Activity, activity, co_contraction, envelopes, fault, millivolts_per, without_lost
from pipeline.signals.filters import high_pass, low_pass
from tests.campaigns.emg_onsets import SHAPES, outcome
from tests.support.files.emg import bursts, electromyogram, recorded_muscle

Array = NDArray[np.float64]
CUTOFFS = {"high_pass_hz": 20.0, "low_pass_hz": 6.0}
RATES = (400.0, 1000.0, 2000.0)


def seconds(rate_hz: float, duration_s: float = 6.0) -> Array:
    return np.arange(round(duration_s * rate_hz)) / rate_hz


def envelope(values: Array, rate_hz: float) -> Array:
    return envelopes(values[:, None], rate_hz=rate_hz, **CUTOFFS)[:, 0]


def activity_of(values: Array, rate_hz: float) -> Activity:
    return activity(values, rate_hz=rate_hz, high_pass_hz=20, false_alarm=0.05, shortest_s=0.03)


def fault_of(values: Array, rate_hz: float = 1000.0) -> str:
    found = fault(values, envelope(values, rate_hz), rate_hz=rate_hz)
    return found.what if found else ""


@pytest.mark.parametrize("rate_hz", RATES)
def test_high_pass_and_low_pass_share_the_power_at_the_cutoff(rate_hz: float) -> None:
    """Both are -3 dB there, without lag; far away one passes all and the other nothing."""
    time = seconds(rate_hz)
    middle = slice(len(time) // 4, 3 * len(time) // 4)
    for hz, expected in ((20.0, np.sqrt(0.5)), (2.0, 0.0), (100.0, 1.0)):
        wave = np.sin(2 * np.pi * hz * time)[:, None]
        found = high_pass(wave, rate_hz=rate_hz, cutoff_hz=20, order=4)
        gain = (found * wave)[middle].sum() / (wave**2)[middle].sum()
        assert gain == pytest.approx(
            expected, abs=0.01
        )  # of 4th order: 1e-4 at a tenth, .998 at five times the cut-off
        rest = found - expected * wave
        assert np.abs(rest[middle]).max() < 0.015, "the lag"
    constant = low_pass(np.ones((len(time), 1)), rate_hz=rate_hz, cutoff_hz=20, order=4)
    np.testing.assert_allclose(constant, 1, atol=1e-9)
    assert np.abs(high_pass(np.full((len(time), 1), 3.0), rate_hz=rate_hz, cutoff_hz=20, order=4)).max() < 1e-9


@pytest.mark.parametrize("rate_hz", RATES)
def test_the_envelope_of_a_modulated_sine_is_its_amplitude(rate_hz: float) -> None:
    """A rectified sine has the mean 2 / pi; slow motion of the baseline and an offset do not count."""
    time = seconds(rate_hz)
    amplitude = 2 + np.sin(2 * np.pi * time)
    values = amplitude * np.sin(2 * np.pi * 90 * time) + 5 * np.sin(2 * np.pi * 0.5 * time) + 1.5
    found = envelope(values, rate_hz)
    inner = slice(round(rate_hz / 2), -round(rate_hz / 2))
    # 1 Hz passes 6 Hz with a gain of .9997; one sample in 4.4 of 90 Hz sums to 2 / pi within 1 %
    np.testing.assert_allclose(found[inner], (2 / np.pi * amplitude)[inner], rtol=0.02)
    assert np.abs(found - 2 / np.pi * amplitude).max() < 0.1 * amplitude.max(), "at the ends"


@pytest.mark.parametrize("rate_hz", RATES)
def test_the_envelope_of_noise_is_its_mean_size(rate_hz: float) -> None:
    time = seconds(rate_hz, 60.0)
    found = envelope(electromyogram(3 * np.ones(len(time)), rate_hz=rate_hz), rate_hz)
    assert found.mean() == pytest.approx(3 * np.sqrt(2 / np.pi), rel=0.03)  # of 60 s of a band of 110 Hz: 1 %
    assert found.min() >= 0


def test_gaps_stay_gaps_and_lost_samples_become_gaps() -> None:
    time = seconds(1000.0)
    values = electromyogram(bursts(time), rate_hz=1000.0)
    broken = values.copy()
    broken[2000:2150], broken[4000:4060] = broken[2000], 0.0
    known = without_lost(broken, rate_hz=1000.0)
    assert np.isnan(known[2000:2150]).all(), "150 ms without a change"
    assert np.isfinite(np.delete(known, slice(2000, 2150))).all(), "60 ms may be quiet"
    found = envelope(known, 1000.0)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(known))
    away = np.r_[0:1500, 2700:3500, 4600:6000]  # half a second from the gaps
    np.testing.assert_allclose(found[away], envelope(values, 1000.0)[away], atol=0.02)
    assert fault_of(known) == ""


@pytest.mark.parametrize("rate_hz", RATES)
@pytest.mark.parametrize("seed", range(5))
def test_bursts_are_no_fault_whatever_the_gain_offset_and_noise(rate_hz: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    time = seconds(rate_hz, rng.uniform(2, 10))
    values = electromyogram(bursts(time, period_s=rng.uniform(0.8, 1.6)), rate_hz=rate_hz, seed=seed)
    values += rng.normal(scale=0.03, size=len(time)) + rng.uniform(-3, 3)
    values += rng.uniform(0, 2) * np.sin(2 * np.pi * time)  # the cable moves
    assert fault_of(10 ** rng.uniform(-3, 3) * values, rate_hz) == ""


@pytest.mark.parametrize("seed", range(5))
def test_channels_without_muscle_activity_are_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    time = seconds(1000.0, 3.0)
    noise, hum = rng.normal(size=len(time)), np.sin(2 * np.pi * 50 * time + rng.uniform(0, 6))
    for values in (noise, hum, hum + 0.2 * noise, np.round(noise)):
        assert "no activity" in fault_of(values)
    moved = noise * (1 + 0.9 * np.sin(2 * np.pi * time))  # noise that a cable modulates
    assert "noise" in fault_of(moved)
    assert fault_of(np.zeros(len(time))) == fault_of(np.full(len(time), np.nan)) == "without a signal"


def test_clipped_and_rectified_channels_are_refused() -> None:
    time = seconds(1000.0)
    values = electromyogram(bursts(time), rate_hz=1000.0)
    assert fault_of(values.clip(-2, 2)) == "", "a few peaks"
    assert "clipped" in fault_of(values.clip(-0.5, 0.5))
    assert "clipped" in fault_of(np.where(values > 0.4, 0.4, values)), "at one end"
    assert "rectified" in fault_of(np.abs(values))
    assert "rectified" in fault_of(envelope(values, 1000.0))
    assert fault_of(values + 10) == "", "an offset makes no rectified signal"


@pytest.mark.parametrize(("in_a_row", "clipped"), [(2, False), (3, True)])
def test_three_samples_in_a_row_at_the_end_of_the_range_are_clipped(in_a_row: int, clipped: bool) -> None:
    """A wave of up to 450 Hz has one or two at its maximum, if it is sampled at 1000 Hz."""
    time = seconds(1000.0)
    values = electromyogram(bursts(time), rate_hz=1000.0)
    for start in range(0, len(values) - in_a_row, 100):
        values[start : start + in_a_row] = 1.1 * np.abs(values).max() if start == 0 else values[0]
    assert fault_of(values).startswith("clipped") == clipped


@pytest.mark.parametrize(
    ("unit", "millivolts"),
    [
        ("V", 1e3),
        ("Volts", 1e3),
        (" v ", 1e3),
        ("mV", 1),
        ("uV", 1e-3),
        ("µV", 1e-3),
        ("μV", 1e-3),
        ("microvolts", 1e-3),
    ],
)
def test_units_of_voltage(unit: str, millivolts: float) -> None:
    assert millivolts_per(unit) == millivolts


@pytest.mark.parametrize("unit", ["", "N", "Nmm", "d.u.", "g", "deg/s", "%", "m"])
def test_other_units_are_none(unit: str) -> None:
    assert millivolts_per(unit) is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("snr_db", [12.0, 16.0, 20.0])
def test_onsets_and_offsets_are_within_20_ms(shape: str, snr_db: float) -> None:
    """A rise in 30 ms is seen where it leaves the noise: at 12 dB a third of the way up."""
    found = [outcome(recorded_muscle(seed, snr_db=snr_db, shape=shape)) for seed in range(1000, 1030)]
    errors = np.concatenate([one.errors_ms for one in found])
    assert len(errors) > 100
    assert ((abs(errors) <= 20).mean(axis=0) > (0.95 if snr_db > 12 else 0.85)).all()
    assert (abs(np.median(errors, axis=0)) < 12).all()
    assert sum(one.missed for one in found) == 0
    assert all(one.distinct for one in found)
    assert sum(one.false for one in found) / sum(one.duration_s for one in found) < 1 / 60


@pytest.mark.parametrize("rate_hz", RATES)
def test_without_a_clear_rest_there_is_no_onset(rate_hz: float) -> None:
    time = seconds(rate_hz)
    modulated = 0.6 + 0.4 * np.sin(2 * np.pi * time / 1.1)  # 0.2 to 1; 7 dB between the halves
    for amplitude in (np.ones(len(time)), np.zeros(len(time)), 0.3 + 0.7 * modulated):
        found = activity_of(electromyogram(amplitude, rate_hz=rate_hz), rate_hz)
        assert found.bursts == []
        assert np.isnan(found.rest)
    nearly_always = electromyogram(np.where(time < 0.15, 0.01, 1.0), rate_hz=rate_hz)
    assert activity_of(nearly_always, rate_hz).bursts == [], "0.15 s of rest are too few"


def test_bursts_do_not_depend_on_gain_and_offset_and_never_span_lost_samples() -> None:
    values = recorded_muscle(3, snr_db=20, shape="step").values
    first = activity_of(values, 1000)
    other = activity_of(1e-3 * values + 0.5, 1000)
    assert first.bursts == other.bursts
    assert other.rest == pytest.approx(1e-3 * first.rest)
    assert first.rest == pytest.approx(1, rel=0.15), "the standard deviation of the noise"
    start, stop = max(first.bursts, key=lambda burst: burst[1] - burst[0])
    lost = values.copy()
    lost[start + 40 : stop - 40] = np.nan
    for a, b in activity_of(lost, 1000).bursts:
        assert np.isfinite(lost[a:b]).all() or b - a < 60


def test_co_contraction_is_the_common_area() -> None:
    """Falconer and Winter (1985)."""
    one, other = np.array([0.0, 2, 0, 0]), np.array([0.0, 1, 0, 3])
    assert co_contraction(one, one) == pytest.approx(100)
    assert co_contraction(one, other) == pytest.approx(100 * 2 * 1 / (2 + 2.5))
    assert co_contraction(np.array([1.0, 0, 0, 0]), np.array([0.0, 0, 0, 1])) == 0
