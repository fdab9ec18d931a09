"""``gaitlab check``: legs that no person has, and legs that a static trial lacks."""

from __future__ import annotations

import shutil
from pathlib import Path

from pipeline.body.plausibility import REMEDY
from pipeline.body.static_results import parse_results
from pipeline.commands.check.command import check
from pipeline.commands.check.leg_findings import trial_of
from pipeline.commands.init.command import initialise
from pipeline.commands.shared.find_recordings import recordings_in
from pipeline.steps.read.recording_contents import look_through
from tests.support.files.changes import relabel, rewrite
from tests.support.studies.check_findings import about

STATIC = "sub-01/static.c3d"


def test_exchanged_sides_of_a_knee_cost_this_leg(demo: Path) -> None:
    rewrite(demo / STATIC, relabel(LLEK="LMEK", LMEK="LLEK"))
    finding = about(check(demo), STATIC)
    assert (finding.severity, finding.code) == ("warning", "leg_implausible")
    assert "left knee" in finding.what
    assert finding.remedy == REMEDY


def test_exchanged_sides_of_both_knees_cost_the_session(demo: Path) -> None:
    rewrite(demo / STATIC, relabel(LLEK="LMEK", LMEK="LLEK", RLEK="RMEK", RMEK="RLEK"))
    found = [finding for finding in check(demo) if finding.where == STATIC]
    assert [(finding.severity, finding.what.split()[1]) for finding in found] == [("error", "left"), ("error", "right")]


def test_a_static_that_lacks_a_leg_serves_the_other(demo: Path) -> None:
    rewrite(demo / STATIC, relabel(LMML="other", LMEK="another"))
    finding = about(check(demo), STATIC)
    assert (finding.severity, finding.code) == ("warning", "markers_missing")
    assert "medial epicondyle left" in finding.what
    assert "right leg" in finding.what


def test_legs_are_judged_with_the_static_results_that_the_run_takes(shared: Path) -> None:
    """Otherwise a leg that the run accepts by its stated results would be warned of, or the other way round."""
    study = shared / "labs/kad_sydney"
    facts = [look_through(study, file, {}) for file in recordings_in(study)]
    stated = [trial_of(one, "gait", "walk.c3d").attrs["static_results"] for one in facts if one.states_results]
    assert stated
    assert all(parse_results(str(text)).keys() == {"left", "right"} for text in stated)


def test_an_axis_by_motion_is_refused_where_walks_state_the_rotation_of_the_thigh(shared: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(shared / "labs/kad_sydney", study)
    initialise(study)
    for static_results, refused in (("stated", 1), ("static", 0)):
        chosen = f"knee_axis: least_crosstalk, static_results: {static_results}"
        (study / "study.yaml").write_text(f"body_model: plug_in_gait_kad\ncalibrate: {{{chosen}}}\n")
        wrong = [one for one in check(study) if one.code == "functional_trial_unusable"]
        assert len(wrong) == refused
        assert all(one.severity == "error" and "static_results" in one.remedy for one in wrong)


def test_a_static_of_another_model_is_no_fault_where_walks_state_its_results(shared: Path, tmp_path: Path) -> None:
    """A clinic has statics with the alignment device among others; each walk states what the device gave."""
    study = tmp_path / "clinic"
    for lab in ("children", "kad_sydney"):
        shutil.copytree(shared / "labs" / lab, study / lab)
    assert "another study" not in initialise(study)
    assert not [finding for finding in check(study) if finding.severity == "error"]
    (study / "study.yaml").write_text("body_model: plug_in_gait\ncalibrate: {static_results: static}\n")
    assert any(finding.code == "markers_missing" and "lateral epicondyle" in finding.what for finding in check(study))
