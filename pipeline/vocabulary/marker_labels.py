"""Marker names from the labels of a file: subjects, common prefixes and suffixes, repeated labels.

Subject names, prefixes and suffixes that a lab's software adds are removed; the body model interprets what remains.
What is added shows by the labels themselves: nearly all have it, and what remains begins with left or right.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..errors import UserError, nearest

SEPARATORS = "_. -"
SIDE_WORDS = {"l", "r", "left", "right", "lft", "rgt", "lt", "rt"}
SHARED_BY = 0.9  # smallest share of the labels that have a common prefix or suffix
FEWEST = 4  # such labels
PAIRED = 0.5  # smallest share of one person's labels that are there for both sides; others are of pelvis and trunk
LEFT_RIGHT = re.compile(r"(left|lf?t(?=[\W_])|l)|(right|rg?t(?=[\W_])|r)", re.IGNORECASE)


class SeveralSubjectsError(UserError):
    """A file holds markers of several people, and none is chosen."""

    def __init__(self, where: str, what: str, remedy: str, subjects: Sequence[str]) -> None:
        super().__init__(where, what, remedy)
        self.subjects = list(subjects)


class Marker(NamedTuple):
    """A marker: its column among the points, its subject (or empty) and its name."""

    column: int
    owner: str
    name: str


class PersonMarkers(NamedTuple):
    """The markers of one person in a file."""

    # names, columns: of the markers, in the order of the file
    names: list[str]
    columns: list[int]
    owner: str  # the subject in their labels (``A22:LKNE``), or empty
    subjects: list[str]  # the people in the file; empty if it holds one
    notes: list[str]  # on repeated labels


def choose_person(
    labels: Sequence[str], subjects: Sequence[str], filled: Sequence[bool], *, subject: str = "", participant: str = ""
) -> PersonMarkers:
    """Return the markers of one person. For a repeated label the first column with data is used.

    Args:
        labels: of all points of a file; empty, or with a star (``*12``), where a point is no marker.
        subjects: names of people that may begin a label without a colon (``Subject_LKNE``).
        filled: for each point, whether it holds data.
        subject: the person to take; empty to let the file decide.
        participant: the default if the file holds several subjects.

    Raises:
        SeveralSubjectsError: the file holds several subjects and neither argument names one.
        UserError: the file lacks the subject.
    """
    markers = [
        Marker(column, *_separate_owner(label, subjects))
        for column, label in enumerate(labels)
        if label and not label.startswith("*")
    ]
    if len({marker.owner for marker in markers}) == 1 and not _name_sides([marker.name for marker in markers]):
        markers = _separate_people(markers)
    rivals = _rivals(markers)
    owner = _choose_owner(markers, rivals, subject, participant)
    if owner is not None:
        markers = [marker for marker in markers if marker.owner in ("", owner)]
    columns: dict[str, list[Marker]] = defaultdict(list)
    for marker in _without_affix(markers):
        columns[marker.name].append(marker)
    kept, notes = [], []
    for name, same in columns.items():
        kept.append(next((marker for marker in same if filled[marker.column]), same[0]))
        if len(same) > 1:
            where = f"points {', '.join(str(marker.column + 1) for marker in same)}"
            notes.append(f"{name} occurs {len(same)} times ({where}): point {kept[-1].column + 1} is used")
    kept.sort()
    return PersonMarkers(
        names=[marker.name for marker in kept],
        columns=[marker.column for marker in kept],
        owner=max((marker.owner for marker in kept), default=""),
        subjects=rivals,
        notes=notes,
    )


def _separate_owner(label: str, subjects: Iterable[str]) -> tuple[str, str]:
    """Return subject and rest of a label such as ``A22:LKNE`` or ``Subject_LKNE``."""
    owner, colon, name = label.rpartition(":")
    if colon:
        return owner.strip(), name.strip()
    for text in subjects:
        start = text.strip()
        if start and label.startswith(start) and label[len(start) : len(start) + 1] in set(SEPARATORS):
            return start, label[len(start) + 1 :].strip()
    return "", label


def _choose_owner(markers: Sequence[Marker], rivals: Sequence[str], subject: str, participant: str) -> str | None:
    """Return the chosen subject; None if there is no choice."""
    if subject:
        names = dict.fromkeys(marker.owner for marker in markers if marker.owner)
        owner = _match(subject, names)
        if names and not owner:
            hint = nearest(subject, [name for name in names if is_code(name)])
            raise UserError("", f"no subject '{subject}'; it has {_codes_of(names)}", hint)
        return owner or None
    if not rivals:
        return None
    if owner := _match(participant, rivals):
        return owner
    raise SeveralSubjectsError(
        "",
        f"holds several subjects ({_codes_of(rivals)})",
        "name one in the column 'subject' of trials.tsv or participants.tsv",
        rivals,
    )


def is_code(text: str) -> bool:
    """Return whether a subject's text has a digit; others may be names of people."""
    return bool(re.search(r"\d", text))


def _codes_of(names: Iterable[str]) -> str:
    """List the names that are codes, and count the others."""
    every = list(names)
    codes = [name for name in every if is_code(name)]
    hidden = len(every) - len(codes)
    return ", ".join([*codes, *([f"{hidden} not shown: they may be people's names"] if hidden else [])])


def _rivals(markers: Sequence[Marker]) -> list[str]:
    """Return the owners that share a marker name with another owner."""
    names: dict[str, set[str]] = defaultdict(set)
    for marker in markers:
        if marker.owner:
            names[marker.owner].add(marker.name)
    often = Counter(name for each in names.values() for name in each)
    return [owner for owner, each in names.items() if any(often[name] > 1 for name in each)]


def _match(name: str, names: Iterable[str]) -> str:
    """Return the one of some names that is equal but for case and punctuation, or empty."""

    def plain(text: str) -> str:
        return re.sub(r"[\W_]", "", text).casefold()

    equal = [other for other in names if other == name] or [other for other in names if plain(other) == plain(name)]
    return equal[0] if name and len(equal) == 1 else ""


def _name_sides(names: Iterable[str]) -> bool:
    """Return whether names begin with left and right: half of them are there for both sides."""
    sides: dict[str, set[bool]] = defaultdict(set)
    for name in names:
        if side := LEFT_RIGHT.match(name):
            sides[name[side.end() :].casefold()].add(bool(side[1]))
    return bool(sides) and 2 * sum(len(both) == 2 for both in sides.values()) >= PAIRED * len({*names})


def _beginnings(markers: Sequence[Marker]) -> dict[str, set[str]]:
    """Return what begins several names, with their rests, which begin with left and right."""
    rests: dict[str, set[str]] = defaultdict(set)
    for marker in markers:
        for end in range(1, len(marker.name)):
            rests[marker.name[:end]].add(marker.name[end:])
    return {begin: names for begin, names in rests.items() if len(names) >= FEWEST and _name_sides(names)}


def _separate_people(markers: Sequence[Marker]) -> list[Marker]:
    """Return markers with the person that begins their names as owner, where several begin the same names.

    ``S1LASI`` and ``S2LASI`` are of two people; ``LASI`` and ``RASI`` are not: what follows L and R names no sides.
    """
    beginnings = _beginnings(markers)
    people = [
        one for one, names in beginnings.items()
        if any(one != other and len(names & those) >= SHARED_BY * max(len(names), len(those))
               for other, those in beginnings.items())
    ]  # fmt: skip
    if sum(len(beginnings[one]) for one in people) < SHARED_BY * len(markers):
        return list(markers)
    return [
        next((marker._replace(owner=f"{marker.owner}:{one}".strip(f":{SEPARATORS}"), name=marker.name[len(one) :])
              for one in people if marker.name.startswith(one)), marker)
        for marker in markers
    ]  # fmt: skip


def _without_affix(markers: Sequence[Marker]) -> list[Marker]:
    """Remove prefixes and a suffix shared by nearly all labels, but no side (``L_``)."""
    prefix, suffix = rf"([^{SEPARATORS}]+)[{SEPARATORS}](.+)", rf"(.+)[{SEPARATORS}]([^{SEPARATORS}]+)"
    bare = list(markers)
    while (fewer := _without_part(bare, prefix, 1, 2)) != bare:
        bare = fewer
    bare = _without_part(bare, suffix, 2, 1)
    if _name_sides([marker.name for marker in bare]):
        return bare
    shared = [one for one, names in _beginnings(bare).items() if len(names) >= max(FEWEST, SHARED_BY * len(bare))]
    common = max(shared, key=len, default="")
    return [
        marker._replace(name=marker.name.removeprefix(common)) if marker.name != common else marker for marker in bare
    ]


def _without_part(markers: list[Marker], pattern: str, affix: int, rest: int) -> list[Marker]:
    """Remove the part of a pattern that nearly all names have in common, unless it is a side."""
    parts = [re.fullmatch(pattern, marker.name) for marker in markers]
    count = Counter(part[affix] for part in parts if part)
    common, often = count.most_common(1)[0] if count else ("", 0)
    if often < max(FEWEST, SHARED_BY * len(markers)) or common.casefold() in SIDE_WORDS:
        return markers
    return [
        marker._replace(name=part[rest]) if part and part[affix] == common else marker
        for marker, part in zip(markers, parts, strict=True)
    ]
