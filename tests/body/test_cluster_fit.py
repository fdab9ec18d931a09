"""Fits of marker clusters: against the textbook's singular values, and clusters that determine no pose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pipeline.body.segment_poses import fit_pose, nearest_rotation
from tests.support.walks.person import PROPERTY, SEED, Array, close, random_turns


def cluster(rng: np.random.Generator, count: int, *, flat: bool) -> Array:
    """Return points around a circle of 100 mm, up to 50 mm off its plane unless flat, in any attitude."""
    around = 2 * np.pi * np.arange(count) / count
    radius, height = rng.uniform(0.095, 0.105, count), rng.uniform(-0.05, 0.05, count) * (not flat)
    points = np.stack([radius * np.cos(around), radius * np.sin(around), height], axis=-1)
    return np.asarray(points @ random_turns(rng, 1)[0] + 0.3)


def placed(rng: np.random.Generator, reference: Array, frames: int) -> tuple[Array, Array, Array]:
    """Return rotation, origin and the points (frame, point, 3) in the lab."""
    rotation, origin = random_turns(rng, frames), rng.normal(size=(frames, 3)) * 2
    return rotation, origin, origin[:, None] + reference @ rotation


def noisy(seed: int, count: int, frames: int) -> tuple[np.random.Generator, Array, Array]:
    """Return a generator, a cluster, and its points (frame, point, 3) in the lab with 5 mm of noise."""
    rng = np.random.default_rng(seed)
    reference = cluster(rng, count, flat=False)
    _, _, measured = placed(rng, reference, frames)
    return rng, reference, measured + rng.normal(size=measured.shape) * 0.005


def kabsch(reference: Array, measured: Array) -> tuple[Array, Array]:
    """Return rotation and origin of one frame by the textbook SVD (Kabsch 1976)."""
    centre, seen = reference.mean(axis=0), measured.mean(axis=0)
    u, _, vt = np.linalg.svd((reference - centre).T @ (measured - seen))
    rotation = u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt
    return rotation, seen - centre @ rotation


@given(SEED, st.integers(3, 6), st.booleans())
@PROPERTY
def test_fit_recovers_the_pose_of_a_rigid_cluster(seed: int, count: int, flat: bool) -> None:
    rng = np.random.default_rng(seed)
    reference = cluster(rng, count, flat=flat)
    rotation, origin, measured = placed(rng, reference, 4)
    found, place, residual = fit_pose(reference, measured)
    for part, truth in ((found, rotation), (place, origin), (residual, np.zeros(4))):
        close(part, truth)


@given(SEED, st.integers(4, 7))
@PROPERTY
def test_fit_of_noisy_points_is_the_least_squares_one(seed: int, count: int) -> None:
    _, reference, measured = noisy(seed, count, 4)
    found, place, residual = fit_pose(reference, measured)
    for i, points in enumerate(measured):
        rotation, origin = kabsch(reference, points)
        aligned, _ = Rotation.align_vectors(reference - reference.mean(axis=0), points - points.mean(axis=0))
        close(found[i], rotation, 1e-10)
        close(found[i], aligned.as_matrix(), 1e-10)
        close(place[i], origin, 1e-10)
        misfit = points - origin - reference @ rotation
        close(residual[i], np.sqrt((misfit**2).sum(axis=1).mean()), 1e-10)


@given(SEED, st.integers(4, 7))
@PROPERTY
def test_fit_leaves_missing_points_out(seed: int, count: int) -> None:
    rng, reference, measured = noisy(seed, count, 3)
    kept = [np.sort(rng.choice(count, 3, replace=False)) for _ in measured]
    for points, keep in zip(measured, kept, strict=True):
        points[np.setdiff1d(np.arange(count), keep), rng.integers(3)] = np.nan
    together = fit_pose(reference, measured)
    for i, keep in enumerate(kept):
        for part, alone in zip(together, fit_pose(reference[keep], measured[i, keep]), strict=True):
            close(part[i], alone)


@given(SEED, st.integers(3, 6))
@PROPERTY
def test_fit_never_reflects(seed: int, count: int) -> None:
    """A mirrored cluster gets the best rotation, not its mirror image."""
    rng = np.random.default_rng(seed)
    reference = cluster(rng, count, flat=False)
    measured = reference * (1, 1, -1) @ random_turns(rng, 1)[0]
    found, _, residual = fit_pose(reference, measured)
    close(np.linalg.det(found), 1)
    close(found, kabsch(reference, measured)[0])
    assert count == 3 or residual > 1e-4


def test_too_few_points_and_points_on_a_line_give_nan() -> None:
    reference = np.array([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0, 0.1, 0.0]])
    measured = np.broadcast_to(reference @ Rotation.from_rotvec([1, 2, 3]).as_matrix() + 5, (4, 4, 3)).copy()
    measured[1, 3] = np.nan  # leaves the three on a line
    measured[2, :2] = np.nan  # leaves two
    measured[3] = np.nan
    found, place, residual = fit_pose(reference, measured)
    for part in (found, place, residual):
        assert np.isfinite(part[0]).all()
        assert np.isnan(part[1:]).all()


def test_markers_on_a_line_to_within_their_noise_give_nan() -> None:
    """Three markers over 200 mm, 0.3 mm of noise: they fit well in both trials, but their rotation is chance."""
    rng = np.random.default_rng(0)
    line = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]])
    _, _, measured = placed(rng, line, 500)
    noisy = (part + rng.normal(size=part.shape) * 3e-4 for part in (line, measured))
    found, _, _ = fit_pose(*noisy)
    assert np.isnan(found).all(axis=(1, 2)).all()


def test_residual_of_a_cluster_that_swells() -> None:
    """Four corners of a regular tetrahedron, 100 mm from the middle, each found 1 mm further out."""
    corners = 0.1 / np.sqrt(3) * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    close(fit_pose(corners, 1.01 * corners)[2], 0.001)


@pytest.mark.parametrize("widths", [(1, 1, 1), (1, 0.5, 0.1), (1, 0.3, 0), (1, 0.5, -0.2), (1, 0.01, 0), (1, 0.002, 0)])
def test_nearest_rotation_is_that_of_the_singular_vectors(widths: tuple[float, float, float]) -> None:
    """Solid, flat, mirrored and thin clusters; in thin ones the rotation about the long axis magnifies rounding."""
    u, v = (random_turns(np.random.default_rng(seed), 200) for seed in (1, 2))
    found = nearest_rotation(np.moveaxis(u * widths @ np.swapaxes(v, 1, 2), 0, -1))
    close(np.moveaxis(found, -1, 0), u @ np.swapaxes(v, 1, 2), 1e-13 / min(1.0, abs(widths[1] + widths[2])))


def test_nearest_rotation_of_a_line_is_unknown() -> None:
    lines = np.zeros((3, 3, 2))
    lines[0, 0] = 1
    lines[1, 1, 1] = 5e-4
    assert np.isnan(nearest_rotation(lines)).all()
