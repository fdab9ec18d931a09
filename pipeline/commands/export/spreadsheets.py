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
from ...results.study_file import study_path
from ...results.whole_files import whole
from ...tables.csv_files import guard
from ...tables.tsv import finite
from ..shared.exported_files import SPREADSHEETS, sidecar
from .tables import Table, tables_of, write_sidecar, writing

MOST_ROWS, MOST_LETTERS = 1_048_576, 32_767  # of a sheet, and of a cell
CREATED = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # the same results are the same file
HEADER = ("Table", "Column", "Units", "Meaning")


def export_workbook(path: Path, *, output: Path | None = None) -> Path:
    """Write the tables of a study as a workbook, by default next to study.nc; return its path.

    Raises:
        UserError: no study or table, one too long for a sheet, XlsxWriter is not installed, or no place to write.
    """
    source = study_path(path)
    output = output or source.with_suffix(".xlsx")
    with writing(output, form="xlsx", library="XlsxWriter"):
        import xlsxwriter
    tables = [*tables_of(path)]
    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    with writing(output, form="xlsx", library="XlsxWriter"):
        sidecar(output).unlink(missing_ok=True)
        with whole(output) as partial, xlsxwriter.Workbook(str(partial), options) as book:
            book.set_properties({"created": CREATED})
            style = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
            for table in tables:
                _sheet(book.add_worksheet(table.path.stem), table, style)
            _explain(book.add_worksheet("columns"), tables, style)
        write_sidecar(output, source, {table.path.stem: table.columns for table in tables})
    return output


def _sheet(sheet: Any, table: Table, style: Any) -> None:
    """Write a table: units in the header, which stays in sight."""
    for i, title in enumerate(table.titles()):
        sheet.write_string(0, i, title, style)
    are_numbers = table.are_numbers()
    for at, row in enumerate(table.rows(), start=1):
        if at == MOST_ROWS:
            raise UserError(
                str(table.path), f"has more rows than a sheet ({MOST_ROWS})", "take --format parquet-tables"
            )
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


def export_csv_tables(path: Path, *, separator: str, decimal: str, folder: Path | None = None) -> list[Path]:
    """Write the tables of a study as CSV for a spreadsheet of another locale; return their paths.

    They begin with the mark by which Excel knows UTF-8, and have units in the header. Text that a spreadsheet would run
    as a formula has an apostrophe before it, as in the tables of a run.

    Raises:
        UserError: no study or table, or no place to write.
    """
    source = study_path(path)
    folder, written = folder or source.with_name(SPREADSHEETS), []
    for table in tables_of(path):
        target = folder / table.path.name
        with writing(target, form="csv-tables", library=""):
            folder.mkdir(parents=True, exist_ok=True)
            with whole(target) as partial, partial.open("w", encoding="utf-8-sig", newline="") as file:
                writer = csv.writer(file, delimiter=separator)
                writer.writerow(map(guard, table.titles()))
                are_numbers = table.are_numbers()
                for row in table.rows():
                    writer.writerow(
                        [
                            cell.replace(".", decimal) if is_number and not math.isnan(finite(cell)) else guard(cell)
                            for cell, is_number in zip(row, are_numbers, strict=True)
                        ]
                    )
        written.append(target)
    return written
