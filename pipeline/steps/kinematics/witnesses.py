"""Witnesses of the motion: what they find in each walk, and the doubts about all of its stances.

A witness is a row: the codes of its doubts, and a function of all that the walks of a session show.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array
from ...conventions import SIDES
from ...trials.session import spans_of
from ...variables.stance_verdicts import Verdict, doubt_columns
from .angle_check import angle_misfit, doubt_angles
from .marker_check import Shift, doubt_marker, unseen_at_knees
from .static_check import doubt_static, static_misfits


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
    return Found({"static_misfit": ("trial", misfits_m)}, [doubt_static(misfit_m) for misfit_m in misfits_m.tolist()])


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
