"""``verify``: each change of a recording, a result or its record is found, with its remedy; nothing else is."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline.__main__ import main
from pipeline.commands.verify.command import verify
from pipeline.commands.verify.remedies import as_text
from pipeline.errors import Problem, UserError
from pipeline.results import netcdf
from pipeline.results.page_names import SCRIPT
from pipeline.results.whole_files import write_whole
from pipeline.workflow import checksums, digests
from pipeline.workflow.jobs import run_job
from pipeline.workflow.open_study import open_study, outputs_of
from tests.campaigns import fuzz_netcdf
from tests.support.checkout import HOUSE
from tests.support.files.changes import edit, write_as_another_run


@pytest.fixture(scope="module")
def finished(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study of one session, with any page as its report: only the bytes matter."""
    study = Path(shutil.copytree(small_study / "data/demo", tmp_path_factory.mktemp("house") / "study"))
    opened = open_study(study)
    for page, step, of in (("report.html", "report", None), ("report/sub-01.html", "page", "sub-01")):
        write_whole(study / "derived" / page, b"<html>" * 1000)
        checksums.record(study / "derived", [study / "derived" / page], inputs={}, key=opened.content_of_key(step, of))
    now = time.time()
    for path in (study / "derived").rglob("*.*"):
        os.utime(path, (now, now))  # on a busy machine a record may be written long after its file
    return study


def faults_of(study: Path) -> list[Problem]:
    return verify(study)[0]


def flip(path: Path, place: int, *, bit: int = 0) -> None:
    """Flip one bit but keep size and times, like a failing disk."""
    status = path.stat()
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


# --- nothing wrong ----------------------------------------------------------------------------------------------------


def test_a_finished_study_has_no_problem(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(finished)]) == 0
    assert "3 recordings and 21 of 21 results were read" in capsys.readouterr().out


def test_a_missing_script_of_the_pages_is_noticed_and_not_one_of_a_page(study: Path) -> None:
    (study / "derived" / SCRIPT).unlink()
    (fault,) = faults_of(study)
    assert (fault.where, fault.code, fault.remedy) == (f"derived/{SCRIPT}", "result_missing", "run again")


def test_faults_as_json(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(study), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    (study / "derived/sub-01/kinematics.nc").unlink()
    assert main(["verify", str(study), "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {
            "severity": "error",
            "code": "result_missing",
            "where": "derived/sub-01/kinematics.nc",
            "what": "missing",
            "remedy": "run again",
        }
    ]
    shutil.rmtree(study / "derived")
    assert main(["verify", str(study), "--json"]) == 1
    assert [fault["what"] for fault in json.loads(capsys.readouterr().out)] == ["no results"]


def test_a_new_time_stamp_is_no_change(study: Path) -> None:
    for path in study.rglob("*.*"):
        path.touch()
    assert faults_of(study) == []


def test_files_with_the_recorded_bytes_are_not_opened(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening those of a hundred sessions would take minutes and find nothing more."""
    monkeypatch.setattr(netcdf, "attributes", lambda path: pytest.fail(f"{path} was opened"))
    assert faults_of(finished) == []


def test_a_copy_elsewhere_has_no_problem(study: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "another place" / "study"
    shutil.copytree(study, elsewhere)
    assert faults_of(elsewhere) == []


def test_records_need_nothing_of_this_package(finished: Path) -> None:
    program = shutil.which("sha256sum")
    if program is None:
        pytest.skip("no sha256sum here")
    derived = finished / "derived"
    records = sorted((derived / "checksums").rglob("*.sha256"))
    assert len(records) == sum(path.is_file() for path in derived.rglob("*")) - len(records)
    text = "".join(path.read_text() for path in records)
    result = subprocess.run(
        [program, "--check", "--strict"], cwd=derived, input=text, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == len(records)


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_one_flipped_bit_anywhere_in_any_result_is_found(study: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    files = [path for path in (study / "derived").rglob("*") if path.suffix in (".nc", ".csv", ".html")]
    for path in files:
        flip(path, int(rng.integers(path.stat().st_size)), bit=int(rng.integers(8)))
    found = faults_of(study)
    assert {fault.where for fault in found} == {path.relative_to(study).as_posix() for path in files}
    assert {fault.code for fault in found} == {"result_damaged"}
    assert all("damaged" in fault.what for fault in found)


HARM: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a file cut short": (lambda path: path.write_bytes(path.read_bytes()[:-1]), "changed since", "result_changed"),
    "an empty file": (lambda path: path.write_bytes(b""), "changed since", "result_changed"),
    "a file gone": (lambda path: path.unlink(), "missing", "result_missing"),
    "a file put in its place": (
        lambda path: shutil.copy(path.with_name("clean.nc"), path),
        "changed since",
        "result_changed",
    ),
}


@pytest.mark.parametrize("harm", HARM)
def test_harm_to_a_result_is_named_with_its_remedy(study: Path, harm: str) -> None:
    do, what, code = HARM[harm]
    path = study / "derived/sub-01/kinematics.nc"
    do(path)
    if path.exists():
        os.utime(path, (time.time() + 60,) * 2)  # some time after the run
    (fault,) = faults_of(study)
    assert fault.where == "derived/sub-01/kinematics.nc"
    assert what in fault.what
    assert fault.code == code


@pytest.mark.parametrize("content", [None, "", "not a record\n", "abc  sub-01/read.nc\n# {}\n"])
def test_a_result_without_its_record_is_not_trusted(study: Path, content: str | None) -> None:
    record = study / "derived/checksums/sub-01/read.nc.sha256"
    record.unlink() if content is None else record.write_text(content)
    (fault,) = faults_of(study)
    assert fault.where == "derived/sub-01/read.nc"
    assert (fault.code, fault.remedy) == ("result_without_record", "run again")


def test_a_result_of_another_run_is_found_by_later_results(study: Path) -> None:
    """For example clean.nc and its record from a backup: they fit, but later results come from another clean.nc."""
    write_as_another_run(study, "clean")
    found = faults_of(study)
    assert {fault.where for fault in found} == {
        f"derived/sub-01/{step}.nc" for step in ("contacts", "kinematics", "cycles", "representative")
    }
    assert all("made from an earlier derived/sub-01/clean.nc" in fault.what for fault in found)


def test_folders_of_no_session_are_mentioned_but_no_problem(study: Path) -> None:
    shutil.copytree(study / "derived/sub-01", study / "derived/sub-77")
    faults, summary = verify(study)
    assert faults == []
    assert "derived/sub-77" in summary


# --- recordings, settings, tables, code -------------------------------------------------------------------------------


def test_a_changed_recording_is_named_whatever_its_time_stamp(study: Path) -> None:
    flip(study / "sub-01/fast_01.c3d", -5)
    (fault,) = faults_of(study)
    assert fault.where == "sub-01/fast_01.c3d"
    assert "changed since derived/sub-01/read.nc and 8 more" in fault.what  # the session's eight files and study.nc
    assert (fault.code, fault.remedy) == ("recording_changed", "restore it, or run again")


def test_a_recording_that_is_gone_is_named(study: Path) -> None:
    (study / "sub-01/static.c3d").unlink()
    (fault,) = faults_of(study)
    assert (fault.where, fault.code) == ("sub-01/static.c3d", "recording_missing")
    assert fault.what.startswith("gone since")


def test_a_recording_that_came_later_is_found(study: Path) -> None:
    shutil.copy(study / "sub-01/fast_01.c3d", study / "sub-01/gone.c3d")
    (fault,) = faults_of(study)
    assert fault.where == "derived/sub-01/read.nc"
    assert "trials.tsv, or the recordings" in fault.what


def test_a_changed_setting_is_named_with_both_values(study: Path) -> None:
    edit(study / "study.yaml", "uncertainty_draws: 5", "uncertainty_draws: 6")
    (fault,) = faults_of(study)
    assert fault.where == "derived/sub-01/kinetics.nc"
    assert "kinetics.uncertainty_draws 5, now 6" in fault.what
    assert fault.code == "result_outdated"


def test_a_changed_cell_is_named_by_its_table(study: Path) -> None:
    with (study / "participants.tsv").open(newline="") as handle:
        rows = list(csv.reader(handle, delimiter="\t"))
    rows[1][rows[0].index("mass_kg")] = "80"
    (study / "participants.tsv").write_text("\n".join("\t".join(row) for row in rows) + "\n")
    by_file = {fault.where: fault.what for fault in faults_of(study)}
    of_people = {f"derived/{name}" for name in ("study.nc", "report/sub-01.html", *TABLES)}
    assert set(by_file) == {"derived/sub-01/calibrate.nc", *of_people}
    assert "participants.tsv" in by_file["derived/sub-01/calibrate.nc"]


TABLES = (
    *("metrics.csv", "quality.csv", "participants.csv", "symmetry.csv"),
    *("metrics.json", "quality.json", "participants.json", "symmetry.json"),
)


def test_changed_code_and_libraries_are_named(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = digests.code_digest
    monkeypatch.setattr(
        digests, "code_digest", lambda *names, **more: digest(*names, **more) + "x" * names[0].endswith("contacts.step")
    )
    monkeypatch.setattr(digests, "versions", lambda names: dict.fromkeys(names, "99"))
    by_file = {fault.where: fault.what for fault in faults_of(study)}
    assert "the code of this step" in by_file["derived/sub-01/contacts.nc"]
    assert "the code of this step" not in by_file["derived/sub-01/clean.nc"]
    assert f"numpy {np.__version__}, now 99" in by_file["derived/sub-01/clean.nc"]


def test_a_newer_library_is_one_row_whatever_it_makes_outdated(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = digests.versions
    monkeypatch.setattr(
        digests, "versions", lambda names: versions(names) | ({"numpy": "99"} if "numpy" in names else {})
    )
    faults, summary = verify(study)
    assert len(faults) > 5
    text = as_text(faults, summary, study, width=200)
    assert text.count("numpy") == 1
    assert f" and {len(faults) - 1} more" in text


# --- messages and commands --------------------------------------------------------------------------------------------


def test_the_commands_can_be_copied(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Damaged files are removed, paths with blanks are quoted, lost records force a run."""
    spaced = study.rename(study.with_name("my study"))
    (spaced / ".snakemake/metadata").mkdir(parents=True)
    (spaced / ".snakemake/metadata/record").touch()
    flip(spaced / "derived/study.nc", 5000)
    flip(spaced / "sub-01/fast_01.c3d", -5)
    assert main(["verify", str(spaced)]) == 1
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert f"rm '{spaced}/derived/study.nc'" in lines
    assert f"gaitlab run '{spaced}'" in lines
    assert sum(line.startswith("rm ") for line in lines) == 1
    shutil.rmtree(spaced / ".snakemake")
    assert main(["verify", str(spaced)]) == 1
    assert f"gaitlab run '{spaced}' --forceall" in capsys.readouterr().out


def test_a_study_without_results_or_with_wrong_tables_gives_plain_lines(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(study / "derived")
    assert main(["verify", str(study)]) == 1
    assert "derived: no results; gaitlab run" in capsys.readouterr().err
    (study / "study.yaml").write_text("body_model: isb_clusterz\n")
    assert main(["verify", str(study)]) == 1
    assert "did you mean 'isb_clusters'?" in capsys.readouterr().err
    assert main(["verify", str(study / "nowhere")]) == 1
    assert "no such folder" in capsys.readouterr().err


def test_a_step_refuses_a_damaged_input_and_leaves_no_record(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even one byte more at its end, which no checksum inside the file covers."""
    monkeypatch.chdir(study)
    read = Path("derived/sub-01/read.nc")
    content = read.read_bytes()
    key = open_study(Path()).key("clean")(type("Wildcards", (), {"session": "sub-01"}))
    job = key, {"read": [read]}, {"clean": [Path("derived/sub-01/clean.nc")]}
    read.write_bytes(content + b"\0")
    netcdf.load(read)  # does not find it
    with pytest.raises(UserError, match=r"derived/sub-01/read\.nc: damaged .*; remove it and run again"):
        run_job.run(*job)
    assert checksums.recorded(Path("derived"), "sub-01/clean.nc") is None
    read.write_bytes(content)
    run_job.run(*job)
    assert faults_of(study) == []


def test_no_damaged_result_passes_as_another(study: Path) -> None:
    """A short campaign; ``make fuzz`` runs the long one."""
    results = list(fuzz_netcdf.campaign(study / "derived", mutants=48, seed=7))
    assert not [result for result in results if result[1] == fuzz_netcdf.HARM]
    ends = Counter(end for kind, end, _ in results if kind != "a record")
    assert ends == {fuzz_netcdf.REFUSED: 44}
    assert not {"crashed", "other error"} & {other for *_, other in results}


def test_every_result_of_the_workflow_is_verified(study: Path) -> None:
    """A file forgotten here would never be verified."""
    rules = (HOUSE / "Snakefile").read_text()
    named = {part.split('"')[0] for part in rules.split('"derived/')[1:]}
    named.remove("{output}")  # of rule all: every output
    every = {name.replace("{name}", Path(table).stem) for name in named for table in TABLES}
    expected = {re.sub(r"\{(session|participant)\}", "sub-01", name) for name in every}
    assert expected == set(outputs_of(open_study(study)))


# --- what is not of a run ---------------------------------------------------------------------------------------------


def test_files_that_no_run_writes_are_listed_and_not_judged(study: Path) -> None:
    (study / "derived/sub-01/c3d").mkdir()
    strange = ("notes.txt", "metrics (1).csv", "sub-01/kinetics - Kopie.nc", "sub-01/c3d/mine.c3d")
    for name in (*strange, "~$metrics.csv", ".DS_Store", "Thumbs.db", "desktop.ini", ".~lock.metrics.csv#"):
        (study / "derived" / name).write_text("x")
    faults, summary = verify(study)
    assert faults == []
    listed = summary.partition("not checked: ")[2].rstrip(".").split(", ")
    assert sorted(listed) == sorted(f"derived/{name}" for name in strange)


def test_c3d_copies_of_earlier_results_are_named_until_they_are_written_again(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["write-c3d", str(study)]) == 0
    copy = study / "derived/sub-01/c3d/comfortable_01.c3d"
    assert verify(study) == ([], "3 recordings and 21 of 21 results were read; nothing else is there.")
    write_as_another_run(study, "contacts")
    outdated = [fault for fault in faults_of(study) if fault.code == "c3d_copy_outdated"]
    assert len(outdated) == 2
    assert outdated[0].where == f"derived/{copy.relative_to(study / 'derived')}"
    assert outdated[0].what == "made from an earlier derived/sub-01/contacts.nc"
    capsys.readouterr()
    assert main(["verify", str(study)]) == 1
    shown = capsys.readouterr().out
    assert shown.count("comfortable_01.c3d and") == 1
    assert f"  gaitlab write-c3d {study}\n" in shown
    assert main(["write-c3d", str(study)]) == 0
    assert outdated[0] not in faults_of(study)


def test_a_copy_of_a_trial_that_has_left_the_study_is_removed_with_the_next_copies(study: Path) -> None:
    assert main(["write-c3d", str(study)]) == 0
    copy = study / "derived/sub-01/c3d/fast_01.c3d"
    own = copy.with_name("mine.c3d")
    shutil.copy(copy, own)
    assert copy.exists()
    edit(study / "trials.tsv", "fast_01.c3d\tgait", "fast_01.c3d\texclude")
    assert main(["write-c3d", str(study)]) == 0
    assert not copy.exists()
    assert own.exists()
