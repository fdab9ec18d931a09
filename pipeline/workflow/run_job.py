"""The bridge between Snakemake and the steps: the only module that knows Snakemake.

It loads the inputs of a job, takes the step's arguments from the job's key, maps a trial-wise step over the
groups of the session, turns a trial that cannot be used into a rejected group, and saves with provenance.
"""

import importlib
import json
import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from pipeline.errors import UserError
from pipeline.results import netcdf, schema
from pipeline.tables.csv_files import csv_of
from pipeline.workflow import checksums
from pipeline.workflow.activity_lock import hold

if "snakemake" in globals():  # Snakemake runs a copy of this file; the package stands beside the original
    sys.path.insert(0, str(Path(globals()["snakemake"].scriptdir).parents[1]))

log = logging.getLogger("pipeline")
Groups = dict[str, xr.Dataset]
DERIVED = Path("derived")  # jobs run in the study's directory
TABLES = ("metrics", "quality", "means", "symmetry")
INHERITED = ("source", "source_sha256", "role")


def run(job: Any) -> None:
    """Run one job of Snakemake: inputs and outputs by name, everything else from its key."""
    key = json.loads(job.params.key)
    step = key["step"]
    module = importlib.import_module(f"pipeline.steps.{step}.step")
    function, uses = getattr(module, step), getattr(module, "USES", {})
    arguments = key["settings"] | key.get("arguments", {})
    outputs = [Path(str(file)) for file in job.output]
    checksums.withdraw(DERIVED, outputs)
    inputs = checksums.as_written(DERIVED, [Path(str(file)) for file in job.input])
    if step == "read":
        _save_session(job, key, *_read(function, key["trials"], arguments))
    elif step == "calibrate":
        _calibrate(job, key, function, arguments, uses)
    elif step == "study":
        _study(job, key, function, arguments)
    elif step == "report":
        _report(job, key["sessions"], function, arguments)
    else:
        loaded = {name: _loaded(name, Path(str(file)), uses) for name, file in job.input.items()}
        groups = _map_over_trials(function, loaded, arguments, key.get("by_trial", {}))
        _save_session(job, key, groups, [root for _, root in loaded.values()])
    checksums.record(DERIVED, outputs, inputs=inputs, key=key)


def _loaded(step: str, file: Path, uses: Mapping[str, tuple[str, ...]]) -> tuple[Groups, dict[str, Any]]:
    """Return a step's results and the root's attributes; of the trials' variables those that are used, else all."""
    if step == "calibrate":
        return netcdf.load_groups(file)
    return netcdf.load_some(file, uses.get(step, tuple(schema.VARIABLES[step])))


def rejected(reason: str, attributes: Mapping[str, Any] | None = None) -> xr.Dataset:
    """Return the group that stands for a trial which cannot be used."""
    kept = {name: value for name, value in (attributes or {}).items() if name in INHERITED}
    return xr.Dataset(attrs={"rejected": " ".join(reason.split()), **kept})


def _attempt(trial: str, function: Callable[[], xr.Dataset], attributes: Mapping[str, Any]) -> xr.Dataset:
    try:
        result = function()
    except UserError as error:
        log.warning("%s rejected: %s", trial, error)
        return rejected(str(error), attributes)
    result.attrs |= {name: value for name, value in attributes.items() if name in INHERITED}
    return result


def _read(function: Any, trials: list[dict[str, Any]], arguments: dict[str, Any]) -> tuple[Groups, list[Any]]:
    groups = {}
    for row in trials:
        about = {"source": row["file"], "source_sha256": row["sha256"] or "", "role": row["role"]}
        whose = {name: row[name] for name in ("subject", "participant")}
        step = partial(function, Path(row["file"]), **whose, **arguments)
        try:
            groups[row["trial"]] = _attempt(row["trial"], step, about)
        except OSError as error:
            if row["sha256"]:  # it could be read when the run began
                raise UserError(f"{row['file']}: {error.strerror}; {checksums.LOST}") from None
            groups[row["trial"]] = rejected(f"{row['file']}: {error.strerror}", about)
        checksums.refuse_changed(Path(row["file"]), row["sha256"])
    sources = {row["file"]: row["sha256"] for row in trials if row["sha256"]}
    return groups, [{"source_sha256": json.dumps(sources, sort_keys=True)}]


def _map_over_trials(
    function: Any,
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


def _calibrate(
    job: Any, key: Mapping[str, Any], function: Any, arguments: dict[str, Any], uses: Mapping[str, tuple[str, ...]]
) -> None:
    groups, root = _loaded("read", Path(job.input.read), uses)
    result = _attempt("calibrate", partial(function, groups, **arguments), {})
    result = schema.described("calibrate", result)
    result.attrs |= _provenance(key, [root])
    netcdf.save(Path(job.output[0]), result)


def _study(job: Any, key: Mapping[str, Any], function: Any, arguments: dict[str, Any]) -> None:
    from pipeline.steps.study.step import LABELS, TOLD, per_participant

    files = {Path(file).parent.name: Path(file) for file in job.input.cycles}
    loaded = netcdf.load_parts(files, schema.VARIABLES["cycles"], attributes=TOLD, once=LABELS)
    own = _provenance(key, [root for _, root in loaded.values()])
    if arguments["reference"]:
        own["reference_sha256"] = key["reference"]
        arguments["reference"] = _reference(arguments["reference"])
        if isinstance(arguments["reference"], xr.Dataset):
            own |= _reference_differs(arguments["reference"], own)
    dataset, metrics, quality = function({name: groups for name, (groups, _) in loaded.items()}, **arguments)
    dataset = schema.described("study", dataset)
    dataset.attrs |= own
    netcdf.save(Path(job.output.study), dataset)
    means, symmetry = per_participant(metrics)
    tables = {"metrics": metrics, "quality": quality, "participants": means, "symmetry": symmetry}
    for name, table in tables.items():
        netcdf.write_whole(Path(job.output[name]), csv_of(table))


def _reference(file: str) -> xr.Dataset | str:
    """Return a study.nc of other people, or the text of a table of their curves."""
    path = Path(file)
    return netcdf.load(path) if path.suffix == ".nc" else path.read_text(encoding="utf-8-sig")


def _reference_differs(reference: xr.Dataset, own: Mapping[str, Any]) -> dict[str, str]:
    from pipeline.results.study_file import differences

    if found := differences(reference.attrs, own):
        log.warning("study.reference: %s; angles may mean something else", found)
    return {"reference_differs": found} if found else {}


def _report(job: Any, sessions: list[str], function: Any, arguments: dict[str, Any]) -> None:
    """Load the study, of its sessions the trials that the report shows, and write the pages."""
    from pipeline.results.study_file import table_of
    from pipeline.steps.report.quality import TOLD
    from pipeline.steps.report.representative_trial import VARIABLES, representative

    derived = Path(job.input.study).parent
    study = netcdf.load(Path(job.input.study))
    shown = {(trial.session, trial.trial) for trial in representative(study).values()}
    wanted = {session: {trial for of, trial in shown if of == session} for session in sessions}
    trials: dict[str, Any] = {}
    for step, variables in VARIABLES.items():
        told = step == "clean"  # of each trial
        files = {session: derived / session / f"{step}.nc" for session in sessions if told or wanted[session]}
        loaded = netcdf.load_parts(files, variables, trials=wanted, others=told, attributes=TOLD if told else ())
        trials[step] = {session: groups for session, (groups, _) in loaded.items()}
    texts = {name: Path(job.input[name]).read_text(encoding="utf-8") for name in TABLES}
    if arguments["reference"]:
        reference = _reference(arguments["reference"])
        arguments["reference"] = reference if isinstance(reference, str) else table_of(reference)
    folder = Path(job.output.report).parent
    pages = function(study, **texts, **trials, **arguments)
    for stale in {*folder.glob("report/*.html")} - {folder / name for name in pages}:
        stale.unlink()
    if (folder / "report").is_dir() and not any((folder / "report").iterdir()):
        (folder / "report").rmdir()
    for name, page in pages.items():
        netcdf.write_whole(folder / name, page.encode())


def _save_session(job: Any, key: Mapping[str, Any], groups: Groups, roots: list[Mapping[str, Any]]) -> None:
    described = {name: schema.described(key["step"], group) for name, group in groups.items()}
    netcdf.save_tree(Path(job.output[0]), described, _provenance(key, roots))


def _provenance(key: Mapping[str, Any], roots: list[Mapping[str, Any]]) -> dict[str, str]:
    """Return the root attributes: what made this file, from which bytes, with which settings; no clock."""
    used: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for root in roots:
        used |= json.loads(root.get("settings", "{}"))
        sources |= json.loads(root.get("source_sha256", "{}"))
    used[key["step"]] = key["settings"]
    if model := key.get("arguments", {}).get("body_model"):
        used["body_model"] = model["name"]
    done = [*(roots[0].get("history", "").splitlines() if roots else []), f"{key['step']}: pipeline {key['pipeline']}"]
    return {
        "Conventions": "CF-1.11",
        "title": schema.TITLES[key["step"]],
        "history": "\n".join(done),
        "pipeline_version": key["pipeline"],
        "settings": json.dumps(used, sort_keys=True),
        "source_sha256": json.dumps(sources, sort_keys=True),
    } | ({"session": key["session"]} if key["session"] else {})


def _main(job: Any) -> None:
    hold(Path())
    Path(job.log[0]).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(filename=job.log[0], filemode="w", format="%(levelname)s %(message)s", level=logging.INFO)
    try:
        run(job)
    except UserError as error:
        log.error("%s", error)
        sys.exit(1)
    except Exception:
        log.error("%s", traceback.format_exc())
        raise


if "snakemake" in globals():
    _main(globals()["snakemake"])
