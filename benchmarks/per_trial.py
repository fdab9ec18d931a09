"""A study with one Snakemake job per trial and step (per_trial.smk), as in common workflows."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.generated import write_study
from benchmarks.timing import cost_of

PER_WALK, PER_SESSION = 6, 2  # jobs: read to cycles; read of the static trial, calibrate
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--snakefile", "benchmarks/per_trial.smk", "--cores", "2"]
SNAKEMAKE += ["--workflow-profile", "none", "--scheduler", "greedy", "--directory"]  # the profile is for the Snakefile


def measure(sessions: int, trials: int, duration_s: float, *options: str) -> list[Figure]:
    """Return the processor time of a study, and that per job without planning, s; ``options`` of Snakemake."""
    with tempfile.TemporaryDirectory() as folder:
        write_study(Path(folder), sessions=sessions, trials=trials, duration_s=duration_s)
        plan_s, whole_s = (cost_of([*SNAKEMAKE, folder, *options, *more]).cpu_s for more in (["--dry-run"], []))
    name, number = f"{sessions} x {trials} trials, one job per trial and step, s", jobs(sessions, trials)
    return [Figure(name, whole_s), Figure(f"{name} for each of {number} jobs", (whole_s - plan_s) / number)]


def jobs(sessions: int, trials: int) -> int:
    """Return the number of jobs up to the cycles."""
    return sessions * (PER_SESSION + PER_WALK * trials)
