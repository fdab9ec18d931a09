"""Interrupt runs of the workflow at random moments, or fill their disk, and count what is left behind.

``make test-faults`` runs it in full; ``python -m tests.campaigns interruptions --short`` a part of it. The whole run,
only Snakemake or only a worker is killed, or Ctrl-C stops the run. ``gaitlab recover`` continues it and is interrupted
again, so every interruption finds the study in another state and takes less time than a whole run. Some interruptions
fall into the step ``muscles``. Several studies are interrupted at the same time.

Neither moments nor exit code depend on the load of the machine: both count processor time (:func:`killed_at_random`,
:func:`survivors`).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from pipeline.step import every_step
from tests.campaigns.runner import Report
from tests.support.checkout import HOUSE, SHARED, ctrl_c_arrives

Run = subprocess.Popen[str]
SHORT = {"kills": 20, "muscles": 2, "full": 20}
SIGNALS = {"Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM}  # which end a run with one line
KILLED = ("everything", "Snakemake", "a worker", *SIGNALS)
SCHEDULER = "pipeline.workflow.run_snakemake"  # in the command line of the process that runs Snakemake
FORK_SERVER = "multiprocessing.forkserver"  # in the command line of the server that forks workers, and of the workers
EARLY = 0.1  # share of kills at any moment from the start, the others after the first worker
LATEST_S, LATEST_WITH_MUSCLES_S = 3.0, 30.0  # processor time of a run until it is killed
LONGEST_LIFE_S = 2.0  # of any process after Snakemake's end, processor time; none used .5 s at load 40
LONGEST_SLEEP_S = 120.0  # of one that uses none, on a machine that is as busy as may be
MODEL = SHARED / "data" / "muscles_gait2392" / "gait2392_thelen2003muscle.osim"
OPENSIM_FILES = "derived/sub-01/.muscles"  # while OpenSim works; the next run of the step empties it
SUMMARY = "derived/run.json"
FAULTS = ("partial at a final name", "outlived Snakemake", "a signal printed more than a line")
TABLES: dict[
    str, Callable[[list[str]], bool]
] = {  # rows kept of the demonstration study: one person, one static trial, one walk
    "participants.tsv": lambda cells: cells[0] == "sub-01",
    "segments.tsv": lambda cells: cells[0] == "sub-01",
    "trials.tsv": lambda cells: cells[0] == "sub-01" and cells[1] in ("static", "comfortable_01"),
}


def write_tiny_study(folder: Path, *, muscles: bool = False) -> Path:
    """Write a small study, with the step ``muscles`` or without it, and return its folder."""
    demo = HOUSE / "data" / "demo"
    folder.mkdir(parents=True)
    shutil.copy(demo / "study.yaml", folder)
    for name, kept in TABLES.items():
        header, *rows = (demo / name).read_text(encoding="utf-8").splitlines()
        rows = [row for row in rows if kept(row.split("\t"))]
        (folder / name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    (folder / "sub-01").mkdir()
    for trial in ("static", "comfortable_01"):
        shutil.copy(demo / "sub-01" / f"{trial}.c3d", folder / "sub-01")
    if muscles:
        shutil.copy(MODEL, folder)
        with (folder / "study.yaml").open("a", encoding="utf-8") as settings:
            settings.write(f"muscles: {{opensim: true, model: {MODEL.name}}}\n")
    return folder


def outputs(study: Path) -> dict[str, str]:
    """Return the SHA-256 of every file with a final name in derived/; temporary files and folders start with a dot."""
    every = ((path, path.relative_to(study).parts) for path in (study / "derived").rglob("*") if path.is_file())
    files = (path for path, parts in every if not any(part.startswith(".") for part in parts))
    return {str(path.relative_to(study)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def leftovers(study: Path) -> list[str]:
    """Return the temporary files that a finished run has left."""
    return [path.name for path in (study / "derived").rglob(".*")]


def started(*arguments: str) -> Run:
    """Start a command of the pipeline in a new process group."""
    command = [sys.executable, "-m", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}  # what a run prints fits into a pipe
    with ctrl_c_arrives():
        return subprocess.Popen(command, cwd=HOUSE, start_new_session=True, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def recovery(study: Path, *options: str) -> Run:
    """Start the command that continues an interrupted run."""
    return started("pipeline", "recover", str(study), "--cores", "1", *options)


def descendants(of: int, above: str = "") -> list[tuple[int, str, str]]:
    """Return number, command line and parent's command line of all descendants, parents first."""
    found = []
    try:
        children = [
            int(n) for task in Path(f"/proc/{of}/task").iterdir() for n in (task / "children").read_text().split()
        ]
        for child in children:
            command = Path(f"/proc/{child}/cmdline").read_text()
            found += [(child, command, above), *descendants(child, command)]
    except OSError:  # the process has just ended
        pass
    return found


def workers_of(run: Run) -> list[int]:
    """Return the worker processes of a run."""
    return [
        number for number, command, above in descendants(run.pid) if FORK_SERVER in command and FORK_SERVER in above
    ]


def processor_s(process: int) -> float | None:
    """Return the processor time that a process has used, s; None if it has ended, also as a zombie."""
    try:
        state, *fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    user, system = map(int, fields[10:12])
    return None if state in "ZX" else (user + system) / os.sysconf("SC_CLK_TCK")


def survivors(processes: list[int], *, longest_sleep_s: float = LONGEST_SLEEP_S) -> list[int]:
    """Return the processes that go on from now, once that is sure of one; none when all have ended.

    A process cannot end before the machine lets it run, which takes seconds on a busy one. So its own processor time
    counts: one that has used LONGEST_LIFE_S more has had its chance. One that sleeps uses none, and may only wait for
    another to end; it goes on if it is still there after ``longest_sleep_s``. In that time, with a hundred busy
    processes beside it on each core, a process may run for a second, and needs a tenth of that.
    """
    before = {process: used_s for process in processes if (used_s := processor_s(process)) is not None}
    give_up = time.monotonic() + longest_sleep_s
    while alive := {process: used_s for process in before if (used_s := processor_s(process)) is not None}:
        if busy := [process for process, used_s in alive.items() if used_s > before[process] + LONGEST_LIFE_S]:
            return busy
        if time.monotonic() > give_up:
            break
        time.sleep(0.02)
    return [*alive]


def kill(run: Run, whom: str) -> Counter[str]:
    """Kill a run, or Snakemake or a worker alone where there is one, or stop it by a signal; count what follows."""
    below = descendants(run.pid)
    command = Path(f"/proc/{run.pid}/cmdline").read_text()  # recover becomes Snakemake once the study is unlocked
    schedulers = [number for number, command, _ in [(run.pid, command, ""), *below] if SCHEDULER in command]
    chosen = {"Snakemake": schedulers[:1], "a worker": workers_of(run)[:1]}.get(whom, [])
    if whom in SIGNALS and workers_of(run):
        os.killpg(run.pid, SIGNALS[whom])
    else:
        whom = whom if chosen else "everything"
        for number in chosen or [*(number for number, *_ in below), run.pid]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
    run.wait()
    left = survivors([number for number, *_ in below])
    for number, *_ in below if left else ():  # they are counted; the next run needs a study that is left alone
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    if whom in SIGNALS and run.returncode == 0:  # it had just ended
        return Counter()
    said = run.stdout.read() if run.stdout else ""
    more = whom in SIGNALS and ("Traceback" in said or not said.splitlines()[-1].startswith(f"Stopped by {whom}"))
    return Counter(
        {f"killed: {whom}": 1, "outlived Snakemake": len(left), "a signal printed more than a line": int(more)}
    )


def used_by(run: Run) -> float:
    """Return the processor time that the living processes of a run have used, s."""
    return sum(processor_s(process) or 0.0 for process in (run.pid, *(number for number, *_ in descendants(run.pid))))


def killed_at_random(run: Run, rng: np.random.Generator, *, latest_s: float) -> Counter[str]:
    """Kill a run, mostly once it has workers; count what follows, nothing if it ended before.

    The moment is one of the run's own processor time. On a busy machine a run gets nowhere in a few seconds: killed and
    continued again and again, it would never leave its first steps.
    """
    whom, early, share = str(rng.choice(KILLED)), rng.random() < EARLY, rng.random()
    while not early and run.poll() is None and not workers_of(run):
        time.sleep(0.02)
    until_s = used_by(run) + share * latest_s
    while run.poll() is None and used_by(run) < until_s:
        time.sleep(0.02)
    return kill(run, whom) if run.poll() is None else Counter()


def partial_files(study: Path, expected: dict[str, str]) -> list[str]:
    """Return the outputs with a final name and other bytes than expected, but the summary of a run that failed."""
    return [name for name, digest in outputs(study).items() if expected.get(name) != digest and name != SUMMARY]


def killed_again_and_again(
    folder: Path, expected: dict[str, str], kills: int, *, seed: int, muscles: bool = False
) -> Counter[str]:
    """Kill runs of the small study at random moments and return the counts."""
    rng, count = np.random.default_rng(seed), Counter[str]()
    study, latest_s = None, LATEST_WITH_MUSCLES_S if muscles else LATEST_S
    while sum(count[f"killed: {whom}"] for whom in KILLED) < kills:
        study = study or write_tiny_study(folder / f"killed-{count['studies']}", muscles=muscles)
        run = recovery(study)
        if followed := killed_at_random(run, rng, latest_s=latest_s):
            count += followed
            count["in OpenSim"] += (study / OPENSIM_FILES).exists()
            count["partial at a final name"] += len(partial_files(study, expected))
        else:
            count["studies"] += 1
            count["finished"] += judged(study, expected, run.wait())
            study = None
    if study:
        count["studies"] += 1
        count["finished"] += judged(study, expected, recovery(study).wait())
    return count


def killed_in_opensim(folder: Path, expected: dict[str, str], kills: int, *, seed: int) -> Counter[str]:
    """Kill runs of the small study with the step ``muscles``, mostly in that step, and return the counts."""
    return killed_again_and_again(folder, expected, kills, seed=seed, muscles=True)


def disk_full_again_and_again(folder: Path, expected: dict[str, str], points: int, *, seed: int) -> Counter[str]:
    """Run the small study on a full disk that grows bit by bit, and return the counts."""
    rng, count = np.random.default_rng(seed), Counter[str]()
    step_kb = 6000 // points + 1  # the whole study takes 6 MB
    with small_disk(folder / "disk", 600) as disk:
        while count["disk full"] < points:
            study, size_kb, code = write_tiny_study(disk / "study"), 450, 1
            while code and count["disk full"] < points:
                size_kb += int(rng.integers(4, 2 * step_kb + 5))
                resized(disk, size_kb)
                code = recovery(study).wait()
                count["partial at a final name"] += len(partial_files(study, expected))
                count["disk full"] += code != 0
            resized(disk, 40000)
            count["studies"] += 1
            count["finished"] += judged(study, expected, code and recovery(study).wait())
    return count


def finished(study: Path, *, muscles: bool) -> dict[str, str]:
    """Return the outputs of an uninterrupted run."""
    if not study.exists():
        write_tiny_study(study, muscles=muscles)
        if code := started("pipeline", "run", str(study), "--cores", "1").wait():
            raise RuntimeError(f"the undisturbed run ended with {code}")
    return outputs(study)


def judged(study: Path, expected: dict[str, str], code: int) -> bool:
    """Return true for exit code 0, the bytes of the uninterrupted run, and no temporary file."""
    good = code == 0 and outputs(study) == expected and not leftovers(study)
    if good:
        shutil.rmtree(study)
    else:
        sys.stderr.write(f"{study}: exit code {code}, differs: {partial_files(study, expected)}, {leftovers(study)}\n")
    return good


@contextmanager
def small_disk(place: Path, size_kb: int) -> Iterator[Path]:
    """Mount a disk of a few kB; without the permission, run the script under ``unshare -rm``."""
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "none", str(place)], check=False)
    if mounted.returncode:
        raise RuntimeError("mounting is not permitted here; try: unshare -rm python -m tests.campaigns interruptions")
    try:
        yield place
    finally:
        give_up = time.monotonic() + LONGEST_SLEEP_S  # helper processes of Python end shortly after a run
        while subprocess.run(
            ["umount", str(place)], check=time.monotonic() > give_up, stderr=subprocess.PIPE
        ).returncode:
            time.sleep(0.05)


def resized(disk: Path, size_kb: int) -> None:
    """Make a small disk larger."""
    subprocess.run(["mount", "-o", f"remount,size={size_kb}k", str(disk)], check=True)


def at_once(
    campaign: Callable[..., Counter[str]], folder: Path, points: int, *, seed: int, workers: int
) -> Counter[str]:
    """Run a campaign's points on several studies at once, and return the total counts."""
    muscles = campaign is killed_in_opensim
    reference = folder / ("reference-with-muscles" if muscles else "reference")
    expected, shares = finished(reference, muscles=muscles), np.bincount(np.arange(points) % workers)

    def share(worker: int) -> Counter[str]:
        place = folder / f"{campaign.__name__}-{worker}"
        place.mkdir()
        return campaign(place, expected, int(shares[worker]), seed=1000 * seed + worker)

    with ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(share, range(len(shares))), Counter[str]())


def why_no_muscles() -> str:
    """Return why the step ``muscles`` cannot run here, or nothing."""
    if "muscles" not in every_step():
        return "there is no such step"
    if importlib.util.find_spec("opensim") is None:
        return "OpenSim is not installed"
    return "" if MODEL.exists() else f"{MODEL}: no such file"


def main(
    report: Report,
    *,
    kills: int = 200,
    muscles: int = 20,
    full: int = 100,
    seed: int = 0,
    jobs: int = os.cpu_count() or 1,
) -> None:
    """Report what interruptions leave behind.

    Args:
        muscles: kills of runs with the step muscles.
        jobs: studies at once.
    """
    if muscles and (reason := why_no_muscles()):
        report.text(f"{killed_in_opensim.__name__}: left out, {reason}")
        muscles = 0
    campaigns = {killed_again_and_again: kills, killed_in_opensim: muscles, disk_full_again_and_again: full}
    for campaign, points in campaigns.items():
        if not points:
            continue
        start = time.monotonic()
        with ctrl_c_arrives():
            count = at_once(campaign, report.folder, points, seed=seed, workers=jobs)
        name = campaign.__name__
        report.text(f"{name}, {time.monotonic() - start:.0f} s: {dict(count)}")
        report.allow(0, sum(count[fault] for fault in FAULTS), points, f"{name}: {', '.join(FAULTS)}")
        report.allow(0, count["studies"] - count["finished"], count["studies"], f"{name}: studies that do not recover")
