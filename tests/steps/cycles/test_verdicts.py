"""Verdicts on stances: those that a person leaves out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from pipeline.steps.cycles.verdicts import Stances
from pipeline.variables.stance_verdicts import BY_HAND, refusal


def test_a_stance_that_is_left_out_is_used_no_more_and_has_no_doubts() -> None:
    others: dict[str, Any] = {field.name: np.zeros(3) for field in dataclasses.fields(Stances)}
    none = np.array(["", "", ""], dtype="U40")
    stances = Stances(
        **others
        | {"start": np.array([1.0, 1.5, 2.0]), "side": np.array(["left", "right", "left"])}
        | {
            "reason": none,
            "code": none,
            "doubt": np.array(["words"] * 3),
            "doubt_code": np.array(["markers_frozen"] * 3),
        }
        | {"used": np.array([True, True, False]), "ended": np.ones(3, dtype=bool)}
    )
    left = stances.without({("left", 1.0): refusal(BY_HAND, reason="seen on video")})
    assert left.used.tolist() == [False, True, False]
    assert left.whole.tolist() == [False, True, True]
    assert left.doubt_code.tolist() == ["", "markers_frozen", "markers_frozen"]
    assert left.code.tolist() == [BY_HAND, "", ""]
