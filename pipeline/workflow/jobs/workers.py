"""Run jobs in worker processes that have already done the imports.

Snakemake runs the body of a rule in a thread of its own process. The body hands the job to a worker process, because
HDF5 and the Python interpreter allow one job at a time in a process. A worker runs one job after the other; there are
as many as jobs run at the same time. A worker that dies fails its own job and is replaced.

Workers are forked from a server that has imported the large libraries (``forkserver``), or started one by one where
forking is not safe (``spawn``: macOS and Windows). ``GAITLAB_START_METHOD=spawn`` selects the second anywhere.
"""

import gc
import importlib
import json
import logging
import multiprocessing
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import UserError
from ...step import every_step
from ..activity_lock import hold

if sys.platform == "linux":
    import fcntl

Files = Mapping[str, list[Path]]
START_METHOD = os.environ.get("GAITLAB_START_METHOD") or ("forkserver" if sys.platform == "linux" else "spawn")
PRELOADED = ("numpy", "xarray", "netCDF4")  # for every step
ENVIRONMENT = {
    # one thread each: the same numbers on every machine, and no thread that a fork would lose
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    # glibc keeps freed memory for the next arrays, instead of fetching it page by page again
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "MALLOC_TRIM_THRESHOLD_": str(2**26),
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pandas imports pyarrow if it is installed
    "PYTHONSAFEPATH": "1",  # import nothing from the study's folder
    # no remark about semaphores if Snakemake is killed: they are removed
    "PYTHONWARNINGS": "ignore::UserWarning:multiprocessing.resource_tracker",
}
DIED = "the process of this job was killed, or ran out of memory"
STOPPED = "Stopped by {}. The same command continues the run.\n"

_idle: queue.LifoQueue[ProcessPoolExecutor] = queue.LifoQueue()
_one_start_at_a_time = threading.Lock()
_stopped_by: list[int] = []  # signals, the first one first
_planned: set[str] = set()  # steps with jobs, as far as they are known


class Job(NamedTuple):
    """A job as plain data: its key, its input and output files by name, and its log file."""

    key: str
    input: Files
    output: Files
    log: Path


def run_job(*, key: str, input: Any, output: Any, log: Any) -> None:  # noqa: A002 (Snakemake's names)
    """Run a job of Snakemake in a worker process, and wait for its end; raise UserError with the reason if it fails."""
    job = Job(key, _files(input), _files(output), Path(log[0]))
    job.log.parent.mkdir(parents=True, exist_ok=True)
    job.log.write_text("")
    try:
        reason = _in_worker(job)
    except Exception as error:
        if _stopped_by:
            raise KeyboardInterrupt from None  # Snakemake reports no failure for this
        reason = DIED if isinstance(error, BrokenProcessPool) else f"no worker process could be started ({error!r})"
        with job.log.open("a", encoding="utf-8") as handle:
            handle.write(f"ERROR {reason}\n")
    if reason:
        raise UserError("", reason, "")


def _files(named: Any) -> Files:
    """Return Snakemake's named files as lists of paths."""
    return {name: [*map(Path, [files] if isinstance(files, str) else files)] for name, files in named.items()}


def _in_worker(job: Job) -> str:
    """Run a job in a worker that has no other, and return why it failed, or nothing."""
    worker = _idle_worker()
    try:
        reason = worker.submit(_work, job).result()
    except BrokenProcessPool:
        worker.shutdown(wait=False)
        raise
    if every_step()[json.loads(job.key)["step"]].ends_its_worker:
        worker.shutdown(wait=False)
    else:
        _idle.put(worker)
    return reason


def plan(steps: Collection[str]) -> None:
    """Let the first worker's server import what jobs of these steps need, and not what those of all steps do."""
    _planned.update(steps)


def modules_for(steps: Collection[str]) -> list[str]:
    """Return the large modules of libraries that jobs of these steps import."""
    own = (module for name, step in every_step().items() if name in steps for module in step.preloads)
    return [*dict.fromkeys((*PRELOADED, *own))]


def _idle_worker() -> ProcessPoolExecutor:
    """Return a worker that lives; one that died without a job is not missed."""
    while True:
        try:
            worker = _idle.get_nowait()
        except queue.Empty:
            return _start()
        try:
            worker.submit(os.getpid).result()
        except BrokenProcessPool:
            worker.shutdown(wait=False)
        else:
            return worker


def _start() -> ProcessPoolExecutor:
    """Start a worker process.

    The server imports nothing of this package: it does not see Snakemake's module path, and could find another copy.
    """
    with _one_start_at_a_time:
        os.environ.update(ENVIRONMENT)
        context = multiprocessing.get_context(START_METHOD)
        if START_METHOD == "forkserver":
            context.set_forkserver_preload(modules_for(_planned or every_step()))
        worker = ProcessPoolExecutor(1, mp_context=context, initializer=_begin)
        resource_tracker.ensure_running()  # it would unblock signals
        with _without_main_file(), _without_signals():
            worker.submit(_be_killed_with_parent).result()
    if _stopped_by:  # too late for _stop to have seen it
        _kill_workers()
    return worker


@contextmanager
def _without_main_file() -> Iterator[None]:
    """Keep new processes from importing the main module: Snakemake's command line, which no job needs."""
    main = vars(sys.modules["__main__"])
    file = main.pop("__file__", None)
    try:
        yield
    finally:
        if file is not None:
            main["__file__"] = file


@contextmanager
def _without_signals() -> Iterator[None]:
    """Block Ctrl-C and SIGTERM in this thread; a process that is started meanwhile inherits that."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Prepare a worker process, which runs in the study's folder."""
    gc.freeze()  # the libraries' objects stay, and are else searched for garbage again and again
    gc.set_threshold(10_000)  # few of a job's objects are garbage that only a search finds
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the parent ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    hold(Path())


def _end_with_parent() -> None:
    """End this process when Snakemake ends, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _be_killed_with_parent() -> None:
    """Let the kernel kill this process when Snakemake ends; only Linux can.

    No thread ends it while other code holds the interpreter's lock, as OpenSim does for half a minute. The sentinel is
    a pipe that Snakemake holds open as long as it lives. The kernel also sends the signal when something is written to
    the pipe, as at the start of this process: so this is called once it has started.
    """
    parent = multiprocessing.parent_process()
    if sys.platform == "linux" and parent is not None:
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(parent.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, fcntl.fcntl(parent.sentinel, fcntl.F_GETFL) | os.O_ASYNC)


def _work(job: Job) -> str:
    """Run a job in this worker process and return why it failed, or nothing."""
    log = logging.getLogger("pipeline")
    with _logged_to(job.log):
        try:
            importlib.import_module(".run_job", __package__).run(job.key, job.input, job.output)
        except UserError as error:
            log.error("%s", error)
            return str(error)
        except Exception as error:
            log.error("%s", traceback.format_exc())
            return f"{type(error).__name__}: {error}"
    return ""


@contextmanager
def _logged_to(path: Path) -> Iterator[None]:
    """Write what is logged to a file."""
    logging.raiseExceptions = False  # a full disk takes no log: its traceback would not help
    root, handler = logging.getLogger(), logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def stop_on_signals() -> None:
    """Let Ctrl-C and SIGTERM end the run and its workers at once, with one line; for the main thread."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as by nohup
        signal.signal(signal.SIGINT, _stop)
    if not hasattr(signal, "pthread_kill"):  # Windows
        return
    # Snakemake will replace a handler of SIGTERM by one that lets running jobs end; this pipe gets every signal
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.signal(signal.SIGUSR1, _stop)
    threading.Thread(target=_wait_for_sigterm, args=(read,), daemon=True).start()


def was_stopped() -> bool:
    """Return whether a signal has ended the run."""
    return bool(_stopped_by)


def exit_code_of_stop() -> int:
    """Return the exit code of a run that a signal has ended, as shells report it."""
    return 128 + _stopped_by[0]


def _wait_for_sigterm(pipe: int) -> None:
    while os.read(pipe, 1) != bytes([signal.SIGTERM]):
        pass
    _stopped_by.append(signal.SIGTERM)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)


def _stop(number: int, _: object) -> None:
    for other in (signal.SIGINT, signal.SIGUSR1) if hasattr(signal, "SIGUSR1") else (signal.SIGINT,):
        signal.signal(other, signal.SIG_IGN)
    if number == signal.SIGINT:
        _stopped_by.append(number)
    os.write(2, STOPPED.format("Ctrl-C" if number == signal.SIGINT else "SIGTERM").encode())
    _kill_workers()
    raise SystemExit(exit_code_of_stop())


def _kill_workers() -> None:
    for worker in multiprocessing.active_children():
        worker.kill()
