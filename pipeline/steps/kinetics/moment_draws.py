"""Joint moments and powers by the block matrix for many draws of errors (error_draws.py).

A draw is one more leading axis. Arrays lie with time last, as the kernel works; in the axes of the segments as
measured, in which an error of pose is a constant turn of tensor and joint axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.legs import Legs
from ...conventions import CHAIN, JOINTS, PROXIMAL, SEGMENTS, SIDES
from ...dynamics.kernel import Segments, inverse_dynamics
from ...dynamics.vectors import Array, cross, rotate, skew, transpose
from .error_draws import Errors

SAMPLES_AT_A_TIME = 20000  # frames times draws, sides and segments in one portion, which then stays in cache


class Measured(NamedTuple):
    """Some frames of a trial as measured; (side, segment or joint, ..., time).

    What turns errors into lab axes has their axis first: ``to_lab`` of foot, shank and thigh, ``carried`` of the
    segments that carry the joint centres, ``swung`` from a shift of a centre of mass to its acceleration;
    ``across`` turns from proximal to distal axes.
    """

    to_lab: Array
    carried: Array
    swung: Array
    across: Array
    com: Array
    com_acceleration: Array
    centre: Array
    spin: Array
    spin_rate: Array
    joint_spin: Array
    ground_force: Array
    ground_moment: Array
    known: Array


def carriers(calibrate: xr.Dataset) -> NDArray[np.intp]:
    """Return the number in ``SEGMENTS`` of the segment in whose axes a joint centre is (side, joint)."""
    names = calibrate.joint_carrier.sel(side=list(SIDES), joint=list(JOINTS)).values
    return np.array(
        [[SEGMENTS.index(name or PROXIMAL[joint]) for name, joint in zip(row, JOINTS, strict=True)] for row in names]
    )


def measured_frames(legs: Legs, frames: slice, carrier: NDArray[np.intp]) -> Measured:
    """Return some frames of a trial; ``carrier`` as :func:`carriers` tells it."""
    rotation = legs.rotation[frames]
    distal, proximal = rotation[:, :, :-1], rotation[:, :, 1:]
    spin, rate = (rotate(distal, values[frames, :, :-1]) for values in (legs.spin, legs.spin_rate))
    swing = skew(rate) + skew(spin) @ skew(spin)
    sides = np.arange(len(SIDES))[:, None]
    return Measured(
        to_lab=_time_last(distal),
        carried=_time_last(rotation[:, sides, carrier]),
        swung=_time_last(transpose(swing) @ distal),
        across=_time_last(proximal @ transpose(distal)),
        com=_time_last(legs.com[frames]),
        com_acceleration=_time_last(legs.com_acceleration[frames]),
        centre=_time_last(legs.centre[frames]),
        spin=_time_last(spin),
        spin_rate=_time_last(rate),
        joint_spin=_time_last(rotate(distal, legs.spin[frames, :, :-1] - legs.spin[frames, :, 1:])),
        ground_force=_time_last(legs.ground_force[frames]),
        ground_moment=_time_last(legs.ground_moment[frames]),
        known=np.where(legs.locked[frames], np.nan, 1.0),
    )


def _time_last(values: Array) -> Array:
    return np.ascontiguousarray(np.moveaxis(values, 0, -1))


def moments(measured: Measured, legs: Legs, errors: Errors) -> Array:
    """Return moments along the joint axes (draw, time, side, joint, 3), N m."""
    moment = np.empty((len(errors.mass), *measured.known.shape, 3))
    for part, some in _portions(measured, errors):
        moment[part] = _along_axes(measured, legs.signs, some, _joint_moment(measured, legs, some))
    return moment


def moments_and_powers(measured: Measured, legs: Legs, errors: Errors) -> tuple[Array, Array]:
    """Return what :func:`moments` does, and powers (draw, time, side, joint), W."""
    power = np.empty((len(errors.mass), *measured.known.shape))
    moment = np.empty((*power.shape, 3))
    for part, some in _portions(measured, errors):
        distal = _joint_moment(measured, legs, some)
        moment[part] = _along_axes(measured, legs.signs, some, distal)
        spin = measured.joint_spin[:, :, None] + _constant(some.turn_rate[:, :, :-1])
        spin = spin - _turned(some.turn_rate[:, :, 1:], measured.across)
        power[part] = np.moveaxis((distal * spin).sum(axis=-2), (2, 3), (0, 1))
    return moment, power


def _portions(measured: Measured, errors: Errors) -> Iterator[tuple[slice, Errors]]:
    draws = max(1, SAMPLES_AT_A_TIME // measured.known.size)
    for start in range(0, len(errors.mass), draws):
        part = slice(start, start + draws)
        yield part, errors.part(part)


def _joint_moment(measured: Measured, legs: Legs, errors: Errors) -> Array:
    """Return joint moments (side, joint, draw, 3, time) by the block matrix, distal segment axes as measured, N m."""
    com = measured.com[:, :, None] + _turned(errors.carried + errors.com, measured.to_lab)
    centre = measured.centre[:, :, None] + _turned(errors.centre, measured.carried)
    acceleration = measured.com_acceleration[:, :, None] + _turned(errors.carried_acceleration, measured.to_lab)
    acceleration = acceleration + _turned(errors.com, measured.swung)
    to_proximal = centre - com
    to_distal = np.concatenate([np.zeros_like(to_proximal[:, :1]), centre[:, :-1] - com[:, 1:]], axis=1)
    arm = com[:, 0] - np.swapaxes(errors.pressure, 0, 1)[..., None]
    moment = measured.ground_moment[:, None] - cross(arm, measured.ground_force[:, None], axis=-2)
    full = (len(SIDES), len(CHAIN), len(errors.mass), 3, measured.com.shape[-1])
    turned = _rotation(errors.turn[:, :, :-1])
    inertia = transpose(turned) @ legs.inertia @ turned * (1 + errors.inertia)[..., None, None]
    spin = measured.spin[:, :, None] + _constant(errors.turn_rate[:, :, :-1])
    spin_rate = measured.spin_rate[:, :, None] + _constant(errors.turn_acceleration[:, :, :-1])
    segments = Segments(
        rotation=np.moveaxis(measured.to_lab, -1, 0)[:, None],
        mass=legs.mass * (1 + errors.mass),
        inertia=inertia,
        com_acceleration=_time_first(np.broadcast_to(acceleration, full)),
        angular_velocity=_time_first(spin),
        angular_acceleration=_time_first(spin_rate),
        to_proximal=_time_first(to_proximal),
        to_distal=_time_first(to_distal),
        external_force=_time_first(_on_foot(measured.ground_force[:, None])),
        external_moment=_time_first(_on_foot(moment)),
        gravity=legs.gravity,
    )
    found = inverse_dynamics(segments)[1]
    return np.ascontiguousarray(found.transpose(2, 3, 1, 4, 0))


def _on_foot(load: Array) -> Array:
    """Return a load (side, draw, 3, time) of the foot as (side, segment, draw, 3, time)."""
    loads = np.zeros((len(load), len(CHAIN), *load.shape[1:]))
    loads[:, 0] = load
    return loads


def _along_axes(measured: Measured, signs: Array, errors: Errors, moment: Array) -> Array:
    """Return the components (draw, time, side, joint, 3) along the joint coordinate axes, in clinical signs."""
    # columns: the axes in error, in the axes as measured
    frame = np.swapaxes(_rotation(_shortened(errors.turn)), -1, -2)
    e1 = _turned(frame[:, :, 1:, :, 2], measured.across)
    e3 = _constant(frame[:, :, :-1, :, 1])
    e2 = cross(e3, e1, axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        floating = (e2 * moment).sum(axis=-2) / np.sqrt((e2**2).sum(axis=-2))
    along = np.stack([(e1 * moment).sum(axis=-2), floating, (e3 * moment).sum(axis=-2)], axis=2)
    along *= signs[:, :, :, None, None]
    return np.moveaxis(along, (3, 4), (0, 1)) * measured.known[..., None]


def _turned(errors: Array, weights: Array) -> Array:
    """Return errors (draw, side, n, 3) of a segment in other axes, (side, n, draw, 3, time)."""
    sides, count, _, _, frames = weights.shape
    product = np.moveaxis(_shortened(errors), 0, 2) @ weights.reshape(sides, count, 3, 3 * frames)
    return np.asarray(product.reshape(sides, count, -1, 3, frames))


def _time_first(vectors: Array) -> Array:
    """Return (side, n, draw, 3, time) as (time, draw, side, n, 3)."""
    return vectors.transpose(4, 2, 0, 1, 3)


def _constant(errors: Array) -> Array:
    """Return errors (draw, side, n, 3) as (side, n, draw, 3, 1)."""
    return np.moveaxis(_shortened(errors), 0, 2)[..., None]


def _shortened(errors: Array) -> Array:
    """Return one draw of errors that are all the same: what follows from them need not be computed for each."""
    return errors if np.any(errors != errors[:1]) else errors[:1]


def _rotation(turn: Array) -> Array:
    """Return exp(-S(turn)): from the axes as measured to those in error, (..., 3) -> (..., 3, 3)."""
    half, matrix = np.linalg.norm(turn, axis=-1)[..., None, None] / 2 / np.pi, skew(turn)
    return np.asarray(np.eye(3) - np.sinc(2 * half) * matrix + np.sinc(half) ** 2 / 2 * matrix @ matrix)
