"""One job of per_trial.smk: a step on one trial, with separate files."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

if "snakemake" in globals():
    sys.path.insert(0, str(Path(globals()["snakemake"].scriptdir).parent))

from pipeline.body.body_model import BodyModel
from pipeline.results import netcdf
from pipeline.trials.session import join_trials, separate
from pipeline.variables import schema


def run(job: Any) -> None:
    """Run one step on one trial, or calibrate on all trials of a session."""
    key = json.loads(job.params.key)
    function = getattr(importlib.import_module(f"pipeline.steps.{job.rule}.step"), job.rule)
    arguments = key["settings"] | key.get("arguments", {})
    if definition := arguments.get("body_model"):
        arguments["body_model"] = BodyModel.of(definition)
    data: list[Any]
    if job.rule == "read":
        data = [[row for row in key["trials"] if row["trial"] == job.wildcards.trial]]
    elif job.rule == "calibrate":
        data = [
            join_trials(
                {name: trial for file in job.input for name, trial in separate(netcdf.load(Path(file))).items()}
            )
        ]
    else:
        data = [netcdf.load(Path(file)) for file in job.input]
        arguments |= {"by_trial": key["by_trial"]} if "by_trial" in key else {}
    netcdf.save(Path(job.output[0]), schema.describe(job.rule, function(*data, **arguments)))


if "snakemake" in globals():
    run(globals()["snakemake"])
