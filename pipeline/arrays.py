"""Types of arrays that every room shares, how they are taken from datasets, and arithmetic of unknown numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


def select(data: xr.Dataset, name: str, *dims: str, **labels: str) -> NDArray[Any]:
    """Return a variable with dimensions in this order, at the given labels. Like ``sel`` and ``transpose``, faster."""
    array, remaining = data.variables[name].values, list(data.variables[name].dims)
    for dim, label in labels.items():
        array = array.take(data.variables[dim].values.tolist().index(label), axis=remaining.index(dim))
        remaining.remove(dim)
    return array.transpose([remaining.index(dim) for dim in dims])


def quotient(over: Array, under: Array) -> Array:
    """Return a quotient, NaN or infinite where the divisor is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(over / under)


def known_mean(values: Array, axis: int | tuple[int, ...]) -> Array:
    """Return the mean of the finite values along some dimensions, NaN where there are none."""
    known = np.isfinite(values)
    return quotient(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis))
