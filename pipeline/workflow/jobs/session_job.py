"""Run a step on a session: load its files, apply the step, save the result with its provenance."""

import errno
import importlib
import json
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from ...errors import UserError
from ...results import netcdf
from ...trials.session import rejected_by
from ...variables import schema
from .. import checksums
from .run_job import Files, provenance

FOLDER = ".muscles"  # next to muscles.nc while its job runs
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
log = logging.getLogger("pipeline")


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Run one job of a session; arguments as of :func:`pipeline.workflow.jobs.run_job.run`."""
    step = key["step"]
    if definition := arguments.get("body_model"):  # imported by name: it counts in the keys of steps that take it
        body_model = importlib.import_module("...body.body_model", __package__)
        arguments["body_model"] = body_model.BodyModel.of(definition)
    if step == "read":
        try:
            data, before = function(key["trials"], **arguments), set[str]()
        except OSError as error:
            raise UserError(str(error.filename), str(error.strerror), checksums.LOST) from None
        sources = sources_of(key["trials"])
        for file, digest in sources.items():
            checksums.refuse_changed(Path(file), digest)
        roots: list[Mapping[str, Any]] = [{"source_sha256": json.dumps(sources, sort_keys=True), **data.attrs}]
    else:
        needs = getattr(importlib.import_module(function.__module__), "NEEDS", {})
        loaded = [netcdf.load(file, needs.get(name)) for name, (file,) in inputs.items()]
        by_trial = {"by_trial": key["by_trial"]} if "by_trial" in key else {}
        if step == "muscles":
            data = _with_folder(partial(function, *loaded, **arguments), outputs, key)
        else:  # in the order of the arguments
            data = _of_session(partial(function, *loaded, **arguments, **by_trial))
        before = {reason for each in loaded for reason in _rejections(each).values()}
        roots = [each.attrs for each in loaded]
    results = {step: data}
    if "representative" in outputs:
        show = importlib.import_module("...steps.cycles.shown_walk.representative", __package__).representative
        results["representative"] = show(data, *loaded[:-1], conditions=key["conditions"])
    for what, reason in _rejections(data).items():
        if reason not in before:
            log.warning("%s rejected: %s", what, reason)
    for name, result in results.items():
        (output,) = outputs[name]
        netcdf.save(output, schema.describe(name, result).assign_attrs(provenance(key, roots, output=name)))


def _of_session(step: Callable[[], xr.Dataset]) -> xr.Dataset:
    """Return the result of a step, or the reason if the session cannot be calibrated."""
    try:
        return step()
    except UserError as error:
        return rejected_by(error).dataset()


def _with_folder(function: Callable[..., xr.Dataset], outputs: Files, key: Mapping[str, Any]) -> xr.Dataset:
    """Return the result of the step ``muscles``, which needs a folder for files; one of a killed job is emptied."""
    checksums.refuse_changed(Path(key["settings"]["model"]), key["model_sha256"])
    folder = outputs["muscles"][0].with_name(FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        return function(folder=folder).assign_attrs(opensim_model_sha256=key["model_sha256"])
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise netcdf.not_written(folder, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sources_of(trials: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the SHA-256 of every file that the trials in a key of ``read`` name and that exists."""
    pairs = (("file", "sha256"), ("forces", "forces_sha256"), ("loads", "loads_sha256"))
    return {row[file]: row[digest] for row in trials for file, digest in pairs if row.get(digest)}


def _rejections(session: xr.Dataset) -> dict[str, str]:
    """Return the reason of each rejected trial of a session, or that of the whole session."""
    if "rejected" not in session.variables:
        return {"session": session.attrs["rejected"]} if "rejected" in session.attrs else {}
    reasons = zip(
        session.variables["trial"].values.tolist(), session.variables["rejected"].values.tolist(), strict=True
    )
    return {trial: reason for trial, reason in reasons if reason}
