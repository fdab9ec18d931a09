"""Tables of the report: participants, metrics, symmetry, error sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...conventions import SIDES
from ...results.averages import PHASES, Array, Average, Text, average, shortest_way
from ...results.metrics import METRICS, OF_STANCE, SCORES
from ...results.schema import COLUMN_UNITS
from ...results.stance_verdicts import NOT_ON_A_PLATE, REFUSED, USED
from .panels import Panel, plain_unit

Row = dict[str, str]
MOST_ROWS = 50  # of a table on the screen
ABSENT = "n/a"
DECIMALS = {"m": 3, "degree": 1, "percent": 1, "min-1": 1, "J kg-1": 3, "N m s kg-1": 3, "1": 3}
# groups of metrics by beginning or end of their names; all others are times and distances
GROUPS = {
    "peak_": "Peaks",
    "lowest_": "Peaks",
    "range_of_": "Ranges of motion",
    "impulse_of_": "Impulses",
    "work_": "Work by phase of power",
    "phase_of_": "Times of the peaks",
    "_dimensionless": "Normalised by body size",
    "_per_height": "Normalised by body size",
    "gait_": "Gait scores",
}
OTHERS = "Times and distances"
CLINICAL = "Main numbers"
COMPARED = {"difference": "right minus left", "symmetry_index": "symmetry index, %"}  # of symmetry.csv
# what clinics read first, in the order of the body
MAIN_NUMBERS = (
    "walking_speed", "walking_speed_dimensionless", "cadence", "stride_length", "step_length", "step_width",
    "stance_share", "double_support_share", "gait_profile_score", "gait_deviation_index", "peak_hip_extension",
    "peak_knee_flexion_stance", "peak_knee_flexion", "peak_ankle_dorsiflexion", "peak_hip_extensor_moment",
    "peak_hip_abductor_moment", "peak_knee_extensor_moment", "peak_knee_abductor_moment_first",
    "peak_ankle_plantarflexor_moment", "peak_power_h3", "peak_ankle_power", "peak_vertical_force_first",
    "peak_vertical_force_second",
)  # fmt: skip
NUMBERS = METRICS | SCORES
MEANS_SHOWN = (
    "walking_speed", "cadence", "stride_length", "step_length", "step_width", "stance_share", "double_support_share",
    "gait_profile_score", "gait_deviation_index",
)  # fmt: skip
ONE_SIDED = (
    "step_length", "step_time", "stance_share", "single_support_share", "range_of_hip_flexion", "range_of_knee_flexion",
    "range_of_ankle_flexion", "peak_ankle_plantarflexor_moment", "peak_ankle_power", "peak_vertical_force",
)  # fmt: skip


PARTICIPANTS = (
    "Participant", "Data", "Sessions", "Trials used", "Plate contacts used", "Gait cycles", "with kinetics",
    "Stances without a whole cycle",
)  # fmt: skip


class Table(NamedTuple):
    """Header and rows of text; a row's first cell is its header, with a link if any.

    Columns in ``on_screen`` are not printed. ``marks`` are further texts of each row that a long table is searched for.
    """

    header: list[str]
    rows: list[list[str]]
    links: Mapping[str, str] = {}
    on_screen: Collection[int] = ()
    marks: Sequence[list[str]] = ()

    @property
    def is_long(self) -> bool:
        """Return whether a page shows some rows at a time."""
        return len(self.rows) > MOST_ROWS

    @property
    def beginning(self) -> Table:
        """Return the first rows."""
        return self._replace(rows=self.rows[:MOST_ROWS])


class Totals(NamedTuple):
    """Counts of a study, or of one participant."""

    participants: int
    sessions: int
    trials: int
    trials_rejected: int
    cycles: int
    cycles_with_kinetics: int
    stances_alone: int
    contacts: int
    contacts_used: int
    not_on_a_plate: int

    def plus(self, other: Totals) -> Totals:
        """Return the counts of both, of different participants."""
        return Totals(*map(sum, zip(self, other, strict=True)))

    @property
    def trials_used(self) -> int:
        """Return how many trials were not rejected."""
        return self.trials - self.trials_rejected

    @property
    def contacts_refused(self) -> int:
        """Return how many contacts with a plate are not used."""
        return self.contacts - self.contacts_used


def in_words(cells: Iterable[tuple[str, str]]) -> str:
    """Return what participants.tsv has on a person, as ``age 27 years, mass 74 kg``, but sizes of legs and sources."""
    words = []
    for column, value in cells:
        if value != ABSENT and not re.search("_width_|leg_length_|_source$", column):
            ending = next((ending for ending in COLUMN_UNITS if column.endswith(ending)), "")
            unit = COLUMN_UNITS.get(ending, "") + "s" * (ending == "_years")
            words.append(f"{column.removesuffix(ending).replace('_', ' ')} {value} {unit}".strip())
    return ", ".join(words)


def totals(rows: list[Row], quality: list[Row]) -> Totals:
    """Return the counts; some trials are in only one of metrics.csv (``rows``) and quality.csv."""
    both = [*quality, *rows]
    cycles = of_part(rows, "cycle")
    stances = Counter(row["verdict"] for row in quality if row["side"])
    return Totals(
        participants=len(names(both, "participant")),
        sessions=len(names(both, "session")),
        trials=len({(row["session"], row["trial"]) for row in both}),
        trials_rejected=len(rejected_trials(quality)),
        cycles=len(cycles),
        cycles_with_kinetics=sum(has_kinetics(row) for row in cycles),
        stances_alone=len(rows) - len(cycles),
        contacts=stances[USED] + stances[REFUSED],
        contacts_used=stances[USED],
        not_on_a_plate=stances[NOT_ON_A_PLATE],
    )


def of_part(rows: Iterable[Row], part: str) -> list[Row]:
    """Return the rows of metrics.csv that are cycles, or stances without a whole cycle."""
    return [row for row in rows if row["part"] == part]


def names(rows: Iterable[Row], column: str) -> list[str]:
    """Return the distinct cells of a column in order of appearance."""
    return list(dict.fromkeys(row[column] for row in rows))


def by_participant(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return each participant's rows."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["participant"], []).append(row)
    return found


def participants_columns(rows: list[Row]) -> list[str]:
    """Return the columns of participants.tsv that rows of metrics.csv have."""
    header = list(rows[0]) if rows else []
    return header[header.index("reason") + 1 : header.index(next(iter(METRICS)))] if rows else []


def about_participant(rows: list[Row]) -> list[str]:
    """Return a participant's cells of participants.tsv, from the rows of metrics.csv."""
    return [rows[0][column].removesuffix(".0") or ABSENT for column in participants_columns(rows)]


def participant(name: str, state: str, rows: list[Row], quality: list[Row]) -> list[str]:
    """Return a participant's row of the table of participants."""
    count = totals(rows, quality)
    sessions = ", ".join(names([*quality, *rows], "session"))
    used = [f"{count.trials_used} of {count.trials}", f"{count.contacts_used} of {count.contacts}"]
    counts = map(str, (count.cycles, count.cycles_with_kinetics, count.stances_alone))
    return [name, state, sessions, *used, *counts, *about_participant(rows)]


def metrics(cycles: list[Row], symmetry: list[Row]) -> dict[str, Table]:
    """Return the tables of the metrics of a participant: averages over cycles, and of the sides over sessions.

    Args:
        cycles: the participant's rows of metrics.csv.
        symmetry: the participant's rows of symmetry.csv.
    """
    shown = shown_of(cycles)
    values = values_of(cycles, symmetry, shown)
    return metric_tables(shown, {place: average(one, phase=phases(shown)) for place, (one, _) in values.items()})


def shown_of(rows: list[Row]) -> list[str]:
    """Return the metrics that rows of metrics.csv have."""
    return [name for name in NUMBERS if rows and name in rows[0]]


def values_of(cycles: list[Row], symmetry: list[Row], shown: list[str]) -> dict[tuple[str, str], tuple[Array, Text]]:
    """Return by condition, and side or comparison of the sides, the values (row, metric) and their participants."""
    found = {}
    for condition in names(cycles, "condition"):
        rows = {side: [row for row in cycles if (row["condition"], row["side"]) == (condition, side)] for side in SIDES}
        both = [row for row in symmetry if row["condition"] == condition]
        rows |= {what: _wide(both, what) for what in COMPARED}
        for what, mine in rows.items():
            if mine:
                values = np.array([[float(row[name] or "nan") for name in shown] for row in mine])
                found[condition, what] = (values, np.array([row["participant"] for row in mine]))
    return found


def metric_tables(shown: list[str], averages: Mapping[tuple[str, str], Average]) -> dict[str, Table]:
    """Return the tables of metrics by group, one row per metric: those that clinics read first, then the others.

    Columns are mean (standard deviation) per condition and side, with n in the header, and per condition the difference
    of the sides in the metric's unit and, of metrics that never change their sign, the symmetry index in percent.

    Args:
        shown: the metrics.
        averages: by condition, and side or comparison of the sides, the averages (metric,).
    """
    by_unit = [DECIMALS.get(NUMBERS[name].units, 2) for name in shown]
    conditions = list(dict.fromkeys(condition for condition, _ in averages))
    columns: list[tuple[str, list[str]]] = []  # header, cells
    for condition in conditions:
        for what in (*SIDES, *COMPARED):
            column = averages.get((condition, what))
            if column and what in SIDES:
                columns.append((f"{condition}, {what} (n {column.n.max()})", _means_sds(column, by_unit)))
            elif column and column.n.any():
                mean = np.where(phases(shown), shortest_way(column.mean), column.mean)
                places = by_unit if what == "difference" else [1] * len(shown)
                columns.append((f"{condition}, {COMPARED[what]}", _means_sds(column._replace(mean=mean), places)))
    header = ["Metric", "Unit", *(title for title, _ in columns), "Meaning"]
    empty = Table(header, [], on_screen=_on_screen(header, len(conditions)))
    result = {title: empty._replace(rows=[]) for title in (CLINICAL, OTHERS)}
    of_name = {}
    for i, name in enumerate(shown):
        of_name[name] = row = [_title(name), plain_unit(NUMBERS[name].units), *(cells[i] for _, cells in columns)]
        row.append(NUMBERS[name].long_name)
        group = next((title for part, title in GROUPS.items() if name.startswith(part) or name.endswith(part)), OTHERS)
        if name not in MAIN_NUMBERS:
            result.setdefault(group, empty._replace(rows=[])).rows.append(row)
    result[CLINICAL].rows.extend(of_name[name] for name in MAIN_NUMBERS if name in of_name)
    return {title: table for title, table in result.items() if table.rows}


def _on_screen(header: list[str], conditions: int) -> list[int]:
    """Return the columns of metrics for which a sheet has no room: more of them with more conditions."""
    endings = ("Meaning", *[*COMPARED.values()][max(0, 3 - conditions) :]) if conditions > 1 else ("Meaning",)
    return [i for i, title in enumerate(header) if title.endswith(endings)]


def metrics_of_stances(rows: list[Row]) -> dict[str, Table]:
    """Return the tables of the metrics that are defined in stance alone, of rows that are stances."""
    left_out = NUMBERS.keys() - {*OF_STANCE}
    return metrics([{k: v for k, v in row.items() if k not in left_out} for row in rows], [])


def together(parts: Iterable[Table], links: Mapping[str, str]) -> Table:
    """Return the rows of tables under the header of the one with most columns, with links."""
    parts = [*parts]
    header = max((part.header for part in parts), key=len, default=[])
    return Table(header, [row for part in parts for row in part.rows], links)


def means(rows: list[Row]) -> Table:
    """Return the main metrics of participants.csv, row by row."""
    shown = [name for name in MEANS_SHOWN if rows and name in rows[0]]
    header = [f"{_title(name)}, {plain_unit(unit)}".removesuffix(", ") for name, unit in _units(shown)]
    cells = [
        [*(row[name] for name in ("participant", "session", "condition", "side", "cycles"))]
        + [_number(row[name], DECIMALS.get(unit, 2)) for name, unit in _units(shown)]
        for row in rows
    ]
    return Table(["Participant", "Session", "Condition", "Side", "Cycles", *header], cells)


def symmetry_indices(rows: list[Row]) -> Table:
    """Return the main indices of symmetry.csv by participant, session and condition."""
    wide = _wide(rows, "symmetry_index")
    shown = [name for name in ONE_SIDED if wide and name in wide[0]]
    cells = [
        [row["participant"], row["session"], row["condition"], *(_number(row[name], 1) for name in shown)]
        for row in wide
    ]
    return Table(["Participant", "Session", "Condition", *map(_title, shown)], cells)


def _wide(symmetry: list[Row], value: str) -> list[Row]:
    """Return a row by participant, session and condition of symmetry.csv, with a column of each metric's ``value``."""
    found: dict[tuple[str, ...], Row] = {}
    for row in symmetry:
        own = {name: row[name] for name in ("participant", "session", "condition")}
        found.setdefault((*own.values(),), own)[row["metric"]] = row[value]
    return [*found.values()]


def rejected_trials(quality: list[Row]) -> list[Row]:
    """Return the rows of trials that were rejected as a whole."""
    return [row for row in quality if row["verdict"] == REFUSED and not row["side"]]


def has_kinetics(cycle: Row) -> bool:
    """Return whether a row of metrics.csv has valid kinetics."""
    return cycle["kinetics_valid"] == "True"


def phases(shown: list[str]) -> NDArray[np.bool_]:
    """Return which metrics are phases."""
    return np.array([name in PHASES for name in shown], dtype=bool)


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
    """Return the percentage of draws in the error bands; None without draws."""
    if "joint_moment_band" not in study:
        return None
    percentile = study.percentile.values
    return float(percentile[-1] - percentile[0])


def share_sums(study: xr.Dataset, panels: Iterable[Panel], mine: NDArray[np.bool_]) -> dict[str, Array]:
    """Return, by moment, the sums over cycles and phases to which the shares (source,) are proportional.

    Args:
        study: derived/study.nc, or a part of it.
        panels: of the report, of which those of moments are taken.
        mine: (cycle,), the cycles to take.

    Returns:
        Shares weighted by the squared width of the error band, which is proportional to the variance. Empty if no
        errors were drawn.
    """
    found = {}
    for panel in panels if "joint_moment_band" in study else ():
        if panel.variable == "joint_moment_jcs":
            band = study.joint_moment_band.sel(panel.component).transpose("percentile", "cycle", "phase").values
            share = study.joint_moment_variance_share.sel(panel.component)
            part = share.transpose("error_source", "cycle", "phase").values[:, mine]
            weight = (band[-1, mine] - band[0, mine]) ** 2 * part
            found[panel.title] = np.where(np.isfinite(weight), weight, 0).sum(axis=(1, 2))
    return found


def shares(study: xr.Dataset, sums: Mapping[str, Array]) -> Table | None:
    """Return the share of each error source in each moment's variance, percent; None if no errors were drawn."""
    if not sums:
        return None
    rows = []
    for title, total in sums.items():
        cells = [f"{value:.0f}" for value in 100 * total / total.sum()] if total.sum() > 0 else [ABSENT] * len(total)
        rows.append([title, *cells])
    return Table(["Moment", *(str(name).replace("_", " ") for name in study.error_source.values)], rows)
