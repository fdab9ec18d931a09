"""The output files of a small study with everything that a file can hold: all optional curves, a rejected trial."""

from __future__ import annotations

import importlib
import inspect
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from conftest import HOUSE, copy_study

from pipeline import bridge, settings
from pipeline.workflow import SESSION_STEPS, open_study

ON_TOP = """
kinetics: {{uncertainty_draws: 5}}
cycles: {{further_curves: [{curves}]}}
"""


def write_outputs(folder: Path) -> Path:
    """Run one person of the demonstration study below folder/data/demo through the bridge, in this process.

    The workflow's own processes, which test_workflow.py runs, would take several times as long to write the same.
    """
    study = copy_study(HOUSE / "data" / "demo", folder / "data" / "demo")
    header, *rows = (study / "trials.tsv").read_text().splitlines()
    kept = [row for row in rows if row.startswith("sub-01") and not row.split("\t")[1].endswith(("_02", "_03"))]
    gone = "sub-01\tgone\tsub-01/gone.c3d\tgait\tfast"
    (study / "trials.tsv").write_text("\n".join([header, *kept, gone]) + "\n")
    header, *rows = (study / "participants.tsv").read_text().splitlines()
    people = [f"{header}\ttown", *(f"{row}\tJyväskylä" for row in rows)]
    (study / "participants.tsv").write_text("\n".join(people) + "\n", encoding="utf-8")
    curves = settings.schema("settings")["properties"]["cycles"]["properties"]["further_curves"]["items"]["enum"]
    with (study / "study.yaml").open("a") as handle:
        handle.write(ON_TOP.format(curves=", ".join(curves)))
    before = Path.cwd()
    os.chdir(study)  # as Snakemake does: paths of a key are relative to the study
    try:
        _run()
    finally:
        os.chdir(before)
    return study


def _run() -> None:
    opened = open_study(Path())
    for session in opened.sessions:
        for step in SESSION_STEPS:
            arguments = inspect.signature(getattr(importlib.import_module(f"pipeline.{step}"), step)).parameters
            inputs = {name: f"derived/{session}/{name}.nc" for name in arguments if name in SESSION_STEPS}
            key = opened.key(step)(SimpleNamespace(session=session))
            bridge.run(_job(key, inputs, {0: f"derived/{session}/{step}.nc"}))
    tables = {name: f"derived/{name}.csv" for name in ("metrics", "quality", "participants", "symmetry")}
    cycles = [f"derived/{session}/cycles.nc" for session in opened.sessions]
    bridge.run(_job(opened.key("study")(None), {"cycles": cycles}, {"study": "derived/study.nc", **tables}))


class Files(dict[Any, Any]):
    """Files of a job as Snakemake gives them: by key or by attribute."""

    __getattr__ = dict.__getitem__


def _job(key: str, inputs: dict[str, Any], outputs: dict[Any, str]) -> SimpleNamespace:
    return SimpleNamespace(params=SimpleNamespace(key=key), input=Files(inputs), output=Files(outputs))
