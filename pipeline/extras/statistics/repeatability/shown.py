"""The main metrics of repeatability.csv in tables, a figure and words, for the overview and the terminal.

Step ``repeatability`` estimates the numbers; docs/repeatability.md has the simulated studies behind the limit here.
Where people share only two visits, or assessors, consistency comes first: two cannot tell how much visits differ.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....conventions import SIDES
from ....steps.report.metric_tables import CLINICAL, MAIN_NUMBERS, by_group, places_of
from ....steps.report.tables import ABSENT, Row, Table, names

ENOUGH_PEOPLE = 30  # with fewer, correlation and SEM are too small on average
MODELS = {"ICC(1)": "one-way random effects", "ICC(A,1)": "random effects, absolute agreement"}
CONSISTENCY = "ICC(C,1): random effects, consistency: without what all people share at a visit or with an assessor."
CANNOT_TELL = "two {0} cannot tell how much {0} differ"


def main_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of repeatability.csv of the main metrics that have numbers, metric by metric."""
    known = [row for row in rows if row["icc"] and row["sem"]]
    return [row for name in MAIN_NUMBERS for row in known if row["metric"] == name]


def header_of(rows: Sequence[Row]) -> list[str]:
    """Return what :func:`cells_of` returns of main rows; where a number is of agreement, that two cannot tell it."""
    if not (few := _two(rows)):
        return ["ICC", "SEM", "minimal detectable change"]
    cannot = " and ".join(CANNOT_TELL.format(name) for name in few)
    return ["ICC(C,1)", "SEM", "minimal detectable change", f"minimal detectable change of agreement: {cannot}"]


def cells_of(row: Row, rows: Sequence[Row]) -> list[str]:
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


def remarks(rows: Sequence[Row]) -> list[str]:
    """Return what to know of main rows: the model, and the reasons for which their numbers are uncertain."""
    counts = [int(row["people"]) for row in rows]
    few = _two(rows)
    found = [
        f"{model}: {MODELS[model]}, single measurement (McGraw and Wong 1996). In brackets: 95 % limits."
        for model in names(rows, "model")
    ]
    if few:
        cannot = " and ".join(CANNOT_TELL.format(name) for name in few)
        found += [f"{CONSISTENCY} It comes first, because {cannot}: limits of agreement are wide. Take four or more."]
    people = " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))
    if min(counts) < ENOUGH_PEOPLE:
        icc, sem = (max(0.0, *(-float(row[name] or 0) for row in rows)) for name in ("icc_bias", "sem_bias_percent"))
        small = f"Few people (n {people}): in studies of this size the ICC is on average too small by up to {icc:.2f}, "
        small += f"SEM and minimal detectable change by up to {sem:.1f} %. Measure {ENOUGH_PEOPLE} people or more."
        found.append(small)
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
    shown, header, columns = names(rows, "metric"), header_of(rows), []
    for side in names(rows, "side"):
        mine = {row["metric"]: row for row in rows if row["side"] == side}
        most = max(int(row["people"]) for row in mine.values())
        cells = [cells_of(mine[name], rows) if name in mine else [ABSENT] * len(header) for name in shown]
        for name, own in zip(shown, cells, strict=True):
            fewer = name in mine and int(mine[name]["people"]) < most
            own[0] += f", n\xa0{mine[name]['people']}" if fewer else ""
        columns += [
            (f"{side} (n\xa0{most})", title, of) for title, of in zip(header, np.array(cells).T.tolist(), strict=True)
        ]
    return by_group(shown, columns, on_screen=())[CLINICAL]._replace(meanings={})


def _figure(rows: Sequence[Row]) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return by metric and side the correlation of the table and its limits, cut to the axis from 0 to 1."""
    figure: dict[str, dict[str, tuple[float, ...]]] = {}
    name = "icc_consistency" if _two(rows) else "icc"
    for row in rows:
        numbers = (min(max(float(row[f"{name}{end}"] or row[name]), 0.0), 1.0) for end in ("", "_lower", "_upper"))
        figure.setdefault(_title(row), {})[row["side"]] = (*numbers,)
    return figure


def _two(rows: Sequence[Row]) -> list[str]:
    """Return of which repeated factors people share only two levels."""
    return [name for name in ("visits", "assessors") if any(row[name] and int(float(row[name])) == 2 for row in rows)]


def _places(row: Row) -> int:
    sem = float(row["sem"])
    return max(places_of(row["metric"]), 1 - math.floor(math.log10(sem))) if sem > 0 else places_of(row["metric"])


def _title(row: Row) -> str:
    return row["metric"].replace("_", " ").capitalize()


def _number(cell: str, places: int) -> str:
    return f"{float(cell):.{places}f}" if cell else ABSENT


def _with_limits(row: Row, name: str, places: int) -> str:
    """Return a number and its limits."""
    value, low, high = (_number(row[f"{name}{end}"], places) for end in ("", "_lower", "_upper"))
    return f"{value} ({low}\xa0to\xa0{high})"
