"""Tab-separated tables as a person writes them: read whole, everything that is wrong said at once."""

from __future__ import annotations

import csv
import difflib
import math
import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from ..errors import UserError, hidden_in, nearest

ABSENT = ("", "n/a", "na", "nan")
LARGEST_FILE_BYTES = 50_000_000

Row = dict[str, str]


def rows_of(path: Path, *, required: Iterable[str], known: Iterable[str] = ()) -> tuple[list[Row], list[str]]:
    """Return the rows of a table with a header line, and what is wrong with it, one line per problem.

    Cells stay text, stripped of blanks; one that a short line lacks is empty. Without a good header there are no rows.

    Args:
        path: the table.
        required: columns that must be there.
        known: if given, the only columns that may be there.
    """
    try:
        header, *lines = _lines(path)
    except UserError as error:
        return [], [str(error)]
    if problems := _header_problems(path.name, header, tuple(required), tuple(known)):
        return [], problems
    rows = []
    for number, line in enumerate(lines, start=2):
        if not any(line):
            continue
        if len(line) != len(header):
            problems.append(f"{path.name}: line {number} has {len(line)} cells, the header {len(header)}")
        rows.append(dict.fromkeys(header, "") | dict(zip(header, line, strict=False)))
    return rows, problems


def read_table(path: Path, *, required: Iterable[str], known: Iterable[str] = ()) -> list[Row]:
    """Return the rows of a table, see :func:`rows_of`.

    Raises:
        UserError: absent, not UTF-8, ragged, or with missing, unknown or repeated columns.
    """
    rows, problems = rows_of(path, required=required, known=known)
    if problems:
        raise UserError("\n".join(problems))
    return rows


def number(row: Mapping[str, str], column: str, *, where: str) -> float | None:
    """Return a cell as a float, None where it is absent ('', n/a).

    Raises:
        UserError: not a finite number.
    """
    text = row.get(column, "")
    if text.lower() in ABSENT:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        hint = " (write a point, not a comma)" if "," in text else ""
        raise UserError(f"{where}: {column} is '{text}', expected a number or n/a{hint}")
    return value


def out_of_range(
    row: Mapping[str, str], column: str, low: float, high: float, where: str, *, required: bool = False
) -> list[str]:
    """Return a line where a cell is not a number from low to high; an absent one may be, unless required."""
    try:
        value = number(row, column, where=where)
    except UserError as error:
        return [str(error)]
    if value is None:
        return [f"{where}: {column} is missing"] if required else []
    return [] if low <= value <= high else [f"{where}: {column} is {value:g}, expected {low:g} to {high:g}"]


def misspelt(rows: Sequence[Row], known: Sequence[str], where: str) -> list[str]:
    """Return a line for each column that misses a known one by a letter or two; free columns stay free."""
    lines = []
    for name in rows[0] if rows else ():
        close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.85)
        if name not in known and close and close[0] not in rows[0]:
            lines.append(f"{where}: unknown column '{name}'; did you mean '{close[0]}'?")
    return lines


def _lines(path: Path) -> list[list[str]]:
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise UserError(f"{path.name}: larger than {LARGEST_FILE_BYTES // 1_000_000} MB; is this the table?")
        with path.open(encoding="utf-8-sig", newline="") as handle:
            lines = [[cell.strip() for cell in line] for line in csv.reader(handle, delimiter="\t")]
    except FileNotFoundError:
        raise UserError(f"{path.name}: missing from {path.parent}; 'python -m pipeline init' writes one") from None
    except OSError as error:
        raise UserError(f"{path.name}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UserError(f"{path.name}: not UTF-8 text; save it as tab-separated UTF-8") from None
    except csv.Error as error:
        raise UserError(f"{path.name}: not tab-separated text ({error}); save it as tab-separated UTF-8") from None
    if not lines or not any(lines[0]):
        raise UserError(f"{path.name}: empty; the first line names the columns")
    return lines


def _header_problems(where: str, header: list[str], required: tuple[str, ...], known: tuple[str, ...]) -> list[str]:
    strange = [column for column in header if column not in (known or required)]
    problems = [f"{where}: column '{name}' stands twice" for name, n in Counter(header).items() if n > 1 and name]
    missing = [name for name in required if name not in header]
    problems += [f"{where}: column '{name}' is missing{nearest(name, strange)}" for name in missing]
    if missing and len(header) == 1 and any(sign in header[0] for sign in ",; "):
        problems.append(f"{where}: the first line has no tab; separate the columns by tabs")
    if known:
        problems += [f"{where}: unknown column '{name}'{nearest(name, known)}" for name in strange]
    return problems


IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
COLUMN = re.compile(r"\w[^/]*")  # what NetCDF takes for a name
LONGEST_IDENTIFIER, LONGEST_COLUMN, LONGEST_CELL = 64, 64, 1000


def hostile_cells(rows: Sequence[Row], where: str) -> list[str]:
    """Return a line for each cell that is very long or has a character that cannot be seen, as a line end in quotes."""
    problems = []
    for place, row in enumerate(rows, start=1):
        for column, cell in row.items():
            if len(cell) > LONGEST_CELL:
                problems.append(
                    f"{where}: row {place}: {column} has {len(cell)} characters, expected {LONGEST_CELL} at most"
                )
            if hidden := hidden_in(cell):
                problems.append(
                    f"{where}: row {place}: {column} has the character {hidden}, which cannot be seen; remove it"
                )
    return problems


def bad_columns(rows: Sequence[Row], where: str, reserved: Container[str]) -> list[str]:
    """Return a line for each column whose name cannot become that of a coordinate, or is that of a result."""
    names = list(rows[0]) if rows else []
    bad = [
        f"{where}: column {name[:LONGEST_COLUMN]!r} must begin with a letter, a digit or '_', have no '/' and "
        f"{LONGEST_COLUMN} characters at most"
        for name in names
        if not COLUMN.fullmatch(name) or len(name) > LONGEST_COLUMN or hidden_in(name)
    ]
    return bad + [
        f"{where}: column '{name}' has the name of a result; call it otherwise, as 'participant_{name}'"
        for name in names
        if name in reserved
    ]


def bad_identifier(name: str, column: str, where: str) -> list[str]:
    """Return a line where the name of a person, session or trial would not do for a folder on every computer."""
    if len(name) > LONGEST_IDENTIFIER:
        return [f"{where}: {column} {name[:LONGEST_IDENTIFIER]!r}... is longer than {LONGEST_IDENTIFIER} characters"]
    if IDENTIFIER.fullmatch(name):
        return []
    return [f"{where}: {column} {name!r} must be letters, digits, '-' and '_', and begin with a letter or digit"]


def leaves_study(file: str) -> bool:
    """Return whether a path leads out of the study; a link inside it may lead anywhere, its owner made it."""
    parts = Path(os.path.normpath(file)).parts if file else ("..",)
    return "\0" in file or Path(file).is_absolute() or parts[:1] == ("..",)
