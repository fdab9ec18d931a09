"""Curves and metrics of stances from foot strike to foot off, whether or not a whole gait cycle follows."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...conventions import FLEXION
from ...signals.time_normalisation import PhaseFrames, at_phases
from ...variables.cycle_variables import STANCE, STANCE_CURVES
from ...variables.metrics import METRICS, OF_STANCE
from .peaks_and_work import impulses, peaks, work
from .progression import along_line


def of_whole_stances(
    quantities: Mapping[str, xr.Variable],
    frames: PhaseFrames,
    row: NDArray[np.intp],
    heading: Array,
    *,
    duration_s: Array,
    leg_length_m: Array,
    mass_kg: float,
) -> dict[str, Array]:
    """Return the variables of cycles.nc along ``whole_stance``: angles, and kinetics per body mass.

    Args:
        quantities: (sample, side, ...) by name.
        row, heading, duration_s, leg_length_m: (whole stance,), index of the side, direction of the line of progression
            in rad, s, m.
    """
    curves, result = {}, {}
    for name in STANCE_CURVES:
        quantity = name.removesuffix(STANCE)
        values = np.ascontiguousarray(at_phases(quantities[quantity].values, frames, row))
        values = along_line(values, heading) if quantity == "ground_force" else values
        curves[quantity] = values if quantity == "joint_angle" else values / mass_kg
        result[name] = curves[quantity]
    metrics = _metrics(curves, duration_s) | {"leg_length": leg_length_m}
    unknown = np.full(len(duration_s), np.nan)
    stacked = np.stack([metrics[name] if name in OF_STANCE else unknown for name in METRICS], axis=-1)
    return result | {f"metric_value{STANCE}": stacked}


def _metrics(curves: Mapping[str, Array], duration_s: Array) -> dict[str, Array]:
    """Return metrics (whole stance,), among them all of :data:`OF_STANCE` but the leg length."""
    share = np.full(len(duration_s), 100.0)
    goes_on: Array = curves["joint_angle"].copy()
    goes_on[..., FLEXION, -1] = np.nan  # so that work that may go on in swing is unknown
    return {
        "stance_time": duration_s,
        **peaks(curves, stance_share=share),
        **impulses(curves, stance_share=share, stride_s=duration_s),
        **work({**curves, "joint_angle": goes_on}, stance_share=share),
    }
