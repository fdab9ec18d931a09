r"""The normal equations of the linked legs, by composite bodies, and the step that solves them.

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

A leg meets the other only in the pelvis: both legs are eliminated first, then the pelvis is solved for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags
from ...dynamics.vectors import cross, running_sum
from .linkage import PELVIS, Bodies, Frames, Linkage, Posture, find_excess

FLOOR = 1e-9  # m2, added to the normal matrix: coordinates that no marker shows stay where they are
LIMIT_STIFFNESS_M2 = 1.0  # a degree beyond a joint limit costs as much as a marker that is 17 mm off


class Sums(NamedTuple):
    """Weighted sums over the markers of each body that a frame shows, as named in the module's text."""

    mass: Array  # (7, time), sum w; arm (7, 3, time), sum w p; square (7, 3, 3, time), sum w p p^T of the places p
    arm: Array
    square: Array
    seen: Array  # (7, 3, time), sum w m; product (7, 3, 3, time), sum w m p^T of the markers m
    product: Array
    energy: Array  # (time,), sum w m^2

    def at(self, frames: Frames) -> Sums:
        """Return some frames, as a copy."""
        return Sums(*(part[..., frames] for part in self))


def sum_markers(linkage: Linkage, markers: Array, weight: Array) -> Sums:
    """Return the sums over markers (marker, 3, time), with weights (marker, time) that are zero where unseen."""
    place = linkage.place
    basis = np.concatenate(
        [np.ones((len(place), 1)), place, (place[:, :, None] * place[:, None]).reshape(len(place), 9)], axis=1
    )
    of_body = (np.arange(PELVIS + 1)[:, None] == linkage.body)[:, None] * basis.T  # (body, term, marker)
    count = weight.shape[1]
    places = np.tensordot(of_body, weight, axes=1)  # (body, term, time)
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


class Normal(NamedTuple):
    """The normal equations at a posture, by legs and pelvis."""

    cost: Array  # (time,), half the weighted sum of squares
    pelvis: Array  # (6, 6, time); coupling (side, free, 6, time); leg (side, free, free, time)
    coupling: Array
    leg: Array
    on_pelvis: Array  # (6, time), on_leg (side, free, time): minus the gradient of the cost
    on_leg: Array
    screws: Array  # (side, free, 6, time), of the free coordinates


def form_normal_equations(linkage: Linkage, sums: Sums, posture: Posture, bodies: Bodies, curved: Flags) -> Normal:
    """Return the normal equations; twists are (angular, linear) about the point that all positions are from.

    Args:
        bodies: in this posture.
        curved: (time,), whether to include the curvature that Gauss and Newton leave out.
    """
    free = linkage.free.ravel()
    inertia, wrench, moment, cost = _point_masses(sums, bodies)
    count = inertia.shape[-1]
    centre = np.broadcast_to(bodies.origin[:PELVIS].reshape(2, 3, 1, 3, count), bodies.axes.shape)
    linear = cross(centre.transpose(3, 0, 1, 2, 4), bodies.axes.transpose(3, 0, 1, 2, 4), axis=0)
    screw = np.concatenate([bodies.axes, linear.transpose(1, 2, 3, 0, 4)], axis=3)
    beyond, load = (_of_all_beyond(part) for part in (inertia, wrench))
    on_pelvis, pelvis = load[:, -1].sum(axis=0) + wrench[PELVIS], beyond[:, -1].sum(axis=0) + inertia[PELVIS]
    momentum, on_leg = np.einsum("sjabt,sjkbt->sjkat", beyond, screw), np.einsum("sjkat,sjat->sjkt", screw, load)
    if curved.any():
        bend = _of_all_beyond(moment * curved)
        about = bend - load[:, :, 3:, None] * curved * centre[:, :, :1]
        trace = np.einsum("sjiit->sjt", about)[:, :, None, None]  # Z^T e - e tr Z of moments Z and axes e
        momentum[:, :, :, :3] -= np.einsum("sjbat,sjkbt->sjkat", about, bodies.axes) - bodies.axes * trace
        whole = bend[:, -1].sum(axis=0) + moment[PELVIS] * curved
        pelvis[:3, :3] -= (whole + np.swapaxes(whole, 0, 1)) / 2 - np.eye(3)[..., None] * np.einsum("iit->t", whole)
    over = find_excess(linkage, posture.angle)
    on_leg -= LIMIT_STIFFNESS_M2 * over
    cost += LIMIT_STIFFNESS_M2 / 2 * (over * over).sum(axis=(0, 1, 2))
    momentum, on_leg, screw, over = (
        part.reshape(2, 9, *part.shape[3:])[:, free] for part in (momentum, on_leg, screw, over)
    )
    # each element is of the momentum of all beyond the more distal of its two coordinates
    joint, axis = np.indices((3, 3)).reshape(2, 9)[:, free]
    order = 3 * joint - axis  # e1 turns with the proximal segment, e3 with the distal one
    of_pairs = np.einsum("spat,sqat->spqt", screw, momentum)
    leg = np.where((order[:, None] >= order)[..., None], of_pairs, np.swapaxes(of_pairs, 1, 2))
    diagonal = np.einsum("sppt->spt", leg)
    diagonal += LIMIT_STIFFNESS_M2 * (over != 0)
    return Normal(cost, pelvis, momentum, leg, on_pelvis, on_leg, screw)


def _of_all_beyond(parts: Array) -> Array:
    """Return the sums (side, joint, ..., time) over the bodies beyond each joint, of (7, ..., time) by body."""
    return running_sum(parts[:PELVIS].reshape(2, 3, *parts.shape[1:]), axis=1)


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


def find_step(normal: Normal, damping: Array | float, added: float = FLOOR) -> tuple[Array, Array]:
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


def whole_matrix(normal: Normal) -> Array:
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
