"""Extensions of Sphinx: formulas without scripts, source pages, the side bar.

The pages in this folder are plain Markdown and must also work on GitHub. So a link to a source file is its path, and
the table of contents is in conf.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

HOUSE = Path(__file__).resolve().parent.parent
DEFINITION = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
ACCENT_WITH_INDEX = re.compile(r"(\\(?:ddot|dot|hat|bar)\s*(?:\\[a-z]+|\w))_")
FUNCTION_OF = re.compile(r"<mo>&ApplyFunction;</mo>(?=\s*<(?:mi|msub|msup)>)")
LEXERS = {".py": "python", ".R": "r", ".m": "matlab", ".yaml": "yaml", ".md": "markdown"}
logger = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extensions with Sphinx."""
    app.add_config_value("navigation", {}, "env")
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", link_sources, priority=400)  # before Sphinx collects downloads
    app.connect("html-collect-pages", source_pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


# --- formulas --------------------------------------------------------------------------------------------------------


def inline_math(writer: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    writer.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def display_math(writer: Any, node: nodes.Element) -> None:
    """Write a formula on a separate line, which scrolls if it is too wide."""
    writer.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node: nodes.Element, *, as_block: bool) -> str:
    """Return a LaTeX formula as MathML; warn if it cannot be translated."""
    text = node.astext().replace(r"\dots", r"\ldots").replace(r"\textstyle", "")  # unknown to the translator
    text = ACCENT_WITH_INDEX.sub(r"{{}\1}_", text)  # the translator would put the index below the letter
    try:
        return FUNCTION_OF.sub('<mspace width="0.17em"></mspace>', latex2mathml.tex2mathml(text, as_block=as_block))
    except Exception as error:  # it raises errors of several types
        logger.warning("cannot translate formula: %s: %s", text, error, location=node)
        return ""


# --- source files ----------------------------------------------------------------------------------------------------


def link_sources(app: Sphinx, doctree: nodes.document) -> None:
    """Turn links to source files into links to a page with the source."""
    page = app.env.docname
    folder = app.env.doc2path(page).parent
    sources = app.env.__dict__.setdefault("linked_sources", set())
    for link in list(doctree.findall(addnodes.download_reference)):
        path = (folder / link["reftarget"]).resolve().relative_to(HOUSE).as_posix()
        sources.add(path)
        app.env.note_dependency(str(HOUSE / path))  # the function's line may change
        line = line_of(HOUSE / path, link.astext())
        target = app.builder.get_relative_uri(page, f"source/{path}") + (f"#line-{line}" if line else "")
        link.replace_self(nodes.reference("", "", *link.children, internal=True, refuri=target))


def line_of(path: Path, name: str) -> int | None:
    """Return the first line of the function or class of this name."""
    text = path.read_text(encoding="utf-8")
    found = next((match for match in DEFINITION.finditer(text) if match[1] == name), None)
    return text.count("\n", 0, found.start()) + 1 if found else None


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a page for each linked source file."""
    for path in sorted(app.env.__dict__.get("linked_sources", ())):
        text = (HOUSE / path).read_text(encoding="utf-8")
        code = app.builder.highlighter.highlight_block(text, LEXERS.get(Path(path).suffix, "text"), lineanchors="line")  # type: ignore[attr-defined]
        yield f"source/{path}", {"title": path, "body": f"<h1>{path}</h1>{code}"}, "page.html"


# --- the side bar ----------------------------------------------------------------------------------------------------


def add_navigation(app: Sphinx, page: str, content: list[str]) -> None:
    """Append the hidden tables of contents to the first page."""
    if page == "index":
        for caption, pages in app.config.navigation.items():
            content[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"
