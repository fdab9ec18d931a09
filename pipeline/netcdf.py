"""Session files: the only module that opens NetCDF.

One file per session and step, one group per trial, every group self-contained. A file appears whole or
not at all: it is written beside its place, flushed to disk and renamed.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr

from pipeline.errors import UserError


def load_tree(path: Path) -> tuple[dict[str, xr.Dataset], dict[str, Any]]:
    """Return the groups of a session file, loaded, in their order, and the attributes of its root.

    Raises:
        UserError: the file is damaged.
    """
    try:
        groups = xr.open_groups(path, engine="netcdf4")
        loaded = {name.lstrip("/"): group.load() for name, group in groups.items()}
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise UserError(f"{path}: damaged ({error}); remove it and run again") from None
    for group in groups.values():
        group.close()
    root = loaded.pop("")
    return loaded, dict(root.attrs)


def load_trials(path: Path, wanted: Container[str], *, variables: Container[str]) -> dict[str, xr.Dataset]:
    """Return the groups of a session file: of the wanted ones some variables, loaded, of the others the attributes.

    Raises:
        UserError: the file is damaged.
    """
    groups = {}
    try:
        with netCDF4.Dataset(path) as file:
            for name, group in file.groups.items():
                if name in wanted:
                    store = xr.backends.NetCDF4DataStore(group)  # type: ignore[no-untyped-call]
                    others = [own for own in group.variables if own not in variables and own not in group.dimensions]
                    groups[name] = xr.open_dataset(store, drop_variables=others).load()
                else:
                    groups[name] = xr.Dataset(attrs={key: group.getncattr(key) for key in group.ncattrs()})
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise UserError(f"{path}: damaged ({error}); remove it and run again") from None
    return groups


def load(path: Path) -> xr.Dataset:
    """Return a flat dataset, loaded.

    Raises:
        UserError: the file is damaged.
    """
    try:
        return xr.load_dataset(path, engine="netcdf4")
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise UserError(f"{path}: damaged ({error}); remove it and run again") from None


def save_tree(path: Path, groups: Mapping[str, xr.Dataset], attributes: Mapping[str, Any]) -> None:
    """Write one group per trial; the root holds attributes only."""
    tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs=dict(attributes)), **groups})
    encoding = {f"/{name}": encodings(group) for name, group in groups.items()}
    _write(path, lambda target: tree.to_netcdf(target, engine="netcdf4", encoding=encoding))


def save(path: Path, dataset: xr.Dataset) -> None:
    """Write a flat dataset."""
    _write(path, lambda target: dataset.to_netcdf(target, engine="netcdf4", encoding=encodings(dataset)))


def encodings(dataset: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Return how each variable is stored: compressed, with checksums, text as fixed-width characters.

    Coordinates carry no ``_FillValue``; missing floating-point samples are NaN.
    """
    result: dict[str, dict[str, Any]] = {}
    for name, variable in dataset.variables.items():
        encoding: dict[str, Any] = {}
        if variable.dtype.kind in "UO":
            encoding["dtype"] = "S1"
        elif name in dataset.coords or variable.dtype.kind != "f":
            encoding["_FillValue"] = None
        else:
            encoding["_FillValue"] = np.nan
        if variable.ndim:
            encoding |= {"zlib": True, "complevel": 1, "fletcher32": True}
        result[str(name)] = encoding
    return result


def write_whole(path: Path, content: bytes) -> None:
    """Write bytes so that the file appears whole or not at all."""
    _write(path, lambda target: target.write_bytes(content))


def _write(path: Path, write: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob(f".{path.name}.*.partial"):
        stale.unlink(missing_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        write(partial)
        with partial.open("rb") as handle:
            os.fsync(handle.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
