"""Step ``report``: one page that shows a study, complete in itself: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import jinja2
import xarray as xr
from plotly.offline import get_plotlyjs

from pipeline import report_tables as tables
from pipeline.figures import SIDES, cycles_of, dash_styles, figures, spoken

TEMPLATES = Path(__file__).resolve().parent / "templates"
LIBRARY_STYLE = re.compile(r'getElementById\("([0-9a-f]{40,})"\)')


def report(study: xr.Dataset, *, metrics: str, quality: str, title: str) -> str:
    """Return the report of a study as one HTML page.

    Args:
        study: derived/study.nc: curves and metrics along ``cycle``, provenance in the attributes.
        metrics: text of derived/metrics.csv, one row per cycle.
        quality: text of derived/quality.csv, one row per rejected trial and per stance.
        title: heading of the page.

    Returns:
        The page; equal inputs give equal text. Names and reasons from the study are text in it, never markup.
    """
    cycle_rows, quality_rows = tables.rows_of(metrics), tables.rows_of(quality)
    cycles = cycles_of(study)
    several = len(set(cycles.participant)) > 1
    dashes = dash_styles(list(dict.fromkeys(cycles.condition.tolist())))
    settings = json.loads(study.attrs.get("settings", "{}"))
    return _page(
        title=title,
        totals=tables.totals(cycle_rows, quality_rows),
        sides=[side for side in SIDES if side in cycles.side],
        dashes=dashes,
        several=several,
        study_figures=figures(cycles, dashes=dashes, over_participants=several),
        participant_figures={
            name: figures(cycles.of(name), dashes=dashes, over_participants=False)
            for name in sorted(set(cycles.participant))
            if several
        },
        participants=tables.participants(cycle_rows, quality_rows),
        metrics=tables.metrics(cycle_rows, over_participants=several),
        rejected=tables.rejected(quality_rows),
        reasons=tables.reasons(cycle_rows, quality_rows),
        checks=tables.checks(quality_rows),
        version=study.attrs.get("pipeline_version", ""),
        history=study.attrs.get("history", "").splitlines(),
        settings=json.dumps(settings, indent=2, sort_keys=True, ensure_ascii=False),
        sources=sorted(json.loads(study.attrs.get("source_sha256", "{}")).items()),
    )


def _page(**content: object) -> str:
    """Fill the template and state, by their hashes, the only scripts and styles that the browser may obey."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["spoken"] = spoken
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    library, script, style = get_plotlyjs(), _template("report.js"), _template("report.css")
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
        f"script-src {_hash(library)} {_hash(script)}; style-src {_hash(style)} {_hash('')}"
    )
    return environment.get_template("report.html").render(
        policy=policy,
        library=library,
        script=script,
        style=style,
        # plotly.js adds rules to an empty style element, which the hash of the empty text allows; the styles
        # of its maps, which the page has not, it leaves out where an element of their id is there
        library_styles=LIBRARY_STYLE.findall(library),
        **content,
    )


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
