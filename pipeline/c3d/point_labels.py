"""Labels of the points of a C3D file: those of markers, in full."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

NOT_LISTS = ("LABELS", "DESCRIPTIONS")


def label_points(point: Mapping[str, Any], count: int) -> list[str]:
    """Return the labels of the points in full, empty for model outputs.

    Model outputs (listed in POINT:ANGLES, FORCES, MOMENTS, POWERS, SCALARS and the groups of TYPE_GROUPS) are no
    markers. Labels beyond 255 continue in LABELS2, ... Repeated labels that DESCRIPTIONS tell apart are replaced by
    these (:func:`_with_full_names`).

    Args:
        count: of the points (POINT:USED); labels beyond mean nothing.
    """
    groups = {"ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", *(str(name) for name in point.get("TYPE_GROUPS", []))}
    outputs = {label for group in groups if group not in NOT_LISTS for label in join_lists(point, group)}
    labels = join_lists(point, "LABELS")[:count]
    full = _with_full_names(labels, join_lists(point, "DESCRIPTIONS"))
    return ["" if label in outputs else name for label, name in zip(labels, full, strict=True)]


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


def join_lists(point: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a parameter and of those that continue it (LABELS, LABELS2, ...)."""
    return [str(label).strip() for key in parts_of_list(point, name) for label in point[key]]


def parts_of_list(point: Mapping[str, Any], name: str) -> list[str]:
    """Return the parameters of a list that continues in NAME2, NAME3, ..., in order."""
    more = [key for key in point if key.startswith(name) and key[len(name) :].isdecimal()]
    return [key for key in [name, *sorted(more, key=lambda key: int(key[len(name) :]))] if key in point]
