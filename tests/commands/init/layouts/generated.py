"""Layouts composed of habits of laboratories, with their truth: thousands of different folders from one seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from tests.commands.init.layouts import words
from tests.commands.init.layouts.layout import ASK, Layout, Recording, orders
from tests.commands.init.layouts.visits import Visit, Visits, doubts_of_dates, named_visits, visits_of_a_person

NAMES = "names of people"  # a way to call people
JOINT = "\0"  # between parts of a name without separators, until it is known to be readable
ONE_VISIT = Visits((Visit("v1"),), {}, "one visit")


class Shape(NamedTuple):
    """Which parts of a recording name its folders and its file; role is a folder of all statics or all walks."""

    folders: tuple[str, ...]
    stem: tuple[str, ...]


SHAPES = tuple(
    Shape(tuple(folders.split()), tuple(stem.split()))
    for folders, stem in (
        ("", "task number"),
        ("", "person task number"),
        ("", "person visit task number"),
        ("", "person visit condition task number"),
        ("", "visit person condition task number"),
        ("", "person condition task visit number"),
        ("person", "task number"),
        ("person", "condition task number"),
        ("person", "person condition number"),
        ("person", "visit task number"),
        ("person", "visit condition number"),
        ("person", "person visit condition task number"),
        ("person visit", "task number"),
        ("person visit", "condition task number"),
        ("person visit", "person task number"),
        ("person visit", "person visit condition number"),
        ("visit", "person condition task number"),
        ("visit person", "condition task number"),
        ("project person visit", "person task number"),
        ("person condition", "person number"),
        ("person condition", "project number"),
        ("person visit condition", "project number"),
        ("person visit condition", "task number"),
        ("person condition visit", "task number"),
        ("person visit", "project condition number"),
        ("role", "person number"),
        ("role", "person visit number"),
        ("person role", "visit number"),
        ("person visit role", "condition number"),
        ("person", "person number"),
        ("person visit", "person number"),
        ("", "project person task number"),
        ("", "project person visit condition task number"),
    )
)


@dataclass(frozen=True)
class Person:
    """A person: the label in names and what files state of them at the first visit."""

    key: str
    label: str
    subject: str
    mass_kg: float | None
    height_m: float | None


@dataclass(frozen=True)
class Habit:
    """What a laboratory does alike in a whole study."""

    shape: Shape
    static: str
    walk: str
    separator: str
    before_number: str  # between the last word and the number
    digits: int
    static_folder: bool  # where conditions are folders: whether statics have one too
    statics_of_conditions: bool  # a static of each condition
    counts_on: bool  # trial numbers run on through the conditions
    project: str
    roles: tuple[str, str]  # folders of statics and of walks
    suffix: str


def generated(count: int = 3000, seed: int = 1) -> list[Layout]:
    """Return different layouts; the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311
    found: dict[frozenset[tuple[str, Recording]], Layout] = {}
    while len(found) < count:
        layout = _bids(rng) if rng.random() < 0.06 else _composed(rng)
        if layout is not None:
            found.setdefault(frozenset(layout.recordings.items()), layout)
    return [replace(layout, name=f"generated_{i:05}") for i, layout in enumerate(found.values(), start=1)]


def _composed(rng: random.Random) -> Layout | None:
    """Return a layout of one language, one way of naming people and one of visits; None if names cannot be read."""
    language = rng.choice([*words.LANGUAGES, *["English"] * 4])
    spoken = words.LANGUAGES[language]
    shape = rng.choice(SHAPES)
    parts = shape.folders + shape.stem
    visits = named_visits(rng, spoken, only_folder="visit" not in shape.stem) if "visit" in parts else ONE_VISIT
    conditions = _conditions(rng, spoken, shape)
    habit = _habit(rng, spoken, shape)
    people, private = _people(rng, spoken, shape, habit)
    came = {person.key: visits_of_a_person(rng, visits) for person in people}
    came |= {key: own[:1] for key, own in came.items() if key != "A" and rng.random() < 0.3}
    doubts, unordered = doubts_of_dates(came)
    ask = {**visits.ask, **doubts}
    recordings: dict[str, Recording] = {}
    order: dict[str, list[str] | str] = {}
    for person in people:
        own = came[person.key]
        is_unknown = person.key in unordered or ("order" in visits.ask and len(own) > 1)
        order[person.key] = ASK if is_unknown else [visit.label for visit in own]
        for path, recording in _files_of(rng, person, own, conditions, habit):
            clear = path.replace(JOINT, "")
            if clear in recordings or not _is_readable(path):
                return None
            recordings[clear] = replace(recording, date=None) if "date" in doubts else recording
    if not {"task", "role", "condition"} & set(parts):
        ask["role"] = "Only the movement tells a static from a walk."
    _add_tasks(rng, recordings, habit)
    _add_copy(rng, recordings, spoken)
    return Layout(
        name="",
        habit=f"{'/'.join(['+'.join(shape.folders), '+'.join(shape.stem)])}, {visits.kind}, {language}",
        recordings=recordings,
        order=orders(recordings, order),
        exotic=language == "Japanese" or not habit.separator,
        items=_items(shape, visits, people, private),
        others=_others(rng, recordings),
        words={condition: (label,) for condition, label in conditions.items()},
        ask=ask,
        private=private,
    )


def _habit(rng: random.Random, spoken: words.Words, shape: Shape) -> Habit:
    separator = rng.choice(("_", "_", "_", "-", " ", ""))
    style = rng.choice((str, str.lower, _capital)) if separator else _capital
    static, walk = style(rng.choice(spoken.static)), style(rng.choice(spoken.walk))
    names_task = "task" in shape.stem
    return Habit(
        shape=shape,
        static=static,
        walk=walk,
        separator=separator,
        before_number=rng.choice((separator, "")) if names_task or "condition" in shape.stem else separator,
        digits=rng.choice((1, 2, 2, 3)),
        static_folder=not names_task or rng.random() < 0.4,
        statics_of_conditions=rng.random() < 0.1,
        counts_on=not names_task or rng.random() < 0.2,
        project=rng.choice(words.PROJECTS),
        roles=rng.choice((("Static", "Dynamic"), (_capital(static), _capital(walk)), ("Static trials", "Gait trials"))),
        suffix=".trc" if rng.random() < 0.04 else ".c3d",
    )


def _conditions(rng: random.Random, spoken: words.Words, shape: Shape) -> dict[str, str]:
    """Return the spelling of each condition; folders of conditions need two, other shapes can do without."""
    if "condition" not in shape.folders + shape.stem:
        return {}
    studies = [study for study in words.STUDIES if all(name in spoken.conditions for name in study)]
    if "condition" in shape.folders:
        studies = [study for study in studies if len(study) > 1]
    elif "task" in shape.stem and rng.random() < 0.3:
        return {}
    style = rng.choice((str, str, str.lower, _capital))
    return {name: style(rng.choice(spoken.conditions[name])) for name in rng.choice(studies)}


def _people(
    rng: random.Random, spoken: words.Words, shape: Shape, habit: Habit
) -> tuple[list[Person], tuple[str, ...]]:
    """Return the people of a study and the words that identify them."""
    count = rng.choice((1, 2, 2, 3, 4)) if "person" in shape.folders + shape.stem else 1
    kind = rng.choice(("code", "code", "code", "word", "hospital number", "initials", NAMES))
    stated = rng.choice(("nothing", "own", "generic", "sizes"))
    if habit.suffix == ".trc":
        stated = "nothing"
    generic = rng.choice(words.GENERIC)
    named_in_file = stated == "own" and rng.random() < 0.2
    full_names = list(zip(rng.sample(words.SURNAMES, count), rng.sample(words.FIRST_NAMES, count), strict=True))
    labels = _labels(rng, kind, count, spoken, full_names)
    if "visit" in shape.stem and kind == "hospital number" and not habit.separator:
        labels = _labels(rng, "word", count, spoken, full_names)
    heights = rng.sample(range(105, 196), count)
    people = []
    for key, label, height, names in zip("ABCD", labels, heights, full_names, strict=False):
        own = " ".join(reversed(names)) if named_in_file else label
        subject = {"own": own, "generic": generic}.get(stated, "")
        height_m = height / 100 if stated in ("generic", "sizes") else None
        mass_kg = round(rng.uniform(15, 26) * height_m**2, 1) if height_m else None
        people.append(Person(key, label, subject, mass_kg, height_m))
    in_names = kind == NAMES and "person" in shape.folders + shape.stem
    visible = in_names or named_in_file or (kind == NAMES and stated == "own")
    private = tuple(name for names in full_names for name in names) if visible else ()
    return people, private


def _labels(
    rng: random.Random, kind: str, count: int, spoken: words.Words, full_names: list[tuple[str, str]]
) -> list[str]:
    """Return what people are called in names of folders and files."""
    first, step = rng.randint(1, 30), rng.randint(1, 3)
    numbers = [first + step * i for i in range(count)]
    if kind == "code":
        start, gap, digits = rng.choice(words.CODES), rng.choice(("", "", "", "_", "-")), rng.choice((2, 3))
        return [f"{start}{gap}{number:0{digits}}" for number in numbers]
    if kind == "word":
        start, gap = rng.choice(spoken.patient), rng.choice(("", " ", "_"))
        return [f"{start}{gap}{number:02}" for number in numbers]
    if kind == "hospital number":
        low = 10 ** rng.choice((4, 6, 7))
        return [str(number) for number in rng.sample(range(low, 10 * low), count)]
    if kind == "initials":
        return rng.sample(words.INITIALS, count)
    gap = rng.choice(("_", "-", " ", ", "))
    return [f"{surname}{gap}{first_name}" for surname, first_name in full_names]


def _files_of(
    rng: random.Random, person: Person, visits: tuple[Visit, ...], conditions: dict[str, str], habit: Habit
) -> Iterator[tuple[str, Recording]]:
    """Yield path and truth of a person's statics and walks."""
    growth = rng.choice((0.0, 0.0, 0.03))
    for place, visit in enumerate(visits):
        truth = Recording(person.key, visit.label, "static", "", visit.date, person.subject)
        if person.height_m and person.mass_kg:
            taller = round(person.height_m + place * growth, 2)
            truth = replace(truth, height_m=taller, mass_kg=round(person.mass_kg + 60 * place * growth, 1))
        number = 1
        each = (
            conditions if habit.statics_of_conditions and "condition" in habit.shape.stem and conditions else {"": ""}
        )
        each = each if rng.random() < 0.95 else {}  # some days lack a static
        for condition, label in each.items():
            yield _path(person, visit, label, number, "static", habit), replace(truth, condition=condition)
            number += not names_task(habit)
        for condition, label in (conditions or {"": ""}).items():
            first = number if habit.counts_on else 1
            chosen = range(first, first + rng.randint(1, 4))
            for trial in chosen:
                path = _path(person, visit, label, trial, "walk", habit)
                yield path, replace(truth, role="walk", condition=condition)
            number = chosen[-1] + rng.randint(1, 2)


def names_task(habit: Habit) -> bool:
    """Return whether file names hold a word for static or walk."""
    return "task" in habit.shape.stem


def _path(person: Person, visit: Visit, condition: str, number: int, role: str, habit: Habit) -> str:
    """Return the path of a recording; parts that it lacks are left out."""
    texts = {
        "person": person.label,
        "visit": visit.label,
        "condition": condition,
        "task": habit.static if role == "static" else habit.walk,
        "project": habit.project,
        "role": habit.roles[role == "walk"],
    }
    folders = {**texts, "condition": condition or (habit.static if habit.static_folder else "")}
    if role == "static" and not names_task(habit) and not set(habit.shape.folders) & {"role", "condition"}:
        texts["condition"] = habit.separator.join(filter(None, (habit.static, condition)))
    above = [folders[part] for part in habit.shape.folders if folders[part]]
    named = [texts[part] for part in habit.shape.stem if part != "number" and texts[part]]
    if not habit.separator:
        named = [*named[:1], *map(_capital, named[1:])]
    counted = f"{number:0{habit.digits}}"
    ends_in_digit = bool(named) and named[-1][-1].isdigit()
    gap = (habit.before_number or (habit.separator or "_") * ends_in_digit) if named else ""
    return "/".join([*above, (habit.separator or JOINT).join(named) + gap + counted + habit.suffix])


def _is_readable(path: str) -> bool:
    """Return whether a person sees where the parts of a name end; without separators only capitals and digits tell."""
    return JOINT not in path or not re.search(rf"[A-Z]{JOINT}|\d{JOINT}\d|[^\x00-\x7f]", path)


def _add_tasks(rng: random.Random, recordings: dict[str, Recording], habit: Habit) -> None:
    """Add functional calibrations or other movements beside some statics."""
    if not names_task(habit) or "condition" in habit.shape.folders or rng.random() < 0.75:
        return
    role, names = rng.choice((("functional", words.FUNCTIONAL), ("other", words.OTHERS)))
    chosen = rng.sample(names, rng.randint(1, 2))
    for path, recording in [*recordings.items()]:
        folder, slash, stem = path.rpartition("/")
        if recording.role == "static" and not recording.condition and habit.static in stem:
            for name in chosen:
                other = folder + slash + name.join(stem.rsplit(habit.static, 1))
                recordings[other] = replace(recording, role=role)


def _add_copy(rng: random.Random, recordings: dict[str, Recording], spoken: words.Words) -> None:
    """Copy a walk in some layouts, as file managers name copies."""
    if rng.random() < 0.88:
        return
    source = rng.choice([path for path, recording in recordings.items() if recording.role == "walk"])
    stem, _, suffix = source.rpartition(".")
    folder, slash, name = stem.rpartition("/")
    name = rng.choice((spoken.copy, "{} (copy)", "{} (1)", "{}_copy")).format(name)
    recordings[f"{folder}{slash}{name}.{suffix}"] = replace(recordings[source], copy_of=source)


def _others(rng: random.Random, recordings: dict[str, Recording]) -> tuple[str, ...]:
    """Return files that programs put beside some recordings."""
    if rng.random() < 0.8:
        return ()
    endings = rng.choice(((".Trial.enf", ".x1d", ".xcp"), (".qtm",), (".avi",), (".system", ".history")))
    stem = rng.choice([*recordings]).rpartition(".")[0]
    return tuple(stem + ending for ending in endings)


def _items(shape: Shape, visits: Visits, people: list[Person], private: tuple[str, ...]) -> tuple[int, ...]:
    """Return which known difficulties a layout has."""
    undated = len(visits.visits) > 1 and not any(visit.date for visit in visits.visits)
    labels = [visit.label for visit in visits.visits]
    subjects = [person.subject for person in people]
    same_subject = len(people) > 1 and len(set(subjects)) == 1 and bool(people[0].height_m)
    found = {
        1: "visit" in shape.stem and len(visits.visits) > 1,
        2: "condition" in shape.folders and bool({"project", "person"} & set(shape.stem)),
        3: undated and labels != sorted(labels),
        4: same_subject,
        5: bool(private),
    }
    return tuple(item for item, holds in found.items() if holds)


def _bids(rng: random.Random) -> Layout:
    """Return a BIDS tree: each part of a name begins with its key; the task is the condition, or acq is."""
    sessions = list(
        rng.choice((("pre", "post"), ("T0", "T1"), ("baseline", "followup"), ("1", "2"), ("01", "02", "03")))
    )
    study = rng.choice([study for study in words.STUDIES if len(study) > 1])
    key = rng.choice(("acq", "task"))
    digits, kept = rng.choice((1, 2)), rng.choice(("", "_motion", "_tracksys-omc_motion"))
    spelt = {condition: rng.choice(words.LANGUAGES["English"].conditions[condition]) for condition in study}
    recordings = {}
    for person, number in zip("ABC", rng.sample(range(1, 60), rng.randint(1, 3)), strict=False):
        for session in sessions if person == "A" else sessions[: rng.randint(1, len(sessions))]:
            start = f"sub-{number:02}/ses-{session}/motion/sub-{number:02}_ses-{session}_"
            recordings[f"{start}task-static{kept}.c3d"] = Recording(person, session, "static")
            for condition, label in spelt.items():
                task = f"task-walk_acq-{label}" if key == "acq" else f"task-{label}"
                for run in range(1, rng.randint(2, 4)):
                    path = f"{start}{task}_run-{run:0{digits}}{kept}.c3d"
                    recordings[path] = Recording(person, session, "walk", condition)
    order: dict[str, list[str] | str] = {}
    for recording in recordings.values():  # in each person's sessions, first to last
        order[recording.person] = [*dict.fromkeys([*order.get(recording.person, ()), recording.visit])]
    return Layout(
        name="",
        habit=f"BIDS, conditions by {key}",
        recordings=recordings,
        order=orders(recordings, order),
        items=(1, 3) if sessions != sorted(sessions) else (1,),
        words={condition: (label,) for condition, label in spelt.items()},
        others=("dataset_description.json", "participants.tsv"),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
