"""Moment arms of muscles on a planar limb, by virtual work and by the lever.

A muscle is a frictionless string through points fixed on links (origin, via points, insertion), with the same tension
f >= 0 all along. If a joint turns by dq, the string does the work -f dL: its moment arm is

    R = -dL/dq        positive where the muscle's pull turns the joint counterclockwise, towards larger q

(in m, the same as m/rad), and tau = R^T f. The lever gives the same: only the straight parts of the string that cross
a joint turn it, each by r x u, r from the joint to the part's distal end and u the direction from there.

Axes, angles and links are those of :mod:`.planar`, for any number of links. Shapes: K muscles, n joints; everything
broadcasts over ``...`` (time).

Sources: An KN, Takahashi K, Harrigan TP, Chao EY (1984) J Biomech Eng 106:280-282; Sherman MA, Seth A, Delp SL (2013)
What is a moment arm? Proc ASME IDETC, DETC2013-13633.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from .planar import Links, absolute, across, along, joints


@dataclass(frozen=True)
class Muscle:
    """The points of a muscle in order, no two neighbours in one place.

    link (k,): the link of each point, 0 for the body that carries the limb; point (k, 2): from the proximal joint of
    its link, x along the link, y a quarter turn counterclockwise from it; base axes on link 0; m.
    """

    link: Sequence[int]
    point: Array


def path(links: Links, muscle: Muscle, q: Array) -> Array:
    """Return the points of a muscle in base axes, (..., k, 2), m."""
    places, link = joints(links, q), list(muscle.link)
    start = np.concatenate([places[..., :1, :], places[..., :-1, :]], axis=-2)[..., link, :]
    angle = absolute(np.concatenate([0 * q[..., :1], q], axis=-1))[..., link]
    return np.asarray(start + muscle.point[:, :1] * along(angle) + muscle.point[:, 1:] * across(along(angle)))


def lengths(links: Links, muscles: Sequence[Muscle], q: Array) -> Array:
    """Return the length of each muscle, (..., K), m."""
    steps = (np.diff(path(links, muscle, q), axis=-2) for muscle in muscles)
    return np.stack([np.sqrt((step**2).sum(axis=-1)).sum(axis=-1) for step in steps], axis=-1)


def moment_arms(links: Links, muscles: Sequence[Muscle], q: Array) -> Array:
    """Return R = -dL/dq (..., K, n), m, by the points' motion along the string."""
    hinge = joints(links, q)[..., :-1, None, :]
    rows = []
    for muscle in muscles:
        points = path(links, muscle, q)
        beyond = np.array(muscle.link) > np.arange(q.shape[-1])[:, None]  # joint, point
        moved = beyond[..., None] * across(points[..., None, :, :] - hinge)
        direction = _unit(np.diff(points, axis=-2))[..., None, :, :]
        rows.append(-(np.diff(moved, axis=-2) * direction).sum(axis=(-1, -2)))
    return np.stack(rows, axis=-2)


def levers(links: Links, muscles: Sequence[Muscle], q: Array) -> Array:
    """Return R (..., K, n), m, from the levers r x u of parts that cross a joint."""
    hinges = joints(links, q)[..., :-1, :]
    rows = []
    for muscle in muscles:
        points = path(links, muscle, q)
        row = 0 * q
        for k, pair in enumerate(zip(muscle.link, muscle.link[1:], strict=False)):
            far, near = (k + 1, k) if pair[1] > pair[0] else (k, k + 1)
            pull = _unit(points[..., near, :] - points[..., far, :])[..., None, :]
            for joint in range(min(pair), max(pair)):
                r = points[..., far, :] - hinges[..., joint, :]
                row[..., joint] += (across(r) * pull[..., 0, :]).sum(axis=-1)
        rows.append(row)
    return np.stack(rows, axis=-2)


def joint_torques(arms: Array, force: Array) -> Array:
    """Return tau = R^T f (..., n), N m, of muscle forces (..., K), N."""
    return np.asarray((arms * force[..., None]).sum(axis=-2))


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.sqrt((vector**2).sum(axis=-1))[..., None])
