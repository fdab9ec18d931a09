"""The pages describe every teaching module, and show every script that uses them."""

from __future__ import annotations

import importlib
import inspect
import re

from docs import reference
from tests.support.checkout import HOUSE

DOCS = HOUSE / "docs"
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def test_every_teaching_module_is_described_with_its_functions() -> None:
    text = (DOCS / "teaching.md").read_text()
    files = {path.stem for path in (HOUSE / "pipeline" / "extras" / "teaching").glob("*.py")} - {
        "__init__",
        "declaration",
    }
    assert {*reference.MODULES} == files
    for name in files:
        module = importlib.import_module(f"pipeline.extras.teaching.{name}")
        things = [thing for thing in vars(module).values() if inspect.isfunction(thing) or inspect.isclass(thing)]
        public = [one for one in things if one.__module__ == module.__name__ and not one.__name__.startswith("_")]
        assert len(public) > 2
        for thing in public:
            assert inspect.getdoc(thing), thing
            assert f"### {name}.{thing.__name__}\n" in text
    prose = FENCED.sub("", text)
    assert re.findall(r":(?:func|class|mod|data|math):|::|``", prose) == []


def test_every_teaching_script_is_in_the_theory_with_its_figure() -> None:
    theory = (DOCS / "theory.md").read_text().partition("## 12. ")[2].partition("\n## ")[0]
    scripts = {path.stem for path in (DOCS / "examples").glob("*.py") if "extras.teaching" in path.read_text()}
    assert len(scripts) >= 9
    assert [name for name in sorted(scripts) if f"(examples/{name}.py)" not in theory.replace("\n", "")] == []
    assert [name for name in sorted(scripts) if f"(images/{name}.svg)" not in theory] == []
