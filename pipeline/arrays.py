"""Types of arrays that every room shares, and how arrays are taken from datasets."""

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
