"""Landmarks of a recording, found by the labels of its markers.

A landmark of each side is named ``heel_left``, ``heel_right``; one of the midline (``sacrum``) has its bare name.
"""

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from ..arrays import Array
from ..conventions import SIDE_SIGN, SIDES
from ..dynamics.vectors import cross, unit
from ..errors import Problem, join_some, nearest
from .body_model import BodyModel
from .rules import Names

SIDE_WORDS = {"l": "left", "left": "left", "lft": "left", "r": "right", "right": "right", "rgt": "right"}
Points = dict[str, Array]
MOST_PROBLEMS, MOST_LISTED = 2, 4  # landmarks with a problem of their own; landmarks that one problem of many names


def choose_labels(body_model: BodyModel, present: Iterable[str]) -> dict[str, Names]:
    """Return the labels, as the file spells them, of each landmark that the file has.

    A label may be spelt otherwise than in the model (:func:`_spellings`) if only one label of the file then matches;
    one that differs in the case of letters alone comes first: ``l_knee`` is ``L_knee``, beside a keypoint ``LKnee``.
    """
    return dict(_chosen(tuple(body_model.landmarks.items()), frozenset(present)))


@functools.lru_cache(maxsize=64)
def _chosen(landmarks: tuple[tuple[str, tuple[Names, ...]], ...], here: frozenset[str]) -> Mapping[str, Names]:
    """Return :func:`choose_labels` of a file with the labels ``here``; trials have the same labels."""
    alike: dict[tuple[str, str], set[str]] = {}
    cased: dict[str, set[str]] = {}
    for label in here:
        cased.setdefault(label.casefold(), set()).add(label)
        for spelling in _spellings(label):
            alike.setdefault(spelling, set()).add(label)

    def find(label: str) -> str:
        if label in here:
            return label
        others = set[str]().union(*(alike.get(spelling, ()) for spelling in _spellings(label)))
        others = cased.get(label.casefold(), others)
        return min(others) if len(others) == 1 else ""

    groups = {
        landmark: next(filter(all, (tuple(find(label) for label in group) for group in alternatives)), ())
        for landmark, alternatives in landmarks
    }
    return {landmark: group for landmark, group in groups.items() if group}


@functools.lru_cache(maxsize=16384)
def _spellings(label: str) -> frozenset[tuple[str, str]]:
    """Return what a label may mean, as side and name in lower case without separators.

    Laboratories write one marker as ``LKNE``, ``L.KNE``, ``l kne``, ``KNE_L``, ``Left_KNE`` or ``kneL``. A side stands
    in front, or at the end if a separator or a capital after a small letter sets it apart: ``HEEL`` has none there. The
    whole label without a side always counts too.
    """
    words = [word.casefold() for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", label) if word]
    whole = "".join(words)
    meanings = {("", whole)}
    if len(words) > 1:
        meanings.add((SIDE_WORDS.get(words[0], ""), "".join(words[1:])))
        meanings.add((SIDE_WORDS.get(words[-1], ""), "".join(words[:-1])))
    meanings.update((side, whole.removeprefix(word)) for word, side in SIDE_WORDS.items() if whole.startswith(word))
    return frozenset((side, name) for side, name in meanings if name and (side or name == whole))


def positions(body_model: BodyModel, labels: list[str], markers: Array) -> Points:
    """Return the position (time, 3) of each landmark that is ever seen, m, from markers (time, marker, 3)."""
    return mean_positions(choose_labels(body_model, find_seen_labels(labels, markers)), labels, markers)


def mean_positions(groups: Mapping[str, Names], labels: list[str], markers: Array) -> Points:
    """Return the position (time, 3) of each landmark, m, the mean of the markers with its labels."""
    index = {label: i for i, label in enumerate(labels)}
    return {
        landmark: markers[:, [index[label] for label in group]].mean(axis=1)
        if len(group) > 1
        else markers[:, index[group[0]]]
        for landmark, group in groups.items()
    }


def find_seen_labels(labels: list[str], markers: Array) -> list[str]:
    """Return the labels of markers that are ever seen; files also list markers that were never tracked."""
    x, y, z = np.moveaxis(np.isfinite(markers), -1, 0)
    return [labels[i] for i in np.flatnonzero((x & y & z).any(axis=0)).tolist()]


def missing(absent: Iterable[str], body_model: BodyModel, labels: Collection[str]) -> list[Problem]:
    """Return one problem for each landmark that a file with these labels lacks or never shows; one for all of many."""
    present, landmarks = choose_labels(body_model, labels), body_model.landmarks
    free = sorted({*labels} - {label for groups in landmarks.values() for group in groups for label in group})
    problems = []
    absent = [*absent]
    if len(unknown := [name for name in absent if name not in present]) > MOST_PROBLEMS:
        expected = [f"{name.replace('_', ' ')} ({' + '.join(landmarks[name][0])})" for name in unknown]
        what = f"no markers for {join_some(expected, MOST_LISTED)} of body model {body_model.name}"
        problems.append(
            Problem("", what, "choose the body_model with this lab's labels, or name these in one", "markers_missing")
        )
        absent = [name for name in absent if name in present]
    for name in absent:
        if name in present:
            what = f"{' + '.join(present[name])} ({name.replace('_', ' ')}) is in the file but never visible"
            problems.append(Problem("", what, "use another file", "markers_missing"))
            continue
        wanted, hint = expected_label(landmarks[name], free)
        remedy = f"{hint} label it, or name its label in the body model".lstrip()
        what = f"no marker for {name.replace('_', ' ')} (looked for {wanted})"
        problems.append(Problem("", what, remedy, "markers_missing"))
    return problems


def expected_label(alternatives: Sequence[Names], free: Collection[str]) -> tuple[str, str]:
    """Return one label of a landmark, how many others there are, and a similar label that the file has.

    Args:
        alternatives: labels of the landmark in a body model.
        free: labels of the file that are of no landmark.
    """
    texts = [" + ".join(group) for group in alternatives]
    text = next((text for text in texts if nearest(text, free)), texts[0])
    others = f" or {len(texts) - 1} other label{'s' * (len(texts) > 2)}" if texts[1:] else ""
    return text + others, nearest(text, free)


def point(points: Mapping[str, Array], names: Names) -> Array:
    """Return the point (..., 3) that a rule of one leg names, or the mean of several; KeyError with an absent name."""
    places = [points[name] for name in names]
    return places[0] if len(places) == 1 else np.asarray(np.mean(places, axis=0))


def mean_length(vectors: Array) -> float:
    """Return the mean length of vectors (time, 3) over the frames that show them; NaN where none does."""
    lengths = np.linalg.norm(vectors[np.isfinite(vectors).all(axis=1)], axis=1)
    return float(lengths.mean()) if len(lengths) else np.nan


# A heel marker comes off after the static trial in some laboratories, or is never worn. Its place in the foot is kept
# by these three: the shank, in the plane of ankle, toe and knee, hardly turns against the foot.
SHOWING_HEEL = ("lateral_malleolus", "toe", "lateral_epicondyle")
# Heel from the malleolus, in horizontal distances malleolus - toe: behind it and medial. Means of 19 people with feet
# of 110 to 240 mm from heel to toe, standard deviations .08 and .09; both markers are at one height on a flat foot.
HEEL_BEHIND, HEEL_MEDIAL = 0.35, 0.37
FLAT_M_S = 0.4  # malleolus and toe are slower on a flat foot


def virtual_heels(seen: Collection[str]) -> set[str]:
    """Return the unseen heels that other landmarks can replace."""
    full = {side: {f"{name}_{side}" for name in SHOWING_HEEL} for side in SIDES}
    return {f"heel_{side}" for side in SIDES if full[side] <= {*seen}} - {*seen}


def heel_places(points: Points) -> dict[str, Array]:
    """Return the place (3,) of each heel that a trial shows, by name, in the axes of :func:`with_heels`, m."""
    places = {}
    for name in virtual_heels(points.keys() - {"heel_left", "heel_right"}) & points.keys():
        origin, axes = _ankle_axes(points, name)
        local = np.einsum("tij,tj->ti", axes, points[name] - origin)
        if (seen := np.isfinite(local).all(axis=1)).any():
            places[name] = np.median(local[seen], axis=0)
    return places


def with_heels(points: Points, places: Mapping[str, Array], time: Array) -> Points:
    """Return the landmarks (time, 3) with virtual heels where a trial shows none.

    Axes: origin in the lateral malleolus, x to the toe, y upwards in the plane of these and the lateral epicondyle.

    Args:
        points: landmarks, lab axes, m.
        places: of the heels by the static trial, see :func:`heel_places`; others are where the heel of a flat foot is
            (:data:`HEEL_BEHIND`), while the foot is flat.
        time: (time,), s.
    """
    whole = dict(points)
    for name in sorted(virtual_heels(points)):
        place = places[name] if name in places else _place_on_flat_foot(points, name, time)
        origin, axes = _ankle_axes(points, name)
        whole[name] = origin + place @ axes
    return whole


def _ankle_axes(points: Points, heel: str) -> tuple[Array, Array]:
    """Return origin (time, 3) and axes (time, 3, 3) of :func:`with_heels` for the side of a heel."""
    ankle, toe, knee = (points[f"{name}_{heel.removeprefix('heel_')}"] for name in SHOWING_HEEL)
    x = unit(toe - ankle)
    z = unit(cross(x, knee - ankle))
    return ankle, np.stack([x, cross(z, x), z], axis=-2)


def _place_on_flat_foot(points: Points, heel: str, time: Array) -> Array:
    """Return the place (3,) of a heel on a flat foot, the median of the frames in which the foot rests; else NaN."""
    side = heel.removeprefix("heel_")
    ankle, toe = points[f"lateral_malleolus_{side}"], points[f"toe_{side}"]
    forward = (toe - ankle) * [1, 0, 1]
    medial = cross(np.array([0.0, 1.0, 0.0]), forward) * SIDE_SIGN[side]
    place = ankle - HEEL_BEHIND * forward + HEEL_MEDIAL * medial
    place[:, 1] = toe[:, 1]
    origin, axes = _ankle_axes(points, heel)
    local = np.einsum("tij,tj->ti", axes, place - origin)
    rests = np.isfinite(local).all(axis=1)
    if len(time) > 1:
        rests &= np.linalg.norm(np.gradient(np.stack([ankle, toe]), time, axis=1), axis=-1).max(axis=0) < FLAT_M_S
    return np.median(local[rests], axis=0) if rests.any() else np.full(3, np.nan)
