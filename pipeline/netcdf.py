"""Session files: the only module that opens NetCDF.

One file per session and step, one group per trial, every group self-contained. A file appears whole or
not at all: it is written beside its place, flushed to disk and renamed.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr

from pipeline.errors import UserError

MEND = "remove it and run again"


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Say of a file that cannot be read what mends it."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise UserError(f"{path}: damaged ({error}); {MEND}") from None


def load_groups(path: Path) -> tuple[dict[str, xr.Dataset], dict[str, Any]]:
    """Return the groups of a session file, loaded, in their order, and the attributes of its root.

    A flat file is one group, called "".

    Raises:
        UserError: the file is damaged.
    """
    with _damage_told(path):
        groups = xr.open_groups(path, engine="netcdf4")
        loaded = {name.lstrip("/"): group.load() for name, group in groups.items()}
    for group in groups.values():
        group.close()
    root = loaded.pop("")
    return loaded or {"": root}, dict(root.attrs)


def load_tree(path: Path) -> tuple[dict[str, xr.Dataset], dict[str, Any]]:
    """Return what :func:`load_groups` does of a session file, which has no groups where no trial is listed."""
    groups, attributes = load_groups(path)
    groups.pop("", None)
    return groups, attributes


def load_trials(
    path: Path, wanted: Container[str], *, variables: Container[str], others: bool
) -> dict[str, xr.Dataset]:
    """Return the wanted groups of a session file with some of their variables.

    Args:
        path: the session file.
        wanted: names of groups.
        variables: names of variables, which may be absent.
        others: whether to return the attributes of all other groups too.

    Raises:
        UserError: the file is damaged.
    """
    with _damage_told(path), netCDF4.Dataset(path) as file:
        groups = {name: group for name, group in file.groups.items() if others or name in wanted}
        return {name: _some(group, variables if name in wanted else ()) for name, group in groups.items()}


def _some(group: netCDF4.Group, variables: Container[str]) -> xr.Dataset:
    """Return a group's attributes, and some of its variables with the coordinates of their dimensions.

    Without xarray's own reading, which costs more than these numbers do.
    """
    group.set_auto_mask(False)
    chosen = [name for name in group.variables if name in variables]
    dims = dict.fromkeys(dim for name in chosen for dim in group[name].dimensions if dim in group.variables)
    arrays = {name: group[name][...] for name in (*chosen, *dims)}
    # text has one dimension more in the file: its letters
    content = {name: (group[name].dimensions[: array.ndim], array) for name, array in arrays.items()}
    return xr.Dataset(content, attrs=_attributes(group))


def _attributes(part: netCDF4.Dataset | netCDF4.Variable[Any]) -> dict[str, Any]:
    return {name: part.getncattr(name) for name in part.ncattrs()}


def read_through(path: Path) -> dict[str, Any]:
    """Read every variable of every group, so that all checksums are checked, and return the attributes of the root.

    Raises:
        UserError: the file is damaged.
    """
    with _damage_told(path), netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for part in (file, *file.groups.values()):
            for variable in part.variables.values():
                _attributes(variable)
                variable[...]
            _attributes(part)
        return _attributes(file)


def is_netcdf(path: Path) -> bool:
    """Return whether a file begins as NetCDF files do."""
    with path.open("rb") as file:
        return file.read(8).startswith((b"\x89HDF\r\n\x1a\n", b"CDF"))


def load(path: Path) -> xr.Dataset:
    """Return a flat dataset, loaded.

    Raises:
        UserError: the file is damaged.
    """
    with _damage_told(path):
        return xr.load_dataset(path, engine="netcdf4")


def save_tree(path: Path, groups: Mapping[str, xr.Dataset], attributes: Mapping[str, Any]) -> None:
    """Write one group per trial; the root holds attributes only."""

    def write(target: Path) -> None:
        values = _ValuesLast()
        root = xr.backends.NetCDF4DataStore.open(target, mode="w")  # type: ignore[no-untyped-call]
        try:
            xr.Dataset(attrs=dict(attributes)).dump_to_store(root, writer=values)
            for name, group in groups.items():
                group.dump_to_store(root.get_child_store(name), writer=values, encoding=encodings(group))
            values.put()
        finally:
            root.close()

    _write(path, write)


class _ValuesLast:
    """Puts values in when all variables are defined: netCDF-C walks the whole file at each turn from one to the other.

    Of 2,000 variables, a session of 20 trials, that is the time of all the rest twenty times over.
    """

    def __init__(self) -> None:
        self.held: list[tuple[Any, Any]] = []

    def add(self, source: Any, target: Any) -> None:
        """Keep what xarray would write now."""
        self.held.append((source, target))

    def put(self) -> None:
        for source, target in self.held:
            target[...] = source


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
