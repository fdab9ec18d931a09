"""Lines and rows of numbers of the text files of OpenSim: TRC (markers) and MOT or STO (forces)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError

Array = NDArray[np.float64]

AGAIN = "export the file again"
MOST_TEXT = 24  # characters of a cell in a message


def lines_of(path: Path, *, kind: str) -> list[str]:
    """Return the lines of a text file without their ends.

    Args:
        path: the file.
        kind: what it should be, such as ``TRC file``.

    Raises:
        UserError: no such file, or no text.
        OSError: its disk or share failed.
    """
    if not path.is_file():
        raise UserError(str(path), "no such file", "correct trials.tsv or restore the file")
    content = path.read_bytes()
    if b"\0" in content:
        raise UserError(str(path), f"not a {kind}: it is no text", f"{AGAIN} as text")
    return content.decode("utf-8-sig", errors="replace").splitlines()


def cells_of(line: str) -> list[str]:
    """Return the cells of a line: between tabs, or between blanks if it has no tab."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line.strip() else line.split()


def rows_of_numbers(lines: Sequence[str], first: int, columns: int, *, path: Path, filled: bool) -> Array:
    """Return rows of numbers (row, column); blank lines are left out, empty cells are NaN.

    Args:
        lines: of the whole file.
        first: index of the first line with numbers.
        columns: cells of a row; empty ones at its end may be absent.
        path: the file.
        filled: whether no cell may be empty or absent.

    Raises:
        UserError: a line with more or fewer cells, or with a cell that is no number.
    """
    rows = []
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        cells = cells_of(line)
        while len(cells) > columns and not cells[-1]:
            cells.pop()
        if len(cells) > columns or (filled and not (len(cells) == columns and all(cells))):
            what = f"line {number} has {sum(map(bool, cells))} cells, its header names {columns} columns"
            raise UserError(str(path), what, f"damaged or cut off: {AGAIN}")
        try:
            rows.append([float(cell) if cell else np.nan for cell in cells] + [np.nan] * (columns - len(cells)))
        except ValueError:
            raise _no_number(path, number, cells) from None
    return np.array(rows, dtype=float).reshape(-1, columns)


def _no_number(path: Path, number: int, cells: Sequence[str]) -> UserError:
    strange = next(cell for cell in cells if cell and not _is_number(cell))
    remedy = "write decimal points, not commas" if "," in strange else f"damaged: {AGAIN}"
    return UserError(str(path), f"line {number}: '{strange[:MOST_TEXT]}' is no number", remedy)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def refuse_rows(path: Path, stated: str, counted: int, *, name: str) -> None:
    """Refuse a file without rows, or with fewer or more than its header states.

    Args:
        path: the file.
        stated: the number in the header; anything else than a whole number is ignored.
        counted: rows in the file.
        name: of the number in the header.

    Raises:
        UserError: names both numbers.
    """
    if stated.isdecimal() and int(stated) != counted:
        what = f"{name} is {int(stated)}, the file has {counted} rows of numbers"
        raise UserError(str(path), what, f"cut off or edited: correct {name} or {AGAIN}")
    if not counted:
        raise UserError(str(path), "holds no rows of numbers", f"exclude it in trials.tsv or {AGAIN}")


def refuse_disordered(path: Path, time: Array) -> None:
    """Refuse instants (row,), s, that are missing or do not rise.

    Raises:
        UserError: names the first.
    """
    wrong = ~np.isfinite(time)
    wrong[1:] |= ~(time[1:] > time[:-1])
    if wrong.any():
        row = int(wrong.argmax())
        before = f", which does not follow {time[row - 1]:g} s" if row else ""
        what = f"time is {time[row]:g} s in row {row + 1} of its numbers{before}"
        raise UserError(str(path), what, f"damaged or edited: {AGAIN}")
