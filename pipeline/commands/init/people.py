"""Participants, visits, sessions and conditions of recordings, by what their paths say and what the files state.

What the parts of names that are no words say is decided by what they vary with: where they differ, codes of people or
files that state different subjects or sizes make them people; files that state the same subject or sizes make them
visits of one person; and names that only walks have are conditions. What these cannot tell is asked for.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import gcd

from ...conventions import FROM_HIP
from ...steps.read.recording_contents import CLOSE_HEELS_M, Contents
from ...vocabulary.marker_labels import is_code
from ...vocabulary.name_words import (
    WORDS,
    Word,
    is_person_code,
    is_slip,
    kind_of,
    places_of_visits,
    read_words,
    tells_a_day,
    words_of,
)
from ..shared.trial_roles import UNUSED, identifier, identifiers
from .evidence import (
    BOTH,
    NO_WALKS,
    Columns,
    Facts,
    Names,
    are_alike,
    are_trials,
    differ,
    facts_of,
    find_levels,
    grouped,
    kinds_in,
    part_columns,
    subject_of,
)
from .name_parts import ROLES, Parts, Place, take_apart

GLUED = re.compile(r"[a-z]+\d+[a-z]{0,2}", re.IGNORECASE)  # sample28
NAME_AND_NUMBER = re.compile(r"[A-Z][a-z]{2,}\d+")  # Anna02
SIGNS = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|[\W_]|(?<!\d)0+(?=\d)")  # in which names of one person may differ
# numbers, but not 5 in 5kmh, and single letters, also a capital behind a word, in which the names of trials may differ
COUNTS = re.compile(r"\d+(?!\d|[^\W\d_]{2})|(?<![^\W\d_])[^\W\d_](?![^\W\d_])|(?<=[a-z])[A-Z](?![^\W\d_])|[\W_]")
SPACED_NUMBER = re.compile(r"[-_ ]*(?<!\d)(\d{1,4})(?!.*\d)")  # a longer one counts nothing
COUNTED_VISIT = re.compile(r"[^\W\d_]{1,2}[-_ ]?\d+")  # T01, which may be a trial
BIDS_LABEL = re.compile(r"sub-[^\W_]+")  # by its rule of a person
LONG_NUMBER = re.compile(r"\d{5}")
ENDING = re.compile(r"(?<=[a-z]{4})[ao](?![a-z])")  # of an adjective in Romance languages: descalzo, descalza
COUNT = re.compile(r"0\d+")  # of trials: walk_03_bad
AMOUNT = re.compile(r"([^\W\d_]{3,})(\d+)")  # min05, which may count trials
LETTERS = re.compile(r"[^\W\d_]{3,}")
SIDES = WORDS["side"].keys()
WITHOUT_NUMBER = re.compile(r"[\W_]*\d+$")
PIECES = re.compile(r"[^\W\d_]+|\d+(?![^\W_])")
BARE_PLATES = {"zero", "zeros", "empty", "emptyplates", "noise"}
WALKED_M = 1.0  # farther than anybody moves in a static trial
NOT_KNOWN = "n/a"
NOBODY = "sub-01"  # the id of the only person if no name is fit for one


@dataclass
class Trial:
    """A recording, and what is found of its person and visit."""

    file: Contents
    facts: Facts  # what the file states
    parts: Parts  # what its path says
    names: Names = ()  # that tell its person from others
    asked: bool = False  # whether names and files do not tell the person
    folders: Names = ()  # unknown ones that name no person
    conditions: Names = ()
    has_birthday: bool = False  # whether its only date is beside what names the person, or may
    visit_key: str = ""  # tells its visit from others of the person; empty if there is one
    is_slip: bool = False  # whether its condition may be another one
    static: str = ""  # the condition of its static, if the visit has a session for each static
    place: int | None = None  # of the visit among those of the person, from 1; None if it is not known
    # cells of the tables
    person: str = ""  # participant_id; a proposal if it is asked
    hidden: bool = False  # whether a number replaces what may be a person's name
    session: str = ""
    visit: str = ""  # such as pre or visit-2
    date: str = ""  # of the visit, as in ISO 8601
    condition: str = ""
    trial: str = ""  # its name

    @property
    def key(self) -> tuple[Names, str, str]:
        """What tells its session from others."""
        return self.names, self.visit_key, self.static


def people_and_sessions(files: Sequence[Contents]) -> list[Trial]:
    """Return of each file to whom it belongs, by its path, else by its subject, and what else its path says."""
    parts = take_apart([file.name for file in files])
    _drop_roles_that_motion_denies(files, parts)
    facts = facts_of(files, [one.roles for one in parts])
    trials = [Trial(*one) for one in zip(files, facts, parts, strict=True)]
    _drop_numbers_of_trials(trials)  # a number that other visits have for trials counts no visits
    columns = _columns_of_unknown_words(parts)
    only = _only_name(files, columns)
    _share_out_unknown_words(trials, columns, only)  # files of one person state one subject and its sizes
    _take_words_in_place_of_visits(trials)  # a word where a person's other files name the visit is one of visits
    _part_mixed_people(trials)  # nobody has two sizes on a day
    _part_groups(trials)  # the first control is not the first patient
    _find_sessions(trials)  # a visit has statics and walks; a role alone is none
    _find_sessions(_part_by_names(trials))  # names that differ by a number at their end alone tell the same
    _count_folders(trials)  # numbers alone tell the order
    _fill_in_visits(trials)  # dates tell it, else words
    _ask_of_people(trials)  # signs and years tell no two people apart
    _ask_of_words(trials)  # a condition has no word of its person, and no slip
    _ask_of_conditions(trials)  # a count, a side or another word for walking may tell no conditions apart
    _ask_of_visits(trials)  # T01 without a static may be a trial
    _fill_in_cells(trials, only, columns)  # nobody's name stands in a table
    return trials


def _drop_roles_that_motion_denies(files: Sequence[Contents], parts: Sequence[Parts]) -> None:
    """Drop words for bare plates where feet step, zero_3kmh, and of joints in far walks if nothing else walks."""
    steps = [file.stride_m >= CLOSE_HEELS_M for file in files]
    has_walks = any(
        step and {*NO_WALKS, "static"}.isdisjoint(one.roles) for step, one in zip(steps, parts, strict=True)
    )
    for file, step, one in zip(files, steps, parts, strict=True):
        walks_far = file.shown.extent_m > WALKED_M and not has_walks  # OWN_KNEE_1
        denied = {*(BARE_PLATES if step else ()), *(FROM_HIP if walks_far else ())}
        said = {word.plain for word in one.stem if word.kind in NO_WALKS}
        if said and said <= denied:
            one.roles = [role for role in one.roles if role not in NO_WALKS]


def _columns_of_unknown_words(parts: Sequence[Parts]) -> Columns:
    """Return the columns of unknown words; folders from the top, or from below if then more of them are alike."""
    places = sorted({place for one in parts for place in one.unknown})
    above = {place: tuple(one.unknown.get(place, "") for one in parts) for place in places}
    depth = sum(kind == 0 for kind, _ in places)
    less = [depth - sum(kind == 0 for kind, _ in one.unknown) for one in parts]
    below = {(0, k): tuple(one.unknown.get((0, k - n), "") for one, n in zip(parts, less, strict=True))
             for k in range(depth)}  # fmt: skip
    return min(above, above | below, key=lambda columns: sum(len({*column}) for column in columns.values()))


def _share_out_unknown_words(trials: Sequence[Trial], columns: Columns, only: str) -> None:
    """Set who the people are, by some columns of unknown words, and folders and conditions, by the others."""
    facts = [trial.facts for trial in trials]
    people, others = part_columns(facts, columns, [one.parts.visit for one in trials])
    levels = _find_people(trials, people, only)
    further = {place: column for place, column in people.items() if place not in levels}
    conditions = [column for place, column in further.items() if place[0] == 0 and _has_conditions(column, trials)]
    folders = [column for place, column in further.items() if place[0] == 0 and column not in conditions]
    inside = [(trial.parts.visit, *trial.parts.conditions, *trial.names) for trial in trials]
    named = [column for place, column in further.items() if place[0]] + [*others.values()]
    named = [column for column in named if not are_trials(facts, column, inside)]
    days = [{word.days for one in mine for word in one.parts.visits if word.days} for mine in _by_person(trials)]
    are_visits = any(len(of_person) > 1 for of_person in days)  # nobody has two birthdays
    for i, trial in enumerate(trials):
        trial.folders = tuple(column[i] for column in folders if column[i])
        trial.parts.conditions += [column[i] for column in conditions if column[i]]
        trial.conditions = (*trial.parts.conditions, *(column[i] for column in named if column[i]))
        beside, names = trial.parts.beside_date, trial.names or (only,)
        may_be_named = bool(beside) and not is_person_code(beside)
        trial.has_birthday = may_be_named and not are_visits and (beside in names or names == (NOBODY,))


def _fill_in_cells(trials: Sequence[Trial], only: str, columns: Columns) -> None:
    """Set the cells of each trial but for those of its visit, without unknown words that may be people's names."""
    ids, hidden = _ids([trial.names for trial in trials], only)
    shown = {text for one in trials if not one.asked for text in one.conditions}
    texts = {text for column in columns.values() for text in column}.union(*hidden)
    names = {text for text in texts if not is_code(text) or NAME_AND_NUMBER.fullmatch(text)}
    hidden_words = {word for text in names for word in re.findall(r"[^\W\d_]{3,}", text)}.difference(shown)
    sessions = identifiers(
        {one.key: "_".join(filter(None, (ids[one.names], one.visit_key, one.static))) for one in trials}, "session"
    )
    for one in trials:
        fit = [text for text in dict.fromkeys(one.conditions) if not any(word in text for word in hidden_words)]
        one.condition = "-".join(filter(None, fit))
    for mine in _read_apart(((one.key, one.condition), one.conditions, one) for one in trials if not one.facts.stands):
        for one in mine:  # only what may be a name tells these apart
            one.is_slip |= any(word in text for text in one.conditions for word in hidden_words)
    spelt: dict[str, str] = {}  # DualTask and Dual_Task are one, 1.5deg and 15deg are not
    for one in trials:
        text = spelt.setdefault(re.sub(r"(?<!\d)[\W_]|[\W_](?!\d)", "", one.condition.lower()), one.condition)
        one.condition = NOT_KNOWN if one.is_slip else text
        one.person, one.session, one.hidden = ids[one.names], sessions[one.key], one.names in hidden
        one.trial = one.parts.trial(shown, hidden_words)


def _drop_numbers_of_trials(trials: Sequence[Trial]) -> None:
    """Take numbers at the ends of names from visits if others have those of trials there: baseline01, followup01."""
    ends = [[word.kind for word in one.parts.stem[-2:]] for one in trials if not one.parts.ends_with_visit_number]
    if ["visit", "run"] in ends or ["visit", "number"] in ends:
        for one in trials:
            if one.parts.ends_with_visit_number:
                last = one.parts.visits.pop()
                text = WITHOUT_NUMBER.sub("", last.text)
                bare = [last._replace(text=text, number="")] if text else []
                one.parts.visits += bare
                one.parts.telling = [of for word in one.parts.telling for of in (bare if word == last else [word])]


def _find_people(trials: Sequence[Trial], people: Columns, only: str) -> tuple[Place, ...]:
    """Set what tells the person of each trial from others, and whether it is asked; return the columns with it."""
    facts = [trial.facts for trial in trials]
    are_shared = any(trial.file.has_several_people for trial in trials)
    if are_shared:
        people = {place: column for place, column in people.items() if place[0] == 0}
    name_visits = all(one.parts.visits and not one.parts.beside_date for one in trials)
    name_visits |= len({one.parts.group for one in trials}) > 1
    has_code = any(only in one.parts.unknown.values() for one in trials)  # of the only person
    levels, asked = find_levels(facts, people, visits_are_named=name_visits and not has_code)
    for i, trial in enumerate(trials):
        trial.names = tuple(people[place][i] for place in levels) or (only,) * has_code
    if are_shared:
        _name_by_subjects_where_shared(trials)
    elif not (levels or has_code):
        asked = _find_people_by_subjects(trials)
    elif _may_be_one(trials, are_files=any(kind == 1 for kind, _ in levels)):
        subjects = {one.subject for one in facts}
        if len(subjects) == 1 and subjects <= {
            text for one in trials for text in (*one.parts.unknown.values(), *one.names)
        }:
            asked = False
            for trial in trials:
                trial.names = tuple(subjects)
        elif not _have_codes(trials):
            asked = True
            _doubt(one for one in trials if not all(map(is_code, one.names)))  # they may be names of conditions
    asked |= not any(one.names for one in trials) and _may_visits_be_people(trials)
    asked &= not all(len(one.names) == 1 and BIDS_LABEL.fullmatch(one.names[0]) for one in trials)
    for trial in trials:
        trial.asked |= asked or not all(trial.names)
    return levels


def _find_people_by_subjects(trials: Sequence[Trial]) -> bool:
    """Set the subject as person where names tell none; return whether it is asked."""
    facts, subjects = [trial.facts for trial in trials], _subjects([trial.file for trial in trials])
    levels, asked = find_levels(facts, {(2, 0): tuple(subjects)}, visits_are_named=True)
    if not levels or len({one.subject for one in facts} - {""}) < 2:
        return False
    for trial, subject in zip(trials, subjects, strict=True):
        trial.names = (subject,)
    return asked or (_may_be_one(trials) and not _have_codes(trials))


def _may_visits_be_people(trials: Sequence[Trial]) -> bool:
    """Return whether visits may be people, and take counted ones for people.

    Months may be: 2021-04 is the fourth person of a year. So may counted visits that hold several others, as W1_PRE,
    W1_POST and W2_PRE, or several days, as J08/2020-01-13, J08/2020-02-24 and J10/2020-01-27, and those of which none
    is the first, V08 and V09.
    """
    visits = {word.plain: word for one in trials for word in one.parts.visits}
    if len(visits) > 1 and all(word.kind == "date" and not word.days for word in visits.values()):
        return True
    counted = [[of for of in one.parts.visits if COUNTED_VISIT.fullmatch(of.text)][:1] for one in trials]
    others = [[of for of in one.parts.visits if of not in word] for one, word in zip(trials, counted, strict=True)]
    pairs = {(word[0].text, *(of.plain for of in rest)) for word, rest in zip(counted, others, strict=True) if word}
    people, inside = Counter(pair[0] for pair in pairs), Counter(pair[1:] for pair in pairs)
    have_days = len(people) > 1 and all(word.kind == "date" for rest in others for word in rest)
    are_both = all(map(all, zip(counted, others, strict=True)))
    numbers = [int(re.sub(r"\D", "", text)) for text in people]
    go_on = all(counted) and not any(others) and len(people) > 1 < min(numbers) and gcd(*numbers) == 1
    if not go_on and (not are_both or max(people.values()) == 1 or (max(inside.values()) == 1 and not have_days)):
        return False
    for one, word, rest in zip(trials, counted, others, strict=True):
        one.names, one.parts.visits = (word[0].text,), rest
    return True


def _may_be_one(trials: Sequence[Trial], *, are_files: bool = True) -> bool:
    """Return whether each of several people has a visit of their own; if folders name them, not only by its day."""
    if not are_files and any(word.kind == "date" for one in trials for word in one.parts.visits):
        return False
    pairs = {(one.parts.visit, one.names) for one in trials}
    return len(pairs) == len({person for _, person in pairs}) == len({visit for visit, _ in pairs}) > 1


def _have_codes(trials: Sequence[Trial]) -> bool:
    texts = [text for trial in trials for text in trial.names]
    return all(is_person_code(text) or BIDS_LABEL.fullmatch(text) for text in texts)


def _has_conditions(column: Names, trials: Sequence[Trial]) -> bool:
    """Return whether unknown folders are of conditions: one has a word for one as well, or a visit in words several."""
    visits = grouped(((one.names, one.parts.visit), name) for one, name in zip(trials, column, strict=True))
    beside = {text for one in trials for text in one.parts.beside_condition}
    return bool(beside & {*column}) or any(visit and len({*names}) > 1 for (_, visit), names in visits.items())


def _take_words_in_place_of_visits(trials: Sequence[Trial]) -> None:
    """Take an unknown word for one of visits if a person's files have it where others of that person name a visit.

    Ask if only some of these files have such words: all recordings of a person are of visits, or none.
    """
    words = set[str]()
    for mine in _by_person(trials):
        bare, named = ([one for one in mine if bool(one.parts.visits) == has] for has in (False, True))
        if bare and named:
            told = {"", *(text for one in named for text in (*one.conditions, *one.folders))}
            texts = [(*one.conditions, *one.folders) for one in bare]
            own = [{text for text in of if "condition" not in map(kind_of, words_of(text))} for of in texts]
            words |= (shared := set.intersection(*own) - told)
            if not shared and set[str]().union(*own) - told and any(one.facts.stands for one in named):
                _doubt(mine)
    for one in trials:
        one.parts.visits += [Word("visit", text) for text in (*one.conditions, *one.folders) if text in words]
        one.conditions = tuple(text for text in one.conditions if text not in words)
        one.folders = tuple(text for text in one.folders if text not in words)


def _part_mixed_people(trials: Sequence[Trial]) -> None:
    """Part people of whom a visit has two sizes, or visits are of two people, and ask who they are."""
    for of_person in _by_person(trials):
        visits = grouped(((one.parts.visit, one.folders), one) for one in of_person)
        groups = {label: _by_sizes(mine) for label, mine in visits.items()}
        pairs = combinations([[one.facts for one in mine] for mine in visits.values()], 2)
        are_several = any(are_alike(*pair) is False for pair in pairs)
        for (visit, folders), of_visit in groups.items():
            for number, group in enumerate(of_visit if of_visit[1:] or are_several else [], start=1):
                for one in group:
                    one.names = (*one.names, *filter(None, (visit, *folders, str(number) if of_visit[1:] else "")))
        for one in of_person:
            one.asked |= are_several or any(len(of_visit) > 1 for of_visit in groups.values())


def _by_sizes(trials: Sequence[Trial]) -> list[list[Trial]]:
    """Return the trials of one visit by the sizes that they state; those that state none are with the first."""
    groups: list[list[Trial]] = []
    for trial in sorted(trials, key=lambda trial: not trial.facts.sizes):
        fitting = next((group for group in groups if not differ(group[0].facts.sizes, trial.facts.sizes)), [])
        groups += [] if fitting else [fitting]
        fitting.append(trial)
    return groups


def _part_groups(trials: Sequence[Trial]) -> None:
    """Keep people of one name in several groups, such as controls and patients, apart; ask if they have no name.

    A control in a person's folder is a visit, Rossi/control, unless there is another group or a folder of patients.
    Whose a folder ``old`` in that of a person is, is asked; it is not used if it has the names of files beside it.
    """
    controls = [one for one in trials if one.parts.group.startswith(("control", "kontroll"))]
    folders = {folder.lower() for one in trials for folder in one.file.name.split("/")[:-1]}
    if len(controls) == sum(bool(one.parts.group) for one in trials) and not folders & WORDS["person"].keys():
        for one in controls:
            one.parts.group = "" if one.names and {*one.names} <= {*one.parts.above_group} else one.parts.group
    for mine in _by_person(trials):
        beside = {one.file.name for one in mine if not one.parts.group and one.names}
        old = [one for one in mine if one.parts.group == "old" and {*one.names} <= {*one.parts.above_group}]
        _doubt(mine if beside and old else ())
        for one in old:
            if re.sub(r"/old(?=/[^/]+$)", "", one.file.name, flags=re.IGNORECASE) in beside:
                one.parts.roles, one.facts = [UNUSED], one.facts._replace(stands=None)
    for mine in _read_apart((one.names, one.parts.group, one) for one in trials):
        for one in mine:
            one.asked |= not one.names
            one.names = (one.parts.group, *one.names)


def _by_person(trials: Sequence[Trial]) -> list[list[Trial]]:
    return [*grouped((one.names, one) for one in trials).values()]


def _read_apart(readings: Iterable[tuple[Hashable, Hashable, Trial]]) -> list[list[Trial]]:
    """Return trials that are alike in the first of two ways to read them, but not in the second, together."""
    alike = grouped((first, (second, trial)) for first, second, trial in readings).values()
    return [[trial for _, trial in mine] for mine in alike if len({second for second, _ in mine}) > 1]


def _part_by_names(trials: Sequence[Trial]) -> list[Trial]:
    """Part trials that are read alike though their names differ in words, or apart by a number alone, and ask.

    A second reading, whatever the words mean: names that differ in the number at their end alone tell of one person,
    visit and condition; others do not, nor do files of one name in two folders. Return the trials in doubt.
    """
    joined, parted = list[tuple[Hashable, Hashable, Trial]](), list[tuple[Hashable, Hashable, Trial]]()
    for one in trials:
        if one.facts.stands is not None and not one.file.has_several_people:
            conditions = one.parts.conditions if one.facts.stands else one.conditions
            reading = (one.key, one.facts.stands, frozenset(conditions))
            name = tuple(word.text for word in one.parts.telling)
            stated = (one.facts.stands, one.facts.stated, *sorted(one.facts.sizes.items()))
            joined.append((reading, _words_of_path(one), one))
            parted.append(((name, stated), reading, one))
    same = [((reading, one.parts.name), _folder(one), one) for reading, _, one in joined]
    in_several = {one.names for mine in _read_apart(same) for one in mine}
    people = {one.names for mine in (*_read_apart(joined), *_read_apart(parted)) for one in mine} | in_several
    found = [one for one in trials if one.names in people]
    _doubt(found)
    places = {folder: str(k) for k, folder in enumerate(sorted({*map(_folder, found)}))}
    for one in found:
        folder = [places[_folder(one)]] if one.names in in_several else []
        one.names = (*one.names, *sorted(_words_of_path(one)), *folder)
    return found


def _folder(trial: Trial) -> Names:
    """Return the words of a recording's folder, without those of a copy."""
    return tuple(word.text for word in read_words(trial.file.name.rpartition("/")[0]) if word.kind != "copy")


def _doubt(trials: Iterable[Trial]) -> None:
    """Mark recordings that fit several readings: whose they are, and of which condition, is asked."""
    for one in trials:
        one.asked = one.is_slip = True


def _words_of_path(trial: Trial) -> frozenset[str]:
    """Return the words of a path but for those of roles and trials."""
    words = (word.plain for word in trial.parts.telling if word.kind not in (*ROLES, "copy", "place"))
    return frozenset(text for text in words if not re.fullmatch("[a-z]", text))


def _ask_of_people(trials: Sequence[Trial]) -> None:
    """Ask about people whose names differ only in signs, years or leading zeros, or are words for visits."""
    kinds = [{*map(kind_of, words_of(name))} for one in trials for name in one.names if not GLUED.search(name)]
    if any({"", "person"}.isdisjoint(of) and of & {"condition", "visit"} for of in kinds):
        _doubt(trials)
    for mine in _read_apart((SIGNS.sub("", "_".join(one.names)), one.names, one) for one in trials):
        for one in mine:
            one.asked = True


def _ask_of_words(trials: Sequence[Trial]) -> None:
    """Ask about conditions with a word of their person, a long number or a slip, or any if people are asked."""
    walks = [one for one in trials if not one.facts.stands]
    seen = Counter(word for one in walks for word in words_of(one.file.name))
    unknown = [[text for text in one.conditions if text not in (*one.parts.conditions, "")] for one in walks]
    words = [{word for text in texts for word in PIECES.findall(text.lower())} for texts in unknown]
    slips = {
        a
        for a in set[str]().union(*words)
        if not kind_of(a) and any(is_slip(a, b) for b in seen if kind_of(b) or seen[b] > seen[a])
    }
    for one, texts, own in zip(walks, unknown, words, strict=True):
        of_person = {*PIECES.findall(" ".join(one.names).lower())}
        one.is_slip |= bool(own & (of_person | slips)) or any(is_slip(a, b) for a in own for b in of_person)
        may_be_swapped = len([*filter(None, one.names)]) > 1 or not all(map(is_code, texts))
        one.is_slip |= one.asked and may_be_swapped  # a name of these may be that of a condition
        one.is_slip |= any(LONG_NUMBER.search(text) for text in one.conditions)


def _ask_of_conditions(trials: Sequence[Trial]) -> None:
    """Ask where words for walking differ in a condition, each has left and right, or a count alone tells them apart.

    So may words beside those of visits be conditions if each visit of a person has another one, wk0_own and wk12_new,
    words with another ending, descalzo and descalza, words behind the number of a trial, walk_03_bad, and numbers of
    which none is the next of another one, cad160 and cad176.
    """
    walks = [one for one in trials if not one.facts.stands]
    named = [(one, {word.plain for word in one.parts.stem if word.kind == "walk"}) for one in walks]
    named = [(one, ways) for one, ways in named if ways and one.parts.roles[:1] == ["walk"]]
    doubted = _read_apart(((one.key, one.conditions), frozenset(ways), one) for one, ways in named)
    of_walks = [{*words_of("-".join(one.conditions))} for one in walks]
    sides = grouped((frozenset(words - SIDES), frozenset(words & SIDES)) for words in of_walks)
    if (len(sides) > 1 or {*sides} == {frozenset()}) and all(len({*of}) > 1 and all(of) for of in sides.values()):
        doubted.append(walks)
    texts = [("-".join(filter(None, one.conditions)), one) for one in walks]
    counted = _read_apart(((one.key, COUNTS.sub("", text)), text, one) for text, one in texts if text)
    doubted += [mine for mine in counted if len({one.conditions for one in mine}) == len(mine)]
    for mine in _by_person(walks):
        beside = grouped((one.visit_key, frozenset(LETTERS.findall("-".join(one.folders)))) for one in mine)
        words = {word for of_visit in beside.values() for word in of_visit}
        doubted += [mine] if len(words) == len(beside) > 1 and all(words) and mine[0].parts.visits else []
    doubted += _read_apart((ENDING.sub("", text), text, one) for text, one in texts)
    doubted.append([one for one in walks if any(COUNT.fullmatch(text) for text in one.conditions)])
    unknown = [(AMOUNT.fullmatch(word.text), one) for one in walks for word in one.parts.stem if not word.kind]
    amounts = [(of, one) for of, one in unknown if of and of[0] not in "-".join((*one.names, *one.conditions))]
    for same in grouped((of[1], (int(of[2]), one)) for of, one in amounts).values():
        numbers = sorted({number for number, _ in same})
        if len(numbers) > 1 and all(b - a > 1 for a, b in pairwise((0, *numbers))):
            doubted.append([one for _, one in same])
    for one in (one for mine in doubted for one in mine):
        one.is_slip = True


def _ask_of_visits(trials: Sequence[Trial]) -> None:
    """Ask about folders that may be visits, and T01, which may be trials, if only some have a static."""
    for mine in _by_person(trials):
        if any(not one.parts.visits for one in mine) and len({one.visit_key for one in mine}) > 1:
            _doubt(mine)
        have_static = {one.visit_key for one in mine if one.facts.stands}
        named = [one for one in mine if one.visit_key]
        counted = [one for one in named if all(COUNTED_VISIT.fullmatch(of.text) for of in one.parts.visits)]
        if have_static and {one.visit_key for one in counted} - have_static:
            _doubt(counted)


def _folders_of_visits(trials: Sequence[Trial]) -> set[Names]:
    """Return the unknown folders of a person that are visits: several have walks, and one has statics too."""
    inside = kinds_in((trial.folders, trial.facts) for trial in trials)
    are_visits = BOTH in inside.values() and sum(False in kind for kind in inside.values()) > 1
    return inside.keys() - {()} if are_visits else set()


def _find_sessions(trials: Sequence[Trial]) -> None:
    """Set the visit of each trial, and what tells its session from others of the visit.

    Visits are those in words, unless all statics are outside of visits without a day, or visits hold one role alone;
    within them, unknown folders of which several have a static and walks, of this person or another one. Conditions
    part a visit if each has a static.
    """
    by_visit = grouped(((one.names, one.parts.visit), one) for one in trials).values()
    shared = {folders for mine in by_visit for folders in _folders_of_visits(mine)}
    for mine in _by_person(trials):
        visits = grouped((visit, one) for visit, one in zip(_visits_in_words(mine), mine, strict=True))
        for visit, of_visit in visits.items():
            has_folders = {one.folders for one in of_visit} <= shared or bool(_folders_of_visits(of_visit))
            for one in of_visit:
                one.visit_key = "-".join(filter(None, (visit, *(one.folders if has_folders else ()))))
            for of_folder in grouped((one.visit_key, one) for one in of_visit).values():
                _pair_with_statics(of_folder)
        for one in mine if len({(one.parts.visit, one.folders) for one in mine}) > 1 else ():
            one.conditions += () if one.visit_key else (one.parts.visit, *one.folders)


def _visits_in_words(trials: Sequence[Trial]) -> list[str]:
    """Return the visit of each trial of a person by its words, empty texts if these are of no visits."""
    kinds = kinds_in((one.parts.visit, one.facts) for one in trials)
    statics = [visit for visit, kind in kinds.items() if True in kind]
    are_apart = {True} in kinds.values() and {False} in kinds.values() and BOTH not in kinds.values()
    days = {one.parts.visit: one.parts.visits for one in trials if one.parts.visit}
    are_days = all(any(map(tells_a_day, words)) for words in days.values())
    if len(kinds) == 1 or (statics == [""] and not are_days):
        return [""] * len(trials)
    if are_apart and statics != [""]:
        _doubt(trials)  # these words part statics from walks
    if kinds.get("") == {True} and (places := places_of_visits(days)[0]):
        for one in trials:  # a static above the folders of visits is taken for that of the first one
            one.parts.visits = one.parts.visits or [*days[min(places, key=places.__getitem__)]]
    return [one.parts.visit for one in trials]


def _pair_with_statics(trials: Sequence[Trial]) -> None:
    """Part a visit by conditions if several have a static and every walk has one of these."""
    conditions = ["-".join(trial.conditions) for trial in trials]
    kinds = kinds_in(zip(conditions, (trial.facts for trial in trials), strict=True))
    statics, walks = ({text for text, kind in kinds.items() if stands in kind} for stands in (True, False))
    masses = {one.facts.sizes.get("mass_kg") for one in trials if one.facts.stands}
    are_known = len({*conditions}) == len({(*one.parts.conditions,) for one in trials})
    are_known |= bool(trials[0].parts.visits) or (len(masses) == 1 and None not in masses)  # else they may be of visits
    counted = {COUNTS.sub(lambda found: "#" if found[0].isalpha() else "", name) for name in statics}
    for trial, text in zip(trials, conditions, strict=True) if len(statics) > 1 and walks <= statics else ():
        trial.static = (text if text in statics else min(statics)) or "plain"
        if not are_known or len(counted) == 1:
            trial.asked = trial.is_slip = True


def _count_folders(trials: Sequence[Trial]) -> None:
    """Make folders that a number alone tells apart for some person words of visits with this number."""
    numbered = set[str]()
    for folders in grouped((one.names, " ".join(one.folders)) for one in trials).values():
        names, bare = {*folders}, {SPACED_NUMBER.sub("", name) for name in folders}
        numbered |= names if len(names) > len(bare) == 1 and not names & bare else set()
    for one in trials:
        name = " ".join(one.folders)
        if name in numbered and (number := SPACED_NUMBER.search(name)):
            one.parts.visits += [Word("visit", name, number=number[1])]


def _fill_in_visits(trials: Sequence[Trial]) -> None:
    """Set the cells visit and date of each trial, and the place of its visit.

    There are no dates where some may be read in two ways, or contradict words.
    """
    certain = all(len(word.days) < 2 for one in trials for word in one.parts.visits)
    for mine in _by_person(trials):
        visits = grouped((one.visit_key, one) for one in mine)
        words = {visit: max((one.parts.visits for one in of_visit), key=len) for visit, of_visit in visits.items()}
        places, sound = places_of_visits(words) if len(visits) > 1 else (dict.fromkeys(visits, 1), True)
        certain &= sound
        cells = {visit: _cells_of_visit(of, words[visit], is_only=len(visits) == 1) for visit, of in visits.items()}
        for one in mine:
            one.place = places.get(one.visit_key)
            one.visit, one.date = cells[one.visit_key]
            if [*cells.values()].count(cells[one.visit_key]) > 1:
                one.visit = identifier(one.visit_key, "")
    for one in trials:
        if one.date and not certain:
            one.visit, one.date = one.visit or one.visit_key or one.parts.visit, ""


def _cells_of_visit(trials: Sequence[Trial], words: Sequence[Word], *, is_only: bool) -> tuple[str, str]:
    """Return the cells visit and date of a visit; a date beside a name is a birthday if it is the only one."""
    if is_only and any(trial.has_birthday for trial in trials):
        words = [word for word in words if word.kind != "date"]
    name = "-".join(word.plain for word in words if word.kind == "visit")
    day = next((word.days[0] for word in words if word.days), "")
    if not (name or day) and not is_only:
        name = identifier(trials[0].visit_key, "") or "first-folder"
    elif not (name or day) and len({trial.static for trial in trials}) > 1:
        name = "1"
    return name, day


def _ids(keys: Sequence[Names], only: str) -> tuple[dict[Names, str], set[Names]]:
    """Return the participant_id of each person, and the people of whom a number hides what may be a name."""
    shown = {key: "_".join(filter(None, key)) or ("unsorted" if key else only) for key in keys}
    hidden = {key for key, text in shown.items() if key and not all(_is_id(part) for part in key)}
    if hidden:  # where one is a name, so may be all that have no number, known words too: Sogu beside Lopez
        hidden |= {key for key, text in shown.items() if key and not re.search(r"\d", text)}
    taken = {identifier(text, "").lower() for key, text in shown.items() if key not in hidden}
    free = (text for number in range(1, 10_000) if (text := f"sub-{number:02d}") not in taken)
    texts = {key: next(free) if key in hidden else text for key, text in shown.items()}
    return identifiers(texts, "participant"), hidden


def _is_id(text: str) -> bool:
    """Return whether a text may be shown: words of visits, and codes; not what may be a person's name."""
    words = read_words(text)
    if not is_code(text):
        return all(word.kind for word in words)
    unknown = [word for word in re.findall(r"[^\W\d_]{3,}", text) if not read_words(word)[0].kind]
    glued = GLUED.fullmatch(text) and not NAME_AND_NUMBER.fullmatch(text)
    return text.isascii() and (bool(glued) or not unknown)


def _only_name(files: Sequence[Contents], columns: Columns) -> str:
    """Return the id of the only person: a code that all folders or file names have, or the subject in the files."""
    sets = [{*columns[place]} for place in sorted(columns, key=lambda place: (place[0], -place[1] * (place[0] == 0)))]
    sets.append({*filter(None, map(subject_of, files))})
    texts = [text for texts in sets if len(texts) == 1 for text in texts]
    return next((text for text in texts if is_code(text) and _is_id(text)), NOBODY)


def _subjects(files: Sequence[Contents]) -> list[str]:
    """Return the subject of each file; a file without one has the only one of the others."""
    found = [subject_of(file) for file in files]
    only = {*found} - {""}
    return [name or (*only, "")[0] for name in found] if len(only) == 1 else found


def _name_by_subjects_where_shared(trials: Sequence[Trial]) -> None:
    """Name people by their subjects in folders with a file of several people."""
    folders = grouped((trial.names, trial) for trial in trials)
    for folder, mine in folders.items():
        if not any(trial.file.has_several_people for trial in mine):
            continue
        paths = {tuple(text for place, text in trial.parts.unknown.items() if place[0] == 0) for trial in mine}
        inside = folder or (paths.pop()[-1:] if len(paths) == 1 else ())
        for trial, subject in zip(mine, _subjects([trial.file for trial in mine]), strict=True):
            trial.names = (subject,) if (subject,) in folders or not inside else (*inside, subject)
