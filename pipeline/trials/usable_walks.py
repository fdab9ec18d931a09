"""The walks of a session that a step can use; the others are rejected with the reason, and cost no other walk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..conventions import IN_ONE_TRIAL, NO_STATIC
from ..errors import Problem
from .session import SOURCE, VERDICT, facts_of_trials, rows_of_all, verdict_by


class UsableWalks(NamedTuple):
    """The walks of a session that a step can use."""

    names: list[str]  # none if all walks are rejected
    every: xr.Dataset  # the result of an earlier step, with all walks of the session
    verdicts: Mapping[str, tuple[str, ...]]  # of the other walks, by name: see VERDICT

    @classmethod
    def of(cls, *inputs: xr.Dataset) -> UsableWalks:
        """Return the walks that no input rejects.

        Args:
            inputs: results of earlier steps of the same trials, or without the dimension ``trial``: the session's
                model. If that is rejected, all walks are, unless it only lacks a static trial.
        """
        roles = facts_of_trials(inputs[0])
        walks = [name for name, facts in roles.items() if facts.get("role", "gait") == "gait"]
        verdicts: dict[str, tuple[str, ...]] = {}
        for data in inputs:
            facts = facts_of_trials(data) if "trial" in data.dims else dict.fromkeys(walks, data.attrs)
            for name in walks if data.attrs.get("rejected_code") != NO_STATIC else ():
                if facts[name].get("rejected"):
                    verdicts.setdefault(name, tuple(facts[name].get(key, "") for key in VERDICT))
        return cls([name for name in walks if name not in verdicts], some_trials(inputs[0], walks), verdicts)

    def take(self, session: xr.Dataset) -> xr.Dataset:
        """Return the result of an earlier step with these walks alone."""
        return some_trials(session, self.names)

    def complete(self, result: xr.Dataset) -> xr.Dataset:
        """Return the result of a step with all walks of the session.

        It gets the ``time`` of samples, unless it has that of its own trials, the sources of all walks, and the reasons
        of those that are rejected before or by the step.

        Args:
            result: variables over ``sample``, ``trial`` and the like in the order of the usable walks, or a session of
                these as of :func:`.session.join_trials`.
        """
        if "sample" in result.dims and "sample_trial" not in result.variables:
            samples = self.take(self.every[["trial", "time", "sample_trial"]])
            result = result.assign_coords({name: samples.variables[name] for name in ("time", "sample_trial")})
        verdicts, names = dict(self.verdicts), self.every.variables["trial"].values
        usable = np.array([name not in verdicts for name in names.tolist()], dtype=bool)
        if "rejected" in result.variables:  # by the step, one by one
            for name, facts in facts_of_trials(result).items():
                if facts["rejected"]:
                    verdicts[name] = tuple(facts[key] for key in VERDICT)
            result = result.drop_vars(["trial", *VERDICT])
        if not usable.all():
            along = {name: one for name, one in result.variables.items() if one.dims[:1] == ("trial",)}
            labels = result.coords.keys() & along.keys()
            result = result.drop_vars(along).assign({
                name: (one.dims, rows_of_all([*one.values], usable)) for name, one in along.items()
            }).set_coords(labels)  # fmt: skip
        about: dict[Any, Any] = {name: self.every.variables[name] for name in SOURCE if name in self.every.variables}
        numbers = np.flatnonzero(usable).astype(np.int32)
        for dim in (dim for dim in IN_ONE_TRIAL if f"{dim}_trial" in result.variables):
            about[f"{dim}_trial"] = (dim, numbers[result.variables[f"{dim}_trial"].values])
        for i, key in enumerate(VERDICT):
            texts = [verdicts[name][i] if name in verdicts else "" for name in names.tolist()]
            about[key] = ("trial", np.array(texts, dtype=str))
        return result.assign_coords({"trial": names, **about})


def has_model(calibrate: xr.Dataset) -> bool:
    """Return whether a session has a model of the person: without one there are no angles, moments and powers."""
    return "rejected" not in calibrate.attrs


def reject(session: xr.Dataset, problems: Mapping[str, Problem]) -> xr.Dataset:
    """Return a session in which these trials are rejected, so that a step can be done again without them."""
    columns = {key: session.variables[key].values.tolist() for key in VERDICT}
    for i, name in enumerate(session.variables["trial"].values.tolist()):
        for key, text in verdict_by([problems[name]]).items() if name in problems else ():
            columns[key][i] = text
    return session.assign_coords({key: ("trial", np.array(texts, dtype=str)) for key, texts in columns.items()})


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
