r"""Open chain of one-degree-of-freedom joints: kinematics and inverse dynamics by recursion.

Link i (1 to n) carries the frame {i}; {0} is the base, which may move, {n+1} the tip. Joint i turns or slides link i
along the screw axis :math:`A_i` in {i}: (w, -w x p) for a hinge of unit direction w through p, (0, v) for a slide of
unit direction v. An anatomical joint is three such joints with massless links between. With coordinates q_i, in rad
or m::

    T_(i-1,i) = M_(i-1,i) exp([A_i] q_i)                                        product of exponentials

    V_i  = Ad(T_(i,i-1)) V_(i-1)  + A_i q'_i                                    out, from the base to the tip
    V'_i = Ad(T_(i,i-1)) V'_(i-1) + ad(V_i) A_i q'_i + A_i q''_i
    F_i  = Ad(T_(i+1,i))^T F_(i+1) + G_i V'_i - ad(V_i)^T G_i V_i - E_i         back, from the tip to the base
    tau_i = F_i . A_i

F_i is the wrench of link i-1 on link i and E_i that of the surroundings, both in {i}. Gravity g enters as an
acceleration -g of the base. Twists, wrenches and transformations: :mod:`pipeline.dynamics.screws`.

Shapes: q (..., n), links on the axis before the components; everything broadcasts over ``...`` (time, side). SI units.

Source: Lynch KM, Park FC (2017) Modern Robotics, chapters 4 and 5 and section 8.3.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...dynamics.screws import adjoint, bracket, exponential, inverse
from ...dynamics.vectors import apply, transpose


@dataclass(frozen=True)
class Chain:
    """The constant properties of the links.

    screw (..., n, 6): A_i in {i}; home (..., n, 4, 4): M_(i-1,i), pose of {i} in {i-1} at q = 0; inertia
    (..., n, 6, 6): G_i in {i}, of :func:`~pipeline.dynamics.screws.spatial_inertia`; tip (..., 4, 4): pose of the tip
    frame in {n}.
    """

    screw: Array
    home: Array
    inertia: Array
    tip: Array


@dataclass(frozen=True)
class Surroundings:
    """Gravity, external wrenches and motion of the base; by default none.

    gravity (..., 3): acceleration of gravity in **base axes**, m/s2. tip_wrench (..., 6): of the chain **on** the
    surroundings, in the tip frame. link_wrench (..., n, 6): of the surroundings on each link, in its frame.
    base_twist, base_twist_rate (..., 6): (w, v) of the base frame relative to the lab and (w', a - w x v), the rate of
    its components, in base axes.
    """

    gravity: Array = field(default_factory=lambda: np.zeros(3))
    tip_wrench: Array = field(default_factory=lambda: np.zeros(6))
    link_wrench: Array = field(default_factory=lambda: np.zeros(6))
    base_twist: Array = field(default_factory=lambda: np.zeros(6))
    base_twist_rate: Array = field(default_factory=lambda: np.zeros(6))


NOTHING = Surroundings()


class LinkMotion(NamedTuple):
    """Ad(T_(i,i-1)) (..., n, 6, 6), and V_i and V'_i (..., n, 6) of each link."""

    adjoint: Array
    twist: Array
    twist_rate: Array


# ---- poses


def joint_poses(chain: Chain, q: Array) -> Array:
    """Return T_(i-1,i), the pose of each link in the previous one; (..., n, 4, 4)."""
    return np.asarray(chain.home @ exponential(chain.screw * q[..., None]))


def link_poses(chain: Chain, q: Array) -> Array:
    """Return T_(0,i), the pose of each link in the base; (..., n, 4, 4)."""
    steps = joint_poses(chain, q)
    poses = [steps[..., 0, :, :]]
    for i in range(1, steps.shape[-3]):
        poses.append(poses[-1] @ steps[..., i, :, :])
    return np.stack(poses, axis=-3)


def tip_pose(chain: Chain, q: Array) -> Array:
    """Return T_(0,n+1), the pose of the tip in the base; (..., 4, 4)."""
    return np.asarray(link_poses(chain, q)[..., -1, :, :] @ chain.tip)


# ---- motion and loads


def motion(chain: Chain, q: Array, qd: Array, qdd: Array, around: Surroundings = NOTHING) -> LinkMotion:
    """Return the outward recursion; V' includes -g, like an accelerometer."""
    step = adjoint(inverse(joint_poses(chain, q)))
    slide, push = chain.screw * qd[..., None], chain.screw * qdd[..., None]
    gravity = np.concatenate([np.zeros_like(around.gravity), around.gravity], axis=-1)
    twist, rate = around.base_twist, around.base_twist_rate - gravity
    twists, rates = [], []
    for i in range(chain.screw.shape[-2]):
        twist = apply(step[..., i, :, :], twist) + slide[..., i, :]
        rate = apply(step[..., i, :, :], rate) + apply(bracket(twist), slide[..., i, :]) + push[..., i, :]
        twists.append(twist)
        rates.append(rate)
    return LinkMotion(step, np.stack(twists, axis=-2), np.stack(rates, axis=-2))


def joint_wrenches(chain: Chain, q: Array, qd: Array, qdd: Array, around: Surroundings = NOTHING) -> Array:
    """Return F_i = (moment, force) (..., n, 6) of link i-1 on link i, in {i}."""
    step, twist, rate = motion(chain, q, qd, qdd, around)
    momentum = apply(chain.inertia, twist)
    needed = apply(chain.inertia, rate) - apply(transpose(bracket(twist)), momentum) - around.link_wrench
    wrench = apply(transpose(adjoint(inverse(chain.tip))), around.tip_wrench) + needed[..., -1, :]
    wrenches = [wrench]
    for i in range(chain.screw.shape[-2] - 1, 0, -1):
        wrench = apply(transpose(step[..., i, :, :]), wrench) + needed[..., i - 1, :]
        wrenches.append(wrench)
    return np.stack(wrenches[::-1], axis=-2)


def inverse_dynamics(chain: Chain, q: Array, qd: Array, qdd: Array, around: Surroundings = NOTHING) -> Array:
    """Return tau (..., n), the joint torques in N m (forces in N) of the motion."""
    return np.asarray((joint_wrenches(chain, q, qd, qdd, around) * chain.screw).sum(axis=-1))


# ---- Jacobians: twist = J q', and their rates, all relative to the base


def link_jacobians(chain: Chain, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return J_i with V_i = J_i q', in {i}, and its rate; (..., n, 6, n) each.

    J_i = Ad(T_(i,i-1)) J_(i-1) + A_i e_i and, as A_i is fixed in {i}, J'_i = Ad(T_(i,i-1)) J'_(i-1) - ad(A_i) J_i q'_i.
    """
    n = chain.screw.shape[-2]
    step, spin = adjoint(inverse(joint_poses(chain, q))), bracket(chain.screw * qd[..., None])
    jacobian = rate = np.zeros((*spin.shape[:-3], 6, n))
    jacobians, rates = [], []
    for i in range(n):
        hinge = chain.screw[..., i, :, None] * np.eye(n)[i]
        jacobian = step[..., i, :, :] @ jacobian + hinge
        rate = step[..., i, :, :] @ rate - spin[..., i, :, :] @ jacobian
        jacobians.append(jacobian)
        rates.append(rate)
    return np.stack(jacobians, axis=-3), np.stack(rates, axis=-3)


def body_jacobian(chain: Chain, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return J_b of the tip's twist in the tip frame, and its rate; (..., 6, n) each."""
    to_tip = adjoint(inverse(chain.tip))
    jacobian, rate = link_jacobians(chain, q, qd)
    return to_tip @ jacobian[..., -1, :, :], to_tip @ rate[..., -1, :, :]


def com_jacobian(chain: Chain, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return J_c of the velocity of the centre of mass, and its rate.

    Both are (..., 3, n), in base axes. The momentum of a link is the lower half of G_i V_i; their sum in base axes is
    the mass times that velocity.
    """
    jacobian, rate = link_jacobians(chain, q, qd)
    turn = link_poses(chain, q)[..., :3, :3]
    momentum, change = (chain.inertia @ part for part in (jacobian, rate))
    spin = bracket(apply(jacobian, qd[..., None, :]))[..., :3, :3]
    mass = chain.inertia[..., 5, 5].sum(axis=-1)[..., None, None]
    per_link = turn @ momentum[..., 3:, :], turn @ (change[..., 3:, :] + spin @ momentum[..., 3:, :])
    return per_link[0].sum(axis=-3) / mass, per_link[1].sum(axis=-3) / mass
