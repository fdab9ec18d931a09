"""Step ``report``: the overview of a study, a self-contained HTML page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import xarray as xr

from ...json_text import object_in
from ...results.page_names import page_names
from ...tables.reference_curves import reference_of
from ...variables.cycle_variables import BANDS, CURVES, STANCE_CURVES, WITH_EMG, WITH_TRUNK
from .addition import Loaded, parts_of_study
from .curves.cycles import cycles_of
from .curves.panels import panels_of
from .html_page import render
from .overview import Overview, RowsOfPerson
from .settings import Settings
from .tables import Row

METRICS_DRAWN = ("stance_share", "turning_angle", "progression_offset", "reference_speed")
OF_STUDY = (  # all that is loaded of study.nc, besides the facts of whole trials
    *CURVES,
    *WITH_EMG,
    *WITH_TRUNK,
    *STANCE_CURVES,
    "pelvis_residual",
    *BANDS.values(),
    "joint_moment_variance_share",
    "metric_draw",
    *METRICS_DRAWN,
)
Rows = Iterable[tuple[str, list[Row]]]  # of a table, by participant


def report(
    study: Iterable[tuple[Sequence[str], xr.Dataset]],
    metrics: Rows,
    quality: Rows,
    means: Rows,
    symmetry: Rows,
    cycles: Mapping[str, xr.Dataset],
    calibrate: Mapping[str, xr.Dataset],
    *,
    settings: Settings,
    pages: str,
    participants: Sequence[str],
    conditions: Sequence[str],
    groups: Mapping[str, str],
    visits: Sequence[tuple[str, str]],
    reference: str | None,
    additions: Sequence[Loaded] = (),
) -> str:
    """Return the overview of a study as HTML text.

    Inputs are taken part by part, so that a study of any size needs little memory.

    Args:
        study: parts of derived/study.nc, each of some participants in order.
        metrics, quality, means, symmetry: rows of metrics.csv, quality.csv, participants.csv and symmetry.csv by
            participant, in order; participants without a row may be absent.
        cycles: by session, at least what cycles.nc holds of each trial as a whole.
        calibrate: by session, the model of the person, at least its facts and why a leg cannot be used.
        groups, visits: as of :class:`pipeline.steps.report.overview.Overview`.
        pages: ``all``, or ``on_request``: the overview has no links to pages, as they may not exist.
        additions: what steps of the study add to the overview.

    Returns:
        The same text for the same inputs. Names and reasons of the study are text, never markup.
    """
    curves = reference_of(reference, where="study.reference") if reference else {}
    rows = zip(*(_in_order(participants, table) for table in (metrics, quality, means, symmetry)), strict=True)
    overview = Overview(conditions, groups, visits)
    for people, part in study:
        panels = panels_of(part, moment_signs=settings.moment_signs)
        about = object_in(part.attrs, "reference")
        for name in people:
            overview.add_person(name, RowsOfPerson(*next(rows)), cycles, calibrate, about)
        overview.add_cycles(part, cycles_of(part, panels))
    links = page_names(participants) if pages == "all" else {}
    content = overview.content(part, panels, links, curves)
    added = parts_of_study(additions)
    return render("overview.html", part, settings, added=added, **content)


def _in_order(participants: Sequence[str], table: Rows) -> Iterator[list[Row]]:
    """Yield each participant's rows of a table that has the participants in this order."""
    groups = iter(table)
    name, rows = next(groups, ("", []))
    for participant in participants:
        if participant == name:
            yield rows
            name, rows = next(groups, ("", []))
        else:
            yield []
