"""What the viewer's page says of a trial: texts of a study are shown as text."""

from __future__ import annotations

import dataclasses
from html import escape
from typing import Any

import pytest

pytest.importorskip("viser", reason="viser is not installed")

from pipeline.extras.viewer.app import words_on
from pipeline.extras.viewer.shown_trial import Contact, ShownTrial
from pipeline.variables.stance_verdicts import REFUSED
from tests.support.files.hostile_texts import SCRIPTS


def trial(*, notes: str = "", why: str = "") -> ShownTrial:
    """Return a trial that is rejected, or with one refused stance; words are made from nothing else of it."""
    others: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(ShownTrial))
    return ShownTrial(**others | {"notes": notes, "contacts": [Contact(0.1, 0.7, "left", "2", REFUSED, why)]})


@pytest.mark.parametrize("text", SCRIPTS)
def test_reasons_are_text(text: str) -> None:
    for hostile, harmless in (({"notes": text}, {"notes": "words"}), ({"why": text}, {"why": "words"})):
        html = words_on(trial(**hostile))
        assert escape(text) in html
        assert html.count("<") == words_on(trial(**harmless)).count("<")


def test_a_refused_stance_has_its_verdict_place_and_reason() -> None:
    html = words_on(trial(why="two feet"))
    assert f">{REFUSED}</b> left, 0.10 to 0.70 s, plate 2: two feet" in html
    assert "Rejected" not in html
