"""A whole study: run cold, run again, one trial changed, one setting changed; against its jobs without Snakemake.

``python -m benchmarks.study SESSIONS TRIALS`` generates it, of trials of 2.5 s. The jobs without Snakemake are run by
two processes at once, half the sessions each, before and after the cold run, so that what else the machine does
falls on all alike: the ratios hold.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.generated import write_study
from pipeline.workflow import SESSION_STEPS

HOUSE = Path(__file__).resolve().parent.parent
CORES = 2


def measure(sessions: int = 2, trials: int = 3) -> dict[str, float]:
    """Return the seconds of each run, and each over the work of the same trials without Snakemake."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        write_study(study, sessions=sessions, trials=trials)
        work_s = bare_work_s(study)
        seconds = {"cold": run_s(study)}
        work_s = (work_s + bare_work_s(study)) / 2
        seconds["nothing to do"] = run_s(study)
        shutil.copy(study / "sub-0001/walk_01.c3d", study / "sub-0001/walk_02.c3d")
        seconds["one changed trial"] = run_s(study)
        with (study / "study.yaml").open("a") as handle:
            handle.write("kinetics: {gravity_m_s2: 9.81}\n")
        seconds["one changed setting of kinetics"] = run_s(study)
    what = f"study of {sessions} x {trials}"
    return (
        {f"{what}, {name}, s": value for name, value in seconds.items()}
        | {f"{what}, its sessions' jobs without Snakemake, {CORES} processes, s": work_s}
        | {f"{what}, {name}, over that": value / work_s for name, value in seconds.items()}
    )


def run_s(study: Path) -> float:
    """Return the wall time of the workflow, s."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "snakemake", "--cores", str(CORES), "--directory", str(study)]
    subprocess.run(command, cwd=HOUSE, check=True, capture_output=True)  # noqa: S603
    return time.perf_counter() - start


def bare_work_s(study: Path) -> float:
    """Return the wall time of every session's jobs on a copy of the study, a process per core, s."""
    sessions = [path.name for path in sorted(study.glob("sub-*"))]
    copy = study.with_name("bare")
    shutil.copytree(study, copy, ignore=shutil.ignore_patterns("derived", "logs", ".snakemake"))
    start = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.jobs", str(copy), ",".join(SESSION_STEPS)]
    running = [
        subprocess.Popen([*command, *sessions[core::CORES]], cwd=HOUSE, stdout=subprocess.DEVNULL)  # noqa: S603
        for core in range(CORES)
    ]
    ended = [process.wait() for process in running]
    if any(ended):
        raise RuntimeError("the jobs failed, see above")
    seconds = time.perf_counter() - start
    shutil.rmtree(copy)
    return seconds


if __name__ == "__main__":
    from benchmarks.__main__ import keep

    keep(measure(*map(int, sys.argv[1:])))
