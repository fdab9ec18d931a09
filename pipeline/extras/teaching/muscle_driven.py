r"""Motion of a planar limb of one or two links that muscles drive, from their excitation.

The muscles of :mod:`.hill` pull along the strings of :mod:`.muscles`; their torques enter the equation of motion of
:mod:`.planar`::

    M(q) q'' + C(q, q') + G(q) = R(q)^T F(a, L, L')           L' = -R q'          a' of the excitation u(t)

With rigid tendons F follows from a, L and L'. With compliant tendons the lengths of the fibres are further states. The
work of the contractile elements is integrated alongside, so that the balance of energy tests the whole simulation::

    W = change of (kinetic + potential + passive elements + tendons)

Shapes: n joints, K muscles, time first. SI units; axes and signs of :mod:`.planar`.

Sources: Zajac FE, Gordon ME (1989) Determining muscle's force and action in multi-articular movement. Exerc Sport Sci
Rev 17:187-230; Pandy MG (2001) Computer modeling and simulation of human movement. Annu Rev Biomed Eng 3:245-273.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from . import hill as curves
from . import planar
from .hill import Hill
from .muscles import Muscle, joint_torques, lengths, moment_arms
from .planar import Links

LONGEST_STEP_S = 0.002  # fibres answer within some ms; a longer step could miss a burst of excitation


@dataclass(frozen=True)
class Limb:
    """A limb with muscles."""

    links: Links
    strings: Sequence[Muscle]  # the path of each muscle with its tendon
    hill: Hill  # (K,)
    gravity: Array  # (2,), m/s2
    compliant: bool  # whether the tendons stretch


class Course(NamedTuple):
    """A motion over time."""

    q: Array  # (time, n), rad
    qd: Array  # (time, n), rad/s
    activation: Array  # (time, K)
    fibre: Array  # (time, K), m
    force: Array  # (time, K) along the tendons, N
    work: Array  # (time, K) of the contractile elements since the first instant, J


def pull(limb: Limb, q: Array, qd: Array, activation: Array, fibre: Array) -> tuple[Array, Array, Array]:
    """Return the muscles' force along the tendon, N, and length and velocity of their fibres, m and m/s.

    Args:
        q, qd: (..., n), rad and rad/s.
        activation: (..., K).
        fibre: (..., K), m; with rigid tendons it is not used.
    """
    length = lengths(limb.links, limb.strings, q)
    if limb.compliant:
        rate = curves.fibre_rate(limb.hill, activation, fibre, length)
        return curves.elastic_force(limb.hill, fibre, length), fibre, rate
    velocity = -(moment_arms(limb.links, limb.strings, q) * qd[..., None, :]).sum(axis=-1)
    fibre, rate = curves.fibre_with_rigid_tendon(limb.hill, length, velocity)
    return curves.muscle_force(limb.hill, activation, fibre, rate), fibre, rate


def acceleration(limb: Limb, q: Array, qd: Array, force: Array) -> Array:
    """Return q'' (..., n), rad/s2, of forces along the tendons (..., K), N."""
    torque = joint_torques(moment_arms(limb.links, limb.strings, q), force)
    return planar.forward_dynamics(limb.links, q, qd, torque, limb.gravity)


def simulate(
    limb: Limb,
    q: Array,
    qd: Array,
    activation: Array,
    excitation: Callable[[float], Array],
    time: Array,
    *,
    tolerance: float = 1e-10,
) -> Course:
    """Return the motion from a start at which the fibres hold still against compliant tendons.

    Args:
        limb: one or two links with K muscles.
        q, qd, activation: (n,), (n,) and (K,), at the first instant.
        excitation: u (K,) of the time, s.
        time: (time,), s, ascending.
        tolerance: of one step, relative and absolute, in the units of the states.

    Raises:
        ArithmeticError: the integration stopped, for example because a muscle became shorter than its tendon.
        ValueError: a muscle is not longer than its tendon at the start.
    """
    from scipy.integrate import solve_ivp

    n, count = len(q), len(activation)
    fibre = curves.fibre_at_rest(limb.hill, activation, lengths(limb.links, limb.strings, q))
    ends = np.cumsum([n, n, count, count])

    def rate(t: float, state: Array) -> Array:
        q, qd, activation, fibre, _ = np.split(state, ends)
        force, fibre, speed = pull(limb, q, qd, activation, fibre)
        passive = limb.hill.max_force_n * curves.passive_force(fibre / limb.hill.optimal_length_m)
        power = -speed * (force / curves.pennation_cosine(limb.hill, fibre) - passive)  # of the contractile elements
        growth = curves.activation_rate(limb.hill, activation, excitation(t))
        stretch = speed if limb.compliant else 0 * speed
        return np.concatenate([qd, acceleration(limb, q, qd, force), growth, stretch, power])

    start = np.concatenate([q, qd, activation, fibre, 0 * activation])
    solution = solve_ivp(
        rate, (time[0], time[-1]), start, method="DOP853", t_eval=time, rtol=tolerance, atol=tolerance,
        max_step=LONGEST_STEP_S,
    )  # fmt: skip
    if not solution.success or not np.isfinite(solution.y).all():
        raise ArithmeticError(f"the integration stopped: {solution.message}")
    q, qd, activation, fibre, work = np.split(solution.y.T, ends, axis=-1)
    force, fibre, _ = pull(limb, q, qd, activation, fibre)
    return Course(q, qd, activation, fibre, force, work)


def energy(limb: Limb, course: Course) -> Array:
    """Return kinetic, potential, passive elements' and tendons' energy, (time, 4), J.

    The potential energy is zero if every centre of mass is level with the base.
    """
    length = lengths(limb.links, limb.strings, course.q)
    passive, tendon = curves.elastic_energy(limb.hill, course.fibre, length)
    if not limb.compliant:
        tendon = 0 * tendon
    mechanical = planar.energy(limb.links, course.q, course.qd, limb.gravity)
    return np.concatenate([mechanical, np.stack([passive.sum(axis=-1), tendon.sum(axis=-1)], axis=-1)], axis=-1)
