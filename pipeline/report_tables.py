"""The tables of the report, from metrics.csv and quality.csv: people, metrics, what was rejected and why."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pipeline.averages import Average, average
from pipeline.figures import SIDES, UNITS
from pipeline.vocabulary import METRICS, VARIABLES

Row = dict[str, str]
ABSENT = "n/a"
CHECKS = {
    "disagreement_n_m": "Formulations differ by, N m",
    "forward_closure_ankle_deg": "Forward closure: ankle, deg",
    "forward_closure_knee_deg": "knee, deg",
    "forward_closure_hip_deg": "hip, deg",
    "energy_closure_w": "Energy closure, W",
}
DECIMALS = {"m": 3, "degree": 1, "percent": 1, "min-1": 1}
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\.?\w)")  # but not one within a name, as of a file


class Table(NamedTuple):
    """Header cells and rows of text; the first cell of a row is its header."""

    header: list[str]
    rows: list[list[str]]


class Totals(NamedTuple):
    """What a study consists of."""

    participants: int
    sessions: int
    trials: int
    trials_rejected: int
    cycles: int
    cycles_with_kinetics: int
    stances: int
    stances_used: int


def rows_of(text: str) -> list[Row]:
    """Return the rows of a CSV file as text."""
    return list(csv.DictReader(io.StringIO(text)))


def totals(cycles: list[Row], quality: list[Row]) -> Totals:
    """Count a study's parts; a rejected trial is in quality.csv only, one without a stance in metrics.csv."""
    both = [*quality, *cycles]
    stances = [row["verdict"] for row in quality if row["side"]]
    return Totals(
        participants=len(names(both, "participant")),
        sessions=len(names(both, "session")),
        trials=len({(row["session"], row["trial"]) for row in both}),
        trials_rejected=len(rejected_trials(quality)),
        cycles=len(cycles),
        cycles_with_kinetics=sum(_has_kinetics(row) for row in cycles),
        stances=len(stances),
        stances_used=stances.count("used"),
    )


def names(rows: Iterable[Row], column: str) -> list[str]:
    """Return the different cells of a column in the order of their first appearance."""
    return list(dict.fromkeys(row[column] for row in rows))


def participants(cycles: list[Row], quality: list[Row]) -> Table:
    """Return one row per participant: sessions, cycles, and the columns of participants.tsv."""
    header = list(cycles[0]) if cycles else []
    own = header[header.index("reason") + 1 : header.index(METRICS[0])] if cycles else []
    rows = []
    for name in sorted(names([*quality, *cycles], "participant")):
        mine = [row for row in cycles if row["participant"] == name]
        sessions = names((row for row in [*quality, *cycles] if row["participant"] == name), "session")
        about = [mine[0][column].removesuffix(".0") or ABSENT if mine else ABSENT for column in own]
        rows.append([name, ", ".join(sessions), str(len(mine)), str(sum(map(_has_kinetics, mine))), *about])
    return Table(["Participant", "Sessions", "Gait cycles", "with kinetics", *own], rows)


def metrics(cycles: list[Row], *, over_participants: bool) -> Table:
    """Return one row per metric: mean (standard deviation) per condition and side, n in the header."""
    cells_of = ([float(row[name] or "nan") for name in METRICS] for row in cycles)
    values = np.array([*cells_of]).reshape(-1, len(METRICS))
    about = ("participant", "condition", "side")
    people, condition, side = (np.array([row[name] for row in cycles], dtype=str) for name in about)
    header, columns = [], []
    for group in names(cycles, "condition"):
        for of in SIDES:
            mine = (condition == group) & (side == of)
            if mine.any():
                columns.append(average(values[mine], people[mine], over_participants=over_participants))
                header.append(f"{group}, {of} (n {columns[-1].n.max()})")
    rows = []
    for i, name in enumerate(METRICS):
        _, units, meaning = VARIABLES["study"][name]
        cells = [_mean_sd(column, i, DECIMALS.get(units, 2)) for column in columns]
        rows.append([name.replace("_", " ").capitalize(), UNITS.get(units, units), *cells, meaning])
    return Table(["Metric", "Unit", *header, "Meaning"], rows)


def rejected_trials(quality: list[Row]) -> list[Row]:
    """Return the rows of trials that could not be used at all."""
    return [row for row in quality if row["verdict"] == "rejected" and not row["side"]]


def rejected(quality: list[Row]) -> Table:
    """Return every rejected trial, then every rejected stance, each with its reason."""
    stances = [row for row in quality if row["verdict"] == "rejected" and row["side"]]
    rows = [
        [row["session"], row["trial"], row["condition"], _which(row), row["plates"], row["reason"]]
        for row in [*rejected_trials(quality), *stances]
    ]
    return Table(["Session", "Trial", "Condition", "What", "Plates", "Reason"], rows)


def checks(quality: list[Row]) -> Table:
    """Return one row per trial that was worked through: the checks of its kinetics, the worse side of each."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for row in quality:
        if row["side"]:
            cells = [float(row[name] or "nan") for name in CHECKS]
            found.setdefault((row["session"], row["trial"]), []).append(cells)
    rows = [[*trial, *(_worst(column) for column in zip(*cells, strict=True))] for trial, cells in found.items()]
    return Table(["Session", "Trial", *CHECKS.values()], rows)


def reasons(cycles: list[Row], quality: list[Row]) -> Table:
    """Return how many trials, stances and cycles each reason cost; those that differ in numbers are one."""
    trials = Counter(_kind(row) for row in rejected_trials(quality))
    stances = Counter(_kind(row) for row in quality if row["verdict"] == "rejected" and row["side"])
    lost = Counter(_kind(row) for row in cycles if not _has_kinetics(row))
    order = (trials + stances + lost).most_common()
    return Table(
        ["Reason", "Trials", "Stances", "Cycles without kinetics"],
        [[reason, str(trials[reason]), str(stances[reason]), str(lost[reason])] for reason, _ in order],
    )


def _has_kinetics(cycle: Row) -> bool:
    return cycle["kinetics_valid"] == "True"


def _worst(column: Iterable[float]) -> str:
    known = [value for value in column if np.isfinite(value)]
    return f"{max(known):.1g}" if known else ABSENT


def _mean_sd(column: Average, i: int, decimals: int) -> str:
    mean, sd, n = column.mean[i], column.sd[i], column.n[i]
    if n == 0:
        return ABSENT
    spread = f" ({sd:.{decimals}f})" if n > 1 else ""
    return f"{mean:.{decimals}f}{spread}" + (f", n {n}" if n < column.n.max() else "")


def _which(row: Row) -> str:
    if not row["side"]:
        return "whole trial"
    return f"{row['side']} stance, {float(row['start_s']):.2f} to {float(row['end_s']):.2f} s"


def _kind(row: Row) -> str:
    return NUMBER.sub("…", row["reason"])
