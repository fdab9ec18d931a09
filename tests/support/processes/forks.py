"""Runs of ``gaitlab run`` and of Snakemake in forks of a process that has already done their imports, on Linux.

A run of one person takes 7.6 s of processor time when it is started and 3.5 s when it is forked, a plan 1.8 and 0.5 s.
A fork has the arguments, folder and environment of a process that is started, and writes to files. Not for tests of
signals, of imports that a folder could hide, or of variables that are read at import: ``GAITLAB_START_METHOD``,
``*_NUM_THREADS``, ``MALLOC_*``, ``PYTHON*``.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver
from pathlib import Path
from tempfile import NamedTemporaryFile

LONGEST_S = 600
# what runs import late; none starts a thread, which a fork would lose, or opens a file of HDF5
PRELOADED = (
    *("snakemake.cli", "snakemake.report", "jsonschema", "smart_open", "sqlmodel", "yte", "pandas", "netCDF4"),
    *(f"pipeline.workflow.{name}" for name in ("run_snakemake", "open_study", "preparation", "progress")),
    *("pipeline.__main__", "pipeline.commands.run", "pipeline.workflow.run_summary", "pipeline.workflow.command_files"),
)
SERVER = vars(forkserver)["_forkserver"]  # of the workers of all runs
STARTED: list[Forks] = []


class Forks:
    """A process that forks runs of a copy of the project, one at a time; it ends with the tests."""

    def __init__(self, house: Path, study: Path) -> None:
        """Start it; it prepares plans of a study."""
        from pipeline.workflow.jobs.workers import ENVIRONMENT

        command = [sys.executable, "-P", __file__, str(house), str(study)]
        environment = {**os.environ, **ENVIRONMENT, "PYTHONHASHSEED": "random"}
        self.process = subprocess.Popen(
            command, cwd=house, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.cpu_s = 0.0  # of the runs that have ended, without their workers
        STARTED.append(self)
        atexit.register(self.process.communicate)

    def run(
        self, module: str, *arguments: str, cwd: Path, changed_code: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run ``python -m module arguments``, of ``pipeline`` or ``snakemake``, and return what it printed.

        Args:
            changed_code: whether files of the copy have changed since the start; imported modules stay.
        """
        sys.audit("os.fork")
        assert self.process.stdin
        assert self.process.stdout
        with NamedTemporaryFile() as out, NamedTemporaryFile() as errors:
            words = [changed_code, str(cwd), {**os.environ}, [out.name, errors.name], module, *arguments]
            self.process.stdin.write(json.dumps(words) + "\n")
            self.process.stdin.flush()
            code, cpu_s = json.loads(self.process.stdout.readline())
            self.cpu_s += cpu_s
            return subprocess.CompletedProcess(arguments, code, out.read().decode(), errors.read().decode())


@functools.cache
def forks(house: Path, study: Path) -> Forks:
    """Return the process of a copy of the project, which is started once."""
    return Forks(house, study)


def serve(house: str, study: str) -> None:
    """Import and read what each run does, then fork for each line of standard input, and write how each ended."""
    sys.path[:] = [house, *sys.path]
    for name in PRELOADED:
        importlib.import_module(name)
    sys.modules["snakemake.cli"].get_argument_parser()
    opened = sys.modules["pipeline.workflow.open_study"].open_study(Path(study))
    opened.content_of_key("report", None)
    step = importlib.import_module("pipeline.step")
    for name in step.steps_to("cycles"):
        opened.content_of_key(name, next(iter(opened.sessions)))  # for the digests of its code
    of_jobs = {place.partition(":")[0] for one in step.every_step().values() for place in (one.job, one.function)}
    SERVER.set_forkserver_preload([*sys.modules["pipeline.workflow.jobs.workers"].PRELOADED, *of_jobs])
    SERVER.ensure_running()
    gc.disable()
    gc.freeze()  # else each run copies and searches all memory that it inherits
    for line in sys.stdin:
        run = os.fork()
        if not run:
            become(*json.loads(line))
        _, status, used = os.wait4(run, 0)
        answer = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        os.write(1, f"{json.dumps(answer)}\n".encode())
    SERVER._stop()


def become(
    changed_code: bool, cwd: str, environment: Mapping[str, str], files: Sequence[str], module: str, *arguments: str
) -> None:
    """Turn this fork into the process of a command, which exits."""
    signal.alarm(LONGEST_S)
    SERVER.ensure_running = lambda: None  # it runs, as no child of this process
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in enumerate([os.devnull, *files]):
        os.dup2(os.open(file, os.O_RDWR), number)
    if changed_code:
        sys.modules["pipeline.workflow.digests"].code_digest.cache_clear()
    if module == "snakemake":
        sys.modules["snakemake.cli"].main(arguments)
    vars(os)["execve"] = take_over
    sys.exit(sys.modules["pipeline.__main__"].main(arguments))


def take_over(_: str, words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run ``python -P -c CODE ARGUMENTS`` in this process, as the command does that runs the workflow."""
    os.environ.update(environment)
    sys.argv = ["-c", *words[4:]]
    exec(words[3], {})  # noqa: S102 (the command's own)


if __name__ == "__main__":
    serve(*sys.argv[1:])
