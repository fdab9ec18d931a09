"""Which sessions and pages a run leaves out of its plan: after each cause of a job, none that the cause is of."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.workflow import checksums, digests, job_keys
from pipeline.workflow.open_study import open_study
from pipeline.workflow.preparation import changed_results, prepare
from tests.support.checkout import planned, run_study, snakemake
from tests.support.files.changes import edit
from tests.support.step_names import SESSION_STEPS
from tests.support.studies.corrected import correct

ONE, OTHER = "sub-01", "sub-02"  # sessions, each of the person of the same name
EVERY = {ONE, OTHER, f"page {ONE}", f"page {OTHER}"}
OF_OTHER = {OTHER, f"page {OTHER}"}
SESSIONS = {ONE, OTHER}
LATER_S = 60.0
SOON_S = 0.5  # the dates of a file and of its record may differ by more

Change = Callable[[Path], object]


def left_out(study: Path) -> set[str]:
    """Return sessions and pages that are left out; each session with all of its results or none."""
    opened = open_study(study)
    files = changed_results(opened, keep=False).finished
    pages = {f"page {file.removeprefix('derived/report/').removesuffix('.html')}" for file in files if "report" in file}
    of_sessions = [file.split("/")[1] for file in files if "report" not in file]
    assert all(of_sessions.count(one) == len(SESSION_STEPS) + 1 for one in of_sessions)  # cycles have two
    return pages | {*of_sessions}


def date(*files: Path, later_s: float = LATER_S) -> None:
    for file in files:
        dated = file.stat().st_mtime + later_s
        os.utime(file, (dated, dated))


def damage(file: Path) -> None:
    file.write_bytes(b"edited")
    date(file)


def date_with_record(study: Path, name: str, *, like: str, later_s: float) -> None:
    """Give a result and its record the date of another result, a moment later."""
    dated = (study / "derived" / like).stat().st_mtime + later_s
    for file in (study / "derived" / name, checksums.record_path(study / "derived", name)):
        os.utime(file, (dated, dated))


def make_otherwise(study: Path, name: str = f"{ONE}/clean.nc") -> None:
    """Let a result have other bytes and a record of them, with the key of now, and its former date."""
    derived = study / "derived"
    file, record = derived / name, checksums.record_path(derived, name)
    dated, text = file.stat().st_mtime, record.read_text()
    before = digests.sha256(file)
    file.write_bytes(file.read_bytes() + b"\0")
    record.write_text(text.replace(before, digests.sha256(file)))
    for one in (file, record):
        os.utime(one, (dated, dated))


def add_a_session(study: Path) -> None:
    """Record the first person once more."""
    header, *rows = (study / "trials.tsv").read_text().splitlines()
    old = [f"{row.split()[0]}\t{row}" for row in rows]
    new = [row.replace(f"{ONE}\t", f"{ONE}\tagain\t", 1) for row in rows if row.startswith(ONE)]
    (study / "trials.tsv").write_text("\n".join([header.replace("\t", "\tsession\t", 1), *old, *new]) + "\n")


def remove_a_person(study: Path) -> None:
    for table in study.glob("*.tsv"):
        rows = [row for row in table.read_text().splitlines() if not row.startswith(ONE)]
        table.write_text("\n".join(rows) + "\n")


def set_in(study: Path, text: str) -> None:
    with (study / "study.yaml").open("a") as handle:
        handle.write(f"{text}\n")


def change_a_bit(file: Path) -> None:
    """Change a recording and keep its size and date."""
    status, content = file.stat(), bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


CAUSES: dict[str, tuple[Change, set[str]]] = {
    "none": (lambda _: None, EVERY),
    "the first result is gone": (lambda s: (s / f"derived/{ONE}/read.nc").unlink(), OF_OTHER),
    "the last result is gone": (lambda s: (s / f"derived/{ONE}/representative.nc").unlink(), OF_OTHER),
    "a result is edited": (
        lambda s: damage(s / f"derived/{ONE}/clean.nc"),
        OF_OTHER,
    ),
    "a result has another date": (lambda s: date(s / f"derived/{ONE}/clean.nc"), OF_OTHER),
    "a result has an earlier date": (lambda s: date(s / f"derived/{ONE}/cycles.nc", later_s=-LATER_S), OF_OTHER),
    "a result is newer than what was made from it": (
        lambda s: date_with_record(s, f"{ONE}/clean.nc", like=f"{ONE}/contacts.nc", later_s=SOON_S),
        OF_OTHER,
    ),
    "a result was made again otherwise, before what was made from it": (make_otherwise, OF_OTHER),
    "a record is gone": (lambda s: checksums.record_path(s / "derived", f"{ONE}/read.nc").unlink(), OF_OTHER),
    "a record cannot be read": (
        lambda s: checksums.record_path(s / "derived", f"{ONE}/read.nc").write_text("?"),
        OF_OTHER,
    ),
    "all records are gone": (lambda s: shutil.rmtree(s / "derived/checksums"), set()),
    "a job was killed before it wrote": (
        lambda s: (s / f"derived/checksums/{ONE}/.clean.nc.sha256").touch(),
        OF_OTHER,
    ),
    "a job was killed": (
        lambda s: checksums.begin(s / "derived", [s / f"derived/{ONE}/cycles.nc"]),
        OF_OTHER,
    ),
    "Snakemake was killed before it noted the end of a job": (
        lambda s: (s / ".snakemake/incomplete/ZGVyaXZlZA==").touch(),
        set(),
    ),
    "a page is gone": (lambda s: (s / f"derived/report/{ONE}.html").unlink(), {*OF_OTHER, ONE}),
    "a page is edited": (lambda s: date(s / f"derived/report/{ONE}.html"), {*OF_OTHER, ONE}),
    "the script of all pages is gone": (lambda s: (s / "derived/report/page.js").unlink(), SESSIONS),
    "the style of all pages is newer": (
        lambda s: date_with_record(s, "report/page.css", like=f"report/{ONE}.html", later_s=LATER_S),
        SESSIONS,
    ),
    "the study is gone": (lambda s: (s / "derived/study.nc").unlink(), EVERY),
    "a table is edited": (lambda s: date(s / "derived/metrics.csv"), EVERY),
    "a recording has another bit": (lambda s: change_a_bit(s / ONE / "comfortable_01.c3d"), OF_OTHER),
    "a recording has another date": (lambda s: date(s / ONE / "comfortable_01.c3d"), EVERY),
    "a recording is gone": (lambda s: (s / ONE / "comfortable_01.c3d").unlink(), OF_OTHER),
    "a cell": (lambda s: edit(s / "participants.tsv", "74.6", "74.7"), OF_OTHER),
    "a measured segment": (lambda s: edit(s / "segments.tsv", "1.0444", "1.05"), OF_OTHER),
    "a setting of the last step": (lambda s: set_in(s, "cycles: {longest_cycle_s: 2.9}"), set()),
    "a setting of the study": (lambda s: set_in(s, "study: {reference: null}"), SESSIONS),
    "a setting of pages": (lambda s: set_in(s, "report: {title: Another}"), SESSIONS),
    "a correction": (
        lambda s: correct(s, "hide_marker", session=ONE, trial="comfortable_01", given="LKNE", time_s="0", to_s="0.1"),
        OF_OTHER,
    ),
    "a session more of the person": (add_a_session, {ONE, *OF_OTHER}),
    "a person less": (remove_a_person, OF_OTHER),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_no_session_or_page_is_left_out_that_a_cause_is_of(study: Path, cause: str) -> None:
    change, expected = CAUSES[cause]
    change(study)
    assert left_out(study) == expected


def test_what_was_made_from_other_bytes_is_made_again(study: Path) -> None:
    """Though dates and keys are right, as of a session that was computed and copied by somebody else."""
    assert changed_results(open_study(study), keep=False).rerun == []
    make_otherwise(study)
    of_session = [f"derived/{ONE}/{name}.nc" for name in ("contacts", "kinematics", "cycles", "representative")]
    assert changed_results(open_study(study), keep=False).rerun == [*of_session, f"derived/report/{ONE}.html"]
    assert {f"cycles:{ONE}", f"page:{ONE}", "study", "report"} < planned(study)


def test_no_copy_is_kept_of_a_table_that_nobody_has_edited(study: Path) -> None:
    make_otherwise(study, f"{ONE}/cycles.nc")
    prepared = changed_results(open_study(study), keep=True)
    assert "derived/metrics.csv" in prepared.rerun
    (notice,) = prepared.notices
    assert notice.startswith("Made from other results than those there, and made again: ")
    assert not [*(study / "derived").glob("*.changed.csv")]


def test_new_code_and_libraries_leave_nothing_out(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = digests.versions
    with monkeypatch.context() as patch:
        patch.setattr(digests, "code_digest", lambda *_, **__: "0" * 64)
        assert left_out(study) == set()
    with monkeypatch.context() as patch:
        patch.setattr(digests, "versions", lambda names: {**installed(names), "numpy": "99"})
        assert left_out(study) == set()
    with monkeypatch.context() as patch:
        patch.setattr(job_keys, "__version__", "99.0.0")
        assert left_out(study) == set()
    assert left_out(study) == EVERY


def test_a_page_that_is_to_show_another_file_is_not_left_out(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an extra adds to a page need not be in its key."""
    files_of_page = job_keys.Study.files_of_page
    more = {"added": [f"derived/{OTHER}/muscles.nc"]}
    monkeypatch.setattr(
        job_keys.Study, "files_of_page", lambda self, who: files_of_page(self, who) | (more if who == OTHER else {})
    )
    assert left_out(study) == {ONE, OTHER, f"page {ONE}"}


def test_a_part_of_the_workflow_leaves_nothing_out(study: Path) -> None:
    opened = open_study(study)
    assert prepare(opened, dry_run=True, forced=False, whole=True).finished
    assert not prepare(opened, dry_run=True, forced=False, whole=False).finished


def lose_snakemakes_keys(study: Path) -> None:
    """Let all of Snakemake's own records hold other keys, by which it would run every job again."""
    for file in (study / ".snakemake/metadata").iterdir():
        record = json.loads(file.read_text())
        file.write_text(json.dumps(record | {"params": ["'another'"]}))


def test_snakemake_has_no_jobs_of_what_is_left_out(study: Path) -> None:
    """Its own records are not looked at, unless it is asked for a part or to look at more."""
    of_study = {"study", "report", "page_files"}
    of_sessions = {f"{step}:{session}" for step in SESSION_STEPS for session in SESSIONS}
    everything = of_study | of_sessions | {f"page:{session}" for session in SESSIONS}
    lose_snakemakes_keys(study)
    assert planned(study) == of_study
    assert planned(study, "--until", "study") == {"study"} | of_sessions
    assert planned(study, "--rerun-triggers", "mtime", "params", "input") == everything
    again = {f"cycles:{session}" for session in SESSIONS}
    assert again < planned(study, "--forcerun", "cycles")
    (study / f"derived/{ONE}/cycles.nc").unlink()
    assert planned(study) == of_study | {f"{step}:{ONE}" for step in SESSION_STEPS} | {f"page:{ONE}"}


def test_a_run_with_sessions_left_out_writes_what_a_run_of_all_does(study: Path, tmp_path: Path) -> None:
    """Of a changed mass, beside a finished session; the other run is of Snakemake alone, from nothing."""
    edit(study / "participants.tsv", "74.6", "76.6")
    everything = Path(shutil.copytree(study, tmp_path / "all", ignore=shutil.ignore_patterns("derived", ".snakemake")))
    finished = (study / f"derived/{OTHER}/cycles.nc").stat().st_mtime_ns
    result = run_study(study)
    assert result.returncode == 0, result.stderr
    assert re.search(r"7 steps to do in 1 session", result.stderr), result.stderr
    assert snakemake(everything).returncode == 0
    names = [file.relative_to(everything) for file in (everything / "derived").rglob("*") if file.is_file()]
    assert len(names) > 50
    assert [name for name in names if (study / name).read_bytes() != (everything / name).read_bytes()] == []
    assert (study / f"derived/{OTHER}/cycles.nc").stat().st_mtime_ns == finished
    start = time.time()
    again = run_study(study)
    assert "Nothing to do" in again.stderr
    assert not [name for name in names if (study / name).stat().st_mtime > start]
