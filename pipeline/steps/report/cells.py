"""What the keys of the overview, of a participant's page and of the files that they share hold."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...results.page_names import SCRIPT, STYLE
from ...tables import session_table
from ...tables.report_additions import texts_of
from .settings import Settings

if TYPE_CHECKING:
    from ...workflow.job_keys import Study

TEMPLATES = Path(__file__).with_name("templates")


def cells_of_overview(study: Study, _: None) -> dict[str, Any]:
    """Return what the overview takes from tables and folders."""
    report = study.settings["report"]
    needs = {
        "participants": [*study.people],
        "conditions": study.conditions,
        "groups": study.groups,
        "visits": study.visits,
        "pages": report["pages"],
        "reference": study.settings["study"]["reference"],
    }
    return _of_all_pages(study) | {"arguments": needs}


def cells_of_page(study: Study, participant: str) -> dict[str, Any]:
    """Return what a page needs: of the whole study only its conditions, and which columns hold numbers."""
    sessions = study.people[participant]
    report, recorded = study.settings["report"], study.recorded(participant)
    needs = {
        **study.about_sessions(sessions),
        "study": study.settings["study"],
        "participant": participant,
        "recorded": recorded,
        "conditions": study.conditions,
        "visits": session_table.visits_in_order(participant, recorded, study.session_rows),
        "texts": texts_of(study.path, report["notes"], participant),
        "columns": {name: {one: cells[one] for one in sessions} for name, cells in study.columns.items()},
    }
    return _of_all_pages(study) | {"arguments": needs} | study.order_of(sessions)


def cells_of_page_files(_study: Study, _: None) -> dict[str, Any]:
    """Return what the files of all pages need: the templates, but none of the settings."""
    return {"settings": {}, "templates": _digests_of_templates()}


def files_beside(_study: Study, rule: str, _participant: str | None) -> dict[str, list[str]]:
    """Return the files that a page needs beside it, which are written first."""
    return {"page_files": [f"derived/{SCRIPT}", f"derived/{STYLE}"]} if rule in ("report", "page") else {}


def _of_all_pages(study: Study) -> dict[str, Any]:
    """Return what the keys of the overview and of all pages hold; which pages are written changes none."""
    report = study.settings["report"]
    return {
        "settings": {one.name: report[one.name] for one in fields(Settings)},
        "templates": _digests_of_templates(),
        "reference": study.reference_sha256,
        **({"logo": study.digest(report["logo"])} if report["logo"] else {}),
    }


@functools.cache
def _digests_of_templates() -> dict[str, str]:
    """Return the SHA-256 of each template by its name: once, not for the key of each page."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(TEMPLATES.iterdir())}
