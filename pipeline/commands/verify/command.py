"""``gaitlab verify``: find recordings and results that have changed since the results were made.

Nothing is written. Every file is read; timestamps and Snakemake's records are not used.
"""

from dataclasses import replace
from pathlib import Path

from ...errors import Problem, UserError, as_json, without_problems
from ...tables import study_tables
from ...tables.terminal_table import text_width
from ...workflow import checksums
from ...workflow.command_files import recorded_files
from ...workflow.open_study import look_at, outputs_of
from ...workflow.run_summary import RUN as SUMMARY
from .other_files import look_at_command_files, outdated_reviews, stale_folders, strangers_in
from .outputs import Sources, digests_of, find_changed_recordings, find_outdated, find_sources, look_at_output
from .remedies import as_text, fault_of, run_command


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
        raise UserError(str(derived), "no results", f"{run_command(folder)} makes them")
    names = outputs_of(study)
    records = {name: checksums.recorded(derived, name) for name in names}
    rows = (row for mine in study.sessions.values() for row in mine)
    listed = {file for row in rows for file in study_tables.files_of(row)}
    digests = digests_of([derived / name for name in names] + [folder / name for name in listed])
    study = replace(study, sha256={name: digests[folder / name] for name in listed if folder / name in digests})
    faults: list[Problem] = []
    made_from: dict[str, Sources] = {}
    for name, (step, session) in names.items():
        record = records[name]
        recorded = find_sources(study, step, session, record, made_from) if record else None
        fault, sources = look_at_output(derived, name, digests, records, recorded)
        if sources is not None:
            made_from[name] = sources
        if fault := fault or find_outdated(study, step, session, record, sources):
            faults.append(fault_of(f"derived/{name}", *fault))
    changed = [*find_changed_recordings(folder, made_from, digests)]
    recordings = len({file for sources in made_from.values() for file in sources})
    unread = sum(derived / name not in digests for name in names)
    summary = f"{recordings} recordings and {len(names) - unread} of {len(names)} results were read"
    others = recorded_files(derived, but=names)
    missing = {fault.where.removeprefix("derived/") for fault in faults if fault.code == "result_missing"}
    faults += [*look_at_command_files(study, others, missing), *stale_folders(derived)]
    faults += outdated_reviews(study, digests)
    return [*changed, *faults], f"{summary}; {strangers_in(study, derived, {*names, *others, SUMMARY})}"
