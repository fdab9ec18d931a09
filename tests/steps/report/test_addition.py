"""What a step adds to the pages: panels, sections and ends of sections, which come where it says and are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import xarray as xr

from pipeline.steps.report.addition import Addition, Loaded, Part, PersonShown, html_of
from pipeline.steps.report.curves.panels import Panel
from pipeline.steps.report.tables import Table
from pipeline.workflow.jobs import report_job
from tests.support.studies.for_report import HOSTILE, Made, Page, three_people

TEMPLATE = '{% from "parts.html" import grid %}{{ grid(table, "Counted") }}'
ABOUT = "What the group is."


def panels(study: xr.Dataset) -> Iterator[Panel]:
    for variable in ("joint_power", "no_such_variable"):
        yield Panel("Added", f"Power, {variable}", variable, {"joint": "hip"}, "", sheet="added", about=ABOUT)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return a study with an addition to each page."""
    template = tmp_path / "counted.html"
    template.write_text(TEMPLATE)

    def parts(counted: list[list[str]], content: str) -> Iterator[Part]:
        html = html_of(template, table=Table(["Name", "Count"], [*counted, [content, "1"]]))
        yield Part("metrics", html, title="Counts & more", id="counts", link="Counts")
        yield Part("quality", html.replace("Counted", "Counted again"))

    def of_person(shown: PersonShown, content: str) -> Iterator[Part]:
        return parts([["rows", str(len(shown.metrics))]], content)

    def of_study(content: str) -> Iterator[Part]:
        return parts([["people", "3"]], content)

    addition = Addition(panels=panels, of_person=of_person, of_study=of_study)
    return three_people()._replace(additions=[Loaded(addition, HOSTILE)])


def test_panels_come_after_the_others_without_those_of_variables_that_are_not_there(made: Made) -> None:
    page = Page(made.person("sub-01"))
    figures, before = page.figures()[0], Page(three_people().person("sub-01")).figures()[0]
    assert figures[: len(before)] == before
    assert [figure["title"] for figure in figures[len(before) :]] == ["Power, joint_power"]
    assert ABOUT in page.words
    assert '<h2 id="curves-added">Added</h2>' in made.person("sub-01"), "a part of the appendix of its own"


@pytest.mark.parametrize("name", ["report.html", "report/sub-01.html"])
def test_parts_come_where_they_belong(made: Made, name: str) -> None:
    html = made.pages(only=name)[name]
    ids = re.findall(r'<section aria-labelledby="([\w-]+)"', html)
    assert ids[ids.index("metrics") + 1] == "counts"
    sections = dict(re.findall(r'<section aria-labelledby="([\w-]+)".*?>(.*?)</section>', html, re.DOTALL))
    assert '<h2 id="counts">Counts &amp; more</h2>' in sections["counts"]
    assert "Counted again" in sections["quality"]
    assert html.count("<caption>Counted") == 2
    assert '<a href="#counts">Counts</a>' in html
    assert ("people" if name == "report.html" else "rows") in sections["counts"]


def test_parts_stand_in_place_of_a_section_that_is_not_there(made: Made) -> None:
    alone = made._replace(participants=["sub-01"], study=made.part(["sub-01"]))
    ids = re.findall(r'<section aria-labelledby="([\w-]+)"', alone.overview())
    assert "metrics" not in ids, "of one person"
    assert "counts" in ids


def test_texts_of_a_part_are_no_markup(made: Made) -> None:
    for html in made.pages().values():
        assert "<x-evil" not in html
        assert "&lt;x-evil" in html


def test_a_part_without_a_section_is_refused(made: Made) -> None:
    lost = Addition(of_person=lambda *_: [Part("no-such-section", "<p>lost</p>")])
    with pytest.raises(ValueError, match="no section 'no-such-section'"):
        made._replace(additions=[Loaded(lost)]).person("sub-01")


LOADS = Addition(load=lambda files: {name: [path.name for path in paths] for name, paths in files.items()})


def test_a_job_gives_an_addition_the_inputs_that_its_step_does_not_have() -> None:
    key = {"step": "report", "additions": {f"{__name__}:LOADS": {}}}
    inputs = {"study": [Path("study.nc")], "further": [Path("further.csv")]}
    assert report_job.load_additions(key, inputs) == [Loaded(LOADS, {"further": ["further.csv"]})]
    assert report_job.load_additions({"step": "report"}, inputs) == []
