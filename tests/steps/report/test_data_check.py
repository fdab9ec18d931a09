"""Is the data good? The findings of ``check`` reach the report, which agrees with it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.commands.check.command import check
from pipeline.commands.show import show
from pipeline.json_text import from_text
from pipeline.results import netcdf
from pipeline.results.study_file import load_study
from pipeline.steps.contacts import contact_checks
from pipeline.steps.contacts.plate_contacts import Contact
from pipeline.steps.report.data_check import BAD, GOOD, LOOK, UNKNOWN, DataCheck, data_check
from pipeline.steps.report.tables import totals
from pipeline.trials import left_out
from pipeline.trials.left_out import LeftOut
from pipeline.variables.stance_verdicts import Verdict, as_text
from pipeline.variables.verdict_table import DOUBTS, VERDICTS, Row
from tests.support.checkout import DEMO, copy_study, keep_rows
from tests.support.files.changes import edit
from tests.support.studies.for_report import Page, calibrated
from tests.support.studies.small_study import run_steps
from tests.support.studies.typed_rows import typed

ROW = {
    "participant": "p1", "session": "s1", "trial": "walk", "condition": "slow", "plates": "1",
    "stance_seen_percent": "100.0",
    "disagreement_n_m": "2e-13", "knee_axis_error_deg": "2.0", "knee_axis_in_step": "0.3",
    "knee_adduction_range_deg": "5.0", "hip_rotation_mean_deg": "3.0",
    "reason": "", "reason_values": "", "doubt_values": "",
}  # fmt: skip
USED = [{**ROW, "side": side, "verdict": "used", "code": "", "reason": ""} for side in ("left", "right")]
CYCLES = [{**row, "part": "cycle", "kinetics_valid": "True", "doubt_code": ""} for row in USED for _ in range(3)]


def checked(cycles: list[dict[str, str]], quality: list[dict[str, str]], trials: Any, models: Any) -> DataCheck:
    rows, stances = typed("metrics", cycles), typed("quality", quality)
    return data_check(rows, stances, trials, models, totals(rows, stances))


def judged(quality: list[dict[str, str]], **facts: object) -> DataCheck:
    return checked(CYCLES, quality, {"s1": {"walk": facts}}, {"s1": calibrated()})


def state_of(found: DataCheck, title: str) -> str:
    (state,) = [point.state for point in found.points if point.title == title]
    return state


def test_nothing_against_the_data_is_said_in_one_sentence() -> None:
    found = judged(USED)
    assert (found.state, found.answer) == (GOOD, "Yes: nothing was found against it.")
    assert {point.state for point in found.points} == {GOOD}
    assert "body mass 70.0 kg (participants.tsv); the plates under the static trial show 70.4 kg" in str(found.points)


def test_a_slope_and_a_knee_axis_by_motion_are_told() -> None:
    model = calibrated()
    model.attrs |= {"slopes_deg": '{"walk": 10.0, "down": -4.5}', "knee_axis_left": "functional; functional: 3 degrees"}
    found = checked(CYCLES, USED, {"s1": {"walk": {}}}, {"s1": model})
    assert found.state == GOOD
    assert "walk by 10, down by -4.5" in str(found.points)
    assert "left knee axis: functional" in str(found.points)


def test_a_knee_axis_that_seems_turned_is_named_with_its_side_and_what_to_do() -> None:
    turned = {"knee_axis_error_deg": "-16", "knee_axis_in_step": "-0.89", "hip_rotation_mean_deg": "-21"}
    found = judged([USED[0] | turned, USED[1]])
    assert (found.state, state_of(found, "Knee axis")) == (LOOK, LOOK)
    (texts,) = [point.texts for point in found.points if point.title == "Knee axis"]
    assert [text.partition(":")[0] for text in texts[:2]] == ["left", "right"]
    assert ["turned outwards by 16" in text for text in texts] == [True, False, False]
    assert "alignment device" in texts[2]
    assert found.reasons == ["left: do not interpret hip rotation, knee adduction, and their moments"]
    one_of_three = [{**USED[0], **turned, "trial": "first"}, USED[0], {**USED[0], "trial": "third"}, USED[1]]
    assert state_of(judged(one_of_three), "Knee axis") == GOOD  # the median of the trials


def test_a_knee_that_hardly_bends_is_not_judged() -> None:
    stiff = {"knee_axis_error_deg": "", "knee_axis_in_step": ""}
    assert state_of(judged([row | stiff for row in USED]), "Knee axis") == UNKNOWN
    unknown = dict.fromkeys((*stiff, "knee_adduction_range_deg", "hip_rotation_mean_deg"), "")
    assert "Knee axis" not in [point.title for point in judged([row | unknown for row in USED]).points]


def test_stances_without_a_plate_are_no_fault_and_refusals_are_counted() -> None:
    bare = {**ROW, "side": "left", "verdict": "not on a plate", "code": "no_plate", "reason": "no plate"}
    drifts = as_text([Verdict.of("plate_drifts", newtons=31.0)])
    refused = {**ROW, "side": "left", "verdict": "refused", "code": "plate_drifts", "reason_values": drifts}
    other = refused | {"reason_values": as_text([Verdict.of("plate_drifts", newtons=50.0)])}
    assert judged([*USED, *[bare] * 9]).state == GOOD
    found = judged([*USED, bare, refused, other])
    assert (found.state, state_of(found, "Plate contacts")) == (LOOK, LOOK)
    assert "['2 of 4 used', \"2 refused: the plate's baseline drifts by … N\", '1 more" in str(found.points)
    assert state_of(judged([refused]), "Plate contacts") == BAD
    assert judged([refused]).answer == "Angles, but no moments: see plate contacts."
    assert "no left contact is used" in str(judged(USED[1:]).points)


def test_contacts_known_in_part_are_counted_and_no_fault() -> None:
    part = USED[0] | {"stance_seen_percent": "84.2"}
    found = judged([*USED, part])
    assert found.state == GOOD
    assert "'3 of 3 used', '1 known in part, near an end" in str(found.points)


def test_doubted_contacts_are_counted_with_each_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VERDICTS, "h", Row(DOUBTS, "plate at {celsius} degrees", "it is hot"))
    monkeypatch.setitem(VERDICTS, "w", Row(DOUBTS, "wet", "it rains"))
    doubted = {**ROW, "side": "left", "verdict": "doubted", "code": "", "doubt_code": "h w"}
    first, second = (
        doubted | {"doubt_values": as_text([Verdict.of("h", celsius=celsius), Verdict.of("w")])} for celsius in (41, 50)
    )
    found = judged([USED[1], first, second])
    texts = ["1 of 3 used", "2 doubted: plate at … degrees", "2 doubted: wet"]
    assert str(texts)[1:-1] in str(found.points)
    assert (found.state, "no left contact is used" in str(found.points)) == (LOOK, True)
    used = checked([{**CYCLES[0], "doubt_code": "h w"}], [USED[1], doubted], {"s1": {}}, {"s1": calibrated()})
    assert "no left contact is used" not in str(used.points), "a setting takes them in"
    assert state_of(judged([doubted]), "Plate contacts") == BAD


@pytest.mark.parametrize(
    ("facts", "state", "text"),
    [
        ({"filled_frames": 17.0, "spikes_removed": 2.0}, GOOD, "17 marker samples filled in 1 of 1 trials"),
        ({"labels_exchanged_back": "LKNE and RKNE"}, LOOK, "exchanged labels corrected in walk: LKNE and RKNE"),
        (
            {"events_left_out": left_out.as_text([LeftOut([1.0], "events_shifted", "they are 99 ms off")])},
            LOOK,
            "events of the file not used in walk: they are 99 ms off",
        ),
    ],
)
def test_repairs_are_named(facts: dict[str, object], state: str, text: str) -> None:
    found = judged(USED, **facts)
    assert state_of(found, "Repairs") == state
    assert text in str(found.points)


TYPE_7 = LeftOut([2], "plate_unusable", "plate 2: type 7")


def test_plates_left_out_a_leg_and_a_lost_session_are_named() -> None:
    assert "plates left out: plate 2: type 7" in str(judged(USED, plates_left_out=left_out.as_text([TYPE_7])).points)
    lame = calibrated()
    lame["leg_refused"][0] = "left leg: the knee is wide"
    for model in (lame, calibrated(rejected="no static trial")):
        found = checked(CYCLES, USED, {"s1": {"walk": {}}}, {"s1": model})
        assert found.answer == "No: results are wrong or missing; see body size and model."


def test_a_mass_that_nothing_shows_is_no_fault_but_said() -> None:
    found = checked(CYCLES, USED, {"s1": {"walk": {}}}, {"s1": calibrated(body_mass_shown="")})
    assert (found.state, state_of(found, "Body size and model")) == (GOOD, UNKNOWN)


def test_a_child_with_the_segments_of_adults_is_named() -> None:
    """By the age, else by the height; it is no fault of the data, but to look at."""
    child = calibrated(segment_parameters="dempster", body_height_m=1.2)
    grown = calibrated(segment_parameters="dempster", body_height_m=1.8)
    for model, age, named in ((child, "", True), (grown, "", False), (child, "40", False), (grown, "12", True)):
        found = checked([row | {"age_years": age} for row in CYCLES], USED, {"s1": {"walk": {}}}, {"s1": model})
        assert ("segment masses are those of adults (dempster)" in str(found.points)) == named
        assert found.state == (LOOK if named else GOOD)


def test_a_child_with_the_segments_of_children_is_said() -> None:
    child = calibrated(segment_parameters="jensen", segment_parameters_reason="8 years old", body_height_m=1.2)
    found = checked([row | {"age_years": "8"} for row in CYCLES], USED, {"s1": {"walk": {}}}, {"s1": child})
    assert "segment masses are those of a child (jensen): 8 years old" in str(found.points)
    assert found.state == GOOD


def test_few_cycles_are_said() -> None:
    found = checked(CYCLES[1:], USED, {"s1": {"walk": {}}}, {"s1": calibrated()})
    assert (found.state, state_of(found, "Gait cycles with kinetics")) == (GOOD, UNKNOWN)
    assert "'slow: left 2, right 3', 'fewer than 3 do not show how far they repeat'" in str(found.points)


@pytest.mark.parametrize("code", ["two_feet_on_plate", "foot_partly_off_plate", "near_an_end", "left_out_by_hand"])
def test_steps_that_no_plate_can_measure_are_counted_and_need_no_look(code: str) -> None:
    refused = {**ROW, "side": "left", "verdict": "refused", "code": code, "reason": "why"}
    found = judged([*USED, refused])
    assert (found.state, state_of(found, "Plate contacts")) == (GOOD, GOOD)
    assert "2 of 3 used" in str(found.points)
    assert state_of(judged([USED[0], refused]), "Plate contacts") == LOOK, "no right contact is used"


def test_doubted_contacts_that_a_setting_takes_in_count_as_used() -> None:
    doubted = {**ROW, "verdict": "doubted", "code": "", "reason": "", "doubt_code": "h", "doubt": "w"}
    quality = [{**doubted, "side": side} for side in ("left", "right")]
    rows = [{**row, "doubt_code": "h"} for row in CYCLES]
    found = checked(rows, quality, {"s1": {"walk": {}}}, {"s1": calibrated()})
    assert "2 of 2 used, 2 of them doubted (cycles.doubted_stances)" in str(found.points)
    assert state_of(found, "Plate contacts") == LOOK
    left_out = checked([{**row, "kinetics_valid": "False"} for row in rows], quality, {"s1": {}}, {"s1": calibrated()})
    assert "'0 of 2 used'" in str(left_out.points)


def assert_doubts_are_left_out(derived: Path, code: str) -> None:
    """Assert that doubted kinetics are in the files, marked, and in no mean; others count."""
    metrics, means = (pd.read_csv(derived / f"{name}.csv") for name in ("metrics", "participants"))
    metrics = metrics[metrics.part == "cycle"]
    doubted = metrics.doubt_code.str.contains(code, na=False)
    assert doubted.any()
    assert metrics.kinetics_valid.any()
    assert metrics[doubted].peak_ankle_power.isna().all()
    assert all("peak_ankle_power" in json.loads(text) for text in metrics[doubted].doubted_numbers)
    assert not metrics[doubted].kinetics_valid.any()
    groups = ["participant", "condition", "side"]
    for _, row in means.iterrows():
        mine = metrics[(metrics[groups] == row[groups]).all(axis=1)]
        used = mine[mine.kinetics_valid].peak_ankle_power
        assert (row.peak_ankle_power_n, row.stride_time_n) == (len(used), len(mine))
        assert row.cycles_doubted == mine.doubt_code.notna().sum()
        assert row.peak_ankle_power == pytest.approx(used.mean(), rel=1e-5, nan_ok=True)
    for part in ("cycle", "stance"):
        shown, every = (load_study(derived / "study.nc", part=part, doubted=kept) for kept in (False, True))
        marked = np.array([code in codes for codes in every.doubt_code.values.tolist()])
        assert marked.any()
        assert not (every.kinetics_valid.values & marked).any()
        for name in ("joint_moment_jcs", "joint_power", "ground_force", "peak_ankle_power"):
            assert np.isfinite(every[name].values[marked]).any(axis=-1).all(), name
            assert np.isnan(shown[name].values[marked]).all(), name
            kept = every.kinetics_valid.values.astype(bool)
            np.testing.assert_array_equal(shown[name][kept], every[name][kept], err_msg=name)
        np.testing.assert_array_equal(shown.joint_angle, every.joint_angle)
        assert f" of {len(marked)} {part}s " in show(derived / "study.nc", trial=None, variable=None, width=120)


def test_what_check_and_contacts_find_is_in_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mass of 90 kg instead of 74.6 made every moment 17 % too small in silence; the plates know.

    All contacts with the second plate are doubted, for a reason that the product does not have.
    """
    monkeypatch.setitem(VERDICTS, "hot", Row(DOUBTS, "plate at {celsius} degrees", "it is hot"))

    def check_plates(contacts: Sequence[Contact], _: object) -> list[Contact]:
        return [contact.doubted("hot", celsius=41) if contact.plates == (1,) else contact for contact in contacts]

    judge = contact_checks.Judge(contact_checks.ON_ONE_PLATE, ("hot",), check_plates)
    monkeypatch.setattr(contact_checks, "CONTACT_JUDGES", (*contact_checks.CONTACT_JUDGES, judge))
    study = copy_study(DEMO, tmp_path / "study")
    keep_rows(study, re.compile(r"\t(static|comfortable_01)\t").search)
    edit(study / "participants.tsv", "74.6", "90")
    found = [finding for finding in check(study) if finding.where == "sub-01"]
    assert found
    run_steps(study, report=True)
    stored = from_text(netcdf.load(study / "derived/sub-01/calibrate.nc").attrs["findings"])
    assert stored == [finding._asdict() for finding in found]
    words = Page((study / "derived/report/sub-01.html").read_text()).words
    for finding in found:
        assert f"{finding.what}: {finding.remedy}" in words
    assert "Body size and model  bad" in words
    assert "doubted: plate at 41 degrees" in Page((study / "derived/report/sub-02.html").read_text()).words
    assert_doubts_are_left_out(study / "derived", "hot")
    assert from_text(netcdf.load(study / "derived/sub-02/calibrate.nc").attrs["findings"]) == []
