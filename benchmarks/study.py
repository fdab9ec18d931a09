"""A whole study, compared with the same work done in other ways."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import jobs, per_trial
from benchmarks.figures import Figure
from benchmarks.generated import write_study
from benchmarks.timing import cost_of, cost_of_run
from benchmarks.trial import TO_KINETICS, first_walk, seconds
from pipeline.step import steps_to

TITLE = "A study"
MOST_TIMES_WORK, LEAST_TIMES_FASTER = 2.0, 8.0


def measure(
    sessions: int = 3, trials: int = 10, duration_s: float = 2.5, *, rounds: int = 5,
    per_trial_size: tuple[int, int] = (2, 3), per_trial_options: Sequence[str] = (), files: Sequence[str] = (),
) -> list[Figure]:  # fmt: skip
    """Return the processor time of a first run (of some files), and its ratio to other ways to run the trials."""
    with tempfile.TemporaryDirectory() as folder:
        study, copy = Path(folder) / "study", Path(folder) / "copy"
        write_study(study, sessions=sessions, trials=trials, duration_s=duration_s)
        shutil.copytree(study, copy)
        names = [path.name for path in sorted(study.glob("sub-*"))]
        trial_s = seconds(first_walk(copy), rounds=rounds)[TO_KINETICS]
        steps = ",".join(steps_to("cycles"))
        alone_s = cost_of([sys.executable, "-P", jobs.__file__, str(copy), "1", steps, *names]).cpu_s
        cold_s = cost_of_run(study, *files).cpu_s
    in_memory_s = sessions * trials * trial_s
    whole, a_job = per_trial.measure(*per_trial_size, duration_s, *per_trial_options)
    number = per_trial.jobs(sessions, trials)
    return [
        Figure(f"{sessions} x {trials} trials of {duration_s:g} s, cold, s", cold_s),
        Figure(
            f"cold over {sessions * trials} times one trial's read to kinetics",
            cold_s / in_memory_s, at_most=MOST_TIMES_WORK, detail=f"that is {in_memory_s:.1f} s",
        ),
        Figure(
            "cold over the sessions' jobs, files and all, in one process without Snakemake",
            cold_s / alone_s, detail=f"that is {alone_s:.1f} s, without study and report",
        ),
        whole,
        a_job,
        Figure(
            "the study with one job per trial and step over cold",
            number * a_job.value / cold_s, at_least=LEAST_TIMES_FASTER,
            detail=f"{number * a_job.value:.0f} s, estimated: {number} jobs as above; without study and report",
        ),
    ]  # fmt: skip
