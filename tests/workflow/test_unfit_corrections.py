"""Corrections by hand that do not fit: they refuse themselves, and nothing lists them as applied."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pipeline.commands.check.command import check
from pipeline.errors import WARNING
from pipeline.results import netcdf
from pipeline.tables.corrections import APPLIED, NOT_APPLIED, UNFIT, not_applied_in_words
from pipeline.variables.rows import DOUBT
from pipeline.workflow.run_summary import RUN, summarise
from tests.support.files.changes import edit
from tests.support.studies.corrected import correct
from tests.support.studies.for_report import Page
from tests.support.studies.small_study import run_steps

WALK = {"session": "sub-01", "trial": "fast_01"}


@pytest.fixture(scope="module")
def plain(small_study: Path) -> Path:
    """Return the study as it is without corrections."""
    return small_study / "data" / "demo"


def stances(study: Path) -> list[dict[str, str]]:
    with (study / "derived/quality.csv").open(newline="") as handle:
        return [row for row in csv.DictReader(handle) if row["trial"] == WALK["trial"]]


@pytest.fixture(scope="module")
def studies(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the study with one correction that fits, and with that and others of each step that do not."""
    used = [row for row in stances(plain) if row["verdict"] == "used"]
    found = {}
    for name in ("fits", "others"):
        found[name] = study = tmp_path_factory.mktemp(name) / "study"
        shutil.copytree(plain, study)
        correct(study, "refuse_contact", **WALK, side=used[0]["side"], time_s=used[0]["start_s"])
        if name == "others":
            last = used[-1]
            correct(study, "hide_marker", **WALK, time_s="0.1", to_s="0.2", given="NOSE")
            correct(study, "accept_contact", **WALK, side="left", time_s="77")
            correct(study, "accept_contact", **WALK, side=last["side"], time_s=last["start_s"])
            correct(study, "leave_out_cycle", **WALK, side="right", time_s="88")
            correct(study, "leave_out_cycle", session="sub-01", trial="gone", side="right", time_s="1", sha256="0" * 64)
        run_steps(study, report=True)
    return found


WHY = {
    "marker NOSE hidden from 0.1 to 0.2 s": "no marker is labelled 'NOSE'",
    "left contact at 77 s accepted": "no left stance begins then",
    "right cycle at 88 s left out": "no right cycle or stance starts at 88 s",
    "right cycle at 1 s left out": "the trial is rejected",
}


def test_the_trial_is_computed_as_if_they_were_not_there(studies: dict[str, Path]) -> None:
    for name in ("clean", "contacts", "kinematics", "kinetics", "cycles"):
        one, other = (netcdf.load(study / f"derived/sub-01/{name}.nc") for study in studies.values())
        assert one.variables.keys() == other.variables.keys()
        for variable in one.variables:
            if name == "contacts" and variable in DOUBT:  # a contact that is used already
                continue
            np.testing.assert_array_equal(one[variable].values, other[variable].values, err_msg=f"{name} {variable}")
    one, other = (netcdf.load(study / "derived/study.nc") for study in studies.values())
    for variable in one.variables:
        np.testing.assert_array_equal(one[variable].values, other[variable].values, err_msg=str(variable))


def test_results_list_what_is_applied_and_what_is_not(studies: dict[str, Path]) -> None:
    attributes = netcdf.attributes(studies["others"] / "derived/sub-01/cycles.nc")
    kinds = [row["kind"] for row in json.loads(attributes[APPLIED])]
    assert sorted(kinds) == ["leave_out_cycle", "refuse_contact"]  # the first one of a trial that is rejected
    assert len(json.loads(attributes[NOT_APPLIED])) == 4
    assert NOT_APPLIED not in netcdf.attributes(studies["fits"] / "derived/sub-01/cycles.nc")


def test_tables_and_page_say_so(studies: dict[str, Path]) -> None:
    rows = stances(studies["others"])
    assert {words for row in rows if (words := row["corrected_by_hand"])} == {
        words for row in stances(studies["fits"]) if (words := row["corrected_by_hand"])
    }
    (column,) = {row["corrections_not_applied"] for row in rows}
    not_applied = [not_applied_in_words(row) for row in json.loads(column)]
    page = Page((studies["others"] / "derived/report/sub-01.html").read_text())
    shown = " ".join(page.words.split())
    for words, why in WHY.items():
        if "1 s left out" not in words:
            assert sum(text.startswith(f"{words}: not applied: {why}") for text in not_applied) == 1
        assert f"{words}: not applied: {why}" in shown
    assert sum("the contact is used already" in text for text in not_applied) == 1
    assert "accepted: seen on video" not in shown
    assert "not applied" not in Page((studies["fits"] / "derived/report/sub-01.html").read_text()).words


def test_the_last_lines_of_a_run_say_so(studies: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    study = studies["others"]
    summarise(study, [], 0, whole=True, fail=False)
    lines = capsys.readouterr().out.splitlines()
    assert "  corrections.tsv: 1 correction applied, 5 not" in lines
    for words, why in WHY.items():
        assert sum(f"{words}: not applied: {why}" in line for line in lines) == 1
    counted = json.loads((study / "derived" / RUN).read_text())["corrections"]
    assert [len(counted[name]) for name in ("applied", "not_applied")] == [1, 5]


def unfit(study: Path) -> dict[str, str]:
    """Return what ``check`` says of corrections that do not fit, by where they are."""
    found = [finding for finding in check(study) if finding.code == UNFIT]
    assert all(finding.severity == WARNING and finding.remedy for finding in found)
    return {finding.where: finding.what for finding in found}


def test_check_lists_those_that_the_last_run_did_not_apply(studies: dict[str, Path]) -> None:
    found = unfit(studies["others"])
    assert len(found) == 4
    assert "not applied: no left stance begins then" in found["corrections.tsv: sub-01 fast_01 left accept_contact 77"]
    assert unfit(studies["fits"]) == {}


def test_check_judges_new_rows_by_the_results_of_the_last_run(plain: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(plain, study)
    first, *_, last = [row for row in stances(study) if row["verdict"] == "used"]
    lost = next(row for row in stances(study) if row["code"] == "no_plate")
    for kind, cells in {
        "hide_marker": {"time_s": "0.1", "to_s": "0.2", "given": "LTOO"},
        "leave_out_cycle": {"side": "left", "time_s": "55"},
        "refuse_contact": {"side": lost["side"], "time_s": lost["start_s"]},
        "accept_contact": {"side": "right", "time_s": "66"},
    }.items():
        correct(study, kind, **WALK, **cells)
    correct(study, "refuse_contact", **WALK, side=first["side"], time_s=first["start_s"])  # which fits
    correct(study, "accept_contact", **WALK, side=last["side"], time_s=last["start_s"])  # which the run will judge
    found = unfit(study)
    assert len(found) == 4
    assert found[f"corrections.tsv: sub-01 fast_01 {lost['side']} refuse_contact {lost['start_s']}"].startswith(
        "the contact is refused already: no plate"
    )
    assert found["corrections.tsv: sub-01 fast_01 hide_marker 0.1"] == "no marker is labelled 'LTOO'"
    assert "no left stance that begins then" in found["corrections.tsv: sub-01 fast_01 left leave_out_cycle 55"]


def test_an_applied_row_of_which_a_cell_changes_is_no_mistake(studies: dict[str, Path], tmp_path: Path) -> None:
    """The results have its effect: its contact is refused already."""
    study = tmp_path / "study"
    shutil.copytree(studies["fits"], study)
    edit(study / "corrections.tsv", "seen on video", "seen on film")
    assert unfit(study) == {}


def test_check_says_nothing_of_times_where_events_are_corrected_too(plain: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(plain, study)
    correct(study, "add_foot_strike", **WALK, side="left", time_s="0.05")
    correct(study, "leave_out_cycle", **WALK, side="left", time_s="0.05")
    assert unfit(study) == {}
