"""Spread of curves and metrics of gait cycles over the draws of errors."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..arrays import Array, Flags, quotient
from ..conventions import SIDES
from ..json_text import from_text
from ..signals.time_normalisation import PhaseFrames, at_phases
from ..trials.session import Trial
from ..variables.cycle_variables import BANDS
from .drawn_motion import DrawnSession, moments_and_powers
from .error_draws import SOURCES, DrawnFrom

SHARE_DRAWS = 50  # at most, for the shares of the sources: they give a variance to a fifth
Cut = Callable[[Trial, Trial], tuple[dict[str, Array], Array]]


class CutCycles(NamedTuple):
    """The cycles of a session, and how curves and metrics are cut from its trials."""

    cut: Cut  # gives curves by name and metrics (cycle, metric) of kinematics and kinetics with errors
    # trial, row: (cycle,), index of its trial and of its side
    trial: NDArray[np.int32]
    row: NDArray[np.intp]
    strikes_s: Array  # (cycle, 2), foot strikes that start and end it
    frames: PhaseFrames
    unknown: Flags  # (cycle,), whether its kinetics are left out


def spread_over_draws(
    kinetics: xr.Dataset, kinematics: xr.Dataset, contacts: xr.Dataset, calibrate: xr.Dataset, cycles: CutCycles
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the variables :data:`pipeline.variables.cycle_variables.WITH_DRAWS` and their coordinates.

    Args:
        kinetics: the loads; ``uncertainty`` has the settings, JSON.
    """
    about = from_text(str(kinetics.variables["uncertainty"].values[0]))
    outside = (100 - about.pop("band_percent")) / 2
    percentile = np.array([outside, 100 - outside])
    strides = _strides(cycles.trial, cycles.row, cycles.strikes_s, kinetics.sizes["trial"])
    drawn_from = DrawnFrom(about["draws"], about["sizes"], calibrate, kinematics, *strides)
    session = DrawnSession(drawn_from, kinetics, contacts, gravity_m_s2=about["gravity_m_s2"])
    curves: dict[str, list[Array]] = {name: [] for name in BANDS}
    metrics = []
    for motion, loads in session:
        found, numbers = cycles.cut(motion, loads)
        metrics.append(numbers.astype(np.float32))
        for name, drawn in curves.items():
            drawn.append(found[name].astype(np.float32))
    result = {BANDS[name]: np.moveaxis(percentiles(drawn, percentile), 0, -2) for name, drawn in curves.items()}
    variances = []
    for source in SOURCES:
        legs = (session.legs(draw, (source,)) for draw in range(min(about["draws"], SHARE_DRAWS)))
        variances.append(
            np.var([at_phases(moments_and_powers(one)[0], cycles.frames, cycles.row) for one in legs], axis=0)
        )
    share = np.moveaxis(quotient(np.array(variances), np.sum(variances, axis=0)), 0, -2)
    share[cycles.unknown] = np.nan
    result |= {"joint_moment_variance_share": share, "metric_draw": np.stack(metrics, axis=-1)}
    return result, {"percentile": percentile, "error_source": list(SOURCES)}


def _strides(trial: NDArray[np.int32], row: NDArray[np.intp], strikes_s: Array, count: int) -> tuple[Array, Array]:
    """Return of each of ``count`` trials the median stride (trial,) and first strike of each side (trial, side), s.

    A side without a cycle strikes half a stride after the other.
    """
    stride, strike = np.ones(count), np.zeros((count, len(SIDES)))
    start_s, end_s = strikes_s.T
    for number in np.unique(trial):
        mine = trial == number
        stride[number] = np.median((end_s - start_s)[mine])
        first = [np.min(start_s[mine & (row == side)], initial=np.inf) for side in range(len(SIDES))]
        strike[number] = np.where(np.isfinite(first), first, min(first) + stride[number] / 2)
    return stride, strike


def percentiles(draws: Iterable[Array], percentile: Array) -> Array:
    """Return percentiles (percentile, ...) of draws, each (...).

    The next draw falls below the k-th of n with probability k / (n + 1), whatever the distribution: so the band holds
    its share also for few draws (Hyndman RJ, Fan Y (1996) Am Stat 50:361-365, definition 6).
    """
    ordered = np.sort(np.stack([*draws], axis=-1), axis=-1)  # several times faster than numpy.percentile
    count = ordered.shape[-1]
    place = np.clip(percentile / 100 * (count + 1) - 1, 0, count - 1)
    low, high = np.floor(place).astype(int), np.ceil(place).astype(int)
    result = ordered[..., low] + (place - low) * (ordered[..., high] - ordered[..., low])
    return np.asarray(np.moveaxis(result, -1, 0))
