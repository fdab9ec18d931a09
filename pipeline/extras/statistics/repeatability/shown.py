"""The main metrics of repeatability.csv in tables, a figure and words, for the overview and the terminal.

Step ``repeatability`` estimates the numbers; docs/repeatability.md has the simulated studies behind the limit here.
Where people share only two visits, or assessors, consistency comes first: two cannot tell how much visits differ.
"""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from ....conventions import SIDES
from ....steps.report.metric_tables import CLINICAL, MAIN_NUMBERS, by_group, places_of
from ....steps.report.tables import ABSENT, Table
from .detectable import ENDS, ENOUGH_PEOPLE

MODELS = {"ICC(1)": "one-way random effects", "ICC(A,1)": "random effects, absolute agreement"}
CONSISTENCY = "ICC(C,1): random effects, consistency: without what all people share at a visit or with an assessor."
CANNOT_TELL = "two {0} cannot tell how much {0} differ"
Row = Mapping[Any, Any]  # of pandas, by column


def main_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of repeatability.csv of the main metrics that have numbers, metric by metric."""
    known = table[table["metric"].isin(MAIN_NUMBERS)].dropna(subset=["icc", "sem"])
    return known.sort_values("metric", key=lambda names: names.map(MAIN_NUMBERS.index), kind="stable")


def header_of(rows: pd.DataFrame) -> list[str]:
    """Return what :func:`cells_of` returns of main rows; where a number is of agreement, that two cannot tell it."""
    if not (few := _two(rows)):
        return ["ICC", "SEM", "minimal detectable change"]
    cannot = " and ".join(CANNOT_TELL.format(name) for name in few)
    return ["ICC(C,1)", "SEM", "minimal detectable change", f"minimal detectable change of agreement: {cannot}"]


def cells_of(row: Row, rows: pd.DataFrame) -> list[str]:
    """Return correlation, SEM and minimal detectable change of a row, one of the main rows, with limits.

    They are of agreement, but for the change that follows those of consistency where :func:`header_of` says so. The SEM
    has at least two significant digits, and the others in its unit have as many decimals.
    """
    places, few = _places(row), _two(rows)
    of = "_consistency" if few else ""
    numbers = [_with_limits(row, f"icc{of}", 2), _number(row[f"sem{of}"], places)]
    return [*numbers, *(_with_limits(row, name, places) for name in ((f"mdc{of}", "mdc") if few else ("mdc",)))]


def within_person(row: Row) -> str:
    """Return the within-person standard deviation of a row."""
    return _number(row["within_person_sd"], _places(row))


def remarks(rows: pd.DataFrame) -> list[str]:
    """Return what to know of main rows: the model, and the reasons for which their numbers are uncertain."""
    fewest, most, few = int(rows["people"].min()), int(rows["people"].max()), _two(rows)
    found = [
        f"{model}: {MODELS[model]}, single measurement (McGraw and Wong 1996). In brackets: 95 % limits."
        for model in rows["model"].unique()
    ]
    if few:
        cannot = " and ".join(CANNOT_TELL.format(name) for name in few)
        found += [f"{CONSISTENCY} It comes first, because {cannot}: limits of agreement are wide. Take four or more."]
    people = " to ".join(map(str, dict.fromkeys((fewest, most))))
    if fewest < ENOUGH_PEOPLE:
        icc, sem = rows[["icc_bias", "sem_bias_percent"]].min().clip(upper=0).abs().fillna(0)
        small = f"Few people (n {people}): in studies of this size the ICC is on average too small by up to {icc:.2f}, "
        small += f"SEM and minimal detectable change by up to {sem:.1f} %. Measure {ENOUGH_PEOPLE} people or more."
        found.append(small)
    return found


def overview_of(table: pd.DataFrame) -> dict[str, Any] | None:
    """Return by condition the table and the figure of the main metrics, with remarks; None if they have no numbers."""
    rows = main_rows(table)
    rows = rows[rows["side"].isin(SIDES)]
    if rows.empty:
        return None
    conditions = {one: (_table(mine), _figure(mine)) for one, mine in rows.groupby("condition", sort=False)}
    return {"remarks": remarks(rows), "conditions": conditions}


def _table(rows: pd.DataFrame) -> Table:
    """Return the table of a condition, sides next to each other; n is in a cell where it is less than the largest."""
    shown, header, columns = rows["metric"].unique().tolist(), header_of(rows), []
    for side, mine in rows.groupby("side", sort=False):
        most = int(mine["people"].max())
        cells = {name: [ABSENT] * len(header) for name in shown}
        for row in mine.to_dict("records"):
            own = cells[row["metric"]] = cells_of(row, rows)
            own[0] += f", n\xa0{row['people']:.0f}" if row["people"] < most else ""
        for title, *column in zip(header, *cells.values(), strict=True):
            columns.append((f"{side} (n\xa0{most})", title, column))
    return by_group(shown, columns, on_screen=())[CLINICAL]._replace(meanings={})


def _figure(rows: pd.DataFrame) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return by metric and side the correlation of the table and its limits, cut to the axis from 0 to 1."""
    name = "icc_consistency" if _two(rows) else "icc"
    numbers = pd.DataFrame({end: rows[f"{name}{end}"].fillna(rows[name]).clip(0, 1) for end in ENDS})
    figure: dict[str, dict[str, tuple[float, ...]]] = {}
    for metric, side, *of in zip(rows["metric"], rows["side"], *(numbers[end] for end in ENDS), strict=True):
        figure.setdefault(metric.replace("_", " ").capitalize(), {})[side] = (*of,)
    return figure


def _two(rows: pd.DataFrame) -> list[str]:
    """Return of which repeated factors people share only two levels."""
    return [name for name in ("visits", "assessors") if (rows[name] == 2).any()]


def _places(row: Row) -> int:
    sem = row["sem"]
    return max(places_of(row["metric"]), 1 - math.floor(math.log10(sem))) if sem > 0 else places_of(row["metric"])


def _number(value: float, places: int) -> str:
    return ABSENT if math.isnan(value) else f"{value:.{places}f}"


def _with_limits(row: Row, name: str, places: int) -> str:
    """Return a number and its limits."""
    value, low, high = (_number(row[f"{name}{end}"], places) for end in ENDS)
    return f"{value} ({low}\xa0to\xa0{high})"
