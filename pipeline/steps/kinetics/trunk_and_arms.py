r"""Loads of trunk, head and arms, and the residual at the pelvis with them.

From hands and head down, the loads reach the waist; from the feet up, they reach the hips. The pelvis has one equation
of motion more than unknowns: with its mass m, centre of mass c and tensor I, both should fulfil::

    F = m (c'' - g) + sum of F_s + F_w
    M = d(I w)/dt + (c - o) x m (c'' - g) + sum of (M_s + (h_s - o) x F_s) + M_w + (p - o) x F_w

F_s, M_s: of the pelvis on each thigh, at the hip centre h_s; F_w, M_w: of the pelvis on the thorax, at the waist p. F
and M, at the midpoint o of the hips, are the residual.
"""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...dynamics.vectors import cross, rotate, transpose
from ...whole_body.loads import in_lab, joint_loads, joint_power, motion_of
from ...whole_body.skeleton import JOINTS, SEGMENTS, of_either_side
from .pelvis_residual import Hips, UpperBody, balance

MOVING = tuple(
    f"upper_{name}"
    for name in (
        *("rotation", "angular_velocity", "angular_acceleration", "com_position", "com_acceleration", "joint_centre"),
        "segment_seen",
    )
)
WAIST, THORAX = JOINTS.index("waist"), SEGMENTS.index("thorax")
KNOWN_SHARE = 0.9  # of the samples with known hips: a trial with trunk and arms in fewer has the residual without


def trunk_and_arms(
    kinematics: xr.Dataset, calibrate: xr.Dataset, hips: Hips, gravity_m_s2: float
) -> tuple[dict[str, Array], tuple[Array, Array]]:
    """Return the variables of the step by name, and residual force and moment on the pelvis (sample, 3).

    The load of a joint to a segment that the trial does not show is NaN: the segment counts, but its posture is
    assumed.
    """
    motion = motion_of(kinematics, calibrate)
    force_term, moment_term = joint_loads(motion, gravity_m_s2)
    force, moment = force_term.sum(axis=1), moment_term.sum(axis=1)
    lab = in_lab(motion.rotation, moment)
    moving = (kinematics.variables[name.removeprefix("upper_")].values[:, :, -1] for name in MOVING[:3])
    rotation, spin, spin_rate = map(of_either_side, moving)
    of = [calibrate.variables[f"pelvis_{name}"].values for name in ("mass", "com", "inertia")]
    pelvis = UpperBody(float(of[0]), of[1], of[2])
    below = balance(hips, pelvis, rotation, spin, spin_rate, gravity_m_s2)
    from_middle = motion.centre[:, WAIST] - hips.centre.mean(axis=1)
    residual = below[0] + force[:, WAIST], below[1] + lab[:, WAIST] + cross(from_middle, force[:, WAIST])
    moment_from_legs = -(below[1] - cross(from_middle, below[0]))
    power = joint_power(motion, lab, rotate(transpose(rotation), spin))
    seen = kinematics.variables["upper_segment_seen"].values[kinematics.variables["sample_trial"].values]
    assumed = seen == 0  # joints (sample, joint) that lead to a segment that the trial does not show
    for array in (force, moment, power):
        array[assumed] = np.nan
    moment_term[np.broadcast_to(assumed[:, None], moment_term.shape[:3])] = np.nan
    return {
        "upper_joint_force": force,
        "upper_joint_moment": moment,
        "upper_joint_moment_term": np.moveaxis(moment_term, 1, 2),
        "upper_joint_power": power,
        "waist_force_from_legs": -below[0],
        "waist_moment_from_legs": rotate(motion.rotation[:, THORAX], moment_from_legs),
    }, residual


def sharper(old: Array, new: Array, trial: NDArray[np.integer[Any]]) -> Flags:
    """Return where (sample,) the residual with trunk and arms is taken: in trials in which it is nearly always known.

    Args:
        old, new: residual (sample, 3) without and with them.
        trial: (sample,), number of the trial.
    """
    known, both = np.isfinite(old[:, 0]), np.isfinite(old[:, 0] + new[:, 0])
    shares = np.bincount(trial, both) / np.fmax(np.bincount(trial, known), 1)
    return np.asarray(shares[trial] >= KNOWN_SHARE)
