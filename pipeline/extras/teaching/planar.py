r"""Limb of one or two links in a plane: joint torques in the classical closed form.

The first link is hinged to a base at rest in the origin, the second to the end of the first. Link i has the length
l_i, its centre of mass d_i away from its proximal joint, the mass m_i and the moment of inertia I_i about the centre of
mass. q_1 is the angle of the first link from x, q_2 that of the second **from the first**; all angles, angular
velocities and torques are positive counterclockwise (from x to y). Gravity is a vector in the plane: with y up it is
(0, -9.8), in a horizontal plane (0, 0). The torque on the distal link of each joint (of muscles, of a motor) is the sum
of four terms::

    tau = M(q) q'' + C(q, q') + G(q) + E(q)

                first joint                                                  second joint
    M           I1 + m1 d1^2 + I2 + m2 (l1^2 + d2^2 + 2 l1 d2 cos q2)        I2 + m2 d2^2          on the diagonal
                I2 + m2 (d2^2 + l1 d2 cos q2)                                                      off it
    C           -m2 l1 d2 sin q2 (2 q1' + q2') q2'                           m2 l1 d2 sin q2 q1'^2
    G           -(m1 d1 + m2 l1) n1 . g - m2 d2 n2 . g                       -m2 d2 n2 . g
    E = -J^T F  -(l1 n1 + l2 n2) . F                                         -l2 n2 . F

with n_i = (-sin, cos) of the absolute angles q1 and q1 + q2, across the links, and F the force **of the surroundings on
the tip**: a hand pushed up needs less torque upwards. (:mod:`.equations_of_motion` uses the opposite, the force of the
chain on its surroundings.) For a single link, the first column without l1, m2, d2, I2 and l2:
tau = (I + m d^2) q'' - m d n . g - l n . F.

Shapes: q (..., n) with n = 1 or 2, vectors (..., 2); all broadcast over ``...`` (time). SI units. Floats, or object
arrays of symbols if ``sin`` and ``cos`` of this module accept them.

Source: Hollerbach JM, Flash T (1982) Dynamic interactions between limb segments during planar arm movement. Biol Cybern
44:67-77.
"""

from dataclasses import dataclass

import numpy as np
from numpy import cos, sin

from ...arrays import Array
from ...dynamics.vectors import sum_from_last, transpose

TERMS = ("inertia", "velocity", "gravity", "load")
NONE = np.zeros(2)


@dataclass(frozen=True)
class Links:
    """Links from the base outwards, (..., n) each.

    length and proximal joint to centre of mass, m; mass, kg; moment of inertia about the centre of mass, kg m2.
    """

    length: Array
    to_com: Array
    mass: Array
    inertia: Array


def point_masses(mass: Array, length: Array) -> Links:
    """Return massless links with a point mass at the end of each."""
    return Links(length, length, mass, 0 * mass)


def rods(mass: Array, length: Array) -> Links:
    """Return slender uniform rods: d = l / 2, I = m l^2 / 12."""
    return Links(length, length / 2, mass, mass * length**2 / 12)


# ---- kinematics


def absolute(q: Array) -> Array:
    """Return angles from x, given angles from the previous link; rates likewise."""
    return np.asarray(np.cumsum(q, axis=-1))


def along(angle: Array) -> Array:
    """Return the unit vector (cos, sin) at an angle from x; (...) -> (..., 2)."""
    return np.stack([cos(angle), sin(angle)], axis=-1)


def across(vector: Array) -> Array:
    """Return a vector rotated by 90 degrees counterclockwise, z x v; (..., 2)."""
    return np.stack([-vector[..., 1], vector[..., 0]], axis=-1)


def joints(links: Links, q: Array) -> Array:
    """Return the positions of the joints and of the tip, (..., n+1, 2), m."""
    steps = links.length[..., None] * along(absolute(q))
    return np.concatenate([0 * steps[..., :1, :], np.cumsum(steps, axis=-2)], axis=-2)


def tip(links: Links, q: Array) -> Array:
    """Return the position of the tip, (..., 2), m."""
    return joints(links, q)[..., -1, :]


def jacobian(links: Links, q: Array) -> Array:
    """Return J (..., 2, n) with tip velocity = J q': column j is z x (tip - joint j)."""
    places = joints(links, q)
    return transpose(across(places[..., -1:, :] - places[..., :-1, :]))


def jacobian_rate(links: Links, q: Array, qd: Array) -> Array:
    """Return J' (..., 2, n), so that tip acceleration = J q'' + J' q'."""
    inwards = -(links.length * absolute(qd))[..., None] * along(absolute(q))
    return transpose(sum_from_last(inwards, axis=-2))


# ---- dynamics


def mass_matrix(links: Links, q: Array) -> Array:
    """Return M(q), (..., n, n), kg m2; ValueError if there are neither one nor two links."""
    about_joint = links.inertia + links.mass * links.to_com**2
    if _count(links) == 1:
        return np.asarray(about_joint[..., None] + 0 * q[..., None])
    bend = _swing(links) * cos(q[..., 1])
    second = about_joint[..., 1] + 0 * bend
    first = about_joint[..., 0] + links.mass[..., 1] * links.length[..., 0] ** 2 + second + 2 * bend
    return np.stack([np.stack([first, second + bend], axis=-1), np.stack([second + bend, second], axis=-1)], axis=-1)


def velocity_torque(links: Links, q: Array, qd: Array) -> Array:
    """Return C(q, q') (..., n), N m: centripetal and Coriolis torque."""
    if _count(links) == 1:
        return np.asarray(0 * q * qd)
    swing, first, second = _swing(links) * sin(q[..., 1]), qd[..., 0], qd[..., 1]
    return np.stack([-swing * (2 * first + second) * second, swing * first**2], axis=-1)


def gravity_torque(links: Links, q: Array, gravity: Array) -> Array:
    """Return G(q), (..., n), N m; gravity (..., 2) is its acceleration, m/s2."""
    carried = sum_from_last(links.mass, axis=-1) - links.mass  # by the end of each link
    first_moment = links.mass * links.to_com + carried * links.length
    weight = first_moment[..., None] * gravity[..., None, :]
    return sum_from_last(-(across(along(absolute(q))) * weight).sum(axis=-1), axis=-1)


def load_torque(links: Links, q: Array, tip_force: Array) -> Array:
    """Return E(q) = -J^T F (..., n), N m; F (..., 2) on the tip, N."""
    return np.asarray(-(jacobian(links, q) * tip_force[..., None]).sum(axis=-2))


def torque_terms(
    links: Links, q: Array, qd: Array, qdd: Array, gravity: Array = NONE, tip_force: Array = NONE
) -> Array:
    """Return the joint torques by :data:`TERMS`, (..., 4, n), N m.

    Their sum is the torque of the motion.

    Args:
        q, qd, qdd: (..., n), angles from the previous link and their rates, rad, rad/s, rad/s2.
        gravity: (..., 2), acceleration of gravity, m/s2; zero in a horizontal plane.
        tip_force: (..., 2), of the surroundings on the tip, N.
    """
    terms = (
        (mass_matrix(links, q) * qdd[..., None, :]).sum(axis=-1),
        velocity_torque(links, q, qd),
        gravity_torque(links, q, gravity),
        load_torque(links, q, tip_force),
    )
    return np.stack(np.broadcast_arrays(*terms), axis=-2)


def inverse_dynamics(
    links: Links, q: Array, qd: Array, qdd: Array, gravity: Array = NONE, tip_force: Array = NONE
) -> Array:
    """Return the torques (..., n) of a motion, N m, the sum of :func:`torque_terms`."""
    return np.asarray(torque_terms(links, q, qd, qdd, gravity, tip_force).sum(axis=-2))


def forward_dynamics(
    links: Links, q: Array, qd: Array, tau: Array, gravity: Array = NONE, tip_force: Array = NONE
) -> Array:
    """Return q'' (..., n) of joint torques tau (..., n): M^-1 (tau - C - G - E)."""
    rest = tau - inverse_dynamics(links, q, qd, 0 * q, gravity, tip_force)
    return np.asarray(np.linalg.solve(mass_matrix(links, q), rest[..., None])[..., 0])


def energy(links: Links, q: Array, qd: Array, gravity: Array) -> Array:
    """Return kinetic and potential energy (..., 2), J; potential is zero with every centre of mass at base height."""
    com = joints(links, q)[..., :-1, :] + links.to_com[..., None] * along(absolute(q))
    kinetic = (qd * (mass_matrix(links, q) * qd[..., None, :]).sum(axis=-1)).sum(axis=-1) / 2
    potential = -(links.mass[..., None] * com * gravity[..., None, :]).sum(axis=(-1, -2))
    return np.stack([kinetic, potential], axis=-1)


def _count(links: Links) -> int:
    count = int(links.length.shape[-1])
    if count not in {1, 2}:
        raise ValueError(f"the closed form is for one or two links, not for {count}")
    return count


def _swing(links: Links) -> Array:
    """Return m2 l1 d2, which couples the rotations of two links."""
    return np.asarray(links.mass[..., 1] * links.length[..., 0] * links.to_com[..., 1])
