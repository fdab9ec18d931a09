"""One job of per_trial.smk: a step on one trial, with separate files."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

if "snakemake" in globals():
    sys.path.insert(0, str(Path(globals()["snakemake"].scriptdir).parent))

from pipeline.results import netcdf, schema


def run(job: Any) -> None:
    """Run one step on one trial, or calibrate on all trials of a session."""
    key = json.loads(job.params.key)
    function = getattr(importlib.import_module(f"pipeline.steps.{job.rule}.step"), job.rule)
    arguments = key["settings"] | key.get("arguments", {})
    data, about = list[Any](), dict[str, str]()
    if job.rule == "read":
        row = next(row for row in key["trials"] if row["trial"] == job.wildcards.trial)
        data = [Path(row["file"])]
        arguments |= {name: row[name] for name in ("subject", "participant")}
        about = {"source": row["file"], "source_sha256": row["sha256"], "role": row["role"]}
    elif job.rule == "calibrate":
        data = [{Path(file).parent.name: netcdf.load(Path(file)) for file in job.input}]
    else:
        data = [netcdf.load(Path(file)) for file in job.input]
        arguments |= key.get("by_trial", {}).get(job.wildcards.trial, {})
    result = function(*data, **arguments)
    result.attrs |= about
    netcdf.save(Path(job.output[0]), schema.described(job.rule, result))


if "snakemake" in globals():
    run(globals()["snakemake"])
