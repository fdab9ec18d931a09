"""The tables of a study: participants.tsv, trials.tsv, segments.tsv.

``participants_of``, ``trials_of`` and ``segments_of`` return the readable rows and every problem; ``read_...`` raises
the problems.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from ..conventions import ARM, CHAIN, MIDDLE, SIDES
from ..errors import Problem, UserError, nearest, without_problems
from .tsv import (
    ABSENT,
    Row,
    bad_columns,
    bad_identifier,
    bad_path,
    hostile_cells,
    leaves_study,
    misspelt,
    numbers_or_text,
    out_of_range,
    rows_of,
)

ROLES = ("static", "gait", "functional", "emg_reference", "equipment", "exclude")

# plausible sizes of people from one year up, and of markers; values outside are in another unit or mistyped
SIZE_RANGES = {"mass_kg": (2, 400), "height_m": (0.3, 2.6)}
ANTHROPOMETRY_RANGES = {
    "marker_diameter_m": (0.002, 0.06),
    "asis_distance_m": (0.05, 0.6),
    **{f"knee_width_{side}_m": (0.02, 0.3) for side in SIDES},
    **{f"ankle_width_{side}_m": (0.02, 0.2) for side in SIDES},
    **{f"leg_length_{side}_m": (0.15, 1.5) for side in SIDES},
    **{f"asis_trochanter_distance_{side}_m": (0.005, 0.3) for side in SIDES},
    **{f"shoulder_offset_{side}_m": (0.01, 0.12) for side in SIDES},
    **{f"elbow_width_{side}_m": (0.02, 0.2) for side in SIDES},
    **{f"wrist_width_{side}_m": (0.01, 0.15) for side in SIDES},
    **{f"hand_thickness_{side}_m": (0.005, 0.1) for side in SIDES},
}
ANTHROPOMETRY = tuple(ANTHROPOMETRY_RANGES)
PARTICIPANT_COLUMNS = ("participant_id", "mass_kg", "height_m", "sex", *ANTHROPOMETRY)
NO_COORDINATES = ("participant_id", "session", "guessed")  # of study.nc under these names
# of sessions.tsv; text in results, also if all cells are numbers
VISIT_COLUMNS = (*("visit", "date", "assessor", "reviewed_by", "review_date", "review_sha256", "status", "amendments"),)
PLATE_COLUMNS = tuple(f"plates_{side}" for side in SIDES)
NO_PLATE = "none"
HANDS = "hands_bear_weight"
SLOPE, STEEPEST_DEG = "slope_degrees", 45
ANSWERS = {"yes": True, "true": True, "no": False, "false": False}
NO_GROUP = "no group"  # of people without a cell in the column group
MARKER_FILES, FORCE_FILES = (".trc",), (".mot", ".sto")  # text files of OpenSim; other recordings are C3D files
TRIAL_COLUMNS = (
    *("participant_id", "session", "trial", "file", "forces", "role", "condition"),
    *("belt_speed_m_s", "subject", *PLATE_COLUMNS, HANDS, SLOPE),
)
MOST_LISTED = 6  # names in a message
DATE_COLUMNS = ("acq_time", "date")
SEGMENT_COLUMNS = (
    "participant_id",
    "side",
    "segment",
    "mass_kg",
    *(f"com_{axis}_m" for axis in "xyz"),
    *(f"i{axes}_kg_m2" for axes in ("xx", "yy", "zz", "xy", "xz", "yz")),
)
AGE_RANGE = {"age_years": (0, 120)}
ZERO = re.compile(r"0(\.0*)?")


def refuse_no_study(path: Path) -> None:
    """Refuse a folder without study.yaml."""
    if (path / "study.yaml").is_file():
        return
    if path.is_file():
        raise UserError(str(path), "is a file", f"give the study's folder: {path.parent}")
    if not path.is_dir():
        raise UserError(str(path), "no such folder", "give the folder of a study")
    similar = [file.name for file in sorted(path.iterdir()) if file.name.lower().startswith("study.y")]
    remedy = f"rename {similar[0]}" if similar else "give a study's folder; 'gaitlab init' writes one"
    raise UserError(str(path), "no study.yaml there", remedy)


def read_participants(path: Path, *, reserved: Container[str] = ()) -> dict[str, Row]:
    """Return :func:`participants_of` a table; raise UserError with every problem."""
    return without_problems(participants_of(path, reserved=reserved))


def participants_of(path: Path, *, reserved: Container[str] = ()) -> tuple[dict[str, Row], list[Problem]]:
    """Return the rows of participants.tsv by id, and every problem; results use the ``reserved`` names of columns."""
    rows, problems = rows_of(path, required=("participant_id", "mass_kg", "height_m", "sex"))
    problems += misspelt(rows, (*PARTICIPANT_COLUMNS, "age_years", "subject"), path.name)
    problems += [*hostile_cells(rows, path.name), *bad_columns(rows, path.name, reserved)]
    participants: dict[str, Row] = {}
    for row in rows:
        name = row["participant_id"]
        where = f"{path.name}: {name}"
        row["sex"] = row["sex"].upper() if row["sex"] in ("m", "f") else row["sex"]
        problems += bad_identifier(name, "participant_id", path.name)
        if name in participants:
            problems.append(Problem(where, "two rows", "keep one"))
        if row["sex"] not in ("M", "F", "n/a", ""):
            problems.append(Problem(where, f"sex is '{row['sex']}'", "expected M, F or n/a"))
        problems += find_wrong_sizes(row, where)
        participants.setdefault(name, row | with_true_source(row))
    if not rows and not problems:
        problems.append(Problem(path.name, "no participants", "add a row for each"))
    return participants, list(dict.fromkeys(problems))


def find_wrong_sizes(row: Row, where: str) -> Iterator[Problem]:
    """Yield a problem for each size, or age, in a row that no person has; 0 counts as absent."""
    for column, (low, high) in (SIZE_RANGES | ANTHROPOMETRY_RANGES | AGE_RANGE).items():
        if not ZERO.fullmatch(row.get(column, "")):
            yield from out_of_range(row, column, low, high, where)


def _float(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def source_of_mass(words: str, mass_kg: float) -> str:
    """Return the cell ``mass_source`` of a mass that ``init`` has found: how, and the mass itself."""
    return f"{words}, {mass_kg:.6g} kg"


def with_true_source(row: Row) -> Row:
    """Return the cell ``mass_source`` of a row if the mass beside it was changed by hand; else nothing."""
    found = re.search(r", ([\d.]+) kg$", row.get("mass_source", ""))
    if not found or _float(row.get("mass_kg", "")) == _float(found[1]):
        return {}
    return {"mass_source": f"changed by hand, before: {row['mass_source']}"}


def read_trials(path: Path, participants: Mapping[str, Row] | None) -> dict[str, list[Row]]:
    """Return :func:`trials_of` a table; raise UserError with every problem."""
    return without_problems(trials_of(path, participants))


def trials_of(path: Path, participants: Mapping[str, Row] | None) -> tuple[dict[str, list[Row]], list[Problem]]:
    """Return the rows of trials.tsv by session, in table order, and every problem.

    Rows with role ``exclude`` and rows with a file outside the study are left out.

    Args:
        path: the table; a row without a session belongs to the session named after its participant.
        participants: rows of participants.tsv, or None if it cannot be read.
    """
    rows, problems = rows_of(path, required=("participant_id", "trial", "file", "role", "condition"))
    problems += [*misspelt(rows, TRIAL_COLUMNS, path.name), *hostile_cells(rows, path.name)]
    sessions: dict[str, list[Row]] = {}
    for row in rows:
        row["session"] = session = row.get("session") or row["participant_id"]
        row["role"] = row["role"].lower()
        row.update({name: file.replace("\\", "/") for name, file in _paths(row).items()})
        others = sessions.setdefault(session, [])
        problems += _trial_problems(row, others, participants, path.name)
        others.append(row)
    kept = {name: [row for row in mine if row["role"] != "exclude"] for name, mine in sessions.items()}
    for session, mine in kept.items():
        statics = [row["trial"] for row in mine if row["role"] == "static"]
        if len(statics) > 1:
            what = f"{len(statics)} static trials ({', '.join(statics)})"
            problems.append(Problem(f"{path.name}: {session}", what, "keep one"))
    if not any(kept.values()) and not problems:
        problems.append(Problem(path.name, "no trials", "add a row for each, with another role than exclude"))
    inside = {name: [row for row in mine if not any(map(leaves_study, files_of(row)))] for name, mine in kept.items()}
    return {name: mine for name, mine in inside.items() if mine}, list(dict.fromkeys(problems))


def files_of(row: Mapping[str, str]) -> list[str]:
    """Return the files of a trial: its recording, and that with its forces and their external loads, which may be."""
    return [*_paths(row).values(), *filter(None, [external_loads_of(row)])]


def forces_of(row: Mapping[str, str]) -> str:
    """Return the file with a trial's forces, or an empty text if the recording itself holds what there is."""
    return _paths(row).get("forces", "")


def external_loads_of(row: Mapping[str, str]) -> str:
    """Return where OpenSim's external loads of a trial's forces are, if they are any; empty if it has no such file."""
    forces = forces_of(row)
    return str(PurePosixPath(forces).with_suffix(".xml")) if Path(forces).suffix.lower() in FORCE_FILES else ""


def _paths(row: Mapping[str, str]) -> dict[str, str]:
    forces = row.get("forces", "")
    return {"file": row["file"]} | ({} if forces.lower() in ABSENT else {"forces": forces})


def person_of(row: Mapping[str, str], participants: Mapping[str, Row]) -> dict[str, str]:
    """Return the ``subject`` and ``participant`` of a trial. They choose among several people in one file."""
    person = row["participant_id"]
    named = (cells.get("subject", "") for cells in (row, participants.get(person, {})))
    return {"subject": next((name for name in named if name.lower() not in ABSENT), ""), "participant": person}


def days_of_recording(rows: Iterable[Row], participant: Row) -> str:
    """Return the days on which a session was recorded, as trials.tsv, else participants.tsv, states them; else empty.

    They are in the column ``acq_time``, the date and time of BIDS (``2024-05-12T09:30:00``), or ``date``.
    """
    for cells in ([row.get(name, "") for row in table for name in DATE_COLUMNS] for table in (rows, [participant])):
        days = dict.fromkeys(cell.partition("T")[0] for cell in cells if cell.lower() not in ABSENT)
        if days:
            return ", ".join(days)
    return ""


def columns_of_people(people: Mapping[str, Row]) -> dict[str, dict[str, float | str]]:
    """Return the columns of participants.tsv that results have: numbers if all cells are numbers or absent, else text.

    Args:
        people: rows of participants.tsv without ``subject``, by participant; or by session, with the cells of
            sessions.tsv if there is one.
    """
    first = next(iter(people.values()))
    texts = VISIT_COLUMNS if "session" in first else ()
    columns = {name: [str(row[name]) for row in people.values()] for name in first if name not in NO_COORDINATES}
    cells = {name: column if name in texts else numbers_or_text(column) for name, column in columns.items()}
    return {name: dict(zip(people, column, strict=True)) for name, column in cells.items()}


def plate_numbers(cell: str) -> tuple[int, ...] | None:
    """Return the plates under a foot, from its cell; None if not stated.

    The cell holds numbers, counted from 1 as in the file, separated by blanks or commas (``2``, ``1 2``); ``none``
    for no plate; ``n/a`` or nothing if not stated. Anything else is a ValueError.
    """
    text = cell.strip().lower()
    if text in ABSENT:
        return None
    if text == NO_PLATE:
        return ()
    words = re.split(r"[\s,;]+", text)
    if len(set(words)) < len(words) or not all(re.fullmatch(r"[1-9][0-9]{0,2}", word) for word in words):
        raise ValueError(cell)
    return tuple(int(word) for word in words)


def plates_in_row(row: Mapping[str, str]) -> dict[str, str]:
    """Return the plates that a row of trials.tsv states, '1 2' or 'none', by column."""
    given = {column: plate_numbers(row.get(column, "")) for column in PLATE_COLUMNS}
    return {column: " ".join(map(str, numbers)) or NO_PLATE for column, numbers in given.items() if numbers is not None}


def hands_in_row(row: Mapping[str, str]) -> dict[str, bool]:
    """Return whether hands bear weight in a trial, by column, as its row of trials.tsv states it; else nothing."""
    cell = row.get(HANDS, "").lower()
    return {HANDS: ANSWERS[cell]} if cell in ANSWERS else {}


def slope_in_row(row: Mapping[str, str]) -> dict[str, float]:
    """Return the slope of a trial's axes, degrees, by column, as its row of trials.tsv states it; else nothing."""
    stated = None if row.get(SLOPE, "").lower() in ABSENT else _float(row[SLOPE])
    return {} if stated is None else {SLOPE: stated}


def _trial_problems(
    row: Row, others: list[Row], participants: Mapping[str, Row] | None, table: str
) -> Iterator[Problem]:
    """Yield the problems of a row, given the session's rows before it."""
    session, trial, person = row["session"], row["trial"], row["participant_id"]
    where = f"{table}: {session} {trial}"
    yield from bad_identifier(trial, "trial", table) + bad_identifier(session, "session", table)
    if person.lower() in ABSENT:
        remedy = "give the participant's: one id for all visits of one person"
        yield Problem(f"{table}: {session}", "participant_id is missing", remedy)
    elif participants is not None and person not in participants:
        remedy = nearest(person, participants) or "add a row there"
        yield Problem(where, f"participant '{person}' is not in participants.tsv", remedy)
    if row["role"] not in ROLES:
        yield Problem(where, f"role is '{row['role']}'", f"expected one of {', '.join(ROLES)}")
    if row["role"] == "gait" and row["condition"] == "n/a":
        yield Problem(where, "condition is missing", "give it one, the same for trials that may be averaged")
    yield from _file_problems(row, where)
    yield from out_of_range(row, "belt_speed_m_s", -10, 10, where)
    for column in PLATE_COLUMNS:
        try:
            plate_numbers(row.get(column, ""))
        except ValueError:
            remedy = "expected plate numbers ('2', '1 2'), 'none' or n/a"
            yield Problem(where, f"{column} is '{row[column]}'", remedy)
    yield from out_of_range(row, SLOPE, -STEEPEST_DEG, STEEPEST_DEG, where)
    if (hands := row.get(HANDS, "")).lower() not in {*ABSENT, *ANSWERS}:
        yield Problem(where, f"{HANDS} is '{hands}'", "expected yes, no or n/a")
    if any(trial == other["trial"] for other in others):
        yield Problem(where, "two trials of this name in the session", "rename one")
    if others and others[0]["participant_id"] != person:
        what = f"session '{session}' belongs to {others[0]['participant_id']} already"
        yield Problem(where, what, "give each person sessions of their own")


def _file_problems(row: Row, where: str) -> Iterator[Problem]:
    """Yield the problems of a trial's recording and of the file with its forces."""
    for column, file in _paths(row).items():
        yield from bad_path(file, column, where)
    if forces := forces_of(row):
        if Path(row["file"]).suffix.lower() not in MARKER_FILES:
            what = f"forces '{forces}' are given beside {row['file']}, which is no TRC file"
            yield Problem(where, what, "leave forces empty: a C3D file holds its own")
        elif Path(forces).suffix.lower() not in FORCE_FILES:
            what = f"forces '{forces}' is not a {' or '.join(FORCE_FILES)} file"
            yield Problem(where, what, "give OpenSim's file of ground reaction forces, or n/a")


def read_segments(path: Path, participants: Mapping[str, Row]) -> dict[str, list[Row]]:
    """Return :func:`segments_of` a table; raise UserError with every problem."""
    return without_problems(segments_of(path, participants))


def segments_of(path: Path, participants: Mapping[str, Row]) -> tuple[dict[str, list[Row]], list[Problem]]:
    """Return the rows of segments.tsv by participant, and every problem. Both are empty without such a file."""
    if not path.exists():
        return {}, []
    segments: dict[str, list[Row]] = {}
    rows, problems = rows_of(path, required=SEGMENT_COLUMNS, allowed=SEGMENT_COLUMNS)
    for row in rows:
        name = row["participant_id"]
        where = f"{path.name}: {name} {row['side']} {row['segment']}"
        if name not in participants:
            remedy = nearest(name, participants) or "add a row there"
            problems.append(Problem(where, f"'{name}' is not in participants.tsv", remedy))
        whole = row["segment"] in MIDDLE and row["side"].lower() in ABSENT
        if not whole and (row["side"] not in SIDES or row["segment"] not in (*CHAIN, *ARM)):
            remedy = (
                f"expected side {' or '.join(SIDES)}, segment {', '.join((*CHAIN, *ARM))}; or side n/a, segment "
                f"{' or '.join(MIDDLE)}"
            )
            problems.append(Problem(where, "unknown side or segment", remedy))
        for column in SEGMENT_COLUMNS[3:]:
            lowest = 1e-6 if column == "mass_kg" else -200
            problems += out_of_range(row, column, lowest, 200, where, required=True)
        others = segments.setdefault(name, [])
        if any(other["segment"] == row["segment"] and (whole or other["side"] == row["side"]) for other in others):
            problems.append(Problem(where, "two rows", "keep one"))
        others.append(row)
    return segments, list(dict.fromkeys(problems))
