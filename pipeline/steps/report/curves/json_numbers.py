"""Numbers of the report, rounded for JSON."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array


def to_four_digits(values: Array) -> Any:
    """Return nested lists rounded to four significant digits, None where not finite."""

    def four_digits(numbers: Array) -> Array:
        places = np.clip(3 - np.floor(np.log10(np.where(numbers == 0, 1.0, np.abs(numbers)))), 0, 15)
        return np.asarray(np.round(numbers * 10.0**places) / 10.0**places)

    return _to_lists(values, four_digits)


def to_decimals(values: Array, *, decimals: int) -> Any:
    """Return nested lists rounded to decimals, None where not finite."""
    return _to_lists(values, lambda numbers: np.round(numbers, decimals) + 0.0)


def to_whole_numbers(values: Array) -> Any:
    """Return nested lists of whole numbers, None where not finite."""
    return _to_lists(values, lambda numbers: np.rint(numbers).astype(np.int64))


def _to_lists(values: Array, convert: Callable[[Array], NDArray[Any]]) -> Any:
    finite = np.isfinite(values)
    numbers = convert(np.where(finite, values, 0.0))
    if not finite.all():
        numbers = numbers.astype(object)
        numbers[~finite] = None
    return numbers.tolist()
