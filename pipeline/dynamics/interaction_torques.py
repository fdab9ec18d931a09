"""Interaction torques: the contribution of each motion of a limb to each joint load.

The products of mass and Coriolis matrix with the rates are split by source; neither matrix is built.

Shapes, axes and units as in :mod:`.limb`.

Sources: Hollerbach JM, Flash T (1982) Biol Cybern 44:67-77 for interaction torques; Echeandia S, Wensing PM (2021)
J Comput Nonlinear Dyn 16:091004 for the Coriolis matrix.
"""

import numpy as np

from ..arrays import Array
from .limb import Inertia, Limb, Motion, momentum
from .vectors import cross, dot, rotate, running_sum, skew, sum_from_last, transpose

MOTIONS = ("acceleration", "velocity")


def contributions(limb: Limb, motion: Motion) -> Array:
    """Return the joint wrenches by the motion that causes them, in closed form.

    The sources are all slides together, the base, and the hinges of each joint. With x, y the contributions of a source
    to twist rate and twist of the segments beyond it, and z the drift of its axes, the sum of ad(V_i) S_i q'_i, each
    segment requires G x by acceleration and G (z - ad(V) y) + B y by velocity. z - ad(V) y is the rate of y relative
    to the segment, and B that of the Coriolis matrix (:func:`~pipeline.dynamics.screws.gyroscopic`), which
    divides a product of two rates evenly.

    Returns:
        (..., N, 2, N + 2, 6): wrench (moment about the frame's origin, force) at each joint by :data:`MOTIONS` and
        by source (slides, base, hinges of the first joint, ...). Its sum over both is the wrench of
        :func:`.limb.inverse_dynamics` without its static part.
    """
    *around, count, _ = limb.centre.shape
    parts = np.empty((*around, count, 2, count + 2, 6), order="F")
    xz = np.zeros((*around, 2, count + 1, 6), order="F")
    xz[..., 0, 0, :] = motion.twist_rate[..., 0, :]
    xz[..., 0, 1:, :], xz[..., 1, 1:, :] = motion.pull[..., 1, :], motion.drift[..., 1, :]
    y = np.concatenate([motion.twist[..., :1, :3], motion.push[..., 1, :3]], axis=-2)  # slides turn nothing
    mass, moment, tensor = (sum_from_last(part, axis=-axis) for axis, part in enumerate(limb.inertia, 1))
    drag, linear = _turning(limb.inertia, motion.twist[..., 1:, :])
    for joint in range(count):  # a source moves the segments from its own joint outwards
        here, near = parts[..., joint, :, 1 : joint + 3, :], slice(joint + 2)
        beyond = Inertia(
            mass[..., joint, None, None], moment[..., joint, None, None, :], tensor[..., joint, None, None, :, :]
        )
        momentum(beyond, xz[..., near, :], out=here)
        here[..., 1, :, :3] -= rotate(drag[..., joint, None, :, :], y[..., near, :])
        here[..., 1, :, 3:] += cross(y[..., near, :], linear[..., joint, None, :])
        parts[..., :joint, :, joint + 2, :] = here[..., None, :, -1, :]
    for number, moved in enumerate((motion.pull, motion.drift)):
        slid = running_sum(moved[..., 0, 3:], axis=-2)
        parts[..., number, 0, :3] = sum_from_last(cross(limb.inertia.moment, slid), axis=-2)
        parts[..., number, 0, 3:] = sum_from_last(limb.inertia.mass[..., None] * slid, axis=-2)
    return parts


def _turning(inertia: Inertia, twist: Array) -> tuple[Array, Array]:
    """Return D and p, summed from each segment outwards.

    With them (B - G ad(V)) y = (-D w, w x p), w the rotation in y. (k, p) is the momentum G V and D the symmetric part
    of tensor [w_V] + [m c] [v_V], and [k] / 2.
    """
    spin, velocity, whole = twist[..., :3], twist[..., 3:], momentum(inertia, twist)
    spread = cross(inertia.tensor, spin[..., None, :])
    spread += velocity[..., :, None] * inertia.moment[..., None, :]
    along = dot(velocity, inertia.moment)
    for k in range(3):
        spread[..., k, k] -= along
    drag = spread + transpose(spread)
    drag += skew(whole[..., :3])
    drag /= 2
    return sum_from_last(drag, axis=-3), sum_from_last(whole[..., 3:], axis=-2)
