"""``gaitlab init`` guesses people, sessions, roles, conditions and trials from names and motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline.commands.init.people import people_and_sessions
from pipeline.commands.shared import trial_roles
from pipeline.commands.shared.trial_roles import identifier
from pipeline.steps.read.recording_contents import Contents
from pipeline.tables.tsv import IDENTIFIER
from tests.support.studies.contents import moving, standing


@pytest.mark.parametrize(
    ("names", "people", "sessions"),
    [
        (["a.c3d", "b.c3d"], ["sub-01"] * 2, ["sub-01"] * 2),
        (["P1/a.c3d", "P2/a.c3d"], ["P1", "P2"], ["P1", "P2"]),
        (["raw/P1/a.c3d", "raw/P2/a.c3d"], ["P1", "P2"], ["P1", "P2"]),
        (["P1/day1/a.c3d", "P1/day2/a.c3d"], ["P1"] * 2, ["P1_day1", "P1_day2"]),
        (["2024-05-01/a.c3d", "2024-06-01/a.c3d"], ["sub-01"] * 2, ["sub-01_2024-05-01", "sub-01_2024-06-01"]),
        (["session1/P1/a.c3d", "session2/P1/a.c3d"], ["P1"] * 2, ["P1_session1", "P1_session2"]),
        (["controls/P1/a.c3d", "patients/P9/a.c3d"], ["P1", "P9"], ["P1", "P9"]),
        (["p1/a.c3d", "P1/a.c3d"], ["p1", "P1_2"], ["p1", "P1_2"]),
        (["lab/Patient 1/New Session/a.c3d"], ["Patient-1"], ["Patient-1"]),
        (["P1 2024-05-01/a.c3d", "P1 2024-06-01/a.c3d"], ["P1"] * 2, ["P1_2024-05-01", "P1_2024-06-01"]),
        (["young/sub-01/a.c3d", "old/sub-01/a.c3d"], ["young_sub-01", "old_sub-01"], ["young_sub-01", "old_sub-01"]),
        (["S01_walk_1.c3d", "S02_walk_1.c3d", "S02_cal.c3d"], ["S01", "S02", "S02"], ["S01", "S02", "S02"]),
        (["walk01_a.c3d", "walk02_b.c3d"], ["sub-01"] * 2, ["sub-01"] * 2),
    ],
)
def test_people_and_sessions_from_folders(names: list[str], people: list[str], sessions: list[str]) -> None:
    found = people_and_sessions([standing(name) for name in names])
    assert [owner.person for owner in found] == people
    assert [owner.session for owner in found] == sessions
    assert not any(owner.asked or owner.hidden for owner in found)


@pytest.mark.parametrize(
    "files",
    [
        [standing("a.c3d"), standing("P1/a.c3d")],  # one of the person's, or of another's?
        [*(recorded(f"{name}/{name[0]}.c3d") for name in ("Zabc", "Qdef") for recorded in (standing, moving))],
        [
            recorded(f"P1/{visit}/a.c3d", owner=name)
            for visit, name in (("pre", "A1"), ("post", "B2"))
            for recorded in (standing, moving)
        ],
        [
            recorded(f"{visit}/a.c3d", owner=name)
            for visit, name in (("pre", "Ann"), ("post", "Bea"))
            for recorded in (standing, moving)
        ],
        [recorded(f"{group}/a.c3d") for group in ("controls", "patients") for recorded in (standing, moving)],
        [moving("a.c3d", owner="A22"), moving("b.c3d", owner="B7"), moving("c.c3d")],
        [recorded(f"{letter}{n}/a.c3d") for letter in "M" for n in (1, 2) for recorded in (standing, moving)],
    ],
)
def test_what_names_and_files_do_not_tell_is_asked(files: list[Contents]) -> None:
    assert any(owner.asked for owner in people_and_sessions(files))


@pytest.mark.parametrize(
    "names",
    [
        ["S01/cal.c3d", "S01/fast_1.c3d", "S01/fast_2.c3d", "S01/fats_3.c3d"],  # a slip of fast
        ["S01/cal.c3d", "S01/BF_123456_01.c3d", "S01/SH_123457_01.c3d"],  # no condition has such a number
    ],
)
def test_a_condition_that_may_be_a_slip_is_asked(names: list[str]) -> None:
    files = [(standing if "cal" in name else moving)(name) for name in names]
    assert any(owner.condition == "n/a" for owner in people_and_sessions(files))


def test_people_whose_codes_differ_in_a_blank_alone_are_asked() -> None:
    files = [recorded(f"{name}/a.c3d") for name in ("P07", "P 07", "P08") for recorded in (standing, moving)]
    asked = {owner.person for owner in people_and_sessions(files) if owner.asked}
    assert asked == {"P07", "P-07"}


def test_sizes_and_subjects_tell_visits_from_people() -> None:
    def folders(**content: Any) -> list[Contents]:
        return [
            recorded(f"{name}/a.c3d", **content.get(name, {}))
            for name in ("Zabc", "Qdef")
            for recorded in (standing, moving)
        ]

    one, other = ({"processing": {"Bodymass": mass_kg, "Height": 1500.0}} for mass_kg in (41.0, 52.0))
    for files, people, asked in (
        (folders(Zabc=one, Qdef=one), 1, True),  # the same sizes: visits, or conditions?
        (folders(Zabc=one, Qdef=other), 2, True),
        (folders(Zabc={"owner": "A1"}, Qdef={"owner": "A1"}), 1, True),
        (folders(Zabc=one | {"owner": "Ann"}, Qdef=other | {"owner": "Bea"}), 2, False),
        (folders(Zabc=one | {"owner": "Ann"}, Qdef=one | {"owner": "Bea"}), 2, True),  # which of both is a template's?
    ):
        owners = people_and_sessions(files)
        assert (len({owner.person for owner in owners}), any(owner.asked for owner in owners)) == (people, asked)
        assert len({owner.session for owner in owners}) == 2


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        *(("Anna", False), ("Anna Müller", False), ("Müller, Änne", False), ("Grüße 1", False), ("IST", False)),
        *(("Anna 2", False), ("HC032A", True), ("S4-AM", True), ("Patient 7", True), ("sample28", True)),
    ],
)
def test_only_codes_are_shown(name: str, shown: bool) -> None:
    files = [recorded(f"{folder}/a.c3d", owner=folder) for folder in (name, "X77") for recorded in (standing, moving)]
    owner, other = people_and_sessions(files)[0], people_and_sessions(files)[-1]
    assert owner.person == (identifier(name, "") if shown else "sub-01")
    assert (owner.hidden, other.person) == (not shown, "X77")


@pytest.mark.parametrize(
    ("subjects", "people"),
    [
        (["A22", "A22", ""], ["A22"] * 3),  # a blank one goes with the only one
        (["Ann Bee", "Cy Dee", "Ann Bee"], ["sub-01", "sub-02", "sub-01"]),  # distinguished, not named
        (["Ann Bee", "", ""], ["sub-01"] * 3),
    ],
)
def test_people_from_the_subjects_in_files(subjects: list[str], people: list[str]) -> None:
    files = [moving(f"{number}.c3d", owner=name) for number, name in enumerate(subjects)]
    assert [owner.person for owner in people_and_sessions(files)] == people


@pytest.mark.parametrize(
    ("folder", "people"),
    [
        ("", ["A22", "B07", "A22", "B07"]),  # a static of each, then both in two files
        ("Session 1/", ["A22", "B07", "A22", "B07"]),
        ("pair1/", ["pair1_A22", "pair1_B07", "pair1_A22", "pair1_B07"]),
    ],
)
def test_people_in_one_file_are_named_by_their_subjects(folder: str, people: list[str]) -> None:
    files = [standing(f"{folder}S1_a.c3d", owner="A22"), standing(f"{folder}S1_b.c3d", owner="B07")]
    files += [moving(f"{folder}S2_walk.c3d", owner=name, subjects=["A22", "B07"]) for name in ("A22", "B07")]
    assert [owner.person for owner in people_and_sessions(files)] == people


def test_a_person_in_a_shared_file_may_have_another_folder() -> None:
    own = [standing(f"{name}/static.c3d", owner=name) for name in ("A22", "B07")]
    both = [moving("A22/duo.c3d", owner=name, subjects=["A22", "B07"]) for name in ("A22", "B07")]
    assert [owner.person for owner in people_and_sessions(own + both)] == ["A22", "B07", "A22", "B07"]


def test_folders_with_one_static_in_all_are_one_session() -> None:
    files = [standing("P1/static/a.c3d"), moving("P1/walking/b.c3d"), moving("P2/walking/c.c3d")]
    assert [owner.session for owner in people_and_sessions(files)] == ["P1", "P1", "P2"]


@pytest.mark.parametrize(
    ("names", "sessions"),
    [
        (["Cal_pre", "Walk_pre_1", "Cal_post", "Walk_post_1"], ["sub-01_pre"] * 2 + ["sub-01_post"] * 2),
        (["Cal_shod", "Walk_shod_1", "Cal_bare", "Walk_bare_1"], ["sub-01_shod"] * 2 + ["sub-01_bare"] * 2),
        (["Cal_shod", "Walk_fast_1", "Cal_bare", "Walk_bare_1"], ["sub-01"] * 4),  # of which static?
    ],
)
def test_statics_in_one_folder_make_sessions_if_names_pair_them(names: list[str], sessions: list[str]) -> None:
    files = [(standing if name.startswith("Cal") else moving)(f"{name}.c3d") for name in names]
    owners = people_and_sessions(files)
    assert [owner.session for owner in owners] == sessions
    visits = {"pre": ["pre", "pre", "post", "post"]}.get(names[0][4:], ["1" if len({*sessions}) > 1 else ""] * 4)
    assert [owner.visit for owner in owners] == visits  # conditions are of one visit


def test_words_that_only_walks_have_are_conditions() -> None:
    files = [standing("A_cal.c3d"), *map(moving, ("A_flat_1.c3d", "A_flat_2.c3d", "A_odd.c3d", "A_Trial2.c3d"))]
    assert [owner.condition for owner in people_and_sessions(files)] == ["", "flat", "flat", "odd", ""]


def test_folders_of_one_session_are_conditions() -> None:
    files = [standing("P1/Static/P1-01.c3d"), moving("P1/Straight/P1-02.c3d"), moving("P1/Turn/P1-03.c3d")]
    owners = people_and_sessions([*files, moving("P2/day1/P2Gait04.c3d")])
    assert [(owner.person, owner.session, owner.visit, owner.condition) for owner in owners] == [
        ("P1", "P1", "", ""),
        ("P1", "P1", "", "Straight"),
        ("P1", "P1", "", "Turn"),
        ("P2", "P2", "day1", ""),
    ]


@pytest.mark.parametrize(
    ("file", "role", "condition"),
    [
        (standing("walk_01.c3d"), "static", "static"),  # motion is better evidence than names
        (moving("Static.c3d"), "static", "static"),
        (replace(standing("walk_01.c3d"), frame_count=5), "gait", "walk"),  # nobody moves far in five frames
        (moving("Gehen_02.c3d"), "gait", "walk"),
        (moving("Statik.c3d"), "static", "static"),
        (moving("marcha lenta.c3d"), "gait", "lenta"),
        (moving("walk_01.c3d"), "gait", "walk"),
        (moving("HC002D06.c3d"), "gait", "walk"),
        (moving("slow walk 12.c3d"), "gait", "slow"),
        (moving("FunctionalLHip.c3d"), "functional", "hip_left"),
        (moving("right_knee_func.c3d"), "functional", "knee_right"),
        (moving("FunctionalWalk.c3d"), "gait", "walk"),
        (moving("hip_replacement_walk_3.c3d"), "gait", "walk"),  # a word used once may mean anything
        (moving("walk_fast_01.c3d"), "gait", "fast"),
        (moving("Barefoot 1.c3d"), "gait", "Barefoot"),
        (moving("LHJC.c3d"), "functional", "hip_left"),
        (standing("Stat.c3d"), "static", "static"),
        (standing("MVC_quadriceps_left.c3d"), "emg_reference", "contraction"),
    ],
)
def test_roles_by_motion_then_by_name(file: Contents, role: str, condition: str) -> None:
    (owner,) = people_and_sessions([file])
    assert trial_roles.guess_role(file, "any", owner.parts.roles, labelled=False) == role
    assert trial_roles.condition_of(file, role, owner.condition) == condition


def test_what_is_no_walk_by_its_name_is_left_out() -> None:
    names = ("Squat 1", "CMJ", "Sit to stand", "Zero plates", "Gait squat")
    files = [moving(f"{name}.c3d") for name in names]
    roles = [
        trial_roles.guess_role(file, "any", owner.parts.roles, labelled=False)
        for file, owner in zip(files, people_and_sessions(files), strict=True)
    ]
    assert roles == ["exclude"] * 4 + ["gait"]


@pytest.mark.parametrize("text", ["a b", "ß", "-x-", "../../x", "日本", "a\tb", "x" * 300, "$(rm)", "", "1", "Ünï"])
def test_trial_names_are_valid_and_unique(text: str) -> None:
    names = trial_roles.identifiers({1: text, 2: "a-b", 3: "A-B"}, "trial").values()
    assert all(IDENTIFIER.fullmatch(name) for name in names)
    assert len({name.lower() for name in names}) == 3


def test_a_birthday_beside_a_name_is_no_date_of_a_visit() -> None:
    names = ["Mueller_1980-02-01/walk1.c3d", "Mueller_1980-02-01/static.c3d", "Meier_1975-05-09/static.c3d"]
    assert {owner.date for owner in people_and_sessions([standing(name) for name in names])} == {""}
