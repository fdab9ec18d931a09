"""Forces of the plates of a trial: baselines subtracted, filtered."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Array
from ...json_text import to_text
from ...plates.baseline import UNKNOWN, subtract_baseline
from ...plates.foot_proximity import without_feet
from ...plates.signal_breaks import find_breaks
from ...plates.wrench import at_instants
from ...signals.filters import low_pass
from ...trials.session import Trial
from .settings import Settings


def filter_plates(read: Trial, landmarks: Mapping[str, Array], settings: Settings) -> tuple[dict[str, Any], str]:
    """Return the variables of the plates: wrenches without baseline, filtered, and the baseline; and ``plate_breaks``.

    Args:
        read: a trial of the step ``read``.
        landmarks: (time, 3), m, that show when a foot is over a plate.
        settings: of the step.

    Raises:
        UserError: the cut-off is too high for the file's rate.
    """
    instants = read.variables["plate_time"].values
    wrench, known = subtract_baselines(read, landmarks)
    filtered = low_pass_plates(wrench, instants, settings)
    time, corners = read.variables["time"].values, read.variables["plate_corner"].values
    breaks = [
        [number, *one]
        for i, number in enumerate(read.variables["plate"].values.tolist() if wrench.size else ())
        for one in find_breaks(wrench[:, i], corners[i], _rate_hz(instants))
    ]
    variables = {
        "plate_force": (("time", "plate", "axis"), at_instants(filtered[..., :3], instants, time)),
        "plate_moment": (("time", "plate", "axis"), at_instants(filtered[..., 3:], instants, time)),
        **{name: read.variables[name] for name in ("plate_corner", "plate_edges_known", "plate_fault")},
        "vertical_force": (("plate_time", "plate"), wrench[..., 1].copy()),
        "vertical_force_filtered": (("plate_time", "plate"), filtered[..., 1]),
        "plate_baseline": (("plate", "axis"), known.pop("baseline")),
        **{f"plate_{name}": (("plate",), values) for name, values in known.items()},
    }
    return variables, to_text(breaks)


def subtract_baselines(read: Trial, landmarks: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
    """Return the unfiltered wrenches (plate_time, plate, 6) without baseline, and this: see `subtract_baseline`.

    Args:
        read: a trial of the step ``read``.
        landmarks: (time, 3), m, that show when a foot is over a plate.
    """
    force, moment, corners = (read.variables[f"plate_{name}"].values for name in ("force", "moment", "corner"))
    if not force.size:
        plates = force.shape[1]
        known = dict.fromkeys(("drift", *UNKNOWN), np.zeros(plates))
        return np.concatenate([force, moment], axis=-1), {"baseline": np.zeros((plates, 3)), **known}
    instants, time = read.variables["plate_time"].values, read.variables["time"].values
    rate_hz = _rate_hz(instants)
    frames = time.searchsorted(instants).clip(max=len(time) - 1)
    away = without_feet(landmarks, corners)[frames]
    return subtract_baseline(force, moment, corners, rate_hz=rate_hz, named=_zero_window(read, rate_hz), away=away)


def low_pass_plates(wrench: Array, instants: Array, settings: Settings) -> Array:
    """Return wrenches (plate_time, plate, 6) after the low-pass filter of the settings."""
    if not wrench.size:
        return wrench
    rate_hz, order = _rate_hz(instants), settings.filter_order
    return low_pass(wrench, rate_hz=rate_hz, cutoff_hz=settings.force_cutoff_hz, order=order)


def _rate_hz(instants: Array) -> float:
    return float((len(instants) - 1) / (instants[-1] - instants[0]))


def _zero_window(read: Trial, rate_hz: float) -> slice | None:
    """Return the samples that FORCE_PLATFORM:ZERO names as unloaded."""
    if np.isnan(limits := read["zero_frames"].values).any():
        return None
    first, last = limits.astype(int).tolist()
    per_frame = rate_hz / read.attrs["marker_rate_hz"]
    return slice(round((first - 1) * per_frame), round(last * per_frame))
