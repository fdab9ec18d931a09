"""Step ``read``: absent, foreign, cut and damaged files are refused in one line, unusual ones are read."""

from __future__ import annotations

from pathlib import Path

import ezc3d
import numpy as np
import pytest

from pipeline.c3d.reader import read_c3d
from pipeline.errors import UserError
from tests.support.files.c3d_writer import write_c3d
from tests.support.files.changes import set_parameter
from tests.support.walks.as_c3d import recorded, recorded_plates
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


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    """ezc3d alone reads a file cut within its data as a shorter trial."""
    known = walk(strides=1)
    whole = write_c3d(tmp_path / "whole.c3d", recorded(known), plates=recorded_plates(known), first_frame=241)
    _refuses_every_cut(whole, tmp_path / "cut.c3d")


@pytest.mark.parametrize(
    "file",
    [
        "studies/plug_in_gait/sub-01/PiG_Calibration3_FF.c3d",
        "studies/plug_in_gait/sub-06/PiG_Calibration-FlatFoot-One.c3d",
        "data/c3dorg_sample10_types/TYPE-3.c3d",
        "data/codamotion_type3/codamotion_gaitwands_19970212.c3d",
        "data/qualisys_cast/Qualisys.c3d",
        "studies/exact/sub-01/static.c3d",
    ],
)
def test_a_real_file_cut_anywhere_is_refused(shared: Path, tmp_path: Path, file: str) -> None:
    _refuses_every_cut(shared / file, tmp_path / "cut.c3d")


def _refuses_every_cut(whole: Path, cut: Path) -> None:
    """Cut within and at the ends of header, parameters and data, and at 20 places of the data section."""
    content = whole.read_bytes()
    words = np.frombuffer(content[:24], dtype="<u2")
    start, frames = 512 * (int(words[8]) - 1), int(words[4]) - int(words[3]) + 1
    value_bytes = 4 if ezc3d.c3d(str(whole))["parameters"]["POINT"]["SCALE"]["value"][0] < 0 else 2
    end = start + frames * (4 * int(words[1]) + int(words[2])) * value_bytes
    assert frames == len(read_c3d(whole).markers)
    for size in {1, 511, 512, 600, start - 1, *np.linspace(start, end - 1, 20, dtype=int).tolist()}:
        cut.write_bytes(content[:size])
        with pytest.raises(UserError, match=r"cut\.c3d: "):
            read_c3d(cut)


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


REFUSED = {
    "Empty", "badParameterOffset", "mocap36_missing_byte", "truncated_header_only_1024B",
    "sample18_bad_parameter_section", "sample20_zero_frames",
}  # fmt: skip
READ = {
    "16bit_unsigned_analog", "MyCube_1frame", "duplicate_labels", "evart_fp_channel_not_filled",
    "type1_no_analog_sample28_type1", "labels_all_starred_10plates",
    "nan_markers_no_forces", "rotation_data_no_points", "type3_bad_scale_24kN", "unzeroed_baseline_plates",
}  # fmt: skip


@pytest.mark.parametrize("file", sorted(REFUSED | READ))
def test_unusual_files_are_read_or_refused(shared: Path, file: str) -> None:
    path = shared / "data" / "odd" / f"{file}.c3d"
    if file in REFUSED:
        with pytest.raises(UserError, match=file):
            read_c3d(path)
        return
    recording = read_c3d(path)
    assert recording.markers.shape[1:] == (len(recording.labels), 3)
    assert len(set(recording.labels)) == len(recording.labels)
    with np.errstate(invalid="ignore"):
        assert not (np.abs(recording.markers) > 1e3).any()
