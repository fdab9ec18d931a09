"""Some variables of some trials, out of a session file taken as the HDF5 file that it is.

netCDF-C opens every variable of every trial first, half a millisecond each, and the report wants one trial in twenty.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr

NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"  # netCDF-4 format, "Dimension without variable"


def groups(path: Path, wanted: Container[str], *, variables: Container[str], others: bool) -> dict[str, xr.Dataset]:
    """Return what :func:`pipeline.netcdf.load_trials` does; OSError and KeyError tell of damage."""
    with h5py.File(path) as file:
        chosen = [name for name in file if others or name in wanted]
        return {name: _dataset(file[name], variables if name in wanted else ()) for name in chosen}


def _dataset(group: h5py.Group, variables: Container[str]) -> xr.Dataset:
    """Return a group's attributes, and some of its variables with the coordinates of their dimensions."""
    content: dict[str, Any] = {}
    # HDF5 would search the whole file for the name of a dimension
    names = {_address(group[name]): name for name in group} if variables else {}
    for name in names.values():
        if name in variables:
            dims = [names[_address(dim[0])] for dim in group[name].dims]
            content[name] = (dims, group[name][...])
            there = [dim for dim in dims if not group[dim].attrs["NAME"].startswith(NO_VARIABLE)]
            content |= {dim: (dim, _values(group[dim])) for dim in there}
    return xr.Dataset(content, attrs={name: _attribute(value) for name, value in group.attrs.items()})


def _address(data: h5py.Dataset) -> int:
    return int(h5py.h5o.get_info(data.id).addr)


def _values(data: h5py.Dataset) -> Any:
    """Return the values of a coordinate; text has one dimension more in the file: its letters."""
    values = data[...]
    if values.dtype.kind != "S":
        return values
    return np.char.decode(values.view(f"S{values.shape[-1]}")[..., 0], "utf-8")


def _attribute(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, h5py.Empty):
        return ""
    return value[0] if isinstance(value, np.ndarray) and value.size == 1 else value
