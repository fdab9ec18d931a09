"""Which words that a study's names do not share are of people, by these words and by what the files state.

A level of words names people if it has codes of people, or if files that differ in it alone state different subjects,
or heights that no adult has both; it does not if they state one subject or the same sizes. It names conditions if
statics lack it, and roles if it parts statics from walks.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import combinations, product
from math import gcd, isclose
from typing import NamedTuple, TypeVar

from ...steps.read.recording_contents import Contents
from ...vocabulary.marker_labels import is_code
from ...vocabulary.name_words import is_person_code, read_words
from ..shared.trial_roles import UNUSED, is_of_a_pole
from .name_parts import YEAR, Place

CODE = re.compile(r"([a-z]{0,12}[-_ ]?)(\d+)[-_ ]?[a-z]{0,2}", re.IGNORECASE)
FULL_NAME = re.compile(r"[A-Z]\w+([-_ ,]+[A-Z]\w+)+")
WORD_AND_NUMBER = re.compile(r"([^\W\d_]{3,}|[^\x00-\x7f]{2,})\d+")
COUNTED_FROM_0 = re.compile(r"\D+0")  # H0 beside H8 and H12: weeks rather than people
COUNTED = re.compile(r"[^\W\d_]+0\d+")
GLUED_NUMBER = re.compile(r"(.*\D)\d+")
# 10kg, 3.5 km/h, 120 mm; units that two capitals of a name would be are small letters alone: 01MS is a person
AMOUNT = re.compile(r"(?!0\d)\d+([.,p]\d+)?[-_ ]?(?:(?i:kg|lbs?|km?h|kph|mph|mps|deg|grad|pct|percent)|m/?s|[mck]m)")
NUMBER_OF_PERSON = re.compile(r"(?!19|20)\d{5}|\d{7}|\d{9,}")
MOST_VISITS = 12  # numbered folders beyond one a month for a year are people
DIFFERENT_ON_A_DAY = {"mass_kg": 0.05, "height_m": 0.03}  # shares: clothes, another scale, a slip of a digit
ROUNDING = 1e-3  # of sizes that one program wrote
ADULT_M, DIFFERENT_ADULTS_M = 1.5, 0.1  # heights of adults who are not one person
NO_WALKS = ("functional", "contraction", "other", UNUSED)
NO_SIZE = "marker_diameter_m"  # of the lab, not of the person
LABEL, UNKNOWN, CODED, STATED, STEM = range(5)  # whether a level of names is of people: not, ..., with better evidence
BOTH: set[bool | None] = {True, False}  # statics and walks

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Names = tuple[str, ...]
Columns = dict[Place, Names]  # of each level the word in every path, or an empty text


class Facts(NamedTuple):
    """What a file states of its person."""

    subject: str
    sizes: dict[str, float]
    stands: bool | None  # None of an unreadable file, and of one that is neither static nor walk by its name
    stated: str  # the subject, even if it may be that of a template


def part_columns(facts: Sequence[Facts], columns: Columns, visits: Sequence[str]) -> tuple[Columns, Columns]:
    """Return the columns that may name people, and those of conditions; none of roles, and none of one name.

    A number at the end of names that are all different is that of the trial.
    """
    folders = [column for place, column in columns.items() if place[0] == 0]
    inside = list(zip(visits, *folders, strict=True))
    people: Columns = {}
    conditions: Columns = {}
    for place, column in columns.items():
        named = _without_numbers(facts, column, inside) if place[0] else column
        if len(set(named)) < 2:
            continue
        kinds = kinds_in(zip(named, facts, strict=True))
        walks, statics = ({name for name, kind in kinds.items() if stands in kind} for stands in (False, True))
        of_name = grouped(zip(named, facts, strict=True))
        are_people = all(map(is_person_code, filter(None, of_name)))
        are_people |= False in _verdicts(of_name.values())
        are_amounts = all(map(AMOUNT.fullmatch, filter(None, of_name)))
        if statics and walks and not statics & walks and not are_people:
            if len(walks - {""}) > 1:
                conditions[place] = _without_run(named) if place[0] else named
        elif (are_amounts and not are_people) or (
            statics == {""} and not all(map(is_person_code, kinds.keys() - {""}))
        ):
            conditions[place] = _without_run(named) if place[0] else named
        elif not any(
            len({*zip(named, other, strict=True)}) == len({*named}) == len({*other}) for other in people.values()
        ):
            people[place] = named  # unless it tells the same files apart as another one
    return people, conditions


def _without_numbers(facts: Sequence[Facts], column: Names, inside: Sequence[Names]) -> Names:
    """Return names without the number at their ends if only then, or never, statics and walks share a name."""
    bare = tuple(match[1] if (match := GLUED_NUMBER.fullmatch(name)) else name for name in column)
    whole, short = (
        kinds_in(((*where, name), one) for where, name, one in zip(inside, names, facts, strict=True) if name)
        for names in (column, bare)
    )
    if BOTH in whole.values():
        return column
    if BOTH in short.values() and all(bare[i] != name for i, name in enumerate(column) if name):
        return bare
    are_words = {True} in whole.values()
    return tuple(bare[i] if are_words and WORD_AND_NUMBER.fullmatch(name) else name for i, name in enumerate(column))


def are_trials(facts: Sequence[Facts], column: Names, inside: Sequence[Names]) -> bool:
    """Return whether names are one code with a number of two digits or more, another one for each walk of a folder."""
    walks = [(*where, name) for where, name, one in zip(inside, column, facts, strict=True) if one.stands is False]
    codes = {(re.fullmatch(r"(.*\D)\d\d+[a-z]?", name) or ("", ""))[1] for *_, name in walks}
    return len(codes) == 1 and "" not in codes and len({*walks}) == len(walks) > 1


def _without_run(column: Names) -> Names:
    """Return names without the number at their ends if all are whole words with one: ``boots1``, not ``C1``."""
    found = {name: WORD_AND_NUMBER.fullmatch(name) for name in {*column} - {""}}
    return tuple((found[name] or name)[1] if name else "" for name in column) if all(found.values()) else column


def find_levels(facts: Sequence[Facts], columns: Columns, *, visits_are_named: bool) -> tuple[tuple[Place, ...], bool]:
    """Return the levels of names that tell people apart, and whether that is asked; ``visits_are_named`` by others."""
    scores = _scores(facts, columns)
    visits_are_named |= any(all(map(YEAR.fullmatch, columns[k])) for k in columns.keys() - scores.keys())
    columns = {k: columns[k] for k in scores}
    best = max(columns, key=lambda k: scores[k], default=None)
    if best is None:
        return (), False
    if scores[best] == UNKNOWN and len(columns) == 1:
        return (best,), not _are_names(columns[best], visits_are_named=visits_are_named)
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


def _scores(facts: Sequence[Facts], columns: Columns) -> dict[Place, int]:
    """Return how sure it is that each column names people, without those that do not."""
    scores = {
        k: _score(facts, column, [other for j, other in columns.items() if j != k], is_first=k[1] == 0)
        for k, column in columns.items()
    }
    people = {k: column for k, column in columns.items() if scores[k] != LABEL}
    return scores if len(people) == len(columns) else _scores(facts, people)


def _are_names(names: Sequence[str], *, visits_are_named: bool) -> bool:
    """Return whether all are names of two words or more, none of which two share; where visits are named, of one."""
    are_lower = any(name[:1].islower() for name in names) and not all(map(COUNTED.fullmatch, names))  # knie03 is a code
    if visits_are_named and not are_lower and not any(map(COUNTED_FROM_0.fullmatch, names)):
        return True
    words = Counter(word for name in {*names} for word in re.findall(r"\w+", name))
    return all(FULL_NAME.fullmatch(name) for name in names) and max(words.values()) == 1


def _score(facts: Sequence[Facts], column: Sequence[str], others: Sequence[Sequence[str]], *, is_first: bool) -> int:
    """Return how sure it is that a level names people, by files that differ in it and in no other level that may."""
    beside = list(zip(*others, strict=True)) if others else [()] * len(facts)
    groups: dict[Names, dict[str, list[Facts]]] = defaultdict(lambda: defaultdict(list))
    for one, name, rest in zip(facts, column, beside, strict=True):
        if name:
            groups[rest][name].append(one)
    verdicts = {verdict for group in groups.values() for verdict in _verdicts(group.values())}
    named = {name for name in column if name}
    crossed = (len({*zip(column, one, strict=True)}) > max(len({*column}), len({*one})) for one in others)
    if all(map(YEAR.fullmatch, column)) and any(crossed):
        return LABEL  # several people in a year, and several years of one
    if all(is_person_code(name) for name in named):
        short = any(re.match(r"[ps][-_ ]*\d", name, re.IGNORECASE) for name in named)
        return UNKNOWN if short and True in verdicts else STEM
    if verdicts == {True}:
        return LABEL
    if verdicts == {False}:
        return STATED
    whole = all(kinds == BOTH for name, kinds in kinds_in(zip(column, facts, strict=True)).items() if name)
    # first in a name, long numbers count nothing; of six digits they may be times of a day, of eight dates
    are_numbers = whole and is_first and all(map(NUMBER_OF_PERSON.fullmatch, named))
    return CODED if verdicts <= {None} and (are_numbers or _are_codes(named, are_whole=whole)) else UNKNOWN


def _are_codes(names: Set[str], *, are_whole: bool) -> bool:
    """Return whether names are codes of people: many, with three digits or, ``are_whole``, no count of visits.

    Visits of one person are counted from 0 or 1; 3, 6 and 12 months have a common divisor, as have sizes and speeds.
    ``are_whole``: each name has statics and walks.
    """
    found = [match for match in map(CODE.fullmatch, names) if match]
    numbers = [int(match[2]) for match in found]
    years = all(not match[1] and YEAR.fullmatch(match[2]) for match in found)
    if len(found) < len(names) or len(names) < 2 or years:
        return False
    no_count = are_whole and min(numbers) > 1 and gcd(*numbers) == 1
    return len(names) > MOST_VISITS or all(match[1] and len(match[2]) > 2 - no_count for match in found)


def facts_of(files: Sequence[Contents], roles: Sequence[Sequence[str]]) -> list[Facts]:
    """Return what each file states, by the roles of its words; a subject without a number may be that of a template."""
    named = [subject_of(file) for file in files]
    stated = {*named} - {""}
    return [
        Facts(
            "" if file.has_several_people or (len(stated) == 1 and not is_code(name)) else name,
            {} if file.has_several_people else {size: value for size, value in file.sizes.items() if size != NO_SIZE},
            None if file.problems or (words and words[0] in NO_WALKS) or is_of_a_pole(file) else file.stands,
            name,
        )
        for file, name, words in zip(files, named, roles, strict=True)
    ]


def subject_of(file: Contents) -> str:
    """Return the subject in a file, without words of roles and visits if others are there."""
    words = [word.text for word in read_words(file.subject) if word.kind in ("", "number", "person")]
    return " ".join(words) or file.subject


def are_alike(one: Sequence[Facts], other: Sequence[Facts]) -> bool | None:
    """Return whether files are of one person, by subjects and sizes; None if these do not tell, or contradict."""
    subjects, others = ({facts.subject for facts in group} - {""} for group in (one, other))
    sizes = ({tuple(sorted(facts.sizes.items())): facts.sizes for facts in group}.values() for group in (one, other))
    pairs = {tuple((a[name], b[name]) for name in sorted(a.keys() & b.keys())) for a, b in product(*sizes)}
    pairs = {pair for pair in pairs if len(pair) > 1}
    equal = any(all(isclose(a, b, rel_tol=ROUNDING) for a, b in pair) for pair in pairs)
    heights = [{facts.sizes["height_m"] for facts in group if "height_m" in facts.sizes} for group in (one, other)]
    if any(min(a, b) >= ADULT_M and abs(a - b) >= DIFFERENT_ADULTS_M - ROUNDING for a, b in product(*heights)):
        return False
    if not (subjects and others):
        return True if equal else None
    if subjects & others:
        return True if equal or not pairs else None
    return None if equal else False


def _verdicts(groups: Iterable[list[Facts]]) -> set[bool | None]:
    """Return whether any two groups of files are of one person; two of those that state the same tell all."""
    same = grouped((frozenset((one.subject, *sorted(one.sizes.items())) for one in group), group) for group in groups)
    return {are_alike(*pair) for pair in combinations([one for alike in same.values() for one in alike[:2]], 2)}


def differ(sizes: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Return whether two files state masses or heights that are none of one day."""
    return any(
        name in sizes and name in others and not isclose(sizes[name], others[name], rel_tol=limit)
        for name, limit in DIFFERENT_ON_A_DAY.items()
    )


def grouped(items: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Return items by their keys."""
    groups: dict[Key, list[Item]] = defaultdict(list)
    for key, item in items:
        groups[key].append(item)
    return groups


def kinds_in(facts: Iterable[tuple[Key, Facts]]) -> dict[Key, set[bool | None]]:
    """Return whether there are statics and walks among the readable files of each label."""
    return {label: {one.stands for one in group} - {None} for label, group in grouped(facts).items()}
