"""The tables of the report that tell of people and metrics, from metrics.csv and quality.csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from pipeline.averages import Average, average
from pipeline.figures import SIDES
from pipeline.gait_panels import UNITS
from pipeline.vocabulary import METRICS, VARIABLES

Row = dict[str, str]
ABSENT = "n/a"
DECIMALS = {"m": 3, "degree": 1, "percent": 1, "min-1": 1, "J kg-1": 3, "N m s kg-1": 3, "1": 3}
# groups of metrics by how their names begin or end; the others are times and distances
GROUPS = {
    "peak_": "Peaks",
    "range_of_": "Ranges of motion",
    "impulse_of_": "Impulses of moments",
    "work_": "Work by phase of power",
    "phase_of_": "When the peaks are",
    "_dimensionless": "Per size of the body",
}
OTHERS = "Times and distances"


class Table(NamedTuple):
    """Header cells and rows of text; the first cell of a row is its header, and a link where ``links`` has one."""

    header: list[str]
    rows: list[list[str]]
    links: Mapping[str, str] = {}


class Totals(NamedTuple):
    """What a study, or a participant's part of it, consists of."""

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
        cycles_with_kinetics=sum(has_kinetics(row) for row in cycles),
        stances=len(stances),
        stances_used=stances.count("used"),
    )


def names(rows: Iterable[Row], column: str) -> list[str]:
    """Return the different cells of a column in the order of their first appearance."""
    return list(dict.fromkeys(row[column] for row in rows))


def of(rows: list[Row], participant: str) -> list[Row]:
    """Return a participant's rows."""
    return [row for row in rows if row["participant"] == participant]


def participants(
    people: Iterable[str], cycles: list[Row], quality: list[Row], *, links: Mapping[str, str] | None = None
) -> Table:
    """Return one row per participant: sessions, what could be used, and the columns of participants.tsv."""
    header = list(cycles[0]) if cycles else []
    own = header[header.index("reason") + 1 : header.index(METRICS[0])] if cycles else []
    rows = []
    for name in people:
        mine, judged = of(cycles, name), of(quality, name)
        count = totals(mine, judged)
        about = [mine[0][column].removesuffix(".0") or ABSENT if mine else ABSENT for column in own]
        rows.append(
            [
                name,
                ", ".join(names([*judged, *mine], "session")),
                f"{count.trials - count.trials_rejected} of {count.trials}",
                str(count.cycles),
                str(count.cycles_with_kinetics),
                *about,
            ]
        )
    return Table(["Participant", "Sessions", "Trials used", "Gait cycles", "with kinetics", *own], rows, links or {})


def metrics(cycles: list[Row], *, over_participants: bool) -> dict[str, Table]:
    """Return tables by group, one row per metric: mean (standard deviation) per condition and side, n in the header."""
    cells_of = ([float(row[name] or "nan") for name in METRICS] for row in cycles)
    values = np.array([*cells_of]).reshape(-1, len(METRICS))
    about = ("participant", "condition", "side")
    people, condition, side = (np.array([row[name] for row in cycles], dtype=str) for name in about)
    header, columns = [], []
    for group in names(cycles, "condition"):
        for name in SIDES:
            mine = (condition == group) & (side == name)
            if mine.any():
                columns.append(average(values[mine], people[mine], over_participants=over_participants))
                header.append(f"{group}, {name} (n {columns[-1].n.max()})")
    header = ["Metric", "Unit", *header, "Meaning"]
    result = {OTHERS: Table(header, [])}
    for i, name in enumerate(METRICS):
        _, units, meaning = VARIABLES["study"][name]
        cells = [_mean_sd(column, i, DECIMALS.get(units, 2)) for column in columns]
        row = [name.replace("_", " ").capitalize(), UNITS.get(units, units), *cells, meaning]
        group = next((title for part, title in GROUPS.items() if name.startswith(part) or name.endswith(part)), OTHERS)
        result.setdefault(group, Table(header, [])).rows.append(row)
    return result


def rejected_trials(quality: list[Row]) -> list[Row]:
    """Return the rows of trials that could not be used at all."""
    return [row for row in quality if row["verdict"] == "rejected" and not row["side"]]


def has_kinetics(cycle: Row) -> bool:
    """Return whether the kinetics of a row of metrics.csv could be used."""
    return cycle["kinetics_valid"] == "True"


def _mean_sd(column: Average, i: int, decimals: int) -> str:
    mean, sd, n = column.mean[i], column.sd[i], column.n[i]
    if n == 0:
        return ABSENT
    spread = f" ({sd:.{decimals}f})" if n > 1 else ""
    return f"{mean:.{decimals}f}{spread}" + (f", n {n}" if n < column.n.max() else "")
