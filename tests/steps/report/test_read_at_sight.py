"""What a reader who has never seen the program can tell without a click, on the screen, on a phone and on paper."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.results.typed_tables import read_results
from pipeline.steps.report import metric_tables
from pipeline.steps.report.compared_visits import compared
from pipeline.steps.report.curves.cycles import CycleCurves
from pipeline.steps.report.curves.lines import lines_of
from pipeline.steps.report.data_check import BAD, GOOD
from pipeline.steps.report.movement_profile import movement_profiles
from pipeline.steps.report.visit_changes import tables_of_changes
from pipeline.steps.study.step import per_participant
from pipeline.variables.gait_profile import PHASE
from pipeline.variables.metrics import GAIT_ANGLES
from tests.steps.report.test_data_check import CYCLES, USED, checked
from tests.steps.report.test_movement_profile import SCORED, cycle, reference
from tests.steps.report.test_print import sheets_of
from tests.steps.report.test_visits import visits
from tests.support.processes.browser import Tab
from tests.support.studies.for_report import Made, Page, calibrated, made, trial_cycles, written
from tests.support.studies.typed_rows import typed

TWO = {"sub-02_before": "pre", "sub-02_after": "post"}
BOTH = ["left", "right"]
TABLE = "variable,joint,angle,phase,mean,sd\njoint_angle,knee,flexion,0,10,4\njoint_angle,knee,flexion,100,10,4\n"


def with_turns(study: Made, session: str, side: str, count: int) -> pd.DataFrame:
    """Return the rows of metrics.csv with some cycles of a session and side that turn by 60 degrees, the rest by 0."""
    rows = read_results("metrics", study.metrics).assign(turning_angle=0.0, progression_offset=0.0)
    mine = rows.index[(rows["session"] == session) & (rows["side"] == side)]
    rows.loc[mine[:count], "turning_angle"] = 60.0
    return rows


def test_numbers_of_cycles_that_turn_say_how_many_do() -> None:
    study = visits(TWO)
    pairs = compared([*TWO.items()])
    rows = pairs.rows(with_turns(study, "sub-02_after", "right", 3))
    symmetry = read_results("symmetry", study.symmetry)
    (table, *_) = tables_of_changes(rows, pairs.rows(symmetry), pairs, {})["slow"].values()
    titles = [title.replace("\xa0", " ") for title in table.header if "(n" in title]
    assert titles == ["pre (n 4)", "post (n 4)", "pre (n 4)", "post (n 4, 3 turn)"]
    one = with_turns(study, "sub-02_before", "left", 1)
    one = one[one["session"] == "sub-02_before"]
    header = metric_tables.metrics(one, symmetry[:0])[metric_tables.CLINICAL].header
    assert [title.replace("\xa0", " ") for title in header[2:]] == ["left (n 4, 1 turns)", "right (n 4)"]


@pytest.mark.parametrize(("count", "words"), [(1, "1 gait cycle"), (2, "2 gait cycles"), (3, "")])
def test_a_good_verdict_on_few_cycles_says_on_how_many(count: int, words: str) -> None:
    rows = [row for side in BOTH for row in [one for one in CYCLES if one["side"] == side][:count]]
    found = checked(rows, USED, {"s1": {"walk": {}}}, {"s1": calibrated()})
    assert found.state == GOOD
    assert ("as far as" in found.answer) == bool(words)
    assert words in found.answer


def test_the_reasons_of_a_bad_verdict_are_read_without_a_click() -> None:
    model = calibrated(rejected="no static trial")
    found = checked(CYCLES, USED, {"s1": {"walk": {}}}, {"s1": model})
    assert found.state == BAD
    assert found.reasons == ["no model of the person: no static trial"]
    assert checked(CYCLES, USED, {"s1": {"walk": {}}}, {"s1": calibrated()}).reasons == []


def choose(groups: int, conditions: int) -> list[str]:
    """Return the lines that an overview of some groups and conditions shows at first."""
    labels = [[f"g{i}, c{j}" for j in range(conditions)] for i in range(groups)]
    every = np.array([label for own in labels for label in own])
    nothing = np.full(len(every), np.nan)
    cycles = CycleCurves(
        (), np.empty((len(every), 0, 101)), nothing, every, every, every, every, every,
        band=None, reference_speed=nothing, turns=np.zeros(len(every), dtype=bool),
    )  # fmt: skip
    lines = lines_of(cycles, dashes=dict.fromkeys(every.tolist(), ""), over_participants=True, groups=labels)
    return [line.label for line in lines if line.shown]


@pytest.mark.parametrize(
    ("groups", "conditions", "shown"),
    [
        (2, 1, ["g0, c0", "g1, c0"]),
        (2, 2, ["g0, c0", "g0, c1", "g1, c0", "g1, c1"]),
        (2, 3, ["g0, c0", "g0, c1", "g1, c0", "g1, c1"]),
        (3, 2, ["g0, c0", "g1, c0", "g2, c0"]),
        (4, 1, ["g0, c0", "g1, c0", "g2, c0", "g3, c0"]),
        (6, 1, ["g0, c0", "g1, c0", "g2, c0", "g3, c0"]),
    ],
)
def test_an_overview_begins_with_one_line_of_each_group(groups: int, conditions: int, shown: list[str]) -> None:
    assert choose(groups, conditions) == shown


@pytest.mark.parametrize(
    ("apart", "words"),
    [(10 + 0 * PHASE, "more flexion"), (-10 + 0 * PHASE, "more extension"), (30 * np.sin(PHASE / 8), "both ways")],
)
def test_what_is_furthest_from_normal_has_a_direction(apart: Any, words: str) -> None:
    rows = typed("metrics", [cycle("left", 3), cycle("right", 3)])
    angles = np.zeros((2, len(GAIT_ANGLES), len(PHASE)))
    angles[1, GAIT_ANGLES.index("knee_flexion")] = apart
    rows.loc[1, "gait_variable_score_knee_flexion"] = 40.0
    (profile,) = movement_profiles(rows, reference(), angles)
    assert f"knee flexion right 40.0 (2.0), {words}" in profile.words


def test_the_pelvis_has_the_direction_of_the_side_whose_cycles_it_is_of() -> None:
    rows = typed("metrics", [cycle("left", 30), cycle("right", 3)])
    angles = np.zeros((2, len(GAIT_ANGLES), len(PHASE)))
    angles[0, GAIT_ANGLES.index("pelvis_rotation")] = -30
    (profile,) = movement_profiles(rows, reference(), angles)
    assert profile.bars[2].ways == {"both": "left side back"}


def test_a_person_with_visits_is_shown_in_motion_at_the_first_and_the_last() -> None:
    three = {"sub-02_a": "pre", "sub-02_b": "6 weeks", "sub-02_c": "post"}
    for sessions in (TWO, three):
        page = Page(visits(sessions).person("sub-02"))
        assert len(page.walks()) == 2
        assert "pre: trial" in " ".join(page.words.split())
        assert "post: trial" in " ".join(page.words.split())
    assert len(Page(visits({"sub-02_before": "pre"}).person("sub-02")).walks()) == 1


def test_a_line_that_is_not_drawn_is_named() -> None:
    three = {"sub-02_a": "pre", "sub-02_b": "6 weeks", "sub-02_c": "post"}
    assert "Not shown here: 6 weeks." in visits(three).person("sub-02")
    assert "Not shown here" not in visits(TWO).person("sub-02")


def test_two_visits_have_normal_values_each_and_name_what_changed_most() -> None:
    study = scored(visits(TWO))
    table = pd.read_csv(io.StringIO(study.metrics), keep_default_na=False)
    after = table.session == "sub-02_after"
    table.loc[after & (table.side == "left"), "gait_variable_score_hip_rotation"] = 8.25
    table.loc[after & (table.side == "right"), "gait_variable_score_ankle_flexion"] = 1.25
    page = Page(study._replace(metrics=table.to_csv(index=False)).person("sub-02", reference=TABLE)).words
    assert "; most: ankle flexion right -3.8, hip rotation left +3.2" in page
    assert "Normal (pre) Normal (post)" in " ".join(page.split())


def shown(tab: Tab, html: str, folder: Path, width: int, *, phone: bool = False) -> None:
    page = folder / ("report/one.html" if 'src="page.js"' in html else "report.html")
    written({page.relative_to(folder).as_posix(): html}, folder)
    tab.console.clear()
    tab.size(width, 2000, phone=phone)
    tab.open(page)
    tab.until("window.Plotly" + ("" if phone else " && document.querySelector('.main-svg')"))


def test_differences_have_a_unit_and_one_scale_around_zero(tab: Tab, tmp_path: Path) -> None:
    fast = {"sub-02_before": {"a": trial_cycles("sub-02", "slow", BOTH)}}
    fast["sub-02_after"] = {"b": trial_cycles("sub-02", "fast", BOTH)}
    study = made(fast, {"a": "walk", "b": "walk"})._replace(visits=TWO, chosen=("pre", "post"))
    shown(tab, study.person("sub-02"), tmp_path, 1280)
    plots = "[...document.querySelectorAll('[aria-labelledby=curves] .plot')]"
    tab.evaluate(f"{plots}.forEach((plot) => plot.scrollIntoView())")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")  # draws all
    tab.until(f"{plots}.every((plot) => plot.layout?.yaxis2)")
    axes = tab.evaluate(f"{plots}.map(({{layout, data}}) => [layout.yaxis2.title.text, layout.yaxis2.range, "
                        "data.filter((one) => one.yaxis === 'y2').flatMap(({y}) => [...y])])")  # fmt: skip
    assert len(axes) == 9
    assert {title for title, *_ in axes} == {"difference, deg"}
    ((low, high),) = {tuple(ends) for _, ends, _ in axes}
    assert low == -high
    farthest = max(abs(value) for *_, values in axes for value in values if value is not None)
    assert high == pytest.approx(1.05 * farthest)
    assert tab.console == []


def test_the_first_sheet_tells_its_colours(tab: Tab, tmp_path: Path) -> None:
    shown(tab, visits(TWO).person("sub-02", reference=TABLE), tmp_path, 1280)
    found = tab.evaluate("""(() => {
      const marks = document.querySelector('.marks'), plot = document.querySelector('.first .plot');
      const stroke = (svg) => getComputedStyle(svg.querySelector('line, rect'));
      const spans = [...marks.querySelectorAll('span')].map((one) => [one.innerText.trim(), one.querySelector('svg')]);
      const drawn = plot.data.filter((one) => one.line?.width === 2 && one.y.length > 1 && one.mode === 'lines');
      return {
        above: marks.getBoundingClientRect().bottom <= plot.getBoundingClientRect().top,
        texts: spans.map(([text]) => text), strokes: spans.map(([, svg]) => stroke(svg).stroke),
        drawn: drawn.map((one) => [one.name, one.line.color, one.line.dash]),
        dashes: spans.map(([, svg]) => svg.querySelector('line')?.getAttribute('stroke-dasharray')),
      };
    })()""")
    assert found["above"]
    assert found["texts"] == ["left", "right", "pre", "post", "normal", "foot off"]
    of_text = dict(zip(found["texts"], found["strokes"], strict=True))
    dashes = dict(zip(found["texts"], found["dashes"], strict=True))
    assert {name for name, *_ in found["drawn"]} == {f"{side}, {visit}" for side in BOTH for visit in ("pre", "post")}
    for name, colour, dash in found["drawn"]:
        side, visit = name.split(", ")
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        assert of_text[side] == f"rgb({red}, {green}, {blue})"
        assert dashes[visit].replace("none", "solid") == dash


def test_no_number_of_the_first_sheet_is_cut_on_a_phone(tab: Tab, tmp_path: Path) -> None:
    shown(tab, visits(TWO).person("sub-02", reference=TABLE), tmp_path, 360, phone=True)
    cells = "document.querySelectorAll('[aria-labelledby=normal] :is(th, td)')"
    assert tab.evaluate(f"{cells}.length") > 8
    for width in (360, 390):
        tab.size(width, 2000, phone=True)
        tab.until(f"innerWidth === {width}")
        assert tab.evaluate(f"Math.max(...[...{cells}].map((one) => one.getBoundingClientRect().right))") <= width
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


WORDS_BROKEN = """[...document.querySelectorAll('thead th')].filter((one) => one.checkVisibility()).flatMap((cell) => {
  const nodes = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), broken = [];
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    for (const { index, 0: word } of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(node, index); range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
    }
  }
  return broken;
})"""


def test_no_header_of_a_table_breaks_inside_a_word_on_paper(tab: Tab, tmp_path: Path) -> None:
    people = {f"sub-0{i}": {w: trial_cycles(f"sub-0{i}", "slow", BOTH) for w in "abcd"} for i in (1, 2, 3)}
    study = made(people, {name: f"surgery {name}" for name in "abcd"})
    shown(tab, study.overview(), tmp_path, 703)
    tab("Emulation.setEmulatedMedia", media="print")
    try:
        assert tab.evaluate("document.querySelectorAll('thead th').length") > 50
        assert tab.evaluate(WORDS_BROKEN) == []
    finally:
        tab("Emulation.setEmulatedMedia", media="")


def scored(study: Made) -> Made:
    """Return a study of straight walks with scores, so that the first sheet has the profile of each visit."""
    cells = {"turning_angle": 0.0, "progression_offset": 0.0, "reference_speed": 0.4, **dict.fromkeys(SCORED, 5.0)}
    table = pd.read_csv(io.StringIO(study.metrics), keep_default_na=False)
    metrics = pd.concat([table.drop(columns=[*cells], errors="ignore"), pd.DataFrame(cells, table.index)], axis=1)
    means, symmetry = (rows.to_csv(index=False) for rows in per_participant(metrics))
    return study._replace(metrics=metrics.to_csv(index=False), means=means, symmetry=symmetry)


@pytest.mark.parametrize(("chosen", "papers"), [((), ("A4", "Letter")), (("pre", "post"), ("A4",))])
def test_two_visits_are_printed_on_one_side(
    tab: Tab, tmp_path: Path, chosen: tuple[str, ...], papers: tuple[str, ...]
) -> None:
    html = scored(visits(TWO, chosen=chosen)).person("sub-02", reference=TABLE)
    assert html.count('class="profile"') == 2
    shown(tab, html, tmp_path, 1200)
    assert [len(sheets_of(tab, tmp_path, paper)) for paper in papers] == [1] * len(papers)


def test_few_words_stand_before_the_first_picture(three_people: Made) -> None:
    """At most 150 of the program; what the laboratory writes itself is its own."""
    for page in (scored(visits(TWO)).person("sub-02", reference=TABLE), three_people.person("sub-02")):
        before = re.split(r"<svg class=\"profile\"|<div class=\"plot\"", page)[0].partition("<header>")[2]
        for hidden in ("nav", "table", "script", "fieldset", 'p class="no-', 'details class="help"'):
            before = re.sub(f"<{hidden}.*?</{hidden.partition(' ')[0]}>", " ", before, flags=re.DOTALL)
        assert 30 < len(re.sub(r"<[^>]+>", " ", before).split()) <= 150
