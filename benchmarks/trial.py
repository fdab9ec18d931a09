"""One walk from C3D to joint moments in one process, compared with ezc3d's parse.

``python -m benchmarks.trial [STUDY ...]`` measures wall time, because ``read`` parses in a child process. The first
run, which starts the child, does not count.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import ezc3d
import xarray as xr

from benchmarks.figures import Figure, run_alone
from benchmarks.generated import write_study
from benchmarks.timing import HOUSE, best_s
from pipeline.body.body_model import BodyModel
from pipeline.steps.calibrate.step import calibrate
from pipeline.steps.clean.step import clean
from pipeline.steps.contacts.step import contacts
from pipeline.steps.cycles.step import cycles
from pipeline.steps.kinematics.step import kinematics
from pipeline.steps.kinetics.step import kinetics
from pipeline.steps.read.step import read_trial as read
from pipeline.tables import study_tables
from pipeline.trials.session import join_trials
from pipeline.workflow import settings
from pipeline.workflow.open_study import open_study
from tests.support.settings import settings_of

TITLE = "One trial, C3D to kinetics in one process"
OTHERS = HOUSE.parent / "shared"  # public recordings that are not part of the project; may be absent
STUDIES = (HOUSE / "data" / "demo", *(file.parent for file in sorted((OTHERS / "studies").glob("*/study.yaml"))))
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
STEPS_TO_KINETICS = ("read", "calibrate", "clean", "contacts", "kinematics", "kinetics")
SESSIONS = {"generated, 2.5 s": (20, 3.0), "generated, 10 s, 40 markers at 200 Hz, 2 plates": (20, 2.0)}  # trials, goal


def measure() -> list[Figure]:
    """Return the time of each trial as a multiple of the parse of its file."""
    found = [figure for study in STUDIES for figure in ratios(study, name=study.name)]
    with tempfile.TemporaryDirectory() as folder:
        for name, options in GENERATED.items():
            study = Path(folder) / name
            write_study(study, sessions=1, trials=1, **options)
            found += ratios(study, name=name)
        for name, (trials, at_most) in SESSIONS.items():
            study = Path(folder) / f"session, {name}"
            write_study(study, sessions=1, trials=trials, **GENERATED[name])
            found.append(ratio_of_session(study, name=name, at_most=at_most))
    return found


def ratios(study: Path, *, name: str) -> list[Figure]:
    """Return the time of a study's first walk over the parse of its file."""
    cost = seconds(study)
    ms = "ms: " + ", ".join(f"{step} {1e3 * s:.1f}" for step, s in cost.items() if step not in {TO_KINETICS, TO_CYCLES})
    to_kinetics, to_cycles = cost[TO_KINETICS] / cost[PARSE], cost[TO_CYCLES] / cost[PARSE]
    return [
        Figure(f"{name}: {TO_KINETICS} over parse", to_kinetics, at_most=MOST_PARSES, detail=ms),
        Figure(f"{name}: {TO_CYCLES} over parse", to_cycles),
    ]


def seconds(study: Path, *, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the best wall times of parse, steps and all steps for the first walk, s."""
    actions = first_trial(study)
    runs = [{name: best_s(action, runs=1) for name, action in actions.items()} for _ in range(1 + rounds)][1:]
    best = {name: min(run[name] for run in runs) for name in actions}
    steps = [name for name in actions if name != PARSE]
    for name, some in {TO_KINETICS: steps[: steps.index("kinetics") + 1], TO_CYCLES: steps}.items():
        best[name] = min(sum(run[step] for step in some) for run in runs)
    return best


class FirstWalk(NamedTuple):
    """A study's first walk with what its steps need."""

    file: Path
    body_model: BodyModel
    calibration: xr.Dataset
    settings: dict[str, Any]


def first_walk(study: Path) -> FirstWalk:
    """Calibrate the session of a study's first walk by its static trial."""
    chosen, model = settings.load_settings(settings.read_yaml(study / "study.yaml"), where="", study_path=study)
    participants = study_tables.read_participants(study / "participants.tsv")
    segments = study_tables.read_segments(study / "segments.tsv", participants)
    rows = next(iter(study_tables.read_trials(study / "trials.tsv", participants).values()))
    static, walk = (next(row for row in rows if row["role"] == role) for role in ("static", "gait"))
    still, moving = (read(study / row["file"], body_model=model, **chosen["read"]) for row in (static, walk))
    still.attrs["role"] = "static"
    person = static["participant_id"]
    calibration = calibrate(
        join_trials({"static": still, "walk": moving}),
        body_model=model,
        participant=participants[person],
        segments=segments.get(person, []),
        segment_table=settings.segment_table(chosen["calibrate"]["segment_parameters"]),
        settings=settings_of("calibrate", **chosen["calibrate"]),
    )
    return FirstWalk(study / walk["file"], model, calibration, chosen)


def first_trial(study: Path) -> dict[str, Callable[[], Any]]:
    """Return the parse and the steps of a study's first walk, in order.

    Each step uses the results of those before.
    """
    file, model, model_of_session, chosen = first_walk(study)
    left = dict[str, Any]()
    work: dict[str, Callable[[], Any]] = {
        PARSE: lambda: ezc3d.c3d(str(file)),
        "read": lambda: read(file, body_model=model, **chosen["read"]),
        "clean": lambda: clean(left["read"], body_model=model, settings=settings_of("clean", **chosen["clean"])),
        "contacts": lambda: contacts(left["clean"], **chosen["contacts"]),
        "kinematics": lambda: kinematics(
            left["clean"],
            model_of_session,
            body_model=model,
            settings=settings_of("kinematics", **chosen["kinematics"]),
        ),
        "kinetics": lambda: kinetics(
            left["kinematics"],
            left["contacts"],
            model_of_session,
            settings=settings_of("kinetics", **chosen["kinetics"]),
        ),
        "cycles": lambda: cycles(
            left["kinetics"], left["kinematics"], left["contacts"], left["clean"], model_of_session, **chosen["cycles"]
        ),
    }  # fmt: skip

    def run(step: str) -> Any:
        left[step] = work[step]()
        return left[step]

    return {step: partial(run, step) for step in work}


def ratio_of_session(study: Path, *, name: str, at_most: float) -> Figure:
    """Return the time of all trials of a study's first session, together, over the parse of their files."""
    opened = open_study(study)
    session = next(iter(opened.sessions))
    keys = {step: json.loads(opened.key(step)(SimpleNamespace(session=session))) for step in STEPS_TO_KINETICS}
    best, parse_s = float("inf"), float("inf")
    with chdir(study):
        for _ in range(ROUNDS // 2):
            parse_s = min(parse_s, best_s(lambda: [ezc3d.c3d(row["file"]) for row in keys["read"]["trials"]], runs=1))
            left: dict[str, Any] = {}
            best = min(best, sum(best_s(partial(_run_step, step, keys[step], left), runs=1) for step in keys))
    trials = len(keys["read"]["trials"]) - 1
    return Figure(
        f"{name}: {TO_KINETICS} of a session of {trials} over parse", best / parse_s, at_most=at_most,
        detail=f"{1e3 * best / trials:.1f} ms a trial, parse {1e3 * parse_s / trials:.1f}",
    )  # fmt: skip


def _run_step(step: str, key: dict[str, Any], left: dict[str, Any]) -> None:
    """Run a step on a session as its job does, with the results of earlier steps in memory."""
    function = getattr(importlib.import_module(f"pipeline.steps.{step}.step"), step)
    arguments = key["settings"] | key.get("arguments", {})
    if "body_model" in arguments:
        arguments["body_model"] = BodyModel.of(arguments["body_model"])
    if "by_trial" in key:
        arguments["by_trial"] = key["by_trial"]
    inputs = [left[name] for name in inspect.signature(function).parameters if name in left]
    left[step] = function(key["trials"], **arguments) if step == "read" else function(*inputs, **arguments)


if __name__ == "__main__":
    given = [Path(path).resolve() for path in sys.argv[1:]]
    run_alone(TITLE, lambda: [figure for study in given for figure in ratios(study, name=study.name)] or measure())
