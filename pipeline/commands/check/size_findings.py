"""Problems of the sizes of a person: missing, in another unit, or contradicted by recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...body import requirements
from ...body.body_model import BodyModel
from ...body.requirements import width_of_mass
from ...conventions import SIDES, STANDARD_GRAVITY_M_S2
from ...errors import UserError
from ...tables import study_tables, tsv
from ..recording_facts import Facts
from .findings import Finding

TABLES_BY_SEX = ("de_leva", "dumas")
ESTIMATE = "estimate"  # start of the cells mass_source, width_source and leg_length_source for what init has estimated
POUNDS_PER_KG = 2.2046
# Measured on 14 sessions: plates under a static show the stated mass within 4 %, a walk within 6 %; clothes, shoes
# and the time since it was asked make more.
STANDING_MASS_ERROR, WALKING_MASS_ERROR = 0.10, 0.12
# Standing, 12 people of 1.45 to 1.83 m: heel to ASIS is 0.54 to 0.60 of the height, 1.03 to 1.13 leg lengths.
LEG_PER_HEIGHT, LEG_PER_LEG_LENGTH = (0.46, 0.70), (0.88, 1.30)


def of_sizes(
    rows: Sequence[tsv.Row],
    facts: Mapping[str, Facts],
    participants: Mapping[str, tsv.Row],
    chosen: Mapping[str, Any],
    model: BodyModel | None,
) -> Iterator[Finding]:
    """Find missing and implausible sizes of a session's person.

    Args:
        rows: the session's rows of trials.tsv.
        facts: by file, for the files that can be read.
        participants: rows of participants.tsv; a cell that is not a number counts as empty.
        chosen, model: settings and body model; empty and None if they cannot be read.
    """
    person = rows[0]["participant_id"]
    row = participants.get(person, {})
    cells = _cells(row)
    stated = stated_sizes(rows, facts)
    static = next((facts[row["file"]] for row in rows if row["role"] == "static" and row["file"] in facts), None)
    if static and chosen and model:
        yield from _missing(person, {**stated, **cells}, static, chosen, model)
    table = str(chosen.get("calibrate", {}).get("segment_parameters"))
    if table in TABLES_BY_SEX and row.get("sex") not in ("M", "F"):
        what = f"no sex, which the table {table} needs"
        yield Finding("warning", person, what, "give M or F; otherwise the mean of both is used")
    if row.get("mass_source", "").startswith(ESTIMATE) and "mass_kg" in cells:
        what = f"mass_kg is an {row['mass_source']}"
        yield Finding("warning", person, what, "weigh the person or ask, then clear the cell mass_source")
    widths = [name for name in cells if "_width_" in name]
    if row.get("width_source", "").startswith(ESTIMATE) and widths:
        what = f"joint widths are an {row['width_source']}"
        yield Finding("warning", person, what, "measure knees and ankles, then clear the cell width_source")
    if row.get("leg_length_source", "").startswith(ESTIMATE) and any("leg_length_" in name for name in cells):
        what = f"leg lengths are an {row['leg_length_source']}"
        yield Finding(
            "warning", person, what, "measure ASIS to medial malleolus, then clear the cell leg_length_source"
        )
    low, high = study_tables.SIZE_RANGES["height_m"]
    if "height_m" not in cells and not low <= stated.get("height_m", 1.0) <= high:
        what = f"the C3D files state a height of {stated['height_m']:g} m"
        yield Finding("warning", person, what, "give height_m in participants.tsv")
    if static and static.stands:
        yield from _unlike_the_markers(person, {**stated, **cells}, static.leg_m)
    gravity_m_s2 = chosen.get("kinetics", {}).get("gravity_m_s2", STANDARD_GRAVITY_M_S2)
    walks = [facts[row["file"]] for row in rows if row["role"] == "gait" and row["file"] in facts]
    yield from _mass(person, cells, stated, static, walks, gravity_m_s2)


def stated_sizes(rows: Sequence[tsv.Row], facts: Mapping[str, Facts]) -> dict[str, float]:
    """Return the sizes in a session's files; the static wins, as in ``calibrate``."""
    ordered = sorted((row for row in rows if row["file"] in facts), key=lambda row: row["role"] == "static")
    return {name: value for row in ordered for name, value in facts[row["file"]].sizes.items()}


def _cells(row: tsv.Row) -> dict[str, float]:
    found = {}
    for column in ("mass_kg", "height_m", *study_tables.ANTHROPOMETRY):
        try:
            value = tsv.number(row, column, where="")
        except UserError:
            continue
        if value:
            found[column] = value
    return found


def _missing(
    person: str, sizes: Mapping[str, float], static: Facts, chosen: Mapping[str, Any], model: BodyModel
) -> Iterator[Finding]:
    needed = requirements.needed_sizes(model, static.seen, hip_centre=chosen["calibrate"]["hip_centre"])
    if {"leg_length_left_m", "leg_length_right_m"} & sizes.keys():  # one replaces the other
        needed = [name for name in needed if not name.startswith("leg_length")]
    if absent := [name for name in needed if name not in sizes]:
        what = f"no {', '.join(absent)}, needed by the body model or the hip centre"
        mass_kg = sizes.get("mass_kg", 0.0)
        by_mass = {width_of_mass(name, mass_kg): name.partition("_")[0] for name in absent if mass_kg}
        hints = [f"{joint} {width:.3f}" for width, joint in by_mass.items() if width]
        hint = f" (by body mass {', '.join(hints)})" if hints else ""
        yield Finding("error", person, what, f"measure and add to participants.tsv{hint}")


def _unlike_the_markers(person: str, sizes: Mapping[str, float], leg_m: float) -> Iterator[Finding]:
    """Find a height or leg length that contradicts heel and ASIS in the static."""
    ranges = {"height_m": LEG_PER_HEIGHT, **{f"leg_length_{side}_m": LEG_PER_LEG_LENGTH for side in SIDES}}
    for column, (low, high) in ranges.items():
        if column in sizes and (leg_m / sizes[column] < low or leg_m / sizes[column] > high):
            what = f"{column} is {sizes[column]:g}, but heel and ASIS of the static trial are {leg_m:.2f} m apart"
            remedy = f"expected {leg_m / high:.2f} to {leg_m / low:.2f}; correct it"
            yield Finding("warning", person, what, remedy)


def _mass(
    person: str,
    cells: Mapping[str, float],
    stated: Mapping[str, float],
    static: Facts | None,
    walks: Sequence[Facts],
    gravity_m_s2: float,
) -> Iterator[Finding]:
    """Find a body mass that is missing or contradicted by plates or files."""
    mass_kg = cells.get("mass_kg", stated.get("mass_kg"))
    weights_n = [weight for walk in walks for weight in walk.walking_weights_n]
    shown = []
    if static and static.weight_n > 0:
        shown = [("the plates under the static trial show", static.weight_n / gravity_m_s2, STANDING_MASS_ERROR)]
    else:
        shown += [("the C3D files state", stated["mass_kg"], STANDING_MASS_ERROR)] if "mass_kg" in stated else []
        if weights_n:
            walking_kg = float(np.median(weights_n)) / gravity_m_s2
            shown.append(("steps on the plates show about", walking_kg, WALKING_MASS_ERROR))
    if mass_kg is None:
        hint = f": {shown[0][0]} {shown[0][1]:.0f} kg" if shown else ""
        what = "no body mass, neither in participants.tsv nor in the C3D files"
        yield Finding("error", person, what, f"give mass_kg{hint}")
        return
    for source, other_kg, tolerance in shown:
        ratio = mass_kg / other_kg
        if abs(ratio - 1) > tolerance:
            pounds = abs(ratio / POUNDS_PER_KG - 1) <= tolerance
            remedy = f"pounds? {mass_kg / POUNDS_PER_KG:.4g} kg" if pounds else "correct the one that is wrong"
            what = f"mass_kg is {mass_kg:g}, but {source} {other_kg:.1f}"
            yield Finding("error" if pounds else "warning", person, what, remedy)
            return
