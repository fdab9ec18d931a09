"""``gaitlab check``: every problem of a study, before anything runs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import Finding, UserError
from ...tables import study_tables, tsv
from ...tables.terminal_table import aligned, text_width
from ...workflow.job_keys import Study
from ...workflow.open_study import look_at
from ..recording_facts import Facts, facts_in
from ..recording_files import unlisted_recordings
from .findings import of_emg_channels, of_file, of_functional, of_session
from .leg_findings import of_legs
from .model_findings import of_body_model
from .person_findings import of_person

TABLES = ("participants.tsv", "trials.tsv", "segments.tsv", "cycles.tsv")
MOST_LISTED = 4


def check(folder: Path) -> list[Finding]:
    """Return every problem of a study, errors first; nothing is written.

    Raises:
        UserError: no such folder, or no study.yaml in it.
    """
    study, problems = look_at(folder)
    findings = [Finding("error", *problem) for problem in problems]
    if not study.sessions:
        findings.append(Finding("error", "C3D files", "not checked", "correct the tables and check again"))
    known: dict[tuple[str, ...], Facts] = {}
    by_session: dict[str, dict[str, Facts]] = {}
    for session, rows in study.sessions.items():
        facts = by_session[session] = {}
        for row in rows:
            person = study_tables.person_of(row, study.participants)
            forces = study_tables.forces_of(row)
            key = (row["file"], forces, *person.values())
            try:
                known[key] = known.get(key) or facts_in(folder, row["file"], study.body_model, forces=forces, **person)
                facts[row["file"]] = known[key]
            except UserError as error:
                findings += [Finding("error", row["file"], what, remedy) for _, what, remedy in error.problems]
    if wrong_model := of_body_model(study.body_model, by_session.values()):
        findings.append(wrong_model)  # instead of all that its markers and sizes lack
        study = replace(study, body_model=None)
    for session, rows in study.sessions.items():
        facts = by_session[session]
        findings += of_session(session, rows, facts, study.body_model, study.settings)
        findings += of_functional(session, rows, study.settings)
        findings += of_person(rows, facts, study.participants, study.settings, study.body_model)
        findings += of_legs(session, facts, study)
    for (file, *_), own in known.items():
        findings += of_file(file, own, study.settings)
    findings += of_emg_channels(study.settings, known.values())
    findings += [*_unlisted(study), *_newer_namesakes(folder)]
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.severity)


def as_text(findings: Sequence[Finding], folder: Path) -> str:
    """Return the findings as a table; equal findings share a row."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        places.setdefault((finding.severity, finding.what, finding.remedy), []).append(finding.where)
    rows = [("", "where", "what is wrong", "what to do")]
    for (severity, what, remedy), where in places.items():
        more = len(where) - MOST_LISTED
        listed = [*where[:MOST_LISTED], f"and {more} more"] if more > 1 else where
        rows.append((severity, "\n".join(listed), what, remedy))
    counts = Counter(severity for severity, *_ in places)
    total = " and ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items())
    lines = [aligned(rows, width=text_width()), ""] if findings else []
    lines.append(f"{folder}: {total or 'nothing wrong found'}.")
    if not counts["error"]:
        lines.append(f"Next: gaitlab run {shlex.quote(str(folder))}")
    return "\n".join(lines)


def _newer_namesakes(folder: Path) -> Iterator[Finding]:
    """Find spreadsheets and copies that were saved after the table that is read."""
    for table in (folder / name for name in TABLES if (folder / name).is_file()):
        for name in tsv.namesakes(table):
            if (folder / name).stat().st_mtime > table.stat().st_mtime + 1:
                what = f"newer than {table.name}, which is the file that is read"
                yield Finding("warning", name, what, f"if it is meant, {tsv.SAVE_AS} as {table.name}")


def _unlisted(study: Study) -> Iterator[Finding]:
    """Find participants without trials and recordings without a row."""
    with_trials = {row["participant_id"] for rows in study.sessions.values() for row in rows}
    for name in study.participants if study.sessions else ():
        if name not in with_trials:
            yield Finding("warning", name, "no trials to use in trials.tsv", "list some, or remove the participant")
    remedy = "'gaitlab init' proposes one; role 'exclude' leaves it out"
    for name in unlisted_recordings(study.path):
        yield Finding("warning", name, "in no row of trials.tsv", remedy)
