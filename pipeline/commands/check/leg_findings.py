"""Legs that no person has, found by calibrating each session with some frames of its static trial."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...errors import Problem
from ...json_text import from_text, to_text
from ...steps.calibrate.settings import HipCentre, Settings
from ...steps.calibrate.step import calibrate
from ...steps.read.recording_contents import Contents, problems_of
from ...trials.session import Trial, join_trials
from ...workflow.job_keys import Study

FOUND_HERE = ("leg_implausible", "leg_ill_defined", "static_knee_bent", "static_results_differ")
WITHOUT_MOTION: HipCentre = "harrington"  # in place of a functional hip centre


def of_legs(session: str, facts: Mapping[str, Contents], study: Study) -> Iterator[Problem]:
    """Find legs of a session that the calibration refuses as implausible; other problems are found elsewhere."""
    rows = [row for row in study.sessions[session] if row["role"] in ("static", "gait") and row["file"] in facts]
    with_participant = study.sessions[session][0]["participant_id"] in study.participants
    if study.body_model is None or not study.settings or not with_participant:
        return
    settings = replace(Settings(**study.settings["calibrate"]), knee_axis="markers")  # found in motion
    if settings.hip_centre == "functional":
        settings = replace(settings, hip_centre=WITHOUT_MOTION)
    given = {**study.calibration_of(session), "functional": {}, "body_model": study.body_model}
    trials = {row["trial"]: trial_of(facts[row["file"]], row["role"], row["file"]) for row in rows}
    static = next((row["file"] for row in rows if row["role"] == "static"), session)
    try:
        model = calibrate(join_trials(trials), settings=settings, **given)
        problems = [Problem(**finding) for finding in from_text(model.attrs["leg_findings"])]
    except Exception as error:  # a failing file costs no other file
        problems = [*problems_of(Path(static), error)]
    yield from (problem._replace(where=static) for problem in problems if problem.code in FOUND_HERE)


def trial_of(facts: Contents, role: str, file: str) -> Trial:
    """Return a trial as step ``read`` gives it, as far as step ``calibrate`` needs it."""
    return Trial.of(
        {"marker_position": (("time", "marker", "axis"), facts.recording.markers)},
        {
            "time": np.arange(len(facts.recording.markers), dtype=float),
            "marker": np.array(facts.recording.labels, dtype=str),
            "axis": list("xyz"),
        },
        {
            "role": role,
            "source": file,
            "anthropometry": to_text(facts.sizes),
            "static_results": facts.recording.static_results,
        },
    )
