"""Uncertainty of joint moments and powers: the equations of motion solved for many draws of the errors.

A draw is one more leading dimension of the dynamics. Arrays have time last, in axes of the segments as measured: there
an error of pose is a constant rotation of tensor and joint axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...body.legs import Legs
from ...conventions import CHAIN, JOINTS, PROXIMAL, SEGMENTS, SIDES
from ...dynamics.kernel import Segments, inverse_dynamics
from ...dynamics.vectors import cross, rotate, skew, transpose
from ...trials.session import AnyTrial
from .error_draws import Errors, draw_errors, together

SOURCES = ("marker_noise", "joint_centres", "centre_of_pressure", "segment_parameters")
MOVING = ("moment", "power", "share")  # fields of Spread along time
DRAWN_ALONE = ("marker_noise", "segment_parameters")
FRAMES_AT_A_TIME = 512
SAMPLES_AT_A_TIME = 20000  # frames times draws, sides and segments in one portion, which fits the processor's cache


@dataclass(frozen=True)
class Spread:
    """Spread of the loads over the draws."""

    moment: Array  # (time, side, joint, angle, percentile), percentiles of ``joint_moment_jcs``, N m
    power: Array  # (time, side, joint, percentile), of ``joint_power``, W
    share: Array  # (time, side, joint, angle, source), share of each source in the variance of the moment
    percentile: Array  # (percentile,), percent

    @classmethod
    def of_trials(cls, spreads: Iterable[Spread]) -> Spread:
        """Return that of trials one after the other."""
        every = [*spreads]
        moment, power, share = (np.concatenate([getattr(each, name) for each in every]) for name in MOVING)
        return cls(moment, power, share, every[0].percentile)


class Measured(NamedTuple):
    """Some frames of a trial as measured; (side, segment or joint, ..., time).

    Matrices that transform errors have the axis of the errors first. From segment to lab axes: ``to_lab`` of foot,
    shank and thigh, ``carried`` of the segments that carry the joint centres; ``swung`` from the shift of a centre of
    mass to its acceleration; ``across`` from proximal to distal axes.
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
    unlocked: Array


def uncertainty(
    legs: Legs,
    joint_force: Array,
    kinematics: AnyTrial,
    calibrate: xr.Dataset,
    *,
    draws: int,
    band_percent: float,
    sizes: Mapping[str, float],
) -> Spread:
    """Return percentile bands of moments and powers, and the share of each source.

    Args:
        joint_force: (time, side, joint, 3), of the proximal segment on the distal one, lab axes, N.
        kinematics, calibrate: rate, filter and source of the trial; effect of the markers on the skeleton.
        band_percent: share of the draws inside the band.
        sizes: standard deviations, see :func:`pipeline.steps.kinetics.error_draws.draw_errors`.
    """
    errors = draw_errors(draws, sizes, calibrate, kinematics)
    whole = together(errors)
    outside = (100 - band_percent) / 2
    percentile = np.array([outside, 100 - outside])
    carrier = carriers(calibrate)
    parts = []
    for start in range(0, len(legs.com), FRAMES_AT_A_TIME):
        measured = measure_frames(legs, slice(start, start + FRAMES_AT_A_TIME), carrier)
        moment, power = moments_and_powers(measured, legs, whole)
        alone = [moments(measured, legs, errors[source]).var(axis=0) for source in DRAWN_ALONE]
        parts.append((_percentiles(moment, percentile), _percentiles(power, percentile), *alone))
    moment, power, *alone = (np.concatenate(part) for part in zip(*parts, strict=True))
    variance = dict(zip(DRAWN_ALONE, alone, strict=True)) | _variance_of_places(legs, joint_force, sizes)
    stacked = np.stack([variance[source] for source in SOURCES], axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Spread(moment, power, stacked / stacked.sum(axis=-1, keepdims=True), percentile)


def _variance_of_places(legs: Legs, joint_force: Array, sizes: Mapping[str, float]) -> dict[str, Array]:
    """Return the variance of moments by errors of places alone, (N m)2.

    Variances are (time, side, joint, 3). An error d of a joint centre changes its moment by -d x F, an error of the
    centre of pressure the moments of all joints by -d x F of the ground. This is linear: the variance of e . (d x F) =
    d . (F x e) needs no draws.
    """
    centre_m = np.array([sizes[f"{joint}_centre_mm"] / 1000 for joint in JOINTS])[:, None]
    by_centre = ((cross(joint_force[:, :, :, None], legs.axes) * centre_m[..., None]) ** 2).sum(axis=-1)
    by_pressure = cross(legs.ground_force[:, :, None, None], legs.axes) * sizes["centre_of_pressure_mm"] / 1000
    unlocked = np.where(legs.locked, np.nan, 1.0)[..., None]
    return {
        "joint_centres": by_centre * unlocked,
        "centre_of_pressure": (by_pressure[..., ::2] ** 2).sum(axis=-1) * unlocked,
    }


def _percentiles(values: Array, percentile: Array) -> Array:
    """Return percentiles (..., percentile) of draws (draw, ...).

    The next draw falls below the k-th of n with probability k / (n + 1), whatever the distribution: so the band holds
    its share also for few draws (Hyndman RJ, Fan Y (1996) Am Stat 50:361-365, definition 6).
    """
    ordered = np.sort(np.moveaxis(values, 0, -1), axis=-1)  # several times faster than numpy.percentile
    place = np.clip(percentile / 100 * (len(values) + 1) - 1, 0, len(values) - 1)
    low, high = np.floor(place).astype(int), np.ceil(place).astype(int)
    return np.asarray(ordered[..., low] + (place - low) * (ordered[..., high] - ordered[..., low]))


def carriers(calibrate: xr.Dataset) -> NDArray[np.intp]:
    """Return the index in SEGMENTS of the carrier of each joint centre (side, joint)."""
    names = calibrate.joint_carrier.sel(side=list(SIDES), joint=list(JOINTS)).values
    return np.array(
        [[SEGMENTS.index(name or PROXIMAL[joint]) for name, joint in zip(row, JOINTS, strict=True)] for row in names]
    )


def measure_frames(legs: Legs, frames: slice, carrier: NDArray[np.intp]) -> Measured:
    """Return some frames of a trial; ``carrier`` is that of :func:`carriers`."""
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
        unlocked=np.where(legs.locked[frames], np.nan, 1.0),
    )


def _time_last(values: Array) -> Array:
    """Return (time, ...) as contiguous (..., time)."""
    return np.ascontiguousarray(np.moveaxis(values, 0, -1))


def moments(measured: Measured, legs: Legs, errors: Errors) -> Array:
    """Return moments along the joint axes (draw, time, side, joint, 3), N m."""
    moment = np.empty((len(errors.mass), *measured.unlocked.shape, 3))
    for part, some in _portions(measured, errors):
        moment[part] = _along_axes(measured, legs.signs, some, _joint_moment(measured, legs, some))
    return moment


def moments_and_powers(measured: Measured, legs: Legs, errors: Errors) -> tuple[Array, Array]:
    """Return the moments of :func:`moments`, and powers (draw, time, side, joint), W."""
    power = np.empty((len(errors.mass), *measured.unlocked.shape))
    moment = np.empty((*power.shape, 3))
    for part, some in _portions(measured, errors):
        distal = _joint_moment(measured, legs, some)
        moment[part] = _along_axes(measured, legs.signs, some, distal)
        spin = measured.joint_spin[:, :, None] + _constant(some.turn_rate[:, :, :-1])
        spin = spin - _turn(some.turn_rate[:, :, 1:], measured.across)
        power[part] = np.moveaxis((distal * spin).sum(axis=-2), (2, 3), (0, 1))
    return moment, power


def _portions(measured: Measured, errors: Errors) -> Iterator[tuple[slice, Errors]]:
    """Yield portions of the draws."""
    draws = max(1, SAMPLES_AT_A_TIME // measured.unlocked.size)
    for start in range(0, len(errors.mass), draws):
        part = slice(start, start + draws)
        yield part, errors.part(part)


def _joint_moment(measured: Measured, legs: Legs, errors: Errors) -> Array:
    """Return joint moments (side, joint, draw, 3, time) in measured axes, N m."""
    com = measured.com[:, :, None] + _turn(errors.carried + errors.com, measured.to_lab)
    centre = measured.centre[:, :, None] + _turn(errors.centre, measured.carried)
    acceleration = measured.com_acceleration[:, :, None] + _turn(errors.carried_acceleration, measured.to_lab)
    acceleration = acceleration + _turn(errors.com, measured.swung)
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
    joint_moments = inverse_dynamics(segments)[1]
    return np.ascontiguousarray(joint_moments.transpose(2, 3, 1, 4, 0))


def _on_foot(load: Array) -> Array:
    """Return a load (side, draw, 3, time) as (side, segment, draw, 3, time)."""
    loads = np.zeros((len(load), len(CHAIN), *load.shape[1:]))
    loads[:, 0] = load
    return loads


def _along_axes(measured: Measured, signs: Array, errors: Errors, moment: Array) -> Array:
    """Return moments (draw, time, side, joint, 3) along the joint axes. Signs are clinical."""
    frame = transpose(_rotation(_once_if_equal(errors.turn)))  # columns: the erroneous axes in measured axes
    e1 = _turn(frame[:, :, 1:, :, 2], measured.across)
    e3 = _constant(frame[:, :, :-1, :, 1])
    e2 = cross(e3, e1, axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        floating = (e2 * moment).sum(axis=-2) / np.sqrt((e2**2).sum(axis=-2))
    along = np.stack([(e1 * moment).sum(axis=-2), floating, (e3 * moment).sum(axis=-2)], axis=2)
    along *= signs[:, :, :, None, None]
    return np.moveaxis(along, (3, 4), (0, 1)) * measured.unlocked[..., None]


def _turn(errors: Array, weights: Array) -> Array:
    """Return errors (draw, side, n, 3) in other axes, (side, n, draw, 3, time)."""
    sides, count, _, _, frames = weights.shape
    product = np.moveaxis(_once_if_equal(errors), 0, 2) @ weights.reshape(sides, count, 3, 3 * frames)
    return np.asarray(product.reshape(sides, count, -1, 3, frames))


def _time_first(vectors: Array) -> Array:
    """Return (side, n, draw, 3, time) as (time, draw, side, n, 3)."""
    return vectors.transpose(4, 2, 0, 1, 3)


def _constant(errors: Array) -> Array:
    """Return errors (draw, side, n, 3) as (side, n, draw, 3, 1)."""
    return np.moveaxis(_once_if_equal(errors), 0, 2)[..., None]


def _once_if_equal(errors: Array) -> Array:
    """Return the first draw alone if all draws are equal."""
    return errors if np.any(errors != errors[:1]) else errors[:1]


def _rotation(turn: Array) -> Array:
    """Return exp(-S(turn)) (..., 3, 3), from measured to erroneous axes."""
    half, matrix = np.linalg.norm(turn, axis=-1)[..., None, None] / 2 / np.pi, skew(turn)
    return np.asarray(np.eye(3) - np.sinc(2 * half) * matrix + np.sinc(half) ** 2 / 2 * matrix @ matrix)
