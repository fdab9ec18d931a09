"""Wrenches: exact results by symbols for a limb of three point masses and any observer."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from pipeline.dynamics.vectors import rotate
from pipeline.dynamics.wrenches import Body, Observer, fictitious, joint_wrenches, observe, transform
from tests.support.dynamics.random_states import in_lab

t = sp.Symbol("t", real=True)
LENGTHS, MASSES = (sp.Rational(4, 5), sp.Rational(3, 5), sp.Rational(2, 5)), (7, 5, 3)
RATES = (1, 2, 4)  # rad/s, of each segment relative to the previous one


def symbols(*rows: Any) -> Any:
    return np.array(rows, dtype=object)


def rate_of(vector: Any) -> Any:
    return np.vectorize(lambda x: sp.diff(x, t), otypes=[object])(vector)


def limb() -> tuple[Body, Any, list[Observer]]:
    """Return the segments (distal first) in the lab, their proximal joints and an observer on each (proximal first).

    The frame of a segment has its origin in its proximal joint, y along the segment away from it, z along the axes
    of the joints.
    """
    joint, angle = symbols(0, 0, 0), sp.Integer(0)
    zero, coms, joints, spins, observers = symbols(0, 0, 0), [], [], [], []
    for length, rate in zip(LENGTHS, RATES, strict=True):
        angle += rate * t
        x, y = sp.cos(angle), sp.sin(angle)
        along, spin = symbols(x, y, 0), symbols(0, 0, sp.diff(angle, t))
        turn = symbols([y, -x, 0], [x, y, 0], [0, 0, 1])
        observers.append(Observer(turn, joint, rate_of(joint), rate_of(rate_of(joint)), spin, zero))
        coms.append(joint + along * length / 2)
        joints.append(joint)
        spins.append(spin)
        joint = joint + along * length
    com, spin = np.stack(coms[::-1]), np.stack(spins[::-1])
    mass = symbols(*(sp.Rational(m, 10) for m in MASSES[::-1]))
    tensor = np.zeros((3, 3, 3), dtype=object)
    bodies = Body(mass, tensor, com, rate_of(com), rate_of(rate_of(com)), spin, rate_of(spin))
    return bodies, np.stack(joints[::-1]), observers


def is_zero(expression: Any) -> bool:
    return bool(sp.expand(sp.expand(sp.sympify(expression).rewrite(sp.exp))) == 0)


def test_limb_of_three_point_masses_for_any_observer() -> None:
    """The wrench of the second segment on the third, at their joint, in the axes of the third (Mielke 2020).

    Joints P0, P1, P2 and frames A, B, C are those of the first, second and third segment, so P2 is the joint between
    the second and the third. C turns at 4 rad/s against B and at 6 rad/s against A: hence 4t and 6t. Each product is a
    mass of 3/10 kg times a centripetal acceleration: 3/10 . 3/5 . 3^2 = 81/50 of the second segment's end,
    3/10 . 4/5 . 1^2 = 6/25 of the first's and 3/10 . 1/5 . 7^2 = 147/50 of the mass itself, which is 1/5 m away.
    """
    bodies, joints, (on_a, on_b, on_c) = limb()
    s4, c4, s6, c6 = sp.sin(4 * t), sp.cos(4 * t), sp.sin(6 * t), sp.cos(6 * t)
    q = sp.Rational
    force = symbols(-q(81, 50) * s4 - q(6, 25) * s6, -q(81, 50) * c4 - q(6, 25) * c6 - q(147, 50), 0)
    moment = symbols(0, 0, q(81, 250) * s4 + q(6, 125) * s6)
    zero = symbols(0, 0, 0)
    lab = Observer(np.eye(3, dtype=int).astype(object), *(zero,) * 5)
    for observer in (lab, on_a, on_b, on_c):
        there = rotate(observer.rotation, joints - observer.position)
        found = joint_wrenches(observe(bodies, observer), there, observer, zero)
        in_c = transform(in_lab(found, observer), on_c.rotation, on_c.position)
        for value, expected in zip(
            [*in_c.force[0], *in_c.moment[0], *in_c.point[0]], [*force, *moment, *zero], strict=True
        ):
            assert is_zero(value - expected)


def test_limb_takes_every_kind_of_wrench() -> None:
    """For an observer on the second segment, all fictitious wrenches but Euler's act on the third."""
    bodies, _, (_, on_b, _) = limb()
    found = fictitious(observe(bodies, on_b), on_b)
    acting = {name for name, wrench in found.items() if not all(is_zero(x) for x in wrench.force[0])}
    assert acting == {"dalembert", "centrifugal", "coriolis"}
