"""Muscles over the gait cycle: when they are active, normalised envelopes, co-contraction.

Source: Besomi M et al. (2020) Consensus for experimental design in electromyography (CEDE) project: amplitude
normalization matrix. J Electromyogr Kinesiol 53:102438.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...signals.emg import co_contraction
from ...variables.metrics import co_contraction_name
from .cut_trial import CutTrial
from .settings import Settings

MOST_BURSTS = 5  # of a muscle in a cycle that are stored, the longest ones


def of_cycles(envelope: Array | None, clean: xr.Dataset, walk: CutTrial, settings: Settings) -> dict[str, Array]:
    """Return what cycles.nc has of the muscles besides their envelopes.

    Args:
        envelope: (cycle, muscle, phase), mV; None without EMG.
        clean: the session.

    The others are those of :func:`activity`.
    """
    result, muscles, row = dict[str, Array](), list[str](), walk.cycles.row
    if envelope is not None:
        muscles = clean.variables["muscle"].values.tolist()
        result = activity(clean, walk.trial, walk.cycles.side, row, walk.cycles.span_s)
        unknown = ~np.isfinite(envelope).all(axis=-1)
        for values in result.values():
            values[unknown] = np.nan
    if settings.emg_normalisation == "none":
        return result
    if envelope is not None:
        result |= normalised(envelope, clean, walk.trial, row, settings.emg_normalisation)
    return result | co_contractions(settings.emg_pairs, result, muscles, len(row))


def activity(
    clean: xr.Dataset, trial: NDArray[np.integer], side: NDArray[np.str_], row: NDArray[np.integer], span_s: Array
) -> dict[str, Array]:
    """Return onset and offset of each burst (cycle, muscle, activity) and the share of the cycle that is active.

    Args:
        clean: a session of the step ``clean`` with EMG.
        trial, side, row: (cycle,), number of the trial, name and index of the side.
        span_s: (cycle, 2), foot strikes that start and end the cycle.
    """
    muscles, columns = clean.variables["muscle"].values, ("trial", "side", "muscle", "start", "end")
    of_trial, of_side, of_muscle, first, last = (clean.variables[f"burst_{name}"].values for name in columns)
    at = np.full((2, len(trial), len(muscles), MOST_BURSTS), np.nan)
    active = np.where(np.isnan(clean.variables["emg_rest"].values[trial, row]), np.nan, 0.0)
    for i, (start_s, end_s) in enumerate(span_s.tolist()):
        mine = (of_trial == trial[i]) & (of_side == side[i]) & (first < end_s) & (last > start_s)
        for j in np.flatnonzero(np.isin(muscles, of_muscle[mine])):
            bursts = np.stack([first, last])[:, mine & (of_muscle == muscles[j])]
            inside = np.clip(bursts, start_s, end_s)
            longest = np.sort(np.argsort(inside[0] - inside[1], kind="stable")[:MOST_BURSTS])
            active[i, j] = np.ptp(inside, axis=0).sum()
            known = np.where(bursts == inside, bursts - start_s, np.nan)  # not of what is before or after the cycle
            at[:, i, j, : len(longest)] = known[:, longest]
    percent = 100 / np.ptp(span_s, axis=1)[:, None]
    return {
        **dict(zip(("emg_onset", "emg_offset"), at * percent[..., None], strict=True)),
        **dict(zip(("emg_onset_time", "emg_offset_time"), at, strict=True)),
        "emg_active": active * percent,
    }


def normalised(
    envelope: Array, clean: xr.Dataset, trial: NDArray[np.integer], row: NDArray[np.integer], method: str
) -> dict[str, Array]:
    """Return envelopes (cycle, muscle, phase) in percent of their divisors (cycle, muscle), and these.

    A muscle of a side has one divisor in the whole session: the largest value (``peak``) or the mean (``mean``) of its
    envelopes over all cycles, or that of the trials of role ``emg_reference`` (``reference``).
    """
    if method == "reference":
        divisor = clean.variables["emg_reference"].values[trial, row]
    else:
        divisor = np.full(envelope.shape[:2], np.nan)
        for mine in (row == side for side in np.unique(row)):
            values = np.moveaxis(envelope[mine], 1, 0).reshape(envelope.shape[1], -1)
            count = np.isfinite(values).sum(axis=1)
            mean = np.nansum(values, axis=1) / np.where(count, count, np.nan)
            divisor[mine] = np.fmax.reduce(values, axis=1) if method == "peak" else mean
    divisor = np.where(divisor > 0, divisor, np.nan)
    return {"emg_normalised": 100 * envelope / divisor[..., None], "emg_divisor": divisor}


def co_contractions(
    pairs: Sequence[str], curves: Mapping[str, Array], muscles: Sequence[str], count: int
) -> dict[str, Array]:
    """Return the co-contraction index (cycle,) of pairs of muscles, NaN of one that is not there."""
    found = {}
    for pair in pairs:
        places = [muscles.index(name) for name in pair.replace(" ", "_").split("_-_") if name in muscles]
        both = [curves["emg_normalised"][:, place] for place in places]
        found[co_contraction_name(pair)] = co_contraction(*both) if len(both) == 2 else np.full(count, np.nan)
    return found
