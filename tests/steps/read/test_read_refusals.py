"""Step ``read``: absent and foreign files, and those without markers or a known unit, are refused in one line."""

from __future__ import annotations

from pathlib import Path

import ezc3d
import numpy as np
import pytest

from pipeline.c3d.reader import read_c3d
from pipeline.errors import UserError
from tests.support.files.c3d_writer import write_c3d
from tests.support.files.changes import set_parameter
from tests.support.walks.as_c3d import recorded
from tests.support.walks.as_clean import MARKER_HZ, walk


def test_absent_empty_and_foreign_files_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "empty.c3d").touch()
    (tmp_path / "text.c3d").write_text("time\tx\ty\tz\n" * 200)
    (tmp_path / "folder.c3d").mkdir()
    for name in ("absent", "empty", "text", "folder"):
        path = tmp_path / f"{name}.c3d"
        with pytest.raises(UserError) as refusal:
            read_c3d(path)
        assert str(refusal.value).startswith(f"{path}: ")
        assert "\n" not in str(refusal.value)


def test_a_file_without_markers_is_refused(tmp_path: Path) -> None:
    path, file = tmp_path / "analog.c3d", ezc3d.c3d()
    file["data"]["points"] = np.empty((4, 0, 10))
    file["parameters"]["POINT"]["RATE"]["value"] = [MARKER_HZ]
    file.write(str(path))
    with pytest.raises(UserError, match="holds no marker frames"):
        read_c3d(path)


def test_an_unknown_length_unit_is_refused(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)))
    set_parameter(path, "POINT", "UNITS", ["inch"])
    with pytest.raises(UserError, match="POINT:UNITS is 'inch'"):
        read_c3d(path)
