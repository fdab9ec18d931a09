"""Step ``report``: self-contained HTML pages of a study."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...conventions import SIDES
from ...results.trials import facts_of_trials
from ...tables import tsv
from ...tables.csv_files import rows_of
from ...tables.reference_curves import BySpeed, reference_of
from . import quality as checked
from . import tables
from .data_check import DataCheck, data_check
from .figures import (
    Cycles,
    Drawn,
    cycles_of,
    dash_styles,
    figures,
    key_of,
    lines_of,
    normal_of,
    people_with_sessions,
    stances_of,
)
from .html_page import days_of, margins, render
from .json_numbers import select
from .moment_parts import contributions
from .movement_profile import movement_profiles, without_comparison
from .page_names import OVERVIEW, own_pages
from .panels import panels_of
from .stick_figure import scene, step
from .tables import band_percent, shares


class Shown(NamedTuple):
    """The trial shown of a participant, and the number along ``cycle`` of study.nc of the cycle of each side."""

    session: str
    data: xr.Dataset
    cycle: dict[str, int]


class Content(NamedTuple):
    """Content of the pages: cycles, stances, tables, reference, facts about the trials.

    ``people`` is the table of participants; ``own`` has the rows of metrics, quality and symmetry by participant.
    """

    study: xr.Dataset
    cycles: Cycles
    stances: Cycles
    dashes: dict[str, str]
    reference: BySpeed
    metrics: list[tsv.Row]
    quality: list[tsv.Row]
    means: list[tsv.Row]
    symmetry: list[tsv.Row]
    people: tables.Table
    own: tuple[dict[str, list[tsv.Row]], ...]
    trials: dict[str, dict[str, dict[str, Any]]]
    data: Mapping[str, DataCheck]
    recorded: Mapping[str, str]


def report(
    study: xr.Dataset,
    metrics: str,
    quality: str,
    means: str,
    symmetry: str,
    cycles: Mapping[str, xr.Dataset],
    representative: Mapping[str, xr.Dataset],
    calibrate: Mapping[str, xr.Dataset],
    *,
    title: str,
    reference: str | None,
    moment_signs: str,
    axes: str,
    participants: Sequence[str],
    recorded: Mapping[str, str],
) -> dict[str, str]:
    """Return the report of a study as HTML pages, by file name: an overview, and a page for each participant.

    A participant's page has nothing of another participant, so that it can be passed on alone.

    Args:
        study: derived/study.nc.
        metrics, quality, means, symmetry: text of metrics.csv, quality.csv, participants.csv and symmetry.csv.
        cycles: by session, at least what cycles.nc holds of each trial as a whole.
        representative: by session, the trial to show.
        calibrate: by session, the model of the person, at least its facts and why a leg cannot be used.
        title: heading of the pages.
        reference: text of the table of reference curves, see :mod:`pipeline.tables.reference_curves`.
        moment_signs: ``clinical`` or ``stored``, see :func:`pipeline.steps.report.panels.panels_of`.
        axes: ``fixed`` or ``fitted``, the vertical axes until a reader chooses.
        participants: the participants in order.
        recorded: by session, the day of recording; empty if it is not stated.

    Returns:
        The same text for the same inputs. Names and reasons of the study are text, never markup.
    """
    panels = panels_of(study, moment_signs=moment_signs)
    curves, stances = cycles_of(study, panels), stances_of(study, panels)
    links = own_pages(participants)
    rows = [rows_of(text) for text in (metrics, quality, symmetry)]
    own = tuple(map(tables.by_participant, rows))
    trials = {name: facts_of_trials(data) for name, data in cycles.items()}
    checked_data = {
        name: data_check(own[0].get(name, []), own[1].get(name, []), trials, calibrate) for name in participants
    }
    states = {name: found.state for name, found in checked_data.items()}
    content = Content(
        study=study,
        cycles=curves,
        stances=stances,
        dashes=dash_styles(list(dict.fromkeys([*curves.condition.tolist(), *stances.condition.tolist()]))),
        reference=reference_of(reference, where="study.reference") if reference else {},
        metrics=rows[0],
        quality=rows[1],
        means=rows_of(means),
        symmetry=rows[2],
        people=tables.participants(participants, rows[0], rows[1], states=states, links=links),
        own=own,
        trials=trials,
        data=checked_data,
        recorded=recorded,
    )
    shown = _shown(study, representative)
    walks = {name: _walk(study, shown[name], moment_signs=moment_signs) for name in participants if name in shown}
    settings = json.loads(study.attrs.get("settings", "{}"))
    version = study.attrs.get("pipeline_version", "")
    common = {
        "title": title,
        "version": version,
        "settings": json.dumps(settings, indent=2, sort_keys=True, ensure_ascii=False),
        "axes": axes,
        "moment_signs": moment_signs,
        "band_percent": band_percent(study),
    }
    pages = {OVERVIEW: render("overview.html", margins=margins(title, version), **common, **_overview(content, links))}
    for name, page in links.items():
        own_content = _participant(content, name, walks.get(name))
        sheet = margins(title, version, name=name, recorded=own_content["recorded"])
        pages[page] = render("participant.html", margins=sheet, **common, **own_content)
    return pages


def _overview(content: Content, links: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the overview; ``links`` are the participants' own pages."""
    several, cycles = len(links) > 1, tables.of_part(content.metrics, "cycle")
    mine = np.isin(content.cycles.participant, [*links])
    drawn = _drawn(content.cycles, content, single="participant")
    return {
        "key": key_of(drawn, single="participant"),
        "reference": _about_reference(content, drawn),
        "totals": tables.totals(content.metrics, content.quality),
        "figures": drawn if several and len(content.cycles.side) else None,
        "people_with_sessions": people_with_sessions(content.cycles),
        "participants": content.people,
        "metrics": tables.metrics(cycles, content.symmetry, over_participants=True) if several and cycles else None,
        "means": tables.means(content.means, links=links),
        "symmetry": tables.symmetry_indices(content.symmetry, links=links),
        "shares": shares(content.study, content.cycles.panels, mine) if several else None,
        "reasons": checked.reasons(content.quality),
        "history": content.study.attrs.get("history", "").splitlines(),
        "sources": sorted(json.loads(content.study.attrs.get("source_sha256", "{}")).items()),
    }


def _participant(content: Content, name: str, walk: dict[str, Any] | None) -> dict[str, Any]:
    """Return the content of a participant."""
    rows, judged, symmetry = (of.get(name, []) for of in content.own)
    mine, cycles = content.cycles.of(name), tables.of_part(rows, "cycle")
    shown = _drawn(mine, content)
    alone = [] if any(map(tables.has_kinetics, cycles)) else tables.of_part(rows, "stance")
    stances = _drawn(content.stances.of(name), content._replace(reference={}), single="stance").with_curves()
    about = next(row for row in content.people.rows if row[0] == name)
    sessions = tables.names([*judged, *rows], "session")
    return {
        "key": key_of(shown if len(mine.side) else stances, single="cycle" if len(mine.side) else "stance"),
        "reference": _about_reference(content, shown),
        "name": name,
        "recorded": days_of({session: content.recorded.get(session, "") for session in sessions}),
        "totals": tables.totals(rows, judged),
        "data_check": content.data[name],
        "profiles": movement_profiles(cycles, content.reference),
        "turning": without_comparison(cycles) if content.reference else [],
        "about": tables.in_words([*zip(content.people.header, about, strict=True)][len(tables.PARTICIPANTS) :]),
        "figures": shown if len(mine.side) else None,
        "figures_of_stances": stances if alone else None,
        "walk": walk,
        "metrics": tables.metrics(cycles, symmetry, over_participants=False),
        "metrics_of_stances": tables.metrics_of_stances(alone),
        "shares": shares(content.study, content.cycles.panels, content.cycles.participant == name),
        "rejected": checked.rejected(judged),
        "checks": checked.checks(judged, content.trials),
        "muscles_left_out": checked.muscles_left_out(content.trials, sessions),
        "sources": checked.sources(content.trials, sessions),
    }


def _drawn(cycles: Cycles, content: Content, *, single: str = "cycle") -> Drawn:
    """Return the figures of cycles; averages of participants if a ``participant`` is a single curve."""
    over_participants = single == "participant"
    lines = lines_of(cycles, dashes=content.dashes, over_participants=over_participants)
    normal = normal_of(cycles, lines, content.reference)
    return figures(cycles, lines=lines, normal=normal, over_participants=over_participants)


def _about_reference(content: Content, drawn: Drawn) -> dict[str, Any] | None:
    """Return what the reader needs to know of the reference in the figures, None if there is none."""
    bands = {band["name"]: band["lines"] for figure in drawn.figures for band in figure["reference"]}
    if not bands:
        return None
    known = json.loads(content.study.attrs.get("reference", "{}"))
    about = dict.fromkeys(("people", "citation", "model"), "") | {"title": "reference", "remarks": []}
    return {**about, **known, "bands": bands}


def _shown(study: xr.Dataset, representative: Mapping[str, xr.Dataset]) -> dict[str, Shown]:
    """Return the trial to show of each participant: of the first session with kinetics on most sides."""
    names = ("participant", "session", "trial", "side")
    rows = [*zip(*(select(study, name, "cycle").astype(str).tolist() for name in names), strict=True)]
    starts = select(study, "start_time", "cycle").tolist()
    numbers = {(*row[1:], start): i for i, (row, start) in enumerate(zip(rows, starts, strict=True))}
    found: dict[str, Shown] = {}
    most: dict[str, int] = {}
    for person, session in dict.fromkeys(row[:2] for row in rows):
        data = representative[session]
        kinetics = int(data.cycle_has_kinetics.sum())
        if kinetics > most.get(person, -1):
            most[person] = kinetics
            begun = zip(SIDES, data.cycle_start.values.tolist(), strict=True)
            keys = {side: (session, data.attrs["trial"], side, start) for side, start in begun}
            cycle = {side: numbers[key] for side, key in keys.items() if key in numbers}
            found[person] = Shown(session, data, cycle)
    return found


def _walk(study: xr.Dataset, shown: Shown, *, moment_signs: str) -> dict[str, Any]:
    """Return names and figure data of the trial shown."""
    start, end, with_kinetics = (select(study, name, "cycle") for name in ("start_time", "end_time", "kinetics_valid"))
    times = {side: (float(start[cycle]), float(end[cycle])) for side, cycle in shown.cycle.items()}
    mass = study.variables["mass_kg"].values[next(iter(shown.cycle.values()))] if "mass_kg" in study.coords else 0
    mass_kg = float(mass) if mass > 0 else None
    valid = {side: cycle for side, cycle in shown.cycle.items() if with_kinetics[cycle]}
    return {
        "session": shown.session,
        "trial": shown.data.attrs["trial"],
        "condition": shown.data.attrs["condition"],
        "sides": list(valid),
        "data": {
            "scene": scene(shown.data, cycles=times),
            "steps": {side: step(study, shown.data, cycle=cycle) for side, cycle in valid.items()},
            "contributions": {
                side: contributions(shown.data, side=side, mass_kg=mass_kg, moment_signs=moment_signs) for side in valid
            },
        },
    }
