"""Session files: the only module that opens NetCDF.

One file per session and step, one self-contained group per trial. A file appears complete or not at all: it is
written under a temporary name, flushed to disk and renamed.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from xarray.indexes import PandasIndex

from ..errors import UserError
from . import hdf5
from .hdf5 import Part

Array = NDArray[Any]
REMEDY = "remove it and run again"
STORAGE = ("_FillValue", "_Encoding")  # attributes about storage, not about the values


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Raise UserError, with a remedy, if a file cannot be read."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError) as error:  # the last: damaged attributes
        raise UserError(str(path), f"damaged ({error})", REMEDY) from None


def load_groups(path: Path) -> tuple[dict[str, xr.Dataset], dict[str, Any]]:
    """Return the groups of a session file in order, and its root attributes.

    A flat file is one group named "".

    Raises:
        UserError: the file is damaged.
    """
    with _opened(path) as file:
        root = _attributes(file)
        return {name: _dataset(group) for name, group in file.groups.items()} or {"": _dataset(file)}, root


def load_tree(path: Path) -> tuple[dict[str, xr.Dataset], dict[str, Any]]:
    """Like :func:`load_groups`, but with no groups for a session file without trials."""
    groups, attributes = load_groups(path)
    groups.pop("", None)
    return groups, attributes


def load_some(
    path: Path, names: Collection[str], *, trials: Container[str] | None = None, others: bool = True
) -> tuple[dict[str, xr.Dataset], dict[str, Any]]:
    """Load named variables and their coordinates, without their attributes.

    Args:
        path: the session file; a variable has the same dimensions in all groups.
        names: names of variables, which may be absent.
        trials: the groups to read; None for all.
        others: whether to return the attributes of the other groups.

    Raises:
        UserError: the file is damaged.
    """
    groups, root = load_parts({"": path}, names, trials=None if trials is None else {"": trials}, others=others)[""]
    return {name: assembled(part) for name, part in groups.items()}, root


def load_parts(
    files: Mapping[str, Path],
    names: Collection[str],
    *,
    trials: Mapping[str, Container[str]] | None = None,
    others: bool = True,
    attributes: Collection[str] | None = None,
    once: Container[str] = (),
) -> dict[str, tuple[dict[str, Part], dict[str, Any]]]:
    """Load named variables of several sessions, as parts instead of datasets.

    Args:
        files: the files of one step by session; a variable has the same dimensions in all groups.
        names: names of variables, which may be absent.
        trials: by session, the groups to read; None for all.
        others: whether to return the attributes of the other groups.
        attributes: names of the groups' attributes to read; None for all.
        once: names of coordinates that are the same in all groups; read from the first group that has them.

    Raises:
        UserError: a file is damaged.
    """
    known: dict[str, hdf5.Stored] = {}
    found = {}
    for session, path in files.items():
        wanted = None if trials is None else trials[session]
        with _damage_reported(path):
            found[session] = hdf5.parts(
                path, names, known, trials=wanted, others=others, attributes=attributes, once=once
            )
    return found


def load(path: Path) -> xr.Dataset:
    """Return a flat dataset, loaded.

    Raises:
        UserError: the file is damaged.
    """
    with _opened(path) as file:
        return _dataset(file)


@contextmanager
def _opened(path: Path) -> Iterator[netCDF4.Dataset]:
    with _damage_reported(path), netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        yield file


def _dataset(part: netCDF4.Dataset) -> xr.Dataset:
    """Return a file or group as a dataset."""
    about = _attributes(part)
    coordinates = {*part.variables} & {*part.dimensions, *about.pop("coordinates", "").split()}
    variables = {}
    for name, stored in part.variables.items():
        array, own = np.asarray(stored[...]), _attributes(stored)
        coordinates |= {*own.pop("coordinates", "").split()}
        if own.pop("dtype", "") == "bool":
            array = array.astype(bool)
        # in the file, text has one more dimension: its characters
        dims = stored.dimensions[: array.ndim]
        variables[name] = xr.Variable(dims, array, {key: own[key] for key in own if key not in STORAGE})
    return assembled(Part(variables, about, tuple(name for name in variables if name in coordinates)))


def assembled(part: Part) -> xr.Dataset:
    """Return a group as a dataset."""
    variables = {**part.variables}
    coordinates = {name: variables.pop(name) for name in part.coordinates}
    indexes = {name: _index(name, each.values) for name, each in coordinates.items() if each.dims == (name,)}
    indexed = {name: index.create_variables({name: coordinates[name]})[name] for name, index in indexes.items()}
    return xr.Dataset(variables, xr.Coordinates({**coordinates, **indexed}, indexes), part.attrs)


def _index(dim: str, labels: Array) -> PandasIndex:
    if labels.dtype.kind == "U":
        return _text_index(dim, tuple(labels.tolist()), labels.dtype)
    return PandasIndex(pd.Index(labels), dim, coord_dtype=labels.dtype)


@functools.lru_cache(maxsize=1000)
def _text_index(dim: str, labels: tuple[str, ...], dtype: np.dtype[Any]) -> PandasIndex:
    """Return an index of text labels; cached, since all groups have the same few."""
    return PandasIndex(pd.Index(labels, dtype=object), dim, coord_dtype=dtype)


def _attributes(part: netCDF4.Dataset | netCDF4.Variable[Any]) -> dict[str, Any]:
    return {name: part.getncattr(name) for name in part.ncattrs()}


def read_through(path: Path) -> dict[str, Any]:
    """Read every variable, which verifies all checksums; return the root attributes.

    Raises:
        UserError: the file is damaged.
    """
    with _damage_reported(path), netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for part in (file, *file.groups.values()):
            for variable in part.variables.values():
                _attributes(variable)
                variable[...]
            _attributes(part)
        return _attributes(file)


def is_netcdf(path: Path) -> bool:
    """Return whether a file has the signature of NetCDF."""
    with path.open("rb") as file:
        return file.read(8).startswith((b"\x89HDF\r\n\x1a\n", b"CDF"))


def save_tree(path: Path, groups: Mapping[str, xr.Dataset], attributes: Mapping[str, Any]) -> None:
    """Write one group per trial; the root holds attributes only."""

    def write(file: netCDF4.Dataset) -> None:
        file.setncatts(attributes)
        # define everything first, then write values: switching between the two is slow in netCDF-C
        _put([pair for name, dataset in groups.items() for pair in _defined(file.createGroup(name), dataset)])

    _write_netcdf(path, write)


def save(path: Path, dataset: xr.Dataset) -> None:
    """Write a flat dataset."""
    _write_netcdf(path, lambda file: _put(_defined(file, dataset)))


def _write_netcdf(path: Path, write: Callable[[netCDF4.Dataset], None]) -> None:
    def whole(target: Path) -> None:
        with netCDF4.Dataset(target, "w") as file:
            write(file)

    _write(path, whole)


def _defined(part: netCDF4.Dataset, dataset: xr.Dataset) -> list[tuple[netCDF4.Variable[Any], Array]]:
    """Define the variables of a dataset in a file; return them with their values.

    Text is stored as fixed-width characters, which every reader knows, and booleans as bytes. Missing floating-point
    samples are NaN; coordinates have no ``_FillValue``. Every variable has a checksum. Nothing is compressed.
    """
    auxiliary = [str(name) for name in dataset.coords if name not in dataset.dims]
    assigned: set[str] = set()
    pairs = []
    for dim, size in dataset.sizes.items():
        part.createDimension(str(dim), size)
    for name, variable in dataset.variables.items():
        values, dims, about = variable.values, [*map(str, variable.dims)], dict(variable.attrs)
        missing = name not in dataset.coords and values.dtype.kind == "f"
        if values.dtype.kind in "UO":
            values, about["_Encoding"] = _letters(values), "utf-8"
            dims.append(f"string{values.shape[-1]}")
            if dims[-1] not in part.dimensions:
                part.createDimension(dims[-1], values.shape[-1])
        elif values.dtype.kind == "b":
            values, about["dtype"] = values.astype(np.int8), "bool"
        if name not in dataset.coords:
            own = sorted(each for each in auxiliary if {*dataset.variables[each].dims} <= {*dims})
            about |= {"coordinates": " ".join(own)} if own else {}
            assigned |= {*own}
        fill = np.nan if missing else None
        stored = part.createVariable(str(name), values.dtype, dims, fill_value=fill, fletcher32=bool(dims))
        stored.setncatts(about)
        pairs.append((stored, values))
    alone = sorted({*auxiliary} - assigned)
    part.setncatts(dataset.attrs | ({"coordinates": " ".join(alone)} if alone else {}))
    return pairs


def _put(pairs: Iterable[tuple[netCDF4.Variable[Any], Array]]) -> None:
    for stored, values in pairs:
        stored.set_auto_maskandscale(False)
        stored.set_auto_chartostring(False)
        stored[...] = values


def _letters(texts: NDArray[Any]) -> Array:
    """Return texts (...) as characters (..., letter) of UTF-8."""
    encoded = np.array([str.encode(text) for text in texts.ravel()], dtype="S")
    return encoded.view("S1").reshape(*texts.shape, encoded.itemsize)


def write_whole(path: Path, content: bytes) -> None:
    """Write bytes so that the file appears complete or not at all."""
    _write(path, lambda target: target.write_bytes(content))


def _write(path: Path, write: Callable[[Path], object]) -> None:
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
