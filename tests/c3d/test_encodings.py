"""C3D files of DEC and MIPS machines and of long trials read like ordinary ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.c3d.reader import read_c3d
from pipeline.errors import UserError
from pipeline.recording import Recording
from tests.c3d.test_analog_counts import with_counts
from tests.support.files.c3d_bytes import DEC, INTEL, MIPS, converted, data_at, inserted, place, places, put, put_header
from tests.support.files.c3d_writer import channels, write_c3d
from tests.support.walks.as_clean import LABELS, Rectangle, markers, walk, wrenches

Z_UP = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], dtype=float)
LONG = 70000  # frames; the header counts up to 65535
RATE_HZ = 100.0


def recorded(path: Path, content: bytes) -> Recording:
    path.write_bytes(content)
    return read_c3d(path)


def assert_same(found: Recording, expected: Recording) -> None:
    """Compare exactly: the encodings differ by a power of two or in byte order."""
    for name in ("labels", "marker_rate_hz", "first_frame", "analog_rate_hz", "events", "processing", "analog_units"):
        assert getattr(found, name) == getattr(expected, name), name
    np.testing.assert_array_equal(found.markers, expected.markers)
    np.testing.assert_array_equal(found.analog, expected.analog)
    assert set(found.force_platform) == set(expected.force_platform)
    for name, value in expected.force_platform.items():
        np.testing.assert_array_equal(found.force_platform[name], value)


@pytest.mark.parametrize("processor", [DEC, MIPS])
@pytest.mark.parametrize("unsigned", [False, True])
def test_integers_from_every_machine(tmp_path: Path, processor: int, unsigned: bool) -> None:
    path = with_counts(tmp_path / "counts.c3d", offset=30000, unsigned=unsigned)
    expected = read_c3d(path)
    assert np.ptp(expected.analog) > 1000
    assert_same(recorded(tmp_path / "turned.c3d", converted(path.read_bytes(), processor)), expected)


def link_turned(content: bytes, kinds: tuple[int, ...]) -> bytes:
    """Return a big-endian file of which the records of these kinds have little-endian links (0: groups)."""
    changed, links = bytearray(converted(content, MIPS)), [r.link_at for r in places(content) if r.kind in kinds]
    assert links
    for at in links:
        changed[at : at + 2] = changed[at : at + 2][::-1]
    return bytes(changed)


def test_records_that_a_program_on_a_pc_appended_to_a_big_endian_file(tmp_path: Path) -> None:
    """Their links are little-endian. Of numbers nothing says in which order they are, so they are refused."""
    path = with_counts(tmp_path / "counts.c3d", offset=30000, unsigned=False)
    assert_same(recorded(tmp_path / "turned.c3d", link_turned(path.read_bytes(), (-1, 0, 1))), read_c3d(path))
    with pytest.raises(UserError, match="damaged"):
        recorded(tmp_path / "turned.c3d", link_turned(path.read_bytes(), (4,)))


def test_the_walk_of_an_sgi_equals_that_of_a_dec(shared: Path) -> None:
    sgi, dec = (read_c3d(shared / "labs" / name) for name in ("big_endian/sgi_int.c3d", "classic/dec_int.c3d"))
    assert sgi.labels == dec.labels
    np.testing.assert_array_equal(sgi.analog, dec.analog)
    counted_m = 0.28118187e-3  # both hold integers
    np.testing.assert_allclose(sgi.markers, dec.markers, rtol=0, atol=1.01 * counted_m)


# --- long trials -----------------------------------------------------------------------------------------------

HEIGHT_MM: NDArray[np.float64] = np.arange(1, LONG + 1) / 16  # exact and different in each frame


def long_trial(folder: Path, *, last: int, counted: int, end: int = 0, count: float = 0, name: str = "") -> bytes:
    """Return a trial of one marker at a height that identifies the frame.

    Args:
        last, counted: the header's last frame and POINT:FRAMES, 16 bits each.
        end: TRIAL:ACTUAL_END_FIELD, or 0 for none.
        count, name: a real number and its name in POINT.
    """
    file = ezc3d.c3d()
    point = file["parameters"]["POINT"]
    point["LABELS"]["value"], point["UNITS"]["value"], point["RATE"]["value"] = ["LHEE"], ["mm"], [RATE_HZ]
    file["data"]["points"] = np.ones((4, 1, 5))
    file.write(str(folder / "short.c3d"))
    content = put_header((folder / "short.c3d").read_bytes(), 6, "<2H", 1, last)
    content = put(content, "POINT", "FRAMES", "<H", counted)
    if end:
        content = inserted(content, "TRIAL", "ACTUAL_START_FIELD", "<2H", (2,), 1, 0)
        content = inserted(content, "TRIAL", "ACTUAL_END_FIELD", "<2H", (2,), end % 65536, end // 65536)
    if name == "FRAMES":  # instead of the integer
        content = content.replace(b"FRAMES", b"UNUSED")
    if name:
        content = inserted(content, "POINT", name, "<f", (1,), count)
    data = np.zeros((LONG, 4), dtype="<f4")
    data[:, 2] = HEIGHT_MM
    return content[: data_at(content)] + data.tobytes()


VICON: dict[str, Any] = {"last": 65535, "counted": 65535, "end": LONG}
WAYS: dict[str, dict[str, Any]] = {
    "Vicon": VICON,
    "Motion Analysis, Qualisys": {"last": 65535, "counted": 65535, "name": "LONG_FRAMES", "count": LONG},
    "POINT:FRAMES as a real number": {"last": 65535, "counted": 0, "name": "FRAMES", "count": LONG},
    "overflow of 16 bits": {"last": LONG % 65536, "counted": LONG % 65536, "end": LONG},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_long_trial_is_read_to_its_end(tmp_path: Path, way: str) -> None:
    """ezc3d alone reads 65535 frames, or 4464 after an overflow, without a warning."""
    content = long_trial(tmp_path, **WAYS[way])
    long = recorded(tmp_path / "long.c3d", content)
    np.testing.assert_array_equal(long.markers[:, 0, 2], HEIGHT_MM * 1e-3)
    assert long.first_frame == 0
    (tmp_path / "cut.c3d").write_bytes(content[:-1])
    with pytest.raises(UserError, match=r"cut\.c3d: cut off"):
        read_c3d(tmp_path / "cut.c3d")


def test_a_long_trial_from_another_machine(tmp_path: Path) -> None:
    content = converted(long_trial(tmp_path, **VICON), MIPS)
    long = recorded(tmp_path / "long.c3d", content)
    np.testing.assert_array_equal(long.markers[:, 0, 2], HEIGHT_MM * 1e-3)


def test_empty_frames_of_a_long_trial_are_kept(tmp_path: Path) -> None:
    """The marker is not seen in frames 32000 to 32999, where two pieces meet, and at the end."""
    content = long_trial(tmp_path, **VICON)
    start = data_at(content)
    data = np.frombuffer(content[start:], "<f4").reshape(LONG, 4).copy()
    data[32000:33000] = data[-1] = 0, 0, 0, -1
    height = recorded(tmp_path / "long.c3d", content[:start] + data.tobytes()).markers[:, 0, 2]
    assert len(height) == LONG
    assert list(np.flatnonzero(np.isnan(height))) == [*range(32000, 33000), LONG - 1]


def test_a_long_trial_without_stated_length_is_refused(tmp_path: Path) -> None:
    """ezc3d 1.7.2 writes such files."""
    with pytest.raises(UserError, match=r"no parameter states more than the 65535 frames"):
        recorded(tmp_path / "long.c3d", long_trial(tmp_path, last=65535, counted=65535))


def test_a_trial_with_the_largest_count_of_the_header(tmp_path: Path) -> None:
    content = long_trial(tmp_path, last=65535, counted=65535)
    assert len(recorded(tmp_path / "most.c3d", content[: data_at(content) + 16 * 65535]).markers) == 65535


def test_a_stale_length_is_ignored(tmp_path: Path) -> None:
    """Programs that trim a trial may leave TRIAL unchanged."""
    content = long_trial(tmp_path, last=1000, counted=1000, end=LONG)
    assert len(recorded(tmp_path / "cut.c3d", content[: data_at(content) + 16 * 1000]).markers) == 1000


def test_a_first_frame_beyond_the_header(tmp_path: Path) -> None:
    """Frames 66000 to 66999 of a recording."""
    content = long_trial(tmp_path, last=66999 % 65536, counted=1000, end=66999)
    content = put_header(put(content, "TRIAL", "ACTUAL_START_FIELD", "<2H", 66000 % 65536, 1), 6, "<H", 66000 % 65536)
    assert recorded(tmp_path / "late.c3d", content[: data_at(content) + 16 * 1000]).first_frame == 65999


# --- a header that accounts for every byte ---------------------------------------------------------------------


@pytest.fixture
def with_plate(tmp_path: Path) -> Path:
    known, plate = walk(strides=1), Rectangle(0.3, 0.8, -0.05, 0.25)
    force, moment = wrenches(known, (plate,), known.times(1000.0))
    points = {LABELS[name]: path @ Z_UP.T for name, path in markers(known).items()}
    return write_c3d(tmp_path / "walk.c3d", points, plates=[channels(plate, force[:, 0], moment[:, 0], Z_UP)])


def renamed(content: bytes, group: str, name: str) -> bytes:
    """Return the file without a parameter: it gets another name of equal length."""
    at = place(content, group, name).at + 2
    return content[:at] + b"X" * len(name) + content[at + len(name) :]


@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
@pytest.mark.parametrize("absent", [("POINT", "SCALE"), ("POINT", "RATE"), ("ANALOG", "RATE"), ()])
def test_the_header_replaces_absent_and_wrong_parameters(
    with_plate: Path, tmp_path: Path, processor: int, absent: tuple[str, str] | tuple[()]
) -> None:
    expected, content = read_c3d(with_plate), with_plate.read_bytes()
    wrong = {INTEL: 1066.0, DEC: 500.0, MIPS: 1e9}[processor]  # 10.66 per frame, fewer or more than there are
    content = renamed(content, *absent) if absent else put(content, "ANALOG", "RATE", "<f", wrong)
    if absent == ("POINT", "RATE"):
        content = renamed(content, "ANALOG", "RATE")
    changed = content if processor == INTEL else converted(content, processor)
    assert_same(recorded(tmp_path / "changed.c3d", changed), expected)


@pytest.mark.parametrize("per_frame", [54, 66, 6])
def test_a_header_that_does_not_account_for_the_bytes_is_refused(
    with_plate: Path, tmp_path: Path, per_frame: int
) -> None:
    content = put_header(with_plate.read_bytes(), 4, "<H", per_frame)  # 60 in truth
    with pytest.raises(UserError, match=r"damaged|cut off|out of step"):
        recorded(tmp_path / "changed.c3d", content)
    with pytest.raises(UserError, match=r"damaged|cut off|out of step"):
        recorded(tmp_path / "changed.c3d", renamed(content, "POINT", "SCALE"))
