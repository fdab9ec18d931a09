"""Numbers of the report, rounded for JSON."""

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array

SHORT = 20  # numbers; a list of fewer stays as it is
MOST_DECIMALS = 9


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


def by_second_differences(data: Any) -> Any:
    """Return data with each long list of rounded numbers as its second differences, which compress to half the size.

    Returns:
        The same for JSON but, instead of each list of more than 20 rounded numbers or None, ``decimals`` and
        ``second_differences``: whole numbers of the last decimal, None of what is None. library.js sums them up.
        Other numbers stay as they are, those that are not finite for JSON to refuse.
    """
    if isinstance(data, dict):
        return {name: by_second_differences(value) for name, value in data.items()}
    if not isinstance(data, list | tuple):
        return data
    kinds = {*map(type, data)}
    if not kinds <= {int, float, NoneType} or len(data) <= SHORT:
        return [by_second_differences(value) for value in data] if kinds & {dict, list, tuple} else data
    known = [value for value in data if value is not None]
    decimals = _decimals_of(known) if float in kinds else 0
    if decimals is None:
        return data
    scale = 10.0**decimals
    whole = [round(value * scale) for value in known] if float in kinds else known
    differences = [now - 2 * last + first for now, last, first in zip(whole, [0, *whole], [0, 0, *whole], strict=False)]
    if len(known) < len(data):
        left = iter(differences)
        differences = [None if value is None else next(left) for value in data]
    return {"decimals": decimals, "second_differences": differences}


def _decimals_of(numbers: Sequence[float]) -> int | None:
    """Return the fewest decimals in which all numbers are rounded, None if there are none."""
    values = np.array(numbers, dtype=float)
    for decimals in range(MOST_DECIMALS + 1) if np.isfinite(values).all() else ():
        scaled = values * 10.0**decimals
        whole = np.rint(scaled)
        if (np.abs(scaled - whole) <= 1e-9 + 1e-12 * np.abs(whole)).all():  # but for the last bit
            return decimals
    return None


def _to_lists(values: Array, convert: Callable[[Array], NDArray[Any]]) -> Any:
    finite = np.isfinite(values)
    numbers = np.asarray(convert(np.where(finite, values, 0.0)))
    if not finite.all():
        numbers = numbers.astype(object)
        numbers[~finite] = None
    return numbers.tolist()
