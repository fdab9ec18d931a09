r"""Pose pelvis and both legs as one linkage that fits all markers at once: inverse kinematics, global optimisation.

Segments are joined at the joint centres, and turn about them by the joint angles q (Cardan Z-X-Y about e1, e2, e3 of
:mod:`pipeline.body.joint_angles`). With the pose of the pelvis these are the coordinates of an open chain, and the pose
of a frame is the one with the least weighted squares of the distances of its markers m from their places x::

    minimise  sum_i w_i |m_i - x_i(q)|^2 / 2  +  soft joint limits

The steps follow from :mod:`pipeline.steps.kinematics.normal_equations`. Each is damped (Levenberg-Marquardt) in each
frame by itself; frames that have converged take no further part. Time is last in all arrays.

Sources: Lu TW, O'Connor JJ (1999) J Biomech 32:129-134 (global optimisation with ball joints); Lynch KM, Park FC (2017)
Modern Robotics, sections 4.1 and 5.1 (product of exponentials, space Jacobian); Marquardt DW (1963) J SIAM 11:431-441.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags
from .linkage import PELVIS, Bodies, Linkage, Posture, only_markers, pose_bodies, take_step
from .normal_equations import Normal, Sums, find_step, form_normal_equations, sum_markers, whole_matrix

MOST_STEPS = 60
CONVERGED_M = 1e-7  # root of the summed squares of marker motion in the last step; the step itself is still taken
NEAR = 0.2  # rad and m: after a step as short as this the curvature counts; after each saddle point, a quarter of it
FIRST_DAMPING = 1e-4
# a direction in which a turn by 1 rad moves the markers by less, as a root of summed squares, is not determined: the
# radius of a marker, and so the error of its centre, is not much smaller
LEAST_LEVER_M = 0.01
FARTHEST_M = 0.06  # a marker farther from its place is not on its segment: skin moves by 40 mm (Leardini et al. 2005)
MOVED = 0.1  # rad in an undetermined direction of unit length: a segment that turns more is unknown


class Fit(NamedTuple):
    """The linkage in all frames."""

    # their poses; NaN where the markers do not determine one, and all of them where a marker is too far off
    bodies: Bodies
    residual: Array  # (marker, time), distance of the marker from its place, m; NaN where either is unknown
    converged: Flags  # (time,), whether the last step was short enough


def fit(
    linkage: Linkage, markers: Array, start: Posture, share: Array | float = 1.0, *, trials: Sequence[slice] = ()
) -> Fit:
    """Return the poses that fit the markers best.

    Args:
        markers: (marker, 3, time), lab axes, m; NaN where unseen.
        start: a posture near the one sought.
        share: of its weight with which a marker counts, (marker, time) or 1 for all.
        trials: frames of each of several trials, at least two; each is the same to the last bit beside any others.
    """
    # about a point near the pelvis, so that no digits are lost in the sums
    around = start.origin.copy()
    angle = np.where(linkage.free[None, ..., None], start.angle, linkage.neutral[..., None])  # others are held
    posture = Posture(start.rotation.copy(), np.zeros_like(around), angle)
    seen = np.asarray(np.isfinite(markers).all(axis=1)) & (linkage.weight[:, None] > 0)
    near = np.where(seen[:, None], markers - around, 0.0)
    weight = seen * share * linkage.weight[:, None]
    weighted = _sums(linkage, near, weight, trials)
    converged = _solve(linkage, weighted, posture, together=bool(trials))
    bodies = pose_bodies(linkage, posture)
    alike = weighted if np.array_equal(weight, seen) else _sums(linkage, near, seen.astype(float), trials)
    unknown = _find_undetermined(linkage, alike, posture, bodies)
    for part in bodies[:2]:
        np.moveaxis(part, -1, 1)[unknown] = np.nan
    bodies.origin[...] += around
    x = bodies.origin[linkage.body] + np.einsum("mjit,mj->mit", bodies.rotation[linkage.body], linkage.place)
    residual = np.asarray(np.sqrt(((markers - x) ** 2).sum(axis=1)))
    for part in bodies[:2]:
        part[..., (seen & (residual > FARTHEST_M)).any(axis=0)] = np.nan
    return Fit(bodies, residual, converged)


def _sums(linkage: Linkage, markers: Array, weight: Array, trials: Sequence[slice]) -> Sums:
    """Return the sums over markers, of each trial by itself: the size of a matrix product changes the rounding."""
    if not trials:
        return sum_markers(linkage, markers, weight)
    parts = []
    for span in trials:
        shown = np.flatnonzero(weight[:, span].any(axis=1))
        parts.append(sum_markers(only_markers(linkage, shown), markers[shown, :, span], weight[shown, span]))
    return Sums(*(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)))


def _solve(linkage: Linkage, sums: Sums, posture: Posture, *, together: bool) -> Flags:
    """Bring the posture to the least cost, in place, and return (time,) whether it has converged.

    A step that raises the cost of a frame is taken back there and followed by a shorter one.

    Args:
        together: whether frames that have converged stay in the arrays, as their size and their order in memory change
            the rounding.
    """
    count = posture.origin.shape[-1]
    converged, live = np.zeros(count, dtype=bool), np.arange(count)
    now = last = posture.at(live)
    damping, least = np.full(count, FIRST_DAMPING), np.full(count, np.inf)
    curved, near = np.zeros(count, dtype=bool), np.full(count, NEAR)
    for _ in range(MOST_STEPS):
        normal = form_normal_equations(linkage, sums, now, pose_bodies(linkage, now), curved)
        step, pivot = find_step(normal, damping)
        worse, saddle = normal.cost > least + 1e-15 * sums.energy, pivot <= 0  # beyond rounding
        damping = np.where(worse, 100 * damping, np.where(saddle, damping, damping / 10))
        near = np.where(saddle, near / 4, near)
        if worse.any():
            now.replace(worse, last.at(worse))
        last, least = now, np.fmin(least, normal.cost)
        step[:, worse | saddle] = 0.0
        now = take_step(linkage, now, step)
        size = np.abs(step).max(axis=0)
        force = np.concatenate([normal.on_pelvis, normal.on_leg.reshape(-1, len(size))])
        short = (force * step).sum(axis=0) < CONVERGED_M**2  # twice the cost that the step takes off
        done, curved = short & ~worse & ~saddle & ~converged[live], (size < near) & ~worse & ~saddle
        if done.any():
            posture.replace(live[done], now.at(done))
            converged[live[done]] = True
        if done.any() and not together:
            kept = ~done
            live, sums, now, last = live[kept], sums.at(kept), now.at(kept), last.at(kept)
            damping, least, curved, near = damping[kept], least[kept], curved[kept], near[kept]
        if converged.all():
            break
    posture.replace(live[~converged[live]], last.at(~converged[live]))
    return converged


def _find_undetermined(linkage: Linkage, sums: Sums, posture: Posture, bodies: Bodies) -> Flags:
    """Return (7, time) whether the markers leave the orientation of a body open, each marker with weight 1."""
    nowhere = np.zeros(posture.origin.shape[-1], dtype=bool)
    normal = form_normal_equations(linkage, sums, posture, bodies, nowhere)
    # a matrix has as many eigenvalues below a number as pivots below zero once that is off its diagonal (Sylvester)
    with np.errstate(divide="ignore", invalid="ignore"):
        _, pivot = find_step(normal, 0.0, -(LEAST_LEVER_M**2))
    unknown = np.zeros((PELVIS + 1, len(pivot)), dtype=bool)
    doubtful = np.flatnonzero(~(pivot > 0))
    if not doubtful.size:
        return unknown
    normal = Normal(*(part[..., doubtful] for part in normal))
    size = normal.leg.shape[1]
    turning = np.zeros((PELVIS + 1, 3, doubtful.size, 6 + 2 * size))  # angular velocity of each body by each coordinate
    turning[:, range(3), :, range(3)] = 1.0
    joint = np.repeat(range(3), 3)[linkage.free.ravel()]
    for side in range(2):
        for segment in range(3):
            carried = np.where(joint[:, None, None] >= segment, normal.screws[side, :, :3], 0.0)
            turning[3 * side + segment, ..., 6 + side * size : 6 + (side + 1) * size] = np.transpose(carried, (1, 2, 0))
    values, directions = np.linalg.eigh(whole_matrix(normal))
    open_ones = directions * (values < LEAST_LEVER_M**2)[:, None]
    unknown[:, doubtful] = (np.abs(np.einsum("batp,tpd->batd", turning, open_ones)) > MOVED).any(axis=(1, 3))
    return unknown
