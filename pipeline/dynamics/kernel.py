"""The equations of :mod:`.block_matrix`, solved for many frames by running sums: the loads that the pipeline stores.

Three choices make it fast. Time is the last dimension in memory: ``array.T`` of (time, ..., N, 3) is (3, N, ..., time).
Frames are solved in portions that fit the processor's cache. Zeros are not computed: the velocity term has no force,
the gravity term no moment of its own, and its force is the same in every frame.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .vectors import cross, transpose

TERMS = ("inertia", "velocity", "gravity", "ground")
INERTIA, VELOCITY, GRAVITY, GROUND = range(len(TERMS))
SEGMENTS_AT_A_TIME = 8192  # frames times segments (of all sides) in one portion


class Segments(NamedTuple):
    """A chain of N rigid segments, distal first: properties, motion and loads, SI units."""

    rotation: Array  # (time, ..., N, 3, 3), v_segment = rotation @ v_lab
    mass: Array  # (..., N), kg
    inertia: Array  # (..., N, 3, 3), about the centre of mass, segment axes, kg m2
    com_acceleration: Array  # (time, ..., N, 3), lab axes, m/s2
    angular_velocity: Array  # (time, ..., N, 3), segment axes, rad/s
    angular_acceleration: Array  # (time, ..., N, 3), segment axes, rad/s2
    to_proximal: Array  # (time, ..., N, 3), centre of mass to proximal joint, lab axes, m
    to_distal: Array  # (time, ..., N, 3), centre of mass to distal joint, lab axes, m; the first segment's is not used
    external_force: Array  # (time, ..., N, 3), of the surroundings on the segment, lab axes, N
    external_moment: Array  # (time, ..., N, 3), about the segment's centre of mass, free moment included, lab axes, N m
    gravity: Array  # (3,), acceleration of gravity, lab axes, m/s2


def inverse_dynamics(segments: Segments) -> tuple[Array, Array]:
    """Return the joint loads, all terms together.

    Returns:
        Joint forces (time, ..., N, 3) in lab axes, N, and joint moments (time, ..., N, 3) in segment axes about
        the joint centres, N m, on each segment at its proximal joint.
    """
    shape = segments.com_acceleration.shape
    force, moment = np.empty(shape[::-1]), np.empty(shape[::-1])
    for frames, part in _portions(segments):
        loads = np.multiply(part.mass, part.com_acceleration, out=force[..., frames])
        loads -= part.mass * part.gravity
        loads -= part.external_force
        _add_up(loads)
        levers = _levers(_arms(part), loads)
        levers += part.external_moment
        rate, gyroscopic = _euler(part)
        rate += gyroscopic
        moment[..., frames] = _moments(np.ascontiguousarray(part.rotation), levers, rate)
    return force.T, moment.T


def inverse_dynamics_by_term(segments: Segments) -> tuple[Array, Array]:
    """Return the joint loads by term, as :func:`.block_matrix.inverse_dynamics`.

    Returns:
        Joint forces (time, ..., 4, N, 3) and moments (time, ..., 4, N, 3); their sums over the terms are the loads.
        Where something is missing (NaN), a term that does not need it stays known.
    """
    shape = segments.com_acceleration.shape
    force, moment = np.zeros((len(TERMS), *shape[::-1])), np.empty((len(TERMS), *shape[::-1]))
    for frames, part in _portions(segments):
        ground = _add_up(np.negative(part.external_force, out=force[GROUND, ..., frames]))
        inertia = _add_up(np.multiply(part.mass, part.com_acceleration, out=force[INERTIA, ..., frames]))
        force[GRAVITY, ..., frames] = weight = _add_up(-part.mass * part.gravity)
        arms, to_lab = _arms(part), np.ascontiguousarray(part.rotation)
        levers = _levers(arms, ground)
        levers += part.external_moment
        moment[GROUND, ..., frames] = _moments(to_lab, levers)
        moment[GRAVITY, ..., frames] = _moments(to_lab, _levers(arms, weight))
        rate, gyroscopic = _euler(part)
        moment[INERTIA, ..., frames] = _moments(to_lab, _levers(arms, inertia), rate)
        moment[VELOCITY, ..., frames] = _moments(to_lab, np.zeros(rate.shape), gyroscopic)
    return np.moveaxis(force.T, -1, -3), np.moveaxis(moment.T, -1, -3)


def _portions(segments: Segments) -> Iterator[tuple[slice, Segments]]:
    """Yield portions of the frames with time last: (3, N, ..., time)."""
    shape = segments.com_acceleration.shape
    constant = {
        "mass": np.broadcast_to(segments.mass, shape[1:-1]).T[..., None],
        "inertia": transpose(np.broadcast_to(segments.inertia, (*shape[1:], 3))).T[..., None],
        "gravity": segments.gravity.reshape(-1, *[1] * (len(shape) - 1)),
    }
    count = max(1, SEGMENTS_AT_A_TIME * 3 // int(np.prod(shape[1:])))
    for start in range(0, shape[0], count):
        frames = slice(start, start + count)
        moving = {name: getattr(segments, name)[frames].T for name in segments._fields if name not in constant}
        yield frames, Segments(**moving, **constant)


def _euler(part: Segments) -> tuple[Array, Array]:
    """Return I w' and w x I w, segment axes, N m."""
    spin, rate = np.ascontiguousarray(part.angular_velocity), np.ascontiguousarray(part.angular_acceleration)
    return _apply(part.inertia, rate), cross(spin, _apply(part.inertia, spin), axis=0)


def _arms(part: Segments) -> tuple[Array, Array]:
    """Return contiguous arms, without the distal one of the first segment."""
    return np.ascontiguousarray(part.to_proximal), np.ascontiguousarray(part.to_distal[:, 1:])


def _levers(arms: tuple[Array, Array], force: Array) -> Array:
    """Return r_p x F_i - r_d x F_(i-1) of joint forces."""
    proximal, distal = arms
    moment = cross(proximal, force, axis=0)
    moment[:, 1:] -= cross(distal, force[:, :-1], axis=0)
    return moment


def _moments(to_lab: Array, levers: Array, rate: Array | None = None) -> Array:
    """Return M_i = rate_i - R_i (sum of levers up to i - sum of rates below i)."""
    if rate is not None:
        levers[:, 1:] -= _apply(to_lab[:, :, :-1], rate[:, :-1])
    _add_up(levers)
    turned = _apply(np.swapaxes(to_lab, 0, 1), levers)
    return np.negative(turned, out=turned) if rate is None else np.subtract(rate, turned, out=turned)


def _add_up(vector: Array) -> Array:
    """Replace (3, N, ...) by its running sum over the segments, by component."""
    for i in range(1, vector.shape[1]):
        for component in vector:
            component[i] += component[i - 1]
    return vector


def _apply(matrix: Array, vector: Array) -> Array:
    """Return matrix @ vector for (3, 3, ...) and (3, ...)."""
    product: Array = np.einsum("ij...,j...->i...", matrix, vector)
    return product
