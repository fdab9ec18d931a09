"""Markers of trunk, head and arms: cleaned apart from the landmarks of the legs, which they must not affect."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.body_model import BodyModel
from ...body.landmarks import positions
from ...body.rules import Names
from ...trials.session import Trial
from . import gap_filling
from .marker_filters import filter_markers
from .marker_repair import find_spikes
from .settings import Settings

VARIABLES = {"shoulder": "shoulder_position", "upper_marker": "upper_marker_position"}  # by dimension


def without_absent_upper_markers(clean: xr.Dataset) -> xr.Dataset:
    """Return a session without its shoulders if no trial shows them, and without each upper marker that none shows."""
    for dim in VARIABLES.keys() & {*clean.dims}:
        seen = np.isfinite(clean.variables[VARIABLES[dim]].values).any(axis=(0, 2))
        if not seen.any():
            clean = clean.drop_dims(dim)
        elif dim != "shoulder":
            clean = clean.isel({dim: seen})
    return clean


def marker_paths(
    read: Trial, landmarks: Mapping[str, tuple[Names, ...]], settings: Settings, clusters: Sequence[Names] = ()
) -> NDArray[np.float64]:
    """Return the positions (time, landmark, 3), m; NaN where unseen.

    Args:
        read: a trial of the step ``read``.
        landmarks: of the upper body, with their labels.
        settings: of the step; spikes are removed, and gaps up to ``max_gap_s`` filled by a spline.
        clusters: landmarks of rigid segments; where three others are seen, these fill a gap.
    """
    rate_hz, labels = read.attrs["marker_rate_hz"], [str(label) for label in read["marker"].values]
    seen = positions(BodyModel("", landmarks), labels, read.variables["marker_position"].values)
    result = np.full((len(read.variables["time"].values), len(landmarks), 3), np.nan)
    if seen:
        paths = np.stack([*seen.values()], axis=1)
        paths[find_spikes(paths, spike_m=settings.spike_m)] = np.nan
        columns = [[[*seen].index(name) for name in names if name in seen] for names in clusters]
        filled, _ = gap_filling.fill(paths, columns, rate_hz=rate_hz, max_gap_s=settings.max_gap_s, max_pattern_gap_s=0)
        result[:, [[*landmarks].index(name) for name in seen]], _ = filter_markers(
            filled, rate_hz=rate_hz, settings=settings
        )
    return result
