"""CSV files that a spreadsheet shows and does not run: text that would be a formula begins with an apostrophe."""

from __future__ import annotations

import csv
import io

import pandas as pd

FORMULA = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20")  # the wide forms too


def csv_of(table: pd.DataFrame) -> bytes:
    """Return a table as CSV; numbers, and texts that are numbers, stay as they are."""
    return guarded(table).to_csv(index=False, lineterminator="\n").encode()


def guarded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with an apostrophe before each text, and column name, that would be a formula."""
    texts = [i for i, dtype in enumerate(table.dtypes) if not pd.api.types.is_numeric_dtype(dtype)]
    columns = {name: table[name].map(guard) for name in table.columns[texts]}
    return table.assign(**columns).rename(columns=guard)


def guard(cell: object) -> object:
    """Return a cell with an apostrophe before it where a spreadsheet would take it for a formula.

    One that has an apostrophe there already gets another, so that :func:`unguarded` gives back what was.
    """
    if isinstance(cell, str) and cell.lstrip("'").startswith(FORMULA) and not _is_number(cell):
        return f"'{cell}"
    return cell


def unguarded(cell: str) -> str:
    """Return what a cell was before :func:`guard`."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA) else cell


def rows_of(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text, without guards."""
    lines = [*csv.reader(io.StringIO(text))]
    if "'" in text:
        lines = [[*map(unguarded, line)] for line in lines]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:] if line]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
