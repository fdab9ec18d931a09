"""What ``init`` says of a layout, compared with its truth: right, asked, or wrong in silence."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline.body.body_model import BodyModel
from pipeline.commands.init.table_rows import ASKED as PEOPLE_ASKED
from pipeline.commands.init.table_rows import EstimatedSizes, participant_rows, trial_rows
from pipeline.recording import Recording as Content
from pipeline.steps.read.recording_contents import Contents, contents_of
from pipeline.tables import tsv
from pipeline.tables.tsv import Row
from pipeline.vocabulary.plain_letters import without_accents
from pipeline.workflow import settings
from tests.commands.init.layouts.layout import Layout, Recording
from tests.commands.init.layouts.write import RATE_HZ, body

RIGHT, ASKED, WRONG = "right", "asked", "wrong"
KINDS = ("person", "visit", "date", "order", "role", "condition", "private", "copy")
MODEL = "plug_in_gait"  # which has the labels of the recordings
UNKNOWN = ("", "n/a")


class Tables(NamedTuple):
    """The tables that ``init`` writes."""

    trials: list[Row]
    participants: list[Row]
    sessions: list[Row]


def tables_of(layout: Layout) -> Tables:
    """Return the tables that ``init`` proposes for a layout, without writing its recordings."""
    models = {MODEL: _model()}
    files = [_contents(path, one) for path, one in sorted(layout.recordings.items())]
    copies = {path: one.copy_of for path, one in layout.recordings.items() if one.copy_of}
    rows, places, notes = trial_rows(files, MODEL, models, copies)
    unknown = EstimatedSizes(np.nan, "", {})
    people, visits = participant_rows(rows, places, {file.key: file for file in files}, [], lambda _: unknown)
    asked = notes[PEOPLE_ASKED]
    blank = [row | ({"participant_id": "n/a"} if row["participant_id"] in asked else {}) for row in rows]
    return Tables(blank, people, visits)


def tables_in(folder: Path) -> Tables:
    """Return the tables that ``init`` has written."""
    names = ("trials.tsv", "participants.tsv", "sessions.tsv")  # a layout may have one that holds no table
    paths = [folder / name for name in names]
    return Tables(*(tsv.rows_of(path, required=("participant_id",))[0] if path.exists() else [] for path in paths))


def judge(layout: Layout, tables: Tables) -> dict[str, str]:
    """Return how the tables compare with the truth, by each of KINDS."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in tables.trials:
        rows[row["file"].removeprefix("./")].append(row)
    if rows.keys() != layout.recordings.keys():
        return dict.fromkeys(KINDS, WRONG)
    first = {path: of_file[0] for path, of_file in rows.items()}
    verdicts = {
        "person": _people(layout, first),
        "visit": _visits(layout, first),
        "date": _dates(layout, first),
        "role": _roles(layout, rows),
        "condition": _conditions(layout, rows),
        "private": _private(layout, tables),
        "copy": _copies(layout, rows),
    }
    sound = WRONG not in (verdicts["person"], verdicts["visit"])
    return verdicts | {"order": _order(layout, first, tables.sessions) if sound else ASKED}


def _people(layout: Layout, rows: Mapping[str, Row]) -> str:
    named = {path: row["participant_id"] for path, row in rows.items() if row["participant_id"] not in UNKNOWN}
    if not _same(named.values(), (layout.recordings[path].person for path in named)):
        return WRONG
    return RIGHT if len(named) == len(rows) else ASKED


def _visits(layout: Layout, rows: Mapping[str, Row]) -> str:
    """Return wrong if a session mixes visits, or two visits of a person have the same cells or one has several."""
    found = {path: visit_of(row) for path, row in rows.items()}
    truth = {path: (one.person, one.visit) for path, one in layout.recordings.items()}
    named = [path for path, row in rows.items() if row["participant_id"] not in UNKNOWN]
    sessions = {path: row.get("session") or row["participant_id"] for path, row in rows.items()}
    clear = [path for path in rows if sessions[path] not in UNKNOWN]
    if _mixes((sessions[path] for path in clear), (truth[path] for path in clear)):
        return WRONG
    if not _same((found[path] for path in named), (truth[path] for path in named)):
        return WRONG
    return RIGHT if len(named) == len(clear) == len(rows) else ASKED


def visit_of(row: Row) -> tuple[str, ...]:
    """Return what tells a row's visit from others: the cells of its visit, else its session."""
    told = [row.get(name, "") for name in ("visit", "date")]
    if all(cell in UNKNOWN for cell in told):
        told = [row.get("session") or row["participant_id"]]
    return (row["participant_id"], *told)


def _dates(layout: Layout, rows: Mapping[str, Row]) -> str:
    ends = set()
    for path, one in layout.recordings.items():
        found = rows[path].get("date", "")
        is_known = one.date is not None and "date" not in layout.ask
        if found in UNKNOWN:
            ends.add(ASKED if is_known else RIGHT)
        else:
            ends.add(RIGHT if one.date and found == one.date.isoformat() else WRONG)
    return worst(ends)


def _order(layout: Layout, rows: Mapping[str, Row], sessions: Sequence[Row]) -> str:
    """Return how the order of each person's visits is: by dates, else by the column of sessions.tsv."""
    ends = set()
    listed = {row["session"]: row for row in sessions}
    for person, truth in layout.order.items():
        own = {path: row for path, row in rows.items() if layout.recordings[path].person == person}
        visits = {
            row.get("session") or row["participant_id"]: layout.recordings[path].visit for path, row in own.items()
        }
        if len({*visits.values()}) < 2:
            continue
        if any(row["participant_id"] in UNKNOWN for row in own.values()):
            ends.add(ASKED)
            continue
        found = [(place_of(listed.get(name, {}), [*listed].index(name) if name in listed else 0), visit)
                 for name, visit in visits.items()]  # fmt: skip
        if any(place is None for place, _ in found):
            ends.add(ASKED)
        else:
            order = tuple(dict.fromkeys(visit for _, visit in sorted(found, key=lambda one: one[0] or ())))
            ends.add(RIGHT if order == truth else WRONG)
    return worst(ends)


def place_of(row: Row, place: int) -> tuple[str, int] | None:
    """Return the place of a session among those of its person; None if the table leaves it open."""
    if (date := row.get("date", "")) not in UNKNOWN:
        return (date, 0)
    if "visit_number" not in row:
        return ("9", place)
    return None if row["visit_number"] in UNKNOWN else ("9", int(row["visit_number"]))


def _roles(layout: Layout, rows: Mapping[str, Sequence[Row]]) -> str:
    ends = set()
    for path, one in layout.recordings.items():
        found = {row["role"] for row in rows[path]}
        allowed = {"static": {"static", "exclude"}, "walk": {"gait"}, "functional": {"functional"}}
        if one.role == "other":
            named = {row["role"] for row in rows[path] if row["condition"] not in UNKNOWN}  # n/a asks what it is
            ends.add(WRONG if named & {"gait", "static"} else ASKED if "gait" in found else RIGHT)
        elif one.copy_of and found == {"exclude"}:
            ends.add(RIGHT)
        else:
            ends.add(RIGHT if found & allowed[one.role] else WRONG)
    return worst(ends)


def _conditions(layout: Layout, rows: Mapping[str, Sequence[Row]]) -> str:
    """Return wrong if conditions are not those of the truth.

    Where nobody can know whether a name is of a visit, and ``init`` asks, those within each session count.
    """
    asked = "visit" in layout.ask and all(row["participant_id"] in UNKNOWN for mine in rows.values() for row in mine)
    pairs = [
        (row["condition"].lower(), layout.recordings[path].condition, row["session"] if asked else "")
        for path, mine in rows.items()
        for row in mine
        if row["role"] == "gait" and layout.recordings[path].role == "walk"
    ]
    named = [pair for pair in pairs if pair[0] not in UNKNOWN]
    if not _same(((cell, session) for cell, _, session in named), ((truth, session) for _, truth, session in named)):
        return WRONG
    return RIGHT if len(named) == len(pairs) and not asked else ASKED


def _private(layout: Layout, tables: Tables) -> str:
    cells = (
        without_accents(cell).lower()
        for table in tables
        for row in table
        for name, cell in row.items()
        if name not in ("file", "forces")
    )
    words = re.compile("|".join(re.escape(without_accents(word).lower()) for word in layout.private) or r"(?!)")
    return WRONG if any(words.search(cell) for cell in cells) else RIGHT


def _copies(layout: Layout, rows: Mapping[str, Sequence[Row]]) -> str:
    copies = [path for path, one in layout.recordings.items() if one.copy_of]
    used = [row for path in copies for row in rows[path] if row["role"] != "exclude"]
    return WRONG if used else RIGHT


def worst(ends: Iterable[str]) -> str:
    """Return the worst of some ends; right if there are none."""
    return max(ends, key=(RIGHT, ASKED, WRONG).index, default=RIGHT)


def _mixes(found: Iterable[object], truth: Iterable[object]) -> bool:
    meanings: dict[object, set[object]] = defaultdict(set)
    for one, other in zip(found, truth, strict=True):
        meanings[one].add(other)
    return any(len(meaning) > 1 for meaning in meanings.values())


def _same(found: Iterable[object], truth: Iterable[object]) -> bool:
    """Return whether two ways of parting files are the same."""
    pairs = {*zip(found, truth, strict=True)}
    return len({one for one, _ in pairs}) == len({other for _, other in pairs}) == len(pairs)


@cache
def _model() -> BodyModel:
    return settings.load_body_model(MODEL, where="judge", study_path=Path())


@cache
def _of_role(role: str) -> Contents:
    """Return what a recording of a role contains; the sizes of its person do not matter here."""
    points = body(Recording("A", "v1", role, height_m=1.7), seed=1)
    content = Content([*points], np.stack([*points.values()], axis=1), RATE_HZ, 0.0, 1e-3)
    return contents_of(content, {MODEL: _model()})


def _contents(path: str, one: Recording) -> Contents:
    """Return what a recording contains, with what it states."""
    sizes = {"Bodymass": one.mass_kg} if one.mass_kg else {}
    sizes |= {"Height": 1e3 * one.height_m} if one.height_m else {}
    of_role = _of_role(one.role)
    stated = replace(of_role.recording, subject_names=[one.subject] * bool(one.subject), processing=sizes)
    return replace(of_role, name=path, recording=stated)
