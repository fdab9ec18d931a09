"""The page of one participant, made from this person's own files only, so that it can be passed on alone."""

from collections.abc import Mapping, Sequence

import xarray as xr

from ...json_text import object_in
from ...results.metric_errors import DrawnMetrics, errors_of_cycles, errors_of_means, exceptions_of, number_cycles
from ...tables.reference_curves import BySpeed, reference_of
from ...trials.session import facts_of_trials
from ...variables.stance_verdicts import is_accepted
from . import metric_tables, quality, tables
from .addition import Loaded, PersonShown, panels_added, parts_of_person
from .compared_visits import Compared, compared
from .curves.cycles import CycleCurves, cycles_of, stances_of
from .curves.error_shares import share_sums, shares
from .curves.figures import Drawn, appendix, draw_cycles, key_of
from .curves.lines import dash_styles, lines_of, normal_of
from .curves.panels import panels_of
from .data_check import data_check
from .first_sheet import kept, normal_values, numbers_table, sentences, shown_on_sheet
from .html_page import days_of, render
from .movement_profile import (
    age_in_words,
    compares_children_and_adults,
    movement_profiles,
    of_another_age,
    without_comparison,
)
from .one_walk import representative_trial, walk
from .refused_stances import pictures_of
from .settings import Settings
from .tables import Row, Table
from .visit_changes import Detectable, profile_changes, tables_of_changes
from .visit_speed import speed_changes


def page(
    study: xr.Dataset,
    metrics: list[Row],
    stances: list[Row],
    symmetry: list[Row],
    cycles: Mapping[str, xr.Dataset],
    representative: Mapping[str, xr.Dataset],
    calibrate: Mapping[str, xr.Dataset],
    clean: Mapping[str, xr.Dataset],
    *,
    settings: Settings,
    participant: str,
    recorded: Mapping[str, str],
    conditions: Sequence[str],
    reference: str | None,
    texts: Mapping[str, str],
    visits: Sequence[tuple[str, str]],
    chosen: Sequence[str] = (),
    detectable: Detectable,
    additions: Sequence[Loaded] = (),
    results: Mapping[str, str] = {},
) -> str:
    """Return the page of one participant as HTML text.

    Args:
        study: the participant's part of derived/study.nc.
        metrics, stances, symmetry: the participant's rows of metrics.csv, quality.csv and symmetry.csv.
        cycles: by session of the participant, at least what cycles.nc holds of each trial as a whole.
        representative: by session, the trial to show.
        calibrate: by session, the model of the person, at least its facts and why a leg cannot be used.
        clean: by session, :data:`pipeline.steps.report.refused_stances.NEEDS` of clean.nc.
        texts: the laboratory's own, such as the referral question, by title.
        reference: text of the table of reference curves, see :mod:`pipeline.tables.reference_curves`.
        visits, chosen: of :func:`pipeline.steps.report.compared_visits.compared`; without ``chosen`` all is shown.
        detectable: the smallest changes beyond the laboratory's own repeatability.
        additions: what steps of the study add to the page.
        results: the SHA-256 of the results of each session, for its review; without them nothing is said of a change.

    Returns:
        The same text for the same inputs. Names and reasons of the study are text, never markup.
    """
    curves = reference_of(reference, where="study.reference") if reference else {}
    about = object_in(study.attrs, "reference")
    side_by_side = compared(visits, chosen)
    detectable = detectable if side_by_side.by == "visit" else {}
    study = side_by_side.part(study)
    metrics, stances, symmetry = (side_by_side.rows(table) for table in (metrics, stances, symmetry))
    age = tables.age_years(metrics)
    another_age = of_another_age(age, about) if curves else []
    no_verdict = bool(curves) and compares_children_and_adults(age, about)
    if no_verdict:
        metrics, symmetry = map(tables.without_scores, (metrics, symmetry))
    dashes = dash_styles(conditions)
    panels = (*panels_of(study, moment_signs=settings.moment_signs), *panels_added(additions, study))
    sessions = tables.names([*stances, *metrics], "session")
    trials = {session: facts_of_trials(cycles[session]) for session in sessions}
    gait_cycles, whole_stances = (side_by_side.curves(of(study, panels)) for of in (cycles_of, stances_of))
    rows = number_cycles(tables.of_part(metrics, "cycle"))
    errors = errors_of_cycles(study, rows)
    method = object_in(study.attrs, "settings").get("kinematics", {}).get("method", "")
    rows_alone = [] if any(map(tables.has_kinetics, rows)) else tables.of_part(metrics, "stance")
    drawn = _figures(gait_cycles, dashes, curves, "another age" if no_verdict else "normal")
    drawn_stances = _figures(whole_stances, dashes, {}, "").with_curves()
    has_cycles = bool(len(gait_cycles.side))
    shown_lines = shown_on_sheet(drawn.lines, rows)
    on_sheet, elsewhere = kept(rows, shown_lines)
    normal = normal_values(shown_lines, curves) if curves and not no_verdict else {}
    profiles = movement_profiles(rows, curves)
    at_first = [one for line in shown_lines for one in profiles if one.title == line.line.label]
    caveats = [*without_comparison(on_sheet), *(another_age if not no_verdict else [])] if curves else []
    totals = tables.totals(metrics, stances)
    apart = f"{age_in_words(age)}, the norm is of {about.get('people', 'others')}" if no_verdict else ""
    days = days_of({session: recorded[session] for session in sessions})
    shown = representative_trial(study, representative)
    pictures, further = pictures_of({session: cycles[session] for session in sessions}, clean)
    return render(
        "participant.html",
        study,
        settings,
        name=participant,
        texts=texts,
        recorded="; ".join([days, *tables.statuses(metrics, results)]),
        drawn=drawn,
        beside_reference=age_in_words(age) if another_age else "",
        key=key_of(drawn if has_cycles else drawn_stances, single="cycle" if has_cycles else "stance"),
        data_check=data_check(
            metrics, stances, trials, {session: calibrate[session] for session in sessions}, another_age
        ),
        numbers=numbers_table(shown_lines, normal, detectable),
        sentences=sentences(shown_lines, at_first, normal, totals, apart),
        profiles=at_first,
        caveats=caveats,
        further_profiles=[one for one in profiles if one not in at_first],
        further_caveats=without_comparison(elsewhere) if curves else [],
        about=tables.in_words(metrics),
        reviews=tables.reviews(metrics, results),
        figures=drawn if has_cycles else drawn_stances,
        figures_of_stances=drawn_stances if rows_alone and has_cycles else None,
        appendix=appendix(drawn, drawn_stances, with_first=side_by_side.several and not chosen)
        if has_cycles
        else appendix(drawn_stances),
        walk=walk(study, shown, moment_signs=settings.moment_signs) if shown and shown.cycle else None,
        metrics={
            condition: metric_tables.with_normal(
                each, curves, about, "people of another age" if no_verdict else "normal people"
            )
            for condition, each in _metrics(rows, symmetry, side_by_side, detectable, errors).items()
        },
        metrics_of_stances=_metrics(metric_tables.with_metrics_of_stance(rows_alone), [], side_by_side, detectable),
        uncertainty=None if errors is None else exceptions_of(method, metric_tables.metrics_in(rows)),
        profile_changes=profile_changes(rows, side_by_side, detectable) if curves and side_by_side.several else {},
        results={session: results[session] for session in sessions if session in results},
        shares={label: shares(part, share_sums(part, panels)) for label, part in side_by_side.apart(study).items()},
        compared=side_by_side if side_by_side.several else None,
        of_speed=speed_changes(rows, side_by_side, study, curves) if side_by_side.several else [],
        chosen=chosen,
        detectable=detectable,
        accepted=[row for row in rows if is_accepted(row["doubt_code"])],
        pictures=pictures,
        further_pictures=further,
        rejected=quality.list_rejections(stances),
        checks=quality.checks(stances, trials),
        muscles_left_out=quality.muscles_left_out(trials, sessions),
        sources=quality.sources(trials, sessions),
        added=parts_of_person(additions, PersonShown(study, metrics, stances, symmetry)),
    )


def _metrics(
    rows: list[Row],
    symmetry: list[Row],
    side_by_side: Compared,
    detectable: Detectable,
    errors: DrawnMetrics | None = None,
) -> dict[str, dict[str, Table]]:
    """Return the tables of metrics by condition, if visits are compared; else all of them without a title."""
    if side_by_side.several:
        return tables_of_changes(rows, symmetry, side_by_side, detectable, errors)
    return {"": metric_tables.metrics(rows, symmetry, errors_of_means(rows, errors))}


def _figures(cycles: CycleCurves, dashes: Mapping[str, str], reference: BySpeed, band: str) -> Drawn:
    """Return the figures of a participant's cycles, or stances; ``band`` names the bands of the reference."""
    lines = lines_of(cycles, dashes=dashes, over_participants=False)
    return draw_cycles(cycles, lines=lines, normal=normal_of(cycles, lines, reference, band))
