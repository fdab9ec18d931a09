"""One job of per_trial.smk: a step on one trial, with separate files; calibrate uses the static trial."""

import json
import sys
from pathlib import Path

snakemake = globals()["snakemake"]  # Snakemake writes it at the top
sys.path.insert(0, str(Path(snakemake.scriptdir).parent))

from pipeline.workflow.jobs import run_job  # noqa: E402 (the path is new)

key = json.loads(snakemake.params.key)
if snakemake.rule == "read":
    key["trials"] = [row for row in key["trials"] if row["trial"] == snakemake.wildcards.trial]
inputs = {name: [Path(file)] for name, file in snakemake.input.items()}
run_job.compute(key, inputs, {snakemake.rule: [Path(snakemake.output[0])]})
