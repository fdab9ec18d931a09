"""What the key of the job of ``repeatability`` holds, and which studies have the step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...errors import Problem, nearest

if TYPE_CHECKING:
    from ...workflow.job_keys import Study


def is_designed(study: Study) -> bool:
    """Return whether a study has enough repeated measurements."""
    return study.repeated_design is not None


def cells(study: Study, _: None) -> dict[str, Any]:
    """Return person, visit and assessor of each session."""
    return {"arguments": {"sessions": study.repeated}, **study.order_of([*study.repeated])}


def added_to(study: Study, rule: str, participant: str | None) -> dict[str, list[str]]:
    """Return the table for the overview, and for a page that compares visits by it."""
    compared = participant is not None and len(study.people[participant]) > 1
    asks = rule == "report" or (rule == "page" and compared and not study.settings["report"]["repeatability"])
    return {"repeatability": ["derived/repeatability.csv"]} if asks else {}


def find_problems(study: Study) -> Iterator[Problem]:
    """Yield a problem for each visit of ``repeatability.visits`` that nobody has."""
    known = [*dict.fromkeys(row.get("visit", name) for name, row in study.repeated.items())]
    for name in map(str, study.settings["repeatability"]["visits"]):
        if name not in known:
            remedy = nearest(name, known) or f"expected some of {', '.join(known) or 'its column visit'}"
            yield Problem(f"repeatability.visits: {name}", "no session of sessions.tsv has this visit", remedy)
