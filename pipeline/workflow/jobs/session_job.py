"""Run a step on a session: load its files, apply the step, save the result with its provenance."""

import errno
import importlib
import inspect
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from ...conventions import NO_STATIC
from ...errors import UserError
from ...json_text import to_text
from ...reference import resolve
from ...results import just_written
from ...results.job_files import Files, provenance
from ...results.whole_files import not_written
from ...step import Step, every_step
from ...trials.session import rejected_by
from ...variables import schema
from .. import checksums

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
log = logging.getLogger("pipeline")


def run(
    key: Mapping[str, Any], function: Callable[..., Any], arguments: dict[str, Any], inputs: Files, outputs: Files
) -> None:
    """Run one job of a session; arguments as of :func:`pipeline.workflow.jobs.run_job.run`."""
    step = every_step()[key["step"]]
    if definition := arguments.get("body_model"):  # imported by name: it counts in the keys of steps that take it
        body_model = importlib.import_module("...body.body_model", __package__)
        arguments["body_model"] = body_model.BodyModel.of(definition)
    if "recordings" in step.takes:
        data, roots = _read_recordings(function, key, arguments)
        loaded: list[xr.Dataset] = []
    else:
        names = [name for name in step.inputs if name in inputs]
        loaded = [just_written.load_and_keep(inputs[name][0], step.loaded(name)) for name in names]
        if "by_trial" in key:
            arguments["by_trial"] = key["by_trial"]
        data = _result(step, partial(function, *loaded, **arguments), key, outputs)
        roots = [each.attrs for each in loaded]
    results = {step.name: data}
    for name in outputs.keys() - {step.name}:
        further = {**dict(zip(names, loaded, strict=True)), step.name: data, **key.get("of_outputs", {}).get(name, {})}
        make = resolve(step.outputs[name].made_by)
        results[name] = make(**{each: further[each] for each in inspect.signature(make).parameters})
    before = {reason for each in loaded for reason in _rejections(each).values()}
    for what, reason in _rejections(data).items():
        if reason not in before:
            log.warning("%s rejected: %s", what, reason)
    for name, result in results.items():
        (output,) = outputs[name]
        described = schema.describe(name, result)
        described.attrs |= provenance(key, roots, output=name, result=data.attrs)
        just_written.save(output, described)


def _read_recordings(
    function: Callable[..., xr.Dataset], key: Mapping[str, Any], arguments: Mapping[str, Any]
) -> tuple[xr.Dataset, list[Mapping[str, Any]]]:
    """Return what a step makes of the session's recordings, and what is known of these; refuse one that has changed."""
    try:
        data = function(key["trials"], **arguments)
    except OSError as error:
        raise UserError(str(error.filename), str(error.strerror), checksums.LOST) from None
    sources = sources_of(key["trials"])
    for file, digest in sources.items():
        checksums.refuse_changed(Path(file), digest)
    return data, [{"source_sha256": to_text(sources), **data.attrs}]


def _result(step: Step, function: Callable[..., xr.Dataset], key: Mapping[str, Any], outputs: Files) -> xr.Dataset:
    """Return the result of a step's function, or the session rejected where the step refuses it."""
    further = {Path(file): digest for file, digest in key.get("files", {}).items()}
    for file, digest in further.items():
        checksums.refuse_changed(file, digest)
    own = _empty_folder(outputs[step.name][0].with_name(f".{step.name}")) if "folder" in step.takes else nullcontext()
    with own as folder:
        try:
            result = function(folder=folder) if folder else function()
        except UserError as error:
            if step.joins or not step.refuses:
                raise
            result = rejected_by(error).dataset()
    for file, digest in further.items():  # that it was read as it is
        checksums.refuse_changed(file, digest)
    return result


@contextmanager
def _empty_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder for files of a step; one of a killed job is emptied. A full disk fails the job."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise not_written(folder, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sources_of(trials: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the SHA-256 of every file that the trials in a key of ``read`` name and that exists."""
    pairs = (("file", "sha256"), ("forces", "forces_sha256"), ("loads", "loads_sha256"))
    return {row[file]: row[digest] for row in trials for file, digest in pairs if row.get(digest)}


def _rejections(session: xr.Dataset) -> dict[str, str]:
    """Return the reason of each rejected trial of a session, or that of the whole session."""
    if "rejected" not in session.variables:
        what = "model" if session.attrs.get("rejected_code") == NO_STATIC else "session"
        return {what: session.attrs["rejected"]} if "rejected" in session.attrs else {}
    reasons = zip(
        session.variables["trial"].values.tolist(), session.variables["rejected"].values.tolist(), strict=True
    )
    return {trial: reason for trial, reason in reasons if reason}
