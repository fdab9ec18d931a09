"""Why jobs run again, as a run and a dry run say it before they compute."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline import __version__
from pipeline.step import every_step
from pipeline.workflow import digests, job_keys
from pipeline.workflow.open_study import open_study
from pipeline.workflow.preparation import reasons_to_run
from tests.support.files.changes import edit

EACH_OF_THE_SESSION = "read 1, calibrate 1, clean 1, contacts 1, kinematics 1, kinetics 1, cycles 1"


@pytest.fixture
def finished(reported_study: Path) -> Path:
    return reported_study


def reasons(study: Path) -> list[str]:
    return [*reasons_to_run(open_study(study), every_step().keys())]


def test_nothing_is_said_of_a_finished_study_and_of_a_first_run(study: Path) -> None:
    assert reasons(study) == []
    shutil.rmtree(study / "derived")
    assert reasons(study) == []


def test_a_new_version_is_the_reason_for_all(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_keys, "__version__", "99.0.0")
    monkeypatch.setattr(digests, "code_digest", lambda *_, **__: "0" * 64)
    (line,) = reasons(study)
    assert line.startswith(
        f"Changed since the last run: the version of gaitlab {__version__}, now 99.0.0. Runs again: "
    )
    assert line.endswith(f": {EACH_OF_THE_SESSION}, page_files 1, study 1, report 1, page 1")


def test_changed_code_of_the_same_version_is_named(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "code_digest", lambda *_, **__: "0" * 64)
    (line,) = reasons(study)
    assert line.startswith(f"Changed since the last run: the code of this step. Runs again: {EACH_OF_THE_SESSION}")


def test_a_setting_is_named_with_both_values_and_what_follows_from_it(study: Path) -> None:
    edit(study / "study.yaml", "uncertainty_draws: 5", "uncertainty_draws: 6")
    first, then = reasons(study)
    assert first == "Changed since the last run: kinetics.uncertainty_draws 5, now 6. Runs again: kinetics 1"
    assert then == "Runs again after these: cycles 1, study 1, report 1, page 1"
    few = [*reasons_to_run(open_study(study), ["cycles"])]
    assert few == ["Runs again after these: cycles 1"]


def test_a_missing_result_and_a_changed_setting_are_told_apart(study: Path) -> None:
    edit(study / "study.yaml", "uncertainty_draws: 5", "uncertainty_draws: 6")
    (study / "derived/report/sub-01.html").unlink()
    assert reasons(study)[-1] == "Not there yet: page 1"
