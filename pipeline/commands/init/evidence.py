"""Which levels of names in a study are of people, by the names themselves and by what the files state.

A level names people if it has codes of people, or if files that differ in it alone state different subjects; it does
not if they state one subject or the same sizes, or if some names have only statics and the others only walks.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import isclose
from typing import NamedTuple

from ...steps.read.recording_contents import Contents
from ...vocabulary.marker_labels import is_code
from ...vocabulary.name_words import is_person_code, read_name

CODE = re.compile(r"([a-z]{0,12}[-_ ]?)(\d+)[a-z]{0,2}", re.IGNORECASE)
MOST_VISITS = 12  # numbered folders beyond one a month for a year are people
ROUNDING = 1e-3  # of sizes that one program wrote
NO_SIZE = "marker_diameter_m"  # of the lab, not of the person
LABEL, UNKNOWN, CODED, STATED, STEM = range(5)  # whether a level of names is of people: not, ..., with better evidence
BOTH: set[bool | None] = {True, False}  # statics and walks

Names = tuple[str, ...]


class Facts(NamedTuple):
    """What a file states of its person."""

    subject: str
    sizes: dict[str, float]
    stands: bool | None  # None of an unreadable file


def pad(names: Sequence[Names], *, below: bool = False) -> list[Names]:
    """Return names of equal length, with empty ones at the end, or before if they are to be equal ``below``."""
    longest = max(map(len, names), default=0)
    empty = [("",) * (longest - len(parts)) for parts in names]
    return [more + parts if below else parts + more for more, parts in zip(empty, names, strict=True)]


def find_levels(
    facts: Sequence[Facts], names: Sequence[Names], *, of_files: bool = False
) -> tuple[tuple[int, ...], bool]:
    """Return the levels of names that tell people apart, and whether that is asked.

    Args:
        of_files: whether the names are parts of file names. They name people only if several of them have a static
            and walks, or if they are codes with a word for a person.
    """
    columns = _open_columns(facts, names, of_files=of_files)
    scores: dict[int, int] = {}
    while True:
        scores = {
            k: _score(facts, column, [other for j, other in columns.items() if j != k]) for k, column in columns.items()
        }
        if LABEL not in scores.values():
            break
        columns = {k: column for k, column in columns.items() if scores[k] != LABEL}
    best = max(columns, key=lambda k: scores[k], default=-1)
    if best < 0:
        return (), False
    if scores[best] == UNKNOWN or list(scores.values()).count(scores[best]) > 1:
        return tuple(columns), True
    levels = [best]
    for k, column in columns.items():
        pairs = len(set(zip(column, columns[best], strict=True)))
        if k < best and pairs > len(set(columns[best])):  # a person in several of these: visits, or namesakes
            if scores[k] == STATED:
                levels.insert(0, k)
            elif scores[best] != STATED:
                return (k, best), True
        elif k != best and scores[best] == CODED and (k < best or pairs == len(set(column))):
            return tuple(sorted((k, best))), True
    return tuple(levels), False


def _open_columns(facts: Sequence[Facts], names: Sequence[Names], *, of_files: bool) -> dict[int, tuple[str, ...]]:
    """Return the names of each level that may tell people apart: none of roles, and none twice (``P1/P1_a``)."""
    columns: dict[int, tuple[str, ...]] = {}
    for k, column in enumerate(zip(*pad(names), strict=True)):
        same = any(
            len({*zip(column, other, strict=True)}) == len({*column}) == len({*other}) for other in columns.values()
        )
        if len(set(column)) > 1 and not same and (not of_files or _repeats(facts, column)):
            columns[k] = column
    return {k: column for k, column in columns.items() if not _are_roles(facts, column)}


def _repeats(facts: Sequence[Facts], column: Sequence[str]) -> bool:
    """Return whether names of a level are codes with a word for a person, or several have a static and walks."""
    if all(is_person_code(name) for name in column):
        return True
    if any(one.stands for one in facts):
        kinds = kinds_in(facts, {i: (name,) for i, name in enumerate(column)})
        return list(kinds.values()).count(BOTH) > 1
    return sum(count > 1 for name, count in Counter(column).items() if name) > 1


def _are_roles(facts: Sequence[Facts], column: Sequence[str]) -> bool:
    """Return whether some names of a level have only statics and the others only walks, of people who may be one."""
    if all(is_person_code(name) for name in column if name):
        return False
    named = defaultdict(list)
    for one, name in zip(facts, column, strict=True):
        named[name].append(one)
    if not are_apart([{one.stands for one in mine} - {None} for mine in named.values()]):
        return False
    return not any(are_alike(*pair) is False for pair in combinations(named.values(), 2))


def are_apart(kinds: Sequence[set[bool | None]]) -> bool:
    """Return whether some have only statics and the others only walks."""
    return {True} in kinds and {False} in kinds and BOTH not in kinds


def _score(facts: Sequence[Facts], column: Sequence[str], others: Sequence[Sequence[str]]) -> int:
    """Return how sure it is that a level names people.

    Args:
        others: the other levels that may; files are compared that differ in this one alone.
    """
    beside = list(zip(*others, strict=True)) if others else [()] * len(facts)
    groups: dict[Names, dict[str, list[Facts]]] = defaultdict(lambda: defaultdict(list))
    for one, name, rest in zip(facts, column, beside, strict=True):
        if name:
            groups[rest][name].append(one)
    verdicts = {are_alike(*pair) for group in groups.values() for pair in combinations(group.values(), 2)}
    named = {name for name in column if name}
    if all(is_person_code(name) for name in named):
        short = any(re.match(r"[ps][-_ ]*\d", name, re.IGNORECASE) for name in named)
        return UNKNOWN if short and True in verdicts else STEM
    if verdicts == {True}:
        return LABEL
    if verdicts == {False}:
        return STATED
    return CODED if verdicts <= {None} and _are_codes(named) else UNKNOWN


def _are_codes(names: set[str]) -> bool:
    """Return whether names are codes of people by their numbers, with three digits or more, or many."""
    found = [match for match in map(CODE.fullmatch, names) if match]
    years = all(not match[1] and 1950 <= int(match[2]) < 2100 for match in found)
    if len(found) < len(names) or len(names) < 2 or years:
        return False
    return len(names) > MOST_VISITS or all(len(match[2]) > 2 and match[1] for match in found)


def facts_of(files: Sequence[Contents]) -> list[Facts]:
    """Return what each file states; a subject without a number that all files have may be that of a template."""
    named = [subject_of(file) for file in files]
    told = {*named} - {""}
    return [
        Facts(
            "" if file.has_several_people or (len(told) == 1 and not is_code(name)) else name,
            {} if file.has_several_people else {size: value for size, value in file.sizes.items() if size != NO_SIZE},
            None if file.problems or any(test.like_a_pole for test in file.plate_tests.values()) else file.stands,
        )
        for file, name in zip(files, named, strict=True)
    ]


def subject_of(file: Contents) -> str:
    """Return the subject in a file, without words of roles and visits if others are there."""
    return read_name(file.subject).person or file.subject


def are_alike(one: Sequence[Facts], other: Sequence[Facts]) -> bool | None:
    """Return whether files are of one person, by subjects and sizes; None if these do not tell, or contradict."""
    subjects, others = ({facts.subject for facts in group} - {""} for group in (one, other))
    pairs = {
        tuple((a[name], b[name]) for name in sorted(a.keys() & b.keys()))
        for a, b in product(_different_sizes(one), _different_sizes(other))
    }
    pairs = {pair for pair in pairs if len(pair) > 1}
    equal = any(all(isclose(a, b, rel_tol=ROUNDING) for a, b in pair) for pair in pairs)
    if not (subjects and others):
        return True if equal else None
    if subjects & others:
        return True if equal or not pairs else None
    return None if equal else False


def _different_sizes(facts: Sequence[Facts]) -> list[dict[str, float]]:
    return list({tuple(sorted(one.sizes.items())): one.sizes for one in facts}.values())


def kinds_in(facts: Sequence[Facts], labels: Mapping[int, Names]) -> dict[Names, set[bool | None]]:
    """Return whether there are statics and walks among the readable files of each label."""
    kinds: dict[Names, set[bool | None]] = defaultdict(set)
    for i, label in labels.items():
        kinds[label] |= {facts[i].stands} - {None}
    return kinds
