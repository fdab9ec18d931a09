"""Hill-type muscle: curves and constants as published, their integrals and inverses, activation in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad, solve_ivp

from pipeline.extras.teaching import hill
from pipeline.extras.teaching.hill import Hill
from tests.support.walks.person import Array, close, derivative

MUSCLES = Hill(np.array([1000.0, 700]), np.array([0.1, 0.06]), np.array([0.2, 0.25]), np.array([0.0, 0.4]))
FIBRE = np.array([0.09, 0.07])


# ---- curves


def test_constants_are_those_of_the_paper() -> None:
    """Thelen prints .609 of the strain at F0 for the end of the toe, and 1.712 / strain for the slope beyond."""
    close(np.array([hill.TOE_STRAIN / hill.TENDON_STRAIN]), [0.609], 0.0005)  # as printed
    close(np.array([hill.TENDON_SLOPE * hill.TENDON_STRAIN]), [1.712], 0.0005)


def test_values_of_the_curves_by_symbols() -> None:
    """Equations 3 to 7 with exact fractions, solved by SymPy for the force at a velocity."""
    length, factor = sp.Rational(6, 5), sp.Symbol("f")
    passive = (sp.exp(5 * (length - 1) / sp.Rational(3, 5)) - 1) / (sp.exp(5) - 1)
    found = hill.passive_force(np.array([1.2, 1.6, 1, 0.7]))
    close(found, [float(passive), 1, 0, 0])
    close(hill.active_force(np.array([1.2, 1, 0.8])), [float(sp.exp(-sp.Rational(4, 45))), 1, np.exp(-0.04 / 0.45)])
    (slow,) = sp.solve(-sp.Rational(1, 2) * (1 + 4 * factor) - (factor - 1), factor)
    (fast,) = sp.solve(sp.Rational(1, 10) * 10 * (sp.Rational(7, 5) - factor) / sp.Rational(2, 5) - (factor - 1))
    close(hill.velocity_factor(np.array([-0.5, 0.1, 0, -1])), [float(slow), float(fast), 1, 0])
    toe = sp.Rational(33, 100) * (sp.exp(sp.Rational(3, 2)) - 1) / (sp.exp(3) - 1)
    close(hill.tendon_force(np.array([hill.TOE_STRAIN / 2, hill.TENDON_STRAIN, 0, -0.1])), [float(toe), 1, 0, 0])


def test_force_and_velocity_are_inverse_and_rise() -> None:
    velocity = np.linspace(-1, 3, 401)  # lengthening beyond .95 f_len included
    factor = hill.velocity_factor(velocity)
    close(hill.velocity_at(factor), velocity)
    assert (np.diff(factor) > 0).all()
    assert factor.max() > hill.LENGTHENING_FORCE
    close(hill.velocity_factor(np.array([-2.0])), [0])  # a muscle does not push
    close(hill.velocity_at(np.array([-0.4])), [-1.4])  # a tendon that lets go


def test_slope_doubles_from_shortening_to_lengthening() -> None:
    """Katz (1939); v = 0 is a corner."""
    step = 1e-6
    left, right = (abs(hill.velocity_factor(np.array(v)) - 1) / step for v in (-step, step))
    assert right / left == pytest.approx(2, rel=1e-4)  # curvature times the step


def test_tendon_is_smooth_at_the_end_of_its_toe() -> None:
    before, after = (derivative(hill.tendon_force, np.array([hill.TOE_STRAIN + s]), 1e-5)[0] for s in (-1e-4, 1e-4))
    assert before == pytest.approx(after, rel=0.02)  # the toe bends by 100 / strain on the way
    close(hill.tendon_force(np.array([hill.TOE_STRAIN])), [hill.TOE_FORCE])


# ---- activation


@pytest.mark.parametrize(("start", "goal"), [(0.05, 0.9), (0.9, 0.05)])
def test_activation_follows_its_closed_form(start: float, goal: float) -> None:
    """Rising: t = t_act ((.5 + 1.5 u) ln((u - a0) / (u - a)) - 1.5 (a - a0)); falling: a logistic curve."""
    time = np.linspace(0, 0.1, 11)
    muscle = replace(MUSCLES, activation_s=0.02, deactivation_s=0.06)
    found = solve_ivp(
        lambda _, a: hill.activation_rate(muscle, a, np.array([goal])), (0, 0.1), [start], t_eval=time,
        method="DOP853", rtol=1e-12, atol=1e-13,
    ).y[0]  # fmt: skip
    if goal > start:
        pace = (0.5 + 1.5 * goal) * np.log((goal - start) / (goal - found)) - 1.5 * (found - start)
        close(0.02 * pace, time)
    else:
        slowed = (found - goal) / (0.5 + 1.5 * found) / ((start - goal) / (0.5 + 1.5 * start))
        close(slowed, np.exp(-(0.5 + 1.5 * goal) * time / 0.06))


def test_excitation_is_held_within_its_range() -> None:
    for wild, held in ((-1.0, hill.LEAST_ACTIVATION), (2.0, 1.0)):
        arguments = MUSCLES, np.array([0.3, 0.6])
        close(hill.activation_rate(*arguments, np.array(wild)), hill.activation_rate(*arguments, np.array(held)))


# ---- tendons


def test_force_with_a_rigid_tendon_by_hand() -> None:
    """Second muscle: the thickness .06 sin .4 is constant, so that the fibres turn as the muscle shortens."""
    length, velocity, activation = np.array([0.29, 0.31]), np.array([-0.2, 0.1]), np.array([0.5, 0.8])
    fibre, rate = hill.fibre_with_rigid_tendon(MUSCLES, length, velocity)
    thickness = 0.06 * np.sin(0.4)
    close(fibre, [0.09, np.hypot(0.06, thickness)])
    cosine = 0.06 / fibre[1]
    close(rate, [-0.2, 0.1 * cosine])
    size, v = fibre[1] / 0.06, rate[1] / 0.06 / 10 / (0.25 + 0.75 * 0.8)
    active = 0.8 * np.exp(-((size - 1) ** 2) / 0.45) * (1 + 25 * 1.4 * v) / (1 + 25 * v)
    passive = (np.exp(5 * (size - 1) / 0.6) - 1) / (np.exp(5) - 1)
    found = hill.muscle_force(MUSCLES, activation, fibre, rate)
    assert found[1] == pytest.approx(700 * (active + passive) * cosine, abs=1e-9)
    v = -0.2 / 0.1 / 10 / (0.25 + 0.75 * 0.5)
    assert found[0] == pytest.approx(1000 * 0.5 * np.exp(-0.01 / 0.45) * (1 + v) / (1 - 4 * v), abs=1e-9)


def test_fibres_and_compliant_tendon_pull_alike_at_every_velocity() -> None:
    for stretch in np.linspace(0.015, 0.05, 8):
        length = (1 + stretch) * MUSCLES.slack_length_m + FIBRE * hill.pennation_cosine(MUSCLES, FIBRE)
        activation = np.array([0.7, 0.9])
        rate = hill.fibre_rate(MUSCLES, activation, FIBRE, length)
        shortest = hill.velocity_factor(rate / (0.25 + 0.75 * activation) / 10 / MUSCLES.optimal_length_m)
        assert (shortest > 0).all()  # slower than the fastest shortening, where force is not zero
        close(hill.muscle_force(MUSCLES, activation, FIBRE, rate), hill.elastic_force(MUSCLES, FIBRE, length))


def test_fibres_at_rest_hold_still_and_need_a_taut_tendon() -> None:
    length, activation = np.array([0.31, 0.31]), np.array([0.5, 0.02])
    fibre = hill.fibre_at_rest(MUSCLES, activation, length)
    assert (hill.elastic_force(MUSCLES, fibre, length) > 1).all()
    close(hill.fibre_rate(MUSCLES, activation, fibre, length), 0 * fibre)
    with pytest.raises(ValueError, match=r"shorter than the slack tendon by 0\.010 m"):
        hill.fibre_at_rest(MUSCLES, activation, np.array([0.31, 0.24]))


def test_elastic_energy_is_the_integral_of_force_over_length() -> None:
    for k in range(2):
        for fibre, length in ((0.11, 0.32), (0.075, 0.322)):
            both = np.full(2, fibre), np.full(2, length)
            found = [float(part[k]) for part in hill.elastic_energy(MUSCLES, *both)]
            size, optimal, slack = MUSCLES.max_force_n[k], MUSCLES.optimal_length_m[k], MUSCLES.slack_length_m[k]
            strain = (length - fibre * hill.pennation_cosine(MUSCLES, both[0])[k]) / slack - 1

            def area(curve: Callable[[Array], Array], ends: tuple[float, ...]) -> float:
                parts = (quad(lambda x: float(curve(np.array(x))), *pair, epsabs=1e-13)[0] for pair in pairwise(ends))
                return float(sum(parts))

            tendon = area(hill.tendon_force, (0, min(max(strain, 0), hill.TOE_STRAIN), max(strain, 0)))
            passive = area(hill.passive_force, (1, max(fibre / optimal, 1)))
            assert found == pytest.approx([size * optimal * passive, size * slack * tendon], abs=1e-9)


def test_work_of_the_fibres_is_that_along_the_tendon() -> None:
    """With pennation: F dl = F cos(alpha) d(l cos(alpha)), because the thickness is constant."""

    def along(fibre: Array) -> Array:
        return fibre * hill.pennation_cosine(MUSCLES, fibre)

    slope = derivative(lambda s: along(FIBRE + s[:, None]), np.zeros(1), 1e-4)[0]
    close(slope * hill.pennation_cosine(MUSCLES, FIBRE), np.ones(2))
