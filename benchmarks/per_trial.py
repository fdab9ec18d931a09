"""A study with one Snakemake job per trial and step (per_trial.smk).

``python -m benchmarks.per_trial SESSIONS TRIALS`` runs it; 20 x 20 are 2,440 jobs and take an hour or more.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Figure, cores, run_alone
from benchmarks.generated import write_study
from benchmarks.timing import command_s

TITLE = "One job per trial and step"
PER_WALK, PER_SESSION = 6, 2  # jobs: read to cycles; read of the static trial, calibrate
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--snakefile", "benchmarks/per_trial.smk"]
SNAKEMAKE += ["--workflow-profile", "none", "--scheduler", "greedy"]  # the profile is for the Snakefile


def measure(sessions: int = 2, trials: int = 3, duration_s: float = 2.5) -> list[Figure]:
    """Return the wall time of a study, and the time per job without planning."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        write_study(study, sessions=sessions, trials=trials, duration_s=duration_s)
        plan_s, whole_s = run_s(study, "--dry-run"), run_s(study)
    name = f"{sessions} x {trials} trials of {duration_s:g} s, one job per trial and step, s"
    number = jobs(sessions, trials)
    a_job_s = (whole_s - plan_s) / number
    return [Figure(name, whole_s), Figure(f"{name} for each of {number} jobs, {cores()} at a time", a_job_s)]


def jobs(sessions: int, trials: int) -> int:
    """Return the number of jobs up to the cycles."""
    return sessions * (PER_SESSION + PER_WALK * trials)


def run_s(study: Path, *options: str) -> float:
    """Return the wall time of the workflow, s."""
    return command_s([*SNAKEMAKE, "--cores", str(cores()), "--directory", str(study), *options])


if __name__ == "__main__":
    sizes = [int(number) for number in sys.argv[1:3]]
    run_alone(TITLE, lambda: measure(*sizes))
