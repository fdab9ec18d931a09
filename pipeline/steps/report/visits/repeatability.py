"""The main metrics of repeatability.csv in tables, a figure and words, for the overview and the terminal.

Step ``repeatability`` estimates the numbers; docs/repeatability.md has the simulated studies behind both limits here.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....conventions import SIDES
from ..metric_tables import CLINICAL, MAIN_NUMBERS, by_group, places_of
from ..tables import ABSENT, Row, Table, names

ENOUGH_PEOPLE = 30  # with fewer, correlation and SEM are too small on average
LITTLE_SHARED = 0.1  # of the error's variance; with more, the limits of agreement are too narrow
MODELS = {"ICC(1)": "one-way random effects", "ICC(A,1)": "random effects, absolute agreement"}
HEADER = ("ICC", "SEM", "minimal detectable change")


def main_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of repeatability.csv of the main metrics that have numbers, metric by metric."""
    known = [row for row in rows if row["icc"] and row["sem"]]
    return [row for name in MAIN_NUMBERS for row in known if row["metric"] == name]


def cells_of(row: Row) -> list[str]:
    """Return correlation, SEM and minimal detectable change of a row, with limits, and the within-person SD.

    The SEM has at least two significant digits, and the others in its unit have as many decimals.
    """
    sem = float(row["sem"])
    places = max(places_of(row["metric"]), 1 - math.floor(math.log10(sem))) if sem > 0 else places_of(row["metric"])
    numbers = (_with_limits(row, "icc", 2), _number(row["sem"], places), _with_limits(row, "mdc", places))
    return [*numbers, _number(row["within_person_sd"], places)]


def remarks(rows: Sequence[Row]) -> list[str]:
    """Return what to know of main rows: the model, and the reasons for which their numbers are uncertain."""
    counts = [int(row["people"]) for row in rows]
    found = [
        f"{model}: {MODELS[model]}, single measurement (McGraw and Wong 1996). In brackets: 95 % limits."
        for model in names(rows, "model")
    ]
    people = " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))
    if min(counts) < ENOUGH_PEOPLE:
        icc, sem = (max(0.0, *(-float(row[name] or 0) for row in rows)) for name in ("icc_bias", "sem_bias_percent"))
        small = f"Few people (n {people}): in studies of this size the ICC is on average too small by up to {icc:.2f}, "
        small += f"SEM and minimal detectable change by up to {sem:.1f} %. Measure {ENOUGH_PEOPLE} people or more."
        found.append(small)
    if "ICC(A,1)" in names(rows, "model"):
        narrow = "The limits are too narrow where more than a tenth of the error's variance is shared by everyone at a "
        narrow += "visit or with an assessor, of which a few visits tell little. Here it seems so of: "
        found.append(f"{narrow}{', '.join(_shared(rows)) or 'no main metric'}.")
    return found


def overview_of(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Return by condition the table and the figure of the main metrics, with remarks; None if they have no numbers."""
    rows = [row for row in main_rows(rows) if row["side"] in SIDES]
    conditions = {one: [row for row in rows if row["condition"] == one] for one in names(rows, "condition")}
    if not rows:
        return None
    return {
        "remarks": remarks(rows),
        "conditions": {one: (_table(mine), _figure(mine)) for one, mine in conditions.items()},
    }


def _table(rows: Sequence[Row]) -> Table:
    """Return the table of a condition, sides next to each other; n is in a cell where it is less than the largest."""
    shown, columns = names(rows, "metric"), []
    for side in names(rows, "side"):
        mine = {row["metric"]: row for row in rows if row["side"] == side}
        most = max(int(row["people"]) for row in mine.values())
        cells = [cells_of(mine[name])[:3] if name in mine else [ABSENT] * 3 for name in shown]
        for name, own in zip(shown, cells, strict=True):
            fewer = name in mine and int(mine[name]["people"]) < most
            own[0] += f", n\xa0{mine[name]['people']}" if fewer else ""
        columns += [
            (f"{side} (n\xa0{most})", title, of) for title, of in zip(HEADER, np.array(cells).T.tolist(), strict=True)
        ]
    return by_group(shown, columns, on_screen=())[CLINICAL]._replace(meanings={})


def _figure(rows: Sequence[Row]) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return by metric and side the correlation and its limits, cut to the axis from 0 to 1."""
    figure: dict[str, dict[str, tuple[float, ...]]] = {}
    for row in rows:
        numbers = (min(max(float(row[f"icc{end}"] or row["icc"]), 0.0), 1.0) for end in ("", "_lower", "_upper"))
        figure.setdefault(_title(row), {})[row["side"]] = (*numbers,)
    return figure


def _shared(rows: Sequence[Row]) -> list[str]:
    """Return the metrics of which more than LITTLE_SHARED of the error's variance is shared by all people."""
    most = math.sqrt(1 - LITTLE_SHARED)
    return [*dict.fromkeys(_title(row) for row in rows if float(row["sem_consistency"]) < most * float(row["sem"]))]


def _title(row: Row) -> str:
    return row["metric"].replace("_", " ").capitalize()


def _number(cell: str, places: int) -> str:
    return f"{float(cell):.{places}f}" if cell else ABSENT


def _with_limits(row: Row, name: str, places: int) -> str:
    """Return a number and its limits."""
    value, low, high = (_number(row[f"{name}{end}"], places) for end in ("", "_lower", "_upper"))
    return f"{value} ({low}\xa0to\xa0{high})"
