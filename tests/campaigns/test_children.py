"""The effect of the children's table on a generated child."""

from __future__ import annotations

import numpy as np

from tests.campaigns.children import generated


def test_the_effect_grows_from_ankle_to_hip_and_is_largest_in_swing() -> None:
    """The foot is .55 % of body mass heavier, at most .8 m from the hip and accelerated by less than 6 g there."""
    found = generated(8, 0)
    known = np.isfinite(found.moment).all(axis=1)
    assert known.sum() > 50
    swing, stance = (
        np.sqrt(np.mean(found.moment[known & here] ** 2, axis=0)) for here in (found.swings, ~found.swings)
    )
    assert (np.diff(swing) > 0).all()
    assert (swing > stance).all()
    assert found.moment[known].max() < 0.0055 * 0.8 * 6 * 9.81
