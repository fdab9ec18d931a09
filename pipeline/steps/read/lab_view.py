"""A recording in ISB lab axes, as far as its markers show up and forward."""

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.landmarks import Points, positions
from ...errors import Problem, UserError
from ...person.shown_sizes import ShownSizes, measure_sizes
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
    shown = measure_sizes(
        recording.markers, landmarks, None if problem else rotation, plates.force, plates.corners, plates.edges_known,
        plates.faults, rate_hz=recording.analog_rate_hz, alone=not recording.subjects,
    )  # fmt: skip
    return LabView(landmarks, rotation, travel, problem, plates, shown)
