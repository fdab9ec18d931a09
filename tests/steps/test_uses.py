"""What a step says it uses of its inputs: with that alone it gives what it gives with all, and it needs each of it."""

from __future__ import annotations

import importlib
import inspect
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.results import netcdf
from pipeline.results.schema import VARIABLES
from pipeline.workflow.open_study import open_study
from tests.support.outputs import write_outputs

TRIAL = "fast_01"
DECLARED = {
    step: importlib.import_module(f"pipeline.steps.{step}.step").USES
    for step in ("contacts", "kinematics", "kinetics", "cycles")
}


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the files of a session with draws and every further curve, in the study's directory."""
    study = write_outputs(tmp_path_factory.mktemp("uses"))
    before = Path.cwd()
    os.chdir(study)
    yield study / "derived" / "sub-01"
    os.chdir(before)


def of(step: str, derived: Path) -> tuple[Callable[..., xr.Dataset], dict[str, Path]]:
    """Return a step as a function of its inputs alone, and the files of these."""
    key = json.loads(open_study(Path(), forced=True).key(step)(SimpleNamespace(session="sub-01")))
    settings = key["settings"] | key.get("arguments", {}) | key.get("by_trial", {}).get(TRIAL, {})
    if "body_model" in settings:
        settings["body_model"] = BodyModel.of(settings["body_model"])
    function = getattr(importlib.import_module(f"pipeline.steps.{step}.step"), step)
    arguments = inspect.signature(function).parameters.items()
    files = {name: derived / f"{name}.nc" for name, one in arguments if one.kind is not one.KEYWORD_ONLY}
    return lambda **data: function(**data, **settings), files


def whole(files: dict[str, Path]) -> dict[str, xr.Dataset]:
    return {
        name: netcdf.load(path) if name == "calibrate" else netcdf.load_tree(path)[0][TRIAL]
        for name, path in files.items()
    }


@pytest.mark.parametrize("step", DECLARED)
def test_with_what_a_step_uses_it_gives_the_same(step: str, derived: Path) -> None:
    function, files = of(step, derived)
    data = whole(files)
    some = {name: netcdf.load_some(files[name], names)[0][TRIAL] for name, names in DECLARED[step].items()}
    xr.testing.assert_equal(function(**data | some), function(**data))


@pytest.mark.parametrize("step", DECLARED)
def test_a_step_needs_all_that_it_says(step: str, derived: Path) -> None:
    function, files = of(step, derived)
    data = whole(files)
    for name, variables in DECLARED[step].items():
        assert {*variables} <= VARIABLES[name].keys()
        for variable in variables:
            less: dict[str, Any] = data | {name: data[name].drop_vars(variable)}
            with pytest.raises((KeyError, AttributeError), match=variable):
                function(**less)
