"""Uncertainty: closed forms, first-order propagation, and bands of copies with known errors.

``FULL=1`` draws 240 copies of the exactly known recordings, else 20 of a person in closed form.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.signals.filters import low_pass
from pipeline.signals.splines import derivatives, rate_covariance
from pipeline.steps.kinetics import error_draws, uncertainty
from pipeline.steps.kinetics.step import kinetics
from pipeline.workflow.settings import load_settings
from tests.support.checkout import FULL
from tests.support.studies.noisy_copies import SETTINGS, SIZES, SOURCES, Recorded, held, loads, only, recorded
from tests.support.studies.step_results import described_trial
from tests.support.walks.person import (
    BODY_MODELS,
    Array,
    body_model,
    calibrated,
    cleaned,
    close,
    landmarks,
    standing,
    walk,
)
from tests.support.walks.person_on_ground import CALIBRATION, KINETICS, MODEL, ground, legs, moving

TIME = np.arange(120) / 100
NONE = dict.fromkeys(SIZES, 0.0)
DRAWS = 100


@pytest.fixture(scope="module")
def trial() -> Recorded:
    """Return the walking person, markers through the default filter, standing on two plates in turns."""
    points = {
        name: low_pass(where, rate_hz=100.0, cutoff_hz=10.0, order=4) for name, where in landmarks(walk(TIME)).items()
    }
    clean = cleaned(MODEL, points, TIME)
    clean = clean.assign_coords(cutoff_hz=("marker", np.full(clean.sizes["marker"], 10.0)))
    return Recorded(clean, ground(TIME), CALIBRATION, MODEL)


@pytest.fixture(scope="module")
def measured(trial: Recorded) -> xr.Dataset:
    return loads(trial)


# ---- effect of noise


@pytest.mark.parametrize(("cutoff_hz", "order"), [(10.0, 4), (6.0, 2), (20.0, 8), (None, 4)])
def test_noise_of_rates_is_that_of_the_filter_and_spline_in_use(cutoff_hz: float | None, order: int) -> None:
    """The variance of filtered white noise is the sum of squares of the filter's impulse response."""
    impulse, time = np.zeros((801, 1)), np.arange(801) / 100
    impulse[400] = 1
    answer = low_pass(impulse, rate_hz=100.0, cutoff_hz=cutoff_hz, order=order)
    answers = np.hstack([answer, *derivatives(answer, time)])[100:-100]
    expected = answers.T @ answers
    found = rate_covariance(np.nan if cutoff_hz is None else cutoff_hz, 100.0, order=order)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    close(found / size, expected / size, 1e-9)


@pytest.mark.parametrize("name", BODY_MODELS)
def test_markers_displaced_together_move_the_skeleton(name: str) -> None:
    """All by one vector: no segment rotates, and every origin and joint centre moves with them."""
    model = calibrated(body_model(name), standing())
    close(model.segment_turn_per_marker.sum("marker"), 0, 1e-6)
    for variable in ("segment_origin_per_marker", "joint_centre_per_marker"):
        together = model[variable].sum("marker").values  # a turn from lab to segment axes, of that segment
        close(together @ np.swapaxes(together, -1, -2), np.broadcast_to(np.eye(3), together.shape), 1e-6)


def test_turns_of_a_cluster_are_those_of_least_squares() -> None:
    """Covariance of the turn of fitted points a: the inverse of the sum of |a|2 - a aT (Woltring et al. 1985)."""
    mine = (CALIBRATION.cluster_side == "left") & (CALIBRATION.cluster_segment == "shank")
    a = CALIBRATION.cluster_position.values[mine.values]
    a = a - a.mean(axis=0)
    expected = np.linalg.inv((a**2).sum() * np.eye(3) - a.T @ a)
    gain = CALIBRATION.segment_turn_per_marker.sel(side="left", pose="shank").values.reshape(3, -1)
    close(gain @ gain.T / np.trace(expected), expected / np.trace(expected), 1e-6)  # central differences of 0.01 mm


# ---- effect of errors


def test_without_errors_the_band_is_the_measured_curve(trial: Recorded, measured: xr.Dataset) -> None:
    found = loads(trial, draws=3, sizes=NONE)
    for percentile in range(2):
        close(found.joint_moment_band[..., percentile], measured.joint_moment_jcs, 1e-9)
        close(found.joint_power_band[..., percentile], measured.joint_power, 1e-9)


@pytest.mark.parametrize("source", ["joint_centres", "centre_of_pressure"])
def test_closed_form_of_errors_of_places_is_the_variance_of_draws(source: str) -> None:
    """The variance has a relative standard error of sqrt(2 / n), 1 % for 20000 draws; the tolerance is four of them."""
    motion, sizes = moving(landmarks(walk(TIME)), time=TIME), only(source)
    own = legs(motion)
    force = kinetics(motion, ground(TIME), CALIBRATION, settings=KINETICS).joint_force.values
    errors = error_draws.draw_errors(20000, sizes, CALIBRATION, motion)[source]
    some = uncertainty.measure_frames(own, slice(60, 62), uncertainty.carriers(CALIBRATION))
    draw_errors = uncertainty.moments(some, own, errors).var(axis=0)
    expected = uncertainty._variance_of_places(own, force, sizes)[source][60:62]
    close(draw_errors / expected, np.ones_like(expected), 0.04)


@pytest.mark.parametrize("source", SOURCES)
def test_spread_is_that_of_first_order_propagation(source: str, trial: Recorded) -> None:
    """The same draws scaled by 1/1000, and the result by 1000; at this size the second order is a few percent."""
    whole, small = (
        spread(loads(trial, draws=DRAWS, sizes={name: scale * size for name, size in only(source).items()}))
        for scale in (1, 1e-3)
    )
    known = whole > 0.05  # N m
    assert known.mean() > 0.5
    ratio = 1e3 * small[known] / whole[known]
    assert abs(np.median(ratio) - 1) < 0.03
    assert np.quantile(np.abs(ratio - 1), 0.95) < 0.15


def spread(found: xr.Dataset) -> Array:
    return np.asarray(found.joint_moment_band.diff("percentile").values[..., 0] / 3.92)


def test_an_error_of_the_knee_centre_affects_the_knee_alone(trial: Recorded) -> None:
    width = spread(loads(trial, draws=20, sizes=NONE | {"knee_centre_mm": 6.0}))
    assert width[:, :, [0, 2]].max() < 1e-9
    assert width[:, :, 1, 0].min() > 0.1


def test_percentiles_are_those_of_the_definition() -> None:
    values = np.random.default_rng(0).normal(size=(57, 4, 3))
    expected = np.moveaxis(np.percentile(values, [2.5, 90], axis=0, method="weibull"), 0, -1)
    close(uncertainty._percentiles(values, np.array([2.5, 90])), expected)


def test_shares_sum_to_one_and_a_single_source_has_all(trial: Recorded) -> None:
    share = loads(trial, draws=50).joint_moment_variance_share
    close(share.sum("error_source"), np.ones(share.shape[:-1]), 1e-12)
    for source in SOURCES:
        alone = loads(trial, draws=20, sizes=only(source)).joint_moment_variance_share
        touched = alone.sel(error_source=source).values
        close(touched[np.isfinite(touched)], np.ones(np.isfinite(touched).sum()), 1e-9)
        assert np.isfinite(touched).mean() > 0.9


def test_draws_depend_on_the_source_file_alone(trial: Recorded) -> None:
    one, again, other = (loads(trial, draws=20, seed=seed).joint_moment_band for seed in ("a", "a", "b"))
    xr.testing.assert_identical(one, again)
    assert float(np.abs(one - other).max()) > 0.1


def test_portions_change_nothing(trial: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = loads(trial, draws=20)
    monkeypatch.setattr(uncertainty, "FRAMES_AT_A_TIME", 50)
    monkeypatch.setattr(uncertainty, "SAMPLES_AT_A_TIME", 1000)
    parts = loads(trial, draws=20)
    for name in ("joint_moment_band", "joint_power_band", "joint_moment_variance_share"):
        close(parts[name], whole[name], 1e-9)


def test_an_unknown_ground_reaction_leaves_no_band(trial: Recorded) -> None:
    contacts = trial.contacts.copy(deep=True)
    contacts.ground_force.values[40:60, 0] = np.nan
    contacts.ground_moment.values[40:60, 0] = np.nan
    found = loads(Recorded(trial.clean, contacts, trial.calibration, trial.model), draws=10)
    assert np.isnan(found.joint_moment_band[40:60, 0]).all()
    assert np.isfinite(found.joint_moment_band[:, 1]).all()
    assert np.isfinite(found.joint_moment_band[:40, 0]).all()


# ---- settings


def test_off_by_default_and_described_where_on(trial: Recorded) -> None:
    assert SETTINGS["kinetics"]["uncertainty_draws"] == 0
    off, on = described_trial("kinetics", loads(trial)), described_trial("kinetics", loads(trial, draws=5))
    extra = set(on.data_vars) - set(off.data_vars)
    assert extra == {"joint_moment_band", "joint_power_band", "joint_moment_variance_share"}
    assert list(on.percentile.values) == [2.5, 97.5]
    assert set(on.error_source.values) == set(SOURCES)
    for name in off.data_vars:
        xr.testing.assert_identical(on[name], off[name])


def test_bands_among_the_curves_need_draws(tmp_path: Path) -> None:
    own = {"body_model": "isb_clusters", "cycles": {"further_curves": ["joint_moment_band"]}}
    with pytest.raises(UserError, match=r"no draws for joint_moment_band; set kinetics\.uncertainty_draws above 0"):
        load_settings(own, where="study.yaml", study_path=tmp_path)
    chosen, _ = load_settings(own | {"kinetics": {"uncertainty_draws": 200}}, where="study.yaml", study_path=tmp_path)
    assert chosen["kinetics"]["uncertainty_sizes"] == SIZES


# ---- coverage


def test_bands_hold_the_right_answer_as_often_as_stated(trial: Recorded, measured: xr.Dataset) -> None:
    """Of 20 copies with some 12 independent moments each the share has a standard error of 1.4 %: three of them."""
    found = held([trial], [measured], copies=20, draws=100)
    assert abs(float(found.joint_moment_jcs.mean()) - 0.95) < 0.04
    assert abs(float(found.joint_power.mean()) - 0.95) < 0.05


def test_bands_of_marker_noise_alone_do_too(trial: Recorded, measured: xr.Dataset) -> None:
    """Noise through filter, poses and spline alone, as other errors are larger; every instant is another draw.

    The bands' own width is known to 14 % from 100 draws, to 5 % over eight copies: 1 % of what they hold.
    """
    found = held([trial], [measured], copies=8, draws=100, sizes=only("marker_noise"))
    assert abs(float(found.joint_moment_jcs.mean()) - 0.95) < 0.03
    assert (np.abs(found.joint_moment_jcs.mean("copy") - 0.95) < 0.06).all()


def test_half_the_error_in_the_settings_is_detected(trial: Recorded, measured: xr.Dataset) -> None:
    """Bands of half the width hold 67 % of a normal distribution."""
    twice = {name: 2 * size for name, size in SIZES.items()}
    found = held([trial], [measured], copies=12, draws=100, sizes=SIZES, injected=twice)
    assert 0.5 < float(found.joint_moment_jcs.mean()) < 0.8


@pytest.mark.skipif(not FULL, reason="240 copies take minutes; FULL=1 runs them")
def test_bands_hold_the_exact_answer(shared: Path) -> None:
    """95 % bands of 240 copies of six recordings with exact loads hold 93 to 97 % of them."""
    trials = recorded(shared / "studies" / "exact", {})
    found = held(trials, [loads(one) for one in trials], copies=240, draws=200)
    assert 0.93 < float(found.joint_moment_jcs.mean()) < 0.97
    assert 0.93 < float(found.joint_power.mean()) < 0.97
