"""A session's trials as one dataset of ragged arrays.

The samples of all trials follow each other along ``sample`` (marker frames) and ``plate_sample`` (analog samples), and
so do their ``event``, ``contact``, ``cycle``, ``stance``, ``whole_stance`` and ``burst``; ``sample_trial`` and the like
hold the number of the trial, from 0, of each element (CF conventions 1.11, section 9.3.4, indexed ragged array). Along
``trial`` are the trials' names and what holds for a whole trial. A rejected trial has no elements; ``rejected`` says
why; ``rejected_code`` is the code of that, and ``rejected_values`` has its problems: code, where, what and remedy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..conventions import IN_ONE_TRIAL
from ..errors import INVALID, Problem, UserError
from ..json_text import from_text, to_text

IN_SESSION = {in_trial: dim for dim, in_trial in IN_ONE_TRIAL.items()}
# dimensions along which trials may have different labels. A session has those of all trials; ``marker_order`` is the
# place of each in a trial, from 1, or 0 if the trial lacks it
UNITED = ("marker", "plate", "channel", "muscle")
HELPERS = {*(f"{dim}_trial" for dim in IN_ONE_TRIAL), *(f"{dim}_order" for dim in UNITED)}
FILES = ("source", "force_source")  # names of a trial's files; a TRC file has none of the forces
SOURCE = (*FILES, *(f"{name}_sha256" for name in FILES))  # attributes of a trial that every step passes on
# why a trial cannot be used, the code of that, and its problems as JSON; empty if it can
VERDICT = ("rejected", "rejected_code", "rejected_values")


@dataclass(slots=True)
class Variable:
    """A variable of one trial: what :class:`xarray.Variable` has at heart, a tenth of its cost."""

    dims: tuple[Any, ...]
    values: NDArray[Any]
    attrs: Mapping[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """One trial over ``time``, as a step takes and returns it.

    It is read like a dataset, but has no indexes and aligns nothing, so that it costs little to build.
    """

    variables: dict[Any, Variable]  # by name, coordinates too
    coords: tuple[Any, ...]  # names of the coordinates
    attrs: dict[str, Any]  # single values about the trial; ``rejected`` if it cannot be used

    @classmethod
    def of(
        cls,
        variables: Mapping[Any, Any] | None = None,
        coordinates: Mapping[Any, Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Trial:
        """Return a trial from variables, values with their dimensions, or labels of a dimension, by name."""
        every = {**(variables or {}), **(coordinates or {})}
        for name, one in every.items():
            if isinstance(one, xr.Variable):
                every[name] = Variable(one.dims, one.values, one.attrs)
            elif not isinstance(one, Variable):
                dims, values = one if isinstance(one, tuple) else (name, one)
                every[name] = Variable((dims,) if isinstance(dims, str) else dims, np.asarray(values))
        return cls(every, tuple(coordinates or ()), dict(attributes or {}))

    def __getitem__(self, name: str) -> Variable:
        return self.variables[name]

    @cached_property
    def sizes(self) -> dict[Any, int]:
        """Return the size of each dimension."""
        return {dim: n for one in self.variables.values() for dim, n in zip(one.dims, one.values.shape, strict=True)}

    def dataset(self) -> xr.Dataset:
        """Return the trial as a dataset with indexes."""
        variables = {name: (one.dims, one.values, one.attrs) for name, one in self.variables.items()}
        coordinates = {name: variables.pop(name) for name in self.coords}
        return xr.Dataset(variables, coordinates, self.attrs)


AnyTrial = Trial | xr.Dataset
AnyVariable = Variable | xr.Variable


def trials_of(session: xr.Dataset, names: Collection[str] | None = None) -> dict[str, Trial]:
    """Return the trials of a session by name, all or some, as views; of a rejected one only attributes."""
    spans = {dim: spans_of(session, dim) for dim in IN_ONE_TRIAL if f"{dim}_trial" in session.variables}
    # the labels as arrays, once for all trials: each look at an index is a conversion
    arrays = {name: Variable(one.dims, one.values, one.attrs) for name, one in session.variables.items()}
    plain = Trial(arrays, tuple(session.coords), session.attrs)
    spread = _spread_over_trials(plain)
    return {
        name: _trial(plain, spread, number, spans, about)
        for number, (name, about) in enumerate(facts_of_trials(session).items())
        if names is None or name in names
    }


def separate(session: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return all trials of a session by name, as of :func:`one_trial`."""
    return {name: trial.dataset() for name, trial in trials_of(session).items()}


def one_trial(session: xr.Dataset, name: str) -> xr.Dataset:
    """Return one trial over ``time``; one with only the attribute ``rejected`` and its source if rejected.

    Raises:
        ValueError: the session has no trial of that name.
    """
    if name not in session["trial"].values:
        raise ValueError(f"no trial {name}")
    return trials_of(session, [name])[name].dataset()


def facts_of_trials(session: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Return by trial the values along ``trial`` alone, such as ``source``; NaN is left out."""
    names = [str(name) for name, variable in session.variables.items() if variable.dims == ("trial",)]
    columns = [session.variables[name].values.tolist() for name in names]
    rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    return {
        row.pop("trial"): {
            name: value for name, value in row.items() if not (isinstance(value, float) and np.isnan(value))
        }
        for row in rows
    }


def _spread_over_trials(session: Trial) -> dict[Any, Variable]:
    """Return what the trials of a session have parts of, the coordinates last: all but facts and numbers of trials."""
    parts = {name: one for name, one in session.variables.items() if one.dims != ("trial",) and name not in HELPERS}
    along = {*session.coords}
    return {name: parts[name] for name in sorted(parts, key=along.__contains__)}


def _trial(
    session: Trial,
    spread: Mapping[Any, Variable],
    number: int,
    spans: Mapping[str, Sequence[slice]],
    about: dict[str, Any],
) -> Trial:
    """Return a trial by its number, from the variables of all trials, and the elements and facts of each."""
    verdict = {name: about.pop(name, "") for name in VERDICT}
    if verdict["rejected"]:
        return Trial.of(attributes=verdict | {key: about[key] for key in (*SOURCE, "role") if key in about})
    chosen = {}  # the labels of a trial that has them in an order of its own
    for dim in (dim for dim in UNITED if f"{dim}_order" in session.variables):
        order = session.variables[f"{dim}_order"].values[number]
        if not np.array_equal(order, np.arange(1, len(order) + 1)):
            chosen[dim] = np.argsort(order, kind="stable")[(order == 0).sum() :]
    dims = {"trial", *spans, *chosen}
    variables = {
        key: variable if dims.isdisjoint(variable.dims) else _of_trial(variable, number, spans, chosen)
        for key, variable in spread.items()
    }
    along = {*session.coords}
    return Trial(variables, tuple(key for key in variables if key in along), about)


def _of_trial(
    variable: Variable, number: int, spans: Mapping[str, Sequence[slice]], chosen: Mapping[str, NDArray[np.intp]]
) -> Variable:
    """Return a variable's part of a trial, a view unless markers or plates are chosen."""
    dims, values = variable.dims, variable.values
    if dims[0] == "trial":
        dims, values = dims[1:], values[number]
    elif dims[0] in spans:
        dims, values = (IN_ONE_TRIAL[str(dims[0])], *dims[1:]), values[spans[str(dims[0])][number]]
    for axis, dim in enumerate(dims):
        if dim in chosen:
            values = values.take(chosen[str(dim)], axis=axis)
    return Variable(dims, values, variable.attrs)


def spans_of(session: xr.Dataset, dim: str) -> list[slice]:
    """Return the elements of each trial along ``sample``, ``event`` or the like; empty for a rejected one."""
    ends = np.searchsorted(session.variables[f"{dim}_trial"].values, np.arange(session.sizes["trial"] + 1))
    return [slice(start, end) for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def rejected_by(error: UserError, about: Mapping[str, Any] | None = None, code: str = INVALID) -> Trial:
    """Return a trial that cannot be used for a problem; ``code`` is that of one without a code of its own."""
    return Trial.of(attributes=verdict_by([one.of_kind(code) for one in error.problems]) | dict(about or {}))


def verdict_by(problems: Sequence[Problem]) -> dict[str, str]:
    """Return why a trial cannot be used, by the names of :data:`VERDICT`."""
    stored = [
        {"code": one.code, "values": {"where": one.where, "what": one.what, "remedy": one.remedy}} for one in problems
    ]
    words = " ".join("; ".join(map(str, problems)).split())
    return dict(zip(VERDICT, (words, problems[0].code, to_text(stored)), strict=True))


def problems_of(trial: AnyTrial) -> list[Problem]:
    """Return why a trial cannot be used."""
    return [Problem(**one["values"], code=one["code"]) for one in from_text(trial.attrs["rejected_values"])]


def join_trials(trials: Mapping[str, AnyTrial]) -> xr.Dataset:
    """Return a session from its trials, each as of :func:`one_trial`, with the same variables."""
    used = [data for data in trials.values() if "rejected" not in data.attrs]
    usable = np.array(["rejected" not in data.attrs for data in trials.values()], dtype=bool)
    verdicts = {
        name: ("trial", np.array([data.attrs.get(name, "") for data in trials.values()], dtype=str)) for name in VERDICT
    }
    variables = _facts(trials)
    coordinates: dict[Any, Any] = {"trial": np.array([*trials], dtype=str), **verdicts}
    coordinates |= {name: variables.pop(name) for name in (*SOURCE, "role") if name in variables}
    if not used:
        return xr.Dataset(variables, coordinates)
    labels = {dim: [data.variables[dim].values.tolist() for data in used] for dim in UNITED if dim in used[0].variables}
    union = {dim: list(dict.fromkeys(chain(*each))) for dim, each in labels.items()}
    for name, first in used[0].variables.items():
        dims, parts = first.dims, [data.variables[name].values for data in used]
        into = coordinates if name in used[0].coords else variables
        if name in union:
            dtype = first.values.dtype
            into[name] = np.array(union[str(name)], dtype=str if dtype.kind in "UO" else dtype)
        elif dims == (name,) and name not in IN_SESSION:
            into[name] = name, first.values  # labels, the same in all trials
        else:
            parts = _with_labels_of_all(parts, dims, labels, union)
            if dims[:1] and dims[0] in IN_SESSION:
                into[name] = ((IN_SESSION[str(dims[0])], *dims[1:]), np.concatenate(parts))
            else:
                into[name] = (("trial", *dims), rows_of_all(parts, usable))
    for in_trial, dim in IN_SESSION.items():
        if in_trial in used[0].sizes:
            counts = [data.sizes.get(in_trial, 0) for data in trials.values()]
            coordinates[f"{dim}_trial"] = (dim, np.repeat(np.arange(len(counts), dtype=np.int32), counts))
    for dim, each in labels.items():
        order = [np.array([one.index(label) + 1 if label in one else 0 for label in union[dim]]) for one in each]
        coordinates[f"{dim}_order"] = (("trial", dim), rows_of_all(order, usable).astype(np.int16))
    return xr.Dataset(variables, coordinates)


def rows_of_all(parts: Sequence[NDArray[Any]], usable: NDArray[np.bool_]) -> NDArray[Any]:
    """Return (trial, ...) from the values of the usable trials; blanks for the others."""
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
    """Return the values of the trials, changed so that they have blanks for labels that only other trials have."""
    for axis, dim in enumerate(dims):
        if dim in union:
            for i, (part, of_trial) in enumerate(zip(parts, labels[dim], strict=True)):
                if of_trial != union[dim]:
                    shape = (*part.shape[:axis], len(union[dim]), *part.shape[axis + 1 :])
                    parts[i] = np.full(shape, _blank(part), dtype=part.dtype)
                    parts[i][(slice(None),) * axis + ([union[dim].index(label) for label in of_trial],)] = part
    return parts


def _facts(trials: Mapping[str, AnyTrial]) -> dict[Any, Any]:
    """Return the facts of all trials as variables; "" or NaN where a trial has none."""
    facts: dict[Any, Any] = {}
    for name in chain(*(data.attrs for data in trials.values())):
        if name not in facts and name not in VERDICT:
            values = [data.attrs.get(name) for data in trials.values()]
            if any(isinstance(value, str) for value in values):
                facts[name] = "trial", np.array([value or "" for value in values], dtype=str)
            else:
                facts[name] = "trial", np.array([np.nan if value is None else value for value in values], dtype=float)
    return facts


def _blank(values: NDArray[Any]) -> Any:
    """Return what stands for no value: NaN, no text (which files give as objects), zero or false."""
    return {"f": np.nan, "O": ""}.get(values.dtype.kind, values.dtype.type())
