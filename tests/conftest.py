"""What the tests share: where real studies are, and running the workflow."""

from __future__ import annotations

from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parent.parent
SHARED = HOUSE.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with real recordings beside the project."""
    if not (SHARED / "studies").is_dir():
        pytest.skip(f"real recordings are not at {SHARED}")
    return SHARED
