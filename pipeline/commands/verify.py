"""``gaitlab verify``: find recordings and results that have changed since the results were made.

Nothing is written. Every file is read; timestamps and Snakemake's records are not used.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ..errors import Problem, UserError, as_argument, as_json, join_some, without_problems
from ..extra import every_extra
from ..json_text import object_in
from ..results import netcdf
from ..results.page_names import PAGES
from ..results.whole_files import REMEDY
from ..step import every_step
from ..tables import study_tables
from ..tables.session_table import has_changed_since_review
from ..tables.terminal_table import align, text_width
from ..workflow import checksums
from ..workflow.command_files import once_for_all, recorded_files, why_outdated, words_of
from ..workflow.digests import sha256
from ..workflow.job_keys import Study
from ..workflow.jobs.session_job import sources_of
from ..workflow.open_study import look_at, outputs_of
from ..workflow.preparation import changed_parts, refuse_lost_records
from ..workflow.run_summary import RUN as SUMMARY
from ..workflow.settings import is_file
from .shared.exported_files import C3D_COPIES, PDF, SINGLE_PAGES, SPREADSHEETS

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
    "comparison_outdated": "run again",
    "pdf_outdated": "print or write it again",
    "c3d_copy_outdated": "write the copies again",
    "export_outdated": "export it again",
    "review_outdated": "review again and write the new review_sha256, or change the status",
    "command_file_changed": "write it again; keep a copy if you edited it",
    **{each.code: each.remedy for each in WRITTEN},
}
OF_COMMANDS = {  # the code of a file of earlier results, by the command that wrote it
    "compare": "comparison_outdated",
    "report": "pdf_outdated",
    "write-c3d": "c3d_copy_outdated",
    "export": "export_outdated",
}
REMOVED = [code for code, remedy in REMEDIES.items() if remedy == REMEDY]
# files of the system, and what a program that edits a table leaves
OF_THE_SYSTEM = re.compile(r"[.~].*|Thumbs\.db|desktop\.ini", re.IGNORECASE)
MOST_LISTED = 10
HEADER = ("file", "what is wrong", "what to do")
Sources = dict[str, str]  # the SHA-256 of recordings by name
Records = Mapping[str, checksums.Record | None]  # of outputs by name


def report_changes(folder: Path, *, json: bool) -> tuple[str, int]:
    """Return the problems of :func:`verify` as a table or as JSON, and 1 if there are any."""
    faults, summary = verify(folder)
    text = as_json(faults) if json else as_text(faults, summary, folder, width=text_width())
    return text, int(bool(faults))


def verify(folder: Path) -> tuple[list[Problem], str]:
    """Return the problems of recordings and results, and a summary; refuse wrong settings or tables, and no results."""
    study = without_problems(look_at(folder))
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
    made_from: dict[str, Sources] = {}
    for name, (step, session) in names.items():
        record = records[name]
        recorded = _find_sources(study, step, session, record, made_from) if record else None
        fault, sources = _look_at_output(derived, name, digests, records, recorded)
        if sources is not None:
            made_from[name] = sources
        if fault := fault or _find_outdated(study, step, session, record, sources):
            faults.append(_fault(f"derived/{name}", *fault))
    changed = [*_find_changed_recordings(folder, made_from, digests)]
    recordings = len({file for sources in made_from.values() for file in sources})
    unread = sum(derived / name not in digests for name in names)
    summary = f"{recordings} recordings and {len(names) - unread} of {len(names)} results were read"
    others = recorded_files(derived, but=names)
    missing = {fault.where.removeprefix("derived/") for fault in faults if fault.code == "result_missing"}
    faults += [*_look_at_command_files(study, others, missing), *_stale_folders(derived)]
    faults += _outdated_reviews(study, digests)
    return [*changed, *faults], f"{summary}; {_strangers(study, derived, {*names, *others, SUMMARY})}"


def as_text(faults: Sequence[Problem], summary: str, folder: Path, *, width: int) -> str:
    """Return the table of problems and the commands that solve them.

    An equal problem of an output in many sessions, or of C3D copies, is one row; so is a change of a setting or
    library, whatever outputs it makes outdated.
    """
    if not faults:
        return f"{summary}\nNone has changed; settings and code are those of the results."
    codes, study = {fault.code for fault in faults}, as_argument(folder)
    rows: dict[tuple[str, str, object], list[str]] = {}
    for fault in faults:
        file = Path(fault.where)
        same = {"c3d_copy_outdated": file.parent, "result_outdated": ""}.get(fault.code, file.name)
        rows.setdefault((fault.what, fault.remedy, same), []).append(fault.where)
    together = [(_several(files[0], len(files)), what, remedy) for (what, remedy, _), files in rows.items()]
    commands = [f"rm {as_argument(folder / fault.where)}" for fault in faults if fault.code in REMOVED]
    runs = ("recording", "result", "table", "comparison")
    commands += [_command(folder)] * any(code.startswith(runs) for code in codes)
    again = {"command_file_changed", *OF_COMMANDS.values()} - {"comparison_outdated"}  # no run writes these files
    names = [fault.where.removeprefix("derived/") for fault in faults if fault.code in again]
    records = (checksums.recorded(folder / "derived", name) for name in names)
    written = once_for_all(record.command for record in records if record)
    commands += dict.fromkeys(words_of(folder, command) for command in written)
    commands += [each.command.format(study=study) for each in WRITTEN if each.code in codes]
    solution = "\n".join(["To solve this:", *(f"  {command}" for command in commands)])
    return "\n\n".join([align([HEADER, *together], width=width), solution, summary])


def _fault(where: str, what: str, code: str) -> Problem:
    return Problem(where, what, REMEDIES[code], code)


def _command(folder: Path) -> str:
    try:
        refuse_lost_records(folder)
        forced = ""
    except UserError:
        forced = " --forceall"
    return f"gaitlab run {as_argument(folder)}{forced}"


def _digests(files: Iterable[Path]) -> dict[Path, str]:
    """Return the SHA-256 of the files that exist, read in parallel; of an unreadable one why it is, which differs."""
    here = [file for file in dict.fromkeys(files) if is_file(file)]

    def digest(file: Path) -> str:
        try:
            return sha256(file)
        except OSError as error:  # such as a failing disk
            return str(error)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(here, pool.map(digest, here), strict=True))


def _find_sources(
    study: Study, step: str, session: str | None, record: checksums.Record, made_from: Mapping[str, Sources]
) -> Sources | None:
    """Return the recordings behind an output by its record, None if unknown.

    For the step that reads them they are the present recordings if its key names them, for a later step those of its
    inputs.
    """
    if "recordings" in every_step()[step].takes:
        key = study.content_of_key(step, session)
        if checksums.made_with(key)["trials"] != record.made_with.get("trials"):
            return None
        return sources_of(key["trials"])
    if not record.inputs or any(name not in made_from for name in record.inputs):
        return None
    return {file: digest for name in record.inputs for file, digest in made_from[name].items()}


def _look_at_output(
    derived: Path, name: str, digests: Mapping[Path, str], records: Records, recorded: Sources | None
) -> tuple[tuple[str, str] | None, Sources | None]:
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


def _find_outdated(
    study: Study, step: str, session: str | None, record: checksums.Record | None, sources: Mapping[str, str] | None
) -> tuple[str, str] | None:
    """Return which parts of the key of an output have changed since, and the code of that.

    With the recordings as they were (``sources``): changed ones have rows of their own.
    """
    if any(study.sha256.get(name) != digest for name, digest in (sources or {}).items()):
        study = replace(study, sha256={**study.sha256, **(sources or {})})
    now = checksums.made_with(study.content_of_key(step, session))
    changed = changed_parts(step, record.made_with if record else {}, now)
    what = f"settings, tables or code have changed since: {', '.join(changed)}"
    return (what, "result_outdated") if changed else None


def _find_changed_recordings(
    folder: Path, made_from: Mapping[str, Sources], digests: dict[Path, str]
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


def _several(first: str, count: int) -> str:
    return first if count == 1 else f"{first} and {count - 1} more"


def _look_at_command_files(
    study: Study, records: Mapping[str, checksums.Record], missing: Collection[str]
) -> Iterator[Problem]:
    """Yield the files written by commands that are not as written, or that do not show the results there.

    Those of ``missing`` results that a run writes again are not named: one cause has one remedy.
    """
    derived = study.path / "derived"
    digests = _digests(derived / name for name in records)
    for name, record in records.items():
        if digests.get(derived / name) != record.sha256:
            yield _fault(f"derived/{name}", "changed since it was written", "command_file_changed")
        elif name.removesuffix(".json") not in records.keys() - {name} and (
            why := why_outdated(study, record, missing)
        ):
            yield _fault(f"derived/{name}", why, OF_COMMANDS[record.command[0]])


def _outdated_reviews(study: Study, digests: Mapping[Path, str]) -> Iterator[Problem]:
    """Yield the sessions of which the results are others than those that were reviewed."""
    for session, row in study.session_rows.items():
        name = f"{session}/cycles.nc"
        if has_changed_since_review(row, digests.get(study.path / "derived" / name)):
            status = row.get("status", "") or "reviewed"
            yield _fault(f"derived/{name}", f"{status}, but changed since the review", "review_outdated")


def _stale_folders(derived: Path) -> Iterator[Problem]:
    """Yield the folders of extras with a result among what they were made from that was written again since."""
    for each in WRITTEN:
        record = checksums.recorded(derived, f"{each.folder}/{each.record}")
        for name, digest in record.inputs.items() if record else ():
            now = checksums.recorded(derived, name)
            if now and now.sha256 != digest:
                yield _fault(f"derived/{each.folder}", f"made from an earlier derived/{name}", each.code)
                break


def _strangers(study: Study, derived: Path, claimed: Collection[str]) -> str:
    """Return the files and folders that no run and no command wrote for this study, as text.

    Args:
        claimed: the files that one wrote, by their names below ``derived``.
    """
    expected = {*study.sessions, PAGES, PDF, SINGLE_PAGES, SPREADSHEETS}
    expected |= {*(f"{session}/{C3D_COPIES}" for session in study.sessions)}
    expected |= {parent.as_posix() for name in claimed for parent in PurePosixPath(name).parents}
    apart, strangers = {checksums.FOLDER, *(each.folder for each in WRITTEN)}, list[str]()
    for folder, folders, files in os.walk(derived):
        place = Path(folder).relative_to(derived)
        looked_into = []
        for name in folders:
            path = (place / name).as_posix()
            if path in expected:
                looked_into.append(name)
            elif path not in apart and not OF_THE_SYSTEM.fullmatch(name):
                strangers.append(f"derived/{path}/")
        folders[:] = looked_into
        names = ((place / name).as_posix() for name in files if not OF_THE_SYSTEM.fullmatch(name))
        strangers += [f"derived/{name}" for name in names if name not in claimed]
    if not strangers:
        return "nothing else is there."
    return f"not of this study's results, and not checked: {join_some(sorted(strangers), MOST_LISTED)}."
