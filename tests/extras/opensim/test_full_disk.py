"""A full disk while OpenSim works fails the job of the step ``muscles``."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.workflow.digests import sha256
from pipeline.workflow.jobs import session_job


def test_a_disk_that_is_full_in_the_step_muscles_fails_the_job(tmp_path: Path) -> None:
    """Otherwise its folder is removed, there is room again, and muscles.nc without forces would stand."""
    model, output = tmp_path / "legs.osim", tmp_path / "muscles.nc"
    model.write_text("<OpenSimDocument/>")

    def muscles(*, folder: Path) -> xr.Dataset:
        (folder / "walk.mot").touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    key = {"step": "muscles", "settings": {}, "files": {str(model): sha256(model)}}
    with pytest.raises(UserError, match=r"\.muscles: cannot be written"):
        session_job.run(key, muscles, {}, {}, {"muscles": [output]})
    assert [*tmp_path.iterdir()] == [model]


def test_a_file_that_the_step_muscles_cannot_read_is_no_full_disk(tmp_path: Path) -> None:
    model, output = tmp_path / "legs.osim", tmp_path / "muscles.nc"
    model.write_text("<OpenSimDocument/>")

    def muscles(*, folder: Path) -> xr.Dataset:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(folder / "walk.mot"))

    key = {"step": "muscles", "settings": {}, "files": {str(model): sha256(model)}}
    with pytest.raises(OSError, match=r"walk\.mot") as raised:
        session_job.run(key, muscles, {}, {}, {"muscles": [output]})
    assert raised.value.errno == errno.EIO
    assert [*tmp_path.iterdir()] == [model]
