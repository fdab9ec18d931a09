"""Participants, visits, sessions and conditions of recordings, by what their paths say and what the files state.

What the parts of names that are no words say is decided by what they vary with: where they differ, codes of people or
files that state different subjects or sizes make them people; files that state the same subject or sizes make them
visits of one person; and names that only walks have are conditions. What these cannot tell is asked for.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ...steps.read.recording_contents import Contents
from ...vocabulary.marker_labels import is_code
from ...vocabulary.name_words import is_person_code, places_of_visits, read_words
from ..shared.trial_roles import identifier, identifiers
from .evidence import (
    BOTH,
    Columns,
    Facts,
    Names,
    are_alike,
    are_apart,
    differ,
    facts_of,
    find_levels,
    kinds_in,
    part_columns,
    subject_of,
)
from .name_parts import Parts, Place, take_apart

GLUED = re.compile(r"[a-z]+\d+[a-z]{0,2}", re.IGNORECASE)  # sample28
NAME_AND_NUMBER = re.compile(r"[A-Z][a-z]{2,}\d+")  # Anna02
Label = tuple[str, Names]  # a visit in words, and unknown folders


@dataclass(frozen=True)
class Owner:
    """To whom a recording belongs, and what else its path says."""

    person: str  # participant_id; a proposal if it is asked
    session: str
    visit: str = ""  # such as pre or visit-2
    date: str = ""  # of the visit, as in ISO 8601
    condition: str = ""
    asked: bool = False  # whether names and files do not tell the person
    hidden: bool = False  # whether a number replaces what may be a person's name
    place: int | None = None  # of the visit among those of the person, from 1; None if it is not known
    roles: Names = ()  # kinds of words for a role
    trial: str = ""  # name of the trial


def people_and_sessions(files: Sequence[Contents]) -> list[Owner]:
    """Return to whom each file belongs.

    People are found by folders and file names, else by the subjects in the files. In folders with several people in one
    file, the subject names the participant of every file.
    """
    parts = take_apart([file.name for file in files])
    facts = facts_of(files, [one.roles for one in parts])
    _drop_numbers_of_trials(facts, parts)
    places = sorted({place for one in parts for place in one.unknown})
    columns = _aligned([one.unknown for one in parts], places)
    people, others = part_columns(facts, columns, [one.visit for one in parts])
    only = _only_name(files, columns)
    keys, asked, levels = _people(files, facts, parts, people, only)
    folders, named = ([people[k] for k in people if k not in levels and k[0] == kind] for kind in (0, 1))
    named += others.values()
    labels = [(one.visit, tuple(column[i] for column in folders)) for i, one in enumerate(parts)]
    conditions = [(*one.conditions, *filter(None, (column[i] for column in named))) for i, one in enumerate(parts)]
    keys, unclear = _checked(facts, keys, labels, asked=asked)
    groups = defaultdict(set)
    for key, one in zip(keys, parts, strict=True):
        groups[key].add(one.group)
    unclear |= {key for key in groups if not key and len(groups[key]) > 1}
    full = [(one.group, *key) if len(groups[key]) > 1 else key for key, one in zip(keys, parts, strict=True)]
    ids, hidden = _ids(full, only)
    visits, tails = _sessions(facts, full, labels, conditions)
    whole = {
        (key, visit, tail): "_".join(filter(None, (ids[key], visit, tail)))
        for key, visit, tail in zip(full, visits, tails, strict=True)
    }
    sessions = identifiers(whole, "session")
    told = _told_visits(full, visits, tails, parts)
    several = defaultdict(set)
    for key, label in zip(full, labels, strict=True):
        several[key].add(label)
    shown = {word for column in (*named, *others.values()) for word in column}
    hidden_words = {
        word
        for text in {text for column in columns.values() for text in column}.union(*hidden)
        for word in re.findall(r"[^\W\d_]{3,}", text)
        if not is_code(text) or NAME_AND_NUMBER.fullmatch(text)
    } - shown
    return [
        Owner(
            ids[key],
            sessions[key, visits[i], tails[i]],
            *told[i][:2],
            "-".join(
                _kept(
                    hidden_words, (*own, *(() if visits[i] or len(several[key]) < 2 else (labels[i][0], *labels[i][1])))
                )
            ),
            asked=keys[i] in unclear,
            hidden=key in hidden,
            place=told[i][2],
            roles=tuple(one.roles),
            trial=one.trial(shown, hidden_words),
        )
        for i, (key, one, own) in enumerate(zip(full, parts, conditions, strict=True))
    ]


def _aligned(unknown: Sequence[Mapping[Place, str]], places: Sequence[Place]) -> Columns:
    """Return the columns of unknown words; folders from the top, or from below if then more of them are alike."""
    above = {place: tuple(one.get(place, "") for one in unknown) for place in places}
    depth = sum(kind == 0 for kind, _ in places)
    counts = [sum(kind == 0 for kind, _ in one) for one in unknown]
    below = above | {
        (0, k): tuple(one.get((0, k - depth + count), "") for one, count in zip(unknown, counts, strict=True))
        for k in range(depth)
    }
    return min(above, below, key=lambda columns: sum(len({*column}) for column in columns.values()))


def _kept(hidden: Collection[str], texts: Sequence[str]) -> list[str]:
    """Return texts once, without those with a word that may be a name."""
    return [text for text in dict.fromkeys(texts) if text and not any(word in text for word in hidden)]


def _drop_numbers_of_trials(facts: Sequence[Facts], parts: Sequence[Parts]) -> None:
    """Take numbers at the ends of names from visits if only without them a visit has statics and walks."""
    counted = {i: one.counted for i, one in enumerate(parts) if one.counted}
    whole = kinds_in(facts, {i: (*parts[i].unknown.values(), parts[i].visit) for i in counted})
    bare = kinds_in(
        facts, {i: (*parts[i].unknown.values(), word.text.rstrip("0123456789 ")) for i, word in counted.items()}
    )
    others = [one.stem[-2:] for one in parts if not one.counted]
    counts = any([word.kind for word in words] == ["visit", "run"] for words in others)  # baseline01 beside followup01
    if counts or (BOTH in bare.values() and BOTH not in whole.values()):
        for i, word in counted.items():
            plain = word._replace(text=re.sub(r"[\W_]*\d+$", "", word.text), number="")
            parts[i].visits = [
                plain if one is word else one for one in parts[i].visits if one is not word or plain.text
            ]


def _people(
    files: Sequence[Contents], facts: Sequence[Facts], parts: Sequence[Parts], people: Columns, only: str
) -> tuple[list[Names], bool, tuple[Place, ...]]:
    """Return what tells each file's person from others, whether it is asked, and the columns with it if it is these.

    People whom only file names or subjects tell apart, each with a visit of their own, may be one person.
    """
    told = all(one.visits and not one.birthday for one in parts) and not _of_one(facts)
    if any(file.has_several_people for file in files):
        folders = {place: column for place, column in people.items() if place[0] == 0}
        levels, asked = find_levels(facts, folders, told=told)
        return _by_subject_where_shared(files, _keys(folders, levels, len(files)), parts), asked, levels
    levels, asked = find_levels(facts, people, told=told)
    if levels:
        keys = _keys(people, levels, len(files))
        if any(kind == 1 for kind, _ in levels) and _are_apart(keys, parts):
            stated = {one.subject for one in facts}
            names = {text for key in keys for text in key}
            if len(stated) == 1 and stated <= {text for one in parts for text in one.unknown.values()} | names:
                return [tuple(stated)] * len(files), False, levels
            asked |= not all(is_person_code(text) for key in keys for text in key)
        return keys, asked, levels
    if any(text == only for one in parts for text in one.unknown.values()):
        return [(only,)] * len(files), False, ()
    subjects = {(2, 0): tuple(_subjects(files))}
    levels, asked = find_levels(facts, subjects, told=True)
    if not levels or len({one.subject for one in facts} - {""}) < 2:
        return [()] * len(files), False, ()
    keys = _keys(subjects, levels, len(files))
    return keys, asked or (_are_apart(keys, parts) and not all(is_person_code(key[0]) for key in keys)), ()


def _are_apart(keys: Sequence[Names], parts: Sequence[Parts]) -> bool:
    """Return whether each of several people has a visit of their own: they may be one."""
    pairs = {(one.visit, key) for key, one in zip(keys, parts, strict=True)}
    return len(pairs) == len({*keys}) == len({one.visit for one in parts}) > 1


def _of_one(facts: Sequence[Facts]) -> bool:
    """Return whether all files state one subject, if it has no number, and no sizes."""
    return len({one.told for one in facts}) == 1 and bool(facts[0].told) and not any(one.sizes for one in facts)


def _keys(columns: Columns, levels: Sequence[Place], count: int) -> list[Names]:
    """Return the names at some levels, empty where a file has none."""
    return [tuple(columns[place][i] for place in levels) for i in range(count)]


def _checked(
    facts: Sequence[Facts], keys: Sequence[Names], labels: Sequence[Label], *, asked: bool
) -> tuple[list[Names], set[Names]]:
    """Return people, parted where a visit has two sizes or visits are of two people, and those who are asked."""
    parts: dict[Names, dict[Label, list[int]]] = defaultdict(lambda: defaultdict(list))
    for i, (key, label) in enumerate(zip(keys, labels, strict=True)):
        parts[key][label].append(i)
    new, unclear = list(keys), set[Names]()
    for key, visits in parts.items():
        mixed = {label: groups for label, mine in visits.items() if len(groups := _by_sizes(facts, mine)) > 1}
        stated = [[facts[i] for i in mine] for mine in visits.values()]
        if any(are_alike(*pair) is False for pair in combinations(stated, 2)):
            mixed = {label: mixed.get(label, [mine]) for label, mine in visits.items()}
        for label, groups in mixed.items():
            for number, mine in enumerate(groups, start=1):
                for i in mine:
                    new[i] = (*key, *filter(None, (label[0], *label[1])), *([str(number)] if groups[1:] else []))
                    unclear.add(new[i])
        if mixed:
            unclear.add(key)
    return new, unclear | {key for key in new if asked or not all(key)}


def _by_sizes(facts: Sequence[Facts], files: Sequence[int]) -> list[list[int]]:
    """Return the files of one visit by the sizes that they state; those that state none are with the first."""
    groups: list[list[int]] = []
    for i in sorted(files, key=lambda i: not facts[i].sizes):
        fitting = next((group for group in groups if not differ(facts[group[0]].sizes, facts[i].sizes)), None)
        if fitting is None:
            groups.append([i])
        else:
            fitting.append(i)
    return groups


def _sessions(
    facts: Sequence[Facts], keys: Sequence[Names], labels: Sequence[Label], conditions: Sequence[Names]
) -> tuple[list[str], list[str]]:
    """Return the visit of each file, and what tells its session from others of the visit; empty where there is one.

    Visits are those in words, unless all statics are outside of visits or visits hold only statics or only walks;
    within them, unknown folders of which several have a static and walks. Conditions part a visit if each has a static.
    """
    visits, tails = [""] * len(facts), [""] * len(facts)
    people = defaultdict(list)
    for i, key in enumerate(keys):
        people[key].append(i)
    for mine in people.values():
        kinds = kinds_in(facts, {i: (labels[i][0],) for i in mine})
        statics = [visit for (visit,), kind in kinds.items() if True in kind]
        split = len(kinds) > 1 and not are_apart([*kinds.values()]) and statics != [""]
        within = defaultdict(list)
        for i in mine:
            within[labels[i][0] if split else ""].append(i)
        for visit, those in within.items():
            folders = {i: tuple(filter(None, labels[i][1])) for i in those}
            inside = [*kinds_in(facts, folders).values()]
            parted = BOTH in inside and sum(False in kind for kind in inside) > 1
            for i in those:
                visits[i] = "-".join(filter(None, (visit, *(folders[i] if parted else ()))))
            for some in {visits[i]: [j for j in those if visits[j] == visits[i]] for i in those}.values():
                of_session = _paired_with_statics(facts, {i: conditions[i] for i in some})
                for i, text in of_session.items():
                    tails[i] = text
    return visits, tails


def _paired_with_statics(facts: Sequence[Facts], conditions: Mapping[int, Names]) -> dict[int, str]:
    """Return the condition of each file if statics of several have it and every walk one of these, else nothing."""
    texts = {i: "-".join(condition) for i, condition in conditions.items()}
    statics, walks = ({texts[i] for i in texts if facts[i].stands is stands} for stands in (True, False))
    if len(statics) < 2 or not walks <= statics:
        return {}
    return {i: (text if text in statics else min(statics)) or "plain" for i, text in texts.items()}


def _told_visits(
    keys: Sequence[Names], visits: Sequence[str], tails: Sequence[str], parts: Sequence[Parts]
) -> list[tuple[str, str, int | None]]:
    """Return visit, date, and place of the visit among those of its person, None if it is not known, of each file."""
    people: dict[Names, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for i, key in enumerate(keys):
        people[key][visits[i]].append(i)
    found: list[tuple[str, str, int | None]] = [("", "", 1)] * len(keys)
    certain = all(len(word.days) < 2 for one in parts for word in one.visits)
    for mine in people.values():
        words = {visit: max((parts[i].visits for i in files), key=len) for visit, files in mine.items()}
        several = len(mine) > 1
        places, sound = places_of_visits(words) if several else (dict.fromkeys(mine, 1), True)
        certain &= sound
        for visit, files in mine.items():
            is_birthday = any(parts[i].birthday for i in files) and not several
            day = next((word.days[0] for word in words[visit] if word.days and not is_birthday), "")
            name = "-".join(word.plain for word in words[visit] if word.kind == "visit" and not is_birthday)
            if not name and several and not day:
                name = identifier(visit, "") or "first-folder"
            elif not name and not day and len({tails[i] for i in files}) > 1:
                name = "1"  # of one visit, with a session for each static
            for i in files:
                found[i] = (name, day, places.get(visit))
    if certain:
        return found
    dated = {visit for visit, day, _ in found if day and not visit}
    return [
        (visits[i] if dated and day and not visit else visit, "", place) for i, (visit, day, place) in enumerate(found)
    ]


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
    words = read_words(text)
    if not is_code(text):
        return all(word.kind for word in words)
    unknown = [word for word in re.findall(r"[^\W\d_]{3,}", text) if not read_words(word)[0].kind]
    return text.isascii() and (bool(GLUED.fullmatch(text)) or not unknown)


def _only_name(files: Sequence[Contents], columns: Columns) -> str:
    """Return the id of the only person: a code that all folders or file names have, or the subject in the files."""
    sets = [{*columns[place]} for place in sorted(columns, key=lambda place: (place[0], -place[1] * (place[0] == 0)))]
    sets.append({*filter(None, map(subject_of, files))})
    texts = [text for texts in sets if len(texts) == 1 for text in texts]
    return next((text for text in texts if is_code(text) and _is_id(text)), "sub-01")


def _subjects(files: Sequence[Contents]) -> list[str]:
    """Return the subject of each file; a file without one has the only one of the others."""
    found = [subject_of(file) for file in files]
    only = {*found} - {""}
    return [name or (*only, "")[0] for name in found] if len(only) == 1 else found


def _by_subject_where_shared(files: Sequence[Contents], keys: Sequence[Names], parts: Sequence[Parts]) -> list[Names]:
    """Return the people, in folders with a file of several people by their subjects."""
    result = list(keys)
    folders = [tuple(text for place, text in one.unknown.items() if place[0] == 0) for one in parts]
    for folder in {key for file, key in zip(files, keys, strict=True) if file.has_several_people}:
        mine = [i for i, key in enumerate(keys) if key == folder]
        inside = folder or (folders[mine[0]][-1:] if len({folders[i] for i in mine}) == 1 else ())
        for i, subject in zip(mine, _subjects([files[i] for i in mine]), strict=True):
            result[i] = (subject,) if (subject,) in keys or not inside else (*inside, subject)
    return result
