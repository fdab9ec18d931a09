"""``gaitlab recover`` waits for the last jobs of a run that was killed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pipeline.commands.run import unlock
from pipeline.errors import UserError

fcntl = pytest.importorskip("fcntl", reason="no locks of files on Windows")


@pytest.mark.parametrize(("wait_s", "waits"), [(0.0, False), (20.0, True)])
def test_a_study_is_unlocked_once_the_last_job_has_ended(tmp_path: Path, wait_s: float, waits: bool) -> None:
    """Jobs of a scheduler that was killed go on for a while, here for a moment."""
    (tmp_path / "study.yaml").touch()
    (tmp_path / ".snakemake").mkdir()
    job = (tmp_path / ".snakemake" / "at_work").open("a")
    fcntl.flock(job, fcntl.LOCK_SH)
    ends = threading.Timer(0.1, job.close)
    if waits:
        ends.start()
        unlock(tmp_path, wait_s=wait_s)
        assert job.closed
    else:
        with pytest.raises(UserError, match="a run is at work on it"):
            unlock(tmp_path, wait_s=wait_s)
        job.close()
