"""Problems of the sizes of a person: missing, estimated, in another unit, or contradicted by recordings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...body.body_model import BodyModel
from ...body.joint_centres import width_of_mass
from ...body.resolved_model import resolve
from ...errors import Problem
from ...person.shown_sizes import ShownSizes
from ...person.size_findings import SessionSizes, check_sizes, find_differing_sizes, sizes_in_table
from ...steps.read.recording_contents import Contents
from ...tables import tsv


def of_person(
    rows: Sequence[tsv.Row],
    facts: Mapping[str, Contents],
    participants: Mapping[str, tsv.Row],
    chosen: Mapping[str, Any],
    model: BodyModel | None,
) -> Iterator[Problem]:
    """Find missing and implausible sizes of a session's person.

    Args:
        facts: by file, for the files that can be read.
        participants: rows of participants.tsv; a cell that is not a number counts as empty.
        chosen, model: settings and body model; empty and None if they cannot be read.
    """
    person = rows[0]["participant_id"]
    row = participants.get(person, {})
    stated = read_stated_sizes(rows, facts)
    static = next((facts[row["file"]] for row in rows if row["role"] == "static" and row["file"] in facts), None)
    if static and chosen and model:
        yield from _missing(person, {**stated, **sizes_in_table(row)}, static, chosen, model)
    walks = [facts[row["file"]].shown for row in rows if row["role"] == "gait" and row["file"] in facts]
    shown = SessionSizes.of(stated, static.shown if static else ShownSizes(), walks)
    table = str(chosen.get("calibrate", {}).get("segment_parameters"))
    row = {**row, "participant_id": person}
    yield from check_sizes(row, shown, segment_table=table)
    static_first = sorted((one for one in rows if one["file"] in facts), key=lambda one: one["role"] != "static")
    yield from find_differing_sizes(row, {one["file"]: facts[one["file"]].sizes for one in static_first})


def read_stated_sizes(rows: Sequence[tsv.Row], facts: Mapping[str, Contents]) -> dict[str, float]:
    """Return the sizes in a session's files; the static wins, as in ``calibrate``."""
    ordered = sorted((row for row in rows if row["file"] in facts), key=lambda row: row["role"] == "static")
    return {name: value for row in ordered for name, value in facts[row["file"]].sizes.items()}


def _missing(
    person: str, sizes: Mapping[str, float], static: Contents, chosen: Mapping[str, Any], model: BodyModel
) -> Iterator[Problem]:
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
