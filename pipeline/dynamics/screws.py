r"""Twists, wrenches and their transformations between frames.

A twist describes the motion and a wrench the load of a rigid body, both expressed in a frame {b}::

    twist   V = (w, v)    w angular velocity, rad/s;  v velocity of the body's point at the origin of {b}, m/s
    wrench  F = (m, f)    m moment about the origin of {b}, N m;  f force, N

so that F . V is power, in W, in any common frame. A pose :math:`T_{ab}`, (..., 4, 4), transforms coordinates in {b}
into coordinates in {a}; its rotation is the transpose of a segment's ``rotation`` elsewhere in this package (a the lab,
b the segment). With the bracket [w] x = w x x::

    T_ab = [R p]     Ad(T_ab) = [  R   0]     ad(V) = [[w]   0]
           [0 1]                [[p]R  R]             [[v]  [w]]

    V_a = Ad(T_ab) V_b         F_b = Ad(T_ab)^T F_a         d/dt Ad(T_ab) = Ad(T_ab) ad(V_b), V_b of {b} in {a}

All functions broadcast over leading dimensions ``...`` (time, side).

Source: Lynch KM, Park FC (2017) Modern Robotics, Cambridge University Press, chapters 3 and 8.
"""

import numpy as np

from ..arrays import Array
from .vectors import apply, skew, transpose

SMALL_RAD = 1e-4  # below, fractions 0/0 of small angles equal their limit to rounding


def pose(rotation: Array, position: Array) -> Array:
    """Return T = [R p; 0 1] (..., 4, 4). R (..., 3, 3) with v_a = R v_b, p (..., 3) the origin of {b} in {a}, m."""
    result = np.zeros((*np.broadcast_shapes(rotation.shape[:-2], position.shape[:-1]), 4, 4))
    result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = rotation, position, 1
    return result


def inverse(transform: Array) -> Array:
    """Return T_ba of T_ab: [R^T, -R^T p; 0, 1]; (..., 4, 4)."""
    back = transpose(transform[..., :3, :3])
    return pose(back, -apply(back, transform[..., :3, 3]))


def adjoint(transform: Array) -> Array:
    """Return Ad(T) (..., 6, 6), for twists from {b} to {a}. Lynch and Park, section 3.3.2."""
    rotation, position = transform[..., :3, :3], transform[..., :3, 3]
    result = np.zeros((*transform.shape[:-2], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = rotation
    result[..., 3:, :3] = skew(position) @ rotation
    return result


def bracket(twist: Array) -> Array:
    """Return ad(V) (..., 6, 6), the matrix of the Lie bracket. Lynch and Park, section 8.2.2."""
    result = np.zeros((*twist.shape, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = skew(twist[..., :3])
    result[..., 3:, :3] = skew(twist[..., 3:])
    return result


def gyroscopic(twist: Array, inertia: Array) -> Array:
    """Return the skew-symmetric B (..., 6, 6) of a link with B V = -ad(V)^T G V.

    B = (G ad(V) - ad(V)^T G - [[k] [p]; [p] 0]) / 2 with the momentum (k, p) = G V; (..., 6, 6).
    Source: Echeandia S, Wensing PM (2021) J Comput Nonlinear Dyn 16:091004, here in any one frame.
    """
    momentum = skew(apply(inertia, twist).reshape(*twist.shape[:-1], 2, 3))
    forward = inertia @ bracket(twist)
    result = forward - transpose(forward)
    result[..., :3, :3] -= momentum[..., 0, :, :]
    result[..., :3, 3:] -= momentum[..., 1, :, :]
    result[..., 3:, :3] -= momentum[..., 1, :, :]
    return np.asarray(result / 2)


def exponential(twist: Array) -> Array:
    r"""Return the pose after one second of a constant twist: exp([S] q) for ``S * q``.

    With the rotation vector w, its length t in rad, and the displacement v in m, (..., 6) -> (..., 4, 4)::

        R = E + sin t / t [w] + (1 - cos t) / t^2 [w]^2
        p = (E + (1 - cos t) / t^2 [w] + (t - sin t) / t^3 [w]^2) v

    Source: Lynch and Park, sections 3.2.3 and 3.3.3.
    """
    turn, angle = skew(twist[..., :3]), np.linalg.norm(twist[..., :3], axis=-1)[..., None, None]
    first = np.sinc(angle / np.pi)
    second = np.sinc(angle / (2 * np.pi)) ** 2 / 2
    small = angle < SMALL_RAD
    safe = np.where(small, 1.0, angle)
    third = np.where(small, 1 / 6, (safe - np.sin(safe)) / safe**3)
    square, eye = turn @ turn, np.eye(3)
    return pose(eye + first * turn + second * square, apply(eye + second * turn + third * square, twist[..., 3:]))


def spatial_inertia(mass: Array, com: Array, inertia: Array) -> Array:
    """Return G in {b}: momentum G V, kinetic energy V . G V / 2.

    Args:
        mass: (...), kg.
        com: (..., 3), centre of mass in {b}, m.
        inertia: (..., 3, 3), tensor about the centre of mass, axes of {b}, kg m2.

    Returns:
        (..., 6, 6): [[I + m [c][c]^T, m [c]], [m [c]^T, m E]].

    Source: Lynch and Park, section 8.2.2, there with {b} at the centre of mass.
    """
    arm, m = skew(com), np.asarray(mass)[..., None, None]
    heavy = m * arm
    result = np.zeros((*heavy.shape[:-2], 6, 6))
    result[..., :3, :3] = inertia - heavy @ arm
    result[..., :3, 3:], result[..., 3:, :3] = heavy, -heavy
    result[..., 3:, 3:] = m * np.eye(3)
    return result
