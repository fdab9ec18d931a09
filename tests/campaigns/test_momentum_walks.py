"""Sound walks of every way of moving, generated, are refused by no witness of momentum."""

from __future__ import annotations

import numpy as np

from pipeline.steps.cycles.momentum import judged
from pipeline.variables.cycle_variables import RESIDUALS
from tests.campaigns.momentum_campaign import every
from tests.support.walks.ways_of_moving import WAYS

WALKS, FIRST_SEED = len(WAYS), 9000


def test_sound_walks_of_every_way_of_moving_are_not_refused() -> None:
    rows = [*every(WALKS, FIRST_SEED)]
    known = [values for *_, values, _ in rows if np.isfinite(values[:, [*RESIDUALS].index("momentum_ratio")]).any()]
    assert len(known) > WALKS / 2
    verdicts = [(seed, verdict) for _, seed, values, _ in rows for verdict in judged(values, 70.0)]
    pooled = [doubts for *_, of_trial in rows for doubts in of_trial]
    assert [(seed, refused.words) for seed, (refused, _) in verdicts if refused] == []
    doubted = [bool(doubts or by_all) for (_, (_, doubts)), by_all in zip(verdicts, pooled, strict=True)]
    assert sum(doubted) <= 0.05 * len(verdicts)
