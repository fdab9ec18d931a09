"""Run a step on a session: load its files, apply the step to each trial, save with provenance.

A trial that cannot be used becomes a rejected group: no variables, a reason in its attributes. Later steps pass it on.
"""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from ..errors import UserError
from ..results import netcdf, schema
from . import checksums
from .run_job import Files, provenance

log = logging.getLogger("pipeline")
Groups = dict[str, xr.Dataset]
INHERITED = ("source", "source_sha256", "role")


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Run one job of a session; arguments as of :func:`pipeline.workflow.run_job.run`."""
    step = key["step"]
    (output,) = outputs[step]
    if definition := arguments.get("body_model"):  # imported by name: it counts in the keys of steps that take it
        body_model = importlib.import_module("..body.body_model", __package__)
        arguments["body_model"] = body_model.BodyModel.of(definition)
    if step == "read":
        _save(output, key, *_read(function, key["trials"], arguments))
        return
    loaded = {name: _loaded(name, file, function) for name, (file,) in inputs.items()}
    if step == "calibrate":
        groups, root = loaded["read"]
        result = schema.described(step, _attempt(step, partial(function, groups, **arguments), {}))
        result.attrs |= provenance(key, [root])
        netcdf.save(output, result)
        return
    trials = _map_over_trials(function, loaded, arguments, key.get("by_trial", {}))
    _save(output, key, trials, [root for _, root in loaded.values()])


def rejected(reason: str, attributes: Mapping[str, Any] | None = None) -> xr.Dataset:
    """Return the group of a trial that cannot be used."""
    kept = {name: value for name, value in (attributes or {}).items() if name in INHERITED}
    return xr.Dataset(attrs={"rejected": " ".join(reason.split()), **kept})


def _loaded(step: str, file: Path, function: Callable[..., Any]) -> tuple[Groups, dict[str, Any]]:
    """Return a step's groups and global attributes; only the variables that ``function``'s module lists in USES."""
    if step == "calibrate":
        return netcdf.load_groups(file)
    uses = function.__globals__.get("USES", {})
    return netcdf.load_some(file, uses.get(step, tuple(schema.VARIABLES[step])))


def _attempt(trial: str, function: Callable[[], xr.Dataset], attributes: Mapping[str, Any]) -> xr.Dataset:
    """Return the result of a step for a trial, or its rejected group."""
    try:
        result = function()
    except UserError as error:
        log.warning("%s rejected: %s", trial, error)
        return rejected("; ".join(map(str, error.problems)), attributes)
    result.attrs |= {name: value for name, value in attributes.items() if name in INHERITED}
    return result


def _read(
    function: Callable[..., Any], trials: list[dict[str, Any]], arguments: dict[str, Any]
) -> tuple[Groups, list[Any]]:
    """Return the groups of the trials' recordings, and one set of attributes with the sources' SHA-256."""
    groups = {}
    for row in trials:
        about = {"source": row["file"], "source_sha256": row["sha256"] or "", "role": row["role"]}
        person = {name: row[name] for name in ("subject", "participant")}
        step = partial(function, Path(row["file"]), **person, **arguments)
        try:
            groups[row["trial"]] = _attempt(row["trial"], step, about)
        except OSError as error:
            if row["sha256"]:  # it could be read when the run began
                raise UserError(row["file"], str(error.strerror), checksums.LOST) from None
            groups[row["trial"]] = rejected(f"{row['file']}: {error.strerror}", about)
        checksums.refuse_changed(Path(row["file"]), row["sha256"])
    sources = {row["file"]: row["sha256"] for row in trials if row["sha256"]}
    return groups, [{"source_sha256": json.dumps(sources, sort_keys=True)}]


def _map_over_trials(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[Groups, Mapping[str, Any]]],
    arguments: Mapping[str, Any],
    by_trial: Mapping[str, Mapping[str, Any]],
) -> Groups:
    """Apply a step to each gait trial; a rejection, of a trial or of a whole input, is passed on."""
    first, _ = next(iter(inputs.values()))
    results = {}
    for trial, group in first.items():
        if group.attrs.get("role") != "gait":
            continue
        # a flat file (calibrate) is the group of every trial
        datasets = {name: groups.get(trial, groups.get("")) for name, (groups, _) in inputs.items()}
        reasons = [
            data.attrs["rejected"] for data in datasets.values() if data is not None and "rejected" in data.attrs
        ]
        if reasons:
            results[trial] = rejected(reasons[0], group.attrs)
            continue
        extra = by_trial.get(trial, {})
        results[trial] = _attempt(trial, partial(function, **datasets, **arguments, **extra), group.attrs)
    return results


def _save(output: Path, key: Mapping[str, Any], groups: Groups, roots: list[Mapping[str, Any]]) -> None:
    described = {name: schema.described(key["step"], group) for name, group in groups.items()}
    netcdf.save_tree(output, described, provenance(key, roots))
