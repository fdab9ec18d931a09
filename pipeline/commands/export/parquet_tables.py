"""``gaitlab export --format parquet-tables``: metrics.csv and quality.csv as Parquet, a folder for each participant.

The tables are read part by part, so that those of an archive need little memory, and the rows of some participants are
found without those of others.
"""

import re
import shutil
from collections.abc import Mapping
from csv import reader as csv_reader
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...results import netcdf
from ...results.study_file import study_path
from ...results.whole_files import write_whole
from ...tables.csv_files import FORMULA, unguard
from ...variables.data_dictionary import QUALITY, as_json, data_dictionary
from ...variables.metrics import NUMBERS
from ...workflow.digests import sha256
from ..shared.exported_files import MADE_FROM, PARQUET_TABLES, sidecar

KEY = "participant"
KINDS = {"i": "int64", "b": "bool", "f": "double"}  # Arrow's name of a kind of numbers in study.nc
GUARDED = f"^'('*[{re.escape(''.join(FORMULA))}])"  # text as of csv_files.guard
MOST_OPEN = 32  # files of participants at a time


def export_tables(path: Path, *, folder: Path | None = None) -> list[Path]:
    """Write the tables of a study, by default next to them; return their folders.

    Raises:
        UserError: no study or table, a folder cannot be written, or pyarrow is not installed.
    """
    source = study_path(path)
    of_cycles = netcdf.load(source, [*NUMBERS], rows={"cycle": slice(0, 0)})
    types = {str(name): KINDS.get(one.dtype.kind, "string") for name, one in of_cycles.coords.items()}
    types |= dict.fromkeys(
        (*NUMBERS, *(f"{name}_u" for name in NUMBERS), *(name for name, column in QUALITY.items() if column.units)),
        "double",
    )
    written = []
    for name in PARQUET_TABLES:
        table, target = source.with_name(f"{name}.csv"), (folder or source.parent) / f"{name}.parquet"
        if not table.is_file():
            raise UserError(str(table), "no such file", "create it with: gaitlab run STUDY")
        try:
            columns = _write(table, target, types)
            about = data_dictionary(name, columns)
            write_whole(sidecar(target), as_json({MADE_FROM: {source.name: sha256(source)}, **about}))
        except ImportError:
            raise UserError("--format parquet-tables", "needs pyarrow", "pip install pyarrow") from None
        except ValueError as error:  # of a cell that is no number
            raise UserError(str(table), f"is not as it was written ({error})", "run the workflow again") from None
        except OSError as error:
            raise UserError(str(target), f"cannot be written ({error})", "choose another --output") from None
        written.append(target)
    return written


def _write(table: Path, target: Path, types: Mapping[str, str]) -> list[str]:
    """Write a table as a folder of Parquet files; return its columns. Columns without a type are text."""
    import pyarrow as pa
    from pyarrow import csv, dataset

    with table.open(encoding="utf-8", newline="") as file:
        header = next(csv_reader(file))
    fields = {name: pa.type_for_alias(types.get(unguard(name), "string")) for name in header}
    schema = pa.schema({unguard(name): kind for name, kind in fields.items()})
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of an export that was killed
    partial.mkdir(parents=True)
    form = dataset.ParquetFileFormat()
    with csv.open_csv(table, convert_options=csv.ConvertOptions(column_types=fields)) as batches:
        dataset.write_dataset(
            (_as_given(batch, schema) for batch in batches), partial, schema=schema, format=form,
            file_options=form.make_write_options(use_dictionary=False, write_statistics=False),  # a third less
            partitioning=dataset.partitioning(pa.schema({KEY: pa.string()}), flavor="hive"),
            use_threads=False, max_open_files=MOST_OPEN, existing_data_behavior="overwrite_or_ignore",
        )  # fmt: skip
    sidecar(target).unlink(missing_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    partial.replace(target)
    return [*map(unguard, header)]


def _as_given(batch: Any, schema: Any) -> Any:
    """Return a part of a table with its text as it was before it was guarded against spreadsheets."""
    import pyarrow as pa
    from pyarrow import compute

    columns = [
        compute.replace_substring_regex(column, GUARDED, r"\1") if column.type == pa.string() else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, schema=schema)
