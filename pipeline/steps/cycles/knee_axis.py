"""What shows a knee axis that is turned about the thigh: adduction in step with flexion, and a turned hip."""

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...conventions import ADDUCTION, HIP, KNEE, ROTATION, SIDES
from ...trials.session import AnyTrial
from ...variables.cycle_variables import KNEE_AXIS


def knee_axis_figures(kinematics: AnyTrial, row: NDArray[np.intp], span_s: Array) -> Array:
    """Return (side, figure) of :data:`pipeline.variables.cycle_variables.KNEE_AXIS` of a trial; NaN if unknown.

    A thigh frame that is turned inwards by d has hip rotation too large by d, and the knee adducts by d in step with
    flexion: sin(adduction) = sin(d) sin(flexion).

    Args:
        row, span_s: (cycle,) index of the side, (cycle, 2) foot strikes that start and end each cycle, s.
    """
    time, angle = kinematics["time"].values, kinematics["joint_angle"].values
    figures = np.full((len(SIDES), len(KNEE_AXIS)), np.nan)
    figures[:, 0], figures[:, 1] = (kinematics[f"knee_axis_{name}"].values for name in ("error", "in_step"))
    for side in range(len(SIDES)):
        spans = [(time >= start_s) & (time <= end_s) for start_s, end_s in span_s[row == side]]
        seen = [angle[span, side] for span in spans if np.isfinite(angle[span, side, KNEE:]).all()]
        if seen:
            figures[side, 2] = np.mean([np.ptp(each[:, KNEE, ADDUCTION]) for each in seen])
            figures[side, 3] = np.concatenate(seen)[:, HIP, ROTATION].mean()
    return figures
