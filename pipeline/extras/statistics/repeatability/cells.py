"""What the key of the job of ``repeatability`` holds, and which studies have the step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .... import __version__
from ....errors import Problem, UserError, nearest
from ....json_text import to_text
from ....tables import tsv
from .design import Design, design_of
from .settings import Settings

if TYPE_CHECKING:
    from ....workflow.job_keys import Study


def repeated(study: Study) -> dict[str, dict[str, str]]:
    """Return person, visit and assessor of each session in sessions.tsv, a person's in the order of the visits."""
    columns = ("participant_id", "visit", "assessor")
    return {
        name: {column: row[column] for column in columns if row.get(column, "").lower() not in tsv.ABSENT}
        for sessions in study.people.values()
        for name in sessions
        if (row := study.session_rows.get(name))
    }


def design_in(study: Study) -> Design | None:
    """Return the design of the repeated measurements, None without enough of them."""
    return design_of(repeated(study), [str(name) for name in study.settings["repeatability"]["visits"]])


def is_designed(study: Study) -> bool:
    """Return whether a study has enough repeated measurements."""
    return design_in(study) is not None


def cells(study: Study, _: None) -> dict[str, Any]:
    """Return person, visit and assessor of each session, and the settings that the step gets."""
    own, sessions = study.settings["repeatability"], repeated(study)
    settings = {one.name: own[one.name] for one in fields(Settings)}
    return {"settings": settings, "arguments": {"sessions": sessions}, **study.order_of([*sessions])}


def added_to(study: Study, rule: str, participant: str | None) -> dict[str, list[str]]:
    """Return the table for the overview, and table and curves for a page that compares visits by them."""
    if rule == "page" and _compares(study, participant) and not _table(study):
        return {"repeatability": ["derived/repeatability.csv", "derived/repeatability.nc"]}
    return {"repeatability": ["derived/repeatability.csv"]} if rule == "report" else {}


def needs_of_page(study: Study, rule: str, participant: str | None) -> dict[str, str] | None:
    """Return the table of another study, and its curves if they are beside it, for a page that compares visits."""
    if rule != "page" or not _compares(study, participant) or not (name := _table(study)):
        return None
    curves = str(Path(name).with_suffix(".nc"))
    return {"file": name, "sha256": study.digest(name)} | (
        {"curves": study.digest(curves)} if study.has_file(curves) else {}
    )


def _compares(study: Study, participant: str | None) -> bool:
    return participant is not None and len(study.people[participant]) > 1


def _table(study: Study) -> str | None:
    name: str | None = study.settings["repeatability"]["table"]
    return name


def find_problems(study: Study) -> Iterator[Problem]:
    """Yield a problem for each visit of ``repeatability.visits`` that nobody has, and those of its ``table``."""
    known = [*dict.fromkeys(row.get("visit", name) for name, row in repeated(study).items())]
    for name in map(str, study.settings["repeatability"]["visits"]):
        if name not in known:
            remedy = nearest(name, known) or f"expected some of {', '.join(known) or 'its column visit'}"
            yield Problem(f"repeatability.visits: {name}", "no session of sessions.tsv has this visit", remedy)
    if _table(study):
        yield from _problems_of_table(study)


def _problems_of_table(study: Study) -> Iterator[Problem]:
    """Yield what is wrong with the table of another study: its file, or the definitions of that study."""
    from ....results import definitions, netcdf  # large libraries, for this setting alone
    from .detectable import detectable_changes, table_of

    name = _table(study)
    file = study.path / str(name)
    try:
        detectable_changes(table_of([file]))
    except (OSError, ValueError, KeyError, StopIteration) as error:
        what = "no such file" if isinstance(error, FileNotFoundError) else "is not a repeatability.csv"
        yield Problem(f"repeatability.table: {name}", what, "give the repeatability.csv of a study that has one")
        return
    about = file.with_suffix(".nc")
    if study.body_model is None or not about.is_file():
        return
    own = {
        "settings": to_text({**study.settings, "body_model": study.body_model.name}),
        definitions.VERSION: __version__,
    }
    remedy = "run that study again with the settings and the version of this one"
    where = f"repeatability.table: {about.name}"
    try:
        definitions.refuse_others(definitions.definitions_of(netcdf.attributes(about)), own, where=where, remedy=remedy)
    except UserError as error:
        yield from error.problems
