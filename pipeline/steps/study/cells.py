"""What the key of the job of ``study`` holds: who was recorded, when, in which conditions, and the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...workflow.job_keys import Study


def cells(study: Study, _: None) -> dict[str, Any]:
    """Return what the study takes from the tables for all sessions."""
    sessions = [*study.sessions]
    return {
        "reference": study.reference_sha256,
        "arguments": study.about_sessions(sessions),
        **study.order_of(sessions),
    }
