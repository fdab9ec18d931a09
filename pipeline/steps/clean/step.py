"""Step ``clean``: repairs markers, fills gaps, subtracts plate baselines, filters.

From this step on markers have the names of landmarks (``heel_left``) instead of the lab's labels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.body_model import BodyModel
from ...body.landmarks import SHOWING_HEEL, chosen_labels, heel_places, positions, seen_labels, with_heels
from ...body.resolved_model import resolve
from ...body.static_skeleton import with_devices
from ...conventions import SIDES
from ...errors import UserError
from ...plates.baseline import subtract_baseline
from ...plates.foot_proximity import without_feet
from ...plates.wrench import at_instants
from ...signals.filters import low_pass
from ...trials.session import AnyTrial, Trial, facts_of_trials, one_trial
from ...trials.step_on_session import repeat_for_trials, take_usable_walks
from ...variables.schema import REPAIRS
from . import gap_filling
from .marker_filters import HALF_ORDER, filter_markers
from .marker_repair import SPIKE, repair_markers
from .muscle_activity import muscle_activity, without_absent_muscles
from .shoulders import shoulder_positions, without_absent_shoulders

NEEDS = {
    "read": (
        "marker_position", "plate_force", "plate_moment", "plate_corner", "plate_edges_known", "plate_fault",
        "event_time", "lab_rotation",
        "zero_frames", "analog", "analog_units",
    )
}  # fmt: skip  # all that is loaded of an input

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Chosen = dict[str, tuple[str, ...]]  # labels by landmark


class Landmarks(NamedTuple):
    """The landmarks of a trial after repairs.

    Attributes:
        labels: of the markers of each landmark.
        position: (time, landmark, 3), m.
        repair: (time, landmark), see ``FLAGS`` in :mod:`pipeline.variables.schema`.
        measured: (time, landmark), whether all its markers were seen and kept.
    """

    labels: Chosen
    position: Array
    repair: NDArray[np.int8]
    measured: Flags


def heels_of_static(step: Callable[..., xr.Dataset]) -> Callable[..., xr.Dataset]:
    """Give a step on the walks of a session the places of the heels in its static trial, as ``heels``."""

    @functools.wraps(step)
    def with_static(read: xr.Dataset, *, body_model: BodyModel, **arguments: Any) -> xr.Dataset:
        places: dict[str, Array] = {}
        about = facts_of_trials(read) if "trial" in read.dims else {}
        for name, facts in about.items():
            if facts.get("role") == "static" and not facts["rejected"]:
                trial = one_trial(read, name)
                labels = [str(label) for label in trial.marker.values]
                points = positions(body_model, labels, trial.marker_position.values)
                places |= heel_places(with_devices(points, resolve(body_model, points.keys()).devices))
        return step(read, body_model=body_model, heels=places, **arguments)

    return with_static


@without_absent_muscles
@without_absent_shoulders
@heels_of_static
@take_usable_walks
@repeat_for_trials
def clean(
    read: Trial,
    *,
    body_model: BodyModel,
    max_gap_s: float,
    max_pattern_gap_s: float,
    spike_m: float | None,
    exchanged_markers: str,
    marker_filter: str,
    marker_cutoff_hz: float | str | None,
    force_cutoff_hz: float | None,
    filter_order: int,
    emg_high_pass_hz: float,
    emg_low_pass_hz: float,
    emg_channels: Mapping[str, str | None],
    heels: Mapping[str, Array] | None = None,
) -> Trial:
    """Clean one trial.

    Args:
        read: a trial of the step ``read``.
        body_model: defines the labels of each landmark and the rigid clusters.
        max_gap_s, max_pattern_gap_s: longest gap filled by a spline and by neighbours, s.
        spike_m: smallest distance of a spike from its path; None leaves spikes.
        exchanged_markers: see :func:`pipeline.steps.clean.marker_repair.repair_markers`.
        marker_filter: ``butterworth`` or ``gcv_spline``.
        marker_cutoff_hz, force_cutoff_hz: -3 dB points of the whole zero-lag filters; None switches one off;
            ``residual`` chooses one for each marker.
        filter_order: order of the whole filter.
        emg_high_pass_hz, emg_low_pass_hz, emg_channels: see
            :func:`pipeline.steps.clean.muscle_activity.muscle_activity`.
        heels: the place of each heel in the static trial, see :func:`pipeline.body.landmarks.with_heels`.

    Returns:
        ``marker_position`` (time, marker, axis), filtered; ``fill`` (time, marker), the repair of each sample, see
        ``FLAGS`` in :mod:`pipeline.variables.schema`; along ``marker`` the labels, the shares of frames measured and
        filled, and the cut-off; ``plate_force``, ``plate_moment`` (time, plate, axis), without baseline, filtered, at
        the marker instants; ``shoulder_position`` (time, shoulder, axis) if they are seen; ``vertical_force`` and
        ``vertical_force_filtered`` (plate_time, plate), without baseline, to detect contacts;
        ``plate_baseline`` (plate, axis), its mean force; ``plate_drift`` (plate), its unknown drift; ``plate_fault``
        (plate), the file's events and plate corners; ``emg_envelope`` (time, side, muscle) and ``emg_left_out`` if the
        trial has EMG.

    Raises:
        UserError: no marker of the model is seen, labels are exchanged beyond repair, or a cut-off is too high for
            the file's rate.
    """
    rate_hz = read.attrs["marker_rate_hz"]
    seen, exchanged = _repaired(
        read, body_model, max_gap_s=max_gap_s, max_pattern_gap_s=max_pattern_gap_s, spike_m=spike_m,
        exchanged_markers=exchanged_markers,
    )  # fmt: skip
    found = _with_heels(seen, heels or {}, read.variables["time"].values)
    rebuilt = np.isfinite(found.position).all(axis=-1) & ~found.measured
    filtered, cutoffs_hz = filter_markers(
        found.position, rate_hz=rate_hz, marker_filter=marker_filter, cutoff_hz=marker_cutoff_hz, order=filter_order
    )
    landmarks = {name: filtered[:, i] for i, name in enumerate(found.labels)}
    envelopes, muscles, emg_left_out = muscle_activity(
        read, channels=emg_channels, high_pass_hz=emg_high_pass_hz, low_pass_hz=emg_low_pass_hz
    )
    shoulders = shoulder_positions(
        read, body_model, spike_m=spike_m, max_gap_s=max_gap_s,
        marker_filter=marker_filter, cutoff_hz=marker_cutoff_hz, order=filter_order,
    )  # fmt: skip
    return Trial(
        {
            "marker_position": (("time", "marker", "axis"), filtered),
            "shoulder_position": (("time", "shoulder", "axis"), shoulders),
            "fill": (("time", "marker"), found.repair),
            **_plates(read, landmarks, cutoff_hz=force_cutoff_hz, order=filter_order),
            "event_time": read.variables["event_time"],
            **envelopes,
        },
        _coordinates(read, found, rebuilt, cutoffs_hz) | muscles | {"shoulder": list(SIDES)},
        {
            **{name: read.attrs[name] for name in ("marker_rate_hz", "direction_of_travel", "plates_left_out")},
            "static_results": read.attrs.get("static_results", ""),
            "landmarks_absent": " ".join(name for name in body_model.landmarks if name not in seen.labels),
            "filled_frames": int(rebuilt.sum()),
            **{name: int((found.repair == flag).sum()) for name, flag in REPAIRS.items()},
            "emg_left_out": emg_left_out,
            "exchanged_markers": exchanged_markers,
            "labels_exchanged_back": exchanged,
            # the smoothing spline has the response of a filter of order 2 x HALF_ORDER
            "marker_filter_order": filter_order if marker_filter == "butterworth" else 2 * HALF_ORDER,
        },
    )


def _repaired(
    read: Trial,
    body_model: BodyModel,
    *,
    max_gap_s: float,
    max_pattern_gap_s: float,
    spike_m: float | None,
    exchanged_markers: str,
) -> tuple[Landmarks, str]:
    """Return the landmarks that are seen, repaired and with gaps filled, and the labels exchanged back."""
    rate_hz = read.attrs["marker_rate_hz"]
    chosen, labels, recorded = _markers(read, body_model)
    whole, repairs, exchanged = repair_markers(
        recorded,
        labels,
        chosen,
        body_model,
        first_frame=1 + round(float(read.variables["time"].values[0]) * rate_hz),
        spike_m=spike_m,
        exchanged_markers=exchanged_markers,
    )
    clusters = _clusters(body_model, chosen, labels)
    filled, code = gap_filling.fill(
        whole, clusters, rate_hz=rate_hz, max_gap_s=max_gap_s, max_pattern_gap_s=max_pattern_gap_s
    )
    code = np.where((code == 0) | (repairs == SPIKE), repairs, code)
    groups = [[labels.index(label) for label in group] for group in chosen.values()]
    found = Landmarks(
        chosen,
        position=_by_landmark(np.mean, filled, groups),
        repair=_by_landmark(np.max, code, groups),
        measured=_by_landmark(np.all, np.isfinite(whole).all(axis=-1), groups),
    )
    return found, exchanged


def _markers(read: Trial, body_model: BodyModel) -> tuple[Chosen, list[str], Array]:
    """Return the labels of each landmark, all labels, positions (time, label, 3).

    Raises:
        UserError: none is seen.
    """
    labels, recorded = [str(label) for label in read.marker.values], read.marker_position.values
    chosen = chosen_labels(body_model, seen_labels(labels, recorded))
    if not chosen:
        here = ", ".join(labels[:9])
        what = f"no marker of body model {body_model.name} is seen in the file (which has {here} ...)"
        raise UserError("", what, "choose the body_model with these labels, or write one")
    used = list(dict.fromkeys(label for group in chosen.values() for label in group))
    column = {label: i for i, label in enumerate(labels)}
    paths = np.ascontiguousarray(np.moveaxis(recorded, 0, -1)[[column[label] for label in used]])  # time last
    return chosen, used, np.moveaxis(paths, -1, 0)


def _clusters(body_model: BodyModel, chosen: Chosen, labels: list[str]) -> list[list[int]]:
    """Return the columns of the markers of each rigid cluster, left and right."""
    clusters = []
    for side in SIDES:
        for segment in body_model.segments.values():
            groups = [chosen.get(name, chosen.get(f"{name}_{side}", ())) for name in segment.cluster]
            clusters.append([labels.index(label) for group in groups for label in group])
    return clusters


def _by_landmark(combine: Callable[..., Any], values: Any, groups: list[list[int]]) -> Any:
    """Return (time, landmark, ...) from (time, marker, ...) by combining the markers of each landmark."""
    if groups == [[i] for i in range(values.shape[1])]:
        return values
    result = values[:, [group[0] for group in groups]]
    for i, group in enumerate(groups):
        if len(group) > 1:
            result[:, i] = combine(values[:, group], axis=1)
    return result


def _with_heels(seen: Landmarks, heels: Mapping[str, Array], time: Array) -> Landmarks:
    """Return landmarks with virtual heels; the labels of one are those that it is computed from, and so its repairs."""
    points = {name: seen.position[:, i] for i, name in enumerate(seen.labels)}
    whole, found = with_heels(points, heels, time), seen
    for name in [*whole][len(points) :]:
        sources = [f"{other}_{name.removeprefix('heel_')}" for other in SHOWING_HEEL]
        columns = [[*points].index(source) for source in sources]
        repair = seen.repair[:, columns].max(axis=1, keepdims=True)
        measured = seen.measured[:, columns].all(axis=1, keepdims=True)
        found = Landmarks(
            found.labels | {name: tuple(label for source in sources for label in seen.labels[source])},
            np.concatenate([found.position, whole[name][:, None]], axis=1),
            np.concatenate([found.repair, repair], axis=1),
            np.concatenate([found.measured, measured], axis=1),
        )
    return found


def _coordinates(read: Trial, found: Landmarks, rebuilt: Flags, cutoffs_hz: Array) -> dict[str, Any]:
    """Return the coordinates: those of ``read``, and along ``marker`` new ones; ``rebuilt`` is (time, landmark)."""
    dims = {name: read.variables[name].dims for name in read.coords}
    return {name: read.variables[name] for name in dims if not {"marker", "channel"} & {*dims[name]}} | {
        "marker": [*found.labels],
        "label": ("marker", [" + ".join(group) for group in found.labels.values()]),
        "measured_share": ("marker", found.measured.mean(axis=0)),
        "filled_share": ("marker", rebuilt.mean(axis=0)),
        "cutoff_hz": ("marker", cutoffs_hz),
    }


def _plates(read: Trial, landmarks: Mapping[str, Array], *, cutoff_hz: float | None, order: int) -> dict[str, Any]:
    """Return the variables of the plates: wrenches without baseline, and the baseline."""
    instants = read.variables["plate_time"].values
    wrench, baseline, drift = subtract_baselines(read, landmarks)
    filtered = wrench
    if wrench.size:
        filtered = low_pass(wrench, rate_hz=_rate_hz(instants), cutoff_hz=cutoff_hz, order=order)
    time = read.variables["time"].values
    return {
        "plate_force": (("time", "plate", "axis"), at_instants(filtered[..., :3], instants, time)),
        "plate_moment": (("time", "plate", "axis"), at_instants(filtered[..., 3:], instants, time)),
        **{name: read.variables[name] for name in ("plate_corner", "plate_edges_known", "plate_fault")},
        "vertical_force": (("plate_time", "plate"), wrench[..., 1].copy()),
        "vertical_force_filtered": (("plate_time", "plate"), filtered[..., 1]),
        "plate_baseline": (("plate", "axis"), baseline),
        "plate_drift": (("plate",), drift),
    }


def subtract_baselines(read: AnyTrial, landmarks: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """Return the unfiltered wrenches (plate_time, plate, 6) without baseline, its mean (plate, 3), and its drift, N.

    Args:
        read: a trial of the step ``read``.
        landmarks: (time, 3), m, that show when a foot is over a plate.
    """
    force, moment, corners = (read.variables[f"plate_{name}"].values for name in ("force", "moment", "corner"))
    if not force.size:
        return np.concatenate([force, moment], axis=-1), np.zeros(force.shape[1:]), np.zeros(force.shape[1])
    instants, time = read.variables["plate_time"].values, read.variables["time"].values
    rate_hz = _rate_hz(instants)
    frames = time.searchsorted(instants).clip(max=len(time) - 1)
    away = without_feet(landmarks, corners)[frames]
    return subtract_baseline(force, moment, corners, rate_hz=rate_hz, named=_zero_window(read, rate_hz), away=away)


def _rate_hz(instants: Array) -> float:
    return float((len(instants) - 1) / (instants[-1] - instants[0]))


def _zero_window(read: AnyTrial, rate_hz: float) -> slice | None:
    """Return the samples that FORCE_PLATFORM:ZERO names as unloaded."""
    if np.isnan(limits := read.zero_frames.values).any():
        return None
    first, last = limits.astype(int).tolist()
    per_frame = rate_hz / read.attrs["marker_rate_hz"]
    return slice(round((first - 1) * per_frame), round(last * per_frame))
