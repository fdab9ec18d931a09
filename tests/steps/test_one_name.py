"""The architecture: one name everywhere, steps that know nothing of each other, settings that mean something."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from pipeline.step import every_step
from pipeline.workflow import settings
from pipeline.workflow.digests import imported_modules
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.checkout import HOUSE
from tests.support.step_names import STEPS

PACKAGE = HOUSE / "pipeline"
FROM_THE_BRIDGE = {"body_model", "participant", "segments", "segment_table", "sessions", "functional"}
FROM_THE_BRIDGE |= {"additions", "participants", "by_trial", "session_row", "groups", "visits"}  # of tables
FROM_THE_BRIDGE |= {
    "model_sha256",
    "about_reference",
    "corrected",
    "recorded",
    "columns",
    "before",
    "conditions",
    "folder",
}
NOT_OF_THE_STEP = {"report": {"notes"}}  # on participants, which only their pages show
OF_ANOTHER_SECTION = {"report": {"reference"}, "study": {"emg_pairs"}}  # scores and bands; columns of cycles.emg_pairs


@pytest.mark.parametrize("step", STEPS)
def test_one_name_for_rule_module_function_section_and_file(step: str) -> None:
    module = importlib.import_module(f"pipeline.steps.{step}.step")
    keywords = {*names_of(getattr(module, step), inspect.Parameter.KEYWORD_ONLY)}
    if "settings" in keywords:
        keywords = keywords - {"settings"} | {field.name for field in fields(module.Settings)}
    defaults = read_yaml(HOUSE / "config" / "default.yaml").get(step, {})
    assert keywords - FROM_THE_BRIDGE - OF_ANOTHER_SECTION.get(step, set()) == {*defaults} - NOT_OF_THE_STEP.get(
        step, set()
    )
    assert (HOUSE / "tests" / "steps" / step / f"test_{step}.py").exists()


@pytest.mark.parametrize("step", [step for step in STEPS if step not in ("read", "study")])
def test_a_steps_inputs_are_the_functions_arguments(step: str) -> None:
    """And those of its rule (``tests/workflow/test_declarations.py``)."""
    function = getattr(importlib.import_module(f"pipeline.steps.{step}.step"), step)
    assert [*names_of(function, inspect.Parameter.POSITIONAL_OR_KEYWORD)] == [*every_step()[step].inputs]


def names_of(function: Callable[..., Any], kind: Any) -> Iterator[str]:
    """Yield the names of arguments of a kind; a record of several has those of its fields."""
    types = get_type_hints(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is kind:
            yield from getattr(types[name], "_fields", (name,))


@pytest.mark.parametrize("name", settings.shipped_body_models())
def test_shipped_body_models_are_valid_and_named_after_their_file(name: str) -> None:
    assert settings.load_body_model(name, where="study.yaml", study_path=HOUSE).name == name


def test_steps_neither_print_nor_look_at_the_clock() -> None:
    for step in STEPS:
        for name in imported_modules(f"pipeline.steps.{step}.step"):
            path = PACKAGE.joinpath(*name.split(".")[1:])
            source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()
            tree = ast.parse(source)
            called = {
                node.func.id
                for node in ast.walk(tree)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            assert "print" not in called, name
            assert not {"time", "random"} & {node.split(".")[0] for node in imports_of(tree)}, name
            assert not {"now", "today", "utcnow"} & {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}, (
                name
            )


def imports_of(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.process
@pytest.mark.parametrize("order", ["import pipeline, gaitlab.pipeline", "import gaitlab.pipeline, pipeline"])
def test_both_names_of_the_package_are_one(order: str) -> None:
    """Two would be two lists of steps, of which a step of another package is only in one."""
    code = f"""{order}
import gaitlab.pipeline.workflow.job_keys, pipeline.steps.kinetics.step, sys
first = pipeline.__name__
assert gaitlab.pipeline is pipeline
names = [name for name in sys.modules if name.startswith(("pipeline.", "gaitlab.pipeline."))]
assert len(names) > 50
for name in names:
    inner = name[name.index("pipeline."):]
    assert sys.modules.get(inner, sys.modules[name]) is sys.modules[name], name
    assert sys.modules.get("gaitlab." + inner, sys.modules[name]) is sys.modules[name], name
    assert sys.modules[name].__name__ == sys.modules[name].__spec__.name == first + inner.removeprefix("pipeline")
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=HOUSE, check=True)


@pytest.mark.process
def test_another_package_of_the_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline" / "__init__.py").write_text("THEIRS = True")
    code = "from gaitlab import load_study; import pipeline; assert pipeline.THEIRS"
    path = os.pathsep.join([str(tmp_path), str(HOUSE)])
    subprocess.run([sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": path}, check=True)


def test_package_inits_hold_a_docstring_alone_but_for_the_door_of_scripts() -> None:
    """``from pipeline import load_study`` costs a step nothing: neither its start nor, when it changes, a rerun."""
    door = PACKAGE / "__init__.py"
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("__init__.py") if path != door]
    assert all(len(tree.body) == bool(ast.get_docstring(tree)) for tree in trees)
    code = "import sys, pipeline; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "xarray", "pandas", "pipeline.results.study_file"} & set(loaded.split())
    assert all("pipeline.results.study_file" not in imported_modules(f"pipeline.steps.{step}.step") for step in STEPS)
