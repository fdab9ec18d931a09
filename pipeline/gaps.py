"""Gaps in marker trajectories: a spline over short ones, the rest of a rigid cluster over long ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.filters import stretches
from pipeline.rigid import fit_pose

Array = NDArray[np.float64]

SPLINE, CLUSTER = 1, 2


def fill(
    markers: Mapping[str, Array], clusters: Sequence[Sequence[str]], *, rate_hz: float, max_gap_s: float
) -> tuple[dict[str, Array], dict[str, NDArray[np.int8]]]:
    """Fill gaps between visible samples; ends of a trial are never extrapolated.

    A gap of a marker in a cluster is filled from the cluster's other markers where three of them are seen, with
    the shape that the cluster has when it is seen whole in this trial; any other gap of up to ``max_gap_s`` by a
    cubic spline through the visible samples around it.

    Args:
        markers: (time, 3) per name, m, NaN where unseen.
        clusters: names of the markers that move as one rigid body.
        rate_hz: frames per second.
        max_gap_s: longest gap for the spline.

    Returns:
        The filled markers, and for each the code of every frame: 0 measured or missing, 1 spline, 2 cluster.
    """
    filled = {name: position.copy() for name, position in markers.items()}
    code = {name: np.zeros(len(position), dtype=np.int8) for name, position in markers.items()}
    for cluster in clusters:
        names = [name for name in cluster if name in markers]
        if len(names) >= 4:
            _fill_from_cluster(filled, code, names)
    longest = round(max_gap_s * rate_hz)
    for name in filled:
        _fill_with_spline(filled[name], code[name], longest)
    return filled, code


def _fill_from_cluster(filled: dict[str, Array], code: dict[str, NDArray[np.int8]], names: list[str]) -> None:
    measured = np.stack([filled[name] for name in names], axis=1)
    seen = np.asarray(np.isfinite(measured).all(axis=-1))
    whole = seen.all(axis=1)
    gaps = ~seen & (seen.sum(axis=1) >= 3)[:, None]
    if not whole.any() or not gaps.any():
        return
    reference = _mean_shape(measured[whole])
    frames = np.flatnonzero(gaps.any(axis=1))
    rotation, position, _ = fit_pose(reference, measured[frames])
    rebuilt = position[:, None] + reference @ rotation
    for column, name in enumerate(names):
        first, last = np.flatnonzero(seen[:, column])[[0, -1]] if seen[:, column].any() else (0, -1)
        mine = gaps[frames, column] & (frames > first) & (frames < last) & np.isfinite(rebuilt[:, column]).all(axis=-1)
        filled[name][frames[mine]] = rebuilt[mine, column]
        code[name][frames[mine]] = CLUSTER


def _mean_shape(whole: Array) -> Array:
    """Return the mean shape (points, 3) of a cluster over frames, all turned onto the first."""
    first = whole[0] - whole[0].mean(axis=0)
    rotation, position, _ = fit_pose(first, whole)
    return np.asarray(np.mean(np.einsum("tij,tpj->tpi", rotation, whole - position[:, None]), axis=0))


def _fill_with_spline(position: Array, code: NDArray[np.int8], longest: int) -> None:
    seen = np.asarray(np.isfinite(position).all(axis=1))
    visible = np.flatnonzero(seen)
    if seen.all() or len(visible) < 4:
        return
    inner = [(a, b) for a, b in stretches(~seen) if a > visible[0] and b <= visible[-1] and b - a <= longest]
    if not inner:
        return
    from scipy.interpolate import CubicSpline

    frames = np.concatenate([np.arange(a, b) for a, b in inner])
    position[frames] = CubicSpline(visible, position[visible])(frames)
    code[frames] = SPLINE
