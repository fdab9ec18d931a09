"""The step muscles is optional: without it a study has the jobs of before, and OpenSim is not imported."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.errors import UserError
from pipeline.workflow.digests import imported_modules
from pipeline.workflow.job_keys import code_of
from pipeline.workflow.open_study import SESSION_STEPS, look_at, open_study, outputs_of
from tests.support.checkout import DRY_RUN, HOUSE, jobs_in, snakemake
from tests.workflow.test_scale import stub_study

ON = {"muscles": {"opensim": True, "model": "legs.osim"}}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a study with a model, on a machine with OpenSim as far as the study can see."""
    stub = stub_study(tmp_path / "study", sessions=2, trials=1)
    (stub / "legs.osim").write_text("<OpenSimDocument/>")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: ModuleSpec(name, None))
    return stub


def test_it_adds_one_job_for_each_session_and_changes_no_earlier_one(study: Path) -> None:
    without, with_it = open_study(study), open_study(study, overrides=ON)
    added = outputs_of(with_it).keys() - outputs_of(without).keys()
    assert added == {f"{session}/muscles.nc" for session in without.sessions}
    for step in SESSION_STEPS:
        for session in without.sessions:
            wildcards = SimpleNamespace(session=session)
            assert with_it.key(step)(wildcards) == without.key(step)(wildcards)
    for person in without.people:
        files = with_it.files_of_page(person)
        assert files.keys() - without.files_of_page(person).keys() == {"muscles"}


def test_the_jobs_wait_for_it_only_where_it_is_asked_for(study: Path) -> None:
    pytest.importorskip("opensim", reason="the workflow asks for OpenSim")
    plain = (study / "study.yaml").read_text()
    plans = {}
    for on, text in ((False, ""), (True, "\nmuscles: {opensim: true, model: legs.osim}\n")):
        (study / "study.yaml").write_text(plain + text)
        plan = snakemake(study, "derived/report.html", "derived/study.nc", *DRY_RUN)
        assert plan.returncode == 0, plan.stderr
        plans[on] = jobs_in(plan.stdout + plan.stderr)
    assert plans[False]
    assert {job.partition(":")[0] for job in plans[True] - plans[False]} == {"muscles"}
    assert len(plans[True]) == len(plans[False]) + 2
    assert plans[False] <= plans[True]


def test_its_key_holds_model_and_settings(study: Path) -> None:
    pytest.importorskip("opensim", reason="the key holds the version of OpenSim")
    session = next(iter(open_study(study).sessions))
    keys = []
    for text, exponent in (("<OpenSimDocument/>", 2), ("<OpenSimDocument> </OpenSimDocument>", 2), ("<OpenSimDocument></OpenSimDocument>", 3)):
        (study / "legs.osim").write_text(text)
        chosen = {"muscles": ON["muscles"] | {"activation_exponent": exponent}}
        keys.append(json.loads(open_study(study, overrides=chosen).key("muscles")(SimpleNamespace(session=session))))
    assert len({key["model_sha256"] for key in keys}) == 3
    assert [key["settings"]["activation_exponent"] for key in keys] == [2, 2, 3]
    assert "opensim" in keys[0]["versions"]


def test_without_the_extra_one_line_says_what_to_install(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert look_at(study)[1] == [], "nothing is asked of a study without the step"
    with pytest.raises(UserError) as raised:
        open_study(study, overrides=ON)
    assert str(raised.value) == (
        "muscles.opensim: OpenSim is not installed; pip install 'gait-lab-pipeline[opensim]', or set "
        "muscles.opensim to false"
    )


def test_a_model_that_is_not_there_is_named(study: Path) -> None:
    with pytest.raises(UserError, match=r"muscles.model: no model is named; name your copy"):
        open_study(study, overrides={"muscles": {"opensim": True}})
    with pytest.raises(UserError, match=r"muscles.model: other.osim: no such file; correct the path"):
        open_study(study, overrides={"muscles": {"opensim": True, "model": "other.osim"}})
    with pytest.raises(UserError, match=r"muscles.model: study.yaml: is no model of OpenSim; name an .osim file"):
        open_study(study, overrides={"muscles": {"opensim": True, "model": "study.yaml"}})
    assert look_at(study, overrides={"muscles": {"opensim": False, "model": "other.osim"}})[1] == []


def test_no_other_step_has_its_code_or_its_library() -> None:
    own = {name for name in imported_modules(*code_of("muscles")) if name.startswith("pipeline.steps.muscles")}
    assert "pipeline.steps.muscles.opensim_run" in own
    for step in (*SESSION_STEPS, "study", "report", "page", "repeatability"):
        assert not own & {*imported_modules(*code_of(step))}, step
    steps = ", ".join(f"pipeline.steps.{step}.step" for step in (*SESSION_STEPS, "study", "report", "muscles"))
    code = f"import sys, {steps}; print('opensim' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False", "even the step imports it only when it runs"
