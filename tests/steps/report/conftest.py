"""A browser and a study for the tests of the report."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes.browser import Tab, browsing, found_chromium
from tests.support.studies.for_report import Made
from tests.support.studies.for_report import three_people as make_three_people


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    chromium = found_chromium()
    if not chromium:
        pytest.skip("no chromium is installed")
    with browsing(chromium, tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(scope="session")
def three_people() -> Made:
    return make_three_people()
