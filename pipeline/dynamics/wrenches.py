r"""Wrenches along a limb: joint loads for any observer, inertial or not.

A wrench is a force and a moment about a point. Wrenches about one point, in one frame, add up. So the wrench of a joint
is the sum over all segments beyond it, translated to the joint::

    joint wrench  =  dynamic wrench  -  weight  -  other loads  -  fictitious wrenches

The *dynamic* wrench follows by Newton and Euler from the motion **relative to the observer**. An accelerated observer,
such as one on a segment, adds the fictitious wrenches of their own motion as loads (D'Alembert's principle). With r, v,
a the position, velocity and acceleration of the centre of mass and w, w' the angular velocity and acceleration of the
segment, all relative to the observer, a_0 the acceleration of the observer's origin and W, W' the observer's angular
velocity and acceleration::

                  force               moment about the centre of mass
    dynamic       m a                 I w' + w x I w
    D'Alembert    -m a_0              0
    Euler         -m W' x r           -I W'
    centrifugal   -m W x (W x r)      -W x I W
    Coriolis      -2 m W x v          -(I (W x w) + W x I w + w x I W)

The joint wrench is the same for every observer, except for the axes of its components.

Shapes: vectors (..., 3), tensors (..., 3, 3); a chain has its segments, distal first, on the last of the leading
dimensions. All arguments broadcast. SI units. Floats or object arrays of symbols.

Sources: Goldstein H (1980) Classical Mechanics, section 4.10, for the forces; their moments are the sums of
rho x force over the body. Lynch KM, Park FC (2017) Modern Robotics, section 3.4. Mielke F (2020) "The N-segment
piglet limb", mielke-bio.info/falk, for the limb relative to its own segments.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .vectors import cross, rotate, running_sum

FICTITIOUS = ("dalembert", "euler", "centrifugal", "coriolis")


@dataclass(frozen=True)
class Wrench:
    """A force (..., 3) in N and a moment (..., 3) in N m about a point (..., 3) in m, coordinates of one frame."""

    force: Array
    moment: Array
    point: Array


@dataclass(frozen=True)
class Body:
    """A rigid segment and its motion relative to an observer, in the observer's coordinates.

    mass (...) in kg; inertia (..., 3, 3) about the centre of mass in kg m2; position, velocity and acceleration
    (..., 3) of the centre of mass in m, m/s, m/s2; angular velocity and acceleration (..., 3) in rad/s, rad/s2.
    """

    mass: Array
    inertia: Array
    position: Array
    velocity: Array
    acceleration: Array
    angular_velocity: Array
    angular_acceleration: Array


@dataclass(frozen=True)
class Observer:
    """A frame and its motion relative to the inertial lab; vectors in lab axes.

    rotation (..., 3, 3) with v_observer = rotation @ v_lab; position, velocity and acceleration (..., 3) of the
    origin in m, m/s, m/s2; angular velocity and acceleration (..., 3) in rad/s, rad/s2.
    """

    rotation: Array
    position: Array
    velocity: Array
    acceleration: Array
    angular_velocity: Array
    angular_acceleration: Array


def translate(wrench: Wrench, point: Array) -> Wrench:
    """Return the same wrench about another point: M_B = M_A + (r_A - r_B) x F."""
    if wrench.point is point:
        return wrench
    return Wrench(wrench.force, wrench.moment + cross(wrench.point - point, wrench.force), point)


def transform(wrench: Wrench, rotation: Array, origin: Array) -> Wrench:
    """Return the same wrench in coordinates x_new = rotation @ (x_old - origin)."""
    turned = (rotate(rotation, v) for v in (wrench.force, wrench.moment, wrench.point - origin))
    return Wrench(*turned)


def total(*wrenches: Wrench) -> Wrench:
    """Return the sum of wrenches, about the point of the first."""
    force, moment = wrenches[0].force, wrenches[0].moment
    for other in wrenches[1:]:
        moved = translate(other, wrenches[0].point)
        force, moment = force + moved.force, moment + moved.moment
    return Wrench(force, moment, wrenches[0].point)


def opposite(wrench: Wrench) -> Wrench:
    """Return the reaction wrench."""
    return Wrench(-wrench.force, -wrench.moment, wrench.point)


def turn_tensor(rotation: Array, inertia: Array) -> Array:
    """Return R I R^T, a tensor in the axes that ``rotation`` turns into; (..., 3, 3)."""
    each = inertia + 0 * rotation  # memory order of the rotation, for constant tensors too
    half = np.einsum("...ij,...jk->...ik", rotation, each)
    return np.asarray(np.einsum("...ik,...lk->...il", half, rotation))


def parallel_axis(mass: Array, arm: Array) -> Array:
    """Return m (r.r E - r r^T), the change of a tensor at r from the centre of mass."""
    square = (arm * arm).sum(axis=-1)[..., None, None] * np.eye(3, dtype=int)
    return np.asarray(np.asarray(mass)[..., None, None] * (square - arm[..., :, None] * arm[..., None, :]))


def observe(body: Body, observer: Observer) -> Body:
    """Return a body of the lab relative to the observer, the observer's coordinates.

    With everything rotated into the observer's axes, c and o the centre of mass and the observer's origin::

        v = c' - o' - W x r          a = c'' - o'' - W' x r - W x (W x r) - 2 W x v
        w = w_lab - W                w' = w'_lab - W' - W x w
    """
    turn = observer.rotation
    W, W_rate = rotate(turn, observer.angular_velocity), rotate(turn, observer.angular_acceleration)
    r = rotate(turn, body.position - observer.position)
    v = rotate(turn, body.velocity - observer.velocity) - cross(W, r)
    transport = cross(W_rate, r) + cross(W, cross(W, r)) + 2 * cross(W, v)
    w = rotate(turn, body.angular_velocity) - W
    return Body(
        mass=body.mass,
        inertia=turn_tensor(turn, body.inertia),
        position=r,
        velocity=v,
        acceleration=rotate(turn, body.acceleration - observer.acceleration) - transport,
        angular_velocity=w,
        angular_acceleration=rotate(turn, body.angular_acceleration) - W_rate - cross(W, w),
    )


def dynamic(body: Body) -> Wrench:
    """Return m a and I w' + w x I w about the centre of mass."""
    spin, inertia = body.angular_velocity, body.inertia
    moment = rotate(inertia, body.angular_acceleration) + cross(spin, rotate(inertia, spin))
    return Wrench(_times(body.mass, body.acceleration), moment, body.position)


def weight(body: Body, gravity: Array) -> Wrench:
    """Return m g at the centre of mass; gravity (..., 3) in the observer's axes, m/s2."""
    force = _times(body.mass, gravity + 0 * body.position)
    return Wrench(force, 0 * force, body.position)


def fictitious(body: Body, observer: Observer) -> dict[str, Wrench]:
    """Return the fictitious wrenches on a body, by name in :data:`FICTITIOUS`."""
    turn = observer.rotation
    a_0, W, W_rate = (
        rotate(turn, x) for x in (observer.acceleration, observer.angular_velocity, observer.angular_acceleration)
    )
    r, v, w, inertia = body.position, body.velocity, body.angular_velocity, body.inertia
    coriolis = rotate(inertia, cross(W, w)) + cross(W, rotate(inertia, w)) + cross(w, rotate(inertia, W))
    needed = (
        (a_0 + 0 * r, 0 * r),
        (cross(W_rate, r), rotate(inertia, W_rate)),
        (cross(W, cross(W, r)), cross(W, rotate(inertia, W))),
        (2 * cross(W, v), coriolis),
    )
    return {
        name: Wrench(-_times(body.mass, acceleration), -moment, r)
        for name, (acceleration, moment) in zip(FICTITIOUS, needed, strict=True)
    }


def joint_wrenches(
    bodies: Body, joint: Array, observer: Observer, gravity: Array, *loads: Wrench, tip: Wrench | None = None
) -> Wrench:
    """Return the wrench on each segment of a chain at its proximal joint.

    Args:
        bodies: the segments, distal first, relative to the observer; (..., N, 3).
        joint: (..., N, 3), proximal joint of each, the observer's coordinates, m.
        observer: fields (..., 1, 3) where they vary with time.
        gravity: (..., 3), acceleration of gravity, the observer's axes, m/s2.
        loads: other loads on each segment, the observer's coordinates; (..., N, 3).
        tip: the load on the free end, the observer's coordinates; (..., 1, 3).

    Returns:
        Of the next proximal body on each segment, about ``joint``, the observer's coordinates; (..., N, 3).
    """
    counted = (weight(bodies, gravity), *fictitious(bodies, observer).values(), *loads)
    return up_the_chain(total(dynamic(bodies), opposite(total(*counted))), joint, tip=tip)


def up_the_chain(needed: Wrench, joint: Array, *, tip: Wrench | None = None) -> Wrench:
    """Return joint wrenches (..., N, 3) from the wrench that each segment needs.

    W_i = W_(i-1) + needed_i with W_0 = -tip, the wrench of the chain's end on its surroundings: a running sum about one
    point, here the root joint.
    """
    root = joint[..., -1:, :]
    about_root = translate(needed, root)
    force, moment = (running_sum(part, axis=-2) for part in (about_root.force, about_root.moment))
    if tip is not None:
        ending = translate(tip, root)
        force, moment = force - ending.force, moment - ending.moment
    return translate(Wrench(force, moment, root), joint)


def _times(mass: Array, vector: Array) -> Array:
    """Return mass (...) times vector (..., 3)."""
    return np.asarray(np.asarray(mass)[..., None] * vector)
