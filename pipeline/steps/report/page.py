"""The page of one participant, made from this person's own files only, so that it can be passed on alone."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd

from ...json_text import object_in
from ...results.metric_errors import DrawnMetrics, errors_of_cycles, errors_of_means, exceptions_of
from ...tables.reference_curves import BySpeed, reference_of
from ...trials.session import facts_of_trials
from ...variables.gait_profile import nine_angles
from ...variables.stance_verdicts import is_accepted
from . import metric_tables, quality, tables
from .addition import AboutPage, Loaded, PageFiles, PersonShown, curves_detectable_by, detectable_by, panels_added
from .compared_visits import Compared, compared
from .curves.cycles import CycleCurves, cycles_of, stances_of
from .curves.error_shares import share_sums, shares
from .curves.figures import Drawn, add_detectable, appendix, draw_cycles, key_of
from .curves.lines import dash_styles, lines_of, normal_of
from .curves.panels import Panel, panels_of
from .data_check import data_check
from .first_sheet import first_sheet
from .html_page import days_of, render
from .movement_profile import Norm, age_in_words
from .one_walk import walks_of
from .refused_stances import pictures_of
from .settings import Settings
from .tables import Table, Totals
from .visit_changes import Detectable, profile_changes, tables_of_changes
from .visit_speed import speed_changes

ACCEPTED = ("doubt", "trial", "side", "start_time")  # what is said of a cycle that is accepted by hand


class Person(NamedTuple):
    """What a page shows of a person, of all its sessions or of what is set side by side.

    The tables lack scores that compare with the norm of other people.
    """

    shown: PersonShown
    cycles: pd.DataFrame  # rows of metrics.csv that are gait cycles, numbered as in ``shown.study``
    compared: Compared
    norm: Norm
    detectable: Detectable  # by condition; of visits alone


def page(
    person: PersonShown, sessions: PageFiles, *, about: AboutPage, settings: Settings, additions: Sequence[Loaded] = ()
) -> str:
    """Return the page of one participant as HTML text.

    Args:
        person: all that the study has of the participant.
        additions: what steps of the study add to the page.

    Returns:
        The same text for the same inputs. Names and reasons of the study are text, never markup.
    """
    mine = _person(person, about, detectable_by(additions))
    shown, norm, side_by_side = mine.shown, mine.norm, mine.compared
    panels = (*panels_of(shown.study, moment_signs=settings.moment_signs), *panels_added(additions, shown.study))
    names = tables.sessions_in(shown.stances, shown.metrics)
    days = days_of({session: about.recorded[session] for session in names})
    curves = _curves(mine, panels, dash_styles(about.conditions), asked=side_by_side.within if about.chosen else "")
    compares_cycles = about.chosen and side_by_side.by == "visit" and curves["figures"] is curves["drawn"]
    unchanged = curves_detectable_by(additions) if compares_cycles else None
    if unchanged:
        add_detectable(curves["drawn"], panels, unchanged.changes)
    totals = tables.totals(shown.metrics, shown.stances)
    sheet = first_sheet(
        curves["drawn"].lines, mine.cycles, norm,
        angles=nine_angles(shown.study) if norm.curves else None, detectable=mine.detectable, totals=totals,
    )  # fmt: skip
    of_additions = (one.addition.of_person(shown, one.content) for one in additions if one.addition.of_person)
    return render(
        "participant.html",
        shown.study,
        settings,
        name=about.participant,
        texts=about.texts,
        recorded="; ".join([days, *tables.statuses(shown.metrics, about.results)]),
        beside_reference=age_in_words(norm.age) if norm.another_age else "",
        band_shown=not norm.is_of_others,
        about=tables.in_words(shown.metrics),
        reviews=tables.reviews(shown.metrics, about.results),
        results={session: about.results[session] for session in names if session in about.results},
        walks=walks_of(side_by_side.apart(shown.study), sessions.representative, moment_signs=settings.moment_signs),
        compared=side_by_side if side_by_side.several else None,
        chosen=about.chosen,
        detectable=mine.detectable,
        unchanged=unchanged,
        added=[*chain.from_iterable(of_additions)],
        **sheet._asdict(),
        **curves,
        **_numbers(mine, panels),
        **_quality(mine, names, sessions, totals),
    )


def _person(whole: PersonShown, about: AboutPage, detectable: Detectable) -> Person:
    """Return what is shown of a person; ``detectable`` are changes beyond the laboratory's own repeatability."""
    side_by_side = compared(about.visits, about.chosen)
    study = side_by_side.part(whole.study)
    metrics, stances, symmetry = map(side_by_side.rows, (whole.metrics, whole.stances, whole.symmetry))
    curves = reference_of(about.reference, where="study.reference") if about.reference else {}
    norm = Norm(curves, object_in(study.attrs, "reference"), tables.age_years(metrics))
    if norm.is_of_others:
        metrics, symmetry = map(tables.without_scores, (metrics, symmetry))
    cycles = tables.of_part(metrics, "cycle").reset_index(drop=True)
    known = detectable if side_by_side.by == "visit" else {}
    return Person(PersonShown(study, metrics, stances, symmetry), cycles, side_by_side, norm, known)


def _curves(person: Person, panels: tuple[Panel, ...], dashes: Mapping[str, str], *, asked: str) -> dict[str, Any]:
    """Return the figures of gait cycles, of stances where no cycle has kinetics, and their legend.

    ``asked``: within what a reader compares; conditions then follow one another as that reader named them.
    """
    study, norm = person.shown.study, person.norm
    first = study.condition.values.tolist() if asked not in ("", "condition") else []
    dashes = {name: dashes[name] for name in dict.fromkeys([*first, *dashes])}
    gait_cycles, whole_stances = (person.compared.curves(of(study, panels)) for of in (cycles_of, stances_of))
    name = "another age" if norm.is_of_others else "normal"
    drawn = _figures(gait_cycles, dashes, norm.curves, name, asked=asked)
    stances = _figures(whole_stances, dashes, {}, "", asked=asked).with_curves()
    if not len(gait_cycles.side):
        key = key_of(stances, single="stance")
        parts: dict[str, Any] = {"figures": stances, "figures_of_stances": None, "appendix": appendix(stances)}
        return {"drawn": drawn, "key": key, **parts}
    return {
        "drawn": drawn,
        "key": key_of(drawn, single="cycle"),
        "figures": drawn,
        "figures_of_stances": stances if len(_stances_alone(person)) else None,
        "appendix": appendix(drawn, stances, with_first=person.compared.several and not asked),
    }


def _figures(cycles: CycleCurves, dashes: Mapping[str, str], reference: BySpeed, band: str, *, asked: str) -> Drawn:
    """Return the figures of a participant's cycles, or stances; ``band`` names the bands of the reference."""
    lines = lines_of(cycles, dashes=dashes, over_participants=False, asked=asked)
    return draw_cycles(cycles, lines=lines, normal=normal_of(cycles, lines, reference, band))


def _stances_alone(person: Person) -> pd.DataFrame:
    """Return the rows of stances without a whole cycle, which are shown where no cycle has kinetics."""
    if person.cycles["kinetics_valid"].any():
        return person.cycles[:0]
    return tables.of_part(person.shown.metrics, "stance")


def _numbers(person: Person, panels: Sequence[Panel]) -> dict[str, Any]:
    """Return the tables of numbers, their changes and errors."""
    study, cycles, side_by_side, norm = person.shown.study, person.cycles, person.compared, person.norm
    errors = errors_of_cycles(study, cycles)
    method = object_in(study.attrs, "settings").get("kinematics", {}).get("method", "")
    people = "people of another age" if norm.is_of_others else "normal people"
    of_cycles = _metrics(person, cycles, person.shown.symmetry, errors)
    return {
        "metrics": {
            place: metric_tables.with_normal(each, norm.curves, norm.about, people) for place, each in of_cycles.items()
        },
        "metrics_of_stances": _metrics(
            person, metric_tables.with_metrics_of_stance(_stances_alone(person)), person.shown.symmetry[:0]
        ),
        "uncertainty": None if errors is None else exceptions_of(method, metric_tables.metrics_in(cycles)),
        "profile_changes": profile_changes(cycles, side_by_side, person.detectable)
        if norm.curves and side_by_side.several
        else {},
        "shares": {label: shares(part, share_sums(part, panels)) for label, part in side_by_side.apart(study).items()},
        "of_speed": speed_changes(cycles, side_by_side, study, norm.curves) if side_by_side.several else [],
    }


def _metrics(
    person: Person, rows: pd.DataFrame, symmetry: pd.DataFrame, errors: DrawnMetrics | None = None
) -> dict[str, dict[str, Table]]:
    """Return the tables of metrics by condition, if visits are compared; else all of them without a title."""
    if person.compared.several:
        return tables_of_changes(rows, symmetry, person.compared, person.detectable, errors)
    return {"": metric_tables.metrics(rows, symmetry, errors_of_means(rows, errors))}


def _quality(person: Person, names: Sequence[str], sessions: PageFiles, totals: Totals) -> dict[str, Any]:
    """Return what was found of the data of some sessions: verdicts, repairs, checks, sources, pictures of contacts."""
    metrics, stances = person.shown.metrics, person.shown.stances
    about_cycles = zip(*(person.cycles[name] for name in ("doubt_code", *ACCEPTED)), strict=True)
    cycles = {name: sessions.cycles[name] for name in names}
    trials = {name: facts_of_trials(each) for name, each in cycles.items()}
    models = {name: sessions.calibrate[name] for name in names}
    pictures, further = pictures_of(cycles, sessions.clean)
    return {
        "data_check": data_check(metrics, stances, trials, models, totals, person.norm.another_age),
        "accepted": [dict(zip(ACCEPTED, one, strict=True)) for code, *one in about_cycles if is_accepted(code)],
        "pictures": pictures,
        "further_pictures": further,
        "rejected": quality.list_rejections(stances),
        "checks": quality.checks(stances, trials),
        "muscles_left_out": quality.muscles_left_out(trials, names),
        "sources": quality.sources(trials, names),
    }
