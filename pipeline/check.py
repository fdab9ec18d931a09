"""``python -m pipeline check``: everything that is wrong with a study, before anything runs.

An ``error`` costs a trial, a session or the run; a ``warning`` costs a part of the results, or casts doubt on them.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pipeline import needs, settings, tables, workflow
from pipeline.body_model import SIDES, landmark_labels
from pipeline.c3d import read_c3d
from pipeline.errors import UserError, nearest
from pipeline.file_facts import Facts, facts_of
from pipeline.filters import design_cutoff_hz
from pipeline.initialise import c3d_files
from pipeline.text_table import aligned

T = TypeVar("T")

LARGEST_MASS_ERROR = 0.15
POUNDS_PER_KG = 2.2046
HEIGHT_RANGE_M = (0.3, 2.6)
MOST_LISTED = 4
WIDEST = 160


class Finding(NamedTuple):
    """One thing that is wrong: ``severity`` (error or warning), where, what, and what would be right."""

    severity: str
    where: str
    what: str
    remedy: str


@dataclass
class Content:
    """As much of a study's settings and tables as can be read, and what is wrong with them."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    body_model: Mapping[str, Any] = field(default_factory=dict)
    participants: Mapping[str, tables.Row] = field(default_factory=dict)
    sessions: Mapping[str, list[tables.Row]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def check(folder: Path) -> list[Finding]:
    """Return everything that is wrong with a study, errors first; each C3D file is read once.

    Raises:
        UserError: no such folder.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    study = _content(folder)
    findings, facts = list(study.findings), {}
    for file in dict.fromkeys(row["file"] for rows in study.sessions.values() for row in rows):
        try:
            facts[file] = facts_of(read_c3d(folder / file), study.body_model)
        except UserError as error:
            findings.append(_finding("error", file, str(error).removeprefix(f"{folder / file}: ")))
    findings += _unlisted(folder, study)
    for session, rows in study.sessions.items():
        findings += _session(session, rows, facts, study)
    for file, known in facts.items():
        findings += _file(file, known, study.settings)
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
        rows += [(severity, listed[0], what, remedy), *(("", name, "", "") for name in listed[1:])]
    errors = sum(finding.severity == "error" for finding in findings)
    counts = [
        f"{n} {name}{'s' * (n != 1)}" for n, name in ((errors, "error"), (len(findings) - errors, "warning")) if n
    ]
    width = min(shutil.get_terminal_size((120, 24)).columns, WIDEST)
    lines = (
        [aligned(rows, width=width), "", f"{' and '.join(counts)} in {folder}."]
        if findings
        else [f"{folder}: nothing wrong found."]
    )
    if not errors:
        lines.append(f"Next: snakemake --cores all --directory {shlex.quote(str(folder))}")
    return "\n".join(lines)


def _content(folder: Path) -> Content:
    """Return settings and tables; where they have errors, what can be read all the same."""
    try:
        study = workflow.open_study(folder)
    except UserError as error:
        findings = [_table_finding(line) for line in str(error).splitlines()]
    else:
        return Content(study.settings, study.body_model, study.participants, study.sessions)

    def attempt(function: Callable[[], T], default: T) -> T:
        try:
            return function()
        except UserError:
            return default

    own = attempt(lambda: settings.read_yaml(folder / "study.yaml"), {})
    chosen, model = attempt(lambda: settings.load_settings(own, where="study.yaml", study_path=folder), ({}, {}))
    people = attempt(lambda: tables.read_table(folder / "participants.tsv", required=("participant_id",)), [])
    participants = {row["participant_id"]: row for row in people}
    sessions = attempt(lambda: tables.read_trials(folder / "trials.tsv", participants), {})
    if not sessions:
        findings.append(Finding("error", "C3D files", "not looked at", "correct trials.tsv and check again"))
    return Content(chosen, model, participants, sessions, findings)


def _table_finding(line: str) -> Finding:
    """Turn a problem of settings or tables, ``where: what; remedy``, into a finding."""
    where, _, text = line.partition(": ")
    finding = _finding("error", where, text)
    if length := re.search(r"(\w+)_m is ([\d.]+)$", finding.what):
        value = float(length[2])
        metres = value / (100 if value < (300 if length[1] == "height" else 20) else 1000)
        return finding._replace(remedy=f"give metres: {metres:g}?")
    return finding


def _finding(severity: str, where: str, text: str) -> Finding:
    """Take a message apart into what is wrong and what to do."""
    for pattern in (r"(.*); (.+)", r"(.*), (expected .+)", r"(.*\)): (.+)", r"(.*) \((.+)\)"):
        if parts := re.fullmatch(pattern, text):
            return Finding(severity, where, parts[1], parts[2])
    return Finding(severity, where, text, "")


def _unlisted(folder: Path, study: Content) -> Iterator[Finding]:
    """Find participants without trials and C3D files without a row."""
    with_trials = {row["participant_id"] for rows in study.sessions.values() for row in rows}
    for name in study.participants if study.sessions else ():
        if name not in with_trials:
            yield Finding("warning", name, "no trials in trials.tsv", "list them, or remove the participant")
    try:
        listed = {row["file"] for row in tables.read_table(folder / "trials.tsv", required=("file",))}
        for name in set(c3d_files(folder)) - {Path(file).as_posix() for file in listed}:
            yield Finding(
                "warning", name, "in no row of trials.tsv", "add a row, role 'exclude' if it is not to be used"
            )
    except UserError:  # said already
        return


def _file(file: str, facts: Facts, chosen: Mapping[str, Any]) -> Iterator[Finding]:
    """Find what is wrong with a file whatever its role."""
    rates = {
        "marker_cutoff_hz": facts.marker_rate_hz,
        "force_cutoff_hz": facts.force_rate_hz if facts.plate_count else 0,
    }
    for name, rate_hz in rates.items():
        cutoff_hz = chosen.get("clean", {}).get(name)
        try:
            if cutoff_hz and rate_hz:
                design_cutoff_hz(cutoff_hz, rate_hz, order=2)
        except UserError as error:
            yield _finding("error", file, f"clean.{name}: {error}")
    if facts.may_name_a_person:
        what = "SUBJECTS:NAMES may hold a person's name"
        yield Finding("warning", file, what, "put the participant's id there before the file is passed on")


def _session(session: str, rows: Sequence[tables.Row], facts: Mapping[str, Facts], study: Content) -> Iterator[Finding]:
    """Find what is wrong with a session: its static trial, its walking trials, the person's sizes."""
    static = next((row["file"] for row in rows if row["role"] == "static"), None)
    gait = [row["file"] for row in rows if row["role"] == "gait"]
    if static is None:
        yield _no_static(session, gait, facts, study.body_model)
    if not gait:
        yield Finding("warning", session, "no trial of role gait", "list one in trials.tsv")
    if study.body_model:
        if static in facts:
            yield from _static(str(static), facts[str(static)], study.body_model)
        for file in dict.fromkeys(gait):
            if file in facts:
                seen = facts[str(static)].seen if static in facts else facts[file].seen
                yield from _gait(file, facts[file], seen, study.body_model)
    yield from _sizes(session, rows, facts, study)


def _no_static(session: str, gait: Iterable[str], facts: Mapping[str, Facts], model: Mapping[str, Any]) -> Finding:
    complete = [
        file for file in gait if model and file in facts and not needs.lacking_when_static(model, facts[file].seen)
    ]
    remedy = "list one in trials.tsv with role static"
    if complete:
        remedy += f"; {complete[0]} shows every marker and may stand in a second row"
    return Finding("error", session, "no static trial", remedy)


def _static(file: str, facts: Facts, model: Mapping[str, Any]) -> Iterator[Finding]:
    if lacking := needs.lacking_when_static(model, facts.seen):
        yield _lacks("error", file, lacking, facts, model)
    elif facts.heading_problem:
        yield _finding("error", file, facts.heading_problem)
    if facts.extent_m >= needs.STANDING_M:
        what = f"static trial in which markers move by {facts.extent_m:.2g} m"
        yield Finding("warning", file, what, "use a file in which the person stands still")


def _gait(file: str, facts: Facts, static: frozenset[str], model: Mapping[str, Any]) -> Iterator[Finding]:
    if lacking := needs.lacking_in_motion(model, facts.seen, static):
        both = all(any(side in name or "pelvis" in name for name in lacking) for side in SIDES)
        yield _lacks("error" if both else "warning", file, lacking, facts, model)
    if facts.heading_problem:
        yield _finding("error", file, facts.heading_problem)
    if not facts.plate_count and not facts.plate_problems:
        yield Finding("warning", file, "no force plate", "angles only; for moments export it with FORCE_PLATFORM")
    for problem in facts.plate_problems:
        yield _finding("warning", file, problem)


def _lacks(severity: str, file: str, lacking: Sequence[str], facts: Facts, model: Mapping[str, Any]) -> Finding:
    """Name what a file lacks, with the labels looked for and the nearest one that is there."""
    known, listed = landmark_labels(model), []
    for name in lacking[:MOST_LISTED]:
        groups = known.get(name, [])
        text = " or ".join(" + ".join(group) for group in groups)
        if any(set(group) <= set(facts.labels) for group in groups):
            text += " is never visible"
        elif groups:
            text += nearest(groups[0][0], facts.labels)
        listed.append(name.replace("_", " ") + (f" ({text})" if text else ""))
    if len(lacking) > MOST_LISTED:
        listed.append(f"{len(lacking) - MOST_LISTED} more")
    none = not facts.seen
    what = f"no marker of body model {model['name']}" if none else f"lacks {', '.join(listed)}"
    remedy = (
        "choose the body_model with these labels, or write one"
        if none
        else "label them, or name their labels in the body model"
    )
    return Finding(severity, file, what, remedy)


def _sizes(session: str, rows: Sequence[tables.Row], facts: Mapping[str, Facts], study: Content) -> Iterator[Finding]:
    """Find sizes of the person that are missing or cannot be."""
    person = rows[0]["participant_id"]
    files = [row["file"] for row in sorted(rows, key=lambda row: row["role"] == "static") if row["file"] in facts]
    stated: dict[str, float] = {}
    for file in files:
        stated |= facts[file].sizes
    sizes = stated | _cells(study.participants.get(person, {}))
    static = next((row["file"] for row in rows if row["role"] == "static" and row["file"] in facts), None)
    if static and study.body_model:
        hip_centre = study.settings["calibrate"]["hip_centre"]
        needed = needs.needed_sizes(study.body_model, facts[static].seen, hip_centre=hip_centre)
        legs = any(name.startswith("leg_length") for name in sizes)  # one leg stands in for the other
        if absent := [name for name in needed if name not in sizes and not (legs and name.startswith("leg_length"))]:
            yield Finding(
                "error",
                person,
                f"no {', '.join(absent)}, which body model and hip centre need",
                "measure and add to participants.tsv",
            )
    height = sizes.get("height_m", HEIGHT_RANGE_M[0])
    if not HEIGHT_RANGE_M[0] <= height <= HEIGHT_RANGE_M[1]:
        yield Finding(
            "warning", person, f"the C3D files state a height of {height:g} m", "give height_m in participants.tsv"
        )
    if "mass_kg" not in sizes:
        yield Finding("error", person, "no body mass, neither in participants.tsv nor in the C3D files", "give mass_kg")
        return
    gravity = study.settings.get("kinetics", {}).get("gravity_m_s2", 9.80665)
    if static and facts[static].weight_n > 0:
        yield from _wrong_mass(
            person, sizes["mass_kg"], facts[static].weight_n / gravity, "the plates in the static trial show"
        )
    elif "mass_kg" in stated:
        yield from _wrong_mass(person, sizes["mass_kg"], stated["mass_kg"], "the C3D files state")


def _cells(row: tables.Row) -> dict[str, float]:
    """Return the sizes in a row of participants.tsv; cells that are not numbers have been found already."""
    found = {}
    for column in ("mass_kg", "height_m", *tables.ANTHROPOMETRY):
        try:
            value = tables.number(row, column, where="")
        except UserError:
            continue
        if value:
            found[column] = value
    return found


def _wrong_mass(person: str, mass_kg: float, other_kg: float, source: str) -> Iterator[Finding]:
    ratio = mass_kg / other_kg
    if abs(ratio - 1) <= LARGEST_MASS_ERROR:
        return
    pounds = abs(ratio / POUNDS_PER_KG - 1) <= LARGEST_MASS_ERROR
    what = f"mass_kg is {mass_kg:g}, but {source} {other_kg:.1f} kg"
    yield Finding(
        "error" if pounds else "warning",
        person,
        what,
        "pounds? give kilograms" if pounds else "correct the one that is wrong",
    )
