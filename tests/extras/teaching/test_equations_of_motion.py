"""Equations of motion: the terms and their identities; test_planar.py compares them with Lagrange's by symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pipeline.dynamics.limb import task_space
from pipeline.dynamics.screws import adjoint, inverse
from pipeline.dynamics.vectors import apply, transpose
from pipeline.extras.teaching.equations_of_motion import (
    TERMS,
    coriolis_matrix,
    forward_dynamics,
    gravity_torque,
    mass_matrix,
    torque_terms,
)
from pipeline.extras.teaching.open_chain import (
    NOTHING,
    Chain,
    body_jacobian,
    inverse_dynamics,
    link_jacobians,
    motion,
)
from tests.extras.teaching.chains import LENGTHS, State, random_state
from tests.support.dynamics.limbs import close
from tests.support.walks.person import Array, derivative


@pytest.fixture(params=LENGTHS)
def state(request: pytest.FixtureRequest) -> State:
    return random_state(1, request.param)


def test_each_term_equals_its_formula(state: State) -> None:
    chain, around, q, qd, qdd = state[:5]
    at_rest = replace(around, base_twist=np.zeros(6), base_twist_rate=np.zeros(6))
    jacobian, _ = link_jacobians(chain, q, qd)
    on_links = apply(transpose(jacobian), around.link_wrench).sum(axis=1)
    expected = {
        "inertia": apply(mass_matrix(chain, q), qdd),
        "velocity": apply(coriolis_matrix(chain, q, qd), qd),
        "gravity": gravity_torque(chain, q, around.gravity),
        "base": 0 * q,
        "load": apply(transpose(body_jacobian(chain, q, qd)[0]), around.tip_wrench) - on_links,
    }
    assert tuple(expected) == TERMS
    close(torque_terms(chain, q, qd, qdd, at_rest), np.stack(list(expected.values()), axis=1))
    moving = replace(NOTHING, base_twist_rate=around.base_twist_rate)
    close(torque_terms(chain, q, qd, qdd, moving)[:, 3], inverse_dynamics(chain, q, 0 * q, 0 * q, moving))


# ---- identities


def slope(function: Callable[[Array], Array], q: Array, direction: Array) -> Array:
    """Return the rate of function(q) along a direction (..., n), by differences of the eighth order.

    Steps of 1 ms: truncation (w h)^8 / 630 with w up to 70 rad/s, rounding 1e-16 / 1e-3; both below 1e-12.
    """
    return np.asarray(10 * derivative(lambda s: function(q + direction * s[:, None, None] / 10), np.zeros(1))[0])


def test_coriolis_matrix_is_that_of_the_christoffel_symbols(state: State) -> None:
    """c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, with the mass matrix differenced by each coordinate."""
    chain, _, q, qd = state[:4]
    by_each = np.stack([slope(lambda x: mass_matrix(chain, x), q, e) for e in np.eye(q.shape[1])], axis=-1)
    symbols = (by_each + np.swapaxes(by_each, -1, -2) - np.moveaxis(by_each, -1, -3)) / 2
    close(coriolis_matrix(chain, q, qd), apply(symbols, qd[:, None]))


def test_forward_dynamics_is_the_inverse_of_inverse_dynamics(state: State) -> None:
    chain, around, q, qd, qdd = state[:5]
    torque = inverse_dynamics(chain, q, qd, qdd, around)
    close(forward_dynamics(chain, q, qd, torque, around), qdd)
    close(inverse_dynamics(chain, q, qd, forward_dynamics(chain, q, qd, state.mass, around), around), state.mass)


def test_task_space_and_joint_space_accelerate_the_tip_alike(state: State) -> None:
    """Compared with the recursion, which needs no Jacobian; one row of the tip's twist less than joints."""
    chain, _, q, qd, qdd = state[:5]
    around = replace(state.around, base_twist=np.zeros(6), base_twist_rate=np.zeros(6))
    torque, bias = (inverse_dynamics(chain, q, qd, x, around) for x in (qdd, 0 * qdd))
    rows = slice(-min(3, q.shape[1] - 1), None)
    jacobian, rate = (part[:, rows] for part in body_jacobian(chain, q, qd))
    mass = mass_matrix(chain, q)
    inertia, eta = task_space(mass, bias, jacobian, rate, qd)
    load = apply(inertia @ jacobian @ np.linalg.inv(mass), torque)
    tip_rate = apply(adjoint(inverse(chain.tip)), motion(chain, q, qd, qdd).twist_rate[:, -1])
    # inverses of matrices with condition numbers up to some 1e5
    close(load, apply(inertia, tip_rate[:, rows]) + eta, 1e-8)


def test_square_task_takes_the_inverse_transpose_of_the_jacobian() -> None:
    """Lambda = J^-T M J^-1 for six joints, Lynch and Park, section 8.6."""
    chain, _, q, qd, qdd = random_state(1, 6)[:5]
    jacobian, rate = body_jacobian(chain, q, qd)
    mass, regular = mass_matrix(chain, q), np.linalg.cond(jacobian) < 100  # four slides are never independent
    assert regular.sum() >= 5
    jacobian, rate, mass, qd, qdd = (part[regular] for part in (jacobian, rate, mass, qd, qdd))
    inertia, _ = task_space(mass, qdd, jacobian, rate, qd)
    back = np.asarray(np.linalg.inv(jacobian))
    close(inertia, transpose(back) @ mass @ back)


def test_time_and_side_together_equal_one_at_a_time() -> None:
    """Sides are different chains, time is the first dimension; a gap affects its own instant only."""
    state = random_state(3, 4, 2)
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 5, 2, 4))
    q[2, 1, 0] = np.nan
    together = torque_terms(state.chain, q, qd, qdd, state.around)
    assert together.shape == (5, 2, len(TERMS), 4)
    assert np.isnan(forward_dynamics(state.chain, q, qd, qdd, state.around)[2, 1]).all()
    for side in range(2):
        chain = Chain(*(x[side] for x in vars(state.chain).values()))
        sided = {name: x[side] for name, x in vars(state.around).items() if name != "gravity"}
        around = replace(state.around, **sided)
        for time in range(5):
            alone = torque_terms(chain, q[time, side], qd[time, side], qdd[time, side], around)
            np.testing.assert_allclose(together[time, side], alone, rtol=1e-12, atol=1e-10, equal_nan=True)
            assert np.isnan(alone).any() == ((time, side) == (2, 1))
