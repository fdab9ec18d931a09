"""What any cell, column or identifier of a study's tables may hold: it ends up in folders, NetCDF and terminals."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import hidden_in
from pipeline.tsv import Row

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
COLUMN = re.compile(r"\w[^/]*")  # what NetCDF takes for a name
LONGEST_IDENTIFIER, LONGEST_COLUMN, LONGEST_CELL = 64, 64, 1000

# what the results call their own: a participant's column of that name would take its place
RESERVED = (
    *("cycle", "participant", "session", "trial", "condition", "side", "start_time", "end_time"),
    *("kinetics_valid", "reason", "joint", "angle", "axis", "phase", "stance_phase"),
    *("percentile", "error_source", "local_axis", "cause", "motion"),
    *("stride_time", "stance_time", "stance_share", "cadence", "stride_length", "step_length", "step_width"),
    *("walking_speed", "step_time", "single_support_share", "double_support_share", "effective_foot_mass"),
    *("leg_length", *(f"work_{phase}" for phase in ("a1", "a2", "k1", "k2", "k3", "k4", "h1", "h2", "h3"))),
    *(f"{name}_dimensionless" for name in ("walking_speed", "stride_length", "step_length", "step_width")),
    *("stride_time_dimensionless", "cadence_dimensionless", "stride_length_per_height", "step_length_per_height"),
)
RESERVED_BEGINNINGS = (
    *("peak_", "phase_of_", "range_of_", "impulse_of_"),
    *("joint_angle", "joint_force", "joint_moment", "joint_power", "ground_force", "external_moment"),
    *("pelvis_angle", "foot_progression", "interaction_torque"),
    *("gait_profile_score", "gait_variable_score", "gait_deviation_index"),
)


def hostile_cells(rows: Sequence[Row], where: str) -> list[str]:
    """Return a line for each cell that is very long or has a character that cannot be seen, as a line end in quotes."""
    problems = []
    for place, row in enumerate(rows, start=1):
        for column, cell in row.items():
            if len(cell) > LONGEST_CELL:
                problems.append(
                    f"{where}: row {place}: {column} has {len(cell)} characters, expected {LONGEST_CELL} at most"
                )
            if hidden := hidden_in(cell):
                problems.append(
                    f"{where}: row {place}: {column} has the character {hidden}, which cannot be seen; remove it"
                )
    return problems


def bad_columns(rows: Sequence[Row], where: str) -> list[str]:
    """Return a line for each column whose name cannot become that of a coordinate, or is that of a result."""
    names = list(rows[0]) if rows else []
    bad = [
        f"{where}: column {name[:LONGEST_COLUMN]!r} must begin with a letter, a digit or '_', have no '/' and "
        f"{LONGEST_COLUMN} characters at most"
        for name in names
        if not COLUMN.fullmatch(name) or len(name) > LONGEST_COLUMN or hidden_in(name)
    ]
    return bad + [
        f"{where}: column '{name}' has the name of a result; call it otherwise, as 'participant_{name}'"
        for name in names
        if name in RESERVED or name.startswith(RESERVED_BEGINNINGS)
    ]


def bad_identifier(name: str, column: str, where: str) -> list[str]:
    """Return a line where the name of a person, session or trial would not do for a folder on every computer."""
    if len(name) > LONGEST_IDENTIFIER:
        return [f"{where}: {column} {name[:LONGEST_IDENTIFIER]!r}... is longer than {LONGEST_IDENTIFIER} characters"]
    if IDENTIFIER.fullmatch(name):
        return []
    return [f"{where}: {column} {name!r} must be letters, digits, '-' and '_', and begin with a letter or digit"]


def leaves_study(file: str) -> bool:
    """Return whether a path leads out of the study; a link inside it may lead anywhere, its owner made it."""
    parts = Path(os.path.normpath(file)).parts if file else ("..",)
    return "\0" in file or Path(file).is_absolute() or parts[:1] == ("..",)
