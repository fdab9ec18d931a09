"""Distances between markers of a walk against those of the static trial: is it the same person, has no marker moved?

The static trial stands in a posture that a step passes through, so that a distance between markers of one segment, or
of neighbours, lies within the range that it takes in the walk. Another person's lengths and widths do not: those of
adults differ by some 20 mm (standard deviation of shank and pelvis; Drillis and Contini 1966). Noise and soft tissue
that a step does not show leave 1 to 2 mm.
"""

import numpy as np
import xarray as xr

from ...arrays import Array
from ...errors import Problem
from ...signals.marker_distances import FARTHEST_M, RIGID_M, ranges
from ...trials.session import spans_of
from ...variables.stance_verdicts import doubt

FEWEST = 6  # distances: a pelvis, or a leg's three lengths on both sides
LARGEST_M = 0.005
ACROSS = {"asis", "psis"}  # of the pelvis: distances from left to right are rigid only there


def static_misfits(clean: xr.Dataset, calibrate: xr.Dataset) -> Array:
    """Return by how much distances in the static trial are out of their range in each trial (trial,), m.

    It is the root mean square over the steady distances; NaN where fewer than ``FEWEST`` are seen in both.
    """
    here, there = clean.marker.values.tolist(), calibrate.landmark.values.tolist()
    shared = sorted({*here} & {*there})
    columns, rows = ([names.index(name) for name in shared] for names in (here, there))
    static = calibrate.static_distance.values[np.ix_(rows, rows)]
    sides = [name.rpartition("_") for name in shared]
    apart = np.array([
        [{side, other_side} == {"left", "right"} and not {name, other} <= ACROSS for other, _, other_side in sides]
        for name, _, side in sides
    ])  # fmt: skip
    near = np.triu(np.where(apart, np.nan, static) < FARTHEST_M, 1)
    position = clean.marker_position.values[:, columns]
    return np.array([misfit(position[span], static, near) for span in spans_of(clean, "sample")])


def doubt_static(misfit_m: float) -> list[Problem]:
    """Return the doubt about a trial of which the static trial does not fit, if any."""
    return [doubt("static_unlike", mm=1000 * misfit_m)] if misfit_m > LARGEST_M else []


def misfit(position: Array, static: Array, near: np.ndarray) -> float:
    """Return by how much static distances are out of their range in a trial, root mean square, m; NaN of too few.

    Args:
        position: (time, marker, 3), m, NaN where unseen.
        static: (marker, marker) distances in the static trial, m.
        near: (marker, marker) which are compared.
    """
    low, high, spread = ranges(position, *np.nonzero(near))
    expected = static[near]
    beyond = np.maximum(np.maximum(expected - high, low - expected), 0)[spread < RIGID_M]
    return float(np.sqrt(np.mean(np.square(beyond)))) if len(beyond) >= FEWEST else np.nan
