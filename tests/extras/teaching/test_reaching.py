"""Reaching: minimum-jerk paths, joint angles and their rates, torques by speed."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given

from pipeline.errors import UserError
from pipeline.extras.teaching import planar
from pipeline.extras.teaching.planar import Links, torque_terms
from pipeline.extras.teaching.reaching import angles_at, joint_rates, minimum_jerk, reach
from tests.support.walks.person import PROPERTY, SEED, Array, close, derivative

ARM = planar.rods(np.array([2.0, 1.5]), np.array([0.33, 0.3]))
START, END = np.array([-0.2, 0.3]), np.array([0.25, 0.45])


def random_arm(rng: np.random.Generator) -> Links:
    return planar.rods(rng.uniform(1, 3, 2), rng.uniform(0.2, 0.5, 2))


# ---- minimum jerk


def test_path_has_the_least_jerk() -> None:
    """Its sixth derivative is zero (Euler and Lagrange) between rest and rest: one polynomial has this property."""
    time = np.linspace(0, 0.8, 50)
    position, velocity, acceleration = minimum_jerk(START, END, time, duration_s=0.8)
    s = sp.Symbol("s")
    unknown = sp.symbols("a:6")
    way = sum(a * s**k for k, a in enumerate(unknown))  # all with a sixth derivative of zero
    ends = [way.diff(s, k).subs(s, at) - (at if k == 0 else 0) for k in range(3) for at in (0, 1)]
    way = way.subs(sp.solve(ends, unknown))
    for k, found in enumerate((position - START, velocity, acceleration)):
        expected = np.array([float(way.diff(s, k).subs(s, x / 0.8)) for x in time]) / 0.8**k
        close(found, expected[:, None] * (END - START))
    assert sp.integrate(way.diff(s, 3) ** 2, (s, 0, 1)) == 720


def test_any_other_path_has_more_jerk() -> None:
    s = np.linspace(0, 1, 2001)
    acceleration = minimum_jerk(np.zeros(1), np.ones(1), s, duration_s=1)[2][:, 0]

    def cost(amount: float) -> float:
        """Return the jerk with s^4 (1 - s)^4 added, at rest at both ends."""
        other = amount * s**2 * (1 - s) ** 2 * (12 - 56 * s + 56 * s**2)
        return float((np.diff(acceleration + other) ** 2).sum() / s[1])

    assert cost(0) == pytest.approx(720, rel=1e-5)  # jerk from differences of 1/2000
    assert cost(10) == pytest.approx(cost(-10))  # the least of a parabola
    assert cost(10) > 750


def test_hand_rests_before_and_after_and_is_fastest_midway() -> None:
    time = np.array([-1.0, 0, 0.3, 0.6, 2])
    position, velocity, acceleration = minimum_jerk(START, END, time, duration_s=0.6)
    close(position, np.stack([START, START, (START + END) / 2, END, END]))
    close(velocity, np.outer([0, 0, 15 / 8 / 0.6, 0, 0], END - START))
    close(acceleration, 0 * position)


# ---- joint angles


@given(SEED)
@PROPERTY
def test_both_solutions_put_the_tip_in_place(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arm, q = random_arm(rng), rng.uniform(-np.pi, np.pi, (20, 2))
    place = planar.tip(arm, q)
    found = angles_at(arm, place)
    close(planar.tip(arm, found), np.broadcast_to(place[:, None], found.shape))
    close(found[:, 0, 1], -found[:, 1, 1])
    assert (found[:, 0, 1] >= 0).all()
    own = found[np.arange(20), (q[:, 1] < 0).astype(int)]
    # one of them is the original, up to whole turns; near straight or folded limbs the error is the root of rounding
    np.testing.assert_allclose(np.exp(1j * own), np.exp(1j * q), rtol=0, atol=1e-6)


def test_straight_and_folded_limbs_have_one_solution() -> None:
    for elbow in (0, np.pi):
        q = np.array([0.7, elbow])
        for found in angles_at(ARM, planar.tip(ARM, q)):
            np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * q), rtol=0, atol=1e-6)


def test_out_of_reach_is_missing_and_nothing_else() -> None:
    far = ARM.length.sum()
    near = ARM.length[0] - ARM.length[1]
    place = np.array([[far + 1e-9, 0], [0, far - 1e-9], [near - 1e-9, 0], [0, near + 1e-9], [np.nan, 0]])
    assert (np.isnan(angles_at(ARM, place)).all(axis=(1, 2)) == [True, False, True, False, True]).all()


def test_rates_are_derivatives_of_the_angles() -> None:
    time = np.linspace(0.1, 0.7, 7)  # inside the movement, away from its ends
    path = minimum_jerk(START, END, time, duration_s=0.8)
    q, qd, qdd = reach(ARM, START, END, time, duration_s=0.8)
    close(planar.tip(ARM, q), path[0])

    def angles(at: Array) -> Array:
        return angles_at(ARM, minimum_jerk(START, END, at, duration_s=0.8)[0])[:, 0]

    # steps of 10 ms in a movement of 0.8 s: (w h)^8 / 630 with w some 20 rad/s
    close(qd, derivative(angles, time), 1e-7)
    close(qdd, derivative(lambda at: derivative(angles, at), time, 0.005), 1e-5)


def test_rates_of_a_straight_limb_are_missing() -> None:
    q = np.array([[0.3, 0.5], [0.3, 0], [0.3, np.pi]])
    for rate in joint_rates(ARM, q, np.ones((3, 2)), np.ones((3, 2))):
        assert (np.isnan(rate).all(axis=1) == [False, True, True]).all()
        assert (np.isnan(rate).any(axis=1) == [False, True, True]).all()


# ---- paths that no motion of the joints follows

TIME = np.linspace(0, 0.8, 41)


def test_a_reach_from_a_straight_limb_says_what_to_do() -> None:
    straight = planar.tip(ARM, np.array([-np.pi / 2, 0]))
    with pytest.raises(UserError) as caught:
        reach(ARM, straight, END, TIME, duration_s=0.8)
    assert str(caught.value) == (
        "reach, at 0.000 s: the limb is straight, where the second joint would need an acceleration without limit; "
        "bend the second joint a little there, for example by 5 degrees"
    )
    bent = planar.tip(ARM, np.array([-np.pi / 2, np.radians(5)]))
    assert np.isfinite(reach(ARM, bent, END, TIME, duration_s=0.8)).all()


def test_acceleration_near_a_straight_start_grows_without_limit() -> None:
    """q_2 is proportional to the root of the way, t^(3/2), so that q_2'' is proportional to t^(-1/2)."""
    straight = planar.tip(ARM, np.array([-np.pi / 2, 0]))
    qdd = reach(ARM, straight, END, np.array([4e-3, 1e-3]), duration_s=0.8)[2][:, 1]
    assert qdd[1] / qdd[0] == pytest.approx(2, rel=0.02)  # the next order is the share of the time, 4 ms of .8 s
    assert qdd[0] > 20


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (np.array([0.9, 0.3]), r"the tip is .* m away, but the limb reaches from 0\.030 to 0\.630 m; choose start"),
        (2 * np.array([0.2, -0.3]), r"reaches from 0\.030 to 0\.630 m"),
        (0.03 * START / np.linalg.norm(START), "the limb is folded"),
    ],
)
def test_a_path_out_of_reach_or_to_a_folded_limb_is_refused(end: Array, message: str) -> None:
    with pytest.raises(UserError, match=message):
        reach(ARM, START, end, TIME, duration_s=0.8)


# ---- speed


def torques(duration_s: float, gravity: Array) -> Array:
    """Return the terms of a reach at the same 101 points of its path."""
    time = np.linspace(0, duration_s, 101)
    return torque_terms(ARM, *reach(ARM, START, END, time, duration_s=duration_s), gravity)
