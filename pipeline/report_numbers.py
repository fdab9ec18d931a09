"""Numbers as the report's JSON carries them: short, and null where unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def shortened(values: Array, *, digits: int = 4) -> Any:
    """Return an array as nested lists, rounded to significant digits; None where it is not finite."""
    known = np.isfinite(values)
    size = np.abs(np.where(known & (values != 0), values, 1.0))
    places = np.clip(digits - 1 - np.floor(np.log10(size)), 0, 15)
    scale = 10.0**places
    return _with_gaps(np.round(np.where(known, values, 0.0) * scale) / scale, known)


def rounded(values: Array, *, decimals: int) -> Any:
    """Return an array as nested lists, rounded to decimals; None where it is not finite."""
    known = np.isfinite(values)
    return _with_gaps(np.round(np.where(known, values, 0.0), decimals) + 0.0, known)


def whole(values: Array) -> Any:
    """Return an array as nested lists of whole numbers; None where it is not finite."""
    known = np.isfinite(values)
    return _with_gaps(np.rint(np.where(known, values, 0.0)).astype(np.int64), known)


def _with_gaps(values: NDArray[Any], known: NDArray[np.bool_]) -> Any:
    if known.all():
        return values.tolist()
    result = values.astype(object)
    result[~known] = None
    return result.tolist()
