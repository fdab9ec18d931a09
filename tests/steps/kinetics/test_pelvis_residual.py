"""The residual at the pelvis: zero for a body that obeys Newton, and as large as an error of mass, plate or motion."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.body.skeleton import body_height_m
from pipeline.steps.kinetics.pelvis_residual import COM_FROM_HIPS, LENGTH_PER_HEIGHT
from tests.support.steps import kinematics
from tests.support.walks.person import GRAVITY, Array, cleaned, close, derivative, landmarks, particles, walk
from tests.support.walks.person_on_ground import CALIBRATION, INNER, MODEL, SETTINGS, TIME, UP, loads, moved

# as of test_kinetics: 10^-4 m/s2 and rad/s2, here times the whole body
FORCE_N, MOMENT_N_M = 0.02, 0.02
BODY_KG, HEIGHT_M = float(CALIBRATION.attrs["body_mass_kg"]), 1.7


def calibration(mass_kg: float = BODY_KG) -> xr.Dataset:
    return CALIBRATION.assign_attrs(body_mass_kg=mass_kg, body_height_m=HEIGHT_M)


def upright(time: Array) -> tuple[Array, Array]:
    """Return one particle (time, 1, 3), upright above the hips, and its mass."""
    place = walk(time).centre[:, :, 2].mean(axis=1) + COM_FROM_HIPS * LENGTH_PER_HEIGHT * HEIGHT_M * UP
    return place[:, None], np.array([BODY_KG - float(CALIBRATION.segment_mass.sum())])


# a measured upper body with its centre of mass ahead and to the right, and with products of inertia
MASS_KG, COM_M = 45.0, np.array([0.02, 0.3, 0.01])
INERTIA = np.array([[3.0, 0.2, 0.1], [0.2, 1.0, -0.1], [0.1, -0.1, 2.8]])


def axes_of_shoulders(time: Array) -> Array:
    """Return axes (time, 3, 3) of shoulders and neck: they lean, sway and turn, as rows."""
    cycle = 2 * np.pi * time
    angle = [0.12 * np.sin(cycle), 0.08 * np.cos(cycle), -0.1 + 0.05 * np.sin(2 * cycle)]
    return np.asarray(Rotation.from_euler("YXZ", np.stack(angle, axis=-1)).inv().as_matrix())


def shoulders(time: Array) -> Array:
    """Return the shoulders (time, side, 3), 0.5 m from the midpoint of the hips."""
    axes, middle = axes_of_shoulders(time), walk(time).centre[:, :, 2].mean(axis=1)
    return np.asarray((middle + 0.5 * axes[:, 1])[:, None] + 0.18 * axes[:, None, 2] * np.array([-1.0, 1])[:, None])


def leaning(time: Array) -> tuple[Array, Array]:
    """Return six particles (time, 6, 3) of the measured upper body, and their masses.

    It is built by angles: the longitudinal axis is that of the shoulders, about which it has the mean heading.
    """
    hips, axes = walk(time).centre[:, :, 2], axes_of_shoulders(time)
    across = hips[:, 1] - hips[:, 0]
    ahead, right = (np.einsum("ti,ti->t", axes[:, i], across / np.linalg.norm(across, axis=1)[:, None]) for i in (0, 2))
    heading = np.arctan2(ahead, 1 + right)[:, None]  # of the sum of two unit vectors, about the axis of the shoulders
    z = np.cos(heading) * axes[:, 2] + np.sin(heading) * axes[:, 0]
    body = np.stack([np.cross(axes[:, 1], z), axes[:, 1], z], axis=1)
    local = COM_M + particles(np.array(MASS_KG), INERTIA)
    return np.asarray(hips.mean(axis=1)[:, None] + local @ body), np.full(6, MASS_KG / 6)


def places_and_masses(time: Array, upper: Callable[[Array], tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return (time, particle, 3) and (particle,): six of each segment of the legs, and those of the upper body."""
    legs, pose = CALIBRATION, walk(time)
    arms = particles(legs.segment_mass.values, legs.segment_inertia.values)
    local = legs.segment_com.values[:, :, None] + arms
    of_legs = (pose.centre[..., None, :] + local @ pose.rotation[:, :, :3]).reshape(len(time), -1, 3)
    place, mass = upper(time)
    return np.concatenate([of_legs, place], axis=1), np.append(np.repeat(legs.segment_mass.values.ravel() / 6, 6), mass)


@cache
def balanced(upper: Callable[[Array], tuple[Array, Array]] = upright) -> xr.Dataset:
    """Return ground wrenches with which the whole body obeys Newton; both feet share them arbitrarily."""
    place, mass = places_and_masses(TIME, upper)
    acceleration = derivative(lambda time: derivative(lambda t: places_and_masses(t, upper)[0], time), TIME)
    needed = mass[:, None] * (acceleration + GRAVITY * UP)
    total = needed.sum(axis=1), np.cross(place, needed).sum(axis=1)
    left = 60 * np.sin(2 * np.pi * TIME[:, None] + np.arange(6)) + 30
    force, moment = (
        np.stack([left[:, i : i + 3], whole - left[:, i : i + 3]], axis=1)
        for i, whole in zip((0, 3), total, strict=True)
    )
    dims = ("time", "side", "axis")
    wrench = {"ground_force": (dims, force), "ground_moment": (dims, moment), "belt_speed": ("side", np.zeros(2))}
    return xr.Dataset(wrench, {"side": ["left", "right"]})


def residual(contacts: xr.Dataset, mass_kg: float = BODY_KG) -> tuple[Array, Array]:
    found = loads(moved(), contacts, calibration(mass_kg))
    return found.pelvis_residual_force.values, found.pelvis_residual_moment.values


def test_is_zero_for_a_body_that_obeys_newton() -> None:
    force, moment = residual(balanced())
    close(force[INNER], 0 * force[INNER], FORCE_N)
    close(moment[INNER], 0 * moment[INNER], MOMENT_N_M)


def with_shoulders(place: Array) -> xr.Dataset:
    clean = cleaned(MODEL, landmarks(walk(TIME)), TIME).assign(shoulder_position=(("time", "shoulder", "axis"), place))
    return kinematics(clean, CALIBRATION, body_model=MODEL, settings=SETTINGS)


def measured() -> xr.Dataset:
    of_upper = {
        "mass": ((), MASS_KG),
        "com": ("local_axis", COM_M),
        "inertia": (("local_axis", "local_axis_2"), INERTIA),
    }
    return CALIBRATION.assign({f"upper_body_{name}": value for name, value in of_upper.items()})


def test_is_zero_for_an_upper_body_that_leans_and_turns_with_its_shoulders() -> None:
    """With measured mass, centre of mass and tensor; upright it would leave some 100 N and 50 N m."""
    ground = balanced(leaning)
    found = loads(with_shoulders(shoulders(TIME)), ground, measured())
    upright_one = loads(moved(), ground, measured())
    for load, limit, without in (("force", FORCE_N, 40), ("moment", MOMENT_N_M, 20)):
        values = found[f"pelvis_residual_{load}"].values[INNER]
        close(values, 0 * values, limit)
        assert np.abs(upright_one[f"pelvis_residual_{load}"].values[INNER]).max() > without


def test_upper_body_is_upright_where_shoulders_are_hidden_or_exchanged() -> None:
    place = shoulders(TIME)
    hidden = place.copy()
    hidden[:100] = np.nan
    found, seen, unseen = (
        loads(motion, balanced()) for motion in (with_shoulders(hidden), with_shoulders(place), moved())
    )
    exchanged = loads(with_shoulders(place[:, ::-1]), balanced())
    for load in ("pelvis_residual_force", "pelvis_residual_moment"):
        np.testing.assert_array_equal(found[load].values[:100], unseen[load].values[:100])
        close(found[load].values[125:175], seen[load].values[125:175], 0.1)  # the spline begins at frame 100
        np.testing.assert_array_equal(exchanged[load], unseen[load])


def test_is_the_weight_and_inertia_of_a_wrong_mass() -> None:
    """A tenth too much, all of it in the upper body."""
    force, moment = residual(balanced(), 1.1 * BODY_KG)
    hips = derivative(lambda time: derivative(lambda t: walk(t).centre[:, :, 2].mean(axis=1), time), TIME)
    expected = 0.1 * BODY_KG * (hips + GRAVITY * UP)
    close(force[INNER], expected[INNER], FORCE_N)
    arm = COM_FROM_HIPS * LENGTH_PER_HEIGHT * HEIGHT_M * UP
    close(moment[INNER], np.cross(arm, expected)[INNER], MOMENT_N_M)


def test_is_the_moment_of_a_plate_that_stands_elsewhere() -> None:
    """Both plates 20 mm forward: about 14 N m of a body of 70 kg, and no force."""
    away, ground = np.array([0.02, 0, 0]), balanced()
    shifted = ground.assign(ground_moment=ground.ground_moment + np.cross(away, ground.ground_force.values))
    force, moment = residual(shifted)
    close(force[INNER], 0 * force[INNER], FORCE_N)
    expected = -np.cross(away, ground.ground_force.values.sum(axis=1))
    assert np.abs(expected).max() > 0.015 * BODY_KG * GRAVITY
    close(moment[INNER], expected[INNER], MOMENT_N_M)


@pytest.mark.parametrize("side", [0, 1])
def test_is_unknown_within_50_ms_of_an_unknown_load_of_a_foot(side: int) -> None:
    ground = balanced().copy(deep=True)
    ground.ground_force.values[50:80, side] = ground.ground_moment.values[50:80, side] = np.nan
    found, whole = residual(ground), residual(balanced())
    unknown = np.isin(np.arange(len(TIME)), [*range(40, 90), *range(10), *range(190, 200)])  # at 200 Hz
    for some, every in zip(found, whole, strict=True):
        assert np.isnan(some[unknown]).all()
        np.testing.assert_array_equal(some[~unknown], every[~unknown])


def test_height_that_is_not_stated_is_estimated_by_the_legs() -> None:
    model = CALIBRATION.assign_attrs(body_height_m=np.nan)
    legs = CALIBRATION.joint_distance.sel(segment=["thigh", "shank"]).sum("segment").mean()
    assert body_height_m(model) == pytest.approx(float(legs) / 0.491)
    assert body_height_m(calibration()) == HEIGHT_M
