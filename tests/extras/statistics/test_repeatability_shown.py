"""Repeatability on the overview and in the terminal: the computed numbers, with warnings where they are uncertain."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from pipeline.extras.statistics.pages import REPEATABILITY
from pipeline.extras.statistics.repeatability.detectable import NUMBERS, Known
from pipeline.extras.statistics.repeatability.settings import Settings
from pipeline.extras.statistics.repeatability.shown import (
    cells_of,
    header_of,
    main_rows,
    overview_of,
    remarks,
    within_person,
)
from pipeline.extras.statistics.repeatability.step import repeatability
from pipeline.steps.report.addition import Loaded
from pipeline.tables.csv_files import csv_of, read_csv
from tests.extras.statistics.repeated import SPEED, repeated_study
from tests.support.studies.for_report import Page, three_people


def rows_of_study(people: int, *, factor: float = 1.0, visits: int = 2) -> pd.DataFrame:
    """Return repeatability.csv of a simulated study."""
    study, sessions = repeated_study(people, visits)
    study[SPEED] = factor * study[SPEED]
    _, table = repeatability(study, settings=Settings(visits=[f"v{i}" for i in range(visits)]), sessions=sessions)
    return read_csv(csv_of(table).decode(), NUMBERS)


@pytest.mark.parametrize("factor", [0.001, 1.0, 1000.0])
@pytest.mark.parametrize(("visits", "of"), [(2, ("icc_consistency", "mdc_consistency", "mdc")), (3, ("icc", "mdc"))])
def test_numbers_are_those_of_the_file(factor: float, visits: int, of: tuple[str, ...]) -> None:
    rows = main_rows(rows_of_study(8, factor=factor, visits=visits))
    assert {*rows["metric"]} == {SPEED}
    for row in rows.to_dict("records"):
        icc, sem, *changes = cells_of(row, rows)
        found = [float(x) for cell in (icc, *changes) for x in re.findall(r"-?[\d.]+", cell)]
        names = [f"{name}{end}" for name in of for end in ("", "_lower", "_upper")]
        assert found[:3] == pytest.approx([float(row[name]) for name in names[:3]], abs=0.0051)
        assert found[3:] == pytest.approx(
            [float(row[name]) for name in names[3:]], abs=0.05 * float(row["sem"]) + 0.005
        )
        shown = of[0].replace("icc", "sem")
        for cell, name in ((sem, shown), (within_person(row), "within_person_sd")):
            assert float(cell) == pytest.approx(float(row[name]), rel=0.06)


@pytest.mark.parametrize(("people", "warns"), [(29, True), (30, False)])
def test_small_studies_are_named_with_their_bias(people: int, warns: bool) -> None:
    rows = main_rows(rows_of_study(people))
    words = " ".join(remarks(rows))
    assert (f"(n {people})" in words) is warns
    worst = -rows["sem_bias_percent"].min()
    assert (f"by up to {worst:.1f} %" in words) is warns
    assert "ICC(A,1)" in words


@pytest.mark.parametrize("visits", [2, 3])
def test_two_visits_cannot_tell_how_much_visits_differ(visits: int) -> None:
    """It says so where a number of agreement stands, and consistency comes first."""
    rows = main_rows(rows_of_study(40, visits=visits))
    assert ("two visits cannot tell" in " ".join(remarks(rows))) is (visits == 2)
    first, *_, last = header_of(rows)
    assert first == ("ICC(C,1)" if visits == 2 else "ICC")
    assert ("two visits cannot tell how much visits differ" in last) is (visits == 2)


def test_the_overview_shows_it_only_with_the_file() -> None:
    made = three_people()
    html = made.overview()
    assert "epeatability" not in Page(html).words
    rows = rows_of_study(5)
    found = overview_of(rows)
    assert found is not None
    (table, figure), (condition,) = found["conditions"]["walk"], found["conditions"]
    assert condition == "walk"
    assert table.groups[2:] == ["left (n\xa05)"] * 4 + ["right (n\xa05)"] * 4
    assert [len(row) for row in table.rows] == [10]
    for side, (icc, lower, upper) in figure["Walking speed"].items():
        (upper_limit,) = rows["icc_consistency_upper"][(rows["side"] == side) & (rows["metric"] == SPEED)]
        assert 0 <= lower <= icc <= upper <= 1
        assert upper == pytest.approx(upper_limit)
    html = made._replace(additions=[Loaded(REPEATABILITY, Known(rows))]).overview()
    words = " ".join(Page(html).words.split())
    assert "Few people (n 5)" in words
    assert f"Walking speed m/s {' '.join(table.rows[0][2:])}".replace("\xa0", " ") in words.replace("\xa0", " ")
    assert html.count('r="3.5"/>') == 2 + made.overview().count('r="3.5"/>')
    assert overview_of(rows.assign(icc=np.nan)) is None
