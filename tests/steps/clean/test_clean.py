"""Step ``clean``: the filter against its closed form, absent markers, baselines of known loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.body_model import BodyModel
from pipeline.errors import UserError
from pipeline.plates.wrench import centre_of_pressure
from pipeline.signals.filters import low_pass
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.as_clean import BODY_MODEL, Rectangle

Array = NDArray[np.float64]

MARKER_HZ, ANALOG_HZ = 100, 1000
OFF: dict[str, Any] = {"spike_m": None, "marker_cutoff_hz": None, "force_cutoff_hz": None}
PLATE = Rectangle(-0.3, 0.3, -0.2, 0.2)
TIME = np.arange(200) / MARKER_HZ
PLATE_TIME = np.arange(2000) / ANALOG_HZ
AT_FRAMES = slice(None, None, ANALOG_HZ // MARKER_HZ)  # the analog samples at the marker instants
ROUNDING = 1e-9  # double arithmetic of numbers of order 1 to 1000


def trial(
    points: Mapping[str, Array] | None = None,
    force: Array | None = None,
    moment: Array | None = None,
    *,
    zero_frames: tuple[int, int] | None = None,
) -> xr.Dataset:
    """Return a trial like ``read``: labels -> (time, 3) and one plate, by default at rest and unloaded."""
    points = {"LHEE": np.ones((len(TIME), 3))} | dict(points or {})
    force = np.zeros((len(PLATE_TIME), 3)) if force is None else force
    moment = np.zeros_like(force) if moment is None else moment
    count = len(points["LHEE"])
    return xr.Dataset(
        {
            "marker_position": (("time", "marker", "axis"), np.stack(list(points.values()), axis=1)),
            "plate_force": (("plate_time", "plate", "axis"), force[:, None]),
            "plate_moment": (("plate_time", "plate", "axis"), moment[:, None]),
            "plate_corner": (("plate", "corner", "axis"), PLATE.corners[None]),
            "plate_edges_known": ("plate", [True]),
            "plate_fault": ("plate", [""]),
            "event_time": ("event", np.array([0.5])),
            "zero_frames": ("limit", np.array(zero_frames or [np.nan, np.nan], dtype=float)),
        },
        {
            "time": np.arange(count) / MARKER_HZ,
            "plate_time": np.arange(len(force)) / ANALOG_HZ,
            "marker": list(points),
            "axis": list("xyz"),
            "plate": [1],
            "event": ["LHS"],
            "event_side": ("event", [""]),
        },
        {"marker_rate_hz": float(MARKER_HZ), "direction_of_travel": "forwards", "plates_left_out": ""},
    )


def cleaned(read: xr.Dataset, *, model: BodyModel = BODY_MODEL, **settings: Any) -> xr.Dataset:
    return clean(read, body_model=model, settings=settings_of("clean", **(OFF | settings)))


def heel(read: xr.Dataset, **settings: Any) -> Array:
    return np.asarray(cleaned(read, **settings).marker_position.sel(marker="heel_left").values)


# --- the filter ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 4, 8])
@pytest.mark.parametrize(("rate_hz", "cutoff_hz"), [(60, 6), (100, 10), (250, 10), (1000, 20), (100, 45)])
def test_the_response_is_butterworth_with_the_stated_cutoff(order: int, rate_hz: float, cutoff_hz: float) -> None:
    """Two passes of order n/2 that are -3 dB together: 1 / (1 + (sqrt 2 - 1) (tan(pi f/fs) / tan(pi fc/fs))^n)."""
    narrow_hz = min(cutoff_hz, rate_hz / 2 - cutoff_hz)
    samples = int(40 * rate_hz / narrow_hz) | 1  # long enough for the response to die away at both ends
    impulse = np.zeros((samples, 1))
    impulse[samples // 2] = 1
    response = low_pass(impulse, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order)[:, 0]
    frequency = np.linspace(0, 0.49 * rate_hz, 200)
    phases = 2 * np.pi * np.outer(frequency, np.arange(samples) - samples // 2) / rate_hz
    gain, lag = np.cos(phases) @ response, np.sin(phases) @ response
    warped = np.tan(np.pi * frequency / rate_hz) / np.tan(np.pi * cutoff_hz / rate_hz)
    edges = 1e-6  # the rest of the response after 20 periods of the cut-off
    np.testing.assert_allclose(gain, 1 / (1 + (np.sqrt(2) - 1) * warped**order), rtol=0, atol=edges)
    np.testing.assert_allclose(lag, 0, atol=edges)
    at_cutoff = np.cos(2 * np.pi * cutoff_hz * (np.arange(samples) - samples // 2) / rate_hz) @ response
    assert at_cutoff == pytest.approx(np.sqrt(0.5), abs=edges)


def test_a_sine_at_the_cutoff_comes_out_3_db_smaller_and_in_phase() -> None:
    """10 Hz for markers and 20 Hz for forces, away from the ends."""
    wave = np.outer(np.sin(2 * np.pi * 10 * TIME), [0.01, 0.02, 0.03])
    load = np.outer(np.sin(2 * np.pi * 20 * PLATE_TIME), [1.0, 2, 3])
    result = cleaned(trial({"LHEE": 1 + wave}, load, 0.1 * load), marker_cutoff_hz=10, force_cutoff_hz=20)
    inner = slice(50, 150)
    ends = 1e-3  # relative; the ends oscillate for a few periods
    np.testing.assert_allclose(
        result.marker_position[inner, 0], 1 + np.sqrt(0.5) * wave[inner], rtol=0, atol=0.03 * ends
    )
    for name, given in (("plate_force", load), ("plate_moment", 0.1 * load)):
        np.testing.assert_allclose(result[name][inner, 0], np.sqrt(0.5) * given[AT_FRAMES][inner], atol=3 * ends)
    np.testing.assert_allclose(result.vertical_force[:, 0], load[:, 1], atol=ROUNDING)


@pytest.mark.parametrize("order", [2, 4, 8])
def test_a_constant_and_a_straight_line_pass_unchanged_to_the_ends(order: int) -> None:
    line = np.stack([np.full_like(TIME, 0.3), 1 + 2 * TIME, -3 * TIME], axis=1)
    result = low_pass(line, rate_hz=100, cutoff_hz=6, order=order)
    np.testing.assert_allclose(result[:, 0], line[:, 0], rtol=0, atol=ROUNDING)
    padding = 1e-6  # m, the rest of a lag of 30 cm with finite padding
    np.testing.assert_allclose(result, line, rtol=0, atol=padding)


def test_null_switches_the_filters_off() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(len(TIME), 3))
    load = rng.normal(loc=(0, 500, 0), size=(len(PLATE_TIME), 3))  # loaded throughout, so no baseline
    result = cleaned(trial({"LHEE": points}, load))
    np.testing.assert_array_equal(result.marker_position[:, 0], points)
    np.testing.assert_array_equal(result.plate_force[:, 0], load[AT_FRAMES])


@pytest.mark.parametrize(("name", "cutoff_hz"), [("marker_cutoff_hz", 50), ("force_cutoff_hz", 500)])
def test_a_cutoff_at_half_the_rate_is_refused(name: str, cutoff_hz: float) -> None:
    settings: dict[str, Any] = {name: 0.99 * cutoff_hz}
    cleaned(trial(), **settings)
    settings[name] = cutoff_hz
    with pytest.raises(UserError, match=rf"cut-off {cutoff_hz} Hz is not below half the sampling rate"):
        cleaned(trial(), **settings)


def test_filters_do_not_cross_a_gap() -> None:
    before = np.cumsum(np.random.default_rng(1).normal(size=(len(TIME), 3)), axis=0)
    before[90:110] = np.nan
    after = before.copy()
    after[110:] += 100
    a, b = (heel(trial({"LHEE": points}), marker_cutoff_hz=10) for points in (before, after))
    np.testing.assert_array_equal(a[:90], b[:90])
    np.testing.assert_allclose(a[110:] + 100, b[110:], rtol=0, atol=1e3 * ROUNDING)
    assert np.isnan(a[90:110]).all()
    assert np.isfinite(a[:90]).all()


def test_a_stretch_too_short_to_filter_is_missing() -> None:
    points = np.ones((len(TIME), 3))
    points[50:70], points[74:100] = np.nan, np.nan
    kept = np.isfinite(heel(trial({"LHEE": points}), marker_cutoff_hz=10))[:, 0]
    assert not kept[50:100].any()
    assert kept[:50].all()
    assert kept[100:].all()


# --- markers --------------------------------------------------------------------------------------------------


def test_markers_that_are_never_seen_are_absent_landmarks() -> None:
    result = cleaned(trial({"LTOE": np.full((len(TIME), 3), np.nan)}))
    assert list(result.marker.values) == ["heel_left"]
    assert "toe_left" in result.attrs["landmarks_absent"].split()


def test_a_file_of_another_marker_set_is_refused() -> None:
    with pytest.raises(UserError, match=r"no marker of body model pelvis_and_feet.*Nose"):
        cleaned(trial().assign_coords(marker=["Nose"]))


# --- plates ----------------------------------------------------------------------------------------------------

OFFSET = np.array([3.0, 12.0, -5.0, 1.0, -2.0, 0.5])  # force, moment
SPOT = np.array([0.1, 0.0, -0.05])  # where the load acts


def step_on(start_s: float = 0.6, end_s: float = 1.3) -> tuple[Array, Array]:
    """Return force and moment of a half-sine load at ``SPOT``, tilted, between two instants."""
    share = np.clip((PLATE_TIME - start_s) / (end_s - start_s), 0, 1)
    force = 800 * np.sin(np.pi * share)[:, None] * [-0.1, 1, 0.05]
    return force, np.cross(SPOT, force)


def test_a_constant_offset_is_subtracted() -> None:
    force, moment = step_on()
    noise = np.random.default_rng(2).normal(size=(2, *force.shape)) * [[[1.0]], [[0.02]]]
    result = cleaned(trial(None, force + noise[0] + OFFSET[:3], moment + noise[1] + OFFSET[3:]))
    sampled = 0.15  # four standard errors of a median over about 1000 samples with a deviation of 1 N
    np.testing.assert_allclose(result.plate_baseline[0], OFFSET[:3], rtol=0, atol=sampled)
    np.testing.assert_allclose(result.plate_force[:, 0], (force + noise[0])[AT_FRAMES], rtol=0, atol=sampled)
    np.testing.assert_allclose(result.plate_moment[:, 0], (moment + noise[1])[AT_FRAMES], rtol=0, atol=0.02 * sampled)
    np.testing.assert_array_equal(result.vertical_force[AT_FRAMES], result.plate_force[..., 1])
    np.testing.assert_array_equal(result.vertical_force_filtered, result.vertical_force)


def test_an_unloaded_plate_reads_zero() -> None:
    result = cleaned(trial(None, np.tile(OFFSET[:3], (len(PLATE_TIME), 1))))
    np.testing.assert_allclose(result.plate_force, 0, atol=ROUNDING)


def test_the_weight_of_a_person_on_a_plate_throughout_is_kept() -> None:
    sway = 15 * np.sin(2 * np.pi * 0.5 * PLATE_TIME)[:, None]
    force = (350 + sway) * [0.0, 1, 0]
    result = cleaned(trial(None, force, np.cross(SPOT, force), zero_frames=(1, 10)))
    np.testing.assert_array_equal(result.plate_force[:, 0], force[AT_FRAMES])
    np.testing.assert_array_equal(result.plate_baseline, 0)


def test_the_weight_of_a_person_who_leaves_the_plate_is_kept() -> None:
    force = np.where(PLATE_TIME < 1.4, 700.0, 0.0)[:, None] * [0.0, 1, 0]
    result = cleaned(trial(None, force + OFFSET[:3], zero_frames=(1, 10)))
    np.testing.assert_allclose(result.plate_force[:, 0], force[AT_FRAMES], rtol=0, atol=ROUNDING)


def test_a_drift_is_subtracted_and_its_unknown_part_stored() -> None:
    """Once linear over the trial, once a jump under load."""
    force, moment = step_on()
    even = 30 * np.linspace(0, 1, len(PLATE_TIME))
    jump = np.where(PLATE_TIME > 1.0, 30.0, 0.0)
    for drift, known in ((even, True), (jump, False)):
        extra = drift[:, None] * [0.0, 1, 0]
        middle = PLATE.corners.mean(axis=0)
        result = cleaned(trial(None, force + extra, moment + np.cross(middle, extra)))
        unknown = float(result.plate_drift[0])
        if known:
            # knots 0.15 s apart on a straight line: rounding, and the extrapolation at the trial's ends
            np.testing.assert_allclose(result.plate_force[:, 0], force[AT_FRAMES], rtol=0, atol=1.0)
            assert unknown < 1
        else:
            assert unknown == pytest.approx(30, abs=1)


def test_loaded_zero_frames_are_ignored() -> None:
    force, _ = step_on(0.0, 0.9)
    force += 8.0
    result = cleaned(trial(None, force, zero_frames=(30, 50)))
    np.testing.assert_allclose(result.plate_baseline[0], 8.0, rtol=0, atol=ROUNDING)


def test_filtering_keeps_the_centre_of_pressure_of_a_fixed_load() -> None:
    """Force and moment are filtered alike, so their ratio is kept."""
    force, moment = step_on()
    result = cleaned(trial(None, force, moment), force_cutoff_hz=10)
    smooth, force = result.plate_force.values[:, 0], force[AT_FRAMES]
    loaded = np.abs(smooth[:, 1]) > 1
    cop, _ = centre_of_pressure(smooth[loaded], result.plate_moment.values[loaded, 0], PLATE.corners)
    np.testing.assert_allclose(cop, np.tile(SPOT, (loaded.sum(), 1)), rtol=0, atol=ROUNDING)
    assert np.abs(smooth - force).max() > 10, "the filter did something"
    assert loaded.sum() > (np.abs(force[:, 1]) > 1).sum(), "and spread the load in time"


def test_no_centre_of_pressure_is_stored_to_be_filtered() -> None:
    assert not [name for name in cleaned(trial()).variables if "pressure" in str(name)]


def test_a_trial_without_plates_and_events() -> None:
    bare = trial().isel(plate=slice(0), plate_time=slice(0), event=slice(0))
    result = cleaned(bare, force_cutoff_hz=10, marker_cutoff_hz=10)
    assert (result.sizes["plate"], result.sizes["plate_time"], result.sizes["event"]) == (0, 0, 0)
    assert result.vertical_force.shape == (0, 0)


def test_shoulders_are_cleaned_apart_from_the_landmarks() -> None:
    """A gap is filled and a spike removed; all else is as without shoulders, and they are absent where none is seen."""
    model = replace(BODY_MODEL, shoulders={"shoulder_left": (("LSHO",),), "shoulder_right": (("RSHO",),)})
    path = np.stack([TIME, 1.4 + 0.02 * np.sin(TIME), np.cos(TIME)], axis=1)
    recorded = path.copy()
    recorded[50:55], recorded[120] = np.nan, recorded[120] + 0.2
    read = trial({"LSHO": path, "RSHO": recorded})
    found, without = (cleaned(read, model=each, spike_m=0.03) for each in (model, BODY_MODEL))
    np.testing.assert_allclose(found.shoulder_position.sel(shoulder="left"), path, rtol=0, atol=ROUNDING)
    right = found.shoulder_position.sel(shoulder="right")
    np.testing.assert_allclose(right, path, rtol=0, atol=1e-6)  # a cubic over five frames of sines
    assert found.drop_dims("shoulder").identical(without)
    assert "shoulder" not in cleaned(trial(), model=model).dims
