"""A browser for the tests of the report."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Tab, browsing, found_chromium


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    chromium = found_chromium()
    if not chromium:
        pytest.skip("no chromium is installed")
    with browsing(chromium, tmp_path_factory.mktemp("profile")) as tab:
        yield tab
