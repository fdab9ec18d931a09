"""Step ``report``: pages that show a study, each complete in itself: no network, no other file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...conventions import SIDES
from ...results.schema import Group
from ...tables import tsv
from ...tables.csv_files import rows_of
from ...tables.reference_curves import Key, Reference, reference_of
from . import quality as checked
from . import tables
from .figures import Cycles, cycles_of, dash_styles, figures
from .html_page import filled
from .json_numbers import taken
from .moment_parts import contributions
from .page_names import OVERVIEW, own_pages
from .representative_trial import Shown, representative
from .stick_figure import scene, step
from .tables import band_percent, shares

Sessions = Mapping[str, Mapping[str, Group]]


class Content(NamedTuple):
    """What the pages are made from: the study's cycles and tables, the reference, the trials that are shown.

    ``people`` is the table of participants, ``own`` each one's rows of metrics, quality and symmetry.
    """

    study: xr.Dataset
    cycles: Cycles
    dashes: dict[str, str]
    reference: Mapping[Key, Reference]
    metrics: list[tsv.Row]
    quality: list[tsv.Row]
    means: list[tsv.Row]
    symmetry: list[tsv.Row]
    people: tables.Table
    own: tuple[dict[str, list[tsv.Row]], ...]
    clean: dict[str, dict[str, dict[str, Any]]]


def report(
    study: xr.Dataset,
    metrics: str,
    quality: str,
    means: str,
    symmetry: str,
    clean: Sessions,
    contacts: Sessions,
    kinematics: Sessions,
    kinetics: Sessions,
    *,
    title: str,
    reference: str | None,
    max_participants_on_one_page: int,
    participants: Sequence[str],
) -> dict[str, str]:
    """Return the report of a study as HTML pages, by file name.

    Args:
        study: derived/study.nc: curves and metrics along ``cycle``, provenance in the attributes.
        metrics: text of derived/metrics.csv, one row per cycle.
        quality: text of derived/quality.csv, one row per rejected trial and per stance.
        means, symmetry: text of derived/participants.csv and derived/symmetry.csv.
        clean: trials by session with their attributes; of those that are shown the marker positions.
        contacts, kinematics, kinetics: by session, the trials that are shown, see
        :mod:`pipeline.steps.report.representative_trial`.
        title: heading of the pages.
        reference: text of the table of reference curves, see :mod:`pipeline.tables.reference_curves`.
        max_participants_on_one_page: with more than these each participant has a page.
        participants: the participants in their order.

    Returns:
        Equal inputs give equal text. Names and reasons from the study are text in it, never markup.
    """
    cycles = cycles_of(study)
    links = own_pages(participants, max_participants_on_one_page=max_participants_on_one_page)
    rows = [rows_of(text) for text in (metrics, quality, symmetry)]
    content = Content(
        study=study,
        cycles=cycles,
        dashes=dash_styles(list(dict.fromkeys(cycles.condition.tolist()))),
        reference=reference_of(reference, where="report.reference") if reference else {},
        metrics=rows[0],
        quality=rows[1],
        means=rows_of(means),
        symmetry=rows[2],
        people=tables.participants(participants, rows[0], rows[1], links=links),
        own=tuple(map(tables.by_participant, rows)),
        clean={name: {trial: dict(data.attrs) for trial, data in trials.items()} for name, trials in clean.items()},
    )
    shown = representative(study)
    people = {}
    for name in participants:
        walk = None
        if name in shown:
            trial = shown[name]
            data = [by_session[trial.session][trial.trial] for by_session in (clean, contacts, kinematics, kinetics)]
            walk = _walk(study, trial, *data)
        people[name] = _participant(content, name, walk, alone=len(participants) == 1)
    common = {"title": title, "version": study.attrs.get("pipeline_version", ""), **_settings(study)}
    common |= {"sides": [side for side in SIDES if side in cycles.side], "dashes": content.dashes}
    common |= {"has_reference": bool(content.reference), "band_percent": band_percent(study)}
    pages = {OVERVIEW: filled("overview.html", **common, **_overview(content, people, links))}
    names = list(links)
    for i, name in enumerate(names):
        near = {"before": names[i - 1] if i else None, "after": names[i + 1] if i + 1 < len(names) else None}
        pages[links[name]] = filled("participant.html", **common, person=people[name], **near)
    return pages


def _overview(content: Content, people: dict[str, dict[str, Any]], links: Mapping[str, str]) -> dict[str, Any]:
    several = len(people) > 1
    whole = None
    if several and len(content.cycles.side):
        whole = figures(content.cycles, dashes=content.dashes, reference=content.reference, over_participants=True)
    return {
        "totals": tables.totals(content.metrics, content.quality),
        "figures": whole,
        "people": [] if links else [*people.values()],
        "participants": content.people,
        "metrics": tables.metrics(content.metrics, content.symmetry, over_participants=True) if several else None,
        "means": tables.means(content.means, links=links),
        "symmetry": tables.symmetry_indices(content.symmetry, links=links),
        "shares": shares(content.study, np.isin(content.cycles.participant, [*people])) if several else None,
        "rejected": None if links else checked.rejected(content.quality),
        "checks": None if links else checked.checks(content.quality, content.clean),
        "reasons": checked.reasons(content.metrics, content.quality),
        "history": content.study.attrs.get("history", "").splitlines(),
        "sources": sorted(json.loads(content.study.attrs.get("source_sha256", "{}")).items()),
    }


def _participant(content: Content, name: str, walk: dict[str, Any] | None, *, alone: bool) -> dict[str, Any]:
    """Return what is said of a participant; ``alone`` where the study has no other."""
    rows, judged, symmetry = (of.get(name, []) for of in content.own)
    mine = content.cycles.of(name)
    shown = figures(mine, dashes=content.dashes, reference=content.reference, over_participants=False)
    about = next(row for row in content.people.rows if row[0] == name)
    sessions = tables.names([*judged, *rows], "session")
    return {
        "name": name,
        "alone": alone,
        "totals": tables.totals(rows, judged),
        "about": list(zip(content.people.header[5:], about[5:], strict=True)),
        "figures": shown if len(mine.side) else None,
        "walk": walk,
        "metrics": tables.metrics(rows, symmetry, over_participants=False),
        "shares": shares(content.study, content.cycles.participant == name),
        "rejected": checked.rejected(judged),
        "checks": checked.checks(judged, content.clean),
        "sources": checked.sources(content.clean, sessions),
    }


def _walk(
    study: xr.Dataset,
    shown: Shown,
    clean: Group,
    contacts: Group,
    kinematics: Group,
    kinetics: Group,
) -> dict[str, Any]:
    """Return the shown trial: who, when, and the JSON of its three kinds of picture."""
    start, end, with_kinetics = (taken(study, name, "cycle") for name in ("start_time", "end_time", "kinetics_valid"))
    times = {side: (float(start[cycle]), float(end[cycle])) for side, cycle in shown.cycle.items()}
    mass = study.variables["mass_kg"].values[next(iter(shown.cycle.values()))] if "mass_kg" in study.coords else 0
    mass_kg = float(mass) if mass > 0 else None
    valid = {side: cycle for side, cycle in shown.cycle.items() if with_kinetics[cycle]}
    return {
        "session": shown.session,
        "trial": shown.trial,
        "condition": shown.condition,
        "sides": list(valid),
        "data": {
            "scene": scene(clean, contacts, kinematics, cycles=times),
            "steps": {side: step(study, contacts, cycle=cycle) for side, cycle in valid.items()},
            "contributions": {
                side: contributions(
                    kinematics, kinetics, side=side, start_s=times[side][0], end_s=times[side][1], mass_kg=mass_kg
                )
                for side in valid
            },
        },
    }


def _settings(study: xr.Dataset) -> dict[str, str]:
    settings = json.loads(study.attrs.get("settings", "{}"))
    return {"settings": json.dumps(settings, indent=2, sort_keys=True, ensure_ascii=False)}
