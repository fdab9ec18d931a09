"""Sizes of a person that one recording shows: weight on the plates, length of the leg, travel of the markers."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ..json_text import from_text, to_text
from .marker_travel import STANDING_M


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


def quietly(function: Callable[[Any], Any], values: Any) -> float:
    """Return a number of values of which all may be NaN, then NaN, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # markers never visible together give NaN
        return float(function(values))
