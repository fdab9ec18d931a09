"""The metrics of a gait cycle, of walks with known angles, loads and distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.body.legs import legs_of
from pipeline.results.metrics import METRICS
from pipeline.results.schema import stacked_metrics
from pipeline.steps.cycles.effective_mass import effective_foot_mass
from pipeline.steps.cycles.peaks_and_work import peaks
from pipeline.steps.cycles.spatiotemporal import support
from tests.support.cut_walks import ANGLES, EVEN, JOINTS, LEG_M, PHASE, Array, amplitude, assert_metrics, pairs, trial
from tests.support.recordings import HALF_WIDTH_M, SPEED_M_S, STANCE_S, STRIDE_S, Walk, walk


@pytest.fixture(scope="module")
def known() -> Walk:
    return walk(strides=3)


def test_times_and_distances_over_ground(known: Walk) -> None:
    assert_metrics(trial(known).cut(), **EVEN)


def two_steps(**events: float) -> xr.Dataset:
    """Return events of the left foot by kind."""
    return xr.Dataset(
        {"event_time": ("event", list(events.values()))},
        {"event": list(events), "event_side": ("event", ["left"] * len(events))},
    )


def test_steps_of_different_length_and_a_foot_in_the_air() -> None:
    """A right cycle of 1 s: walking with a short left stance, running, skipping, a missing event of the left foot."""
    right: dict[str, Any] = {"side": "right", "start_s": 1.0, "off_s": 1.7, "end_s": 2.0}
    walked = support(two_steps(foot_off=1.1, foot_strike=1.6), **right)
    assert walked == pytest.approx({"step_time": 0.4, "single_support_share": 50, "double_support_share": 20})
    run = support(two_steps(foot_strike=1.5, foot_off=1.8), **(right | {"off_s": 1.3}))
    assert run == pytest.approx({"step_time": 0.5, "single_support_share": 30, "double_support_share": 0})
    skipped = support(two_steps(foot_off=1.8, foot_strike=1.9), **right)
    assert np.isnan([skipped["single_support_share"], skipped["double_support_share"]]).all()
    unseen = support(two_steps(foot_strike=1.6), **right)
    assert unseen["step_time"] == pytest.approx(0.4)
    assert np.isnan([unseen["single_support_share"], unseen["double_support_share"]]).all()


def test_ranges_of_motion(known: Walk) -> None:
    """From trough to crest of a sine for each joint and angle (pelvis: that of the ankle); NaN with a gap."""
    made = trial(known)
    result = made.cut()
    for joint, name in enumerate(JOINTS):
        for axis, angle in enumerate(ANGLES):
            # the crest is at most half a phase, 1.8 degrees, from a sample
            expected = pytest.approx(2 * amplitude(joint, axis), rel=2e-3)
            assert list(result[f"range_of_{name}_{angle}"].values) == [expected] * 5
    np.testing.assert_array_equal(result.range_of_pelvis_obliquity, result.range_of_ankle_adduction)
    made["kinematics"].joint_angle.loc[{"joint": "knee", "side": "right", "time": slice(0.5, 0.6)}] = np.nan
    lost = np.isnan(made.cut().range_of_knee_flexion.values)
    assert list(lost) == [True, False, False, False, False]


def test_times_and_distances_on_a_treadmill_of_given_speed() -> None:
    assert_metrics(trial(walk(strides=3, belt_m_s=SPEED_M_S)).cut(belt_speed_m_s=SPEED_M_S), **EVEN)


def test_the_speed_of_a_treadmill_is_that_of_the_feet_in_stance() -> None:
    assert_metrics(trial(walk(strides=3, belt_m_s=SPEED_M_S)).cut(), **EVEN)


def test_a_given_belt_speed_wins_over_the_estimate() -> None:
    result = trial(walk(strides=3, belt_m_s=SPEED_M_S)).cut(belt_speed_m_s=1.0)
    assert_metrics(result, walking_speed=1.0, stride_length=STRIDE_S)


def test_a_hidden_heel_affects_distances_not_times(known: Walk) -> None:
    made = trial(known)
    hidden = made["clean"].marker_position.copy()
    start = pairs(known, "right")[0][0].start_s
    hidden.loc[{"marker": "heel_right", "time": slice(start - 0.05, start + 0.05)}] = np.nan
    made["clean"] = made["clean"].assign(marker_position=hidden)
    first = made.cut().isel(cycle=0)
    assert np.isnan([first[name] for name in ("stride_length", "step_length", "step_width", "walking_speed")]).all()
    assert float(first.stride_time) == pytest.approx(STRIDE_S)
    assert float(first.stance_share) == pytest.approx(100 * STANCE_S / STRIDE_S)


def test_a_heel_without_marker_affects_distances_only(known: Walk) -> None:
    made = trial(known)
    made["clean"] = made["clean"].drop_sel(marker="heel_right")
    result = made.cut()
    assert np.isnan(result.stride_length[result.side == "right"]).all()
    assert_metrics(result.isel(cycle=result.side == "left"), stride_length=SPEED_M_S * STRIDE_S)
    assert_metrics(result, stride_time=STRIDE_S)


def test_effective_foot_mass_is_that_of_the_strike(known: Walk) -> None:
    """The same posture at every strike, with a left leg of twice the mass; kinetics are not needed."""
    made = trial(known, reasons={0: "two feet on the plate"})
    result = made.cut()
    trial_data = (made["kinematics"], made["contacts"], made["calibrate"])
    legs = legs_of(*trial_data, gravity_m_s2=0, smallest_floating_axis=0.1)
    right = effective_foot_mass(legs, legs.centre[:, :, 0] - LEG_M[0])[0, 1]
    expected = np.where(result.side == "left", 2 * right, right)
    np.testing.assert_allclose(result.effective_foot_mass, expected, rtol=1e-9)  # rounding metres from the origin


def test_a_shank_hidden_at_one_strike_affects_the_effective_mass_of_that_cycle(known: Walk) -> None:
    made = trial(known)
    start = pairs(known, "right")[0][0].start_s
    com = made["kinematics"].com_position.copy()
    com.loc[{"side": "right", "segment": "shank", "time": slice(start - 0.02, start + 0.02)}] = np.nan
    made["kinematics"] = made["kinematics"].assign(com_position=com)
    lost = np.isnan(made.cut().effective_foot_mass)
    assert list(lost.values) == [True, False, False, False, False]


def test_impulses_of_a_sine_over_stance() -> None:
    """One sign for half a stride of 1 s, the other from there to foot off: 1 / 2 pi times 2, or 1 + cos."""
    result = trial(walk(stride_s=1.0)).cut()
    late = (1 + np.cos(2 * np.pi * float(result.stance_share[0]) / 100)) / (2 * np.pi)
    assert late > 0.05
    expected = {
        "ankle_plantarflexor": amplitude(0, 0) * late, "knee_extensor": amplitude(1, 0) * late,
        "knee_flexor": amplitude(1, 0) / np.pi, "knee_abductor": amplitude(1, 1) * late,
        "hip_extensor": amplitude(2, 0) * late, "hip_flexor": amplitude(2, 0) / np.pi,
        "hip_abductor": amplitude(2, 1) * late,
    }  # fmt: skip
    for name, value in expected.items():
        # the trapezoid of a sine over 100 intervals loses (2 pi / 100)^2 / 12 of its area
        np.testing.assert_allclose(result[f"impulse_of_{name}_moment"], value, rtol=1e-3, err_msg=name)
    np.testing.assert_array_equal([result.impulse_of_braking_force, result.impulse_of_propulsive_force], 0)


def test_work_of_a_moment_in_phase_with_the_angle() -> None:
    """Four phases, + - + -, each of half moment times angle; 0 if none has its peak in a window."""
    result = trial(walk(stride_s=1.0)).cut()
    joints = {"a": 0, "k": 1, "h": 2}
    signs = {"a1": -1, "a2": 1, "k1": 0, "k2": 1, "k3": 0, "k4": -1, "h1": 1, "h2": -1, "h3": 1}
    for name, sign in signs.items():
        size = amplitude(joints[name[0]], 0)
        expected = sign * size * np.radians(size) / 2
        # the trapezoid of a curve against itself is exact: rounding only
        np.testing.assert_allclose(result[f"work_{name}"], expected, rtol=1e-9, atol=1e-9, err_msg=name)


def bump(centre: float, size: float) -> Array:
    """Return a curve over the cycle that is ``size`` at ``centre`` percent and nearly zero 15 percent away."""
    return np.asarray(size * np.exp(-(((PHASE - centre) / 5) ** 2)))


def test_every_peak_has_its_joint_sign_and_part_of_the_cycle() -> None:
    """Stance until 60 %: a larger bump of the same curve in the other part of the cycle does not count."""
    angle, moment = np.zeros((2, 3, 3, 101))
    angle[0, 0] = bump(45, 12) - bump(65, 20) + bump(85, 30)
    angle[1, 0] = bump(15, 18) + bump(45, 25) + bump(72, 62)
    angle[2, 0] = bump(0, 33) - bump(52, 11)
    moment[0, 0] = -bump(48, 1.4) + bump(5, 2.0)
    moment[1, 0] = -bump(14, 0.6) - bump(90, 0.9) + bump(40, 1.5)
    moment[1, 1] = -bump(20, 0.45) - bump(80, 0.8)
    moment[2, 0] = -bump(8, 0.7) + bump(50, 1.1)
    moment[2, 1] = -bump(30, 0.95) - bump(95, 1.3)
    power = np.stack([bump(54, 3.1) - bump(30, 5), bump(15, 9), bump(60, 9)])
    force = np.stack([bump(52, 2.1) - bump(10, 1.7), bump(15, 11.5) + bump(48, 10.8), bump(50, 20)])
    expected = {
        "peak_ankle_dorsiflexion": 12, "peak_ankle_plantarflexion": 20, "peak_knee_flexion_stance": 18,
        "peak_knee_flexion": 62, "peak_hip_flexion": 33, "peak_hip_extension": 11,
        "peak_ankle_plantarflexor_moment": 1.4, "peak_knee_extensor_moment": 0.6, "peak_knee_abductor_moment": 0.45,
        "peak_hip_extensor_moment": 0.7, "peak_hip_abductor_moment": 0.95, "peak_ankle_power": 3.1,
        "peak_vertical_force": 11.5, "peak_braking_force": 1.7, "peak_propulsive_force": 2.1,
    }  # fmt: skip
    curves = {"joint_angle": angle, "joint_moment_jcs": moment, "joint_power": power, "ground_force": force}
    instants = dict(zip(expected, (45, 65, 15, 72, 0, 52, 48, 14, 20, 8, 30, 54, 15, 10, 52), strict=True))
    expected |= {f"phase_of_{name}": instant for name, instant in instants.items()}
    got = peaks(curves, stance_share=60.4)
    assert set(got) == {name for name in METRICS if "peak_" in name}
    assert got == pytest.approx(expected, rel=1e-3)  # what is left of one bump at the next
    assert peaks(curves, stance_share=np.nan) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("names", [[*METRICS][1:], [*METRICS, "stride_count"]])
def test_metrics_are_those_of_the_table(names: list[str]) -> None:
    with pytest.raises(ValueError, match=r"stride_(time|count)'\]: in metrics.py or in step cycles only"):
        stacked_metrics(dict.fromkeys(names, np.ones(2)))


def test_peaks_of_missing_curves_are_missing() -> None:
    nothing = {name: np.full((3, 3, 101), np.nan) for name in ("joint_angle", "joint_moment_jcs")}
    nothing |= {name: np.full((3, 101), np.nan) for name in ("joint_power", "ground_force")}
    assert np.isnan(list(peaks(nothing, stance_share=60).values())).all()


def test_normalised_curves_and_metrics(known: Walk) -> None:
    """Legs of 0.82 m: moments divided by height and by g l, powers by g sqrt(g l); NaN without a height."""
    made = trial(known)
    made["calibrate"].attrs["body_height_m"] = 1.6
    names = ["joint_moment_per_height", "joint_moment_dimensionless", "joint_power_dimensionless"]
    result = made.cut(further_curves=names)
    leg_m, gravity = LEG_M[2, 1] - LEG_M[0, 1], 9.80665
    np.testing.assert_allclose(result.joint_moment_per_height, result.joint_moment_jcs / 1.6, rtol=1e-12)
    expected = result.joint_moment_jcs / (gravity * leg_m)
    np.testing.assert_allclose(result.joint_moment_dimensionless, expected, rtol=1e-12)
    expected = result.joint_power / (gravity * np.sqrt(gravity * leg_m))
    np.testing.assert_allclose(result.joint_power_dimensionless, expected, rtol=1e-12)
    expected = {
        "leg_length": leg_m, "walking_speed_dimensionless": SPEED_M_S / np.sqrt(gravity * leg_m),
        "stride_length_dimensionless": SPEED_M_S * STRIDE_S / leg_m,
        "step_length_dimensionless": SPEED_M_S * STRIDE_S / 2 / leg_m,
        "step_width_dimensionless": 2 * HALF_WIDTH_M / leg_m,
        "stride_time_dimensionless": STRIDE_S / np.sqrt(leg_m / gravity),
        "cadence_dimensionless": 2 / STRIDE_S * np.sqrt(leg_m / gravity),
        "stride_length_per_height": SPEED_M_S * STRIDE_S / 1.6, "step_length_per_height": SPEED_M_S * STRIDE_S / 3.2,
    }  # fmt: skip
    assert_metrics(result, **expected)
    made["calibrate"].attrs["body_height_m"] = np.nan
    nameless = made.cut(further_curves=names)
    assert np.isnan(nameless.joint_moment_per_height).all()
    assert np.isnan(nameless.step_length_per_height).all()
