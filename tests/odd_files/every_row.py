"""All odd files, and the table of what is true of them."""

from __future__ import annotations

import csv
from dataclasses import fields
from pathlib import Path

from tests.odd_files.c3d_rows import C3D_ROWS
from tests.odd_files.name_rows import NAME_ROWS
from tests.odd_files.pair_rows import PAIR_ROWS
from tests.odd_files.path_rows import PATH_ROWS
from tests.odd_files.row import Row, Truth
from tests.odd_files.text_rows import TEXT_ROWS

ROWS: tuple[Row, ...] = (*C3D_ROWS, *NAME_ROWS, *TEXT_ROWS, *PAIR_ROWS, *PATH_ROWS)
WRONG = Path(__file__).with_name("wrong_today.tsv")  # what the product makes of some rows instead
with WRONG.open(encoding="utf-8") as _table:
    _lines = csv.DictReader(_table, dialect="excel-tab", quoting=csv.QUOTE_NONE)
    WRONG_TODAY = {line["name"]: line["wrong"] for line in _lines}


def usual(row: Row) -> str:
    """Return the name of the row of that kind in which nothing is odd."""
    return "plain_text" if row.truth.loads else "plain"


def write_all(folder: Path) -> None:
    """Write the folder of each row, and TRUTH.tsv."""
    for row in ROWS:
        (folder / row.name).mkdir(parents=True)
        row.write(folder / row.name)
    names = [field.name for field in fields(Truth)]
    lines = ["\t".join(["name", "study", "odd", "source", *names, "remarks"])]
    for row in ROWS:
        truths = [_cell(getattr(row.truth, name)) for name in names]
        lines.append("\t".join([row.name, row.study, row.odd, row.source, *truths, "; ".join(row.remarks)]))
    (folder / "TRUTH.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")


def _cell(value: object) -> str:
    """Return a value of a truth as the text of a cell, ``n/a`` for none."""
    if isinstance(value, tuple):
        return " | ".join(map(str, value))
    return "n/a" if value is None else str(value)
