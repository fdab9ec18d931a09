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
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pandas as pd

FORMULA = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20")  # the wide forms too
NUMBER = re.compile(r"[+-](inf|\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)  # with a sign, as a formula begins
DIGITS = "%.6g"


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


def rows_of(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text, :func:`unguard`."""
    return [*_rows(io.StringIO(text))]


def read_csv(text: str, numbers: Collection[str]) -> pd.DataFrame:
    """Return a CSV file as a table: columns of numbers as float, NaN for an empty cell, others as text, unguarded."""
    table = pd.read_csv(
        io.StringIO(text),
        dtype=defaultdict(lambda: "str", dict.fromkeys(numbers, "float64")),
        keep_default_na=False,
        na_values={name: [""] for name in numbers},
    )
    texts = [str(name) for name in table if name not in numbers]
    return table.assign(**{name: table[name].map(unguard) for name in texts}).rename(columns=unguard)


def groups_of(path: Path, column: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the rows of a CSV file that follow each other with one cell of a column, as of :func:`rows_of`."""
    with path.open(encoding="utf-8", newline="") as handle:
        for cell, rows in itertools.groupby(_rows(handle), key=operator.itemgetter(column)):
            yield cell, [*rows]


def _rows(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    cells = csv.reader(lines)
    header = [*map(unguard, next(cells))]
    for line in cells:
        if line:
            yield dict(zip(header, map(unguard, line), strict=True))
