"""Results that another program has changed: made again with a line of notice, and nothing is lost."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.commands.verify.command import verify
from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.results.whole_files import write_whole
from pipeline.workflow import checksums, digests
from pipeline.workflow.open_study import open_study
from pipeline.workflow.preparation import changed_results
from tests.support.checkout import DEMO, copy_study, keep_rows, planned, run_study

FILES_BESIDE = {"page.js", "page.css"}  # of pages
LATER_S = 60.0  # when somebody opens a table of a finished run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study of one person that Snakemake has run."""
    study = copy_study(DEMO, tmp_path_factory.mktemp("changed") / "study")
    keep_rows(study, re.compile("sub-01\t(static|comfortable_01)\t").match)
    assert run_study(study).returncode == 0
    return study


def save_from_a_spreadsheet(table: Path) -> bytes:
    """Change a table as spreadsheets of many countries do, and return it."""
    table.write_bytes(b"\xef\xbb\xbf" + table.read_bytes().replace(b",", b";").replace(b"\n", b"\r\n"))
    date(table)
    return table.read_bytes()


def date(file: Path) -> None:
    os.utime(file, (time.time() + LATER_S,) * 2)


def test_a_table_saved_from_a_spreadsheet_is_made_again_with_one_line_of_notice(study: Path) -> None:
    table = study / "derived/metrics.csv"
    before, page = table.read_bytes(), (study / "derived/report.html").read_bytes()
    edited = save_from_a_spreadsheet(table)
    assert planned(study) == {"study", "report"}
    assert table.read_bytes() == edited  # of a dry run
    (fault,) = verify(study)[0]
    assert (fault.code, fault.remedy) == ("table_changed", "run again; the changed table is kept")
    result = run_study(study)
    assert result.returncode == 0, result.stderr
    notice = "Changed since written, and made again: derived/metrics.csv. Copies are kept: derived/metrics.changed.csv."
    assert result.stderr.splitlines().count(notice) == 1
    assert table.read_bytes() == before
    assert (study / "derived/metrics.changed.csv").read_bytes() == edited
    assert (study / "derived/report.html").read_bytes() == page
    assert verify(study)[0] == []
    assert "derived/metrics.changed.csv" in verify(study)[1]
    assert "made again" not in run_study(study).stderr


def test_without_any_record_all_results_are_made_again(study: Path) -> None:
    save_from_a_spreadsheet(study / "derived/metrics.csv")
    shutil.rmtree(study / "derived/checksums")
    result = run_study(study)
    assert result.returncode == 0, result.stderr
    assert "Without a record, and made again: derived/sub-01/read.nc" in result.stderr
    assert verify(study)[0] == []


def test_an_edited_netcdf_file_is_made_again_with_what_follows(study: Path) -> None:
    file = study / "derived/sub-01/kinematics.nc"
    before = file.read_bytes()
    netcdf.save(file, netcdf.load(file).assign_attrs(note="by hand"))
    date(file)
    result = run_study(study)
    assert result.returncode == 0, result.stderr
    assert file.read_bytes() == before
    assert not [*file.parent.glob("*.changed*")]


def test_a_page_on_request_is_that_of_the_whole_report(study: Path) -> None:
    page, overview = study / "derived/report/sub-01.html", study / "derived/report.html"
    before = page.read_bytes()
    shutil.rmtree(page.parent)
    with (study / "study.yaml").open("a") as handle:
        handle.write("report: {pages: on_request}\n")
    assert run_study(study).returncode == 0
    assert {file.name for file in page.parent.iterdir()} == FILES_BESIDE
    assert b"derived/report/NAME.html" in overview.read_bytes()
    assert planned(study) == set()
    name = f"derived/report/{page.name}"
    assert run_study(study, name).returncode == 0
    assert page.read_bytes() == before
    assert verify(study)[0] == []
    with (study / "study.yaml").open("a") as handle:
        handle.write("cycles: {longest_cycle_s: 2.9}\nstudy: {reference: null}\n")
    assert run_study(study).returncode == 0
    assert {file.name for file in page.parent.iterdir()} == {page.name, *FILES_BESIDE}
    assert page.read_bytes() != before
    assert verify(study)[0] == []
    unknown = run_study(study, "derived/report/nobody.html")
    assert unknown.returncode == 1
    assert "trials.tsv: no participant 'nobody'" in unknown.stderr


def test_files_of_the_date_of_their_record_are_not_read(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a hundred sessions would take a minute at each start."""
    opened, sha256 = open_study(study), digests.sha256

    def of_no_result(path: Path) -> str:
        return pytest.fail(f"{path} was read") if "derived" in path.parts else sha256(path)

    monkeypatch.setattr(digests, "sha256", of_no_result)
    assert changed_results(opened, keep=True)[:2] == ([], [])
    date(study / "derived/study.nc")
    with pytest.raises(pytest.fail.Exception, match=r"study\.nc was read"):
        changed_results(opened, keep=True)


def test_jobs_can_be_forced_and_drawn(study: Path) -> None:
    after = {"kinetics:sub-01", "cycles:sub-01", "study", "report", "page:sub-01"}
    assert planned(study, "--forcerun", "kinetics") == after
    assert "kinetics" in run_study(study, "--rulegraph").stdout


def test_a_plan_of_a_session_that_is_in_no_table_is_refused(study: Path) -> None:
    result = run_study(study, "--dry-run", "derived/nobody/cycles.nc")
    assert result.returncode == 1
    assert result.stderr == "trials.tsv: no session 'nobody'; ask for files of one that it has\n"


@pytest.fixture
def written(small_study: Path, tmp_path: Path) -> Path:
    """Return a study with its tables, to change; Snakemake did not run it."""
    return Path(shutil.copytree(small_study / "data/demo", tmp_path / "demo", copy_function=shutil.copy2))


def test_a_table_of_a_killed_job_is_no_edit_by_hand(written: Path) -> None:
    table = written / "derived/metrics.csv"
    checksums.begin(written / "derived", [table])
    prepared = changed_results(open_study(written), keep=True)
    assert prepared[:2] == (["derived/metrics.csv"], [])
    checksums.record_path(written / "derived", "quality.csv").unlink()
    prepared = changed_results(open_study(written), keep=True)
    assert {*prepared.rerun} == {"derived/metrics.csv", "derived/quality.csv"}
    assert len(prepared.notices) == 1
    assert [file.name for file in table.parent.glob("*.changed*")] == ["quality.changed.csv"]


def test_every_edit_of_a_table_is_kept(written: Path) -> None:
    table = written / "derived/metrics.csv"
    for text in ("first", "second", "second"):
        table.write_text(text)
        date(table)
        prepared = changed_results(open_study(written), keep=True)
        assert prepared.rerun == ["derived/metrics.csv"]
        assert len(prepared.notices) == 1
    assert {file.name: file.read_text() for file in table.parent.glob("metrics.changed*")} == {
        "metrics.changed.csv": "first",
        "metrics.changed2.csv": "second",
    }


@pytest.mark.parametrize(
    ("free", "expected"), [(1e6, "1 MB are left on its disk; make room"), (1e12, "close it in other programs")]
)
def test_a_result_that_cannot_be_written_is_no_fault_of_the_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, expected: str
) -> None:
    """On a full disk, or where another program holds the file open."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UserError, match=expected):
        write_whole(tmp_path / "metrics.csv", b"x")
    assert [*tmp_path.iterdir()] == []
