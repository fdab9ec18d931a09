"""Corrections by hand, written as a person would."""

from pathlib import Path

from pipeline.tables.corrections import COLUMNS, append_corrections
from pipeline.tables.study_tables import read_trials
from pipeline.workflow.digests import sha256


def correction(kind: str, **cells: str) -> dict[str, str]:
    """Return a row of corrections.tsv."""
    return dict.fromkeys(COLUMNS, "") | {"kind": kind, "reason": "seen on video"} | cells


def correct(study: Path, kind: str, **cells: str) -> dict[str, str]:
    """Append a row to the corrections.tsv of a study, with the SHA-256 of its recording, and return it."""
    row = correction(kind, **cells)
    files = {one["trial"]: one["file"] for one in read_trials(study / "trials.tsv", None).get(row["session"], [])}
    if row["trial"] in files:
        row["sha256"] = row["sha256"] or sha256(study / files[row["trial"]])
    append_corrections(study / "corrections.tsv", [row])
    return row
