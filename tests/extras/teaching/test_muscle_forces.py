"""Static optimisation by hand and by the conditions of its optimum; which joints a muscle accelerates."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given

from pipeline.errors import UserError
from pipeline.extras.teaching import pendulum, planar
from pipeline.extras.teaching.muscle_forces import induced_accelerations, joint_mass_matrix, share
from pipeline.extras.teaching.planar import Links
from tests.support.walks.person import PROPERTY, SEED, Array, close

FREE = np.full(3, np.inf)
# shoulder flexor, elbow flexor, and one over both joints
ARMS, AREA = np.array([[0.04, 0], [0, 0.03], [0.025, 0.035]]), np.array([6e-4, 5e-4, 3e-4])


def random_links(rng: np.random.Generator, n: int) -> Links:
    return planar.rods(rng.uniform(0.5, 5, n), rng.uniform(0.2, 0.5, n))


# ---- static optimisation


def test_muscles_over_one_joint_share_by_arm_and_squared_area() -> None:
    """F_k = tau r_k A_k^2 / sum (r A)^2 of those that turn the joint that way; the others are silent."""
    arms, area = np.array([0.05, 0.03, -0.04]), np.array([2e-3, 1e-3, 3e-3])
    expected = 40 * arms * area**2 / ((arms * area)[:2] ** 2).sum()
    close(share(arms[:, None], np.array([40.0]), area, FREE), [*expected[:2], 0])
    back = share(arms[:, None], np.array([-40.0]), area, FREE)
    close(back, [0, 0, 1000])


def test_two_joints_and_three_muscles_by_symbols() -> None:
    """Lagrange's conditions, solved by SymPy for any arms, areas and torques."""
    forces, areas, arms = sp.symbols("F1:4"), sp.symbols("A1:4", positive=True), sp.symbols("a b c d")
    lam, torque = sp.symbols("lam1:3"), sp.symbols("tau1:3")
    lever = ((arms[0], 0), (0, arms[1]), (arms[2], arms[3]))
    missed = [torque[j] - sum(row[j] * f for row, f in zip(lever, forces, strict=True)) for j in range(2)]
    cost = sum((f / area) ** 2 for f, area in zip(forces, areas, strict=True)) / 2
    lagrangian = cost + sum(part * factor for part, factor in zip(missed, lam, strict=True))
    solved = sp.solve([lagrangian.diff(x) for x in (*forces, *lam)], (*forces, *lam), dict=True)[0]
    sizes = dict(zip(arms, (0.04, 0.03, 0.025, 0.035), strict=True)) | dict(zip(areas, AREA.tolist(), strict=True))
    for wanted in ((12.0, 9.0), (15.0, 14.0)):
        expected = [float(solved[f].subs(sizes | dict(zip(torque, wanted, strict=True)))) for f in forces]
        assert min(expected) > 0
        close(share(ARMS, np.array(wanted), AREA, FREE), expected)


def test_a_muscle_at_its_limit_leaves_the_rest_to_the_others() -> None:
    """Two unknowns and two equations once the two-joint muscle is full."""
    torque = np.array([12.0, 9])
    assert share(ARMS, torque, AREA, FREE)[2] > 100
    limited = share(ARMS, torque, AREA, np.array([np.inf, np.inf, 100]))
    close(limited, [(12 - 2.5) / 0.04, (9 - 3.5) / 0.03, 100])


def test_torques_that_need_a_push_silence_a_muscle() -> None:
    """Only the elbow: the two-joint muscle would load the shoulder, which no other muscle can take back."""
    close(share(ARMS, np.array([0, 9.0]), AREA, FREE), [0, 300, 0])
    close(share(ARMS, np.zeros(2), AREA, FREE), [0, 0, 0])


def test_a_joint_without_muscles_may_have_no_torque_only() -> None:
    arms = np.array([[0.04, 0], [0.03, 0]])
    close(arms.T @ share(arms, np.array([5.0, 0]), AREA[:2], FREE[:2]), [5, 0])
    with pytest.raises(UserError, match="no muscle forces"):
        share(arms, np.array([5.0, 0.1]), AREA[:2], FREE[:2])


@given(SEED)
@PROPERTY
def test_conditions_of_the_optimum_hold(seed: int) -> None:
    """Sums of squares: the gradient F / A^2 is R lam for muscles in between, above at zero, below at the limit."""
    rng = np.random.default_rng(seed)
    count = rng.integers(2, 8)
    arms, area = 0.04 * rng.normal(size=(count, 2)), rng.uniform(2e-4, 3e-3, count)
    most = 3e5 * area
    torque = arms.T @ (rng.uniform(0, 1, count) * most)  # so that there is a solution
    force = share(arms, torque, area, most)
    close(arms.T @ force, torque)
    stress = force / most
    assert stress.min() > -1e-12
    assert stress.max() < 1 + 1e-12
    between = (stress > 1e-9) & (stress < 1 - 1e-9)
    if between.sum() >= 2:
        lever = arms * area[:, None]
        surplus = stress - lever @ np.linalg.lstsq(lever[between], stress[between], rcond=None)[0]
        close(surplus[between], 0)
        assert (surplus[stress <= 1e-9] > -1e-9).all()
        assert (surplus[stress >= 1 - 1e-9] < 1e-9).all()


@pytest.mark.parametrize("torque", [-3.0, 30.0], ids=["wrong way", "too weak"])
def test_torques_beyond_the_muscles_are_refused(torque: float) -> None:
    arms, area = np.array([[0.04], [0.03]]), np.full(2, 1e-3)
    with pytest.raises(UserError, match=rf"static optimisation: no muscle forces .* {torque:.3g} N m; give stronger"):
        share(arms, np.array([torque]), area, np.full(2, 350.0))
    close(arms.T @ share(arms, np.array([24.5]), area, np.full(2, 350.0)), [24.5])  # all that they have


# ---- induced accelerations


@given(SEED)
@PROPERTY
def test_mass_matrix_of_joints_is_that_of_two_links_and_of_any_number_by_energy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for n in (1, 2):
        links, q = random_links(rng, n), rng.normal(size=(5, n))
        close(joint_mass_matrix(links, q), planar.mass_matrix(links, q))
    links, (q, qd) = random_links(rng, 4), rng.normal(size=(2, 4))
    theta, rate = np.cumsum(q), np.cumsum(qd)
    kinetic = pendulum.energy(links, theta, rate, gravity_m_s2=0)[0]
    assert qd @ joint_mass_matrix(links, q) @ qd / 2 == pytest.approx(kinetic)


def test_sum_over_the_muscles_is_the_acceleration_of_the_motion() -> None:
    rng = np.random.default_rng(3)
    links, q, force = random_links(rng, 2), rng.normal(size=(6, 2)), rng.uniform(0, 300, (6, 3))
    found = induced_accelerations(planar.mass_matrix(links, q), np.broadcast_to(ARMS, (6, 3, 2)), force)
    close(found.sum(axis=1), planar.forward_dynamics(links, q, 0 * q, force @ ARMS))


def by_cramer(mass: Array, arms: Array, force: float) -> Array:
    first, second = mass[1, 1] * arms[0] - mass[0, 1] * arms[1], mass[0, 0] * arms[1] - mass[0, 1] * arms[0]
    return np.asarray(np.array([first, second]) * force / np.linalg.det(mass))


@pytest.mark.parametrize("elbow", [0.2, 1.5, 2.8])
def test_a_muscle_accelerates_the_joint_that_it_does_not_cross(elbow: float) -> None:
    """By Cramer's rule; against the torque where the elbow is less than a right angle bent and M12 > 0."""
    links = planar.rods(np.array([2.0, 1.5]), np.array([0.3, 0.35]))
    mass = planar.mass_matrix(links, np.array([0.4, elbow]))
    found = induced_accelerations(mass, ARMS, np.array([100.0, 80, 60]))
    for k, force in enumerate((100, 80, 60)):
        close(found[k], by_cramer(mass, ARMS[k], force))
    assert np.sign(found[1, 0]) == -np.sign(mass[0, 1])  # the elbow's flexor, at the shoulder


def test_two_joint_muscle_can_turn_a_joint_against_its_own_torque() -> None:
    """Beyond r2 / r1 = M22 / M12 (Zajac and Gordon 1989); at that ratio it does not accelerate the joint."""
    links = planar.rods(np.array([2.0, 1.5]), np.array([0.3, 0.35]))
    mass = planar.mass_matrix(links, np.array([0.4, 0.3]))
    ratio = mass[1, 1] / mass[0, 1]
    for change, sign in ((0.9, 1), (1, 0), (1.1, -1)):
        arms = np.array([[0.03, 0.03 * ratio * change]])
        first = induced_accelerations(mass, arms, np.array([100.0]))[0, 0]
        assert np.sign(np.round(first, 9)) == sign
