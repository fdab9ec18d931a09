"""What the key of a job of ``cycles`` holds: the condition of each trial, for the trial that the report shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...workflow.job_keys import Study


def cells(study: Study, session: str) -> dict[str, Any]:
    """Return the condition of each trial."""
    conditions = {row["trial"]: row["condition"] for row in study.sessions[session]}
    return {"of_outputs": {"representative": {"conditions": conditions}}}
