"""What the extra ``statistics`` adds to the pages of the report."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from ...steps.report.addition import Addition, Part, html_of
from .curve_tests import curve_tests_of
from .repeatability.detectable import detectable_changes, table_of
from .repeatability.shown import overview_of

TEMPLATES = Path(__file__).parent
PLACE = "differences"  # section of the overview that they follow


def repeatability_shown(table: pd.DataFrame) -> Iterator[Part]:
    """Yield the section of the overview with the main metrics of repeatability.csv that have numbers."""
    if content := overview_of(table):
        html = html_of(TEMPLATES / "repeatability.html", **content)
        yield Part(PLACE, html, title="Repeatability", id="repeatability")


def curve_tests_shown(tests: Sequence[Mapping[str, str]]) -> Iterator[Part]:
    """Yield the section of the overview with compared curves."""
    html = html_of(TEMPLATES / "curve_tests.html", curve_tests=tests)
    yield Part(PLACE, html, title="Curves compared", id="curve-tests")


REPEATABILITY = Addition(
    load=lambda files: table_of(files.get("repeatability", [])),
    of_study=repeatability_shown,
    detectable=detectable_changes,
)
TABLE_OF_LABORATORY = Addition(load=lambda needs: table_of([Path(needs["file"])]), detectable=detectable_changes)
CURVE_TESTS = Addition(load=lambda needs: curve_tests_of(Path(), needs["folder"]), of_study=curve_tests_shown)
