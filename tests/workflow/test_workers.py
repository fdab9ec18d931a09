"""Worker processes: they run jobs one after the other, and end with Snakemake, however that ends."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.step import every_step
from pipeline.workflow.jobs import workers
from pipeline.workflow.jobs.workers import ENVIRONMENT, STOPPED
from tests.campaigns.interruptions import (
    LONGEST_LIFE_S,
    SCHEDULER,
    Run,
    descendants,
    kill,
    leftovers,
    outputs,
    processor_s,
    started,
    survivors,
    workers_of,
    write_tiny_study,
)
from tests.support.checkout import HOUSE, copy_study, keep_rows, run_study

LONGEST_WAIT_S = 60.0  # for what takes a second or two, on a busy machine
NOT_KILLED_BY_THE_KERNEL = """
import fcntl, multiprocessing, os
sentinel = multiprocessing.parent_process().sentinel
fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) & ~os.O_ASYNC)
"""
HOLDS_THE_LOCK = "import itertools; sum(itertools.repeat(0))"  # the interpreter's, in one endless call of C code
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def begun(study: Path, *, cores: int = 1, job: str = "sub-01/calibrate") -> Run:
    """Start a run and return it while it works on a job."""
    run = started("pipeline", "run", str(study), "--cores", str(cores))
    wait_for(lambda: (study / f"logs/{job}.log").exists() and bool(workers_of(run)))
    return run


def wait_for(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + LONGEST_WAIT_S
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def said_by(run: Run) -> str:
    """Return what a run printed, once it has ended."""
    said, _ = run.communicate(timeout=LONGEST_WAIT_S)
    return str(said)


def test_a_killed_worker_costs_its_job_and_what_depends_on_it(finished: Path, tmp_path: Path) -> None:
    failed: list[tuple[str, str]] = []
    for attempt in range(8):  # a worker may be between two jobs when it is killed
        study = copy_study(finished, tmp_path / f"study_{attempt}")
        run = begun(study, cores=2, job="sub-01/kinematics")
        os.kill(workers_of(run)[0], signal.SIGKILL)
        said = said_by(run)
        failed = re.findall(r"^(\S+) (\w+) failed: the process of this job was killed", said, re.MULTILINE)
        if failed and failed[0][1] not in ("study", "report"):
            break
    assert run.returncode == 1
    ((session, step),) = failed
    other = {"sub-01": "sub-02", "sub-02": "sub-01"}[session]
    assert (study / f"derived/{other}/cycles.nc").exists()
    assert not (study / f"derived/{session}/{step}.nc").exists()
    assert not (study / "derived/study.nc").exists()
    assert "Some steps failed" in said.splitlines()[-1]
    assert "Traceback" not in said
    result = run_study(study)
    assert result.returncode == 0, result.stdout + result.stderr
    assert outputs(study) == outputs(finished)


def test_a_worker_that_was_killed_without_a_job_is_replaced(tmp_path: Path) -> None:
    code = """
import os, pathlib, signal, sys, time
from pipeline.workflow.jobs import workers
def worker():
    one = workers._idle_worker()
    workers._idle.put(one)
    return one.submit(os.getpid).result()
first = worker()
assert worker() == first
os.kill(first, signal.SIGKILL)
second = worker()
assert second not in (first, os.getpid())
for name, value in workers.ENVIRONMENT.items():
    assert os.environ[name] == value
"""
    subprocess.run([sys.executable, "-c", code], cwd=HOUSE, check=True, timeout=LONGEST_WAIT_S)
    assert ENVIRONMENT["OMP_NUM_THREADS"] == "1"


def test_no_process_outlives_snakemake_when_it_is_killed(tmp_path: Path) -> None:
    study = write_tiny_study(tmp_path / "study")
    run = begun(study)
    below = [number for number, *_ in descendants(run.pid)]
    assert len(below) >= 3  # the server, a worker, Python's tracker of semaphores
    run.kill()
    assert not survivors(below)
    assert "Traceback" not in said_by(run)


@pytest.mark.parametrize(
    ("method", "before", "outlive"),
    [("forkserver", "", 0), ("spawn", "", 0), ("forkserver", NOT_KILLED_BY_THE_KERNEL, 1)],
)
def test_a_worker_ends_with_snakemake_also_in_code_that_holds_the_lock(method: str, before: str, outlive: int) -> None:
    """As OpenSim's does. The campaign's judgement finds a worker that goes on."""
    code = f"""
from pipeline.workflow.jobs import workers
workers.modules_for = lambda _: []
worker = workers._start()
print(worker.submit(workers.os.getpid).result(), flush=True)
worker.submit(exec, {before + HOLDS_THE_LOCK!r}).result()
"""
    command, environment = [sys.executable, "-c", code, SCHEDULER], {**os.environ, "GAITLAB_START_METHOD": method}
    with subprocess.Popen(command, cwd=HOUSE, env=environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        worker = int(run.stdout.readline())
        idle_s, give_up = processor_s(worker) or 0.0, time.monotonic() + LONGEST_WAIT_S
        while (processor_s(worker) or 0.0) < idle_s + 0.2 and time.monotonic() < give_up:
            time.sleep(0.01)
        assert kill(run, "Snakemake")["outlived Snakemake"] == outlive


def test_a_process_goes_on_only_if_it_could_have_ended() -> None:
    """One that the machine does not let run cannot end; one that sleeps could have."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        busy.send_signal(signal.SIGSTOP)
        threading.Timer(1.5 * LONGEST_LIFE_S, busy.kill).start()
        assert survivors([busy.pid]) == []
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]) as asleep:
        assert survivors([asleep.pid], longest_sleep_s=0.1) == [asleep.pid]
        asleep.kill()


@pytest.mark.parametrize(
    ("number", "name", "whole_group"),
    [(signal.SIGINT, "Ctrl-C", True), (signal.SIGTERM, "SIGTERM", True), (signal.SIGTERM, "SIGTERM", False)],
)
def test_a_signal_ends_a_run_with_one_line(tmp_path: Path, number: int, name: str, whole_group: bool) -> None:
    """A terminal interrupts all processes of a group; a program that runs Snakemake may interrupt that alone."""
    study = write_tiny_study(tmp_path / "study")
    run = begun(study)
    below = [number for number, *_ in descendants(run.pid)]
    (os.killpg if whole_group else os.kill)(run.pid, number)
    lines = said_by(run).splitlines()
    assert run.returncode == 128 + number
    assert lines[-1] == STOPPED.format(name).strip()
    assert not [line for line in lines if "Traceback" in line or "failed" in line]
    assert not survivors(below)
    assert not [*(study / ".snakemake/locks").glob("*")]
    if whole_group:
        assert run_study(study, "derived/sub-01/calibrate.nc").returncode == 0
        assert not leftovers(study)


def test_the_report_is_one_output_for_snakemake_and_no_file_is_hashed(finished: Path) -> None:
    """Snakemake would hash all inputs again for each output, and remove the earlier pages first."""
    records = [json.loads(path.read_bytes()) for path in (finished / ".snakemake/metadata").iterdir()]
    assert len([record for record in records if record["rule"] == "report"]) == 1
    assert not [record for record in records if record["input_checksums"]]
    pages = {path.name for path in (finished / "derived/report").glob("*.html")}
    assert pages == {"sub-01.html", "sub-02.html"}


def test_pages_of_participants_who_have_left_are_removed(study: Path) -> None:
    keep_rows(study, lambda row: "sub-02" not in row)
    result = run_study(study)
    assert result.returncode == 0, result.stdout + result.stderr
    assert [path.name for path in (study / "derived/report").glob("*.html")] == ["sub-01.html"]
    assert [path.name for path in (study / "derived/checksums/report").glob("*.html.sha256")] == ["sub-01.html.sha256"]


@pytest.mark.parametrize(("options", "limit"), [([], "None"), (["--max-jobs-per-timespan", "5/1m"], "5")])
def test_jobs_are_not_limited_by_the_second_unless_the_user_does_so(demo: Path, options: list[str], limit: str) -> None:
    code = f"""import sys
from pipeline.workflow.run_snakemake import main
from snakemake.cli import get_argument_parser
from snakemake.scheduling.job_scheduler import JobScheduler
def schedule(self):
    limit = self.workflow.scheduling_settings.max_jobs_per_timespan
    print("limit:", limit and limit.max_jobs)
JobScheduler.schedule = schedule
sys.argv[1:] = [{str(demo)!r}, "--cores", "1", *{options!r}]
main()"""
    run = subprocess.run([sys.executable, "-c", code], check=False, cwd=HOUSE, capture_output=True, text=True)
    assert f"limit: {limit}\n" in run.stdout, run.stderr


def test_no_cores_are_refused_at_once(demo: Path) -> None:
    result = run_study(demo, "--cores", "0")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("--cores 0: no job could run")


def test_a_group_of_jobs_on_a_cluster_starts_no_second_snakemake(tmp_path: Path) -> None:
    """Without --force-use-threads Snakemake starts itself again for each ``run:``; a group does not get that option."""
    study, jobs = write_tiny_study(tmp_path / "study"), ("read", "calibrate")
    targets = [f"{job}:session=sub-01" for job in jobs]
    code = f"""import subprocess
from snakemake.cli import main
def check_call(command, **_):
    raise SystemExit("a second Snakemake: " + command)
subprocess.check_call = check_call
main(["--cores", "1", "--directory", {str(study)!r}, "--mode", "remote", "--nolock", "--force",
      "--target-files-omit-workdir-adjustment", "--target-jobs", *{targets!r}, "--allowed-rules", *{jobs!r}])"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, timeout=LONGEST_WAIT_S, check=False
    )
    assert run.returncode == 0, run.stderr
    assert outputs(study).keys() == {
        f"derived/{folder}sub-01/{job}.nc{suffix}"
        for job in jobs
        for folder, suffix in (("", ""), ("checksums/", ".sha256"))
    }


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_worker_ends_after_a_step_whose_library_keeps_memory(monkeypatch: pytest.MonkeyPatch, goes_on: bool) -> None:
    class Worker:
        ended = False

        def submit(self, *_: object) -> Future[str]:
            done: Future[str] = Future()
            done.set_result("")
            return done

        def shutdown(self, **_: object) -> None:
            self.ended = True

    worker, idle = Worker(), queue.LifoQueue[Worker]()
    monkeypatch.setattr(workers, "_idle_worker", lambda: worker)
    monkeypatch.setattr(workers, "_idle", idle)
    monkeypatch.setattr(
        workers, "every_step", lambda: {"cycles": replace(every_step()["cycles"], ends_its_worker=not goes_on)}
    )
    key = json.dumps({"step": "cycles"})
    workers._in_worker(workers.Job(key, {}, {"cycles": [Path("a.nc")]}, Path("a.log")))
    assert worker.ended is not goes_on
    assert idle.qsize() == goes_on
