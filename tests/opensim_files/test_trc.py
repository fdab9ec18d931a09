"""TRC files: what is read, and what is refused with where, what and remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.opensim_files.trc import read_trc
from pipeline.recording import length_unit_m
from tests.support.files.opensim import trc_text

LABELS = ["R.ASIS", "L.ASIS", "V.Sacral"]
POSITIONS = np.arange(1.0, 46.0).reshape(5, 3, 3) / 10


def written(folder: Path, text: str) -> Path:
    path = folder / "walk.trc"
    path.write_text(text)
    return path


@pytest.mark.parametrize("unit", ["mm", "m"])
@pytest.mark.parametrize("blank", [True, False])
def test_markers_are_read(tmp_path: Path, unit: str, blank: bool) -> None:
    known = POSITIONS.copy()
    known[1, 0] = known[4, 2] = np.nan
    text = trc_text(LABELS, known, 60, start_s=0.4, unit=unit, blank=blank)
    found = read_trc(written(tmp_path, text))
    assert (found.labels, found.rate_hz, found.start_s) == (LABELS, 60, 0.4)
    np.testing.assert_allclose(found.positions, known, atol=1e-9)
    assert found.length_unit_m == {"mm": 1e-3, "m": 1.0}[unit]


def test_frames_left_out_are_unseen(tmp_path: Path) -> None:
    lines = trc_text(LABELS, POSITIONS, 60).replace("60\t5\t3", "60\t4\t3").splitlines()
    found = read_trc(written(tmp_path, "\n".join(lines[:7] + lines[8:]) + "\n"))
    assert np.isnan(found.positions[1]).all()
    np.testing.assert_allclose(found.positions[[0, 2, 3, 4]], POSITIONS[[0, 2, 3, 4]])


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("PathFileType", "PathFile", "not a TRC file: it does not begin with PathFileType"),
        ("\tmm\t", "\tfeet\t", "Units is feet; give one of mm, cm, dm, m"),
        ("\tV.Sacral\t\t", "\t\t", "NumMarkers is 3, its line 4 names 2 markers"),
        ("60\t60\t5", "100\t60\t5", "DataRate is 100, but its times are those of 60 frames a second"),
        ("60\t60\t5", "0.01\t60\t5", "DataRate is 0.01 frames a second"),
        ("1000.000000", "1000,000000", "line 8: '1000,000000' is no number; write all numbers with decimal points"),
        ("1000.000000", "1e5e", "line 8: '1e5e' is no number; damaged"),
        ("1000.000000", "1000.000000\t2", "line 8 has 12 cells, its header names 11 columns"),
        ("2\t0.016667", "2\t0.1", "time is 0.033333 s in row 3 of its numbers, which does not follow 0.1 s"),
        ("\n1\t0.000000", "\n1\tnan", "time is nan s in row 1 of its numbers; damaged"),
        ("R.ASIS\t\t\tL.ASIS\t\t\tV.Sacral", "", "its line 4 names no markers"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, before: str, after: str, reason: str) -> None:
    text = trc_text(LABELS, POSITIONS, 60)
    assert before in text
    with pytest.raises(UserError) as caught:
        read_trc(written(tmp_path, text.replace(before, after, 1)))
    assert f"walk.trc: {reason}" in str(caught.value)
    assert all(problem.remedy for problem in caught.value.problems)


@pytest.mark.parametrize(
    "cell", ["", "nan", "-nan(ind)", "-1.#IND00", "1.#QNAN", "#N/A", "#WERT!", "NA", "null", ".", "-"]
)
@pytest.mark.parametrize(("separator", "comma"), [("\t", False), ("\t", True), (";", True), (",", False)])
def test_missing_numbers_and_separators(tmp_path: Path, cell: str, separator: str, *, comma: bool) -> None:
    lines = trc_text(LABELS, POSITIONS, 60).splitlines()
    cells = lines[-1].split("\t")
    lines[-1] = "\t".join([*cells[:2], cell, cell, cell, *cells[5:]])
    text = "\n".join(
        [lines[0], *(line.replace(".", ",") if comma and i > 3 else line for i, line in enumerate(lines[1:]))]
    )
    head, body = text.split("\n", 1)
    content = read_trc(written(tmp_path, f"{head}\n{body.replace(chr(9), separator)}\n"))
    assert np.isnan(content.positions[-1, 0]).all()
    np.testing.assert_allclose(content.positions[:-1], POSITIONS[:-1])


@pytest.mark.parametrize(
    ("text", "unit_m"),
    [
        *((text, 1e-3) for text in ("mm", "MM", "[mm]", "Millimeters", "milli-metre", "millimètres", "milímetros")),
        *((text, 1e-2) for text in ("cm", "(cm)", "Zentimeter", "centimetri")),
        *((text, 1.0) for text in ("m", "M", "meters", "Metre", "metros")),
        *((text, None) for text in ("inch", "feet", "", "N", "µm", "metric", "km")),
    ],
)
def test_units_of_length_in_letters_and_words(text: str, unit_m: float | None) -> None:
    assert length_unit_m(text) == unit_m


def test_a_file_cut_off_within_a_line_is_refused(tmp_path: Path) -> None:
    """Its last number may be another one. Where all lines are whole, a wrong number in the header does no harm."""
    text = trc_text(LABELS, POSITIONS, 60)
    lines = text.splitlines(keepends=True)
    for whole in (text.replace("60\t5\t3", "60\t7\t3"), "".join(lines[:-1])):
        np.testing.assert_allclose(read_trc(written(tmp_path, whole)).positions[:4], POSITIONS[:4])
    with pytest.raises(UserError, match="NumFrames is 5, the file has 4 rows of numbers and ends within the last"):
        read_trc(written(tmp_path, "".join(lines[:-2]) + lines[-2][:-3]))


@pytest.mark.parametrize("axes", ["", "\t\tX1\tY1\tZ1\tX2\tY2\tZ2", "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3"])
def test_a_header_that_counts_too_few_markers_is_noted(tmp_path: Path, axes: str) -> None:
    """Names and columns agree: the file is read whole, whatever the line of axes counts."""
    lines = trc_text(LABELS, POSITIONS, 60).replace("60\t5\t3", "60\t5\t2", 1).splitlines()
    lines[4:6] = [axes] * bool(axes)
    content = read_trc(written(tmp_path, "\n".join(lines) + "\n"))
    np.testing.assert_allclose(content.positions, POSITIONS)
    assert content.note == "NumMarkers is 2, its line 4 names 3 markers"


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read_trc(tmp_path / "absent.trc")
    (tmp_path / "walk.trc").write_bytes(b"\x02\x50\0\0")
    with pytest.raises(UserError, match="not a TRC file: it is no text"):
        read_trc(tmp_path / "walk.trc")
    (tmp_path / "walk.trc").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:c3\nsize 223624\n")
    with pytest.raises(UserError, match="a pointer of Git LFS in place of the file; run git lfs pull"):
        read_trc(tmp_path / "walk.trc")
    (tmp_path / "walk.trc").write_text('Frame#,Time,LASI\n"' + "1" * 200_000)  # a quote without its pair
    with pytest.raises(UserError, match="not a TRC file: field larger than"):
        read_trc(tmp_path / "walk.trc")
