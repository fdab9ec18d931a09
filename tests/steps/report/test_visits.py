"""Visits of a person side by side: their order, their changes, and what marks a change."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.results.metric_errors import HELD, errors_of_cycles
from pipeline.results.typed_tables import read_results
from pipeline.steps.report import metric_tables
from pipeline.steps.report.compared_visits import compared
from pipeline.steps.report.movement_profile import GPS, GVS, OVERALL
from pipeline.steps.report.tables import Table
from pipeline.steps.report.visit_changes import (
    change_of,
    limits_of,
    profile_changes,
    tables_of_changes,
    with_changes_of_gps,
)
from pipeline.steps.report.visit_speed import LEAST_SHARE, speed_changes
from pipeline.steps.study.step import per_participant
from pipeline.tables.reference_curves import at_speed, reference_file, reference_of, speeds_of
from pipeline.tables.session_table import visits_of_people
from pipeline.variables.gait_profile import along_cycle, place_of, root_mean_square
from pipeline.variables.metrics import GAIT_ANGLES, METRICS, NUMBERS
from tests.support.studies.for_report import Made, Page, curve_of, made, trial_cycles, with_errors
from tests.support.studies.typed_rows import typed

BOTH = ["left", "right"]
ORDER = {"sub-02_before": "pre", "sub-02_after": "post", "sub-02_again": "later"}  # after < again < before in letters
PHASES_SHOWN = [name for name in METRICS if NUMBERS[name].kind == "phase"]


def visits(
    sessions: Mapping[str, str] = ORDER, conditions: tuple[str, ...] = ("slow",), *, seed: int = 1, **others: Any
) -> Made:
    """Return a person in several sessions, in the files by the letters of their names, with drawn metrics."""
    trials = {
        session: {name: trial_cycles("sub-02", name, BOTH) for name in conditions} for session in sorted(sessions)
    }
    study = made(trials, {name: name for name in conditions})
    metrics, draw = pd.read_csv(io.StringIO(study.metrics), keep_default_na=False), np.random.default_rng(seed)
    drawn = pd.DataFrame(draw.uniform(0.5, 99, (len(metrics), len(METRICS))), columns=[*METRICS])
    metrics = pd.concat([metrics.drop(columns=[*METRICS]), drawn], axis=1)[metrics.columns]
    means, symmetry = (table.to_csv(index=False) for table in per_participant(metrics))
    study = study._replace(metrics=metrics.to_csv(index=False), means=means, symmetry=symmetry)
    return study._replace(visits=sessions, **others)


def shown_tables(study: Made, **chosen: Any) -> dict[str, dict[str, Table]]:
    """Return the tables of metrics by condition."""
    pairs = compared([*study.visits.items()], **chosen)
    metrics, symmetry = (pairs.rows(read_results(name, getattr(study, name))) for name in ("metrics", "symmetry"))
    return tables_of_changes(metrics, symmetry, pairs, study.detectable)


def cycles_of(study: Made) -> pd.DataFrame:
    """Return the gait cycles of metrics.csv, numbered."""
    rows = read_results("metrics", study.metrics)
    return rows[rows["part"] == "cycle"].reset_index(drop=True)


def by_hand(study: Made, metric: str, session: str, side: str, condition: str = "slow") -> float:
    """Return the mean of a metric from the text of metrics.csv; of phases that of their directions."""
    rows = [*csv.DictReader(io.StringIO(study.metrics))]
    key = (session, side, condition)
    values = [float(row[metric]) for row in rows if (row["session"], row["side"], row["condition"]) == key]
    if metric not in PHASES_SHOWN:
        return sum(values) / len(values)
    angles = [2 * math.pi * value / 100 for value in values]
    return math.atan2(sum(map(math.sin, angles)), sum(map(math.cos, angles))) * 50 / math.pi


def column(table: Table, group: str, title: str) -> dict[str, str]:
    """Return the cells of a column by metric; n in brackets may follow its title."""
    (at,) = [
        i for i, name in enumerate(table.header) if (table.groups[i], re.sub(r" \(n.*", "", name)) == (group, title)
    ]
    return {row[0]: row[at] for row in table.rows}


@pytest.mark.parametrize("seed", range(3))
def test_each_change_is_the_later_mean_minus_the_first_in_the_metrics_unit(seed: int) -> None:
    study = visits(seed=seed)
    tables = shown_tables(study)["slow"].values()
    labels = {metric_tables.title_of(name): name for name in METRICS}
    counted = 0
    for side in BOTH:
        for session, visit in [*ORDER.items()][1:]:
            cells = {k: v for table in tables for k, v in column(table, side, f"{visit} minus pre").items()}
            for label, cell in cells.items():
                name = labels[label]
                expected = by_hand(study, name, session, side) - by_hand(study, name, "sub-02_before", side)
                if name in PHASES_SHOWN:  # the shorter way round
                    expected = (expected + 50) % 100 - 50
                half = 0.5001 * 10.0 ** -metric_tables.places_of(name)
                assert abs(float(cell.split()[0]) - expected) <= half, (side, visit, name)
                assert cell.startswith(("+", "-"))
                counted += 1
    assert counted > 2 * 2 * 60


def test_visits_stand_in_the_order_of_their_dates_in_tables_curves_and_scores() -> None:
    study = visits()
    page = Page(study.person("sub-02"))
    (table, *_) = shown_tables(study)["slow"].values()
    order = ["pre", "post", "post minus pre", "later", "later minus pre"]
    groups = [*BOTH, *metric_tables.COMPARED.values()]
    titles = [re.sub(r" \(n.*", "", title) for title in table.header]
    assert titles == ["Metric", "Unit", *(4 * order)]
    assert [*table.groups] == ["", "", *(group for group in groups for _ in order)]
    knee = next(figure for figure in page.figures()[0] if figure["title"] == "Knee flexion")
    assert [curve["line"] for curve in knee["curves"]] == [visit for visit in ORDER.values() for _ in BOTH]
    assert "pre, then post, then later, never averaged together; each later one also minus pre" in page.words
    assert page.words.index("sub-02_before, slow: left 4") < page.words.index("sub-02_after, slow: left 4")


def test_sessions_of_one_visit_are_one_column() -> None:
    study = visits({"sub-02_before": "pre", "sub-02_again": "pre", "sub-02_after": "post"})
    (table, *_) = shown_tables(study)["slow"].values()
    both = [by_hand(study, "walking_speed", name, "left") for name in ("sub-02_before", "sub-02_again")]
    cell = column(table, "left", "pre")["Walking speed"]
    assert float(cell.split()[0]) == pytest.approx(np.mean(both), abs=0.0051)  # as many cycles in each session
    assert column(table, "left", "post minus pre")


def test_a_person_with_one_visit_has_no_changes() -> None:
    one = visits({"sub-02_before": "pre"}).person("sub-02")
    both = visits({"sub-02_before": "pre", "sub-02_after": "pre"}).person("sub-02")
    for html in (one, both):
        words = Page(html).words
        assert " minus pre" not in words
        assert "never averaged" not in words
        assert "right minus left" in words


def test_each_condition_has_its_own_tables() -> None:
    study = visits({"sub-02_before": "pre", "sub-02_after": "post"}, ("slow", "fast"))
    tables = shown_tables(study)
    assert [*tables] == ["slow", "fast"]
    for condition, (table, *_) in ((name, [*of.values()]) for name, of in tables.items()):
        means = [by_hand(study, "walking_speed", name, "left", condition) for name in ("sub-02_after", "sub-02_before")]
        cell = column(table, "left", "post minus pre")["Walking speed"]
        assert float(cell) == pytest.approx(means[0] - means[1], abs=0.0051)
    words = Page(study.person("sub-02")).words
    assert words.count("Main numbers: mean (standard deviation) over n gait cycles") == 2


def test_chosen_visits_or_conditions_are_all_that_a_page_shows() -> None:
    study = visits(ORDER, ("slow", "fast"), chosen=("later", "pre"))
    (table, *_) = shown_tables(study, chosen=study.chosen)["slow"].values()
    assert column(table, "left", "pre minus later")
    page = Page(study.person("sub-02"))
    assert {curve["line"] for curve in page.figures()[0][0]["curves"]} == {
        f"{visit}, {name}" for visit in ("pre", "later") for name in ("slow", "fast")
    }
    assert "post minus" not in page.words
    assert "Only later and pre, side by side." in page.words
    study = visits({"sub-02_before": "pre"}, ("slow", "fast", "faster"), chosen=("faster", "slow"))
    tables = shown_tables(study, chosen=study.chosen)
    assert [*tables] == ["pre"]
    cell = column(next(iter(tables["pre"].values())), "right", "slow minus faster")["Walking speed"]
    means = [by_hand(study, "walking_speed", "sub-02_before", "right", name) for name in ("slow", "faster")]
    assert float(cell) == pytest.approx(means[0] - means[1], abs=0.0051)
    page = Page(study.person("sub-02"))
    assert {curve["line"] for curve in page.figures()[0][0]["curves"]} == {"slow", "faster"}
    assert curve_of(page.figures()[0], "Knee flexion", "left", "slow")["n"] == 4


def test_a_change_is_marked_where_it_is_below_what_matters_or_can_be_detected() -> None:
    assert change_of(-1.5, 1, limits_of(GPS, {})) == "-1.5 (below 1.6)"
    assert change_of(1.6, 1, limits_of(OVERALL, {})) == "+1.6"
    assert change_of(0.04, 2, limits_of("walking_speed", {"walking_speed": 0.1})) == "+0.04 (within 0.10)"
    assert change_of(-0.14, 2, limits_of("walking_speed", {"walking_speed": 0.1})) == "-0.14"
    assert change_of(1.0, 1, limits_of(GPS, {GPS: 2.25})) == "+1.0 (below 1.6, within 2.2)"
    assert change_of(0.5, 1, limits_of(f"{GVS}hip_flexion", {})) == "+0.5"  # none is published
    assert change_of(float("nan"), 1, limits_of(GPS, {})) == "n/a"
    study = visits(detectable={"slow": {"left": {"walking_speed": 1000.0, "cadence": 1e-9}}})
    (table, *_) = shown_tables(study)["slow"].values()
    cells = column(table, "left", "post minus pre")
    assert cells["Walking speed"].endswith(" (within 1000.00)")
    assert "within" not in cells["Cadence"]
    assert "within" not in column(table, "right", "post minus pre")["Walking speed"]
    assert "within" not in column(table, "right minus left", "post minus pre")["Walking speed"]
    assert "its minimal detectable change" in Page(study.person("sub-02")).words
    assert "is not known in this study" in Page(visits().person("sub-02")).words


DETECTABLE = {"walk": {"right": {f"{GVS}knee_flexion": 0.75}, "mean": {OVERALL: 0.8}}}


def scored(side: str, session: str, score: float) -> dict[str, str]:
    """Return a cycle with scores that differ by angle."""
    own = {"session": session, "condition": "walk", "side": side, GPS: f"{score}", OVERALL: f"{score + 1}"}
    return own | {f"{GVS}{name}": f"{score + i}" for i, name in enumerate(GAIT_ANGLES)}


def test_the_profile_has_a_row_for_each_angle_and_side_with_its_change() -> None:
    pairs = compared([("s2", "pre"), ("s1", "post")])
    rows = [scored("left", "s1", 3), scored("left", "s2", 5), scored("right", "s1", 9.5), scored("right", "s2", 9)]
    profile = profile_changes(pairs.rows(typed("metrics", [*rows, *rows])), pairs, DETECTABLE)["walk"]
    count = " (n\xa0left\xa02, right\xa02)"
    assert profile.header == ["Angle", f"pre{count}", f"post{count}", "post minus pre"]
    cells = {row[0]: row[1:] for row in profile.rows}
    assert len(cells) == 3 + 6 * 2 + 3
    assert cells["Pelvis tilt"] == ["5.0", "3.0", "-2.0"]  # of the left cycles
    assert cells["Knee flexion, right"] == ["15.0", "15.5", "+0.5 (within 0.8)"]
    assert cells["Gait Profile Score, left"] == ["5.0", "3.0", "-2.0"]
    assert cells["Gait Profile Score, right"] == ["9.0", "9.5", "+0.5 (below 1.6)"]
    assert cells["Gait Profile Score, both"] == ["8.0", "7.2", "-0.8 (below 1.6, within 0.8)"]
    assert profile_changes(pairs.rows(typed("metrics", [rows[1]])), pairs, {}) == {}  # no second visit
    more_left = typed("metrics", [*rows, rows[0], rows[1]])  # two left, one right cycle
    few = profile_changes(pairs.rows(more_left), pairs, DETECTABLE)["walk"]
    changes = {row[0]: row[-1] for row in few.rows}
    assert changes["Knee flexion, right"] == "+0.5 (single cycle)"
    assert changes["Gait Profile Score, both"].endswith(" (single cycle)")
    assert changes["Gait Profile Score, left"] == changes["Pelvis tilt"] == "-2.0"


def test_a_change_that_one_cycle_shows_is_marked_and_compared_with_nothing() -> None:
    study = visits({"sub-02_before": "pre", "sub-02_after": "post"})
    study = study._replace(detectable={"slow": {"left": {"walking_speed": 1000.0}, "right": {"walking_speed": 1000.0}}})
    rows = cycles_of(study)
    mine = rows.index[(rows["session"] == "sub-02_after") & (rows["side"] == "left")]
    few = rows.drop(mine[1:])
    pairs = compared([*study.visits.items()])
    symmetry = pairs.rows(read_results("symmetry", study.symmetry))
    (table, *_) = tables_of_changes(pairs.rows(few), symmetry, pairs, study.detectable)["slow"].values()
    assert table.rows[0][0] == "Walking speed"
    left, right = (column(table, side, "post minus pre") for side in BOTH)
    assert all(cell == "n/a" or cell.endswith(" (single cycle)") for cell in left.values())
    assert right["Walking speed"].endswith(" (within 1000.00)")
    for compared_sides in metric_tables.COMPARED.values():
        cells = column(table, compared_sides, "post minus pre").values()
        assert all(cell == "n/a" or cell.endswith(" (single cycle)") for cell in cells)
    page = study._replace(metrics=few.to_csv(index=False)).person("sub-02")
    assert '<td class="single">' in page


def test_pairs_of_a_visit_and_a_condition_are_set_side_by_side() -> None:
    study = visits({"sub-02_before": "pre", "sub-02_after": "post"}, ("barefoot", "shoes"))
    ((_, tables),) = shown_tables(study, chosen=("pre:barefoot", "post:shoes")).items()
    table = next(iter(tables.values()))
    cells = column(table, "left", "post:shoes minus pre:barefoot")
    before = by_hand(study, "cadence", "sub-02_before", "left", "barefoot")
    after = by_hand(study, "cadence", "sub-02_after", "left", "shoes")
    assert abs(float(cells["Cadence"].split()[0]) - (after - before)) <= 0.0501
    assert not any("pre:shoes" in title or "post:barefoot" in title for title in table.header)
    part = compared([*study.visits.items()], ("pre:barefoot", "post:shoes")).part(study.study)
    places = {*zip(part.session.values.tolist(), part.condition.values.tolist(), strict=True)}
    assert places == {("sub-02_before", "barefoot"), ("sub-02_after", "shoes")}


@pytest.mark.parametrize(
    ("sessions", "chosen"),
    [
        ({"sub-02_x": "v1"}, ("avant", "apres")),
        ({"sub-02_x": "v1"}, ("apres", "avant")),
        ({"sub-02_x": "v1"}, ("v1:avant", "v1:apres")),
        ({"sub-02_x": "v1", "sub-02_y": "v2"}, ("v1:avant", "v2:apres")),
        ({"sub-02_x": "v1", "sub-02_y": "v2"}, ("v2:apres", "v1:avant")),
        ({"sub-02_x": "v1", "sub-02_y": "v2"}, ("avant", "apres")),  # of the first visit
        ({"sub-02_x": "v1", "sub-02_y": "v2"}, ("v2", "v1")),  # of the first condition
    ],
)
def test_the_first_sheet_sets_the_second_against_the_first_as_the_command_names_them(
    sessions: dict[str, str], chosen: tuple[str, str]
) -> None:
    """Conditions stand in the study by the letters, visits by their order; the command may name them otherwise."""
    study = visits(sessions, ("apres", "avant"), chosen=chosen)
    means = []
    for label in chosen:
        parts = label.split(":")
        session = next((name for name, visit in sessions.items() if visit in parts), "sub-02_x")
        condition = next((one for one in ("avant", "apres") if one in parts), "apres")
        both = [by_hand(study, "cadence", session, side, condition) for side in BOTH]
        means.append(sum(both) / 2)
    html = study.person("sub-02").partition('id="normal"')[2].partition("</table>")[0]
    every = re.split(r"<t[hd]\b[^>]*>", html)[1:]
    cells = [re.sub("<[^>]+>", "", cell).strip() for cell in every]
    at = next(i for i, cell in enumerate(cells) if cell.startswith("Cadence"))
    assert cells[3] == "Change"
    places = metric_tables.places_of("cadence")
    shown = [float(cell) for cell in cells[at + 1 : at + 4]]
    assert shown == pytest.approx([*means, means[1] - means[0]], abs=0.5001 * 10.0**-places)


@pytest.mark.parametrize(("share", "said"), [(-0.28, True), (0.12, True), (0.08, False), (0.0, False)])
def test_speed_is_named_where_it_differs_by_a_tenth(share: float, said: bool) -> None:
    study = visits({"sub-02_before": "pre", "sub-02_after": "post"})
    rows, pairs = cycles_of(study), compared([*study.visits.items()])
    rows["walking_speed"] = np.where(rows["session"] == "sub-02_before", 1.2, 1.2 * (1 + share))
    sentences = speed_changes(pairs.rows(rows), pairs, pairs.part(study.study), {})
    assert len(sentences) == said
    if said:
        assert f"post {1.2 * (1 + share):.2f} m/s (n\xa0" in sentences[0]
        assert f"{100 * share:+.0f}\xa0%" in sentences[0]


def test_normal_gait_at_a_tenth_less_speed_differs_as_the_limit_says() -> None:
    table = reference_of(reference_file("schwartz2008", study_path=Path()).read_text(), where="schwartz2008")
    middle = speeds_of(table)[2]
    free, slower = (along_cycle(at_speed(table, middle * (1 - share)), "mean") for share in (0, LEAST_SHARE))
    angles = dict(zip(GAIT_ANGLES, root_mean_square(free - slower), strict=True))
    assert round(float(np.sqrt(np.mean(np.square([*angles.values()])))), 2) == 0.64
    assert round(angles["knee_flexion"], 1) == round(angles["ankle_flexion"], 1) == 1.1


def test_scores_at_one_speed_are_the_distance_from_one_normal_gait() -> None:
    """Cycles that are the normal gait of the common speed score zero there, however fast each visit was."""
    table = reference_of(reference_file("schwartz2008", study_path=Path()).read_text(), where="schwartz2008")
    study = visits({"sub-02_before": "pre", "sub-02_after": "post"})
    pairs = compared([*study.visits.items()])
    part = pairs.part(study.study)
    slow = part.session.values == "sub-02_after"
    part = part.assign(walking_speed_dimensionless=("cycle", np.where(slow, 0.35, 0.45)))
    normal, phase = along_cycle(at_speed(table, 0.4), "mean"), part.phase.values
    for i, (variable, labels) in enumerate(map(place_of, GAIT_ANGLES)):
        curve = part[variable].copy()
        curve.loc[labels] = np.interp(phase, np.arange(0, 101, 2.0), normal[i])
        part[variable] = curve
    part = part.drop_vars("turning_angle", errors="ignore")
    rows = cycles_of(study)
    rows["walking_speed"] = np.where(rows["session"].str.contains("after"), 0.9, 1.2)
    (sentence,) = speed_changes(pairs.rows(rows), pairs, part, table)
    assert "(0.40 without dimension)" in sentence
    assert "left 0.0, then 0.0; right 0.0, then 0.0 degrees" in sentence


def test_shares_of_the_error_sources_are_by_visit() -> None:
    study = visits({"sub-02_before": "pre", "sub-02_after": "post"})
    wide = study._replace(study=with_errors(study.study, below=0.5, above=1.5))
    words = Page(wide.person("sub-02")).words
    assert words.count("Error sources of the moments: pre") == 1
    assert words.count("Error sources of the moments: post") == 1


def test_errors_that_visits_share_cancel_in_their_change_and_of_sides_in_their_difference() -> None:
    """Both visits err by 3 in all draws; in draws of either sign each errs by 0.4 the other way than the other one."""
    study = visits({"sub-02_before": "pre", "sub-02_after": "post"})
    rows = cycles_of(study)
    own = np.where(rows["session"] == "sub-02_after", 0.4, -0.4)[:, None]
    errors = np.array([3, 3, -3, -3]) + own * np.array([1, -1, 1, -1])
    drawn = (("cycle", "metric", "draw"), rows[[*METRICS]].to_numpy()[..., None] + errors[:, None])
    dataset = study.study.assign(metric_draw=drawn)
    pairs = compared([*study.visits.items()])
    ordered = pairs.rows(rows).reset_index(drop=True)
    of_cycles = errors_of_cycles(pairs.part(dataset), ordered)
    symmetry = pairs.rows(read_results("symmetry", study.symmetry))
    tables = tables_of_changes(ordered, symmetry, pairs, {}, of_cycles)["slow"].values()
    shown = {
        place: next(cells for table in tables if "Peak knee flexion" in (cells := column(table, *place)))
        for place in [("left", "post"), ("left", "post minus pre"), ("right minus left", "post")]
    }
    expected = [np.hypot(3, 0.4), 0.8, 0.0]
    for cells, uncertainty in zip(shown.values(), expected, strict=True):
        assert cells["Peak knee flexion"].endswith(f"\N{PLUS-MINUS SIGN}\N{NO-BREAK SPACE}{uncertainty:.1f}")
        assert "\N{PLUS-MINUS SIGN}" not in cells.get("Walking speed", "")
    linked = dataset.assign_attrs(settings=json.dumps({"kinematics": {"method": "linked"}}))
    words = Page(study._replace(study=linked).person("sub-02")).words
    assert "standard uncertainty" in words
    assert f"phase of peak power a1 ({HELD['linked']['phase_of_peak_power_a1']})" in words
    assert "range of knee adduction (" not in words
    assert "standard uncertainty" not in Page(study.person("sub-02")).words


def test_the_overview_keeps_visits_apart() -> None:
    """Knees differ by 30 degrees between the visits, of which a mean of both would show 15."""
    names = {"sub-01_b": "pre", "sub-01_a": "post", "sub-02_x": "pre", "sub-02_q": "post", "sub-03": "post"}
    trials = {}
    for session, visit in names.items():
        trials[session] = {"walk": trial_cycles(session[:6], "slow", BOTH)}
        trials[session]["walk"]["joint_angle"] += 30.0 * (visit == "post")
    page = Page(made(trials, {"walk": "slow"})._replace(visits=names).overview())
    words = " ".join(page.words.split())
    knees = {visit: curve_of(page.figures()[0], "Knee flexion", "left", f"slow, {visit}") for visit in ("pre", "post")}
    assert [knee["n"] for knee in knees.values()] == [2, 3]
    assert np.mean(knees["post"]["mean"]) - np.mean(knees["pre"]["mean"]) == pytest.approx(31, abs=0.1)  # sub-03 adds 1
    assert "Visits are never averaged together: pre, then post." in words
    assert words.index("sub-01_b slow left") < words.index("sub-01_a slow left")
    assert "sub-01_b, sub-01_a" in words  # sessions in the table of participants


def test_a_group_without_a_later_visit_is_compared_at_the_first() -> None:
    names = {f"sub-0{i}_{visit}": visit for i in (1, 2, 3) for visit in ("pre", "post") if (i, visit) != (3, "post")}
    trials = {session: {"walk": trial_cycles(session[:6], "slow", BOTH)} for session in names}
    groups = {"sub-01": "a", "sub-02": "a", "sub-03": "b"}
    words = Page(made(trials, {"walk": "slow"})._replace(visits=names, groups=groups).overview()).words
    assert "Visits are never averaged together: pre, then post." in words


def test_the_change_of_the_gait_profile_score_is_by_condition_and_side() -> None:
    rows = [scored(side, name, x) for name, x in (("a", 9.0), ("b", 7.0), ("c", 8.0)) for side in BOTH]
    table = Table(["Session", "Side"], [[row["session"], row["side"]] for row in rows])
    result = with_changes_of_gps(table, typed("participants", rows), {"a": "pre", "b": "post", "c": "later"})
    assert [row[-1] for row in result.rows] == ["n/a", "n/a", "-2.0", "-2.0", "-1.0 (below 1.6)", "-1.0 (below 1.6)"]


def test_visits_of_several_people_share_names_or_numbers() -> None:
    people = [[("s1", "a"), ("s2", "b")], [("t1", "c")], [("u1", "x"), ("u2", "x"), ("u3", "y")]]
    numbers = dict(visits_of_people(people, {}))
    assert numbers == dict.fromkeys(["s1", "t1", "u1", "u2"], "visit 1") | dict.fromkeys(["s2", "u3"], "visit 2")
    named = [[("t2", "post")], [("s1", "pre"), ("s2", "post")]]
    rows = {session: {"visit": visit} for own in named for session, visit in own}
    assert visits_of_people(named, rows) == [("s1", "pre"), ("t2", "post"), ("s2", "post")]
    assert visits_of_people([[("s1", "a"), ("s2", "a")], [("t1", "b")]], {}) == []
