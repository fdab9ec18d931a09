"""The generated whole person obeys the laws of Newton, Euler and energy, whatever library computed it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from tests.support.whole_body.motions import MOTIONS, STILL, Motion, moved
from tests.support.whole_body.person import BODIES, JOINT_OF, PARENT, SIDES, random_person
from tests.support.whole_body.truth import GRAVITY_M_S2, generated, truth

pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is not installed")

Array = NDArray[np.float64]

EVERY = pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind in (*MOTIONS, STILL) for seed in (1, 2)])
UPWARDS = np.array([0, GRAVITY_M_S2, 0])  # what gravity adds to an acceleration in Newton's law
ROUNDING = 1e-9  # N, N m, W, ...: of quantities up to 1000


@cache
def known(kind: str, seed: int) -> xr.Dataset:
    person = random_person(seed)
    return truth(person, generated(person, kind, seed), np.arange(0, 1.5, 0.05))


def close(actual: Any, expected: Any, tolerance: float = ROUNDING) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def torque(of: xr.Dataset) -> Array:
    """Return the rates (time, body, 3) of angular momentum of the bodies about their own centres of mass, lab axes."""
    spin, change, tensor = of.angular_velocity.values, of.angular_acceleration.values, of.tensor.values
    momentum = np.einsum("bij,tbj->tbi", tensor, spin)
    local = np.einsum("bij,tbj->tbi", tensor, change) + np.cross(spin, momentum)
    return np.asarray(np.einsum("tbji,tbj->tbi", of.rotation.values, local))


def test_persons_are_possible() -> None:
    for seed in range(20):
        person = random_person(seed)
        assert {*person.mass} == {*person.com} == {*person.tensor} == {*BODIES}
        assert 45 < person.mass_kg < 110
        close(person.mass_kg, np.sum([person.mass[body] for body in BODIES]))
        for tensor in person.tensor.values():
            moments = np.linalg.eigvalsh(tensor)
            assert 0 < moments[2] < moments[0] + moments[1]
        assert person.com["thigh_left"][2] != -person.com["thigh_right"][2]


@EVERY
def test_the_pelvis_lacks_nothing(kind: str, seed: int) -> None:
    assert np.abs(known(kind, seed).residual.values).max() < ROUNDING


@EVERY
def test_every_segment_obeys_newton_and_euler(kind: str, seed: int) -> None:
    of = known(kind, seed)
    force = of.mass.values[:, None] * (of.com_acceleration.values + UPWARDS)
    moment = torque(of)
    for i, body in enumerate(BODIES):
        com = of.com.values[:, i]
        ours, turning = 0 * com, 0 * com
        for child, joint in JOINT_OF.items():
            if body in (child, PARENT[child]):
                at = of.sel(joint=joint)
                load, arm = at.joint_force.values, at.joint_centre.values - com
                sign = 1 if body == child else -1
                ours, turning = ours + sign * load, turning + sign * (at.joint_moment.values + np.cross(arm, load))
        for number, side in enumerate(SIDES):
            if body == f"foot_{side}":
                on_foot = of.ground_force.values[:, number]
                ours, turning = ours + on_foot, turning + of.ground_moment.values[:, number] - np.cross(com, on_foot)
        close(ours, force[:, i])
        close(turning, moment[:, i])


@EVERY
def test_power_changes_the_energy(kind: str, seed: int) -> None:
    of = known(kind, seed)
    change = np.einsum("b,tbi,tbi->t", of.mass.values, of.com_acceleration.values + UPWARDS, of.com_velocity.values)
    lab_spin = np.einsum("tbji,tbj->tbi", of.rotation.values, of.angular_velocity.values)
    change = change + (torque(of) * lab_spin).sum(axis=(1, 2))
    given = of.joint_power.sum("joint").values
    for number, side in enumerate(SIDES):
        i = BODIES.index(f"foot_{side}")
        load = of.ground_force.values[:, number]
        about = of.ground_moment.values[:, number] - np.cross(of.com.values[:, i], load)
        given = given + (load * of.com_velocity.values[:, i] + about * lab_spin[:, i]).sum(axis=1)
    close(given, change)


@EVERY
def test_parts_make_the_whole(kind: str, seed: int) -> None:
    of = known(kind, seed)
    total = of.mass.values.sum()
    close((of.mass * of.com).sum("body").values / total, of.centre_of_mass.values)
    close((of.mass * of.com_acceleration).sum("body").values / total, of.centre_of_mass_acceleration.values)
    close(of.angular_momentum_part.sum("body").values, of.angular_momentum.values)
    close(of.ground_force.sum("side").values, total * (of.centre_of_mass_acceleration.values + UPWARDS))


@pytest.mark.parametrize("kind", MOTIONS)
def test_rates_are_slopes_of_paths(kind: str) -> None:
    """Central differences of half the step have a quarter of the error."""
    person = random_person(3)
    motion = generated(person, kind, 3)

    def errors(step_s: float) -> dict[str, float]:
        time = 0.37 + step_s * np.array([-1.0, 0, 1])
        of = truth(person, motion, time)
        slope = {
            name: (of[path].values[2] - of[path].values[0]) / (2 * step_s) - of[name].values[1]
            for path, name in (
                ("centre_of_mass", "centre_of_mass_velocity"),
                ("centre_of_mass_velocity", "centre_of_mass_acceleration"),
                ("angular_momentum", "angular_momentum_rate"),
                ("angular_velocity", "angular_acceleration"),
                ("com", "com_velocity"),
                ("com_velocity", "com_acceleration"),
            )
        }
        change = (of.rotation.values[2] - of.rotation.values[0]) / (2 * step_s)  # R' = -skew(spin) R
        spin = -np.einsum("bik,bjk->bij", change, of.rotation.values[1])
        slope["rotation"] = (
            np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1) - of.angular_velocity.values[1]
        )
        return {name: float(np.abs(error).max()) for name, error in slope.items()}

    coarse, fine = errors(0.004), errors(0.002)
    for name, error in coarse.items():
        assert error / fine[name] == pytest.approx(4, rel=0.05), name
        assert error < 0.1, name


@EVERY
def test_feet_press_where_they_stand(kind: str, seed: int) -> None:
    of, person = known(kind, seed), random_person(seed)
    poses = moved(person, generated(person, kind, seed), of.time.values)
    carrying = poses.share > 0.02
    apart = np.abs(of.centre_of_pressure.values - poses.pressed)[carrying]
    assert apart.max() < 0.05
    assert of.ground_force.values[..., 1][carrying].min() > 0
    ankles = of.joint_centre.sel(joint=[f"ankle_{side}" for side in SIDES])
    assert np.linalg.norm((ankles.values - poses.pressed)[carrying][:, [0, 2]], axis=1).max() < 0.06


def test_a_treadmill_changes_no_load() -> None:
    person = random_person(4)
    speed = Motion("walk", 4).speed_m_s(person)
    time = np.arange(0, 1.4, 0.1)
    ground, belt = (truth(person, generated(person, "walk", 4, belt_m_s=v), time) for v in (0.0, speed))
    for name in ("joint_force", "joint_moment", "ground_force", "angular_momentum", "com_acceleration"):
        close(belt[name].values, ground[name].values)
    moved_by = ground.centre_of_mass.values - belt.centre_of_mass.values
    close(moved_by, speed * time[:, None] * [1, 0, 0])
