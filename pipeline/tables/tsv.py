"""Tab-separated tables written by people: read with every problem at once."""

import csv
import difflib
import io
import math
import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ..errors import Problem, UserError, find_hidden, most_similar, nearest, without_problems

ABSENT = ("", "n/a", "na", "nan")
LARGEST_FILE_BYTES = 50_000_000
SAVE_AS = "save it as tab-separated text in UTF-8 (Excel: 'Unicode Text')"
OF_SPREADSHEETS = (".tsv", ".csv", ".txt", ".xlsx", ".xls", ".ods", ".numbers")
ARCHIVE, UTF_16 = b"PK\x03\x04", (b"\xff\xfe", b"\xfe\xff")
OF_NUMBERS = re.compile(r".*_(kg|m|cm|mm|s|m_s|kg_m2|years|months|deg|n|hz|percent)")  # columns, by their unit
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")

Row = dict[str, str]


def rows_of(path: Path, *, required: Iterable[str], allowed: Iterable[str] = ()) -> tuple[list[Row], list[Problem]]:
    """Return the rows of a table with a header line, and every problem.

    Cells are text without surrounding blanks; missing cells are empty. There are no rows without a valid header.

    Args:
        allowed: if given, the only columns that may be there.
    """
    try:
        header, *lines = _lines(path)
    except UserError as error:
        return [], [*error.problems]
    if problems := _header_problems(path.name, header, tuple(required), tuple(allowed)):
        return [], problems
    rows = []
    for number, line in enumerate(lines, start=2):
        if not any(line):
            continue
        if len(line) != len(header):
            what = f"line {number} has {len(line)} cells, the header {len(header)}"
            problems.append(Problem(path.name, what, "give each line a cell for each column"))
        row = dict.fromkeys(header, "") | dict(zip(header, line, strict=False))
        for name, cell in row.items():  # columns of numbers have a unit at the end of the name
            row[name] = cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) and OF_NUMBERS.fullmatch(name) else cell
        rows.append(row)
    return rows, problems


def read_table(path: Path, *, required: Iterable[str], allowed: Iterable[str] = ()) -> list[Row]:
    """Return the rows of a table, see :func:`rows_of`; raise UserError with every problem."""
    return without_problems(rows_of(path, required=required, allowed=allowed))


def number(row: Mapping[str, str], column: str, *, where: str) -> float | None:
    """Return a cell as a float, None if it is empty or n/a; raise UserError if it is no finite number."""
    text = row.get(column, "")
    if text.lower() in ABSENT:
        return None
    value = finite(text)
    if math.isnan(value):
        remedy = "expected a number or n/a" + (" (write a point, not a comma)" if "," in text else "")
        raise UserError(where, f"{column} is '{text}'", remedy)
    return value


def finite(text: str) -> float:
    """Return the number that a text is, NaN if it is none or not finite."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def numbers_or_text(cells: Sequence[str]) -> list[float] | list[str]:
    """Return a column as numbers, NaN where absent, if all its cells are numbers or absent; else as text."""
    try:
        return [math.nan if cell.lower() in ABSENT else float(cell) for cell in cells]
    except ValueError:
        return [*cells]


def out_of_range(
    row: Mapping[str, str], column: str, low: float, high: float, where: str, *, required: bool = False
) -> list[Problem]:
    """Return a problem if a cell is not from low to high, or empty but required."""
    try:
        value = number(row, column, where=where)
    except UserError as error:
        return [*error.problems]
    if value is None:
        return [Problem(where, f"{column} is missing", f"give {low:g} to {high:g}")] if required else []
    if low <= value <= high:
        return []
    units = {"cm": 0.01, "mm": 0.001, "inches": 0.0254, "feet": 0.3048} if column.endswith("_m") else {}
    fits = (unit for unit, factor in units.items() if low <= value * factor <= high)
    in_metres = (f"give metres: {value * units[unit]:.4g} m if this is in {unit}" for unit in fits)
    return [Problem(where, f"{column} is {value:g}", next(in_metres, f"expected {low:g} to {high:g}"))]


def misspelt(rows: Sequence[Row], allowed: Sequence[str], where: str) -> Iterator[Problem]:
    """Yield a problem for each column that nearly has the name of a known one."""
    for name in rows[0] if rows else ():
        close = difflib.get_close_matches(name.lower(), allowed, n=1, cutoff=0.85)
        if name not in allowed and close and close[0] not in rows[0]:
            yield Problem(where, f"unknown column '{name}'", f"did you mean '{close[0]}'?")


def _lines(path: Path) -> list[list[str]]:
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise UserError(path.name, f"larger than {LARGEST_FILE_BYTES // 1_000_000} MB", "is this the table?")
        content = path.read_bytes()
        lines = _cells(decode_text(content))
    except FileNotFoundError:
        what, remedy = f"missing from {path.parent}", "'gaitlab init' writes one"
        if others := namesakes(path):
            what = f"{what}, where {', '.join(others)} is"
            remedy = f"this program reads {path.name}: {SAVE_AS} under this name"
        raise UserError(path.name, what, remedy) from None
    except OSError as error:
        raise UserError(path.name, f"cannot be read ({error.strerror})", "make it readable") from None
    except UnicodeDecodeError:
        what = "a workbook or archive" if content.startswith(ARCHIVE) else "not UTF-8 text"
        raise UserError(path.name, what, SAVE_AS) from None
    except csv.Error as error:
        raise UserError(path.name, f"not tab-separated text ({error})", SAVE_AS) from None
    if not lines or not any(lines[0]):
        raise UserError(path.name, "empty", "name the columns in the first line")
    return lines


def decode_text(content: bytes) -> str:
    """Return text in UTF-8 or, as Excel writes "Unicode text", UTF-16 with its mark; else raise UnicodeDecodeError."""
    return content.decode("utf-16" if content.startswith(UTF_16) else "utf-8-sig")


def _cells(text: str) -> list[list[str]]:
    """Return the cells of each line without surrounding blanks, and without empty columns.

    A header without tabs may separate its names by semicolons or commas, as CSV files do; ids contain neither.
    """
    header = text.partition("\n")[0]
    delimiter = next((sign for sign in "\t;," if sign in header), "\t")
    lines = [[cell.strip() for cell in line] for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]
    header_cells, used = (lines[0] if lines else []), {i for line in lines for i, cell in enumerate(line) if cell}
    width = len(header_cells)
    return [[cell for i, cell in enumerate(line) if i in used or (i < width and header_cells[i])] for line in lines]


def namesakes(path: Path) -> list[str]:
    """Return files next to a table that may be meant for it: other formats, copies, other letter case."""
    if not path.parent.is_dir():
        return []
    similar = (file for file in sorted(path.parent.iterdir()) if file.suffix.lower() in OF_SPREADSHEETS)
    return [file.name for file in similar if file.name != path.name and file.name.lower().startswith(path.stem)]


def _header_problems(
    where: str, header: list[str], required: tuple[str, ...], allowed: tuple[str, ...]
) -> list[Problem]:
    strange = [column for column in header if column not in (allowed or required)]
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    problems = [Problem(where, f"two columns '{name}'", "keep one") for name in twice]
    missing = [name for name in required if name not in header]
    for name in missing:
        close = most_similar(name, strange)
        remedy = f"rename the column '{close}'" if close else "add it"
        problems.append(Problem(where, f"column '{name}' is missing", remedy))
    if missing and len(header) == 1 and " " in header[0]:
        problems.append(Problem(where, "the first line has no tab", "separate the columns by tabs"))
    if allowed:
        remedy = f"expected {', '.join(allowed)}"
        problems += [Problem(where, f"unknown column '{name}'", nearest(name, allowed) or remedy) for name in strange]
    return problems


IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
COLUMN = re.compile(r"\w[^/]*")  # a valid name in NetCDF
LONGEST_IDENTIFIER, LONGEST_COLUMN, LONGEST_CELL = 64, 64, 1000


def hostile_cells(rows: Sequence[Row], where: str) -> Iterator[Problem]:
    """Yield a problem for each very long cell and each invisible character."""
    for number, row in enumerate(rows, start=1):
        place = f"{where}: row {number}"
        for column, cell in row.items():
            if len(cell) > LONGEST_CELL:
                yield Problem(place, f"{column} has {len(cell)} characters", f"expected {LONGEST_CELL} at most")
            if hidden := find_hidden(cell):
                yield Problem(place, f"{column} has the invisible character {hidden}", "remove it")


def bad_columns(rows: Sequence[Row], where: str, reserved: Container[str]) -> Iterator[Problem]:
    """Yield a problem for each column name that is not valid or reserved."""
    remedy = f"begin with a letter, a digit or '_'; no '/', {LONGEST_COLUMN} characters at most"
    for name in rows[0] if rows else ():
        if not COLUMN.fullmatch(name) or len(name) > LONGEST_COLUMN or find_hidden(name):
            yield Problem(where, f"column {name[:LONGEST_COLUMN]!r} cannot be a name in the results", remedy)
        if name in reserved:
            what = f"column '{name}' has the name of a result"
            yield Problem(where, what, f"rename it, such as 'participant_{name}'")


def bad_identifier(name: str, column: str, where: str) -> list[Problem]:
    """Return a problem if a name cannot be a folder name on every system."""
    if len(name) > LONGEST_IDENTIFIER:
        what = f"{column} {name[:LONGEST_IDENTIFIER]!r}... has {len(name)} characters"
        return [Problem(where, what, f"expected {LONGEST_IDENTIFIER} at most")]
    if IDENTIFIER.fullmatch(name):
        return []
    remedy = "use letters, digits, '-' and '_', and begin with a letter or digit"
    return [Problem(where, f"{column} {name!r} cannot be a folder's name", remedy)]


def bad_path(file: str, name: str, where: str) -> list[Problem]:
    """Return a problem if a path, of a column or setting ``name``, leaves the study."""
    remedy = "give a path relative to the study; what lies elsewhere can be copied there, or linked from there"
    return [Problem(where, f"{name} '{file}' is not inside the study", remedy)] if leaves_study(file) else []


def leaves_study(file: str) -> bool:
    """Return whether a path leads out of the study; links inside may lead anywhere."""
    parts = Path(os.path.normpath(file)).parts if file else ("..",)
    return "\0" in file or Path(file).is_absolute() or parts[:1] == ("..",)
