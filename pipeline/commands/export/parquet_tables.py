"""``gaitlab export --format parquet-tables``: metrics.csv and quality.csv as Parquet, a folder for each participant.

The tables are read part by part, so that those of an archive need little memory, and the rows of some participants are
found without those of others.
"""

import re
import shutil
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...tables.csv_files import FORMULA, guard
from ..shared.exported_files import sidecar
from .tables import Table

KEY = "participant"
GUARDED = f"^'('*[{re.escape(''.join(FORMULA))}])"  # text as of csv_files.guard
MOST_OPEN = 32  # files of participants at a time


def write_parquet(table: Table, target: Path) -> dict[str, Any]:
    """Write a table as a folder of Parquet files, and return what its columns mean; those without a kind are text.

    Raises:
        UserError: a cell of a column of numbers is none.
    """
    import pyarrow as pa
    from pyarrow import csv, dataset

    types = {name: pa.type_for_alias(table.kinds.get(name, "string")) for name in table.columns}
    fields, schema = {guard(name): kind for name, kind in types.items()}, pa.schema(types)
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of an export that was killed
    partial.mkdir(parents=True)
    form = dataset.ParquetFileFormat()
    try:
        with csv.open_csv(table.path, convert_options=csv.ConvertOptions(column_types=fields)) as batches:
            dataset.write_dataset(
                (_as_given(batch, schema) for batch in batches), partial, schema=schema, format=form,
                file_options=form.make_write_options(use_dictionary=False, write_statistics=False),  # a third less
                partitioning=dataset.partitioning(pa.schema({KEY: pa.string()}), flavor="hive"),
                use_threads=False, max_open_files=MOST_OPEN, existing_data_behavior="overwrite_or_ignore",
            )  # fmt: skip
    except ValueError as error:
        raise UserError(str(table.path), f"is not as it was written ({error})", "run the workflow again") from None
    sidecar(target).unlink(missing_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    partial.replace(target)
    return table.columns


def _as_given(batch: Any, schema: Any) -> Any:
    """Return a part of a table with its text as it was before it was guarded against spreadsheets."""
    import pyarrow as pa
    from pyarrow import compute

    columns = [
        compute.replace_substring_regex(column, GUARDED, r"\1") if column.type == pa.string() else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, schema=schema)
