"""Rows of witnesses of the motion, and of judges of a leg: a new one is a row and a function."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.steps.kinematics import leg_check, witnesses
from pipeline.variables.stance_verdicts import Verdict, verdicts_in
from pipeline.variables.verdict_table import DOUBTS, VERDICTS, Row
from tests.steps.kinematics.test_marker_check import TIME, found
from tests.support.walks.person import landmarks, walk


def test_a_new_witness_is_a_row_that_sees_what_the_walks_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VERDICTS, "stiff", Row(DOUBTS, "the knee bends by {degrees:.0f} degrees", "always"))

    def look(shown: witnesses.Shown) -> witnesses.Found:
        bend = float(np.nanmax(shown.angle[:, 0, 1, 0]))
        return witnesses.Found({"bend": ("trial", np.array([bend]))}, [[Verdict.of("stiff", degrees=bend)]])

    monkeypatch.setattr(witnesses, "WITNESSES", (*witnesses.WITNESSES, witnesses.Witness(("stiff",), look)))
    result = found(landmarks(walk(TIME)))
    assert result.attrs["doubt_code"] == "stiff"
    (doubt,) = verdicts_in(result.attrs["doubt_values"])
    assert doubt.values["degrees"] == result.attrs["bend"] > 0


def test_a_new_judge_of_a_leg_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(leg: leg_check.Leg) -> str:
        return f"no {leg.side} leg bends like this" if leg.side == "left" and len(leg.measured) else ""

    judges = (*leg_check.LEG_JUDGES, leg_check.Judge(("leg_refused",), refuse))
    monkeypatch.setattr(leg_check, "LEG_JUDGES", judges)
    left, right = found(landmarks(walk(TIME))).leg_refused.values.tolist()
    assert left.startswith("no left leg bends like this; ")
    assert right == ""


def test_the_codes_of_all_rows_are_in_the_table() -> None:
    assert {VERDICTS[code].severity for one in witnesses.WITNESSES for code in one.codes} == {DOUBTS}
    assert {code for one in leg_check.LEG_JUDGES for code in one.codes} <= {*VERDICTS}
