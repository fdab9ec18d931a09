"""Step ``report``: the overview of a study, a self-contained HTML page."""

from collections.abc import Iterable, Sequence
from itertools import chain

import xarray as xr

from ...json_text import object_in
from ...results.page_names import page_names
from ...tables.reference_curves import reference_of
from ...variables.cycle_variables import BANDS, CURVES, STANCE_CURVES, WITH_EMG, WITH_TRUNK
from .addition import AboutOverview, Loaded, OverviewFiles, Tables
from .curves.cycles import cycles_of
from .curves.panels import panels_of
from .html_page import render
from .overview import Overview
from .settings import Settings

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


def report(
    study: Iterable[tuple[Sequence[str], xr.Dataset]],
    tables: Tables,
    sessions: OverviewFiles,
    *,
    about: AboutOverview,
    settings: Settings,
    additions: Sequence[Loaded] = (),
) -> str:
    """Return the overview of a study as HTML text.

    Inputs are taken part by part, so that a study of any size needs little memory.

    Args:
        study: parts of derived/study.nc, each of some participants in order.
        additions: what steps of the study add to the overview.

    Returns:
        The same text for the same inputs. Names and reasons of the study are text, never markup.
    """
    curves = reference_of(about.reference, where="study.reference") if about.reference else {}
    rows = zip(*tables, strict=True)
    overview = Overview(about.conditions, about.groups, about.visits)
    for people, part in study:
        panels = panels_of(part, moment_signs=settings.moment_signs)
        norm = object_in(part.attrs, "reference")
        for name in people:
            overview.add_person(name, next(rows), sessions.cycles, sessions.calibrate, norm)
        overview.add_cycles(part, cycles_of(part, panels))
    links = page_names(about.participants) if about.pages == "all" else {}
    content = overview.content(part, panels, links, curves)
    of_additions = (one.addition.of_study(one.content) for one in additions if one.addition.of_study)
    return render("overview.html", part, settings, added=[*chain.from_iterable(of_additions)], **content)
