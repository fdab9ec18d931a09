"""Lines and rows of numbers of the text files of OpenSim: TRC (markers) and MOT or STO (forces)."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..errors import UserError

AGAIN = "export the file again"
MOST_TEXT = 24  # characters of a cell in a message


def lines_of(path: Path, *, kind: str) -> list[str]:
    """Return the lines of a text file without their ends; an empty last one if the file ends with a line's end.

    Args:
        kind: what it should be, such as ``TRC file``.

    Raises:
        UserError: no such file, or no text.
    """
    if not path.is_file():
        raise UserError(str(path), "no such file", "correct trials.tsv or restore the file")
    content = path.read_bytes()
    wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))  # Excel's "Unicode Text"
    text = content.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    if "\0" in text:
        raise UserError(str(path), f"not a {kind}: it is no text", f"{AGAIN} as text")
    if text.startswith("version https://git-lfs"):
        raise UserError(str(path), "a pointer of Git LFS in place of the file", "run git lfs pull")
    return [*text.splitlines(), *[""] * text.endswith(("\n", "\r"))]


def cells_of(line: str) -> list[str]:
    """Return the cells of a line: between tabs, or between blanks if it has no tab."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line.strip() else line.split()


def rows_of_numbers(lines: Sequence[str], first: int, columns: int, *, path: Path, filled: bool) -> Array:
    """Return rows of numbers (row, column); blank lines are left out, empty cells are NaN.

    Where no number has a point, commas are decimal commas.

    Args:
        first: index of the first line with numbers.
        columns: cells of a row; empty ones at its end may be absent.

    Raises:
        UserError: a line with more or fewer cells, or with a cell that is no number.
    """
    rows = []
    commas = not any("." in line for line in lines[first:])
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        cells = cells_of(line.replace(",", ".") if commas else line)
        while len(cells) > columns and not cells[-1]:
            cells.pop()
        if len(cells) > columns or (filled and len(cells) < columns):
            what = f"line {number} has {len(cells)} cells, its header names {columns} columns"
            raise UserError(str(path), what, f"damaged or cut off: {AGAIN}")
        try:
            rows.append([float(cell) if cell else np.nan for cell in cells] + [np.nan] * (columns - len(cells)))
        except ValueError:
            raise _no_number(path, number, cells) from None
    return np.array(rows, dtype=float).reshape(-1, columns)


def _no_number(path: Path, number: int, cells: Sequence[str]) -> UserError:
    strange = next(cell for cell in cells if cell and not is_number(cell))
    remedy = "write all numbers with decimal points" if "," in strange else f"damaged: {AGAIN}"
    return UserError(str(path), f"line {number}: '{strange[:MOST_TEXT]}' is no number", remedy)


def is_number(cell: str) -> bool:
    """Return whether a cell is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def refuse_rows(path: Path, lines: Sequence[str], stated: str, counted: int, *, name: str) -> None:
    """Refuse a file without rows, or one that ends within a line with fewer rows than its header states.

    Other numbers in a header are out of date, as after a trim: OpenSim ignores them too.

    Args:
        stated: the number in the header; anything else than a whole number is ignored.
        name: of the number in the header.
    """
    if not counted:
        raise UserError(str(path), "holds no rows of numbers", f"exclude it in trials.tsv or {AGAIN}")
    if stated.isdecimal() and counted < int(stated) and lines[-1].strip():
        what = f"{name} is {int(stated)}, the file has {counted} rows of numbers and ends within the last"
        raise UserError(str(path), what, f"cut off: copy it or {AGAIN}")


def refuse_disordered(path: Path, time: Array) -> None:
    """Refuse instants (row,), s, that are missing or do not rise."""
    wrong = ~np.isfinite(time)
    wrong[1:] |= ~(time[1:] > time[:-1])
    if wrong.any():
        row = int(wrong.argmax())
        before = f", which does not follow {time[row - 1]:g} s" if row else ""
        what = f"time is {time[row]:g} s in row {row + 1} of its numbers{before}"
        raise UserError(str(path), what, f"damaged or edited: {AGAIN}")
