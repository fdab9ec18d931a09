"""Fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checkout import DEMO, SHARED, copy_study


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with real recordings, next to the project."""
    if not (SHARED / "studies").is_dir():
        pytest.skip(f"real recordings are not at {SHARED}")
    return SHARED


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Return a copy of the demonstration study."""
    return copy_study(DEMO, tmp_path / "demo")
