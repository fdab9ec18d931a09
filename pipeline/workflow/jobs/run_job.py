"""Run one job in the study's folder: check its inputs, run it, record what it wrote.

Everything that a job uses is in its key and its input files. ``session_job``, ``study_job`` and ``report_job`` load the
inputs, call the step and save the outputs; they are imported by name, so that each counts in the keys of its own jobs.
"""

import importlib
import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import xarray as xr

from ...results import netcdf
from ...results.study_file import without_doubted
from ...tables.reference_curves import reference_file
from ...tables.tsv import decode_text
from ...variables.muscle_variables import MUSCLE_METRICS, OF_MUSCLES
from ...variables.schema import TITLES
from .. import checksums

Files = Mapping[str, list[Path]]
DERIVED = Path("derived")


def run(text: str, inputs: Files, outputs: Files) -> None:
    """Run one job.

    Args:
        text: the job's key, JSON.
        inputs, outputs: files by the names that the rule gives them, relative to the study.

    Raises:
        UserError: an input is damaged, or the step cannot use it.
    """
    key = json.loads(text)
    written = [*chain(*outputs.values())]
    checksums.begin(DERIVED, written)
    digests = checksums.as_written(DERIVED, chain(*inputs.values()))
    compute(key, inputs, outputs)
    checksums.record(DERIVED, written, inputs=digests, key=key)


def compute(key: Mapping[str, Any], inputs: Files, outputs: Files) -> None:
    """Compute the outputs of one job from its key and its inputs, without a record of either."""
    step = key["step"]
    module = importlib.import_module(f"...steps.{'report.page' if step == 'page' else f'{step}.step'}", __package__)
    settings = {"settings": module.Settings(**key["settings"])} if hasattr(module, "Settings") else key["settings"]
    name = "session_job" if key["session"] else f"{'report' if step == 'page' else step}_job"
    job = importlib.import_module(f".{name}", __package__)
    job.run(key, getattr(module, step), settings | key.get("arguments", {}), inputs, outputs)


def provenance(
    key: Mapping[str, Any], roots: Sequence[Mapping[str, Any]], *, output: str | None = None
) -> dict[str, str]:
    """Return the global attributes of an output: code version, sources, settings and corrections; no clock.

    Args:
        roots: the global attributes of the input files, the main one first.
        output: name of the output; None for that of the step.
    """
    used: dict[str, Any] = {}
    sources: dict[str, str] = {}
    tests: dict[str, Any] = {}
    rows = [row for root in roots for row in json.loads(root.get("corrections", "[]"))]
    rows += [row for arguments in key.get("by_trial", {}).values() for row in arguments.get("corrections", ())]
    sizes = next((root["session_sizes"] for root in roots if "session_sizes" in root), "")  # of sessions.tsv
    corrections = [json.loads(text) for text in dict.fromkeys(json.dumps(row) for row in rows)]
    for root in roots:
        used |= json.loads(root.get("settings", "{}"))
        sources |= json.loads(root.get("source_sha256", "{}"))
        tests |= json.loads(root.get("plate_tests", "{}"))
    used[key["step"]] = key["settings"]
    if model := key.get("arguments", {}).get("body_model"):
        used["body_model"] = model["name"]
    done = [*(roots[0].get("history", "").splitlines() if roots else []), f"{key['step']}: pipeline {key['pipeline']}"]
    return {
        "Conventions": "CF-1.11",
        "title": TITLES[output or key["step"]],
        "history": "\n".join(done),
        "pipeline_version": key["pipeline"],
        "settings": json.dumps(used, sort_keys=True),
        "source_sha256": json.dumps(sources, sort_keys=True),
        **({"plate_tests": json.dumps(tests, sort_keys=True)} if tests else {}),
        **({"corrections": json.dumps(corrections, ensure_ascii=False)} if corrections else {}),
        **({"session": key["session"]} if key["session"] else {}),
        **({"session_sizes": sizes} if key["session"] and sizes else {}),
    }


def load_cycles(file: Path, inputs: Files) -> xr.Dataset:
    """Return cycles.nc of a session, with its muscles.nc if the job has it."""
    cycles = netcdf.load(file)
    if "muscles" not in inputs or "cycle" not in cycles.dims:
        return cycles
    muscles = netcdf.load(file.with_name("muscles.nc"), [*OF_MUSCLES, *MUSCLE_METRICS])
    own = {name: one for name, one in muscles.variables.items() if name not in cycles.variables}
    labels = [name for name, one in own.items() if one.dims == (name,)]
    return (
        cycles.assign(own).set_coords(labels).assign_attrs(settings=muscles.attrs["settings"])
    )  # with those of cycles


def load_reference(name: str) -> xr.Dataset | str:
    """Return the study.nc of other people, or the text of a table of their curves, shipped or the user's."""
    path = reference_file(name, study_path=Path())
    return without_doubted(netcdf.load(path)) if path.suffix == ".nc" else decode_text(path.read_bytes())
