"""Step ``report``: self-contained HTML pages of a study."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import xarray as xr

from ...tables.reference_curves import BySpeed, reference_of
from ...trials.session import facts_of_trials
from ...variables.cycle_variables import CURVES, STANCE_CURVES, WITH_EMG
from . import metric_tables, tables
from . import quality as checked
from .curves.cycles import Cycles, cycles_of, stances_of
from .curves.error_shares import band_percent, share_sums, shares
from .curves.figures import Drawn, figures, key_of
from .curves.lines import dash_styles, lines_of, normal_of
from .curves.panels import panels_of
from .data_check import DataCheck, data_check
from .html_page import days_of, margins, render
from .movement_profile import movement_profiles, without_comparison
from .one_walk import shown_of, walk
from .overview import Overview
from .page_names import OVERVIEW, own_pages
from .tables import Row

BANDS = ("joint_moment_band", "joint_power_band", "joint_moment_variance_share")
METRICS_DRAWN = ("stance_share", "turning_angle", "stride_direction", "reference_speed")
NEEDS = {  # variables of the inputs, besides the facts of whole trials
    "study": (*CURVES, *WITH_EMG, *STANCE_CURVES, "pelvis_residual", *BANDS, *METRICS_DRAWN),
    "cycles": (),
    "calibrate": ("leg_refused",),
}
Rows = Iterable[tuple[str, list[Row]]]  # of a table, by participant


class Page(NamedTuple):
    """A page: its file name, the sessions that it shows, all else that it shows as text, and the page itself."""

    name: str
    sessions: list[str]
    facts: str
    html: Callable[[], str]


class Part(NamedTuple):
    """Some participants of a study: their part of study.nc, its cycles and stances, and what all pages share."""

    study: xr.Dataset
    cycles: Cycles
    stances: Cycles
    dashes: Mapping[str, str]
    reference: BySpeed
    common: dict[str, Any]


class Person(NamedTuple):
    """A participant: rows of metrics.csv, quality.csv, participants.csv and symmetry.csv, days, facts of trials."""

    name: str
    metrics: list[Row]
    quality: list[Row]
    means: list[Row]
    symmetry: list[Row]
    recorded: dict[str, str]
    trials: dict[str, dict[str, dict[str, Any]]]
    data: DataCheck


def report(
    study: Iterable[tuple[Sequence[str], xr.Dataset]],
    metrics: Rows,
    quality: Rows,
    means: Rows,
    symmetry: Rows,
    cycles: Mapping[str, xr.Dataset],
    representative: Mapping[str, xr.Dataset],
    calibrate: Mapping[str, xr.Dataset],
    *,
    title: str,
    reference: str | None,
    moment_signs: str,
    axes: str,
    pages: str,
    participants: Sequence[str],
    recorded: Mapping[str, str],
    conditions: Sequence[str],
) -> Iterator[Page]:
    """Yield the report of a study as HTML pages: one for each participant, and then an overview.

    A participant's page has nothing of another participant, so that it can be passed on alone. Inputs are taken part
    by part, so that a study of any size needs little memory: a page must be made before the next one is asked for.

    Args:
        study: parts of derived/study.nc, each of some participants in order.
        metrics, quality, means, symmetry: rows of metrics.csv, quality.csv, participants.csv and symmetry.csv by
            participant, in order; participants without a row may be absent.
        cycles: by session, at least what cycles.nc holds of each trial as a whole.
        representative: by session, the trial to show.
        calibrate: by session, the model of the person, at least its facts and why a leg cannot be used.
        title: heading of the pages.
        reference: text of the table of reference curves, see :mod:`pipeline.tables.reference_curves`.
        moment_signs: ``clinical`` or ``stored``, see :func:`pipeline.steps.report.curves.panels.panels_of`.
        axes: ``fixed`` or ``fitted``, the vertical axes until a reader chooses.
        pages: ``all``, or ``on_request``: the overview has no links to pages, as they may not exist.
        participants: the participants in order; of the overview, all of the study.
        recorded: by session, the day of recording; empty if it is not stated.
        conditions: the conditions of the study in order.

    Returns:
        The same text for the same inputs. Names and reasons of the study are text, never markup.
    """
    links, dashes = own_pages(participants), dash_styles(conditions)
    curves = reference_of(reference, where="study.reference") if reference else {}
    rows = zip(*(_in_order(participants, table) for table in (metrics, quality, means, symmetry)), strict=True)
    overview = Overview(dashes)
    for people, data in study:
        panels = panels_of(data, moment_signs=moment_signs)
        common = _common(data, title=title, axes=axes, moment_signs=moment_signs)
        part = Part(data, cycles_of(data, panels), stances_of(data, panels), dashes, curves, common)
        for name in people:
            person = _person(name, next(rows), cycles, calibrate, recorded)
            rows_of_person = person.metrics, person.quality, person.means, person.symmetry
            overview.add_person(name, person.data.state, *rows_of_person)
            titles, about = [panel.title for panel in panels], data.attrs.get("reference", "")
            facts = [common, [*conditions], titles, about, [*rows_of_person, person.recorded]]
            html = partial(_participant_page, part, person, representative)
            yield Page(links[name], [*person.trials], json.dumps(facts), html)
        overview.add_cycles(data, part.cycles)
    yield Page(OVERVIEW, [], "", partial(_overview_page, overview, part, links if pages == "all" else {}))


def _in_order(participants: Sequence[str], table: Rows) -> Iterator[list[Row]]:
    """Yield each participant's rows of a table that has the participants, and perhaps others, in this order."""
    wanted = {*participants}
    groups = (group for group in table if group[0] in wanted)
    name, rows = next(groups, ("", []))
    for participant in participants:
        if participant == name:
            yield rows
            name, rows = next(groups, ("", []))
        else:
            yield []


def _common(study: xr.Dataset, **settings: str) -> dict[str, Any]:
    """Return what all pages show."""
    used = json.loads(study.attrs.get("settings", "{}"))
    return settings | {
        "version": study.attrs.get("pipeline_version", ""),
        "settings": json.dumps(used, indent=2, sort_keys=True, ensure_ascii=False),
        "band_percent": band_percent(study),
    }


def _person(
    name: str,
    rows: Sequence[list[Row]],
    cycles: Mapping[str, xr.Dataset],
    calibrate: Mapping[str, xr.Dataset],
    recorded: Mapping[str, str],
) -> Person:
    metrics, quality, means, symmetry = rows
    sessions = tables.names([*quality, *metrics], "session")
    trials = {session: facts_of_trials(cycles[session]) for session in sessions if session in cycles}
    data = data_check(metrics, quality, trials, {session: calibrate[session] for session in sessions})
    days = {session: recorded.get(session, "") for session in sessions}
    return Person(name, metrics, quality, means, symmetry, days, trials, data)


def _overview_page(overview: Overview, part: Part, links: Mapping[str, str]) -> str:
    content = overview.content(part.study, part.cycles.panels, links, part.reference)
    sheet = margins(part.common["title"], part.common["version"])
    reference = _about_reference(part.study, content.pop("drawn"))
    return render("overview.html", margins=sheet, reference=reference, **part.common, **content)


def _participant_page(part: Part, person: Person, representative: Mapping[str, xr.Dataset]) -> str:
    recorded = days_of(person.recorded)
    sheet = margins(part.common["title"], part.common["version"], name=person.name, recorded=recorded)
    content = _participant(part, person, representative)
    return render("participant.html", margins=sheet, recorded=recorded, **part.common, **content)


def _participant(part: Part, person: Person, representative: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """Return the content of a participant."""
    name, rows, judged = person.name, person.metrics, person.quality
    mine, cycles = part.cycles.of(name), tables.of_part(rows, "cycle")
    drawn = _drawn(mine, part, part.reference)
    alone = [] if any(map(tables.has_kinetics, cycles)) else tables.of_part(rows, "stance")
    stances = _drawn(part.stances.of(name), part, {}).with_curves()
    shown = shown_of(part.study, name, representative)
    columns = zip(tables.participants_columns(rows), tables.about_participant(rows), strict=True)
    sums = share_sums(part.study, part.cycles.panels, part.cycles.participant == name)
    return {
        "key": key_of(drawn if len(mine.side) else stances, single="cycle" if len(mine.side) else "stance"),
        "reference": _about_reference(part.study, drawn),
        "name": name,
        "totals": tables.totals(rows, judged),
        "data_check": person.data,
        "profiles": movement_profiles(cycles, part.reference),
        "turning": without_comparison(cycles) if part.reference else [],
        "about": tables.in_words(columns),
        "figures": drawn if len(mine.side) else None,
        "figures_of_stances": stances if alone else None,
        "walk": walk(part.study, shown, moment_signs=part.common["moment_signs"]) if shown else None,
        "metrics": metric_tables.metrics(cycles, person.symmetry),
        "metrics_of_stances": metric_tables.metrics_of_stances(alone),
        "shares": shares(part.study, sums),
        "rejected": checked.rejected(judged),
        "checks": checked.checks(judged, person.trials),
        "muscles_left_out": checked.muscles_left_out(person.trials, person.trials),
        "sources": checked.sources(person.trials, person.trials),
    }


def _drawn(cycles: Cycles, part: Part, reference: BySpeed) -> Drawn:
    """Return the figures of a participant's cycles, or stances."""
    lines = lines_of(cycles, dashes=part.dashes, over_participants=False)
    return figures(cycles, lines=lines, normal=normal_of(cycles, lines, reference))


def _about_reference(study: xr.Dataset, drawn: Drawn) -> dict[str, Any] | None:
    """Return what the reader needs to know of the reference in the figures, None if there is none."""
    bands = {band["name"]: band["lines"] for figure in drawn.figures for band in figure["reference"]}
    if not bands:
        return None
    known = json.loads(study.attrs.get("reference", "{}"))
    about = dict.fromkeys(("people", "citation", "model"), "") | {"title": "reference", "remarks": []}
    return {**about, **known, "bands": bands}
