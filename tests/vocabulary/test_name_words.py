"""Names of folders are taken apart into roles, conditions, visits, dates and what may be a person's."""

from __future__ import annotations

import pytest

from pipeline.vocabulary.name_words import has_six_digit_dates, is_person_code, place_of_visit, read_name


@pytest.mark.parametrize(
    "name",
    [
        *("Static", "cal", "Walk", "Gehen", "Dynamic", "trials", "1_static", "Straight", "turn", "barfuß", "AFO"),
        *("pre", "nachher", "Séance_2", "T1", "visit 2", "New Session 3", "nach der OP", "2. Messung", "2nd visit"),
        *("2024-05-12", "20240512", "12.05.2024", "12052024", "12 Mai 2024", "6 months", "raw", "controls", "C3D"),
    ],
)
def test_roles_conditions_visits_and_dates_leave_nothing_of_a_person(name: str) -> None:
    assert not read_name(name).person


@pytest.mark.parametrize(
    ("name", "person", "visit", "date"),
    [
        ("P1_pre", "P1", "pre", ""),
        ("P1 12.05.2024", "P1", "", "2024-05-12"),
        ("Anna Müller 6 months", "Anna Muller", "6-months", ""),
        ("sub-01_ses-20240512", "sub-01", "ses", "2024-05-12"),
        ("01_pre", "01", "pre", ""),
        ("05-12-2024", "", "", ""),  # day and month may be exchanged
        ("25-12-2024", "", "", "2024-12-25"),
        ("12-25-2024", "", "", "2024-12-25"),
        ("31.02.2024", "31.02.2024", "", ""),
        ("Martin 2019", "Martin 2019", "", ""),
        ("April 2019", "", "", ""),
        ("HC032A", "HC032A", "", ""),
        ("日本", "日本", "", ""),
    ],
)
def test_what_a_name_says(name: str, person: str, visit: str, date: str) -> None:
    assert read_name(name)[:3] == (person, visit, date)


def test_six_digits_are_dates_if_all_can_be() -> None:
    assert has_six_digit_dates(["120524", "P1 150624"])
    assert not has_six_digit_dates(["120524"])
    assert not has_six_digit_dates(["120524", "993124"])
    assert not read_name("120524", six_digits=True).person


def test_codes_with_a_word_for_a_person() -> None:
    assert all(map(is_person_code, ("sub-01", "Patient 3", "P1", "S01", "Subject0001")))
    assert not any(map(is_person_code, ("S1", "M1", "HC032A", "Anna 1", "Patient", "P1 pre")))


@pytest.mark.parametrize(
    "visits",
    [
        ("pre", "post"), ("pre", "T1", "post"), ("Vorher", "Nachher"), ("baseline", "follow-up"),
        ("prae-op", "post-op"),
        ("praoperativ", "postoperativ"), ("avant", "apres"), ("prima", "dopo"), ("antes", "despues"),
    ],
)  # fmt: skip
def test_visits_without_dates_are_in_the_order_of_their_words(visits: tuple[str, ...]) -> None:
    places = [place_of_visit(visit) for visit in visits]
    assert places == sorted(places)
    assert places[0] < places[-1]


@pytest.mark.parametrize("name", ["prae OP", "prä OP", "präoperativ", "postoperativ", "Erstuntersuchung", "pre-op"])
def test_words_around_an_operation_are_visits(name: str) -> None:
    parts = read_name(name)
    assert parts.visit
    assert not parts.person
