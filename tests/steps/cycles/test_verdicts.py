"""Verdicts on stances: those that a person leaves out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from pipeline.steps.cycles.verdicts import Stances
from pipeline.variables.stance_verdicts import Verdict
from pipeline.variables.verdict_table import BY_HAND


def test_a_stance_that_is_left_out_is_used_no_more_and_has_no_doubts() -> None:
    others: dict[str, Any] = {field.name: np.zeros(3) for field in dataclasses.fields(Stances)}
    frozen = Verdict.of("markers_frozen", first=1.2, last=1.3)
    stances = Stances(
        **others
        | {"start": np.array([1.0, 1.5, 2.0]), "side": np.array(["left", "right", "left"])}
        | {"reason": (None,) * 3, "doubts": ((frozen,),) * 3}
        | {"used": np.array([True, True, False]), "ended": np.ones(3, dtype=bool)}
    )
    left = stances.without({("left", 1.0): Verdict.of(BY_HAND, reason="seen on video")})
    assert left.used.tolist() == [False, True, False]
    assert left.whole.tolist() == [False, True, True]
    assert left.doubts == ((), (frozen,), (frozen,))
    assert [reason and reason.code for reason in left.reason] == [BY_HAND, None, None]
