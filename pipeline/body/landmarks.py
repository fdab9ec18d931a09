"""Marker labels to landmarks: the one place where a lab's names become the project's.

A landmark of each side is named ``heel_left``, ``heel_right``; one of the midline (``sacrum``) has its bare name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import SIDES
from ..errors import nearest

Array = NDArray[np.float64]
Points = dict[str, Array]


def landmark_labels(body_model: Mapping[str, Any]) -> dict[str, list[tuple[str, ...]]]:
    """Return, for each landmark, its alternatives; each is the labels whose mean it is."""
    result: dict[str, list[tuple[str, ...]]] = {}
    for name, alternatives in body_model["landmarks"].items():
        if isinstance(alternatives, Mapping):
            result |= {f"{name}_{side}": [(alternatives[side],)] for side in SIDES}
            continue
        listed = [alternatives] if isinstance(alternatives, str) else alternatives
        groups = [(item,) if isinstance(item, str) else tuple(item) for item in listed]
        if any("{side}" in label for group in groups for label in group):
            for side, text in body_model["side_labels"].items():
                result[f"{name}_{side}"] = [tuple(label.replace("{side}", text) for label in g) for g in groups]
        else:
            result[name] = groups
    return result


def chosen_labels(body_model: Mapping[str, Any], present: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the labels, as the file spells them, of each landmark; landmarks that the file lacks are left out.

    A label that differs from the model's in letter case or blanks alone will do where just one does.
    """
    spelt = _speller(present)
    chosen = {}
    for landmark, alternatives in landmark_labels(body_model).items():
        for group in alternatives:
            found = tuple(spelt(label) for label in group)
            if all(found):
                chosen[landmark] = found
                break
    return chosen


def _speller(present: Iterable[str]) -> Callable[[str], str]:
    """Return the function from a model's label to the file's, empty where the file has none or several."""

    def folded(label: str) -> str:
        return "".join(label.split()).casefold()

    here = set(present)
    alike: dict[str, list[str]] = {}
    for label in here:
        alike.setdefault(folded(label), []).append(label)

    def spelt(label: str) -> str:
        others = alike.get(folded(label), [])
        return label if label in here else others[0] if len(others) == 1 else ""

    return spelt


def positions(body_model: Mapping[str, Any], labels: list[str], markers: Array) -> Points:
    """Return the position (time, 3) of each landmark that is seen at all, m, from markers (time, marker, 3)."""
    index = {label: i for i, label in enumerate(labels)}
    return {
        landmark: markers[:, [index[label] for label in group]].mean(axis=1)
        for landmark, group in chosen_labels(body_model, seen_labels(labels, markers)).items()
    }


def seen_labels(labels: list[str], markers: Array) -> list[str]:
    """Return the labels whose marker is seen at least once: files list markers that were never tracked."""
    visible = np.asarray(np.isfinite(markers).all(axis=-1))
    return [label for i, label in enumerate(labels) if visible[:, i].any()]


def missing(landmark: str, body_model: Mapping[str, Any], labels: Iterable[str]) -> str:
    """Return one plain line about a landmark that a file lacks or never shows."""
    known = landmark_labels(body_model)
    wanted = [" + ".join(group) for group in known[landmark]]
    here = set(labels)
    spoken = landmark.replace("_", " ")
    if present := chosen_labels(body_model, here).get(landmark):
        return f"{' + '.join(present)} ({spoken}) is in the file but never visible; use another file"
    free = here - {label for groups in known.values() for group in groups for label in group}
    hint = nearest(known[landmark][0][0], sorted(free))
    return (
        f"no marker for {spoken} (looked for {' or '.join(wanted)}); {f'{hint} ' * bool(hint)}"
        "label it, or name its label in the body model"
    )


def point(points: Mapping[str, Array], expression: str | list[str], side: str) -> Array:
    """Return the point that an expression of a body model names, for one side.

    Args:
        points: positions (..., 3) by name.
        expression: a landmark or joint centre, or a list of them for their mean.
        side: the side meant by names that carry none.

    Raises:
        KeyError: the name of the first point that is not there.
    """
    if not isinstance(expression, str):
        return np.asarray(np.mean([point(points, name, side) for name in expression], axis=0))
    return points[expression if expression in points else f"{expression}_{side}"]
