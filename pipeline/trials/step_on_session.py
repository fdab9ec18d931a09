"""Steps on sessions: applied to each trial, or to all usable trials at once. A trial that fails is rejected alone."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..errors import INVALID, UserError
from .session import (
    IN_ONE_TRIAL,
    SOURCE,
    VERDICT,
    AnyTrial,
    Trial,
    facts_of_trials,
    join_trials,
    one_trial,
    rejection,
    rows_of_all,
    trials_of,
)  # fmt: skip

ALONE = ""  # name of the trial in a session of a single trial: it is not rejected, its UserError is raised


def take_usable_walks(step: Callable[..., xr.Dataset]) -> Callable[..., xr.Dataset]:
    """Make a step on the usable walks of a session a step on any session, or on a single trial.

    ``step`` takes results of earlier steps as sessions of the same trials, all of them walks that can be used, or
    without trials (the session's model). It returns variables over ``sample``, ``trial`` and the like in the same
    order, or trials of :func:`repeat_for_trials`. ``time`` of samples, sources and rejected trials are added here.

    A trial that is rejected in an input stays so. If UserError is raised, each trial is tried alone: those for which it
    is raised are rejected with the reason, the others are done again together. Inputs without the dimension ``trial``
    are one trial over ``time``, and so is the result; then UserError is raised.
    """

    @functools.wraps(step)
    def step_on_session(*inputs: xr.Dataset, **arguments: Any) -> xr.Dataset:
        run = functools.partial(step, **arguments)
        if any("trial" in data.dims for data in inputs):
            return _of_usable_walks(run, inputs)
        sessions = [join_trials({ALONE: data}) if "time" in data.dims else data for data in inputs]
        return one_trial(_complete(_with_time(run(*sessions), sessions[0]), sessions[0], {}), ALONE)

    return step_on_session


def repeat_for_trials(function: Callable[..., Trial]) -> Callable[..., xr.Dataset]:
    """Make a function of one trial a function of the usable trials of a session, for :func:`take_usable_walks`.

    A trial for which UserError is raised is rejected with the reason; the others are not affected. ``by_trial`` holds
    further arguments of some trials, by name.
    """

    @functools.wraps(function)
    def function_of_session(
        session: xr.Dataset, *, by_trial: Mapping[str, Mapping[str, Any]] | None = None, **arguments: Any
    ) -> xr.Dataset:
        results = {}
        for name, trial in trials_of(session).items():
            run = functools.partial(function, trial, **arguments | {**(by_trial or {}).get(name, {})})
            results[name] = run() if name == ALONE else attempt(run, {})
        return join_trials(results)

    return function_of_session


def batches(spans: Sequence[slice], samples: int, kinds: Sequence[str] | None = None) -> Iterator[slice]:
    """Yield consecutive trials of one kind, in portions that have at least this many samples together but for the last.

    Args:
        spans: samples of each trial, as of :func:`spans_of`.
        kinds: the kind of each trial; None if they are all of one.
    """
    start, count = 0, 0
    for number, span in enumerate(spans, 1):
        count += span.stop - span.start
        if count >= samples or number == len(spans) or (kinds and kinds[number] != kinds[number - 1]):
            yield slice(start, number)
            start, count = number, 0


def some_trials(session: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Return a session with only these trials, named in its own order; views of its values if they are neighbours."""
    every = session.variables["trial"].values.tolist()
    if every == [*names]:
        return session
    numbers = np.array([every.index(name) for name in names], dtype=np.intp)
    rows: dict[str, Any] = {"trial": _as_slice(numbers)}
    renumbered = {}
    for dim in (dim for dim in IN_ONE_TRIAL if f"{dim}_trial" in session.variables):
        owner = session.variables[f"{dim}_trial"].values
        rows[dim] = _as_slice(np.flatnonzero(np.isin(owner, numbers)))
        renumbered[f"{dim}_trial"] = (dim, np.searchsorted(numbers, owner[rows[dim]]).astype(owner.dtype))
    return session.drop_vars(renumbered).isel(rows).assign_coords(renumbered)


def _as_slice(numbers: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """Return increasing numbers as a slice where they follow each other."""
    if not len(numbers):
        return slice(0)
    whole = slice(int(numbers[0]), int(numbers[-1]) + 1)
    return whole if whole.stop - whole.start == len(numbers) else numbers


def _of_usable_walks(step: Callable[..., xr.Dataset], inputs: Sequence[xr.Dataset]) -> xr.Dataset:
    """Return the result of a step for the walks of a session, after that of all that can be used."""
    about = facts_of_trials(next(data for data in inputs if "trial" in data.dims))
    walks = [name for name, facts in about.items() if facts.get("role", "gait") == "gait"]
    verdicts: dict[str, list[str]] = {}
    for data in inputs:
        facts_by_trial = facts_of_trials(data) if "trial" in data.dims else dict.fromkeys(walks, data.attrs)
        verdicts = _verdicts_in({name: facts_by_trial[name] for name in walks}) | verdicts

    def run(names: Sequence[str]) -> xr.Dataset:
        if not names:
            return xr.Dataset()
        sessions = [some_trials(data, names) if "trial" in data.dims else data for data in inputs]
        return _with_time(step(*sessions), sessions[0])

    try:
        result = run([name for name in walks if name not in verdicts])
    except UserError:
        alone = {name: attempt(functools.partial(run, [name]), {}) for name in walks if name not in verdicts}
        verdicts |= _verdicts_in({name: data.attrs for name, data in alone.items()})
        result = run([name for name in walks if name not in verdicts])
    return _complete(result, some_trials(inputs[0], walks), verdicts)


def _verdicts_in(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return :data:`VERDICT` of the rejected trials among trials with these facts, by name."""
    return {
        name: [of["rejected"], of.get("rejected_code", INVALID)] for name, of in facts.items() if of.get("rejected")
    }


def _with_time(result: xr.Dataset, session: xr.Dataset) -> xr.Dataset:
    """Return the result of a step with the time of its samples, unless it has trials with their own."""
    if "sample" not in result.dims or "sample_trial" in result.variables:
        return result
    return result.assign_coords({name: session.variables[name] for name in ("time", "sample_trial")})


def _complete(result: xr.Dataset, session: xr.Dataset, verdicts: Mapping[str, Sequence[str]]) -> xr.Dataset:
    """Return the result for the usable trials of a session with the sources of all, and the others rejected."""
    names = session.variables["trial"].values
    usable = np.array([name not in verdicts for name in names.tolist()], dtype=bool)
    if "rejected" in result.variables:  # by the step, one by one
        verdicts = {**_verdicts_in(facts_of_trials(result)), **verdicts}
        result = result.drop_vars(["trial", *VERDICT])
    if not usable.all():
        along = {name: one for name, one in result.variables.items() if one.dims[:1] == ("trial",)}
        labels = result.coords.keys() & along.keys()
        result = result.drop_vars(along).assign({
            name: (one.dims, rows_of_all([*one.values], usable)) for name, one in along.items()
        }).set_coords(labels)  # fmt: skip
    about: dict[Any, Any] = {name: session.variables[name] for name in SOURCE if name in session.variables}
    numbers = np.flatnonzero(usable).astype(np.int32)
    for dim in (dim for dim in IN_ONE_TRIAL if f"{dim}_trial" in result.variables):
        about[f"{dim}_trial"] = (dim, numbers[result.variables[f"{dim}_trial"].values])
    for i, key in enumerate(VERDICT):
        texts = [verdicts[name][i] if name in verdicts else "" for name in names.tolist()]
        about[key] = ("trial", np.array(texts, dtype=str))
    return result.assign_coords({"trial": names, **about})


def attempt(function: Callable[[], AnyTrial], about: Mapping[str, Any], code: str = INVALID) -> AnyTrial:
    """Return the result for a trial with attributes about it, or the rejected trial if UserError is raised.

    ``code`` is that of a problem without one of its own.
    """
    try:
        result = function()
    except UserError as error:
        return rejection("; ".join(map(str, error.problems)), about, error.problems[0].of_kind(code).code)
    result.attrs.update(about)
    return result
