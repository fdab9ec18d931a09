r"""A limb as an open chain of six one-degree-of-freedom joints per anatomical joint, one instant at a time.

A twist is (angular velocity, velocity of the point at the origin), a wrench (moment about the origin, force). Segments
follow their own markers: each anatomical joint has three slides, along the axes of the proximal segment, and three
hinges, along the joint coordinate axes through the joint centre. Each is a joint of the chain; the links between them
are massless. At a single instant, all twists and wrenches can be written in one inertial frame (lab axes; any origin
and velocity, best near the limb). No transformation between links is needed there, and the recursions become running
sums::

    V_i  = V_(i-1)  + S_i q'_i                               out, from the base
    V'_i = V'_(i-1) + S_i q''_i + ad(V_i) S_i q'_i
    F_i  = F_(i+1)  + G_i (V'_i - g) - ad(V_i)^T G_i V_i - E_i        back, from the tip
    tau_i = F_i . S_i

with the screw axes S_i = (w, v), spatial inertias G_i and loads E_i (moment, force) of this instant.

A slide (0, s) has no location, and the three hinges of a joint pass through its centre c: (e, c x e). So neither
screws nor spatial inertias are built as matrices. Contributions of each motion: :mod:`.interaction_torques`.

Shapes: N segments, **from the base outwards**, six joints each, slides before hinges; poses and twists have the base as
an additional first entry (N+1). Leading ``...`` time, side; fastest in Fortran order, which results have. SI units, lab
axes.

Sources: Featherstone R (2008) Rigid Body Dynamics Algorithms, table 5.1, for the recursion in base coordinates;
Grood ES, Suntay WJ (1983) J Biomech Eng 105:136-144 for slides and hinges of an anatomical joint.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .vectors import apply, cross, dot, rotate, running_sum, sum_from_last, transpose
from .wrenches import turn_tensor

SLIDES, HINGES = slice(0, 3), slice(3, 6)


class Inertia(NamedTuple):
    """Spatial inertias G = [[tensor, [moment]], [[moment]^T, mass E]]; those of several bodies add up.

    mass (..., N) in kg; moment m c (..., N, 3) in kg m; tensor (..., N, 3, 3) about the frame's origin in kg m2.
    """

    mass: Array
    moment: Array
    tensor: Array


@dataclass(frozen=True)
class Limb:
    """The limb at one instant, lab axes.

    slides, hinges (..., N, 3, 3): axes of the six joints of each anatomical joint, one per row; centre (..., N, 3) of
    the anatomical joints from the frame's origin, m; inertia of the segments.
    """

    slides: Array
    hinges: Array
    centre: Array
    inertia: Inertia


class Motion(NamedTuple):
    """Twists and joint rates of the limb.

    twist, twist_rate: V and V' (..., N+1, 6), base first; rate, acceleration: q' and q'' (..., N, 6) of slides (m/s,
    m/s2) and hinges (rad/s, rad/s2); push, pull, drift: S q', S q'' and ad(V) S q' (..., N, 2, 6), each summed over the
    slides and over the hinges.
    """

    twist: Array
    twist_rate: Array
    rate: Array
    acceleration: Array
    push: Array
    pull: Array
    drift: Array


def limb_at(rotation: Array, axes: Array, centre: Array, mass: Array, com: Array, inertia: Array) -> Limb:
    """Return the limb of one instant.

    Args:
        rotation: (..., N+1, 3, 3), v_segment = rotation @ v_lab, the base first.
        axes: (..., N, 3, 3), joint coordinate axes as rows, unit vectors in lab axes.
        centre: (..., N, 3), joint centres from the frame's origin, lab axes, m.
        mass: (..., N), kg.
        com: (..., N, 3), centres of mass from the frame's origin, lab axes, m.
        inertia: (..., N, 3, 3), about the centres of mass, segment axes, kg m2.
    """
    turn = rotation[..., 1:, :, :]
    tensor = turn_tensor(transpose(turn), inertia)
    moment = mass[..., None] * com
    tensor -= moment[..., :, None] * com[..., None, :]
    square = dot(moment, com)
    for k in range(3):
        tensor[..., k, k] += square
    return Limb(rotation[..., :-1, :, :], axes, centre, Inertia(mass, moment, tensor))


def twists(spin: Array, spin_rate: Array, point: Array, velocity: Array, acceleration: Array) -> tuple[Array, Array]:
    """Return V and V' (..., 6) of a body from the motion of one of its points.

    All vectors are (..., 3) in lab axes. V = (w, v - w x r) and V' = (w', a - w' x r - w x v), r from the frame's
    origin and v against the frame.
    """
    twist = np.concatenate([spin, velocity - cross(spin, point)], axis=-1)
    rate = acceleration - cross(spin_rate, point) - cross(spin, velocity)
    return twist, np.concatenate([spin_rate, rate], axis=-1)


def joint_motion(limb: Limb, twist: Array, twist_rate: Array) -> Motion:
    """Return joint rates and accelerations from the twists (..., N+1, 6) of segments.

    Solves S q' = V_i - V_(i-1) and S q'' = V'_i - V'_(i-1) - (sum of ad(V) S q') of each anatomical joint: no angle is
    differentiated. Near gimbal lock the hinge axes become linearly dependent and the result grows without bound.
    """
    dual = dual_basis(limb.hinges)
    rate = _resolve(limb, dual, twist[..., 1:, :] - twist[..., :-1, :])
    push = _push(limb, rate)
    drift = _drift(limb, twist[..., :-1, :], rate, push)
    acceleration = _resolve(limb, dual, twist_rate[..., 1:, :] - twist_rate[..., :-1, :] - _both(drift))
    return Motion(twist, twist_rate, rate, acceleration, push, _push(limb, acceleration), drift)


def dual_basis(axes: Array) -> Array:
    """Return the dual basis (..., 3, 3) of three axes; inf or NaN if coplanar.

    Its rows split a rotation vector into rotations about the axes.
    """
    dual = np.empty_like(axes)
    for k in range(3):
        dual[..., k, :] = cross(axes[..., k - 2, :], axes[..., k - 1, :])
    volume = dot(axes[..., 0, :], dual[..., 0, :])
    with np.errstate(invalid="ignore", divide="ignore"):
        dual /= volume[..., None, None]
    return dual


def _resolve(limb: Limb, dual: Array, difference: Array) -> Array:
    """Return S^-1 (w, v): hinges by their dual basis, slides by the rest of v."""
    turning, moving = difference[..., :3], difference[..., 3:]
    slides = rotate(limb.slides, moving - cross(limb.centre, turning))
    return np.concatenate([slides, rotate(dual, turning)], axis=-1)


def _push(limb: Limb, rate: Array) -> Array:
    """Return S q' summed over the slides and over the hinges, (..., N, 2, 6)."""
    push = np.zeros((*rate.shape[:-1], 2, 6), order="F")
    push[..., 0, 3:] = rotate(transpose(limb.slides), rate[..., SLIDES])
    push[..., 1, :3] = rotate(transpose(limb.hinges), rate[..., HINGES])
    push[..., 1, 3:] = cross(limb.centre, push[..., 1, :3])
    return push


def _drift(limb: Limb, below: Array, rate: Array, push: Array) -> Array:
    """Return ad(V) S q' (..., N, 2, 6), summed over slides and over hinges.

    V is that of the segments ``below``. A slide (0, s) gives (0, w x s). No hinge moves c, which has one velocity v, so
    that a hinge that turns by p, (p, c x p), gives (w x p, v x p + c x (w x p)).
    """
    spin, slid, turned = below[..., :3], push[..., 0, 3:], push[..., 1, :3]
    first, second, third = (limb.hinges[..., k, :] * rate[..., 3 + k, None] for k in range(3))
    drift = np.zeros(push.shape, order="F")
    drift[..., 0, 3:] = cross(spin, slid)
    drift[..., 1, :3] = cross(spin, turned) + cross(first, second) + cross(first + second, third)
    velocity = below[..., 3:] + slid + cross(spin, limb.centre)
    drift[..., 1, 3:] = cross(velocity, turned) + cross(limb.centre, drift[..., 1, :3])
    return drift


class Recursion(NamedTuple):
    """Loads of the limb.

    torque (..., N, 6) in N m (slides: N); wrench (..., N, 6) on each segment at its proximal joint, moment about the
    frame's origin and force; static: the part of it due to weight and external loads.
    """

    torque: Array
    wrench: Array
    static: Array


def inverse_dynamics(limb: Limb, motion: Motion, gravity: Array, load: Array) -> Recursion:
    """Return the joint loads by recursion, outwards for motion, then back for loads.

    Args:
        gravity: (3,), acceleration of gravity, m/s2.
        load: (..., N, 6), of the surroundings on each segment: moment about the frame's origin, force.
    """
    twist = motion.twist[..., :1, :] + running_sum(_both(motion.push), axis=-2)
    rate = motion.twist_rate[..., :1, :] + running_sum(_both(motion.pull) + _both(motion.drift), axis=-2)
    turning = dual_commutator(twist, momentum(limb.inertia, twist))
    heavy = limb.inertia.mass[..., None] * gravity + 0 * limb.inertia.moment
    static = sum_from_last(-np.concatenate([cross(limb.inertia.moment, gravity), heavy], axis=-1) - load, axis=-2)
    wrench = sum_from_last(momentum(limb.inertia, rate) + turning, axis=-2) + static
    about_centre = wrench[..., :3] - cross(limb.centre, wrench[..., 3:])
    torque = np.concatenate([rotate(limb.slides, wrench[..., 3:]), rotate(limb.hinges, about_centre)], axis=-1)
    return Recursion(torque, wrench, static)


def dual_commutator(twist: Array, wrench: Array) -> Array:
    """Return -ad(V)^T F = (w x m + v x f, w x f) of a twist and a wrench, (..., 6)."""
    spin, velocity, moment, force = twist[..., :3], twist[..., 3:], wrench[..., :3], wrench[..., 3:]
    return np.concatenate([cross(spin, moment) + cross(velocity, force), cross(spin, force)], axis=-1)


def momentum(inertia: Inertia, twist: Array, *, out: Array | None = None) -> Array:
    """Return G V = (tensor w + m c x v, m v - m c x w), (..., 6), in ``out`` if given."""
    spin, velocity = twist[..., :3], twist[..., 3:]
    result = np.empty_like(twist) if out is None else out
    np.add(rotate(inertia.tensor, spin), cross(inertia.moment, velocity), out=result[..., :3])
    np.subtract(inertia.mass[..., None] * velocity, cross(inertia.moment, spin), out=result[..., 3:])
    return result


def hinge_jacobians(axes: Array, centre: Array, point: Array) -> tuple[Array, Array]:
    """Return the Jacobians of hinge rates.

    A joint moves all segments from its own outwards.

    Args:
        axes: (..., N, 3, 3), hinge axes as rows; centre: (..., N, 3), joint centres.
        point: (..., N, 3), a point of each segment.

    Returns:
        Transposed Jacobians (..., N, 3 N, 3): angular velocities, and velocities of the points, per hinge rate.
    """
    count = axes.shape[-3]
    reached = np.tril(np.ones((count, count)))[:, :, None, None]
    turning = axes[..., None, :, :, :] * reached
    moving = cross(turning, (point[..., :, None, :] - centre[..., None, :, :])[..., None, :])
    shape = (*turning.shape[:-3], 3 * count, 3)
    return turning.reshape(shape), moving.reshape(shape)


def hinge_mass_matrix(turning: Array, moving: Array, mass: Array, tensor: Array) -> Array:
    """Return M (..., 3 N, 3 N) of the hinges, with base and slides fixed.

    M is the sum of m Jv^T Jv + Jw^T I Jw.

    Args:
        turning, moving: of :func:`hinge_jacobians` for the centres of mass.
        mass: (..., N), kg.
        tensor: (..., N, 3, 3), about the centres of mass, lab axes, kg m2.
    """
    by_mass = (mass[..., None, None] * moving) @ transpose(moving)
    return np.asarray((by_mass + turning @ tensor @ transpose(turning)).sum(axis=-3))


def task_space(mass: Array, bias: Array, jacobian: Array, jacobian_rate: Array, qd: Array) -> tuple[Array, Array]:
    """Return inertia Lambda and bias eta of the task x' = J q': f = Lambda x'' + eta.

    Lambda = (J M^-1 J^T)^-1 and eta = Lambda (J M^-1 h - J' q'), where tau = M q'' + h; f, the task load equivalent to
    tau, is Lambda J M^-1 tau, or J^-T tau for a square J.

    Args:
        mass: (..., n, n), M(q).
        bias: (..., n), h: velocity, gravity and load terms.
        jacobian, jacobian_rate: (..., k, n), k <= n independent rows.
        qd: (..., n).

    Source: Lynch and Park, section 8.6; Khatib O (1987) IEEE J Robot Autom 3:43-53 for k < n.
    """
    through = transpose(np.asarray(np.linalg.solve(mass, transpose(jacobian))))  # J M^-1, as M is symmetric
    inertia = np.asarray(np.linalg.inv(through @ transpose(jacobian)))
    return inertia, apply(inertia, apply(through, bias) - apply(jacobian_rate, qd))


def _both(groups: Array) -> Array:
    """Return the sum (..., 6) over slides and hinges (..., 2, 6)."""
    return np.asarray(groups[..., 0, :] + groups[..., 1, :])
