"""Curves in the walker's frame: angles of pelvis and foot, and ground force, from the line of progression.

With ``kinematics.line_of_progression`` ``walker`` that is the line of the stride (``stride_direction``), with ``lab``
lab x, as in Plug-in Gait.
"""

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...body.joint_angles import MIRROR, foot_progression, from_line, pelvis_angles
from ...signals.time_normalisation import PhaseFrames
from ...trials.session import AnyTrial

SEGMENT = {"pelvis_angle": "pelvis", "foot_progression": "foot"}


def headings(line_of_progression: str, stride_direction: Array) -> Array:
    """Return the direction of the line of strides (...), to the left of lab x, rad; 0 where it is not known.

    Args:
        line_of_progression: setting.
        stride_direction: (...), degrees, NaN where not known.
    """
    return np.nan_to_num(np.radians(stride_direction)) * (line_of_progression == "walker")


def progression_angles(
    name: str, kinematics: AnyTrial, frames: PhaseFrames, row: NDArray[np.intp], heading: Array
) -> Array:
    """Return ``pelvis_angle`` (cycle, angle, 101) or ``foot_progression`` (cycle, 101) from the line, degrees.

    Args:
        name: of the two.
        kinematics: the session.
        frames: the frames of the cycles.
        row, heading: (cycle,), index of the side, direction of the line in rad.
    """
    names = kinematics.variables["segment"].values.tolist()
    pose = kinematics.variables["rotation"].values[:, :, names.index(SEGMENT[name])]
    smallest = float(kinematics.variables["smallest_floating_axis"].values[0])
    mirror, line = MIRROR[row][:, None], heading[:, None]

    def angles_at(frame: NDArray[np.intp]) -> Array:
        turned = from_line(pose[frame, row[:, None]], line)
        if name == "foot_progression":
            return foot_progression(turned, mirror)
        return pelvis_angles(turned, smallest, mirror)

    return np.ascontiguousarray(frames.between(angles_at))


def along_line(curve: Array, heading: Array) -> Array:
    """Return lab vectors (cycle, axis, 101) in axes with x along the lines (cycle,) of ``heading``, rad."""
    return np.moveaxis(from_line(np.moveaxis(curve, 1, -1), heading), -1, 1)
