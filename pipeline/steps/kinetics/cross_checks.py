"""Cross-checks of every trial by other formulations of the same physics, and interaction torques.

The stored loads of the legs are running sums (:mod:`pipeline.dynamics.kernel`). The legs are solved again from the
same motion and loads: by the block matrix, assembled and solved as one system in each frame; as sums of wrenches for
an observer on the shank; and as an open chain of six one-degree-of-freedom joints per anatomical joint, by recursion
and in closed form. All must agree to rounding; the closed form also gives interaction torques.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...body.legs import OUTWARDS, Legs
from ...conventions import JOINTS
from ...dynamics import block_matrix, limb, wrenches
from ...dynamics.interaction_torques import contributions
from ...dynamics.vectors import cross, rotate, transpose

FORMULATIONS = ("block_matrix", "wrenches", "recursion", "closed_form")
CAUSES = (*JOINTS, "pelvis", "translation")  # of `contributions`, in reverse


class Loads(NamedTuple):
    """Loads of the proximal segment on the distal one, (time, side, joint, 3).

    Force and moment in lab axes, N and N m, and the right-handed projections of the moment on the joint axes.
    """

    force: Array
    moment: Array
    torque: Array


class OpenLegs(NamedTuple):
    """Loads of the legs as open chains by recursion and in closed form, and interaction torques.

    Interaction torques: (time, side, joint, 3, cause, motion), N m, on the joint axes with clinical signs.
    """

    recursion: Loads
    closed_form: Loads
    interaction: Array


def disagreement(stored: Loads, others: Mapping[str, Loads]) -> Array:
    """Return the largest differences from the stored loads at each instant, (time, formulation, load), N and N m.

    Moments are compared as vectors and, where known, as projections on the joint axes. NaN if nothing is known.

    Args:
        others: the loads by each of :data:`FORMULATIONS`, which give the order of the result.

    Raises:
        ValueError: loads of other formulations.
    """
    if others.keys() != {*FORMULATIONS}:
        raise ValueError(f"loads of {', '.join(others)} instead of {', '.join(FORMULATIONS)}")
    rows = []
    for name in FORMULATIONS:
        off = (a - b for a, b in zip(others[name], stored, strict=True))
        force, moment, torque = (np.fmax.reduce(np.abs(one, out=one), axis=(1, 2, 3)) for one in off)
        rows.append([force, np.fmax(moment, torque)])
    return np.moveaxis(np.array(rows), -1, 0)


def one_system(legs: Legs) -> Loads:
    """Return the joint loads, lab axes, of the 18 x 18 block matrix of each leg, assembled and solved in each frame."""
    segments = legs.segments()
    force, moment = block_matrix.solve_as_one_system(segments)
    in_lab = rotate(transpose(segments.rotation), moment)
    return Loads(force, in_lab, _on_axes(legs, in_lab))


def wrenches_on_the_shank(legs: Legs) -> Loads:
    """Return the joint loads, lab axes, as an observer on the shank computes them.

    The shank rotates and accelerates, so that this observer needs fictitious wrenches
    (:func:`pipeline.dynamics.wrenches.fictitious`).
    """
    segments, shank = slice(0, 3), slice(1, 2)
    turn = legs.rotation[:, :, segments]
    bodies = wrenches.Body(
        mass=legs.mass,
        inertia=wrenches.turn_tensor(transpose(turn), legs.inertia),
        position=legs.com,
        velocity=legs.com_velocity,
        acceleration=legs.com_acceleration,
        angular_velocity=legs.spin[:, :, segments],
        angular_acceleration=legs.spin_rate[:, :, segments],
    )
    rider = wrenches.Observer(
        rotation=legs.rotation[:, :, shank],
        position=legs.com[:, :, shank],
        velocity=legs.com_velocity[:, :, shank],
        acceleration=legs.com_acceleration[:, :, shank],
        angular_velocity=legs.spin[:, :, shank],
        angular_acceleration=legs.spin_rate[:, :, shank],
    )
    to_rider, origin = rider.rotation, rider.position
    ground = wrenches.Wrench(
        legs.ground_force[:, :, None], legs.ground_moment[:, :, None], np.zeros_like(legs.ground_force[:, :, None])
    )
    wrench = wrenches.joint_wrenches(
        wrenches.observe(bodies, rider),
        rotate(to_rider, legs.centre - origin),
        rider,
        rotate(to_rider, np.broadcast_to(legs.gravity, origin.shape)),
        tip=wrenches.transform(ground, to_rider, origin),
    )
    force, moment = (rotate(transpose(to_rider), part) for part in (wrench.force, wrench.moment))
    return Loads(force, moment, _on_axes(legs, moment))


def open_chain(legs: Legs) -> OpenLegs:
    """Return the legs solved as open chains; NaN where a joint is in gimbal lock."""
    at, motion = chain_motion(legs)
    origin = legs.centre[:, :, -1]
    load = np.zeros((*at.centre.shape[:-1], 6), order="F")
    load[:, :, -1, :3] = legs.ground_moment - cross(origin, legs.ground_force)
    load[:, :, -1, 3:] = legs.ground_force
    recursion = limb.inverse_dynamics(at, motion, legs.gravity, load)
    by_cause = contributions(at, motion)  # (..., joint, motion, cause, 6)
    total = by_cause.sum(axis=(-2, -3)) + recursion.static
    about_centre, force = by_cause[..., :3], by_cause[..., 3:]
    about_centre -= cross(at.centre[..., None, None, :], force)
    clinical = at.hinges * legs.signs[:, OUTWARDS, :, None]
    torque = rotate(clinical[..., None, None, :, :], about_centre)
    by_recursion = _loads(legs, at, recursion.wrench)._replace(torque=recursion.torque[:, :, OUTWARDS, limb.HINGES])
    return OpenLegs(by_recursion, _loads(legs, at, total), torque[:, :, OUTWARDS, :, ::-1].transpose(0, 1, 2, 5, 4, 3))


def chain_motion(legs: Legs) -> tuple[limb.Limb, limb.Motion]:
    """Return the legs as limbs from the hip outwards, and their motion.

    At each instant the inertial frame has the axes of the lab and the place and velocity of the hip centre. In gimbal
    lock the axes are NaN: the rates of the hinges would be amplified rounding.
    """
    axes = np.where(legs.locked[..., None, None], np.nan, legs.axes)
    origin, drift = legs.centre[:, :, -1:], legs.centre_velocity[:, :, -1:]
    com, centre = (part[:, :, OUTWARDS] - origin for part in (legs.com, legs.centre))
    at = limb.limb_at(
        legs.rotation[:, :, OUTWARDS],
        axes[:, :, OUTWARDS],
        centre,
        legs.mass[:, OUTWARDS],
        com,
        legs.inertia[:, OUTWARDS],
    )
    still = np.zeros_like(origin)
    point, velocity, acceleration = (
        np.concatenate([base, rest], axis=2)
        for base, rest in (
            (still, com),
            (still, legs.com_velocity[:, :, OUTWARDS] - drift),
            (legs.centre_acceleration[:, :, -1:], legs.com_acceleration[:, :, OUTWARDS]),
        )
    )
    twists = limb.twists(legs.spin[:, :, OUTWARDS], legs.spin_rate[:, :, OUTWARDS], point, velocity, acceleration)
    return at, limb.joint_motion(at, *twists)


def _loads(legs: Legs, at: limb.Limb, wrench: Array) -> Loads:
    """Return the loads at the joint centres from wrenches about the origin, hip first."""
    moment = (wrench[..., :3] - cross(at.centre, wrench[..., 3:]))[:, :, OUTWARDS]
    return Loads(wrench[:, :, OUTWARDS, 3:], moment, _on_axes(legs, moment))


def _on_axes(legs: Legs, moment: Array) -> Array:
    """Return the projections of moments on the joint axes."""
    return rotate(legs.axes, moment)
