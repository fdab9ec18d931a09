"""Averages of gait cycles, over cycles and over participants.

Phases, such as the time of a peak in percent of the gait cycle, are directions: 99 % and 1 % lie 2 % apart, and their
mean is 0 %, not 50 %. Their mean is the circular one, the direction of the sum of unit vectors, and their standard
deviation is

    sqrt(-2 ln R) sqrt(n / (n - 1)) / (2 pi) of a cycle

with the mean length R of that sum (Mardia & Jupp 2000, Directional statistics, section 2.3; Fisher 1993, Statistical
analysis of circular data, section 2.3.1). The second factor is not in these books: with it the value of phases that lie
close together is that of the usual standard deviation with n - 1, which all other metrics have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..arrays import Array, Flags
from ..variables.metrics import METRICS, NUMBERS

Text = NDArray[np.str_]
SESSION = ["participant", "session", "condition"]
UNIT_OF_MEANS = ("participant", "side", "condition")
ROWS = ("cycle", "stance")  # dimensions with one entry per cycle, or per stance
PHASES = frozenset(name for name, metric in NUMBERS.items() if metric.kind == "phase")
IS_PHASE = np.array([metric.kind == "phase" for metric in METRICS.values()])
RADIANS = 2 * np.pi / 100  # per percent of the gait cycle
FEWEST_WHOLE = 3  # curves known throughout from which a mean is taken without those known in part
ALONG = ("phase", "stance_phase")  # dimensions along which curves are
NO_DIRECTION = 1e-9  # length of a mean vector that rounding alone can leave of vectors that cancel each other


class Average(NamedTuple):
    """Mean, standard deviation (n - 1; NaN if n < 2), number n of values averaged."""

    mean: Array
    sd: Array
    n: NDArray[np.int64]


def average(values: Array, participant: Text | None = None, *, phase: Flags | bool = False) -> Average:
    """Average cycles, or the participants' means, so that all people weigh the same.

    Args:
        values: (cycle, ...); values that are not finite are left out.
        participant: (cycle,), participant of each cycle; None averages over cycles.
        phase: (...), which of the values are phases in percent of the gait cycle, to be averaged on the circle.

    Returns:
        Arrays of shape (...). Phases are from 0 to 100; they have no mean where the directions cancel each other.
    """
    finite = np.isfinite(values)
    if participant is not None:
        return average(means_of_people(values, participant, phase=phase), phase=phase)
    n = finite.sum(axis=0)
    mean = np.where(n > 0, np.where(finite, values, 0).sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = np.where(finite, (np.where(finite, values, 0) - np.nan_to_num(mean)) ** 2, 0).sum(axis=0)
    plain = Average(mean, np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan), n)
    if not np.any(phase):
        return plain
    known, many = np.where(finite, values, np.nan), np.maximum(n, 1)
    mean = _direction(*(np.nansum(part, axis=0) / many for part in _vectors(known)))
    # the mean length is 1 less the mean of 2 sin^2 of half the deviations, which keeps the digits of small ones
    short = np.nansum(2 * np.sin((known - mean) * RADIANS / 2) ** 2, axis=0) / many
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(-2 * np.log1p(-short) * many / (many - 1)) / RADIANS
    sd = np.where((n > 1) & np.isfinite(mean), sd, np.nan)
    return Average(np.where(phase, mean, plain.mean), np.where(phase, sd, plain.sd), n)


def means_of_people(values: Array, participant: Text, *, phase: Flags | bool = False) -> Array:
    """Return the means (participant, ...) of the cycles of each, participants in alphabetic order.

    The arguments are those of :func:`average`.
    """
    means = _means(np.where(np.isfinite(values), values, np.nan), [participant], phase).to_numpy()
    return np.asarray(means.reshape(len(means), *values.shape[1:]))


def known_throughout(curves: Array, *, fewest: int = FEWEST_WHOLE) -> Array:
    """Return curves (cycle, ..., phase), NaN where known in part while so many others are known throughout.

    A mean has a step where a curve in it begins or ends. Without so many the curves are unchanged, and n of their mean
    differs along the phase.
    """
    whole = np.isfinite(curves).all(axis=-1)
    left_out = ~whole & (whole.sum(axis=0) >= fewest)
    return np.where(left_out[..., None], np.nan, curves)


def without_steps(curves: Array, by: Sequence[Text] = ()) -> Array:
    """Return curves (cycle, ..., phase) of which the mean of each group has no step, the rest NaN.

    It is that of the curves known throughout, else of those known in part, where n is largest.

    Args:
        by: labels (cycle,) of the groups; all curves are one without any.
    """
    result = np.full(curves.shape, np.nan)
    groups = pd.DataFrame(np.transpose([*by])).groupby([*range(len(by))]).indices.values() if by else [slice(None)]
    for mine in groups if len(curves) else ():
        kept = known_throughout(curves[mine], fewest=1)
        n = np.isfinite(kept).sum(axis=0)
        result[mine] = np.where(n == n.max(axis=-1, keepdims=True), kept, np.nan)
    return result


def pool(first: Average, second: Average) -> Average:
    """Return the average of all values of two averages (...) that are no phases.

    Chan TF, Golub GH, LeVeque RJ (1983) Algorithms for computing the sample variance. Am Stat 37:242-247.
    """
    n = first.n + second.n
    share = np.divide(second.n, n, out=np.zeros(n.shape), where=n > 0)
    means = [np.where(part.n > 0, part.mean, 0.0) for part in (first, second)]
    apart = means[1] - means[0]
    mean = np.where(first.n > 0, means[0] + share * apart, means[1])
    between = np.where((first.n > 0) & (second.n > 0), apart**2 * first.n * share, 0.0)
    squares = sum((np.where(part.n > 1, part.sd**2 * (part.n - 1), 0.0) for part in (first, second)), between)
    sd = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
    return Average(np.where(n > 0, mean, np.nan), sd, n)


def _vectors(phase: Array) -> tuple[Array, Array]:
    """Return cosine and sine of phases in percent of the gait cycle."""
    return np.cos(phase * RADIANS), np.sin(phase * RADIANS)


def _direction(cosine: Array, sine: Array) -> Array:
    """Return the phase, 0 to 100 %, of mean vectors; NaN where they are shorter than rounding."""
    phase = np.arctan2(sine, cosine) / RADIANS
    return np.where(np.hypot(cosine, sine) > NO_DIRECTION, phase % 100 % 100, np.nan)  # twice: -1e-20 % 100 is 100


def shortest_way(difference: Array) -> Array:
    """Return differences of phases, percent of the gait cycle, as the shorter way round: from -50 up to 50."""
    return (difference + 50) % 100 - 50


def _means(values: Array, by: Sequence[Text], phase: Flags | bool = False) -> pd.DataFrame:
    """Return the means (group, ...) of values (cycle, ...) as a table, without NaN; ``phase`` as of :func:`average`."""
    flat = values.reshape(len(values), math.prod(values.shape[1:]))

    def means(of: Array) -> pd.DataFrame:
        return pd.DataFrame(of).groupby([*by]).mean()

    result, circular = means(flat), np.broadcast_to(phase, values.shape[1:]).ravel()
    if circular.any():
        vectors = (means(part).to_numpy() for part in _vectors(flat[:, circular]))
        result.loc[:, circular] = _direction(*vectors)
    return result


def mean_curves(curve: xr.DataArray) -> xr.DataArray:
    """Return the mean of each participant's cycles, or stances, by side and condition.

    Means and tests of people need one value per person: cycles of one person are not independent samples, and a person
    with more cycles should have no more weight. Sessions of a participant are not kept apart; docs/statistics.md shows
    how to compare them.

    Args:
        curve: ``(cycle, ...)`` or ``(stance, ...)``, also a metric, with the coordinates that :func:`load_study` gives.

    Returns:
        ``(participant, side, condition, ...)``, labels in alphabetic order; NaN where there is none, and of curves
        known in part where fewer are known than elsewhere (:func:`without_steps`). Means of metrics that are phases,
        ``phase_of_...``, are circular.

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
    phase = str(curve.name) in PHASES
    values = without_steps(curve.values, by) if curve.dims[-1] in ALONG else curve.values
    means = _means(values, by, phase).reindex(pd.MultiIndex.from_product(labels)).to_numpy()
    coordinates = {name: c for name, c in curve.coords.items() if row not in c.dims}
    return xr.DataArray(
        means.reshape(*map(len, labels), *curve.shape[1:]),
        dims=(*UNIT_OF_MEANS, *curve.dims[1:]),
        coords=dict(zip(UNIT_OF_MEANS, labels, strict=True)) | coordinates,
        attrs=curve.attrs,
    )


def participant_means(metrics: pd.DataFrame, names: Sequence[str], about: Sequence[str] = ()) -> pd.DataFrame:
    """Return means of metrics by participant, session, condition and side.

    Args:
        about: columns of participants.tsv in metrics.csv.

    Returns:
        The columns ``about``; ``cycles``, their number, and ``stances_alone``, that of stances without a whole cycle;
        then for each metric its mean over the cycles, as ``..._sd`` the standard deviation of :func:`average`, and as
        ``..._n`` the number of cycles in which it is known.
    """
    keys, whole = [*SESSION, "side"], (metrics.part == "cycle").to_numpy()
    values = np.where(whole[:, None], metrics[[*names]].to_numpy(dtype=float), np.nan)
    groups = metrics.groupby(keys, sort=False, observed=True)
    rows = [groups.indices[key] for key in groups.size().index]
    phase = np.array([name in PHASES for name in names])
    averages = [average(values[row], phase=phase) for row in rows]
    columns = {name: metrics[name].to_numpy()[[row[0] for row in rows]] for name in (*keys, *about)}
    columns |= {"cycles": np.array([whole[row].sum() for row in rows], dtype=int)}
    columns |= {"stances_alone": np.array([(~whole[row]).sum() for row in rows], dtype=int)}
    for i, name in enumerate(names):
        for part, ending in enumerate(("", "_sd", "_n")):
            kind = int if ending == "_n" else float
            columns[name + ending] = np.array([of_group[part][i] for of_group in averages], dtype=kind)
    return pd.DataFrame(columns)


def errors_of(draws: Array, values: Array, phase: Flags) -> Array:
    """Return the errors (cycle, metric, draw) of metrics (cycle, metric), of phases the shorter way round.

    Args:
        draws: (cycle, metric, draw), the metrics with the errors of each draw.
        phase: (metric,), which metrics are phases.
    """
    errors = draws - values[..., None]
    return np.where(phase[:, None], shortest_way(errors), errors)


def standard_uncertainty(errors: Array) -> Array:
    """Return the root mean square (...) of errors (..., draw); NaN if fewer than half of the draws are known.

    It includes the bias of peaks and ranges, which errors make larger. A draw may lack a peak that the measurement has.
    """
    square, _, n = average(np.moveaxis(errors, -1, 0) ** 2)
    return np.where(2 * n >= errors.shape[-1], np.sqrt(square), np.nan)


def errors_of_means(errors: Array, metrics: pd.DataFrame, means: pd.DataFrame) -> Array:
    """Return the errors (row of ``means``, metric, draw) of the means of gait cycles.

    Args:
        errors: (row of ``metrics``, metric, draw), NaN where a row is in no mean.
        metrics, means: of :func:`participant_means`.
    """
    groups = metrics.groupby([*SESSION, "side"], sort=False, observed=True).indices
    rows = means[[*SESSION, "side"]].itertuples(index=False, name=None)
    return np.stack([average(errors[groups[row]]).mean for row in rows]) if len(means) else errors[:0]
