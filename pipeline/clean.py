"""Step ``clean``: gaps filled and recorded, plate baselines taken off, everything filtered.

From here on markers carry the names of landmarks (``heel_left``), whatever the lab calls them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import gaps
from pipeline.body_model import SIDES, chosen_labels, landmark_labels, seen_labels
from pipeline.errors import UserError
from pipeline.filters import low_pass, stretches

Array = NDArray[np.float64]

UNLOADED_BAND_N = 20.0
LARGEST_BASELINE_N = 100.0
SHORTEST_UNLOADED_S = 0.05


def clean(
    read: xr.Dataset,
    *,
    body_model: Mapping[str, Any],
    max_gap_s: float,
    marker_cutoff_hz: float | None,
    force_cutoff_hz: float | None,
    filter_order: int,
) -> xr.Dataset:
    """Clean one trial.

    Args:
        read: a trial of the step ``read``.
        body_model: which labels make which landmark, which landmarks move as one.
        max_gap_s: longest gap that a spline may fill, s.
        marker_cutoff_hz, force_cutoff_hz: -3 dB points of the whole zero-lag filters; None turns one off.
        filter_order: order of the whole filter.

    Returns:
        ``marker_position`` (time, marker, axis), filtered; ``fill`` (time, marker): 0 measured or missing,
        1 spline, 2 rigid cluster; ``plate_force``, ``plate_moment`` (plate_time, plate, axis), baseline off
        and filtered; ``vertical_force`` (plate_time, plate), baseline off but not filtered, to find contacts
        by; ``plate_baseline`` (plate, axis), the force taken off; the file's events and plate corners.

    Raises:
        UserError: the trial shows none of the model's markers, or a cut-off is too high for the file's rate.
    """
    rate_hz = read.attrs["marker_rate_hz"]
    labels = [str(label) for label in read.marker.values]
    recorded = read.marker_position.values
    chosen = chosen_labels(body_model, seen_labels(labels, recorded))
    if not chosen:
        here = ", ".join(labels[:9])
        raise UserError(f"no marker of body model {body_model['name']} is seen in the file (which has {here} ...)")
    column = {label: i for i, label in enumerate(labels)}
    used = {label: recorded[:, column[label]] for group in chosen.values() for label in group}
    clusters = [[label for name in cluster for label in chosen.get(name, ())] for cluster in _clusters(body_model)]
    filled, code = gaps.fill(used, clusters, rate_hz=rate_hz, max_gap_s=max_gap_s)
    position = np.stack([np.mean([filled[label] for label in group], axis=0) for group in chosen.values()], axis=1)
    fills = np.stack([np.max([code[label] for label in group], axis=0) for group in chosen.values()], axis=1)
    filtered = low_pass(position, rate_hz=rate_hz, cutoff_hz=marker_cutoff_hz, order=filter_order)
    force, moment, vertical, baseline = _plates(read, cutoff_hz=force_cutoff_hz, order=filter_order)
    plate = ("plate_time", "plate", "axis")
    absent = [name for name in landmark_labels(body_model) if name not in chosen]
    return xr.Dataset(
        {
            "marker_position": (("time", "marker", "axis"), filtered),
            "fill": (("time", "marker"), fills),
            "plate_force": (plate, force),
            "plate_moment": (plate, moment),
            "plate_corner": read.plate_corner,
            "vertical_force": (plate[:2], vertical),
            "plate_baseline": (plate[1:], baseline),
            "event_time": read.event_time,
        },
        {
            "time": read.time,
            "plate_time": read.plate_time,
            "axis": read.axis,
            "marker": list(chosen),
            "label": ("marker", [" + ".join(group) for group in chosen.values()]),
        },
        {
            "marker_rate_hz": rate_hz,
            "direction_of_travel": read.attrs["direction_of_travel"],
            "plates_left_out": read.attrs["plates_left_out"],
            "landmarks_absent": " ".join(absent),
            "filled_frames": int(np.count_nonzero(fills)),
        },
    )


def _clusters(body_model: Mapping[str, Any]) -> list[list[str]]:
    """Return the landmark names of each rigid cluster, of each side."""
    known = landmark_labels(body_model)
    clusters = []
    for side in SIDES:
        for segment in body_model["segments"].values():
            names = [name if name in known else f"{name}_{side}" for name in segment.get("cluster", [])]
            clusters.append([name for name in names if name in known])
    return clusters


def _plates(read: xr.Dataset, *, cutoff_hz: float | None, order: int) -> tuple[Array, Array, Array, Array]:
    """Return force and moment, filtered, the unfiltered vertical force, and the baseline force taken off."""
    force, moment = read.plate_force.values, read.plate_moment.values
    time = read.plate_time.values
    if not force.size:
        return force, moment, force[..., 1], np.zeros(force.shape[1:])
    rate_hz = (len(time) - 1) / (time[-1] - time[0])
    wrench = np.concatenate([force, moment], axis=-1)
    window = _zero_window(read, rate_hz)
    baseline = np.stack([_baseline(wrench[:, plate], window, rate_hz=rate_hz) for plate in range(wrench.shape[1])])
    wrench = wrench - baseline
    vertical = wrench[..., 1].copy()
    wrench = low_pass(wrench, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order)
    return wrench[..., :3], wrench[..., 3:], vertical, baseline[:, :3]


def _zero_window(read: xr.Dataset, rate_hz: float) -> slice | None:
    """Return the samples that FORCE_PLATFORM:ZERO names as unloaded (1-based marker frames of the file)."""
    if "zero_frames" not in read.attrs:
        return None
    first, last = (int(frame) for frame in read.attrs["zero_frames"])
    per_frame = rate_hz / read.attrs["marker_rate_hz"]
    return slice(round((first - 1) * per_frame), round(last * per_frame))


def _baseline(wrench: Array, window: slice | None, *, rate_hz: float) -> Array:
    """Return the wrench (6,) of a plate at rest, to take off; zeros where it is never seen unloaded.

    The frames that the file names in ZERO count if the plate is unloaded in them (they may show a person
    standing on it); else the longest stretches within 20 N of the lowest vertical force, if load comes and
    goes in the trial.
    """
    vertical = wrench[:, 1]
    lowest = np.percentile(vertical, 2)
    unloaded = np.abs(vertical - lowest) < UNLOADED_BAND_N
    if abs(lowest) > LARGEST_BASELINE_N or unloaded.all():
        quiet = unloaded.all() and -LARGEST_BASELINE_N < lowest < UNLOADED_BAND_N  # more may be a light person
        return np.median(wrench, axis=0) if quiet else np.zeros(6)
    if window is not None and unloaded[window].size and unloaded[window].all():
        return np.asarray(wrench[window].mean(axis=0))
    trim = int(SHORTEST_UNLOADED_S * rate_hz)
    inner = [slice(a + trim, b - trim) for a, b in stretches(unloaded) if b - a > 3 * trim]
    if not inner:
        return np.zeros(6)
    return np.asarray(np.median(np.concatenate([wrench[part] for part in inner]), axis=0))
