"""Variance components of repeated measurements: intraclass correlation and standard error of measurement.

A measurement is the sum of a mean, an effect of the person, effects of the repeated factors (visit, assessor), effects
of the person with each of them, and a remainder, all random and independent. The error of *agreement* is all but the
person's effect, that of *consistency* only what differs from person to person. With complete data the components follow
from mean squares in closed form, else from restricted maximum likelihood. Two limits of 95 % belong to each number.

McGraw KO, Wong SP (1996) Forming inferences about some intraclass correlation coefficients. Psychol Methods 1:30-46;
its table 7 has the limits, of ICC(A,1) with the degrees of freedom of Satterthwaite. The limits here are the same for
one repeated factor, and their generalisation to two.
Satterthwaite FE (1946) An approximate distribution of estimates of variance components. Biometrics Bull 2:110-114.
Searle SR, Casella G, McCulloch CE (1992) Variance components. Wiley (restricted likelihood).
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, fdtri

from ...arrays import Array

TAIL = 0.025  # below and above limits of 95 %
QUANTILES = (np.arange(500) + 0.5) / 500
SAME, MOST_ITERATIONS, MOST_HALVINGS = 1e-10, 100, 20
Effect = tuple[int, ...]  # numbers of its factors, of which 0 is the person
Codes = Sequence[NDArray[np.intp]]  # of each factor, the number of each measurement's level


class Estimate(NamedTuple):
    """An intraclass correlation and its standard error of measurement, each (3, point): value, limits."""

    icc: Array
    sem: Array
    odds: Array  # (point,), variance of the person per variance of the error
    base: Array  # (point,), that of the error of the person's sum per repeat, per variance of the error
    repeats: float  # measurements of a person
    free: tuple[int, Array, Array]  # degrees of freedom: person, that with which its mean square is compared, error

    def bias(self) -> tuple[Array, Array]:
        """Return the expected errors (point,) in a study of this size of the correlation, and of the SEM in percent.

        They are the means of the estimates over the distributions of F and chi squared that the estimate itself has.
        """
        own, noise, error = self.free
        drawn = (self.repeats * self.odds + self.base) * fdtri(own, noise, QUANTILES[:, None])
        spread = np.sqrt(chdtri(error, QUANTILES[:, None]) / error)
        return self._icc(drawn).mean(axis=0) - self.icc[0], 100 * (spread.mean(axis=0) - 1)

    def _icc(self, ratio: Array) -> Array:
        """Return the correlation for a ratio of the person's mean square to the error."""
        odds = (ratio - self.base) / self.repeats
        return odds / (1 + odds)


class Repeatability(NamedTuple):
    """Agreement, consistency, and the variance (point,) of each effect; the remainder has all factors."""

    agreement: Estimate
    consistency: Estimate
    variance: Mapping[Effect, Array]


def mean_squares(values: Array) -> dict[Effect, tuple[Array, int]]:
    """Return mean square (point,) and degrees of freedom of each effect of a complete crossed design.

    Args:
        values: (person, level of the first factor, ..., point).
    """
    factors = range(values.ndim - 1)
    result: dict[Effect, tuple[Array, int]] = {}
    for effect in _effects(len(factors)):
        part = values
        for axis in factors:
            mean = part.mean(axis=axis, keepdims=True)
            part = part - mean if axis in effect else mean
        free = int(np.prod([values.shape[axis] - 1 for axis in effect]))
        repeats = np.prod([values.shape[axis] for axis in factors if axis not in effect])
        result[effect] = repeats * np.sum(part**2, axis=tuple(factors)) / free, free
    return result


def balanced(values: Array, *, nested: bool) -> Repeatability:
    """Return the repeatability of complete measurements by analysis of variance.

    A component may be negative where its true value is small; nothing is set to 0, so that the estimates of variances
    have no bias.

    Args:
        values: (person, level of a repeated factor, ..., point).
        nested: whether the repeated measurements of a person have nothing in common with those of others: ICC(1).
    """
    table = mean_squares(values)
    if nested:
        (common, shared), (own, free) = table[1,], table[0, 1]
        table = {(0,): table[0,], (0, 1): ((shared * common + free * own) / (shared + free), shared + free)}
    effects, levels = [*table], values.shape[:-1]
    squares, free_of = np.stack([table[each][0] for each in effects]), np.array([table[each][1] for each in effects])
    share = {each: _coefficients(each, effects, levels) for each in effects}
    others = [each for each in effects if each != (0,)]
    repeats = int(np.prod(levels[1:]))
    expected = np.array([float(each == (0,)) for each in effects]) - repeats * share[0,]  # of the person's, but for it

    def estimate(errors: Sequence[Effect]) -> Estimate:
        parts = np.sum([share[each] for each in errors], axis=0)[:, None] * squares
        error = parts.sum(axis=0)
        odds, base = share[0,] @ squares / error, expected @ squares / error
        noise = np.maximum(repeats * odds, 0) * parts + expected[:, None] * squares  # of the person's mean square
        free = _satterthwaite(noise, free_of), _satterthwaite(parts, free_of)
        return _with_limits(odds, base, np.sqrt(error), repeats, (len(values) - 1, *free))

    return Repeatability(
        estimate(others),
        estimate([each for each in others if 0 in each]),
        {each: share[each] @ squares for each in effects},
    )


def restricted_likelihood(values: Array, codes: Codes) -> Repeatability:
    """Return the repeatability of measurements by restricted maximum likelihood, whatever is missing.

    No component is negative. The limits use its expected information: the logarithm of the ratio of F, and the error,
    are taken to have the variances that this gives them.

    Args:
        values: (measurement, point), without NaN.
        codes: of the person, then of the repeated factors; none of these: ICC(1).
    """
    designs = _designs(codes, len(values))
    about = _rotated([*designs.values()])
    fits = [_fit(column, about) for column in values.T]
    effects = [*designs, tuple(range(max(len(codes), 2)))]
    theta = np.array([one for one, _ in fits]).T
    covariance = np.array([one for _, one in fits])
    people, counts = np.unique(codes[0], return_counts=True)
    repeats = float(1 / np.mean(1 / counts))

    def estimate(errors: NDArray[np.bool_]) -> Estimate:
        error = theta[errors].sum(axis=0)
        ofperson = errors & np.array([0 in each for each in effects])
        odds, base = theta[0] / error, theta[ofperson].sum(axis=0) / error
        # ln(repeats theta_0 + theta of the person's errors) - ln(error), by the delta method
        top = repeats * theta[0] + theta[ofperson].sum(axis=0)
        slope = (repeats * (np.arange(len(theta)) == 0) + ofperson)[:, None] / top - errors[:, None] / error
        spread = np.einsum("ip,pij,jp->p", slope, covariance, slope)
        free = 2 / np.maximum(spread - 2 / (len(people) - 1), 1e-6)
        of_error = np.einsum("i,pij,j->p", errors, covariance, errors)
        return _with_limits(odds, base, np.sqrt(error), repeats, (len(people) - 1, free, 2 * error**2 / of_error))

    others = np.array([each != (0,) for each in effects])
    own = np.array([0 in each for each in effects])
    variance = dict(zip(effects, theta, strict=True))
    return Repeatability(estimate(others), estimate(others & own), variance)


def _effects(factors: int) -> list[Effect]:
    """Return every effect of some factors, main effects first."""
    return [each for size in range(1, factors + 1) for each in itertools.combinations(range(factors), size)]


def _coefficients(effect: Effect, effects: Sequence[Effect], levels: Sequence[int]) -> Array:
    """Return by what each mean square is multiplied in the sum that is the component of an effect."""
    repeats = np.prod([size for axis, size in enumerate(levels) if axis not in effect])
    return np.array([(-1) ** (len(each) - len(effect)) / repeats if {*effect} <= {*each} else 0 for each in effects])


def _satterthwaite(parts: Array, free: NDArray[np.int_]) -> Array:
    """Return the degrees of freedom (point,) of the sum of independent mean squares (square, point)."""
    return np.asarray(parts.sum(axis=0) ** 2 / np.sum(parts**2 / free[:, None], axis=0))


def _with_limits(odds: Array, base: Array, sem: Array, repeats: float, free: tuple[int, Array, Array]) -> Estimate:
    """Return an estimate with limits; arguments as in :class:`Estimate`."""
    own, noise, error = free
    middle = Estimate(np.empty(0), np.empty(0), odds, base, repeats, free)
    ratio = repeats * odds + base
    ratios = np.stack([ratio, ratio / fdtri(own, noise, 1 - TAIL), ratio / fdtri(own, noise, TAIL)])
    limits = [sem * np.sqrt(error / chdtri(error, tail)) for tail in (TAIL, 1 - TAIL)]
    return middle._replace(icc=middle._icc(ratios), sem=np.stack([sem, *limits]))


def _designs(codes: Codes, count: int) -> dict[Effect, NDArray[np.float64]]:
    """Return the design matrix (measurement, level) of each effect that is neither another one nor the remainder."""
    designs: dict[Effect, NDArray[np.float64]] = {}
    for effect in _effects(len(codes)):
        _, level = np.unique(np.stack([codes[factor] for factor in effect]), axis=1, return_inverse=True)
        matrix = np.eye(level.max() + 1)[level.ravel()]
        partition = matrix @ matrix.T
        if matrix.shape[1] < count and not any(np.array_equal(partition, one @ one.T) for one in designs.values()):
            designs[effect] = matrix
    return designs


class _Rotated(NamedTuple):
    """Coordinates in which the effects have few parts; in all others there is only the remainder."""

    basis: Array  # (measurement, coordinate)
    ones: Array  # (coordinate,), a 1 for each measurement
    covariances: list[Array]  # (coordinate, coordinate) of each effect of unit variance, the remainder last


def _rotated(designs: Sequence[Array]) -> _Rotated:
    """Return the coordinates of a design, which all points share."""
    one = np.ones((len(designs[0]), 1))
    basis, size, _ = np.linalg.svd(np.hstack([one, *designs]), full_matrices=False)
    basis = basis[:, size > SAME * size[0]]
    parts = [basis.T @ each for each in (one, *designs)]
    covariances = [*(each @ each.T for each in parts[1:]), np.eye(basis.shape[1])]
    return _Rotated(basis, parts[0][:, 0], covariances)


def _fit(values: Array, about: _Rotated) -> tuple[Array, Array]:
    """Return components and their covariance by Fisher scoring; those at 0 that would be negative stay there."""
    scale = float(np.var(values)) or 1.0
    centred = (values - values.mean()) / np.sqrt(scale)
    few = about.basis.T @ centred
    data = few, len(values) - len(few), max(centred @ centred - few @ few, 0.0)
    covariances = about.covariances
    theta = np.full(len(covariances), 1 / len(covariances))
    likelihood, score, information = _likelihood(about, data, theta)
    for _ in range(MOST_ITERATIONS):
        moved = (theta > 0) | (score > 0)
        step = np.zeros(len(theta))
        step[moved] = np.linalg.lstsq(information[np.ix_(moved, moved)], score[moved], rcond=None)[0]
        for halving in range(MOST_HALVINGS):
            trial = np.maximum(theta + step / 2**halving, 0)
            trial[-1] = max(trial[-1], SAME)
            found = _likelihood(about, data, trial)
            if found[0] >= likelihood - SAME:
                break
        change = np.abs(trial - theta).max()
        theta, (likelihood, score, information) = trial, found
        if change < SAME:
            break
    known = theta > 0
    covariance = np.zeros_like(information)
    covariance[np.ix_(known, known)] = np.linalg.pinv(information[np.ix_(known, known)])
    return scale * theta, scale**2 * covariance


def _likelihood(about: _Rotated, data: tuple[Array, int, float], theta: Array) -> tuple[float, Array, Array]:
    """Return the restricted log-likelihood, its gradient and expected information (Searle et al. 1992, chapter 6).

    Args:
        data: measurements (coordinate,); number of the other coordinates, and the sum of squares in these.
    """
    values, others, square = data
    inverse = np.linalg.inv(sum(one * each for one, each in zip(theta, about.covariances, strict=True)))
    ones = inverse @ about.ones
    projection = inverse - np.outer(ones, ones) / (about.ones @ ones)
    residual = projection @ values
    products = [projection @ each for each in about.covariances]
    score = np.array([residual @ each @ residual for each in about.covariances]) - [np.trace(one) for one in products]
    information = np.array([[np.sum(one * other.T) for other in products] for one in products])
    remainder = theta[-1]
    score[-1] += square / remainder**2 - others / remainder
    information[-1, -1] += others / remainder**2
    loss = np.log(about.ones @ ones) - np.linalg.slogdet(inverse)[1] + values @ residual
    loss += others * np.log(remainder) + square / remainder
    return -0.5 * float(loss), 0.5 * score, 0.5 * information
