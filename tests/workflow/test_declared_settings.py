"""A setting is declared once: what its declaration allows, and the files that are written from all of them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from pipeline.setting import group, setting
from pipeline.steps.kinematics.settings import Settings as KinematicsSettings
from pipeline.workflow import declared_settings, settings
from pipeline.workflow.schema_problems import problems_in
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.checkout import HOUSE

STEPS = HOUSE / "pipeline" / "steps"


@dataclass(frozen=True, kw_only=True)
class Everything:
    """A section with a setting of each kind."""

    number: float = setting(1, "a number", above=0, at_most=10)
    count: int = setting(3, "a whole number", at_least=3, below=5)
    flag: bool = setting(False, "a truth value")
    choice: Literal["one", "two", 3] = setting("one", "one of three")
    text: str = setting("ab", "a text", shortest=2, longest=3)
    number_or_word: float | str | None = setting(None, "a number, a word or null", above=0, pattern="^word$")
    absent: str = setting(None, "a text that is null unless it is given", form="path_in_study")
    by_name: Mapping[str, float] = setting({}, "numbers by name", names="^[a-z]+$", at_least=0)
    pairs: Mapping[str, Sequence[float]] = setting({}, "pairs by name", length=2, at_most=1)
    several: Sequence[str] = setting([], "some texts", one_of=lambda: ["a", "b"])
    fixed: Mapping[str, float] = group("two numbers", at_least=0, parts={"x": (1, "the first"), "y": (2.5, "the last")})


@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("number", [0.1, 2, 10], [0, 11, "1", None, True]),
        ("count", [3, 4], [2, 5, 3.5]),
        ("flag", [True], [1, "true", None]),
        ("choice", ["two", 3], ["three", 2, None]),
        ("text", ["abc"], ["a", "abcd", 12, None]),
        ("number_or_word", [None, 1.5, "word"], [0, "words", []]),
        ("absent", [None, "models/a.osim"], ["../a.osim", 1]),
        ("by_name", [{}, {"a": 0}], [{"a": -1}, {"A": 1}, {"a": None}, []]),
        ("pairs", [{"a": [0, 1]}], [{"a": [0]}, {"a": [0, 2]}, {"a": 1}]),
        ("several", [[], ["b", "a"]], [["c"], ["a", "a"], "a"]),
        ("fixed", [{"x": 0}], [{"x": -1}, {"z": 1}, 1]),
    ],
)
def test_a_declared_setting_allows_its_type_within_its_limits(
    monkeypatch: pytest.MonkeyPatch, name: str, allowed: list[Any], refused: list[Any]
) -> None:
    monkeypatch.setattr(declared_settings, "sections", lambda: {"section": Everything})
    schema = declared_settings.schema()

    def problems(value: Any) -> list[Any]:
        return problems_in({"section": {name: value}}, schema, where="study.yaml")

    assert [value for value in (*allowed, declared_settings.defaults()["section"][name]) if problems(value)] == []
    assert [value for value in refused if not problems(value)] == []


def test_files_of_settings_are_what_the_steps_declare() -> None:
    """If this fails: make settings."""
    assert [path.name for path, text in declared_settings.files().items() if path.read_text() != text] == []


def test_every_step_with_settings_has_a_section_of_described_settings_with_allowed_defaults() -> None:
    sections = declared_settings.sections()
    assert {path.parent.name for path in STEPS.glob("*/settings.py")} | {"run"} == {*sections}
    rules = settings.schema("settings")["properties"]
    assert all(len(rule["description"]) > 20 for name in sections for rule in rules[name]["properties"].values())
    defaults = read_yaml(HOUSE / "config" / "default.yaml")
    assert problems_in(defaults, settings.schema("settings"), where="default.yaml") == []
    for name, section in sections.items():
        assert section(**defaults[name]) == section()


def test_a_default_that_is_changed_by_one_user_is_not_that_of_the_next() -> None:
    first: dict[str, float] = KinematicsSettings().marker_weights  # type: ignore[assignment]
    first["pelvis"] = 0
    assert KinematicsSettings().marker_weights["pelvis"] == 10


def test_a_stale_file_is_named_by_check_and_mended_by_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {tmp_path / path.name: text for path, text in declared_settings.files().items()}
    stale, fresh = texts
    stale.write_text("an earlier text\n")
    fresh.write_text(texts[fresh], encoding="utf-8")
    monkeypatch.setattr(declared_settings, "files", lambda: texts)
    monkeypatch.setattr(sys, "argv", ["declared_settings", "--check"])
    assert declared_settings.main() == 1
    assert stale.read_text() == "an earlier text\n"
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{stale}: ")
    monkeypatch.setattr(sys, "argv", ["declared_settings"])
    assert declared_settings.main() == 0
    assert stale.read_text(encoding="utf-8") == texts[stale]
    monkeypatch.setattr(sys, "argv", ["declared_settings", "--check"])
    assert declared_settings.main() == 0


def test_declarations_import_nothing_else_of_the_project_and_no_library() -> None:
    """They are to be read where every millisecond counts, such as by the Snakefile."""
    for path in (HOUSE / "pipeline" / "setting.py", *STEPS.glob("*/settings.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= sys.stdlib_module_names, path
            elif isinstance(node, ast.ImportFrom) and not node.level:
                assert str(node.module).partition(".")[0] in sys.stdlib_module_names, path
            elif isinstance(node, ast.ImportFrom):
                assert (node.level, node.module) == (3, "setting"), path
