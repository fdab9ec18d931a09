r"""Equations of motion of an open chain in closed form, and the terms of its joint torques.

The recursion of :mod:`.open_chain` is linear, so that it can be written for all links at once: with A (6n x n) and G
block diagonal, W with Ad(T_(i,i-1)) below the diagonal, and stacked vectors of base and surroundings::

    V   = L (A q' + V_base)                                    L = (1 - W)^-1
    V'  = L (A q'' + V'_base - ad(A q') V)
    F   = L^T (G V' - ad(V)^T G V + E)
    tau = A^T F  =  M(q) q'' + c(q, q') + g(q) + J^T F_tip     M = A^T L^T G L A

:func:`torque_terms` splits a torque in this way; :func:`mass_matrix` and :func:`coriolis_matrix` use link Jacobians,
:math:`J = L A`, without building the large matrices.

Shapes and units as in :mod:`.open_chain`.

Source: Lynch KM, Park FC (2017) Modern Robotics, sections 8.4 to 8.6.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...dynamics.screws import adjoint, bracket, gyroscopic, inverse
from ...dynamics.vectors import apply, transpose
from .open_chain import NOTHING, Chain, Surroundings, com_jacobian, inverse_dynamics, joint_poses, link_jacobians

Acceleration = Callable[[float, Array, Array], Array]

TERMS = ("inertia", "velocity", "gravity", "base", "load")


class Stacked(NamedTuple):
    """A (..., 6n, n) and G, W, L (..., 6n, 6n) of all links at once."""

    A: Array
    G: Array
    W: Array
    L: Array


def stack_chain(chain: Chain, q: Array) -> Stacked:
    """Return the matrices of the closed form; Lynch and Park, section 8.4."""
    n = chain.screw.shape[-2]
    step = adjoint(inverse(joint_poses(chain, q)))
    W = np.zeros((*step.shape[:-3], n, 6, n, 6))
    for i in range(1, n):
        W[..., i, :, i - 1, :] = step[..., i, :, :]
    W = W.reshape(*step.shape[:-3], 6 * n, 6 * n)
    L = np.asarray(np.linalg.inv(np.eye(6 * n) - W))
    return Stacked(_diagonal(chain.screw[..., None]), _diagonal(chain.inertia), W, L)


def torque_terms(chain: Chain, q: Array, qd: Array, qdd: Array, around: Surroundings = NOTHING) -> Array:
    """Return the joint torques by :data:`TERMS`, (..., 5, n).

    They sum to :func:`.open_chain.inverse_dynamics`. inertia is M q''; velocity depends on velocities, the base's
    included; base is due to the acceleration of the base; load to the wrenches at the tip and on the links.
    """
    n = chain.screw.shape[-2]
    A, G, _, L = stack_chain(chain, q)
    from_base = adjoint(inverse(joint_poses(chain, q)[..., 0, :, :]))
    first, last = (np.eye(n)[i][:, None] for i in (0, -1))

    def base(twist: Array) -> Array:
        return _flat(first * apply(from_base, twist)[..., None, :])

    moving = apply(A, qd)
    V = apply(L, moving + base(around.base_twist))
    ad_moving, ad_V = (_diagonal(bracket(x.reshape(*x.shape[:-1], n, 6))) for x in (moving, V))
    downward = np.concatenate([np.zeros_like(around.gravity), around.gravity], axis=-1)
    tip = apply(transpose(adjoint(inverse(chain.tip))), around.tip_wrench)
    wrenches = (
        apply(G @ L, apply(A, qdd)),
        -apply(G @ L @ ad_moving, V) - apply(transpose(ad_V) @ G, V),
        -apply(G @ L, base(downward)),
        apply(G @ L, base(around.base_twist_rate)),
        _flat(last * tip[..., None, :] - around.link_wrench),
    )
    back = transpose(L @ A)
    return np.stack(np.broadcast_arrays(*(apply(back, wrench) for wrench in wrenches)), axis=-2)


def mass_matrix(chain: Chain, q: Array) -> Array:
    """Return M(q) (..., n, n), the sum of J_i^T G_i J_i.

    It is symmetric, and positive definite if every motion moves mass. Column j times q''_j is the torque of every joint
    due to the acceleration of joint j (interaction torques).
    """
    jacobian, _ = link_jacobians(chain, q, np.zeros_like(q))
    return np.asarray((transpose(jacobian) @ chain.inertia @ jacobian).sum(axis=-3))


def coriolis_matrix(chain: Chain, q: Array, qd: Array) -> Array:
    """Return C(q, q') (..., n, n) of the Christoffel symbols.

    C q' = c, and M' - 2 C is skew-symmetric (passivity). C = sum of J_i^T (G_i J'_i + B_i J_i) with B of
    :func:`~pipeline.dynamics.screws.gyroscopic`.

    Source: Echeandia S, Wensing PM (2021) J Comput Nonlinear Dyn 16:091004, here in link frames.
    """
    jacobian, rate = link_jacobians(chain, q, qd)
    turning = gyroscopic(apply(jacobian, qd[..., None, :]), chain.inertia)
    return np.asarray((transpose(jacobian) @ (chain.inertia @ rate + turning @ jacobian)).sum(axis=-3))


def gravity_torque(chain: Chain, q: Array, gravity: Array) -> Array:
    """Return g(q) = -m J_c^T g (..., n); gravity (..., 3) in base axes. It is the gradient of the potential energy."""
    jacobian, _ = com_jacobian(chain, q, np.zeros_like(q))
    mass = chain.inertia[..., 5, 5].sum(axis=-1)
    return np.asarray(-mass[..., None] * apply(transpose(jacobian), gravity))


def forward_dynamics(chain: Chain, q: Array, qd: Array, tau: Array, around: Surroundings = NOTHING) -> Array:
    """Return q'' (..., n), M^-1 (tau - torque of the same motion at q'' = 0)."""
    rest = tau - inverse_dynamics(chain, q, qd, np.zeros_like(q), around)
    return np.asarray(np.linalg.solve(mass_matrix(chain, q), rest[..., None])[..., 0])


def simulate(
    acceleration: Acceleration, q: Array, qd: Array, time: Array, *, tolerance: float = 1e-10
) -> tuple[Array, Array]:
    """Return q and q' (time, n) by an eighth-order Runge-Kutta rule.

    The rule controls its step.

    Args:
        acceleration: q'' (n,) of t, q and q', such as :func:`forward_dynamics` with a torque of your choice.
        q, qd: (n,), at the first instant.
        time: (time,), ascending.
        tolerance: of one step, relative and absolute (rad, m, rad/s, m/s).

    Source: Hairer E, Norsett SP, Wanner G (1993) Solving Ordinary Differential Equations I, DOP853.
    """
    from scipy.integrate import solve_ivp

    n = len(q)

    def rate(t: float, state: Array) -> Array:
        return np.concatenate([state[n:], acceleration(t, state[:n], state[n:])])

    start = np.concatenate([q, qd])
    solution = solve_ivp(rate, (time[0], time[-1]), start, method="DOP853", t_eval=time, rtol=tolerance, atol=tolerance)
    if not solution.success:
        raise ArithmeticError(f"the integration stopped: {solution.message}")
    return solution.y[:n].T, solution.y[n:].T


def explicit_euler(acceleration: Acceleration, q: Array, qd: Array, time: Array) -> tuple[Array, Array]:
    """Return :func:`simulate` by the simplest rule: q += q' dt, q' += q'' dt.

    Half the step gives half the error; a pendulum gains energy. Lynch and Park, section 8.5.
    """
    states = [(q, qd)]
    for start, step in zip(time[:-1], np.diff(time), strict=True):
        q, qd = states[-1]
        states.append((q + qd * step, qd + acceleration(float(start), q, qd) * step))
    places, rates = zip(*states, strict=True)
    return np.stack(places), np.stack(rates)


def _diagonal(blocks: Array) -> Array:
    """Return the block diagonal matrix (..., n a, n b) of blocks (..., n, a, b)."""
    *lead, n, rows, columns = blocks.shape
    result = np.zeros((*lead, n, rows, n, columns))
    for i in range(n):
        result[..., i, :, i, :] = blocks[..., i, :, :]
    return result.reshape(*lead, n * rows, n * columns)


def _flat(vectors: Array) -> Array:
    """Return (..., n, 6) as (..., 6n)."""
    return np.asarray(vectors.reshape(*vectors.shape[:-2], -1))
