"""Reference curves: a table with mean and standard deviation of other people's gait, shipped or from the user.

Columns ``variable joint angle phase mean sd``, separated by tabs, commas or semicolons; one line per curve and
phase, in the units of study.nc. The curves apply to both sides. An optional column ``speed`` holds the mean
dimensionless walking speed of the people of a line, v / sqrt(g leg length); the table then has the same curves at each
of its speeds. A line without joint, angle and phase is a number, such as a peak, by the name of its metric.

Lines that begin with ``#`` are comments. A norm file, which a command writes of a study, begins with ``# gaitlab``, a
word, and what it holds of its people and their study, as JSON.
"""

import bisect
import csv
import functools
import io
import json
import math
import re
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from ..conventions import ANGLES, JOINTS
from ..errors import Problem, UserError, nearest
from .tsv import SAVE_AS, decode_text, finite

COLUMNS = ("variable", "joint", "angle", "phase", "mean", "sd")
SPEED = "speed"  # optional column
# the variables that can have a reference, with the dimensions that the columns joint and angle select from
COMPONENTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "joint_angle": {"joint": JOINTS, "angle": ANGLES},
    "pelvis_angle": {"angle": ANGLES},
    "foot_progression": {},
    "joint_moment_jcs": {"joint": JOINTS, "angle": ANGLES},
    "joint_power": {"joint": JOINTS},
    "ground_force": {"axis": ("x", "y", "z")},
}
SHIPPED = Path(__file__).resolve().parents[2] / "config" / "normative"
NOTHING = ("", "n/a")  # cells
MOST_PROBLEMS = 8
NORM_FILE = re.compile(r"# gaitlab \w+ (?=\{)")  # how it begins


class ReferenceCurve(NamedTuple):
    """Mean and standard deviation of a curve at ascending phases, percent of the gait cycle; a number has no phase."""

    phase: list[float]
    mean: list[float]
    sd: list[float]


Key = tuple[str, ...]
Curves = dict[Key, ReferenceCurve]
BySpeed = dict[float | None, Curves]  # by dimensionless speed; None alone if the table has no speeds


def key_of(variable: str, component: Mapping[str, str]) -> Key:
    """Return the key of a curve: its variable and component labels, in table order."""
    return (variable, *(component[dim] for dim in COMPONENTS[variable]))


def at_speed(curves: BySpeed, speed: float) -> Curves:
    """Return the curves at a dimensionless speed, linear between those of the two nearest speeds of the table.

    Gait changes steadily with speed (Schwartz et al. 2008; Stansfield et al. 2006), so that two recordings of a person
    at nearly the same speed get nearly the same reference. Below its slowest speed the slowest curves of the table are
    taken, above its fastest the fastest. A table without speeds has one answer for all. Otherwise an unknown speed,
    NaN, has no curves.
    """
    speeds = speeds_of(curves)
    if not speeds:
        return curves[None]
    if math.isnan(speed):
        return {}
    upper = min(bisect.bisect_left(speeds, speed), len(speeds) - 1)
    lower = max(upper - 1, 0)
    share = 1.0 if lower == upper else min(max((speed - speeds[lower]) / (speeds[upper] - speeds[lower]), 0.0), 1.0)
    slow, fast = curves[speeds[lower]], curves[speeds[upper]]
    return {
        key: ReferenceCurve(phase, _between(slow[key].mean, mean, share), _between(slow[key].sd, sd, share))
        for key, (phase, mean, sd) in fast.items()
    }


def speeds_of(curves: BySpeed) -> list[float]:
    """Return the speeds of a table in ascending order, none if it has no speeds."""
    return sorted(speed for speed in curves if speed is not None)


def numbers_of(curves: BySpeed) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of the numbers of a table by metric, none of a table by speed."""
    return {key[0]: (one.mean[0], one.sd[0]) for key, one in curves.get(None, {}).items() if not one.phase}


def about_norm_file(text: str) -> dict[str, Any]:
    """Return what a norm file holds of its people and their study, empty if the table is none."""
    first = text.lstrip("\ufeff").partition("\n")[0]
    try:
        return dict(json.loads(first[begin.end() :])) if (begin := NORM_FILE.match(first)) else {}
    except (ValueError, TypeError):
        raise UserError("study.reference", "the first line of the norm file is damaged", "make it again") from None


def _between(first: list[float], second: list[float], share: float) -> list[float]:
    return [(1 - share) * a + share * b for a, b in zip(first, second, strict=True)]


def reference_file(name: str, *, study_path: Path) -> Path:
    """Return the table of a shipped reference by its name, or another reference by its path in the study."""
    shipped = SHIPPED / f"{name}.csv"
    return shipped if shipped in SHIPPED.glob("*.csv") else study_path / name


def read_reference(path: Path, *, setting: str) -> tuple[BySpeed, dict[str, Any]]:
    """Return the curves of a table, and what it says of itself if it is a norm file; ``setting`` names the setting."""
    try:
        text = decode_text(path.read_bytes())
    except OSError as error:
        raise UserError(f"{setting}: {path}", f"cannot be read ({error.strerror})", "make it readable") from None
    except UnicodeDecodeError:
        raise UserError(f"{setting}: {path}", "not UTF-8 text", SAVE_AS) from None
    return reference_of(text, where=path.name), about_norm_file(text)


@functools.lru_cache(maxsize=2)
def reference_of(text: str, *, where: str) -> BySpeed:
    """Return the curves of a table's text by speed; a worker parses a table once for all of its pages.

    Raises:
        UserError: missing or unknown columns, a wrong cell, a curve without two or more ascending phases, or other
            curves or phases at another speed.
    """
    lines = text.lstrip("\ufeff").splitlines()
    while lines and lines[0].startswith("#"):
        del lines[0]
    separator = max("\t,;", key=(lines or [""])[0].count)
    reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=separator, skipinitialspace=True)
    header = [name.strip() for name in next(reader, ())]
    strange = [name for name in header if name not in (*COLUMNS, SPEED)]
    missing = [name for name in COLUMNS if name not in header]
    problems = [Problem(where, f"column '{name}' is missing", nearest(name, strange) or "add it") for name in missing]
    problems += [Problem(where, f"unknown column '{name}'", nearest(name, COLUMNS) or "remove it") for name in strange]
    if problems:
        raise UserError.of(problems)
    by_speed: BySpeed = {}
    for number, cells in enumerate(filter(None, reader), start=2 + len(text.splitlines()) - len(lines)):
        row = {name: cell.strip() for name, cell in zip_longest(header, cells[: len(header)], fillvalue="")}
        if any(row.values()):
            problems += _add(by_speed, row, f"{where}: line {number}")
    problems = problems or _unequal(by_speed, where)
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        problems[MOST_PROBLEMS:] = [Problem(where, f"{more} more problems", "mend these first")]
    if problems:
        raise UserError.of(problems)
    return by_speed


def _unequal(by_speed: BySpeed, where: str) -> list[Problem]:
    """Return the problems of curves that are too short, or not the same at each speed."""
    first = next(iter(by_speed.values()), None)
    if first is None:
        return [Problem(where, "no curves", "add a line for each curve and phase")]
    problems = [
        Problem(where, f"{' '.join(key)} has one phase only", "give two or more")
        for curves in by_speed.values()
        for key, curve in curves.items()
        if len(curve.phase) == 1
    ]
    phases = {key: curve.phase for key, curve in first.items()}
    for speed, curves in by_speed.items():
        if {key: curve.phase for key, curve in curves.items()} != phases:
            what = f"speed {speed} has other curves or phases than speed {next(iter(by_speed))}"
            problems.append(Problem(where, what, "give the same curves at the same phases for each speed"))
    return problems


def _add(by_speed: BySpeed, row: Mapping[str, str], where: str) -> list[Problem]:
    """Add a row to the curves of its speed, or return its problems."""
    variable = row["variable"]
    key, strange = _key_of_row(variable, row["joint"], row["angle"], row["phase"] in NOTHING)
    problems = [one._replace(where=where) for one in strange]
    if not key:
        return problems
    phase, mean, sd = (finite(row[name]) for name in ("phase", "mean", "sd"))
    speed = finite(row[SPEED]) if SPEED in row else None
    for name, good, expected in (
        (SPEED, speed is None or speed >= 0, "a dimensionless speed, 0 or more"),
        ("phase", 0 <= phase <= 100 or variable not in COMPONENTS, "0 to 100"),
        ("mean", not math.isnan(mean), "a number"),
        ("sd", sd >= 0, "a number, 0 or more"),
    ):
        if not good:
            problems.append(Problem(where, f"{name} is '{row[name]}'", f"expected {expected}"))
    if problems:
        return problems
    curve = by_speed.setdefault(speed, {}).setdefault(key, ReferenceCurve([], [], []))
    if curve.phase and phase <= curve.phase[-1]:
        what = f"phase {phase:g} comes after {curve.phase[-1]:g}"
        return [Problem(where, what, "sort each curve by ascending phase")]
    if variable not in COMPONENTS and curve.mean:
        return [Problem(where, f"{variable} stands twice", "remove one line")]
    curve.phase.extend([] if math.isnan(phase) else [phase])
    curve.mean.append(mean)
    curve.sd.append(sd)
    return []


@functools.lru_cache(maxsize=256)
def _key_of_row(variable: str, joint: str, angle: str, without_phase: bool) -> tuple[Key, list[Problem]]:
    """Return the key of a row's curve, or of a number, and the problems of these cells, without their place."""
    is_number = without_phase and joint in NOTHING and angle in NOTHING
    if variable not in COMPONENTS and not is_number:
        remedy = nearest(variable, COMPONENTS) or f"expected one of {', '.join(COMPONENTS)}"
        return (), [Problem("", f"variable is '{variable}'", remedy)]
    problems, key = [], [variable]
    for column, cell, dims in (("joint", joint, ("joint",)), ("angle", angle, ("angle", "axis"))):
        allowed = next((labels for dim, labels in COMPONENTS.get(variable, {}).items() if dim in dims), ())
        if cell not in (allowed or NOTHING):
            remedy = f"expected {', '.join(allowed) or 'nothing'}"
            problems.append(Problem("", f"{column} of {variable} is '{cell}'", remedy))
        key += [cell] if allowed else []
    return tuple(key), problems
