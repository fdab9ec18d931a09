"""Tables of the report, and what they count in metrics.csv and quality.csv, which are pandas' tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...conventions import SIDES
from ...tables.session_table import has_changed_since_review
from ...variables.cycle_variables import IDENTITY
from ...variables.metrics import METRICS, SCORES
from ...variables.rows import GAIT_SCORES
from ...variables.schema import COLUMN_UNITS
from ...variables.stance_verdicts import DOUBTED, NOT_ON_A_PLATE, REFUSED, USED

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


def in_words(rows: pd.DataFrame) -> str:
    """Return what participants.tsv has on a person, as ``age 27 years, mass 74 kg``, but sizes of legs and sources.

    What differs between visits, by sessions.tsv, names the visit: ``mass 33 kg (pre), 60 kg (post)``.
    """
    words, sessions = [], rows["session"].tolist()
    visits = [visit or session for visit, session in zip(rows.get("visit", sessions), sessions, strict=True)]
    for column in participants_columns(rows):
        found: dict[str, dict[str, None]] = {}
        for cell, visit in zip(map(_shown, rows[column]), visits, strict=True):
            if cell != ABSENT:
                found.setdefault(cell, {})[visit] = None
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


def without_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of metrics.csv, participants.csv or symmetry.csv without the scores that compare with a reference."""
    scores = {name for name, score in SCORES.items() if score.group == GAIT_SCORES}
    if "metric" not in rows:
        without, places = rows.copy(), [i for i, name in enumerate(rows) if name in scores]
        without.isetitem(places, np.full((len(rows), len(places)), np.nan))
        return without.copy()  # in one piece, which is faster to filter
    is_score = np.array([name in scores for name in rows["metric"]], dtype=bool)
    return rows.assign(**{name: np.where(is_score, np.nan, rows[name]) for name in OF_SYMMETRY})


def ages_of(rows: pd.DataFrame) -> dict[str, float]:
    """Return a person's age at each session from the rows of metrics.csv, years; NaN if it is not stated."""
    stated = rows["age_years"] if "age_years" in rows else [""] * len(rows)
    return dict(zip(rows["session"], pd.to_numeric([*stated], errors="coerce").tolist(), strict=True))


def age_years(rows: pd.DataFrame) -> float:
    """Return a person's age at the first visit as of :func:`ages_of`."""
    return next(iter(ages_of(rows).values()), np.nan)


def totals(rows: pd.DataFrame, quality: pd.DataFrame) -> Totals:
    """Return the counts; some trials are in only one of metrics.csv (``rows``) and quality.csv.

    Doubted contacts count as used if the setting ``cycles.doubted_stances`` takes them in, which metrics.csv shows.
    """
    is_cycle, valid = rows["part"].to_numpy() == "cycle", rows["kinetics_valid"].to_numpy()
    verdicts, of_stance = quality["verdict"].to_numpy(), quality["side"].to_numpy() != ""
    stances = Counter(verdicts[of_stance].tolist())
    taken = stances[DOUBTED] * bool((valid & (rows["doubt_code"].to_numpy() != "")).any())
    trials = {*chain.from_iterable(zip(one["session"], one["trial"], strict=True) for one in (quality, rows))}
    return Totals(
        participants=len({*quality["participant"], *rows["participant"]}),
        sessions=len({session for session, _ in trials}),
        trials=len(trials),
        trials_rejected=int(((verdicts == REFUSED) & ~of_stance).sum()),
        cycles=int(is_cycle.sum()),
        cycles_with_kinetics=int((is_cycle & valid).sum()),
        stances_alone=int((~is_cycle).sum()),
        contacts=stances[USED] + stances[DOUBTED] + stances[REFUSED],
        contacts_used=stances[USED] + taken,
        contacts_doubted=stances[DOUBTED] - taken,
        doubts_used=taken,
        not_on_a_plate=stances[NOT_ON_A_PLATE],
    )


def of_part(rows: pd.DataFrame, part: str) -> pd.DataFrame:
    """Return the rows of metrics.csv that are cycles, or stances without a whole cycle."""
    return rows[(rows["part"] == part).to_numpy()]


def with_index_of(rows: pd.DataFrame, texts: Iterable[str]) -> pd.Series:
    """Return texts, one for each row, as a column of the same kind as those that are read."""
    return pd.Series([*texts], rows.index, dtype=object)


def sessions_in(*rows: pd.DataFrame) -> list[str]:
    """Return the sessions of tables, each once, in order of appearance."""
    return [*dict.fromkeys(chain.from_iterable(each["session"] for each in rows))]


def participants_columns(rows: pd.DataFrame) -> list[str]:
    """Return the columns of participants.tsv that rows of metrics.csv have; none without a row."""
    header = [*rows] if len(rows) else [IDENTITY[-1], next(iter(METRICS))]
    return header[header.index(IDENTITY[-1]) + 1 : header.index(next(iter(METRICS)))]


def _reviewed(rows: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the columns REVIEW of each session in metrics.csv, empty where sessions.tsv lacks them."""
    columns = [rows[name].tolist() if name in rows else [""] * len(rows) for name in REVIEW]
    every = (dict(zip(REVIEW, cells, strict=True)) for cells in zip(*columns, strict=True))
    return dict(zip(rows["session"], every, strict=True))


def reviews(rows: pd.DataFrame, results: Mapping[str, str]) -> dict[str, str]:
    """Return status, reviewer and amendments of each session in words; empty where sessions.tsv has none.

    Args:
        results: the SHA-256 of the results of each session.
    """
    words = {}
    for session, row in _reviewed(rows).items():
        status, reviewer, date, _, amendments = (row[name] if row[name] != ABSENT else "" for name in REVIEW)
        by = f"reviewed by {reviewer}" if reviewer else "not reviewed" if status else ""
        by += f" on {date}" if reviewer and date else ""
        text = ", ".join(filter(None, [status, by])) + (f"; amendments: {amendments}" if amendments else "")
        changed = has_changed_since_review(row, results.get(session))
        words[session] = "; ".join(filter(None, [text.removeprefix("; "), CHANGED if changed else ""]))
    return {session: text for session, text in words.items() if text}


def statuses(rows: pd.DataFrame, results: Mapping[str, str]) -> list[str]:
    """Return the status of the sessions as one text in a list, which is for every sheet; none if no session has one.

    Args:
        results: the SHA-256 of the results of each session.
    """
    of_sessions = (
        (row["status"] or ABSENT)
        + (", changed since the review" if has_changed_since_review(row, results.get(session)) else "")
        for session, row in _reviewed(rows).items()
    )
    stated = list(dict.fromkeys(of_sessions))
    return [f"status {' / '.join(stated)}"] if {*stated} - {ABSENT} else []


def participant(name: str, state: str, count: Totals, sessions: Sequence[str], rows: pd.DataFrame) -> list[str]:
    """Return a participant's row of the table of participants; cells of sessions that differ follow each other."""
    used = [f"{count.trials_used} of {count.trials}", f"{count.contacts_used} of {count.contacts}"]
    counts = map(str, (count.cycles, count.cycles_with_kinetics, count.stances_alone))
    first = ~rows["session"].duplicated().to_numpy()
    about = [
        " / ".join(dict.fromkeys(map(_shown, rows[name].to_numpy()[first]))) for name in participants_columns(rows)
    ]
    return [name, state, ", ".join(sessions), *used, *counts, *about]


def together(parts: Iterable[Table], links: Mapping[str, str]) -> Table:
    """Return the rows of tables under the header of the one with most columns, with links."""
    parts = [*parts]
    header = max((part.header for part in parts), key=len, default=[])
    return Table(header, [row for part in parts for row in part.rows], links)
