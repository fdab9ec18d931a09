"""Step ``clean``: repairs markers, fills gaps, subtracts plate baselines, filters.

From this step on markers have the names of landmarks (``heel_left``) instead of the lab's labels.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from ...arrays import Array, Flags
from ...body.body_model import BodyModel
from ...conventions import SIDES
from ...errors import UserError
from ...tables.corrections import apply_fitting, attributes_of
from ...tables.tsv import Row
from ...trials.session import Trial, join_trials, rejected_by, trials_of
from ...trials.usable_walks import UsableWalks
from ...variables.schema import REPAIRS
from ...variables.stance_verdicts import doubt_columns
from .corrected_markers import correct_markers
from .impossible_motion import doubt_noise, marker_noise
from .landmarks import Landmarks, add_heels, heels_of_static, repair_landmarks
from .marker_filters import HALF_ORDER, filter_markers, uncertain_end_s
from .muscle_activity import Levels, muscle_activity, reference_levels, without_absent_muscles
from .plate_forces import filter_plates
from .settings import Settings
from .upper_markers import marker_paths, without_absent_upper_markers


def clean(
    read: xr.Dataset,
    *,
    body_model: BodyModel,
    settings: Settings,
    by_trial: Mapping[str, Mapping[str, Any]] | None = None,
) -> xr.Dataset:
    """Clean the walks of a session.

    Args:
        read: the session; its static trial gives the place of each heel, see
            :func:`pipeline.body.landmarks.with_heels`, its trials ``emg_reference`` the envelopes to compare with.
        body_model: defines the labels of each landmark and the rigid clusters.
        by_trial: ``corrections`` by hand of the markers of some trials, by name.

    Returns:
        The variables of :data:`pipeline.variables.session_variables.OF_TRIALS`: markers, shoulders if they are seen,
        plates at the marker instants, and at their own rate to detect contacts, events, and EMG if the session has it;
        along ``marker`` the labels, the shares of frames measured and filled, and the cut-off. A walk is rejected if no
        marker of the model is seen, labels are exchanged beyond repair, or a cut-off is too high for the file's rate.
        The attribute ``corrections_not_applied`` has the corrections that fit no marker.
    """
    walks, trials = UsableWalks.of(read), trials_of(read)
    heels, highest = heels_of_static(trials.values(), body_model), reference_levels(trials.values(), settings)
    cleaned, unfit = {}, list[Row]()
    for name in walks.names:
        rows = (by_trial or {}).get(name, {}).get("corrections", ())
        corrected, refused = apply_fitting(partial(correct_markers, trials[name]), rows)
        unfit += refused
        try:
            cleaned[name] = _clean_walk(corrected, body_model, settings, heels, highest)
        except UserError as error:
            cleaned[name] = rejected_by(error)
    result = walks.complete(without_absent_muscles(without_absent_upper_markers(join_trials(cleaned))))
    return result.assign_attrs(attributes_of(unfit))


def _clean_walk(
    read: Trial, body_model: BodyModel, settings: Settings, heels: Mapping[str, Array], highest: Levels
) -> Trial:
    """Return one walk, cleaned; for the arguments see :func:`clean`, for ``highest`` :func:`reference_levels`."""
    seen, exchanged, breaks = repair_landmarks(read, body_model, settings)
    landmarks = add_heels(seen, heels, read.variables["time"].values)
    rebuilt = np.isfinite(landmarks.position).all(axis=-1) & ~landmarks.measured
    filtered, cutoffs_hz = filter_markers(landmarks.position, rate_hz=read.attrs["marker_rate_hz"], settings=settings)
    noise_m = marker_noise(seen.position, read.attrs["marker_rate_hz"])
    cutoff_hz = float(np.median(cutoffs_hz[np.isfinite(cutoffs_hz)])) if np.isfinite(cutoffs_hz).any() else np.nan
    clusters = [body_model.segments[name].cluster if name in body_model.segments else () for name in ("thigh", "shank")]
    in_clusters = [[sum(f"{name}_{side}" in seen.labels for name in one) for one in clusters] for side in SIDES]
    fewest = min((min(leg) for leg in in_clusters if any(leg)), default=0)
    doubts = doubt_columns([doubt_noise(noise_m, cutoff_hz, read.attrs["marker_rate_hz"], fewest)])
    paths = {name: filtered[:, i] for i, name in enumerate(landmarks.labels)}
    plates, plate_breaks = filter_plates(read, paths, settings)
    envelopes, muscles, emg_left_out = muscle_activity(read, settings, highest)
    return Trial.of(
        {
            "marker_position": (("time", "marker", "axis"), filtered),
            **_upper_paths(read, body_model, settings),
            "fill": (("time", "marker"), landmarks.repair),
            **plates,
            "event_time": read.variables["event_time"],
            **envelopes,
        },
        _coordinates(read, landmarks, rebuilt, cutoffs_hz)
        | muscles
        | {"shoulder": list(SIDES), "upper_marker": [*body_model.upper_landmarks]},
        {
            **{name: read.attrs[name] for name in ("marker_rate_hz", "direction_of_travel", "plates_left_out")},
            **{name: read.attrs.get(name, "") for name in ("static_results", "stored_angles")},
            "landmarks_absent": " ".join(name for name in body_model.landmarks if name not in seen.labels),
            "filled_frames": int(rebuilt.sum()),
            **{name: int((landmarks.repair == flag).sum()) for name, flag in REPAIRS.items()},
            "emg_left_out": emg_left_out,
            "uncertain_end_s": uncertain_end_s(cutoffs_hz, settings.force_cutoff_hz),
            "marker_noise": noise_m,
            **{name: str(text) for name, (text,) in doubts.items() if text},
            "exchanged_markers": settings.exchanged_markers,
            "labels_exchanged_back": exchanged,
            "motion_breaks": breaks.as_text(read.variables["time"].values),
            "plate_breaks": plate_breaks,
            # the smoothing spline has the response of a filter of order 2 x HALF_ORDER
            "marker_filter_order": settings.filter_order if settings.marker_filter == "butterworth" else 2 * HALF_ORDER,
        },
    )


def _upper_paths(read: Trial, body_model: BodyModel, settings: Settings) -> dict[str, Any]:
    """Return the paths of both shoulders, NaN if the body model names none, and of the landmarks above the pelvis."""
    shoulders = {name: body_model.shoulders.get(name, ()) for name in (f"shoulder_{side}" for side in SIDES)}
    upper = marker_paths(read, body_model.upper_landmarks, settings, body_model.upper_clusters)
    return {
        "shoulder_position": (("time", "shoulder", "axis"), marker_paths(read, shoulders, settings)),
        "upper_marker_position": (("time", "upper_marker", "axis"), upper),
    }


def _coordinates(read: Trial, landmarks: Landmarks, rebuilt: Flags, cutoffs_hz: Array) -> dict[str, Any]:
    """Return the coordinates: those of ``read``, and along ``marker`` new ones; ``rebuilt`` is (time, landmark)."""
    dims = {name: read.variables[name].dims for name in read.coords}
    return {name: read.variables[name] for name in dims if not {"marker", "channel"} & {*dims[name]}} | {
        "marker": [*landmarks.labels],
        "label": ("marker", [" + ".join(group) for group in landmarks.labels.values()]),
        "measured_share": ("marker", landmarks.measured.mean(axis=0)),
        "filled_share": ("marker", rebuilt.mean(axis=0)),
        "cutoff_hz": ("marker", cutoffs_hz),
    }
