"""The linked legs: their normal equations against finite differences and SciPy, and their poses against known ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from pipeline.steps.kinematics import normal_equations
from pipeline.steps.kinematics.linkage import PELVIS, Linkage, Posture, pose_bodies, take_step
from pipeline.steps.kinematics.linked_leg import fit

Array = NDArray[np.float64]
COUNT = 30
LEFT_FOOT, LEFT_SHANK, LEFT_THIGH, RIGHT_FOOT = range(4)
FREE = np.ones((3, 3), dtype=bool)
BALLS, HINGES = FREE, np.array([[True, True, False], [True, False, False], [True, True, True]])
UNLIMITED = np.broadcast_to(np.array([-np.inf, np.inf])[:, None, None, None], (2, 2, 3, 3))
NOISE_M = 0.01


def linkage(free: NDArray[np.bool_] = BALLS) -> Linkage:
    """Return a linkage with five markers on each body."""
    rng = np.random.default_rng(1)
    body = np.repeat(np.arange(PELVIS + 1), 5)
    place = rng.normal(0, 0.07, (len(body), 3))
    place[(body % 3 > 0) & (body < PELVIS), 1] -= 0.2
    joint = np.array([[[0, -0.42, 0], [0, -0.4, 0], [-0.05, -0.08, 0.08 * side]] for side in (-1, 1)])
    neutral = rng.normal(0, 0.1, (2, 3, 3))
    return Linkage(place, body, np.ones(len(body)), joint, neutral, free, UNLIMITED)


def posture(model: Linkage) -> Posture:
    """Return a walk-like motion in which fixed angles are at their neutral value."""
    t = np.linspace(0, 3, COUNT)
    turn = Rotation.from_euler("zyx", np.stack([0.1 * np.sin(t), 0.2 * np.cos(t), 0.3 * t], axis=1)).as_matrix()
    phase = np.arange(18).reshape(2, 3, 3, 1)
    angle = np.array([0.6, 0.15, 0.2])[:, None] * np.sin(phase + 3 * t)
    return Posture(
        np.moveaxis(turn, 0, -1),
        np.stack([5 + 1.3 * t, 1 + 0.03 * np.sin(9 * t), -2 + 0.1 * np.sin(t)]),
        np.where(model.free[None, ..., None], angle, model.neutral[..., None]),
    )


def markers_of(model: Linkage, at: Posture) -> Array:
    bodies = pose_bodies(model, at)
    return np.asarray(bodies.origin[model.body] + np.einsum("mjit,mj->mit", bodies.rotation[model.body], model.place))


def near(at: Posture) -> Posture:
    rng = np.random.default_rng(2)
    shift = 0.05 * rng.normal(size=at.angle.shape)
    return dataclasses.replace(at, origin=at.origin + 0.02, angle=at.angle + shift)


def noisy(markers: Array) -> Array:
    return markers + NOISE_M * np.random.default_rng(3).normal(size=markers.shape)


def normal_at(model: Linkage, markers: Array, at: Posture) -> normal_equations.Normal:
    sums = normal_equations.sum_markers(model, markers, np.broadcast_to(model.weight[:, None], (len(markers), COUNT)))
    return normal_equations.form_normal_equations(model, sums, at, pose_bodies(model, at), np.ones(COUNT, dtype=bool))


def gradient(normal: normal_equations.Normal) -> Array:
    return -np.concatenate([normal.on_pelvis, normal.on_leg.reshape(-1, COUNT)])


def whole(normal: normal_equations.Normal) -> Array:
    return np.moveaxis(normal_equations.whole_matrix(normal), 0, -1)


@pytest.mark.parametrize("free", [BALLS, HINGES])
def test_normal_equations_are_the_derivatives_of_the_cost(free: NDArray[np.bool_]) -> None:
    """Central differences of 1e-6 leave 1e-9. The pelvis's second derivatives depend on how it is moved: left out."""
    model = linkage(free)._replace(limits=np.stack([np.full((2, 3, 3), -0.2), np.full((2, 3, 3), 0.1)]))
    at = posture(model)
    at.origin -= at.origin.copy()
    markers, step = noisy(markers_of(model, at)), 1e-6
    here = normal_at(model, markers, at)
    size = 6 + 2 * free.sum()
    for coordinate in range(size):
        move = np.zeros((size, COUNT))
        move[coordinate] = step
        ahead, behind = (normal_at(model, markers, take_step(model, at, sign * move)) for sign in (1, -1))
        np.testing.assert_allclose((ahead.cost - behind.cost) / 2 / step, gradient(here)[coordinate], atol=1e-7)
        if coordinate >= 6:
            change = (gradient(ahead) - gradient(behind)) / 2 / step
            np.testing.assert_allclose(change, whole(here)[coordinate], atol=1e-6)


@pytest.mark.parametrize("free", [BALLS, HINGES])
def test_exact_markers_give_the_posture_back(free: NDArray[np.bool_]) -> None:
    model = linkage(free)
    true = posture(model)
    found = fit(model, markers_of(model, true), near(true))
    expected = pose_bodies(model, true)
    assert found.converged.all()
    np.testing.assert_allclose(found.bodies.rotation, expected.rotation, atol=1e-9)
    np.testing.assert_allclose(found.bodies.origin, expected.origin, atol=1e-9)
    np.testing.assert_allclose(found.residual, 0, atol=1e-9)


def test_fit_has_the_least_squares_of_scipy() -> None:
    """An independent minimiser of the same residuals, without our sums; weights of 1 to 3."""
    model = linkage(HINGES)._replace(weight=np.linspace(1, 3, 35))
    true = posture(model)
    markers = noisy(markers_of(model, true))
    found = fit(model, markers, near(true))
    for frame in (0, 17):
        start = Posture(*(part[..., frame, None] for part in (true.rotation, true.origin, true.angle)))

        def residual(coordinates: Array, frame: int = frame, start: Posture = start) -> Array:
            off = markers_of(model, take_step(model, start, coordinates[:, None]))[..., 0] - markers[..., frame]
            return (np.sqrt(model.weight)[:, None] * off).ravel()

        best = least_squares(residual, np.zeros(6 + 2 * HINGES.sum()), xtol=1e-14, ftol=1e-14, gtol=1e-14)
        cost = (model.weight * found.residual[:, frame] ** 2).sum() / 2
        np.testing.assert_allclose(cost, best.cost, rtol=1e-9)


def test_joints_hold_together_and_fixed_angles_stay() -> None:
    model = linkage(HINGES)
    found = fit(model, noisy(markers_of(model, posture(model))), near(posture(model)))
    thigh, shank, foot = (found.bodies.origin[body] for body in (LEFT_THIGH, LEFT_SHANK, LEFT_FOOT))
    np.testing.assert_allclose(np.linalg.norm(shank - thigh, axis=0), 0.4, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(foot - shank, axis=0), 0.42, atol=1e-12)
    right = found.bodies.rotation[LEFT_SHANK][1], found.bodies.rotation[LEFT_THIGH][2]
    adduction = np.arcsin(np.einsum("at,at->t", *right))
    np.testing.assert_allclose(adduction, model.neutral[0, 1, 1], atol=1e-9)


@pytest.mark.parametrize(
    ("hidden", "unknown"),
    [
        ({LEFT_FOOT: 5}, {LEFT_FOOT}),
        ({LEFT_SHANK: 5}, set()),  # the foot's markers show the ankle, and the turn about the line from knee to ankle
        ({LEFT_THIGH: 5}, set()),
        ({LEFT_THIGH: 5, LEFT_SHANK: 5}, set()),  # six coordinates by the six of the foot
        ({LEFT_FOOT: 5, LEFT_SHANK: 3}, {LEFT_FOOT}),  # two markers and the knee
        ({LEFT_FOOT: 5, LEFT_SHANK: 5}, {LEFT_FOOT, LEFT_SHANK}),
        ({PELVIS: 5}, {PELVIS}),
        (dict.fromkeys(range(7), 5), {*range(7)}),
    ],
)
def test_only_what_markers_leave_open_is_unknown(hidden: dict[int, int], unknown: set[int]) -> None:
    """A universal ankle shows the turn of the shank by the foot, a hinge for a knee that of the thigh by the shank."""
    model = linkage(HINGES)
    true = posture(model)
    markers = markers_of(model, true)
    for body, count in hidden.items():
        markers[np.flatnonzero(model.body == body)[:count]] = np.nan
    found = fit(model, markers, near(true))
    lost = np.asarray(np.isnan(found.bodies.rotation).any(axis=(1, 2)))
    assert {int(body) for body in np.flatnonzero(lost.all(axis=1))} == unknown
    assert not lost[[body for body in range(7) if body not in unknown]].any()
    known = [body for body in range(7) if body not in unknown]
    expected = pose_bodies(model, true).rotation
    np.testing.assert_allclose(found.bodies.rotation[known], expected[known], atol=1e-7)


def test_nothing_is_known_without_markers() -> None:
    model = linkage()._replace(body=np.zeros(0, dtype=np.intp), place=np.zeros((0, 3)), weight=np.zeros(0))
    found = fit(model, np.zeros((0, 3, COUNT)), posture(linkage()))
    assert np.isnan(found.bodies.rotation).all()
    assert found.residual.shape == (0, COUNT)


def test_heavier_markers_and_limits_pull() -> None:
    model = linkage()
    true = posture(model)
    markers = noisy(markers_of(model, true))
    light, heavy = (model._replace(weight=np.where(np.arange(35) == 7, weight, 1.0)) for weight in (1.0, 100.0))
    assert fit(heavy, markers, near(true)).residual[7].mean() < fit(light, markers, near(true)).residual[7].mean() / 5
    limited = model._replace(limits=np.stack([np.full((2, 3, 3), -0.5), np.full((2, 3, 3), 0.5)]))
    bent = np.abs(true.angle).max()
    found = fit(limited, markers, near(true)).bodies.rotation
    flexion = np.arctan2(-(found[0][1] * found[1][0]).sum(axis=0), (found[0][1] * found[1][1]).sum(axis=0))
    assert 0.5 < np.abs(flexion).max() < bent - 0.05
