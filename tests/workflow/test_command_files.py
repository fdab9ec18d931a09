"""Files of commands after results have changed: a run makes them again, removes or names them, as ``verify`` does."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import xarray as xr

from pipeline.__main__ import main
from pipeline.commands.export import long_table
from pipeline.commands.verify.command import verify
from pipeline.results.study_file import load_study
from pipeline.tables import corrections
from pipeline.workflow import checksums
from pipeline.workflow.command_files import recorded_files, renew
from pipeline.workflow.open_study import look_at
from pipeline.workflow.preparation import remove_pages_of_others
from tests.support.files.changes import edit
from tests.support.studies.small_study import run_steps

PAGE = "derived/report/sub-01.comfortable.fast.html"
# each written by its command, with the code of verify once the results are others
WRITTEN = {
    "derived/pdf/sub-01.pdf": "pdf_outdated",
    "derived/sub-01/c3d/fast_01.c3d": "c3d_copy_outdated",
    "derived/study.csv": "export_outdated",
    "derived/study.xlsx": "export_outdated",
    "derived/for Ann.xlsx": "export_outdated",
    "derived/tables/metrics.csv": "export_outdated",
    "derived/metrics.parquet/participant=sub-01/part-0.parquet": "export_outdated",
}
BROWSER = """#!{python}
import sys
from pathlib import Path
target = next(one for one in sys.argv if one.startswith("--print-to-pdf="))
Path(target.partition("=")[2]).write_bytes(b"%PDF-1.4 of a page %%EOF")
"""


@pytest.fixture(scope="module", autouse=True)
def fast_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let a script take the place of a browser, and the long table have one cycle or stance of each part."""

    def one_of(path: Path, part: Literal["cycle", "stance"] = "cycle", **options: Any) -> xr.Dataset:
        return load_study(path, part=part, **options).isel({part: slice(1)})

    program = tmp_path_factory.mktemp("browser") / "browser"
    program.write_text(BROWSER.format(python=sys.executable))
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAITLAB_BROWSER", str(program))
        patch.setattr(long_table, "load_study", one_of)
        yield


@pytest.fixture(scope="module")
def finished(reported_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study with its report, and a file of each command."""
    study = Path(shutil.copytree(reported_study, tmp_path_factory.mktemp("written") / "study"))
    for command in (
        ["compare", str(study), "comfortable", "fast"],
        ["report", str(study), "--pdf", "--participant", "sub-01"],
        ["write-c3d", str(study)],
        *(["export", str(study), "--format", form] for form in ("csv", "xlsx", "csv-tables", "parquet-tables")),
        ["export", str(study), "--format", "xlsx", "--output", str(study / "derived" / "for Ann.xlsx")],
    ):
        assert main(command) == 0
    return study


@pytest.fixture(scope="module")
def refused(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the study after the first stance with forces was refused by hand, and a run."""
    study = Path(shutil.copytree(finished, tmp_path_factory.mktemp("refused") / "study"))
    quality = [line.split(",") for line in (study / "derived/quality.csv").read_text().splitlines()]
    used = next(row for row in quality if row[8] == "used")
    _, session, trial, _, side, time_s, *_ = used
    stance = {"session": session, "trial": trial, "side": side, "time_s": time_s}
    row = {**stance, "kind": "refuse_contact", "reason": "two feet in the video"}
    corrections.write_corrections(study / "corrections.tsv", [row])
    assert main(["corrections", str(study)]) == 0
    run_steps(study, report=True)
    return study


@pytest.fixture
def changed(refused: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(refused, tmp_path / "study"))


def test_nothing_is_stale_or_strange_after_each_command(finished: Path) -> None:
    faults, summary = verify(finished)
    assert faults == []
    assert summary.endswith("nothing else is there.")
    assert {*WRITTEN, PAGE} <= {f"derived/{name}" for name in recorded_files(finished / "derived", but=())}
    assert [*renew(look_at(finished)[0])] == []


def test_each_kind_of_file_is_named_with_its_command_until_it_is_written_again(
    changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = changed
    faults = {fault.where: fault for fault in verify(study)[0]}
    assert {where: faults[where].code for where in (*WRITTEN, PAGE)} == WRITTEN | {PAGE: "comparison_outdated"}
    assert all(fault.remedy for fault in faults.values())
    capsys.readouterr()
    assert main(["verify", str(study)]) == 1
    commands = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  gaitlab")]
    assert f"gaitlab run {study} --forceall" in commands  # which makes the page again
    assert f"gaitlab export {study} --format csv-tables" in commands
    for command in (shlex.split(each)[1:] for each in commands):
        if command[0] != "run":
            assert main(command) == 0
    assert {fault.code for fault in verify(study)[0]} == {"comparison_outdated"}


def test_a_run_makes_a_comparison_again_and_names_the_others(changed: Path) -> None:
    study, before = changed, (changed / PAGE).read_bytes()
    opened = look_at(study)[0]
    remove_pages_of_others(opened)  # as before each run; this page is of somebody who is there
    lines = [*renew(opened)]
    assert lines[0] == f"Made again: {PAGE}."
    assert (study / PAGE).read_bytes() != before
    assert sum("gaitlab report" in line for line in lines[1:]) == 1
    assert {fault.where for fault in verify(study)[0]}.isdisjoint({PAGE})
    assert [*renew(look_at(study)[0])] == lines[1:]


def test_a_setting_makes_a_comparison_outdated(study: Path) -> None:
    with (study / "study.yaml").open("a") as handle:
        handle.write("report: {laboratory: Another}\n")
    assert PAGE in {fault.where for fault in verify(study)[0]}
    assert f"Made again: {PAGE}." in [*renew(look_at(study)[0])]
    assert b"Another" in (study / PAGE).read_bytes()


def test_a_comparison_of_what_is_gone_is_removed_with_its_reason(study: Path) -> None:
    edit(study / "trials.tsv", "\tgait\tfast", "\tgait\tquick")
    lines = [*renew(look_at(study)[0])]
    assert lines[0].startswith(f"Removed: {PAGE}, made with other settings, tables or code, cannot be made again: ")
    assert "no visit and no condition 'fast'" in lines[0]
    assert not (study / PAGE).exists()
    assert checksums.recorded(study / "derived", PAGE.removeprefix("derived/")) is None


def test_a_page_of_an_earlier_version_is_removed_and_one_of_a_person_is_not(study: Path) -> None:
    checksums.forget(study / "derived", PAGE.removeprefix("derived/"))
    mine = study / "derived/report/sub-01.notes.html"
    mine.write_text("<html>my notes</html>")
    (line,) = [*renew(look_at(study)[0])]
    assert line.startswith(f"Removed: {PAGE}, as nothing records what it shows")
    assert not (study / PAGE).exists()
    assert mine.exists()
    assert "derived/report/sub-01.notes.html" in verify(study)[1]


def test_a_changed_byte_in_each_file_of_a_command_is_found(study: Path) -> None:
    for path in (study / name for name in (*WRITTEN, PAGE)):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    found = [(fault.where, fault.code) for fault in verify(study)[0]]
    assert sorted(found) == sorted((name, "command_file_changed") for name in (*WRITTEN, PAGE))


def test_a_page_that_a_run_writes_again_is_named_without_its_pdf(study: Path) -> None:
    (study / "derived/report/sub-01.html").unlink()
    assert [fault.where for fault in verify(study)[0]] == ["derived/report/sub-01.html"]
