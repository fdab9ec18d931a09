"""Travel of markers of a person who stands or walks."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.person.marker_travel import STANDING_M, extent_m


def test_extent_of_standing_and_walking() -> None:
    """White noise of 1 mm spans 2 x 1.645 standard deviations between its 5 and 95 % points on each axis."""
    rng = np.random.default_rng(1)
    still = rng.normal(scale=0.001, size=(2000, 20, 3))
    span = 2 * 1.645 * 0.001 * np.sqrt(3)
    # 200 frames are looked at: the points of a tail are then known to a tenth, the largest markers somewhat above
    assert extent_m(still) == pytest.approx(span, rel=0.2)
    walking = still + np.linspace(0, 4, 2000)[:, None, None] * [1, 0, 0]
    assert extent_m(walking) == pytest.approx(0.9 * 4, rel=0.01)  # nine tenths of the way
    still[:, 0] += np.linspace(0, 4, 2000)[:, None]  # one marker of twenty is somebody else's
    still[500:1200, 1:] = np.nan
    assert extent_m(still) < STANDING_M
    assert np.isnan(extent_m(np.full((10, 3, 3), np.nan)))
