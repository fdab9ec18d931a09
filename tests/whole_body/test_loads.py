"""Loads and balance of generated whole people, with exact motion: an independent library and the laws of mechanics."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import SIDES
from pipeline.steps.kinematics.upper_body import BODIES
from pipeline.steps.kinetics.trunk_and_arms import trunk_and_arms
from pipeline.whole_body.angles import PARTS, of_part
from pipeline.whole_body.balance import angular_momentum, centre_of_mass
from pipeline.whole_body.loads import LOADS, joint_loads, moments_of_sides, motion_of
from pipeline.whole_body.skeleton import JOINTS, SEGMENTS
from tests.support.whole_body.as_steps import bodies_of, calibrate_of, hips_of, kinematics_of, mirrored
from tests.support.whole_body.motions import MOTIONS
from tests.support.whole_body.person import random_person
from tests.support.whole_body.truth import GRAVITY_M_S2, generated, truth

pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")

Array = NDArray[np.float64]
Loads = tuple[dict[str, Array], tuple[Array, Array]]

SEEDS = (11, 12, 13)
EVERY = pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind in MOTIONS for seed in SEEDS])
ROUNDING = 1e-9  # N, N m, kg m2/s, of quantities up to 1000
OF_WEIGHT = 1e-6


@cache
def known(kind: str, seed: int) -> xr.Dataset:
    person = random_person(seed)
    return truth(person, generated(person, kind, seed), np.arange(0, 1.5, 0.05))


def loads_of(of: xr.Dataset) -> Loads:
    kinematics = kinematics_of(of)
    return trunk_and_arms(kinematics, calibrate_of(of), hips_of(of, kinematics), GRAVITY_M_S2)


def of_sides(of: xr.Dataset) -> Array:
    return moments_of_sides(kinematics_of(of), of.joint_moment_local.sel(joint=list(JOINTS)).values)


def close(actual: Array, expected: Array, tolerance: float = ROUNDING) -> None:
    assert np.isfinite(actual).all()
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


@EVERY
def test_loads_are_those_of_another_library(kind: str, seed: int) -> None:
    of = known(kind, seed)
    found, _ = loads_of(of)
    expected = of.sel(joint=list(JOINTS))
    close(found["upper_joint_force"], expected.joint_force.values)
    close(found["upper_joint_moment"], expected.joint_moment_local.values)
    close(found["upper_joint_power"], expected.joint_power.values)


@EVERY
def test_nothing_is_left_at_the_pelvis(kind: str, seed: int) -> None:
    of, person = known(kind, seed), random_person(seed)
    found, (force, moment) = loads_of(of)
    weight = person.mass_kg * GRAVITY_M_S2
    assert np.abs(force).max() <= OF_WEIGHT * weight
    assert np.abs(moment).max() <= OF_WEIGHT * weight * person.height_m
    waist = JOINTS.index("waist")
    close(found["waist_force_from_legs"], found["upper_joint_force"][:, waist])
    close(found["waist_moment_from_legs"], found["upper_joint_moment"][:, waist])


@EVERY
def test_terms_are_the_load(kind: str, seed: int) -> None:
    motion = motion_of(kinematics_of(known(kind, seed)), calibrate_of(known(kind, seed)))
    force, moment = joint_loads(motion, GRAVITY_M_S2)
    expected = known(kind, seed).sel(joint=list(JOINTS))
    close(force.sum(axis=1), expected.joint_force.values)
    close(moment.sum(axis=1), expected.joint_moment_local.values)
    assert np.abs(moment[:, :3]).max(axis=(0, 2, 3)).min() > 0.01  # no term is absent in these motions
    close(force[:, 3], np.zeros_like(force[:, 3]), 0)


@EVERY
def test_centre_of_mass_and_angular_momentum_are_those_of_another_library(kind: str, seed: int) -> None:
    of = known(kind, seed)
    bodies = bodies_of(of)
    names = ("centre_of_mass", "centre_of_mass_velocity", "centre_of_mass_acceleration")
    for found, name in zip(centre_of_mass(bodies), names, strict=True):
        close(found, of[name].values)
    momentum = angular_momentum(bodies)
    close(momentum, of.angular_momentum_part.sel(body=list(BODIES)).values)
    close(momentum.sum(axis=1), of.angular_momentum.values)


@EVERY
def test_clinical_moments_do_the_work_of_the_angles(kind: str, seed: int) -> None:
    """Power is the sum of clinical moment and rate of its angle, Z-X-Y: a wrong sign or order would show.

    Of the shoulder the angles are not of this sequence.
    """
    person, step_s = random_person(seed), 1e-4
    middle = np.arange(0.1, 1.3, 0.1)
    of = truth(person, generated(person, kind, seed), (middle[:, None] + step_s * np.array([-1, 0, 1])).ravel())
    moments, poses = of_sides(of), dict(zip(of.body.values, np.moveaxis(of.rotation.values, 1, 0), strict=True))
    power = of.joint_power.sel(joint=list(JOINTS)).values
    for i, side in enumerate(SIDES):
        for j, (joint, part) in enumerate(LOADS.items()):
            if joint == "shoulder":
                continue
            angle = np.radians(of_part(part, poses, side, "isb", 0.1))
            rate = (angle[2::3] - angle[::3]) / (2 * step_s)
            row = JOINTS.index(joint if joint in JOINTS else f"{joint}_{side}")
            # central differences: step squared times the third derivative, some 1e3 rad/s3, times 100 N m
            close((moments[1::3, i, j] * rate).sum(axis=-1), power[1::3, row], 1e-3)


@EVERY
@pytest.mark.parametrize("convention", ["isb", "plug_in_gait"])
def test_a_mirror_image_has_mirrored_angles(kind: str, seed: int, convention: str) -> None:
    poses = [
        dict(zip(of.body.values, np.moveaxis(of.rotation.values, 1, 0), strict=True))
        for of in (known(kind, seed), mirrored(known(kind, seed)))
    ]
    for part in PARTS:
        for side, other in (SIDES, SIDES[::-1]):
            here, there = (
                of_part(part, poses[0], side, convention, 0.0),
                of_part(part, poses[1], other, convention, 0.0),
            )
            close(here, there)


def test_an_unseen_segment_has_no_loads_of_its_own_but_counts() -> None:
    of = known("walk", SEEDS[0])
    kinematics, whole = kinematics_of(of), loads_of(of)[0]
    kinematics.upper_segment_seen.values[0, SEGMENTS.index("hand_left")] = 0
    found, residual = trunk_and_arms(kinematics, calibrate_of(of), hips_of(of, kinematics), GRAVITY_M_S2)
    wrist = JOINTS.index("wrist_left")
    others = [i for i in range(len(JOINTS)) if i != wrist]
    for name in ("upper_joint_force", "upper_joint_moment", "upper_joint_power", "upper_joint_moment_term"):
        assert np.isnan(found[name][:, wrist]).all()
        np.testing.assert_array_equal(found[name][:, others], whole[name][:, others])
    close(np.stack(residual), np.zeros((2, len(of.time), 3)))
