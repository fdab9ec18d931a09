"""Paths of the checkout and the real studies; copies of studies; runs of the workflow."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.processes.forks import run_forked

if TYPE_CHECKING:
    import pytest

HOUSE = Path(__file__).resolve().parents[2]
DEMO = HOUSE / "data" / "demo"
SHARED = HOUSE.parent / "shared"
FULL = bool(os.environ.get("FULL"))  # all seeds and doses, as `make faults` runs them, else a few of them
DRY_RUN = ("--dry-run", "--quiet", "host")
SHIPPED = ("pipeline", "gaitlab", "config", "profiles", "snakemake_logger_plugin_gaitlab", "Snakefile")


def copy_study(source: Path, target: Path) -> Path:
    """Copy a study without its outputs, so that it can be written to."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("derived", "logs", ".snakemake", "truth"))
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    return target


def copy_product(folder: Path, *left_out: str) -> Path:
    """Copy the product with its compiled code, so that no process compiles it again; without folders of some names."""
    ignored = shutil.ignore_patterns("*.pyc.*", *left_out)  # the first are compiled code that is being written
    for name in SHIPPED:
        path = HOUSE / name
        shutil.copytree(path, folder / name, ignore=ignored) if path.is_dir() else shutil.copy(path, folder)
    return folder


def keep_rows(study: Path, is_kept: Callable[[str], object], table: str = "trials.tsv") -> None:
    """Remove the other rows of a study's table."""
    header, *rows = (study / table).read_text(encoding="utf-8").splitlines(keepends=True)
    (study / table).write_text("".join([header, *filter(is_kept, rows)]), encoding="utf-8")


def filled_once(temporary: pytest.TempPathFactory, name: str, fill: Callable[[Path], object]) -> Path:
    """Return a folder that the first of the processes of a test run fills, for all of them to read."""
    base = temporary.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    lock, done = folder.with_suffix(".lock"), folder.with_suffix(".done")
    while not done.exists():
        try:
            lock.touch(exist_ok=False)
        except FileExistsError:  # another process is filling it
            time.sleep(0.1)
            continue
        try:
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
        finally:
            lock.unlink()
    return folder


def run_study(study: Path, *arguments: str, started: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the workflow on a study as a user does and return what it printed; ``started`` as a process of its own."""
    words = ("pipeline", "run", str(study), "--cores", "2", *arguments)
    return _started(words, HOUSE) if started or sys.platform != "linux" else run_forked(*words)


def snakemake(study: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the workflow on a study by Snakemake alone and return what it printed; in a folder, as its own process."""
    words = ("snakemake", "--cores", "2", "--directory", str(study), *arguments)
    return _started(words, cwd or HOUSE) if cwd or sys.platform != "linux" else run_forked(*words)


def _started(words: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    command, environment = [sys.executable, "-m", *words], {**os.environ, "PYTHONHASHSEED": "random"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)


@contextmanager
def ctrl_c_arrives() -> Iterator[None]:
    """Let processes that are started meanwhile heed Ctrl-C, also where this one ignores it.

    A shell makes a process in the background ignore it, and children inherit that.
    """
    if threading.current_thread() is not threading.main_thread():  # no other may set it
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run_two_people(folder: Path) -> None:
    """Run a study of two people with two walks each, below folder/data/demo, and keep what the run printed."""
    study = copy_study(DEMO, folder / "data" / "demo")
    shutil.copytree(DEMO / "truth", study / "truth")
    keep_rows(study, re.compile(r"\t(static|\w+_01)\t").search)
    (study / "numpy.py").write_text("raise SystemExit('no module of the study may be imported')")
    result = run_study(study, started=True)
    assert result.returncode == 0, result.stdout + result.stderr
    (folder / "stdout").write_text(result.stdout)
    (folder / "stderr").write_text(result.stderr)


def planned(study: Path, *arguments: str) -> set[str]:
    """Return the jobs that the workflow would run, as ``rule`` or ``rule:session``; ``all`` left out."""
    result = run_study(study, *DRY_RUN, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return jobs_in(result.stdout + result.stderr)


def jobs_in(plan: str) -> set[str]:
    """Return the jobs listed by a dry run."""
    jobs = set()
    for block in re.split(r"\n(?=(?:local)?rule )", plan):
        if name := re.match(r"(?:local)?rule (\w+):", block):
            session = re.search(r"wildcards: (?:session|participant)=(\S+)", block)
            jobs.add(name[1] + (f":{session[1]}" if session else ""))
    return jobs - {"all"}
