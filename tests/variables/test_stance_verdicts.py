"""Verdicts on stances: doubts, alone and joined, and what they are called."""

import pytest

from pipeline.errors import WARNING, Problem
from pipeline.variables.stance_verdicts import (
    ACCEPTED,
    BETWEEN_WORDS,
    DOUBTED,
    DOUBTS,
    IMPOSSIBLE,
    JUDGEMENTS,
    NOT_ON_A_PLATE,
    OF_STANCES,
    REFUSED,
    USED,
    WORDS,
    accepted,
    doubt,
    doubts_of,
    in_general,
    is_accepted,
    joined,
    refusal,
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


def test_every_reason_is_a_judgement_or_makes_the_numbers_impossible() -> None:
    """Of a new reason somebody must say whether a person may overrule it."""
    assert {*OF_STANCES} == JUDGEMENTS | IMPOSSIBLE
    assert not JUDGEMENTS & IMPOSSIBLE


def test_a_contact_accepted_by_hand_is_used_and_marked_with_why_it_was_refused() -> None:
    heavy = refusal("momentum_disagrees", percent=81, mass=70)
    doubts = joined(accepted("seen; sure", [heavy]))
    assert doubts.code == f"{ACCEPTED} momentum_disagrees"
    assert doubts.what.startswith("accepted by hand: seen, sure; the plate shows 81 % of the force")
    assert is_accepted(doubts.code)
    assert verdict_of("", "1", doubts.code) == USED


def test_general_words_keep_the_values_that_all_of_a_kind_share() -> None:
    """A plate that is wrong in a whole session is one kind, with its number."""
    of_plates = [
        refusal("plate_forces_wrong", number=n, how=how, cause="C") for n, how in ((2, "A"), (2, "B"), (3, "A"))
    ]
    heavy, light = (refusal("momentum_disagrees", percent=percent, mass=70) for percent in (81, 66))
    words = in_general((one.code, one.what) for one in (*of_plates, heavy, light, Problem("", "no {brace}", "", "own")))
    template = "plate {} measures forces that no step has: its force {}, C"
    assert words[:3] == [template.format(2, "A …"), template.format(2, "A …"), template.format(3, "A")]
    assert words[3] == words[4]
    assert words[3].startswith("the plate shows … % of the force")
    assert words[5] == "no {brace}"


@pytest.mark.usefixtures("codes")
def test_each_doubt_of_a_row_has_its_code_and_each_code_its_words() -> None:
    """A code is once in a row that has several of its doubts."""
    every = [doubt("wet"), doubt("hot", celsius=41), doubt("hot", celsius=50)]
    both = joined(every)
    row = {"doubt_code": both.code, "doubt": both.what}
    assert doubts_of(row) == [(one.code, one.what) for one in every]


@pytest.mark.parametrize("code", WORDS)
def test_the_words_of_every_code_are_in_general_those_of_its_table(code: str) -> None:
    assert in_general([(code, "older words")])[0].count("…") == WORDS[code].count("{")
