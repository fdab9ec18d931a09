"""The residual at the pelvis: zero for a body that obeys Newton, and as large as an error of mass, plate or motion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import xarray as xr

from pipeline.body.legs import body_height_m
from pipeline.steps.kinetics.pelvis_residual import COM_FROM_HIPS, LENGTH_PER_HEIGHT
from tests.support.geometry import GRAVITY, Array, close, derivative, particles, walk
from tests.support.walking import CALIBRATION, INNER, TIME, UP, loads, moved

# as of test_kinetics: 10^-4 m/s2 and rad/s2, here times the whole body
FORCE_N, MOMENT_N_M = 0.02, 0.02
BODY_KG, HEIGHT_M = float(CALIBRATION.attrs["body_mass_kg"]), 1.7


def calibration(mass_kg: float = BODY_KG) -> xr.Dataset:
    return CALIBRATION.assign_attrs(body_mass_kg=mass_kg, body_height_m=HEIGHT_M)


def places_and_masses(time: Array) -> tuple[Array, Array]:
    """Return (time, particle, 3) and (particle,): six of each segment, and the upper body upright above the hips."""
    legs, pose = CALIBRATION, walk(time)
    arms = particles(legs.segment_mass.values, legs.segment_inertia.values)
    local = legs.segment_com.values[:, :, None] + arms
    of_legs = (pose.centre[..., None, :] + local @ pose.rotation[:, :, :3]).reshape(len(time), -1, 3)
    upper = pose.centre[:, :, 2].mean(axis=1) + COM_FROM_HIPS * LENGTH_PER_HEIGHT * HEIGHT_M * UP
    masses = np.repeat(legs.segment_mass.values.ravel() / 6, 6)
    return np.concatenate([of_legs, upper[:, None]], axis=1), np.append(masses, BODY_KG - masses.sum())


@cache
def balanced() -> xr.Dataset:
    """Return ground wrenches with which the whole body obeys Newton; both feet share them arbitrarily."""
    place, mass = places_and_masses(TIME)
    acceleration = derivative(lambda time: derivative(lambda t: places_and_masses(t)[0], time), TIME)
    needed = mass[:, None] * (acceleration + GRAVITY * UP)
    total = needed.sum(axis=1), np.cross(place, needed).sum(axis=1)
    left = 60 * np.sin(2 * np.pi * TIME[:, None] + np.arange(6)) + 30
    force, moment = (
        np.stack([left[:, i : i + 3], whole - left[:, i : i + 3]], axis=1)
        for i, whole in zip((0, 3), total, strict=True)
    )
    dims = ("time", "side", "axis")
    return xr.Dataset({"ground_force": (dims, force), "ground_moment": (dims, moment)}, {"side": ["left", "right"]})


def residual(contacts: xr.Dataset, mass_kg: float = BODY_KG) -> tuple[Array, Array]:
    found = loads(moved(), contacts, calibration(mass_kg))
    return found.pelvis_residual_force.values, found.pelvis_residual_moment.values


def test_is_zero_for_a_body_that_obeys_newton() -> None:
    force, moment = residual(balanced())
    close(force[INNER], 0 * force[INNER], FORCE_N)
    close(moment[INNER], 0 * moment[INNER], MOMENT_N_M)


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
