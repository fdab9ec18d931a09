"""Averages of gait cycles, over cycles and over participants; the symmetry index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..conventions import SIDES

Array = NDArray[np.float64]
Text = NDArray[np.str_]
SESSION = ["participant", "session", "condition"]
UNIT_OF_MEANS = ("participant", "side", "condition")
ROWS = ("cycle", "stance")  # dimensions with one entry per cycle, or per stance


class Average(NamedTuple):
    """Mean, standard deviation (n - 1; NaN if n < 2), number n of values averaged."""

    mean: Array
    sd: Array
    n: NDArray[np.int64]


def average(values: Array, participant: Text | None = None) -> Average:
    """Average cycles, or the participants' means, so that all people weigh the same.

    Args:
        values: (cycle, ...); values that are not finite are left out.
        participant: (cycle,), participant of each cycle; None averages over cycles.

    Returns:
        Arrays of shape (...).
    """
    known = np.isfinite(values)
    if participant is not None:
        means = _means(np.where(known, values, np.nan), [participant]).to_numpy()
        return average(means.reshape(len(means), *values.shape[1:]))
    n = known.sum(axis=0)
    mean = np.where(n > 0, np.where(known, values, 0).sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = np.where(known, (np.where(known, values, 0) - np.nan_to_num(mean)) ** 2, 0).sum(axis=0)
    return Average(mean, np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan), n)


def _means(values: Array, by: Sequence[Text]) -> pd.DataFrame:
    """Return the means (group, ...) of values (cycle, ...) as a table, without NaN."""
    return pd.DataFrame(values.reshape(len(values), math.prod(values.shape[1:]))).groupby([*by]).mean()


def mean_curves(curve: xr.DataArray) -> xr.DataArray:
    """Return the mean of each participant's cycles, or stances, by side and condition.

    Statistics over people need one value per person: cycles of one person are not independent samples, and a person
    with more cycles should have no more weight.

    Args:
        curve: ``(cycle, ...)`` or ``(stance, ...)`` with the coordinates that :func:`load_study` gives.

    Returns:
        ``(participant, side, condition, ...)``, labels in alphabetic order; NaN where there is none.

    Example:
        >>> from gaitlab import load_study
        >>> study = load_study("data/demo", kinetics_only=True)
        >>> means = mean_curves(study.joint_moment_jcs.sel(joint="ankle", angle="flexion"))
        >>> means.dims, means.units
        (('participant', 'side', 'condition', 'phase'), 'N m kg-1')
        >>> group = means.mean(["participant", "side"])  # (condition, phase): each person counts once
    """
    (row,) = (name for name in ROWS if name in curve.dims)
    curve = curve.transpose(row, ...)
    by = [curve[name].values for name in UNIT_OF_MEANS]
    labels = [np.unique(names) for names in by]
    means = _means(curve.values, by).reindex(pd.MultiIndex.from_product(labels)).to_numpy()
    coordinates = {name: c for name, c in curve.coords.items() if row not in c.dims}
    return xr.DataArray(
        means.reshape(*map(len, labels), *curve.shape[1:]),
        dims=(*UNIT_OF_MEANS, *curve.dims[1:]),
        coords=dict(zip(UNIT_OF_MEANS, labels, strict=True)) | coordinates,
        attrs=curve.attrs,
    )


def participant_means(metrics: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return means of metrics by participant, session, condition and side.

    Args:
        metrics: metrics.csv.
        names: the metrics.

    Returns:
        ``cycles``, their number, and ``stances_alone``, that of stances without a whole cycle; then for each metric its
        mean over the cycles and, as ``..._n``, the number of cycles in which it is known.
    """
    whole = metrics.part == "cycle"
    metrics = metrics.assign(cycles=whole, stances_alone=~whole)
    metrics.loc[~whole, [*names]] = np.nan
    groups = metrics.groupby([*SESSION, "side"], sort=False, observed=True)
    mean, known = groups[[*names]].mean(), groups[[*names]].count()
    columns = {name: groups[name].sum() for name in ("cycles", "stances_alone")}
    for name in names:
        columns |= {name: mean[name], f"{name}_n": known[name]}
    return pd.DataFrame(columns).reset_index()


def symmetry(means: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return symmetry indices of metrics by participant, session and condition, %.

    100 (R - L) / ((|R| + |L|) / 2) of the means of the sides (Robinson et al. 1987): 0 where the sides are equal,
    positive where the right side is larger, 200 in size where one side is 0 or the signs differ. NaN where a side is
    not known or both are 0.

    Args:
        means: from :func:`participant_means`.
        names: the metrics.
    """
    first = means[SESSION].drop_duplicates()
    left, right = (
        first.merge(means[means.side == side], on=SESSION, how="left")[[*names]].to_numpy(dtype=float) for side in SIDES
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        index = 200 * (right - left) / (np.abs(right) + np.abs(left))
    return first.reset_index(drop=True).join(pd.DataFrame(index, columns=[*names]))
