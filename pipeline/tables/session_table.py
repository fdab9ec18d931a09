"""The table sessions.tsv of a study, which may be absent: date, visit, assessor and sizes of each session.

A size of a session that has a row is looked up here, then in the files of the session, then in participants.tsv, so
that no size of one visit reaches another. Without a row, participants.tsv comes before the files.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from ..errors import Problem, join_some, nearest
from .study_tables import (
    AGE_RANGE,
    ANTHROPOMETRY,
    DATE_COLUMNS,
    MOST_LISTED,
    SIZE_RANGES,
    VISIT_COLUMNS,
    ZERO,
    find_wrong_sizes,
    with_true_source,
)
from .tsv import ABSENT, Row, bad_columns, hostile_cells, misspelt, rows_of

SOURCES = {"mass_source": "mass_kg", "width_source": "_width_", "leg_length_source": "leg_length_"}  # of sizes so named
SIZES = (*SIZE_RANGES, *ANTHROPOMETRY, *SOURCES)
BIDS_NAMES = {"session_id": "session", "acq_time": "date"}
NUMBER = "visit_number"  # the place of a visit among those of its person
KNOWN = ("participant_id", "session", NUMBER, *BIDS_NAMES, *VISIT_COLUMNS, *SIZES, *AGE_RANGE)
FEWEST_DIGITS = 12  # of a SHA-256
SHA256 = re.compile(rf"[0-9a-fA-F]{{{FEWEST_DIGITS},64}}")
OF_A_REVIEW = {  # what a final session needs, and what to do
    "reviewed_by": "say who reviewed the results",
    "review_date": "write year, month and day of the review, such as 2024-05-12",
    "review_sha256": f"write the SHA-256 of the results from the person's page, or its first {FEWEST_DIGITS} digits",
}
STATUSES = ("draft", "preliminary", "final", "amended")
OF_PEOPLE = ("sex", "subject")
DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d.*)?")
DIGITS = re.compile(r"\d+(\.0+)?")  # also as spreadsheets write them
DAY = re.compile(r"\d{4}-\d\d-\d\d")


def sessions_of(
    path: Path, participants: Mapping[str, Row], sessions: Mapping[str, list[Row]], *, reserved: Container[str] = ()
) -> tuple[dict[str, Row], list[Problem]]:
    """Return the rows of sessions.tsv by session, in its order, and every problem. Both are empty without such a file.

    The columns ``session_id`` and ``acq_time`` of BIDS are read as ``session`` and ``date``. Rows of sessions without
    a trial in use are left out.

    Args:
        participants: rows of participants.tsv.
        sessions: rows of trials.tsv by session.
        reserved: names that results use.
    """
    if not path.exists():
        return {}, []
    found, problems = rows_of(path, required=("participant_id",))
    problems += [
        *misspelt(found, [name for name in KNOWN if name != NUMBER], path.name),
        *hostile_cells(found, path.name),
    ]
    problems += _column_problems(found, path.name, reserved)
    trials, _ = rows_of(path.with_name("trials.tsv"), required=("participant_id",))
    owners = {row.get("session") or row["participant_id"]: row["participant_id"] for row in trials}  # in use or not
    rows: dict[str, Row] = {}
    for cells in found:
        row = {BIDS_NAMES.get(name, name): cell for name, cell in cells.items()}
        # as written, without BIDS's ``ses-``, or after the person
        person, name = row["participant_id"], row.get("session", "")
        name = person if name.lower() in ABSENT else name
        bare = name.removeprefix("ses-")
        row["session"] = name = next(
            (one for one in (name, bare, f"{person}_{bare}") if owners.get(one) == person), name
        )
        row |= {"status": row["status"].lower()} if "status" in row else {}
        where = f"{path.name}: {row['participant_id']} {name}"
        problems += _row_problems(row, owners, participants, where)
        if name in rows:
            problems.append(Problem(where, "two rows", "keep one"))
        rows.setdefault(name, row | with_true_source(row))
    rows = {name: row for name, row in rows.items() if name in sessions}
    return rows, list(dict.fromkeys([*problems, *_unordered(sessions, rows, path.name)]))


def in_order_of_visits(sessions: Mapping[str, list[Row]], rows: Mapping[str, Row]) -> dict[str, list[Row]]:
    """Return sessions with those of each person in the order of their visits, if sessions.tsv has rows.

    It is that of ``visit_number`` if all sessions of the person have one, else of their dates, then of sessions.tsv. A
    date is that of sessions.tsv, else the first in trials.tsv; sessions without one come last.
    """
    if not rows:
        return dict(sessions)
    places = {name: place for place, name in enumerate(dict.fromkeys([*rows, *sessions]))}
    ordered: dict[str, Iterator[str]] = {}
    for person, names in _sessions_by_person(sessions).items():
        numbers = _visit_numbers(names, rows) or [0.0] * len(names)
        dates = [_first_date(name, sessions, rows) for name in names]
        keys = zip(numbers, [not day for day in dates], dates, [places[name] for name in names], names, strict=True)
        ordered[person] = iter([name for *_, name in sorted(keys)])
    names_in_order = [next(ordered[of_session[0]["participant_id"]]) for of_session in sessions.values()]
    return {name: sessions[name] for name in names_in_order}


def visits_in_order(participant: str, recorded: Mapping[str, str], rows: Mapping[str, Row]) -> list[tuple[str, str]]:
    """Return session and visit of a person's sessions, the visits in their order.

    A session without a visit in sessions.tsv is one; its name goes without the participant's before it.

    Args:
        recorded: the days of each session, in the order of :func:`in_order_of_visits`. Without
            sessions.tsv they give the order if all sessions have some.
        rows: of sessions.tsv by session.
    """
    by_day = not rows and all(map(DAY.match, recorded.values()))
    ordered = sorted(recorded, key=recorded.__getitem__) if by_day else [*recorded]
    stated = {name: rows.get(name, {}).get("visit", "") for name in ordered}
    return [
        (name, name.removeprefix(f"{participant}_") if visit.lower() in ABSENT else visit)
        for name, visit in stated.items()
    ]


def visits_of_people(people: Sequence[list[tuple[str, str]]], rows: Mapping[str, Row]) -> list[tuple[str, str]]:
    """Return session and visit of all sessions, the first visits first; empty if nobody has several.

    What people share is the name of a visit in sessions.tsv, else its number.

    Args:
        people: :func:`visits_in_order` of each.
        rows: of sessions.tsv by session.
    """
    named: list[tuple[int, str, str]] = []
    for own in people:
        numbers = {visit: number for number, visit in enumerate(dict.fromkeys(visit for _, visit in own), 1)}
        for session, visit in own:
            is_named = rows.get(session, {}).get("visit", "").lower() not in ABSENT
            named.append((numbers[visit], session, visit if is_named else f"visit {numbers[visit]}"))
    if all(number == 1 for number, *_ in named):
        return []
    last = {visit: number for number, _, visit in sorted(named)}
    return [(session, visit) for _, session, visit in sorted(named, key=lambda one: last[one[2]])]


def cells_in_results(participant: Row, session: str, rows: Mapping[str, Row]) -> Row:
    """Return a row of participants.tsv with the cells of a session in sessions.tsv, as results have them.

    A session without a row, or without a cell, has that of participants.tsv, else n/a; its visit is the session itself.
    Without sessions.tsv the row is that of participants.tsv.
    """
    own = rows.get(session, {})
    columns = [name for row in [*rows.values()][:1] for name in row if name not in ("participant_id", "guessed")]
    cells = {name: own.get(name, "") for name in columns}
    default = dict.fromkeys(columns, "n/a") | {"visit": session}
    given = {name: cell for name, cell in cells.items() if cell.lower() not in ABSENT}
    return {**participant, **{name: given.get(name) or participant.get(name) or default[name] for name in columns}}


def sizes_in(row: Mapping[str, str]) -> Row:
    """Return the sizes in a row, and their sources; 0 counts as absent."""
    cells = {name: row.get(name, "") for name in SIZES}
    return {name: cell for name, cell in cells.items() if cell.lower() not in ABSENT and not ZERO.fullmatch(cell)}


def row_with_sizes(
    participant: Mapping[str, str], own: Mapping[str, str] | None, stated: Container[str]
) -> Mapping[str, str]:
    """Return a row of participants.tsv with the sizes that win over those that the files of a session state.

    Args:
        own: :func:`sizes_in` the session's row of sessions.tsv; None without a row, then all of ``participant`` win.
        stated: the sizes that the files state.
    """
    if own is None:
        return participant
    kept = {name: cell for name, cell in participant.items() if name not in stated and name not in own}
    lost = {source for source, part in SOURCES.items() if not any(part in name for name in sizes_in(kept))}
    return {name: cell for name, cell in kept.items() if name not in lost} | {**own}


def _unordered(sessions: Mapping[str, list[Row]], rows: Mapping[str, Row], table: str) -> Iterator[Problem]:
    """Yield people of whom it is not known, in a table with numbers of visits, which one came first."""
    has_numbers = any(NUMBER in row for row in rows.values())
    for person, names in _sessions_by_person(sessions).items() if has_numbers else ():
        where, stated = f"{table}: {person}", [rows.get(name, {}).get("visit", "") for name in names]
        visits = [name if cell.lower() in ABSENT else cell for name, cell in zip(names, stated, strict=True)]
        if len({*visits}) < 2:
            continue
        dates = [_first_date(name, sessions, rows) for name in names]
        numbers = _visit_numbers(names, rows)
        if not numbers and not all(dates):
            what = "which visit came first is not known, so that a change would have no sign"
            remedy = f"fill in {NUMBER} (1, 2, ...) of each session, or the date of each visit"
            yield Problem(where, what, remedy, "order_of_visits_unknown")
        if numbers and len({*zip(visits, numbers, strict=True)}) > len({*numbers}):
            yield Problem(where, f"two visits have one {NUMBER}", "give each its own", "order_of_visits_unknown")
        pairs = itertools.permutations(zip(dates, numbers, strict=False), 2) if all(dates) else ()
        if any(first < second and number > other for (first, number), (second, other) in pairs):
            what = f"dates and {NUMBER} give the visits two orders"
            yield Problem(where, what, "correct one of both", "order_of_visits_unknown")


def _sessions_by_person(sessions: Mapping[str, list[Row]]) -> dict[str, list[str]]:
    people: dict[str, list[str]] = defaultdict(list)
    for name, rows in sessions.items():
        people[rows[0]["participant_id"]].append(name)
    return people


def _visit_numbers(names: Sequence[str], rows: Mapping[str, Row]) -> list[float]:
    """Return the number of the visit of each session, none unless all sessions have one."""
    cells = [rows.get(name, {}).get(NUMBER, "") for name in names]
    return [*map(float, cells)] if all(map(DIGITS.fullmatch, cells)) else []


def _first_date(name: str, sessions: Mapping[str, list[Row]], rows: Mapping[str, Row]) -> str:
    """Return the date of a session in sessions.tsv, else the first in trials.tsv, empty without one."""
    dates = [rows.get(name, {}).get("date", "")]
    if dates[0].lower() in ABSENT:
        dates = [row.get(column, "") for row in sessions[name] for column in DATE_COLUMNS]
    return min(filter(DATE.fullmatch, dates), default="")


def _column_problems(rows: list[Row], table: str, reserved: Container[str]) -> Iterator[Problem]:
    """Yield the problems of column names."""
    header = rows[0] if rows else {}
    others = {name: "" for name in header if name not in BIDS_NAMES and name != "session"}
    yield from bad_columns([others], table, reserved)
    for name in OF_PEOPLE:
        if name in header:
            yield Problem(table, f"column '{name}' is about a person, not a session", "move it to participants.tsv")
    for name, meaning in BIDS_NAMES.items():
        if name in header and meaning in header:
            yield Problem(table, f"columns '{name}' and '{meaning}' mean the same", "keep one")
    if header and not {"session", "session_id"} & header.keys():
        yield Problem(table, "column 'session' is missing", "add it, with the sessions of trials.tsv")


def _row_problems(
    row: Row, owners: Mapping[str, str], participants: Mapping[str, Row], where: str
) -> Iterator[Problem]:
    """Yield the problems of a row."""
    person, name = row["participant_id"], row["session"]
    if person not in participants:
        remedy = nearest(person, participants) or "add a row there"
        yield Problem(where, f"participant '{person}' is not in participants.tsv", remedy)
    elif name not in owners:
        mine = [session for session, owner in owners.items() if owner == person] or [*owners]
        remedy = nearest(name, mine) or f"expected one of {join_some(mine, MOST_LISTED)}"
        yield Problem(where, f"session '{name}' is not in trials.tsv", remedy)
    elif owners[name] != person:
        yield Problem(where, f"session '{name}' belongs to {owners[name]} in trials.tsv", "correct one of both tables")
    yield from find_wrong_sizes(row, where)
    if (number := row.get(NUMBER, "")).lower() not in ABSENT and not DIGITS.fullmatch(number):
        what = f"{NUMBER} is '{number}'"
        yield Problem(where, what, "write 1 for the first visit of the person, 2 for the next, ...")
    yield from _review_problems(row, where)
    for name in ("date", "review_date"):
        cell = row.get(name, "")
        if cell.lower() not in ABSENT and not _is_date(cell):
            yield Problem(where, f"{name} is '{cell}'", "write year, month and day, such as 2024-05-12, or n/a")


def _review_problems(row: Row, where: str) -> Iterator[Problem]:
    """Yield the problems of status, review and amendments."""
    status, digest = row.get("status", ""), row.get("review_sha256", "")
    if status not in (*STATUSES, *ABSENT):
        yield Problem(where, f"status is '{status}'", f"expected one of {', '.join(STATUSES)}, or n/a")
    if status == "amended" and row.get("amendments", "").lower() in ABSENT:
        yield Problem(where, "amended, but amendments are missing", "say when, by whom and what was amended")
    for name, remedy in OF_A_REVIEW.items() if status == "final" else ():
        if row.get(name, "").lower() in ABSENT:
            yield Problem(where, f"final, but {name} is missing", f"{remedy}; or choose another status")
    if digest.lower() not in ABSENT and not SHA256.fullmatch(digest):
        remedy = f"expected {FEWEST_DIGITS} to 64 digits of a SHA-256, or n/a"
        yield Problem(where, f"review_sha256 is '{digest}'", remedy)


def _is_date(cell: str) -> bool:
    with suppress(ValueError):
        return bool(DATE.fullmatch(cell) and datetime.fromisoformat(cell))
    return False


def has_changed_since_review(row: Mapping[str, str], sha256: str | None) -> bool:
    """Return whether the results of a session, with a SHA-256 now, are others than a row says were reviewed."""
    reviewed = row.get("review_sha256", "").lower()
    return reviewed not in ABSENT and sha256 is not None and not sha256.startswith(reviewed)
