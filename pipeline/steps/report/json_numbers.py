"""Numbers of the report: selected from datasets, and rounded for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Array = NDArray[np.float64]


def select(data: xr.Dataset, name: str, *dims: str, **labels: str | tuple[str, ...]) -> NDArray[Any]:
    """Return a variable with dimensions in this order, at the given labels.

    One label drops its dimension, several keep it. Like ``sel`` and ``transpose``, but faster.
    """
    array, left = data.variables[name].values, list(data.variables[name].dims)
    for dim, chosen in labels.items():
        known = data.variables[dim].values.tolist()
        where = known.index(chosen) if isinstance(chosen, str) else [known.index(label) for label in chosen]
        array = array.take(where, axis=left.index(dim))
        if isinstance(chosen, str):
            left.remove(dim)
    return array.transpose([left.index(dim) for dim in dims])


def shortened(values: Array) -> Any:
    """Return nested lists rounded to four significant digits, None where not finite."""
    known = np.isfinite(values)
    size = np.abs(np.where(known & (values != 0), values, 1.0))
    places = np.clip(3 - np.floor(np.log10(size)), 0, 15)
    scale = 10.0**places
    return _with_gaps(np.round(np.where(known, values, 0.0) * scale) / scale, known)


def rounded(values: Array, *, decimals: int) -> Any:
    """Return nested lists rounded to decimals, None where not finite."""
    known = np.isfinite(values)
    return _with_gaps(np.round(np.where(known, values, 0.0), decimals) + 0.0, known)


def whole(values: Array) -> Any:
    """Return nested lists of whole numbers, None where not finite."""
    known = np.isfinite(values)
    return _with_gaps(np.rint(np.where(known, values, 0.0)).astype(np.int64), known)


def _with_gaps(values: NDArray[Any], known: NDArray[np.bool_]) -> Any:
    if known.all():
        return values.tolist()
    result = np.array(values, dtype=object)
    result[~known] = None
    return result.tolist()
