"""The study of the viewer's tests, which compute its cycles again dozens of times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checkout import filled_once
from tests.support.studies.small_study import write_outputs


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the small study with two draws of errors instead of five; to read only."""
    return filled_once(tmp_path_factory, "viewed_study", lambda folder: write_outputs(folder, draws=2))
