"""Peaks of gait cycles with the instants at which they stand, and ranges of motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
JOINTS = ("ankle", "knee", "hip")
ANGLES = ("flexion", "adduction", "rotation")
ANKLE, KNEE, HIP = range(3)
FLEXION, ADDUCTION = range(2)
FORWARD, UP = range(2)
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
