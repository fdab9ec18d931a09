"""Impulses and work of joint moments: closed forms, separate phases, and the work summed over all axes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.steps.cycles.peaks_and_work import AREAS, BURSTS, impulses, peaks, work
from tests.support.checkout import DEMO
from tests.support.studies.run_steps import ResultsOf

Array = NDArray[np.float64]
PHASE = np.arange(101.0)
NOTHING = np.zeros((3, 3, 101))


def loads(moment: Array = NOTHING, *, force: Array = NOTHING[0], angle: Array = NOTHING) -> dict[str, Array]:
    """Return the curves of one cycle."""
    power = force[0]
    curves = {"joint_moment_jcs": moment, "ground_force": force, "joint_angle": angle}
    return curves | {"foot_power": power, "ankle_foot_power": -power}


@pytest.mark.parametrize("stance_share", [60.0, 62.5])
def test_the_impulse_of_half_a_sine_is_its_mean_times_stance(stance_share: float) -> None:
    """Extensor in the first half of stance, flexor in the second; swing does not count."""
    moment = NOTHING.copy()
    moment[1, 0] = np.where(np.ceil(stance_share) < PHASE, 5.0, -0.8 * np.sin(2 * np.pi * PHASE / stance_share))
    moment[1, 1] = -0.4
    got = impulses(loads(moment), stance_share=stance_share, stride_s=1.1)
    half_s = stance_share / 100 * 1.1 / 2
    # the trapezoid of a sine over 60 intervals loses (2 pi / 60)^2 / 12 of its area
    assert got["impulse_of_knee_extensor_moment"] == pytest.approx(0.8 * 2 / np.pi * half_s, rel=1e-3)
    assert got["impulse_of_knee_flexor_moment"] == pytest.approx(0.8 * 2 / np.pi * half_s, rel=1e-3)
    assert got["impulse_of_knee_abductor_moment"] == pytest.approx(0.4 * 2 * half_s)
    assert got["impulse_of_hip_abductor_moment"] == 0


def test_a_change_of_sign_between_samples_is_interpolated() -> None:
    """From -1 to 3 N m/kg over the stance: the area of the triangle before the crossing, which is at 15.25 %."""
    moment = NOTHING.copy()
    moment[2, 0] = -1 + 4 * PHASE / 61
    got = impulses(loads(moment), stance_share=61, stride_s=1.0)
    assert got["impulse_of_hip_extensor_moment"] == pytest.approx(1 * 0.1525 / 2)
    assert got["impulse_of_hip_flexor_moment"] == pytest.approx(3 * 0.4575 / 2)


def test_a_gap_in_stance_makes_an_impulse_nan_and_one_in_swing_does_not() -> None:
    moment = NOTHING + 1
    moment[..., 80] = np.nan
    assert np.isfinite([*impulses(loads(moment), stance_share=60, stride_s=1).values()]).all()
    assert np.isnan([*impulses(loads(moment), stance_share=np.nan, stride_s=1).values()]).all()
    moment[..., 30] = np.nan
    assert np.isnan([*impulses(loads(moment, force=moment[0]), stance_share=60, stride_s=1).values()]).all()


def test_work_of_the_foot_is_the_area_of_its_power_in_stance() -> None:
    """From -2 to 3 W/kg: triangles at either side of zero; swing does not count."""
    force = np.full((3, 101), 7.0)
    force[0] = np.where(PHASE <= 60, -2 + 5 * PHASE / 60, -7)
    got = impulses(loads(force=force), stance_share=60, stride_s=1.2)
    assert got["work_foot_negative"] == pytest.approx(-2 * 0.288 / 2)
    assert got["work_foot_positive"] == pytest.approx(3 * 0.432 / 2)
    assert got["work_ankle_foot_negative"] == pytest.approx(-3 * 0.432 / 2)
    assert got["work_ankle_foot_positive"] == pytest.approx(2 * 0.288 / 2)


def test_braking_and_propulsion_change_the_speed() -> None:
    """From -2 to 3 N/kg: braking and propulsion are the triangles at either side of zero; swing does not count."""
    force = np.full((3, 101), 7.0)
    force[0] = np.where(PHASE <= 60, -2 + 5 * PHASE / 60, -7)
    got = impulses(loads(force=force), stance_share=60, stride_s=1.2)
    assert got["impulse_of_braking_force"] == pytest.approx(2 * 0.288 / 2)
    assert got["impulse_of_propulsive_force"] == pytest.approx(3 * 0.432 / 2)


def test_a_gap_in_its_window_makes_a_peak_unknown_and_one_outside_does_not() -> None:
    """The highest sample may be the missing one. The window is from 40 % of stance to its end."""
    moment = NOTHING.copy()
    moment[1, 0] = np.sin(np.pi * PHASE / 100)
    whole = loads(moment) | {"joint_power": NOTHING[0]}
    assert peaks(whole, stance_share=60)["peak_knee_flexor_moment"] == pytest.approx(1.0)
    for missing, known in ((50, False), (55, False), (15, True), (70, True)):
        moment[1, 0] = np.sin(np.pi * PHASE / 100)
        moment[1, 0, missing] = np.nan
        found = peaks(loads(moment) | {"joint_power": NOTHING[0]}, stance_share=60)
        for name in ("peak_knee_flexor_moment", "phase_of_peak_knee_flexor_moment"):
            assert np.isfinite(found[name]) == known, (missing, name)


def test_a_top_beside_a_gap_is_a_peak_only_if_nothing_in_the_gap_can_be_higher() -> None:
    """A curve that rises to the end of the window and a lower top before it; then that top alone is beside the gap."""
    vertical = np.exp(-(((PHASE - 12) / 4) ** 2)) + 2 * np.exp(-(((PHASE - 29) / 4) ** 2))
    forces = np.stack([0 * vertical, vertical, 0 * vertical])

    def first_peak(missing: slice) -> float:
        given = forces.copy()
        given[:, missing] = np.nan
        found = peaks(loads(NOTHING) | {"joint_power": NOTHING[0], "ground_force": given}, stance_share=60)
        return float(found["peak_vertical_force_first"])

    assert first_peak(slice(0, 0)) == pytest.approx(2.0, abs=1e-6)  # at 29 of 30 %
    assert np.isnan(first_peak(slice(31, 40))), "the lower top was taken"
    assert first_peak(slice(40, 60)) == pytest.approx(2.0, abs=1e-6)


def motion_of(power: Array) -> dict[str, Array]:
    """Return angle and moment (3, 3, 101) that do the work ``power`` (joint, 101) per percent, by a steady turn."""
    angle = np.degrees(np.broadcast_to(PHASE, NOTHING.shape))
    return loads(np.stack([power, 0 * power, 0 * power], axis=1), angle=angle.copy())


def test_each_phase_has_the_work_of_its_own_bursts() -> None:
    """Half sines of known area, end to end, at the phases that Winter's figures show; off at 60 %."""
    spans: dict[int, list[tuple[int, int, float]]] = {
        0: [(8, 40, -1), (40, 64, 4)],
        1: [(2, 12, -2), (12, 30, 1), (48, 72, -1.5), (76, 98, -0.7)],
        2: [(0, 26, 1), (26, 50, -0.8), (50, 76, 1.2)],
    }
    power = np.zeros((3, 101))
    for joint, bursts in spans.items():
        for start, end, size in bursts:
            inside = (start <= PHASE) & (end >= PHASE)
            power[joint, inside] = size * np.sin(np.pi * (PHASE[inside] - start) / (end - start))
    expected = [size * 2 / np.pi * (end - start) for bursts in spans.values() for start, end, size in bursts]
    got = work(motion_of(power), stance_share=60)
    assert list(got) == [*BURSTS]
    # the trapezoid of half a sine over n = 10 intervals loses pi^2 / (12 n^2) = 0.8 % of it
    assert list(got.values()) == pytest.approx(expected, rel=0.01)


def test_work_is_what_a_spring_stores() -> None:
    """The ankle as a spring of 2 N m/kg a radian that bends by 0.2 rad and gives back: A1 = -k x^2 / 2 = - A2."""
    x = 0.2 * np.sin(np.pi * PHASE / 60) * (PHASE < 60)
    angle, moment = NOTHING.copy(), NOTHING.copy()
    angle[0, 0], moment[0, 0] = np.degrees(x), -2 * x
    got = work(loads(moment, angle=angle), stance_share=60)
    assert got["work_a1"] == pytest.approx(-0.04)  # exact: the trapezoid of a straight line
    assert got["work_a2"] == pytest.approx(0.04)
    assert all(value == 0 for name, value in got.items() if "_a" not in name)


def test_work_does_not_depend_on_the_other_sign_of_motion_and_moment() -> None:
    rng = np.random.default_rng(0)
    angle, moment = rng.normal(size=(2, 3, 3, 101)).cumsum(axis=-1)
    assert work(loads(moment, angle=angle), stance_share=60) == work(loads(-moment, angle=-angle), stance_share=60)
    mirrored = work(loads(-moment, angle=angle), stance_share=60)
    assert any(mirrored[name] != value for name, value in work(loads(moment, angle=angle), stance_share=60).items())


@pytest.mark.parametrize(("gap", "lost"), [(20, {"work_a1"}), (50, {"work_a1", "work_a2"}), (90, set())])
def test_a_gap_costs_the_phases_it_may_belong_to(gap: int, lost: set[str]) -> None:
    """In the window, or next to a phase that may have continued: 50 % is in the windows of A1 and A2."""
    power = np.where(PHASE < 40, -1.0, np.where(PHASE < 62, 2.0, 0.0)) * np.ones((3, 1))
    curves = motion_of(power)
    curves["joint_angle"][0, 0, gap] = np.nan
    got = work(curves, stance_share=60)
    assert {name for name, value in got.items() if np.isnan(value)} == lost


def test_the_work_of_all_axes_is_the_integral_of_power(results_of: ResultsOf) -> None:
    """A second way: M . (w_distal - w_proximal) over time against the sum of the three axes' M d(theta)."""
    compared = 0
    for session in results_of(DEMO).values():
        for steps in session.trials.values():
            cut = steps["cycles"].isel(cycle=steps["cycles"].kinetics_valid.values)
            moment, turn = cut.joint_moment_jcs.values, np.diff(np.radians(cut.joint_angle.values))
            along = ((moment[..., 1:] + moment[..., :-1]) / 2 * turn).sum(axis=(-1, -2))
            power = cut.joint_power.values
            step_s = (cut.end_time - cut.start_time).values[:, None, None] / 100
            over_time = ((power[..., 1:] + power[..., :-1]) / 2 * step_s).sum(axis=-1)
            # percent-wide trapezoids of curves with 6 to 10 Hz in them
            np.testing.assert_allclose(along, over_time, rtol=0, atol=0.005)
            compared += np.isfinite(along).sum()
            for name in AREAS:
                assert (cut[name] * (-1 if name.endswith("negative") else 1) >= 0).all()
            for name, (part, _) in BURSTS.items():
                assert (part.sign * cut[name].dropna("cycle") >= 0).all(), name
    assert compared > 20
