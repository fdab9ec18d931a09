"""What the key of a job of ``cycles`` holds: the trials in which hands bear weight, and the condition of each.

The conditions are for the trial that the report shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tables import study_tables

if TYPE_CHECKING:
    from ...workflow.job_keys import Study


def cells(study: Study, session: str) -> dict[str, Any]:
    """Return what trials.tsv states of each trial; a trial without any gets no argument."""
    rows = study.sessions[session]
    conditions = {row["trial"]: row["condition"] for row in rows}
    stated = {row["trial"]: hands for row in rows if (hands := study_tables.hands_in_row(row))}
    return {"by_trial": stated, "of_outputs": {"representative": {"conditions": conditions}}}
