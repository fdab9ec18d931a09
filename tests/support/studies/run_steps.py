"""Run the steps of a study in this process, without files in between."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.recording import Recording
from pipeline.steps.calibrate.step import calibrate
from pipeline.steps.read.recording_file import Source
from pipeline.steps.read.step import read as read_session
from pipeline.steps.read.step import read_trial as read
from pipeline.steps.study.reference import Reference
from pipeline.steps.study.step import study as gather
from pipeline.tables import study_tables
from pipeline.trials.session import join_trials, one_trial
from pipeline.variables import schema
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.settings import settings_of
from tests.support.steps import TRIAL, clean, contacts, cycles, kinematics, kinetics, refuse_rejected
from tests.support.studies.step_results import described_trial, only_trial


@dataclass
class Session:
    """A session's calibration, and the dataset of each step by gait trial."""

    calibration: xr.Dataset
    trials: dict[str, dict[str, xr.Dataset]] = field(default_factory=dict)


ResultsOf = Callable[[Path], dict[str, Session]]  # of a study, by its own settings
ResultsOfLab = Callable[[str], tuple[Path, dict[str, Session]]]  # the study that init makes of a lab's files, by lab


def run_study(study: Path, overrides: Mapping[str, Any], *, only: Container[str] | None = None) -> dict[str, Session]:
    """Return every session of a study, or only some, with the results of its gait trials."""
    own = settings.merged(read_yaml(study / "study.yaml"), overrides)
    chosen, model = settings.load_settings(own, where="study.yaml", study_path=study)
    participants = study_tables.read_participants(study / "participants.tsv")
    segments = study_tables.read_segments(study / "segments.tsv", participants)
    result = {}
    for name, rows in study_tables.read_trials(study / "trials.tsv", participants).items():
        if only is not None and name not in only:
            continue
        recorded = {
            row["trial"]: read(
                study / row["file"], body_model=model, forces=forces_of(study, row), **chosen["read"] | slope_of(row)
            )
            for row in rows
        }
        for row in rows:
            recorded[row["trial"]].attrs |= {"role": row["role"], "source": row["file"]}
        person = rows[0]["participant_id"]
        calibration = calibrated(
            join_trials(recorded), rows, participants[person], model, chosen, segments.get(person, [])
        )
        result[name] = session = Session(calibration)
        for trial in (row["trial"] for row in rows if row["role"] == "gait"):
            session.trials[trial] = run_trial(recorded[trial], calibration, model, chosen)
    return result


def calibrated(
    raw: xr.Dataset, rows: Sequence[Mapping[str, str]], participant: Mapping[str, str],
    model: BodyModel, chosen: Mapping[str, Any], segments: Sequence[Mapping[str, Any]] = (),
) -> xr.Dataset:  # fmt: skip
    """Return the calibration of a session from all that is read of it.

    Args:
        rows, participant, segments: of trials.tsv, participants.tsv and segments.tsv.
        model, chosen: body model and settings.

    Raises:
        UserError: the session cannot be calibrated.
    """
    table = settings.segment_table(chosen["calibrate"]["segment_parameters"], participant.get("age_years", ""))
    return calibrate(
        raw,
        body_model=model,
        participant=participant,
        segments=segments,
        segment_table=table,
        functional={row["trial"]: row["condition"] for row in rows if row["role"] == "functional"},
        settings=settings_of("calibrate", **chosen["calibrate"]),
    )


def slope_of(row: Mapping[str, str]) -> dict[str, float]:
    """Return the slope that a row of trials.tsv states, as an option of one trial."""
    stated = study_tables.slope_in_row(row)
    return {"slope_deg": stated[study_tables.SLOPE]} if stated else {}


def forces_of(study: Path, row: Mapping[str, str]) -> Path | None:
    """Return the file with a trial's forces, None if it has none of its own."""
    forces = study_tables.forces_of(row)
    return study / forces if forces else None


def gathered(
    sessions: Mapping[str, Session], *, reference: xr.Dataset | str | None = None, gdi_features: int | None = None
) -> tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]:
    """Return what the step ``study`` makes of sessions that are named like their person, in six letters."""
    cycles = {
        name: join_trials({trial: steps["cycles"] for trial, steps in one.trials.items()})
        for name, one in sessions.items()
    }
    about: dict[str, Any] = {
        name: {
            "participant": {"participant_id": name[:6]},
            "trials": {trial: {"condition": "walk", "role": "gait"} for trial in one.trials},
        }
        for name, one in sessions.items()
    }
    scored = Reference(reference) if reference is not None else None
    return gather(cycles, sessions=about, settings=settings_of("study", gdi_features=gdi_features), reference=scored)


def run_session(
    rows: Sequence[Mapping[str, str]],
    recordings: Mapping[str, Recording],
    participant: Mapping[str, str],
    model: BodyModel,
    chosen: Mapping[str, Any],
    segments: Sequence[Mapping[str, str]] = (),
) -> dict[str, xr.Dataset]:
    """Return the dataset of each step of a session over all its trials, from files that are already read.

    Args:
        rows: of trials.tsv; ``sha256`` may be added.
        recordings: by the file in ``rows``.
        participant, segments: rows of participants.tsv and segments.tsv.
        model, chosen: body model and settings.

    Raises:
        UserError: the session cannot be calibrated.
    """
    listed = [{"sha256": "", **row, "forces": "", "subject": "", "participant": row["participant_id"]} for row in rows]

    def known(source: Source) -> Recording:
        return recordings[source.path.as_posix()]

    with patch("pipeline.steps.read.step.read_recording", known):
        raw = read_session(listed, body_model=model, settings=settings_of("read", **chosen["read"]))
    calibration = calibrated(raw, rows, participant, model, chosen, segments)
    return {"read": raw, "calibrate": calibration} | _after_read(raw, calibration, model, chosen)


def _after_read(
    raw: xr.Dataset, calibration: xr.Dataset, model: BodyModel, chosen: Mapping[str, Any]
) -> dict[str, xr.Dataset]:
    """Return the dataset of each step after ``read`` and ``calibrate`` over all trials."""

    def of(step: str) -> Any:
        return settings_of(step, **chosen[step])

    cleaned = clean(raw, body_model=model, settings=of("clean"))
    touched = contacts(cleaned, settings=of("contacts"))
    moved = kinematics(cleaned, calibration, body_model=model, settings=of("kinematics"))
    loaded = kinetics(moved, touched, calibration, settings=of("kinetics"))
    cut = cycles(loaded, moved, touched, cleaned, calibration, settings=of("cycles"))
    return {"clean": cleaned, "contacts": touched, "kinematics": moved, "kinetics": loaded, "cycles": cut}


def run_trial(
    recorded: xr.Dataset, calibration: xr.Dataset, model: BodyModel, chosen: Mapping[str, Any]
) -> dict[str, xr.Dataset]:
    """Return the dataset of each step of one trial, with units and names; metrics also by name.

    Raises:
        UserError: a step rejects the trial.
    """
    raw = join_trials({TRIAL: recorded.assign_attrs(role="gait")})
    sessions = _after_read(raw, calibration, model, chosen)
    refuse_rejected(one_trial(sessions["cycles"], TRIAL))
    result = {"read": described_trial("read", recorded)}
    result |= {step: only_trial(step, session) for step, session in sessions.items()}
    cut = result["cycles"]
    return result | {"cycles": cut.assign(schema.separate_metrics(cut.metric.values, cut.metric_value.values))}
