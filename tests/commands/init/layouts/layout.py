"""Study folders as motion laboratories keep them, with what is true of each recording.

The YAML files hold layouts written by hand, :mod:`.generated` composes more. A layout in YAML has:

===========  ===========================================================================================
``name``     unique
``habit``    where such folders come from
``exotic``   true if few laboratories work so
``items``    which known difficulties of visits and people it has: keys of :data:`ITEMS`
``files``    path: "person visit role condition"; ``<01-03>`` in a path stands for 01, 02 and 03
``dates``    "person visit": date, if the folder tells it
``states``   pattern of paths: what the files state (subject, mass_kg, height_m)
``copies``   path: path of the file with equal bytes
``others``   files that are no recordings, and forces (MOT) beside markers (TRC)
``words``    condition: how the laboratory writes it, if it is not plain English
``order``    person: visits from first to last, or ``ask``; not needed for one with one visit or a date of each
``ask``      topic: what a careful person could not know from the folder; then the truth and one clear question
             are both right
``private``  words that identify a person and may appear in no table
===========  ===========================================================================================

Persons and visits are opaque: they only say which files belong together. A visit belongs to its person; T1 of A is
another visit than T1 of B. A condition is a normal form: files with the same word share a condition, in all visits and
people of the layout, and others do not; ``-`` is a file that names none. A static has one only if its name says so.
Only names tell dates: no program is known to write the day of a recording into a C3D file.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # 11,000 lines are read at each collection of the tests
ROLES = ("static", "walk", "functional", "other")
TOPICS = ("person", "visit", "date", "role", "condition", "order")
ASK = "ask"
ITEMS = {
    1: "the visit stands in the file's name, beside the condition",
    2: "folders name the condition, and all file names begin alike",
    3: "the order of visits is not the alphabet's, or no name tells it",
    4: "people share a generic subject, or only part of a name tells them",
    5: "a person's real name stands in names or files",
}


@dataclass(frozen=True)
class Recording:
    """What is true of a recording and what its file states."""

    person: str
    visit: str
    role: str  # one of ROLES
    condition: str = ""  # normal form; empty: none is named
    date: dt.date | None = None  # as the folder tells it
    subject: str = ""  # stated in the file, as are the sizes
    mass_kg: float | None = None
    height_m: float | None = None
    copy_of: str = ""  # path of the file with equal bytes


@dataclass(frozen=True)
class Layout:
    """A study folder; the fields are those of the table above."""

    name: str
    habit: str
    recordings: Mapping[str, Recording]  # by path below the folder, with slashes
    order: Mapping[str, tuple[str, ...] | None]  # of every person; None: ask
    exotic: bool = False
    items: tuple[int, ...] = ()
    others: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ask: Mapping[str, str] = field(default_factory=dict)
    private: tuple[str, ...] = ()


def lab_layouts() -> list[Layout]:
    """Return the layouts written by hand."""
    return [
        layout_of(content)
        for path in sorted(FOLDER.glob("*.yaml"))
        for content in yaml.load(path.read_text(encoding="utf-8"), Loader=FAST)  # noqa: S506
    ]


def layout_of(content: Mapping[str, Any]) -> Layout:
    """Return a layout from its content in YAML."""
    recordings = {path: _recording(path, truth, content) for path, truth in _expanded(content["files"])}
    for path, source in content.get("copies", {}).items():
        recordings[path] = replace(recordings[path], copy_of=source)
    return Layout(
        name=content["name"],
        habit=content["habit"],
        recordings=recordings,
        order=orders(recordings, content.get("order", {})),
        exotic=content.get("exotic", False),
        items=tuple(content.get("items", ())),
        others=tuple(content.get("others", ())),
        words={condition: tuple(words) for condition, words in content.get("words", {}).items()},
        ask=content.get("ask", {}),
        private=tuple(content.get("private", ())),
    )


def orders(
    recordings: Mapping[str, Recording], stated: Mapping[str, list[str] | str]
) -> dict[str, tuple[str, ...] | None]:
    """Return the order of visits of every person; one visit, or visits with dates, need no statement."""
    found: dict[str, tuple[str, ...] | None] = {}
    for person in dict.fromkeys(recording.person for recording in recordings.values()):
        days = {one.visit: one.date for one in recordings.values() if one.person == person}
        dated = {visit: day for visit, day in days.items() if day or len(days) == 1}
        by_date = sorted(dated, key=lambda visit: dated[visit] or dt.date.min)
        order = stated.get(person, by_date if len(dated) == len(days) else [])
        found[person] = None if order == ASK else tuple(order)
    return found


def _expanded(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each path with its truth; ``<01-03>`` is counted."""
    for pattern, truth in files.items():
        counted = re.search(r"<(\d+)-(\d+)>", pattern)
        if counted is None:
            yield pattern, truth
            continue
        first, last = counted.groups()
        for number in range(int(first), int(last) + 1):
            yield pattern.replace(counted.group(), f"{number:0{len(first)}}"), truth


def _recording(path: str, truth: str, content: Mapping[str, Any]) -> Recording:
    person, visit, role, condition = truth.split()
    states = [facts for pattern, facts in content.get("states", {}).items() if fnmatchcase(path, pattern)]
    if len(states) > 1:
        raise ValueError(f"{content['name']}: two patterns state facts of {path}")
    date = content.get("dates", {}).get(f"{person} {visit}")
    return Recording(person, visit, role, "" if condition == "-" else condition, date, **(states[0] if states else {}))
