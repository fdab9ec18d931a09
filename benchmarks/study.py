"""A whole study: first run, second run, one trial or setting changed.

``python -m benchmarks.study SESSIONS TRIALS [SECONDS]`` generates it; trials last 2.5 s by default. The comparisons
are measured before and after the first run, so that other load affects all alike.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import per_trial
from benchmarks.figures import Figure, cores, run_alone
from benchmarks.generated import write_study
from benchmarks.timing import HOUSE, command_s
from benchmarks.trial import TO_KINETICS, seconds
from pipeline.workflow.open_study import SESSION_STEPS

TITLE = "A study"
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
MOST_TIMES_WORK, MOST_VERSIONS, MOST_OF_COLD, LEAST_TIMES_FASTER = 2.0, 3.0, 0.1, 8.0
FULL = 20  # sessions; with fewer, a single one is too large a part of the study for the goal


def measure(sessions: int = 3, trials: int = 10, duration_s: float = 2.5) -> list[Figure]:
    """Return the time of each run, and its ratio to other ways to run the trials."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        write_study(study, sessions=sessions, trials=trials, duration_s=duration_s)
        trial_s, alone_s = seconds(study, rounds=5)[TO_KINETICS], alone_run_s(study)
        cold_s = run_s(study)
        trial_s, alone_s = min(trial_s, seconds(study, rounds=5)[TO_KINETICS]), min(alone_s, alone_run_s(study))
        again_s = min(run_s(study) for _ in range(3))
        version_s = min(command_s([*SNAKEMAKE, "--version"]) for _ in range(3))
        shutil.copy(study / "sub-0001/walk_01.c3d", study / "sub-0001/walk_02.c3d")
        trial_changed_s = run_s(study)
        with (study / "study.yaml").open("a") as handle:
            handle.write("kinetics: {gravity_m_s2: 9.81}\n")
        setting_changed_s = run_s(study)
    in_memory_s = sessions * trials * trial_s / cores()
    jobs = per_trial.jobs(sessions, trials)
    whole, a_job = per_trial.measure(duration_s=duration_s)
    scaled_s = jobs * a_job.value
    return [
        Figure(f"{sessions} x {trials} trials of {duration_s:g} s, cold, s", cold_s),
        Figure(
            f"cold over {sessions * trials} times one trial's read to kinetics over {cores()} cores",
            cold_s / in_memory_s, at_most=MOST_TIMES_WORK, detail=f"that is {in_memory_s:.1f} s",
        ),
        Figure(
            f"cold over the sessions' jobs, files and all, in {cores()} processes without Snakemake",
            cold_s / alone_s, detail=f"that is {alone_s:.1f} s, without study and report",
        ),
        Figure(
            "nothing to do over snakemake --version", again_s / version_s, at_most=MOST_VERSIONS,
            detail=f"{again_s:.1f} s over {version_s:.1f} s",
        ),
        Figure(
            "one changed trial over cold", trial_changed_s / cold_s,
            at_most=MOST_OF_COLD if sessions >= FULL else None,
            detail=f"{trial_changed_s:.1f} s" + ("" if sessions >= FULL else f"; the goal is for {FULL} sessions"),
        ),
        Figure("one setting of kinetics over cold", setting_changed_s / cold_s, detail=f"{setting_changed_s:.1f} s"),
        whole,
        a_job,
        Figure(
            "the study with one job per trial and step over cold", scaled_s / cold_s, at_least=LEAST_TIMES_FASTER,
            detail=f"{scaled_s:.0f} s, estimated: {jobs} jobs of the seconds above; without study and report",
        ),
    ]  # fmt: skip


def run_s(study: Path) -> float:
    """Return the wall time of the workflow, s."""
    return command_s([*SNAKEMAKE, "--cores", str(cores()), "--directory", str(study)])


def alone_run_s(study: Path) -> float:
    """Return the wall time of all sessions' jobs, one process per core, s."""
    sessions = [path.name for path in sorted(study.glob("sub-*"))]
    copy = study.with_name("alone")
    shutil.copytree(study, copy, ignore=shutil.ignore_patterns("derived", "logs", ".snakemake"))
    start = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.jobs", str(copy), ",".join(SESSION_STEPS)]
    running = [
        subprocess.Popen([*command, *sessions[core :: cores()]], cwd=HOUSE, stdout=subprocess.DEVNULL)  # noqa: S603
        for core in range(cores())
    ]
    ended = [process.wait() for process in running]
    if any(ended):
        raise RuntimeError("the jobs failed, see above")
    seconds = time.perf_counter() - start
    shutil.rmtree(copy)
    return seconds


if __name__ == "__main__":
    run_alone(TITLE, lambda: measure(*map(int, sys.argv[1:3]), *map(float, sys.argv[3:4])))
