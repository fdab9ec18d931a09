r"""Each marker against the linked legs: does it lie in the walk where it lay in the static trial?

The linked legs are fitted to all markers, each with weight 1 and with balls as joints. What a shift d of one marker
leaves of it as a mean residual r over a walk follows from the geometry alone (Baarda W 1968, A testing procedure for
use in geodetic networks)::

    r = Q d     Q = 1 - J (sum_i J_i^T J_i)^-1 J^T     shift = sqrt(r^T Q^-1 r)

with J the motion of the marker by the coordinates of the linkage. Directions of which less than :data:`LEAST_SHARE`
stays in the residual are left out: the segment follows the marker there, and nothing else would show it.

A marker's mean over a walk differs from standing by some 3.5 mm in each direction: skin leaves 1 to 4 mm (root mean
square, five laboratories), hip centres and joints that are no balls the rest. In 1 of 100 walks with 30 markers one is
4.3 times as far off in space by chance (chi distribution), which is :data:`LARGEST_M`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...body.skeleton import Skeleton
from ...conventions import CHAIN, JOINTS, SIDES
from ...dynamics.vectors import cross, transpose
from ...errors import UserError
from ...variables.stance_verdicts import Verdict
from ...variables.verdict_table import BOTH_LEGS
from .linkage import PELVIS, Bodies
from .linked_leg import fit
from .linked_model import LinkedModel, build_linked_model, shown_markers, start_posture
from .normal_equations import FLOOR

LARGEST_M = 0.015
LEAST_SHARE = 0.1
FRAMES = 16  # of a walk, evenly: several of each phase of a step
KNEE_MARKERS = ("lateral_epicondyle", "medial_epicondyle")  # knee centre and axis follow them
NEARLY_ALL = 0.9  # of the markers that the best frame shows
STARTS = ("frames", "origins")  # of a leg, all that the search starts from
DIRECTIONS = (("behind", "in front of"), ("below", "above"), ("to the left of", "to the right of"))


class Shift(NamedTuple):
    """The marker of a walk that is farthest from where the other markers put it."""

    marker: int  # index among those of the session; -1 of none
    shift: float  # m, as in the module's text; NaN of none
    place: Array  # (3,) by how much it lies off in the axes of its segment, m; 0 where nothing shows it
    leg: str  # on a segment of which it is; the pelvis belongs to both
    # by index, how far each marker may lie off before it is doubted, in the direction that shows least, m: infinite
    # where nothing shows it
    unseen: Mapping[int, float]


NONE = Shift(-1, np.nan, np.zeros(3), BOTH_LEGS, {})


def doubt_marker(names: Sequence[str], found: Shift) -> list[Verdict]:
    """Return the doubt about a trial in which a marker lies elsewhere than in the static trial, if any."""
    if not found.shift > LARGEST_M:
        return []
    axis = int(np.argmax(np.abs(found.place)))
    direction, mm = DIRECTIONS[axis][int(found.place[axis] > 0)], 1000 * float(np.linalg.norm(found.place))
    return [Verdict.of("marker_moved", marker=names[found.marker], mm=mm, direction=direction, leg=found.leg)]


def unseen_at_knees(names: Sequence[str], found: Shift) -> list[float]:
    """Return how far a knee marker of each side may lie off before it is doubted, m; NaN of none in the walk."""
    of = {names[marker]: unseen_m for marker, unseen_m in found.unseen.items()}
    of_sides = ([of[f"{name}_{side}"] for name in KNEE_MARKERS if f"{name}_{side}" in of] for side in SIDES)
    return [max(unseen_m, default=np.nan) for unseen_m in of_sides]


def build_witness(calibrate: xr.Dataset, names: Sequence[str]) -> LinkedModel | None:
    """Return the linkage of a session whatever its settings, with weights of 1; None if no marker is of it."""
    balls = dict.fromkeys(JOINTS, "ball")
    try:
        return build_linked_model(calibrate, names, joint_types=balls, marker_weights={}, joint_limits={})
    except UserError:
        return None


def farthest_markers(
    model: LinkedModel, paths: Array, legs: Mapping[str, Skeleton], hidden: Sequence[Flags], spans: Sequence[slice]
) -> list[Shift]:
    """Return for each trial the marker that lies farthest from its place, on average over some frames.

    Args:
        model: of :func:`build_witness`.
        paths: (marker, 3, time) of the session's markers, lab axes, m.
        legs: by side, with each segment posed by itself; the search starts from them.
        hidden: by side, (time,) whether the leg is refused, so that its markers do not count.
        spans: frames of each trial.
    """
    markers, chosen = shown_markers(model, paths, hidden), list[NDArray[np.intp]]()
    for span in spans:
        seen = np.asarray(np.isfinite(markers[..., span]).all(axis=1))
        often = np.flatnonzero(seen.sum(axis=0) >= NEARLY_ALL * seen.sum(axis=0).max())
        frames = often[np.unique(np.linspace(0, len(often) - 1, FRAMES).round().astype(int))]
        rare = np.flatnonzero(seen[:, frames].sum(axis=1) < len(frames) / 2)
        markers[rare, :, span] = np.nan
        chosen.append(span.start + np.resize(frames, max(len(frames), 2)))  # a frame alone is rounded otherwise
    every, ends = np.concatenate(chosen), np.cumsum([len(frames) for frames in chosen]).tolist()
    parts = [slice(end - len(frames), end) for frames, end in zip(chosen, ends, strict=True)]
    here = {
        side: replace(leg, **{part: {name: of[every] for name, of in getattr(leg, part).items()} for part in STARTS})
        for side, leg in legs.items()
    }
    linkage, measured = model.linkage, markers[..., every]
    found = fit(linkage, measured, start_posture(model, paths[..., every], here, parts), trials=parts)
    to_segment = found.bodies.rotation[linkage.body]
    place = found.bodies.origin[linkage.body] + np.einsum("mjit,mj->mit", to_segment, linkage.place)
    off = np.einsum("mijt,mjt->mit", to_segment, measured - place)
    motion = _motion(found.bodies, linkage.body, place)
    known = np.isfinite(off).all(axis=1) & np.isfinite(motion).all(axis=(0, 2)) & found.converged
    share = _share_in_residual(motion, to_segment, known)
    return [_farthest(model, off[..., part], share[..., part], known[:, part]) for part in parts]


def _share_in_residual(motion: Array, to_segment: Array, known: Flags) -> Array:
    """Return Q (marker, 3, 3, time) of the module's text, in the axes of the segments.

    Args:
        motion: (3, marker, coordinate, time), by the coordinates of the linkage.
        to_segment: (marker, 3, 3, time), rotation of the segments.
        known: (marker, time); the others do not hold the linkage.
    """
    turned = np.einsum("mijt,jmqt->tmiq", to_segment, motion)
    turned[~known.T] = 0.0
    rows = turned.reshape(len(turned), -1, turned.shape[-1])  # of each frame by itself, the same beside any others
    normal = transpose(rows) @ rows + FLOOR * np.eye(rows.shape[-1])
    followed = (rows @ np.linalg.inv(normal)).reshape(turned.shape)
    return np.asarray(np.eye(3)[..., None] - np.einsum("tmiq,tmlq->milt", followed, turned))


def _farthest(model: LinkedModel, off: Array, share: Array, known: Flags) -> Shift:
    """Return the marker of a trial that lies farthest from its place, on average over its frames.

    Args:
        model: the linkage.
        off: (marker, 3, time), of markers from their places in the axes of their segments, m.
        share: (marker, 3, 3, time), as of :func:`_share_in_residual`.
        known: (marker, time).
    """
    shown = np.flatnonzero(2 * known.sum(axis=1) >= known.shape[1])
    if not shown.size:
        return NONE
    off, share, known = off[shown], share[shown], known[shown]
    values, axes = np.linalg.eigh(_mean(share, known[:, None, None]))
    along = np.einsum("mij,mi->mj", axes, _mean(off, known[:, None]))
    apart = np.divide(along, values, out=np.zeros_like(along), where=values > LEAST_SHARE)
    shift = np.sqrt((along * apart).sum(axis=1))
    best = int(shift.argmax())
    body = int(model.linkage.body[shown[best]])
    leg = BOTH_LEGS if body == PELVIS else SIDES[body // len(CHAIN)]
    seen = np.sqrt(np.where(values[:, 0] > LEAST_SHARE, values[:, 0], 0.0))  # of a shift in shift of the module's text
    unseen = np.divide(LARGEST_M, seen, out=np.full(len(seen), np.inf), where=seen > 0)
    of_markers = dict(zip(model.marker[shown].tolist(), unseen.tolist(), strict=True))
    return Shift(int(model.marker[shown[best]]), float(shift[best]), axes[best] @ apart[best], leg, of_markers)


def _mean(values: Array, known: Flags) -> Array:
    """Return the mean over the frames that are known, which are last."""
    return np.asarray(np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1))


def _motion(bodies: Bodies, body: NDArray[np.intp], place: Array) -> Array:
    """Return how markers move by the coordinates of a linkage of balls, (3, marker, 24, time).

    The coordinates are turn and shift of the pelvis, then the angles of ankle, knee and hip of the left and right leg.
    """
    place, origin = (np.moveaxis(part, 1, 0) for part in (place, bodies.origin))
    motion = np.zeros((*place.shape[:2], 6 + 2 * 9, place.shape[-1]))
    for k, axis in enumerate(np.eye(3)):
        motion[:, :, k] = cross(axis[:, None, None], place - origin[:, PELVIS, None], axis=0)
        motion[k, :, 3 + k] = 1.0
    for number, axes in enumerate(bodies.axes.reshape(PELVIS, 3, 3, -1)):  # of each joint, as of its distal body
        side, joint = divmod(number, len(CHAIN))
        moved = np.flatnonzero((body // len(CHAIN) == side) & (body % len(CHAIN) <= joint) & (body < PELVIS))
        for angle, axis in enumerate(axes):
            arm = place[:, moved] - origin[:, number, None]
            motion[:, moved, 6 + 3 * number + angle] = cross(axis[:, None], arm, axis=0)
    return motion
