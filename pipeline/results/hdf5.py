"""Reading of some variables of some trials from a session file by h5py.

netCDF-C would first open every variable of every trial, with its attributes.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Container, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import xarray as xr
from h5py import h5a, h5d, h5s, h5t
from numpy.typing import NDArray

NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"  # netCDF-4 format, "Dimension without variable"


class Stored(NamedTuple):
    """Storage of a variable: dimensions, its coordinates, whether it is boolean."""

    dims: tuple[str, ...]
    coordinates: tuple[str, ...]
    boolean: bool


class Part(NamedTuple):
    """A group: variables with coordinates, attributes, names of the coordinates."""

    variables: dict[str, xr.Variable]
    attrs: dict[str, Any]
    coordinates: tuple[str, ...]


def parts(
    path: Path,
    names: Collection[str],
    known: dict[str, Stored],
    *,
    trials: Container[str] | None,
    others: bool,
    attributes: Collection[str] | None,
    once: Container[str],
) -> tuple[dict[str, Part], dict[str, Any]]:
    """Read one file for :func:`pipeline.results.netcdf.load_parts`.

    The storage of each variable is added to ``known`` and used again for the next file of the step.
    """
    groups = {}
    with h5py.File(path) as file:
        for trial, group in file.items():
            wanted = trials is None or trial in trials
            if wanted or others:
                variables, coordinates = _variables(group, names, known, once) if wanted else ({}, ())
                groups[trial] = Part(variables, _attributes(group, attributes), coordinates)
        return groups, _attributes(file)


def _variables(
    group: h5py.Group, names: Iterable[str], known: dict[str, Stored], once: Container[str]
) -> tuple[dict[str, xr.Variable], tuple[str, ...]]:
    there = {*group}
    here = [name for name in names if name in there]
    _learn(group, here, known)
    coordinates = dict.fromkeys(name for own in here for name in known[own].coordinates)
    new = _learn(group, coordinates, known)
    wanted = tuple(name for name in coordinates if name in new or name not in once)
    return {name: _read(group, name, known[name]) for name in (*here, *wanted)}, wanted


def _learn(group: h5py.Group, names: Iterable[str], known: dict[str, Stored]) -> list[str]:
    """Add the storage of a group's variables to ``known``; return the new names."""
    if new := [name for name in names if name not in known]:
        # by address: HDF5 would search the whole file for the name of a dimension
        called = {group.id.links.get_info(name).u: name.decode() for name in group.id}
        known |= {name: _stored(name, group[name], called) for name in new}
    return new


def _stored(name: str, data: h5py.Dataset, called: Mapping[int, str]) -> Stored:
    boolean = _plain(data.attrs.get("dtype", "")) == "bool"
    if data.attrs.get("CLASS") == b"DIMENSION_SCALE":
        return Stored((name,), (), boolean)
    scales = [dim[0] for dim in data.dims][
        : data.ndim - (data.dtype.kind == "S")
    ]  # the last one of text counts letters
    dims = {called[_address(scale)]: scale for scale in scales}
    there = [dim for dim, scale in dims.items() if not scale.attrs["NAME"].startswith(NO_VARIABLE)]
    return Stored(tuple(dims), (*there, *_plain(data.attrs.get("coordinates", "")).split()), boolean)


def _address(data: h5py.Dataset) -> int:
    return int(h5py.h5o.get_info(data.id).addr)


def _read(group: h5py.Group, name: str, stored: Stored) -> xr.Variable:
    """Return a variable."""
    data = h5d.open(group.id, name.encode())
    dtype, memory = _types(data.get_type().encode())
    values = np.empty(data.shape, dtype)
    data.read(h5s.ALL, h5s.ALL, values, memory)
    if dtype.kind == "S":  # in the file, text has one more dimension: its characters
        values = _texts(values.tobytes(), values.shape).copy()
    return xr.Variable(stored.dims, values.astype(bool) if stored.boolean else values, fastpath=True)


@functools.cache
def _types(stored: bytes) -> tuple[np.dtype[Any], h5t.TypeID]:
    """Return the NumPy and HDF5 types in memory for an encoded type of the file."""
    dtype = h5t.decode(stored).dtype.newbyteorder("=")
    return dtype, h5t.py_create(dtype)


@functools.lru_cache(maxsize=1000)
def _texts(letters: bytes, shape: tuple[int, ...]) -> NDArray[np.str_]:
    """Return texts from their characters in UTF-8."""
    return np.char.decode(np.ndarray(shape[:-1], f"S{shape[-1]}", letters), "utf-8")


def _attributes(group: h5py.Group, names: Iterable[str] | None = None) -> dict[str, Any]:
    if names is None:
        names = [name for name in group.attrs if name != "_NCProperties"]
    return {name: _attribute(group, name) for name in names if h5a.exists(group.id, name.encode())}


def _attribute(group: h5py.Group, name: str) -> Any:
    """Return an attribute."""
    stored = h5a.open(group.id, name.encode())
    kind, shape = stored.get_type(), stored.shape
    text = isinstance(kind, h5t.TypeStringID) and not kind.is_variable_str()
    if shape is None or not (text or isinstance(kind, (h5t.TypeIntegerID, h5t.TypeFloatID))):
        return _plain(group.attrs[name])
    dtype, memory = _types(kind.encode())
    value = np.empty(shape, dtype)
    stored.read(value, memory)
    return _plain(value[()])


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, h5py.Empty):
        return ""
    return value[0] if isinstance(value, np.ndarray) and value.size == 1 else value
