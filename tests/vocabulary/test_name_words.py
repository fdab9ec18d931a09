"""Names of folders and files are taken apart into words of roles, conditions, visits and dates, and a rest."""

from __future__ import annotations

import pytest

from pipeline.vocabulary.name_words import (
    Dates,
    dates_of,
    is_person_code,
    is_slip,
    places_of_visits,
    read_words,
)


def said(name: str, dates: Dates | None = None) -> dict[str, str]:
    """Return the words of a name by kind, joined by blanks; unknown ones are of the empty kind."""
    found: dict[str, str] = {}
    for word in read_words(name, dates or Dates()):
        found[word.kind] = f"{found[word.kind]} {word.text}" if word.kind in found else word.text
    return found


@pytest.mark.parametrize(
    "name",
    [
        *("Static", "cal", "Walk", "Gehen", "Dynamic", "trials", "Straight", "turn", "barfuß", "AFO", "piedsnus"),
        *("pre", "nachher", "Séance_2", "T1", "visit 2", "New Session 3", "nach der OP", "2. Messung", "2nd visit"),
        *("2024-05-12", "20240512", "12.05.2024", "12052024", "12 Mai 2024", "6 months", "raw", "controls", "C3D"),
        *("dubbeltaak", "przed", "önce", "術前", "静止立位", "follow-up", "wk12", "vor OP"),
    ],
)
def test_roles_conditions_visits_and_dates_leave_nothing_unknown(name: str) -> None:
    assert "" not in said(name)


@pytest.mark.parametrize(
    ("name", "unknown", "visit"),
    [
        ("P1_pre", "P1", "pre"),
        ("Anna Müller 6 months", "Anna Muller", "6 months"),
        ("ACL07PreWalk1", "ACL07", "Pre"),
        ("r02d1static", "r02", "d1"),
        ("7058081_wk6_02", None, "wk6"),
        ("HC032D06", "HC032D06", None),
        ("08V1Walk", None, "V1"),
        ("PO12", "PO12", None),
        ("日本", "日本", None),
        ("Patient 3", "Patient 3", None),
        ("6M", "6M", None),
        ("New Patient", "New", None),
        ("Session A", None, "Session A"),
        ("badanie II", None, "badanie II"),
        ("HipJCW4", None, "W4"),
        ("SessionB", None, "SessionB"),
        ("Standaufnahme", None, None),
        ("P03 6sem", "P03", "6sem"),
        ("sem ortese", None, None),
        ("1a valutazione", None, "1 valutazione"),
        ("12a session", "12a", "session"),
        ("01E test", "01E", "test"),
        ("1a_visita2", "1a", "visita2"),
        ("VKO01", "VKO01", None),
        ("6vko", None, "6vko"),
        ("KK01", "KK01", None),
    ],
)
def test_what_a_name_says(name: str, unknown: str | None, visit: str | None) -> None:
    found = said(name)
    assert (found.get("", None), found.get("visit")) == (unknown, visit)


def test_numbers_belong_to_their_words() -> None:
    (walk, run) = read_words("walk01")
    assert (walk.kind, run.kind, run.number) == ("walk", "run", "01")
    (week,) = read_words("12wk")
    assert week.number == "84"  # days


@pytest.mark.parametrize(
    ("names", "days"),
    [
        (["P1 12.05.2024", "P1 25.06.2024"], ("2024-05-12",)),
        (["05-12-2024", "05-25-2024"], ("2024-05-12",)),
        (["05-12-2024"], ("2024-12-05", "2024-05-12")),  # day and month may be exchanged
        (["2024-05-12"], ("2024-05-12",)),
        (["12 Mai 2024"], ("2024-05-12",)),
        (["April 2019"], ()),
        (["23-04-17", "23-09-28", "23-05-30"], ("2023-04-17",)),  # nothing was recorded in 2028
        (["17-04-23", "28-09-23", "30-05-23"], ("2023-04-17",)),
        (["23-04-17", "19-03-12"], ("2017-04-23", "2023-04-17")),
        (["210304", "190828", "200115"], ()),
        (["12.05.24"], ("2024-05-12", "2024-12-05")),
        (["12-05-24"], ("2024-05-12", "2024-12-05", "2012-05-24")),
        (["2023-02-14 10.03.22 AM"], ("2023-02-14",)),  # and the time of day
    ],
)
def test_a_day_above_12_tells_the_form_of_all_dates(names: list[str], days: tuple[str, ...]) -> None:
    (date,) = [word for word in read_words(names[0], dates_of(names)) if word.kind == "date"]
    assert sorted(date.days) == sorted(days)


def test_what_no_calendar_has_is_no_date() -> None:
    texts = ("31.02.2024", "12.05.2077", "12 Mai 2061", "Martin 2019")
    assert not any(word.kind == "date" for name in texts for word in read_words(name))
    numbers = ["23031997", "30209884"]  # of a hospital
    assert not any(word.kind == "date" for word in read_words(numbers[0], dates_of(numbers)))


@pytest.mark.parametrize(
    ("names", "are_dates"),
    [
        (["120524", "P1 150624"], True),
        (["120524"], False),
        (["120524", "993124"], False),
        (["H220391", "H220417"], False),  # nothing was recorded in 2091
    ],
)
def test_six_digits_are_dates_if_all_can_be(names: list[str], *, are_dates: bool) -> None:
    assert dates_of(names).six_digits == are_dates
    assert "date" in said("120524", Dates(six_digits=True))


def test_codes_with_a_word_for_a_person() -> None:
    assert all(map(is_person_code, ("sub-01", "Patient 3", "P1", "S01", "Subject0001")))
    assert not any(map(is_person_code, ("S1", "M1", "HC032A", "Anna 1", "Patient", "P1 pre")))


@pytest.mark.parametrize(
    "visits",
    [
        ("pre", "post"), ("Vorher", "Nachher"), ("baseline", "follow-up"), ("prae-op", "post-op"), ("avant", "apres"),
        ("praoperativ", "postoperativ"), ("prima", "dopo"), ("antes", "despues"), ("voor", "na"), ("før", "etter"),
        ("przed", "po"), ("önce", "sonra"), ("術前", "術後"), ("wk2", "wk6", "wk12"), ("Visit 2", "Visit 10"),
        ("New Session", "New Session 1"), ("BL", "FU1", "FU2"), ("admission", "discharge", "follow-up"),
        ("vor OP", "6 Wochen post OP", "6 Monate post OP", "1 Jahr post OP"), ("2021-05-17", "24.01.2022"),
        ("first visit", "second visit"), ("Session A", "Session B"), ("T0", "T1"), ("test", "retest"),
        ("entrada", "salida"), ("preop", "3mo", "12mo"), ("preBTX", "6wk"), ("Visita II", "Visita IV"),
    ],
)  # fmt: skip
def test_the_order_of_visits(visits: tuple[str, ...]) -> None:
    words = {visit: read_words(visit) for visit in reversed(visits)}
    named = {"-".join(word.plain for word in found): found for found in words.values()}
    places, sound = places_of_visits(named)
    assert sound
    assert sorted(named, key=places.__getitem__) == [*reversed(named)]


@pytest.mark.parametrize(
    ("visits", "sound"),
    [
        (("Nantes", "Rennes"), True),
        (("05-03-2021", "04-06-2021"), True),  # the order of day and month decides
        (("2023-01-19 pre", "2022-02-03 post"), False),
        (("prima", "Visita 3", "dopo 6 mesi"), True),  # days and counts have no common order
        (("pre", "pre-op"), True),
        (("05-03-21", "04-06-21"), True),
    ],
)
def test_an_order_that_is_not_known(visits: tuple[str, ...], sound: bool) -> None:
    assert places_of_visits({visit: read_words(visit) for visit in visits}) == ({}, sound)


@pytest.mark.parametrize(
    ("names", "name", "visit"),
    [
        (["PP07T9Gang1", "PP07T10Gang1"], "PP07T10Gang1", "T10"),
        (["HC032D06", "HC032D07"], "HC032D06", None),  # a code
        (["Badany-chod-przed01", "Badany-chod-po01"], "Badany-chod-po01", "po"),
        (["PO12_pre_walk1", "PO12_post_walk1"], "PO12_pre_walk1", "pre"),
        (["EKR_Gang_praeOP1"], "EKR_Gang_praeOP1", "prae OP"),
        (["preopfunctional_hip1"], "preopfunctional_hip1", "preop"),
        (["PREQX", "POSTQX"], "PREQX", "PREQX"),
        (["PREQX"], "PREQX", None),
        (["badanie I", "badanie II"], "badanie I", "badanie I"),
        (["Test I", "Test V", "Test M"], "Test V", "Test"),
    ],
)
def test_what_other_names_of_the_study_tell(names: list[str], name: str, visit: str | None) -> None:
    assert said(name, dates_of(names)).get("visit") == visit


@pytest.mark.parametrize("visits", [("ingreso", "alta", "3 meses"), ("BL", "6wk", "discharge")])
def test_days_and_a_discharge_have_no_known_order(visits: tuple[str, ...]) -> None:
    assert places_of_visits({visit: read_words(visit) for visit in visits}) == ({}, True)


@pytest.mark.parametrize(
    ("one", "other", "slip"),
    [
        *(("fats", "fast", True), ("barefot", "barefoot", True), ("HBC", "HCB", True), ("minemal", "minimal", True)),
        *(("shoe", "shoes", False), ("heelA", "heelB", False), ("up5", "up6", False), ("slow", "Slow", False)),
    ],
)
def test_a_slip_is_a_letter_within_or_two_exchanged(one: str, other: str, *, slip: bool) -> None:
    assert is_slip(one, other) == is_slip(other, one) == slip


def test_numbers_of_a_hospital_beside_dates_in_digits_are_no_dates() -> None:
    names = ["61500975-24042023-Walk", "64250565-05072023-Walk"]
    days = [word.days for word in read_words(names[0], dates_of(names)) if word.kind == "date"]
    assert days == [("2023-04-24",)]
    assert said("S07-19260507")["number"].endswith("19260507")  # a birthday
