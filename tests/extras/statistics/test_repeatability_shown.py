"""Repeatability on the overview and in the terminal: the computed numbers, with warnings where they are uncertain."""

from __future__ import annotations

import re
from pathlib import Path

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
from pipeline.results import netcdf
from pipeline.steps.report.addition import Loaded
from pipeline.tables.csv_files import Kinds, csv_of, read_csv
from pipeline.variables import schema
from tests.extras.statistics.repeated import SPEED, repeated_study
from tests.support.studies.for_report import Page, made, three_people, trial_cycles


def rows_of_study(people: int, *, factor: float = 1.0, visits: int = 2) -> pd.DataFrame:
    """Return repeatability.csv of a simulated study."""
    study, sessions = repeated_study(people, visits)
    study[SPEED] = factor * study[SPEED]
    _, table = repeatability(study, settings=Settings(visits=[f"v{i}" for i in range(visits)]), sessions=sessions)
    return read_csv(csv_of(table).decode(), Kinds(NUMBERS))


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
    shown = three_people()
    html = shown.overview()
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
    html = shown._replace(additions=[Loaded(REPEATABILITY, Known(rows))]).overview()
    words = " ".join(Page(html).words.split())
    assert "Few people (n 5)" in words
    assert f"Walking speed m/s {' '.join(table.rows[0][2:])}".replace("\xa0", " ") in words.replace("\xa0", " ")
    assert html.count('r="3.5"/>') == 2 + shown.overview().count('r="3.5"/>')
    assert overview_of(rows.assign(icc=np.nan)) is None


@pytest.mark.parametrize("people", [8, 30])
def test_the_page_of_two_visits_has_the_minimal_detectable_change_of_each_curve(tmp_path: Path, people: int) -> None:
    study, sessions = repeated_study(people, 2)
    data, _ = repeatability(study, settings=Settings(visits=["v0", "v1"]), sessions=sessions)
    netcdf.save(tmp_path / "repeatability.nc", schema.describe("repeatability", data))
    trials = {f"sub-02_{when}": {"w": trial_cycles("sub-02", "walk", ["left", "right"])} for when in ("pre", "post")}
    study_of_two = made(trials, {"w": "walk"})
    known = Known(None, tmp_path / "repeatability.nc", "this study")
    shown = study_of_two._replace(chosen=("sub-02_pre", "sub-02_post"), additions=[Loaded(REPEATABILITY, known)])
    page = Page(shown.person("sub-02"))
    (figures,) = page.figures()
    (knee,) = [one for one in figures if one["title"] == "Knee flexion"]
    expected = data.joint_angle_mdc.sel(condition="walk", joint="knee", angle="flexion", bound="value")
    assert [(one["side"], one["condition"]) for one in knee["detectable"]] == [("left", "walk"), ("right", "walk")]
    for one in knee["detectable"]:
        assert one["change"] == pytest.approx(expected.sel(side=one["side"]).values.tolist(), rel=1e-3)
    assert [one for one in figures if one["detectable"]] == [knee], "of no other curve"
    words = " ".join(page.words.split())
    assert f"stay within in 95 of 100 (n {people} people" in words
    assert ("too small on average" in words) is (people < 30)
    whole = Page(shown._replace(chosen=()).person("sub-02"))
    assert all(one["detectable"] is None for one in whole.figures()[0]), "differences are on the page of two visits"


@pytest.mark.parametrize(("chosen", "says"), [(("sub-02_pre", "sub-02_post"), True), (("slow", "fast"), False)])
def test_without_repeatability_a_comparison_says_what_is_shaded(chosen: tuple[str, str], says: bool) -> None:
    trials = {
        f"sub-02_{when}": {name: trial_cycles("sub-02", name, ["left", "right"]) for name in ("slow", "fast")}
        for when in ("pre", "post")
    }
    page = Page(made(trials, {"slow": "slow", "fast": "fast"})._replace(chosen=chosen).person("sub-02"))
    words = " ".join(page.words.split())
    assert "how far the gait cycles alone let the two means differ" in words
    assert ("as this study has no repeatability" in words) is says
    assert all(one["detectable"] is None for one in page.figures()[0])
