"""A session's trials as one dataset of ragged arrays.

The samples of all trials follow each other along ``sample`` (marker frames) and ``plate_sample`` (analog samples), and
so do their ``event``, ``contact``, ``cycle`` and ``stance``; ``sample_trial`` and the like hold the number of the
trial, from 0, of each element (CF conventions 1.11, section 9.3.4, indexed ragged array). Along ``trial`` are the
trials' names and what holds for a whole trial. A rejected trial has no elements, and ``rejected`` says why.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..errors import UserError, nearest
from . import netcdf

# dimensions of a session, and their names in one trial
IN_ONE_TRIAL = {
    "sample": "time", "plate_sample": "plate_time", "event": "event", "contact": "contact", "cycle": "cycle",
    "stance": "stance",
}  # fmt: skip
IN_SESSION = {own: dim for dim, own in IN_ONE_TRIAL.items()}
# dimensions along which trials may have different labels. A session has those of all trials; ``marker_order`` is the
# place of each in a trial, from 1, or 0 if the trial lacks it
UNITED = ("marker", "plate")
HELPERS = {*(f"{dim}_trial" for dim in IN_ONE_TRIAL), *(f"{dim}_order" for dim in UNITED)}
SOURCE = ("source", "source_sha256")  # attributes of a trial that every step passes on


class Trial:
    """One trial over ``time``, as a step on one trial takes and returns it.

    It is built and read like a dataset, but has no indexes and aligns nothing, so that it costs little to build.

    Args:
        variables, coordinates: variables, values with their dimensions, or labels of a dimension, by name.
        attributes: single values about the trial; ``rejected`` if it cannot be used.
    """

    def __init__(
        self,
        variables: Mapping[Any, Any] | None = None,
        coordinates: Mapping[Any, Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self.coords = dict(coordinates or {})
        self.variables = {name: _variable(name, one) for name, one in {**(variables or {}), **self.coords}.items()}
        self.attrs = dict(attributes or {})

    def __getattr__(self, name: str) -> xr.Variable:
        try:
            variable: xr.Variable = self.__dict__["variables"][name]
        except KeyError:
            raise AttributeError(f"the trial has no variable {name!r}") from None
        return variable

    def __getitem__(self, name: str) -> xr.Variable:
        return self.variables[name]

    @property
    def sizes(self) -> dict[Any, int]:
        """Return the size of each dimension."""
        return {dim: size for one in self.variables.values() for dim, size in one.sizes.items()}

    def dataset(self) -> xr.Dataset:
        """Return the trial as a dataset with indexes."""
        variables = {name: one for name, one in self.variables.items() if name not in self.coords}
        return xr.Dataset(variables, {name: self.variables[name] for name in self.coords}, self.attrs)


def _variable(name: Any, value: Any) -> xr.Variable:
    if isinstance(value, xr.Variable):
        return value
    dims, values = value if isinstance(value, tuple) else (name, value)
    return xr.Variable((dims,) if isinstance(dims, str) else dims, np.asarray(values), fastpath=True)


AnyTrial = Trial | xr.Dataset


def load_trial(path: str | Path, name: str) -> xr.Dataset:
    """Return one trial of a session's file over ``time``, its units included.

    Args:
        path: a file of a session, such as ``derived/sub-01/kinetics.nc``.
        name: the trial, as in trials.tsv.

    Returns:
        The variables of the trial, with ``time`` and ``plate_time`` in seconds instead of ``sample`` and
        ``plate_sample``. Single numbers and texts about the trial, such as ``source``, are attributes.

    Raises:
        UserError: the file is missing, damaged or without trials, or the trial is unknown or was rejected.
    """
    if not Path(path).is_file():
        raise UserError(str(path), "no such file", "create it with: gaitlab run STUDY")
    session = netcdf.load(Path(path))
    names = session["trial"].values.tolist() if "trial" in session.dims else []
    if name not in names:
        raise UserError(str(path), f"no trial '{name}'", nearest(name, names) or f"it has {', '.join(names) or 'none'}")
    found = one_trial(session, name)
    if "rejected" in found.attrs:
        raise UserError(str(path), f"trial '{name}' was rejected: {found.attrs['rejected']}", "choose another trial")
    return found


def trials_of(session: xr.Dataset) -> dict[str, Trial]:
    """Return all trials of a session by name, as views; of a rejected one only attributes."""
    spans = {dim: spans_of(session, dim) for dim in IN_ONE_TRIAL if f"{dim}_trial" in session.variables}
    return {
        name: _trial(session, number, spans, about)
        for number, (name, about) in enumerate(facts_of_trials(session).items())
    }


def separate(session: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return all trials of a session by name, as of :func:`one_trial`."""
    return {name: trial.dataset() for name, trial in trials_of(session).items()}


def one_trial(session: xr.Dataset, name: str) -> xr.Dataset:
    """Return one trial over ``time``; one with only the attribute ``rejected`` and its source if rejected."""
    return trials_of(session)[name].dataset()


def facts_of_trials(session: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Return by trial the values along ``trial`` alone, such as ``source``; NaN is left out."""
    names = [str(name) for name, variable in session.variables.items() if variable.dims == ("trial",)]
    columns = [session.variables[name].values.tolist() for name in names]
    rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    return {row.pop("trial"): {name: value for name, value in row.items() if not _is_nan(value)} for row in rows}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and np.isnan(value)


def _trial(session: xr.Dataset, number: int, spans: Mapping[str, Sequence[slice]], about: dict[str, Any]) -> Trial:
    """Return a trial by its number, from the elements and the facts of trials."""
    if reason := about.pop("rejected"):
        return rejection(reason, {key: value for key, value in about.items() if key in (*SOURCE, "role")})
    chosen = _columns_of_trial(session, number)
    own = {"trial", *spans, *chosen}
    variables = {
        key: variable if own.isdisjoint(variable.dims) else _of_trial(variable, number, spans, chosen)
        for key, variable in session.variables.items()
        if variable.dims != ("trial",) and key not in HELPERS
    }
    along = session.coords.keys()
    coordinates = {key: variables.pop(key) for key in [*variables] if key in along}
    return Trial(variables, coordinates, about)


def _of_trial(
    variable: xr.Variable, number: int, spans: Mapping[str, Sequence[slice]], chosen: Mapping[str, NDArray[np.intp]]
) -> xr.Variable:
    """Return a variable's part of a trial, a view unless markers or plates are chosen."""
    dims, values = variable.dims, variable.values
    if dims[0] == "trial":
        dims, values = dims[1:], values[number]
    elif dims[0] in spans:
        dims, values = (IN_ONE_TRIAL[str(dims[0])], *dims[1:]), values[spans[str(dims[0])][number]]
    for axis, dim in enumerate(dims):
        if dim in chosen:
            values = values.take(chosen[str(dim)], axis=axis)
    return xr.Variable(dims, values, variable.attrs, fastpath=True)


def _columns_of_trial(session: xr.Dataset, number: int) -> dict[str, NDArray[np.intp]]:
    """Return the markers and plates of a trial, in its order, unless they are all in the session's order."""
    columns = {}
    for dim in UNITED:
        if f"{dim}_order" in session.variables:
            order = session.variables[f"{dim}_order"].values[number]
            columns[dim] = np.argsort(order, kind="stable")[(order == 0).sum() :]
    return {dim: found for dim, found in columns.items() if not np.array_equal(found, np.arange(session.sizes[dim]))}


def spans_of(session: xr.Dataset, dim: str) -> list[slice]:
    """Return the elements of each trial along ``sample``, ``event`` or the like; empty for a rejected one."""
    ends = np.searchsorted(session.variables[f"{dim}_trial"].values, np.arange(session.sizes["trial"] + 1))
    return [slice(start, end) for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def rejection(reason: str, about: Mapping[str, Any]) -> Trial:
    """Return a trial that cannot be used."""
    return Trial(attributes={"rejected": " ".join(reason.split()), **about})


def trial_by_trial(function: Callable[..., AnyTrial]) -> Callable[..., xr.Dataset]:
    """Make a step on one trial a step on a session: it is applied to each walking trial.

    The step takes results of earlier steps with the same trials. Without the dimension ``trial`` they are one trial,
    and the step is applied to that. A trial for which it raises UserError is rejected with the reason, one that is
    rejected in an input stays so; other trials are not affected. A dataset without trials (the session's model) is
    given as it is. ``by_trial`` holds further arguments of some trials.
    """

    @functools.wraps(function)
    def step(
        *inputs: xr.Dataset, by_trial: Mapping[str, Mapping[str, Any]] | None = None, **arguments: Any
    ) -> xr.Dataset:
        if not any("trial" in data.dims for data in (*inputs, *arguments.values()) if isinstance(data, xr.Dataset)):
            result = function(*inputs, **arguments)
            return result.dataset() if isinstance(result, Trial) else result
        return _each_trial(functools.partial(function, **arguments), inputs, by_trial or {})

    return step


def _each_trial(
    function: Callable[..., AnyTrial], sessions: Sequence[xr.Dataset], by_trial: Mapping[str, Mapping[str, Any]]
) -> xr.Dataset:
    """Return the results of a step on each trial."""
    trials = [trials_of(session) if "trial" in session.dims else None for session in sessions]
    results: dict[str, AnyTrial] = {}
    for name in sessions[0].variables["trial"].values.tolist():
        parts = [each[name] if each else session for each, session in zip(trials, sessions, strict=True)]
        if parts[0].attrs.get("role", "gait") != "gait":
            continue
        about = {key: parts[0].attrs[key] for key in SOURCE if key in parts[0].attrs}
        reasons = [part.attrs["rejected"] for part in parts if "rejected" in part.attrs]
        if reasons:
            results[name] = rejection(reasons[0], about)
            continue
        results[name] = attempt(functools.partial(function, *parts, **by_trial.get(name, {})), about)
    return joined(results)


def all_trials_at_once(function: Callable[..., xr.Dataset]) -> Callable[..., xr.Dataset]:
    """Make a step on the usable trials of a session a step on any session or single trial.

    ``function`` takes results of earlier steps as sessions of the same trials, all of them walks that can be used, or
    without trials (the session's model). It returns variables over ``sample`` and ``trial`` in the same order, and
    their labels, or over ``cycle`` and the like with ``cycle_trial``. ``time`` of samples, sources and the trials that
    cannot be used are added here.

    The step takes sessions as those of :func:`trial_by_trial` do; without the dimension ``trial`` it takes, and
    returns, a single trial over ``time``. If UserError is raised, each trial is tried alone: those for which it is
    raised are rejected with the reason, the others are done at once.
    """

    @functools.wraps(function)
    def step(*inputs: xr.Dataset, **arguments: Any) -> xr.Dataset:
        run = functools.partial(function, **arguments)
        if any("trial" in data.dims for data in inputs):
            return _of_usable_trials(run, inputs)
        sessions = [session_of_one(data) if "time" in data.dims else data for data in inputs]
        return one_trial(_completed(_with_time(run(*sessions), sessions[0]), sessions[0], {}), "")

    return step


def session_of_one(trial: xr.Dataset) -> xr.Dataset:
    """Return a single trial over ``time`` as a session."""
    return joined({"": trial})


def batches(spans: Sequence[slice], samples: int) -> Iterator[slice]:
    """Yield consecutive trials, in portions that have at least this many samples together but for the last.

    Args:
        spans: samples of each trial, as of :func:`spans_of`.
        samples: number of samples.
    """
    start, count = 0, 0
    for number, span in enumerate(spans, 1):
        count += span.stop - span.start
        if count >= samples or number == len(spans):
            yield slice(start, number)
            start, count = number, 0


def some_trials(session: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Return a session with only these trials, named in its own order."""
    own = session.variables["trial"].values.tolist()
    if own == [*names]:
        return session
    numbers = [own.index(name) for name in names]
    chosen: dict[str, Any] = {"trial": numbers}
    renumbered = {}
    for dim in (dim for dim in IN_ONE_TRIAL if f"{dim}_trial" in session.variables):
        owner = session.variables[f"{dim}_trial"].values
        kept = np.isin(owner, numbers)
        chosen |= {} if kept.all() else {dim: np.flatnonzero(kept)}
        renumbered[f"{dim}_trial"] = (dim, np.searchsorted(numbers, owner[kept]).astype(owner.dtype))
    return session.drop_vars(renumbered).isel(chosen).assign_coords(renumbered)


def _of_usable_trials(function: Callable[..., xr.Dataset], inputs: Sequence[xr.Dataset]) -> xr.Dataset:
    """Return the result of a step for the walks of a session, after that of all that can be used."""
    about = facts_of_trials(next(data for data in inputs if "trial" in data.dims))
    walks = [name for name, facts in about.items() if facts.get("role", "gait") == "gait"]
    reasons: dict[str, str] = {}
    for data in inputs:
        facts_by_trial = facts_of_trials(data) if "trial" in data.dims else dict.fromkeys(walks, data.attrs)
        found_here = {name: facts_by_trial[name].get("rejected", "") for name in walks}
        reasons = {name: reason for name, reason in found_here.items() if reason} | reasons

    def of(names: Sequence[str]) -> xr.Dataset:
        if not names:
            return xr.Dataset()
        sessions = [some_trials(data, names) if "trial" in data.dims else data for data in inputs]
        return _with_time(function(*sessions), sessions[0])

    try:
        found = of([name for name in walks if name not in reasons])
    except UserError:
        alone = {name: attempt(functools.partial(of, [name]), {}) for name in walks if name not in reasons}
        reasons |= {name: data.attrs["rejected"] for name, data in alone.items() if "rejected" in data.attrs}
        found = of([name for name in walks if name not in reasons])
    return _completed(found, some_trials(inputs[0], walks), reasons)


def _with_time(found: xr.Dataset, session: xr.Dataset) -> xr.Dataset:
    return (
        found
        if "sample" not in found.dims
        else found.assign_coords({name: session.variables[name] for name in ("time", "sample_trial")})
    )


def _completed(found: xr.Dataset, session: xr.Dataset, reasons: Mapping[str, str]) -> xr.Dataset:
    """Return the result for the usable trials of a session with the sources of all, and the others rejected."""
    names = session.variables["trial"].values
    usable = np.array([name not in reasons for name in names.tolist()], dtype=bool)
    if not usable.all():
        along = {name: one for name, one in found.variables.items() if one.dims[:1] == ("trial",)}
        labels = found.coords.keys() & along.keys()
        found = found.drop_vars(along).assign({
            name: (one.dims, _rows([*one.values], usable)) for name, one in along.items()
        }).set_coords(labels)  # fmt: skip
    about: dict[Any, Any] = {name: session.variables[name] for name in SOURCE if name in session.variables}
    numbers = np.flatnonzero(usable).astype(np.int32)
    for dim in (dim for dim in IN_ONE_TRIAL if f"{dim}_trial" in found.variables):
        about[f"{dim}_trial"] = (dim, numbers[found.variables[f"{dim}_trial"].values])
    rejected = np.array([reasons.get(name, "") for name in names.tolist()], dtype=str)
    return found.assign_coords({"trial": names, "rejected": ("trial", rejected), **about})


def attempt(function: Callable[[], AnyTrial], about: Mapping[str, Any]) -> AnyTrial:
    """Return the result for a trial with attributes about it, or the rejected trial if UserError is raised."""
    try:
        result = function()
    except UserError as error:
        return rejection("; ".join(map(str, error.problems)), about)
    result.attrs.update(about)
    return result


def joined(trials: Mapping[str, AnyTrial]) -> xr.Dataset:
    """Return a session from its trials, each as of :func:`one_trial`, with the same variables."""
    used = [data for data in trials.values() if "rejected" not in data.attrs]
    usable = np.array(["rejected" not in data.attrs for data in trials.values()], dtype=bool)
    facts = dict.fromkeys(chain(*(data.attrs for data in trials.values())))
    reasons = np.array([data.attrs.get("rejected", "") for data in trials.values()], dtype=str)
    variables: dict[Any, Any] = {
        name: ("trial", _column([data.attrs.get(name) for data in trials.values()]))
        for name in facts
        if name != "rejected"
    }
    coordinates: dict[Any, Any] = {"trial": np.array([*trials], dtype=str), "rejected": ("trial", reasons)}
    coordinates |= {name: variables.pop(name) for name in (*SOURCE, "role") if name in variables}
    if not used:
        return xr.Dataset(variables, coordinates)
    labels = {dim: [data.variables[dim].values.tolist() for data in used] for dim in UNITED if dim in used[0].variables}
    union = {dim: list(dict.fromkeys(chain(*each))) for dim, each in labels.items()}
    for name, first in used[0].variables.items():
        dims, parts = first.dims, [data.variables[name].values for data in used]
        into = coordinates if name in used[0].coords else variables
        if name in union:
            into[name] = np.array(union[str(name)], dtype=str if first.dtype.kind in "UO" else first.dtype)
        elif dims == (name,) and name not in IN_SESSION:
            into[name] = first  # labels, the same in all trials
        else:
            parts = _with_labels_of_all(parts, dims, labels, union)
            if dims[:1] and dims[0] in IN_SESSION:
                into[name] = ((IN_SESSION[str(dims[0])], *dims[1:]), np.concatenate(parts))
            else:
                into[name] = (("trial", *dims), _rows(parts, usable))
    for own, dim in IN_SESSION.items():
        if own in used[0].sizes:
            counts = [data.sizes.get(own, 0) for data in trials.values()]
            coordinates[f"{dim}_trial"] = (dim, np.repeat(np.arange(len(counts), dtype=np.int32), counts))
    for dim, each in labels.items():
        order = [np.array([own.index(label) + 1 if label in own else 0 for label in union[dim]]) for own in each]
        coordinates[f"{dim}_order"] = (("trial", dim), _rows(order, usable).astype(np.int16))
    return xr.Dataset(variables, coordinates)


def _rows(parts: Sequence[NDArray[Any]], usable: NDArray[np.bool_]) -> NDArray[Any]:
    """Return (trial, ...) from the values of the usable trials."""
    stacked = np.stack(parts)
    rows = np.full((len(usable), *stacked.shape[1:]), _blank(stacked), dtype=stacked.dtype)
    rows[usable] = stacked
    return rows


def _with_labels_of_all(
    parts: list[NDArray[Any]],
    dims: Sequence[Any],
    labels: Mapping[str, Sequence[list[Any]]],
    union: Mapping[str, list[Any]],
) -> list[NDArray[Any]]:
    """Return the values of the trials with blanks where a trial lacks a label that another has."""
    for axis, dim in enumerate(dims):
        if dim in union:
            spread = []
            for part, own in zip(parts, labels[dim], strict=True):
                if own == union[dim]:
                    spread.append(part)
                    continue
                shape = (*part.shape[:axis], len(union[dim]), *part.shape[axis + 1 :])
                whole = np.full(shape, _blank(part), dtype=part.dtype)
                whole[(slice(None),) * axis + ([union[dim].index(label) for label in own],)] = part
                spread.append(whole)
            parts = spread
    return parts


def _column(values: list[Any]) -> NDArray[Any]:
    """Return facts of all trials; "" or NaN where a trial has none."""
    if any(isinstance(value, str) for value in values):
        return np.array([value or "" for value in values], dtype=str)
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _blank(values: NDArray[Any]) -> Any:
    """Return what stands for no value: NaN, no text (which files give as objects), zero or false."""
    return {"f": np.nan, "O": ""}.get(values.dtype.kind, values.dtype.type())
