"""Variance components of repeated measurements: intraclass correlation and standard error of measurement.

A measurement is the sum of a mean, an effect of the person, effects of the repeated factors (visit, assessor), effects
of the person with each of them, and a remainder, all random and independent. The error of *agreement* is all but the
person's effect, that of *consistency* only what differs from person to person (McGraw and Wong 1996). Components follow
from mean squares, each adjusted for the effects that do not contain it (Henderson's method 3; Searle et al. 1992,
chapter 5). Without missing measurements this is the analysis of variance. A component may be negative where its true
value is small: nothing is set to 0, so that no estimate of a variance has a bias. Two limits of 95 % belong to each
number:

- An error is a sum of mean squares. Its limits are the modified large-sample ones of Graybill and Wang (1980; Burdick
  and Graybill 1992), which for a single mean square are exact (chi squared).
- The limits of a correlation of two mean squares, ICC(1) and ICC(C,1) of one factor, are exact (F). Others are the
  correlations x for which a limit of the sum (1 - x) person - x error is 0 (Gui et al. 1995; Cappelleri and Ting 2003),
  by the same method for sums, which may have negative terms (Ting et al. 1990; without their cross terms).

With missing measurements, mean squares are only nearly independent and nearly of chi squared.

Burdick RK, Graybill FA (1992) Confidence intervals on variance components. Dekker.
Cappelleri JC, Ting N (2003) A modified large-sample approach to approximate interval estimation for a particular
intraclass correlation coefficient. Stat Med 22:1861-1877.
Graybill FA, Wang CM (1980) Confidence intervals on nonnegative linear combinations of variances. JASA 75:869-873.
Gui R, Graybill FA, Burdick RK, Ting N (1995) Confidence intervals on ratios of linear combinations for non-disjoint
sets of expected mean squares. J Stat Plan Inference 48:215-227.
McGraw KO, Wong SP (1996) Forming inferences about some intraclass correlation coefficients. Psychol Methods 1:30-46.
Searle SR, Casella G, McCulloch CE (1992) Variance components. Wiley.
Ting N, Burdick RK, Graybill FA, Jeyaratnam S, Lu TFC (1990) Confidence intervals on linear combinations of variance
components that are unrestricted in sign. J Stat Comput Simul 35:135-143.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, fdtri

from ....arrays import Array, quotient

TAIL = 0.025  # below and above limits of 95 %
DRAWS = 2**14  # of a bias: for its second digit
SAME = 1e-9
NEGLIGIBLE = 0.01  # share of a mean square that only missing measurements take from an error
FAR, HALVINGS = 10.0, 40  # a limit of a correlation is no farther below it; sought to 1e-11
Effect = tuple[int, ...]  # numbers of its factors, of which 0 is the person; that of the remainder has one more


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of a design, and the sums of them that are the components of variance."""

    effects: Sequence[Effect]  # main effects first, the remainder last
    square: Array  # (effect, point)
    free: NDArray[np.int_]  # (effect,), degrees of freedom
    share: Array  # (component, effect), by what each mean square is multiplied in the sum that is the component


class Estimate(NamedTuple):
    """An intraclass correlation and its standard error of measurement, each (3, point): value, limits."""

    icc: Array
    sem: Array
    squares: MeanSquares
    person: Array  # (effect,), by what the mean squares are multiplied in the variance of people
    error: Array  # (effect,), in that of the error

    def bias(self) -> tuple[Array, Array]:
        """Return the expected errors (point,) in a study of this size of the correlation, and of the SEM in percent.

        They are the means of the estimates over the distributions that the mean squares have if the estimates are true.
        """
        free = self.squares.free[:, None]
        draws = np.random.default_rng(0).chisquare(free, (len(free), DRAWS)) / free
        person, error = ((part[:, None] * self.squares.square).T @ draws for part in (self.person, self.error))
        of_sem = np.sqrt(np.maximum(error, 0)).mean(axis=1) / self.sem[0]
        return _correlation(person, error).mean(axis=1) - self.icc[0], 100 * (of_sem - 1)


class Repeatability(NamedTuple):
    """Agreement, consistency, and the variance (point,) of each effect."""

    agreement: Estimate
    consistency: Estimate
    variance: Mapping[Effect, Array]


def repeatability_of(values: Array, codes: Sequence[NDArray[Any]]) -> Repeatability:
    """Return the repeatability of measurements, any of which may be missing.

    Args:
        values: (measurement, point), without NaN; people have two or more.
        codes: (measurement,) each, the person, then the level of each repeated factor. Without factors, the repeated
            measurements of a person have nothing in common with those of others: ICC(1).
    """
    squares = mean_squares(values, codes)
    others = np.array([effect != (0,) for effect in squares.effects])
    own = np.array([0 in effect for effect in squares.effects])
    variance = dict(zip(squares.effects, squares.share @ squares.square, strict=True))
    return Repeatability(_estimate(squares, others), _estimate(squares, others & own), variance)


def mean_squares(values: Array, codes: Sequence[NDArray[Any]]) -> MeanSquares:
    """Return the mean square of each effect that a design can tell from the others; arguments as above."""
    designs, parts = _parts(codes, len(values))
    centred = values - values.mean(axis=0)
    remainder = tuple(range(len(codes) + 1))
    effects = [*designs, remainder]
    free = np.array([parts[effect].shape[1] for effect in effects])
    expected = np.eye(len(effects))
    expected[:, -1] = 1
    for (i, inner), (j, outer) in itertools.combinations_with_replacement(enumerate(designs), 2):
        if {*inner} <= {*outer}:
            expected[i, j] = np.sum((parts[inner].T @ designs[outer]) ** 2) / free[i]
    square = np.stack([np.sum((parts[effect].T @ centred) ** 2, axis=0) for effect in effects]) / free[:, None]
    return MeanSquares(effects, square, free, np.asarray(np.linalg.inv(expected), dtype=float))


def _parts(codes: Sequence[NDArray[Any]], count: int) -> tuple[dict[Effect, Array], dict[Effect, Array]]:
    """Return designs (measurement, level) of effects, and of them and the remainder what only they show.

    That is a basis (measurement, degree of freedom) of what is left of an effect without all that do not contain it.
    Effects of which nothing is left are left out, so that the person and a remainder stay.
    """
    factors = range(len(codes))
    designs: dict[Effect, Array] = {}
    for effect in (each for size in factors for each in itertools.combinations(factors, size + 1)):
        _, level = np.unique(np.stack([codes[factor] for factor in effect]), axis=1, return_inverse=True)
        designs[effect] = np.eye(level.max() + 1)[level.ravel()]
    while True:
        parts = {(*factors, len(codes)): _basis(np.eye(count), [*designs.values()])}
        for effect, design in designs.items():
            parts[effect] = _basis(design, [one for other, one in designs.items() if not {*effect} <= {*other}])
        empty = [effect for effect in designs if not parts[effect].shape[1]]
        if all(part.shape[1] for part in parts.values()):
            return designs, parts
        del designs[([effect for effect in empty if effect != (0,)] or [*designs])[-1]]


def _basis(design: Array, others: Sequence[Array]) -> Array:
    """Return an orthonormal basis (measurement, degree of freedom) of a design without the mean and the others."""
    left, size, _ = np.linalg.svd(np.hstack([np.ones((len(design), 1)), *others]), full_matrices=False)
    known = left[:, size > SAME]
    left, size, _ = np.linalg.svd(design - known @ (known.T @ design), full_matrices=False)
    return np.asarray(left[:, size > SAME])


def _estimate(squares: MeanSquares, errors: NDArray[np.bool_]) -> Estimate:
    """Return the estimate with limits whose error is the sum of some components."""
    person, error = squares.share[squares.effects.index((0,))], squares.share[errors].sum(axis=0)
    icc = _correlation(person @ squares.square, error @ squares.square)
    known = np.where((error < 0) & (error > -NEGLIGIBLE), 0, error)  # else one degree of freedom widens the limits
    of_error = np.stack([error @ squares.square, *_limits_of_sum(squares, known[:, None])])
    limits = _limits_of_correlation(squares, person, known)
    return Estimate(np.stack([icc, *limits]), np.sqrt(np.maximum(of_error, 0)), squares, person, error)


def _limits_of_sum(squares: MeanSquares, factor: Array) -> tuple[Array, Array]:
    """Return the modified large-sample limits (point,) of a sum of mean squares, each times its factor (effect, point).

    Burdick and Graybill 1992, equation 3.2.2; where terms are negative, Ting et al. 1990 without cross terms.
    """
    free, parts = squares.free[:, None], factor * squares.square
    ends = 1 - free / chdtri(free, TAIL), free / chdtri(free, 1 - TAIL) - 1
    down, up = (np.where(factor > 0, one, other) for one, other in (ends, ends[::-1]))
    below, above = (np.sqrt(np.sum((each * parts) ** 2, axis=0)) for each in (down, up))
    return parts.sum(axis=0) - below, parts.sum(axis=0) + above


def _limits_of_correlation(squares: MeanSquares, person: Array, error: Array) -> list[Array]:
    """Return the lower and upper limit (point,) of a correlation."""
    icc = _correlation(person @ squares.square, error @ squares.square)
    own, *others = np.flatnonzero(np.abs(person) + np.abs(error) > SAME)
    if len(others) == 1:
        of_f = fdtri(squares.free[own], squares.free[others[0]], [[1 - TAIL], [TAIL]])
        ratio = squares.square[own] / of_f
        rest = squares.square[others[0]]
        return [*_correlation(person[own] * ratio + person[others[0]] * rest, error[others[0]] * rest)]
    limits = []
    for which, ends in enumerate(((icc - FAR, icc), (icc, np.ones_like(icc)))):
        low, high = ends
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            more = _limits_of_sum(squares, person[:, None] - (person + error)[:, None] * middle)[which] > 0
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        limits.append(low)
    return limits


def _correlation(person: Array, error: Array) -> Array:
    """Return the intraclass correlation of the variances of people and of the error."""
    return quotient(person, person + error)  # NaN where no measurement differs from another
