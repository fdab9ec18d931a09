"""What a recording shows of a person's size: weight on the plates, length of the leg; and whether the person stands."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..body.landmarks import Points
from ..conventions import SIDES
from ..errors import Finding
from .body_weight import standing_weight_n, vertical_forces, walking_weights_n

Array = NDArray[np.float64]
STANDING_M = 0.05  # a person who stands sways by 1 to 3 cm
LIST = "walking_weights_n"


class ShownSizes(NamedTuple):
    """Sizes that one recording shows.

    Attributes:
        extent_m: travel of the markers, see :func:`extent_m`.
        leg_m: median distance from heel to ASIS; NaN if they are never visible together.
        standing_weight_n: vertical force under both feet of a person standing on plates, else NaN.
        walking_weights_n: see :func:`pipeline.plates.body_weight.walking_weights_n`.
    """

    extent_m: float
    leg_m: float
    standing_weight_n: float
    walking_weights_n: list[float]

    @property
    def stands(self) -> bool:
        """Whether the markers hardly move."""
        return self.extent_m < STANDING_M

    @property
    def standing_leg_m(self) -> float:
        """The distance from heel to ASIS of a person who stands, else NaN: walking bends the leg."""
        return self.leg_m if self.stands else float("nan")

    def text(self) -> str:
        """Return the sizes as JSON, null if unknown."""
        known = {name: None if name != LIST and np.isnan(value) else value for name, value in self._asdict().items()}
        return json.dumps(known)

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the sizes from JSON; all unknown if it is empty."""
        found = {name: np.nan if value is None else value for name, value in json.loads(text or "{}").items()}
        return cls(
            **{"extent_m": np.nan, "leg_m": np.nan, "standing_weight_n": np.nan, "walking_weights_n": []} | found
        )


def shown_sizes(
    markers: Array,
    points: Points,
    rotation: Array | None,
    force: Array,
    corners: Array,
    edges_known: NDArray[np.bool_],
    faults: Sequence[str],
    *,
    rate_hz: float,
    alone: bool,
) -> ShownSizes:
    """Return the sizes that a recording shows.

    Args:
        markers: (time, marker, 3), m.
        points: landmarks (time, 3) in the same axes, m.
        rotation: (3, 3) from these axes to ISB lab axes; None if they are unknown.
        force: (sample, plate, 3), lab axes, N.
        corners: (plate, 4, 3), lab axes, m.
        edges_known: (plate,) whether these are those of a plate; only such a plate shows that a foot is on it.
        faults: what is wrong with each plate; its steps count only if nothing is.
        rate_hz: plate samples per second; 0 without analog channels.
        alone: whether nobody else is in the file, who could have made these steps.
    """
    extent = extent_m(markers)
    stands, moves = extent < STANDING_M and rotation is not None, extent >= STANDING_M and rate_hz > 0 and alone
    sound = [not fault for fault in faults]
    plates = force[:, edges_known], corners[edges_known]
    return ShownSizes(
        extent,
        _leg_m(points),
        standing_weight_n(points, rotation, *plates) if stands and rotation is not None else float("nan"),
        walking_weights_n(vertical_forces(force[:, sound], corners[sound]), rate_hz) if moves else [],
    )


def moving_static(file: str, travel_m: float, *, walks: bool) -> Finding:
    """Return the finding on a static trial in which markers move; ``walks`` if the file also is a walk of the study."""
    remedy = "keep it only if no static was recorded: axes and centres are means over the walk"
    what = f"static trial in which markers move by {travel_m:.2g} m"
    return Finding("warning", file, what, remedy if walks else "use a file in which the person stands still")


def extent_m(markers: Array) -> float:
    """Return the travel of markers (time, marker, 3), m.

    Nine in ten markers stay within it for nine tenths of the time.

    It is below :data:`STANDING_M` for a person standing still; other people and stray markers do not count.
    """
    some = np.sort(markers[:: max(1, len(markers) // 200)], axis=0)  # NaN last
    last = np.isfinite(some).sum(axis=0, keepdims=True) - 1
    some, last = some[:, (last >= 0).all(axis=-1)[0]], last[:, (last >= 0).all(axis=-1)[0]]
    if not some.size:
        return float("nan")
    low, high = (np.take_along_axis(some, np.rint(share * last).astype(int), axis=0)[0] for share in (0.05, 0.95))
    return float(np.percentile(np.linalg.norm(high - low, axis=-1), 90))


def _leg_m(points: Points) -> float:
    """Return the median distance from heel to ASIS over both sides, m."""
    legs = [
        np.linalg.norm(points[f"asis_{side}"] - points[f"heel_{side}"], axis=1)
        for side in SIDES
        if {f"asis_{side}", f"heel_{side}"} <= points.keys()
    ]
    return quietly(np.nanmedian, legs) if legs else float("nan")


def quietly(function: Callable[[Any], Any], values: Any) -> float:
    """Return a number of values of which all may be NaN, then NaN, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # markers never visible together give NaN
        return float(function(values))
