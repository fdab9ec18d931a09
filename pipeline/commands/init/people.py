"""Participants, visits and sessions of recordings, guessed from folders, file names and the content of the files.

The names of folders are taken apart into roles, conditions, visits, dates and a rest, which may name a person. Where
such rests differ, codes of people or files that state different subjects make them people; files that state the same
subject or sizes make them visits of one person; and folders of which some hold only statics, the others only walks, are
kinds of trials. What these cannot tell is asked for.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from itertools import combinations, product
from pathlib import PurePosixPath
from typing import NamedTuple

from ...steps.read.recording_contents import Contents
from ...vocabulary.marker_labels import is_code
from ...vocabulary.name_words import PARTING, PERSON_CODE, NameParts, has_six_digit_dates, is_person_code, read_name
from ..shared.trial_roles import identifier, identifiers, in_folder_of_trial, stem_of
from .evidence import BOTH, Facts, Names, are_alike, are_apart, facts_of, find_levels, kinds_in, pad, subject_of

POSE_FOLDER = re.compile(r"pose[-_]?3d", re.IGNORECASE)
GLUED = re.compile(r"[a-z]+\d+[a-z]{0,2}", re.IGNORECASE)  # sample28
NUMBER = re.compile(r"[-_ .]*\d+$")  # of a trial


class Owner(NamedTuple):
    """To whom a recording belongs."""

    person: str  # participant_id; a proposal if it is asked
    session: str
    visit: str = ""  # such as pre or visit-2
    date: str = ""  # of the visit, as in ISO 8601
    condition: str = ""  # of the folders
    asked: bool = False  # whether names and files do not tell the person
    hidden: bool = False  # whether a number replaces what may be a person's name


class _Place(NamedTuple):
    """What the folders of a file say, from the top."""

    names: Names  # what may name people, codes with a word for a person first
    visits: Names  # visits and dates as written
    others: Names  # conditions
    visit: str
    date: str
    group: str
    visit_is_beside_name: bool  # in one folder's name: the date may be of birth


def people_and_sessions(files: Sequence[Contents]) -> list[Owner]:
    """Return to whom each file belongs.

    People are found by folders, else by the codes that begin all file names, else by the subjects in the files. In
    folders with several people in one file, the subject names the participant of every file. Visits of one person are
    sessions, and so are other folders with a static trial and walks each.
    """
    places, facts = _places(files), facts_of(files)
    only = _only_name(files, [place.names for place in places])
    keys, asked, levels = _people(files, facts, places, only)
    names = list(zip(*pad([place.names for place in places]), strict=True))
    further = [k for k, column in enumerate(names) if len(set(column)) > 1 and k not in levels]
    labels = [
        (place.visits, (*(place.names[k] for k in further if k < len(place.names)), *place.others)) for place in places
    ]
    two = _of_two_subjects(facts, keys, labels)
    keys = [(*key, *visits) if key in two else key for key, (visits, _) in zip(keys, labels, strict=True)]
    unclear = {key for key in keys if asked or not all(key) or any(key[: len(one)] == one for one in two)}
    groups, visits_of = defaultdict(set), defaultdict(set)
    for key, place in zip(keys, places, strict=True):
        groups[key].add(place.group)
        visits_of[key].add(place.visits)
    full = [(place.group, *key) if len(groups[key]) > 1 else key for key, place in zip(keys, places, strict=True)]
    unclear |= {key for key in groups if not key and len(groups[key]) > 1}
    ids, hidden = _ids(full, only)
    tails = _sessions(facts, full, labels)
    texts = {(key, tail): "_".join([ids[key], *tail]) for key, tail in zip(full, tails, strict=True)}
    sessions = identifiers(texts, "session")
    return [
        Owner(
            ids[person],
            sessions[person, tail],
            *(("", "") if place.visit_is_beside_name and len(visits_of[key]) < 2 else (place.visit, place.date)),
            "-".join(text for text in others if text in place.others or text not in tail),
            asked=key in unclear,
            hidden=person in hidden,
        )
        for key, person, tail, place, (_, others) in zip(keys, full, tails, places, labels, strict=True)
    ]


def _people(
    files: Sequence[Contents], facts: Sequence[Facts], places: Sequence[_Place], only: str
) -> tuple[list[Names], bool, tuple[int, ...]]:
    """Return what tells each file's person from others, whether it is asked, and the levels of folders if it is these.

    Folders of some files only leave open which are of one level: then levels from the top and from the files must give
    the same people. People whom only file names or subjects tell apart, each in a visit's folder of their own, may be
    one person.
    """
    names = [place.names for place in places]
    if any(file.has_several_people for file in files):
        levels, asked = find_levels(facts, names)
        return _by_subject_where_shared(files, _keys(names, levels), names), asked, levels
    levels, asked = find_levels(facts, names)
    below = pad(names, below=True)
    if below != names and _apart(_keys(names, levels)) != _apart(_keys(below, find_levels(facts, below)[0])):
        levels, asked = tuple(range(len(below[0]))), True
    if levels:
        return _keys(names, levels), asked, levels
    if only in names[0]:
        return [(only,)] * len(files), False, ()
    if len({one.subject for one in facts} - {""}) == 1:
        return [()] * len(files), False, ()
    for inside, of_files in ((_file_names(files), True), ([(name,) for name in _subjects(files)], False)):
        levels, asked = find_levels(facts, inside, of_files=of_files)
        if levels:
            keys = _keys(inside, levels)
            visits = {(place.visits, key) for key, place in zip(keys, places, strict=True)}
            apart = len(visits) == len({*keys}) == len({place.visits for place in places})
            return keys, asked or (apart and not all(is_person_code(key[0]) for key in keys)), ()
    return [()] * len(files), False, ()


def _places(files: Sequence[Contents]) -> list[_Place]:
    """Return what the folders of each file say.

    Names that are everywhere among siblings of which most are visits or conditions, are as well.
    """
    paths = [_folders(file.name) for file in files]
    six_digits = has_six_digit_dates(name for path in paths for name in path)
    parts = {name: read_name(name, six_digits=six_digits) for path in paths for name in path}
    siblings: dict[Names, set[str]] = defaultdict(set)
    for path in paths:
        for depth, name in enumerate(path):
            siblings[path[:depth]].add(name)
    labels = set(parts) - {name for name in parts if PERSON_CODE.match(parts[name].person)}
    for names in siblings.values():
        if sum(_is_label(parts[name]) for name in names) * 2 <= len(names):
            labels -= names
    return [_place(path, [parts[name] for name in path], labels) for path in paths]


def _is_label(parts: NameParts) -> bool:
    return not parts.person and bool(parts.kinds & {"visit", "date", "condition"})


def _place(path: Names, parts: Sequence[NameParts], labels: Set[str]) -> _Place:
    names, visits, others = list[str](), list[str](), list[str]()
    for text, part in zip(path, parts, strict=True):
        is_label = text in labels
        if part.person and not is_label:
            code = PERSON_CODE.match(part.person)
            names += [code[0], part.person[code.end() :].strip(PARTING)] if code else [part.person]
        (visits if part.kinds & {"visit", "date"} else others).append(part.label)
        if part.person and is_label and not part.label:
            others.append(text)
    return _Place(
        names=(*filter(is_person_code, names), *(name for name in names if name and not is_person_code(name))),
        visits=tuple(filter(None, visits)),
        others=tuple(filter(None, others)),
        visit="-".join(identifier(part.visit, "") for part in parts if part.visit),
        date=next((part.date for part in parts if part.date), ""),
        group="-".join(part.group for part in parts if part.group),
        visit_is_beside_name=any(part.person and part.kinds & {"visit", "date"} for part in parts),
    )


def _folders(name: str) -> Names:
    """Return the folders of a file, without the folder of each trial and its ``pose-3d`` as Pose2Sim makes them."""
    parts = PurePosixPath(name).parent.parts
    if in_folder_of_trial(name):
        return parts[:-1]
    return parts[:-2] if parts and POSE_FOLDER.fullmatch(parts[-1]) else parts


def _keys(names: Sequence[Names], levels: Sequence[int]) -> list[Names]:
    """Return the names at some levels, empty where a file has none."""
    return [tuple(parts[k] if k < len(parts) else "" for k in levels) for parts in names]


def _apart(keys: Sequence[Names]) -> list[int]:
    """Return a number for each key, equal where keys are."""
    return [keys.index(key) for key in keys]


def _of_two_subjects(
    facts: Sequence[Facts], keys: Sequence[Names], labels: Sequence[tuple[Names, Names]]
) -> set[Names]:
    """Return the people whose folders of visits or conditions have files of different subjects."""
    parts: dict[Names, dict[tuple[Names, Names], list[Facts]]] = defaultdict(lambda: defaultdict(list))
    for one, key, label in zip(facts, keys, labels, strict=True):
        parts[key][label].append(one)
    return {
        key for key, mine in parts.items() if any(are_alike(*pair) is False for pair in combinations(mine.values(), 2))
    }


def _sessions(facts: Sequence[Facts], keys: Sequence[Names], labels: Sequence[tuple[Names, Names]]) -> list[Names]:
    """Return what tells each file's session from others of its person.

    It is the visit, unless all statics are outside of visits or visits hold only statics or only walks. Within a
    visit it is the folders of conditions, if several of them have a static and walks.
    """
    tails: list[Names] = [()] * len(facts)
    people = defaultdict(list)
    for i, key in enumerate(keys):
        people[key].append(i)
    for mine in people.values():
        kinds = kinds_in(facts, {i: labels[i][0] for i in mine})
        statics = [visits for visits, kind in kinds.items() if True in kind]
        split = len(kinds) > 1 and not are_apart([*kinds.values()]) and statics != [()]
        visits = defaultdict(list)
        for i in mine:
            visits[labels[i][0] if split else ()].append(i)
        for visit, those in visits.items():
            others = [labels[i][1] if split else (*labels[i][0], *labels[i][1]) for i in those]
            for parts in _choices(others):
                tail = dict(zip(those, parts, strict=True))
                if list(kinds_in(facts, tail).values()).count(BOTH) > 1:
                    break
            else:
                tail = dict.fromkeys(those, ())
            for i in those:
                tails[i] = (*visit, *tail[i])
    return tails


def _choices(labels: Sequence[Names]) -> Iterator[list[Names]]:
    """Yield labels with all of their parts, then with fewer."""
    depth = max(map(len, labels))
    for size in range(depth, 0, -1):
        for places, below in product(combinations(range(depth), size), (False, True)):
            yield [tuple(filter(None, (parts[k] for k in places))) for parts in pad(labels, below=below)]


def _ids(keys: Sequence[Names], only: str) -> tuple[dict[Names, str], set[Names]]:
    """Return the participant_id of each person, and the people of whom a number hides what may be a name."""
    texts = dict.fromkeys(keys)
    shown = {key: "_".join(filter(None, key)) or ("unsorted" if key else only) for key in texts}
    hidden = {key for key, text in shown.items() if key and not all(_is_id(part) for part in key)}
    taken = {identifier(text, "").lower() for key, text in shown.items() if key not in hidden}
    numbers = (f"sub-{number:02d}" for number in range(1, 10_000))
    free = (text for text in numbers if text not in taken)
    return identifiers(
        {key: next(free) if key in hidden else text for key, text in shown.items()}, "participant"
    ), hidden


def _is_id(text: str) -> bool:
    """Return whether a text may be shown: words of visits, and codes; not what may be a person's name."""
    if not is_code(text):
        return not read_name(text).person
    words = [word for word in re.findall(r"[^\W\d_]{3,}", text) if read_name(f"{word}1").person]
    unknown = [word for word in words if not is_person_code(f"{word}1")]
    return text.isascii() and (bool(GLUED.fullmatch(text)) or not unknown)


def _only_name(files: Sequence[Contents], names: Sequence[Names]) -> str:
    """Return the id of the only person: a code in the folders or all file names, or the subject in the files."""
    first = _keys(_file_names(files), [0])
    sets = [
        {parts[k] if k < len(parts) else "" for parts in names}
        for k in reversed(range(max(map(len, names), default=0)))
    ]
    sets += [{name for (name,) in first}, set(filter(None, map(subject_of, files)))]
    texts = [text for texts in sets if len(texts) == 1 for text in texts]
    return next((text for text in texts if is_code(text) and _is_id(text)), "sub-01")


def _file_names(files: Sequence[Contents]) -> list[Names]:
    """Return the parts of each file name that may name people, without the numbers of trials."""
    names = list[Names]()
    for file in files:
        first, *others = re.split(r"[-_ .,()]+(?!\d)", stem_of(file))
        bare = [NUMBER.sub("", part) for part in others] if others else [NUMBER.sub("", first)]
        begin, *parts = [read_name(part).person for part in ([first] if others else []) + bare]
        names.append((begin, *(part for part in parts if len(part) > 1)))  # not the a of walk_a
    return names


def _subjects(files: Sequence[Contents]) -> list[str]:
    """Return the subject of each file; a file without one has the only one of the others."""
    found = [subject_of(file) for file in files]
    only = {*found} - {""}
    return [name or (*only, "")[0] for name in found] if len(only) == 1 else found


def _by_subject_where_shared(files: Sequence[Contents], keys: Sequence[Names], names: Sequence[Names]) -> list[Names]:
    """Return the people, in folders with a file of several people by their subjects."""
    result = list(keys)
    for folder in {key for file, key in zip(files, keys, strict=True) if file.has_several_people}:
        mine = [i for i, key in enumerate(keys) if key == folder]
        inside = folder or (names[mine[0]][-1:] if len({names[i] for i in mine}) == 1 else ())
        for i, subject in zip(mine, _subjects([files[i] for i in mine]), strict=True):
            result[i] = (subject,) if (subject,) in keys or not inside else (*inside, subject)
    return result
