"""A new step is a room and a rule: with a setting, a variable and a metric it edits no other file of the product."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

from tests.campaigns.interruptions import write_tiny_study
from tests.support.checkout import HOUSE, copy_product

ROOM = {
    "declaration.py": '''
"""The step ``push``: how hard each cycle pushes off."""

from ...step import Output, Step

PUSH = Step(
    name="push",
    function="pipeline.steps.push.step:push",
    settings="pipeline.steps.push.settings:Settings",
    inputs={"cycles": ("joint_power",)},
    outputs={
        "push": Output(
            files=("{session}/push.nc",),
            title="Push-off of a session",
            variables="pipeline.steps.push.variables:VARIABLES",
        )
    },
    joins=True,
    metrics="pipeline.steps.push.variables:METRICS",
)
''',
    "settings.py": '''
"""Settings of the step ``push``."""

from dataclasses import dataclass

from ...setting import setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``push`` of the settings."""

    factor: float = setting(1.0, "factor of the power, without a unit", above=0)
''',
    "variables.py": '''
"""What the step ``push`` adds to study.nc and metrics.csv."""

from ...variables.rows import Metric, Variable

METRICS = {"push_of_ankle": Metric("W kg-1", "largest power of the ankle in the gait cycle", of_kinetics=True)}
VARIABLES = {
    "push_curve": Variable(("cycle", "phase"), "W kg-1", "power of the ankle", "f4", of_kinetics=True),
    **{name: metric.variable for name, metric in METRICS.items()},
}
''',
    "step.py": '''
"""Step ``push``."""

import xarray as xr

from .settings import Settings


def push(cycles: xr.Dataset, *, settings: Settings) -> xr.Dataset:
    """Return the power of the ankle and its largest value, W/kg, of each cycle."""
    curve = settings.factor * cycles.joint_power.sel(joint="ankle", drop=True)
    return xr.Dataset({"push_curve": curve, "push_of_ankle": curve.max("phase")}).drop_vars("joint", errors="ignore")
''',
}
RULE = """

use rule read as push with:
    input:
        cycles="derived/{session}/cycles.nc",
    output:
        push="derived/{session}/push.nc",
    log:
        "logs/{session}/push.log",
    params:
        key=key("push"),
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the product with the room and the rule of a further step."""
    folder = copy_product(tmp_path_factory.mktemp("house"))
    room = folder / "pipeline" / "steps" / "push"
    room.mkdir()
    for name, text in {"__init__.py": "", **ROOM}.items():
        (room / name).write_text(text.removeprefix("\n"))
    with (folder / "Snakefile").open("a") as handle:
        handle.write(RULE)
    return folder


def gaitlab(house: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(house)}
    return subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.process
def test_a_new_step_is_a_room_and_a_rule(house: Path, tmp_path: Path) -> None:
    study = write_tiny_study(tmp_path / "study")
    with (study / "study.yaml").open("a") as handle:
        handle.write("push: {factor: 2.5}\n")
    run = gaitlab(house, "run", str(study))
    assert run.returncode == 0, run.stderr
    found, cycles = (xr.load_dataset(study / "derived" / "sub-01" / f"{name}.nc") for name in ("push", "cycles"))
    assert found.attrs["title"] == "Push-off of a session"
    assert found.push_of_ankle.attrs == {"units": "W kg-1", "long_name": "largest power of the ankle in the gait cycle"}
    power = cycles.joint_power.sel(joint="ankle", drop=True).max("phase")
    xr.testing.assert_allclose(
        found.push_of_ankle.drop_attrs(), 2.5 * power.drop_attrs(), rtol=1e-6
    )  # single precision
    whole = xr.load_dataset(study / "derived" / "study.nc")
    assert whole.push_curve.dims == ("cycle", "phase")
    assert json.loads(whole.attrs["settings"])["push"] == {"factor": 2.5}
    with (study / "derived" / "metrics.csv").open() as handle:
        rows = [row["push_of_ankle"] for row in csv.DictReader(handle) if row["part"] == "cycle"]
    assert [*map(float, filter(None, rows))] == pytest.approx(whole.push_of_ankle.dropna("cycle").values)
    assert json.loads((study / "derived" / "metrics.json").read_text())["push_of_ankle"]["Units"] == "W kg-1"
    again = gaitlab(house, "run", str(study))
    assert "Nothing to do" in again.stdout + again.stderr


@pytest.fixture(scope="module")
def tiny_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_study(tmp_path_factory.mktemp("tiny") / "study")


@pytest.fixture(scope="module")
def with_it(house: Path, tiny_study: Path) -> dict[str, str]:
    """Return the code in the keys with the further step."""
    return keys_of(house, tiny_study)


@pytest.mark.process
def test_a_new_step_changes_no_key_of_a_session(tiny_study: Path, with_it: dict[str, str]) -> None:
    without = keys_of(HOUSE, tiny_study)
    assert with_it.keys() - without.keys() == {"push"}
    assert {name for name in without if without[name] != with_it[name]} == set()


@pytest.mark.process
def test_a_change_of_it_changes_no_other_key(house: Path, tiny_study: Path, with_it: dict[str, str]) -> None:
    path = house / "pipeline" / "steps" / "push" / "step.py"
    before = path.read_text()
    path.write_text(f"{before}\n# a comment\n")
    changed = keys_of(house, tiny_study)
    path.write_text(before)
    assert {name for name in with_it if with_it[name] != changed[name]} == {"push"}


def keys_of(house: Path, study: Path) -> dict[str, str]:
    """Return the code in the key of each session's job."""
    code = (
        "import json, sys; from pathlib import Path; from pipeline.workflow.open_study import open_study\n"
        "study = open_study(Path(sys.argv[1])); print(json.dumps({name: study.content_of_key(name, 'sub-01')['code'] "
        "for name, step in study.steps.items() if step.scope == 'session'}))"
    )
    command = [sys.executable, "-c", code, str(study)]
    environment = {**os.environ, "PYTHONPATH": str(house)}
    done = subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.process
def test_a_setting_of_it_that_is_wrong_is_refused(house: Path, tmp_path: Path) -> None:
    study = write_tiny_study(tmp_path / "study")
    with (study / "study.yaml").open("a") as handle:
        handle.write("push: {factor: -1}\n")
    check = gaitlab(house, "check", str(study))
    assert check.returncode != 0
    assert "push.factor" in check.stdout + check.stderr
    assert "a number above 0" in check.stdout + check.stderr
