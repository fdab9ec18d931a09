"""What Snakemake would do over and over: files are hashed once, and jobs are not counted by the second."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.cli import get_argument_parser
from snakemake.scheduling.job_scheduler import JobRateLimiter
from snakemake.settings.types import MaxJobsPerTimespan

from pipeline.workflow.spared import hash_once, lift_default_limit
from tests.support.checkout import HOUSE


class File(SimpleNamespace):
    """What Snakemake's class of files is to its persistence, as far as that is used."""

    async def checksum(self, threshold: int | None, force: bool = False) -> str | None:
        """Count the times that the file is read."""
        self.read.append(self.file)
        return f"sha256:{hashlib.sha256(Path(self.file).read_bytes()).hexdigest()}" if threshold or force else None


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> File:
    """Return a file whose class remembers digests until the test ends."""
    monkeypatch.setattr(File, "checksum", File.checksum)
    hash_once(File)
    path = tmp_path / "file"
    path.write_bytes(b"first")
    return File(file=str(path), read=[])


def digest(file: File, threshold: int | None = 1) -> str | None:
    """Return what a new object of the same file tells, as each job has objects of its own."""
    return asyncio.run(File(file=file.file, read=file.read).checksum(threshold))


def test_a_file_is_hashed_once_until_it_is_changed(file: File) -> None:
    first = digest(file)
    assert digest(file) == first
    assert len(file.read) == 1
    Path(file.file).write_bytes(b"other")  # of the same length
    assert digest(file) not in (first, None)
    assert len(file.read) == 2


def test_another_threshold_is_another_question(file: File) -> None:
    assert digest(file, threshold=None) is None
    assert digest(file) is not None


def test_a_missing_file_is_left_to_snakemake(file: File) -> None:
    Path(file.file).unlink()
    with pytest.raises(FileNotFoundError):
        digest(file)


def test_the_limit_of_jobs_is_lifted_where_nobody_chose_one() -> None:
    default = get_argument_parser().get_default("max_jobs_per_timespan")
    scheduler = SimpleNamespace(job_rate_limiter=JobRateLimiter(MaxJobsPerTimespan.parse_choice(default)))
    lift_default_limit(scheduler)
    assert scheduler.job_rate_limiter is None


def test_a_chosen_limit_of_jobs_holds() -> None:
    chosen = JobRateLimiter(MaxJobsPerTimespan.parse_choice("100/1m"))
    scheduler = SimpleNamespace(job_rate_limiter=chosen)
    lift_default_limit(scheduler)
    assert scheduler.job_rate_limiter is chosen


def test_a_run_is_spared_both(demo: Path) -> None:
    """By Snakemake's own command, up to where it would begin to run jobs."""
    code = f"""from snakemake.cli import main
from snakemake.io import _IOFile
from snakemake.scheduling.job_scheduler import JobScheduler
JobScheduler.schedule = lambda self: print(_IOFile.checksum.__module__, self.job_rate_limiter)
main(["--cores", "1", "--directory", {str(demo)!r}])"""
    run = subprocess.run([sys.executable, "-c", code], check=False, cwd=HOUSE, capture_output=True, text=True)
    assert "pipeline.workflow.spared None\n" in run.stdout, run.stderr
