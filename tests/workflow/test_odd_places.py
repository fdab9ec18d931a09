"""Studies on odd disks, through Snakemake: a lost share, odd files and dates, foreign records, two runs, no writing.

One small study goes through it all, one step and the next far; what is read of it stays the same to the byte.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.__main__ import main
from pipeline.results import netcdf
from pipeline.workflow.activity_lock import is_left_alone
from pipeline.workflow.progress import LOCKED
from tests.campaigns.interruptions import outputs, write_tiny_study
from tests.support.checkout import HOUSE, planned, run_study, snakemake

TARGET = "derived/sub-01/calibrate.nc"  # two steps
TOO_LONG = "x" * 300
ODD = {
    **{name: f"sub-01/{name}.c3d" for name in ("dangling", "loop", "folder", "pipe", "gone")},
    "too_long": f"sub-01/{TOO_LONG}.c3d",
    "of_a_file": "sub-01/static.c3d/x.c3d",
    "the_study": ".",
}
DAY_S = 86400.0
LONGEST_WAIT_S = 60.0


class Ran(NamedTuple):
    """A study, what its first run said, when its recordings were lost, and its second."""

    study: Path
    lost: str
    lost_outputs: dict[str, str]
    found: subprocess.CompletedProcess[str]


def date(path: Path, days: float) -> None:
    """Give a file the date of so many days from now."""
    os.utime(path, (time.time() + days * DAY_S,) * 2)


def make_odd(study: Path) -> None:
    """Add files that are none, dates that cannot be, and records that another program left."""
    folder = study / "sub-01"
    (folder / "dangling.c3d").symlink_to("nowhere.c3d")
    (folder / "loop.c3d").symlink_to("loop.c3d")
    (folder / "folder.c3d").mkdir()
    os.mkfifo(folder / "pipe.c3d")
    with (study / "trials.tsv").open("a") as handle:
        handle.writelines(f"sub-01\t{trial}\t{file}\tgait\twalk\n" for trial, file in ODD.items())
    for name, days in {"sub-01/static.c3d": 1000, "trials.tsv": 3, "study.yaml": -20000}.items():
        date(study / name, days)
    records = study / ".snakemake"
    for name in ("metadata", "incomplete", "locks", "log", "auxiliary"):
        (records / name).mkdir(parents=True)
        (records / name / "c29tZXRoaW5n").write_bytes(b"\xff no record of ours") if name != "locks" else None
    (records / "source_sha256.json").write_text('{"sub-01/static.c3d": 1}')
    (records / "at_work").write_text("?")


def run_and_lose(study: Path, share: Path) -> str:
    """Run a study with recordings that go away while a job reads them, and return what it said."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--directory", str(study), TARGET]
    with subprocess.Popen(command, cwd=HOUSE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        while not (study / "logs/sub-01/read.log").exists() and run.poll() is None:
            time.sleep(0.002)
        share.rename(share.with_name("lost"))  # the C3D parser takes longer than this to start
        _, said = run.communicate()
    assert run.returncode != 0
    share.with_name("lost").rename(share)
    return said


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    place = tmp_path_factory.mktemp("odd")
    study, share = write_tiny_study(place / "study"), place / "share"
    (study / "sub-01").rename(share)
    (study / "sub-01").symlink_to(share)
    make_odd(study)
    lost = run_and_lose(study, share)
    return Ran(study, lost, outputs(study), run_study(study, TARGET))


def test_a_share_that_is_lost_during_a_run_costs_a_job_and_no_result(ran: Ran) -> None:
    """It would be a result that the trial is not there, and stand when the share is there again."""
    assert "c3d: No such file or directory; see to its disk or share and run again" in ran.lost
    assert "Traceback" not in ran.lost
    assert ran.lost_outputs == {}
    assert ran.found.returncode == 0, ran.found.stderr


def test_files_that_are_none_cost_themselves_alone(ran: Ran) -> None:
    session = netcdf.load(ran.study / "derived/sub-01/read.nc")
    reasons = dict(zip(session.trial.values.tolist(), session.rejected.values.tolist(), strict=True))
    assert {name for name, reason in reasons.items() if not reason} == {"static", "comfortable_01"}
    for name, file in ODD.items():
        assert reasons[name].startswith(f"{file}: "), reasons[name]
        assert "no such file" in reasons[name] or name == "too_long"


@pytest.mark.parametrize("days", [1000.0, -9000.0, -1.0], ids=["future", "past", "after the results"])
def test_no_date_of_a_recording_makes_a_result_stale(ran: Ran, days: float) -> None:
    """The clocks of a lab's computers differ, copies have any date; recordings count by content."""
    for name in ("static", "comfortable_01"):
        date(ran.study / f"sub-01/{name}.c3d", days)
    date(ran.study / "derived/sub-01/read.nc", -3)
    date(ran.study / TARGET, -2)
    assert planned(ran.study, "--", TARGET) == set()


def test_of_two_runs_at_once_the_second_is_refused(ran: Ran) -> None:
    before = outputs(ran.study)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--directory", str(ran.study), "--forceall", TARGET]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=HOUSE, **quiet) as first:  # type: ignore[call-overload]
        give_up = time.monotonic() + LONGEST_WAIT_S
        while is_left_alone(ran.study, longest_s=0) and time.monotonic() < give_up:
            time.sleep(0.05)
        while not any((ran.study / ".snakemake/locks").iterdir()) and time.monotonic() < give_up:
            time.sleep(0.01)
        first.send_signal(signal.SIGSTOP)
        try:
            second = run_study(ran.study, "--forceall", TARGET)
        finally:
            first.send_signal(signal.SIGCONT)
        assert first.wait(LONGEST_WAIT_S) == 0
    assert second.returncode != 0
    assert LOCKED in second.stderr
    assert "Traceback" not in second.stderr
    assert outputs(ran.study) == before


@contextmanager
def not_writable(folder: Path) -> Iterator[None]:
    """Take away the right to write; root has it whatever the rights, but not on a disk mounted for reading."""
    take = (
        [["chmod", "a-w"]] if os.geteuid() else [["mount", "--bind", str(folder)], ["mount", "-o", "remount,ro,bind"]]
    )
    if any(subprocess.run([*command, str(folder)], capture_output=True, check=False).returncode for command in take):
        pytest.skip("mounting is not permitted here")
    try:
        yield
    finally:
        subprocess.run([*(["chmod", "u+w"] if os.geteuid() else ["umount"]), str(folder)], check=True)


def test_a_study_that_cannot_be_written_to_is_refused_before_anything_runs(
    ran: Ran, capsys: pytest.CaptureFixture[str]
) -> None:
    before = outputs(ran.study)
    with not_writable(ran.study):
        result = run_study(ran.study, TARGET)
        looked = [main([command, str(ran.study)]) for command in ("check", "verify")]
    assert result.returncode != 0
    assert f"{ran.study}: cannot be written to; copy the study to where you may write" in result.stderr
    assert "Traceback" not in result.stderr
    assert looked == [1, 1]  # files that are none; results that are not there yet
    assert "derived/study.nc" in capsys.readouterr().out
    assert outputs(ran.study) == before


@pytest.mark.parametrize(
    ("place", "target", "start"),
    [
        ("derived", "derived", snakemake),
        ("logs", "nowhere", snakemake),
        (".snakemake", "", run_study),
        (".snakemake", "nowhere", snakemake),
    ],
)
def test_links_and_files_in_place_of_folders_are_named_before_any_job(
    tmp_path: Path, place: str, target: str, start: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """A link to nowhere or to itself, or a file; ``gaitlab run`` looks at all places before Snakemake begins."""
    study = write_tiny_study(tmp_path / "study")
    (study / place).parent.mkdir(exist_ok=True)
    (study / place).symlink_to(target) if target else (study / place).write_text("some notes")
    result = start(study, TARGET)
    assert result.returncode == 1
    (line,) = (line for line in result.stderr.splitlines() if f"{study / place}: " in line)
    assert "; " in line
    assert "Traceback" not in result.stderr
    assert start is snakemake or result.stderr == f"{line}\n"
    assert outputs(study) == {}
    assert not (study / TARGET).exists()


def test_a_folder_of_results_that_cannot_be_written_to_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_tiny_study(tmp_path / "study")
    (study / "derived" / "sub-01").mkdir(parents=True)
    with not_writable(study / "derived" / "sub-01"):
        result = run_study(study, TARGET)
        assert main(["check", str(study)]) == 1
    assert result.returncode == 1
    assert f"{study}/derived/sub-01: cannot be written to; " in result.stderr
    assert "cannot be written to" in capsys.readouterr().out
