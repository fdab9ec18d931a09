"""Jobs started warm: forks of one process that has done the imports, rather than each a Python that does them anew.

Most jobs take less time than importing xarray, pandas and scipy does. So Snakemake's process starts a child with its
first job. For each job the child imports the step, unless it has, and forks; the fork runs the script that Snakemake
wrote, as a Python of its own would. While nothing is asked of it, the child imports the steps that come after. Where
there is no fork to be had (not on Linux, a job in a container, a library that runs threads, a child that has died),
Snakemake starts the script as ever.

The child ends when Snakemake does, however that ends, and its forks with it: they share a socket and no file.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import importlib
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).resolve().parents[2]
LONGEST_REQUEST_BYTES = 1 << 16
PR_SET_PDEATHSIG = 1  # linux/prctl.h
BEGUN, NEXT = b"!", "--"
LATE = {"clean": "scipy.signal", "kinematics": "scipy.interpolate", "kinetics": "scipy.interpolate"}  # within functions
ONE_THREAD = {
    # as Snakemake's shell does for a job of one thread: the same numbers, and no thread that a fork would lose
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pandas imports pyarrow where there is one
}


def start_jobs_warm(scripts: type[Any], *, modules: Sequence[str], steps: Sequence[str] = ()) -> None:
    """Make Snakemake's class of Python scripts start them as forks where that can be.

    Args:
        scripts: ``snakemake.script.PythonScript``.
        modules: what every script imports.
        steps: which are to be imported while there is nothing else to do, in their order.
    """
    if sys.platform != "linux":  # forks of a Python that has loaded macOS's libraries are not safe
        return
    cold = scripts.execute_script
    one_at_a_time = threading.Lock()
    server = functools.cache(lambda tmpdir: _started(modules, steps, tmpdir=tmpdir))

    def execute_script(self: Any, fname: str, edit: bool = False) -> None:
        special = edit or self.container_img or self.conda_env or self.env_modules or self.bench_record
        code = None
        if self.threads == 1 and not special:
            with contextlib.suppress(OSError):  # the child cannot be started, or has died
                with one_at_a_time:
                    requests = server(self.resources.get("tmpdir"))
                code = _run(requests, step=self.rulename, script=fname)
        if code is None:
            cold(self, fname, edit=edit)
        elif code:
            raise subprocess.CalledProcessError(code, [sys.executable, fname])

    scripts.execute_script = execute_script


def _started(modules: Sequence[str], steps: Sequence[str], *, tmpdir: str | None) -> socket.socket:
    """Start the child and return the socket that it serves, until the other end of it is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = os.environ | ONE_THREAD | ({"TMPDIR": tmpdir} if tmpdir else {})
    with theirs:
        # -P: nothing is imported from beside this file
        command = [sys.executable, "-P", __file__, *modules, NEXT, *steps]
        # not in the study, whose disk nobody could take off while this still imports
        subprocess.Popen(command, stdin=theirs.fileno(), env=environment, cwd="/")  # noqa: S603
    return ours


def _run(requests: socket.socket, *, step: str, script: str) -> int | None:
    """Return the exit code of a script that was run in a fork, -9 where something ended it; None: it was not begun.

    Raises:
        OSError: there is no child to ask.
    """
    answers, answer_to = os.pipe()
    with os.fdopen(answers, "rb") as file:
        try:
            socket.send_fds(requests, [os.fsencode(f"{step}\0{script}\0{Path.cwd()}")], [answer_to])
        finally:
            os.close(answer_to)
        answer = file.read()  # until the fork has ended, and its end of the pipe with it
    if not answer:
        return None
    return answer[len(BEGUN)] if len(answer) > len(BEGUN) else -signal.SIGKILL


def _serve(requests: socket.socket, steps: list[str]) -> tuple[str, int]:
    """Fork for each request; return in the fork only: the script, and the descriptor for the answer."""
    server = os.getpid()
    while True:
        while steps and not select.select([requests], [], [], 0)[0]:
            _import(steps.pop(0))
        message, answer_to, _, _ = socket.recv_fds(requests, LONGEST_REQUEST_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
        if not message:  # Snakemake has ended
            os._exit(0)
        step, script, folder = os.fsdecode(message).split("\0")
        _import(step)
        if len([*Path("/proc/self/task").iterdir()]) > 1:
            os._exit(1)
        if os.fork() == 0:
            _end_with(server)
            os.chdir(folder)
            return script, answer_to[0]
        os.close(answer_to[0])


def _import(step: str) -> None:
    with contextlib.suppress(Exception):  # a fault is met again by the fork, which tells of it
        importlib.import_module(f"pipeline.steps.{step}.step")
        importlib.import_module(LATE[step])


def _end_with(server: int) -> None:
    """Let the kernel kill this fork when its server ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)


def _exit_code(script: str) -> int:
    """Run a script and return its exit code as Python would."""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _main(arguments: Sequence[str]) -> None:
    sys.path.insert(0, str(HOUSE))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the jobs
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    modules, steps = arguments[: arguments.index(NEXT)], [*arguments[arguments.index(NEXT) + 1 :]]
    for module in modules:
        importlib.import_module(module)
    requests = socket.socket(fileno=0)
    script, answer_to = _serve(requests, steps)
    os.dup2(os.open(os.devnull, os.O_RDONLY), requests.detach())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.write(answer_to, BEGUN)
    code = _exit_code(script)
    # as Python ends, but for taking down all that was imported: most of a short job's time
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os.write(answer_to, bytes([code & 0xFF]))
    os._exit(code & 0xFF)


if __name__ == "__main__":
    _main(sys.argv[1:])
