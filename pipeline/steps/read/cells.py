"""What the key of a job of ``read`` holds: the recordings of the session, with roles, slopes and SHA-256."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tables import study_tables, tsv

if TYPE_CHECKING:
    from ...workflow.job_keys import Study


def cells(study: Study, session: str) -> dict[str, Any]:
    """Return the rows of trials.tsv as the step takes them."""
    trials = [
        {
            **{name: row[name] for name in ("trial", "file", "role")},
            **study_tables.person_of(row, study.participants),
            "sha256": study.sha256.get(row["file"]),
            **_forces(study, row),
            **study_tables.slope_in_row(row),
        }
        for row in study.sessions[session]
    ]
    return {"trials": trials}


def _forces(study: Study, row: tsv.Row) -> dict[str, Any]:
    """Return the file with a trial's forces, that of their external loads, and their SHA-256, if it has them."""
    forces, loads = study_tables.forces_of(row), study_tables.external_loads_of(row)
    found = {"forces": forces, "forces_sha256": study.sha256.get(forces)} if forces else {}
    return found | ({"loads": loads, "loads_sha256": study.sha256[loads]} if loads in study.sha256 else {})
