"""Filling of gaps in marker trajectories from a rigid cluster, by a spline, or from neighbours."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...body.segment_poses import fit_pose
from ...signals.filters import stretches

Codes = NDArray[np.int8]

SPLINE, CLUSTER, PATTERN = 1, 2, 3
NEIGHBOURS = 3
LARGEST_SPREAD_M = 0.04  # standard deviation of a neighbour's distance; across a joint it is 2-3 cm
FEWEST_FRAMES = 50  # to fit a pattern of at most seven numbers per coordinate


def fill(
    position: Array, clusters: Sequence[Sequence[int]], *, rate_hz: float, max_gap_s: float, max_pattern_gap_s: float
) -> tuple[Array, Codes]:
    """Fill gaps between visible samples; trials are never extrapolated at their ends.

    1. A marker of a cluster with three other markers seen: from their pose and the cluster's mean shape in this trial.
    2. A gap of up to ``max_gap_s``: by a cubic spline through the visible samples.
    3. A gap of up to ``max_pattern_gap_s`` with two neighbours seen: from the marker's usual motion with them.

    Paths from 1 and 3 are shifted, linearly in time, to meet the measured path at the gap's edges.

    Args:
        position: (time, marker, 3), m, NaN where unseen.
        clusters: columns of the markers of each rigid body.
        rate_hz: frames per second.
        max_gap_s, max_pattern_gap_s: longest gap for 2 and for 3.

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
    rebuilt = {marker: _from_neighbours(filled, marker, longest) for marker in gappy}  # before any is filled in
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
    first = measured[whole][0] - measured[whole][0].mean(axis=0)
    rotation, position, _ = fit_pose(first, measured[whole])
    turned = np.einsum("tij,tpj->tpi", rotation, measured[whole] - position[:, None])
    reference = np.asarray(np.mean(turned, axis=0))  # the mean shape, turned onto the first frame
    for column, marker in enumerate(cluster):
        gaps = _inner_gaps(seen[:, column])
        if not gaps:
            continue
        frames = np.unique(np.concatenate([np.arange(a - 1, b + 1) for a, b in gaps]))
        others = measured[frames]
        others[:, column] = np.nan  # also at the edges, so that they are rebuilt like the gap
        rotation, position, _ = fit_pose(reference, others)
        rebuilt = np.full_like(filled[:, marker], np.nan)
        rebuilt[frames] = position + (reference[column] @ rotation)
        rebuilt = _meet_edges(rebuilt, filled[:, marker])
        here = ~seen[:, column] & np.isfinite(rebuilt).all(axis=1)
        filled[here, marker], code[here, marker] = rebuilt[here], CLUSTER


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
    """Return the path of a marker in its gaps from its place among neighbours.

    NaN elsewhere. Its position relative to the mean of its neighbours is regressed on theirs relative to this mean,
    which is exact for two markers on a segment that turns in one plane. Linear dependence between markers: Federolf PA
    (2013) J Biomech 46:2173-2178; the shift to the edges is that of the pattern fill of lab software.
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
        together = seen & np.isfinite(shape).all(axis=1)
        if together.sum() < FEWEST_FRAMES:
            continue
        weights = np.linalg.lstsq(shape[together], (path - mean)[together], rcond=1e-6)[0]
        rebuilt = np.full_like(path, np.nan)
        rebuilt[window] = mean[window] + shape[window] @ weights
        result[a:b] = _meet_edges(rebuilt, path)[a:b]
    return result


def _neighbours(position: Array, marker: int, seen: Flags) -> list[Array]:
    """Return the paths of markers at nearly constant distance, most constant first."""
    away = np.linalg.norm(position[seen] - position[seen, marker, None], axis=2)
    enough = np.isfinite(away).sum(axis=0) >= FEWEST_FRAMES
    enough[marker] = False
    others = np.flatnonzero(enough)
    spread = np.nanstd(away[:, others], axis=0)
    return [position[:, others[k]] for k in np.argsort(spread, kind="stable") if spread[k] < LARGEST_SPREAD_M]


def _inner_gaps(seen: Flags) -> list[tuple[int, int]]:
    """Return start and stop of each gap with a visible sample before and after it."""
    return [(a, b) for a, b in stretches(~seen) if a > 0 and b < len(seen)]


def _meet_edges(rebuilt: Array, path: Array) -> Array:
    """Return a rebuilt path shifted to meet the measured one at edges of gaps.

    The shift is linear in time; an edge that is not rebuilt is ignored.
    """
    result = rebuilt.copy()
    seen, placed = (np.asarray(np.isfinite(points).all(axis=1)) for points in (path, rebuilt))
    for a, b in stretches(~seen & placed):
        edges = [frame for frame in (a - 1, b) if 0 <= frame < len(path) and seen[frame] and placed[frame]]
        if edges:
            misses = path[edges] - rebuilt[edges]
            share = (np.arange(a, b) - edges[0])[:, None] / max(edges[-1] - edges[0], 1)
            result[a:b] += misses[0] + share * (misses[-1] - misses[0])
    return result
