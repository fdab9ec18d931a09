"""A person's linkage: its coordinates, the poses of its bodies, and a step of the coordinates.

Segments are joined at the joint centres, and turn about them by the joint angles (Cardan Z-X-Y about e1, e2, e3 of
:mod:`pipeline.body.joint_angles`). Time is last in all arrays. Sides are left and right; joints ankle, knee, hip;
segments foot, shank, thigh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...conventions import CHAIN
from ...dynamics.screws import exponential

Frames = slice | NDArray[np.intp] | Flags
PELVIS = 6  # index of the pelvis among the bodies, after foot, shank, thigh of the left and the right leg


def body_number(side: int, segment: str) -> int:
    """Return the index of a segment of a side, 0 left or 1 right, among the bodies."""
    return PELVIS if segment == "pelvis" else 3 * side + CHAIN.index(segment)


class Linkage(NamedTuple):
    """A person's linkage."""

    place: Array  # (marker, 3), of each marker in the axes of its body from the body's origin, m
    body: NDArray[np.intp]  # (marker,), index of its body: foot, shank, thigh of the left leg, of the right leg, pelvis
    weight: Array  # (marker,), of its squared distance, about 1; a marker without weight does not pull
    joint: Array  # (side, 3, 3), joint centres in the axes of their proximal body from its origin, m
    neutral: Array  # (side, 3, 3), right-handed joint angles that fixed coordinates keep, rad
    free: Flags  # (3, 3), whether the angle of a joint is free
    limits: Array  # (2, side, 3, 3), least and greatest right-handed angle, rad; infinite for none


def only_markers(linkage: Linkage, rows: NDArray[np.intp]) -> Linkage:
    """Return the linkage with some of its markers."""
    return linkage._replace(place=linkage.place[rows], body=linkage.body[rows], weight=linkage.weight[rows])


@dataclass
class Posture:
    """Coordinates of the linkage."""

    rotation: Array  # (3, 3, time) of the pelvis, v_segment = rotation @ v_lab
    origin: Array  # (3, time) of the pelvis, m
    angle: Array  # (side, joint, 3, time), right-handed, rad

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


def find_excess(linkage: Linkage, angle: Array) -> Array:
    """Return by how much joint angles (side, joint, 3, time) are beyond their limits, rad; 0 within."""
    least, greatest = linkage.limits[..., None]
    return np.asarray(np.maximum(angle - greatest, 0) + np.minimum(angle - least, 0))


def pose_bodies(linkage: Linkage, posture: Posture) -> Bodies:
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
    (c1, c2, c3), (s1, s2, s3) = c.swapaxes(0, 1), s.swapaxes(0, 1)
    rows = [
        [c1 * c3 - s1 * s2 * s3, s1 * c3 + c1 * s2 * s3, -c2 * s3],
        [-s1 * c2, c1 * c2, s2],
        [c1 * s3 + s1 * s2 * c3, s1 * s3 - c1 * s2 * c3, c2 * c3],
    ]
    return np.array(rows).transpose(2, 0, 1, 3)


def take_step(linkage: Linkage, posture: Posture, step: Array) -> Posture:
    """Return the posture after a step: the pelvis by the exponential of its twist, the joints by their angles."""
    turn = exponential(step[:6].T).transpose(1, 2, 0)
    angle = posture.angle.copy()
    angle.reshape(2, 9, -1)[:, linkage.free.ravel()] += step[6:].reshape(2, -1, step.shape[-1])
    return Posture(
        np.einsum("ijt,kjt->ikt", posture.rotation, turn[:3, :3]),
        np.einsum("ijt,jt->it", turn[:3, :3], posture.origin) + turn[:3, 3],
        angle,
    )
