"""``gaitlab export --format xlsx`` and ``csv-tables``: the tables of a study for spreadsheets.

A workbook has one sheet per table, with units in the header, and one that explains the columns. Numbers are numbers;
everything else is text, also an id such as 007 or a name that begins like a formula. XlsxWriter writes row by row,
needs nothing else and never takes a text for a formula unless it is asked to.
"""

import csv
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...results.whole_files import whole
from ...tables.csv_files import guard
from ...tables.tsv import finite
from ..shared.exported_files import sidecar
from .tables import Table

MOST_ROWS, MOST_LETTERS = 1_048_576, 32_767  # of a sheet, and of a cell
CREATED = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # the same results are the same file
HEADER = ("Table", "Column", "Units", "Meaning")


def write_workbook(tables: Sequence[Table], output: Path) -> dict[str, Any]:
    """Write tables as a workbook, and return what their columns mean; refuse a table that is too long for a sheet."""
    import xlsxwriter

    options = {f"strings_to_{kind}": False for kind in ("formulas", "urls", "numbers")}
    sidecar(output).unlink(missing_ok=True)
    with whole(output) as partial, xlsxwriter.Workbook(str(partial), {"constant_memory": True, **options}) as book:
        book.set_properties({"created": CREATED})
        style = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        for table in tables:
            _sheet(book.add_worksheet(table.path.stem), table, style)
        _explain(book.add_worksheet("columns"), tables, style)
    return {table.path.stem: table.columns for table in tables}


def _sheet(sheet: Any, table: Table, style: Any) -> None:
    """Write a table: units in the header, which stays in sight."""
    for i, title in enumerate(table.titles()):
        sheet.write_string(0, i, title, style)
    are_numbers = table.are_numbers()
    for at, row in enumerate(table.rows(), start=1):
        if at == MOST_ROWS:
            what = f"has more rows than a sheet ({MOST_ROWS})"
            raise UserError(str(table.path), what, "take --format parquet-tables")
        for i, (cell, is_number) in enumerate(zip(row, are_numbers, strict=True)):
            number = finite(cell) if is_number else math.nan
            if not math.isnan(number):
                sheet.write_number(at, i, number)
            elif cell:
                sheet.write_string(at, i, cell[:MOST_LETTERS])
    sheet.freeze_panes(1, 1)
    sheet.set_column(0, len(table.columns) - 1, 14)


def _explain(sheet: Any, tables: Sequence[Table], style: Any) -> None:
    lines = [
        (table.path.stem, name, about.get("Units", ""), about.get("Description", ""))
        for table in tables
        for name, about in table.columns.items()
    ]
    for i, title in enumerate(HEADER):
        sheet.write_string(0, i, title, style)
    for at, line in enumerate(lines, start=1):
        for i, cell in enumerate(line):
            sheet.write_string(at, i, cell[:MOST_LETTERS])
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, 2, 16)
    sheet.set_column(1, 1, 44)
    sheet.set_column(3, 3, 90)


def write_csv(table: Table, target: Path, *, separator: str, decimal: str) -> None:
    """Write a table as CSV for a spreadsheet of another locale.

    It begins with the mark by which Excel knows UTF-8, and has units in the header. Text that a spreadsheet would run
    as a formula has an apostrophe before it, as in the tables of a run.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    are_numbers = table.are_numbers()
    with whole(target) as partial, partial.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(map(guard, table.titles()))
        for row in table.rows():
            cells = zip(row, are_numbers, strict=True)
            writer.writerow(
                cell.replace(".", decimal) if is_number and not math.isnan(finite(cell)) else guard(cell)
                for cell, is_number in cells
            )
