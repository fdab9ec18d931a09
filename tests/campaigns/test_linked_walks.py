"""Recorded walks by the linked legs: every leg that segments show is posed, with residuals that skin explains."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns.linked_walks import of_lab


# clusters, the knee alignment device without a heel marker, stored joint centres, wands
@pytest.mark.parametrize("lab", ["gait2354", "kad_fmc", "cortex", "sample10 2a, 4a"])
def test_every_leg_shown_is_posed(shared: Path, tmp_path: Path, lab: str) -> None:
    """Skin moves thigh markers by 10 to 30 mm, others by less (Peters et al. 2010, Gait Posture 31:1-8)."""
    walks = list(of_lab(shared, lab, tmp_path))
    assert walks
    for walk in walks:
        assert walk.shown > 0
        assert walk.lost == 0, walk
        rms, most, _ = walk.residual_mm
        assert rms < 10, walk
        assert most < 20, walk
        assert max(walk.flexion) < 5, walk
