"""Step ``cycles``: curves and metrics of stances, whether or not a whole gait cycle follows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest
import xarray as xr

from pipeline.results.study_file import load_study
from pipeline.steps.cycles.shown import NEAR_AN_END, NOT_SEEN
from pipeline.variables.cycle_variables import STANCE_CURVES
from pipeline.variables.metrics import METRICS, OF_STANCE
from tests.support.studies.small_study import write_outputs
from tests.support.walks.as_clean import PEAK_N, STANCE_S, Walk, walk
from tests.support.walks.for_cycles import MASS_KG, PHASE, ROUNDING, amplitude, hide, trial, wave

PEAKS = [name for name in OF_STANCE if name.startswith("peak_")]
DEMO_WALK, DEMO_SIDE = "comfortable_02", "right"
LATER_S = 0.2  # filters of 10 Hz make the last 80 ms uncertain; a plate is doubted that is not seen unloaded for 150 ms


@pytest.fixture(scope="module")
def known() -> Walk:
    return walk(strides=3)


def of_stance(result: xr.Dataset, name: str) -> Any:
    """Return a metric of all whole stances."""
    return result.metric_value_of_stance.values[:, [*METRICS].index(name)]


def whole(result: xr.Dataset) -> Any:
    """Return the numbers of the whole stances among all."""
    return np.flatnonzero(result.stance_whole.values)


def test_every_stance_with_both_ends_has_curves_from_strike_to_off(known: Walk) -> None:
    """Also the last ones, without a following strike; equal to numpy's interpolation between frames."""
    made = trial(known)
    result = made.cut()
    time = made["clean"].time.values
    steps = [step for step in known.steps if step.start_s > time[0] and step.end_s < time[-1]]
    assert len(steps) == len(whole(result)) > result.sizes["cycle"]
    for number, i in enumerate(whole(result)):
        start, end = result.stance_start.values[i], result.stance_end.values[i]
        assert any(np.allclose((step.start_s, step.end_s), (start, end)) for step in steps)
        instants = start + PHASE / 100 * (end - start)
        linear = np.interp(instants, time, wave(known, time, str(result.stance_side[i].item())))
        for joint in range(3):
            moment = result.joint_moment_jcs_of_stance.values[number, joint, 2] / amplitude(joint, 2)
            np.testing.assert_allclose(moment, linear, rtol=0, atol=ROUNDING)
            angle = result.joint_angle_of_stance.values[number, joint, 1] / amplitude(joint, 1)
            np.testing.assert_allclose(angle, linear, rtol=0, atol=ROUNDING)
        # the top of the half sine lies between two frames
        assert of_stance(result, "peak_vertical_force")[number] == pytest.approx(PEAK_N / MASS_KG, rel=1e-3)
    np.testing.assert_allclose(of_stance(result, "stance_time"), STANCE_S, atol=ROUNDING)


def test_metrics_that_stance_alone_does_not_define_are_absent(known: Walk) -> None:
    result = trial(known).cut()
    present = np.isfinite(result.metric_value_of_stance.values).any(axis=0)
    assert {name for name, there in zip(METRICS, present, strict=True) if there} <= {*OF_STANCE}
    of_sines = {"peak_knee_flexion_stance", "peak_vertical_force"}
    assert {*of_sines, "stance_time", "leg_length"} <= {
        name for name, there in zip(METRICS, present, strict=True) if there
    }


def test_other_stances_have_no_curves(known: Walk) -> None:
    """Rejected, cut by an end of the recording, without a foot off, or left out by hand."""
    every = trial(known).cut()
    last = whole(every)[-1]
    side, start = str(every.stance_side[last].item()), float(every.stance_start[last])
    assert not ((every.side == side) & (np.abs(every.start_time - start) < 0.01)).any(), "it has no cycle"
    rejected = trial(known, reasons={1: "two_feet_on_plate"}).cut()
    without_off = trial(known)
    events = without_off["contacts"]
    kept = np.abs(events.event_time.values - float(every.stance_end[last])) > ROUNDING
    without_off["contacts"] = events.isel(event=kept)
    left_out = trial(known).cut(left_out=[(side, round(start, 2), "stumbled")])
    for result in (rejected, without_off.cut(), left_out):
        assert len(whole(result)) == len(whole(every)) - 1
        for name in STANCE_CURVES:
            assert len(result[name]) == len(whole(result)), name
            assert np.isfinite(result[name]).all(), name
    assert left_out.stance_code.values[last] == "left_out_by_hand"
    assert (left_out.reason == "").all()


@pytest.mark.parametrize("why", [NOT_SEEN, NEAR_AN_END])
def test_a_stance_with_a_gap_keeps_what_the_gap_does_not_touch(known: Walk, why: int) -> None:
    """What is unknown is NaN, and a metric is that of the whole stance or unknown."""
    made, whole_one, step = trial(known), trial(known).cut(), known.seen()[0]
    first_s, last_s = step.start_s + 0.5 * STANCE_S, step.start_s + 0.6 * STANCE_S
    if why == NOT_SEEN:
        markers = made["clean"].marker_position.copy()
        markers.loc[{"marker": f"toe_{step.side}", "time": slice(first_s, last_s)}] = np.nan
        made["clean"] = made["clean"].assign(marker_position=markers)
    hide(made, step.side, first_s, last_s, why=why)
    found, i = made.cut(), int(np.flatnonzero(whole_one.stance_start == step.start_s)[0])
    assert found.stance_used.values.all()
    assert found.stance_whole.values.tolist() == whole_one.stance_whole.values.tolist()
    assert found.stance_seen_percent.values[i] == pytest.approx(90, abs=2)
    others = [np.delete(each.stance_seen_percent.values, i) for each in (found, whole_one)]
    np.testing.assert_array_equal(others[0], others[1])
    row = int(np.flatnonzero(whole(found) == i)[0])
    curves = found.joint_moment_jcs_of_stance.values[row], whole_one.joint_moment_jcs_of_stance.values[row]
    unknown = np.isnan(curves[0]).all(axis=(0, 1))
    assert unknown[50:60].all()
    assert not unknown[:48].any()
    assert not unknown[63:].any()
    np.testing.assert_array_equal(curves[0][..., ~unknown], curves[1][..., ~unknown])
    metrics = found.metric_value_of_stance.values[row], whole_one.metric_value_of_stance.values[row]
    same = metrics[0] == metrics[1]
    assert (same | np.isnan(metrics[0])).all()
    lost = {name for name, kept, known_before in zip(METRICS, same, np.isfinite(metrics[1]), strict=True)
            if known_before and not kept}  # fmt: skip
    assert "impulse_of_knee_extensor_moment" in lost
    assert "peak_knee_extensor_moment" not in lost  # of early stance
    assert "peak_vertical_force" not in lost  # of the plate alone


@pytest.mark.parametrize(
    ("first", "last", "used"),
    [(-0.2, 0.15, True), (0.85, 1.2, True), (0.4, 0.45, False), (-0.2, 0.2, False), (0.8, 1.2, False)],
)
def test_a_leg_that_is_implausible_in_double_support_alone_leaves_the_rest(
    known: Walk, first: float, last: float, used: bool
) -> None:
    """As it is in the swing beside it; in single support it refuses the stance."""
    made, step = trial(known), known.seen()[1]
    first_s, last_s = step.start_s + first * STANCE_S, step.start_s + last * STANCE_S
    hide(made, step.side, first_s, last_s, why=NOT_SEEN)
    flags = made["kinematics"].implausible.copy()
    flags.loc[{"time": slice(first_s, last_s), "side": step.side}] = 1
    made["kinematics"] = made["kinematics"].assign(implausible=flags)
    found = made.cut()
    i = int(np.flatnonzero(found.stance_start == step.start_s)[0])
    assert found.stance_code.values[i] == ("" if used else "leg_implausible")
    assert found.stance_seen_percent.values[i] < 95
    assert (np.delete(found.stance_code.values, i) == "").all()


@pytest.mark.parametrize(("share", "used"), [(0.45, True), (0.55, False)])
def test_a_stance_is_refused_of_which_less_than_half_is_known(known: Walk, share: float, used: bool) -> None:
    made, step = trial(known), known.seen()[0]
    hide(made, step.side, step.start_s - 0.1, step.start_s + share * STANCE_S, why=NEAR_AN_END)
    found = made.cut()
    i = int(np.flatnonzero(found.stance_start == step.start_s)[0])
    assert (found.stance_code.values[i] == "") == used
    assert used or found.stance_code.values[i] == "near_an_end"
    assert (np.delete(found.stance_code.values, i) == "").all()


def test_what_a_recording_cuts_off_is_no_swing_beside_an_implausible_leg(known: Walk) -> None:
    """It begins in single support, where the leg is implausible at once."""
    step = known.seen()[0]
    from_s = step.start_s + 0.4 * STANCE_S
    made = trial(replace(known, start_s=from_s))
    hide(made, step.side, from_s, from_s + 0.08 * STANCE_S, why=NOT_SEEN)
    flags = made["kinematics"].implausible.copy()
    flags.loc[{"time": slice(from_s, from_s + 0.08 * STANCE_S), "side": step.side}] = 1
    made["kinematics"] = made["kinematics"].assign(implausible=flags)
    found = made.cut()
    i = int(np.flatnonzero((found.stance_side == step.side) & (found.stance_start <= from_s + 0.01))[0])
    assert found.stance_code.values[i] == "leg_implausible"


def test_a_stance_that_the_recording_cuts_off_counts_as_long_as_the_others(known: Walk) -> None:
    """It is used, but without a foot strike it has no curve."""
    step = known.seen()[0]
    from_s = step.start_s + 0.4 * STANCE_S
    found = trial(replace(known, start_s=from_s)).cut()
    i = int(np.flatnonzero((found.stance_side == step.side) & (found.stance_start <= from_s + 0.01))[0])
    assert found.stance_seen_percent.values[i] == pytest.approx(60, abs=2)
    assert found.stance_code.values[i] == ""
    assert not found.stance_whole.values[i]


@pytest.mark.parametrize(("known_percent", "doubted"), [(20.0, True), (30.0, False)])
def test_a_part_that_no_law_judges_is_doubted(known: Walk, known_percent: float, doubted: bool) -> None:
    """Where neither hips, and so momentum, nor the residual are known; a whole stance is not doubted for it."""
    made, step = trial(known), known.seen()[0]
    centres = made["kinematics"]["joint_centre_velocity"].copy()
    made["kinematics"]["joint_centre_velocity"] = centres * np.nan
    hide(made, step.side, step.start_s, step.start_s + 0.2 * STANCE_S, why=NEAR_AN_END)
    time, until_s = made["kinetics"].time, step.start_s + known_percent / 100 * STANCE_S
    for load in ("force", "moment"):
        name = f"pelvis_residual_{load}"
        made["kinetics"][name] = made["kinetics"][name].where((time >= step.start_s) & (time < until_s))
    found = made.cut()
    i = int(np.flatnonzero(found.stance_start == step.start_s)[0])
    codes = [code.split() for code in found.stance_doubt_code.values.tolist()]
    assert ("part_unjudged" in codes[i]) == doubted
    seen = found.stance_seen_percent.values.tolist()
    assert not any("part_unjudged" in of for of, percent in zip(codes, seen, strict=True) if percent == 100)


def test_a_stance_and_its_cycle_have_the_same_metrics(known: Walk) -> None:
    """Samples are at whole percents of each; a half sine of 0.7 s loses up to (pi / 100)^2 / 8 of its peak by that.

    The half sine has its top between two windows, so that which of them has it depends on the samples.
    """
    result = trial(known).cut()
    compared = set()
    for number, i in enumerate(whole(result)):
        same = (result.side == result.stance_side[i]) & (np.abs(result.start_time - result.stance_start[i]) < 0.01)
        if same.any():
            cycle = result.isel(cycle=int(np.argmax(same.values)))
            inside = [name for name in PEAKS if np.isfinite(cycle[name]) and not name.endswith(("_first", "_second"))]
            compared |= {*inside}
            for name in inside:
                assert of_stance(result, name)[number] == pytest.approx(float(cycle[name]), rel=2e-3), name
            for name in ("impulse_of_propulsive_force", "impulse_of_hip_abductor_moment"):
                assert of_stance(result, name)[number] == pytest.approx(float(cycle[name]), rel=2e-3), name
    assert len(compared) > 4


def test_a_walk_cut_after_foot_off_has_the_metrics_of_the_whole_walk(tmp_path: Path) -> None:
    """From the recording: a stance that loses its cycle by a shorter recording keeps its numbers."""
    longer = write_outputs(tmp_path / "longer", walk=DEMO_WALK, draws=0)
    cycles, stances = (one_of(longer, part) for part in ("cycle", "stance"))
    shorter = write_outputs(
        tmp_path / "shorter", walk=DEMO_WALK, draws=0, change=cut_at(float(stances.end_time) + LATER_S)
    )
    found = one_of(shorter, "stance")
    assert int(found.cycle) == -1
    assert int(stances.cycle) == int(cycles.cycle)
    for name in OF_STANCE:
        # a plate's unloaded level is found from fewer samples, and filters end elsewhere: 0.2 % at most
        near = pytest.approx(float(stances[name]), rel=5e-3, abs=1e-3, nan_ok=True)
        assert float(found[name]) == near, name
    for name, peak in (("joint_angle", 30.0), ("joint_moment_jcs", 1.5), ("joint_power", 4.3)):
        away = np.abs(found[name].values - stances[name].values)
        assert away.max() < 0.01 * peak, name


def cut_at(end_s: float) -> Any:
    """Return the change of a study that ends a walk at an instant."""

    def change(study: Path) -> None:
        path = study / "sub-01" / f"{DEMO_WALK}.c3d"
        content = ezc3d.c3d(str(path))
        data, rate = content["data"], content["header"]["points"]["frame_rate"]
        frames = int(end_s * rate) - content["header"]["points"]["first_frame"] + 1
        per_frame = data["analogs"].shape[2] // data["points"].shape[2]
        data["points"], data["analogs"] = data["points"][..., :frames], data["analogs"][..., : frames * per_frame]
        for name in ("residuals", "camera_masks"):
            data["meta_points"][name] = data["meta_points"][name][..., :frames]
        content.write(str(path))

    return change


def one_of(study: Path, part: Any) -> xr.Dataset:
    """Return the first cycle, or stance, of the right side of the walk."""
    rows = load_study(study, part=part)
    mine = np.flatnonzero((rows.trial.values == DEMO_WALK) & (rows.side.values == DEMO_SIDE))
    return rows.isel({part: int(mine[0])})
