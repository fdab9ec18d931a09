"""What the key of a job of ``contacts`` holds: plates under each foot and the speed of the belt, by trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tables import study_tables, tsv

if TYPE_CHECKING:
    from ...workflow.job_keys import Study


def cells(study: Study, session: str) -> dict[str, Any]:
    """Return what trials.tsv states of each trial; a trial without any gets no argument."""
    stated = {}
    for row in study.sessions[session]:
        speed = tsv.number(row, "belt_speed_m_s", where="trials.tsv")
        stated[row["trial"]] = study_tables.plates_in_row(row) | ({} if speed is None else {"belt_speed_m_s": speed})
    return {"by_trial": {trial: arguments for trial, arguments in stated.items() if arguments}}
