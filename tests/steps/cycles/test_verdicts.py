"""Verdicts on stances: those that a person leaves out, and the rows of judges."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from pipeline.steps.cycles import verdicts
from pipeline.steps.cycles.shown import Shown
from pipeline.steps.cycles.stances import Stances
from pipeline.variables.stance_verdicts import Verdict, verdicts_in
from pipeline.variables.verdict_table import BY_HAND, DOUBTS, REFUSES, VERDICTS, Row
from tests.support.walks.as_clean import walk
from tests.support.walks.for_cycles import MASS_KG, trial


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


def test_a_new_witness_is_a_row_that_sees_what_the_trial_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that refuses the stances of the left foot, and one that doubts all others."""
    monkeypatch.setitem(VERDICTS, "too_heavy", Row(REFUSES, "{kg:.0f} kg on the {side} foot", "always"))
    monkeypatch.setitem(VERDICTS, "hot", Row(DOUBTS, "it is hot", "always"))

    def refuse(shown: Shown, i: int) -> Verdict | None:
        side = str(shown.stances[0][i])
        return Verdict.of("too_heavy", kg=shown.mass_kg, side=side) if side == "left" else None

    def doubt(*_: object) -> list[Verdict]:
        return [Verdict.of("hot")]

    judges, doubters = verdicts.STANCE_JUDGES, verdicts.STANCE_DOUBTS
    monkeypatch.setattr(verdicts, "STANCE_JUDGES", (*judges, verdicts.Judge(("too_heavy",), refuse)))
    monkeypatch.setattr(verdicts, "STANCE_DOUBTS", (*doubters, verdicts.Doubter(("hot",), doubt)))
    found = trial(walk(strides=3)).cut()
    left = found.stance_side.values == "left"
    assert (found.stance_code.values == np.where(left, "too_heavy", "")).all()
    assert (found.stance_doubt_code.values == np.where(left, "", "hot")).all()
    (reason,) = verdicts_in(found.stance_reason_values.values[left][0])
    assert reason.values == {"kg": MASS_KG, "side": "left"}
    assert not found.kinetics_valid.any()


def test_the_codes_of_all_judges_are_in_the_table() -> None:
    refusals = {code for one in verdicts.STANCE_JUDGES for code in one.codes}
    doubts = {code for one in verdicts.STANCE_DOUBTS for code in one.codes}
    assert {VERDICTS[code].severity for code in refusals} == {REFUSES}
    assert {VERDICTS[code].severity for code in doubts} == {DOUBTS}
