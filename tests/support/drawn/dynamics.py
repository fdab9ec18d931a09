"""Motion and loads of a whole person by Newton and Euler: positions, accelerations, the ground's wrench, joint moments.

A motion is a spline of degree 5 of one position and fifteen orientations, so that velocities and accelerations are its
derivatives, and what the ground must do follows without any approximation. Neither ``pipeline`` nor pinocchio is used;
the tests compare with pinocchio.

Lab axes: x forward, y up, z right, floor at y = 0; m, s, rad, N, N m.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from tests.support.whole_body.person import BODIES, PARENT, SIDES, Person

Array = NDArray[np.float64]

GRAVITY_M_S2 = 9.80665
UP = np.array([0.0, 1.0, 0.0])
NUMBER = {body: number for number, body in enumerate(BODIES)}
PARENTS = np.array([NUMBER[PARENT.get(body, body)] for body in BODIES])
LEG = ("foot", "shank", "thigh")  # in the order of the joints ankle, knee, hip


@dataclass(frozen=True)
class Body:
    """A person as arrays along her bodies.

    ``arm`` (body, 3): the joint nearer to the pelvis from that of the parent, parent's axes; ``com`` (body, 3) from
    this joint, ``tensor`` (body, 3, 3) about the centre of mass, own axes; ``mass`` (body,).
    """

    arm: Array
    com: Array
    tensor: Array
    mass: Array

    @classmethod
    def of(cls, person: Person) -> Body:
        origin = {body: np.zeros(3) for body in BODIES} | {"thorax": -person.waist_in_thorax}
        arms = [origin[PARENT[body]] + person.place[body] if body in PARENT else np.zeros(3) for body in BODIES]
        com = [origin[body] + person.com[body] for body in BODIES]
        return cls(
            np.array(arms),
            np.array(com),
            np.stack([person.tensor[body] for body in BODIES]),
            np.array([person.mass[body] for body in BODIES]),
        )


class Total(NamedTuple):
    """Force (time, 3) and moment (time, 3) about the lab origin."""

    force: Array
    moment: Array


@dataclass(frozen=True)
class State:
    """Where the bodies are at some instants, and how they move.

    ``turn`` (time, body, 3, 3): columns are the body's axes in the lab; ``spin``, ``spin_rate`` (time, body, 3) rad/s,
    rad/s2; ``joint`` (time, body, 3): the joint nearer to the pelvis, of the pelvis the midpoint of the hips; ``com``,
    ``velocity``, ``acceleration`` (time, body, 3): of the centres of mass. All in lab axes.
    """

    body: Body
    turn: Array
    spin: Array
    spin_rate: Array
    joint: Array
    com: Array
    velocity: Array
    acceleration: Array

    @cached_property
    def needed(self) -> tuple[Array, Array]:
        """Force (time, body, 3) and moment (time, body, 3) about the lab origin that accelerate each body."""
        force = self.body.mass[:, None] * (self.acceleration + GRAVITY_M_S2 * UP)
        spin, rate = (np.einsum("tbij,tbi->tbj", self.turn, of) for of in (self.spin, self.spin_rate))
        own = np.einsum("bij,tbj->tbi", self.body.tensor, rate)
        own += _cross(spin, np.einsum("bij,tbj->tbi", self.body.tensor, spin))
        return force, np.einsum("tbij,tbj->tbi", self.turn, own) + _cross(self.com, force)

    @property
    def ground(self) -> Total:
        """What the ground must do to the person."""
        force, moment = self.needed
        return Total(force.sum(axis=1), moment.sum(axis=1))

    @property
    def centre_of_mass(self) -> Array:
        return np.asarray(np.einsum("tbi,b->ti", self.com, self.body.mass) / self.body.mass.sum())

    def momentum(self) -> tuple[Array, Array]:
        """Return the linear momentum (time, 3) and the angular one about the lab origin."""
        linear = self.body.mass[:, None] * self.velocity
        spin = np.einsum("tbij,tbi->tbj", self.turn, self.spin)
        own = np.einsum("tbij,tbj->tbi", self.turn, np.einsum("bij,tbj->tbi", self.body.tensor, spin))
        return linear.sum(axis=1), (own + _cross(self.com, linear)).sum(axis=1)

    def leg_loads(self, ground_force: Array, ground_moment: Array) -> tuple[Array, Array]:
        """Return force and moment (time, side, joint, 3) on the segment below ankle, knee and hip, about the joint.

        Args:
            ground_force, ground_moment: on each foot (time, side, 3), the moment about the lab origin.
        """
        force, moment = self.needed
        loads = np.empty((2, len(force), len(SIDES), len(LEG), 3))
        for number, side in enumerate(SIDES):
            below, about = -ground_force[:, number], -ground_moment[:, number]
            for joint, segment in enumerate(LEG):
                part = NUMBER[f"{segment}_{side}"]
                below, about = below + force[:, part], about + moment[:, part]
                loads[0, :, number, joint] = below
                loads[1, :, number, joint] = about - np.cross(self.joint[:, part], below)
        return loads[0], loads[1]


@dataclass(frozen=True)
class Path:
    """A motion: a spline in time of the midpoint of the hips and of three angles of each body."""

    spline: BSpline

    @classmethod
    def through(cls, time: Array, pelvis: Array, turn: Array) -> Path:
        """Interpolate the midpoint of the hips (time, 3) and the axes (time, body, 3, 3), columns in the lab."""
        angles = np.unwrap(_angles(turn), axis=0).reshape(len(time), -1)
        return cls(make_interp_spline(time, np.hstack([pelvis, angles]), k=5))

    def at(self, body: Body, time: Array) -> State:
        """Return the state of a body at some instants (time,)."""
        orders = [self.spline(time, nu) for nu in range(3)]
        place, velocity, acceleration = (order[:, :3] for order in orders)
        value, first, second = (order[:, 3:].reshape(len(time), len(BODIES), 3) for order in orders)
        turn, spin, rate = _turned(value, first, second)
        joint, moves, speeds_up = np.empty((3, *spin.shape))
        joint[:, 0], moves[:, 0], speeds_up[:, 0] = place, velocity, acceleration
        arm = np.einsum("tbij,bj->tbi", turn[:, PARENTS], body.arm)
        swing = _cross(spin[:, PARENTS], arm)
        pull = _cross(rate[:, PARENTS], arm) + _cross(spin[:, PARENTS], swing)
        for number, parent in enumerate(PARENTS[1:], start=1):
            joint[:, number] = joint[:, parent] + arm[:, number]
            moves[:, number] = moves[:, parent] + swing[:, number]
            speeds_up[:, number] = speeds_up[:, parent] + pull[:, number]
        arm = np.einsum("tbij,bj->tbi", turn, body.com)
        swing = _cross(spin, arm)
        pull = _cross(rate, arm) + _cross(spin, swing)
        return State(body, turn, spin, rate, joint, joint + arm, moves + swing, speeds_up + pull)


def turned(y: Array, x: Array, z: Array) -> Array:
    """Return rotations (..., 3, 3) about the vertical, then the new x, then the new z axis; angles (...), rad."""
    return _turned(*np.stack([np.stack([y, x, z], axis=-1), *np.zeros((2, *y.shape, 3))]))[0]


def _angles(turn: Array) -> Array:
    """Return the angles (..., 3) about y, x and z of rotations (..., 3, 3)."""
    about_x = np.arcsin(np.clip(-turn[..., 1, 2], -1, 1))
    about_y = np.arctan2(turn[..., 0, 2], turn[..., 2, 2])
    return np.stack([about_y, about_x, np.arctan2(turn[..., 1, 0], turn[..., 1, 1])], axis=-1)


def _turned(value: Array, first: Array, second: Array) -> tuple[Array, Array, Array]:
    """Return rotation, angular velocity and acceleration from angles (..., 3) about y, x, z and their derivatives."""
    (cy, cx, cz), (sy, sx, sz) = np.moveaxis(np.cos(value), -1, 0), np.moveaxis(np.sin(value), -1, 0)
    turn = np.empty((*value.shape, 3))
    turn[..., 0, 0], turn[..., 0, 1], turn[..., 0, 2] = cy * cz + sy * sx * sz, sy * sx * cz - cy * sz, sy * cx
    turn[..., 1, 0], turn[..., 1, 1], turn[..., 1, 2] = cx * sz, cx * cz, -sx
    turn[..., 2, 0], turn[..., 2, 1], turn[..., 2, 2] = cy * sx * sz - sy * cz, sy * sz + cy * sx * cz, cy * cx
    about_x, about_z = np.zeros_like(value), turn[..., 2]
    about_x[..., 0], about_x[..., 2] = cy, -sy
    before = first[..., :1] * UP
    then = before + first[..., 1:2] * about_x
    spin = then + first[..., 2:] * about_z
    rate = second[..., :1] * UP + second[..., 1:2] * about_x + second[..., 2:] * about_z
    rate += _cross(before, first[..., 1:2] * about_x) + _cross(then, first[..., 2:] * about_z)
    return turn, spin, rate


def _cross(a: Array, b: Array) -> Array:
    """Return cross products (..., 3), in a third of the time of NumPy's."""
    result = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        result[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return result
