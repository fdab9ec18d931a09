"""What the key of a job of ``read`` holds: the recordings of the session, with roles, slopes and SHA-256."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tables import study_tables

if TYPE_CHECKING:
    from ...workflow.job_keys import Study


def cells(study: Study, session: str) -> dict[str, Any]:
    """Return the rows of trials.tsv as the step takes them."""
    trials = []
    for row in study.sessions[session]:
        trial: dict[str, Any] = {name: row[name] for name in ("trial", "file", "role")}
        trial |= study_tables.person_of(row, study.participants)
        trial["sha256"] = study.sha256.get(row["file"])
        if forces := study_tables.forces_of(row):
            trial |= {"forces": forces, "forces_sha256": study.sha256.get(forces)}
        loads = study_tables.external_loads_of(row)
        if loads in study.sha256:
            trial |= {"loads": loads, "loads_sha256": study.sha256[loads]}
        trials.append(trial | study_tables.slope_in_row(row))
    return {"trials": trials}
