"""Tables of the report, and the rows of metrics.csv and quality.csv that they count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...conventions import SIDES
from ...tables.session_table import has_changed_since_review
from ...variables.cycle_variables import IDENTITY
from ...variables.metrics import METRICS, SCORES
from ...variables.rows import GAIT_SCORES
from ...variables.schema import COLUMN_UNITS
from ...variables.stance_verdicts import DOUBTED, NOT_ON_A_PLATE, REFUSED, USED

Row = dict[str, str]
MOST_ROWS = 50  # of a table on the screen
LETTERS_OF_SHEET = 130  # in a row of a table, at 5.4 pixels each
ABSENT = "n/a"
OF_SYMMETRY = {*SIDES, "difference", "symmetry_index"}  # values in a row of symmetry.csv
DECIMAL = re.compile(r"-?\d+\.\d+")
OF_LEGS = re.compile("_width_|leg_length_|_source$")  # columns of participants.tsv that few readers look for
REVIEW = ("status", "reviewed_by", "review_date", "review_sha256", "amendments")  # columns of sessions.tsv
CHANGED = "the results have changed since the review"
PARTICIPANTS = (
    "Participant", "Data", "Sessions", "Trials used", "Plate contacts used", "Gait cycles", "with kinetics",
    "Stances without a whole cycle",
)  # fmt: skip


class Table(NamedTuple):
    """Header and rows of text; a row's first cell is its header, with a link if any.

    Columns in ``on_screen`` are not printed, nor are ``meanings``, which follow the rows with these first cells.
    ``groups`` are titles above the columns, the same for neighbours. ``marks`` are further texts of each row that a
    long table is searched for.
    """

    header: list[str]
    rows: list[list[str]]
    links: Mapping[str, str] = {}
    on_screen: Collection[int] = ()
    groups: Sequence[str] = ()
    meanings: Mapping[str, str] = {}
    marks: Sequence[list[str]] = ()

    def only(self, chosen: Iterable[int]) -> Table:
        """Return the table with only some of its columns, in this order."""
        columns = [*chosen]
        return self._replace(
            header=[self.header[i] for i in columns], rows=[[row[i] for i in columns] for row in self.rows]
        )

    @property
    def is_tight(self) -> bool:
        """Return whether the longest words above its printed columns are too many letters for a sheet of paper."""
        groups = self.groups or [""] * len(self.header)
        titles = [f"{groups[i]} {title}" for i, title in enumerate(self.header) if i not in self.on_screen]
        return sum(2 + max(map(len, ["number", *title.split()])) for title in titles) > LETTERS_OF_SHEET

    @property
    def is_long(self) -> bool:
        """Return whether a page shows some rows at a time."""
        return len(self.rows) > MOST_ROWS

    @property
    def beginning(self) -> Table:
        """Return the first rows."""
        return self._replace(rows=self.rows[:MOST_ROWS])


class Totals(NamedTuple):
    """Counts of a study, or of one participant."""

    participants: int
    sessions: int
    trials: int
    trials_rejected: int
    cycles: int
    cycles_with_kinetics: int
    stances_alone: int
    contacts: int
    contacts_used: int
    contacts_doubted: int
    doubts_used: int
    not_on_a_plate: int

    def plus(self, other: Totals) -> Totals:
        """Return the counts of both, of different participants."""
        return Totals(*map(sum, zip(self, other, strict=True)))

    @property
    def trials_used(self) -> int:
        """Return how many trials were not rejected."""
        return self.trials - self.trials_rejected

    @property
    def contacts_refused(self) -> int:
        """Return how many contacts with a plate cannot be used."""
        return self.contacts - self.contacts_used - self.contacts_doubted


def in_words(rows: list[Row]) -> str:
    """Return what participants.tsv has on a person, as ``age 27 years, mass 74 kg``, but sizes of legs and sources.

    What differs between visits, by sessions.tsv, names the visit: ``mass 33 kg (pre), 60 kg (post)``.
    """
    words = []
    for column in participants_columns(rows):
        cells: dict[str, list[str]] = {}
        for row in rows:
            visits = cells.setdefault(_shown(row[column]), [])
            if (visit := row.get("visit") or row.get("session", "")) not in visits:
                visits.append(visit)
        found = {value: visits for value, visits in cells.items() if value != ABSENT}
        if found and column not in (*REVIEW, "visit", "date") and not OF_LEGS.search(column):
            ending = next((ending for ending in COLUMN_UNITS if column.endswith(ending)), "")
            unit = COLUMN_UNITS.get(ending, "") + "s" * (ending == "_years")
            texts = [
                f"{value} {unit}".strip() + f" ({', '.join(of)})" * (len(found) > 1) for value, of in found.items()
            ]
            words.append(f"{column.removesuffix(ending).replace('_', ' ')} {', '.join(texts)}")
    return ", ".join(words)


def _shown(cell: str) -> str:
    """Return a cell as pages show it: a decimal number with at most six digits."""
    return f"{float(cell):.6g}" if DECIMAL.fullmatch(cell) else cell or ABSENT


def without_scores(rows: list[Row]) -> list[Row]:
    """Return rows of metrics.csv, participants.csv or symmetry.csv without the scores that compare with a reference."""
    scores = {name for name, score in SCORES.items() if score.group == GAIT_SCORES}
    return [
        row | dict.fromkeys((OF_SYMMETRY if row.get("metric") in scores else scores) & row.keys(), "") for row in rows
    ]


def age_years(rows: list[Row]) -> float:
    """Return a person's age at the first visit from the rows of metrics.csv, years; NaN if it is not stated."""
    try:
        return float(rows[0]["age_years"])
    except (IndexError, KeyError, ValueError):
        return float("nan")


def totals(rows: list[Row], quality: list[Row]) -> Totals:
    """Return the counts; some trials are in only one of metrics.csv (``rows``) and quality.csv.

    Doubted contacts count as used if the setting ``cycles.doubted_stances`` takes them in, which metrics.csv shows.
    """
    both = [*quality, *rows]
    cycles = of_part(rows, "cycle")
    stances = Counter(row["verdict"] for row in quality if row["side"])
    taken = stances[DOUBTED] * any(row["doubt_code"] and has_kinetics(row) for row in rows)
    return Totals(
        participants=len(names(both, "participant")),
        sessions=len(names(both, "session")),
        trials=len({(row["session"], row["trial"]) for row in both}),
        trials_rejected=len(find_rejected_trials(quality)),
        cycles=len(cycles),
        cycles_with_kinetics=sum(has_kinetics(row) for row in cycles),
        stances_alone=len(rows) - len(cycles),
        contacts=stances[USED] + stances[DOUBTED] + stances[REFUSED],
        contacts_used=stances[USED] + taken,
        contacts_doubted=stances[DOUBTED] - taken,
        doubts_used=taken,
        not_on_a_plate=stances[NOT_ON_A_PLATE],
    )


def of_part(rows: Iterable[Row], part: str) -> list[Row]:
    """Return the rows of metrics.csv that are cycles, or stances without a whole cycle."""
    return [row for row in rows if row["part"] == part]


def names(rows: Iterable[Row], column: str) -> list[str]:
    """Return the distinct cells of a column in order of appearance."""
    return list(dict.fromkeys(row[column] for row in rows))


def participants_columns(rows: list[Row]) -> list[str]:
    """Return the columns of participants.tsv that rows of metrics.csv have."""
    header = list(rows[0]) if rows else []
    return header[header.index(IDENTITY[-1]) + 1 : header.index(next(iter(METRICS)))] if rows else []


def reviews(rows: list[Row], results: Mapping[str, str]) -> dict[str, str]:
    """Return status, reviewer and amendments of each session in words; empty where sessions.tsv has none.

    Args:
        results: the SHA-256 of the results of each session.
    """
    words = {}
    for row in reversed(rows):
        status, reviewer, date, _, amendments = (
            cell if (cell := row.get(name, "")) != ABSENT else "" for name in REVIEW
        )
        by = f"reviewed by {reviewer}" if reviewer else "not reviewed" if status else ""
        by += f" on {date}" if reviewer and date else ""
        text = ", ".join(filter(None, [status, by])) + (f"; amendments: {amendments}" if amendments else "")
        changed = has_changed_since_review(row, results.get(row["session"]))
        words[row["session"]] = "; ".join(filter(None, [text.removeprefix("; "), CHANGED if changed else ""]))
    return {session: words[session] for session in names(rows, "session") if words[session]}


def statuses(rows: list[Row], results: Mapping[str, str]) -> list[str]:
    """Return the status of the sessions as one text in a list, which is for every sheet; none if no session has one.

    Args:
        results: the SHA-256 of the results of each session.
    """
    of_sessions = {
        row["session"]: (row.get("status", "") or ABSENT)
        + (", changed since the review" if has_changed_since_review(row, results.get(row["session"])) else "")
        for row in rows
    }
    stated = list(dict.fromkeys(of_sessions.values()))
    return [f"status {' / '.join(stated)}"] if {*stated} - {ABSENT} else []


def participant(name: str, state: str, rows: list[Row], quality: list[Row]) -> list[str]:
    """Return a participant's row of the table of participants; cells of sessions that differ follow each other."""
    count = totals(rows, quality)
    sessions = ", ".join(names([*quality, *rows], "session"))
    used = [f"{count.trials_used} of {count.trials}", f"{count.contacts_used} of {count.contacts}"]
    counts = map(str, (count.cycles, count.cycles_with_kinetics, count.stances_alone))
    columns, first = participants_columns(rows), {row["session"]: row for row in reversed(rows)}.values()
    of_sessions = [{column: _shown(row[column]) for column in columns} for row in reversed(first)]
    about = [" / ".join(names(of_sessions, column)) for column in columns]
    return [name, state, sessions, *used, *counts, *about]


def together(parts: Iterable[Table], links: Mapping[str, str]) -> Table:
    """Return the rows of tables under the header of the one with most columns, with links."""
    parts = [*parts]
    header = max((part.header for part in parts), key=len, default=[])
    return Table(header, [row for part in parts for row in part.rows], links)


def find_rejected_trials(quality: list[Row]) -> list[Row]:
    """Return the rows of trials that were rejected as a whole."""
    return [row for row in quality if row["verdict"] == REFUSED and not row["side"]]


def has_kinetics(cycle: Row) -> bool:
    """Return whether the kinetics of a row of metrics.csv are used."""
    return cycle["kinetics_valid"] == "True"
