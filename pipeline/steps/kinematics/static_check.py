"""Distances between markers of a walk against those of the static trial: is it the same person, has no marker moved?

Markers of one segment keep their distance in any posture, but for skin, noise and joint markers beside the axis. So a
distance in the static trial lies within the range that it takes in the walk, or some millimetres beside it. Another
person's lengths and widths do not: those of adults differ by some 20 mm (standard deviation of shank and pelvis;
Drillis and Contini 1966).
"""

import itertools

import numpy as np
import xarray as xr

from ...arrays import Array
from ...conventions import SIDES
from ...signals.marker_distances import FARTHEST_M, RIGID_M, ranges
from ...trials.session import spans_of
from ...variables.stance_verdicts import Verdict

FEWEST = 6  # distances: a pelvis, or a leg's three lengths on both sides
LARGEST_M = 0.005
COMPUTED = "_ahead_"  # of points that a program computes, perhaps otherwise in the two trials
# how landmarks of a segment begin; those of knee and ankle, near the axis, belong to both segments
KNEE, ANKLE = ("lateral_epicondyle", "medial_epicondyle"), ("lateral_malleolus", "medial_malleolus")
OF_SEGMENTS = (
    ("asis", "psis", "sacrum"),
    ("trochanter", "thigh", *KNEE),
    (*KNEE, "fibula", "tibial", "shank", *ANKLE),
    (*ANKLE, "heel", "toe", "metatarsal", "midfoot", "forefoot"),
)


def static_misfits(clean: xr.Dataset, calibrate: xr.Dataset) -> Array:
    """Return by how much distances in the static trial are out of their range in each trial (trial,), m.

    It is the root mean square over the steady distances; NaN where fewer than ``FEWEST`` are seen in both.
    """
    here, there = clean.marker.values.tolist(), calibrate.landmark.values.tolist()
    shared = sorted(name for name in {*here} & {*there} if COMPUTED not in name)
    columns, rows = ([names.index(name) for name in shared] for names in (here, there))
    static = calibrate.static_distance.values[np.ix_(rows, rows)]
    near = np.zeros(static.shape, dtype=bool)
    for side, names in itertools.product(SIDES, OF_SEGMENTS):
        mine = np.array([
            name.startswith(names) and (names[0] == "asis" or name.endswith(side)) for name in shared
        ], dtype=bool)  # fmt: skip
        near |= np.outer(mine, mine)
    near &= np.triu(static < FARTHEST_M, 1)
    position = clean.marker_position.values[:, columns]
    return np.array([misfit(position[span], static, near) for span in spans_of(clean, "sample")])


def doubt_static(misfit_m: float) -> list[Verdict]:
    """Return the doubt about a trial of which the static trial does not fit, if any."""
    return [Verdict.of("static_unlike", mm=1000 * misfit_m)] if misfit_m > LARGEST_M else []


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
