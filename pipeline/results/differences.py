"""Differences of metrics between groups of people, and between two conditions of the same people, with intervals.

A person is one sample, however many cycles were measured. Groups: the interval of Welch (1947), which allows for
unequal variances and numbers, with the degrees of freedom of Satterthwaite (1946). Conditions: that
of Student for the differences within people. Intervals hold for one metric at a time; they are not adjusted for the
number of metrics.

Welch BL (1947) The generalization of Student's problem when several different population variances are involved.
Biometrika 34:28-35.
Satterthwaite FE (1946) An approximate distribution of estimates of variance components. Biometrics Bull 2:110-114.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Flags, quotient
from .averages import Average, average, shortest_way

LEVEL = 0.95
FEWEST_PEOPLE = 3  # as of the standard deviations of the report: of two, an interval is 12.7 standard errors wide


class Difference(NamedTuple):
    """Averages over people (metric,) of both, the second minus the first, and the ends of its interval."""

    first: Average
    second: Average
    difference: Array
    low: Array
    high: Array
    paired: bool

    def counts(self, metric: int) -> str:
        """Return the number of people in words, of groups that of the second one first."""
        numbers = [str(of.n[metric]) for of in (self.second, self.first)]
        return numbers[0] if self.paired else " and ".join(numbers)


class Pair(NamedTuple):
    """What is compared: two groups in a condition, or two conditions of the same people of a group or of all."""

    first: str
    second: str
    within: str
    paired: bool

    @property
    def places(self) -> list[tuple[str, str]]:
        """Return group, empty for all people, and condition of both."""
        both = (self.first, self.second)
        return [(self.within, one) if self.paired else (one, self.within) for one in both]


def pairs_of(groups: Mapping[str, str], baselines: Mapping[str, str]) -> list[Pair]:
    """Return in each condition each group with the first one, and in each group each condition with its baseline.

    Args:
        groups: the group of each participant, empty without groups.
        baselines: the condition with which each is compared; itself if with none.
    """
    first, *others = names = [*dict.fromkeys(groups.values())] or [""]
    pairs = [Pair(first, other, condition, paired=False) for condition in baselines for other in others]
    changes = [(before, one) for one, before in baselines.items() if one != before]
    return pairs + [Pair(*change, name, paired=True) for name in names for change in changes]


def compare(
    of_people: Mapping[str, Mapping[str, Array]],
    groups: Mapping[str, str],
    pairs: Sequence[Pair],
    *,
    phase: Flags | bool = False,
) -> Iterator[tuple[Pair, Difference]]:
    """Yield each pair that has people, and its difference.

    Args:
        of_people: by condition and participant, the means (side, metric).
        groups: the group of each participant, empty without groups; people without one are compared with nobody.
        pairs: such as those of :func:`pairs_of`.
        phase: (metric,), which are phases.
    """
    for pair in pairs:
        both = [
            {name: means for name, means in of_people[condition].items() if groups.get(name, "") == group}
            for group, condition in pair.places
        ]
        if pair.paired:
            both = [{name: of[name] for name in both[0] if name in both[1]} for of in both]
        if all(both):
            first, second = (np.array([*of.values()]) for of in both)
            if not pair.paired:
                first, second = (over_sides(values, phase=phase) for values in (first, second))
            yield pair, (within_people if pair.paired else between_groups)(first, second, phase=phase)


def between_groups(first: Array, second: Array, *, phase: Flags | bool = False) -> Difference:
    """Return the second group minus the first.

    Args:
        first, second: (person, metric), one mean per person; NaN if it is unknown.
        phase: (metric,), which are phases in percent of the gait cycle, of which the shorter way round is taken.

    Returns:
        NaN where a group has fewer than FEWEST_PEOPLE.
    """
    centre = average(np.concatenate([first, second]), phase=phase).mean
    # of phases their way from the centre, within half a cycle around zero
    both = [average(np.where(phase, shortest_way(values - centre), values)) for values in (first, second)]
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = [of.sd**2 / of.n for of in both]
        error = np.sqrt(squares[0] + squares[1])
        freedom = error**4 / sum(square**2 / (of.n - 1) for square, of in zip(squares, both, strict=True))
    enough = np.minimum(both[0].n, both[1].n) >= FEWEST_PEOPLE
    shown = [average(values, phase=phase) for values in (first, second)]
    return _difference(shown, both[1].mean - both[0].mean, error, freedom, enough, paired=False)


def within_people(first: Array, second: Array, *, phase: Flags | bool = False) -> Difference:
    """Return the second condition minus the first, of people who have both.

    Args:
        first, second: (person, side, metric), means of the same people; a side counts if it is known in both.
        phase: (metric,), which are phases.

    Returns:
        As of :func:`between_groups`; the averages are over the people and sides that count.
    """
    known = np.isfinite(first) & np.isfinite(second)
    apart = np.where(phase, shortest_way(second - first), second - first)
    of_people = over_sides(np.where(known, apart, np.nan))
    mean, sd, n = average(of_people)
    error = quotient(sd, np.sqrt(n))
    shown = [
        average(over_sides(np.where(known, values, np.nan), phase=phase), phase=phase) for values in (first, second)
    ]
    return _difference(shown, mean, error, n.astype(float) - 1, n >= FEWEST_PEOPLE, paired=True)


def over_sides(values: Array, *, phase: Flags | bool = False) -> Array:
    """Return one mean per person (person, metric) of sides (person, side, metric); of one side if only it is known."""
    return average(np.moveaxis(values, 1, 0), phase=phase).mean


def _difference(
    shown: list[Average], difference: Array, error: Array, freedom: Array, enough: NDArray[np.bool_], *, paired: bool
) -> Difference:
    from scipy.special import stdtrit  # a large library, for what is compared alone

    with np.errstate(invalid="ignore"):
        half = np.where(error > 0, stdtrit(freedom, (1 + LEVEL) / 2) * error, 0.0)
    low, high = (np.where(enough, difference + sign * half, np.nan) for sign in (-1, 1))
    return Difference(shown[0], shown[1], np.where(enough, difference, np.nan), low, high, paired)
