"""``gaitlab check``: masses, sizes and sex are compared with files and plates; names give a warning."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.body.resolved_model import resolve
from pipeline.c3d.reader import read_c3d
from pipeline.commands.check.command import check
from pipeline.commands.check.file_findings import of_file
from pipeline.steps.read.recording_contents import contents_of, looks_like_a_name
from pipeline.workflow import settings
from pipeline.workflow.open_study import open_study
from tests.support.checkout import DEMO, copy_study
from tests.support.files.changes import edit, set_parameter
from tests.support.studies.check_findings import about, found


@pytest.mark.parametrize(
    ("mass", "severity", "remedy"),
    [
        ("74.6", None, ""),
        ("80", None, ""),  # 7 %: clothes, shoes, the year since
        ("164.5", "error", "pounds? 74.62 kg"),  # 74.6 kg in pounds
        ("60", "error", "weigh the person; 74.8 would agree"),  # 20 %, more than plates can err
        ("n/a", None, ""),  # the files state it
    ],
)
def test_mass_against_the_files(demo: Path, mass: str, severity: str | None, remedy: str) -> None:
    edit(demo / "participants.tsv", "74.6", mass)
    findings = check(demo)
    if severity is None:
        assert findings == []
    else:
        assert (about(findings, "sub-01").severity, about(findings, "sub-01").remedy) == (severity, remedy)


def test_mass_against_the_plates(shared: Path, tmp_path: Path) -> None:
    """The static trial of this study is on two plates: 595.7 N, 60.7 kg; 60 kg are listed."""
    copy = copy_study(shared / "studies" / "functional", tmp_path / "functional")
    assert [finding for finding in check(copy) if "mass" in finding.what] == []
    edit(copy / "participants.tsv", "60.0", "132.3")
    finding = next(finding for finding in check(copy) if "mass" in finding.what)
    assert finding.severity == "error"
    assert "plates under the static trial show 60." in finding.what
    assert finding.remedy == "pounds? 60.01 kg"


def test_no_mass_anywhere_is_an_error(demo: Path) -> None:
    edit(demo / "participants.tsv", "74.6", "n/a")
    for path in (demo / "sub-01").glob("*.c3d"):
        set_parameter(path, "PROCESSING", "Bodymass", [0.0])
    finding = about(check(demo), "sub-01")
    assert (finding.severity, finding.code) == ("error", "mass_missing")
    # 74.6 kg; the impulse of a stance over its step gives it within 6 %
    shown_kg = re.fullmatch(r"give mass_kg: steps on the plates show about (\d+) kg", finding.remedy)
    assert shown_kg
    assert float(shown_kg[1]) == pytest.approx(74.6, rel=0.06)


@pytest.mark.parametrize("unreadable", [False, True])
def test_no_mass_is_needed_without_a_static_trial(demo: Path, unreadable: bool) -> None:
    """Without a row, or with one whose file cannot be read, ``run`` goes on without a model of the person."""
    edit(demo / "participants.tsv", "74.6", "n/a")
    for path in (demo / "sub-01").glob("*.c3d"):
        set_parameter(path, "PROCESSING", "Bodymass", [0.0])
    if unreadable:
        (demo / "sub-01" / "static.c3d").write_bytes(b"damaged")
    else:
        edit(demo / "trials.tsv", "sub-01\tstatic\tsub-01/static.c3d\tstatic\tstatic\n", "")
    findings = {one.code: one.severity for one in check(demo) if one.where == "sub-01"}
    assert findings["mass_missing"] == findings["no_static_trial"] == "warning"


def test_a_height_that_contradicts_the_markers_gives_a_warning(demo: Path) -> None:
    edit(demo / "participants.tsv", "1.78", "1.18")
    finding = about(check(demo), "sub-01")
    assert finding.code == "size_unlike_markers"
    assert "height_m is 1.18" in finding.what


def test_sizes_that_a_hip_regression_needs(demo: Path) -> None:
    edit(demo / "study.yaml", "isb_clusters", "isb_clusters\ncalibrate: {hip_centre: hara}")
    assert "leg_length_left_m, leg_length_right_m" in about(check(demo), "sub-01").what
    lines = (demo / "participants.tsv").read_text().splitlines()
    lines = [f"{line}\t{cell}" for line, cell in zip(lines, ("leg_length_left_m", "0.93", "0.84"), strict=True)]
    (demo / "participants.tsv").write_text("\n".join(lines) + "\n")
    assert check(demo) == []  # one leg length is enough


def test_chord_functions_need_joint_widths() -> None:
    model = settings.load_body_model("plug_in_gait", where="", study_path=DEMO)
    needed = resolve(model, ()).find_needed_sizes(hip_centre="harrington")
    assert needed == [f"{joint}_width_{side}_m" for joint in ("ankle", "knee") for side in ("left", "right")]


def test_a_missing_sex_gives_a_warning_if_the_table_needs_it(demo: Path) -> None:
    edit(demo / "participants.tsv", "1.78\tM", "1.78\tn/a")
    assert check(demo) == []
    edit(demo / "study.yaml", "isb_clusters", "isb_clusters\ncalibrate: {segment_parameters: de_leva}")
    assert found(demo) == {("warning", "sub-01", "sex_missing")}


@pytest.mark.parametrize(
    ("age", "height", "reference", "asked"),
    [
        ("n/a", "1.78", "", True),  # the default reference is of children
        ("27", "1.78", "", False),
        ("n/a", "1.46", "", False),  # as tall as a child may be
        ("n/a", "1.78", "study: {reference: null}", False),
    ],
)
def test_who_is_as_tall_as_an_adult_is_asked_for_an_age(
    demo: Path, age: str, height: str, reference: str, asked: bool
) -> None:
    edit(demo / "participants.tsv", "27", age)
    edit(demo / "participants.tsv", "1.78", height)
    edit(demo / "study.yaml", "isb_clusters", f"isb_clusters\n{reference}")
    asks = [finding for finding in check(demo) if finding.code == "age_missing"]
    assert [finding.severity for finding in asks] == ["warning"] * asked
    assert all("sub-01 (1.78 m)" in finding.what and "sub-02" not in finding.what for finding in asks)


@pytest.mark.parametrize(
    ("text", "name"),
    [("Erika Mustermann", True), ("MustermannE", True), ("ANTO_M", True), ("Zoë", True), ("sub-01", False),
     ("HC002D", False), ("subject01", False), ("", False), ("A", False)],
)  # fmt: skip
def test_free_text_that_may_be_a_name(text: str, name: bool) -> None:
    assert looks_like_a_name(text) == name


def test_a_name_gives_a_warning_but_is_not_printed(demo: Path) -> None:
    chosen = open_study(demo)
    recording = read_c3d(demo / "sub-01" / "static.c3d")
    facts = contents_of(recording, {})
    assert list(of_file("x.c3d", facts, chosen.settings)) == []
    (finding,) = of_file("x.c3d", contents_of(replace(recording, subject_names=["Jane"]), {}), chosen.settings)
    assert finding.severity == "warning"
    assert "SUBJECTS:NAMES" in finding.what
