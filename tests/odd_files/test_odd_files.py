"""Odd files of laboratories and programs: each is read as the plain walk, or refused in words that help.

``wrong_today.tsv`` lists the rows that the product fails, with what it makes of them. Such a row must fail: whoever
mends it removes its line.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.odd_files import c3d_edits as to
from tests.odd_files.c3d_bytes import C3D, real
from tests.odd_files.c3d_edits import Edit, write_study
from tests.odd_files.every_row import ROWS, WRONG_TODAY, as_table, usual, write_all
from tests.odd_files.judge import Seen, faults, look
from tests.odd_files.row import Row
from tests.odd_files.walk import EVENTS
from tests.support.checkout import HOUSE


def _case(row: Row) -> object:
    reason = WRONG_TODAY.get(row.name)
    marks = [pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason)] if reason else []
    return pytest.param(row, id=row.name, marks=marks)


@pytest.fixture(scope="module")
def plain_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """Return what is said of the folders in which nothing is odd."""
    found = {}
    for row in ROWS:
        if row.name == usual(row):
            folder = tmp_path_factory.mktemp(row.name)
            row.write(folder)
            found[row.name] = look(folder)
    return found


@pytest.mark.parametrize("row", [_case(row) for row in ROWS])
def test_an_odd_file_gets_the_right_answer(row: Row, tmp_path: Path, plain_folders: dict[str, Seen]) -> None:
    row.write(tmp_path)
    assert faults(row, look(tmp_path / row.study), plain_folders[usual(row)]) == []


def test_all_are_written_with_their_truth(tmp_path: Path) -> None:
    write_all(tmp_path)
    header, *lines = (tmp_path / "TRUTH.tsv").read_text().splitlines()
    table = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert [row["name"] for row in table] == [row.name for row in ROWS]
    assert all(any((tmp_path / row["name"] / row["study"]).iterdir()) for row in table)


def test_the_page_has_the_table_of_all_kinds() -> None:
    """``python -m tests.odd_files`` prints it."""
    assert as_table() in (HOUSE / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_wrong_row_exists() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert WRONG_TODAY.keys() <= set(names)


def _nudge(file: C3D) -> None:
    file.points[:, 0] += 0.01  # mm


SMALL_ERRORS: dict[str, Edit] = {
    "a marker by 0.01 mm": _nudge,
    "corners by 1 in 10,000": partial(to.scale_numbers, group="FORCE_PLATFORM", name="CORNERS", factor=1.0001),
    "forces by 1 in 10,000": partial(to.put, group="ANALOG", name="GEN_SCALE", value=real(1.0001)),
    "events by 1 ms": partial(to.set_events, events=[(time + 1e-3, side, kind) for time, side, kind in EVENTS]),
    "a gap": partial(to.hide, value=0.0, residual=-1.0),
    "start by one frame": partial(to.from_frame, first=2),
    "rate by 1 in 1,000": partial(to.put, group="POINT", name="RATE", value=real(100.1)),
}


@pytest.mark.parametrize("error", SMALL_ERRORS)
def test_the_judge_sees_small_errors(error: str, tmp_path: Path, plain_folders: dict[str, Seen]) -> None:
    write_study(tmp_path, edits=[SMALL_ERRORS[error]])
    plain = next(row for row in ROWS if row.name == "plain")
    assert faults(plain, look(tmp_path), plain_folders["plain"])
