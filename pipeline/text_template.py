"""Texts from templates: Python collects facts, a template has the words.

That of a module, of its name and beside it (``methods_text.txt``), is its code in the keys of jobs.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

ENVIRONMENT = jinja2.Environment(  # noqa: S701 - plain text, which pages escape
    undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
)


def fill_in(template: Path, /, **facts: Any) -> str:
    """Return the text of a template; refuse one that lacks a fact."""
    return ENVIRONMENT.from_string(template.read_text(encoding="utf-8")).render(facts)


def known_paragraphs(template: Path, /, **facts: Any) -> Iterator[str]:
    """Yield in one line each paragraph whose facts are all known; the first one holds the ``macros`` of the others."""
    first, *paragraphs = template.read_text(encoding="utf-8").split("\n\n")
    macros = ENVIRONMENT.from_string(first).module
    for paragraph in paragraphs:
        try:
            text = ENVIRONMENT.from_string(paragraph).render(facts, macros=macros)
        except jinja2.UndefinedError:
            continue
        yield " ".join(text.split())
