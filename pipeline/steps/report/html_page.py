"""HTML pages from templates, and the script and the style that all pages of a study share, in files beside them."""

import base64
import functools
import gzip
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zlib import crc32

import jinja2
import xarray as xr
from jinja2.bccache import Bucket
from plotly.offline import get_plotlyjs

from ...json_text import object_in
from ...results.page_names import PAGES, SCRIPT, SHARED, STYLE
from ...results.single_page import digest_of
from .curves.error_shares import band_percent
from .curves.figures import Drawn, describe
from .curves.json_numbers import by_second_differences
from .curves.panels import BALANCE
from .settings import Settings
from .tables import Table

TEMPLATES = Path(__file__).resolve().parent / "templates"
SCRIPTS = ("library.js", "figures.js", "curves.js", "walk.js", "stick.js", "contents.js", "listing.js")
MOST_LETTERS = {"top-left": 240, "top-right": 105}  # what three lines of the upper margin of paper hold
INTENDED_USE = (
    "For research, and for interpretation by qualified people together with other findings. "
    "Not certified as a medical device."
)
EMG_REFERENCE = {  # by cycles.emg_normalisation
    "peak": "its highest value in all cycles of the session",
    "mean": "its mean over all cycles of the session",
    "reference": "its highest mean over 0.5 s in the trials of role emg_reference",
}
LEVEL = 5  # of compression: 9 takes the time of a third of a page, to make it 3 % smaller
LIBRARY_STYLE = re.compile(r'getElementById\("([0-9a-f]{40,})"\)')


def page_files() -> tuple[str, str]:
    """Return the script and the style of all pages: the step ``page_files``.

    The drawing library is compressed to a third of its size; library.js unpacks it after a page has loaded.
    """
    library = f'"use strict";\nconst PACKED_LIBRARY = "{pack(get_library())}";\n'
    return library + "".join(map(_text, SCRIPTS)), _text("report.css")


def render(
    template: str,
    study: xr.Dataset,
    settings: Settings,
    *,
    drawn: Drawn,
    recorded: str = "",
    beside_reference: str = "",
    **content: Any,
) -> str:
    """Render a template with a policy that allows the files beside the page, and of other texts only its own.

    Args:
        recorded: the days of recording of a participant, in words; empty on the overview.
        beside_reference: words on an age that does not fit the reference, beside its title in the key; else empty.
        content: all else that the template needs, with ``name`` on the page of a participant, and what is ``added``.
    """
    version = study.attrs.get("pipeline_version", "")
    own_style = margins(settings.title, version, name=content.get("name", ""), recorded=recorded)
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
        f"script-src {SHARED} {_hash(get_library())}; style-src {SHARED} {_hash(own_style)} {_hash('')}"
    )
    used = object_in(study.attrs, "settings")
    html = (
        environment()
        .get_template(template)
        .render(
            policy=policy,
            script=_from(template, SCRIPT),
            style=_from(template, STYLE),
            own_style=own_style,
            library_styles=_library_styles(),
            version=version,
            intended_use=INTENDED_USE,
            settings=json.dumps(used, indent=2, sort_keys=True, ensure_ascii=False),
            emg_reference=EMG_REFERENCE.get(used.get("cycles", {}).get("emg_normalisation", ""), "one value"),
            band_percent=band_percent(study),
            reference=_about_reference(study, drawn, beside_reference),
            recorded=recorded,
            with_trunk=BALANCE in drawn.groups(),
            **asdict(settings),
            **content,
        )
    )
    if lost := [part.place for part in content["added"] if part.html not in html]:
        raise ValueError(f"{template} has no section '{lost[0]}'")
    return html


def _about_reference(study: xr.Dataset, drawn: Drawn, beside: str) -> dict[str, Any] | None:
    """Return what the reader needs to know of the reference in the figures, None if there is none."""
    bands = {band["name"]: band["lines"] for figure in drawn.figures for band in figure["reference"]}
    if not bands:
        return None
    about = dict.fromkeys(("people", "citation", "model"), "") | {"title": "reference", "remarks": []}
    about |= object_in(study.attrs, "reference")
    return {**about, "bands": bands, "title": "; ".join(filter(None, [str(about["title"]), beside]))}


def margins(title: str, version: str, *, name: str = "", recorded: str = "") -> str:
    """Return the style of the margins of printed pages, so that a loose sheet is not taken for another person's.

    Pages are numbered by report.css. Margin boxes need Chromium or Edge 131 or newer. Other browsers leave them out;
    their own margins have the title of the page, which begins with the participant's name.

    Args:
        title: heading of the study, any text; shortened to what fits.
        version: of the program, empty if it is not known.
        recorded: the days of recording of the participant, in words; empty on the overview.
    """
    boxes = {
        "top-left": f"{name}, {title}" if name else title,
        "top-right": recorded,
        "bottom-left": f"gaitlab {version or '(version unknown)'}. {INTENDED_USE}",
    }
    style = ""
    for box, text in boxes.items():
        most = MOST_LETTERS.get(box, len(text))
        shown = text if len(text) <= most else f"{text[: most - 1]}…"
        # in a CSS string inside an HTML element: all but letters and digits as numbers
        escaped = "".join(x if x.isascii() and x.isalnum() else f"\\{ord(x):06x}" for x in shown)
        style += f'@{box}{{content:"{escaped}"}}'
    return f"@page{{{style}}}"


def days_of(recorded: Mapping[str, str]) -> str:
    """Return the days of recording in words, with the sessions if there are several."""
    if not any(recorded.values()):
        return "Date of recording not stated"
    if len(recorded) == 1:
        return f"Recorded {next(iter(recorded.values()))}"
    days = [f"{day or 'day not stated'} ({session})" for session, day in recorded.items()]
    return f"Recorded {', '.join(days)}"


def _from(template: str, file: str) -> str:
    """Return a file in the folder of pages, relative to a page: the overview is beside that folder."""
    return file if template == "overview.html" else file.removeprefix(f"{PAGES}/")


@functools.cache
def get_library() -> str:
    """Return the script of the drawing library."""
    return str(get_plotlyjs())


@functools.cache
def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def pack(text: str) -> str:
    """Return a text as library.js unpacks it; the same for the same text."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=LEVEL, mtime=0)).decode()


def pack_data(data: Any) -> str:
    """Return data as the scripts read them."""
    return pack(json.dumps(by_second_differences(data), allow_nan=False, ensure_ascii=False, separators=(",", ":")))


def pack_rows(table: Table) -> str:
    """Return the rows of a long table as listing.js reads them."""
    return pack_data({"rows": table.rows, "marks": table.marks, "folder": PAGES if table.links else ""})


@functools.cache
def _library_styles() -> list[str]:
    """Return the ids of the style elements that the drawing library adds for maps.

    The library skips ids that exist. The rules it needs, it adds to an empty element, which the hash of the empty text
    allows.
    """
    return LIBRARY_STYLE.findall(get_library())


class Compiled(jinja2.FileSystemBytecodeCache):
    """Compiled templates, in the folder of Jinja2 for temporary files; compiling takes half as long as a page."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template, unless there is no room."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


@functools.cache
def environment() -> jinja2.Environment:
    """Return the templates with what they may use."""
    compiled, here = None, crc32(Path(__file__).read_bytes())  # of the options below, which they depend on
    with suppress(OSError, RuntimeError):  # no folder, or not of this user alone
        compiled = Compiled(pattern=f"gaitlab_{version('jinja2')}_{here:08x}_%s.cache")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        bytecode_cache=compiled,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["describe"] = describe
    environment.filters["pack"] = pack_data
    environment.filters["pack_rows"] = pack_rows
    return environment


@functools.cache
def _hash(text: str) -> str:
    return f"'sha256-{digest_of(text)}'"
