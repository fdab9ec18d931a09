"""The tables of the report that tell of people and metrics, from metrics.csv and quality.csv."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...conventions import SIDES
from ...results.averages import Average, average
from ...results.metrics import METRICS, SCORES
from .figures import PANELS, UNITS

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
    "_per_height": "Per size of the body",
    "gait_": "Gait scores",
}
OTHERS = "Times and distances"
NUMBERS = METRICS | SCORES
MAIN = (
    "walking_speed", "cadence", "stride_length", "step_length", "step_width", "stance_share", "double_support_share",
    "gait_profile_score", "gait_deviation_index",
)  # fmt: skip
ONE_SIDED = (
    "step_length", "step_time", "stance_share", "single_support_share", "range_of_hip_flexion", "range_of_knee_flexion",
    "range_of_ankle_flexion", "peak_ankle_plantarflexor_moment", "peak_ankle_power", "peak_vertical_force",
)  # fmt: skip


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


def by_participant(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return each participant's rows."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["participant"], []).append(row)
    return found


def participants(people: Iterable[str], cycles: list[Row], quality: list[Row], *, links: Mapping[str, str]) -> Table:
    """Return one row per participant: sessions, what could be used, and the columns of participants.tsv."""
    header = list(cycles[0]) if cycles else []
    own = header[header.index("reason") + 1 : header.index(next(iter(METRICS)))] if cycles else []
    cycles_of, quality_of = by_participant(cycles), by_participant(quality)
    rows = []
    for name in people:
        mine, judged = cycles_of.get(name, []), quality_of.get(name, [])
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
    return Table(["Participant", "Sessions", "Trials used", "Gait cycles", "with kinetics", *own], rows, links)


def metrics(cycles: list[Row], symmetry: list[Row], *, over_participants: bool) -> dict[str, Table]:
    """Return tables by group, one row per metric.

    Mean (standard deviation) per condition and side, n in the header, and per condition the symmetry index, percent:
    over participants, or over a participant's sessions.

    Args:
        cycles: rows of metrics.csv.
        symmetry: rows of symmetry.csv.
        over_participants: whether to average participants' means instead of cycles.
    """
    shown = [name for name in NUMBERS if cycles and name in cycles[0]]
    header, columns = [], []
    fixed: list[int | None] = []  # decimals of a column; None for those of the unit
    for group in names(cycles, "condition"):
        for side in SIDES:
            mine = [row for row in cycles if (row["condition"], row["side"]) == (group, side)]
            if mine:
                columns.append(_averaged(mine, shown, over_participants=over_participants))
                header.append(f"{group}, {side} (n {columns[-1].n.max()})")
                fixed.append(None)
        if mine := [row for row in symmetry if row["condition"] == group]:
            index = _averaged(mine, shown, over_participants=over_participants)
            if index.n.any():
                columns.append(index)
                header.append(f"{group}, symmetry, %")
                fixed.append(1)
    header = ["Metric", "Unit", *header, "Meaning"]
    usual = [DECIMALS.get(units, 2) for _, units in _units(shown)]
    texts = [
        _means_sds(column, usual if decimals is None else [decimals] * len(shown))
        for column, decimals in zip(columns, fixed, strict=True)
    ]
    result = {OTHERS: Table(header, [])}
    for i, name in enumerate(shown):
        _, units, meaning = NUMBERS[name]
        row = [_title(name), UNITS.get(units, units), *(column[i] for column in texts), meaning]
        group = next((title for part, title in GROUPS.items() if name.startswith(part) or name.endswith(part)), OTHERS)
        result.setdefault(group, Table(header, [])).rows.append(row)
    return result


def means(rows: list[Row], *, links: Mapping[str, str]) -> Table:
    """Return participants.csv in brief: a row per participant, session, condition and side, the main metrics."""
    shown = [name for name in MAIN if rows and name in rows[0]]
    header = [f"{_title(name)}, {UNITS.get(unit, unit)}".removesuffix(", ") for name, unit in _units(shown)]
    cells = [
        [*(row[name] for name in ("participant", "session", "condition", "side", "cycles"))]
        + [_number(row[name], DECIMALS.get(unit, 2)) for name, unit in _units(shown)]
        for row in rows
    ]
    return Table(["Participant", "Session", "Condition", "Side", "Cycles", *header], cells, links)


def symmetry_indices(rows: list[Row], *, links: Mapping[str, str]) -> Table:
    """Return symmetry.csv in brief: a row per participant, session and condition, metrics that tell sides apart."""
    shown = [name for name in ONE_SIDED if rows and name in rows[0]]
    cells = [
        [row["participant"], row["session"], row["condition"], *(_number(row[name], 1) for name in shown)]
        for row in rows
    ]
    return Table(["Participant", "Session", "Condition", *map(_title, shown)], cells, links)


def rejected_trials(quality: list[Row]) -> list[Row]:
    """Return the rows of trials that could not be used at all."""
    return [row for row in quality if row["verdict"] == "rejected" and not row["side"]]


def has_kinetics(cycle: Row) -> bool:
    """Return whether the kinetics of a row of metrics.csv could be used."""
    return cycle["kinetics_valid"] == "True"


def _averaged(rows: list[Row], shown: list[str], *, over_participants: bool) -> Average:
    values = np.array([[float(row[name] or "nan") for name in shown] for row in rows])
    return average(values, np.array([row["participant"] for row in rows]) if over_participants else None)


def _units(shown: list[str]) -> list[tuple[str, str]]:
    return [(name, NUMBERS[name].units) for name in shown]


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _number(cell: str, decimals: int) -> str:
    return _fixed(float(cell), decimals) if cell else ABSENT


def _fixed(value: float, decimals: int) -> str:
    return f"{round(value, decimals) + 0.0:.{decimals}f}"  # never "-0.0"


def _means_sds(column: Average, decimals: list[int]) -> list[str]:
    """Return the cells of a column, one per metric."""
    most = column.n.max(initial=0)
    cells = zip(column.mean, column.sd, column.n, decimals, strict=True)
    return [_mean_sd(mean, sd, n, most, places) for mean, sd, n, places in cells]


def _mean_sd(mean: float, sd: float, n: int, most: int, decimals: int) -> str:
    if n == 0:
        return ABSENT
    spread = f" ({sd:.{decimals}f})" if n > 1 else ""
    return f"{_fixed(mean, decimals)}{spread}" + (f", n {n}" if n < most else "")


def band_percent(study: xr.Dataset) -> float | None:
    """Return the share of the draws within the study's bands, percent; None where no errors were drawn."""
    if "joint_moment_band" not in study:
        return None
    percentile = study.percentile.values
    return float(percentile[-1] - percentile[0])


def shares(study: xr.Dataset, mine: NDArray[np.bool_]) -> Table | None:
    """Return how much each source of error adds to the variance of each joint moment, percent.

    Args:
        study: derived/study.nc.
        mine: (cycle,), the cycles to take.

    Returns:
        One row per moment: its sources' part of the variance summed over the cycles. The width of the band, squared,
        weighs the instants: it goes with the variance. None where no errors were drawn.
    """
    if "joint_moment_band" not in study:
        return None
    sources = [str(name).replace("_", " ") for name in study.error_source.values]
    rows = []
    for panel in PANELS:
        if panel.variable == "joint_moment_jcs":
            band = study.joint_moment_band.sel(panel.component).transpose("percentile", "cycle", "phase").values
            share = study.joint_moment_variance_share.sel(panel.component)
            part = share.transpose("error_source", "cycle", "phase").values[:, mine]
            weight = (band[-1, mine] - band[0, mine]) ** 2 * part
            total = np.where(np.isfinite(weight), weight, 0).sum(axis=(1, 2))
            cells = [f"{value:.0f}" for value in 100 * total / total.sum()] if total.sum() > 0 else [ABSENT] * len(part)
            rows.append([panel.title, *cells])
    return Table(["Moment", *sources], rows)
