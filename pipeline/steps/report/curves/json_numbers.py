"""Numbers of the report, rounded for JSON."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array


def to_four_digits(values: Array) -> Any:
    """Return nested lists rounded to four significant digits of the largest number, None where not finite."""
    largest = np.max(np.abs(values[np.isfinite(values)]), initial=0.0)
    return to_decimals(values, decimals=max(3 - int(np.floor(np.log10(largest or 1.0))), 0))


def to_decimals(values: Array, *, decimals: int) -> Any:
    """Return nested lists rounded to decimals, None where not finite."""
    return _to_lists(values, lambda numbers: np.round(numbers, decimals) + 0.0)


def to_whole_numbers(values: Array) -> Any:
    """Return nested lists of whole numbers, None where not finite."""
    return _to_lists(values, lambda numbers: np.rint(numbers).astype(np.int64))


def _to_lists(values: Array, convert: Callable[[Array], NDArray[Any]]) -> Any:
    finite = np.isfinite(values)
    numbers = np.asarray(convert(np.where(finite, values, 0.0)))
    if not finite.all():
        numbers = numbers.astype(object)
        numbers[~finite] = None
    return numbers.tolist()
