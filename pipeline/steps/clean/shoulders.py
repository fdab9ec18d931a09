"""Shoulders, by which the upper body moves: cleaned apart from the landmarks, which they must not affect."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.body_model import BodyModel
from ...body.landmarks import positions
from ...conventions import SIDES
from ...trials.session import Trial
from . import gap_filling
from .marker_filters import filter_markers
from .marker_repair import find_spikes
from .settings import Settings


def without_absent_shoulders(step: Callable[..., xr.Dataset]) -> Callable[..., xr.Dataset]:
    """Remove the shoulders from the result of a step if no trial shows them."""

    @functools.wraps(step)
    def with_present(*inputs: xr.Dataset, **arguments: Any) -> xr.Dataset:
        result = step(*inputs, **arguments)
        seen = "shoulder" in result.dims and np.isfinite(result.variables["shoulder_position"].values).any()
        return result if seen else result.drop_dims("shoulder", errors="ignore")

    return with_present


def shoulder_positions(read: Trial, body_model: BodyModel, settings: Settings) -> NDArray[np.float64]:
    """Return the positions (time, shoulder, 3) of both shoulders, m; NaN where unseen.

    Args:
        read: a trial of the step ``read``.
        body_model: names their labels, or none.
        settings: of the step; spikes are removed, and gaps up to ``max_gap_s`` filled by a spline.
    """
    rate_hz, labels = read.attrs["marker_rate_hz"], [str(label) for label in read.marker.values]
    model = BodyModel(body_model.name, body_model.shoulders)
    seen = positions(model, labels, read.variables["marker_position"].values)
    unseen = np.full((len(read.variables["time"]), 3), np.nan)
    shoulders = np.stack([seen.get(f"shoulder_{side}", unseen) for side in SIDES], axis=1)
    shoulders[find_spikes(shoulders, spike_m=settings.spike_m)] = np.nan
    filled, _ = gap_filling.fill(shoulders, [], rate_hz=rate_hz, max_gap_s=settings.max_gap_s, max_pattern_gap_s=0)
    filtered, _ = filter_markers(filled, rate_hz=rate_hz, settings=settings)
    return filtered
