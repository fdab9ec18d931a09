"""Processes that are killed, disks that are full, records that are foreign: nothing partial, and a way to go on.

The short form of ``tests/campaigns/interruptions.py``, which interrupts real runs hundreds of times.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.commands.run import unlock
from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.steps.read import step
from pipeline.steps.read.recording_file import Source
from pipeline.steps.read.settings import Settings
from pipeline.trials.session import Trial
from pipeline.workflow.activity_lock import hold, is_left_alone
from pipeline.workflow.digests import sha256, sha256_of_files
from pipeline.workflow.jobs import session_job
from pipeline.workflow.open_study import open_study
from tests.campaigns.interruptions import KILLED, kill, leftovers, outputs, recovery, workers_of, write_tiny_study
from tests.support.checkout import HOUSE

POINTS, SEED = 8, 7  # a file that is written in place is seen at nearly every point
SETTINGS: dict[str, Any] = {"body_model": None, "settings": Settings(lab_axes="free")}


def written(path: Path) -> None:
    """Write a file of 0.8 MB, too random to be compressed."""
    netcdf.save(path, xr.Dataset({"x": ("sample", np.random.default_rng(0).normal(size=100_000))}))


def in_a_child(path: Path, *, largest_bytes: int | None = None, killed_after_s: float | None = None) -> int:
    """Write the file in a process of its own, which meets its limit or is killed; return how it ended."""
    child = os.fork()
    if not child:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            if largest_bytes is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does: writing fails instead
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_bytes, largest_bytes))
            written(path)
        except BaseException:
            os._exit(1)
        os._exit(0)
    if killed_after_s is not None:
        time.sleep(killed_after_s)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def test_a_file_is_whole_or_not_there_when_the_disk_is_full(tmp_path: Path) -> None:
    written(tmp_path / "whole.nc")
    whole, rng = (tmp_path / "whole.nc").read_bytes(), np.random.default_rng(SEED)
    for point in range(POINTS):
        path = tmp_path / str(point) / "read.nc"
        assert in_a_child(path, largest_bytes=int(rng.integers(len(whole)))) != 0
        assert not [*path.parent.iterdir()]
    assert in_a_child(path, largest_bytes=2 * len(whole)) == 0  # the limit itself does no harm
    assert path.read_bytes() == whole


def test_a_file_is_whole_or_not_there_when_its_writer_is_killed(tmp_path: Path) -> None:
    """What was written beside is swept away by the next who writes it."""
    start = time.perf_counter()
    written(tmp_path / "whole.nc")
    took_s, whole, rng = time.perf_counter() - start, (tmp_path / "whole.nc").read_bytes(), np.random.default_rng(SEED)
    for point in range(POINTS):
        path = tmp_path / str(point) / "read.nc"
        in_a_child(path, killed_after_s=rng.uniform(0, took_s))
        assert not path.exists() or path.read_bytes() == whole
    written(path)
    assert [file.name for file in path.parent.iterdir()] == ["read.nc"]


def test_a_killed_run_is_taken_up_by_one_command(tmp_path: Path) -> None:
    """While anything of the run lives, it is not taken up."""
    study = write_tiny_study(tmp_path / "study")
    run = recovery(study)
    while run.poll() is None and not workers_of(run):
        time.sleep(0.02)
    with pytest.raises(UserError, match="a run is at work on it"):
        unlock(study, wait_s=0.0)
    kill(run, KILLED[0])
    assert not [name for name in outputs(study) if not name.endswith("read.nc")]
    assert recovery(study, "derived/sub-01/calibrate.nc").wait() == 0
    assert {"derived/sub-01/read.nc", "derived/sub-01/calibrate.nc"} <= outputs(study).keys()
    assert not leftovers(study)


def test_a_lock_lasts_as_long_as_whoever_holds_it(tmp_path: Path) -> None:
    (tmp_path / ".snakemake").mkdir()
    assert is_left_alone(tmp_path, longest_s=0)
    work = "hold(pathlib.Path(sys.argv[1])); print(); time.sleep(60)"
    code = f"import sys, time, pathlib; from pipeline.workflow.activity_lock import hold; {work}"
    command = [sys.executable, "-u", "-c", code, str(tmp_path)]
    with subprocess.Popen(command, cwd=HOUSE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        assert not is_left_alone(tmp_path, longest_s=0)
        holder.kill()
    assert is_left_alone(tmp_path, longest_s=0)
    hold(tmp_path / "nowhere")  # a folder that cannot be written to is no reason to stop


@pytest.mark.parametrize("content", ["", "[]", "{", '{"x": 1}', '{"FILE": {}}', '{"FILE": [1]}', "\0", "null"])
def test_foreign_records_of_digests_are_not_believed(tmp_path: Path, content: str) -> None:
    file, cache = tmp_path / "walk.c3d", tmp_path / ".snakemake" / "source_sha256.json"
    file.write_bytes(b"recording")
    cache.parent.mkdir()
    cache.write_text(content.replace("FILE", str(file)))
    assert sha256_of_files([file], cache=cache) == {file: sha256(file)}


def test_snakemake_is_told_of_no_date_in_the_future(tmp_path: Path) -> None:
    """It would end the run after the job; the recording counts by its bytes."""
    study = write_tiny_study(tmp_path / "study")
    before = open_study(study)
    assert before.recordings("sub-01") == ["sub-01/static.c3d", "sub-01/comfortable_01.c3d"]
    future = time.time() + 1e8
    os.utime(study / "sub-01/static.c3d", (future, future))
    opened = open_study(study)
    assert opened.recordings("sub-01") == ["sub-01/comfortable_01.c3d"]
    assert opened.sha256 == before.sha256
    assert opened.memory_mb == before.memory_mb


@pytest.mark.parametrize("locked", [True, False])
def test_a_study_is_unlocked_only_if_it_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locked: bool
) -> None:
    study, started = write_tiny_study(tmp_path / "study"), list[list[str]]()
    (study / ".snakemake/locks").mkdir(parents=True)
    if locked:
        (study / ".snakemake/locks/0.input.lock").touch()

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        started.append(command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(UserError, match="cannot be unlocked") if locked else nullcontext():
        unlock(study)
    assert ["--unlock" in command for command in started] == [True] * locked


@pytest.mark.parametrize("error", [errno.ESTALE, errno.EIO, errno.ENOENT, None])
def test_a_recording_that_cannot_be_read_any_more_fails_the_job_and_not_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int | None
) -> None:
    """What was read of a lost share, or of a file copied again meanwhile (None), would stand when it is there again."""
    path = tmp_path / "walk.c3d"
    path.write_bytes(b"recording")
    row = {
        "trial": "walk",
        "file": str(path),
        "role": "gait",
        "subject": "",
        "participant": "a",
        "sha256": sha256(path),
    }

    def read_trial(_: Source, **__: object) -> Trial:
        if error == errno.ENOENT:
            path.unlink()
            raise UserError(str(path), "no such file", "restore it")
        if error:
            raise OSError(error, os.strerror(error))
        path.write_bytes(b"another")
        return Trial.of()

    monkeypatch.setattr(step, "_read_trial", read_trial)
    said = os.strerror(error) if error else "has changed since the run began"
    with pytest.raises(UserError, match=f"walk.c3d: {said}; see to its disk or share and run again"):
        session_job.run({"step": "read", "trials": [row]}, step.read, SETTINGS, {}, {})


def test_a_recording_that_never_could_be_read_costs_its_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"trial": "walk", "file": "x" * 300, "role": "gait", "subject": "", "participant": "a", "sha256": None}

    def read_trial(source: Source, **_: object) -> xr.Dataset:
        source.path.stat()
        return xr.Dataset()

    monkeypatch.setattr(step, "_read_trial", read_trial)
    found = step.read([row], **SETTINGS)
    assert found.rejected.values.tolist() == [f"{'x' * 300}: {os.strerror(errno.ENAMETOOLONG)}"]
