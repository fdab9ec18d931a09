"""Reference curves from the user: a table with mean and standard deviation of other people's gait.

Columns ``variable joint angle phase mean sd``, separated by tabs, commas or semicolons; one line per curve and
phase, in the units of study.nc. The curves apply to both sides.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..conventions import ANGLES, JOINTS
from ..errors import Problem, UserError, nearest

COLUMNS = ("variable", "joint", "angle", "phase", "mean", "sd")
# the variables that can have a reference, with the dimensions that the columns joint and angle select from
COMPONENTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "joint_angle": {"joint": JOINTS, "angle": ANGLES},
    "pelvis_angle": {"angle": ANGLES},
    "foot_progression": {},
    "joint_moment_jcs": {"joint": JOINTS, "angle": ANGLES},
    "joint_power": {"joint": JOINTS},
    "ground_force": {"axis": ("x", "y", "z")},
}
MOST_PROBLEMS = 8


class Reference(NamedTuple):
    """Mean and standard deviation of a curve at ascending phases, percent of the gait cycle."""

    phase: list[float]
    mean: list[float]
    sd: list[float]


Key = tuple[str, ...]


def key_of(variable: str, component: Mapping[str, str]) -> Key:
    """Return the key of a curve: its variable and component labels, in table order."""
    return (variable, *(component[dim] for dim in COMPONENTS[variable]))


def read_reference(path: Path, *, setting: str) -> dict[Key, Reference]:
    """Return the curves of a table; ``setting`` names the setting with its path.

    Raises:
        UserError: no such file, not UTF-8, or a mistake that :func:`reference_of` finds.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{setting}: {path}", f"cannot be read ({error.strerror})", "make it readable") from None
    except UnicodeDecodeError:
        raise UserError(f"{setting}: {path}", "not UTF-8 text", "save the table as UTF-8") from None
    return reference_of(text, where=path.name)


def reference_of(text: str, *, where: str) -> dict[Key, Reference]:
    """Return the curves of a table's text.

    Raises:
        UserError: missing or unknown columns, a wrong cell, or a curve without two or more ascending phases.
    """
    first = text.lstrip("\ufeff").splitlines()[:1] or [""]
    separator = max("\t,;", key=first[0].count)
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=separator, skipinitialspace=True)
    header = [(name or "").strip() for name in reader.fieldnames or ()]
    strange = [name for name in header if name not in COLUMNS]
    missing = [name for name in COLUMNS if name not in header]
    problems = [Problem(where, f"column '{name}' is missing", nearest(name, strange) or "add it") for name in missing]
    problems += [Problem(where, f"unknown column '{name}'", nearest(name, COLUMNS) or "remove it") for name in strange]
    if problems:
        raise UserError.of(problems)
    reader.fieldnames = header
    curves: dict[Key, Reference] = {}
    for number, cells in enumerate(reader, start=2):
        row = {name: (cells[name] or "").strip() for name in COLUMNS}
        if any(row.values()):
            problems += _add(curves, row, f"{where}: line {number}")
    problems += [
        Problem(where, f"{' '.join(key)} has one phase only", "give two or more")
        for key, curve in curves.items()
        if len(curve.phase) < 2
    ]
    if not curves and not problems:
        problems.append(Problem(where, "no curves", "add a line for each curve and phase"))
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        problems[MOST_PROBLEMS:] = [Problem(where, f"{more} more problems", "mend these first")]
    if problems:
        raise UserError.of(problems)
    return curves


def _add(curves: dict[Key, Reference], row: Mapping[str, str], where: str) -> list[Problem]:
    """Add a row to the curves, or return its problems."""
    variable = row["variable"]
    if variable not in COMPONENTS:
        remedy = nearest(variable, COMPONENTS) or f"expected one of {', '.join(COMPONENTS)}"
        return [Problem(where, f"variable is '{variable}'", remedy)]
    problems, key = [], [variable]
    for column, dims in (("joint", ("joint",)), ("angle", ("angle", "axis"))):
        known = next((COMPONENTS[variable][dim] for dim in dims if dim in COMPONENTS[variable]), ())
        if row[column] not in (known or ("", "n/a")):
            remedy = f"expected {', '.join(known) or 'nothing'}"
            problems.append(Problem(where, f"{column} of {variable} is '{row[column]}'", remedy))
        key += [row[column]] if known else []
    phase, mean, sd = (_number(row[name]) for name in ("phase", "mean", "sd"))
    for name, good, expected in (
        ("phase", 0 <= phase <= 100, "0 to 100"),
        ("mean", not math.isnan(mean), "a number"),
        ("sd", sd >= 0, "a number, 0 or more"),
    ):
        problems += [] if good else [Problem(where, f"{name} is '{row[name]}'", f"expected {expected}")]
    if not problems:
        curve = curves.setdefault(tuple(key), Reference([], [], []))
        if curve.phase and phase <= curve.phase[-1]:
            what = f"phase {phase:g} comes after {curve.phase[-1]:g}"
            return [Problem(where, what, "sort each curve by ascending phase")]
        for values, value in zip(curve, (phase, mean, sd), strict=True):
            values.append(value)
    return problems


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
