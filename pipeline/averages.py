"""Mean and standard deviation of gait cycles: over participants where there are several, else over cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Text = NDArray[np.str_]


class Average(NamedTuple):
    """Mean, standard deviation (n - 1; NaN where n < 2) and the number n of values behind them."""

    mean: Array
    sd: Array
    n: NDArray[np.int64]


def average(values: Array, participant: Text, *, over_participants: bool) -> Average:
    """Average cycles, or the participants' means, so that who walked more cycles weighs no more.

    Args:
        values: (cycle, ...); what is not finite is left out.
        participant: (cycle,), whose cycle it is.
        over_participants: whether n counts participants instead of cycles.

    Returns:
        Arrays of shape (...).
    """
    if over_participants:
        means = [_average(values[participant == name]).mean for name in np.unique(participant)]
        values = np.stack(means) if means else values
    return _average(values)


def _average(values: Array) -> Average:
    known = np.isfinite(values)
    n = known.sum(axis=0)
    mean = np.where(n > 0, np.where(known, values, 0).sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = np.where(known, (np.where(known, values, 0) - np.nan_to_num(mean)) ** 2, 0).sum(axis=0)
    return Average(mean, np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan), n)
