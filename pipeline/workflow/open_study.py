"""The names of the steps, and a study with its settings and tables checked before jobs are planned."""

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .. import __version__
from ..body.body_model import BodyModel
from ..errors import Problem, UserError, gather_alike, nearest
from ..extra import every_extra
from ..json_text import to_text
from ..reference import resolve
from ..results.definitions import VERSION, refuse_others
from ..step import every_step
from ..tables import corrections, session_table, study_tables
from ..tables.reference_curves import numbers_of, read_reference, reference_file
from ..tables.report_additions import check_additions
from ..variables.data_dictionary import RESERVED
from ..variables.metrics import NUMBERS
from ..variables.schema import VARIABLES
from . import settings
from .digests import sha256_of_files
from .job_keys import Study
from .places import find_wrong_places
from .strict_yaml import read_yaml

TABLES = tuple(name for name, output in every_step()["study"].outputs.items() if len(output.files) > 1)


def open_study(path: Path, *, overrides: Mapping[str, Any] | None = None) -> Study:
    """Check settings, tables and folders and return the study; raise UserError with every problem."""
    study, problems = look_at(path, overrides=overrides)
    if problems := [*problems, *find_wrong_places(study)]:
        raise UserError.of(gather_alike(problems))
    rows = (row for mine in study.sessions.values() for row in mine)
    files = {file: path / file for row in rows for file in study_tables.files_of(row)}
    present = {name: file for name, file in files.items() if settings.is_file(file)}
    digests = sha256_of_files(present.values(), cache=path / ".snakemake" / "source_sha256.json")
    sha256 = {name: digests[file] for name, file in present.items()}
    if changed := [*corrections.changed_recordings(study.every_correction, study.sessions, sha256)]:
        raise UserError.of(changed)
    return replace(study, sha256=sha256)


def open_once(path: Path, overrides: Mapping[str, Any]) -> Study:
    """Return :func:`open_study` of a study; this process opens a study only once with the same settings."""
    return _opened(path, json.dumps(overrides, sort_keys=True, default=str))


@functools.cache
def _opened(path: Path, overrides: str) -> Study:
    return open_study(path, overrides=json.loads(overrides))


def open_for_snakemake(path: Path, overrides: Mapping[str, Any]) -> Study:
    """Return :func:`open_once` of a study, with its problems as an error of Snakemake."""
    from snakemake.exceptions import WorkflowError

    try:
        return open_once(path, overrides)
    except UserError as error:
        raise WorkflowError(str(error)) from None


def look_at(path: Path, *, overrides: Mapping[str, Any] | None = None) -> tuple[Study, list[Problem]]:
    """Return a study as far as it can be read, and all problems of its tables.

    Nothing is written, and no recording is read: ``sha256`` is empty.

    Raises:
        UserError: no study.yaml.
    """
    study_tables.refuse_no_study(path)
    problems: list[Problem] = []

    def collect(result: tuple[Any, list[Problem]]) -> Any:
        problems.extend(result[1])
        return result[0]

    chosen, model = collect(_settings_of(path, overrides or {}))
    participants = collect(study_tables.participants_of(path / "participants.tsv", reserved=RESERVED))
    if chosen and participants:
        collect(_attempt(partial(check_additions, path, chosen["report"], participants), None))
    sessions = collect(study_tables.trials_of(path / "trials.tsv", participants or None))
    segments = collect(study_tables.segments_of(path / "segments.tsv", participants)) if participants else {}
    corrected = collect(corrections.corrections_of(path / corrections.TABLE, sessions)) if sessions else {}
    if (path / corrections.OLD_TABLE).exists():
        remedy = "'gaitlab corrections STUDY' takes its rows over into corrections.tsv"
        problems.append(Problem(corrections.OLD_TABLE, "is no longer read", remedy, corrections.NO_LONGER_READ))
    visits = partial(session_table.sessions_of, path / "sessions.tsv", participants, sessions, reserved=RESERVED)
    session_rows = collect(visits()) if participants and sessions else {}
    sessions = session_table.in_order_of_visits(sessions, session_rows)
    study = Study(path, chosen, model, participants, sessions, segments, {}, corrected, session_rows)
    if chosen:
        checks = [step.problems for step in every_step().values()]
        checks += [extra.problems for extra in every_extra().values()]
        problems += [one for check in checks if check for one in resolve(check)(study)]
        problems += _joining_nothing(study)
    return study, list(dict.fromkeys(problems))


def _joining_nothing(study: Study) -> Iterator[Problem]:
    """Yield the steps of a study whose results are to be joined to cycles, but have nothing of each cycle."""
    for name, step in study.steps.items():
        variables = [one for output in step.outputs for one in VARIABLES.get(output, {}).values()]
        if step.joins and not any("cycle" in one.dims for one in variables):
            remedy = "give values of each cycle, or leave out joins"
            yield Problem(f"step '{name}'", "its results are to be joined, but none lies along cycle", remedy)


def outputs_of(study: Study) -> dict[str, tuple[str, str | None]]:
    """Return step and subject (session, participant or None) of every output, by its name below ``derived``."""
    names: dict[str, tuple[str, str | None]] = {
        file.format(session=session): (name, session)
        for session in study.sessions
        for name, step in study.steps.items()
        if step.scope == "session"
        for file in step.files
    }
    names |= {file: (name, None) for name, step in study.steps.items() if step.scope == "study" for file in step.files}
    return names | {page: ("page", participant) for participant, page in study.report_pages.items()}


def _settings_of(
    path: Path, overrides: Mapping[str, Any]
) -> tuple[tuple[dict[str, Any], BodyModel | None], list[Problem]]:
    """Return settings and body model, empty and None if wrong, and every problem."""
    where: dict[str, Any] = {"where": "study.yaml", "study_path": path}
    own, problems = _attempt(
        lambda: settings.merged(
            settings.with_new_names(read_yaml(path / "study.yaml")),
            settings.typed(settings.with_new_names(overrides), settings.schema("settings")),
        ),
        None,
    )
    if own is None:
        return ({}, None), problems
    if own.get("body_model", "") is None:  # the line that init leaves to be filled in
        del own["body_model"]
    (chosen, model), further = _attempt(lambda: settings.load_settings(own, **where), ({}, None))
    problems += further
    if reference := chosen.get("study", {}).get("reference"):
        problems += _attempt(partial(_check_reference, path, reference, chosen, model), None)[1]
    if own and not model:  # wrong settings do not hide a wrong body model
        model, further = _attempt(lambda: settings.load_body_model(str(own.get("body_model") or ""), **where), None)
        problems += further
    return (chosen, model), problems


def _attempt(check: Callable[[], Any], default: Any) -> tuple[Any, list[Problem]]:
    """Return the result of a check, or a default if it raises, and the problems."""
    try:
        return check(), []
    except UserError as error:
        return default, [*error.problems]


def _check_reference(study: Path, name: str, chosen: Mapping[str, Any], model: BodyModel | None) -> None:
    """Refuse a reference that is missing, has mistakes, is of this study, or a norm of other definitions."""
    setting, file = "study.reference", reference_file(name, study_path=study)
    if Path(os.path.realpath(file)).is_relative_to(os.path.realpath(study / "derived")):  # which may be a link loop
        raise UserError(f"{setting}: {name}", "is an output of this study itself", "give another study's, or a copy")
    if not settings.is_file(file):
        shipped = settings.shipped_references()
        remedy = nearest(name, shipped) or f"correct the path, or choose {' or '.join(shipped)}"
        raise UserError(f"{setting}: {file}", "no such file", remedy)
    if file.suffix != ".nc":
        curves, about = read_reference(file, setting=setting)
        if strange := numbers_of(curves).keys() - NUMBERS.keys():
            what = f"no metric '{min(strange)}'"
            raise UserError(f"{setting}: {file}", what, nearest(min(strange), NUMBERS) or "see docs/metrics.md")
        if about and model:
            own = {"settings": to_text({**chosen, "body_model": model.name}), VERSION: __version__}
            remedy = "use the same in both studies, or another reference; or make the norm file again"
            refuse_others(about.get("definitions", {}), own, where=f"{setting}: {name}", remedy=remedy)
