"""``gaitlab check``: every problem of a study, before anything runs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...conventions import NO_STATIC
from ...errors import ERROR, Problem, UserError, as_argument, as_json, gather_alike, in_the_same_words, warning
from ...opensim_files.mot import FORCES, OTHERS
from ...steps.read.recording_contents import Contents, look_through
from ...tables import corrections, study_tables, tsv
from ...tables.terminal_table import align, text_width
from ...workflow.job_keys import Study
from ...workflow.open_study import look_at
from ...workflow.places import find_wrong_places
from ...workflow.preparation import refuse_lost_records
from ...workflow.settings import NO_BODY_MODEL
from ..shared.find_recordings import find_foreign_forces, find_unlisted, unclaimed_tables
from .correction_findings import of_corrections
from .file_findings import of_emg_channels, of_equipment, of_file
from .leg_findings import of_legs
from .person_findings import of_ages, of_person, of_visits, with_visits
from .session_findings import of_emg_reference, of_functional, of_session
from .settings_findings import of_body_model, of_cutoffs
from .visit_findings import of_bodies, of_conditions, of_dates_and_order, of_left_out

TABLES = ("participants.tsv", "trials.tsv", "sessions.tsv", "segments.tsv", corrections.TABLE)
MOST_LISTED = 4
FEWEST_ALIKE = 3  # markers with the same numbers, of a copy


class Key(NamedTuple):
    """A recording of a study, and the person in it."""

    file: str
    forces: str
    subject: str
    participant: str


def report_findings(folder: Path, *, json: bool) -> tuple[str, int]:
    """Return the findings of :func:`check` as a table or as JSON, and 1 if one is an error."""
    findings = check(folder)
    text = as_json(findings) if json else as_text(in_the_same_words(gather_alike(findings)), folder)
    return text, int(any(finding.severity == ERROR for finding in findings))


def check(folder: Path) -> list[Problem]:
    """Return every problem of a study, errors first; refuse a folder without study.yaml. Nothing is written."""
    study, problems = look_at(folder)
    try:
        refuse_lost_records(folder)
    except UserError as error:
        problems += error.problems
    problems += find_wrong_places(study)
    rows = study.every_correction
    problems += corrections.changed_recordings(rows, study.sessions, study.digests_of_corrected(rows))
    findings = [problem.of_kind("study_file_wrong") for problem in problems]
    findings += of_corrections(study)
    if not study.sessions:
        remedy = "correct the tables and check again"
        findings.append(Problem("C3D files", "not checked", remedy, "recordings_not_checked"))
    recordings = _look_through_all(study)
    findings += _find_unusable(recordings, folder)
    by_session = {
        session: {
            row["file"]: one
            for row in rows
            if row["role"] != "equipment" and not (one := recordings[_key_of(row, study)]).problems
        }
        for session, rows in study.sessions.items()
    }
    unset = [finding for finding in findings if finding.what == NO_BODY_MODEL]
    modelled = by_session.values() if study.body_model or unset else ()
    if wrong_model := of_body_model(study.body_model, modelled):
        findings = [finding for finding in findings if finding not in unset]
        findings.append(wrong_model)  # instead of all that its markers and sizes lack
        study = replace(study, body_model=None)
    for session, rows in study.sessions.items():
        findings += _of_session(session, rows, by_session[session], study)
    findings = with_visits(findings, [*of_visits(study, by_session)])
    findings += of_ages(study, by_session)
    findings += [*of_dates_and_order(study, date.today()), *of_bodies(study, by_session), *of_conditions(study)]
    findings += of_left_out(tsv.rows_of(folder / "trials.tsv", required=("participant_id", "file"))[0], study.sessions)
    findings += _of_files(study, [recording for recording in recordings.values() if not recording.problems])
    findings += [*_find_unlisted(study), *_newer_namesakes(folder)]
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.severity)


def _find_unusable(recordings: Mapping[Key, Contents], folder: Path) -> Iterator[Problem]:
    for (file, *_), recording in recordings.items():
        for problem in recording.problems:
            is_of_forces = recording.forces and problem.where == str(folder / recording.forces)
            where = recording.forces if is_of_forces else file
            yield problem._replace(where=where).of_kind("recording_unusable")


def _of_session(session: str, rows: list[tsv.Row], facts: Mapping[str, Contents], study: Study) -> Iterator[Problem]:
    of_trials = [*of_session(session, rows, facts, study.body_model, study.settings)]
    yield from of_trials
    yield from of_functional(session, rows, study.settings)
    yield from of_emg_reference(session, rows, study.settings)
    yield from of_person(
        rows, facts, study.participants, study.settings, study.body_model, study.own_sizes(session),
        mass_needed=NO_STATIC not in {one.code for one in of_trials},
    )  # fmt: skip
    yield from of_legs(session, facts, study)


def _of_files(study: Study, readable: Sequence[Contents]) -> Iterator[Problem]:
    """Yield the findings of recordings, whatever their sessions."""
    rows = [row for rows in study.sessions.values() for row in rows]
    equipment, walks = ({row["file"] for row in rows if row["role"] == role} for role in ("equipment", "gait"))
    for recording in readable:
        yield from of_file(recording.name, recording, study.settings)
        if recording.name in equipment:
            yield from of_equipment(recording.name, recording)
    yield from of_cutoffs(study.settings)
    yield from of_emg_channels(study.settings, readable)
    yield from _find_copies([recording for recording in readable if recording.name in walks])


def _look_through_all(study: Study) -> dict[Key, Contents]:
    """Return what the recordings of a study contain, each file once for a person."""
    models = {study.body_model.name: study.body_model} if study.body_model else {}
    keys = list(dict.fromkeys(_key_of(row, study) for rows in study.sessions.values() for row in rows))
    return {
        key: look_through(
            study.path, key.file, models, forces=key.forces, subject=key.subject, participant=key.participant,
            following=following.file if following else "",
        )
        for key, following in zip_longest(keys, keys[1:])
    }  # fmt: skip


def _key_of(row: tsv.Row, study: Study) -> Key:
    return Key(row["file"], study_tables.forces_of(row), **study_tables.person_of(row, study.participants))


def as_text(findings: Sequence[Problem], folder: Path) -> str:
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
    lines = [align(rows, width=text_width()), ""] if findings else []
    lines.append(f"{folder}: {total or 'nothing wrong found'}.")
    if not counts["error"]:
        lines.append(f"Next: gaitlab run {as_argument(folder)}")
    return "\n".join(lines)


def _newer_namesakes(folder: Path) -> Iterator[Problem]:
    """Find spreadsheets and copies that were saved after the table that is read."""
    for table in (folder / name for name in TABLES if (folder / name).is_file()):
        for name in tsv.namesakes(table):
            if (folder / name).stat().st_mtime > table.stat().st_mtime + 1:
                what = f"newer than {table.name}, which is the file that is read"
                yield warning(name, what, f"if it is meant, {tsv.SAVE_AS} as {table.name}", "table_older_than_copy")


def _find_copies(recordings: Sequence[Contents]) -> Iterator[Problem]:
    """Find walks of one motion: markers with the same numbers where seen, which noise gives only once."""
    first: dict[bytes, str] = {}
    for name, markers in {one.name: one.recording.markers for one in recordings}.items():
        seen = [path[np.isfinite(path).all(axis=1)] for path in np.moveaxis(markers, 1, 0)]
        paths = {path.tobytes() for path in seen if (path != path[:1]).any()}
        for of, count in Counter(first[path] for path in paths & first.keys()).most_common(1):
            if count >= FEWEST_ALIKE:
                remedy = "keep one of them in trials.tsv, or it counts twice"
                yield warning(name, f"has the same motion as {of}", remedy, "recording_is_copy")
        first = dict.fromkeys(paths, name) | first


def _find_unlisted(study: Study) -> Iterator[Problem]:
    """Find participants without trials, recordings without a row, and forces that no row names."""
    with_trials = {row["participant_id"] for rows in study.sessions.values() for row in rows}
    for name in study.participants if with_trials and with_trials.isdisjoint(tsv.ABSENT) else ():
        if name not in with_trials:
            what = "no trials to use in trials.tsv"
            yield warning(name, what, "list some, or remove the participant", "participant_without_trials")
    every_row = tsv.rows_of(study.path / "trials.tsv", required=("file",))[0]  # also those of role exclude
    claimed = {study_tables.forces_of(row) for row in every_row}
    for holds, names in unclaimed_tables(study.path, claimed).items():
        for name in names if holds != OTHERS else ():
            what = f"holds {holds}, and no row of trials.tsv names it"
            remedy = "name it in the column forces, in the row of its TRC file" if holds == FORCES else "nothing"
            yield warning(name, what, remedy, "forces_of_no_recording")
    without_forces = [
        row["file"] for row in every_row if row.get("role") != "exclude" and not study_tables.forces_of(row)
    ]
    for name in find_foreign_forces(study.path, without_forces):
        what = "holds forces in the form of another program, which is not read"
        yield warning(name, what, "export a C3D file, or a MOT file with the forces", "forces_of_no_recording")
    remedy = "'gaitlab init' proposes one; role 'exclude' leaves it out"
    for name in find_unlisted(study.path):
        yield warning(name, "in no row of trials.tsv", remedy, "recording_not_listed")
