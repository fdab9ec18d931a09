"""The curves of the report: fixed axes, clinical signs, sessions, n, single curves."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.steps.report.curves.cycles import MOST_SINGLE, CycleCurves
from pipeline.steps.report.curves.figures import SMALLEST_N, describe, draw_cycles
from pipeline.steps.report.curves.json_numbers import by_second_differences
from pipeline.steps.report.curves.lines import Line, lines_of
from pipeline.steps.report.curves.panels import panels_of
from pipeline.steps.report.html_page import pack_data
from tests.support.studies.for_report import (
    CONDITION_GAIN,
    REPEATS,
    Made,
    Page,
    curve_of,
    made,
    mean_flexion,
    trial_cycles,
    with_errors,
)

# rounding to four digits: half a unit of the fourth digit
ROUNDING = 5.1e-4
BOTH = ["left", "right"]
# panel of each published curve; the first word of the table is the positive direction, as in the panel's clinical sign
PUBLISHED = {
    "Pelvic Ant/Posterior Tilt": "Pelvic tilt",
    "Pelvic Up/Down Obliquity": "Pelvic obliquity",
    "Pelvic Int/External Rotation": "Pelvic rotation",
    "Hip Flex/Extension": "Hip flexion",
    "Hip Ad/Abduction": "Hip adduction",
    "Hip Int/External Rotation": "Hip rotation",
    "Knee Flex/Extension": "Knee flexion",
    "Knee Ad/Abduction": "Knee adduction",
    "Knee Int/External Rotation": "Knee rotation",
    "Ankle Dorsi/Plantarflexion": "Ankle dorsiflexion",
    "Foot Int/External Progression": "Foot progression",
    "Anterior/Posterior": "Fore-aft force",
    "Vertical": "Vertical force",
}
PUBLISHED_MOMENTS = {
    "Hip Ext/Flexion": "Hip extensor moment",
    "Hip Ab/Adduction": "Hip abductor moment",
    "Knee Ext/Flexion": "Knee extensor moment",
    "Knee Ab/Adduction": "Knee abductor moment",
    "Ankle Dorsi/Plantarflexion": "Ankle plantarflexor moment",
}
SPEEDS = ("very_slow", "slow", "free", "fast")


def published(table: Path) -> dict[str, list[tuple[float, float]]]:
    """Return the mean - 2 SD and mean + 2 SD of children, at all phases and speeds up to fast, by panel."""
    found = defaultdict(list)
    with table.open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            sheet, name = row["sheet"], row["component"]
            power = "Ankle power of a rigid foot" if name == "Ankle" else f"{name} power"
            title = {"joint moments": PUBLISHED_MOMENTS.get(name), "joint power": power}.get(sheet, PUBLISHED.get(name))
            weight = 9.81 if sheet == "ground reaction forces" else 1.0  # share of body weight to N/kg
            for speed in SPEEDS:
                # the vertical force is given with negative SDs
                mean, sd = float(row[f"{speed}_mean"]), abs(float(row[f"{speed}_sd"]))
                found[title or "not in the report"].append((weight * (mean - 2 * sd), weight * (mean + 2 * sd)))
    return found


def test_fixed_axes_hold_healthy_children_from_very_slow_to_fast(shared: Path, three_people: Made) -> None:
    """Mean +- 2 SD of Schwartz 2008; two thirds of an axis is not left empty, except by planes of little motion."""
    ranges = published(shared / "data/normative/schwartz2008.csv")
    panels = {panel.title: panel for panel in panels_of(three_people.study, moment_signs="clinical")}
    shown = {title: np.array(ranges[title]) for title in panels if title in ranges}
    assert len(shown) == len(PUBLISHED) + len(PUBLISHED_MOMENTS) + 3
    for title, values in shown.items():
        low, high = panels[title].limits or (0, 0)
        # a thousandth of the unit is less than the width of a line
        assert low - 1e-3 <= values.min(), title
        assert values.max() <= high + 1e-3, title
        assert high - low <= 60 or np.ptp(values) >= (high - low) / 3, title
    signed = [panel for panel in panels.values() if panel.variable != "pelvis_residual"]
    assert all(panel.limits and panel.limits[0] < 0 < panel.limits[1] for panel in signed)


def test_stored_and_clinical_axes_are_mirror_images(three_people: Made) -> None:
    stored, clinical = (panels_of(three_people.study, moment_signs=signs) for signs in ("stored", "clinical"))
    for one, other in zip(stored, clinical, strict=True):
        if one.variable != "joint_moment_jcs":
            assert one == other
            continue
        assert one.limits is not None
        assert other.limits is not None
        assert one.limits == (-other.limits[1], -other.limits[0])
        assert one.sign.split(" < 0 < ") == other.sign.split(" < 0 < ")[::-1]
        assert (one.factor, other.factor) == (1, -1)


def test_the_source_of_normal_gait_and_what_makes_it_differ_stand_beside_the_curves(three_people: Made) -> None:
    table = "variable,joint,angle,phase,mean,sd\njoint_angle,knee,flexion,0,5,5\njoint_angle,knee,flexion,100,5,5\n"
    about = {
        "title": "children (Doe 2001)",
        "people": "9 children",
        "citation": "Doe J (2001) <A & B>",
        "remarks": ["another model"],
    }
    study = three_people.study.assign_attrs(reference=json.dumps(about))
    words = Page(three_people._replace(study=study).person("sub-02", reference=table)).words
    for expected in (
        "children (Doe 2001)",
        "of 9 children (normal) (Doe J (2001) <A & B>).",
        "Another model.",
    ):
        assert expected in words
    assert "Doe" not in Page(three_people._replace(study=study).person("sub-02")).words


def test_each_walking_speed_has_its_band_of_normal_gait(three_people: Made) -> None:
    """Lines of nearly one speed share a band at their mean; a line without a speed, of running, has none."""
    table = "speed,variable,joint,angle,phase,mean,sd\n"
    table += "".join(f"{v},joint_angle,knee,flexion,{x},{100 * v},5\n" for v in (0.2, 0.6) for x in (0, 100))
    slow = (three_people.study.condition == "slow").values
    cases: list[tuple[float, float, dict[str, float]]] = [
        (0.2, 0.5, {"slow": 20, "fast": 50}), (0.3, 0.4, {"fast, slow": 35}), (0.3, np.nan, {"slow": 30}),
    ]  # fmt: skip
    for at_slow, at_fast, expected in cases:
        speed = ("cycle", np.where(slow, at_slow, at_fast))
        study = three_people.study.assign(reference_speed=speed)
        html = three_people._replace(study=study).person("sub-02", reference=table)
        (bands,) = [f["reference"] for f in Page(html).figures()[0] if f["title"] == "Knee flexion"]
        assert {", ".join(sorted(band["lines"])): band["mean"][50] for band in bands} == pytest.approx(expected)
        assert all(f"{value / 100:.2f}" in html for value in expected.values())


def test_clinical_moments_their_errors_and_their_reference_point_upwards_for_extensors(three_people: Made) -> None:
    table = "variable,joint,angle,phase,mean,sd\n"
    table += "".join(f"joint_moment_jcs,knee,flexion,{phase},-0.4,0.1\n" for phase in (0, 100))
    study = with_errors(three_people.study, below=0.5, above=1.5)
    html = three_people._replace(study=study).pages(reference=table, moment_signs="clinical")["report/sub-02.html"]
    page = Page(html)
    (figures,) = page.figures()
    curve = curve_of(figures, "Knee extensor moment", "left", "slow")
    expected = -mean_flexion("knee", "left", "slow")
    np.testing.assert_allclose(curve["mean"], expected, rtol=0, atol=ROUNDING * np.abs(expected).max())
    low, high = np.array(curve["band"]) - np.array(curve["mean"])
    # two numbers of up to 50, each rounded to four digits
    np.testing.assert_allclose(low, -1.5, atol=0.02)
    np.testing.assert_allclose(high, 0.5, atol=0.02)
    (figure,) = [figure for figure in figures if figure["title"] == "Knee extensor moment"]
    assert figure["sign"] == "flexor < 0 < extensor"
    (band,) = figure["reference"]
    assert (set(band["mean"]), set(band["sd"])) == ({0.4}, {0.1})
    assert curve_of(figures, "Knee power", "left", "slow")["mean"][25] > 0
    assert "drawn upwards, the opposite of the signs in study.nc" in page.words
    (walk,) = page.walks()
    # the ground term is 70 N m about z at 70 kg, knee flexion is clockwise about z: -1 N m/kg of flexion
    parts = walk["contributions"]["left"]["terms"]
    knee, flexion = (
        walk["contributions"]["left"][name].index(x) for name, x in (("joints", "knee"), ("angles", "flexion"))
    )
    assert parts["total"][knee][flexion][10] == pytest.approx(1)


def visits(*conditions: str) -> Made:
    """Return a study of one person before and after, with knees that differ by 30 degrees, in these conditions."""
    trials: dict[str, Any] = {}
    for session, shift in (("sub-02_before", 0.0), ("sub-02_after", 30.0)):
        trials[session] = {}
        for condition in conditions:
            trials[session][condition] = trial_cycles("sub-02", condition, BOTH)
            trials[session][condition]["joint_angle"] += shift
    return made(trials, {condition: condition for condition in conditions})


def test_sessions_of_a_person_are_drawn_over_each_other_and_never_averaged() -> None:
    study = visits("slow")
    (figures,) = Page(study.person("sub-02")).figures()
    for session, shift in (("sub-02_before", 0.0), ("sub-02_after", 30.0)):
        curve = curve_of(figures, "Knee flexion", "left", session)
        expected = mean_flexion("knee", "left", "slow") + shift
        np.testing.assert_allclose(curve["mean"], expected, rtol=0, atol=ROUNDING * np.abs(expected).max())
        assert curve["n"] == REPEATS["sub-02"]
    knee = next(figure for figure in figures if figure["title"] == "Knee flexion")
    assert [curve["line"] for curve in knee["curves"]] == [
        f"sub-02_{when}" for when in ("before", "before", "after", "after")
    ]
    assert len({curve["dash"] for curve in knee["curves"]}) == 2


def test_many_sessions_and_conditions_begin_with_one_condition_over_the_sessions() -> None:
    boxes = {
        a["data-hides"]: "checked" in a for a in Page(visits("slow").person("sub-02")).all("input") if "data-hides" in a
    }
    assert boxes["line sub-02_before"]
    assert boxes["line sub-02_after"]
    page = Page(visits("slow", "fast", "faster").person("sub-02"))
    lines = {
        (a["data-hides"] or "").removeprefix("line "): "checked" in a for a in page.all("input") if "data-hides" in a
    }
    assert [name for name, shown in lines.items() if "sub-02" in name and shown] == [
        "sub-02_before, slow",
        "sub-02_after, slow",
    ]
    assert len([name for name in lines if "sub-02" in name]) == 6


def test_the_overview_names_sessions_of_one_visit_that_it_averages() -> None:
    trials = {
        name: {"walk": trial_cycles(name[:6], "slow", BOTH)} for name in ("sub-01", "sub-02_before", "sub-02_after")
    }
    study = made(trials, {"walk": "slow"})
    one_visit = study._replace(visits={"sub-01": "pre", "sub-02_before": "pre", "sub-02_after": "pre"})
    words = Page(one_visit.overview()).words
    assert "1 participant with several sessions in one condition: the sessions are averaged here" in words
    assert "several sessions" not in Page(study.overview()).words
    assert "several sessions" not in Page(made({"sub-01": trials["sub-01"]}, {"walk": "slow"}).overview()).words


def test_the_legend_gives_n_of_both_sides_and_of_kinetics(three_people: Made) -> None:
    words = Page(three_people.person("sub-03")).words
    assert "slow (n: left 6; right 6)" in words
    # walk_3 has six left cycles without kinetics
    assert "fast (n: left 12, kinetics 6; right 6)" in words
    assert "slow (n: left 3; right 3)" in Page(three_people.overview()).words


def test_fewer_than_three_curves_have_no_band(three_people: Made) -> None:
    for person, repeats in REPEATS.items():
        (figures,) = Page(three_people.person(person)).figures()
        for figure in figures:
            for curve in figure["curves"]:
                assert (set(curve["sd"]) == {None}) == (curve["n"] < SMALLEST_N), (person, repeats)


@pytest.mark.parametrize(("whole", "n", "counts"), [(3, 3, None), (2, 3, [3] * 60 + [2] * 41)])
def test_n_stands_along_a_mean_of_curves_known_in_part(
    three_people: Made, whole: int, n: int, counts: list[int] | None
) -> None:
    """Such a mean has no range, as its largest value may be a step."""
    (panel, *_) = panels_of(three_people.study, moment_signs="stored")
    curve, names = np.ones((whole + 1, 1, 101)), np.full(whole + 1, "left")
    curve[-1, :, 60:] = np.nan
    cycles = CycleCurves(
        (panel,), curve, np.full(whole + 1, 60.0), names, names, names, names, names,
        band=None, reference_speed=np.full(whole + 1, np.nan), turns=np.zeros(whole + 1, dtype=bool),
    )  # fmt: skip
    (figure,) = draw_cycles(cycles, lines=[Line("left", None, "left", "")], normal=[]).figures
    (drawn,) = figure["curves"]
    assert (drawn["n"], drawn["counts"]) == (n, counts)
    assert (f"n {n} at most, 2 at least." in describe(figure)) == (counts is not None)
    assert ("from 1 at" in describe(figure)) == (counts is None)


@pytest.mark.parametrize(("asked", "shown", "turning"), [("", ["pre"], ["post"]), ("condition", ["pre", "post"], [])])
def test_a_visit_that_turns_is_drawn_if_a_reader_asks_for_it(
    three_people: Made, asked: str, shown: list[str], turning: list[str]
) -> None:
    (panel, *_) = panels_of(three_people.study, moment_signs="stored")
    visit, walk = np.repeat(["pre", "post"], 3), np.full(6, "walk")
    cycles = CycleCurves(
        (panel,), np.ones((6, 1, 101)), np.full(6, 60.0), np.full(6, "P"), visit, walk, np.full(6, "left"), walk,
        band=None, reference_speed=np.full(6, np.nan), turns=visit == "post",
    )  # fmt: skip
    lines = lines_of(cycles, dashes={"walk": ""}, over_participants=False, asked=asked)
    assert [line.label for line in lines if line.shown] == shown
    assert [line.label for line in lines if line.turns] == turning


def test_single_curves_are_those_of_cycles_and_on_the_overview_of_people(three_people: Made) -> None:
    page = Page(three_people.person("sub-02"))
    (figures,), (singles,) = page.figures(), page.singles()
    cycles = three_people.study.sel(cycle=(three_people.study.participant == "sub-02").values)
    for figure, single in zip(figures, singles, strict=True):
        assert len(single) == len(figure["curves"])
    knee = next(i for i, figure in enumerate(figures) if figure["title"] == "Knee flexion")
    for curve, found in zip(figures[knee]["curves"], singles[knee], strict=True):
        mine = cycles.sel(cycle=((cycles.side == curve["side"]) & (cycles.condition == curve["line"])).values)
        expected = mine.joint_angle.sel(joint="knee", angle="flexion").values[:, ::2]
        np.testing.assert_allclose(np.array(found["curves"]) * found["step"], expected, atol=found["step"] / 2)
        assert found["step"] <= 0.005 * np.abs(expected).max()
        assert found["labels"][0] == f"{mine.trial.values[0]}, {mine.start_time.values[0]:.2f} s"
    (singles,) = Page(three_people.overview()).singles()
    assert singles[knee][0]["labels"] == ["sub-01", "sub-02", "sub-03"]


def test_at_most_twenty_single_curves_are_kept_from_first_to_last() -> None:
    many = {f"walk_{i}": trial_cycles("sub-03", "slow", BOTH) for i in range(20)}
    page = Page(made({"sub-03": many}, dict.fromkeys(many, "slow")).person("sub-03"))
    (figures,), (singles,) = page.figures(), page.singles()
    assert curve_of(figures, "Hip power", "left", "slow")["n"] == 120
    for single in singles[0]:
        assert len(single["curves"]) == len(single["labels"]) == MOST_SINGLE
        assert (single["labels"][0], single["labels"][-1]) == ("walk_0, 0.00 s", "walk_19, 5.00 s")


def test_a_page_with_every_cycle_of_many_is_small() -> None:
    """At 27 panels, 2 sides, 2 conditions, 20 single curves of 51 numbers, and the drawing library beside the page."""
    many = {f"{speed}_{i}": trial_cycles("sub-02", speed, BOTH) for speed in CONDITION_GAIN for i in range(5)}
    html = made({"sub-02": many}, {name: name.partition("_")[0] for name in many}).person("sub-02")
    assert len(html.encode()) < 500_000


def test_a_curve_beyond_its_axis_is_spoken(three_people: Made) -> None:
    spoken = [a["aria-label"] or "" for a in Page(three_people.person("sub-02")).all("div") if "data-figure" in a]
    (knee,) = [text for text in spoken if text.startswith("Knee flexion over")]
    # the mean is -20 to 20 at slow speed and -30 to 30 at fast
    assert "left, slow, n 4: from -20 at 75 % to 20 at 25 %." in knee
    assert "left, fast, n 4: from -30 at 75 % to 30 at 25 %, in part outside the axis from -20 to 80." in knee
    (force,) = [text for text in spoken if text.startswith("Lateral force")]
    assert "in part outside the axis from -2 to 2" in force


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_refused_among_many_as_alone(number: float) -> None:
    for data in ([number], [*range(30), number], [None, *range(30), number]):
        with pytest.raises(ValueError, match="not JSON compliant"):
            pack_data(data)


def test_numbers_that_are_not_rounded_keep_every_digit() -> None:
    thirds = (np.arange(40) / 3).tolist()
    assert by_second_differences(thirds) == thirds
