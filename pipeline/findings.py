"""What can be wrong with the files, the sessions and the participants of a study.

An ``error`` costs a trial, a session or the run; a ``warning`` costs a part of the results, or casts doubt on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pipeline import needs, tables
from pipeline.body_model import SIDES, landmark_labels
from pipeline.errors import UserError, nearest
from pipeline.file_facts import Facts
from pipeline.filters import design_cutoff_hz
from pipeline.workflow import Study

LARGEST_MASS_ERROR = 0.15
POUNDS_PER_KG = 2.2046
STANDARD_GRAVITY_M_S2 = 9.80665
HEIGHT_RANGE_M = (0.3, 2.6)
MOST_LISTED = 4


class Finding(NamedTuple):
    """One thing that is wrong: ``severity`` (error or warning), where, what, and what would be right."""

    severity: str
    where: str
    what: str
    remedy: str


def finding_of(severity: str, where: str, text: str) -> Finding:
    """Take a message apart into what is wrong and what to do."""
    for pattern in (r"(.*); (.+)", r"(.*), (expected .+)", r"(.*\)): (.+)", r"(.*) \((.+)\)"):
        if parts := re.fullmatch(pattern, text):
            return Finding(severity, where, parts[1], parts[2])
    return Finding(severity, where, text, "")


def of_file(file: str, facts: Facts, chosen: Mapping[str, Any]) -> Iterator[Finding]:
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
            yield finding_of("error", file, f"clean.{name}: {error}")
    if facts.may_name_a_person:
        what = "SUBJECTS:NAMES may hold a person's name"
        yield Finding("warning", file, what, "put the participant's id there before the file is passed on")


def of_session(session: str, rows: Sequence[tables.Row], facts: Mapping[str, Facts], study: Study) -> Iterator[Finding]:
    """Find what is wrong with a session: its static trial, its walking trials, the person's sizes.

    Args:
        session: its name.
        rows: its rows of trials.tsv.
        facts: of each file that can be read.
        study: settings and tables; empty where they cannot be read.
    """
    static = next((row["file"] for row in rows if row["role"] == "static"), "")
    gait = list(dict.fromkeys(row["file"] for row in rows if row["role"] == "gait"))
    readable = [file for file in gait if file in facts]
    model = study.body_model
    if not static:
        complete = [file for file in readable if model and not needs.lacking_when_static(model, facts[file].seen)]
        hint = f"; {complete[0]} shows every marker: it may stand in a second row" if complete else ""
        yield Finding("error", session, "no static trial", f"list one in trials.tsv with role static{hint}")
    if not gait:
        yield Finding("warning", session, "no trial of role gait", "list one in trials.tsv")
    if model:
        if static in facts:
            yield from _static(static, facts[static], model)
        for file in readable:
            yield from _gait(file, facts[file], facts.get(static, facts[file]).seen, model)
    last = [row["file"] for row in rows if row["role"] != "static"] + [static]
    stated = {name: value for file in last if file in facts for name, value in facts[file].sizes.items()}
    yield from _sizes(rows[0]["participant_id"], stated, facts.get(static), study)


def _static(file: str, facts: Facts, model: Mapping[str, Any]) -> Iterator[Finding]:
    if lacking := needs.lacking_when_static(model, facts.seen):
        yield _lacks("error", file, lacking, facts, model)
    elif facts.heading_problem:
        yield finding_of("error", file, facts.heading_problem)
    if facts.extent_m >= needs.STANDING_M:
        what = f"static trial in which markers move by {facts.extent_m:.2g} m"
        yield Finding("warning", file, what, "use a file in which the person stands still")


def _gait(file: str, facts: Facts, static: frozenset[str], model: Mapping[str, Any]) -> Iterator[Finding]:
    if lacking := needs.lacking_in_motion(model, facts.seen, static):
        both = all(any(side in name or "pelvis" in name for name in lacking) for side in SIDES)
        yield _lacks("error" if both else "warning", file, lacking, facts, model)
    elif facts.heading_problem:
        yield finding_of("error", file, facts.heading_problem)
    if not facts.plate_count and not facts.plate_problems:
        yield Finding("warning", file, "no force plate", "angles only; for moments export it with FORCE_PLATFORM")
    problems = [finding_of("warning", file, problem) for problem in facts.plate_problems]
    for remedy in dict.fromkeys(problem.remedy for problem in problems):
        alike = [problem for problem in problems if problem.remedy == remedy]
        yield alike[0]._replace(what=alike[0].what + (f" (and {len(alike) - 1} more plates)" if alike[1:] else ""))


def _lacks(severity: str, file: str, lacking: Sequence[str], facts: Facts, model: Mapping[str, Any]) -> Finding:
    """Name what a file lacks, with the labels looked for and the nearest one that is there."""
    known, listed = landmark_labels(model), []
    taken = {label for groups in known.values() for group in groups for label in group}
    free = [label for label in facts.labels if label not in taken]
    for name in lacking[:MOST_LISTED]:
        groups = known.get(name, [])
        text = " or ".join(" + ".join(group) for group in groups)
        if any(set(group) <= set(facts.labels) for group in groups):
            text += " is never visible"
        elif groups:
            text += nearest(groups[0][0], free)
        listed.append(name.replace("_", " ") + (f" ({text})" if text else ""))
    if len(lacking) > MOST_LISTED:
        listed.append(f"{len(lacking) - MOST_LISTED} more")
    if not facts.seen:
        what = f"no marker of body model {model['name']}"
        return Finding(severity, file, what, "choose the body_model with these labels, or write one")
    remedy = "label them, or name their labels in the body model"
    return Finding(severity, file, f"lacks {', '.join(listed)}", remedy)


def _sizes(person: str, stated: Mapping[str, float], static: Facts | None, study: Study) -> Iterator[Finding]:
    """Find sizes that are missing or cannot be, given those the session's files state."""
    cells = _cells(study.participants.get(person, {}))
    sizes = {**stated, **cells}
    if static and study.settings:
        hip_centre = study.settings["calibrate"]["hip_centre"]
        needed = needs.needed_sizes(study.body_model, static.seen, hip_centre=hip_centre)
        if {"leg_length_left_m", "leg_length_right_m"} & sizes.keys():  # one stands in for the other
            needed = [name for name in needed if not name.startswith("leg_length")]
        if absent := [name for name in needed if name not in sizes]:
            what = f"no {', '.join(absent)}, which body model or hip centre needs"
            yield Finding("error", person, what, "measure, and add to participants.tsv")
    if "height_m" not in cells and not HEIGHT_RANGE_M[0] <= stated.get("height_m", 1.0) <= HEIGHT_RANGE_M[1]:
        what = f"the C3D files state a height of {stated['height_m']:g} m"
        yield Finding("warning", person, what, "give height_m in participants.tsv")
    if "mass_kg" not in sizes:
        what = "no body mass, neither in participants.tsv nor in the C3D files"
        yield Finding("error", person, what, "give mass_kg")
    elif static and static.weight_n > 0:
        shown_kg = static.weight_n / study.settings.get("kinetics", {}).get("gravity_m_s2", STANDARD_GRAVITY_M_S2)
        yield from _wrong_mass(person, sizes["mass_kg"], shown_kg, "the plates under the static trial show")
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
    if abs(ratio - 1) > LARGEST_MASS_ERROR:
        pounds = abs(ratio / POUNDS_PER_KG - 1) <= LARGEST_MASS_ERROR
        remedy = f"pounds? {mass_kg / POUNDS_PER_KG:.4g} kg" if pounds else "correct the one that is wrong"
        what = f"mass_kg is {mass_kg:g}, but {source} {other_kg:.1f}"
        yield Finding("error" if pounds else "warning", person, what, remedy)
