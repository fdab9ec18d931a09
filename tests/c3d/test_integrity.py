"""Checks of C3D files before they are parsed: damaged files are refused by name, good ones are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import ezc3d
import numpy as np
import pytest

from pipeline.c3d.integrity import refuse_damaged
from pipeline.c3d.reader import read_c3d
from pipeline.errors import UserError
from tests.support.checkout import DEMO as STUDY
from tests.support.checkout import SHARED
from tests.support.files.c3d_bytes import Place, data_at, place, places, put, put_header

DEMO = STUDY / "sub-01"
Change = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def walk() -> bytes:
    """Return a generated walk with two plates."""
    return (DEMO / "fast_01.c3d").read_bytes()


def refusal(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(UserError) as refused:
        read_c3d(path)
    text = str(refused.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


# --- good files ------------------------------------------------------------------------------------------------

# why each unusual file is refused; "" if it is read
ODD = {
    "16bit_unsigned_analog": "",
    "MyCube_1frame": "",
    "duplicate_labels": "",
    "nan_markers_no_forces": "",
    "unzeroed_baseline_plates": "",
    "Empty": "not a C3D file",
    "truncated_header_only_1024B": "damaged: processor type 0 in byte 4 of the parameters",
    "badParameterOffset": "damaged: the parameter 'LABELS' at byte 745 promises more bytes than its record holds",
    "mocap36_missing_byte": "damaged: the parameter 'LABELS' at byte 621 promises more bytes than its record holds",
    "sample18_bad_parameter_section": "damaged: the record 'LABELS' at byte 5564 points beyond the parameters",
    "sample20_zero_frames": "damaged: the parameter POINT:USED is missing or empty",
    "type3_bad_scale_24kN": "",
    "evart_fp_channel_not_filled": "",
    "type1_no_analog_sample28_type1": "",
    "labels_all_starred_10plates": "",
    "rotation_data_no_points": "",
}


def test_every_unusual_file_is_read_or_refused_for_its_reason(shared: Path) -> None:
    assert set(ODD) == {path.stem for path in (shared / "data" / "odd").glob("*.c3d")}
    for name, reason in ODD.items():
        path = shared / "data" / "odd" / f"{name}.c3d"
        if reason:
            with pytest.raises(UserError, match=f"{name}.c3d: .*{reason}"):
                read_c3d(path)
        else:
            recording = read_c3d(path)
            assert recording.markers.shape[1:] == (len({*recording.labels}), 3)
            assert not (np.abs(recording.markers) > 1e3).any(), name  # m


# ezc3d alone reads these with values in wrong channels; the header accounts for every byte
OUT_OF_STEP = ("type3_bad_scale_24kN", "evart_fp_channel_not_filled", "type1_no_analog_sample28_type1")


def test_no_usable_real_file_is_refused(shared: Path) -> None:
    """The content equals that of ezc3d alone: Vicon, Motion Analysis, Qualisys, Codamotion, OpenSim and more."""
    files = [path for path in sorted(shared.rglob("*.[cC]3[dD]")) if not ODD.get(path.stem)]
    # of a big-endian machine, which ezc3d alone refuses; poses of segments without a marker
    left_out = (*OUT_OF_STEP, "sgi_int", "theia", "rotation_data_no_points")
    # rate_119_88 is refused as out of step: its rates in single precision are no multiples of each other
    files = [path for path in files if path.stem not in left_out and not {"bts_type1", "rate_119_88"} & {*path.parts}]
    assert len(files) > 40
    for path in files:
        recording, bare = read_c3d(path), ezc3d.c3d(str(path))
        points = bare["data"]["points"][:3] * recording.length_unit_m
        points[:, (points == 0).all(axis=0)] = np.nan
        assert len(recording.markers) == points.shape[2] == refuse_damaged(path).frames
        assert recording.first_frame == bare["header"]["points"]["first_frame"]
        every = {column.tobytes() for column in np.ascontiguousarray(points.transpose(1, 2, 0))}
        kept = np.ascontiguousarray(recording.markers.transpose(1, 0, 2))
        seen = [marker for marker in kept if np.isfinite(marker).any()]
        unseen = ("16bit_unsigned_analog", "labels_all_starred_10plates")
        assert seen or path.stem in unseen, "markers are seen in all but these"
        assert all(marker.tobytes() in every for marker in seen), path
        assert recording.analog.size == bare["data"]["analogs"].size


def test_a_file_with_too_large_a_point_count_is_read_by_its_header(shared: Path, tmp_path: Path, walk: bytes) -> None:
    """ezc3d alone misplaces the markers by metres from the second frame on."""
    strange = read_c3d(shared / "data" / "odd" / "type3_bad_scale_24kN.c3d").markers
    assert strange.shape[:2] == (152, 11)
    assert np.nanmax(np.abs(np.diff(strange, axis=0))) < 0.15, "m in 1/60 s: 9 m/s"
    path = tmp_path / "walk.c3d"
    path.write_bytes(put(walk, "POINT", "USED", "<H", refuse_damaged(DEMO / "fast_01.c3d").points + 1))
    np.testing.assert_array_equal(read_c3d(path).markers, read_c3d(DEMO / "fast_01.c3d").markers)


# --- cut files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [
        *(DEMO / "static.c3d", DEMO / "fast_01.c3d"),
        SHARED / "studies/plug_in_gait/sub-01/PiG_Calibration3_FF.c3d",
        SHARED / "studies/plug_in_gait/sub-06/PiG_Calibration-FlatFoot-One.c3d",
        SHARED / "data/c3dorg_sample10_types/TYPE-3.c3d",
        SHARED / "data/codamotion_type3/codamotion_gaitwands_19970212.c3d",
        SHARED / "data/qualisys_cast/Qualisys.c3d",
        SHARED / "studies/exact/sub-01/static.c3d",
    ],
    ids=lambda file: file.stem,
)
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, file: Path) -> None:
    """ezc3d alone reads most of these as shorter trials."""
    if not file.exists():
        pytest.skip(f"{file} is not there")
    content, rng = file.read_bytes(), np.random.default_rng(1)
    header = refuse_damaged(file)
    end = header.data_at + header.frames * header.frame_bytes  # the rest fills the last block
    cut = tmp_path / "cut.c3d"
    for size in {0, 1, 511, 512, 515, 1024, header.data_at, end - 1, *rng.integers(end, size=100).tolist()}:
        cut.write_bytes(content[:size])
        with pytest.raises(UserError, match=r"cut\.c3d: (cut off|not a C3D file|damaged)"):
            refuse_damaged(cut)
    cut.write_bytes(content[:end])
    assert refuse_damaged(cut).frames == len(read_c3d(cut).markers)


# --- damaged files ---------------------------------------------------------------------------------------------


def edited(group: str, name: str, form: str, *values: float) -> Change:
    return lambda content: put(content, group, name, form, *values)


def header_edited(at: int, form: str, *values: float) -> Change:
    return lambda content: put_header(content, at, form, *values)


def emptied(group: str, name: str) -> Change:
    """Make a number an empty list and its bytes the description; the parser still takes the first number."""

    def change(content: bytes) -> bytes:
        at, size = (record := place(content, group, name)).data_at, record.kind
        body = bytes([1, 0, size - 1 + content[at + size]]) + b" " * (size - 2)
        changed = bytearray(content)
        changed[at - 1 : at - 1 + len(body)] = body
        return bytes(changed)

    return change


def retyped(group: str, name: str, kind: int, *shape: int) -> Change:
    """Change type and dimensions of a parameter."""

    def change(content: bytes) -> bytes:
        changed, at = bytearray(content), place(content, group, name).link_at + 2
        changed[at : at + 2 + len(shape)] = bytes([kind % 256, len(shape), *shape])
        return bytes(changed)

    return change


def renamed(group: str, name: str, other: str = "") -> Change:
    def change(content: bytes) -> bytes:
        changed, record = bytearray(content), place(content, group, name)
        changed[record.at + 2 : record.link_at] = other.encode() or b"Z" * len(name)
        return bytes(changed)

    return change


def relinked(group: str, name: str, link: int) -> Change:
    return lambda content: put_header(content, place(content, group, name).link_at, "<H", link)


def without_end(content: bytes) -> bytes:
    """Let the last record link to one byte before the data, as if another record began there."""
    *_, last = places(content)
    changed = bytearray(put_header(content, last.link_at, "<H", data_at(content) - 1 - last.link_at))
    changed[data_at(content) - 1] = 9
    return bytes(changed)


def second_group(content: bytes) -> Place:
    return [record for record in places(content) if record.kind == 0][1]


def group_numbered(number: int) -> Change:
    return lambda content: put_header(content, second_group(content).at + 1, "b", number)


def described_at_length(content: bytes) -> bytes:
    return put_header(content, second_group(content).link_at + 2, "B", 255)


NAN = float("nan")
DAMAGE: dict[str, tuple[Change, str]] = {
    "no C3D": (header_edited(1, "B", 0x51), "not a C3D file"),
    "parameters beyond the file": (header_edited(0, "B", 250) , "processor type|cut off"),
    "processor": (header_edited(515, "B", 87), "processor type 87 in byte 4 of the parameters"),
    "scale 0": (header_edited(12, "<f", 0.0), "scale 0 in byte 13"),
    "scale NaN": (header_edited(12, "<f", NAN), "scale nan in byte 13"),
    "rate NaN": (header_edited(20, "<f", NAN), "frame rate nan in byte 21"),
    "rate negative": (header_edited(20, "<f", -100.0), "frame rate -100 in byte 21"),
    "other rate": (header_edited(20, "<f", 120.0), "POINT:RATE is 100, the header says 120"),
    "rate not a number": (edited("POINT", "RATE", "<f", NAN), "POINT:RATE is nan"),
    "last before first": (header_edited(6, "<2H", 90, 80), "the header counts frames from 90 to 80"),
    "fewer frames counted": (edited("POINT", "FRAMES", "<H", 100), "POINT:FRAMES is 100, the header counts"),
    "more points": (header_edited(2, "<H", 40), "POINT:USED is [0-9]+, the header says 40"),
    "other scale": (edited("POINT", "SCALE", "<f", 0.1), "POINT:SCALE is 0.1, the header says -1"),
    "other data start": (header_edited(16, "<H", 30), "POINT:DATA_START is [0-9]+, the header says 30"),
    "more analog values": (header_edited(4, "<H", 1200), "cut off"),
    "no number of points": (renamed("POINT", "USED"), "POINT:USED is missing or empty"),
    "no offsets that a parser would find": (renamed("ANALOG", "OFFSET", "OFfSET"), "ANALOG:OFFSET is missing or empty"),
    "no analog scales": (renamed("ANALOG", "SCALE"), "ANALOG:SCALE is missing or empty"),
    "empty number": (emptied("ANALOG", "GEN_SCALE"), "ANALOG:GEN_SCALE holds no number"),
    "unknown type": (retyped("POINT", "SCALE", 3), "'SCALE' at byte [0-9]+ is of type 3 with 0 dimensions"),
    "text without length": (retyped("POINT", "UNITS", -1), "'UNITS' at byte [0-9]+ is of type -1 with 0 dim"),
    "many dimensions": (retyped("POINT", "SCALE", 4, *[1] * 8), "'SCALE' at byte [0-9]+ is of type 4 with 8 dim"),
    "large table": (retyped("POINT", "SCALE", 4, 255, 255), "'SCALE' at byte [0-9]+ promises more bytes"),
    "large empty table": (retyped("POINT", "LABELS", 4, *[255] * 6, 0), "'LABELS' at byte [0-9]+ promises more"),
    "link too far": (relinked("POINT", "SCALE", 60000), "'SCALE' at byte [0-9]+ points beyond the parameters"),
    "link into itself": (relinked("POINT", "SCALE", 2), "'SCALE' at byte [0-9]+ is cut short"),
    "group that ends at once": (
        lambda content: put_header(content, second_group(content).link_at, "<H", 2),
        "the group 'ANALOG' at byte [0-9]+ has no number, or no end",
    ),
    "long description": (described_at_length, "the group 'ANALOG' at byte [0-9]+ has no number, or no end"),
    "group 128": (group_numbered(-128), "the group 'ANALOG' at byte [0-9]+ has no number, or no end"),
    "no end": (without_end, "the parameters have no end"),
    "groups of one number": (group_numbered(-1), "two groups have one number, 1, the second at byte"),
    "rotations": (edited("ROTATION", "USED", "<H", 30000), "cut off"),
    "rotations of nothing": (emptied("ROTATION", "USED"), "ROTATION:USED holds no number"),
}  # fmt: skip


@pytest.mark.parametrize("fault", DAMAGE)
def test_damage_is_refused_at_its_byte_record_or_parameter(tmp_path: Path, walk: bytes, fault: str) -> None:
    change, reason = DAMAGE[fault]
    assert re.search(reason, refusal(tmp_path / "walk.c3d", change(walk)))


def test_messages_hold_no_text_of_the_file(tmp_path: Path, walk: bytes) -> None:
    """Damaged links turn any text into a record name, even that of a person."""
    named = walk.replace(b"DESCRIPTIONS", b"Doe__Jane___", 1)
    text = refusal(tmp_path / "walk.c3d", relinked("POINT", "Doe__Jane___", 60000)(named))
    assert "points beyond the parameters" in text
    assert "Jane" not in text
    text = refusal(tmp_path / "unit.c3d", walk.replace(b"mm", b"JD", 1))
    assert "POINT:UNITS" in text


def test_real_numbers_need_no_scale(tmp_path: Path, walk: bytes) -> None:
    """For real numbers only the sign of the scale counts: -1 in the header, -0.01 among the parameters."""
    path = tmp_path / "walk.c3d"
    path.write_bytes(put(walk, "POINT", "SCALE", "<f", -0.01))
    np.testing.assert_array_equal(read_c3d(path).markers, read_c3d(DEMO / "fast_01.c3d").markers)


def test_a_rounded_or_missing_rate_in_the_header_is_accepted(tmp_path: Path, walk: bytes) -> None:
    for rate_hz in (0.0, 100.4):
        path = tmp_path / "walk.c3d"
        path.write_bytes(put_header(walk, 20, "<f", rate_hz))
        assert read_c3d(path).marker_rate_hz == 100.0


# --- what was parsed -------------------------------------------------------------------------------------------


def test_invalid_readings_are_missing(tmp_path: Path, walk: bytes) -> None:
    header = refuse_damaged(DEMO / "fast_01.c3d")
    first = header.data_at + 16 * header.points
    content = put_header(put_header(walk, first, "<f", NAN), first + 4, "<f", 1e30)
    path = tmp_path / "walk.c3d"
    path.write_bytes(content)
    assert list(zip(*np.nonzero(np.isnan(read_c3d(path).analog)), strict=True)) == [(0, 0), (0, 1)]


def test_an_impossible_rate_is_refused(tmp_path: Path, walk: bytes) -> None:
    content = put_header(put(walk, "POINT", "RATE", "<f", 1e-9), 20, "<f", 1e-9)
    content = put(content, "ANALOG", "RATE", "<f", 1e-8)
    assert "POINT:RATE is 1e-09 frames a second" in refusal(tmp_path / "walk.c3d", content)
