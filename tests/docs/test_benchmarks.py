"""Benchmarks: generated studies, counted jobs, goals, and their page."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from benchmarks import archive, page, paired, per_trial
from benchmarks.__main__ import parts
from benchmarks.figures import Figure, not_measured
from benchmarks.generated import write_study
from benchmarks.growth import grown
from benchmarks.timing import output_of
from pipeline.c3d import reader
from tests.support.checkout import planned


@pytest.mark.parametrize(
    ("figure", "met"),
    [
        (Figure("", 2.0), None),
        (Figure("", 2.0, at_most=2.0), True),
        (Figure("", 2.1, at_most=2.0), False),
        (Figure("", 8.0, at_least=8.0), True),
        (Figure("", 7.9, at_least=8.0), False),
        (Figure("", math.nan, at_most=2.0), False),
        (not_measured("no such package"), None),
    ],
)
def test_goal_is_met_or_not(figure: Figure, met: bool | None) -> None:
    assert figure.met is met


def test_linear_growth_meets_the_goal_and_quadratic_growth_fails() -> None:
    sizes = (5.0, 75.0, 300.0)
    assert grown("", {size: 40 + 3 * size for size in sizes}).value == pytest.approx(1)
    assert grown("", {size: 40 + size**2 for size in sizes}).met is False


def test_generated_trial_has_the_requested_size(tmp_path: Path) -> None:
    write_study(tmp_path, sessions=1, trials=1, duration_s=3.0, marker_hz=200, markers=40, plates=2)
    found = reader.read_c3d(tmp_path / "sub-0001" / "walk_01.c3d")
    assert (found.marker_rate_hz, found.analog_rate_hz) == (200, 1000)
    assert found.markers.shape == (600, 40, 3)
    assert len(found.analog_units) == 2 * 6


def test_number_of_jobs_equals_that_planned_by_snakemake(tmp_path: Path) -> None:
    write_study(tmp_path, sessions=2, trials=3, duration_s=0.5)
    planned = output_of([*per_trial.SNAKEMAKE, "--dry-run", "--cores", "1", "--directory", str(tmp_path)])
    total = re.search(r"^total\s+(\d+)", planned, re.MULTILINE)
    assert total
    assert int(total[1]) == per_trial.jobs(2, 3) + 1  # and the rule all


def test_archive_has_finished_sessions_of_which_the_study_is_to_be_made(tmp_path: Path) -> None:
    write_study(tmp_path, sessions=1, trials=1, duration_s=0.5)
    archive.spent(tmp_path, ["derived/sub-0001/cycles.nc"])
    archive.extend(tmp_path, 3)
    pages = {f"page:sub-{number}" for number in ("0001", "00000", "00001")}
    assert planned(tmp_path) == {"study", "report"} | pages
    assert len(planned(tmp_path, "--forceall")) == 3 * 8 + 2


def test_page_has_a_table_for_each_part() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    found = re.findall(r"<!-- results: (.*) -->", text)
    found.remove(paired.TITLE)  # it takes a commit, and is run by itself
    assert found == list(parts(full=False))
    assert text.count("<!-- results: ") == text.count("<!-- end -->")
    rows = [{"name": "a", "value": 1234.5, "goal": "at most 2", "met": False, "detail": "ms"}]
    assert page.markdown(rows).endswith("| a (ms) | 1234 | at most 2 | no |")
