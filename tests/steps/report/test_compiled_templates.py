"""Compiled templates are kept for the next process; without a place for them a page is the same."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest

from pipeline.steps.report import html_page

PAGE = "page.html"


@pytest.fixture(autouse=True)
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put one template, and the folder for temporary files, into a new folder."""
    (tmp_path / PAGE).write_text("first {{ value }}")
    monkeypatch.setattr(html_page, "TEMPLATES", tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield tmp_path
    html_page.environment.cache_clear()


def page() -> str:
    html_page.environment.cache_clear()  # as in a new process
    return html_page.environment().get_template(PAGE).render(value=1)


def test_a_template_is_compiled_once_and_again_when_it_changes(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page() == "first 1"
    compiled: list[str] = []
    compile_ = jinja2.Environment.compile

    def compiling(*given: Any) -> Any:
        compiled.append(given[1])
        return compile_(*given)

    monkeypatch.setattr(jinja2.Environment, "compile", compiling)
    assert page() == "first 1"
    assert not compiled
    (templates / PAGE).write_text("second {{ value }}")
    assert page() == "second 1"
    assert len(compiled) == 1


def test_a_folder_that_takes_nothing_costs_no_page(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(templates / "absent"))  # none for the compiled templates
    assert page() == "first 1"
    monkeypatch.setattr(tempfile, "tempdir", str(templates / "temporary"))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    assert page() == "first 1"
    monkeypatch.undo()


def test_a_damaged_compiled_template_is_made_again(templates: Path) -> None:
    assert page() == "first 1"
    (kept,) = templates.glob("temporary/*/gaitlab_*.cache")
    kept.write_bytes(kept.read_bytes()[:-20])
    assert page() == "first 1"
    assert kept.stat().st_size > 100
