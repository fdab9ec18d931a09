"""What the key of a job of ``calibrate`` holds: the sizes of the person, and the segments' parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...workflow.job_keys import Study


def cells(study: Study, session: str) -> dict[str, Any]:
    """Return the arguments that come from the tables."""
    return {"arguments": study.calibration_of(session)}
