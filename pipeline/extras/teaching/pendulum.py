r"""Planar pendulums of any number of links.

The equations of motion use the **absolute** angles :math:`\theta_i` of the links from the downward vertical, positive
counterclockwise. With B_ij = l_j for j < i, d_i for j = i, 0 beyond (:class:`~.planar.Links`)::

    M(theta) theta'' + c(theta, theta') + k sin(theta) = Q          c_jk = sum_i m_i B_ij B_ik, plus I_j for j = k
    M_jk = c_jk cos(theta_j - theta_k)                              k_j  = g sum_i m_i B_ij
    c_j  = sum_k c_jk sin(theta_j - theta_k) theta_k'^2

Two point masses at the ends of massless links give the textbook's double pendulum::

    (m1 + m2) l1^2 theta1'' + m2 l1 l2 (cos(D) theta2'' + sin(D) theta2'^2) + (m1 + m2) g l1 sin theta1 = 0
    m2 l2^2 theta2''        + m2 l1 l2 (cos(D) theta1'' - sin(D) theta1'^2) + m2 g l2 sin theta2        = 0

with D = theta1 - theta2. Q is the generalised load of each absolute angle: joint torques tau, on the distal link of
each joint, give Q_j = tau_j - tau_(j+1).

Shapes: theta (..., n); Links (n,) each. SI units. Floats, or object arrays of symbols if ``sin`` and ``cos`` of this
module accept them.

Source: Goldstein H (1980) Classical Mechanics, chapters 1 (Lagrange) and 6 (small oscillations).
"""

import numpy as np
from numpy import cos, sin
from scipy.linalg import eigh

from ...arrays import Array
from .planar import Links


def mass_matrix(links: Links, theta: Array) -> Array:
    """Return M(theta) (..., n, n), kg m2."""
    return np.asarray(_coupling(links) * cos(_differences(theta)))


def velocity_load(links: Links, theta: Array, theta_rate: Array) -> Array:
    """Return c(theta, theta') (..., n), N m; it has squares only, no Coriolis term."""
    return np.asarray((_coupling(links) * sin(_differences(theta)) * theta_rate[..., None, :] ** 2).sum(axis=-1))


def gravity_load(links: Links, theta: Array, *, gravity_m_s2: float) -> Array:
    """Return k sin(theta) (..., n), N m, the slope of the potential energy."""
    return np.asarray(gravity_m_s2 * _first_moment(links) * sin(theta))


def forward_dynamics(
    links: Links, theta: Array, theta_rate: Array, *, gravity_m_s2: float, torque: Array | None = None
) -> Array:
    """Return theta'' (..., n), rad/s2. Joint torques (..., n), N m, base joint first; None for free links."""
    load = 0 * theta if torque is None else -np.diff(torque, axis=-1, append=0)
    rest = load - velocity_load(links, theta, theta_rate) - gravity_load(links, theta, gravity_m_s2=gravity_m_s2)
    return np.asarray(np.linalg.solve(mass_matrix(links, theta), rest[..., None])[..., 0])


def energy(links: Links, theta: Array, theta_rate: Array, *, gravity_m_s2: float) -> Array:
    """Return kinetic and potential energy (..., 2), J. The latter is zero if all links hang down."""
    momentum = (mass_matrix(links, theta) * theta_rate[..., None, :]).sum(axis=-1)
    height = _first_moment(links) * (1 - cos(theta))
    return np.stack([(theta_rate * momentum).sum(axis=-1) / 2, gravity_m_s2 * height.sum(axis=-1)], axis=-1)


def normal_modes(links: Links, *, gravity_m_s2: float) -> tuple[Array, Array]:
    """Return frequencies (n,) of small swings, rad/s, and their shapes (n, n).

    Frequencies ascend; each column is a shape. K v = omega^2 M v with M at theta = 0 and K = diag(k); each shape has 1
    as its first angle.
    """
    squares, shapes = eigh(np.diag(gravity_m_s2 * _first_moment(links)), _coupling(links))
    return np.sqrt(squares), shapes / shapes[0]


def _arms(links: Links) -> Array:
    """Return B_ij (n, n)."""
    n = links.length.shape[-1]
    return np.asarray(np.tri(n, k=-1, dtype=int) * links.length + np.eye(n, dtype=int) * links.to_com)


def _coupling(links: Links) -> Array:
    """Return c_jk (n, n)."""
    arms = _arms(links)
    return np.asarray(arms.T @ (links.mass[:, None] * arms) + np.eye(len(arms), dtype=int) * links.inertia)


def _first_moment(links: Links) -> Array:
    """Return k_j / g (n,)."""
    return np.asarray(links.mass @ _arms(links))


def _differences(theta: Array) -> Array:
    return np.asarray(theta[..., :, None] - theta[..., None, :])
