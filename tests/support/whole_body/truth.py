"""What is true of a moving whole person, by pinocchio (recursive Newton-Euler), independently of ``pipeline``.

The ground's forces follow from the motion: together they are the wrench that the free-floating pelvis needs. The
horizontal path of the pelvis is chosen so that the centre of pressure stays under the feet.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tests.support.whole_body import jets
from tests.support.whole_body.motions import HARMONICS, UP, Motion, Moved, moved
from tests.support.whole_body.person import BODIES, JOINT_OF, PARENT, SIDES, Person

Array = NDArray[np.float64]

GRAVITY_M_S2 = 9.80665
AXIS = list("xyz")
ROUNDS, SAMPLES = 12, 96  # of the balance, and instants of a period in it
AGAINST = 0.03  # with which the feet push against each other in double support, share of the weight


class _Chain(NamedTuple):
    """The model of pinocchio, and each body's origin (3,) and centre of mass (3,) from its joint, in its axes, m."""

    pin: Any
    model: Any
    origin: dict[str, Array]
    com: dict[str, Array]


class _States(NamedTuple):
    """Configurations (time, nq), velocities (time, nv) and accelerations (time, nv) of the model."""

    q: Array
    v: Array
    a: Array


class _Instants(NamedTuple):
    """By time and joint of the model: place (4, 4) in the lab; twist, change and load (6,) in own axes, linear first.

    By time: ``whole`` (3, 3) has place, velocity and acceleration of the centre of mass, ``momentum`` (2, 3) the
    angular momentum about it and its rate.
    """

    place: Array
    twist: Array
    change: Array
    load: Array
    whole: Array
    momentum: Array


def generated(person: Person, kind: str, seed: int = 0, *, belt_m_s: float = 0.0, slope_rad: float = 0.0) -> Motion:
    """Return a motion of a person who is balanced.

    Args:
        kind: one of ``MOTIONS``, or ``STILL``.
        seed: of its phases.
        belt_m_s: of a treadmill, for a walk; ``Motion(kind, seed).speed_m_s(person)`` keeps her in her place.
        slope_rad: of the ground, uphill positive.
    """
    return replace(balanced(person, kind, seed, slope_rad), belt_m_s=belt_m_s)


@cache
def balanced(person: Person, kind: str, seed: int, slope_rad: float) -> Motion:
    """Return a motion with a sway of the pelvis that brings the centre of pressure to where the feet press.

    A pendulum of the height of the centre of mass answers each wave of the centre of pressure by a known wave.
    """
    chain, motion = _chain(person), Motion(kind, seed, slope_rad=slope_rad)
    time = motion.period_s * np.arange(SAMPLES) / SAMPLES
    wave = 2 * np.pi * np.arange(HARMONICS + 1) / motion.period_s
    answer = 1 / (1 + 0.57 * person.height_m / GRAVITY_M_S2 * wave**2)
    for _ in range(ROUNDS):
        poses = moved(person, motion, time)
        pressed = _pressed_by(_needed(chain, _states(chain, poses)), poses.normal)
        missing = np.einsum("ts,tsi->ti", poses.share, poses.pressed) - pressed
        amplitudes = np.fft.rfft(missing[:, [0, 2]], axis=0)[: HARMONICS + 1].T / SAMPLES
        amplitudes[:, 1:] *= 2
        motion = replace(motion, sway=motion.sway + answer * amplitudes)
    return motion


def truth(person: Person, motion: Motion, time: Array) -> xr.Dataset:
    """Return all that is true at the instants (time,), s.

    Lab axes x forward, y up, z right; N, N m, kg, m, s, rad. Along ``body`` (pelvis, thorax, head, arms, legs):

    - ``rotation`` (time, body, local_axis, axis): v_body = rotation . v_lab
    - ``angular_velocity``, ``angular_acceleration`` (time, body, local_axis): in the body's axes
    - ``origin``, ``com``, ``com_velocity``, ``com_acceleration`` (time, body, axis): see ``Person`` for origins
    - ``angular_momentum_part`` (time, body, axis): about the whole-body centre of mass
    - ``mass`` (body,), ``local_com`` (body, local_axis) from the origin, ``tensor`` about the centre of mass

    Along ``joint``, loads of the segment nearer to the pelvis on the one further away, about the joint centre:

    - ``joint_centre``, ``joint_force``, ``joint_moment`` (time, joint, axis): lab axes
    - ``joint_moment_local`` (time, joint, local_axis): in the axes of the segment further away
    - ``joint_power`` (time, joint): moment times relative angular velocity, W

    Of the whole body: ``centre_of_mass``, ``centre_of_mass_velocity``, ``centre_of_mass_acceleration``,
    ``angular_momentum``, ``angular_momentum_rate`` (time, axis); ``residual`` (time, 6): force and moment that the
    pelvis lacks, about its origin, zero to rounding. Of the ground on the feet, left and right: ``ground_force``,
    ``ground_moment`` about the lab origin, ``centre_of_pressure`` on the floor (time, side, axis), ``free_moment``
    (time, side) about the normal of the floor.
    """
    chain, poses = _chain(person), moved(person, motion, time)
    return truth_of(person, poses, _on_feet(_needed(chain, _states(chain, poses)), poses), time)


def truth_of(person: Person, poses: Moved, on_feet: dict[str, Array], time: Array) -> xr.Dataset:
    """Return what :func:`truth` returns of any poses of a person, with the ground's ``on_feet`` (time, side, ...)."""
    chain = _chain(person)
    states = _states(chain, poses)
    result = xr.Dataset(
        {name: (("time", "side", "axis")[: value.ndim], value) for name, value in on_feet.items()}
        | {
            "mass": ("body", [person.mass[body] for body in BODIES]),
            "local_com": (("body", "local_axis"), [person.com[body] for body in BODIES]),
            "tensor": (("body", "local_axis", "local_axis_2"), [person.tensor[body] for body in BODIES]),
        },
        {"time": time, "body": list(BODIES), "joint": list(JOINT_OF.values()), "side": list(SIDES), "axis": AXIS},
    ).assign_coords(local_axis=AXIS, local_axis_2=AXIS)
    every = _instants(chain, states, _wrenches(on_feet))
    of_bodies = _stacked([_of_body(chain, every, body) for body in BODIES])
    of_joints = _stacked([_of_joint(chain, every, body) for body in JOINT_OF])
    for along, values in ((("body",), of_bodies), (("joint",), of_joints), ((), _of_whole(every))):
        for name, value in values.items():
            result[name] = (("time", *along, *_LAST.get(name, ("axis",))), value)
    return result


def _stacked(parts: list[dict[str, Array]]) -> dict[str, Array]:
    return {name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]}


_LAST: dict[str, tuple[str, ...]] = {
    "rotation": ("local_axis", "axis"),
    "residual": ("component",),
    "joint_power": (),
    **dict.fromkeys(("angular_velocity", "angular_acceleration", "joint_moment_local"), ("local_axis",)),
}


def ground(person: Person, motion: Motion, time: Array) -> dict[str, Array]:
    """Return the ground's forces of :func:`truth` by name, (time, side, ...), which are fast to compute."""
    poses, chain = moved(person, motion, time), _chain(person)
    return _on_feet(_needed(chain, _states(chain, poses)), poses)


def _chain(person: Person) -> _Chain:
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = -GRAVITY_M_S2 * UP
    origin = {body: np.zeros(3) for body in BODIES} | {"thorax": -person.waist_in_thorax}
    com = {body: origin[body] + person.com[body] for body in BODIES}
    number: dict[str | None, int] = {}
    for body in BODIES:
        parent = PARENT.get(body)
        joint = pin.JointModelSpherical() if parent else pin.JointModelFreeFlyer()
        place = origin[parent] + person.place[body] if parent else np.zeros(3)
        number[body] = model.addJoint(number.get(parent, 0), joint, pin.SE3(np.eye(3), place), body)
        inertia = pin.Inertia(person.mass[body], com[body], person.tensor[body])
        model.appendBodyToJoint(number[body], inertia, pin.SE3.Identity())
    return _Chain(pin, model, origin, com)


def _states(chain: _Chain, poses: Moved) -> _States:
    q, v, a = ([], [], [])  # type: tuple[list[Array], list[Array], list[Array]]
    for body in BODIES:
        own = poses.axes[body]
        back = poses.axes[PARENT[body]].transposed() if body in PARENT else np.eye(3)
        relative = back @ own
        if body not in PARENT:
            moves = jets.product(lambda m, x: np.einsum("tji,tj->ti", m, x), own, _velocity(poses.pelvis))
            q.append(poses.pelvis.value)
            v.append(moves.value)
            a.append(moves.first)
        rate, change = jets.spin(relative)
        q.append(Rotation.from_matrix(relative.value).as_quat())
        v.append(rate)
        a.append(change)
    return _States(np.hstack(q), np.hstack(v), np.hstack(a))


def _velocity(path: jets.Jet) -> jets.Jet:
    return jets.Jet(path.first, path.second)  # its second derivative is not used


def _needed(chain: _Chain, states: _States) -> Array:
    """Return force and moment (time, 6) about the lab origin, lab axes, that the ground must apply."""
    pin, data = chain.pin, chain.model.createData()
    wrenches = []
    for q, v, a in zip(*states, strict=True):
        pin.rnea(chain.model, data, q, v, a)
        pin.forwardKinematics(chain.model, data, q)  # rnea leaves the poses in the lab as they were
        wrenches.append(data.oMi[1].act(data.f[1]).vector)
    return np.array(wrenches)


def _pressed_by(wrench: Array, normal: Array) -> Array:
    """Return the centre of pressure (time, 3) of wrenches (time, 6) about the lab origin, which is on the floor."""
    force, moment = wrench[:, :3], wrench[:, 3:]
    return np.asarray(np.cross(normal, moment) / (force @ normal)[:, None])


def _on_feet(needed: Array, poses: Moved) -> dict[str, Array]:
    """Return the wrench of each foot: both have a share of the force, and push against each other.

    Each presses where planned, both shifted alike to where the total presses; the free moment is shared too.
    """
    share, total = poses.share[..., None], _pressed_by(needed, poses.normal)
    pressed = poses.pressed + (total - (share * poses.pressed).sum(axis=1))[:, None]
    apart = pressed[:, 1] - pressed[:, 0]
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    push = AGAINST * 4 * share.prod(axis=1) * needed[:, 1:2] * apart
    force = share * needed[:, None, :3] + np.stack([-push, push], axis=1)
    left = needed[:, 3:] - np.cross(pressed, force).sum(axis=1)
    free = poses.share * (left @ poses.normal)[:, None]
    moment = np.cross(pressed, force) + free[..., None] * poses.normal
    return {"ground_force": force, "ground_moment": moment, "centre_of_pressure": pressed, "free_moment": free}


def _wrenches(on_feet: dict[str, Array]) -> Array:
    return np.concatenate([on_feet["ground_force"], on_feet["ground_moment"]], axis=-1)


def _instants(chain: _Chain, states: _States, on_feet: Array) -> _Instants:
    """Return what pinocchio finds at each instant."""
    pin, model, data = chain.pin, chain.model, chain.model.createData()
    rows = []
    for q, v, a, wrenches in zip(*states, on_feet, strict=True):
        pin.forwardKinematics(model, data, q)
        feet = {f"foot_{side}": wrench for side, wrench in zip(SIDES, wrenches, strict=True)}
        outside = pin.StdVec_Force()
        for name, place in zip(model.names, data.oMi, strict=True):
            outside.append(place.actInv(pin.Force(feet[name])) if name in feet else pin.Force.Zero())
        pin.rnea(model, data, q, v, a, outside)
        load = np.array([force.vector for force in data.f])
        pin.forwardKinematics(model, data, q, v, a)  # the accelerations of rnea include gravity
        pin.centerOfMass(model, data, q, v, a)
        whole = np.array([part[0] for part in (data.com, data.vcom, data.acom)])
        place, twist, change = np.array([one.homogeneous for one in data.oMi]), np.array(data.v), np.array(data.a)
        pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        rows.append((place, twist, change, load, whole, np.array([data.hg.angular, data.dhg.angular])))
    return _Instants(*map(np.array, zip(*rows, strict=True)))


def _of_whole(every: _Instants) -> dict[str, Array]:
    names = ("centre_of_mass", "centre_of_mass_velocity", "centre_of_mass_acceleration")
    momenta = zip(("angular_momentum", "angular_momentum_rate"), every.momentum.swapaxes(0, 1), strict=True)
    return {"residual": every.load[:, 1], **dict(zip(names, every.whole.swapaxes(0, 1), strict=True)), **dict(momenta)}


def _of_body(chain: _Chain, every: _Instants, body: str) -> dict[str, Array]:
    number = chain.model.getJointId(body)
    turn, origin = every.place[:, number, :3, :3], every.place[:, number, :3, 3]
    (shift, spin), (shift_rate, spin_rate) = (
        (part[:, number, :3], part[:, number, 3:]) for part in (every.twist, every.change)
    )
    arm, inertia = chain.com[body], chain.model.inertias[number]
    velocity = shift + np.cross(spin, arm)
    acceleration = shift_rate + np.cross(spin_rate, arm) + np.cross(spin, velocity)
    com, com_velocity = origin + turn @ arm, _apply(turn, velocity)
    about = np.cross(com - every.whole[:, 0], com_velocity - every.whole[:, 1])
    return {
        "rotation": turn.swapaxes(1, 2),
        "angular_velocity": spin,
        "angular_acceleration": spin_rate,
        "origin": origin + turn @ chain.origin[body],
        "com": com,
        "com_velocity": com_velocity,
        "com_acceleration": _apply(turn, acceleration),
        "angular_momentum_part": _apply(turn, spin @ inertia.inertia) + inertia.mass * about,
    }


def _of_joint(chain: _Chain, every: _Instants, body: str) -> dict[str, Array]:
    number, nearer = chain.model.getJointId(body), chain.model.getJointId(PARENT[body])
    turn, load = every.place[:, number, :3, :3], every.load[:, number]
    spin, other = (_apply(every.place[:, one, :3, :3], every.twist[:, one, 3:]) for one in (number, nearer))
    moment = _apply(turn, load[:, 3:])
    return {
        "joint_centre": every.place[:, number, :3, 3],
        "joint_force": _apply(turn, load[:, :3]),
        "joint_moment": moment,
        "joint_moment_local": load[:, 3:],
        "joint_power": (moment * (spin - other)).sum(axis=1),
    }


def _apply(turns: Array, vectors: Array) -> Array:
    return np.asarray(np.einsum("tij,tj->ti", turns, vectors))
