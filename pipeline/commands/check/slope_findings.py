"""Problems of the vertical: persons and forces that lean, plates that slope; the axes' slope is wrong or not stated."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import Problem, join_some, warning
from ...steps.read.recording_contents import Contents
from ...tables import study_tables, tsv
from .file_findings import MOST_LISTED

LEVEL_DEG = 2.0  # corners that are placed to 1 cm on a plate of 40 cm turn it by less
# nobody stands with the body's mass beyond the ends of the feet: half of a foot, .13 m, at .95 m above the ground. Of
# thirteen people who stood for a static trial, the middle of the pelvis was at -.3 to 2.2 degrees
LEANS_DEG = 8.0
# hands that bear a twentieth of the weight, plates that are not zeroed, and part of a stride lean it by less; in seven
# walks on level belts it leans by up to .5 degrees
FORCES_LEAN_DEG = 3.0


def stated_slope_deg(row: tsv.Row, chosen: Mapping[str, Any]) -> float:
    """Return the slope of the axes of a row's file that is stated, degrees, or 0."""
    return float(study_tables.slope_in_row(row).get(study_tables.SLOPE, chosen.get("read", {}).get("slope_deg", 0.0)))


def leaning_person(file: str, forwards_deg: float, right_deg: float, slope_deg: float) -> Iterator[Problem]:
    """Find a person who stands at another angle than anybody can: the slope of the axes is not stated, or wrong."""
    if abs(lean_deg := forwards_deg - slope_deg) > LEANS_DEG:
        way = "forwards" if lean_deg > 0 else "backwards"
        stated = f", with the slope of {slope_deg:g} degrees" if slope_deg else ""
        what = f"the standing person leans {way} by {abs(lean_deg):.0f} degrees from the vertical{stated}"
        remedy = (
            f"correct if a support holds who leans so; else the axes rise by about {round(forwards_deg)} degrees where "
            "the person faces: measure the slope and give it as slope_degrees in trials.tsv, uphill positive"
        )
        yield warning(file, what, remedy, "standing_leans")
    if abs(right_deg) > LEANS_DEG:
        way = "right" if right_deg > 0 else "left"
        what = f"the standing person leans to the {way} by {abs(right_deg):.0f} degrees from the vertical"
        remedy = (
            "correct if a support holds who leans so; else the file's axes slope to the person's side, which cannot be "
            "stated: calibrate the cameras with a level wand, or turn markers and plates to a plumb axis"
        )
        yield warning(file, what, remedy, "standing_leans")


def leaning_forces(file: str, forwards_deg: float, right_deg: float, slope_deg: float) -> Iterator[Problem]:
    """Find a walk on a belt that no plumb force holds: the slope of the axes is not stated, or wrong."""
    if abs(lean_deg := forwards_deg - slope_deg) > FORCES_LEAN_DEG:
        stated = f", with the slope of {slope_deg:g} degrees" if slope_deg else ""
        what = (
            f"the mean force leans {'forwards' if lean_deg > 0 else 'backwards'} by {abs(lean_deg):.0f} degrees{stated}"
        )
        remedy = (
            f"correct if hands push or pull as much; else the axes rise by about {round(forwards_deg)} degrees where "
            "the person faces: give that as slope_degrees in trials.tsv, or check the directions of the plates"
        )
        yield warning(file, what, remedy, "forces_lean")
    if abs(right_deg) > FORCES_LEAN_DEG:
        what = f"the mean force leans to the {'right' if right_deg > 0 else 'left'} by {abs(right_deg):.0f} degrees"
        remedy = (
            "correct if hands push or pull as much; else the file's axes slope to the person's side, which cannot be "
            "stated: turn markers and plates to a plumb axis, or check the directions of the plates"
        )
        yield warning(file, what, remedy, "forces_lean")


def sloping_plates(session: str, gait: Sequence[tuple[Contents, float]]) -> Iterator[Problem]:
    """Find plates that are not level by their corners, as in an inclined treadmill or a ramp.

    Where a slope of the axes is stated, it makes plates slope or level that are the other in the file's own axes.

    Args:
        gait: walks, and the slopes of their axes that are stated, degrees.
    """
    slopes: dict[bool, dict[int, float]] = {False: {}, True: {}}  # by whether a slope is stated
    for facts, stated_deg in gait:
        upright = facts.landmarks and not facts.axes_problem  # else it is not known what is up
        of_plates = slopes[stated_deg != 0]
        for number, normal in facts.plate_normals.items() if upright else ():
            slope_deg = _slope_of_plate_deg(normal, stated_deg)
            if min(slope_deg, _slope_of_plate_deg(normal, 0.0)) > LEVEL_DEG:
                of_plates[number] = max(slope_deg, of_plates.get(number, 0.0))
    for is_stated, of_plates in slopes.items():
        if not of_plates:
            continue
        steep = [f"{n} by {slope:.0f} degrees" for n, slope in sorted(of_plates.items())]
        what = f"plates slope by their corners: {join_some(steep, MOST_LISTED)}"
        remedy = (
            "correct if they do and the file's vertical axis is plumb, along which gravity is taken; otherwise "
            "correct FORCE_PLATFORM:CORNERS"
        )
        if is_stated:
            what = f"{what}, with the slope of the file's axes that is stated"
            remedy = (
                "corners that slope in the file mostly mean that its axes are plumb: then state no slope "
                "(slope_degrees in trials.tsv); else correct its sign, or FORCE_PLATFORM:CORNERS"
            )
        yield warning(session, what, remedy, "plates_slope")


def _slope_of_plate_deg(normal: Array, axes_deg: float) -> float:
    """Return the angle of a plate's normal (3,), up or down, to the vertical in axes that rise forwards by an angle."""
    vertical = np.array([np.sin(np.radians(axes_deg)), np.cos(np.radians(axes_deg)), 0.0])
    return float(np.degrees(np.arccos(min(1.0, abs(normal @ vertical)))))
