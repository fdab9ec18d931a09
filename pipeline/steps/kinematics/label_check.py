"""Labels exchanged throughout a trial, found by the distances between markers in the static trial.

Markers that are exchanged from first to last frame do not jump; they keep steady but wrong distances.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.marker_distances import CURE, FARTHEST_M, RIGID_M, WRONG_M, steadiness
from ...errors import UserError

Array = NDArray[np.float64]

FEWEST = 2  # distances by which each of two markers is judged


def refuse_exchanged(clean: xr.Dataset, calibrate: xr.Dataset) -> None:
    """Raise a UserError if two markers of a trial are exchanged against the static trial.

    Args:
        clean: the trial; not checked if its setting ``exchanged_markers`` is ``ignore``.
        calibrate: the session's calibration.

    Raises:
        UserError: two markers are exchanged.
    """
    if clean.attrs["exchanged_markers"] == "ignore":
        return
    here, there = clean.marker.values.tolist(), calibrate.landmark.values.tolist()
    shared = [(here.index(name), there.index(name)) for name in here if name in there]
    columns, rows = np.array(shared, dtype=int).reshape(-1, 2).T
    static = calibrate.static_distance.values[np.ix_(rows, rows)]
    if pair := exchanged_throughout(clean.marker_position.values[:, columns], static):
        labels = clean.label.values
        one, other = (f"{labels[i]} ({here[i].replace('_', ' ')})" for i in columns[list(pair)])
        what = (
            f"{one} and {other} seem to be exchanged throughout, here or in the static trial: their distances from "
            "other markers fit when they are exchanged"
        )
        remedy = "label them in the capture software and export again, or set clean.exchanged_markers to ignore"
        raise UserError("", what, remedy)


def exchanged_throughout(position: Array, static: Array) -> tuple[int, int] | None:
    """Return the exchange of two markers that best fits the distances of a trial to those of the static trial.

    Only distances that are steady in the trial count, to markers of the same segment or the next.

    Args:
        position: (time, marker, 3), m, NaN where unseen.
        static: (marker, marker) median distances in the static trial, m, NaN where it does not show both.

    Returns:
        Numbers of the markers; None where no exchange explains the distances.
    """
    median, spread = steadiness(position)
    np.fill_diagonal(spread, np.nan)
    with np.errstate(invalid="ignore"):
        near = (spread < RIGID_M) & (np.fmin(median, static) < FARTHEST_M)
    off = np.where(near, np.abs(median - static), np.nan)
    if not (off > WRONG_M).any():
        return None
    as_is = np.broadcast_to(off[:, None], (len(off), *off.shape)).copy()  # marker, the other one, a third
    cured = np.where(near[:, None], np.abs(median[:, None] - static), np.nan)
    unknown = ~np.isfinite(as_is + cured) | np.eye(len(off), dtype=bool)
    as_is[unknown] = cured[unknown] = 0.0
    count = (~unknown).sum(axis=2)
    before, after = (values.sum(axis=2) + values.sum(axis=2).T for values in (as_is, cured))
    enough = (np.minimum(count, count.T) >= 1) & (count + count.T >= 2 * FEWEST)
    explained = enough & (before > WRONG_M * (count + count.T)) & (after < CURE * before)
    gain = np.where(np.triu(explained, 1), before - after, 0.0)
    if not gain.any():
        return None
    i, j = np.unravel_index(int(np.argmax(gain)), gain.shape)
    return int(i), int(j)
