"""One walking trial through all steps in one process, NetCDF aside, against ezc3d's parse of its file."""

from __future__ import annotations

from pathlib import Path

import ezc3d

from benchmarks.timing import best_s
from pipeline import settings, tables
from pipeline.calibrate import calibrate
from pipeline.clean import clean
from pipeline.contacts import contacts
from pipeline.cycles import cycles
from pipeline.kinematics import kinematics
from pipeline.kinetics import kinetics
from pipeline.read import read

HOUSE = Path(__file__).resolve().parent.parent
STUDIES = (HOUSE / "data" / "demo", *sorted((HOUSE.parent / "shared" / "studies").glob("*/study.yaml")))


def measure() -> dict[str, float]:
    """Return the ratio for the first walking trial of each study at hand."""
    studies = [study if study.is_dir() else study.parent for study in STUDIES]
    return {f"one trial of {study.name}, all steps, over ezc3d's parse": ratio(study) for study in studies}


def ratio(study: Path) -> float:
    """Return the time of all steps on a study's first walking trial over the time ezc3d needs to parse its file."""
    chosen, model = settings.load_settings(settings.read_yaml(study / "study.yaml"), where="", study_path=study)
    participants = tables.read_participants(study / "participants.tsv")
    segments = tables.read_segments(study / "segments.tsv", participants)
    rows = next(iter(tables.read_trials(study / "trials.tsv", participants).values()))
    static, walk = (next(row for row in rows if row["role"] == role) for role in ("static", "gait"))
    still, moving = (read(study / row["file"], body_model=model, **chosen["read"]) for row in (static, walk))
    still.attrs["role"] = "static"
    person = static["participant_id"]
    calibration = calibrate(
        {"static": still, "walk": moving},
        body_model=model,
        participant=participants[person],
        segments=segments.get(person, []),
        segment_table=settings.segment_table(chosen["calibrate"]["segment_parameters"]),
        **chosen["calibrate"],
    )

    def all_steps() -> object:
        recorded = read(study / walk["file"], body_model=model, **chosen["read"])
        cleaned = clean(recorded, body_model=model, **chosen["clean"])
        touched = contacts(cleaned, **chosen["contacts"])
        moved = kinematics(cleaned, calibration, body_model=model, **chosen["kinematics"])
        loaded = kinetics(moved, touched, calibration, **chosen["kinetics"])
        return cycles(loaded, moved, touched, cleaned, calibration, **chosen["cycles"])

    all_steps()
    return best_s(all_steps, runs=9) / best_s(lambda: ezc3d.c3d(str(study / walk["file"])), runs=9)
