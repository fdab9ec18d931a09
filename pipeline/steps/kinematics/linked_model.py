"""The linkage of a session's person, from the calibration and the settings, and both legs posed by it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags, known_mean
from ...body.joint_angles import SIGNS, angles
from ...body.plausibility import LIMITS
from ...body.skeleton import Skeleton
from ...conventions import ANGLES, CHAIN, FROM_PELVIS, JOINTS, SEGMENTS, SIDES
from ...errors import UserError
from ...json_text import to_text
from ...signals.filters import fade_beside_gaps
from .linkage import Linkage, Posture, body_number, only_markers
from .linked_leg import Fit, fit

# whether flexion, adduction and rotation are free
FREE = {
    "ball": (True, True, True),
    "universal": (True, True, False),
    "flexion_rotation": (True, False, True),
    "hinge": (True, False, False),
}
AT_A_TIME = 300  # frames that are solved together: few enough for the processor's cache


class LinkedModel(NamedTuple):
    """The linkage of a session's person, and the markers that it is fitted to."""

    linkage: Linkage  # the person's
    marker: NDArray[np.intp]  # (marker,), index of each of its markers in the session
    static: Array  # (3, 3), orientation of the pelvis in the static trial


def build_linked_model(
    calibrate: xr.Dataset,
    markers: Sequence[str],
    *,
    joint_types: Mapping[str, str],
    marker_weights: Mapping[str, float],
    joint_limits: Mapping[str, Sequence[float]],
) -> LinkedModel:
    """Return the linkage of a session.

    Args:
        calibrate: the session's calibration.
        markers: the landmarks of the session.
        joint_types: by joint, a key of :data:`FREE`; an angle that is not free is that of the static trial.
        marker_weights: weights of landmarks, with or without side, and of segments; a marker's weight is the product.
        joint_limits: least and greatest clinical angle, degrees, by joint and angle (``knee flexion``), in place of
            those that no person exceeds (:data:`pipeline.body.plausibility.LIMITS`).

    Raises:
        UserError: the session has no marker of the linkage with a weight.
    """
    usable = [side for side, why in zip(SIDES, calibrate.leg_refused.values.tolist(), strict=True) if not why]
    every = _fixed_markers(calibrate, usable[0], marker_weights)
    chosen = {name: one for name, one in every.items() if name in markers}
    if not any(weight for _, weight, _ in chosen.values()):
        what = "no marker of the linked legs has a weight"
        raise UserError(
            "", what, "label the markers of the body model, or change kinematics.marker_weights", "markers_missing"
        )
    mean = np.mean([weight for _, weight, _ in every.values()])  # whichever of them walks show
    bodies, weights, places = zip(*chosen.values(), strict=True)
    rotation = calibrate.static_rotation.sel(side=list(SIDES), pose=list(SEGMENTS)).values
    neutral = angles(rotation[:, 1:], rotation[:, :-1], smallest_floating_axis=0.0)
    named = [[f"{joint} {angle}" for angle in ANGLES] for joint in JOINTS]
    clinical = np.array([[joint_limits.get(name, LIMITS[name][:2]) for name in row] for row in named], dtype=float)
    linkage = Linkage(
        place=np.array(places),
        body=np.array(bodies),
        weight=np.array(weights) / mean,
        joint=np.nan_to_num(calibrate.joint_link.values),
        neutral=np.nan_to_num(neutral),
        free=np.array([FREE[joint_types[joint]] for joint in JOINTS]),
        limits=np.sort(np.radians(np.moveaxis(clinical, -1, 0))[:, None] * SIGNS, axis=0),
    )
    pelvis = rotation[SIDES.index(usable[0]), SEGMENTS.index("pelvis")]
    return LinkedModel(linkage, np.array([markers.index(name) for name in chosen]), pelvis)


def _fixed_markers(
    calibrate: xr.Dataset, side_of_pelvis: str, weights: Mapping[str, float]
) -> dict[str, tuple[int, float, Array]]:
    """Return by marker its body, its weight, and its place (3,) in the axes of the body, m.

    A weight is the marker's own, with or without its side, times that of its segment.
    """
    owners = (calibrate[f"fixed_{name}"].values.tolist() for name in ("side", "segment", "marker"))
    markers: dict[str, tuple[int, float, Array]] = {}
    for side, segment, name, place in zip(*owners, calibrate.fixed_position.values, strict=True):
        if (segment != "pelvis" or side == side_of_pelvis) and name not in markers:
            bare = name.removesuffix("_left").removesuffix("_right")
            weight = weights.get(segment, 1.0) * weights.get(name, weights.get(bare, 1.0))
            markers[name] = body_number(SIDES.index(side), segment), weight, place
    return markers


def describe_linkage(model: LinkedModel | None, markers: Sequence[str], trials: int) -> dict[str, Any]:
    """Return the variable ``linked_legs``, from which errors are drawn: markers with body and weight, free angles.

    Nothing without a linkage.
    """
    if model is None:
        return {}
    linkage = model.linkage
    owners = zip(model.marker.tolist(), linkage.body.tolist(), linkage.weight.tolist(), strict=True)
    rows = [[markers[number], body, weight] for number, body, weight in owners]
    return {"linked_legs": ("trial", [to_text({"markers": rows, "free": linkage.free.tolist()})] * trials)}


def pose_linked_legs(
    model: LinkedModel,
    paths: Array,
    legs: Mapping[str, Skeleton],
    hidden: Sequence[Flags],
    time: Array,
    spans: Sequence[slice],
) -> tuple[dict[str, Skeleton], Array]:
    """Return both legs posed as one linkage, and the distances of the markers from their places.

    Args:
        paths: (marker, 3, time) of the session's markers, lab axes, m.
        legs: by side, with each segment posed by itself; the search starts from them.
        hidden: by side, (time,) whether the leg is refused, so that its markers do not count.
        time: (time,), s.
        spans: frames of each trial.

    Returns:
        The skeletons by side, NaN where markers leave a pose open or the search has not converged; and the distances
        (marker, time), m, NaN of markers that the linkage does not use.
    """
    start, markers = start_posture(model, paths, legs, spans), shown_markers(model, paths, hidden)
    share = fade_beside_gaps(np.asarray(np.isfinite(markers).all(axis=1)), time, spans)
    residual, fits = np.full(markers[:, 0].shape, np.nan), []
    for span in spans:  # each with its own frames and markers only, as the size of an array changes the rounding
        shown = np.flatnonzero(np.isfinite(markers[..., span]).any(axis=(1, 2)))
        linkage = only_markers(model.linkage, shown)
        for at in range(span.start, span.stop, AT_A_TIME):
            part = slice(at, min(at + AT_A_TIME, span.stop))
            fits.append(fit(linkage, markers[shown, :, part], start.at(part), share[shown, part]))
            residual[shown, part] = np.where(fits[-1].converged, fits[-1].residual, np.nan)
    of_all = np.full((len(paths), paths.shape[-1]), np.nan)
    of_all[model.marker] = residual
    return _skeletons(model, fits, residual), of_all


def shown_markers(model: LinkedModel, paths: Array, hidden: Sequence[Flags]) -> Array:
    """Return the linkage's markers (marker, 3, time), NaN on a leg that is refused."""
    markers = paths[model.marker]
    for side, rows in enumerate(hidden):
        of_leg = np.flatnonzero(model.linkage.body // len(CHAIN) == side)
        markers[of_leg[:, None], :, np.flatnonzero(rows)] = np.nan
    return markers


def start_posture(model: LinkedModel, paths: Array, legs: Mapping[str, Skeleton], spans: Sequence[slice]) -> Posture:
    """Return the posture by the segments, that of the nearest frame where one is unknown, else the static trial's."""
    pelvis = legs[SIDES[0]]
    frames = [np.stack([legs[side].frames[name] for side in SIDES], axis=1) for name in SEGMENTS]
    rotation = np.moveaxis(_fill(pelvis.frames["pelvis"], spans, model.static), 0, -1)
    centre = pelvis.origins["pelvis"].copy()
    for span in spans:
        if not np.isfinite(centre[span]).all(axis=1).any() and np.isfinite(paths[..., span]).any():
            centre[span] = np.nanmean(paths[..., span], axis=(0, 2))
    origin = np.moveaxis(_fill(centre, spans, np.zeros(3)), 0, -1)
    angle = [
        np.moveaxis(_fill(angles(upper, lower, smallest_floating_axis=0.0), spans, neutral), 0, -1)
        for lower, upper, neutral in zip(frames[:-1], frames[1:], np.swapaxes(model.linkage.neutral, 0, 1), strict=True)
    ]
    return Posture(rotation, origin, np.stack(angle, axis=1))


def _fill(values: Array, spans: Sequence[slice], otherwise: Array) -> Array:
    """Return values (time, ...) with those of the nearest known frame of the trial where they are NaN."""
    result = np.empty_like(values)
    for span in spans:
        trial = values[span]
        seen = np.flatnonzero(np.isfinite(trial.reshape(len(trial), -1)).all(axis=1))
        if seen.size:
            middle = (seen[1:] + seen[:-1]) / 2
            result[span] = trial[seen[np.searchsorted(middle, np.arange(len(trial)))]]
        else:
            result[span] = otherwise
    return result


def _skeletons(model: LinkedModel, fits: Sequence[Fit], residual: Array) -> dict[str, Skeleton]:
    """Return the fitted bodies as skeletons, with the root mean square of the residuals of each."""
    rotation = np.concatenate([np.where(each.converged, each.bodies.rotation, np.nan) for each in fits], axis=-1)
    origin = np.concatenate([np.where(each.converged, each.bodies.origin, np.nan) for each in fits], axis=-1)
    skeletons = {}
    for side, name in enumerate(SIDES):
        bodies = {segment: body_number(side, segment) for segment in FROM_PELVIS}
        frames = {segment: np.moveaxis(rotation[body], -1, 0) for segment, body in bodies.items()}
        origins = {segment: origin[body].T for segment, body in bodies.items()}
        centres = {f"{joint}_centre": origins[segment] for joint, segment in zip(JOINTS, CHAIN, strict=True)}
        rows = {segment: residual[model.linkage.body == body] for segment, body in bodies.items()}
        skeletons[name] = Skeleton(
            frames, origins, centres, {segment: np.sqrt(known_mean(each**2, axis=0)) for segment, each in rows.items()}
        )
    return skeletons
