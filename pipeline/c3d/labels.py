"""Marker names from the point labels of a C3D file: subjects, common prefixes and suffixes, repeated labels.

Subject names, prefixes and suffixes that a lab's software adds are removed; the body model interprets what remains.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import UserError, nearest

SEPARATORS = "_. -"
SIDE_WORDS = {"l", "r", "left", "right", "lft", "rgt", "lt", "rt"}
SHARED_BY = 0.9  # smallest share of the labels that have a common prefix or suffix
FEWEST = 4  # such labels
NOT_LISTS = ("LABELS", "DESCRIPTIONS")


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


def markers_of(
    point: Mapping[str, Any],
    subjects: Sequence[str],
    filled: Sequence[bool],
    *,
    subject: str = "",
    participant: str = "",
) -> tuple[list[Marker], list[str]]:
    """Return the markers of one person, and notes on repeated labels.

    Points without a label, unlabelled trajectories (``*12``) and model outputs (listed in POINT:ANGLES, FORCES,
    MOMENTS, POWERS, SCALARS and the groups of TYPE_GROUPS) are ignored. Labels beyond 255 continue in LABELS2, ...
    Repeated labels that DESCRIPTIONS tell apart are replaced by these (:func:`_with_full_names`). For another repeated
    label the first column with data is used.

    Args:
        point: the POINT parameters.
        subjects: SUBJECTS:NAMES.
        filled: for each column, whether it holds data.
        subject: the person to take; empty to let the file decide.
        participant: the default if the file holds several subjects.

    Raises:
        SeveralSubjectsError: the file holds several subjects and neither argument names one.
        UserError: the file lacks the subject.
    """
    markers = _owned_markers(point, subjects, len(filled))
    owner = _chosen_owner(markers, subject, participant)
    if owner is not None:
        markers = [marker for marker in markers if marker.owner in ("", owner)]
    markers = _without_affix(markers)
    columns: dict[str, list[Marker]] = defaultdict(list)
    for marker in markers:
        columns[marker.name].append(marker)
    kept, notes = [], []
    for name, same in columns.items():
        kept.append(next((marker for marker in same if filled[marker.column]), same[0]))
        if len(same) > 1:
            where = f"points {', '.join(str(marker.column + 1) for marker in same)}"
            notes.append(f"{name} occurs {len(same)} times ({where}): point {kept[-1].column + 1} is used")
    return sorted(kept), notes


def subjects_among(point: Mapping[str, Any], subjects: Sequence[str], count: int) -> list[str]:
    """Return the subjects that share marker names among ``count`` points; none if the file holds one person."""
    return _rivals(_owned_markers(point, subjects, count))


def _owned_markers(point: Mapping[str, Any], subjects: Sequence[str], count: int) -> list[Marker]:
    """Return the labelled points with their subjects; labels beyond ``count`` points (POINT:USED) mean nothing."""
    outputs = _outputs(point)
    labels = listed(point, "LABELS")[:count]
    return [
        Marker(column, *_owned(label, subjects))
        for column, label in enumerate(_with_full_names(labels, listed(point, "DESCRIPTIONS")))
        if label and not label.startswith("*") and labels[column] not in outputs
    ]


def _with_full_names(labels: Sequence[str], descriptions: Sequence[str]) -> list[str]:
    """Return labels with repeated ones replaced by their descriptions, where these are names that tell them apart.

    Files of four-letter labels call lateral and medial knee marker ``RKNE`` and describe them as ``R.Knee`` and
    ``R.Knee.Medial``. A description is the full name if the label abbreviates it, or if one label stands for most
    points and so names none; ``Unnamed Marker 12`` for ``T8`` is neither.
    """
    described = [*(text.strip() for text in descriptions), *[""] * len(labels)][: len(labels)]
    columns: dict[str, list[int]] = defaultdict(list)
    for column, label in enumerate(labels):
        columns[label].append(column)
    names = list(labels)
    for label, same in columns.items():
        full = [described[column] for column in same]
        apart = len(same) > 1 and all(full) and len(set(full)) == len(full)
        if apart and (len(same) > len(labels) / 2 or all(_abbreviates(label, text) for text in full)):
            for column, text in zip(same, full, strict=True):
                names[column] = text
    return names


def _abbreviates(label: str, text: str) -> bool:
    """Return whether a text has the letters and digits of a label in their order, and begins with the first."""
    short, letters = (re.sub(r"[\W_]", "", name).casefold() for name in (label, text))
    rest = iter(letters)
    return bool(short) and letters.startswith(short[0]) and all(letter in rest for letter in short)


def listed(point: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a parameter and of those that continue it (LABELS, LABELS2, ...)."""
    numbers = sorted(int(key[len(name) :]) for key in point if key.startswith(name) and key[len(name) :].isdecimal())
    return [
        str(label).strip() for key in [name, *(f"{name}{number}" for number in numbers)] for label in point.get(key, [])
    ]


def _outputs(point: Mapping[str, Any]) -> set[str]:
    groups = {"ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", *(str(name) for name in point.get("TYPE_GROUPS", []))}
    return {label for group in groups if group not in NOT_LISTS for label in listed(point, group)}


def _owned(label: str, subjects: Iterable[str]) -> tuple[str, str]:
    """Return subject and rest of a label such as ``A22:LKNE`` or ``Subject_LKNE``."""
    owner, colon, name = label.rpartition(":")
    if colon:
        return owner.strip(), name.strip()
    for text in subjects:
        start = text.strip()
        if start and label.startswith(start) and label[len(start) : len(start) + 1] in set(SEPARATORS):
            return start, label[len(start) + 1 :].strip()
    return "", label


def _chosen_owner(markers: Sequence[Marker], subject: str, participant: str) -> str | None:
    """Return the chosen subject; None if there is no choice."""
    if subject:
        names = dict.fromkeys(marker.owner for marker in markers if marker.owner)
        found = _same(subject, names)
        if names and not found:
            hint = nearest(subject, [name for name in names if is_code(name)])
            raise UserError("", f"no subject '{subject}'; it has {_codes_of(names)}", hint)
        return found or None
    rivals = _rivals(markers)
    if not rivals:
        return None
    if found := _same(participant, rivals):
        return found
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
    often = Counter(name for own in names.values() for name in own)
    return [owner for owner, own in names.items() if any(often[name] > 1 for name in own)]


def _same(name: str, known: Iterable[str]) -> str:
    """Return the one known name equal but for case and punctuation, or empty."""

    def plain(text: str) -> str:
        return re.sub(r"[\W_]", "", text).casefold()

    equal = [other for other in known if other == name] or [other for other in known if plain(other) == plain(name)]
    return equal[0] if name and len(equal) == 1 else ""


def _without_affix(markers: Sequence[Marker]) -> list[Marker]:
    """Remove a prefix and a suffix shared by nearly all labels, but no side (``L_``)."""
    for pattern, affix, rest in ((rf"([^{SEPARATORS}]+)[{SEPARATORS}](.+)", 1, 2),
                                 (rf"(.+)[{SEPARATORS}]([^{SEPARATORS}]+)", 2, 1)):  # fmt: skip
        parts = [re.fullmatch(pattern, marker.name) for marker in markers]
        count = Counter(part[affix] for part in parts if part)
        if not count:
            continue
        common, often = count.most_common(1)[0]
        if often >= max(FEWEST, SHARED_BY * len(markers)) and common.casefold() not in SIDE_WORDS:
            markers = [
                marker._replace(name=part[rest]) if part and part[affix] == common else marker
                for marker, part in zip(markers, parts, strict=True)
            ]
    return list(markers)
