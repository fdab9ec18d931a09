"""``gaitlab check``: no finding in good studies, all problems at once, and the table of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline import __main__ as command_line
from pipeline.commands.check.command import as_text, check, report_findings
from pipeline.commands.init.command import initialise
from pipeline.errors import Problem, UserError, gather_alike, warning
from tests.support.checkout import HOUSE, copy_study
from tests.support.files.changes import edit, relabel, rewrite
from tests.support.studies.check_findings import about


def test_many_mistakes_of_one_kind_are_one_finding() -> None:
    wrong = [
        Problem(f"segments.tsv: sub-{n:02d} left thigh", f"mass_kg is {n}00", "expected 0 to 200") for n in range(3, 90)
    ]
    other = Problem("segments.tsv: sub-01 left thigh", "two rows", "keep one")
    few = [Problem(f"trials.tsv: walk{n}", f"no file 'walk{n}.c3d'", "correct it") for n in range(3)]
    many, *others = gather_alike([*wrong, other, *few])
    assert others == [other, *few]
    assert (many.where, many.remedy) == ("segments.tsv", "expected 0 to 200")
    assert many.what.startswith("87 times: sub-03 left thigh: mass_kg is 300; ")
    assert many.what.endswith("and 84 more")


def test_a_mistake_of_many_files_is_told_once(demo: Path) -> None:
    lines = (demo / "trials.tsv").read_text().splitlines(keepends=True)
    fields = dict(zip(lines[0].rstrip("\n").split("\t"), lines[1].rstrip("\n").split("\t"), strict=True))
    content = (demo / "sub-01" / "fast_01.c3d").read_bytes()
    for n in range(60):
        (demo / f"cut{n:02d}.c3d").write_bytes(content[: 100_000 + 200 * n])
        cells = fields | {"trial": f"cut{n:02d}", "file": f"cut{n:02d}.c3d", "role": "gait"}
        lines.append("\t".join(cells.values()) + "\n")
    (demo / "trials.tsv").write_text("".join(lines))
    assert len([finding for finding in check(demo) if finding.code == "recording_unusable"]) == 60
    text, code = report_findings(demo, json=False)
    assert code == 1
    assert len(text.splitlines()) < 20
    assert "100000 bytes" in text
    assert "and 57 more" in " ".join(text.split())


def test_a_force_file_of_a_row_that_is_left_out_is_not_unclaimed(shared: Path, tmp_path: Path) -> None:
    copy = copy_study(shared / "labs" / "opencap_trc", tmp_path / "opencap")
    initialise(copy)
    assert [finding for finding in check(copy) if "squats" in finding.where] == []


def test_recordings_of_people_who_are_not_told_yet(shared: Path, tmp_path: Path) -> None:
    """The session says where; nobody is called superfluous, and masses in participants.tsv count."""
    copy = copy_study(shared / "labs" / "classic", tmp_path / "classic")
    initialise(copy)
    findings = check(copy)
    assert [one.where for one in findings if one.code == "mass_missing"] == ["Eb015pr"]
    assert "participant_without_trials" not in {one.code for one in findings}


def test_the_demonstration_has_no_finding(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(demo.rglob("*"))
    assert check(demo) == []
    assert sorted(demo.rglob("*")) == before
    assert command_line.main(["check", str(demo)]) == 0
    assert "nothing wrong found" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["exact", "functional", "gait2354", "plug_in_gait"])
def test_no_error_in_real_studies(shared: Path, tmp_path: Path, name: str) -> None:
    copy = copy_study(shared / "studies" / name, tmp_path / name)
    assert [finding for finding in check(copy) if finding.severity == "error"] == []


def test_all_problems_are_reported_at_once(demo: Path) -> None:
    """Wrong settings, tables and files do not hide each other."""
    edit(demo / "study.yaml", "isb_clusters", "isb_cluster\nclean: {marker_cutof_hz: 6}")
    edit(demo / "participants.tsv", "1.78\tM", "178\tX")
    (demo / "sub-02" / "fast_02.c3d").unlink()
    whole = (demo / "sub-01" / "fast_01.c3d").read_bytes()
    (demo / "sub-01" / "fast_01.c3d").write_bytes(whole[: len(whole) // 2])
    findings = check(demo)
    text = "\n".join(f"{finding.where} {finding.what} {finding.remedy}" for finding in findings)
    for part in (
        "isb_cluster'",
        "marker_cutof_hz",
        "sex is 'X'",
        "give metres: 1.78 m if this is in cm",
        "no such file",
        "cut off",
    ):
        assert part in text
    assert {finding.severity for finding in findings} == {"error"}
    assert about(findings, "sub-01/fast_01.c3d").remedy == "copy or export it again"


def test_files_are_not_checked_if_tables_cannot_be_read(demo: Path) -> None:
    edit(demo / "trials.tsv", "participant_id", "participant")
    assert about(check(demo), "C3D files").code == "recordings_not_checked"


def test_equal_findings_share_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    findings = [Problem(f"sub-01/walk_{n:02d}.c3d", "a fault " * 12, "a remedy " * 9) for n in range(20)]
    findings.append(warning("sub-02", "few words", "", "words_missing"))
    text = as_text(findings, Path("study"))
    assert text.count("a fault a fault") >= 1
    assert "walk_03" in text
    assert "walk_04" not in text
    assert "and 16 more" in text
    assert text.endswith("study: 1 error and 1 warning.")
    assert max(map(len, text.splitlines())) <= 90


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_table_fits_the_terminal(demo: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    rewrite(demo / "sub-01" / "static.c3d", relabel(LMEK="LMEKK", RMML="other"))
    lines = as_text(check(demo), demo).splitlines()
    table = lines[: lines.index("")]
    assert max(map(len, table)) <= width
    assert not any(line != line.rstrip() for line in table)


def test_exit_codes_and_streams(demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["check", str(tmp_path / "absent")]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"{tmp_path / 'absent'}: no such folder; give the folder of a study\n"
    (demo / "sub-01" / "fast_01.c3d").unlink()
    assert command_line.main(["check", str(demo)]) == 1
    assert "1 error." in capsys.readouterr().out
    assert command_line.main(["demo", str(demo)]) == 1  # would overwrite a study
    assert "is not empty" in capsys.readouterr().err


def test_findings_as_json(demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One document in any case; the exit code is that of the table."""

    def run(study: Path) -> tuple[int, list[dict[str, str]]]:
        code = command_line.main(["check", str(study), "--json"])
        shown = capsys.readouterr()
        assert shown.err == ""
        return code, json.loads(shown.out)

    assert run(demo) == (0, [])
    (demo / "sub-01" / "fast_01.c3d").rename(demo / "sub-01" / "führte.c3d")
    code, findings = run(demo)
    assert code == 1
    assert findings == [
        {key: getattr(problem, key) for key in ("severity", "code", "where", "what", "remedy")}
        for problem in check(demo)
    ]
    assert {(finding["severity"], finding["code"], finding["where"]) for finding in findings} == {
        ("error", "recording_unusable", "sub-01/fast_01.c3d"),
        ("warning", "recording_not_listed", "sub-01/führte.c3d"),
    }
    (demo / "sub-01" / "führte.c3d").unlink()
    edit(demo / "trials.tsv", "sub-01/fast_01.c3d\tgait\tfast", "sub-01/fast_02.c3d\tgait\tfast")
    code, findings = run(demo)
    assert (code, {finding["severity"] for finding in findings}) == (0, {"warning"})
    code, findings = run(tmp_path / "absent")
    assert (code, [finding["what"] for finding in findings]) == (1, ["no such folder"])


def test_a_defect_keeps_its_traceback(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> list[Problem]:
        raise ZeroDivisionError

    monkeypatch.setattr("pipeline.commands.check.command.check", broken)
    with pytest.raises(ZeroDivisionError):
        command_line.main(["check", str(demo)])
    with pytest.raises(UserError, match=r"no study\.yaml"):
        check(demo / "sub-01")


def test_help_needs_no_heavy_import() -> None:
    heavy = {"numpy", "xarray", "ezc3d", "scipy", "jinja2"}
    code = f"import pipeline.__main__, sys; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=HOUSE, check=False).returncode == 0


def test_a_wrong_body_model_is_one_finding_with_the_model_that_fits(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(demo / "study.yaml", "isb_clusters", "plug_in_gait")
    (finding,) = check(demo)
    assert (finding.severity, finding.where) == ("error", "study.yaml")
    assert finding.code == "another_body_model_fits"
    assert finding.remedy == "did you mean 'body_model: isb_clusters'? It finds 100%"
    assert command_line.main(["check", str(demo)]) == 1
    assert len(capsys.readouterr().out) < 1000


def test_tables_that_cannot_be_read_end_in_findings(demo: Path) -> None:
    """Not in a traceback: which person's sizes they are is unknown then."""
    (demo / "participants.tsv").rename(demo / "participants.xlsx")
    (finding,) = check(demo)
    assert "where participants.xlsx is" in finding.what


def test_a_copy_saved_after_the_table_is_mentioned(demo: Path) -> None:
    for name in ("trials - Kopie.tsv", "participants.xlsx", "~$participants.xlsx", "sub-01/~$walk.c3d"):
        (demo / name).write_text("x")
        os.utime(demo / name, (time.time() + 60,) * 2)
    assert {finding.where for finding in check(demo)} == {"trials - Kopie.tsv", "participants.xlsx"}
    for name in ("trials - Kopie.tsv", "participants.xlsx"):
        os.utime(demo / name, (0, 0))
    assert check(demo) == []


@pytest.mark.parametrize(("name", "argument"), [("-x", "./-x"), ("-a b", "'./-a b'"), ("a b", "'a b'"), ("x", "x")])
def test_the_next_command_names_the_study_as_a_shell_takes_it(name: str, argument: str) -> None:
    """What begins with ``-`` would be an option."""
    assert as_text([], Path(name)).splitlines()[-1] == f"Next: gaitlab run {argument}"
