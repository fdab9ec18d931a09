"""Sizes of a person that one recording shows: weight on the plates, length of the leg, travel of the markers."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays import Array, Flags
from ..body.landmarks import Points
from ..conventions import SIDES
from ..json_text import from_text, to_text
from .body_weight import standing_weight_n, vertical_forces, walking_weights_n
from .marker_travel import STANDING_M, extent_m


class ShownSizes(NamedTuple):
    """Sizes that one recording shows."""

    extent_m: float = float("nan")  # travel of the markers, see :func:`pipeline.person.marker_travel.extent_m`
    leg_m: float = float("nan")  # median distance from heel to ASIS; NaN if they are never visible together
    standing_weight_n: float = float("nan")  # vertical force under both feet of a person standing on plates, else NaN
    walking_weights_n: Sequence[float] = ()  # see :func:`pipeline.person.body_weight.walking_weights_n`

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
        return to_text({name: None if np.isnan(value).any() else value for name, value in self._asdict().items()})

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the sizes from JSON; all unknown if it is empty."""
        return cls(**{name: value for name, value in dict(from_text(text)).items() if value is not None})


def measure_sizes(
    markers: Array,
    points: Points,
    rotation: Array | None,
    force: Array,
    corners: Array,
    edges_known: Flags,
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
        edges_known: (plate,) whether these are those of a plate.
        faults: what is wrong with each plate; its steps count only if nothing is.
        rate_hz: plate samples per second; 0 without analog channels.
        alone: whether nobody else is in the file, who could have made these steps.
    """
    extent = extent_m(markers)
    stands, moves = extent < STANDING_M and rotation is not None, extent >= STANDING_M and rate_hz > 0 and alone
    sound = [not fault for fault in faults]
    plates = force, corners, edges_known
    # from heel to ASIS over both sides
    legs = [
        np.linalg.norm(points[f"asis_{side}"] - points[f"heel_{side}"], axis=1)
        for side in SIDES
        if {f"asis_{side}", f"heel_{side}"} <= points.keys()
    ]
    return ShownSizes(
        extent,
        quietly(np.nanmedian, legs) if legs else float("nan"),
        standing_weight_n(points, rotation, *plates) if stands and rotation is not None else float("nan"),
        walking_weights_n(vertical_forces(force[:, sound], corners[sound]), rate_hz) if moves else [],
    )


def quietly(function: Callable[[Any], Any], values: Any) -> float:
    """Return a number of values of which all may be NaN, then NaN, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # markers never visible together give NaN
        return float(function(values))
