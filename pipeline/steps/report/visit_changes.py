"""Tables of metrics by visit, or condition, with the later one minus the earlier one.

A change is marked where it is smaller than the smallest important difference, if one is published, and where it is
within what the laboratory's own repeatability lets two visits of an unchanged person differ by. One that a single cycle
shows, before or after, is marked as that alone: how far cycles differ is not known there. Walking speed comes first.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ...arrays import Array
from ...conventions import SIDES
from ...results.averages import Average, average, shortest_way
from ...results.metric_errors import DrawnMetrics, Errors, errors_of_means, uncertainties, with_uncertainty
from ...variables.gait_profile import SMALLEST_IMPORTANT
from . import metric_tables
from .compared_visits import Compared
from .movement_profile import GPS, GVS, OVERALL, Bars, bars_of, score_in_words
from .tables import ABSENT, Table

SPEED_SHOWN = "Walking speed"  # as a row of a table
SINGLE = "single cycle"
Limits = Mapping[str, float]  # in the unit of a metric
BySide = Mapping[str, Limits]  # minimal detectable changes by side or mean, and metric
Detectable = Mapping[str, BySide]  # by condition


class DetectableCurves(NamedTuple):
    """The minimal detectable changes of curves at each percent.

    ``changes`` has those of each curve by its name in study.nc (condition, side, components, phase).
    """

    changes: xr.Dataset
    people: str  # how many people were measured again, in words
    source: str  # in words


def tables_of_changes(
    cycles: pd.DataFrame,
    symmetry: pd.DataFrame,
    compared: Compared,
    detectable: Detectable,
    errors: DrawnMetrics | None = None,
) -> dict[str, dict[str, Table]]:
    """Return the tables of :func:`pipeline.steps.report.metric_tables.metrics` for each condition.

    Columns are by side, and by comparison of the sides: the mean (standard deviation) of each visit with n, and of the
    second one on its change from the first. Compared conditions have a table for each visit.

    Args:
        cycles, symmetry: rows of metrics.csv and symmetry.csv with their ``visit``, in the order of the visits.
        detectable: the minimal detectable changes; those of visits are none of conditions in one visit.
        errors: of all cycles of the page, None without draws. In a change what both visits share cancels.
    """
    result = {}
    for place in cycles[compared.within].unique():
        rows, of_sides = (_labelled(table, place, compared) for table in (cycles, symmetry))
        result[place] = _tables(
            rows, of_sides, compared.labels, detectable.get(place, {}), errors_of_means(rows, errors)
        )
    return result


def _labelled(rows: pd.DataFrame, place: str, compared: Compared) -> pd.DataFrame:
    """Return the rows of one table, with what is compared as their condition."""
    mine = rows[rows[compared.within] == place]
    return mine.assign(condition=mine[compared.by])


def _tables(
    cycles: pd.DataFrame, symmetry: pd.DataFrame, labels: Sequence[str], detectable: BySide, errors: Errors
) -> dict[str, Table]:
    shown = metric_tables.metrics_with_values(cycles)
    phases, values = metric_tables.phases(shown), metric_tables.values_of(cycles, symmetry, shown)
    averages = {place: average(one, phase=phases) for place, (one, _) in values.items()}
    turning = metric_tables.turning_by_place(cycles)
    columns: list[metric_tables.Column] = []
    fewest = _fewest(averages)
    for what in (*SIDES, *metric_tables.COMPARED):
        own = [(label, one) for label in labels if (one := averages.get((label, what))) and one.n.any()]
        for label, one in own:
            count = f" {metric_tables.number_in_words(one, turning[label, what])}" if what in SIDES else ""
            group = metric_tables.COMPARED.get(what, what)
            columns.append(
                (group, f"{label}{count}", metric_tables.cells_of(shown, what, one, errors.get((label, what))))
            )
            if label != own[0][0]:
                limits = [limits_of(name, detectable.get(what, {})) if what in SIDES else {} for name in shown]
                places = [metric_tables.places_of(name, what) for name in shown]
                single = (fewest[own[0][0], what] == 1) | (fewest[label, what] == 1)
                change = one.mean - own[0][1].mean
                change = np.where(phases, shortest_way(change), change)
                rows = zip(change.tolist(), places, limits, single.tolist(), strict=True)
                cells = [change_of(*row) for row in rows]
                before, after = errors.get((own[0][0], what)), errors.get((label, what))
                if before is not None and after is not None:
                    apart = np.where(np.isnan(own[0][1].mean + one.mean), np.nan, uncertainties(shown, after - before))
                    cells = [with_uncertainty(*each) for each in zip(cells, apart.tolist(), places, strict=True)]
                columns.append((group, f"{label} minus {own[0][0]}", cells))
    sides = sum(group in SIDES for group, *_ in columns)
    tables = metric_tables.by_group(shown, columns, on_screen=range(2 + sides, 2 + len(columns)))
    for title, table in tables.items():  # walking speed first: gait changes with speed
        tables[title] = table._replace(rows=sorted(table.rows, key=lambda row: row[0] != SPEED_SHOWN))
    return tables


def _fewest(averages: Mapping[tuple[str, str], Average]) -> dict[tuple[str, str], Array]:
    """Return of each label and side how many cycles each metric has; of a comparison of sides the fewer of both."""
    found = {}
    for label, what in averages:
        sides = [what] if what in SIDES else [side for side in SIDES if (label, side) in averages]
        found[label, what] = np.min([averages[label, side].n for side in sides], axis=0)
    return found


def with_changes_of_gps(table: Table, means: pd.DataFrame, visits: Mapping[str, str]) -> Table:
    """Return the table of participants.csv with the Gait Profile Score minus that of the first visit, degrees.

    Args:
        table: the rows ``means`` as shown, in the order of the visits.
        visits: the visit of each session.
    """
    if means.empty or GPS not in means:
        return table
    first: dict[tuple[str, str], tuple[str, float]] = {}
    rows, columns = [], (means[name] for name in ("session", "condition", "side", GPS))
    for cells, session, *place, score in zip(table.rows, *columns, strict=True):
        visit = visits[session]
        before, earlier = first.setdefault((*place,), (visit, score))
        change = change_of(score - earlier, 1, limits_of(GPS, {})) if visit != before else ABSENT
        rows.append([*cells, change])
    return table._replace(header=[*table.header, "Gait profile score minus first visit, deg"], rows=rows)


def limits_of(metric: str, detectable: Limits) -> Limits:
    """Return what the change of a metric of a side is compared with, by the word that marks it."""
    both = {"below": SMALLEST_IMPORTANT.get(metric), "within": detectable.get(metric)}
    return {word: limit for word, limit in both.items() if limit is not None}


def change_of(change: float, places: int, limits: Limits, single: bool = False) -> str:
    """Return the cell of a change: with its sign, and in brackets the limits that it does not reach.

    A change that a ``single`` cycle shows is compared with no limit.
    """
    if not np.isfinite(change):
        return ABSENT
    marks = [f"{word} {limit:.{places}f}" for word, limit in limits.items() if abs(change) < limit]
    marks = [SINGLE] if single else marks
    text = f"{round(change, places) + 0.0:+.{places}f}"
    return f"{text} ({', '.join(marks)})" if marks else text


def profile_changes(cycles: pd.DataFrame, compared: Compared, detectable: Detectable) -> dict[str, Table]:
    """Return, for each condition, the bars of the Movement Analysis Profile by visit, degrees, with their changes.

    Arguments as of :func:`tables_of_changes`. Empty without scores of two visits.
    """
    result = {}
    for place in cycles[compared.within].unique():
        mine = _labelled(cycles, place, compared)
        bars = {label: bars_of(mine[mine["condition"] == label]) for label in compared.labels}
        known = {label: own for label, own in bars.items() if any(one.scores for one in own)}
        if len(known) > 1:
            counts: dict[str, dict[str, int]] = {}  # of cycles with scores; of both sides the fewer
            for label in known:
                sides = mine["side"][(mine["condition"] == label) & mine[GPS].notna()].tolist()
                of_sides = {side: sides.count(side) for side in SIDES}
                counts[label] = of_sides | {"both": min(of_sides.values())}
            result[place] = _profile_table(known, detectable.get(place, {}), counts)
    return result


def _profile_table(
    bars: Mapping[str, list[Bars]], detectable: BySide, counts: Mapping[str, Mapping[str, int]]
) -> Table:
    """Return the bars of each label, a row for each angle and side, with their changes from the first label.

    Args:
        counts: by label and side, the number of cycles with scores.
    """
    first = next(iter(bars))
    header, rows = ["Angle"], list[list[str]]()
    for label in bars:
        title = f"{label} (n\xa0left\xa0{counts[label]['left']}, right\xa0{counts[label]['right']})"
        header += [title] if label == first else [title, f"{label} minus {first}"]
    for of_angle in zip(*bars.values(), strict=True):
        before = of_angle[0]
        for side in (x for x in (*SIDES, "both") if any(x in one.scores for one in of_angle)):
            title = before.title if before.metric.startswith(f"{GVS}pelvis") else f"{before.title}, {side}"
            row = [title, score_in_words(before.scores.get(side))]
            for label, one in [*zip(bars, of_angle, strict=True)][1:]:
                single = 1 in (_count(counts[first], before, side), _count(counts[label], before, side))
                change = one.scores.get(side, np.nan) - before.scores.get(side, np.nan)
                measured = side if side in SIDES else "left" if title == before.title else "mean"  # pelvis: left cycles
                metric = OVERALL if one.metric == GPS and side == "both" else one.metric
                cell = change_of(change, 1, limits_of(metric, detectable.get(measured, {})), single)
                row += [score_in_words(one.scores.get(side)), cell]
            rows.append(row)
    return Table(header, rows)


def _count(counts: Mapping[str, int], bar: Bars, side: str) -> int:
    """Return the number of cycles behind a bar; that of the pelvis is of the left cycles, or of the right without."""
    if bar.metric.startswith(f"{GVS}pelvis"):
        return counts["left"] or counts["right"]
    return counts[side]
