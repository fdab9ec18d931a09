"""A walk that most tests of contacts begin with."""

from __future__ import annotations

import pytest
import xarray as xr

from tests.support.plates.stances import under
from tests.support.walks.as_clean import Walk, cleaned, walk


@pytest.fixture(scope="module")
def known() -> Walk:
    return walk()


@pytest.fixture(scope="module")
def plated(known: Walk) -> xr.Dataset:
    """Return the walk with a plate under each whole footfall."""
    return cleaned(known, [under(step) for step in known.seen()])
