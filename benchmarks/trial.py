"""One walk from C3D to joint moments in this process, compared with ezc3d's parse; then a session.

The jobs are those of the workflow, but their files stay in memory. The first round, which starts the child process that
parses for ``read``, does not count.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ezc3d
import xarray as xr

from benchmarks.figures import Figure, not_measured
from benchmarks.generated import write_study
from benchmarks.jobs import job
from benchmarks.timing import best_in_turn_s
from pipeline.results import netcdf
from pipeline.step import steps_to
from pipeline.trials.session import join_trials, separate
from pipeline.workflow.jobs import run_job
from pipeline.workflow.open_study import open_study
from tests.support.checkout import DEMO, SHARED, copy_study

TITLE = "One trial, C3D to kinetics in one process"
PUBLIC = SHARED / "studies"  # recordings that are not part of the project; may be absent
GENERATED: dict[str, dict[str, Any]] = {
    "generated, 2.5 s": {"duration_s": 2.5},
    "generated, 10 s": {"duration_s": 10.0},
    "generated, 60 s": {"duration_s": 60.0},
    "generated, 10 s, 40 markers at 200 Hz, 2 plates": {
        "duration_s": 10.0, "marker_hz": 200, "markers": 40, "plates": 2,
    },
}  # fmt: skip
ROUNDS = 9
PARSE, TO_KINETICS, TO_CYCLES = "parse", "read to kinetics", "read to cycles"
MOST_PARSES = 2.0
SESSIONS = {"generated, 2.5 s": 3.0, "generated, 10 s, 40 markers at 200 Hz, 2 plates": 2.0}  # goals


class Session:
    """The first session of a study: its jobs, run in this process with files that stay in memory."""

    def __init__(self, study: Path) -> None:
        opened = open_study(study)
        name = next(iter(opened.sessions))
        self.study, self.steps = study, [*steps_to("cycles")]
        self.files: dict[Path, xr.Dataset] = {}
        self.jobs = {step: job(opened, step, name) for step in steps_to("cycles")}
        self.keys = {step: json.loads(key) for step, (key, _, _) in self.jobs.items()}

    def run(self, step: str) -> xr.Dataset:
        """Run a step on the results of those before, and return its result."""
        _, inputs, outputs = self.jobs[step]
        load, save = (lambda file, *_: self.files[file]), self.files.__setitem__
        with chdir(self.study), patch.object(netcdf, "load", load), patch.object(netcdf, "save", save):
            run_job.compute(self.keys[step], inputs, outputs)
        return self.files[outputs[step][0]]

    def put(self, step: str, trial: xr.Dataset) -> None:
        """Replace the result of a step by that of one trial over ``time``."""
        (name,) = (row["trial"] for row in self.keys["read"]["trials"])
        self.files[self.jobs[step][2][step][0]] = join_trials({name: trial})

    def parse(self) -> None:
        """Parse the recordings of the session by ezc3d alone."""
        for row in self.keys["read"]["trials"]:
            ezc3d.c3d(str(self.study / row["file"]))


def first_walk(study: Path) -> Session:
    """Return a study's first session, calibrated by all its trials; further steps see its first walk alone."""
    session = Session(study)
    for step in ("read", "calibrate"):
        session.run(step)
    trials = session.keys["read"]["trials"]
    session.keys["read"]["trials"] = [next(row for row in trials if row["role"] == "gait")]
    session.steps.remove("calibrate")
    return session


def only_trial(session: xr.Dataset) -> xr.Dataset:
    """Return the only trial of a session, over ``time``."""
    (trial,) = separate(session).values()
    return trial


def measure(
    *, rounds: int = ROUNDS, longest_s: float = float("inf"), trials: int = 20, public: int | None = None
) -> list[Figure]:
    """Return the time of each trial, and of sessions, as a multiple of the parse of their files.

    Args:
        longest_s: of generated trials.
        trials: of generated sessions.
        public: how many studies of public recordings; all by default.
    """
    studies = [DEMO, *(file.parent for file in sorted(PUBLIC.glob("*/study.yaml"))[:public])]
    found = [] if PUBLIC.is_dir() else [not_measured(f"public recordings, {PUBLIC} is not there")]
    generated = {name: options for name, options in GENERATED.items() if options["duration_s"] <= longest_s}
    with tempfile.TemporaryDirectory() as folder:
        for study in studies:
            found += ratios(copy_study(study, Path(folder) / study.name), name=study.name, rounds=rounds)
        for name, options in generated.items():
            write_study(Path(folder) / name, sessions=1, trials=1, **options)
            found += ratios(Path(folder) / name, name=name, rounds=rounds)
        for name, at_most in SESSIONS.items():
            if name in generated:
                study = Path(folder) / f"session, {name}"
                write_study(study, sessions=1, trials=trials, **GENERATED[name])
                cost = seconds(Session(study), rounds=(rounds + 1) // 2)
                ms = f"{1e3 * cost[TO_KINETICS] / trials:.1f} ms a trial, parse {1e3 * cost[PARSE] / trials:.1f}"
                what = f"{name}: {TO_KINETICS} of a session of {trials} over parse"
                found.append(Figure(what, cost[TO_KINETICS] / cost[PARSE], at_most=at_most, detail=ms))
    return found


def ratios(study: Path, *, name: str, rounds: int) -> list[Figure]:
    """Return the time of a study's first walk over the parse of its file."""
    cost = seconds(first_walk(study), rounds=rounds)
    ms = "ms: " + ", ".join(f"{step} {1e3 * s:.1f}" for step, s in cost.items() if step not in {TO_KINETICS, TO_CYCLES})
    to_kinetics, to_cycles = cost[TO_KINETICS] / cost[PARSE], cost[TO_CYCLES] / cost[PARSE]
    return [
        Figure(f"{name}: {TO_KINETICS} over parse", to_kinetics, at_most=MOST_PARSES, detail=ms),
        Figure(f"{name}: {TO_CYCLES} over parse", to_cycles),
    ]


def seconds(session: Session, *, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the least processor time of the parse, of each step, and of all steps in one round, s."""
    actions: dict[str, Callable[[], object]] = {
        PARSE: session.parse,
        **{step: partial(session.run, step) for step in session.steps},
    }
    costs = [best_in_turn_s(actions, rounds=1) for _ in range(1 + rounds)][1:]
    best = {name: min(cost[name] for cost in costs) for name in actions}
    to_kinetics = session.steps[: session.steps.index("kinetics") + 1]
    for name, some in {TO_KINETICS: to_kinetics, TO_CYCLES: session.steps}.items():
        best[name] = min(sum(cost[step] for step in some) for cost in costs)
    return best
