"""Baselines of plates: known offsets and drifts under known loads, and real plates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.c3d.reader import read_c3d
from pipeline.plates.baseline import block_means, bound_unknown_drift, resting_wrench, subtract_baseline
from pipeline.steps.read.plates_and_channels import decode_plates
from tests.support.walks.real import cleaned_walks

Array = NDArray[np.float64]

RATE_HZ = 1000
TIME = np.arange(3 * RATE_HZ) / RATE_HZ
MIDDLE = np.array([1.2, 0.1, -0.4])
CORNERS = MIDDLE + np.array([[0.3, 0, 0.2], [-0.3, 0, 0.2], [-0.3, 0, -0.2], [0.3, 0, -0.2]])
SPOT = MIDDLE + np.array([0.1, 0, -0.05])
DRIFT = np.array([0.3, 1.0, -0.2, 0.05, -0.02, 0.04])  # force, and moment about the middle, per newton of dose
NOISE_N, NOISE_N_M = 0.5, 0.02
CLOSE_N = 0.5  # means of 150 samples with a deviation of 0.5 N, three of them next to a load


def steps(*spans: tuple[float, float]) -> Array:
    """Return wrenches about the lab origin (sample, 6) of half-sine loads between pairs of instants."""
    force = np.zeros((len(TIME), 3))
    for start, end in spans:
        share = np.clip((TIME - start) / (end - start), 0, 1)
        force += 700 * np.sin(np.pi * share)[:, None] * [-0.1, 1, 0.05]
    return np.hstack([force, np.cross(SPOT, force)])


def drifted(load: Array, dose: Any, *, noise: float = 1.0) -> Array:
    """Return the load with a drift (sample,), N, of force and of moment about the middle of the plate."""
    extra = dose[:, None] * DRIFT
    white = np.random.default_rng(1).normal(size=load.shape) * np.repeat([NOISE_N, NOISE_N_M], 3)
    extra = extra + noise * white
    extra[:, 3:] += np.cross(MIDDLE, extra[:, :3])
    return np.asarray(load + extra)


def rest(wrench: Array, **settings: Any) -> tuple[Array, float]:
    return resting_wrench(wrench, block_means(wrench, RATE_HZ), MIDDLE, rate_hz=RATE_HZ, **settings)[:2]


def left(load: Array, wrench: Array) -> Array:
    """Return the largest rest of the drift over the trial (6,): force, and moment about the middle."""
    difference = wrench - rest(wrench)[0] - load
    difference[:, 3:] -= np.cross(MIDDLE, difference[:, :3])
    return np.asarray(np.abs(difference).max(axis=0))


WALK = steps((0.7, 1.4), (1.9, 2.5))
BELT = steps(*[(start, start + 0.65) for start in (-0.2, 0.85, 1.9, 2.95)])  # swings of 0.4 s, ends loaded
SHAPES = {"straight": TIME / TIME[-1], "bent": (1 - np.exp(-TIME)) / (1 - np.exp(-TIME[-1]))}


@pytest.mark.parametrize("dose", [5, 10, 20, 30, 60, 100, -30, -100])
def test_a_linear_drift_is_subtracted(dose: float) -> None:
    wrench = drifted(WALK, dose * SHAPES["straight"], noise=0)
    assert left(WALK, wrench).max() < 1e-6  # a straight line through means of a straight line
    assert rest(wrench)[1] < 1e-6


@pytest.mark.parametrize("dose", [5, 10, 20, 30, 60, -30, -60])
def test_a_linear_drift_is_subtracted_on_a_belt(dose: float) -> None:
    """Swings of 0.4 s suffice; under a load at an end of the trial the drift is extrapolated."""
    wrench = drifted(BELT, dose * SHAPES["straight"], noise=0)
    assert left(BELT, wrench)[1] < 0.02 * abs(dose)
    assert rest(wrench)[1] < 0.2 * abs(dose)


def test_noise_has_little_effect() -> None:
    white = drifted(WALK, 0 * TIME) - WALK
    residual = drifted(WALK, 30 * SHAPES["straight"])
    difference = residual - rest(residual)[0] - WALK - white
    assert np.abs(difference[:, :3]).max() < CLOSE_N


@pytest.mark.parametrize("dose", [10, 20, 30])
def test_a_curved_drift_is_subtracted_piecewise(dose: float) -> None:
    """A curve with a time constant of 1 s deviates from chords of 0.8 s by a share of 0.08 at most."""
    residual = left(WALK, drifted(WALK, dose * SHAPES["bent"], noise=0))
    assert residual[1] < 0.1 * dose
    assert residual[1] > 0.005 * dose, "the curve is bent"


@pytest.mark.parametrize("dose", [15, 30, 60, 120, -15, -30, -120])
def test_a_jump_under_load_is_unknown_drift(dose: float) -> None:
    size = abs(dose) * np.linalg.norm(DRIFT[:3])
    assert rest(drifted(WALK, dose * (TIME > 1.0)))[1] == pytest.approx(size, abs=3)  # prediction of noisy slopes


def test_a_jump_without_load_is_subtracted() -> None:
    """A jump between steps affects only the samples around it."""
    dose = 30.0 * (TIME > 1.65)
    wrench = drifted(WALK, dose, noise=0)
    loaded = WALK[:, 1] > 1
    assert np.abs((wrench - rest(wrench)[0] - WALK)[loaded, 1]).max() < 3
    assert rest(wrench)[1] < 3


@pytest.mark.parametrize("backwards", [False, True])
def test_drift_under_a_load_at_an_end_is_extrapolated_and_unknown(backwards: bool) -> None:
    order = slice(None, None, -1) if backwards else slice(None)
    load = steps((1.0, 1.6), (2.4, 3.4))[order]
    wrench = drifted(load, (60 * SHAPES["straight"])[order], noise=0)
    unknown = rest(wrench)[1]
    assert unknown == pytest.approx(0.6 * 20 * np.linalg.norm(DRIFT[:3]), rel=0.15)  # 20 N/s, over 0.6 s less a block
    assert left(load, wrench)[1] < 0.1, "if it went on as straight as before"


def test_without_drift_one_mean_is_subtracted() -> None:
    wrench = drifted(WALK, np.full(len(TIME), 12.0))
    found, unknown = rest(wrench)
    assert found.shape == (1, 6)
    np.testing.assert_allclose(found[0, :3], 12 * DRIFT[:3], rtol=0, atol=0.1)  # some 1500 samples of 0.5 N
    assert unknown < 1.5  # slopes of half a second, over a load


@pytest.mark.parametrize("part", [slice(0, 2000), slice(1000, 3000)])
def test_a_part_of_a_recording_has_the_baseline_of_the_whole(part: slice) -> None:
    """A drift of 2 N is followed like one of 60: the mean of a part would be a newton from that of the whole."""
    wrench = drifted(WALK, 2 * SHAPES["straight"], noise=0)
    both = (
        rest(wrench)[0][part],
        resting_wrench(wrench[part], block_means(wrench[part], RATE_HZ), MIDDLE, rate_hz=RATE_HZ)[0],
    )
    np.testing.assert_allclose(*both, rtol=0, atol=0.02)


def test_a_level_without_direction_is_held_at_an_end() -> None:
    """What steps once says nothing of what follows; a line through it would lead away by 1.5 N in .8 s."""
    load = steps((2.2, 4.0))
    wrench = drifted(load, 4.0 * (TIME > 1.7), noise=0)
    assert np.abs((wrench - rest(wrench)[0] - load)[TIME > 2.3, 1]).max() < 0.7


def test_how_well_one_side_of_a_load_predicts_the_other() -> None:
    def error(dose: Any, load: Array = WALK, noise: float = 0.0) -> float:
        wrench = drifted(load, dose, noise=noise)
        rest_ = resting_wrench(wrench, block_means(wrench, RATE_HZ), MIDDLE, rate_hz=RATE_HZ)
        return float(rest_.prediction_error[0])

    size = float(np.linalg.norm(DRIFT[:3]))
    assert error(0 * TIME) < 1e-9
    assert error(60 * SHAPES["straight"]) < 1e-6, "a straight drift is known"
    assert error(4.0 * (TIME > 1.0)) == pytest.approx(4 * size, rel=0.05), "a jump under load"
    assert error(4.0 * (TIME > 1.65)) < 0.2 * 4 * size, "a jump between loads is no slope"
    assert error(0 * TIME, noise=1.0) < 0.5  # means of 150 samples of .5 N
    assert np.isnan(error(0 * TIME, steps((-0.5, 0.7)))), "no load has both sides"


def test_a_moment_that_a_load_leaves_behind_is_an_error_of_prediction() -> None:
    """A couple changes no force: 1.5 N m about the vertical after the load, wherever the plate lies."""
    couple = np.zeros_like(WALK)
    couple[:, 4] = 1.5 * (TIME > 1.0)
    wrench = drifted(WALK, 0 * TIME, noise=0) + couple
    for middle in (MIDDLE, MIDDLE + np.array([2.0, 0.0, -1.0])):
        error = resting_wrench(wrench, block_means(wrench, RATE_HZ), middle, rate_hz=RATE_HZ).prediction_error
        np.testing.assert_allclose(error, [0, 1.5], rtol=0, atol=0.02)


def test_how_far_the_unloaded_plate_wanders() -> None:
    """A straight drift is seen from the middle of the first 0.15 s to that of the last."""

    def wander(wrench: Array) -> float:
        return float(resting_wrench(wrench, block_means(wrench, RATE_HZ), MIDDLE, rate_hz=RATE_HZ).wander[0])

    seen = 1 - 0.15 / TIME[-1]
    assert wander(drifted(WALK, 10 * SHAPES["straight"], noise=0)) == pytest.approx(
        10 * seen * np.linalg.norm(DRIFT[:3]), rel=0.02
    )
    assert wander(WALK) < 1e-9
    assert wander(drifted(WALK, 0 * TIME)) < 1.0  # the noise of these plates is no doubt
    assert np.isnan(wander(steps((-0.5, 9.0))))
    brief = steps((-0.5, 0.3), (1.0, 9.0))  # unloaded for 0.7 s
    assert np.isnan(wander(drifted(brief, 0 * TIME)))
    assert wander(brief) == 0, "corrected by the lab's software"


@pytest.mark.parametrize("offset", [-250.0, -80.0, 25.0])
def test_large_offsets(offset: float) -> None:
    wrench = drifted(WALK, np.full(len(TIME), offset), noise=0)
    np.testing.assert_allclose((wrench - rest(wrench)[0])[:, 1], WALK[:, 1], rtol=0, atol=1e-9)


def test_an_upside_down_plate_is_unloaded_at_its_highest_level() -> None:
    """Its load is negative, so the lowest level is the load. Another check reports the wrong sign."""
    wrench = drifted(-WALK, np.full(len(TIME), 5.0), noise=0)
    np.testing.assert_allclose((wrench - rest(wrench)[0])[:, 1], -WALK[:, 1], rtol=0, atol=1e-9)


def test_a_light_touch_is_a_load() -> None:
    touch = np.where((TIME > 1.55) & (TIME < 1.75), 40 * np.sin(np.pi * (TIME - 1.55) / 0.2), 0.0)
    load = WALK + touch[:, None] * [0, 1, 0, 0, 0, 0]
    load[:, 3:] = np.cross(SPOT, load[:, :3])
    assert np.abs((load - rest(load)[0] - load)[:, 1]).max() < 1


@pytest.mark.parametrize("level", [25.0, 120.0, 600.0])
def test_a_person_on_a_plate_throughout_keeps_the_weight(level: float) -> None:
    sway = 0.1 * level * np.sin(2 * np.pi * 0.5 * TIME)
    force = (level + sway)[:, None] * [0.0, 1, 0]
    found, unknown = rest(np.hstack([force, np.cross(SPOT, force)]))
    np.testing.assert_array_equal(found, 0)
    assert np.isnan(unknown)


def test_named_frames_are_used_without_a_longer_unloaded_stretch() -> None:
    load = steps((0.04, 4.0))  # 40 ms of rest, less than a block
    load[40:, 1] += 100
    wrench = drifted(load, np.full(len(TIME), 8.0), noise=0)
    np.testing.assert_array_equal(rest(wrench)[0], 0)
    named, _ = rest(wrench, named=slice(0, 40))
    np.testing.assert_allclose(named[0, 1], 8, rtol=0, atol=1e-9)
    assert not rest(wrench, named=slice(1000, 1040))[0].any(), "a person is on the plate"


def test_missing_samples_are_not_unloaded_and_stay_missing() -> None:
    wrench = drifted(WALK, np.full(len(TIME), 12.0), noise=0)
    wrench[200:300] = np.nan
    found = wrench - rest(wrench)[0]
    np.testing.assert_allclose(
        np.delete(found, np.s_[200:300], axis=0)[:, 1], np.delete(WALK[:, 1], np.s_[200:300]), atol=1e-9
    )
    assert np.isnan(found[200:300]).all()


def test_each_plate_has_its_own_baseline() -> None:
    wrench = np.stack([drifted(WALK, 30 * SHAPES["straight"], noise=0), drifted(BELT, 5 + 0 * TIME, noise=0)], axis=1)
    found, known = subtract_baseline(wrench[..., :3], wrench[..., 3:], np.stack([CORNERS, CORNERS]), rate_hz=RATE_HZ)
    np.testing.assert_allclose(found[:, 0], WALK, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[:, 1], BELT, rtol=0, atol=1e-6)
    np.testing.assert_allclose(known["baseline"], [15 * DRIFT[:3], 5 * DRIFT[:3]], rtol=0, atol=0.01)
    assert (known["drift"] < 0.01).all()


# ---- real plates


def test_real_plates_with_large_offsets_read_zero_when_unloaded(shared: Path) -> None:
    """Two plates of this file read -212 and -181 N unloaded."""
    recording = read_c3d(shared / "data/c3dorg_sample10_types/TYPE-3.c3d")
    force, moment, corners, *_ = decode_plates(recording, np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]))
    assert np.percentile(force[..., 1], 2, axis=0).min() < -200
    wrench, known = subtract_baseline(force, moment, corners, rate_hz=recording.analog_rate_hz)
    vertical = wrench[..., 1]
    assert np.abs(np.percentile(vertical, 20, axis=0)).max() < 3  # unloaded for more than half of the trial
    assert vertical.max(axis=0).min() > 600
    assert known["drift"].max() < 10


def test_no_real_walk_has_a_large_drift(shared: Path) -> None:
    worst = {file: float(trial.plate_drift.max()) for file, trial in cleaned_walks(shared).items()}
    assert max(worst.values()) < 10, worst


AWAY = np.ones(len(TIME) // 50, dtype=bool)  # blocks of 50 ms
ON_PLATE = block_means(WALK[:, 1], RATE_HZ) > 1
NOT_NEAR = AWAY & ~np.convolve(ON_PLATE, np.ones(5), "same").astype(bool)  # a foot is near for 0.1 s before and after


def rest_without_feet(wrench: Array, away: NDArray[np.bool_]) -> tuple[Array, float]:
    return resting_wrench(wrench, block_means(wrench, RATE_HZ), MIDDLE, rate_hz=RATE_HZ, away=away)[:2]


@pytest.mark.parametrize("level", [46.0, 200.0, 700.0, -500.0])
@pytest.mark.parametrize("drift", [0.0, 200.0, -200.0])
def test_a_plate_without_a_foot_is_unloaded_whatever_it_reads(level: float, drift: float) -> None:
    """The drift begins with 210 N/s, which knots of 0.15 s follow with a delay of some newtons."""
    wrench = drifted(0 * WALK, level + drift * SHAPES["bent"])
    found, unknown = rest_without_feet(wrench, AWAY)
    assert np.abs((wrench - found)[:, 1]).max() < 5  # nothing is left that counts as a contact
    assert unknown < 3


@pytest.mark.parametrize("level", [0.0, 46.0, 200.0, -500.0])
@pytest.mark.parametrize("drift", [0.0, 30.0, 200.0, -200.0])
def test_the_level_without_a_foot_is_the_baseline_under_load(level: float, drift: float) -> None:
    wrench = drifted(WALK, level + drift * SHAPES["straight"], noise=0)
    found, unknown = rest_without_feet(wrench, NOT_NEAR)
    assert np.abs((wrench - found - WALK)[:, 1]).max() < 1e-6  # as above
    assert unknown < 1e-6


@pytest.mark.parametrize("other_n", [30.0, 90.0, 700.0])
@pytest.mark.parametrize("level", [46.0, 200.0])
def test_a_load_by_something_else_than_a_foot_is_not_the_baseline(other_n: float, level: float) -> None:
    """A cane or another person on the plate while the feet are elsewhere, for a while with a plateau."""
    other = np.interp(TIME, [0.05, 0.1, 0.4, 0.45], [0, other_n, other_n, 0])[:, None] * [0.0, 1, 0, 0, 0, 0]
    other[:, 3:] = np.cross(SPOT, other[:, :3])
    wrench = drifted(WALK + other, np.full(len(TIME), level), noise=0)
    found, _ = rest_without_feet(wrench, NOT_NEAR)
    loaded = WALK[:, 1] > 0
    np.testing.assert_allclose((wrench - found - WALK - other)[loaded, 1], 0, rtol=0, atol=1)


def test_feet_on_a_plate_with_wrong_corners_are_not_the_baseline() -> None:
    """Markers are never over the plate's corners, though the feet are on it."""
    wrench = drifted(WALK, np.full(len(TIME), 12.0))
    np.testing.assert_allclose(rest_without_feet(wrench, AWAY)[0], rest(wrench)[0], rtol=0, atol=1)


@pytest.mark.parametrize("dose", [15, 30, 60, 120, -15, -30, -120])
def test_a_jump_under_load_is_unknown_drift_also_beyond_a_known_level(dose: float) -> None:
    wrench = drifted(WALK, 200 + dose * (TIME > 1.0))
    size = abs(dose) * np.linalg.norm(DRIFT[:3])
    assert rest_without_feet(wrench, NOT_NEAR)[1] == pytest.approx(size, abs=3)


@pytest.mark.parametrize("slope_n", [0.0, 1.0])
def test_short_rests_long_before_the_end_show_only_a_real_drift(slope_n: float) -> None:
    """A treadmill: five rests of 0.25 s, then a foot on the belt for 5 s; 1 N of noise a block, and a drift or none."""
    noise = np.random.default_rng(4).normal(size=(200, 3))
    force = noise + slope_n * np.arange(200)[:, None] * [0, 1, 0]
    free = np.zeros(200, dtype=bool)
    for start in range(0, 100, 20):
        free[start : start + 5] = True
    force[~free, 1] += 600
    # three deviations of a vector's slope from 25 blocks over 85, carried on over the last 115
    error_n = 3 * np.sqrt(3) * 3.5 * 115 / (85 * np.sqrt(25))
    assert bound_unknown_drift(force, free) == pytest.approx(slope_n * 115, abs=error_n)
