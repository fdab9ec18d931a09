"""The kernel: equal to the block matrix, with the same gaps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import kernel as compared
from pipeline.dynamics import block_matrix, kernel
from pipeline.dynamics.kernel import TERMS
from tests.support.dynamics.random_states import MOVING, Chain, both_sides, close, random_chain, segments_of
from tests.support.walks.person import PROPERTY, SEED


@pytest.mark.parametrize("make", [random_chain, both_sides])
@pytest.mark.parametrize(
    "segments_at_a_time", [1, 8, 10_000]
)  # one frame each, an incomplete last portion, all at once
@given(seed=SEED, n=st.integers(1, 4))
@PROPERTY
def test_equals_the_block_matrix(make: Callable[[int, int], Chain], segments_at_a_time: int, seed: int, n: int) -> None:
    """To 1e-12 of the largest load: only the order of sums differs, and loads add up along the chain."""
    given_ = segments_of(make(seed, n))
    expected = block_matrix.inverse_dynamics(given_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "SEGMENTS_AT_A_TIME", segments_at_a_time)
        total, by_terms = kernel.inverse_dynamics(given_), kernel.inverse_dynamics_by_term(given_)
    for load, terms, right in zip(total, by_terms, expected, strict=True):
        scale = np.abs(right).max()
        np.testing.assert_allclose(terms, right, rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(load, right.sum(axis=-3), rtol=0, atol=1e-12 * scale)


@given(SEED)
@PROPERTY
def test_kernel_keeps_terms_without_cause_at_zero(seed: int) -> None:
    """Exactly zero, without rounding."""
    chain = random_chain(seed, 3)
    zero = np.zeros_like(chain.com)
    still_falling = chain._replace(acceleration=zero, spin=zero, spin_rate=zero, force=zero, moment=zero)
    for terms in kernel.inverse_dynamics_by_term(segments_of(still_falling)):
        assert not np.delete(terms, TERMS.index("gravity"), axis=1).any()
    for terms in kernel.inverse_dynamics_by_term(segments_of(chain._replace(gravity=np.zeros(3)))):
        assert not terms[:, TERMS.index("gravity")].any()


@pytest.mark.parametrize("lost", MOVING)
def test_gaps_are_those_of_the_block_matrix(lost: str) -> None:
    """A gap hides the segments proximal of it in its own frame and on its own side, and nothing else."""
    chain = both_sides(1, 3)
    hidden = getattr(chain, lost).copy()
    hidden[1, 0, 1] = np.nan
    given_ = segments_of(chain._replace(**{lost: hidden}))
    known = np.ones(hidden.shape[:3], dtype=bool)
    known[1, 0, 1:] = False
    expected, whole = block_matrix.inverse_dynamics(given_), kernel.inverse_dynamics(segments_of(chain))
    total, by_terms = kernel.inverse_dynamics(given_), kernel.inverse_dynamics_by_term(given_)
    for load, terms, right, before in zip(total, by_terms, expected, whole, strict=True):
        assert not (np.isnan(terms) & ~np.isnan(right)).any()
        np.testing.assert_array_equal(np.isnan(terms.sum(axis=-3)), np.isnan(load))
        np.testing.assert_array_equal(np.isnan(load), np.isnan(right.sum(axis=-3)))
        np.testing.assert_array_equal(load[known], before[known])
    assert np.isnan(total[1][~known]).all()


def test_kernel_takes_any_layout_in_memory_and_no_frame_at_all() -> None:
    chain = both_sides(2, 2)
    turned = chain._replace(**{name: np.asfortranarray(getattr(chain, name)) for name in MOVING})
    none = chain._replace(**{name: getattr(chain, name)[:0] for name in MOVING})
    for solve_it in (kernel.inverse_dynamics, kernel.inverse_dynamics_by_term):
        for load, again, empty in zip(*(solve_it(segments_of(c)) for c in (chain, turned, none)), strict=True):
            np.testing.assert_array_equal(again, load)
            assert empty.shape == (0, *load.shape[1:])


def test_methods_that_the_benchmark_compares_agree() -> None:
    motion = compared.random_motion(5)
    expected = np.concatenate(kernel.inverse_dynamics(motion), axis=-1).reshape(5, 12)
    close(compared.by_solve(motion), expected)
    close(compared.by_inverse(motion), expected)
