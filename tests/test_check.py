# mypy: allow-untyped-defs, allow-incomplete-defs
"""``python -m pipeline check`` and the command line: each fault of a lab is found, and none where there is none."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import ezc3d
import numpy as np
import pytest
from conftest import HOUSE, copy_study

from pipeline import __main__ as command_line
from pipeline import needs, settings
from pipeline.body_weight import standing_weight_n
from pipeline.c3d import read_c3d
from pipeline.check import as_text, check
from pipeline.errors import UserError
from pipeline.file_facts import facts_of, looks_like_a_name
from pipeline.findings import Finding, of_file
from pipeline.workflow import open_study

DEMO = HOUSE / "data" / "demo"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return copy_study(DEMO, tmp_path / "demo")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def rewrite(path: Path, change: Callable[[ezc3d.c3d], None]) -> None:
    content = ezc3d.c3d(str(path))
    change(content)
    content.write(str(path))


def relabel(**new: str) -> Callable[[ezc3d.c3d], None]:
    def change(content: ezc3d.c3d) -> None:
        labels = content["parameters"]["POINT"]["LABELS"]["value"]
        content["parameters"]["POINT"]["LABELS"]["value"] = [new.get(label, label) for label in labels]

    return change


def about(findings: list[Finding], where: str) -> Finding:
    """Return the one finding about a place."""
    mine = [finding for finding in findings if finding.where == where]
    assert len(mine) == 1, findings
    return mine[0]


def test_nothing_is_wrong_with_the_demonstration(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(study.rglob("*"))
    assert check(study) == []
    assert sorted(study.rglob("*")) == before
    assert command_line.main(["check", str(study)]) == 0
    assert "nothing wrong found" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["exact", "functional", "gait2354", "plug_in_gait"])
def test_no_error_in_real_studies(shared: Path, tmp_path: Path, name: str) -> None:
    copy = copy_study(shared / "studies" / name, tmp_path / name)
    assert [finding for finding in check(copy) if finding.severity == "error"] == []


def test_everything_is_said_at_once(study: Path) -> None:
    """Settings, tables and files are wrong together: no fault hides another."""
    edit(study / "study.yaml", "isb_clusters", "isb_cluster\nclean: {marker_cutof_hz: 6}")
    edit(study / "participants.tsv", "1.78\tM", "178\tX")
    (study / "sub-02" / "fast_02.c3d").unlink()
    whole = (study / "sub-01" / "fast_01.c3d").read_bytes()
    (study / "sub-01" / "fast_01.c3d").write_bytes(whole[: len(whole) // 2])
    findings = check(study)
    text = as_text(findings, study)
    for part in ("isb_cluster'", "marker_cutof_hz", "sex is 'X'", "give metres: cm? 1.78 m", "no such file", "cut off"):
        assert part in text
    assert {finding.severity for finding in findings} == {"error"}
    assert about(findings, "sub-01/fast_01.c3d").remedy == "copy or export it again"


def test_tables_that_cannot_be_read_leave_the_files_for_later(study: Path) -> None:
    edit(study / "trials.tsv", "participant_id", "participant")
    assert about(check(study), "C3D files").what == "not looked at"


def test_a_static_without_a_marker_names_the_nearest_label(study: Path) -> None:
    rewrite(study / "sub-01" / "static.c3d", relabel(LMEK="LMEKK", RMML="other"))
    finding = about(check(study), "sub-01/static.c3d")
    assert finding.severity == "error"
    assert "medial epicondyle left (LMEK; did you mean 'LMEKK'?)" in finding.what
    assert "medial malleolus right (RMML)" in finding.what


def test_a_marker_listed_but_never_seen_is_told_from_an_absent_one(study: Path) -> None:
    def hide(content: ezc3d.c3d) -> None:
        content["data"]["points"][:3, content["parameters"]["POINT"]["LABELS"]["value"].index("LMEK")] = np.nan

    rewrite(study / "sub-01" / "static.c3d", hide)
    assert "LMEK is never visible" in about(check(study), "sub-01/static.c3d").what


def test_a_lost_cluster_costs_one_side_of_a_walk_or_both(study: Path) -> None:
    """Two of the four markers of a shank do not tell its pose; one lost marker does no harm."""
    rewrite(study / "sub-01" / "fast_01.c3d", relabel(LSK1="a", LSK2="b"))
    rewrite(study / "sub-01" / "fast_02.c3d", relabel(LSK1="a", LSK2="b", RTH1="c", RTH3="d"))
    rewrite(study / "sub-01" / "fast_03.c3d", relabel(LSK1="a"))
    one, both = check(study)[::-1]
    assert one == ("warning", "sub-01/fast_01.c3d", "lacks left shank cluster", one.remedy)
    assert both == ("error", "sub-01/fast_02.c3d", "lacks right thigh cluster, left shank cluster", one.remedy)


def test_a_session_needs_a_static_trial(study: Path) -> None:
    edit(study / "trials.tsv", "sub-02\tstatic\tsub-02/static.c3d\tstatic", "sub-02\tstatic\tsub-02/static.c3d\tgait")
    findings = check(study)
    finding = next(finding for finding in findings if finding.where == "sub-02" and finding.severity == "error")
    assert finding.what == "no static trial"
    assert "sub-02/static.c3d shows every marker" in finding.remedy


def test_a_walk_taken_as_static_is_doubted(study: Path) -> None:
    text = (study / "trials.tsv").read_text().replace("sub-01/static.c3d", "sub-01/fast_01.c3d")
    (study / "trials.tsv").write_text(text)
    found = {(finding.severity, finding.where, finding.what[:22]) for finding in check(study)}
    assert ("warning", "sub-01/fast_01.c3d", "static trial in which ") in found
    assert ("error", "sub-01/fast_01.c3d", "lacks medial epicondyl") in found  # worn for the static trial only
    assert ("warning", "sub-01/static.c3d", "in no row of trials.ts") in found


@pytest.mark.parametrize(("cutoff_hz", "faults"), [("49", 0), ("50", 12), ("null", 0)])
def test_a_cutoff_must_be_below_half_the_sampling_rate(study: Path, cutoff_hz: str, faults: int) -> None:
    """Markers of the demonstration have 100 Hz: 14 files, of which the two static trials count too."""
    edit(study / "study.yaml", "isb_clusters", f"isb_clusters\nclean: {{marker_cutoff_hz: {cutoff_hz}}}")
    findings = check(study)
    assert len(findings) == (14 if faults else 0)
    assert all("50 Hz is not below half" in finding.what for finding in findings)


@pytest.mark.parametrize(
    ("mass", "severity", "remedy"),
    [
        ("74.6", None, ""),
        ("80", None, ""),  # 7 %: clothes, shoes, the year since
        ("164.5", "error", "pounds? 74.62 kg"),  # 74.6 kg in pounds
        ("60", "warning", "correct the one that is wrong"),  # 20 %
        ("n/a", None, ""),  # the files state it
    ],
)
def test_mass_against_the_files(study: Path, mass: str, severity: str | None, remedy: str) -> None:
    edit(study / "participants.tsv", "74.6", mass)
    findings = check(study)
    if severity is None:
        assert findings == []
    else:
        assert (about(findings, "sub-01").severity, about(findings, "sub-01").remedy) == (severity, remedy)


def test_mass_against_the_plates(shared: Path, tmp_path: Path) -> None:
    """The static trial of this study stands on two plates: 595.7 N, 60.7 kg, where 60 kg are listed."""
    copy = copy_study(shared / "studies" / "functional", tmp_path / "functional")
    assert [finding for finding in check(copy) if "mass" in finding.what] == []
    edit(copy / "participants.tsv", "60.0", "132.3")
    finding = next(finding for finding in check(copy) if "mass" in finding.what)
    assert finding.severity == "error"
    assert "plates under the static trial show 60." in finding.what
    assert finding.remedy == "pounds? 60.01 kg"


def test_no_mass_anywhere_is_an_error(study: Path) -> None:
    edit(study / "participants.tsv", "74.6", "n/a")
    for path in (study / "sub-01").glob("*.c3d"):
        rewrite(path, lambda content: content["parameters"]["PROCESSING"]["Bodymass"].update(value=[0.0]))
    finding = about(check(study), "sub-01")
    assert finding[:3] == ("error", "sub-01", "no body mass, neither in participants.tsv nor in the C3D files")
    # 74.6 kg; the impulse of a stance over its step tells it within 6 %
    shown_kg = re.fullmatch(r"give mass_kg: steps on the plates show about (\d+) kg", finding.remedy)
    assert shown_kg
    assert float(shown_kg[1]) == pytest.approx(74.6, rel=0.06)


def test_sizes_that_a_hip_regression_needs(study: Path) -> None:
    edit(study / "study.yaml", "isb_clusters", "isb_clusters\ncalibrate: {hip_centre: hara}")
    assert "leg_length_left_m, leg_length_right_m" in about(check(study), "sub-01").what
    lines = (study / "participants.tsv").read_text().splitlines()
    lines = [f"{line}\t{cell}" for line, cell in zip(lines, ("leg_length_left_m", "0.93", "0.84"), strict=True)]
    (study / "participants.tsv").write_text("\n".join(lines) + "\n")
    assert check(study) == []  # one leg stands in for the other


def test_chord_functions_need_joint_widths() -> None:
    model = settings.load_body_model("plug_in_gait", where="", study_path=DEMO)
    needed = needs.needed_sizes(model, (), hip_centre="harrington")
    assert needed == [f"{joint}_width_{side}_m" for joint in ("ankle", "knee") for side in ("left", "right")]


def test_plates_that_cannot_be_decoded_are_named(study: Path) -> None:
    def break_plates(content: ezc3d.c3d) -> None:
        content["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"][:, :, 1] = 0

    rewrite(study / "sub-01" / "fast_01.c3d", break_plates)
    finding = about(check(study), "sub-01/fast_01.c3d")
    assert finding.severity == "warning"
    assert finding.what.startswith("force plate 2: its corners")


def test_rows_without_files_and_files_without_rows(study: Path) -> None:
    edit(study / "participants.tsv", "sub-02", "sub-03\t70\t1.7\tM\tyounger\t30\nsub-02")
    (study / "sub-02" / "new.c3d").write_bytes((study / "sub-02" / "static.c3d").read_bytes())
    findings = check(study)
    assert about(findings, "sub-03").what == "no trials to use in trials.tsv"
    assert about(findings, "sub-02/new.c3d").what == "in no row of trials.tsv"


@pytest.mark.parametrize("turns", range(4))
def test_weight_is_told_only_where_both_feet_are_on_plates(turns: int) -> None:
    """Feet on two plates of 0.4 x 0.6 m, 300 and 400 N; a third plate drifts by 50 N. However the file's axes lie."""
    rotation = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]) if turns else np.eye(3)
    rotation = np.linalg.matrix_power(rotation, turns)
    quad = np.array([[0.6, 0, 0.4], [0, 0, 0.4], [0, 0, 0], [0.6, 0, 0]])
    corners = np.stack([quad, quad + np.array([0, 0, 0.5]), quad + np.array([1, 0, 0])])
    force = np.zeros((50, 3, 3))
    force[..., 1] = [300, 400, 50]
    feet = {"heel_left": (0.1, 0.2), "toe_left": (0.3, 0.2), "heel_right": (0.1, 0.7), "toe_right": (0.3, 0.7)}
    points = {name: np.tile([x, 0.05, z], (5, 1)) @ rotation for name, (x, z) in feet.items()}
    assert standing_weight_n(points, rotation, force, corners) == pytest.approx(700)
    points["toe_right"] = points["toe_right"] + np.array([0.4, 0, 0]) @ rotation  # beyond the edge
    assert np.isnan(standing_weight_n(points, rotation, force, corners))


@pytest.mark.parametrize(
    ("text", "name"),
    [("Erika Mustermann", True), ("MustermannE", True), ("ANTO_M", True), ("Zoë", True), ("sub-01", False),
     ("HC002D", False), ("subject01", False), ("", False), ("A", False)],
)  # fmt: skip
def test_free_text_that_may_be_a_name(text: str, name: bool) -> None:
    assert looks_like_a_name(text) == name


def test_a_name_is_warned_of_but_not_printed(study: Path) -> None:
    chosen = open_study(study)
    facts = facts_of(read_c3d(study / "sub-01" / "static.c3d"), chosen.body_model)
    assert list(of_file("x.c3d", facts, chosen.settings)) == []
    (finding,) = of_file("x.c3d", replace(facts, name_words=frozenset({"jane"})), chosen.settings)
    assert finding.severity == "warning"
    assert "SUBJECTS:NAMES" in finding.what


def test_what_is_wrong_in_many_places_alike_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    findings = [Finding("error", f"sub-01/walk_{n:02d}.c3d", "a fault " * 12, "a remedy " * 9) for n in range(20)]
    findings.append(Finding("warning", "sub-02", "short", ""))
    text = as_text(findings, Path("study"))
    assert text.count("a fault a fault") >= 1
    assert "walk_03" in text
    assert "walk_04" not in text
    assert "and 16 more" in text
    assert text.endswith("study: 1 error and 1 warning.")
    assert max(map(len, text.splitlines())) <= 90


def test_exit_codes_and_streams(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["check", str(tmp_path / "absent")]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"{tmp_path / 'absent'}: no such folder\n"
    (study / "sub-01" / "fast_01.c3d").unlink()
    assert command_line.main(["check", str(study)]) == 1
    assert "1 error." in capsys.readouterr().out
    assert command_line.main(["demo", str(study)]) == 1  # would overwrite a study
    assert "is not empty" in capsys.readouterr().err


def test_a_defect_keeps_its_traceback(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> list[Finding]:
        raise ZeroDivisionError

    monkeypatch.setattr("pipeline.check.check", broken)
    with pytest.raises(ZeroDivisionError):
        command_line.main(["check", str(study)])
    with pytest.raises(UserError, match=r"no study\.yaml"):
        check(study / "sub-01")


def test_help_needs_no_heavy_import() -> None:
    code = "import pipeline.__main__, sys; sys.exit(bool({'numpy', 'xarray', 'ezc3d', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=HOUSE, check=False).returncode == 0


def found(study: Path) -> set[tuple[str, str, str]]:
    return {finding[:3] for finding in check(study)}


def test_a_walk_in_which_nobody_walks_is_doubted(study: Path) -> None:
    edit(study / "trials.tsv", "sub-01/fast_01.c3d", "sub-01/static.c3d")
    finding = next(finding for finding in check(study) if "nobody walks" in finding.what)
    assert finding[:2] == ("warning", "sub-01/static.c3d")
    assert "give it role static or exclude" in finding.remedy


@pytest.mark.parametrize(("unit", "numbers"), [("m", "mm"), ("cm", "mm")])
def test_a_length_unit_that_the_numbers_deny_is_an_error(study: Path, unit: str, numbers: str) -> None:
    """The demonstration is in mm; metres would make legs of a hundred metres."""
    rewrite(study / "sub-01" / "fast_01.c3d", lambda c3d: c3d["parameters"]["POINT"]["UNITS"].update(value=[unit]))
    findings = [finding for finding in check(study) if "POINT:UNITS" in finding.what]
    assert {finding[:2] for finding in findings} == {("error", "sub-01/fast_01.c3d")}
    assert all(f"the numbers look like {numbers}" in finding.remedy for finding in findings)


def test_a_plate_nobody_steps_on_all_session_is_named(study: Path) -> None:
    def unload(content: ezc3d.c3d) -> None:
        content["data"]["analogs"][:, 12:18] *= 0.01  # the third of three plates of six channels

    for path in (study / "sub-02").glob("*_0*.c3d"):
        rewrite(path, unload)
    assert ("warning", "sub-02", "force plate 3 not loaded in any of 6 walks") in found(study)
    assert all("not loaded" not in what for _, where, what in found(study) if where == "sub-01")


def test_plates_given_to_a_foot_must_be_in_the_file(study: Path) -> None:
    lines = (study / "trials.tsv").read_text().splitlines()
    cells = ["plates_left", *["n/a"] * (len(lines) - 2), "2 4"]
    (study / "trials.tsv").write_text("".join(f"{line}\t{cell}\n" for line, cell in zip(lines, cells, strict=True)))
    (finding,) = check(study)
    assert finding.severity == "error"
    assert finding.what.endswith("names plate 4, the file has 1, 2, 3")


def test_a_file_that_counts_twice_is_named(study: Path) -> None:
    edit(study / "trials.tsv", "sub-01/fast_02.c3d", "sub-01/fast_01.c3d")
    assert ("warning", "sub-01/fast_01.c3d", "stands in 2 rows of sub-01 with role gait") in found(study)


def test_implausible_rates_are_named() -> None:
    chosen = open_study(DEMO)
    facts = facts_of(read_c3d(DEMO / "sub-01" / "fast_01.c3d"), chosen.body_model)
    assert list(of_file("x.c3d", facts, {})) == []
    (slow,) = of_file("x.c3d", replace(facts, marker_rate_hz=10.0), {})
    assert slow.what == "10 marker frames per second"
    (coarse,) = of_file("x.c3d", replace(facts, force_rate_hz=60.0), {})
    assert coarse.what == "60 plate samples per second: foot strikes are known to 17 ms"


def test_a_functional_trial_must_name_its_joint(study: Path) -> None:
    edit(study / "trials.tsv", "sub-01/fast_01.c3d\tgait", "sub-01/fast_01.c3d\tfunctional")
    assert ("warning", "sub-01/fast_01.c3d", "functional trial, but its condition 'fast' names no joint") in found(
        study
    )


def test_a_functional_hip_centre_needs_its_trials(study: Path) -> None:
    """None: the session is rejected; one side's: the other takes harrington (see test_functional.py)."""
    edit(study / "study.yaml", "isb_clusters", "isb_clusters\ncalibrate: {hip_centre: functional}")
    none = [finding for finding in check(study) if "hip_centre is functional" in finding.what]
    assert [finding[:2] for finding in none] == [("error", "sub-01"), ("error", "sub-02")]
    assert "condition hip_left or hip_right" in none[0].remedy
    edit(study / "trials.tsv", "sub-01/fast_01.c3d\tgait\tfast", "sub-01/fast_01.c3d\tfunctional\tHip left")
    assert about(check(study), "sub-01")[:1] == ("warning",)
    assert "right hip: that hip centre is found by harrington" in about(check(study), "sub-01").what
    edit(study / "trials.tsv", "sub-01/fast_02.c3d\tgait\tfast", "sub-01/fast_02.c3d\tfunctional\thip_right")
    assert [finding for finding in check(study) if finding.where == "sub-01"] == []


def test_events_that_are_not_understood_are_named(study: Path) -> None:
    def name(content: ezc3d.c3d) -> None:
        content.add_parameter("EVENT", "LABELS", ["Foot Strike", "Schritt", "Foot Off"])
        content.add_parameter("EVENT", "CONTEXTS", ["Rechts", "Links", "General"])
        content.add_parameter("EVENT", "TIMES", np.array([[0, 0, 0], [0.3, 0.5, 0.9]], dtype=float))

    rewrite(study / "sub-01" / "fast_01.c3d", name)
    what = "gait events not understood, and not used: 'Schritt', 'Foot Off'"
    assert found(study) == {("warning", "sub-01/fast_01.c3d", what)}


def test_sex_is_asked_for_where_the_table_needs_it(study: Path) -> None:
    edit(study / "participants.tsv", "1.78\tM", "1.78\tn/a")
    assert check(study) == []
    edit(study / "study.yaml", "isb_clusters", "isb_clusters\ncalibrate: {segment_parameters: de_leva}")
    assert found(study) == {("warning", "sub-01", "no sex, by which the table de_leva differs")}


def test_a_height_that_the_markers_deny_is_doubted(study: Path) -> None:
    edit(study / "participants.tsv", "1.78", "1.18")
    finding = about(check(study), "sub-01")
    assert finding.what.startswith("height_m is 1.18, but heel and ASIS of the static trial are")


def test_links_are_followed_and_dead_ones_named(study: Path, tmp_path: Path) -> None:
    (study / "sub-01" / "fast_01.c3d").rename(tmp_path / "elsewhere.c3d")
    (study / "sub-01" / "fast_01.c3d").symlink_to(tmp_path / "elsewhere.c3d")
    (study / "again").symlink_to(study / "sub-01")  # the same folder twice is one
    assert check(study) == []
    (study / "dead.C3D").symlink_to(tmp_path / "nowhere.c3d")
    assert found(study) == {("warning", "dead.C3D", "in no row of trials.tsv")}
    (tmp_path / "elsewhere.c3d").unlink()
    assert ("error", "sub-01/fast_01.c3d", "no such file") in found(study)


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_table_fits_the_terminal(study: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    rewrite(study / "sub-01" / "static.c3d", relabel(LMEK="LMEKK", RMML="other"))
    lines = as_text(check(study), study).splitlines()
    table = lines[: lines.index("")]
    assert max(map(len, table)) <= width
    assert not any(line != line.rstrip() for line in table)
