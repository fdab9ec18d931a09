"""Tables of metrics: of a participant by group, of all participants in rows; symmetry of the sides."""

import functools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import Array
from ...conventions import JOINTS, SIDES
from ...results.averages import PHASES, SESSION, Average, Text, average, shortest_way
from ...results.differences import compare, pairs_of
from ...results.metric_errors import DIFFERENCE, INDEX, Errors, uncertainties, with_uncertainty
from ...tables.reference_curves import BySpeed, numbers_of
from ...tables.study_tables import NO_GROUP
from ...variables.metrics import CO_CONTRACTION, NUMBERS, OF_STANCE
from ...variables.rows import GAIT_SCORES, TIMES, TRUNK_AND_BALANCE
from .curves.panels import plain_unit
from .movement_profile import turning
from .tables import ABSENT, Table

DECIMALS = {"m": 3, "degree": 1, "percent": 1, "min-1": 1, "J kg-1": 3, "N m s kg-1": 3, "1": 3}
CLINICAL = "Main numbers"
COMPARED = {DIFFERENCE: "right minus left", INDEX: "symmetry index, %"}  # of symmetry.csv
MAIN_NUMBERS = sorted((name for name, metric in NUMBERS.items() if metric.main), key=lambda name: NUMBERS[name].main)
MEANS_SHOWN = [name for name in MAIN_NUMBERS if NUMBERS[name].group in (TIMES, GAIT_SCORES)]
OF_TRUNK = {  # shown where they are known
    name
    for name, one in NUMBERS.items()
    if one.group == TRUNK_AND_BALANCE or (one.part and one.part.curve == "upper_angle")
}
Place = tuple[str, str]  # condition, and side or comparison of the sides
Column = tuple[str, str, list[str]]  # title above the columns of a group, title, cells by metric
NO_ERRORS: Errors = {}
IN_WORDS = (  # parts of the names of metrics, and what a reader calls them
    *((rf"(power|work) {joint[0]}(?=\d)", rf"{joint} \1 {joint[0]}") for joint in JOINTS),
    *((f" {part}$", f" in {part}") for part in ("swing", "stance")),
    *((f" {part}$", f", {part}") for part in ("first", "second", "lateral", "forward", "frontal", "sagittal")),
    *((f" {part}$", f", {part}") for part in ("transverse", "sideways", "positive", "negative", "dimensionless")),
    ("^work ", "work of "),
    ("ankle foot", "ankle and foot"),
    (" overall$", " of both sides"),
)
ONE_SIDED = sorted((name for name, one in NUMBERS.items() if one.compared), key=lambda name: NUMBERS[name].compared)


def metrics(cycles: pd.DataFrame, symmetry: pd.DataFrame, errors: Errors = NO_ERRORS) -> dict[str, Table]:
    """Return the tables of the metrics of a participant: averages over cycles, and of the sides over sessions."""
    if not (shown := metrics_with_values(cycles)):
        return {}
    values = values_of(cycles, symmetry, shown)
    averages = {place: average(one, phase=phases(shown)) for place, (one, _) in values.items()}
    return metric_tables(shown, averages, errors, turning_by_place(cycles))


def turning_by_place(cycles: pd.DataFrame) -> Counter[Place]:
    """Return by condition and side how many gait cycles turn."""
    turn = cycles[turning(cycles)]
    return Counter(zip(turn["condition"], turn["side"], strict=True))


def number_in_words(column: Average, turn: int) -> str:
    """Return the number averaged in the header of a column, and how many gait cycles in it turn, if any do."""
    return f"(n\xa0{column.n.max()}" + (f", {turn}\xa0turn{'s' * (turn == 1)})" if turn else ")")


def with_normal(
    tables: dict[str, Table], reference: BySpeed, about: Mapping[str, Any], people: str = "normal people"
) -> dict[str, Table]:
    """Return tables of metrics with a column of the reference's own numbers, mean and SD over its people, if any.

    ``people`` stands above that column.
    """
    numbers = numbers_of(reference)
    cells = {title_of(n): f"{_format(m, places_of(n))} ({sd:.{places_of(n)}f})" for n, (m, sd) in numbers.items()}
    title = " ".join([about.get("condition", "mean (SD)"), *([f"(n\xa0{about['count']})"] if "count" in about else [])])
    return {
        name: table._replace(
            header=[*table.header, title],
            groups=[*table.groups, people],
            rows=[[*row, cells.get(row[0], ABSENT)] for row in table.rows],
        )
        if any(row[0] in cells for row in table.rows)
        else table
        for name, table in tables.items()
    }


def with_metrics_of_stance(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with only the metrics that are defined in stance alone."""
    return rows.drop(columns=(NUMBERS.keys() - {*OF_STANCE}).intersection(rows))


def metrics_in(rows: pd.DataFrame) -> list[str]:
    """Return the metrics that rows of metrics.csv have."""
    return [name for name in NUMBERS if name in rows] if len(rows) else []


def metrics_with_values(rows: pd.DataFrame) -> list[str]:
    """Return the metrics that rows of metrics.csv have, co-contraction only if it is known."""
    return [name for name in metrics_in(rows) if name not in CO_CONTRACTION or rows[name].notna().any()]


def values_of(cycles: pd.DataFrame, symmetry: pd.DataFrame, shown: list[str]) -> dict[Place, tuple[Array, Text]]:
    """Return by condition, and side or comparison of the sides, the values (row, metric) and their participants."""
    values, numbers = {}, cycles[shown].to_numpy(dtype=float)
    conditions, sides, people = (cycles[name].to_numpy(dtype=str) for name in ("condition", "side", "participant"))
    places, metrics, of_sides = _wide(symmetry)
    for condition in cycles["condition"].unique():
        for side in SIDES:
            mine = (conditions == condition) & (sides == side)
            if mine.any():
                values[condition, side] = (numbers[mine], people[mine])
        if here := [i for i, (*_, of_place) in enumerate(places) if of_place == condition]:
            of_people = np.array([places[i][0] for i in here])
            every = of_sides[np.ix_(range(len(COMPARED)), here, [metrics[name] for name in shown])]
            values |= {(condition, what): (mine, of_people) for what, mine in zip(COMPARED, every, strict=True)}
    return values


def metric_tables(
    shown: list[str],
    averages: Mapping[Place, Average],
    errors: Errors = NO_ERRORS,
    turning_cycles: Mapping[Place, int] = {},
) -> dict[str, Table]:
    """Return the tables of metrics by group, one row per metric: those that clinics read first, then the others.

    Columns are mean (standard deviation) per condition and side, with n in the header, and per condition the difference
    of the sides in the metric's unit and, of metrics that never change their sign, the symmetry index in percent.

    Args:
        averages: by condition, and side or comparison of the sides, the averages (metric,).
        errors: of these; a standard uncertainty follows the numbers that have one.
        turning_cycles: of :func:`turning_by_place`.
    """
    columns: list[Column] = []
    for condition in dict.fromkeys(condition for condition, _ in averages):
        for what in (*SIDES, *COMPARED):
            column = averages.get((condition, what))
            if column and (what in SIDES or column.n.any()):
                number = number_in_words(column, turning_cycles.get((condition, what), 0))
                title = f"{what} {number}" if what in SIDES else COMPARED[what]
                columns.append((condition, title, cells_of(shown, what, column, errors.get((condition, what)))))
    header = ["Metric", "Unit", *(title for _, title, _ in columns)]
    conditions = len({condition for condition, *_ in columns})
    # a sheet has no room for some columns, for more of them with more conditions
    endings = (*[*COMPARED.values()][max(0, 3 - conditions) :],) if conditions > 1 else ()
    return by_group(shown, columns, on_screen=[i for i, title in enumerate(header) if title.endswith(endings)])


def differences(
    shown: list[str],
    of_people: Mapping[str, Mapping[str, Array]],
    groups: Mapping[str, str],
    baselines: Mapping[str, str],
) -> dict[str, Table]:
    """Return the tables of metrics with each group minus the first, and each condition or visit minus the first.

    Args:
        of_people: by condition and participant, the means (side, metric).
        groups: the group of each participant; empty if the study has no two.
        baselines: the condition or visit from which the change of each is taken, itself for the first.

    Returns:
        Tables by group of metrics as of :func:`metric_tables`; none if no two groups or conditions have enough people.
    """
    columns: list[Column] = []
    named = {name: group for name, group in groups.items() if group != NO_GROUP}
    for pair, one in compare(of_people, named, pairs_of(named, baselines), phase=phases(shown)):
        if np.isnan(one.difference).all():
            continue
        title = f"{pair.within}, the same people".removeprefix(", ") if pair.paired else pair.within
        most, cells = one.counts(int(one.first.n.argmax())), []
        for i, places in enumerate(places_of(name) for name in shown):
            numbers = (_format(of[i], places) for of in (one.difference, one.low, one.high))
            cell = "{} ({}\xa0to\xa0{})".format(*numbers) if np.isfinite(one.difference[i]) else ABSENT
            cells.append(cell if one.counts(i) == most else f"{cell}, n\xa0{one.counts(i)}")
        title = title if pair.paired or len(of_people) > 1 else ""
        columns.append((title, f"{pair.second} minus {pair.first} (n\xa0{most})", cells))
    return by_group(shown, columns, on_screen=()) if columns else {}


def cells_of(shown: list[str], what: str, column: Average, errors: Array | None = None) -> list[str]:
    """Return the cells of metrics: of a side, or what compares the sides, in the metric's unit or in percent.

    Mean, standard deviation, and n if it is less than the largest.
    """
    if what in COMPARED:
        column = column._replace(mean=np.where(phases(shown), shortest_way(column.mean), column.mean))
    most, known = column.n.max(initial=0), np.where(column.n > 0, uncertainties(shown, errors), np.nan).tolist()
    cells = []
    for name, mean, sd, n, error in zip(shown, column.mean, column.sd, column.n, known, strict=True):
        places = places_of(name, what)
        spread = f" ({sd:.{places}f})" if n > 1 else ""
        cell = f"{_format(mean, places)}{spread}" + (f", n\xa0{n}" if n < most else "") if n else ABSENT
        cells.append(with_uncertainty(cell, error, places))
    return cells


def places_of(name: str, what: str = "") -> int:
    """Return how many decimals of a metric, or of what compares its sides, are shown."""
    return 1 if what == INDEX else DECIMALS.get(NUMBERS[name].units, 2)


def by_group(shown: list[str], columns: Sequence[Column], *, on_screen: Collection[int]) -> dict[str, Table]:
    """Return the columns of metrics as tables by group: those that clinics read first, then the others.

    Those of trunk and balance without a value are left out.
    """
    header = ["Metric", "Unit", *(title for _, title, _ in columns)]
    groups = ["", "", *(group for group, *_ in columns)]
    meanings = {title_of(name): NUMBERS[name].long_name for name in shown}
    empty = Table(header, [], on_screen=on_screen, groups=groups, meanings=meanings)
    result = {title: empty._replace(rows=[]) for title in (CLINICAL, TIMES)}
    of_name = {}
    for i, name in enumerate(shown):
        of_name[name] = row = [title_of(name), plain_unit(NUMBERS[name].units), *(cells[i] for *_, cells in columns)]
        if name in OF_TRUNK and all(cell.startswith(ABSENT) for cell in row[2:]):
            continue
        if not NUMBERS[name].main:
            result.setdefault(NUMBERS[name].group, empty._replace(rows=[])).rows.append(row)
    result[CLINICAL].rows.extend(of_name[name] for name in MAIN_NUMBERS if name in of_name)
    return {title: table for title, table in result.items() if table.rows}


def means(rows: pd.DataFrame) -> Table:
    """Return the main metrics of participants.csv, row by row."""
    shown = [name for name in MEANS_SHOWN if len(rows) and name in rows]
    units = [plain_unit(NUMBERS[name].units) for name in shown]
    titles = [f"{title_of(name)}, {unit}".removesuffix(", ") for name, unit in zip(shown, units, strict=True)]
    columns = [rows[name].tolist() for name in (*SESSION, "side")]
    columns += [_numbers(rows["cycles"], 0)]
    columns += [_numbers(rows[name], places_of(name)) for name in shown]
    return Table([*map(title_of, (*SESSION, "side", "cycles")), *titles], [*map(list, zip(*columns, strict=True))])


def symmetry_indices(rows: pd.DataFrame) -> Table:
    """Return the main indices of symmetry.csv by participant, session and condition."""
    places, metrics, of_sides = _wide(rows)
    shown = [name for name in ONE_SIDED if name in metrics]
    indices = dict(zip(COMPARED, of_sides, strict=True))[INDEX]
    columns = [*zip(*places, strict=True), *(_numbers(indices[:, metrics[name]], 1) for name in shown)]
    return Table([*map(title_of, (*SESSION, *shown))], [*map(list, zip(*columns, strict=True))])


def _wide(symmetry: pd.DataFrame) -> tuple[list[tuple[str, ...]], dict[str, int], Array]:
    """Return the values COMPARED of symmetry.csv (value, place, metric).

    First the places, each a participant, session and condition, then the number of each metric.
    """
    labels = [*zip(*(symmetry[name] for name in SESSION), strict=True)]
    places = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    codes, metrics = pd.factorize(symmetry["metric"].to_numpy())
    values = np.full((len(COMPARED), len(places), len(metrics)), np.nan)
    values[:, [places[label] for label in labels], codes] = [symmetry[name] for name in COMPARED]
    return [*places], {name: i for i, name in enumerate(metrics)}, values


def phases(shown: list[str]) -> NDArray[np.bool_]:
    """Return which metrics are phases."""
    return np.array([name in PHASES for name in shown], dtype=bool)


@functools.cache
def title_of(name: str) -> str:
    """Return a metric, or a column, in words: ``Peak hip power H3`` for ``peak_power_h3``."""
    words = name.replace("_", " ")
    for pattern, replacement in IN_WORDS:
        words = re.sub(pattern, replacement, words)
    return re.sub(r" [hka]\d", lambda found: found[0].upper(), words[:1].upper() + words[1:])


def _numbers(column: pd.Series | Array, decimals: int) -> list[str]:
    return [ABSENT if np.isnan(value) else _format(value, decimals) for value in column.tolist()]


def _format(value: float, decimals: int) -> str:
    return f"{round(value, decimals) + 0.0:.{decimals}f}"  # never "-0.0"
