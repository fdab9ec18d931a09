"""Step ``cycles``: curves and verdicts of walks with known angles and loads; for metrics see test_metrics."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pipeline.conventions import CHAIN, SIDES, STANDARD_GRAVITY_M_S2, UP
from pipeline.dynamics.interaction_torques import MOTIONS
from pipeline.errors import Problem, UserError
from pipeline.person.size_findings import MASS_WRONG
from pipeline.steps.cycles.shown import NOT_SEEN
from pipeline.steps.kinetics.cross_checks import CAUSES
from pipeline.tables.corrections import WHY, in_results
from pipeline.trials.session import join_trials, one_trial
from pipeline.variables.cycle_variables import ON_REQUEST
from pipeline.variables.schema import describe
from pipeline.variables.stance_verdicts import Verdict, accepted, as_text, doubt_columns
from pipeline.variables.verdict_table import ACCEPTED
from tests.support.settings import settings_of
from tests.support.steps import cycles
from tests.support.walks.as_clean import PEAK_N, STANCE_S, STRIDE_S, Walk, walk
from tests.support.walks.for_cycles import (
    EVEN,
    KINETICS,
    MASS_KG,
    PHASE,
    ROUNDING,
    Trial,
    amplitude,
    assert_metrics,
    hide,
    left_out_by_hand,
    pairs,
    trial,
    wave,
)


@pytest.fixture(scope="module")
def known() -> Walk:
    return walk(strides=3)


def test_a_cycle_lasts_from_strike_to_strike(known: Walk) -> None:
    """In order of time; the incomplete first and last stance of the trial start no cycle."""
    result = trial(known).cut()
    strikes = [(step, following) for side in SIDES for step, following in pairs(known, side)]
    expected = sorted((step.start_s, following.start_s, step.side) for step, following in strikes)
    got = zip(result.start_time.values, result.end_time.values, result.side.values, strict=True)
    assert [(start, end, str(side)) for start, end, side in got] == expected
    assert len(expected) == 5
    np.testing.assert_array_equal(result.phase, PHASE)


def test_curves_are_linear_between_frames(known: Walk) -> None:
    """A stride of 1.1 s has phases between frames: equal to numpy's interpolation, and near the sine."""
    made = trial(known)
    result = made.cut()
    time = made["clean"].time.values
    chord = (2 * np.pi / STRIDE_S * 0.01) ** 2 / 8  # how far a sine of amplitude 1 leaves its chord over a frame
    for i in range(result.sizes["cycle"]):
        row = result.isel(cycle=i)
        instants = np.linspace(float(row.start_time), float(row.end_time), 101)
        linear = np.interp(instants, time, wave(known, time, str(row.side.item())))
        for joint in range(3):
            for axis in range(3):
                curve = row.joint_angle.values[joint, axis] / amplitude(joint, axis)
                np.testing.assert_allclose(curve, linear, rtol=0, atol=ROUNDING)
                np.testing.assert_allclose(curve, np.sin(2 * np.pi * PHASE / 100), rtol=0, atol=chord + ROUNDING)


def test_kinetics_are_per_body_mass(known: Walk) -> None:
    result = trial(known).cut()
    for name in ("joint_moment_jcs", "joint_force"):
        np.testing.assert_allclose(result[name].values, result.joint_angle.values, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(result.joint_power.values, result.joint_angle.values[:, :, 0], rtol=0, atol=ROUNDING)
    # the top of the half sine lies between two frames
    np.testing.assert_allclose(result.peak_vertical_force, PEAK_N / MASS_KG, rtol=1e-3)


def test_an_invalid_stance_has_angles_but_no_kinetics(known: Walk) -> None:
    """The second footfall, a left one, starts the second cycle."""
    result = trial(known, reasons={1: "two_feet_on_plate"}).cut()
    assert list(result.kinetics_valid.values) == [True, False, True, True, True]
    assert (result.reason.values != "").tolist() == [False, True, False, False, False]
    for name in KINETICS:
        assert np.isnan(result[name][1]).all(), name
        assert np.isfinite(result[name].drop_isel(cycle=1)).all(), name
    assert np.isfinite(result.joint_angle).all()
    assert np.isnan(result.peak_ankle_power[1])
    assert np.isfinite(result.peak_knee_flexion_stance).all()
    assert list(result.stance_code.values).count("two_feet_on_plate") == 1
    assert list(result.stance_plates.values).count("") == 1


def test_doubts_of_contact_and_trial_mark_the_stances_and_leave_their_kinetics(known: Walk) -> None:
    """The contacts of two stances are doubted, one of which is refused; so is all of the trial, by two steps."""
    reasons = {1: "two_feet_on_plate"}
    sound, made = trial(known, reasons=reasons).cut(), trial(known, reasons=reasons)
    refused = sound.stance_code.values != ""
    doubted = refused | (np.arange(len(refused)) == np.flatnonzero(~refused)[1])
    frozen, noisy = Verdict.of("markers_frozen", first=1.0, last=2.0), Verdict.of("markers_noisy", mm=2.0, error=0.1)
    unlike = Verdict.of("static_unlike", mm=9.0)
    made["contacts"] = made["contacts"].assign_coords(
        doubt_values=("contact", np.where(doubted, as_text([frozen]), ""))
    )
    made["clean"].attrs["doubt_values"] = as_text([noisy, unlike])
    made["kinetics"].attrs["doubt_values"] = as_text([unlike])
    result = made.cut()
    listed = [
        [] if out else [frozen, noisy, unlike][not of_contact :]
        for out, of_contact in zip(refused, doubted, strict=True)
    ]
    for name, expected in doubt_columns(listed).items():
        np.testing.assert_array_equal(result[f"stance_{name}"], expected)
    for name in KINETICS:
        np.testing.assert_array_equal(result[name], sound[name], err_msg=name)
    assert not sound.stance_doubt.values.any()


@pytest.mark.parametrize(
    ("severity", "heavier", "doubted"), [("error", 1.1, True), ("error", 1.0, False), ("warning", 1.1, False)]
)
def test_a_wrong_mass_makes_all_stances_of_the_session_doubtful(
    known: Walk, severity: str, heavier: float, doubted: bool
) -> None:
    """Not one that plates may show wrongly, or that they carry. Doubted kinetics stay; a setting uses them."""
    made = trial(known)
    step_s = np.diff([step.start_s for step in known.steps]).mean()
    first, force = known.steps[0], made["contacts"].ground_force.values  # of steps that are half-sines
    weight_n = MASS_KG * STANDARD_GRAVITY_M_S2
    force *= weight_n * step_s * np.pi / 2 / (first.end_s - first.start_s) / force[..., UP].max()
    finding = Problem("p1", "mass_kg is 90, but plates show 70", "correct", MASS_WRONG, severity)
    made["calibrate"].attrs |= {"findings": json.dumps([finding._asdict()]), "body_mass_kg": MASS_KG * heavier}
    for setting in ("leave_out", "use"):
        result = made.cut(doubted_stances=setting)
        for codes in (result.stance_doubt_code, result.doubt_code):
            assert np.char.count(codes.values.astype(str), "mass_disagrees").tolist() == [doubted] * codes.size
        assert ("mass_kg is 90" in str(result.doubt.values[0])) == doubted
        used = setting == "use" or result.doubt_code.values == ""
        assert (result.kinetics_valid.values == used).all()
        assert (result.stance_used.values == (setting == "use" or result.stance_doubt_code.values == "")).all()
        assert np.isfinite(result.joint_power).all()


def test_stances_of_a_leg_whose_knee_is_narrower_than_its_ankle_are_doubted(known: Walk) -> None:
    """Widths of 102 and 70 mm and a marker of 14 mm, exchanged on the left."""
    made = trial(known)
    made["calibrate"]["chord_radius"][0] = [0.058, 0.042, np.nan]
    result = made.cut()
    doubted = np.char.count(result.stance_doubt_code.values.astype(str), "joint_widths_exchanged") > 0
    assert (doubted == (result.stance_side.values == "left")).all()
    assert not trial(known).cut().stance_doubt_code.values.any()


def test_a_cycle_left_out_by_hand_has_distances_but_no_curves(known: Walk) -> None:
    """The start may be given to two digits; its stance is rejected for the same reason."""
    whole = trial(known).cut()
    start, side = float(whole.start_time[1]), str(whole.side[1].item())
    result = trial(known).cut(left_out=[(side, round(start, 2), "stumbled")])
    assert list(result.reason.values) == ["", "left out by hand: stumbled", "", "", ""]
    assert list(result.kinetics_valid.values) == [True, False, True, True, True]
    for name in (*KINETICS, "joint_angle", "pelvis_angle", "foot_progression", "effective_foot_mass", "work_a1"):
        assert np.isnan(result[name][1]).all(), name
        np.testing.assert_array_equal(result[name].drop_isel(cycle=1), whole[name].drop_isel(cycle=1), err_msg=name)
    assert np.isnan(result.range_of_knee_flexion[1])
    assert_metrics(result, **EVEN)
    rejected = result.stance_reason.values != ""
    assert list(result.stance_side.values[rejected]) == [side]
    assert list(result.stance_start.values[rejected]) == [start]


def test_a_cycle_to_leave_out_must_exist(known: Walk) -> None:
    """A strike 0.1 s away, or of the other side, does not match."""
    start = float(trial(known).cut().start_time[0])
    with pytest.raises(
        UserError, match=f"no right cycle or stance starts at {start + 0.1:g} s.*start at {start:.2f}, "
    ):
        trial(known).cut(left_out=[("right", start + 0.1, "stumbled")])
    with pytest.raises(UserError, match="no left cycle"):
        trial(known).cut(left_out=[("left", start, "stumbled")])


def test_a_stance_with_too_small_a_peak_force_is_rejected(known: Walk) -> None:
    """800 N of 70 kg are 1.165 body weights: rejected at 1.2. Incomplete stances are not judged by their peak."""
    body_weights = PEAK_N / (MASS_KG * 9.80665)
    assert trial(known).cut(min_peak_force_body_weights=body_weights - 0.01).kinetics_valid.all()
    result = trial(known).cut(min_peak_force_body_weights=body_weights + 0.01)
    assert not result.kinetics_valid.any()
    assert {*result.stance_code.values} == {"", "force_too_low"}
    assert all(f" {body_weights:.2f} " in reason for reason in result.reason.values)
    cut_by_the_trial = (result.stance_start <= 0) | (result.stance_end >= float(walk(strides=3).end_s) - 0.011)
    assert (result.stance_reason[cut_by_the_trial] == "").all()


def accepted_at(made: Trial, start_s: float) -> Trial:
    """Return a trial with the contact that begins then accepted by hand."""
    mine = made["contacts"].contact_start.values == start_s
    columns = doubt_columns(accepted("seen", []) if one else [] for one in mine)
    doubts = {name: ("contact", texts) for name, texts in columns.items()}
    return Trial(made | {"contacts": made["contacts"].assign_coords(doubts)})


def test_a_stance_accepted_by_hand_is_used_and_marked_with_what_refuses_it(known: Walk) -> None:
    """One that nothing speaks against needs no acceptance, and hidden markers cannot be accepted."""
    too_high, step = PEAK_N / (MASS_KG * 9.80665) + 0.01, known.seen()[0]
    result = accepted_at(trial(known), step.start_s).cut(min_peak_force_body_weights=too_high)
    assert result.kinetics_valid.values.tolist() == (result.start_time.values == step.start_s).tolist()
    marked = result.isel(cycle=int(np.flatnonzero(result.kinetics_valid)[0]))
    assert marked.doubt_code.item() == f"{ACCEPTED} force_too_low"
    assert np.isfinite(marked.joint_power).all()
    with pytest.raises(UserError, match=r"accept_contact .*: the contact is used already; .*remove the row"):
        accepted_at(trial(known), step.start_s).cut()
    hidden = accepted_at(trial(known), step.start_s)
    hide(hidden, step.side, step.start_s + 0.2, step.start_s + 0.3, why=NOT_SEEN)
    with pytest.raises(UserError, match="no person can accept it: "):
        hidden.cut()


def test_markers_missing_in_a_stance_are_named(known: Walk) -> None:
    made = trial(known)
    step = known.seen()[0]
    hidden = made["clean"].marker_position.copy()
    hidden.loc[{"marker": ["toe_right", "heel_left"], "time": slice(0.4, 0.8)}] = np.nan
    made["clean"] = made["clean"].assign(marker_position=hidden).assign_attrs(landmarks_absent="sacrum")
    hide(made, "right", 0.4, 0.8, why=NOT_SEEN)
    result = made.cut()
    row = int(np.flatnonzero(result.stance_start == step.start_s)[0])
    seen = result.stance_seen_percent.values[row]
    assert seen == pytest.approx(100 * (1 - 0.4 / STANCE_S), abs=2)  # within a frame
    assert result.stance_code.values[row] == "markers_not_seen"
    assert f"{seen:.0f} % is known: toe_right;" in result.stance_reason.values[row]
    assert (np.delete(result.stance_reason.values, row) == "").all()


def test_seen_markers_without_a_pose_are_no_gap(known: Walk) -> None:
    """Another person's static trial: its leg fits nowhere, and the doubt about the trial says why."""
    made = trial(known)
    hide(made, "right", 0.4, 0.5, why=NOT_SEEN)
    row = int(np.flatnonzero(made.cut().stance_start == known.seen()[0].start_s)[0])
    assert str(made.cut().stance_code.values[row]) == "leg_without_pose"
    made["kinematics"] = made["kinematics"].assign_attrs(doubt="another person's", doubt_code="static_unlike")
    assert str(made.cut().stance_reason.values[row]).endswith("static trial: another person's")


def test_formulations_that_differ_reject_every_stance_of_the_trial(known: Walk) -> None:
    """One differing moment is enough; a stance with a reason keeps it."""
    made = trial(known, reasons={1: "two_feet_on_plate"})
    made["kinetics"].disagreement.loc[{"formulation": "recursion"}] = [0.5, 2.5e-5]
    assert made.cut(max_disagreement_n_m=2.6e-5).kinetics_valid.sum() == 4
    result = made.cut(max_disagreement_n_m=2.4e-5)
    assert not result.kinetics_valid.any()
    codes = result.stance_code.values.tolist()
    assert sum("2.5e-05" in reason for reason in result.stance_reason.values) == len(codes) - 1
    assert codes.count("two_feet_on_plate") == 1
    assert codes.count("formulations_differ") == result.sizes["stance"] - 1
    for name in KINETICS:
        assert np.isnan(result[name]).all(), name
    assert np.isfinite(result.joint_angle).all()
    np.testing.assert_array_equal(result.stance_disagreement, 2.5e-5)


def test_differing_forces_of_the_formulations_reject_nothing(known: Walk) -> None:
    made = trial(known)
    made["kinetics"].disagreement.loc[{"load": "force"}] = 1.0
    assert made.cut().kinetics_valid.all()


def test_every_stance_has_the_closures_of_its_side(known: Walk) -> None:
    """Root mean square over three angles: 0, 1, 2 degrees at the left ankle, 15, 16, 17 at the right hip."""
    result = trial(known).cut()
    left = (result.stance_side == "left").values
    assert 0 < left.sum() < len(left)
    rows = {"left": [[0, 1, 2], [3, 4, 5], [6, 7, 8]], "right": [[9, 10, 11], [12, 13, 14], [15, 16, 17]]}
    for side, inside in (("left", left), ("right", ~left)):
        expected = [np.sqrt(np.mean(np.square(angles))) for angles in rows[side]]
        np.testing.assert_allclose(result.stance_forward_closure[inside], [expected] * inside.sum())
    np.testing.assert_array_equal(result.stance_energy_closure[left], [[0, 1, 2]] * left.sum())
    np.testing.assert_array_equal(result.stance_energy_closure[~left], [[3, 4, 5]] * (~left).sum())
    assert list(result.segment.values) == list(CHAIN)


def test_every_stance_has_the_distance_of_its_legs_markers(known: Walk) -> None:
    """3 mm at the foot, 4 at the shank; the thigh's are not known and the pelvis's are not of the leg."""
    found = trial(known).cut().stance_marker_residual_rms_mm
    np.testing.assert_allclose(found, np.sqrt((9 + 16) / 2))


def test_every_stance_says_how_well_the_knee_marker_of_its_leg_is_watched(known: Walk) -> None:
    result = trial(known).cut()
    expected = np.where(result.stance_side == "left", 20.0, np.inf)
    np.testing.assert_allclose(result.stance_knee_marker_unseen_mm, expected)


def test_further_curves_exist_on_request_only(known: Walk) -> None:
    made = trial(known, reasons={1: "two_feet_on_plate"})
    assert not set(made.cut().data_vars) & set(ON_REQUEST)
    assert "cause" not in made.cut().dims
    result = made.cut(further_curves=["interaction_torque"])
    assert set(result.data_vars) & set(ON_REQUEST) == {"interaction_torque"}
    assert list(result.cause.values) == list(CAUSES)
    assert list(result.motion.values) == list(MOTIONS)
    everything = made.cut(further_curves=list(ON_REQUEST))
    assert set(ON_REQUEST) <= set(everything.data_vars)
    for name in ON_REQUEST:
        angle = name.startswith(("joint_angle", "pelvis_angle", "foot_progression"))
        assert np.isnan(everything[name][1]).all() != angle, name
        assert np.isfinite(everything[name].drop_isel(cycle=1)).all(), name


def test_curves_over_stance_begin_with_the_strike_and_end_with_foot_off(known: Walk) -> None:
    """The sine while the foot is on the ground, 7 of 11 parts; NaN if the foot off is not known."""
    names = ["joint_angle_in_stance", "joint_power_in_stance", "ground_force_in_stance"]
    made = trial(known)
    time = made["clean"].time.values
    result = made.cut(further_curves=names)
    assert result.joint_angle_in_stance.dims == ("cycle", "joint", "angle", "stance_phase")
    np.testing.assert_array_equal(result.stance_phase, PHASE)
    for i in range(result.sizes["cycle"]):
        row = result.isel(cycle=i)
        instants = float(row.start_time) + np.linspace(0, STANCE_S, 101)
        linear = np.interp(instants, time, wave(known, time, str(row.side.item())))
        curve = row.joint_angle_in_stance.values[2, 1] / amplitude(2, 1)
        np.testing.assert_allclose(curve, linear, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(row.joint_power_in_stance[2], linear * amplitude(2, 0), rtol=0, atol=30 * ROUNDING)
    # half a sine of force: symmetric about mid-stance; linear interpolation is below it
    force = result.ground_force_in_stance.sel(axis="y") * MASS_KG
    chord = PEAK_N * (np.pi / STANCE_S * 0.01) ** 2 / 8
    inside = slice(2, 99)  # the frames around strike and foot off straddle the corner of the curve
    expected = np.broadcast_to(PEAK_N * np.sin(np.pi * PHASE / 100), force.shape)
    np.testing.assert_allclose(force[:, inside], expected[:, inside], rtol=0, atol=chord + ROUNDING)
    blind = without_event(trial(known), kind="foot_off", time_s=pairs(known, "right")[0][0].end_s)
    lost = np.isnan(blind.cut(further_curves=names).joint_angle_in_stance).all(("joint", "angle", "stance_phase"))
    assert list(lost.values) == [True, False, False, False, False]


def test_interaction_torques_are_per_body_mass(known: Walk) -> None:
    """Each contribution is its number times the curve of joint and angle."""
    result = trial(known).cut(further_curves=["interaction_torque", "external_moment_jcs"])
    for i, cause in enumerate(CAUSES):
        for j, motion in enumerate(MOTIONS):
            share = result.interaction_torque.sel(cause=cause, motion=motion)
            np.testing.assert_allclose(share, (1 + 2 * i + j) * result.joint_angle, rtol=0, atol=ROUNDING)
    np.testing.assert_array_equal(result.external_moment_jcs, -result.joint_moment_jcs)


def test_missing_samples_stay_where_they_are() -> None:
    """Frames are phases here: only the hidden frames are missing."""
    made = trial(walk(stride_s=1.0))
    start = float(made.cut().start_time[0])
    frame = round(start * 100)
    angle = made["kinematics"].joint_angle.copy()
    angle[frame + 20 : frame + 25, 1] = np.nan  # the first cycle is a right one
    made["kinematics"] = made["kinematics"].assign(joint_angle=angle)
    result = made.cut()
    missing = np.isnan(result.joint_angle[0]).all(("joint", "angle"))
    assert list(PHASE[missing]) == [20, 21, 22, 23, 24]
    assert np.isnan(result.joint_angle[0]).any(("joint", "angle")).sum() == 5
    assert np.isfinite(result.joint_angle[1]).all()
    assert np.isnan(result.peak_knee_flexion_stance[0]), "the peak may be among the missing samples"
    assert float(result.peak_knee_flexion_stance[1]) == pytest.approx(amplitude(1, 0) * np.sin(2 * np.pi * 0.25))


def test_a_time_between_strikes_beyond_the_longest_is_not_a_cycle(known: Walk) -> None:
    assert trial(known).cut(longest_cycle_s=STRIDE_S - 0.01).sizes["cycle"] == 0
    assert trial(known).cut(longest_cycle_s=STRIDE_S + 0.01).sizes["cycle"] == 5


def without_event(made: Trial, *, kind: str, time_s: float) -> Trial:
    contacts = made["contacts"]
    gone = (contacts.event.values == kind) & (contacts.event_time.values == time_s)
    assert gone.sum() == 1
    made["contacts"] = contacts.isel(event=~gone)
    return made


def test_a_missing_strike_is_not_bridged(known: Walk) -> None:
    """Two strides of the right foot with two foot offs between them are not one slow cycle."""
    second = pairs(known, "right")[0][1].start_s
    result = without_event(trial(known), kind="foot_strike", time_s=second).cut()
    durations = (result.end_time - result.start_time).values
    assert durations.max() == pytest.approx(STRIDE_S)
    assert list(result.side.values).count("right") == 1


def test_a_missing_foot_off_affects_only_the_stance_time(known: Walk) -> None:
    first_off = pairs(known, "right")[0][0].end_s
    result = without_event(trial(known), kind="foot_off", time_s=first_off).cut()
    assert result.sizes["cycle"] == 5
    assert np.isnan(result.stance_time[0])
    assert np.isfinite(result.stance_time[1:]).all()
    assert np.isfinite(result.stride_time).all()


def test_a_trial_without_events_has_stances_but_no_cycles(known: Walk) -> None:
    made = trial(known)
    made["contacts"] = made["contacts"].isel(event=slice(0))
    result = made.cut()
    assert result.sizes["cycle"] == 0
    assert result.sizes["stance"] == made["contacts"].sizes["contact"]
    assert result.joint_angle.shape == (0, 3, 3, 101)


# ---- sessions


def test_the_cycles_of_a_session_are_those_of_its_trials(known: Walk) -> None:
    """Trials of different length, of which one has no cycle and one is rejected; arguments of single trials."""
    trials = {
        "long": trial(known),
        "short": trial(walk(strides=2), reasons={0: "no_plate"}),
        "none": trial(walk(strides=0)),
    }
    strike = known.seen()[0]
    by_trial: dict[str, dict[str, Any]] = {
        "long": {"corrections": left_out_by_hand([(strike.side, strike.start_s, "stumbled")])},
        "wrong": {"corrections": left_out_by_hand([("left", 99.0, "no such cycle")])},
    }
    names = ("kinetics", "kinematics", "contacts", "clean")
    listed = {"long": trials["long"], "wrong": trials["long"], "short": trials["short"], "none": trials["none"]}
    sessions = [join_trials({label: made[name] for label, made in listed.items()}) for name in names]
    settings = settings_of("cycles", further_curves=["joint_moment_dimensionless", "joint_moment_jcs_in_stance"])
    found = cycles(*sessions, trials["long"]["calibrate"], settings=settings, by_trial=by_trial)
    assert describe("cycles", found).sizes["cycle"] == found.sizes["cycle"]
    assert not found.rejected.values.astype(bool).any()
    (unfit,) = in_results([found.attrs])[1]  # and the trial is as without this row
    assert "no left cycle or stance starts at 99 s" in unfit[WHY]
    del by_trial["wrong"]
    for label, made in listed.items():
        alone = cycles(*(made[name] for name in (*names, "calibrate")), settings=settings, **by_trial.get(label, {}))
        here = one_trial(found, label)
        for name, values in alone.variables.items():
            np.testing.assert_array_equal(here[name], values, err_msg=f"{label}: {name}")
    assert one_trial(found, "none").sizes["cycle"] == 0
