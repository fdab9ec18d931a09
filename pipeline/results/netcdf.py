"""Files of results: the only module that opens NetCDF.

A file appears complete or not at all: it is written under a temporary name, flushed to disk and renamed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import netCDF4
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..errors import UserError
from .whole_files import REMEDY, whole

TEXT = "string"  # begins the name of the dimension of the characters of a text
PACKED = {"scale_factor", "add_offset", "missing_value"}  # attributes of what another program has packed
OF_THE_FILE = {"_FillValue", "_Encoding", "dtype"}  # attributes that say how values are stored
CHUNK_BYTES, MOST_ROWS = 2**18, 4096  # of a chunk of a joined file: a few rows are read without the others


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Raise UserError, with a remedy, if a file cannot be read."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError) as error:  # the last: damaged attributes
        raise UserError(str(path), f"damaged ({error})", REMEDY) from None


def load(path: Path, names: Collection[str] | None = None, *, rows: Mapping[Any, slice] | None = None) -> xr.Dataset:
    """Return a file's variables in memory, single precision as double.

    Args:
        names: variables to read, which may be absent, besides the coordinates along their dimensions and the values of
            whole trials; None for all.
        rows: the part to read along some dimensions.

    Raises:
        UserError: the file is damaged.
    """
    with _damage_reported(path), _as_stored(path, "r") as source:
        holders: list[netCDF4.Dataset | netCDF4.Variable[Any]] = [source, *source.variables.values()]
        listed = (str(each.getncattr("coordinates")).split() for each in holders if "coordinates" in each.ncattrs())
        coordinates = {*source.dimensions}.union(*listed)  # CF conventions 1.11, chapter 5
        dims = {name: one.dimensions for name, one in source.variables.items()}
        others = set[str]() if names is None else {*_others(dims, names, coordinates)}
        variables = {name: _read(one, rows or {}) for name, one in source.variables.items() if name not in others}
        about = {name: source.getncattr(name) for name in source.ncattrs() if name != "coordinates"}
        return xr.Dataset(variables, attrs=about).set_coords(coordinates & variables.keys())


def _read(source: netCDF4.Variable[Any], rows: Mapping[Any, slice]) -> xr.Variable:
    """Return a variable as :func:`save` got it; what another program has packed, by CF 1.11, chapter 8, is unpacked.

    xarray's own reader decides for each variable by all conventions, which costs more than to read the file.
    """
    dims: tuple[Hashable, ...] = source.dimensions
    values = np.asarray(source[tuple(rows.get(dim, slice(None)) for dim in dims)])
    about = {name: source.getncattr(name) for name in source.ncattrs() if name != "coordinates"}
    fill = about.get("_FillValue", np.nan)
    if PACKED & about.keys() or fill == fill:  # noqa: PLR0124 (not NaN)
        decoded = xr.conventions.decode_cf_variable(source.name, xr.Variable(dims, values, about), decode_times=False)
        dims, values, about = decoded.dims, decoded.values, decoded.attrs
    elif values.dtype.kind == "S":
        texts = np.ascontiguousarray(values).view(f"S{values.shape[-1]}").ravel().tolist()
        values = np.array([text.decode() for text in texts], dtype=object).reshape(values.shape[:-1])
        dims = dims[:-1]
    elif about.get("dtype") == "bool":
        values = values.astype(bool)
    values = values.astype(float) if values.dtype == np.float32 else values
    left = {name: one for name, one in about.items() if name not in OF_THE_FILE}
    return xr.Variable(dims, values, left, fastpath=True)


def as_loaded(dataset: xr.Dataset) -> xr.Dataset:
    """Return a copy of a dataset as :func:`load` would give it from its file, of arrays that cannot be written to."""
    variables = {}
    for name, one in dataset.variables.items():
        kind = {"U": object, "f": float}.get(one.dtype.kind, one.dtype)
        values = np.array(one.values, dtype=kind, order="C")  # as a file has them: sums depend on the order in memory
        values.flags.writeable = False
        variables[name] = xr.Variable(one.dims, values, one.attrs, fastpath=True)  # of arrays as they are
    about = {name: _attribute_as_loaded(value) for name, value in dataset.attrs.items()}
    coordinates = {name: variables.pop(name) for name in dataset.coords}
    return xr.Dataset(variables, coordinates, about)


def as_read_only(dataset: xr.Dataset) -> xr.Dataset:
    """Return a dataset after its arrays cannot be written to; those of labels never can."""
    for one in dataset.variables.values():
        if not isinstance(one, xr.IndexVariable):
            one.values.flags.writeable = False
    return dataset


def _attribute_as_loaded(value: Any) -> Any:
    """Return an attribute as a file gives it: a list of one is its element, one of numbers an array, texts are str."""
    values = np.atleast_1d(value)
    if values.dtype.kind == "U":
        texts = [str(text) for text in values]
        return texts[0] if len(texts) == 1 else texts
    return values[0] if values.size == 1 else values


def select(data: xr.Dataset, names: Collection[str] | None) -> xr.Dataset:
    """Return the variables that :func:`load` reads of a file with this content, in the same arrays."""
    dims = {str(name): [str(dim) for dim in one.dims] for name, one in data.variables.items()}
    others = [] if names is None else _others(dims, names, {*map(str, data.coords)})
    return data.drop_vars(others).copy()


def in_double_precision(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset with its variables of single precision, as files have them, in double precision."""
    for variable in data.variables.values():
        if variable.dtype == np.float32:
            variable.values = variable.values.astype(float)
    return data


def _others(along: Mapping[str, Sequence[str]], names: Collection[str], coordinates: Collection[str]) -> list[str]:
    """Return the variables that :func:`load` leaves out, of those with these dimensions."""
    dims = {name: [dim for dim in every if not dim.startswith(TEXT)] for name, every in along.items()}
    wanted = {"trial"}.union(*(dims[name] for name in names if name in dims and name not in coordinates))
    return [
        name
        for name, own in dims.items()
        if name not in names and own != ["trial"] and (name not in coordinates or not wanted.issuperset(own))
    ]


def attributes(path: Path) -> dict[str, Any]:
    """Return a file's global attributes after reading all values, which verifies checksums; refuse a damaged file."""
    with _damage_reported(path), netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for variable in file.variables.values():
            variable[...]
            variable.ncattrs()
        return {name: file.getncattr(name) for name in file.ncattrs()}


def is_netcdf(path: Path) -> bool:
    """Return whether a file has the signature of NetCDF."""
    with path.open("rb") as file:
        return file.read(8).startswith((b"\x89HDF\r\n\x1a\n", b"CDF"))


def save(path: Path, dataset: xr.Dataset) -> None:
    """Write a dataset.

    Text is stored as characters in UTF-8, which every reader knows. Missing floating-point samples are NaN; coordinates
    have no ``_FillValue``. Every array has a checksum. Nothing is compressed. The values follow when all variables are
    declared: xarray writes those of each at once, and the library then flushes the file each time, half of its work.
    """
    stored = {str(name): _as_written(variable) for name, variable in dataset.variables.items()}
    # a variable lists the coordinates along its dimensions, the file those that no variable does (CF 1.11, chapter 5)
    names = sorted(map(str, dataset.coords.keys() - {*dataset.dims}))
    labels = {name: {*dataset.variables[name].dims} for name in names}
    along = {
        str(name): [label for label, dims in labels.items() if dims.issubset(dataset.variables[name].dims)]
        for name in dataset.data_vars
    }
    rest = labels.keys() - set().union(*along.values())
    listed = {name: {"coordinates": " ".join(own)} for name, own in along.items() if own}
    of_none = {"coordinates": " ".join(sorted(rest))} if rest else {}
    with whole(path) as partial, _as_stored(partial, "w") as target:
        target.setncatts(dataset.attrs | of_none)
        for name, (dims, values, about) in stored.items():
            for dim, size in zip(dims, values.shape, strict=True):
                if dim not in target.dimensions:
                    target.createDimension(dim, size)
            fill = values.dtype.type(np.nan) if values.dtype.kind == "f" and name not in dataset.coords else None
            created = target.createVariable(name, values.dtype, dims, fletcher32=bool(dims), fill_value=fill)
            created.setncatts(dataset.variables[name].attrs | listed.get(name, {}) | about)
        for name, (_, values, _) in stored.items():
            target[name][...] = values


def _as_written(variable: xr.Variable) -> tuple[list[str], NDArray[Any], dict[str, str]]:
    """Return dimensions and values as files have them, and what tells readers so: text as characters, flags as int8."""
    dims = [str(dim) for dim in variable.dims]
    values = variable.values
    if values.dtype.kind == "b":
        return dims, values.astype(np.int8), {"dtype": "bool"}
    if values.dtype.kind not in "UO":
        return dims, values, {}
    if values.dtype == object and (others := {*map(type, values.flat)} - {str}):
        raise TypeError(f"{others} instead of text")
    text = np.char.encode(values.astype(str), "utf-8")
    width = max(1, text.dtype.itemsize)
    letters = np.ascontiguousarray(text).view("S1").reshape(*text.shape, width)
    return [*dims, f"{TEXT}{width}"], letters, {"_Encoding": "utf-8"}


def join(path: Path, parts: Sequence[Path], *, along: Collection[str], attributes: Mapping[str, Any]) -> None:
    """Write files of :func:`save` as one, with little in memory.

    Args:
        parts: files of the same variables and labels.
        along: dimensions along which the parts follow each other.
        attributes: global attributes besides those of the first part.
    """
    sizes, widths = _sizes_of(parts, along)
    with whole(path) as partial, _as_stored(partial, "w") as target:
        for number, part in enumerate(parts):
            with _as_stored(part, "r") as file:
                if not number:
                    target.setncatts({name: file.getncattr(name) for name in file.ncattrs()} | dict(attributes))
                    for dim, size in sizes.items():
                        target.createDimension(dim, sum(size))
                    for name, variable in file.variables.items():
                        _create_like(target, variable, widths.get(name))
                for name, variable in file.variables.items():
                    if variable.dimensions[:1] and variable.dimensions[0] in along:
                        start = sum(sizes[variable.dimensions[0]][:number])
                        rows = slice(start, start + len(variable))
                        target[name][(rows, *map(slice, variable.shape[1:]))] = variable[...]
                    elif not number:
                        target[name][...] = variable[...]


def _as_stored(path: Path, mode: Literal["r", "w"]) -> netCDF4.Dataset:
    """Open a file with its values as they are stored: text as characters."""
    file = netCDF4.Dataset(path, mode)
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)
    return file


def _sizes_of(parts: Sequence[Path], along: Collection[str]) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return the sizes of dimensions, one per part along those that are joined, and the largest widths of texts."""
    sizes: dict[str, list[int]] = {}
    widths: dict[str, int] = {}
    for part in parts:
        with _as_stored(part, "r") as file:
            for dim, one in file.dimensions.items():
                if not dim.startswith(TEXT) and (dim in along or dim not in sizes):
                    sizes.setdefault(dim, []).append(len(one))
            for name, variable in file.variables.items():
                if variable.dimensions[-1:] and variable.dimensions[-1].startswith(TEXT):
                    widths[name] = max(widths.get(name, 1), variable.shape[-1])
    return sizes, widths


def _create_like(target: netCDF4.Dataset, variable: netCDF4.Variable[Any], width: int | None) -> None:
    """Create a variable, text as wide as the widest of all parts, in chunks of whole rows."""
    dims = [*variable.dimensions]
    if width:
        dims[-1] = f"{TEXT}{width}"
        if dims[-1] not in target.dimensions:
            target.createDimension(dims[-1], width)
    about = {name: variable.getncattr(name) for name in variable.ncattrs()}
    fill, shape = about.pop("_FillValue", False), [max(1, len(target.dimensions[dim])) for dim in dims]
    rows = max(1, min(CHUNK_BYTES // (variable.dtype.itemsize * math.prod(shape[1:])), MOST_ROWS, *shape[:1]))
    chunks = [rows, *shape[1:]] if dims else None
    created = target.createVariable(
        variable.name, variable.dtype, dims, fill_value=fill, fletcher32=bool(dims), chunksizes=chunks
    )
    created.setncatts(about)
    if dims:
        created.set_var_chunk_cache(4 * CHUNK_BYTES)
