"""What the site needs beyond Sphinx: formulas without scripts, source files as pages, the side bar.

The pages in this folder are plain Markdown, to be read on GitHub too. So a link to a source file is its path, and
the table of contents stands in conf.py.
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
    """Register all with Sphinx."""
    app.add_config_value("navigation", {}, "env")
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", link_sources, priority=400)  # before Sphinx collects the files for download
    app.connect("html-collect-pages", source_pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


# --- formulas --------------------------------------------------------------------------------------------------------


def inline_math(writer: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    writer.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def display_math(writer: Any, node: nodes.Element) -> None:
    """Write a formula on a line of its own, which scrolls where it is too wide."""
    writer.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node: nodes.Element, *, as_block: bool) -> str:
    """Return a formula of LaTeX as MathML; one that cannot be translated is a warning."""
    text = node.astext().replace(r"\dots", r"\ldots").replace(r"\textstyle", "")  # which the translator lacks
    text = ACCENT_WITH_INDEX.sub(r"{{}\1}_", text)  # else the translator puts the index below the letter
    try:
        return FUNCTION_OF.sub('<mspace width="0.17em"></mspace>', latex2mathml.tex2mathml(text, as_block=as_block))
    except Exception as error:  # its errors are of several kinds
        logger.warning("formula not understood: %s: %s", text, error, location=node)
        return ""


# --- source files ----------------------------------------------------------------------------------------------------


def link_sources(app: Sphinx, doctree: nodes.document) -> None:
    """Turn links to files outside the pages into links to a page of that file, at the function that is named."""
    page = app.env.docname
    folder = app.env.doc2path(page).parent
    sources = app.env.__dict__.setdefault("linked_sources", set())
    for link in list(doctree.findall(addnodes.download_reference)):
        path = (folder / link["reftarget"]).resolve().relative_to(HOUSE).as_posix()
        sources.add(path)
        app.env.note_dependency(str(HOUSE / path))  # where the function stands may change
        line = line_of(HOUSE / path, link.astext())
        target = app.builder.get_relative_uri(page, f"source/{path}") + (f"#line-{line}" if line else "")
        link.replace_self(nodes.reference("", "", *link.children, internal=True, refuri=target))


def line_of(path: Path, name: str) -> int | None:
    """Return the line at which a function or class of this name begins."""
    text = path.read_text(encoding="utf-8")
    found = next((match for match in DEFINITION.finditer(text) if match[1] == name), None)
    return text.count("\n", 0, found.start()) + 1 if found else None


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Give a page for each source file that is linked to."""
    for path in sorted(app.env.__dict__.get("linked_sources", ())):
        text = (HOUSE / path).read_text(encoding="utf-8")
        code = app.builder.highlighter.highlight_block(text, LEXERS.get(Path(path).suffix, "text"), lineanchors="line")  # type: ignore[attr-defined]
        yield f"source/{path}", {"title": path, "body": f"<h1>{path}</h1>{code}"}, "page.html"


# --- the side bar ----------------------------------------------------------------------------------------------------


def add_navigation(app: Sphinx, page: str, content: list[str]) -> None:
    """Append the tables of contents to the first page, hidden."""
    if page == "index":
        for caption, pages in app.config.navigation.items():
            content[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"
