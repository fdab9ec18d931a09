"""``gaitlab export``: the results of a study as tables, in the form that is chosen."""

from pathlib import Path

from ...errors import UserError
from ...results.study_file import study_path
from ...workflow.digests import sha256
from ..shared.exported_files import PARQUET_TABLES, record_files
from .long_table import export
from .parquet_tables import export_tables
from .spreadsheets import export_csv_tables, export_workbook
from .tables import TABLES


def export_as(path: Path, *, form: str, decimal: str, separator: str | None, output: Path | None) -> str:
    """Write one long table, a workbook or several tables, and return where they are.

    Args:
        form: csv, csv-tables, xlsx, parquet or parquet-tables.
        decimal: point or comma, in numbers of CSV files.
        separator: between cells of CSV files, or ``tab``; None for the one that goes with ``decimal``.
        output: a file, or a folder for several tables; None for a place next to study.nc.

    Raises:
        UserError: no study.nc, or ``decimal`` and ``separator`` do not fit each other or ``form``.
    """
    comma = decimal == "comma"
    if (comma or separator) and not form.startswith("csv"):
        raise UserError("--decimal and --separator", "are of CSV files", "add --format csv or csv-tables")
    between = "\t" if separator == "tab" else separator or (";" if comma else ",")
    if comma and between == ",":
        raise UserError("--separator ,", "numbers have a comma, too", "take --separator ';' or tab")
    locale = {"separator": between, "decimal": "," if comma else "."}
    read = {"xlsx": TABLES, "csv-tables": TABLES, "parquet-tables": PARQUET_TABLES}.get(form, ())
    source = study_path(path)
    files = [file for file in (source, *(source.with_name(f"{table}.csv") for table in read)) if file.is_file()]
    inputs = {file.name: sha256(file) for file in files}  # before they are read
    if form == "xlsx":
        tables = [export_workbook(path, output=output)]
    elif form == "csv-tables":
        tables = export_csv_tables(path, folder=output, **locale)
    elif form == "parquet-tables":
        tables = export_tables(path, folder=output)
    else:
        tables = [export(path, form=form, output=output, **locale)]
    command = ["export", "--format", form, *(["--decimal", "comma"] if comma else [])]
    command += ["--separator", separator] if separator else []
    record_files(source.parent, tables, inputs, command, output)
    return "\n".join(f"{'Workbook' if form == 'xlsx' else 'Table'}: {table}" for table in tables)
