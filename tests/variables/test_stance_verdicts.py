"""Verdicts on stances: doubts, alone and joined, and what they are called."""

import pytest

from pipeline.errors import WARNING, Problem
from pipeline.variables.stance_verdicts import (
    BETWEEN_WORDS,
    DOUBTED,
    DOUBTS,
    NOT_ON_A_PLATE,
    OF_STANCES,
    REFUSED,
    USED,
    doubt,
    joined,
    verdict_of,
)


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes that the product does not have."""
    monkeypatch.setitem(DOUBTS, "hot", "the plate is at {celsius:.0f} degrees")
    monkeypatch.setitem(DOUBTS, "wet", "the plate is wet")


@pytest.mark.usefixtures("codes")
def test_joined_doubts_have_each_word_and_code_once() -> None:
    hot, wet = doubt("hot", celsius=41.2), doubt("wet")
    assert (hot.what, hot.code, hot.severity) == ("the plate is at 41 degrees", "hot", WARNING)
    both = joined([hot, wet, hot])
    assert (both.what, both.code) == ("the plate is at 41 degrees; the plate is wet", "hot wet")
    more = joined([wet, both, doubt("hot", celsius=50)])
    assert (more.what, more.code) == (f"the plate is wet; {hot.what}; the plate is at 50 degrees", "wet hot")
    assert joined([]) == joined([Problem("", "", "", "")]) == Problem("", "", "", "", WARNING)


@pytest.mark.parametrize(
    ("code", "plates", "doubts", "verdict"),
    [
        ("", "1", "", USED),
        ("", "1", "hot wet", DOUBTED),
        ("plate_drifts", "1", "hot", REFUSED),
        ("no_plate", "", "", NOT_ON_A_PLATE),
    ],
)
def test_a_refusal_outweighs_a_doubt(code: str, plates: str, doubts: str, verdict: str) -> None:
    assert verdict_of(code, plates, doubts) == verdict


def test_codes_of_doubts_are_no_refusals_and_their_words_can_be_joined() -> None:
    assert not DOUBTS.keys() & OF_STANCES.keys()
    assert not any(BETWEEN_WORDS in words for words in DOUBTS.values())
    assert all(code.isidentifier() for code in DOUBTS)
