"""A recording in ISB lab axes, as far as its markers show up and forward."""

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.landmarks import Points, positions
from ...conventions import SIDES
from ...errors import Problem, UserError
from ...person.body_weight import standing_weight_n, vertical_forces, walking_weights_n
from ...person.marker_travel import STANDING_M, extent_m
from ...person.shown_sizes import ShownSizes, quietly
from ...recording import Recording
from .lab_axes import to_isb
from .plates_and_channels import Plates, decode_plates


class LabView(NamedTuple):
    """A recording in lab axes."""

    landmarks: Points  # (time, 3) by name, axes of the file, m
    rotation: Array  # (3, 3) from these to lab axes; the identity if they are unknown
    travel: str  # direction of travel, see :func:`pipeline.steps.read.lab_axes.to_isb`
    problem: Problem | None  # why up or forward is unknown, or None
    plates: Plates  # in lab axes
    shown: ShownSizes  # what the recording shows of the person's size


def view_in_lab_axes(
    recording: Recording, body_model: BodyModel | None, *, quarter_turn: bool, slope_deg: float = 0.0
) -> LabView:
    """Return a recording in lab axes.

    Args:
        body_model: gives the labels of the landmarks; None if it is unknown.
        quarter_turn, slope_deg: see :func:`pipeline.steps.read.lab_axes.to_isb`.
    """
    landmarks = positions(body_model, recording.labels, recording.markers) if body_model else {}
    problem, rotation, travel = None, np.eye(3), "none"
    try:
        rotation, travel = to_isb(landmarks, quarter_turn=quarter_turn, slope_deg=slope_deg)
    except UserError as error:
        problem = error.problems[0]
    plates = decode_plates(recording, rotation)
    shown = _measure_sizes(recording, landmarks, None if problem else rotation, plates)
    return LabView(landmarks, rotation, travel, problem, plates, shown)


def _measure_sizes(recording: Recording, points: Points, rotation: Array | None, plates: Plates) -> ShownSizes:
    """Return the sizes that a recording shows.

    Steps count only on plates of which nothing is wrong, and if nobody else is in the file who could have made them.

    Args:
        points: landmarks (time, 3), axes of the file, m.
        rotation: (3, 3) from these to lab axes; None if they are unknown.
    """
    extent, rate_hz = extent_m(recording.markers), recording.analog_rate_hz  # the rate is 0 without analog channels
    legs = [
        np.linalg.norm(points[f"asis_{side}"] - points[f"heel_{side}"], axis=1)
        for side in SIDES
        if {f"asis_{side}", f"heel_{side}"} <= points.keys()
    ]
    standing_n, walking_n = float("nan"), list[float]()
    if extent < STANDING_M and rotation is not None:
        standing_n = standing_weight_n(points, rotation, plates.force, plates.corners, plates.edges_known)
    if extent >= STANDING_M and rate_hz > 0 and not recording.subjects:
        sound = [not fault for fault in plates.faults]
        walking_n = walking_weights_n(vertical_forces(plates.force[:, sound], plates.corners[sound]), rate_hz)
    return ShownSizes(extent, quietly(np.nanmedian, legs) if legs else float("nan"), standing_n, walking_n)
