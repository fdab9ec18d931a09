"""The table corrections.tsv of a study: what a person corrects by hand, one row each, with a reason.

A correction is a row with all :data:`COLUMNS` as text, an empty cell where nothing is stated. The steps take the rows
of a trial as the argument ``corrections``, so that whoever calls a step with rows gets what a run gives. A row that
does not fit its trial is not applied, and the results say so; the trial is computed as if the row were not there.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..conventions import SAME_STRIKE_S, SIDES
from ..errors import Problem, UserError, join_some, nearest
from ..json_text import from_text, to_text
from .study_tables import MOST_LISTED
from .tsv import ABSENT, Row, hostile_cells, out_of_range, read_table, rows_of

TABLE = "corrections.tsv"
COLUMNS = ("session", "trial", "kind", "side", "time_s", "to_s", "given", "reason", "by", "date", "sha256")
OLD_TABLE, OLD_COLUMNS = "cycles.tsv", ("session", "trial", "side", "start_s", "reason")
APPLIED, NOT_APPLIED = "corrections", "corrections_not_applied"  # attributes of results: rows as JSON
WHY = "why"  # besides the columns, in a row that is not applied
UNFIT = "correction_unknown"  # code
Result = TypeVar("Result")
NO_LONGER_READ = "table_no_longer_read"
FILL_IN = "'gaitlab corrections STUDY' fills it in"
BETWEEN_MARKERS = re.compile(r"\s*,\s*")
Sessions = Mapping[str, Sequence[Mapping[str, str]]]  # rows of trials.tsv by session


class Kind(NamedTuple):
    """A kind of correction."""

    step: str  # that applies it
    words: str  # what it does, with the row's cells
    about: str = ""  # rows of kinds about the same thing, at one time, contradict each other
    needs: tuple[str, ...] = ()  # columns that it needs besides session, trial, kind, time_s and reason
    given: str = ""  # pattern of the column ``given``, if it needs that
    expected: str = ""  # what ``given`` holds, in words


_MARKERS = ("to_s", "given")
KINDS = {
    **{
        f"{do}_{event}": Kind("contacts", f"{{side}} {event.replace('_', ' ')} {words}", event, ("side", *to))
        for event in ("foot_strike", "foot_off")
        for do, words, *to in (
            ("add", "added at {time_s} s"),
            ("move", "at {time_s} s moved to {to_s} s", "to_s"),
            ("remove", "at {time_s} s removed"),
        )
    },
    "leave_out_cycle": Kind("cycles", "{side} cycle at {time_s} s left out", "cycle", ("side",)),
    "accept_contact": Kind("contacts", "{side} contact at {time_s} s accepted", "contact", ("side",)),
    "refuse_contact": Kind("contacts", "{side} contact at {time_s} s refused", "contact", ("side",)),
    "give_contact": Kind(
        *("contacts", "contact at {time_s} s on plates {given} given to the {side} foot", "plates", ("side", "given")),
        *(r"[1-9]\d{0,2}([\s,;]+[1-9]\d{0,2})*", "numbers of plates ('2', '1 2')"),
    ),
    "hide_marker": Kind(
        *("clean", "marker {given} hidden from {time_s} to {to_s} s", "marker", _MARKERS),
        *(r"[^,]+", "the label of a marker"),
    ),
    "exchange_labels": Kind(
        *("clean", "labels {given} exchanged from {time_s} to {to_s} s", "labels", _MARKERS),
        *(r"([^,]*[^,\s])\s*,(?!\s*\1\s*$)[^,]+", "two labels, with a comma between them"),
    ),
}  # fmt: skip


class UnfitError(UserError):
    """A correction that does not fit its trial."""

    def __init__(self, row: Mapping[str, str], what: str, remedy: str) -> None:
        super().__init__(where_of(row), what, f"{remedy}, or remove the row", UNFIT)
        self.row = row

    @property
    def not_applied(self) -> Row:
        """Return the row as results list it: with the reason and the remedy."""
        _, what, remedy, *_ = self.problems[0]
        return {**self.row, WHY: f"{what}; {remedy}"}


def apply_fitting(apply: Callable[..., Result], rows: Iterable[Mapping[str, str]]) -> tuple[Result, list[Row]]:
    """Return what a function makes of the corrections that fit, and those that do not, as results list them.

    The function is called again without each row that it refuses, so that its result is as if there were none.

    Args:
        apply: takes the rows as ``corrections``, and raises :class:`UnfitError`.
    """
    left, unfit = [*rows], list[Row]()
    while True:
        try:
            return apply(corrections=left), unfit
        except UnfitError as error:
            refused = error
        left = [row for row in left if row is not refused.row]
        unfit.append(refused.not_applied)


def attributes_of(unfit: Sequence[Row]) -> dict[str, str]:
    """Return the attribute of a step's result with the rows that it did not apply; none without any."""
    return {NOT_APPLIED: to_text(unfit)} if unfit else {}


def in_results(
    attributes: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, str]] = ()
) -> tuple[list[Row], list[Row]]:
    """Return the corrections that are applied in results, and those that are not, each once.

    Args:
        attributes: of the results.
        rows: further ones that a step took.
    """
    every = [attrs for attrs in attributes if APPLIED in attrs or NOT_APPLIED in attrs]
    stated = [row for attrs in every for row in from_text(attrs.get(APPLIED, ""))]
    unfit = [row for attrs in every for row in from_text(attrs.get(NOT_APPLIED, ""))]
    keys = [{name: cell for name, cell in row.items() if name != WHY} for row in unfit]
    applied = [dict(row) for row in (*stated, *rows) if row not in keys]
    return _each_once(applied), _each_once(unfit)


def _each_once(rows: Iterable[Row]) -> list[Row]:
    return [*{to_text(row): row for row in rows}.values()]


def corrections_of(path: Path, sessions: Sessions) -> tuple[dict[str, list[Row]], list[Problem]]:
    """Return the rows of corrections.tsv by session, and every problem; both are empty without such a file."""
    if not path.exists():
        return {}, []
    rows, problems = rows_of(path, required=COLUMNS[:5], allowed=COLUMNS)
    corrections = [_plain(row) for row in rows]
    problems += [*hostile_cells(corrections, path.name), *problems_of(corrections, sessions)]
    by_session: dict[str, list[Row]] = {}
    for row in corrections:
        by_session.setdefault(row["session"], []).append(row)
    return by_session, list(dict.fromkeys(problems))


def _plain(row: Mapping[str, str]) -> Row:
    """Return a row with all columns, and nothing where a cell says that something is absent."""
    cells = {name: " ".join(str(row.get(name, "")).split()) for name in COLUMNS}
    cells |= {name: cells[name].lower() for name in ("kind", "side", "sha256")}
    return {name: "" if cell.lower() in ABSENT else cell for name, cell in cells.items()}


def where_of(row: Mapping[str, str]) -> str:
    """Return the place of a correction in messages, by its key."""
    key = (row[name] for name in ("session", "trial", "side", "kind", "time_s"))
    return f"{TABLE}: {' '.join(filter(None, key))}"


def action_of(row: Mapping[str, str]) -> str:
    """Return what a correction does, in words."""
    return KINDS[row["kind"]].words.format(**row)


def in_words(row: Mapping[str, str]) -> str:
    """Return what a correction does, why, by whom and when."""
    who = ", ".join(filter(None, (row["by"], row["date"])))
    return f"{action_of(row)}: {row['reason']}" + (f" ({who})" if who else "")


def not_applied_in_words(row: Mapping[str, str]) -> str:
    """Return a correction that is not applied, as results list it, and why it is not."""
    return f"{action_of(row)}: not applied: {row[WHY]}"


def for_step(rows: Iterable[Row], step: str) -> dict[str, dict[str, list[Row]]]:
    """Return the argument ``corrections`` that a session's step takes of each trial, by name; nothing without any."""
    given: dict[str, dict[str, list[Row]]] = {}
    for row in (row for row in rows if row["kind"] in KINDS and KINDS[row["kind"]].step == step):
        given.setdefault(row["trial"], {}).setdefault("corrections", []).append(row)
    return given


def plates_in(row: Mapping[str, str]) -> list[str]:
    """Return the numbers of the plates that a correction gives."""
    return re.split(r"[\s,;]+", row["given"])


def markers_in(row: Mapping[str, str]) -> list[str]:
    """Return the labels of the markers that a correction names."""
    return BETWEEN_MARKERS.split(row["given"])


def problems_of(rows: Sequence[Row], sessions: Sessions) -> list[Problem]:
    """Return what is wrong with corrections by themselves, before anything is computed."""
    problems = [problem for row in rows for problem in _problems_of(row, sessions)]
    keys = ("session", "trial", "side")
    known = [row for row in rows if row["kind"] in KINDS and re.fullmatch(r"\d+(\.\d*)?", row["time_s"])]

    def same(row: Row) -> tuple[str, ...]:
        about = KINDS[row["kind"]].about
        return *(row[key] for key in keys), about, row["given"] if about in ("marker", "labels") else ""

    for _, group in groupby(sorted(known, key=lambda row: (same(row), float(row["time_s"]))), same):
        mine = [*group]
        for one, other in zip(mine, mine[1:], strict=False):
            if float(other["time_s"]) - float(one["time_s"]) < SAME_STRIKE_S:
                problems.append(Problem(where_of(other), f"contradicts '{in_words(one)}'", "keep one"))
    return problems


def _problems_of(row: Row, sessions: Sessions) -> Iterator[Problem]:
    where, kind = where_of(row), KINDS.get(row["kind"])
    walks = [other["trial"] for other in sessions.get(row["session"], []) if other["role"] == "gait"]
    if row["session"] not in sessions:
        remedy = nearest(row["session"], sessions) or f"expected one of {join_some([*sessions], MOST_LISTED)}"
        yield Problem(where, f"session '{row['session']}' is not in trials.tsv", remedy)
    elif row["trial"] not in walks:
        remedy = nearest(row["trial"], walks) or f"expected one of {join_some(walks, MOST_LISTED)}"
        yield Problem(where, f"'{row['trial']}' is no gait trial of the session in trials.tsv", remedy)
    yield from out_of_range(row, "time_s", 0, 1e5, where, required=True)
    if not row["reason"]:
        yield Problem(where, "reason is missing", "say why this is corrected")
    if kind is None:
        remedy = nearest(row["kind"], KINDS) or f"expected one of {', '.join(KINDS)}"
        yield Problem(where, f"kind is '{row['kind']}'", remedy)
        return
    if "side" in kind.needs and row["side"] not in SIDES:
        yield Problem(where, f"side is '{row['side']}'", f"expected {' or '.join(SIDES)}")
    if "to_s" in kind.needs:
        yield from out_of_range(row, "to_s", 0, 1e5, where, required=True)
    if "given" in kind.needs and not re.fullmatch(kind.given, row["given"]):
        yield Problem(where, f"given is '{row['given']}'", f"expected {kind.expected}")
    for name in {"side", "to_s", "given"} - {*kind.needs}:
        if row[name]:
            yield Problem(where, f"{name} is '{row[name]}', which {row['kind']} does not have", "leave the cell empty")


def changed_recordings(rows: Iterable[Row], sessions: Sessions, sha256: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a problem for each correction of a recording that is not the one it was made for.

    Args:
        sha256: of the files that exist, by their names in trials.tsv.
    """
    files = {(session, row["trial"]): row["file"] for session, mine in sessions.items() for row in mine}
    for row in rows:
        file = files.get((row["session"], row["trial"]), "")
        if not row["sha256"]:
            yield Problem(where_of(row), "sha256 of the recording is missing", FILL_IN)
        elif file in sha256 and sha256[file] != row["sha256"]:
            what = f"{file} has changed since: its SHA-256 is {sha256[file]}"
            remedy = "look whether the correction still fits; write this SHA-256, or remove the row"
            yield Problem(where_of(row), what, remedy)


def as_text(rows: Iterable[Mapping[str, str]]) -> str:
    """Return corrections as the text of the table."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerows([COLUMNS, *([*_plain(row).values()] for row in rows)])
    return text.getvalue()


def read_corrections(path: Path) -> list[Row]:
    """Return the rows of the table, or none without one, in its order; raise UserError if it is no such table."""
    rows = read_table(path, required=COLUMNS[:5], allowed=COLUMNS) if path.exists() else []
    return [_plain(row) for row in rows]


def write_corrections(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """Write the table whole, so that no reader finds half of it."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(as_text(rows), encoding="utf-8")
    partial.replace(path)


def append_corrections(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """Add rows to the table as it is now, so that rows of others, written meanwhile, stay."""
    write_corrections(path, [*read_corrections(path), *rows])


def rows_of_cycles(path: Path) -> list[Row]:
    """Return the rows of cycles.tsv, the table of earlier versions, as corrections; none without such a file."""
    rows = read_table(path, required=OLD_COLUMNS, allowed=OLD_COLUMNS) if path.exists() else []
    return [_plain({**row, "kind": "leave_out_cycle", "time_s": row["start_s"]}) for row in rows]
