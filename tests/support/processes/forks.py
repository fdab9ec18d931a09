"""Runs of ``gaitlab run`` and of Snakemake in forks of a process that has already done their imports, on Linux.

A run of one person takes 6.6 s of processor time when it is started and 3.3 s when it is forked, a plan 1.8 and 0.2 s.
A fork has the arguments and environment of a process that is started in the checkout, and writes to files. Not for
tests of signals, of imports that a folder could hide, or of variables that are read at import:
``GAITLAB_START_METHOD``, ``*_NUM_THREADS``, ``MALLOC_*``, ``PYTHON*``.
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

HOUSE = Path(__file__).resolve().parents[3]
LONGEST_S = 600
# what runs import late; none starts a thread, which a fork would lose, or opens a file of HDF5
PRELOADED = (
    *("snakemake.cli", "snakemake.report", "jsonschema", "smart_open", "sqlmodel", "yte", "pandas", "netCDF4"),
    *(f"pipeline.workflow.{name}" for name in ("run_snakemake", "open_study", "preparation", "progress")),
    *("pipeline.__main__", "pipeline.commands.run", "pipeline.workflow.run_summary", "pipeline.workflow.command_files"),
)
WORKERS = vars(forkserver)["_forkserver"]  # of which the workers of all runs are forks


def run_forked(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m module arguments``, of ``pipeline`` or ``snakemake``, and return what it printed."""
    sys.audit("os.fork")
    server = _server()
    assert server.stdin
    assert server.stdout
    with NamedTemporaryFile() as out, NamedTemporaryFile() as errors:
        words = [{**os.environ}, [out.name, errors.name], module, *arguments]
        server.stdin.write(json.dumps(words) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, out.read().decode(), errors.read().decode())


@functools.cache
def _server() -> subprocess.Popen[str]:
    """Return the process that forks, which ends with this one."""
    from pipeline.workflow.jobs.workers import ENVIRONMENT

    environment = {**os.environ, **ENVIRONMENT, "PYTHONHASHSEED": "random"}
    command, pipe = [sys.executable, "-P", __file__], subprocess.PIPE
    server = subprocess.Popen(command, cwd=HOUSE, env=environment, stdin=pipe, stdout=pipe, text=True)
    atexit.register(server.communicate)
    return server


def serve() -> None:
    """Import and read what each run does, then fork for each line of standard input, and write how each ended."""
    sys.path[:] = [str(HOUSE), *sys.path]
    for name in PRELOADED:
        importlib.import_module(name)
    sys.modules["snakemake.cli"].get_argument_parser()
    opened = sys.modules["pipeline.workflow.open_study"].open_study(HOUSE / "data" / "demo")
    opened.content_of_key("report", None)
    step = importlib.import_module("pipeline.step")
    for name in step.steps_to("cycles"):
        opened.content_of_key(name, next(iter(opened.sessions)))  # for the digests of its code
    of_jobs = {place.partition(":")[0] for one in step.every_step().values() for place in (one.job, one.function)}
    WORKERS.set_forkserver_preload(
        [*sys.modules["pipeline.workflow.jobs.workers"].modules_for(step.every_step()), *of_jobs]
    )
    WORKERS.ensure_running()
    gc.disable()
    gc.freeze()  # else each run copies and searches all memory that it inherits
    for line in sys.stdin:
        run = os.fork()
        if not run:
            become(*json.loads(line))
        _, status = os.waitpid(run, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))
    WORKERS._stop()


def become(environment: Mapping[str, str], files: Sequence[str], module: str, *arguments: str) -> None:
    """Turn this fork into the process of a command, which exits."""
    signal.alarm(LONGEST_S)
    WORKERS.ensure_running = lambda: None  # they run, as no children of this process
    os.environ.clear()
    os.environ.update(environment)
    for number, file in enumerate([os.devnull, *files]):
        os.dup2(os.open(file, os.O_RDWR), number)
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
    serve()
