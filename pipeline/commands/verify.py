"""``gaitlab verify``: find recordings and results that have changed since the results were made.

Nothing is written. Every file is read; timestamps and Snakemake's records are not used.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import Problem, UserError, as_argument, as_json, join_some
from ..extra import every_extra
from ..json_text import object_in
from ..results import netcdf
from ..results.whole_files import REMEDY
from ..step import every_step
from ..steps.report.page_names import PAGES
from ..tables import study_tables
from ..tables.terminal_table import align, text_width
from ..workflow import checksums
from ..workflow.digests import sha256
from ..workflow.job_keys import Study
from ..workflow.jobs.session_job import sources_of
from ..workflow.open_study import look_at, outputs_of
from ..workflow.preparation import refuse_lost_records
from ..workflow.run_summary import RUN as SUMMARY
from ..workflow.settings import is_file
from .shared.exported_files import (
    C3D_COPIES,
    PARQUET_TABLES,
    PDF,
    SPREADSHEETS,
    exports_in,
    list_copies,
    sidecar,
)

WRITTEN = [each for extra in every_extra().values() for each in extra.files]  # by commands of extras
REMEDIES = {  # what to do, by code
    "recording_missing": "restore it, or run again",
    "recording_changed": "restore it, or run again",
    "result_missing": "run again",
    "result_changed": "run again",
    "table_changed": "run again; the changed table is kept",
    "result_damaged": REMEDY,
    "result_without_record": "run again",
    "result_of_earlier_input": REMEDY,
    "result_outdated": "run again",
    "c3d_copy_outdated": "write the copies again",
    "export_outdated": "export it again",
    **{each.code: each.remedy for each in WRITTEN},
}
REMOVED = [code for code, remedy in REMEDIES.items() if remedy == REMEDY]
# files of the system, and what a program that edits a table leaves
OF_THE_SYSTEM = re.compile(r"[.~].*|Thumbs\.db|desktop\.ini", re.IGNORECASE)
MOST_LISTED = 10
HEADER = ("file", "what is wrong", "what to do")
KEPT_AS_SHA = 64  # characters
OF_THE_KEY = {  # the user's name for each part of a job's key
    "code": "the code of this step",
    "declared": "the code of this step",
    "files": "a file that the step reads besides the recordings",
    "of_outputs": "rows of trials.tsv",
    "trials": "rows of trials.tsv, or the recordings in them",
    "by_trial": "rows of trials.tsv or corrections.tsv",
    "arguments.sessions": "rows of trials.tsv, sessions.tsv or participants.tsv",
    "arguments.participants": "rows of trials.tsv",
    "arguments.functional": "rows of trials.tsv",
    "arguments.conditions": "rows of trials.tsv",
    "arguments.recorded": "rows of trials.tsv, sessions.tsv or participants.tsv",
    "arguments.columns": "sessions.tsv or participants.tsv",
    "arguments.pages": "report.pages",
    "arguments.texts": "texts of report.notes",
    "logo": "the picture of report.logo",
    "arguments.study": "the reference",
    "arguments.participant": "the row of participants.tsv",
    "arguments.session_row": "the row of sessions.tsv",
    "order": "visit_number or dates of sessions.tsv",
    "arguments.segments": "segments.tsv",
    "arguments.segment_table": "the table of segment parameters",
    "arguments.body_model": "the body model",
    "arguments.reference": "the reference",
    "arguments.about_reference": "the reference",
    "reference": "the reference",
    "templates": "the code of this step",
    "additions": "the code of this step",
    "needs": "files that the pages show",
}


def report_changes(folder: Path, *, json: bool) -> tuple[str, int]:
    """Return the problems of :func:`verify` as a table or as JSON, and 1 if there are any."""
    faults, summary = verify(folder)
    text = as_json(faults) if json else as_text(faults, summary, folder, width=text_width())
    return text, int(bool(faults))


def verify(folder: Path) -> tuple[list[Problem], str]:
    """Return the problems of recordings and results, and a summary; refuse wrong settings or tables, and no results."""
    study, problems = look_at(folder)
    if problems:
        raise UserError.of(problems)
    derived = folder / "derived"
    if not derived.is_dir():
        raise UserError(str(derived), "no results", f"{_command(folder)} makes them")
    names = outputs_of(study)
    records = {name: checksums.recorded(derived, name) for name in names}
    rows = (row for mine in study.sessions.values() for row in mine)
    listed = {file for row in rows for file in study_tables.files_of(row)}
    digests = _digests([derived / name for name in names] + [folder / name for name in listed])
    study = replace(study, sha256={name: digests[folder / name] for name in listed if folder / name in digests})
    faults: list[Problem] = []
    made_from: dict[str, dict[str, str]] = {}
    for name, (step, session) in names.items():
        recorded = _find_sources(study, step, session, records[name], made_from)
        fault, sources = _look_at_output(derived, name, digests, records, recorded)
        if sources is not None:
            made_from[name] = sources
        now = checksums.made_with(_with_recordings(study, sources).content_of_key(step, session))
        if fault := fault or _describe_change(step, records[name], now):
            faults.append(_fault(f"derived/{name}", *fault))
    changed = [*_find_changed_recordings(folder, made_from, digests)]
    recordings = len({file for sources in made_from.values() for file in sources})
    unread = sum(derived / name not in digests for name in names)
    summary = f"{recordings} recordings and {len(names) - unread} of {len(names)} results were read"
    faults += [*_stale_copies(study, derived), *_stale_exports(derived), *_stale_folders(derived)]
    return [*changed, *faults], f"{summary}; {_strangers(study, derived)}"


def as_text(faults: Sequence[Problem], summary: str, folder: Path, *, width: int) -> str:
    """Return the table of problems and the commands that solve them."""
    if not faults:
        return f"{summary}\nNone has changed; settings and code are those of the results."
    codes, study = {fault.code for fault in faults}, as_argument(folder)
    commands = [f"rm {as_argument(folder / fault.where)}" for fault in faults if fault.code in REMOVED]
    commands += [_command(folder)] * any(code.startswith(("recording", "result", "table")) for code in codes)
    commands += [f"gaitlab write-c3d {study}"] * ("c3d_copy_outdated" in codes)
    commands += dict.fromkeys(_export(folder, fault.where) for fault in faults if fault.code == "export_outdated")
    commands += [each.command.format(study=study) for each in WRITTEN if each.code in codes]
    solution = "\n".join(["To solve this:", *(f"  {command}" for command in commands)])
    return "\n\n".join([align([HEADER, *_together(faults)], width=width), solution, summary])


def _fault(where: str, what: str, code: str) -> Problem:
    return Problem(where, what, REMEDIES[code], code)


def _command(folder: Path) -> str:
    """Return the command that runs the workflow."""
    try:
        refuse_lost_records(folder)
        forced = ""
    except UserError:
        forced = " --forceall"
    return f"gaitlab run {as_argument(folder)}{forced}"


def _digests(files: Iterable[Path]) -> dict[Path, str]:
    """Return the SHA-256 of the files that exist, read in parallel."""
    here = [file for file in dict.fromkeys(files) if is_file(file)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(here, pool.map(_digest, here), strict=True))


def _digest(file: Path) -> str:
    try:
        return sha256(file)
    except OSError as error:  # such as a failing disk
        return str(error)


def _find_sources(
    study: Study,
    step: str,
    session: str | None,
    record: checksums.Record | None,
    made_from: Mapping[str, dict[str, str]],
) -> dict[str, str] | None:
    """Return the recordings behind an output by its record, None if unknown.

    For the step that reads them they are the present recordings if its key names them, for a later step those of its
    inputs.
    """
    if record is None:
        return None
    if "recordings" in every_step()[step].takes:
        key = study.content_of_key(step, session)
        if checksums.made_with(key)["trials"] != record.made_with.get("trials"):
            return None
        return sources_of(key["trials"])
    if not record.inputs or any(name not in made_from for name in record.inputs):
        return None
    return {file: digest for name in record.inputs for file, digest in made_from[name].items()}


def _look_at_output(
    derived: Path,
    name: str,
    digests: Mapping[Path, str],
    records: Mapping[str, checksums.Record | None],
    recorded: dict[str, str] | None,
) -> tuple[tuple[str, str] | None, dict[str, str] | None]:
    """Return the fault of an output file with its code, and its sources if known.

    A file is opened only if its record is missing or incomplete.
    """
    path, record = derived / name, records[name]
    if path not in digests:
        return ("missing", "result_missing"), None
    if record and record.sha256 != digests[path]:
        code = "table_changed" if path.suffix == ".csv" else "result_changed"  # noticed by a run
        noticed = checksums.differs_in_date(derived, name)
        return (("changed since it was written", code) if noticed else (checksums.CHANGED, "result_damaged")), None
    made = record.inputs.items() if record else ()
    another = [other for other, digest in made if (now := records.get(other)) and now.sha256 != digest]
    sources = {} if path.suffix != ".nc" else recorded
    if record is None or another or sources is None:
        try:
            sources = object_in(netcdf.attributes(path), "source_sha256") if path.suffix == ".nc" else {}
        except (UserError, ValueError) as error:
            what = error.problems[0].what if isinstance(error, UserError) else f"damaged ({error})"
            return (what, "result_damaged"), None
    if record is None:
        return ("no record of what was written", "result_without_record"), sources
    if another:
        return (f"made from an earlier derived/{another[0]}", "result_of_earlier_input"), sources
    return None, sources


def _with_recordings(study: Study, sources: Mapping[str, str] | None) -> Study:
    """Return the study with recordings as they were: changed ones have rows of their own."""
    changed = {name: digest for name, digest in (sources or {}).items() if study.sha256.get(name) != digest}
    return replace(study, sha256={**study.sha256, **changed}) if changed else study


def _describe_change(step: str, record: checksums.Record | None, now: Mapping[str, str]) -> tuple[str, str] | None:
    """Return which parts of the key of an output have changed since, and the code of that."""
    then = record.made_with if record else {}
    changed = [
        _difference(step, part, then.get(part), now.get(part))
        for part in (*now, *(part for part in then if part not in now))
        if then.get(part) != now.get(part)
    ]
    what = f"settings, tables or code have changed since: {', '.join(dict.fromkeys(changed))}"
    return (what, "result_outdated") if changed else None


def _difference(step: str, part: str, then: str | None, now: str | None) -> str:
    if part in OF_THE_KEY:
        return OF_THE_KEY[part]
    section, _, key = part.partition(".")
    what = {"settings": f"{'report' if step == 'page' else step}.{key}", "versions": key}.get(section, part)
    if KEPT_AS_SHA in (len(then or ""), len(now or "")):
        return what
    return f"{what} {_plain(then)}, now {_plain(now)}"


def _plain(text: str | None) -> str:
    value: Any = json.loads(text) if text is not None else "not there"
    return value if isinstance(value, str) else str(text)


def _find_changed_recordings(
    folder: Path, made_from: Mapping[str, Mapping[str, str]], digests: dict[Path, str]
) -> Iterator[Problem]:
    """Yield the recordings that have changed since results were made from them."""
    then: dict[str, dict[str, str]] = {}
    for output, sources in made_from.items():
        for file, digest in sources.items():
            then.setdefault(file, {})[output] = digest
    digests |= _digests(folder / file for file in then if folder / file not in digests)
    for file, by_output in sorted(then.items()):
        now = digests.get(folder / file)
        stale = [output for output, digest in by_output.items() if digest != now]
        if stale:
            made = f"{_several(f'derived/{stale[0]}', len(stale))} {'was' if len(stale) == 1 else 'were'}"
            how, code = ("gone", "recording_missing") if now is None else ("changed", "recording_changed")
            yield _fault(file, f"{how} since {made} made from it", code)


def _together(faults: Iterable[Problem]) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each problem; an equal one of an output in many sessions, or of C3D copies, is one row.

    So is a change of a setting or library, whatever outputs it makes outdated.
    """
    rows: dict[tuple[str, str, object], list[str]] = {}
    for fault in faults:
        file = Path(fault.where)
        same = {"c3d_copy_outdated": file.parent, "result_outdated": ""}.get(fault.code, file.name)
        rows.setdefault((fault.what, fault.remedy, same), []).append(fault.where)
    for (what, remedy, _), files in rows.items():
        yield _several(files[0], len(files)), what, remedy


def _several(first: str, count: int) -> str:
    return first if count == 1 else f"{first} and {count - 1} more"


def _stale_copies(study: Study, derived: Path) -> Iterator[Problem]:
    """Yield the C3D copies of each session that were made from other results than those there, by their records."""
    for copy, record in (pair for session in study.sessions for pair in list_copies(derived, session)):
        if earlier := _earlier_input(derived, record):
            yield _fault(f"derived/{copy}", f"made from an earlier derived/{earlier}", "c3d_copy_outdated")


def _stale_exports(derived: Path) -> Iterator[Problem]:
    """Yield the exported tables that were made from another study.nc than the one there, by its record."""
    now = checksums.recorded(derived, "study.nc")
    for table, digest in exports_in(derived).items():
        if now and now.sha256 != digest:
            yield _fault(f"derived/{table.name}", "made from an earlier derived/study.nc", "export_outdated")


def _stale_folders(derived: Path) -> Iterator[Problem]:
    """Yield the folders of extras that were made from other results than those there, by their records."""
    for each in WRITTEN:
        if earlier := _earlier_input(derived, checksums.recorded(derived, f"{each.folder}/{each.record}")):
            yield _fault(f"derived/{each.folder}", f"made from an earlier derived/{earlier}", each.code)


def _earlier_input(derived: Path, record: checksums.Record | None) -> str:
    """Return the first result that a file was made from and that was written again since; empty if there is none."""
    inputs = record.inputs.items() if record else ()
    changed = (name for name, digest in inputs if (now := checksums.recorded(derived, name)) and now.sha256 != digest)
    return next(changed, "")


def _export(folder: Path, table: str) -> str:
    """Return the command that exports a table again."""
    if Path(table).stem in PARQUET_TABLES:
        return f"gaitlab export {as_argument(folder)} --format parquet-tables"
    form = Path(table).suffix.removeprefix(".")
    form = form if form in ("parquet", "xlsx") else "csv"
    return f"gaitlab export {as_argument(folder)} --format {form} --output {as_argument(folder / table)}"


def _strangers(study: Study, derived: Path) -> str:
    """Return the files and folders that no run and no command writes for this study, as text."""
    expected = {
        *study.sessions,
        checksums.FOLDER,
        PAGES,
        PDF,
        SPREADSHEETS,
        *(each.folder for each in WRITTEN),
        *(table.name for table in exports_in(derived)),
    }
    folders = [path.name for path in sorted(derived.iterdir()) if path.is_dir() and path.name not in expected]
    strangers = [f"derived/{name}/" for name in folders if not OF_THE_SYSTEM.fullmatch(name)]
    written = {derived / name for name in (*outputs_of(study), SUMMARY)}
    written |= {derived / copy for session in study.sessions for copy, _ in list_copies(derived, session)}
    written |= {file for table in exports_in(derived) for file in (table, sidecar(table))}
    places = [derived, derived / PAGES]
    places += [derived / session / place for session in study.sessions for place in ("", C3D_COPIES)]
    for folder in places:
        files = sorted(folder.iterdir()) if folder.is_dir() else ()
        others = [file for file in files if file.is_file() and file not in written]
        names = [file.relative_to(derived) for file in others if not OF_THE_SYSTEM.fullmatch(file.name)]
        strangers += [f"derived/{name.as_posix()}" for name in names]
    if not strangers:
        return "nothing else is there."
    return f"not of this study's results, and not checked: {join_some(strangers, MOST_LISTED)}."
