"""Mean and standard deviation of gait cycles: over participants where there are several, else over cycles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..conventions import SIDES

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


SESSION = ["participant", "session", "condition"]


def participant_means(metrics: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return one row per participant, session, condition and side.

    Args:
        metrics: metrics.csv.
        names: the metrics.

    Returns:
        ``cycles``, then for each metric its mean and, as ``..._n``, the number of cycles in which it is known.
    """
    groups = metrics.groupby([*SESSION, "side"], sort=False, observed=True)
    mean, known = groups[[*names]].mean(), groups[[*names]].count()
    found = {"cycles": groups.size()}
    for name in names:
        found |= {name: mean[name], f"{name}_n": known[name]}
    return pd.DataFrame(found).reset_index()


def symmetry(means: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return one row per participant, session and condition: the symmetry index of each metric, percent.

    100 (R - L) / ((|R| + |L|) / 2) of the means of the sides, after Robinson et al. (1987): 0 where they are alike,
    positive where the right one is larger, 200 in size where one is nothing or they differ in sign. NaN where one is
    not known or both are 0.

    Args:
        means: of :func:`participant_means`.
        names: the metrics.
    """
    first = means[SESSION].drop_duplicates()
    left, right = (
        first.merge(means[means.side == side], on=SESSION, how="left")[[*names]].to_numpy(dtype=float) for side in SIDES
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        index = 200 * (right - left) / (np.abs(right) + np.abs(left))
    return first.reset_index(drop=True).join(pd.DataFrame(index, columns=[*names]))
