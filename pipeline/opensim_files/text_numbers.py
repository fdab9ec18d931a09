"""Lines and rows of numbers of the text files of OpenSim: TRC (markers) and MOT or STO (forces)."""

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..errors import UserError

AGAIN = "export the file again"
MOST_HEADER_LINES = 500
MOST_TEXT = 24  # characters of a cell in a message
# Every spelling of a number that is missing, by what prints it; letter case does not count. "nan" and "inf" are floats.
MISSING = re.compile(
    r"[-+]?nan(\((s|q|ind|snan|qnan|\d+|0x[\da-f]+)?\))?"  # C; Visual C++ from 2015 on
    r"|[-+]?1[.,]#(ind|qnan|snan|inf)\d*"  # Visual C++ before
    r"|n[./]?a\.?|<na>|missing"  # R, pandas, MATLAB
    r"|null|none|nil"  # databases, Python, Lua
    r"|#(n/?a|nv|n/d|value!|wert!|valeur!|div/0!|num!|zahl!|nombre!|ref!|bezug!|name\?|null!)"  # Excel
    r"|\.|[-\u2013\u2014]+|[?*]+",  # Stata, SAS; people
    re.IGNORECASE,
)
# the first name of a line of labels, in TRC and in MOT files, and the separator that follows it
SEPARATED = re.compile(r'\s*"?(?:frame\s*#?|time)"? *([\t,;|])', re.IGNORECASE)
HAS_POINT = re.compile(r"\.\d|\d\.(?!#)")


def lines_of(path: Path, *, kind: str, most_bytes: int = -1) -> list[str]:
    """Return the lines of a text file without their ends; an empty last one if the file ends with a line's end.

    Args:
        kind: what it should be, such as ``TRC file``.
        most_bytes: of the file that are read; all by default.

    Raises:
        UserError: no such file, or no text.
    """
    if not path.is_file():
        raise UserError(str(path), "no such file", "correct trials.tsv or restore the file")
    with path.open("rb") as file:
        content = file.read(most_bytes)
    wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))  # Excel's "Unicode Text"
    text = content.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    if "\0" in text:
        raise UserError(str(path), f"not a {kind}: it is no text", f"{AGAIN} as text")
    if text.startswith("version https://git-lfs"):
        raise UserError(str(path), "a pointer of Git LFS in place of the file", "run git lfs pull")
    try:
        text = text.replace("\r\r\n", "\n")  # of programs that write the line ends of Windows twice
        return _with_tabs([*text.splitlines(), *[""] * text.endswith(("\n", "\r"))])
    except csv.Error as error:  # of a quote without its pair
        raise UserError(str(path), f"not a {kind}: {error}", AGAIN) from None


def _with_tabs(lines: list[str]) -> list[str]:
    """Return lines with tabs for the separator that the line of labels shows, and without quotes around cells.

    A separator between quotes is part of a cell: programs write ``"0,01"`` where both are commas.
    """
    shown = next(filter(None, map(SEPARATED.match, lines[:MOST_HEADER_LINES])), None)
    if shown is None or (shown[1] == "\t" and not any('"' in line for line in lines)):
        return lines
    separator = shown[1]
    rows = (
        next(csv.reader([line], delimiter=separator, skipinitialspace=True)) if '"' in line else line.split(separator)
        for line in lines
    )
    return ["\t".join(row) for row in rows]


def cells_of(line: str) -> list[str]:
    """Return the cells of a line: between tabs, or between blanks if it has no tab."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line.strip() else line.split()


def rows_of_numbers(lines: Sequence[str], first: int, columns: int, *, path: Path, filled: bool) -> Array:
    """Return rows of numbers (row, column); blank lines are left out, empty cells are NaN.

    Where no number has a point, commas are decimal commas. :data:`MISSING` lists the spellings of NaN.

    Args:
        first: index of the first line with numbers.
        columns: cells of a row; empty ones at its end may be absent.

    Raises:
        UserError: a line with more or fewer cells, or with a cell that is no number.
    """
    if any(lines[first:]):
        with suppress(ValueError):  # of a row with fewer cells, an empty one or another separator
            whole = np.loadtxt(lines[first:], delimiter="\t", comments=None, ndmin=2)
            if whole.shape[1] == columns:
                return whole
    rows = []
    commas = not any(HAS_POINT.search(line) for line in lines[first:])
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        text = line.replace(",", ".") if commas else line
        cells = text.split("\t") if "\t" in text.strip() else text.split()
        while len(cells) > columns and not cells[-1].strip():
            cells.pop()
        if len(cells) > columns or (filled and len(cells) < columns):
            what = f"line {number} has {len(cells)} cells, its header names {columns} columns"
            raise UserError(str(path), what, f"damaged or cut off: {AGAIN}")
        missing = [np.nan] * (columns - len(cells))
        try:
            rows.append([float(cell) if cell else np.nan for cell in cells] + missing)  # float drops blanks around
        except ValueError:
            rows.append([_number(cell.strip(), path, number) for cell in cells] + missing)
    return np.array(rows, dtype=float).reshape(-1, columns)


def _number(cell: str, path: Path, line: int) -> float:
    """Return the number of a cell, NaN if it is missing."""
    if not cell or MISSING.fullmatch(cell):
        return np.nan
    try:
        return float(cell)
    except ValueError:
        remedy = "write all numbers with decimal points" if "," in cell else f"damaged: {AGAIN}"
        raise UserError(str(path), f"line {line}: '{cell[:MOST_TEXT]}' is no number", remedy) from None


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
