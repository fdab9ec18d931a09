"""What the keys of the overview and of a participant's page hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...errors import Problem, UserError
from ...results.definitions import VERSION, definitions_of, refuse_others
from ...tables import session_table
from ...tables.csv_files import detectable_changes
from ...tables.report_additions import files_of_curve_tests, texts_of
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
    if folder := report["curve_tests"]:
        pictures = files_of_curve_tests(study.path, folder)
        files = [one for path in pictures for one in (path, path.with_suffix(".txt"))]
        needs["curve_tests"] = {"folder": folder, "sha256": {path.name: study.digest(path) for path in files}}
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
    if (name := report["repeatability"]) and len(sessions) > 1:
        needs["repeatability"] = {"file": name, "sha256": study.digest(name)}
    return _of_all_pages(study) | {"arguments": needs} | study.order_of(sessions)


def _of_all_pages(study: Study) -> dict[str, Any]:
    """Return what the keys of the overview and of all pages hold; which pages are written changes none."""
    report = study.settings["report"]
    return {
        "settings": {one.name: report[one.name] for one in fields(Settings)},
        "templates": {path.name: study.digest(path) for path in sorted(TEMPLATES.iterdir())},
        "reference": study.reference_sha256,
        **({"logo": study.digest(report["logo"])} if report["logo"] else {}),
    }


def find_problems(study: Study) -> Iterator[Problem]:
    """Yield what is wrong with ``report.repeatability``: its file, or the definitions of the study that it is of."""
    if not (name := study.settings["report"]["repeatability"]):
        return
    file = study.path / name
    try:
        detectable_changes(file)
    except (OSError, ValueError, KeyError, StopIteration) as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else "is not a repeatability.csv"
        yield Problem(f"report.repeatability: {name}", what, "give the repeatability.csv of a study that has one")
        return
    about = file.with_suffix(".nc")
    if study.body_model is None or not about.is_file():
        return
    from ...results import netcdf  # a large library, for this setting alone

    own = {"settings": json.dumps({**study.settings, "body_model": study.body_model.name}), VERSION: __version__}
    remedy = "run that study again with the settings and the version of this one"
    where = f"report.repeatability: {about.name}"
    try:
        refuse_others(definitions_of(netcdf.attributes(about)), own, where=where, remedy=remedy)
    except UserError as error:
        yield from error.problems
