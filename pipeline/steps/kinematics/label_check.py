"""Labels exchanged throughout a trial, found by the distances between markers in the static trial.

Markers that are exchanged from first to last frame do not jump; they keep steady but wrong distances.
"""

import numpy as np
import xarray as xr

from ...arrays import Array
from ...errors import Problem
from ...signals.marker_distances import CURE, FARTHEST_M, RIGID_M, WRONG_M, steadiness
from ...trials.session import spans_of

FEWEST = 2  # distances by which each of two markers is judged


def find_exchanged(clean: xr.Dataset, calibrate: xr.Dataset) -> dict[str, Problem]:
    """Return by walk two markers exchanged against the static trial, unless ``exchanged_markers`` is ``ignore``."""
    problems = {}
    here, there = clean.marker.values.tolist(), calibrate.landmark.values.tolist()
    shared = [(here.index(name), there.index(name)) for name in here if name in there]
    columns, rows = np.array(shared, dtype=int).reshape(-1, 2).T
    static = calibrate.static_distance.values[np.ix_(rows, rows)]
    position, settings = (clean.variables[name].values for name in ("marker_position", "exchanged_markers"))
    for number, (walk, span) in enumerate(zip(clean.trial.values.tolist(), spans_of(clean, "sample"), strict=True)):
        if settings[number] == "ignore":
            continue
        if pair := find_exchange(position[span, columns], static):
            labels = clean.variables["label"].values[number]
            one, other = (f"{labels[i]} ({here[i].replace('_', ' ')})" for i in columns[list(pair)])
            what = (
                f"{one} and {other} seem to be exchanged throughout, here or in the static trial: their distances from "
                "other markers fit when they are exchanged"
            )
            remedy = "label them in the capture software and export again, or set clean.exchanged_markers to ignore"
            problems[walk] = Problem("", what, remedy, "labels_exchanged")
    return problems


def find_exchange(position: Array, static: Array) -> tuple[int, int] | None:
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
    # distances to a third marker: of one of the two in the trial, of the other one in the static trial
    steady, in_static = np.isfinite(off), np.isfinite(static) & ~np.eye(len(static), dtype=bool)
    count, before = (values @ in_static.T for values in (steady.astype(float), np.where(steady, off, 0.0)))
    enough = (np.minimum(count, count.T) >= 1) & (count + count.T >= 2 * FEWEST)
    wrong = enough & (before + before.T > WRONG_M * (count + count.T))
    one, other = np.nonzero(np.triu(wrong, 1))
    before = before[one, other] + before[other, one]
    after = sum(
        np.where(steady[i] & in_static[j], np.abs(median[i] - static[j]), 0.0).sum(axis=1)
        for i, j in ((one, other), (other, one))
    )
    gain = np.where(after < CURE * before, before - after, 0.0)
    if not gain.any():
        return None
    best = int(np.argmax(gain))
    return int(one[best]), int(other[best])
