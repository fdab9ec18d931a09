r"""Pose pelvis and both legs as one linkage that fits all markers at once: inverse kinematics, global optimisation.

Segments are joined at the joint centres, and turn about them by the joint angles q (Cardan Z-X-Y about e1, e2, e3 of
:mod:`pipeline.body.joint_angles`). With the pose of the pelvis these are the coordinates of an open chain, and the pose
of a frame is the one with the least weighted squares of the distances of its markers m from their places x::

    minimise  sum_i w_i |m_i - x_i(q)|^2 / 2  +  soft joint limits

With twists and screws about one point O of the lab, a marker moves by [E, -[x]] (v, w), so that J^T W J, the normal
matrix of Gauss and Newton, is the *mass matrix of the chain with a point mass w_i at each marker*, and J^T W (m - x) is
the generalised force of springs from markers to their places. Both follow from few sums over the markers of a segment
that are formed once, by composite bodies from the feet up (Featherstone R 2008, Rigid Body Dynamics Algorithms, section
6.2), with any number of markers::

    G_s = sum_i w_i [-[x_i][x_i]  [x_i]]     f_s = sum_i w_i [x_i x (m_i - x_i)]     S_j = [e_j; c_j x e_j]
                    [   -[x_i]      E  ]                     [     m_i - x_i   ]

    H_jk = S_j^T (sum of G_s beyond both joints) S_k         g_j = S_j^T (sum of f_s beyond joint j)

The curvature that Gauss and Newton leave out, sum_i w_i (m_i - x_i) . d2x_i / dq_j dq_k, needs one sum more,
Z_s = sum_i w_i (m_i - x_i) x_i^T: with j on the proximal side of k it is e_j . (Z^T e_k - e_k tr Z), Z about c_k and of
all beyond k. With it few steps suffice also where the skin moves the markers by centimetres.

A leg meets the other only in the pelvis: both legs are eliminated first, then the pelvis is solved for. The step is
damped (Levenberg-Marquardt) in each frame by itself; frames that have converged take no further part.

Time is last in all arrays here. Sides are left and right; joints ankle, knee, hip; segments foot, shank, thigh.

Sources: Lu TW, O'Connor JJ (1999) J Biomech 32:129-134 (global optimisation with ball joints); Lynch KM, Park FC (2017)
Modern Robotics, sections 4.1 and 5.1 (product of exponentials, space Jacobian); Marquardt DW (1963) J SIAM 11:431-441.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.screws import exponential
from ...dynamics.vectors import cross, running_sum

Array = NDArray[np.float64]
Frames = slice | NDArray[np.intp] | NDArray[np.bool_]
PELVIS = 6  # index of the pelvis among the bodies, after foot, shank, thigh of the left and the right leg
MOST_STEPS = 60
CONVERGED_M = 1e-7  # root of the summed squares of marker motion in the last step; the step itself is still taken
NEAR = 0.2  # rad and m: after a step as short as this the curvature counts; after each saddle point, a quarter of it
FIRST_DAMPING = 1e-4
FLOOR = 1e-9  # m2, added to the normal matrix: coordinates that no marker shows stay where they are
LIMIT_STIFFNESS_M2 = 1.0  # a degree beyond a joint limit costs as much as a marker that is 17 mm off
# a direction in which a turn by 1 rad moves the markers by less, as a root of summed squares, is not determined: the
# radius of a marker, and so the error of its centre, is not much smaller
LEAST_LEVER_M = 0.01
FARTHEST_M = 0.06  # a marker farther from its place is not on its segment: skin moves by 40 mm (Leardini et al. 2005)
MOVED = 0.1  # rad in an undetermined direction of unit length: a segment that turns more is unknown


class Linkage(NamedTuple):
    """A person's linkage.

    Attributes:
        place: (marker, 3), of each marker in the axes of its body from the body's origin, m.
        body: (marker,), index of its body: foot, shank, thigh of the left leg, of the right leg, pelvis.
        weight: (marker,), of its squared distance, about 1; a marker without weight does not pull.
        joint: (side, 3, 3), joint centres in the axes of their proximal body from its origin, m.
        neutral: (side, 3, 3), right-handed joint angles that fixed coordinates keep, rad.
        free: (3, 3), whether the angle of a joint is free.
        limits: (2, side, 3, 3), least and greatest right-handed angle, rad; infinite for none.
    """

    place: Array
    body: NDArray[np.intp]
    weight: Array
    joint: Array
    neutral: Array
    free: NDArray[np.bool_]
    limits: Array


@dataclass
class Posture:
    """Coordinates of the linkage.

    Attributes:
        rotation: (3, 3, time) of the pelvis, v_segment = rotation @ v_lab.
        origin: (3, time) of the pelvis, m.
        angle: (side, joint, 3, time), right-handed, rad.
    """

    rotation: Array
    origin: Array
    angle: Array

    def at(self, frames: Frames) -> Posture:
        """Return some frames, as a copy."""
        return Posture(*(part[..., frames].copy() for part in (self.rotation, self.origin, self.angle)))

    def replace(self, frames: Frames, other: Posture) -> None:
        """Set some frames to those of another posture."""
        for name, values in vars(other).items():
            getattr(self, name)[..., frames] = values


class Bodies(NamedTuple):
    """Rotation (7, 3, 3, time) and origin (7, 3, time) of all bodies; axes (side, joint, 3, 3, time) of the joints."""

    rotation: Array
    origin: Array
    axes: Array


class Sums(NamedTuple):
    """Weighted sums over the markers of each body that a frame shows, as named in the module's text.

    Attributes:
        mass: (7, time), sum w; arm (7, 3, time), sum w p; square (7, 3, 3, time), sum w p p^T of the places p.
        seen: (7, 3, time), sum w m; product (7, 3, 3, time), sum w m p^T of the markers m.
        energy: (time,), sum w m^2.
    """

    mass: Array
    arm: Array
    square: Array
    seen: Array
    product: Array
    energy: Array

    def at(self, frames: Frames) -> Sums:
        """Return some frames, as a copy."""
        return Sums(*(part[..., frames] for part in self))


class Fit(NamedTuple):
    """The linkage in all frames.

    Attributes:
        bodies: their poses; NaN where the markers do not determine one, and all of them where a marker is too far off.
        residual: (marker, time), distance of the marker from its place, m; NaN where either is unknown.
        converged: (time,), whether the last step was short enough.
    """

    bodies: Bodies
    residual: Array
    converged: NDArray[np.bool_]


def fit(linkage: Linkage, markers: Array, start: Posture, share: Array | float = 1.0) -> Fit:
    """Return the poses that fit the markers best.

    Args:
        linkage: the person's.
        markers: (marker, 3, time), lab axes, m; NaN where unseen.
        start: a posture near the one sought.
        share: of its weight with which a marker counts, (marker, time) or 1 for all.
    """
    # about a point near the pelvis, so that no digits are lost in the sums
    around = start.origin.copy()
    posture = Posture(start.rotation.copy(), np.zeros_like(around), _hold_fixed_angles(linkage, start.angle))
    seen = np.asarray(np.isfinite(markers).all(axis=1)) & (linkage.weight[:, None] > 0)
    near = np.where(seen[:, None], markers - around, 0.0)
    converged = _solve(linkage, _sums(linkage, near, seen * share * linkage.weight[:, None]), posture)
    bodies = _bodies(linkage, posture)
    unknown = _find_undetermined(linkage, _sums(linkage, near, seen.astype(float)), posture)
    for part in bodies[:2]:
        np.moveaxis(part, -1, 1)[unknown] = np.nan
    bodies.origin[...] += around
    x = bodies.origin[linkage.body] + np.einsum("mjit,mj->mit", bodies.rotation[linkage.body], linkage.place)
    residual = np.asarray(np.sqrt(((markers - x) ** 2).sum(axis=1)))
    for part in bodies[:2]:
        part[..., (seen & (residual > FARTHEST_M)).any(axis=0)] = np.nan
    return Fit(bodies, residual, converged)


def _hold_fixed_angles(linkage: Linkage, angle: Array) -> Array:
    """Return joint angles with those that are not free at their neutral value."""
    return np.where(linkage.free[None, ..., None], angle, linkage.neutral[..., None])


def _sums(linkage: Linkage, markers: Array, weight: Array) -> Sums:
    """Return the sums over markers (marker, 3, time), with weights (marker, time) that are zero where unseen."""
    place = linkage.place
    basis = np.concatenate(
        [np.ones((len(place), 1)), place, (place[:, :, None] * place[:, None]).reshape(-1, 9)], axis=1
    )
    of_body = (np.arange(PELVIS + 1)[:, None] == linkage.body)[:, None] * basis.T  # (body, term, marker)
    count = weight.shape[1]
    places = (of_body.reshape(-1, len(place)) @ weight).reshape(PELVIS + 1, -1, count)
    weighted = weight[:, None] * markers
    seen = np.tensordot(of_body[:, :4], weighted, axes=1)  # (body, term, axis, time)
    return Sums(
        places[:, 0],
        places[:, 1:4],
        places[:, 4:].reshape(-1, 3, 3, count),
        seen[:, 0],
        np.swapaxes(seen[:, 1:], 1, 2),
        (weighted * markers).sum(axis=(0, 1)),
    )


def _bodies(linkage: Linkage, posture: Posture) -> Bodies:
    """Return the poses of all bodies, from the pelvis down, and the axes of the joints."""
    count = posture.origin.shape[-1]
    rotation, origin = np.empty((PELVIS + 1, 3, 3, count)), np.empty((PELVIS + 1, 3, count))
    rotation[PELVIS], origin[PELVIS] = posture.rotation, posture.origin
    legs, ends = rotation[:PELVIS].reshape(2, 3, 3, 3, count), origin[:PELVIS].reshape(2, 3, 3, count)
    axes = np.empty((2, 3, 3, 3, count))
    above, start = np.broadcast_to(posture.rotation, (2, 3, 3, count)), posture.origin
    for joint in (2, 1, 0):
        ends[:, joint] = start + np.einsum("sjit,sj->sit", above, linkage.joint[:, joint])
        c, s = np.cos(posture.angle[:, joint]), np.sin(posture.angle[:, joint])
        legs[:, joint] = np.einsum("sijt,sjkt->sikt", _turn(c, s), above)
        axes[:, joint, 0] = above[:, 2]
        axes[:, joint, 1] = c[:, 0, None] * above[:, 0] + s[:, 0, None] * above[:, 1]
        axes[:, joint, 2] = legs[:, joint, 1]
        above, start = legs[:, joint], ends[:, joint]
    return Bodies(rotation, origin, axes)


def _turn(c: Array, s: Array) -> Array:
    """Return (side, 3, 3, time), v_distal = turn @ v_proximal, from cosines and sines (side, 3, time) of the angles."""
    (c1, c2, c3), (s1, s2, s3) = np.moveaxis(c, 1, 0), np.moveaxis(s, 1, 0)
    rows = [
        [c1 * c3 - s1 * s2 * s3, s1 * c3 + c1 * s2 * s3, -c2 * s3],
        [-s1 * c2, c1 * c2, s2],
        [c1 * s3 + s1 * s2 * c3, s1 * s3 - c1 * s2 * c3, c2 * c3],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


class Normal(NamedTuple):
    """The normal equations at a posture, by legs and pelvis.

    Attributes:
        cost: (time,), half the weighted sum of squares.
        pelvis: (6, 6, time); coupling (side, free, 6, time); leg (side, free, free, time).
        on_pelvis: (6, time), on_leg (side, free, time): minus the gradient of the cost.
        screws: (side, free, 6, time), of the free coordinates.
    """

    cost: Array
    pelvis: Array
    coupling: Array
    leg: Array
    on_pelvis: Array
    on_leg: Array
    screws: Array


def _normal(linkage: Linkage, sums: Sums, posture: Posture, curved: NDArray[np.bool_]) -> Normal:
    """Return the normal equations; twists are (angular, linear) about the point that all positions are from.

    Args:
        linkage, sums: of the person and the markers.
        posture: the coordinates.
        curved: (time,), whether to include the curvature that Gauss and Newton leave out.
    """
    bodies, free = _bodies(linkage, posture), linkage.free.ravel()
    inertia, wrench, moment, cost = _point_masses(sums, bodies)
    count = inertia.shape[-1]
    centre = np.broadcast_to(bodies.origin[:PELVIS].reshape(2, 3, 1, 3, count), bodies.axes.shape)
    linear = np.moveaxis(cross(np.moveaxis(centre, 3, 0), np.moveaxis(bodies.axes, 3, 0), axis=0), 0, 3)
    screw = np.concatenate([bodies.axes, linear], axis=3)
    beyond, load, bend = (
        running_sum(part[:PELVIS].reshape(2, 3, *part.shape[1:]), axis=1) for part in (inertia, wrench, moment * curved)
    )
    on_pelvis, pelvis = load[:, -1].sum(axis=0) + wrench[PELVIS], beyond[:, -1].sum(axis=0) + inertia[PELVIS]
    momentum, on_leg = np.einsum("sjabt,sjkbt->sjkat", beyond, screw), np.einsum("sjkat,sjat->sjkt", screw, load)
    about = bend - load[:, :, 3:, None] * curved * centre[:, :, :1]
    momentum[:, :, :, :3] -= _curvature(about, bodies.axes)
    whole = bend[:, -1].sum(axis=0) + moment[PELVIS] * curved
    pelvis[:3, :3] -= (whole + np.swapaxes(whole, 0, 1)) / 2 - np.eye(3)[..., None] * np.einsum("iit->t", whole)
    over = _beyond_limits(linkage, posture.angle)
    on_leg -= LIMIT_STIFFNESS_M2 * over
    cost += LIMIT_STIFFNESS_M2 / 2 * (over * over).sum(axis=(0, 1, 2))
    momentum, on_leg, screw, over = (
        part.reshape(2, 9, *part.shape[3:])[:, free] for part in (momentum, on_leg, screw, over)
    )
    leg = np.einsum("spat,sqat->spqt", screw, momentum)
    leg = np.where(_proximal(linkage.free)[..., None], leg, np.swapaxes(leg, 1, 2))
    diagonal = np.einsum("sppt->spt", leg)
    diagonal += LIMIT_STIFFNESS_M2 * (over != 0)
    return Normal(cost, pelvis, momentum, leg, on_pelvis, on_leg, screw)


def _proximal(free: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (coordinate, coordinate) whether the free coordinate of a row is on the proximal side, or the same."""
    joint, axis = np.indices((3, 3)).reshape(2, 9)[:, free.ravel()]
    order = 3 * joint - axis  # e1 turns with the proximal segment, e3 with the distal one
    return np.asarray(order[:, None] >= order)


def _curvature(moment: Array, axes: Array) -> Array:
    """Return Z^T e - e tr Z of moments (side, joint, 3, 3, time) for axes (side, joint, 3, 3, time)."""
    trace = np.einsum("sjiit->sjt", moment)[:, :, None, None]
    return np.asarray(np.einsum("sjbat,sjkbt->sjkat", moment, axes) - axes * trace)


def _point_masses(sums: Sums, bodies: Bodies) -> tuple[Array, Array, Array, Array]:
    """Return the sums G (7, 6, 6, time), f (7, 6, time) and Z (7, 3, 3, time) of the module's text, and the cost."""
    rotation, origin = bodies.rotation, bodies.origin
    arm = np.einsum("bjit,bjt->bit", rotation, sums.arm)
    first = arm + sums.mass[:, None] * origin
    square = np.einsum("bjit,bjkt->bikt", rotation, np.einsum("bijt,bjkt->bikt", sums.square, rotation))
    square += first[:, :, None] * origin[:, None] + origin[:, :, None] * arm[:, None]
    product = np.einsum("bijt,bjkt->bikt", sums.product, rotation) + sums.seen[:, :, None] * origin[:, None]
    inertia, wrench = np.zeros((len(arm), 6, 6, arm.shape[-1])), np.empty((len(arm), 6, arm.shape[-1]))
    trace = np.einsum("biit->bt", square)
    inertia[:, :3, :3] = -square
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        inertia[:, i, i] += trace
        inertia[:, 3 + i, 3 + i] = sums.mass
        inertia[:, k, 3 + j] = inertia[:, 3 + j, k] = first[:, i]
        inertia[:, j, 3 + k] = inertia[:, 3 + k, j] = -first[:, i]
        wrench[:, i] = product[:, k, j] - product[:, j, k]
    wrench[:, 3:] = sums.seen - first
    cost = (sums.energy + (trace - 2 * np.einsum("biit->bt", product)).sum(axis=0)) / 2
    return inertia, wrench, product - square, cost


def _beyond_limits(linkage: Linkage, angle: Array) -> Array:
    """Return by how much joint angles (side, joint, 3, time) are beyond their limits, rad; 0 within."""
    least, greatest = linkage.limits[..., None]
    return np.asarray(np.maximum(angle - greatest, 0) + np.minimum(angle - least, 0))


def _solve(linkage: Linkage, sums: Sums, posture: Posture) -> NDArray[np.bool_]:
    """Bring the posture to the least cost, in place, and return (time,) whether it has converged.

    A step that raises the cost of a frame is taken back there and followed by a shorter one.
    """
    count = posture.origin.shape[-1]
    converged, live = np.zeros(count, dtype=bool), np.arange(count)
    here, now, last = sums, posture.at(live), posture.at(live)
    damping, least = np.full(count, FIRST_DAMPING), np.full(count, np.inf)
    curved, near = np.zeros(count, dtype=bool), np.full(count, NEAR)
    for _ in range(MOST_STEPS):
        normal = _normal(linkage, here, now, curved)
        step, pivot = _step(normal, damping)
        worse, saddle = normal.cost > least + 1e-15 * here.energy, pivot <= 0  # beyond rounding
        damping = np.where(worse, 100 * damping, np.where(saddle, damping, damping / 10))
        near = np.where(saddle, near / 4, near)
        back = np.flatnonzero(worse)
        now.replace(back, last.at(back))
        last, least = now.at(slice(None)), np.fmin(least, normal.cost)
        step[:, worse | saddle] = 0.0
        now = _move(linkage, now, step)
        size = np.abs(step).max(axis=0)
        force = np.concatenate([normal.on_pelvis, normal.on_leg.reshape(-1, len(size))])
        short = (force * step).sum(axis=0) < CONVERGED_M**2  # twice the cost that the step takes off
        done, curved = short & ~worse & ~saddle, (size < near) & ~worse & ~saddle
        if done.any():
            posture.replace(live[done], now.at(done))
            converged[live[done]] = True
            kept = ~done
            live, here, now, last = live[kept], here.at(kept), now.at(kept), last.at(kept)
            damping, least, curved, near = damping[kept], least[kept], curved[kept], near[kept]
        if not live.size:
            break
    posture.replace(live, last)
    return converged


def _step(normal: Normal, damping: Array | float, added: float = FLOOR) -> tuple[Array, Array]:
    """Return the damped step (6 + 2 free, time) and the least pivot (time,) of the elimination.

    The step is the pelvis's twist, then the joint angles of the left and of the right leg. ``added`` is what the
    diagonal of the normal matrix gets, m2.
    """
    leg, pelvis = normal.leg.copy(), normal.pelvis.copy()
    for matrix in (leg, pelvis):
        diagonal = np.einsum("...ppt->...pt", matrix)
        diagonal *= 1 + damping
        diagonal += added
    right = np.concatenate([normal.coupling, normal.on_leg[:, :, None]], axis=2)
    solved, of_legs = _eliminate(leg, right)  # leg^-1 [coupling, on_leg]
    pelvis -= np.einsum("spat,spbt->abt", normal.coupling, solved[:, :, :6])
    on_pelvis = normal.on_pelvis - np.einsum("spat,spt->at", normal.coupling, solved[:, :, 6])
    twist, of_pelvis = _eliminate(pelvis[None], on_pelvis[None, :, None])
    legs = solved[:, :, 6] - np.einsum("spat,at->spt", solved[:, :, :6], twist[0, :, 0])
    step = np.concatenate([twist[0, :, 0], legs.reshape(-1, legs.shape[-1])])
    return step, np.minimum(of_legs, of_pelvis)


def _eliminate(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Return matrix^-1 right (side, n, columns, time), and the least pivot (time,), by Gauss's elimination.

    The matrices (side, n, n, time) are positive definite, so that no rows need to be exchanged. All frames go at once:
    numpy.linalg.solve takes several times as long on matrices as small as these.
    """
    size = matrix.shape[1]
    both = np.concatenate([matrix, right], axis=2)
    for i in range(size):
        both[:, i, i + 1 :] /= both[:, i, None, i]
        both[:, i + 1 :, i + 1 :] -= both[:, i + 1 :, i, None] * both[:, i, None, i + 1 :]
    for i in range(size - 1, 0, -1):
        both[:, :i, size:] -= both[:, :i, i, None] * both[:, i, None, size:]
    return both[:, :, size:], np.einsum("siit->sit", both[:, :, :size]).min(axis=(0, 1))


def _move(linkage: Linkage, posture: Posture, step: Array) -> Posture:
    """Return the posture after a step: the pelvis by the exponential of its twist, the joints by their angles."""
    turn = np.moveaxis(exponential(step[:6].T), 0, -1)
    angle = posture.angle.copy()
    angle.reshape(2, 9, -1)[:, linkage.free.ravel()] += step[6:].reshape(2, -1, step.shape[-1])
    return Posture(
        np.einsum("ijt,kjt->ikt", posture.rotation, turn[:3, :3]),
        np.einsum("ijt,jt->it", turn[:3, :3], posture.origin) + turn[:3, 3],
        angle,
    )


def _find_undetermined(linkage: Linkage, sums: Sums, posture: Posture) -> NDArray[np.bool_]:
    """Return (7, time) whether the markers leave the orientation of a body open, each marker with weight 1."""
    normal = _normal(linkage, sums, posture, np.zeros(posture.origin.shape[-1], dtype=bool))
    # a matrix has as many eigenvalues below a number as pivots below zero once that is off its diagonal (Sylvester)
    with np.errstate(divide="ignore", invalid="ignore"):
        _, pivot = _step(normal, 0.0, -(LEAST_LEVER_M**2))
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
    values, directions = np.linalg.eigh(_whole(normal))
    open_ones = directions * (values < LEAST_LEVER_M**2)[:, None]
    unknown[:, doubtful] = (np.abs(np.einsum("batp,tpd->batd", turning, open_ones)) > MOVED).any(axis=(1, 3))
    return unknown


def _whole(normal: Normal) -> Array:
    """Return the normal matrices (time, 6 + 2 free, 6 + 2 free) of pelvis, left and right leg."""
    size, count = normal.leg.shape[1], normal.leg.shape[-1]
    whole = np.zeros((count, 6 + 2 * size, 6 + 2 * size))
    whole[:, :6, :6] = np.moveaxis(normal.pelvis, -1, 0)
    for side in range(2):
        leg = slice(6 + side * size, 6 + (side + 1) * size)
        whole[:, leg, leg] = np.moveaxis(normal.leg[side], -1, 0)
        whole[:, leg, :6] = np.moveaxis(normal.coupling[side], -1, 0)
        whole[:, :6, leg] = np.swapaxes(whole[:, leg, :6], 1, 2)
    return whole
