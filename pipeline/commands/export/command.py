"""``gaitlab export``: the results of a study as tables, in the form that is chosen.

The file ``study.csv.json`` next to ``study.csv`` is its data dictionary and has the digest of the study.nc that it was
made from, so that a table of an earlier study can be recognised; so has that of each other table but of ``csv-tables``.
"""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...results.study_file import study_path
from ...results.whole_files import write_whole
from ...variables.data_dictionary import as_json
from ...workflow.digests import sha256
from ..shared.exported_files import MADE_FROM, PARQUET_TABLES, SPREADSHEETS, record_files, sidecar
from .long_table import described_table, write_long_table
from .parquet_tables import write_parquet
from .spreadsheets import write_csv, write_workbook
from .tables import TABLES, tables_of

LIBRARIES = {"xlsx": "XlsxWriter", "parquet": "pyarrow", "parquet-tables": "pyarrow"}  # by form


def export_as(
    path: Path, *, form: str, decimal: str = "point", separator: str | None = None, output: Path | None = None
) -> str:
    """Write one long table, a workbook or several tables, and return where they are.

    Args:
        form: csv, csv-tables, xlsx, parquet or parquet-tables.
        decimal: point or comma, in numbers of CSV files.
        separator: between cells of CSV files, or ``tab``; None for the one that goes with ``decimal``.
        output: a file, or a folder for several tables; None for a place next to study.nc.

    Raises:
        UserError: no study or table, a library is not installed, no place to write, or ``decimal`` and ``separator`` do
            not fit each other or ``form``.
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
    tables = _write(source, form, output, locale)
    command = ["export", "--format", form, *(["--decimal", "comma"] if comma else [])]
    command += ["--separator", separator] if separator else []
    record_files(source.parent, tables, inputs, command, output)
    return "\n".join(f"{'Workbook' if form == 'xlsx' else 'Table'}: {table}" for table in tables)


def _write(source: Path, form: str, output: Path | None, locale: Mapping[str, Any]) -> list[Path]:
    """Write the tables of a study.nc in a form, with what their columns mean beside them, and return where they are."""
    one_file = output or source.with_suffix(f".{form}")
    with _writing(one_file, form):
        if form in LIBRARIES:
            importlib.import_module(LIBRARIES[form].lower())
    if form == "xlsx":
        writers: dict[Path, Any] = {one_file: partial(write_workbook, [*tables_of(source)])}
    elif form == "csv-tables":
        folder = output or source.with_name(SPREADSHEETS)
        writers = {folder / table.path.name: partial(write_csv, table, **locale) for table in tables_of(source)}
    elif form == "parquet-tables":
        folder, tables = output or source.parent, tables_of(source, PARQUET_TABLES)
        writers = {folder / f"{table.path.stem}.parquet": partial(write_parquet, table) for table in tables}
    else:
        writers = {one_file: partial(write_long_table, *described_table(source), form=form, **locale)}
    made_from = {MADE_FROM: {source.name: sha256(source)}}
    for target, write in writers.items():
        with _writing(target, form):
            if about := write(target):
                write_whole(sidecar(target), as_json(made_from | about))
    return [*writers]


@contextmanager
def _writing(output: Path, form: str) -> Iterator[None]:
    """Refuse an export that needs a library which is not installed, or a place where nothing can be written."""
    try:
        yield
    except ImportError:
        if form not in LIBRARIES:
            raise
        library = LIBRARIES[form]
        raise UserError(f"--format {form}", f"needs {library}", f"pip install {library}") from None
    except OSError as error:
        what = f"cannot be written ({error.strerror or error})"
        raise UserError(str(output), what, "choose another --output") from None
