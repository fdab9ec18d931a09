"""Compared curves in the overview: shown as they are, run nothing, rerun the overview alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import UserError
from pipeline.extras.statistics.curve_tests import MOST_BYTES, curve_tests_of
from pipeline.extras.statistics.pages import CURVE_TESTS
from pipeline.steps.report.addition import Loaded
from pipeline.workflow.open_study import look_at, open_study
from tests.support.checkout import DEMO, copy_study
from tests.support.studies.for_report import HOSTILE, Page, three_people
from tests.workflow.test_report_additions import SVG


def test_curves_that_were_compared_are_in_the_overview_alone(tmp_path: Path) -> None:
    study = copy_study(DEMO, tmp_path / "study")
    before = open_study(study)
    (study / "spm").mkdir()
    with (study / "study.yaml").open("a") as file:
        file.write("\ncurve_tests:\n  folder: spm\n")
    (problem,) = look_at(study)[1]
    assert (problem.where, problem.what) == ("curve_tests.folder: spm", "no picture there")
    (study / "spm" / "knee_1.svg").write_text(SVG.format(""))
    (study / "spm" / "knee_1.txt").write_text(f"difference from 10 to 20 % {HOSTILE}\n")
    after = open_study(study)
    for subject in (("page", "sub-01"), ("study", None)):
        assert before.content_of_key(*subject) == after.content_of_key(*subject)
    key = after.content_of_key("report", None)
    assert key != before.content_of_key("report", None)
    (study / "spm" / "knee_1.txt").write_text("none found\n")
    assert open_study(study).content_of_key("report", None) != key

    (study / "spm" / "knee_1.txt").write_text(f"difference from 10 to 20 % {HOSTILE}\n")
    shown = Loaded(CURVE_TESTS, curve_tests_of(study, "spm"))
    html = three_people()._replace(additions=[shown]).overview()
    assert html.count('src="data:image/svg+xml;base64,') == 1
    assert f"difference from 10 to 20 % {HOSTILE}" in Page(html).words
    assert "Curves compared" not in three_people().overview()


@pytest.mark.parametrize(("text", "words"), [(SVG.format("<script>"), "may run"), (" " * MOST_BYTES, "at most 2000")])
def test_a_picture_that_may_run_something_or_is_too_large_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "spm").mkdir()
    (tmp_path / "spm" / "knee_1.svg").write_text(f"{text}<svg")
    (tmp_path / "spm" / "knee_1.txt").write_text("")
    with pytest.raises(UserError, match=rf"curve_tests.folder: spm/knee_1.svg: .*{words}"):
        curve_tests_of(tmp_path, "spm")
