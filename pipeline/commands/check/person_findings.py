"""Problems of the sizes of a person: missing, estimated, in another unit, or contradicted by recordings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...body.body_model import BodyModel
from ...body.joint_centres import width_of_mass
from ...body.resolved_model import resolve
from ...errors import Problem, join_some, warning
from ...person.shown_sizes import ShownSizes
from ...person.size_findings import (
    ADULT_AGE_YEARS,
    ADULT_HEIGHT_M,
    DIFFERING_SIZES,
    MASS_WRONG,
    WALKING_MASS_ERROR,
    SessionSizes,
    check_sizes,
    find_differing_sizes,
    sizes_in_table,
)
from ...steps.read.recording_contents import Contents
from ...tables import tsv
from ...tables.session_table import row_with_sizes
from ...workflow.job_keys import Study
from ...workflow.settings import shipped_references

MOST_LISTED = 4


def of_person(
    rows: Sequence[tsv.Row],
    facts: Mapping[str, Contents],
    participants: Mapping[str, tsv.Row],
    chosen: Mapping[str, Any],
    model: BodyModel | None,
    own: tsv.Row | None = None,
    *,
    mass_needed: bool = True,
) -> Iterator[Problem]:
    """Find missing and implausible sizes of a session's person.

    Args:
        facts: by file, for the files that can be read.
        participants: rows of participants.tsv; a cell that is not a number counts as empty.
        chosen, model: settings and body model; empty and None if they cannot be read.
        own: the sizes of the session in sessions.tsv; None without a row.
        mass_needed: whether ``run`` rejects the session without a body mass.
    """
    person = rows[0]["participant_id"]
    person = rows[0]["session"] if person.lower() in tsv.ABSENT else person  # nobody is named yet
    shown = _shown_sizes(rows, facts)
    stated = shown.stated
    row = row_with_sizes(participants.get(person, {}), own, stated)
    static = next((facts[row["file"]] for row in rows if row["role"] == "static" and row["file"] in facts), None)
    if static and chosen and model:
        yield from _missing(person, {**stated, **sizes_in_table(row)}, static, chosen, model)
    table = str(chosen.get("calibrate", {}).get("segment_parameters"))
    row = {**row, "participant_id": person}
    yield from check_sizes(row, shown, segment_table=table, mass_needed=mass_needed)
    static_first = sorted((one for one in rows if one["file"] in facts), key=lambda one: one["role"] != "static")
    yield from find_differing_sizes(row, {one["file"]: facts[one["file"]].sizes for one in static_first})


def of_visits(study: Study, facts: Mapping[str, Mapping[str, Contents]]) -> Iterator[Problem]:
    """Find sizes that participants.tsv gives all sessions of a person alike, though their files show different ones.

    Args:
        facts: by session and file, for the files that can be read. Sessions in sessions.tsv have sizes of their own.
    """
    for person, sessions in study.people.items():
        shown = {name: _shown_sizes(study.sessions[name], facts[name]) for name in sessions}
        sizes = {
            name: {**one.stated, **({"mass_kg": one.masses()[0][1]} if one.masses() else {})}
            for name, one in shown.items()
            if name not in study.session_rows
        }
        for column in sizes_in_table(study.participants.get(person, {})):
            found = sorted((of[column], name) for name, of in sizes.items() if of.get(column, 0) > 0)
            limit = WALKING_MASS_ERROR if column == "mass_kg" else DIFFERING_SIZES
            if found and found[-1][0] > (1 + limit) * found[0][0]:
                texts = [f"{value:.3g} in {name}" for value, name in (found[0], found[-1])]
                what = f"{column} is {' but '.join(texts)}, by their files; participants.tsv has one for all sessions"
                remedy = (
                    f"write sessions.tsv with the {column} of each session; 'gaitlab init' writes it for a new study"
                )
                yield warning(person, what, remedy, "sizes_differ_between_sessions")
                break


def of_ages(study: Study, facts: Mapping[str, Mapping[str, Contents]]) -> Iterator[Problem]:
    """Find people without an age who are as tall as adults, in a study whose normal gait is of children.

    Args:
        facts: by session and file, for the files that can be read.
    """
    name = study.settings.get("study", {}).get("reference")
    if shipped_references().get(name, {}).get("ages", [0, ADULT_AGE_YEARS])[1] >= ADULT_AGE_YEARS:
        return
    tall = []
    for person, row in study.participants.items():
        sessions = study.people.get(person, [])
        sizes = [sizes_in_table(row), *(_shown_sizes(study.sessions[each], facts[each]).stated for each in sessions)]
        height_m = next((one["height_m"] for one in sizes if "height_m" in one), 0.0)
        if height_m >= ADULT_HEIGHT_M and row.get("age_years", "").lower() in tsv.ABSENT:
            tall.append(f"{person} ({height_m:.2f} m)")
    if tall:
        what = f"no age_years of people as tall as adults: {join_some(tall, MOST_LISTED)}"
        remedy = f"add it: without an age, nobody is scored against the children of {name}"
        yield warning("participants.tsv", what, remedy, "age_missing")


def with_visits(findings: Sequence[Problem], visits: Sequence[Problem]) -> list[Problem]:
    """Return findings; where sessions of a person show different masses, neither mass need be wrong."""
    grown = {visit.where for visit in visits if visit.what.startswith("mass_kg")}
    own = "give each session its mass_kg in sessions.tsv"
    changed = (one._replace(remedy=own) if one.code == MASS_WRONG and one.where in grown else one for one in findings)
    return [*changed, *visits]


def _shown_sizes(rows: Sequence[tsv.Row], facts: Mapping[str, Contents]) -> SessionSizes:
    static = next((facts[row["file"]] for row in rows if row["role"] == "static" and row["file"] in facts), None)
    walks = [facts[row["file"]].shown for row in rows if row["role"] == "gait" and row["file"] in facts]
    return SessionSizes.of(read_stated_sizes(rows, facts), static.shown if static else ShownSizes(), walks)


def read_stated_sizes(rows: Sequence[tsv.Row], facts: Mapping[str, Contents]) -> dict[str, float]:
    """Return the sizes in a session's files; the static wins, as in ``calibrate``."""
    ordered = sorted((row for row in rows if row["file"] in facts), key=lambda row: row["role"] == "static")
    return {name: value for row in ordered for name, value in facts[row["file"]].sizes.items()}


def _missing(
    person: str, sizes: Mapping[str, float], static: Contents, chosen: Mapping[str, Any], model: BodyModel
) -> Iterator[Problem]:
    """Yield the sizes that the body model or the hip centre needs, and neither files nor tables state."""
    needed = resolve(model, static.landmarks).find_needed_sizes(hip_centre=chosen["calibrate"]["hip_centre"])
    if {"leg_length_left_m", "leg_length_right_m"} & sizes.keys():  # one replaces the other
        needed = [name for name in needed if not name.startswith("leg_length")]
    if absent := [name for name in needed if name not in sizes]:
        what = f"no {', '.join(absent)}, needed by the body model or the hip centre"
        mass_kg = sizes.get("mass_kg", 0.0)
        by_mass = {width_of_mass(name, mass_kg): name.partition("_")[0] for name in absent if mass_kg}
        hints = [f"{joint} {width:.3f}" for width, joint in by_mass.items() if width]
        hint = f" (by body mass {', '.join(hints)})" if hints else ""
        yield Problem(person, what, f"measure and add to participants.tsv{hint}", "size_missing")
