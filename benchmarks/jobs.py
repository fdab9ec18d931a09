"""The jobs of a study as in the workflow, with their files, but without Snakemake.

``python -m benchmarks.jobs STUDY read,calibrate,... SESSION...`` runs them in one process, in the order given, and
prints the peak memory of this process and its children, MB.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil  # type: ignore[import-untyped]

from pipeline.workflow.job_keys import Study
from pipeline.workflow.open_study import SESSION_OUTPUTS, open_study


def run_jobs(study: Path, steps: list[str], sessions: list[str]) -> None:
    """Run these steps for one session after another; changes to the study's directory."""
    from pipeline.workflow.jobs import run_job

    os.chdir(study)
    opened = open_study(study)
    for session in sessions:
        for step in steps:
            run_job.run(*job(opened, step, session))


def job(study: Study, step: str, session: str) -> tuple[str, dict[str, list[Path]], dict[str, list[Path]]]:
    """Return key, inputs and outputs of a job; inputs are named as in the Snakefile."""
    folder = Path("derived") / session
    function = getattr(importlib.import_module(f"pipeline.steps.{step}.step"), step)
    data = [name for name, one in inspect.signature(function).parameters.items() if one.kind != one.KEYWORD_ONLY]
    recordings = {"recordings": [Path(file) for file in study.recordings(session)]}
    inputs = recordings if step == "read" else {name: [folder / f"{name}.nc"] for name in data}
    folder.mkdir(parents=True, exist_ok=True)
    outputs = {name: [folder / f"{name}.nc"] for name, writer in SESSION_OUTPUTS.items() if writer == step}
    return study.key(step)(SimpleNamespace(session=session)), inputs, outputs


def peak_memory_mb() -> float:
    """Return the peak resident memory of this process and its children, MB.

    ``getrusage`` does not serve: a child inherits the figure of its parent.
    """
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(high_water_kb(process.pid) for process in processes) / 1000


def high_water_kb(pid: int) -> int:
    """Return the resident memory of a process at its peak, kB."""
    lines: dict[str, Any] = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0])


if __name__ == "__main__":
    run_jobs(Path(sys.argv[1]).resolve(), sys.argv[2].split(","), sys.argv[3:])
    print(f"{peak_memory_mb():.1f}")  # noqa: T201
