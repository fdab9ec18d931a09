"""The jobs of sessions as in the workflow, with their files, but without Snakemake, in this process.

``python benchmarks/jobs.py STUDY ROUNDS read,calibrate,... SESSION ...`` runs them in the order given, and prints as
JSON the least processor time of each step, s, the peak memory, MB, and the settings of the study. It runs with the
``pipeline`` that PYTHONPATH names first, also that of an earlier commit, so it imports nothing else of this folder.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Files = dict[str, list[Path]]
GONE = (FileNotFoundError, ProcessLookupError)  # what reading of a process raises that has ended
RUN_JOB = ("pipeline.workflow.jobs.run_job", "pipeline.workflow.run_job")  # its name now, and in older commits


def run_jobs(study: Path, steps: list[str], sessions: list[str], *, rounds: int = 1) -> dict[str, float]:
    """Run these steps for one session after another, and return the least processor time of each step, s.

    It is the sum over the sessions. Changes to the study's directory.
    """
    run_job: Any = next(importlib.import_module(name) for name in RUN_JOB if _exists(name))
    opened = importlib.import_module("pipeline.workflow.open_study").open_study(study)
    os.chdir(study)
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        spent = dict.fromkeys(steps, 0.0)
        for session in sessions:
            (Path("derived") / session).mkdir(parents=True, exist_ok=True)
            for step in steps:
                start = cpu_s()
                run_job.run(*job(opened, step, session))
                spent[step] += cpu_s() - start
        best = {step: min(best[step], spent[step]) for step in steps}
    return best


def job(study: Any, step: str, session: str) -> tuple[str, Files, Files]:
    """Return key, inputs and outputs of a job of an open study; inputs are named as in the Snakefile."""
    folder = Path("derived") / session
    function = getattr(importlib.import_module(f"pipeline.steps.{step}.step"), step)
    data = [name for name, one in inspect.signature(function).parameters.items() if one.kind != one.KEYWORD_ONLY]
    recordings = {"recordings": [Path(file) for file in study.recordings(session)]}
    inputs = recordings if step == "read" else {name: [folder / f"{name}.nc"] for name in data}
    made = importlib.import_module("pipeline.workflow.open_study").outputs_of(study)
    outputs = {Path(file).stem: [Path("derived") / file] for file, maker in made.items() if maker == (step, session)}
    return study.key(step)(SimpleNamespace(session=session)), inputs, outputs


def cpu_s() -> float:
    """Return the processor time of this process and its descendants, living and ended, s."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = 0.0
    for pid in descendants(os.getpid()):
        with suppress(OSError):  # it has ended since it was listed
            # the clock of another process, see clock_getcpuclockid(3); its times in /proc are in steps of 10 ms
            living += time.clock_gettime(~pid << 3 | 2)
    return time.process_time() + ended.ru_utime + ended.ru_stime + living


def peak_memory_mb() -> float:
    """Return the peak resident memory of this process and its descendants, MB.

    ``getrusage`` does not serve: a child begins with the figure of its parent.
    """
    peak_kb = 0
    for pid in (os.getpid(), *descendants(os.getpid())):
        with suppress(*GONE):  # it has ended since it was listed
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            peak_kb += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return peak_kb / 1000


def descendants(pid: int) -> Iterator[int]:
    """Yield the children of a process, their children, and so on; none of a process that has ended."""
    children = list[str]()
    with suppress(*GONE):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*GONE):  # a thread alone
                children += (task / "children").read_text().split()
    for child in map(int, children):
        yield child
        yield from descendants(child)


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of its package
        return False


if __name__ == "__main__":
    path, times, names, *own = sys.argv[1:]
    chosen = importlib.import_module("pipeline.workflow.open_study").open_study(Path(path).resolve()).settings
    least = run_jobs(Path(path).resolve(), names.split(","), own, rounds=int(times))
    print(json.dumps({"cpu_s": least, "peak_mb": peak_memory_mb(), "settings": chosen}))  # noqa: T201
