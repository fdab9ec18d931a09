"""The three tables of a study: participants.tsv, trials.tsv, segments.tsv."""

from __future__ import annotations

import csv
import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from pipeline.errors import UserError, nearest

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
ROLES = ("static", "gait", "functional", "exclude")
SIDES = ("left", "right")
SEGMENTS = ("foot", "shank", "thigh")
ABSENT = ("", "n/a", "na", "nan")

ANTHROPOMETRY = (
    "marker_diameter_m",
    "asis_distance_m",
    *(
        f"{name}_{side}_m"
        for name in ("knee_width", "ankle_width", "leg_length", "asis_trochanter_distance")
        for side in SIDES
    ),
)
PARTICIPANT_COLUMNS = ("participant_id", "mass_kg", "height_m", "sex", *ANTHROPOMETRY)
TRIAL_COLUMNS = ("participant_id", "session", "trial", "file", "role", "condition", "belt_speed_m_s")
SEGMENT_COLUMNS = (
    "participant_id",
    "side",
    "segment",
    "mass_kg",
    *(f"com_{axis}_m" for axis in "xyz"),
    *(f"i{axes}_kg_m2" for axes in ("xx", "yy", "zz", "xy", "xz", "yz")),
)

# what the results call their own: a participant's column of that name would take its place
RESERVED = (
    *("cycle", "participant", "session", "trial", "condition", "side", "start_time", "end_time"),
    *("kinetics_valid", "reason", "joint", "angle", "axis", "phase"),
    *("joint_angle", "joint_moment_jcs", "joint_force", "joint_power", "ground_force"),
    *("stride_time", "stance_time", "stance_share", "cadence", "stride_length", "step_length", "step_width"),
    "walking_speed",
)

Row = dict[str, str]


def read_table(path: Path, *, required: Iterable[str], known: Iterable[str] | None = None) -> list[Row]:
    """Read a tab-separated table with a header line; cells stay text, stripped of blanks.

    Args:
        path: the table.
        required: columns that must be there.
        known: if given, the only columns that may be there.

    Raises:
        UserError: absent, not UTF-8, ragged, or with missing, unknown or repeated columns.
    """
    header, *lines = _cells(path)
    problems = _header_problems(path.name, header, tuple(required), tuple(known or ()))
    rows = []
    for number, line in enumerate(lines, start=2):
        if not any(line):
            continue
        if len(line) != len(header):
            problems.append(f"{path.name}: line {number} has {len(line)} cells, the header {len(header)}")
        rows.append(dict(zip(header, line, strict=False)))
    if problems:
        raise UserError("\n".join(problems))
    return rows


def _cells(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            lines = [[cell.strip() for cell in line] for line in csv.reader(handle, delimiter="\t")]
    except FileNotFoundError:
        raise UserError(f"{path.name}: missing from {path.parent}; 'python -m pipeline init' writes one") from None
    except UnicodeDecodeError:
        raise UserError(f"{path.name}: not UTF-8 text; save it as tab-separated UTF-8") from None
    if not lines:
        raise UserError(f"{path.name}: empty; the first line names the columns")
    return lines


def _header_problems(where: str, header: list[str], required: tuple[str, ...], known: tuple[str, ...]) -> list[str]:
    expected = known or required
    strange = [column for column in header if column not in expected]
    problems = [f"{where}: column '{name}' stands twice" for name, n in Counter(header).items() if n > 1]
    problems += [
        f"{where}: column '{name}' is missing{nearest(name, strange)}" for name in required if name not in header
    ]
    if known:
        problems += [f"{where}: unknown column '{name}'{nearest(name, known)}" for name in strange]
    return problems


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


def read_participants(path: Path) -> dict[str, Row]:
    """Return the rows of participants.tsv by participant_id.

    Raises:
        UserError: every problem found, one per line.
    """
    rows = read_table(path, required=("participant_id", "mass_kg", "height_m", "sex"))
    problems = _misspelt(rows, PARTICIPANT_COLUMNS, path.name)
    problems += [
        f"{path.name}: column '{name}' has the name of a result; call it otherwise, as 'participant_{name}'"
        for name in (rows[0] if rows else ())
        if name in RESERVED or name.startswith("peak_")
    ]
    participants: dict[str, Row] = {}
    for row in rows:
        name = row["participant_id"]
        where = f"{path.name}: {name}"
        problems += _bad_identifier(name, "participant_id", path.name)
        if name in participants:
            problems.append(f"{where} stands twice")
        if row["sex"] not in ("M", "F", "n/a", ""):
            problems.append(f"{where}: sex is '{row['sex']}', expected M, F or n/a")
        for column, low, high in (("mass_kg", 2, 400), ("height_m", 0.3, 2.6)):
            problems += _out_of_range(row, column, low, high, where)
        for column in ANTHROPOMETRY:
            problems += _out_of_range(row, column, 0, 2, where)
        participants[name] = row
    if problems:
        raise UserError("\n".join(problems))
    return participants


def read_trials(path: Path, participants: Mapping[str, Row] | None) -> dict[str, list[Row]]:
    """Return the rows of trials.tsv by session (default: the participant), in the order of the table.

    Rows of role ``exclude`` are left out. ``participants`` is None where participants.tsv could not be read.

    Raises:
        UserError: every problem found, one per line.
    """
    rows = read_table(path, required=("participant_id", "trial", "file", "role", "condition"))
    problems = _misspelt(rows, TRIAL_COLUMNS, path.name)
    sessions: dict[str, list[Row]] = {}
    for row in rows:
        row["session"] = session = row.get("session") or row["participant_id"]
        others = sessions.setdefault(session, [])
        problems += _trial_problems(row, others, participants, path)
        others.append(row)
    kept = {name: [row for row in rows if row["role"] != "exclude"] for name, rows in sessions.items()}
    for session, session_rows in kept.items():
        statics = [row["trial"] for row in session_rows if row["role"] == "static"]
        if len(statics) > 1:
            problems.append(f"{path.name}: {session} has {len(statics)} static trials ({', '.join(statics)}); keep one")
    if not any(kept.values()):
        problems.append(f"{path.name}: no trials")
    if problems:
        raise UserError("\n".join(dict.fromkeys(problems)))
    return {name: rows for name, rows in kept.items() if rows}


def _trial_problems(row: Row, others: list[Row], participants: Mapping[str, Row] | None, path: Path) -> list[str]:
    """Return what is wrong with a row of trials.tsv, given the session's rows before it."""
    session, trial = row["session"], row["trial"]
    where = f"{path.name}: {session} {trial}"
    problems = _bad_identifier(trial, "trial", path.name) + _bad_identifier(session, "session", path.name)
    if participants is not None and row["participant_id"] not in participants:
        hint = nearest(row["participant_id"], participants)
        problems.append(f"{where}: participant '{row['participant_id']}' is not in participants.tsv{hint}")
    if row["role"] not in ROLES:
        problems.append(f"{where}: role is '{row['role']}', expected one of {', '.join(ROLES)}")
    if _leaves_study(path.parent, row["file"]):
        problems.append(f"{where}: file '{row['file']}' is not inside the study")
    problems += _out_of_range(row, "belt_speed_m_s", -10, 10, where)
    if any(trial == other["trial"] for other in others):
        problems.append(f"{where} stands twice; trial names are unique within a session")
    if others and others[0]["participant_id"] != row["participant_id"]:
        problems.append(f"{where}: session '{session}' belongs to {others[0]['participant_id']} already")
    return problems


def read_segments(path: Path, participants: Mapping[str, Row]) -> dict[str, list[Row]]:
    """Return the rows of segments.tsv by participant; empty where the study has no such file.

    Raises:
        UserError: every problem found, one per line.
    """
    if not path.exists():
        return {}
    problems: list[str] = []
    segments: dict[str, list[Row]] = {}
    for row in read_table(path, required=SEGMENT_COLUMNS, known=SEGMENT_COLUMNS):
        name = row["participant_id"]
        where = f"{path.name}: {name} {row['side']} {row['segment']}"
        if name not in participants:
            problems.append(f"{where}: '{name}' is not in participants.tsv{nearest(name, participants)}")
        if row["side"] not in SIDES or row["segment"] not in SEGMENTS:
            problems.append(f"{where}: side must be one of {SIDES}, segment one of {SEGMENTS}")
        for column in SEGMENT_COLUMNS[3:]:
            lowest = 1e-6 if column == "mass_kg" else -200
            problems += _out_of_range(row, column, lowest, 200, where, required=True)
        known = segments.setdefault(name, [])
        if any(row["side"] == other["side"] and row["segment"] == other["segment"] for other in known):
            problems.append(f"{where} stands twice")
        known.append(row)
    if problems:
        raise UserError("\n".join(problems))
    return segments


def _misspelt(rows: list[Row], known: Iterable[str], where: str) -> list[str]:
    """Return a line for each column that looks like a known one with a typing error."""
    known, lines = tuple(known), []
    for name in rows[0] if rows else ():
        hint = "" if name in known else _near_miss(name, known)
        if hint and hint not in rows[0]:
            lines.append(f"{where}: unknown column '{name}'; did you mean '{hint}'?")
    return lines


def _near_miss(name: str, known: tuple[str, ...]) -> str:
    """Return the known column that ``name`` misses by a letter or two; free columns stay free."""
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.85)
    return close[0] if close else ""


def _bad_identifier(name: str, column: str, where: str) -> list[str]:
    if IDENTIFIER.fullmatch(name):
        return []
    return [f"{where}: {column} {name!r} must be letters, digits, '-' and '_', and begin with a letter or digit"]


def _out_of_range(row: Row, column: str, low: float, high: float, where: str, *, required: bool = False) -> list[str]:
    try:
        value = number(row, column, where=where)
    except UserError as error:
        return [str(error)]
    if value is None:
        return [f"{where}: {column} is missing"] if required else []
    return [] if low <= value <= high else [f"{where}: {column} is {value:g}, expected {low:g} to {high:g}"]


def _leaves_study(study: Path, file: str) -> bool:
    root = study.resolve()
    return not file or "\0" in file or not (root / file).resolve().is_relative_to(root)
