"""Marker labels to landmarks: the one place where a lab's names become the project's.

A landmark of each side is named ``heel_left``, ``heel_right``; one of the midline (``sacrum``) has its bare name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import UserError, nearest

Array = NDArray[np.float64]
Points = dict[str, Array]
SIDES = ("left", "right")


def landmark_labels(body_model: Mapping[str, Any]) -> dict[str, list[tuple[str, ...]]]:
    """Return, for each landmark, its alternatives; each is the labels whose mean it is."""
    result = {}
    for name, alternatives in body_model["landmarks"].items():
        listed = [alternatives] if isinstance(alternatives, str) else alternatives
        groups = [(item,) if isinstance(item, str) else tuple(item) for item in listed]
        if any("{side}" in label for group in groups for label in group):
            for side, text in body_model["side_labels"].items():
                result[f"{name}_{side}"] = [tuple(label.replace("{side}", text) for label in g) for g in groups]
        else:
            result[name] = groups
    return result


def chosen_labels(body_model: Mapping[str, Any], present: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the labels each landmark is made of in a file; landmarks that the file lacks are left out."""
    here = set(present)
    chosen = {}
    for landmark, alternatives in landmark_labels(body_model).items():
        for group in alternatives:
            if here.issuperset(group):
                chosen[landmark] = group
                break
    return chosen


def positions(body_model: Mapping[str, Any], labels: list[str], markers: Array) -> Points:
    """Return the position (time, 3) of each landmark that the file has, m, from markers (time, marker, 3)."""
    index = {label: i for i, label in enumerate(labels)}
    return {
        landmark: markers[:, [index[label] for label in group]].mean(axis=1)
        for landmark, group in chosen_labels(body_model, labels).items()
    }


def missing(landmark: str, body_model: Mapping[str, Any], present: Iterable[str]) -> str:
    """Return one plain line about a landmark that a file lacks."""
    wanted = [" + ".join(group) for group in landmark_labels(body_model).get(landmark, [])]
    here = sorted(set(present))
    hint = nearest(wanted[0].split(" + ")[0], here) if wanted else ""
    return (
        f"no marker for {landmark.replace('_', ' ')} (looked for {' or '.join(wanted) or 'nothing'}){hint}; "
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
        return np.mean([point(points, name, side) for name in expression], axis=0)
    return points[expression if expression in points else f"{expression}_{side}"]


def require(points: Mapping[str, Array], names: Iterable[str], body_model: Mapping[str, Any], labels: list[str]) -> None:
    """Check that landmarks are there and seen at least once.

    Raises:
        UserError: one line per landmark that is absent or never seen.
    """
    lines = []
    for name in names:
        if name not in points:
            lines.append(missing(name, body_model, labels))
        elif not np.isfinite(points[name]).any():
            lines.append(f"marker for {name.replace('_', ' ')} is never visible; track it or use another trial")
    if lines:
        raise UserError("; ".join(lines))
