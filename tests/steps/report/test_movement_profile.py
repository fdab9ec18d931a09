"""How a person differs from normal: the Movement Analysis Profile and what a typical person has."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.steps.report import html_page
from pipeline.steps.report.movement_profile import (
    GPS,
    GVS,
    OVERALL,
    Norm,
    Profile,
    compares_children_and_adults,
    movement_profiles,
    without_comparison,
)
from pipeline.steps.study.step import per_participant
from pipeline.tables.reference_curves import BySpeed, ReferenceCurve
from pipeline.variables.metrics import GAIT_ANGLES, METRICS
from tests.support.studies.for_report import Made, Page, three_people
from tests.support.studies.typed_rows import typed

SD = {0.2: 4.0, 0.4: 2.0}  # of every angle, by dimensionless speed
SCORED = (GPS, OVERALL, *(f"{GVS}{name}" for name in GAIT_ANGLES))


def reference() -> BySpeed:
    """Return curves with the same standard deviation everywhere: that is the typical score."""
    keys: list[tuple[str, ...]] = [("pelvis_angle", angle) for angle in ("flexion", "adduction", "rotation")]
    keys += [("joint_angle", "hip", angle) for angle in ("flexion", "adduction", "rotation")]
    keys += [("joint_angle", joint, "flexion") for joint in ("knee", "ankle")] + [("foot_progression",)]
    return {speed: {key: ReferenceCurve([0, 100], [0, 0], [sd, sd]) for key in keys} for speed, sd in SD.items()}


def cycle(
    side: str, score: float, *, condition: str = "walk", speed: float = 0.4, session: str = "s1"
) -> dict[str, str]:
    scores = {f"{GVS}{name}": f"{score + i}" for i, name in enumerate(GAIT_ANGLES)}
    own = {"side": side, "condition": condition, "session": session, "reference_speed": f"{speed}"}
    return own | scores | {GPS: f"{score}", OVERALL: f"{score + 1}"}


def profiles_of(*cycles: dict[str, str]) -> list[Profile]:
    return movement_profiles(typed("metrics", cycles), reference())


def bars_of(profile: Profile) -> dict[str, Any]:
    return {one.title: (one.scores, one.typical) for one in profile.bars}


def test_scores_are_means_over_cycles_by_side_beside_the_typical_score() -> None:
    (profile,) = profiles_of(cycle("left", 3), cycle("left", 5), cycle("right", 10))
    bars = bars_of(profile)
    assert [*bars] == [*(name.replace("_", " ").capitalize() for name in GAIT_ANGLES), "Gait Profile Score"]
    assert bars["Pelvis tilt"] == ({"both": 4}, pytest.approx(2))  # the pelvis is one body: of the left cycles
    assert bars["Hip flexion"] == ({"left": 7, "right": 13}, pytest.approx(2))
    assert bars["Gait Profile Score"] == ({"left": 4, "right": 10, "both": 7}, pytest.approx(2))
    assert profile.ticks == [0, 10, 20, 30]
    assert profile.words.endswith("in brackets): foot progression right 18.0 (2.0); ankle flexion right 17.0 (2.0); "
                                  "knee flexion right 16.0 (2.0).")  # fmt: skip
    assert profile.table.rows[3] == ["Hip flexion", "7.0", "13.0", "n/a", "2.0"]


def test_each_condition_is_compared_at_its_own_speed_and_the_axis_grows() -> None:
    rows = [cycle("left", 1, condition="slow", speed=0.2), cycle("left", 35, condition="fast", speed=0.3)]
    slow, fast = profiles_of(*rows)
    assert [one.title for one in (slow, fast)] == ["slow", "fast"]
    assert [bars_of(one)["Knee flexion"][1] for one in (slow, fast)] == pytest.approx([4, 3])
    assert (slow.ticks[-1], fast.ticks[-1]) == (30, 50)
    both = profiles_of(cycle("left", 1), cycle("left", 2, session="s2"))
    assert [one.title for one in both] == ["s1", "s2"]  # as of the lines of the curves


def test_within_the_typical_scores_nothing_is_named() -> None:
    (profile,) = profiles_of(cycle("left", -7, speed=0.2))
    assert profile.words.endswith("No angle is beyond a typical person's.")


def test_cycles_that_turn_are_counted_by_condition() -> None:
    headings = [("5", "2"), ("-25", "2"), ("5", "-12"), ("", "")]
    turning = [
        cycle("left", 1, condition="turn") | {"turning_angle": turn, "progression_offset": direction}
        for turn, direction in headings
    ]
    one = typed("metrics", [cycle("left", 1)])
    assert without_comparison(one) == without_comparison(one[:0]) == []
    (words,) = without_comparison(typed("metrics", [*turning, cycle("left", 1)]))
    assert words.startswith("turn: 2 of 4 cycles turn by more than 20 degrees, or lead more than 10 degrees away")
    unscored = typed("metrics", [{"condition": "turn", "session": "s1", "turning_angle": "90"}])
    assert without_comparison(unscored) == []


CHILDREN = {"ages": [4, 17], "people": "83 children"}
ADULTS = {"ages": [20, 60], "people": "12 adults"}


@pytest.mark.parametrize(
    ("age", "reference", "compared", "words"),
    [
        (9.0, CHILDREN, True, ""),
        (3.0, CHILDREN, True, "this person is 3 years old, the reference is of 83 children"),
        (35.0, CHILDREN, False, "this person is 35 years old, the reference is of 83 children: no score"),
        (np.nan, CHILDREN, False, "the age of this person is not known, the reference is of 83 children: no score"),
        (35.0, ADULTS, True, ""),
        (70.0, ADULTS, True, "this person is 70 years old, the reference is of 12 adults"),
        (9.0, ADULTS, False, "this person is 9 years old, the reference is of 12 adults: no score"),
        (np.nan, ADULTS, True, ""),
        (35.0, {}, True, ""),  # a table that does not state its ages
    ],
)
def test_another_age_than_that_of_the_reference_is_said(
    age: float, reference: dict[str, Any], compared: bool, words: str
) -> None:
    assert compares_children_and_adults(age, reference) is not compared
    found = Norm({None: {}}, reference, age).another_age
    assert bool(found) == bool(words)
    assert all(text.startswith(words) for text in found)
    assert ("give age_years" in str(found)) == (np.isnan(age) and not compared)


def table_of_metrics(made: Made) -> pd.DataFrame:
    """Return metrics.csv, in which metrics are numbers and all else is text as it is there."""
    return pd.read_csv(io.StringIO(made.metrics), keep_default_na=False, na_values={name: [""] for name in METRICS})


@pytest.mark.parametrize(("age", "compared"), [("9", True), ("27", False), ("n/a", False)])
def test_only_a_child_is_compared_with_children(age: str, compared: bool) -> None:
    """Scores stay in the tables and in study.nc; the pages leave them out, and the band says of whom it is."""
    made = three_people()
    cells = dict.fromkeys(SCORED, 5.0) | {"reference_speed": 0.4}
    metrics = table_of_metrics(made).assign(**cells)
    metrics.insert([*metrics].index("doubt_code") + 1, "age_years", age)
    means, symmetry = (rows.to_csv(index=False) for rows in per_participant(metrics))
    study = made.study.assign_attrs(reference=json.dumps({"title": "children", "remarks": [], **CHILDREN}))
    scored = made._replace(study=study, metrics=metrics.to_csv(index=False), means=means, symmetry=symmetry)
    table = "variable,joint,angle,phase,mean,sd\njoint_angle,knee,flexion,0,10,4\njoint_angle,knee,flexion,100,10,4\n"
    page = Page(scored.person(reference=table))
    words = " ".join(page.words.split())
    assert ("Furthest beyond typical" in words) == compared
    assert ("Compared with" in words) == compared
    assert ("no score compares them" in words) != compared
    bands = {band["name"] for figure in page.figures()[0] for band in figure["reference"]}
    assert bands == {"normal" if compared else "another age"}
    (choice,) = [one for one in page.all("input") if one.get("data-hides") == "reference"]
    assert ("checked" in choice) == compared, "another age's band is drawn only if a reader wants it"
    assert ("normal foot off" in words) == compared
    assert "another age foot off" not in words
    whose = {"9": "children", "27": "children; this person is 27 years old"}
    assert whose.get(age, "children; the age of this person is not known") in words
    assert ("Gait profile score deg 5.0" in words) == compared
    overview = " ".join(Page(scored.pages(reference=table, only="report.html")["report.html"]).words.split())
    assert ("Gait profile score deg 5.0" in overview) == compared


def test_where_all_cycles_turn_the_report_gives_the_reason_and_draws_no_band() -> None:
    made = three_people()
    count = made.study.sizes["cycle"]
    metrics = table_of_metrics(made).assign(turning_angle=60.0, **dict.fromkeys(SCORED, np.nan))
    means, symmetry = (rows.to_csv(index=False) for rows in per_participant(metrics))
    study = made.study.assign(turning_angle=("cycle", np.full(count, 60.0)))
    turning = made._replace(study=study, metrics=metrics.to_csv(index=False), means=means, symmetry=symmetry)
    table = "variable,joint,angle,phase,mean,sd\njoint_angle,knee,flexion,0,10,4\njoint_angle,knee,flexion,100,10,4\n"
    page = Page(turning.person(reference=table))
    assert "How far from normal?" in page.words
    assert "from the line from which pelvis and foot are measured: no comparison with normal gait" in page.words
    assert not any(figure["reference"] for figure in page.figures()[0])
    assert any(figure["reference"] for figure in Page(made.person(reference=table)).figures()[0])


def test_without_scores_there_is_no_chart() -> None:
    unknown = {name: "" for name in cycle("left", 1) if "score" in name}
    assert profiles_of(cycle("left", 1) | unknown) == []
    assert movement_profiles(typed("metrics", [cycle("left", 1)]), {}) == []
    assert "How far from normal" not in three_people().person()


def test_a_reference_of_ones_own_needs_no_citation_and_no_model() -> None:
    study = three_people()
    metrics = table_of_metrics(study).assign(**dict.fromkeys(SCORED, 5.0))
    means, symmetry = (rows.to_csv(index=False) for rows in per_participant(metrics))
    scored = study._replace(metrics=metrics.to_csv(index=False), means=means, symmetry=symmetry)
    table = "variable,joint,angle,phase,mean,sd\njoint_angle,knee,flexion,0,10,4\njoint_angle,knee,flexion,100,10,4\n"
    page = Page(scored.person(reference=table))
    assert "How far from normal?" in page.words
    assert "Compared with reference" in " ".join(page.words.split())
    assert "Furthest beyond typical (in brackets): knee flexion" in page.words


def test_the_chart_is_drawn_without_a_script_and_read_aloud() -> None:
    profiles = profiles_of(cycle("left", 3), cycle("right", 10))
    template = html_page.environment().from_string(
        "{% from 'parts.html' import profile_of %}{{ profile_of(own, 1, 1) }}"
    )
    page = Page(template.render(own=profiles[0]))
    (svg,) = [attributes for attributes in page.all("svg") if attributes.get("class") == "profile"]
    assert svg["role"] == "img"
    assert "Gait Profile Score 7.5 degrees (left 3.0, right 10.0; typical 2.0)" in (svg["aria-label"] or "")
    typical = [a for a in page.all("rect") if a.get("class") == "typical"]
    assert {a["width"] for a in typical} == {f"{2 * 210 / 30:.1f}"}
    assert len(typical) == len(GAIT_ANGLES) + 1
    assert "Hip flexion 6.0 13.0 n/a 2.0" in " ".join(page.words.split())
