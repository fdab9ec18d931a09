"""The metrics of a gait cycle, of walks with known angles, loads and distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.body.effective_mass import effective_foot_mass
from pipeline.body.legs import legs_of
from pipeline.plates.incline import VERTICAL
from pipeline.steps.cycles.peaks_and_work import peaks
from pipeline.steps.cycles.spatiotemporal import support
from pipeline.variables.metrics import METRICS
from pipeline.variables.schema import stack_metrics
from tests.support.walks.as_clean import HALF_WIDTH_M, SPEED_M_S, STANCE_S, STRIDE_S, Walk, walk
from tests.support.walks.for_cycles import (
    ANGLES,
    EVEN,
    JOINTS,
    LEG_M,
    PHASE,
    Array,
    amplitude,
    assert_metrics,
    pairs,
    trial,
)


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


def test_times_and_distances_on_a_treadmill() -> None:
    assert_metrics(trial(walk(strides=3, belt_m_s=SPEED_M_S)).cut(), **EVEN)


def test_each_side_has_the_speed_of_its_belt() -> None:
    made = trial(walk(strides=3, belt_m_s=SPEED_M_S))
    made["contacts"]["belt_speed"][0] = 1.0
    result = made.cut()
    assert_metrics(result.isel(cycle=result.side == "left"), walking_speed=1.0, stride_length=STRIDE_S)
    assert_metrics(result.isel(cycle=result.side == "right"), walking_speed=SPEED_M_S)


def test_a_hidden_heel_affects_distances_not_times(known: Walk) -> None:
    made = trial(known)
    hidden = made["clean"].marker_position.copy()
    start = pairs(known, "right")[0][0].start_s
    hidden.loc[{"marker": "heel_right", "time": slice(start - 0.05, start + 0.15)}] = np.nan
    made["clean"] = made["clean"].assign(marker_position=hidden)
    first = made.cut().isel(cycle=0)
    assert np.isnan([first[name] for name in ("stride_length", "step_width", "walking_speed")]).all()
    assert float(first.step_length) == pytest.approx(EVEN["step_length"]), "it ends the cycle"
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
    made = trial(known, reasons={0: "two_feet_on_plate"})
    result = made.cut()
    trial_data = (made["kinematics"], made["contacts"], made["calibrate"])
    legs = legs_of(*trial_data, gravity_m_s2=0, smallest_floating_axis=0.1)
    right = effective_foot_mass(legs, legs.centre[:, :, 0] - LEG_M[0], VERTICAL)[0, 1]
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


def bumps(*tops: tuple[float, float], base: float = 0.0) -> Array:
    """Return a curve over the cycle with tops of given percent and size, nearly ``base`` 10 percent away from them."""
    return np.asarray(base + sum(size * np.exp(-(((PHASE - centre) / 4) ** 2)) for centre, size in tops))


def made_curves() -> dict[str, Array]:
    """Return curves in which larger tops of the same sign lie outside every window, many of them at foot strike."""
    angle, moment = np.zeros((2, 3, 3, 101))
    angle[0, 0] = bumps((3, 30), (45, 12), (63, -20), (80, 5), (12, -25))
    angle[1, 0] = bumps((15, 18), (40, -4), (72, 62), (98, 70), (60, 30)) - bumps((85, 20))
    angle[2, 0] = bumps((30, 40), (52, -11), (90, 33), (5, 31))
    moment[0, 0] = bumps((3, -2), (48, -1.4), (80, -3))
    moment[1, 0] = bumps((2, -0.9), (14, -0.6), (40, 0.3), (90, 1.5))
    moment[1, 1] = bumps((2, -0.9), (18, -0.45), (45, -0.3), (80, -0.8))
    moment[2, 0] = bumps((2, -0.9), (12, -0.5), (50, 1.1), (90, -2))
    moment[2, 1] = bumps((2, -3), (20, -0.95), (45, -0.8), (95, -1.3))
    power = np.stack([
        bumps((3, -4), (30, -0.7), (54, 3.1), (80, 5)),
        bumps((2, -3), (12, -1), (22, 0.6), (60, -1.2), (93, -0.9), (75, 2)),
        bumps((2, 3), (14, 0.8), (42, -0.7), (64, 1.3), (95, 2)),
    ])  # fmt: skip
    force = np.stack([
        bumps((2, -5), (14, -1.7), (52, 2.1), (80, 4)),
        bumps((2, 16), (15, 11.5), (30, 7), (48, 10.8)),
        bumps((50, 20)),
    ])  # fmt: skip
    both = bumps((3, 4), (53, 2.4), (80, 5))
    return {
        "joint_angle": angle, "joint_moment_jcs": moment, "joint_power": power, "ankle_foot_power": both,
        "ground_force": force,
    }  # fmt: skip


EXPECTED = {  # value and percent, of a foot off at 60 %
    "peak_ankle_dorsiflexion": (12, 45), "peak_ankle_dorsiflexion_swing": (5, 80),
    "peak_ankle_plantarflexion": (20, 63),
    "peak_knee_flexion_stance": (18, 15), "peak_knee_extension_stance": (4, 40), "peak_knee_flexion": (62, 72),
    "peak_hip_flexion": (33, 90), "peak_hip_extension": (11, 52), "peak_ankle_plantarflexor_moment": (1.4, 48),
    "peak_knee_extensor_moment": (0.6, 14), "peak_knee_flexor_moment": (0.3, 40),
    "peak_knee_abductor_moment": (0.45, 18), "peak_knee_abductor_moment_first": (0.45, 18),
    "peak_knee_abductor_moment_second": (0.3, 45), "peak_hip_extensor_moment": (0.5, 12),
    "peak_hip_flexor_moment": (1.1, 50), "peak_hip_abductor_moment": (0.95, 20), "peak_ankle_power": (3.1, 54),
    "peak_ankle_foot_power": (2.4, 53),
    "peak_power_a1": (-0.7, 30), "peak_power_k1": (-1, 12), "peak_power_k2": (0.6, 22), "peak_power_k3": (-1.2, 60),
    "peak_power_k4": (-0.9, 93), "peak_power_h1": (0.8, 14), "peak_power_h2": (-0.7, 42), "peak_power_h3": (1.3, 64),
    "peak_vertical_force": (11.5, 15), "peak_vertical_force_first": (11.5, 15),
    "peak_vertical_force_second": (10.8, 48),
    "peak_braking_force": (1.7, 14), "peak_propulsive_force": (2.1, 52),
}  # fmt: skip


@pytest.mark.parametrize("stance_share", [60.4, np.nan])
def test_every_peak_has_its_joint_sign_and_window(stance_share: float) -> None:
    """A larger top of the same curve in another part of the cycle, above all at foot strike, does not count."""
    got = peaks(made_curves(), stance_share=stance_share)
    for name, (value, percent) in EXPECTED.items():
        assert got[name] == pytest.approx(value, rel=0.01), name  # what is left of one bump at the next
        assert abs(got[f"phase_of_{name}"] - percent) <= 1, name
    assert set(got) == {name for name in METRICS if "peak_" in name or "lowest_" in name}


def test_the_valley_of_vertical_force_is_between_its_peaks() -> None:
    curves = made_curves()
    curves["ground_force"][1] = bumps((15, 4), (48, 3), base=7)
    got = peaks(curves, stance_share=60)
    assert got["lowest_vertical_force"] == pytest.approx(7, rel=1e-3)
    assert 22 < got["phase_of_lowest_vertical_force"] < 42


def test_a_curve_that_only_falls_after_foot_strike_has_no_peak_there() -> None:
    """The flank of an impact at 2 % is the largest value of early stance, but no peak of the hip extensors."""
    curves = made_curves()
    curves["joint_moment_jcs"][2, 0] = -2 * np.exp(-PHASE / 10)
    got = peaks(curves, stance_share=60)
    assert np.isnan([got["peak_hip_extensor_moment"], got["phase_of_peak_hip_extensor_moment"]]).all()


def test_a_spike_of_one_sample_is_part_of_its_flank_and_no_peak() -> None:
    curves = made_curves()
    curves["joint_moment_jcs"][2, 0] = -2 * np.exp(-PHASE / 10)
    curves["joint_moment_jcs"][2, 0, 7] *= 1.08  # above 6 and 8 %, below 5 %
    assert np.isnan(peaks(curves, stance_share=60)["peak_hip_extensor_moment"])


def test_hip_flexion_has_its_peak_at_either_side_of_foot_strike() -> None:
    """The top of a flat curve lies before, at or after foot strike; in loading response it counts as well."""
    for top in (88, 97, 100, 0, 4):
        curves = made_curves()
        away = np.abs((PHASE - top + 50) % 100 - 50)
        curves["joint_angle"][2, 0] = 30 * np.cos(np.pi * away / 100)
        got = peaks(curves, stance_share=60)
        assert got["peak_hip_flexion"] == pytest.approx(30, abs=0.05)
        assert abs((got["phase_of_peak_hip_flexion"] - top + 50) % 100 - 50) <= 1, top


def test_a_phase_without_power_of_its_sign_has_no_peak() -> None:
    """Tops of a curve of the other sign: no propulsion, no push-off; an angle or moment has the sign that it has."""
    curves = {name: values - 40 for name, values in made_curves().items()}
    got = peaks(curves, stance_share=60)
    assert np.isnan([got["peak_ankle_power"], got["peak_propulsive_force"], got["peak_power_h3"]]).all()
    assert got["peak_hip_flexion"] == pytest.approx(-7, abs=0.1)


@pytest.mark.parametrize("names", [[*METRICS][1:], [*METRICS, "stride_count"]])
def test_metrics_are_those_of_the_table(names: list[str]) -> None:
    with pytest.raises(ValueError, match=r"stride_(time|count)'\]: in metrics.py or in step cycles only"):
        stack_metrics(dict.fromkeys(names, np.ones(2)))


def test_peaks_of_missing_curves_are_missing() -> None:
    nothing: dict[str, Array] = {name: np.full((3, 3, 101), np.nan) for name in ("joint_angle", "joint_moment_jcs")}
    nothing |= {name: np.full((3, 101), np.nan) for name in ("joint_power", "ground_force")}
    nothing |= {"ankle_foot_power": np.full(101, np.nan)}
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
