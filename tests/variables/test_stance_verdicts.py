"""Verdicts: code and values, their words, how files hold them, and what they are called together."""

import importlib
import math
from string import Formatter

import pytest

from pipeline.errors import Problem
from pipeline.step import every_step
from pipeline.steps.contacts import contact_checks
from pipeline.steps.cycles import verdicts
from pipeline.steps.kinematics import leg_check, witnesses
from pipeline.variables.stance_verdicts import (
    BETWEEN_WORDS,
    DOUBTED,
    NOT_ON_A_PLATE,
    REFUSED,
    USED,
    Verdict,
    accepted,
    as_text,
    doubt_columns,
    in_general,
    is_accepted,
    reason_columns,
    rejection_in_general,
    verdict_of,
    verdicts_in,
)
from pipeline.variables.verdict_table import ACCEPTED, BY_HAND, DOUBTS, REFUSES, REJECTS, VERDICTS, Row
from pipeline.workflow.settings import schema

OWN = {  # codes that the product does not have
    "hot": Row(DOUBTS, "the plate is at {celsius:.0f} degrees", "it is hot"),
    "wet": Row(DOUBTS, "the plate is wet", "it rains"),
}


@pytest.fixture(autouse=True)
def codes(monkeypatch: pytest.MonkeyPatch) -> None:
    for code, row in OWN.items():
        monkeypatch.setitem(VERDICTS, code, row)


def columns_of(*doubts: Verdict) -> tuple[str, ...]:
    return tuple(str(column[0]) for column in doubt_columns([doubts]).values())


def test_doubts_are_stored_once_with_words_codes_and_values_in_one_order() -> None:
    hot, wet, hotter = Verdict.of("hot", celsius=41.2), Verdict.of("wet"), Verdict.of("hot", celsius=50)
    words, codes, values = columns_of(wet, hot, wet, hotter)
    assert (words, codes) == ("the plate is wet; the plate is at 41 degrees; the plate is at 50 degrees", "wet hot")
    assert verdicts_in(values) == (wet, hot, hotter)
    assert columns_of() == ("", "", "")
    assert columns_of(hot, Verdict.of("hot", celsius=41.3))[2] == as_text([hot]), "the same words"


def test_a_reason_is_stored_as_code_values_and_words() -> None:
    drifts = Verdict.of("plate_drifts", newtons=31.25, unused="value")
    columns = {name: column.tolist() for name, column in reason_columns([drifts, None]).items()}
    assert columns == {
        "reason": ["the plate's baseline drifts by 31 N", ""],
        "reason_code": ["plate_drifts", ""],
        "reason_values": ['[{"code": "plate_drifts", "values": {"newtons": 31.25}}]', ""],
    }


def test_a_value_that_is_not_known_is_null_in_a_file() -> None:
    unknown = Verdict.of("direction_doubted", momentum_along=math.nan, momentum_aside=-1.0)
    assert "null" in as_text([unknown])
    (read,) = verdicts_in(as_text([unknown]))
    assert read.words == unknown.words


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


def test_a_verdict_without_a_value_of_its_sentence_cannot_be_made() -> None:
    with pytest.raises(KeyError, match="celsius"):
        Verdict.of("hot")


@pytest.mark.parametrize("code", VERDICTS)
def test_each_row_says_when_and_names_settings_and_constants_that_exist(code: str) -> None:
    row = VERDICTS[code]
    assert code.isidentifier()
    assert row.limit
    numbers = {name for _, name, _, _ in Formatter().parse(row.limit) if name}
    assert numbers <= {name.rpartition(".")[2] for name in row.source}, "they are those of constants and settings"
    assert BETWEEN_WORDS not in row.sentence or row.severity == REFUSES, "doubts are listed between semicolons"
    assert row.severity == REFUSES or not row.judged, "only refusals can be overruled"
    assert row.severity != REJECTS or not row.values, "the words of a trial are those of its problem"
    properties = schema("settings")["properties"]
    for name in row.source:
        section, _, last = name.rpartition(".")
        if section in every_step():
            assert last in properties[section]["properties"], name
        else:
            assert hasattr(importlib.import_module(f"pipeline.{section}"), last), name


def test_each_verdict_on_stances_is_of_a_judge_or_of_the_step_itself() -> None:
    """A code that no row declares is one that nobody gives any more, or that the list of judges hides."""
    judges = (
        *(contact_checks.PLATE_JUDGES, contact_checks.CONTACT_JUDGES, verdicts.STANCE_JUDGES, verdicts.STANCE_DOUBTS),
        *(leg_check.LEG_JUDGES, witnesses.WITNESSES),
    )
    declared = {code for rows in judges for row in rows for code in row.codes}
    of_steps = {"no_plate", "no_plate_left", "no_gait_event", "plate_signal_missing", "no_stance", BY_HAND}
    of_steps |= {"markers_noisy", *OWN}
    assert declared | of_steps == {code for code, row in VERDICTS.items() if row.severity != REJECTS}
    assert not declared & of_steps


def test_a_contact_accepted_by_hand_is_used_and_marked_with_why_it_was_refused() -> None:
    heavy = Verdict.of("momentum_disagrees", percent=81, mass=70)
    words, codes, values = columns_of(*accepted("seen; sure", [heavy]))
    assert codes == f"{ACCEPTED} momentum_disagrees"
    assert [one.code for one in verdicts_in(values)] == codes.split()
    assert words.startswith("accepted by hand: seen, sure; the plate shows 81 % of the force")
    assert is_accepted(codes)
    assert verdict_of("", "1", codes) == USED


def test_general_words_keep_the_values_that_all_of_a_kind_share() -> None:
    """A plate that is wrong in a whole session is one kind, with its number."""
    of_plates = [
        Verdict.of("plate_forces_wrong", number=n, how=how, cause="C") for n, how in ((2, "A"), (2, "B"), (3, "A"))
    ]
    heavy, light = (Verdict.of("momentum_disagrees", percent=percent, mass=70) for percent in (81, 66))
    words = in_general([*of_plates, heavy, light])
    template = "plate {} measures forces that no step has: its force {}, C"
    assert words[:3] == [template.format(2, "A …"), template.format(2, "A …"), template.format(3, "A")]
    assert words[3] == words[4]
    assert words[3].startswith("the plate shows … % of the force that carries 70.0 kg")


@pytest.mark.parametrize("code", ["own", "recording_unusable", "plate_drifts"])
def test_rejections_are_called_by_what_is_wrong_wherever_it_is(code: str) -> None:
    """Whether the table has the code, and whether its sentence has values of its own."""

    def stored(*problems: tuple[str, str]) -> str:
        return as_text(Verdict(code, {"where": where, "what": what, "remedy": "mend it"}) for where, what in problems)

    assert verdicts_in(stored(("one.trc", "no {brace}")))[0].words == str(Problem("one.trc", "no {brace}", "mend it"))
    places = [rejection_in_general(stored((place, "no {brace}"))) for place in ("one.trc", "two.trc")]
    assert places == ["no {brace}; mend it"] * 2
    assert rejection_in_general(stored(("a", "two people"))) == "two people; mend it"
    assert rejection_in_general(stored(("a", "cut off"), ("b", "no heel"))) == "cut off; mend it; no heel; mend it"


@pytest.mark.parametrize("code", VERDICTS)
def test_values_that_differ_are_dots(code: str) -> None:
    row = VERDICTS[code]
    one, other = (
        Verdict(code, {name: 2 if name == "number" else float(value) for name in row.values}) for value in (1, 20)
    )
    dots = 0 if row.general else len({*row.values} - {"number"})
    assert [words.count("…") for words in in_general([one, other])] == [dots, dots]


@pytest.mark.parametrize("leg", ["left", "right", "both"])
def test_a_doubt_concerns_the_leg_that_its_values_name(leg: str) -> None:
    """Not the one that is in the marker's name, which a lab may choose; and not less after it was stored."""
    doubt = Verdict.of("marker_moved", marker="hip_plate_left_2", mm=20.0, direction="behind", leg=leg)
    for each in (doubt, *verdicts_in(as_text([doubt]))):
        assert [side for side in ("left", "right") if each.concerns(side)] == (
            ["left", "right"] if leg == "both" else [leg]
        )


def test_a_stored_doubt_that_names_no_leg_concerns_both() -> None:
    doubt = Verdict("marker_moved", {"marker": "toe_left", "mm": 20.0, "direction": "behind"})
    assert doubt.concerns("left")
    assert doubt.concerns("right")


def test_a_doubt_about_an_angle_concerns_its_leg_and_one_about_all_markers_both() -> None:
    angle = Verdict.of("angles_unlike_file", what="right knee rotation", degrees=4.0, leg="right")
    noise = Verdict.of("markers_noisy", mm=2.0, error=0.2)
    assert [(angle.concerns(side), noise.concerns(side)) for side in ("left", "right")] == [(False, True), (True, True)]
