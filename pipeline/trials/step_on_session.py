"""Steps on sessions: applied to each trial, or to all usable trials at once. A trial that fails is rejected alone."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from ..errors import UserError
from .session import (
    IN_ONE_TRIAL,
    SOURCE,
    AnyTrial,
    Trial,
    facts_of_trials,
    joined,
    one_trial,
    rejection,
    rows_of_all,
    trials_of,
)  # fmt: skip


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
        if not any("trial" in data.dims for data in inputs):
            result = function(*inputs, **arguments)
            return result.dataset() if isinstance(result, Trial) else result
        parts = [trials_of(data) if "trial" in data.dims else data for data in inputs]
        return each_trial(functools.partial(function, **arguments), parts, by_trial or {})

    return step


def each_trial(
    function: Callable[..., AnyTrial],
    inputs: Sequence[dict[str, Trial] | xr.Dataset],
    by_trial: Mapping[str, Mapping[str, Any]],
) -> xr.Dataset:
    """Return the results of a step on each trial, as :func:`trial_by_trial` does.

    Args:
        function: the step on one trial.
        inputs: results of earlier steps, the first as of :func:`trials_of`; the session's model has no trials.
        by_trial: arguments of some trials, by name.
    """
    results: dict[str, AnyTrial] = {}
    for name in map(str, inputs[0]):
        parts = [data[name] if isinstance(data, dict) else data for data in inputs]
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


def batches(spans: Sequence[slice], samples: int, kinds: Sequence[str] | None = None) -> Iterator[slice]:
    """Yield consecutive trials of one kind, in portions that have at least this many samples together but for the last.

    Args:
        spans: samples of each trial, as of :func:`spans_of`.
        samples: number of samples.
        kinds: the kind of each trial; None if they are all of one.
    """
    start, count = 0, 0
    for number, span in enumerate(spans, 1):
        count += span.stop - span.start
        if count >= samples or number == len(spans) or (kinds and kinds[number] != kinds[number - 1]):
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
            name: (one.dims, rows_of_all([*one.values], usable)) for name, one in along.items()
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
