"""The system of :mod:`.block_matrix` solved for many frames: the same loads, several times faster.

Three habits make it fast. Arrays are turned so that time is last, ``array.T`` of (time, ..., N, 3) being
(3, N, ..., time): every operation then runs along memory instead of over triples. It is done for portions of
frames that stay in the processor's cache. And what is known to be zero is not computed: the velocity term has
no force, the gravity term no moment of its own, and its force is the same in every frame.

Cross products need no rearranging if a vector repeats its first two components, [x, y, z, x, y] ("ring").

Shapes, axes and units as in :mod:`.block_matrix`; time is the first axis, mass and inertia do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .block_matrix import TERMS

Array = NDArray[np.float64]

INERTIA, VELOCITY, GRAVITY, GROUND = range(len(TERMS))
SEGMENTS_AT_A_TIME = 8192  # frames times segments (of all sides) in one portion


def inverse_dynamics(
    rotation: Array,
    mass: Array,
    inertia: Array,
    com_acceleration: Array,
    angular_velocity: Array,
    angular_acceleration: Array,
    to_proximal: Array,
    to_distal: Array,
    external_force: Array,
    external_moment: Array,
    gravity: Array,
) -> tuple[Array, Array]:
    """Return the joint loads, all terms together.

    Args:
        rotation: (time, ..., N, 3, 3), v_segment = rotation @ v_lab.
        mass: (..., N), kg.
        inertia: (..., N, 3, 3), about the centre of mass, segment axes, kg m2.
        com_acceleration: (time, ..., N, 3), lab axes, m/s2.
        angular_velocity: (time, ..., N, 3), segment axes, rad/s.
        angular_acceleration: (time, ..., N, 3), segment axes, rad/s2.
        to_proximal: (time, ..., N, 3), centre of mass to proximal joint, lab axes, m.
        to_distal: (time, ..., N, 3), centre of mass to distal joint, lab axes, m; that of the first is not used.
        external_force: (time, ..., N, 3), of the surroundings on the segment, lab axes, N.
        external_moment: (time, ..., N, 3), about the segment's centre of mass, free moment included, lab axes, N m.
        gravity: (3,), acceleration of gravity, lab axes, m/s2.

    Returns:
        Joint forces (time, ..., N, 3) in lab axes, N, and joint moments (time, ..., N, 3) in segment axes about
        the joint centres, N m, on each segment at its proximal joint.
    """
    shape = com_acceleration.shape
    force, moment = np.empty(shape[::-1]), np.empty(shape[::-1])
    masses, tensor = _masses(mass, shape), _tensor(inertia, shape)
    weight = masses * _upright(gravity, shape)
    for part in _portions(shape):
        loads = np.multiply(masses, com_acceleration[part].T, out=force[..., part])
        loads -= weight
        loads -= external_force[part].T
        _add_up(loads)
        levers = _levers(_arms(to_proximal[part], to_distal[part]), _ring(loads))
        levers += external_moment[part].T
        rate, gyroscopic = _euler(tensor, angular_velocity[part].T, angular_acceleration[part].T)
        rate += gyroscopic
        moment[..., part] = _moments(np.ascontiguousarray(rotation[part].T), levers, rate)
    return force.T, moment.T


def inverse_dynamics_by_term(
    rotation: Array,
    mass: Array,
    inertia: Array,
    com_acceleration: Array,
    angular_velocity: Array,
    angular_acceleration: Array,
    to_proximal: Array,
    to_distal: Array,
    external_force: Array,
    external_moment: Array,
    gravity: Array,
) -> tuple[Array, Array]:
    """Return the joint loads by term, as :func:`.block_matrix.inverse_dynamics`; arguments as :func:`inverse_dynamics`.

    Returns:
        Joint forces (time, ..., 4, N, 3) and moments (time, ..., 4, N, 3); their sums over the terms are the loads.
        Where something is missing (NaN), a term that does not need it stays known.
    """
    shape = com_acceleration.shape
    force, moment = np.zeros((len(TERMS), *shape[::-1])), np.empty((len(TERMS), *shape[::-1]))
    masses, tensor = _masses(mass, shape), _tensor(inertia, shape)
    weight = -masses * _upright(gravity, shape)
    _add_up(weight)
    force[GRAVITY] = weight
    for part in _portions(shape):
        _add_up(np.multiply(masses, com_acceleration[part].T, out=force[INERTIA, ..., part]))
        _add_up(np.negative(external_force[part].T, out=force[GROUND, ..., part]))
        arms = _arms(to_proximal[part], to_distal[part])
        to_lab = np.ascontiguousarray(rotation[part].T)
        levers = _levers(arms, _ring(force[GROUND, ..., part]))
        levers += external_moment[part].T
        moment[GROUND, ..., part] = _moments(to_lab, levers)
        moment[GRAVITY, ..., part] = _moments(to_lab, _levers(arms, _ring(weight)))
        rate, gyroscopic = _euler(tensor, angular_velocity[part].T, angular_acceleration[part].T)
        moment[INERTIA, ..., part] = _moments(to_lab, _levers(arms, _ring(force[INERTIA, ..., part])), rate)
        moment[VELOCITY, ..., part] = _moments(to_lab, np.zeros(rate.shape), gyroscopic)
    return np.moveaxis(force.T, -1, -3), np.moveaxis(moment.T, -1, -3)


def _portions(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield portions of the time axis."""
    frames = max(1, SEGMENTS_AT_A_TIME * 3 // int(np.prod(shape[1:])))
    for start in range(0, shape[0], frames):
        yield slice(start, start + frames)


def _masses(mass: Array, shape: tuple[int, ...]) -> Array:
    """Return mass as (N, ..., 1)."""
    return np.broadcast_to(mass, shape[1:-1]).T[..., None]


def _upright(gravity: Array, shape: tuple[int, ...]) -> Array:
    """Return a vector as (3, 1, ..., 1)."""
    return gravity.reshape(-1, *[1] * (len(shape) - 1))


def _tensor(inertia: Array, shape: tuple[int, ...]) -> Array:
    """Return the tensors as (3, 3, N, ..., 1)."""
    return np.swapaxes(np.broadcast_to(inertia, (*shape[1:], 3)), -1, -2).T[..., None]


def _arms(to_proximal: Array, to_distal: Array) -> tuple[Array, Array]:
    """Return the arms as rings, (5, N, ..., time) and, without that of the first, (5, N - 1, ..., time)."""
    return _ring(to_proximal.T), _ring(to_distal[..., 1:, :].T)


def _euler(tensor: Array, omega: Array, alpha: Array) -> tuple[Array, Array]:
    """Return I w' and w x I w, segment axes, N m."""
    spin = _ring(omega)
    return _apply(tensor, np.ascontiguousarray(alpha)), _cross(spin, _ring(_apply(tensor, spin[:3])))


def _levers(arms: tuple[Array, Array], force: Array) -> Array:
    """Return r_p x F_i - r_d x F_(i-1) of rings of joint forces."""
    proximal, distal = arms
    moment = _cross(proximal, force)
    moment[:, 1:] -= _cross(distal, force[:, :-1])
    return moment


def _moments(to_lab: Array, levers: Array, rate: Array | None = None) -> Array:
    """Return M_i = rate_i - R_i (levers_1 + ... + levers_i - what the rates of the segments below hand on)."""
    if rate is not None:
        levers[:, 1:] -= _apply(to_lab[:, :, :-1], rate[:, :-1])
    _add_up(levers)
    turned = _apply(np.swapaxes(to_lab, 0, 1), levers)
    return np.negative(turned, out=turned) if rate is None else np.subtract(rate, turned, out=turned)


def _add_up(vector: Array) -> None:
    """Make (3, N, ...) its running sum over the segments, in place; by component, as rows of three are slow."""
    for i in range(1, vector.shape[1]):
        for component in vector:
            component[i] += component[i - 1]


def _ring(vector: Array) -> Array:
    """Return [x, y, z] as [x, y, z, x, y]."""
    ring = np.empty((5, *vector.shape[1:]))
    ring[:3] = vector
    ring[3:] = ring[:2]
    return ring


def _cross(a: Array, b: Array) -> Array:
    """Return a x b of two rings."""
    product = a[1:4] * b[2:5]
    product -= a[2:5] * b[1:4]
    return product


def _apply(matrix: Array, vector: Array) -> Array:
    """Return matrix @ vector for (3, 3, ...) and (3, ...)."""
    product: Array = np.einsum("ij...,j...->i...", matrix, vector)
    return product
