"""HTML pages from templates, with scripts and styles inside."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import re
from pathlib import Path

import jinja2
from plotly.offline import get_plotlyjs

from .figures import spoken

TEMPLATES = Path(__file__).resolve().parent / "templates"
SCRIPTS = ("library.js", "figures.js", "curves.js", "walk.js", "stick.js", "contents.js")
LIBRARY_STYLE = re.compile(r'getElementById\("([0-9a-f]{40,})"\)')


def render(template: str, *, margins: str, **content: object) -> str:
    """Render a template with a policy that allows only its own scripts and styles, as ``margins`` of printed pages.

    The drawing library is compressed to a third of its size; library.js unpacks it after the page has loaded.
    """
    scripts = [*map(_text, SCRIPTS)]
    style = _text("report.css")
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
        f"script-src {' '.join(map(_hash, (get_library(), *scripts)))}; "
        f"style-src {' '.join(map(_hash, (style, margins, '')))}"
    )
    page = environment().get_template(template)
    return page.render(
        policy=policy,
        library=_packed_library(),
        scripts=scripts,
        styles=(style, margins),
        library_styles=_library_styles(),
        **content,
    )


@functools.cache
def get_library() -> str:
    """Return the script of the drawing library."""
    return str(get_plotlyjs())


@functools.cache
def _packed_library() -> str:
    return base64.b64encode(gzip.compress(get_library().encode(), compresslevel=6, mtime=0)).decode()


@functools.cache
def _library_styles() -> list[str]:
    """Return the ids of the style elements that the drawing library adds for maps.

    The library skips ids that exist. The rules it needs, it adds to an empty element, which the hash of the empty text
    allows.
    """
    return LIBRARY_STYLE.findall(get_library())


@functools.cache
def environment() -> jinja2.Environment:
    """Return the templates with what they may use."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["spoken"] = spoken
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


@functools.cache
def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


@functools.cache
def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
