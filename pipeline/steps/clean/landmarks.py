"""Landmarks of a trial: markers repaired, gaps filled, heels added where the trial lacks their markers."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...body.alignment_device import with_devices
from ...body.body_model import BodyModel
from ...body.landmarks import SHOWING_HEEL, choose_labels, find_seen_labels, heel_places, positions, with_heels
from ...body.resolved_model import resolve
from ...conventions import SIDES
from ...errors import UserError
from ...trials.session import Trial
from . import gap_filling
from .impossible_motion import Breaks, displaced_frames, find_breaks, frozen_frames, held_frames, straight_frames
from .marker_repair import SPIKE, repair_markers
from .settings import Settings

Chosen = dict[str, tuple[str, ...]]  # labels by landmark


class Landmarks(NamedTuple):
    """The landmarks of a trial after repairs."""

    labels: Chosen  # of the markers of each landmark
    position: Array  # (time, landmark, 3), m
    repair: NDArray[np.int8]  # (time, landmark), see ``FLAGS`` in :mod:`pipeline.variables.schema`
    measured: Flags  # (time, landmark), whether all its markers were seen and kept


def heels_of_static(trials: Iterable[Trial], body_model: BodyModel) -> dict[str, Array]:
    """Return the place of each heel in the session's static trial, see :func:`pipeline.body.landmarks.with_heels`."""
    places: dict[str, Array] = {}
    for trial in trials:
        if trial.attrs.get("role") == "static" and "rejected" not in trial.attrs:
            labels = [str(label) for label in trial["marker"].values]
            points = positions(body_model, labels, trial["marker_position"].values)
            places |= heel_places(with_devices(points, resolve(body_model, points.keys()).devices))
    return places


def repair_landmarks(read: Trial, body_model: BodyModel, settings: Settings) -> tuple[Landmarks, str, Breaks]:
    """Return the landmarks that are seen, repaired, and the exchanges of labels; refuse what is beyond repair.

    Frozen frames are gaps, and so are frames of a marker that has jumped away before it jumps back (not of a heel's,
    which shows only when feet rest), and parts of a path that another program has filled: at one place, or straight
    (but not on a treadmill, where feet move straight). Where frames are lost, one is missing that is not filled, as at
    an end of the recording.
    """
    rate_hz = read.attrs["marker_rate_hz"]
    chosen, labels, recorded = _markers(read, body_model)
    frozen = frozen_frames(recorded, 1 / rate_hz)
    heels = [label for name in chosen if name.startswith("heel") for label in chosen[name]]
    displaced = displaced_frames(recorded, 1 / rate_hz) & ~np.isin(labels, heels)
    unmeasured = frozen[:, None] | displaced | held_frames(recorded)
    if read.attrs["direction_of_travel"] != "none":
        unmeasured |= straight_frames(recorded, 1 / rate_hz)
    if unmeasured.any():
        recorded = np.where(unmeasured[..., None], np.nan, recorded)
    whole, repairs, exchanged = repair_markers(
        recorded,
        labels,
        chosen,
        body_model,
        first_frame=1 + round(float(read.variables["time"].values[0]) * rate_hz),
        spike_m=settings.spike_m,
        exchanged_markers=settings.exchanged_markers,
    )
    breaks = find_breaks(whole, frozen, 1 / rate_hz)
    cut = [frame for start, stop in breaks.lost for frame in range(start, stop)]
    whole[cut] = np.nan
    clusters = _clusters(body_model, chosen, labels)
    filled, code = gap_filling.fill(
        whole, clusters, rate_hz=rate_hz, max_gap_s=settings.max_gap_s, max_pattern_gap_s=settings.max_pattern_gap_s
    )
    filled[cut], code[cut] = np.nan, 0
    code = np.where((code == 0) | (repairs == SPIKE), repairs, code)
    groups = [[labels.index(label) for label in group] for group in chosen.values()]
    landmarks = Landmarks(
        chosen,
        position=_by_landmark(np.mean, filled, groups),
        repair=_by_landmark(np.max, code, groups),
        measured=_by_landmark(np.all, np.isfinite(whole).all(axis=-1), groups),
    )
    return landmarks, exchanged, breaks


def _markers(read: Trial, body_model: BodyModel) -> tuple[Chosen, list[str], Array]:
    """Return labels of each landmark, all labels, positions (time, label, 3); refuse a trial that shows no landmark."""
    labels, recorded = [str(label) for label in read["marker"].values], read["marker_position"].values
    chosen = choose_labels(body_model, find_seen_labels(labels, recorded))
    if not chosen:
        here = ", ".join(labels[:9])
        what = f"no marker of body model {body_model.name} is seen in the file (which has {here} ...)"
        raise UserError("", what, "choose the body_model with these labels, or write one", "markers_missing")
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


def add_heels(seen: Landmarks, heels: Mapping[str, Array], time: Array) -> Landmarks:
    """Return landmarks with virtual heels; the labels of one are those that it is computed from, and so its repairs."""
    points = {name: seen.position[:, i] for i, name in enumerate(seen.labels)}
    whole, landmarks = with_heels(points, heels, time), seen
    for name in [*whole][len(points) :]:
        sources = [f"{other}_{name.removeprefix('heel_')}" for other in SHOWING_HEEL]
        columns = [[*points].index(source) for source in sources]
        repair = seen.repair[:, columns].max(axis=1, keepdims=True)
        measured = seen.measured[:, columns].all(axis=1, keepdims=True)
        landmarks = Landmarks(
            landmarks.labels | {name: tuple(label for source in sources for label in seen.labels[source])},
            np.concatenate([landmarks.position, whole[name][:, None]], axis=1),
            np.concatenate([landmarks.repair, repair], axis=1),
            np.concatenate([landmarks.measured, measured], axis=1),
        )
    return landmarks
