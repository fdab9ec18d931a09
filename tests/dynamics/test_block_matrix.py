"""The block matrix: against Newton for particles, statics, Euler's free top, and its own symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.dynamics.block_matrix import inverse_dynamics, right_hand_sides, solve, solve_as_one_system, system_matrix
from pipeline.dynamics.kernel import TERMS
from pipeline.dynamics.vectors import transpose
from tests.support.dynamics.random_states import (
    DOWN,
    FRAMES,
    MOVING,
    Chain,
    both_sides,
    close,
    random_chain,
    segments_of,
)
from tests.support.walks.person import PROPERTY, ROUNDING, SEED, Array, particles

LENGTH = st.integers(2, 6)


def still(chain_com: Array, chain_joint: Array, mass: Array, **changes: Array) -> Chain:
    """Return one frame of a chain at rest, segment axes along the lab's, inertia 1 about every axis."""
    shape = (1, len(mass), 3)
    none, eye = np.zeros(shape), np.broadcast_to(np.eye(3), (*shape, 3))
    chain = Chain(eye, mass, eye[0], chain_com[None], chain_joint[None], none, none, none, none, none)
    return chain._replace(**changes)


def by_term(chain: Chain) -> tuple[Array, Array]:
    return inverse_dynamics(segments_of(chain))


def loads(chain: Chain) -> tuple[Array, Array]:
    """Return joint forces and moments (frame, segment, 3)."""
    force, moment = by_term(chain)
    return force.sum(axis=1), moment.sum(axis=1)


def to_lab(rotation: Array, vector: Array) -> Array:
    return np.asarray((transpose(rotation) @ vector[..., None])[..., 0])


# ---- algebra


@given(SEED, LENGTH)
@PROPERTY
def test_determinant_is_one_and_forward_substitution_is_the_solution_of_the_system(seed: int, n: int) -> None:
    chain = random_chain(seed, n)
    matrix = system_matrix(segments_of(chain))
    assert matrix.shape == (FRAMES, 6 * n, 6 * n)
    np.testing.assert_allclose(np.linalg.det(matrix), 1, rtol=ROUNDING)
    assert not np.triu(matrix, 1).any()
    for substituted, solved in zip(loads(chain), solve_as_one_system(segments_of(chain)), strict=True):
        close(substituted, solved)


@given(SEED, LENGTH)
@PROPERTY
def test_terms_sum_to_the_solution_of_the_summed_right_hand_side(seed: int, n: int) -> None:
    chain = random_chain(seed, n)
    segments = segments_of(chain)
    whole = solve(segments, *(part.sum(axis=1, keepdims=True) for part in right_hand_sides(segments)))
    for terms, total in zip(by_term(chain), whole, strict=True):
        close(terms.sum(axis=1), total[:, 0])


@given(SEED)
@PROPERTY
def test_each_term_depends_on_its_cause_alone(seed: int) -> None:
    chain = random_chain(seed, 3)
    zero = np.zeros_like(chain.com)
    causes = {
        "inertia": {"acceleration": zero, "spin_rate": zero},
        "velocity": {"spin": zero},
        "gravity": {"gravity": np.zeros(3)},
        "ground": {"force": zero, "moment": zero},
    }
    for i, term in enumerate(TERMS):
        before, after = by_term(chain), by_term(chain._replace(**causes[term]))
        for terms, changed in zip(before, after, strict=True):
            assert not changed[:, i].any()
            np.testing.assert_array_equal(np.delete(terms, i, axis=1), np.delete(changed, i, axis=1))


# ---- physics


@given(SEED, LENGTH)
@PROPERTY
def test_equals_newton_for_particles(seed: int, n: int) -> None:
    """Each segment as six particles: no tensor, no Euler equation, no joint in between."""
    chain = random_chain(seed, n)
    arm = to_lab(chain.rotation[:, :, None], particles(chain.mass, chain.inertia))
    spin, rate = (to_lab(chain.rotation, v)[:, :, None] for v in (chain.spin, chain.spin_rate))
    place = chain.com[:, :, None] + arm
    acceleration = chain.acceleration[:, :, None] + np.cross(rate, arm) + np.cross(spin, np.cross(spin, arm))
    needed = chain.mass[:, None, None] / 6 * (acceleration - chain.gravity)
    force, moment = loads(chain)
    for i in range(n):
        below, about = slice(0, i + 1), chain.joint[:, i, None]
        total = np.cross(place[:, below] - about[:, None], needed[:, below]).sum(axis=(1, 2))
        ground = np.cross(chain.com[:, below] - about, chain.force[:, below]) + chain.moment[:, below]
        close(force[:, i], (needed[:, below].sum(axis=2) - chain.force[:, below]).sum(axis=1))
        close(to_lab(chain.rotation[:, i], moment[:, i]), total - ground.sum(axis=1))


# ---- symmetries


@given(SEED)
@PROPERTY
def test_leading_dimensions_are_solved_independently(seed: int) -> None:
    """Time and side together, mass and inertia by side, equal one chain at a time."""
    together = by_term(both_sides(seed, 3))
    for i in range(2):
        alone = by_term(random_chain(seed + i, 3)._replace(gravity=DOWN))
        for actual, expected in zip(together, alone, strict=True):
            np.testing.assert_array_equal(actual[:, i], expected)


@pytest.mark.parametrize("lost", ["com", "rotation", "acceleration", "spin", "force"])
def test_unknown_segment_hides_the_proximal_ones_of_its_frame_only(lost: str) -> None:
    chain = random_chain(1, 3)
    hidden = getattr(chain, lost).copy()
    hidden[1, 1] = np.nan
    moment, moment_hidden = loads(chain)[1], loads(chain._replace(**{lost: hidden}))[1]
    assert np.isnan(moment_hidden[1, 1:]).all()
    moment_hidden[1, 1:] = moment[1, 1:]
    np.testing.assert_array_equal(moment_hidden, moment)


@pytest.mark.parametrize("lost", MOVING)
def test_a_gap_hides_in_the_whole_system_what_it_hides_in_the_running_sums(lost: str) -> None:
    """In two chains side by side: what the gap does not enter keeps its value."""
    chain = both_sides(1, 3)
    hidden = getattr(chain, lost).copy()
    hidden[1, 0, 1] = np.nan
    segments = segments_of(chain._replace(**{lost: hidden}))
    (force, moment), solved = (
        (terms.sum(axis=-3) for terms in inverse_dynamics(segments)),
        solve_as_one_system(segments),
    )
    assert np.isnan(moment[1, 0, 1:]).all()
    for actual, expected in zip(solved, (force, moment), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=ROUNDING * np.nanmax(np.abs(expected)))
        assert np.isnan(actual).sum() in {0, 2 * 3}  # of one chain in one frame, the upper two segments
