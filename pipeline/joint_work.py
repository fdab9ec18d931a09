"""What a gait cycle adds up to: impulses of moments and of the ground's force, and the work of each phase of power.

Phases after Winter DA (1991) The Biomechanics and Motor Control of Human Gait, and Eng JJ, Winter DA (1995)
J Biomech 28:753-758, of the flexion axes of ankle (A), knee (K) and hip (H).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.peaks import ADDUCTION, ANKLE, FLEXION, HIP, KNEE, USUAL_STANCE_SHARE

Array = NDArray[np.float64]

IMPULSES = {  # joint, angle, sign of the moment
    "impulse_of_ankle_plantarflexor_moment": (ANKLE, FLEXION, -1),
    "impulse_of_knee_extensor_moment": (KNEE, FLEXION, -1),
    "impulse_of_knee_flexor_moment": (KNEE, FLEXION, 1),
    "impulse_of_knee_abductor_moment": (KNEE, ADDUCTION, -1),
    "impulse_of_hip_extensor_moment": (HIP, FLEXION, -1),
    "impulse_of_hip_flexor_moment": (HIP, FLEXION, 1),
    "impulse_of_hip_abductor_moment": (HIP, ADDUCTION, -1),
}

FORCE_IMPULSES = {"impulse_of_braking_force": -1, "impulse_of_propulsive_force": 1}  # sign of the forward force


class Burst(NamedTuple):
    """A phase of power: joint, sign, and between where its peak lies: 0-1 is stance, 1-2 swing."""

    joint: int
    sign: int
    start: float
    end: float


BURSTS = {
    "work_a1": Burst(ANKLE, -1, 0.15, 0.9),
    "work_a2": Burst(ANKLE, 1, 0.6, 1.1),
    "work_k1": Burst(KNEE, -1, 0.0, 0.35),
    "work_k2": Burst(KNEE, 1, 0.15, 0.65),
    "work_k3": Burst(KNEE, -1, 0.7, 1.4),
    "work_k4": Burst(KNEE, -1, 1.4, 2.0),
    "work_h1": Burst(HIP, 1, 0.0, 0.5),
    "work_h2": Burst(HIP, -1, 0.4, 0.95),
    "work_h3": Burst(HIP, 1, 0.75, 1.6),
}


def impulses(moment: Array, *, stance_share: float, stride_s: float) -> dict[str, float]:
    """Return the integral over stance of what a moment has of one sign, N m s/kg; see :func:`_impulse`.

    Args:
        moment: ``joint_moment_jcs`` (joint, angle, 101), N m/kg.
        stance_share: percent of the cycle at which the foot leaves the ground.
        stride_s: duration of the cycle.
    """
    return {
        name: _impulse(sign * moment[joint, angle], stance_share, stride_s)
        for name, (joint, angle, sign) in IMPULSES.items()
    }


def force_impulses(force: Array, *, stance_share: float, stride_s: float) -> dict[str, float]:
    """Return the braking and the propulsive impulse of stance, N s/kg, both positive; see :func:`_impulse`.

    Args:
        force: ``ground_force`` (axis, 101), N/kg, x forward.
        stance_share, stride_s: as :func:`impulses`.
    """
    return {name: _impulse(sign * force[0], stance_share, stride_s) for name, sign in FORCE_IMPULSES.items()}


def _impulse(values: Array, stance_share: float, stride_s: float) -> float:
    """Return the integral over stance of what a curve (101,) has above zero.

    Between samples it is taken as linear, where it changes sign too. NaN where a sample of the stance is missing or
    the foot off is not known.
    """
    if np.isnan(stance_share):
        return float("nan")
    phase = np.append(np.arange(np.ceil(stance_share)), stance_share)
    step_s = np.diff(phase) / 100 * stride_s
    return float(_area_above_zero(np.interp(phase, np.arange(101.0), values)) @ step_s)


def _area_above_zero(values: Array) -> Array:
    """Return the mean over each interval of what a piecewise linear curve has above zero."""
    a, b = values[:-1], values[1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        across = np.maximum(a, b) ** 2 / (2 * np.abs(a - b))
    return np.asarray(np.where(a * b < 0, across, (np.maximum(a, 0) + np.maximum(b, 0)) / 2))


def work(angle: Array, moment: Array, *, stance_share: float) -> dict[str, float]:
    """Return the work of each phase of power about the flexion axes, J/kg; absorption negative.

    Power changes sign between phases. A phase is every stretch of one sign whose peak lies in the phase's window,
    whole, from sign change to sign change; 0 where there is none. Windows are stretched with stance and swing. The
    work is that of the moment along the angle, the integral of M d(theta), which is the integral of power over
    time without a derivative. NaN where a sample in the window or beside such a stretch is missing.

    Args:
        angle: ``joint_angle`` (joint, angle, 101), degrees.
        moment: ``joint_moment_jcs`` (joint, angle, 101), N m/kg.
        stance_share: percent of the cycle at which the foot leaves the ground; NaN takes 60.
    """
    off = USUAL_STANCE_SHARE if np.isnan(stance_share) else stance_share
    turn = np.diff(np.radians(angle[:, FLEXION]), axis=-1)
    flexion = moment[:, FLEXION]
    done = turn * (flexion[:, 1:] + flexion[:, :-1]) / 2  # (joint, 100)
    return {name: _work_of(burst, done[burst.joint], off) for name, burst in BURSTS.items()}


def _work_of(burst: Burst, done: Array, off: float) -> float:
    start, end = np.interp([burst.start, burst.end], [0, 1, 2], [0, off, 100])
    middle = np.arange(len(done)) + 0.5
    if np.isnan(done[(middle > start) & (middle < end)]).any():
        return float("nan")
    sign = np.where(np.isnan(done), 2, np.sign(done))  # 2 ends a stretch as another sign does
    total = 0.0
    for stretch in np.split(np.arange(len(done)), np.flatnonzero(np.diff(sign)) + 1):
        peak = middle[stretch[np.argmax(np.abs(done[stretch]))]]
        if sign[stretch[0]] == burst.sign and start < peak < end:
            beside = done[max(stretch[0] - 1, 0) : stretch[-1] + 2]
            total += float(done[stretch].sum()) if np.isfinite(beside).all() else np.nan
    return total
