"""What pages are made of: what a job hands over, and what steps and extras add (``report`` and ``pages`` of these).

An addition names functions, each of which may be left out. What they return is shown by the report's own templates and
scripts: a laboratory's step draws its curves as the report draws its own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from .curves.panels import Panel
from .html_page import environment
from .visit_changes import Detectable, DetectableCurves


class Part(NamedTuple):
    """A part of a page: a section of its own, or what stands at the end of another one.

    ``place`` is the ``id`` of a section in ``templates/participant.html`` or ``overview.html``. A part with a title is
    a section after that one, or where it would be if the page lacks it; a part without is its end.
    """

    place: str
    html: str  # of :func:`html_of`, shown as it is
    title: str = ""
    id: str = ""  # of the section, for links
    link: str = ""  # in the contents of the page; empty: the title


class PersonShown(NamedTuple):
    """What a participant's page shows, without what ``chosen`` leaves out."""

    study: xr.Dataset  # this person's part of study.nc
    metrics: pd.DataFrame  # rows of metrics.csv, quality.csv and symmetry.csv, as of ``results.typed_tables``
    stances: pd.DataFrame
    symmetry: pd.DataFrame


class PageFiles(NamedTuple):
    """What is loaded of the files of a participant's sessions, each by session."""

    cycles: Mapping[str, xr.Dataset]  # at least what cycles.nc holds of each trial as a whole
    representative: Mapping[str, xr.Dataset]  # the trial to show
    calibrate: Mapping[str, xr.Dataset]  # the person's model, at least its facts and why a leg cannot be used
    clean: Mapping[str, xr.Dataset]  # :data:`pipeline.steps.report.refused_stances.NEEDS` of clean.nc


class AboutPage(NamedTuple):
    """What tables, settings and a reader's question say of a page."""

    participant: str
    recorded: Mapping[str, str]  # days by session
    conditions: Sequence[str]  # of the whole study: they give the lines their styles
    visits: Sequence[tuple[str, str]]  # with ``chosen`` as of :func:`pipeline.steps.report.compared_visits.compared`
    texts: Mapping[str, str]  # the laboratory's own, such as the referral question, by title
    reference: str | None  # text of the table of reference curves (:mod:`pipeline.tables.reference_curves`)
    chosen: Sequence[str] = ()  # what is compared; empty: all is shown
    results: Mapping[str, str] = {}  # SHA-256 by session, for its review; without them nothing is said of a change


class Tables(NamedTuple):
    """The rows of tables, one table for each participant in order, as of ``results.typed_tables``."""

    metrics: Iterable[pd.DataFrame]
    quality: Iterable[pd.DataFrame]
    means: Iterable[pd.DataFrame]  # of participants.csv
    symmetry: Iterable[pd.DataFrame]


class OverviewFiles(NamedTuple):
    """What is loaded of the files of all sessions, each by session."""

    cycles: Mapping[str, xr.Dataset]  # at least what cycles.nc holds of each trial as a whole
    calibrate: Mapping[str, xr.Dataset]  # the person's model, at least its facts and why a leg cannot be used


class AboutOverview(NamedTuple):
    """What tables and settings say of the overview."""

    participants: Sequence[str]
    conditions: Sequence[str]
    groups: Mapping[str, str]  # with ``visits`` as of :class:`pipeline.steps.report.overview.Overview`
    visits: Sequence[tuple[str, str]]
    pages: str  # ``all``, or ``on_request``: the overview has no links to pages, as they may not exist
    reference: str | None  # text of the table of reference curves (:mod:`pipeline.tables.reference_curves`)


class Addition(NamedTuple):
    """What a step adds to the pages of a study that has it, or an extra where a setting asks for it."""

    panels: Callable[[xr.Dataset], Iterable[Panel]] | None = None  # of a person's part of study.nc
    of_person: Callable[[PersonShown, Any], Iterable[Part]] | None = None
    of_study: Callable[[Any], Iterable[Part]] | None = None  # of what is loaded; on the overview
    # what both functions get beside: of a step, made of further inputs of the job by name (``added_to`` of its
    # declaration, paths); of an extra, of what its ``OnPages.needs`` has given
    load: Callable[[Any], Any] | None = None
    detectable: Callable[[Any], Detectable] | None = None  # changes between visits that are more than chance, of that
    detectable_curves: Callable[[Any], DetectableCurves | None] | None = None  # the same of curves; None if not known


class Loaded(NamedTuple):
    """An addition, with what it has loaded."""

    addition: Addition
    content: Any = None


def panels_added(additions: Iterable[Loaded], study: xr.Dataset) -> list[Panel]:
    """Return the panels that are added to a person's page, without those of variables that the study lacks."""
    of_additions = (one.addition.panels(study) for one in additions if one.addition.panels)
    return [panel for panels in of_additions for panel in panels if panel.variable in study]


def detectable_by(additions: Iterable[Loaded]) -> Detectable:
    """Return the smallest changes between visits that are more than chance, of the first addition that knows any."""
    known = (one.addition.detectable(one.content) for one in additions if one.addition.detectable)
    return next(filter(None, known), {})


def curves_detectable_by(additions: Iterable[Loaded]) -> DetectableCurves | None:
    """Return the smallest changes of curves between visits that are more than chance, None if none are known."""
    known = (one.addition.detectable_curves(one.content) for one in additions if one.addition.detectable_curves)
    return next((one for one in known if one), None)


def html_of(template: Path, **content: Any) -> str:
    """Return a template with its content, in which all texts are escaped.

    The template may import the macros of ``templates/parts.html``, such as ``grid`` for a table.
    """
    return environment().from_string(template.read_text(encoding="utf-8")).render(**content)
