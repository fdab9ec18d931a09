"""Peaks of gait cycles with the instants at which they stand, and ranges of motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...conventions import ADDUCTION, ANGLES, ANKLE, FLEXION, FORWARD, HIP, JOINTS, KNEE, UP

Array = NDArray[np.float64]
USUAL_STANCE_SHARE = 60.0


class _Peak(NamedTuple):
    """Where a peak is looked for: curve, its row, sign (-1 for a trough), and until which part of stance or cycle."""

    curve: str
    row: tuple[int, ...]
    sign: int = 1
    until: str = "cycle"


_PEAKS = {
    "peak_ankle_dorsiflexion": _Peak("joint_angle", (ANKLE, FLEXION), until="stance"),
    "peak_ankle_plantarflexion": _Peak("joint_angle", (ANKLE, FLEXION), -1),
    "peak_knee_flexion_stance": _Peak("joint_angle", (KNEE, FLEXION), until="half stance"),
    "peak_knee_flexion": _Peak("joint_angle", (KNEE, FLEXION)),
    "peak_hip_flexion": _Peak("joint_angle", (HIP, FLEXION)),
    "peak_hip_extension": _Peak("joint_angle", (HIP, FLEXION), -1),
    "peak_ankle_plantarflexor_moment": _Peak("joint_moment_jcs", (ANKLE, FLEXION), -1),
    "peak_knee_extensor_moment": _Peak("joint_moment_jcs", (KNEE, FLEXION), -1, "half stance"),
    "peak_knee_abductor_moment": _Peak("joint_moment_jcs", (KNEE, ADDUCTION), -1, "stance"),
    "peak_hip_extensor_moment": _Peak("joint_moment_jcs", (HIP, FLEXION), -1),
    "peak_hip_abductor_moment": _Peak("joint_moment_jcs", (HIP, ADDUCTION), -1, "stance"),
    "peak_ankle_power": _Peak("joint_power", (ANKLE,)),
    "peak_vertical_force": _Peak("ground_force", (UP,)),
    "peak_braking_force": _Peak("ground_force", (FORWARD,), -1),
    "peak_propulsive_force": _Peak("ground_force", (FORWARD,)),
}


def peaks(curves: Mapping[str, Array], *, stance_share: ArrayLike) -> dict[str, Array]:
    """Return the peaks (...) of cycles and, as ``phase_of_peak_...``, the percent of the cycle at which each stands.

    NaN where a curve is missing.

    Args:
        curves: ``joint_angle``, ``joint_moment_jcs`` (..., joint, angle, 101), ``joint_power`` (..., joint, 101) and
            ``ground_force`` (..., axis, 101) in the units of cycles.nc.
        stance_share: (...), percent of the cycle at which the foot leaves the ground; NaN takes 60.
    """
    end = np.trunc(np.where(np.isnan(stance_share), USUAL_STANCE_SHARE, stance_share))
    last = {"cycle": np.full_like(end, 100), "stance": end, "half stance": end // 2}
    values = np.stack([peak.sign * _row(curves[peak.curve], peak.row) for peak in _PEAKS.values()], axis=-2)
    until = np.stack([last[peak.until] for peak in _PEAKS.values()], -1)
    looked_at = np.where((np.arange(101) <= until[..., None]) & np.isfinite(values), values, -np.inf)
    place = looked_at.argmax(axis=-1)
    highest = np.take_along_axis(looked_at, place[..., None], axis=-1)[..., 0]
    known = np.isfinite(highest)
    found, phase = np.where(known, highest, np.nan), np.where(known, place, np.nan)
    return {name: found[..., i] for i, name in enumerate(_PEAKS)} | {
        f"phase_of_{name}": phase[..., i] for i, name in enumerate(_PEAKS)
    }


def _row(curves: Array, row: tuple[int, ...]) -> Array:
    return curves[..., row[0], :] if len(row) == 1 else curves[..., row[0], row[1], :]


def ranges(curves: Mapping[str, Array]) -> dict[str, Array]:
    """Return largest minus smallest angle (...) of cycles, degrees; NaN where a sample is missing.

    Args:
        curves: ``joint_angle`` (..., joint, angle, 101) and ``pelvis_angle`` (..., angle, 101).
    """
    by_joint = np.ptp(curves["joint_angle"], axis=-1)
    of_pelvis = np.ptp(curves["pelvis_angle"], axis=-1)
    return {
        f"range_of_{joint}_{angle}": by_joint[..., i, j]
        for i, joint in enumerate(JOINTS)
        for j, angle in enumerate(ANGLES)
    } | {f"range_of_pelvis_{name}": of_pelvis[..., i] for i, name in enumerate(("tilt", "obliquity", "rotation"))}


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


def impulses(moment: Array, *, stance_share: ArrayLike, stride_s: ArrayLike) -> dict[str, Array]:
    """Return the integral (...) over stance of what a moment has of one sign, N m s/kg; see :func:`_impulses`.

    Args:
        moment: ``joint_moment_jcs`` (..., joint, angle, 101), N m/kg.
        stance_share: (...), percent of the cycle at which the foot leaves the ground.
        stride_s: (...), duration of the cycle.
    """
    curves = {name: sign * moment[..., joint, angle, :] for name, (joint, angle, sign) in IMPULSES.items()}
    return _impulses(curves, stance_share, stride_s)


def force_impulses(force: Array, *, stance_share: ArrayLike, stride_s: ArrayLike) -> dict[str, Array]:
    """Return the braking and the propulsive impulse (...) of stance, N s/kg, both positive; see :func:`_impulses`.

    Args:
        force: ``ground_force`` (..., axis, 101), N/kg, x forward.
        stance_share, stride_s: as :func:`impulses`.
    """
    return _impulses({name: sign * force[..., 0, :] for name, sign in FORCE_IMPULSES.items()}, stance_share, stride_s)


def _impulses(curves: Mapping[str, Array], stance_share: ArrayLike, stride_s: ArrayLike) -> dict[str, Array]:
    """Return the integral over stance of what each curve (..., 101) has above zero.

    Between samples it is taken as linear, where it changes sign too. NaN where a sample of the stance is missing or
    the foot off is not known.
    """
    share, stride = np.asarray(stance_share)[..., None, None], np.asarray(stride_s)[..., None]
    values = np.stack([*curves.values()], axis=-2)
    part = np.clip(share - np.arange(100.0), 0, 1)  # of each interval of 1 %, how much is stance
    start = values[..., :-1]
    area = _mean_above_zero(start, start + part * (values[..., 1:] - start))
    found = np.where(part > 0, area * part, 0).sum(axis=-1) / 100 * stride
    found = np.where(np.isnan(share[..., 0]), np.nan, found)
    return {name: found[..., i] for i, name in enumerate(curves)}


def _mean_above_zero(a: Array, b: Array) -> Array:
    """Return the mean of what straight lines from a to b have above zero."""
    with np.errstate(invalid="ignore", divide="ignore"):
        across = np.maximum(a, b) ** 2 / (2 * np.abs(a - b))
    return np.asarray(np.where(a * b < 0, across, (np.maximum(a, 0) + np.maximum(b, 0)) / 2))


def work(angle: Array, moment: Array, *, stance_share: ArrayLike) -> dict[str, Array]:
    """Return the work (...) of each phase of power about the flexion axes, J/kg; absorption negative.

    Power changes sign between phases. A phase is every stretch of one sign whose peak lies in the phase's window,
    whole, from sign change to sign change; 0 where there is none. Windows are stretched with stance and swing. The
    work is that of the moment along the angle, the integral of M d(theta), which is the integral of power over
    time without a derivative. NaN where a sample in the window or beside such a stretch is missing.

    Args:
        angle: ``joint_angle`` (..., joint, angle, 101), degrees.
        moment: ``joint_moment_jcs`` (..., joint, angle, 101), N m/kg.
        stance_share: (...), percent of the cycle at which the foot leaves the ground; NaN takes 60.
    """
    share = np.asarray(stance_share, dtype=float)
    off = np.where(np.isnan(share), USUAL_STANCE_SHARE, share).ravel()
    turn = np.diff(np.radians(angle[..., FLEXION, :]), axis=-1)
    flexion = moment[..., FLEXION, :]
    done = (turn * (flexion[..., 1:] + flexion[..., :-1]) / 2).reshape(len(off), turn.shape[-2], 100)
    stretches = _stretches(done)
    return {
        name: _work_of(burst, done[:, burst.joint], stretches, off).reshape(share.shape)
        for name, burst in BURSTS.items()
    }


class _Stretches(NamedTuple):
    """Stretches of power of one sign, all (stretch,): whose they are, sign, phase of the peak, %, and work, J/kg."""

    cycle: NDArray[np.intp]
    joint: NDArray[np.intp]
    sign: Array
    peak: Array
    work: Array


def _stretches(done: Array) -> _Stretches:
    """Return the stretches of one sign of work (cycle, joint, 100); the work is NaN where a neighbour is missing."""
    sign = np.where(np.isnan(done), 2, np.sign(done))  # 2 ends a stretch as another sign does
    begins = np.ones(done.shape, dtype=bool)
    begins[..., 1:] = sign[..., 1:] != sign[..., :-1]
    first = np.flatnonzero(begins)
    if not first.size:  # no cycle
        return _Stretches(*[np.empty(0, dtype=int)] * 2, *[np.empty(0)] * 3)
    cycle, joint, _ = np.unravel_index(first, done.shape)
    size = np.abs(done).ravel()
    highest = np.repeat(np.maximum.reduceat(size, first), np.diff(first, append=done.size))
    phase = np.broadcast_to(np.arange(100) + 0.5, done.shape).ravel()
    peak = np.minimum.reduceat(np.where(size == highest, phase, np.inf), first)
    gap = np.isnan(np.pad(done, ((0, 0), (0, 0), (1, 1))))
    beside = np.maximum.reduceat((gap[..., :-2] | gap[..., 2:]).ravel(), first)
    work = np.where(beside, np.nan, np.add.reduceat(done.ravel(), first))
    return _Stretches(cycle, joint, sign.ravel()[first], peak, work)


def _work_of(burst: Burst, done: Array, stretches: _Stretches, off: Array) -> Array:
    """Return the work (cycle,) of a burst; ``done`` (cycle, 100) is that of its joint, ``off`` (cycle,) percent."""
    start, end = (np.where(at <= 1, at * off, off + (at - 1) * (100 - off)) for at in (burst.start, burst.end))
    mine = (stretches.joint == burst.joint) & (stretches.sign == burst.sign)
    mine &= (stretches.peak > start[stretches.cycle]) & (stretches.peak < end[stretches.cycle])
    total = np.bincount(stretches.cycle[mine], weights=stretches.work[mine], minlength=len(off))
    middle = np.arange(100) + 0.5
    unknown = np.isnan(done) & (middle > start[:, None]) & (middle < end[:, None])
    return np.where(unknown.any(axis=-1), np.nan, total)
