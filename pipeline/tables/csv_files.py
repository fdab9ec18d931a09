"""CSV files that a spreadsheet does not run: an apostrophe is put before text that would be a formula.

Results have 6 significant digits: markers are known to about 0.1 mm in several metres and forces to about 1 N in a
thousand, 3 to 5 digits, so that rounding to 6 adds nothing that can be seen, and a table stays readable. ``study.nc``
has all digits.
"""

import csv
import io
import itertools
import operator
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

FORMULA = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20")  # the wide forms too
NUMBER = re.compile(r"[+-](inf|\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)  # with a sign, as a formula begins
DIGITS = "%.6g"
AT_A_TIME = 50  # groups of rows: a table of few rows takes as long as one of many


class Kinds(NamedTuple):
    """The columns of a CSV file that hold numbers, those of flags (``True`` or else), and those that are left out."""

    numbers: Collection[str]
    flags: Collection[str] = ()
    left_out: Collection[str] = ()


def csv_of(table: pd.DataFrame, *, exact: Collection[str] = (), header: bool = True) -> bytes:
    """Return a table as CSV, its floating-point columns with :data:`DIGITS`; text that is a number is not changed.

    Args:
        exact: columns that keep all their digits, such as those of participants.tsv.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    if header:
        lines.writerow(map(guard, table.columns))
    lines.writerows(zip(*_cells_of(table, {*exact}), strict=True))
    return text.getvalue().encode()


def _cells_of(table: pd.DataFrame, exact: Collection[object]) -> Iterator[list[object]]:
    """Yield the cells of each column, texts guarded, as pandas' own writer gives them, which takes longer."""
    every = table.to_numpy(dtype=object, copy=True)
    every[table.isna().to_numpy()] = ""
    for (name, kind), cells in zip(table.dtypes.items(), every.T.tolist(), strict=True):
        if pd.api.types.is_float_dtype(kind):
            written = _with_all_digits if name in exact else DIGITS.__mod__
            yield [written(cell) if cell != "" else cell for cell in cells]
        else:
            yield cells if pd.api.types.is_numeric_dtype(kind) else [*map(guard, cells)]


def _with_all_digits(number: float) -> str:
    """Return a number with :data:`DIGITS` if these are all that it has, else with the digits that give it again."""
    text = DIGITS % number
    return text if float(text) == number else repr(float(number))


def guard_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with :func:`guard` applied to each text and column name."""
    texts = [i for i, dtype in enumerate(table.dtypes) if not pd.api.types.is_numeric_dtype(dtype)]
    columns = {name: table[name].map(guard) for name in table.columns[texts]}
    return table.assign(**columns).rename(columns=guard)


def guard(cell: object) -> object:
    """Return a cell, with an apostrophe before it if it would be a formula.

    A cell that already begins with apostrophes gets one more, so that :func:`unguard` restores it.
    """
    if isinstance(cell, str) and cell.lstrip("'").startswith(FORMULA) and not NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def unguard(cell: str) -> str:
    """Return the cell before :func:`guard`."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA) else cell


def read_csv(text: str, kinds: Kinds) -> pd.DataFrame:
    """Return a CSV file as a table: columns of numbers, NaN for an empty cell, of flags, and of text, unguarded.

    It may be saved by a spreadsheet, which leaves out empty cells at the end of a line.
    """
    header, *lines = _lines(io.StringIO(text.removeprefix("\ufeff")))  # the mark of its encoding
    return _table(header, ([*line, *[""] * (len(header) - len(line))] for line in lines), kinds)


def tables_of(file: Path, column: str, values: Iterable[str], kinds: Kinds) -> Iterator[pd.DataFrame]:
    """Yield the rows of a CSV file with each of some values in a column, as of :func:`read_csv`; some may have none.

    Rows with one value follow each other in the file, in the order of the values.
    """
    with file.open(encoding="utf-8", newline="") as handle:
        lines = _lines(handle)
        header = next(lines)
        groups = _groups_of(lines, header.index(column), values)
        while some := [*itertools.islice(groups, AT_A_TIME)]:
            table, end = _table(header, itertools.chain(*some), kinds), 0
            for group in some:
                start, end = end, end + len(group)
                yield table.iloc[start:end]


def _groups_of(lines: Iterable[list[str]], place: int, values: Iterable[str]) -> Iterator[list[list[str]]]:
    """Yield the lines with each of some values at a place; values and lines have one order."""
    groups = itertools.groupby(lines, key=operator.itemgetter(place))
    cell, own = next(groups, (None, iter(())))
    for value in values:
        if cell == value:
            yield [*own]
            cell, own = next(groups, (None, iter(())))
        else:
            yield []


def _lines(file: Iterable[str]) -> Iterator[list[str]]:
    """Yield the cells of each line that is not blank, unguarded."""
    return ([*map(unguard, line)] for line in csv.reader(file) if any(map(str.strip, line)))


def _table(header: list[str], lines: Iterable[list[str]], kinds: Kinds) -> pd.DataFrame:
    """Return lines as of :func:`read_csv`; ValueError if one has another length, or no number where one is due."""
    columns = [*zip(*lines, strict=True)] or [()] * len(header)
    cells: dict[str, Any] = {}
    for name, column in zip(header, columns, strict=True):
        if name in kinds.numbers:
            cells[name] = np.array([float(cell or "nan") for cell in column])
        elif name not in kinds.left_out:
            texts = pd.Series([*column], dtype=object)
            cells[name] = texts == "True" if name in kinds.flags else texts
    return pd.DataFrame(cells)
