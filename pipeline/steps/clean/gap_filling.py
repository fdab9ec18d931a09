"""Gaps in marker trajectories: filled from the rest of a rigid cluster, by a spline, or from neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...body.segment_poses import fit_pose
from ...signals.filters import stretches

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

SPLINE, CLUSTER, PATTERN = 1, 2, 3
NEIGHBOURS = 3
LARGEST_SPREAD_M = 0.04  # standard deviation of a neighbour's distance; across a joint it is some 2-3 cm
FEWEST_FRAMES = 50  # to learn a pattern of at most seven numbers per coordinate from


def fill(
    position: Array,
    clusters: Sequence[Sequence[int]],
    *,
    rate_hz: float,
    max_gap_s: float,
    max_pattern_gap_s: float,
) -> tuple[Array, Codes]:
    """Fill gaps between visible samples; ends of a trial are never extrapolated.

    1. A marker of a cluster of which three others are seen: from their pose, with the shape that the cluster has
       when it is seen whole in this trial.
    2. A gap of up to ``max_gap_s``: by a cubic spline through the visible samples around it.
    3. A gap of up to ``max_pattern_gap_s`` during which two neighbours are seen: by how the marker moves with them.

    What 1 and 3 rebuild is shifted to meet the measured path at the gap's edges, linearly in between.

    Args:
        position: (time, marker, 3), m, NaN where unseen.
        clusters: numbers of the markers that move as one rigid body.
        rate_hz: frames per second.
        max_gap_s, max_pattern_gap_s: longest gap for the spline and for the neighbours.

    Returns:
        The filled positions, and the code of every sample (time, marker): 0 measured or missing, 1 spline,
        2 cluster, 3 neighbours.
    """
    filled, code = np.copy(position), np.zeros(position.shape[:2], dtype=np.int8)
    if np.isfinite(position).all():
        return filled, code
    for cluster in clusters:
        if len(cluster) >= 4:
            _fill_from_cluster(filled, code, cluster)
    gappy = np.flatnonzero(~np.isfinite(filled).all(axis=(0, 2))).tolist()
    for marker in gappy:
        _fill_with_spline(filled[:, marker], code[:, marker], round(max_gap_s * rate_hz))
    longest = round(max_pattern_gap_s * rate_hz)
    rebuilt = {marker: _from_neighbours(filled, marker, longest) for marker in gappy}  # none from another's path
    for marker, path in rebuilt.items():
        if path is not None:
            here = np.isfinite(path).all(axis=1)
            filled[here, marker], code[here, marker] = path[here], PATTERN
    return filled, code


def _fill_from_cluster(filled: Array, code: Codes, cluster: Sequence[int]) -> None:
    measured = filled[:, cluster]
    seen = np.asarray(np.isfinite(measured).all(axis=-1))
    whole = seen.all(axis=1)
    if not whole.any() or seen.all():
        return
    reference = _mean_shape(measured[whole])
    for column, marker in enumerate(cluster):
        gaps = _inner_gaps(seen[:, column])
        if not gaps:
            continue
        frames = np.unique(np.concatenate([np.arange(a - 1, b + 1) for a, b in gaps]))
        others = measured[frames]
        others[:, column] = np.nan  # at the edges too, where it is seen, so that edge and gap are rebuilt alike
        rotation, position, _ = fit_pose(reference, others)
        rebuilt = np.full_like(filled[:, marker], np.nan)
        rebuilt[frames] = position + (reference[column] @ rotation)
        rebuilt = _joined(rebuilt, filled[:, marker])
        here = ~seen[:, column] & np.isfinite(rebuilt).all(axis=1)
        filled[here, marker], code[here, marker] = rebuilt[here], CLUSTER


def _mean_shape(whole: Array) -> Array:
    """Return the mean shape (points, 3) of a cluster over frames, all turned onto the first."""
    first = whole[0] - whole[0].mean(axis=0)
    rotation, position, _ = fit_pose(first, whole)
    return np.asarray(np.mean(np.einsum("tij,tpj->tpi", rotation, whole - position[:, None]), axis=0))


def _fill_with_spline(position: Array, code: Codes, longest: int) -> None:
    seen = np.asarray(np.isfinite(position).all(axis=1))
    inner = [(a, b) for a, b in _inner_gaps(seen) if b - a <= longest]
    if not inner or seen.sum() < 4:
        return
    from scipy.interpolate import CubicSpline

    visible = np.flatnonzero(seen)
    frames = np.concatenate([np.arange(a, b) for a, b in inner])
    position[frames] = CubicSpline(visible, position[visible])(frames)
    code[frames] = SPLINE


def _from_neighbours(filled: Array, marker: int, longest: int) -> Array | None:
    """Return the path of a marker in its gaps, NaN elsewhere, learned where it and its neighbours are seen.

    The marker's place from the mean of its neighbours is regressed on their places from that mean: exact for a
    segment that turns in one plane, which two markers show. Linear dependence of markers on each other is the
    principle of Federolf PA (2013) J Biomech 46:2173-2178; meeting the edges is that of the pattern fill of lab
    software.
    """
    path = filled[:, marker]
    seen = np.asarray(np.isfinite(path).all(axis=1))
    gaps = [(a, b) for a, b in _inner_gaps(seen) if b - a <= longest]
    if not gaps:
        return None
    result = np.full_like(path, np.nan)
    near = _neighbours(filled, marker, seen)
    for a, b in gaps:
        window = slice(a - 1, b + 1)
        here = [other for other in near if np.isfinite(other[window]).all()][:NEIGHBOURS]
        if len(here) < 2:
            continue
        mean = np.mean(here, axis=0)
        shape = np.column_stack([np.ones(len(path)), *(other - mean for other in here[1:])])
        known = seen & np.isfinite(shape).all(axis=1)
        if known.sum() < FEWEST_FRAMES:
            continue
        weights = np.linalg.lstsq(shape[known], (path - mean)[known], rcond=1e-6)[0]
        rebuilt = np.full_like(path, np.nan)
        rebuilt[window] = mean[window] + shape[window] @ weights
        result[a:b] = _joined(rebuilt, path)[a:b]
    return result


def _neighbours(position: Array, marker: int, seen: NDArray[np.bool_]) -> list[Array]:
    """Return the paths of the markers whose distance varies little, the most constant first."""
    away = np.linalg.norm(position[seen] - position[seen, marker, None], axis=2)
    enough = np.isfinite(away).sum(axis=0) >= FEWEST_FRAMES
    enough[marker] = False
    others = np.flatnonzero(enough)
    spread = np.nanstd(away[:, others], axis=0)
    return [position[:, others[k]] for k in np.argsort(spread, kind="stable") if spread[k] < LARGEST_SPREAD_M]


def _inner_gaps(seen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return start and stop of each gap with a visible sample before and after it."""
    return [(a, b) for a, b in stretches(~seen) if a > 0 and b < len(seen)]


def _joined(rebuilt: Array, path: Array) -> Array:
    """Return a rebuilt path shifted so that it meets the measured one at the edges of each gap, linearly between.

    Where a gap is rebuilt in part, the edge that is not reached does not count.
    """
    result = rebuilt.copy()
    seen, known = (np.asarray(np.isfinite(points).all(axis=1)) for points in (path, rebuilt))
    for a, b in stretches(~seen & known):
        edges = [frame for frame in (a - 1, b) if 0 <= frame < len(path) and seen[frame] and known[frame]]
        if edges:
            misses = path[edges] - rebuilt[edges]
            share = (np.arange(a, b) - edges[0])[:, None] / max(edges[-1] - edges[0], 1)
            result[a:b] += misses[0] + share * (misses[-1] - misses[0])
    return result
