"""All odd files, and the table of what is true of them."""

from __future__ import annotations

import csv
from dataclasses import fields
from pathlib import Path

from tests.odd_files import c3d_rows, name_rows, path_rows, text_rows
from tests.odd_files.pair_rows import PAIR_ROWS
from tests.odd_files.program_rows import PROGRAMS
from tests.odd_files.reported_rows import LONG, REPORTED
from tests.odd_files.row import REFUSED, Row, Truth
from tests.odd_files.script_rows import SCRIPTS
from tests.odd_files.thread_rows import THREADS

KINDS: dict[str, tuple[Row, ...]] = {
    "format of C3D files": c3d_rows.FORMAT,
    "points, their labels and units": c3d_rows.POINTS,
    "plates and their parameters": c3d_rows.PLATES,
    "what is there and not used": c3d_rows.NOT_USED,
    "frames, and events outside of them": (*c3d_rows.FRAMES, LONG),
    "people's names before labels, two people in a file": tuple(name_rows.prefixes()),
    "events of other programs and languages": tuple(name_rows.event_names()),
    "rates that do not divide evenly": tuple(name_rows.rates()),
    "headers of TRC and MOT files": text_rows.HEADERS,
    "missing numbers": tuple(text_rows.missing_numbers()),
    "separators": tuple(text_rows.separators()),
    "names before labels in TRC files": tuple(text_rows.prefixes()),
    "files that belong together, and others": PAIR_ROWS,
    "exports of further programs, and files that a spreadsheet changed": PROGRAMS,
    "what people ask about in forums": REPORTED,
    "what further threads and manuals report": THREADS,
    "units, and what scripts leave wrong": SCRIPTS,
    "names of folders": path_rows.STUDIES,
    "names of files": path_rows.FILES,
    "tables as Windows and spreadsheets write them": path_rows.TABLES,
}
ROWS: tuple[Row, ...] = tuple(row for rows in KINDS.values() for row in rows)
WRONG = Path(__file__).with_name("wrong_today.tsv")  # what the product makes of some rows instead
with WRONG.open(encoding="utf-8") as _table:
    _lines = csv.DictReader(_table, dialect="excel-tab", quoting=csv.QUOTE_NONE)
    WRONG_TODAY = {line["name"]: line["wrong"] for line in _lines}


def usual(row: Row) -> str:
    """Return the name of the row of that kind in which nothing is odd."""
    return "plain_text" if row.truth.loads else "plain"


def as_table() -> str:
    """Return how many rows of each kind there are, what is right for them, and how many go wrong, as a page has it."""
    lines = ["| kind | n | to be read | refused | either | wrong |", "|---|---|---|---|---|---|"]
    for kind, rows in (KINDS | {"all": ROWS}).items():
        refused = sum(row.truth.outcome == REFUSED for row in rows)
        either = sum(row.truth.outcome != REFUSED and bool(row.truth.or_refused) for row in rows)
        counts = (
            len(rows),
            len(rows) - refused - either,
            refused,
            either,
            sum(row.name in WRONG_TODAY for row in rows),
        )
        lines.append(f"| {kind} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


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
