"""Random errors of the inputs of joint moments, the same in every run.

Percentiles and variances at an instant depend on the distribution of the errors at that instant, not on their time
course: an error is one draw for the whole trial, and marker noise is drawn as value, first and second derivative with
the covariance that filter and spline give them (:func:`pipeline.signals.splines.rate_covariance`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array
from ...conventions import CHAIN, JOINTS, SEGMENTS, SIDES
from ...dynamics.vectors import skew
from ...signals.splines import rate_covariance
from ...trials.session import AnyTrial


class Errors(NamedTuple):
    """Errors, (draw, side, ...), to be added to the measured values; segments and joints from the foot up."""

    # turn, turn_rate, turn_acceleration: (..., segment, 3), of foot, shank, thigh and pelvis in their own axes, rad and
    # per second
    turn: Array
    turn_rate: Array
    turn_acceleration: Array
    # carried, carried_acceleration: (..., segment, 3), of the centres of mass by marker noise, segment axes, m
    carried: Array
    carried_acceleration: Array
    centre: Array  # (..., joint, 3), of the joint centres, in axes of the segments that carry them, m
    com: Array  # (..., segment, 3), of the centres of mass within their segments, m
    # mass, inertia: (..., segment), factors minus 1
    mass: Array
    inertia: Array
    pressure: Array  # (..., 3), of the centre of pressure, lab axes, m

    def part(self, chosen: slice) -> Errors:
        """Return some of the draws."""
        return Errors(*(values[chosen] for values in self))


def draw_errors(
    draws: int, sizes: Mapping[str, float], calibrate: xr.Dataset, kinematics: AnyTrial
) -> dict[str, Errors]:
    """Return the errors of each source alone, zero where it has no effect.

    Args:
        sizes: standard deviations, the setting ``kinetics.uncertainty_sizes``.
        calibrate: effect of marker noise on the skeleton, and the segments' centres of mass.
        kinematics: the trial's rate and filter, and the SHA-256 of its source file, which seeds the draws: they depend
            neither on other trials nor on the settings.
    """
    seed = str(kinematics.attrs.get("source_sha256", ""))
    nothing = _nothing(draws)

    def normal(name: str, *shape: int) -> Array:
        digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:16], "big")).standard_normal((draws, *shape))

    joints = np.array([sizes[f"{joint}_centre_mm"] for joint in JOINTS])[:, None] / 1000
    percent = {name: sizes[f"segment_{name}_percent"] / 100 for name in ("mass", "com", "inertia")}
    reach = np.linalg.norm(calibrate.segment_com.values, axis=-1, keepdims=True)
    sides, chain = len(SIDES), len(CHAIN)
    white = normal("markers", 3, calibrate.sizes["marker"] * calibrate.sizes["axis"])
    return {
        "marker_noise": nothing._replace(**_of_markers(white, sizes["marker_mm"] / 1000, calibrate, kinematics)),
        "joint_centres": nothing._replace(centre=joints * normal("joint centres", sides, len(JOINTS), 3)),
        "centre_of_pressure": nothing._replace(
            pressure=sizes["centre_of_pressure_mm"] / 1000 * normal("pressure", sides, 3) * (1, 0, 1)
        ),
        "segment_parameters": nothing._replace(
            mass=np.expm1(percent["mass"] * normal("mass", sides, chain)),
            com=percent["com"] * reach * normal("com", sides, chain, 3),
            inertia=np.expm1(percent["inertia"] * normal("inertia", sides, chain)),
        ),
    }


def together(errors: Mapping[str, Errors]) -> Errors:
    """Return the errors of all sources together. Displacements add up, and each factor has one source."""
    return Errors(*(np.sum(values, axis=0) for values in zip(*errors.values(), strict=True)))


def _nothing(draws: int) -> Errors:
    """Return errors of zero."""
    segment, chain = (draws, len(SIDES), len(SEGMENTS), 3), (draws, len(SIDES), len(CHAIN), 3)
    shapes = (segment, segment, segment, chain, chain, chain, chain, chain[:-1], chain[:-1], (draws, len(SIDES), 3))
    return Errors(*map(np.zeros, shapes))


def _of_markers(white: Array, size_m: float, calibrate: xr.Dataset, kinematics: AnyTrial) -> dict[str, Array]:
    """Return the errors of poses and centres by marker noise of variance 1.

    Noise is (draw, derivative, marker x axis). Noise of rates through the rotation of the segment itself is neglected:
    it is small if the segment turns slowly compared with the noise that the filter passes, 40 rad/s at 10 Hz.
    """
    cutoff_hz = kinematics.attrs.get("marker_cutoff_hz", np.nan)  # facts of a trial that are NaN are left out
    order = kinematics.attrs["marker_filter_order"]
    time = kinematics.time.values
    covariance = rate_covariance(float(cutoff_hz), (len(time) - 1) / (time[-1] - time[0]), order=int(order))
    noise = size_m * np.linalg.cholesky(covariance) @ white
    poses = [list(calibrate.pose.values).index(name) for name in SEGMENTS]
    turn, origin, centre = (
        calibrate[f"{name}_per_marker"].values.reshape(len(SIDES), -1, 3, white.shape[-1])
        for name in ("segment_turn", "segment_origin", "joint_centre")
    )
    turn, origin = turn[:, poses], origin[:, poses[:-1]]
    com = origin - skew(calibrate.segment_com.values) @ turn[:, :-1]  # displacement of the origin, and turn x com

    def errors_by(gain: Array, derivative: int) -> Array:
        return np.moveaxis(gain @ noise[:, derivative].T, -1, 0)

    return {
        "turn": errors_by(turn, 0),
        "turn_rate": errors_by(turn, 1),
        "turn_acceleration": errors_by(turn, 2),
        "carried": errors_by(com, 0),
        "carried_acceleration": errors_by(com, 2),
        "centre": errors_by(centre, 0),
    }
