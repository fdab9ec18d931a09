"""Rigid-body fit of a marker cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dynamics.block_matrix import cross
from pipeline.frames import unit

Array = NDArray[np.float64]


def fit_pose(reference: Array, measured: Array) -> tuple[Array, Array, Array]:
    """Return the pose that carries a reference cluster onto the measured points, by least squares.

    Frames in which fewer than three points are seen, or in which they lie on a line (nearly: a width below 1/30 of
    the length), give NaN; other missing points are left out of the fit of that frame.

    Args:
        reference: (points, 3), in segment axes, m.
        measured: (..., points, 3), in lab axes, m; NaN where unseen.

    Returns:
        rotation (..., 3, 3) with v_segment = rotation @ v_lab; position (..., 3) of the segment's origin in the
        lab, m; root-mean-square residual (...) of the fitted points, m.

    Source: Soederkvist I, Wedin PA (1993) J Biomech 26:1473-1477; Kabsch W (1976) Acta Cryst A32:922.
    """
    seen = np.asarray(np.isfinite(measured).all(axis=-1))
    weight = seen[..., None].astype(float)
    count = weight.sum(axis=-2)
    points = np.where(seen[..., None], measured, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre_reference = (weight * reference).sum(axis=-2) / count
        centre_measured = points.sum(axis=-2) / count
    a = weight * (reference - centre_reference[..., None, :])
    b = weight * (points - centre_measured[..., None, :])
    usable = count[..., 0] >= 3
    covariance = np.where(usable[..., None, None], np.swapaxes(b, -1, -2) @ a, np.eye(3))
    # singular vectors from the eigenvectors of the square: three times faster than an SVD of many small matrices;
    # the third pair is the normal of the first two, which keeps the rotation proper and serves flat clusters
    squares, right = np.linalg.eigh(np.swapaxes(covariance, -1, -2) @ covariance)
    # (width / length)^4 of the cluster: the turn of a thinner one about its line would be the noise of its markers
    usable &= squares[..., 1] > 1e-6 * squares[..., 2]
    v1, v2 = right[..., 2], right[..., 1]
    u1 = unit((covariance @ v1[..., None])[..., 0])
    u2 = (covariance @ v2[..., None])[..., 0]
    u2 = unit(u2 - u1 * (u1 * u2).sum(axis=-1, keepdims=True))
    u = np.stack([u1, u2, cross(u1, u2)], axis=-1)
    segment_to_lab = u @ np.stack([v1, v2, cross(v1, v2)], axis=-2)
    segment_to_lab = np.where(usable[..., None, None], segment_to_lab, np.nan)
    position = centre_measured - (segment_to_lab @ centre_reference[..., None])[..., 0]
    error = b - a @ np.swapaxes(segment_to_lab, -1, -2)
    with np.errstate(invalid="ignore", divide="ignore"):
        residual = np.sqrt((error**2).sum(axis=(-1, -2)) / count[..., 0])
    return np.swapaxes(segment_to_lab, -1, -2), position, residual


def mean_rotation(rotation: Array) -> Array:
    """Return the rotation nearest to the mean of rotations (time, 3, 3), NaN frames left out.

    The one that maximises the trace with the mean (chordal mean: Hartley R et al. 2013, Int J Comput Vis 103:267-305).
    """
    u, _, vt = np.linalg.svd(np.nanmean(rotation, axis=0))
    u[:, -1] *= np.sign(np.linalg.det(u @ vt))
    return np.asarray(u @ vt)
