"""``python -m pipeline check``: everything that is wrong with a study, before anything runs."""

from __future__ import annotations

import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipeline import settings, tables
from pipeline.c3d import read_c3d
from pipeline.errors import UserError
from pipeline.file_facts import facts_of
from pipeline.findings import Finding, finding_of, of_file, of_session
from pipeline.initialise import c3d_files
from pipeline.text_table import aligned
from pipeline.workflow import Study, refuse_lost_records

MOST_LISTED = 4
WIDEST = 160


def check(folder: Path) -> list[Finding]:
    """Return everything that is wrong with a study, errors first; each C3D file is read once.

    Nothing is written.

    Raises:
        UserError: no such folder, or one without study.yaml.
    """
    if not (folder / "study.yaml").is_file():
        what = "no study.yaml there; 'python -m pipeline init' writes one" if folder.is_dir() else "no such folder"
        raise UserError(f"{folder}: {what}")
    study, findings = _study(folder)
    facts = {}
    for file in dict.fromkeys(row["file"] for rows in study.sessions.values() for row in rows):
        try:
            facts[file] = facts_of(read_c3d(folder / file), study.body_model)
        except UserError as error:
            findings.append(finding_of("error", file, str(error).removeprefix(f"{folder / file}: ")))
    for session, rows in study.sessions.items():
        findings += of_session(session, rows, facts, study)
    for file, known in facts.items():
        findings += of_file(file, known, study.settings)
    findings += _unlisted(study)
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.severity)


def as_text(findings: Sequence[Finding], folder: Path) -> str:
    """Return the findings as a table; what is wrong in many places alike is one row."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        places.setdefault((finding.severity, finding.what, finding.remedy), []).append(finding.where)
    rows = [("", "where", "what is wrong", "what to do")]
    for (severity, what, remedy), where in places.items():
        more = len(where) - MOST_LISTED
        listed = [*where[:MOST_LISTED], f"and {more} more"] if more > 1 else where
        rows.append((severity, "\n".join(listed), what, remedy))
    counts = Counter(severity for severity, *_ in places)
    said = " and ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items())
    width = min(shutil.get_terminal_size((120, 24)).columns, WIDEST)
    lines = [aligned(rows, width=width), ""] if findings else []
    lines.append(f"{folder}: {said or 'nothing wrong found'}.")
    if not counts["error"]:
        lines.append(f"Next: snakemake --cores all --directory {shlex.quote(str(folder))}")
    return "\n".join(lines)


def _study(folder: Path) -> tuple[Study, list[Finding]]:
    """Return the study and what is wrong with its settings and tables; of these, what can be read all the same.

    The same checks as :func:`pipeline.workflow.open_study`, which stops there and keeps a cache in the study.
    """
    lines: list[str] = []

    def attempt(function: Callable[[], Any], default: Any) -> Any:
        try:
            return function()
        except UserError as error:
            lines.extend(str(error).splitlines())
            return default

    where: dict[str, Any] = {"where": "study.yaml", "study_path": folder}
    chosen, model = {}, {}
    own = attempt(lambda: settings.read_yaml(folder / "study.yaml"), None)
    if own is not None:
        chosen, model = attempt(lambda: settings.load_settings(own, **where), ({}, {}))
    if own and not model:
        model = attempt(lambda: settings.load_body_model(str(own.get("body_model", "")), **where), {})
    participants = attempt(lambda: tables.read_participants(folder / "participants.tsv"), {})
    if not participants:
        with suppress(UserError):
            rows = tables.read_table(folder / "participants.tsv", required=("participant_id",))
            participants = {row["participant_id"]: row for row in rows}
    sessions: dict[str, list[tables.Row]] = {}
    if participants:
        sessions = attempt(lambda: tables.read_trials(folder / "trials.tsv", participants), sessions)
        attempt(lambda: tables.read_segments(folder / "segments.tsv", participants), {})
    attempt(lambda: refuse_lost_records(folder), None)
    findings = [_table_finding(line) for line in dict.fromkeys(lines)]
    if not sessions:
        findings.append(Finding("error", "C3D files", "not looked at", "put the tables right and check again"))
    return Study(folder, chosen, model, participants, sessions, {}, {}), findings


def _table_finding(line: str) -> Finding:
    """Turn a problem of settings or tables, ``where: what; remedy``, into a finding."""
    where, _, text = line.partition(": ")
    finding = finding_of("error", where, text)
    if length := re.search(r"(\w+)_m is ([\d.]+)$", finding.what):
        value = float(length[2])
        in_cm = value < (300 if length[1] == "height" else 20)
        return finding._replace(remedy=f"give metres: {value / (100 if in_cm else 1000):g}?")
    return finding


def _unlisted(study: Study) -> Iterator[Finding]:
    """Find participants without trials and C3D files without a row."""
    with_trials = {row["participant_id"] for rows in study.sessions.values() for row in rows}
    for name in study.participants if study.sessions else ():
        if name not in with_trials:
            yield Finding("warning", name, "no trials to use in trials.tsv", "list some, or remove the participant")
    with suppress(UserError):  # no table, no files: said already
        listed = {Path(row["file"]) for row in tables.read_table(study.path / "trials.tsv", required=("file",))}
        for name in c3d_files(study.path):
            if Path(name) not in listed:
                yield Finding("warning", name, "in no row of trials.tsv", "add one; role 'exclude' leaves the file out")
