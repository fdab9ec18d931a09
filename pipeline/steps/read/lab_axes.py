"""Rotation from the axes of a file to ISB lab axes: x where the person faces, y up, z to the right.

Wu G et al. (2002) J Biomech 35:543-548; Wu G, Cavanagh PR (1995) J Biomech 28:1257-1261.
"""

from collections.abc import Mapping

import numpy as np

from ...arrays import Array
from ...conventions import SIDES
from ...errors import UserError

WALKED_M = 0.5  # smallest displacement of a direction of travel
LABEL_THEM = "label these markers and export again, or exclude the trial"


def to_isb(points: Mapping[str, Array], *, quarter_turn: bool, slope_deg: float = 0.0) -> tuple[Array, str]:
    """Return the rotation from the file's axes to ISB lab axes.

    Up is the file's axis nearest to the line from the feet to the pelvis. Forward is where the person faces, the mean
    of pelvis (left to right ASIS) and feet (heel to toe) over the trial; this also works on a treadmill.

    Args:
        points: ASIS, heels and toes (time, 3) in file axes, m.
        quarter_turn: turn by a multiple of 90 degrees, else by the mean heading.
        slope_deg: by how much the file's horizontal axes rise where the person faces; lab y is plumb all the same.

    Returns:
        (3, 3) with v_isb = rotation @ v_file, and the direction of travel: ``forwards``, ``backwards`` or
        ``none`` (under half a metre).

    Raises:
        UserError: no landmarks for up or forward are seen, or pelvis and feet face opposite ways.
    """
    pelvis, feet = _mean(points, "asis"), _mean(points, "heel", "toe")
    if pelvis is None or feet is None:
        what = "cannot tell where up is: no ASIS or no heel and toe markers are seen in this trial"
        raise UserError("", what, LABEL_THEM, "no_heading")
    up = _nearest_axis(np.nanmean(pelvis - feet, axis=0))
    headings = {name: value for name, value in _headings(points, up).items() if np.isfinite(value).all()}
    if not headings:
        what = "cannot tell where the person faces: neither both ASIS nor heel and toe of a foot are seen together"
        raise UserError("", what, LABEL_THEM, "no_heading")
    if len(headings) == 2 and headings["pelvis"] @ headings["feet"] < 0:
        remedy = "are left and right, or heel and toe, exchanged in the labels, or all axes mirrored (left-handed)?"
        raise UserError("", "pelvis and feet face opposite ways", remedy, "no_heading")
    heading = np.sum(list(headings.values()), axis=0)
    forward = _nearest_axis(heading) if quarter_turn else heading / np.linalg.norm(heading)
    seen = pelvis[np.isfinite(pelvis).all(axis=1)]
    travel = seen[-1] - seen[0] - up * (up @ (seen[-1] - seen[0]))
    distance = np.linalg.norm(travel)
    direction = "none" if distance < WALKED_M else "forwards" if travel @ heading > 0 else "backwards"
    along, across = np.cos(np.radians(slope_deg)), np.sin(np.radians(slope_deg))
    level, plumb = along * forward - across * up, across * forward + along * up
    return np.stack([level, plumb, np.cross(forward, up)]), direction


def leans_deg(points: Mapping[str, Array], rotation: Array) -> tuple[float, float]:
    """Return by how much the line from the feet to the pelvis leans forwards and to the right; NaN if it is not seen.

    Args:
        points: (time, 3), m, of a person who stands: spines of the pelvis, of which the middle counts, and heels and
            toes, midway between which it is above.
        rotation: (3, 3) from their axes to lab axes, see :func:`to_isb`.
    """
    front, rear, feet = _mean(points, "asis"), _mean(points, "psis"), _mean(points, "heel", "toe")
    rear = points.get("sacrum") if rear is None else rear
    if front is None or rear is None or feet is None:
        return float("nan"), float("nan")
    ahead, up, aside = rotation @ np.nanmedian((front + rear) / 2 - feet, axis=0)
    return float(np.degrees(np.arctan2(ahead, up))), float(np.degrees(np.arctan2(aside, up)))


def _mean(points: Mapping[str, Array], *names: str) -> Array | None:
    places = [points[f"{name}_{side}"] for name in names for side in SIDES if f"{name}_{side}" in points]
    if not places:
        return None
    stacked = np.stack(places)
    seen = np.isfinite(stacked).all(axis=-1, keepdims=True)
    if seen.all():
        return np.asarray(stacked.mean(axis=0))
    if not seen.any():
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(seen, stacked, 0).sum(axis=0) / seen.sum(axis=0))


def _headings(points: Mapping[str, Array], up: Array) -> dict[str, Array]:
    """Return the mean horizontal unit headings of pelvis and feet; NaN if not seen."""
    headings = {}
    if {"asis_left", "asis_right"} <= points.keys():
        headings["pelvis"] = np.cross(up, _horizontal(points["asis_right"] - points["asis_left"], up))
    feet = [
        _horizontal(points[f"toe_{side}"] - points[f"heel_{side}"], up)
        for side in SIDES
        if {f"toe_{side}", f"heel_{side}"} <= points.keys()
    ]
    feet = [foot for foot in feet if np.isfinite(foot).all()]
    if feet:
        headings["feet"] = np.mean(feet, axis=0)
    return headings


def _horizontal(vectors: Array, up: Array) -> Array:
    """Return the horizontal unit vector (3,) of the mean of vectors (time, 3)."""
    seen = vectors[np.isfinite(vectors).all(axis=1)]
    if not len(seen):
        return np.full(3, np.nan)
    mean = seen.mean(axis=0)
    mean = mean - up * (up @ mean)
    return np.asarray(mean / np.linalg.norm(mean))


def _nearest_axis(vector: Array) -> Array:
    axis = np.zeros(3)
    largest = int(np.argmax(np.abs(vector)))
    axis[largest] = np.sign(vector[largest])
    return axis
