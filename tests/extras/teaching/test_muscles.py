"""Moment arms: virtual work, levers and the triangle all agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extras.teaching import muscles, planar
from pipeline.extras.teaching.muscles import Muscle, joint_torques, lengths, levers, moment_arms
from tests.support.walks.person import PROPERTY, SEED, Array, close, derivative

ARM = planar.rods(np.array([2.0, 1.5]), np.array([0.33, 0.3]))
A, B = 0.25, 0.04
FLEXOR = Muscle((1, 2), np.array([[ARM.length[0] - A, 0], [B, 0]]))
ACROSS_BOTH = Muscle((0, 1, 2), np.array([[0.02, 0.05], [0.2, 0.04], [B, 0.01]]))


def random_muscles(rng: np.random.Generator, n: int) -> list[Muscle]:
    """Return muscles with two to five points on any links in any order."""
    counts = rng.integers(2, 6, size=4)
    return [Muscle(tuple(rng.integers(0, n + 1, k)), 0.2 * rng.normal(size=(k, 2))) for k in counts]


@given(SEED, st.integers(1, 3))
@PROPERTY
def test_arm_is_minus_the_slope_of_the_length_and_the_lever(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    links, strings = planar.rods(np.ones(n), rng.uniform(0.2, 0.5, n)), random_muscles(rng, n)
    q = rng.uniform(-np.pi, np.pi, (4, n))
    arms = moment_arms(links, strings, q)
    close(levers(links, strings, q), arms)
    for joint, unit in enumerate(np.eye(n)):

        def length(s: Array, unit: Array = unit) -> Array:
            return lengths(links, strings, q + s[:, None, None] * unit)

        # steps of 1 mrad avoid the kink of the length where a part of the string has length zero
        close(arms[..., joint], -derivative(length, np.zeros(1), 1e-3)[0], 1e-8)


@given(SEED)
@PROPERTY
def test_muscles_work_as_much_as_their_torques(seed: int) -> None:
    """Virtual work: tau . dq = - f . dL, for any motion of both joints."""
    rng = np.random.default_rng(seed)
    strings, q, qd, force = random_muscles(rng, 2), *rng.normal(size=(2, 2)), rng.uniform(0, 500, 4)
    torque = joint_torques(moment_arms(ARM, strings, q), force)
    shortening = -derivative(lambda s: lengths(ARM, strings, q + qd * s[:, None]), np.zeros(1), 1e-3)[0]
    assert torque @ qd == pytest.approx(force @ shortening, abs=1e-5)  # of some 100 W; differences good to 1e-8 m


def test_triangle_of_a_muscle_over_one_joint() -> None:
    """Sides a and b from the elbow enclose pi - q2: L^2 = a^2 + b^2 + 2 a b cos q2 and R = a b sin q2 / L."""
    q = np.stack([np.linspace(-3, 3, 13), np.linspace(0.1, 3, 13)], axis=-1)
    length = np.sqrt(A**2 + B**2 + 2 * A * B * np.cos(q[:, 1]))
    close(lengths(ARM, [FLEXOR], q)[:, 0], length)
    close(moment_arms(ARM, [FLEXOR], q)[:, 0], np.stack([0 * length, A * B * np.sin(q[:, 1]) / length], axis=-1))


def test_largest_arm_is_where_the_muscle_meets_the_forearm_at_a_right_angle() -> None:
    """Then R = b; cos q2 = -b / a."""
    q = np.array([0.2, np.arccos(-B / A)])
    arm = moment_arms(ARM, [FLEXOR], q)[0, 1]
    assert arm == pytest.approx(B)
    for change in (-0.1, 0.1):
        assert moment_arms(ARM, [FLEXOR], np.array([q[0], q[1] + change]))[0, 1] < arm


def test_muscle_within_one_link_turns_nothing() -> None:
    within = Muscle((2, 2), np.array([[0.05, 0.01], [0.2, 0.02]]))
    close(moment_arms(ARM, [within], np.array([0.4, 0.9])), np.zeros((1, 2)))


def test_pull_turns_the_joint_towards_larger_angles_where_the_arm_is_positive() -> None:
    """From rest, in a horizontal plane: the flexor bends the elbow, its mirror image stretches it."""
    q, rest = np.array([0.3, 0.8]), np.zeros(2)
    mirror = Muscle((1, 2), np.array([[0.1, -0.03], [-B, 0]]))
    for muscle, sign in ((FLEXOR, 1), (mirror, -1)):
        arms = moment_arms(ARM, [muscle], q)
        torque = joint_torques(arms, np.array([100.0]))
        assert sign * arms[0, 1] > 0
        assert sign * planar.forward_dynamics(ARM, q, rest, torque)[1] > 0


def test_torques_of_a_muscle_over_two_joints_follow_from_statics() -> None:
    """The last part of the string pulls the forearm at its insertion, like a force on the tip of a shorter limb."""
    q, force = np.array([0.5, 0.9]), 300.0
    points = muscles.path(ARM, ACROSS_BOTH, q)
    stretch = points[-2] - points[-1]
    pull = force * stretch / np.linalg.norm(stretch)
    elbow = planar.joints(ARM, q)[1]
    arm = points[-1] - elbow
    torque = joint_torques(moment_arms(ARM, [ACROSS_BOTH], q), np.array([force]))
    assert torque[1] == pytest.approx(arm[0] * pull[1] - arm[1] * pull[0])
    upper = points[0] - points[1]
    pull = force * upper / np.linalg.norm(upper)
    assert torque[0] == pytest.approx(points[1][0] * pull[1] - points[1][1] * pull[0])


def test_matrix_has_a_row_per_muscle_and_a_column_per_joint() -> None:
    q = np.full((7, 5, 2), 0.8)
    arms = moment_arms(ARM, [FLEXOR, ACROSS_BOTH, FLEXOR], q)
    assert arms.shape == (7, 5, 3, 2)
    assert joint_torques(arms, np.ones((7, 5, 3))).shape == (7, 5, 2)
