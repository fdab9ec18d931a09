"""The step muscles is optional: without it a study has the jobs of before, and OpenSim is not imported."""

from __future__ import annotations

import importlib.util
import inspect
import json
import shutil
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.extras.opensim.muscle_variables import MUSCLE_METRICS, OF_MUSCLES
from pipeline.reference import resolve
from pipeline.results import netcdf
from pipeline.step import every_step
from pipeline.variables.methods_text import describe_methods
from pipeline.variables.schema import describe
from pipeline.workflow import checksums
from pipeline.workflow.digests import imported_modules
from pipeline.workflow.job_keys import code_of
from pipeline.workflow.jobs import run_job
from pipeline.workflow.open_study import TABLES, look_at, open_study, outputs_of
from pipeline.workflow.settings import every_default
from tests.support.checkout import DRY_RUN, HOUSE, jobs_in, snakemake
from tests.support.step_names import SESSION_STEPS
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
    root = "OpenSimDocument"
    for text, exponent in ((f"<{root}/>", 2), (f"<{root}> </{root}>", 2), (f"<{root}></{root}>", 3)):
        (study / "legs.osim").write_text(text)
        chosen = {"muscles": ON["muscles"] | {"activation_exponent": exponent}}
        keys.append(json.loads(open_study(study, overrides=chosen).key("muscles")(SimpleNamespace(session=session))))
    assert len({*(key["files"]["legs.osim"] for key in keys)}) == 3
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
    own = {name for name in imported_modules(*code_of("muscles")) if name.startswith("pipeline.extras.opensim.muscles")}
    assert "pipeline.extras.opensim.muscles.opensim_run" in own
    for step in (*SESSION_STEPS, "study", "report", "page", "repeatability"):
        assert not own & {*imported_modules(*code_of(step))}, step
    steps = ", ".join(f"pipeline.steps.{step}.step" for step in (*SESSION_STEPS, "study", "report"))
    code = f"import sys, {steps}, pipeline.extras.opensim.muscles.step; print('opensim' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False", "even the step imports it only when it runs"


def test_the_study_has_the_muscles_of_each_cycle(
    small_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / "study"
    shutil.copytree(small_study / "data" / "demo", study)
    monkeypatch.chdir(study)
    opened = open_study(study)
    sessions = [*opened.sessions]
    for number, session in enumerate(sessions):
        cycles = netcdf.load(study / "derived" / session / "cycles.nc", ("joint_angle",))
        netcdf.save(study / "derived" / session / "muscles.nc", described(cycles, 100.0 * number))
    key = opened.key("study")(SimpleNamespace())
    files = {name: [Path("derived", session, f"{name}.nc") for session in sessions] for name in ("cycles", "muscles")}
    outputs = {name: [Path(f"derived/{name}.csv"), Path(f"derived/{name}.json")] for name in TABLES}
    for path in (study / "derived").rglob("muscles.nc"):
        checksums.record(Path("derived"), [path.relative_to(study)], inputs={}, key={})
    run_job.run(key, files, outputs | {"study": [Path("derived/study.nc")]})
    found = netcdf.load(study / "derived/study.nc")
    numbers = np.concatenate(
        [100 * number + np.arange((found.session == session).sum().item()) for number, session in enumerate(sessions)]
    )
    np.testing.assert_allclose(found.muscle_force.sel(model_muscle="soleus", phase=50), numbers)
    assert found.muscle_force.units == "N"
    assert (found.muscle_reason.values == "").all()
    assert json.loads(found.attrs["settings"])["muscles"] == {"opensim": True}
    rows = pd.read_csv(study / "derived/metrics.csv")
    np.testing.assert_allclose(rows.loc[rows.part == "cycle", "peak_hamstring_length"], 0.4)
    assert MUSCLE_METRICS.keys() <= {*rows.columns}


def described(cycles: xr.Dataset, first: float) -> xr.Dataset:
    """Return a muscles.nc with forces that count the cycles of a session."""
    count = cycles.sizes["cycle"]
    sizes = {"cycle": count, "model_muscle": 1, "coordinate": 2, "joint": 3, "axis": 3, "phase": 101}
    values = {
        name: (dims, np.full([sizes[dim] for dim in dims], "" if dtype == "U" else 0.0))
        for name, (dims, _, _, dtype, *_) in OF_MUSCLES.items()
    }
    force = np.broadcast_to((first + np.arange(count))[:, None, None], (count, 1, 101))
    values["muscle_force"] = (OF_MUSCLES["muscle_force"].dims, force)
    values |= {name: (("cycle",), np.full(count, 0.4)) for name in MUSCLE_METRICS}
    kept = cycles.drop_dims({*cycles.dims} - {"trial", "cycle"})
    labels: dict[str, object] = {
        "model_muscle": ["soleus"],
        "coordinate": ["knee_angle", "ankle_angle"],
        "axis": [*"xyz"],
    }
    labels |= {"joint": ["ankle", "knee", "hip"], "phase": np.arange(101.0)}
    data = kept.drop_vars([*kept.data_vars]).assign(values).assign_coords(labels)
    return describe("muscles", data).assign_attrs(settings=json.dumps({"muscles": {"opensim": True}}))


def test_its_inputs_are_the_arguments_of_its_function_and_a_worker_ends_after_it() -> None:
    step = every_step()["muscles"]
    parameters = inspect.signature(resolve(step.function)).parameters.values()
    positional = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert positional == [*step.inputs]
    assert step.ends_its_worker, "OpenSim keeps memory"


def test_methods_say_which_model_is_used() -> None:
    words = "forces of muscles are those of the model legs.osim in OpenSim (Seth et al. 2018)"
    used = {"muscles": every_default()["muscles"] | {"model": "legs.osim"}}
    texts = [
        describe_methods({"settings": json.dumps({"muscles": used["muscles"] | {"opensim": on}})}, [])
        for on in (False, True)
    ]
    assert [words in text for text in texts] == [False, True]
