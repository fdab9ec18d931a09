"""What the extra ``statistics`` adds to the pages of the report."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...steps.report.addition import Addition, Part, html_of
from .curve_tests import curve_tests_of
from .repeatability.detectable import Known, detectable_changes, detectable_curves, known_elsewhere, known_here
from .repeatability.shown import overview_of

TEMPLATES = Path(__file__).parent
PLACE = "differences"  # section of the overview that they follow


def repeatability_shown(known: Known) -> Iterator[Part]:
    """Yield the section of the overview with the main metrics of repeatability.csv that have numbers."""
    if known.table is not None and (content := overview_of(known.table)):
        html = html_of(TEMPLATES / "repeatability.html", **content)
        yield Part(PLACE, html, title="Repeatability", id="repeatability")


def curve_tests_shown(tests: Sequence[Mapping[str, str]]) -> Iterator[Part]:
    """Yield the section of the overview with compared curves."""
    html = html_of(TEMPLATES / "curve_tests.html", curve_tests=tests)
    yield Part(PLACE, html, title="Curves compared", id="curve-tests")


REPEATABILITY = Addition(
    load=known_here,
    of_study=repeatability_shown,
    detectable=lambda known: detectable_changes(known.table),
    detectable_curves=detectable_curves,
)
TABLE_OF_LABORATORY = Addition(
    load=known_elsewhere, detectable=lambda known: detectable_changes(known.table), detectable_curves=detectable_curves
)
CURVE_TESTS = Addition(load=lambda needs: curve_tests_of(Path(), needs["folder"]), of_study=curve_tests_shown)
