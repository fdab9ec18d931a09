"""Muscles in the equation of motion: balance of energy, equilibrium, and the equations by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.extras.teaching import hill, muscle_driven, planar
from pipeline.extras.teaching.hill import Hill
from pipeline.extras.teaching.muscle_driven import Limb, acceleration, pull, simulate
from pipeline.extras.teaching.muscles import Muscle, lengths, moment_arms
from tests.support.walks.person import GRAVITY, Array, close, derivative

DOWN = np.array([0, -GRAVITY])
FOREARM = planar.rods(np.array([1.5]), np.array([0.35]))
ARM = planar.rods(np.array([2.0, 1.5]), np.array([0.33, 0.35]))
FLEXOR, EXTENSOR = (Muscle((0, 1), np.array([[0.0, -0.25], [x, y]])) for x, y in ((0.04, 0.01), (-0.025, 0.0)))
START = {1: np.array([-0.4]), 2: np.array([-1.2, 0.8])}


def limb_of(n: int, *, compliant: bool) -> Limb:
    """Return a forearm with two muscles, or an arm with one over each joint and one over both."""
    strings = [FLEXOR, EXTENSOR]
    if n == 2:
        strings = [
            Muscle((0, 1), np.array([[-0.03, 0.05], [0.12, 0.02]])),
            Muscle((1, 2), np.array([[0.1, 0.02], [0.04, 0.01]])),
            Muscle((0, 1, 2), np.array([[0.02, 0.05], [0.2, 0.04], [0.04, 0.01]])),
        ]
    links = (FOREARM, ARM)[n - 1]
    length = lengths(links, strings, START[n])
    muscles = Hill(np.full(len(length), 600.0), 0.55 * length, 0.45 * length, np.linspace(0, 0.3, len(length)))
    return Limb(links, strings, muscles, DOWN, compliant)


def excite(t: float) -> float:
    return 0.3 + 0.2 * float(np.sin(10 * t))


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("compliant", [False, True], ids=["rigid", "compliant"])
def test_work_of_the_muscles_is_the_change_of_energy(n: int, compliant: bool) -> None:
    limb, q = limb_of(n, compliant=compliant), START[n]
    count = len(limb.strings)
    activation, time = np.full(count, 0.1), np.linspace(0, 0.2, 11)
    course = simulate(limb, q, 0 * q, activation, lambda t: excite(t) + 0 * activation, time, tolerance=1e-12)
    energy, work = muscle_driven.energy(limb, course), course.work.sum(axis=1)
    close(energy.sum(axis=1) - energy[0].sum(), work)
    assert np.abs(work).max() > 0.2
    assert (np.ptp(energy, axis=0)[:3] > 1e-3).all()
    if compliant:
        assert np.ptp(energy[:, 3]) > 0.01  # the tendons store some of it
    assert (course.force > 0).all()
    assert (np.ptp(course.activation, axis=0) > 0.1).all()


def test_fibres_of_a_compliant_tendon_shorten_while_the_limb_rests() -> None:
    """Muscle and tendon keep their length, so what the fibres give the tendon takes."""
    limb = limb_of(1, compliant=True)
    stiff = replace(limb, links=replace(FOREARM, inertia=np.array([1e9])))
    course = simulate(stiff, START[1], np.zeros(1), np.full(2, 0.05), lambda _: np.ones(2), np.linspace(0, 0.2, 5))
    assert np.ptp(course.q) < 1e-6
    assert (np.diff(course.fibre, axis=0) < 0).all()
    passive, tendon = hill.elastic_energy(limb.hill, course.fibre, lengths(limb.links, limb.strings, course.q))
    gained = (passive + tendon)[-1] - (passive + tendon)[0]
    close(gained, course.work[-1], 1e-7)  # the steps are good to 1e-10 of fibres, with slopes of 1e5 N/m
    assert (gained > 0.1).all()


def test_velocity_of_the_muscle_is_the_rate_of_its_length() -> None:
    """L' = -R q': the fibres of a rigid tendon."""
    limb, q, qd = limb_of(2, compliant=False), START[2], np.array([2.0, -3])
    rate = pull(limb, q, qd, np.full(3, 0.4), np.zeros(3))[2]

    def fibre(s: Array) -> Array:
        length = lengths(limb.links, limb.strings, q + qd * s[:, None])
        return hill.fibre_with_rigid_tendon(limb.hill, length, 0 * length)[0]

    close(rate, derivative(fibre, np.zeros(1), 1e-3)[0])


def test_acceleration_of_one_link_by_hand() -> None:
    """(I + m d^2) q'' = R F - m g d cos q, with the arm of a triangle: base, hinge, insertion."""
    limb, q = limb_of(1, compliant=False), START[1]
    force = np.array([150.0, 40])
    x, y = np.array([0.04, -0.025]), np.array([0.01, 0.0])
    foot = np.stack([x * np.cos(q) - y * np.sin(q), x * np.sin(q) + y * np.cos(q)], axis=-1)
    to = np.array([0.0, -0.25]) - foot
    arms = (foot[:, 0] * to[:, 1] - foot[:, 1] * to[:, 0]) / np.linalg.norm(to, axis=1)
    expected = (arms @ force - 1.5 * GRAVITY * 0.175 * np.cos(q[0])) / (1.5 * 0.35**2 / 3)
    close(acceleration(limb, q, np.zeros(1), force), np.array([expected]))


@pytest.mark.parametrize("compliant", [False, True], ids=["rigid", "compliant"])
def test_a_limb_rests_where_the_muscles_balance_its_weight(compliant: bool) -> None:
    """The excitation that holds the forearm, by bisection; a rest at first stays one."""
    limb, low, high = limb_of(1, compliant=compliant), 0.02, 0.9
    q, qd = START[1], np.zeros(1)
    sign = np.sign(moment_arms(limb.links, limb.strings, q)[:, 0])
    length = lengths(limb.links, limb.strings, q)

    def push(level: float) -> float:
        activation = np.where(sign > 0, level, 0.02)
        fibre = hill.fibre_at_rest(limb.hill, activation, length) if compliant else 0 * length
        return float(acceleration(limb, q, qd, pull(limb, q, qd, activation, fibre)[0])[0])

    assert push(low) < 0 < push(high)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if push(middle) > 0 else (middle, high)
    level = np.where(sign > 0, low, 0.02)
    course = simulate(limb, q, qd, level, lambda _: level, np.linspace(0, 0.2, 3), tolerance=1e-12)
    close(course.q, np.broadcast_to(q, (3, 1)))
    close(course.work, np.zeros((3, 2)))


def test_a_muscle_shorter_than_its_tendon_stops_the_simulation() -> None:
    limb = limb_of(1, compliant=True)
    long = replace(limb, hill=replace(limb.hill, slack_length_m=np.full(2, 0.5)))
    arguments = START[1], np.zeros(1), np.full(2, 0.1), lambda _: np.ones(2), np.linspace(0, 0.1, 3)
    for compliant in (False, True):
        with pytest.raises(ValueError, match="shorter than the slack tendon"):
            simulate(replace(long, compliant=compliant), *arguments)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_muscle_that_becomes_shorter_than_its_rigid_tendon_stops_the_simulation() -> None:
    limb = limb_of(1, compliant=False)
    length = lengths(limb.links, limb.strings, START[1])
    tight = replace(limb, hill=replace(limb.hill, slack_length_m=length - 0.001))
    with pytest.raises(ArithmeticError, match="the integration stopped"):
        simulate(tight, START[1], np.array([5.0]), np.full(2, 0.1), lambda _: np.ones(2), np.linspace(0, 0.1, 3))
