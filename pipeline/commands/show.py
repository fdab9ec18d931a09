"""``gaitlab show``: the content of an output file, in the terminal."""

import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..arrays import Flags
from ..errors import UserError, join_some, nearest
from ..results import netcdf
from ..results.study_file import without_doubted
from ..tables.terminal_table import align, text_width
from ..trials.session import separate
from ..variables.cycle_variables import STANCE
from ..variables.data_dictionary import find_metric

RUNNING = ("time", "plate_time", "phase", "stance_phase")  # dimensions along which a curve is drawn
COUNTED = {  # numbered dimensions, and the coordinates that name the kind of each element
    "cycle": ("condition", "side"),
    "stance": ("stance_side",),
    "contact": ("contact_side",),
    "event": ("event", "event_side"),
}
STUDY = Path("derived", "study.nc")
GIVE_A_RESULT = "give a result, such as derived/study.nc in the folder of a study"
LEVELS = "▁▂▃▄▅▆▇█"
MOST_LISTED = 12
CURVE_WIDTH = 24
INDENT = "    "
WHOLE = 10_000  # characters: no line is wrapped
Table = list[list[str]]


def show_in_terminal(path: Path, *, trial: str | None, variable: str | None) -> str:
    """Return what :func:`show` does, as wide as the terminal; curves only if it can draw them."""
    try:
        LEVELS.encode(sys.stdout.encoding or "ascii")
        levels = LEVELS
    except UnicodeEncodeError:
        levels = ""
    return show(path, trial=trial, variable=variable, width=text_width(), levels=levels)


def show(path: Path, *, trial: str | None, variable: str | None, width: int, levels: str = LEVELS) -> str:
    """Return a file's trials and variables, or the numbers of one variable, as text.

    Args:
        path: an output file, flat or with trials, or a study's directory for its study.nc.
        trial: the only trial to show; None for all.
        variable: the variable or coordinate to show, or another name of a metric, such as KAM; None for an overview.
        width: characters per line.
        levels: characters of a drawn curve, from low to high; no curve is drawn with fewer than two.

    Raises:
        UserError: no such file, trial or variable, not a NetCDF file, a rejected trial, or a damaged file.
    """
    path = next((path / one for one in (STUDY, STUDY.name) if (path / one).is_file()), path)
    trials, attributes = _open(path)
    if trial is not None:
        _require(path, "trial", trial, trials)
        trials = {trial: trials[trial]}
    head = f"{path}{f', {trial}' if trial else ''}: {attributes.get('title', 'no title')}"
    if variable is None:
        return "\n\n".join([head, *_overview(trials, width)])
    used = {name: data for name, data in trials.items() if "rejected" not in data.attrs}
    if not used:
        what = f"{trial or 'every trial'} was rejected: {next(iter(trials.values())).rejected}"
        raise UserError(str(path), what, "leave --variable out")
    names = dict.fromkeys(str(name) for data in used.values() for name in data.variables)
    asked, others = variable, list[str]()
    if variable not in names:
        with suppress(UserError):  # a name that means no metric
            meant = find_metric(variable)
            variable, *others = [name for name in meant if name in names] or meant[:1]
    _require(path, "variable", variable, names)
    shown = {name: data[variable] for name, data in used.items() if variable in data.variables}
    about = next(iter(shown.values()))
    units = f" [{about.attrs['units']}]" if "units" in about.attrs else ""
    lines = [f"{variable}{units} {_meaning(about)}"]
    lines += [f"Also found by '{asked}': {', '.join(others)}"] if others else []
    meaning = "\n".join(textwrap.fill(line, width) for line in lines)
    return "\n\n".join([head, meaning, align(_numbers(shown, levels), width=width)])


def _open(path: Path) -> tuple[dict[str, xr.Dataset], Mapping[Any, object]]:
    if path.is_dir():
        raise UserError(str(path), "is a folder", GIVE_A_RESULT)
    if not path.is_file():
        raise UserError(str(path), "no such file", GIVE_A_RESULT)
    if not netcdf.is_netcdf(path):
        raise UserError(str(path), "not a NetCDF file", GIVE_A_RESULT)
    data = without_doubted(netcdf.load(path))
    return separate(data) if "rejected" in data.coords else {"": data}, data.attrs


def _require(path: Path, what: str, name: str, there: Mapping[str, object]) -> None:
    if name in there:
        return
    names = [each for each in there if each]
    if not names:
        raise UserError(str(path), f"has no {what}s", f"leave --{what} out")
    remedy = nearest(name, names) or f"expected one of {join_some(names, MOST_LISTED)}"
    raise UserError(str(path), f"no {what} '{name}'", remedy)


# --- the overview -----------------------------------------------------------------------------------------------------


def _overview(trials: Mapping[str, xr.Dataset], width: int) -> Iterator[str]:
    """Yield tables of trials, dimension labels and variables, over all trials."""
    if set(trials) != {""}:
        rows = []
        for trial, data in trials.items():
            sizes = [f"{size} {dim}" for dim, size in data.sizes.items() if dim in (*RUNNING, *COUNTED)]
            rejected = "rejected" in data.attrs
            text = f"rejected: {data.attrs['rejected']}" if rejected else ", ".join(sizes)
            rows.append([trial, str(len(data.data_vars)), text])
        yield align([["trial", "variables", "size, or why it was rejected"], *rows], width=width)
    if doubts := [*_doubts([*trials.values()])]:
        yield align([["doubted", "because"], *doubts], width=width)
    coordinates: dict[str, list[xr.DataArray]] = {}
    variables: dict[str, list[xr.DataArray]] = {}
    for data in trials.values():
        for arrays_by_name, names in ((coordinates, data.dims), (variables, data.data_vars)):
            for name in names:
                if name in data.variables:
                    arrays_by_name.setdefault(str(name), []).append(data[name])
    if coordinates:
        rows = [[name, _labels(arrays)] for name, arrays in coordinates.items()]
        yield align([["dimension", "labels"], *rows], width=width)
    if variables:
        header = ["variable", "units", "range", "missing"]
        lines = align([header, *map(_variable_row, variables.values())], width=WHOLE).split("\n")
        meanings = ["(dimensions) meaning", *(_meaning(arrays[0]) for arrays in variables.values())]
        short = (textwrap.shorten(meaning, width - len(INDENT), placeholder=" ...") for meaning in meanings)
        yield "\n".join(f"{line}\n{INDENT}{text}" for line, text in zip(lines, short, strict=True))


def _doubts(trials: Sequence[xr.Dataset]) -> Iterator[list[str]]:
    """Yield how many cycles, stances or contacts are doubted, and why."""
    for name in ("doubt", "stance_doubt", f"doubt{STANCE}"):
        arrays = [data.coords[name] for data in trials if name in data.coords]
        words = Counter(word for array in arrays for word in array.values.tolist())
        for doubt, number in words.items():
            if doubt:
                yield [f"{number} of {words.total()} {arrays[0].dims[0]}s", doubt]


def _labels(arrays: Sequence[xr.DataArray]) -> str:
    """Return text and up to four numbers in full, more numbers as their range."""
    values = np.concatenate([array.values for array in arrays])
    labels = dict.fromkeys(map(str, values))
    if values.dtype.kind not in "if" or len(labels) < 5:
        return " ".join(labels)
    return f"{values.min():.6g} to {values.max():.6g} {arrays[0].attrs.get('units', '')}".rstrip()


def _variable_row(arrays: Sequence[xr.DataArray]) -> list[str]:
    # text and dates are NaN
    numeric = [one.values.astype(float) if one.dtype.kind in "biuf" else np.full(one.shape, np.nan) for one in arrays]
    first, values = arrays[0], np.concatenate([array.ravel() for array in numeric])
    numbers = values[~np.isnan(values)]
    span = f"{numbers.min():.4g} to {numbers.max():.4g}" if numbers.size else ""
    return [str(first.name), first.attrs.get("units", ""), span, _percent(np.isnan(values))]


def _meaning(array: xr.DataArray) -> str:
    return f"({', '.join(map(str, array.dims))}) {array.attrs.get('long_name', '')}"


def _percent(flags: Flags) -> str:
    return f"{100 * flags.mean():.3g} %" if flags.size else ""


# --- the numbers of a variable ----------------------------------------------------------------------------------------


def _numbers(shown: Mapping[str, xr.DataArray], levels: str) -> Table:
    """Return a table of numbers, flags or texts, a row per trial, kind and label."""
    first = next(iter(shown.values()))
    dims = [str(dim) for dim in first.dims if dim != first.name]
    along = [dim for dim in dims if dim in RUNNING][:1]
    kinds = [kind for dim in dims for kind in COUNTED.get(dim, ()) if kind in first.coords and kind != first.name]
    labels = [dim for dim in dims if dim not in (*along, *COUNTED)]
    columns = ["mean", "min", "max", "missing"]
    if flags := str(first.attrs.get("flag_meanings", "")).split():
        columns = flags
    elif first.dtype.kind not in "biuf":
        columns = ["values"]
    elif along and len(levels) > 1:
        columns.append(f"along {along[0]}")
    rows = [["trial", *kinds, *labels, *columns]]
    for name, array in shown.items():
        for where, values in _parts(array, kinds, labels, along):
            if flags:
                cells = [_percent(values == value) for value in first.attrs["flag_values"]]
            else:
                cells = _cells(values, levels if len(columns) > 4 else "")
            rows.append([name, *where, *cells])
    return rows if set(shown) != {""} else [row[1:] for row in rows]


def _parts(
    array: xr.DataArray, kinds: Sequence[str], labels: Sequence[str], along: Sequence[str]
) -> Iterator[tuple[list[str], NDArray[Any]]]:
    """Yield kind and labels of each part of an array, and its ``(..., along)`` values."""
    counted = [dim for dim in array.dims if dim not in (*labels, *along)]
    array = array.transpose(*labels, *counted, *along)
    rows = list(zip(*(array[kind].values.tolist() for kind in kinds), strict=True))
    for kind in dict.fromkeys(rows) or [()]:
        chosen = array.isel({array[kinds[0]].dims[0]: [each == kind for each in rows]}) if rows else array
        for place in np.ndindex(*(array.sizes[dim] for dim in labels)):
            where = (array[dim].values[index] for dim, index in zip(labels, place, strict=True))
            yield [*map(str, kind), *map(str, where)], chosen.values[place]


def _cells(values: NDArray[Any], levels: str) -> list[str]:
    """Return texts with their counts in one cell, or mean, range and missing share of numbers, and their curve."""
    if values.dtype.kind not in "biuf":
        return [", ".join(f"{value or 'empty'} ({(values == value).sum()})" for value in np.unique(values))]
    numbers = values[~np.isnan(values)]
    cells = [f"{number:.4g}" for number in (numbers.mean(), numbers.min(), numbers.max())] if numbers.size else [""] * 3
    return [*cells, _percent(np.isnan(values)), *([_curve(values, levels)] if levels else [])]


def _curve(values: NDArray[Any], levels: str) -> str:
    """Return the mean curve as characters, scaled to its range; blank if missing."""
    samples = values.reshape(-1, values.shape[-1])
    starts = np.unique(np.linspace(0, samples.shape[1], CURVE_WIDTH, endpoint=False).astype(int))
    if not samples.size:
        return ""
    totals = np.add.reduceat(np.nansum(samples, axis=0, dtype=float), starts)
    counts = np.add.reduceat((~np.isnan(samples)).sum(axis=0), starts)
    means = np.divide(totals, counts, out=np.full(len(starts), np.nan), where=counts > 0)
    if not (counts > 0).any():
        return ""
    low, span = np.nanmin(means), np.nanmax(means) - np.nanmin(means)
    places = np.nan_to_num((means - low) / (span or 1) * (len(levels) - 1)).round().astype(int)
    return "".join(levels[place] if count else " " for place, count in zip(places, counts, strict=True))
