"""Witnesses of the motion: what they find in each walk, and the doubts about all of its stances.

A witness is a row: the codes of its doubts, and a function of all that the walks of a session show.

Markers of one segment keep their distance in any posture, but for skin, noise and joint markers beside the axis. So a
distance in the static trial lies within the range that it takes in the walk, or some millimetres beside it. Another
person's lengths and widths do not: those of adults differ by some 20 mm (standard deviation of shank and pelvis;
Drillis and Contini 1966).

Angles that Plug-in Gait stored in the file are of another program by the same markers. Where the model is the same they
agree to 0.1 degrees, filtered or not. Another model, or another static trial, differs on both sides. One leg that
differs while the other agrees has a marker elsewhere, or sizes of its own.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array
from ...c3d.plug_in_gait import ANGLE_SIGNS
from ...conventions import ANGLES, JOINTS, SIDES
from ...json_text import from_text
from ...signals.marker_distances import FARTHEST_M, RIGID_M, ranges
from ...trials.session import spans_of
from ...variables.stance_verdicts import Verdict, doubt_columns
from .marker_check import Shift, doubt_marker, unseen_at_knees

FEWEST = 6  # distances: a pelvis, or a leg's three lengths on both sides
LARGEST_M = 0.005
COMPUTED = "_ahead_"  # of points that a program computes, perhaps otherwise in the two trials
# how landmarks of a segment begin; those of knee and ankle, near the axis, belong to both segments
KNEE, ANKLE = ("lateral_epicondyle", "medial_epicondyle"), ("lateral_malleolus", "medial_malleolus")
OF_SEGMENTS = (
    ("asis", "psis", "sacrum"),
    ("trochanter", "thigh", *KNEE),
    (*KNEE, "fibula", "tibial", "shank", *ANKLE),
    (*ANKLE, "heel", "toe", "metatarsal", "midfoot", "forefoot"),
)
# degrees. 3 of an axis turn .05 of a moment of 1 N m/kg about another one
LARGEST_DEG, AGREES_DEG = 3.0, 1.0


@dataclass(frozen=True, eq=False)
class Shown:
    """What the walks of a session show once their legs are posed: all that the witnesses know."""

    clean: xr.Dataset
    calibrate: xr.Dataset
    shifts: Sequence[Shift]  # of the marker of each walk that is farthest from where the linked legs put it
    angle: Array  # (sample, side, joint, angle), degrees
    compared: bool  # whether angles are those of Plug-in Gait, which files store


class Found(NamedTuple):
    """What a witness finds in each walk: variables of kinematics.nc, and the doubts."""

    variable: dict[str, tuple[Any, Array]]  # by name, with dimensions
    doubts: list[list[Verdict]]  # about each walk


def compare_static(shown: Shown) -> Found:
    """Compare distances between markers with those of the static trial."""
    misfits_m = static_misfits(shown.clean, shown.calibrate)
    doubts = [
        [Verdict.of("static_unlike", mm=1000 * off_m)] if off_m > LARGEST_M else [] for off_m in misfits_m.tolist()
    ]
    return Found({"static_misfit": ("trial", misfits_m)}, doubts)


def static_misfits(clean: xr.Dataset, calibrate: xr.Dataset) -> Array:
    """Return by how much distances in the static trial are out of their range in each trial (trial,), m.

    It is the root mean square over the steady distances; NaN where fewer than ``FEWEST`` are seen in both.
    """
    here, there = clean.marker.values.tolist(), calibrate.landmark.values.tolist()
    shared = sorted(name for name in {*here} & {*there} if COMPUTED not in name)
    columns, rows = ([names.index(name) for name in shared] for names in (here, there))
    static = calibrate.static_distance.values[np.ix_(rows, rows)]
    near = np.zeros(static.shape, dtype=bool)
    for side, names in itertools.product(SIDES, OF_SEGMENTS):
        mine = np.array([
            name.startswith(names) and (names[0] == "asis" or name.endswith(side)) for name in shared
        ], dtype=bool)  # fmt: skip
        near |= np.outer(mine, mine)
    near &= np.triu(static < FARTHEST_M, 1)
    position = clean.marker_position.values[:, columns]
    return np.array([misfit(position[span], static, near) for span in spans_of(clean, "sample")])


def misfit(position: Array, static: Array, near: np.ndarray) -> float:
    """Return by how much static distances are out of their range in a trial, root mean square, m; NaN of too few.

    Args:
        position: (time, marker, 3), m, NaN where unseen.
        static: (marker, marker) distances in the static trial, m.
        near: (marker, marker) which are compared.
    """
    low, high, spread = ranges(position, *np.nonzero(near))
    expected = static[near]
    beyond = np.maximum(np.maximum(expected - high, low - expected), 0)[spread < RIGID_M]
    return float(np.sqrt(np.mean(np.square(beyond)))) if len(beyond) >= FEWEST else np.nan


def find_moved_markers(shown: Shown) -> Found:
    """Compare the place of each marker in the linked legs with that in the static trial."""
    names = shown.clean.marker.values.tolist()
    variables = {
        "marker_shift": ("trial", np.array([found.shift for found in shown.shifts])),
        "knee_marker_unseen": (
            ("trial", "side"),
            np.array([unseen_at_knees(names, found) for found in shown.shifts]).reshape(-1, len(SIDES)),
        ),
    }
    return Found(variables, [doubt_marker(names, found) for found in shown.shifts])


def compare_angles(shown: Shown) -> Found:
    """Compare joint angles with those that Plug-in Gait stored in the file."""
    spans = spans_of(shown.clean, "sample")
    has = shown.compared and "stored_angles" in shown.clean
    stored = shown.clean.stored_angles.values.tolist() if has else [""] * len(spans)
    off = [angle_misfit(text, shown.angle[span]) for text, span in zip(stored, spans, strict=True)]
    variable = {"angle_misfit": (("trial", "side", "joint", "angle"), np.array(off))}
    return Found(variable, [doubt_angles(each) for each in off])


def angle_misfit(stored: str, angle: Array) -> Array:
    """Return by how much angles are larger than the stored ones (side, joint, angle), median, degrees; NaN if unknown.

    Args:
        stored: the fact ``stored_angles`` of the trial.
        angle: (time, side, joint, angle), degrees, flexion, adduction and internal rotation positive.
    """
    frames, values = from_text(stored) or ([], [])
    of_file = ANGLE_SIGNS * np.array(values, dtype=float).reshape(-1, *angle.shape[1:])
    off = (angle[frames] - of_file + 180) % 360 - 180
    known = np.isfinite(off).any(axis=0)
    return np.where(known, np.nanmedian(np.where(known, off, 0.0), axis=0), np.nan) if len(off) else 0 * known + np.nan


def doubt_angles(misfit: Array) -> list[Verdict]:
    """Return the doubt about a trial with an angle (side, joint, angle) of one leg far from the stored one, if any.

    The zero of ankle flexion says nothing: it depends on whether the foot was taken as flat in the static trial.
    """
    alone = np.where(np.abs(misfit[::-1]) < AGREES_DEG, np.nan_to_num(misfit), 0.0)
    alone[:, JOINTS.index("ankle"), ANGLES.index("flexion")] = 0.0
    side, joint, angle = np.unravel_index(np.abs(alone).argmax(), alone.shape)
    off = float(alone[side, joint, angle])
    what = f"{SIDES[side]} {JOINTS[joint]} {ANGLES[angle]}"
    return [Verdict.of("angles_unlike_file", what=what, degrees=off, leg=SIDES[side])] if abs(off) > LARGEST_DEG else []


class Witness(NamedTuple):
    """A witness of the motion."""

    codes: tuple[str, ...]
    look: Callable[[Shown], Found]


WITNESSES = (  # in the order of their doubts
    Witness(("static_unlike",), compare_static),
    Witness(("marker_moved",), find_moved_markers),
    Witness(("angles_unlike_file",), compare_angles),
)


def hear_witnesses(shown: Shown) -> dict[str, Any]:
    """Return the variables of all witnesses, and those of the doubts about each walk if there are any."""
    found = [one.look(shown) for one in WITNESSES]
    of_walks = zip(*(each.doubts for each in found), strict=True)
    columns = doubt_columns([doubt for doubts in of_walk for doubt in doubts] for of_walk in of_walks)
    variables = {name: ("trial", column) for name, column in columns.items() if any(column)}
    return variables | {name: variable for each in found for name, variable in each.variable.items()}
