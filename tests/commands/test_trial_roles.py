"""``gaitlab init`` guesses people, sessions, roles, conditions and trials from names and motion."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.commands.init.people import people_and_sessions
from pipeline.commands.shared import trial_roles
from pipeline.steps.read.recording_contents import Contents
from pipeline.tables.tsv import IDENTIFIER
from tests.support.studies.contents import moving, standing


@pytest.mark.parametrize(
    ("names", "people", "sessions"),
    [
        (["a.c3d", "b.c3d"], ["sub-01"] * 2, ["sub-01"] * 2),
        (["P1/a.c3d", "P2/a.c3d"], ["P1", "P2"], ["P1", "P2"]),
        (["raw/P1/a.c3d", "raw/P2/a.c3d"], ["P1", "P2"], ["P1", "P2"]),
        (["session1/P1/a.c3d", "session2/P1/a.c3d"], ["P1"] * 2, ["P1"] * 2),
        (["P1/day1/a.c3d", "P1/day2/a.c3d"], ["P1"] * 2, ["P1_day1", "P1_day2"]),
        (["2024-05-01/a.c3d", "2024-06-01/a.c3d"], ["sub-01"] * 2, ["sub-01_2024-05-01", "sub-01_2024-06-01"]),
        (["controls/P1/a.c3d", "patients/P9/a.c3d"], ["P1", "P9"], ["P1", "P9"]),
        (["p1/a.c3d", "P1/a.c3d"], ["p1", "P1_2"], ["p1", "P1_2"]),
        (["a.c3d", "P1/a.c3d"], ["unsorted", "P1"], ["unsorted", "P1"]),
        (["lab/Patient 1/New Session/a.c3d"], ["Patient-1"], ["Patient-1"]),
        (["Clinic/Ann B/Session 1/a.c3d", "Clinic/Cy D/Session 1/a.c3d"], ["Ann-B", "Cy-D"], ["Ann-B", "Cy-D"]),
        (["young/sub-01/a.c3d", "old/sub-01/a.c3d"], ["young_sub-01", "old_sub-01"], ["young_sub-01", "old_sub-01"]),
        (["S01_walk_1.c3d", "S02_walk_1.c3d", "S02_cal.c3d"], ["S01", "S02", "S02"], ["S01", "S02", "S02"]),
        (["walk01_a.c3d", "walk02_b.c3d"], ["sub-01"] * 2, ["sub-01"] * 2),
    ],
)
def test_people_and_sessions_from_folders(names: list[str], people: list[str], sessions: list[str]) -> None:
    found = people_and_sessions([standing(name) for name in names])
    assert [person for person, _ in found] == people
    assert [session for _, session in found] == sessions


@pytest.mark.parametrize(
    ("subjects", "people"),
    [
        (["A22", "A22", ""], ["A22"] * 3),  # a blank one goes with the only one
        (["A22", "B7", ""], ["A22", "B7", "unsorted"]),
        (["Ann Bee", "Cy Dee", "Ann Bee"], ["sub-01", "sub-02", "sub-01"]),  # distinguished, not named
        (["Ann Bee", "", ""], ["sub-01"] * 3),
    ],
)
def test_people_from_the_subjects_in_files(subjects: list[str], people: list[str]) -> None:
    files = [moving(f"{number}.c3d", owner=name) for number, name in enumerate(subjects)]
    assert [person for person, _ in people_and_sessions(files)] == people


@pytest.mark.parametrize(
    ("folder", "people"),
    [
        ("", ["A22", "B07", "A22", "B07"]),  # a static of each, then both in two files
        ("Session 1/", ["A22", "B07", "A22", "B07"]),
        ("pair1/", ["pair1_A22", "pair1_B07", "pair1_A22", "pair1_B07"]),
    ],
)
def test_people_in_one_file_are_named_by_their_subjects(folder: str, people: list[str]) -> None:
    files = [
        standing(f"{folder}S1_a.c3d", owner="A22"),
        standing(f"{folder}S1_b.c3d", owner="B07"),
    ]
    files += [moving(f"{folder}S2_walk.c3d", owner=name, subjects=["A22", "B07"]) for name in ("A22", "B07")]
    assert [person for person, _ in people_and_sessions(files)] == people


def test_a_person_in_a_shared_file_may_have_another_folder() -> None:
    own = [standing(f"{name}/static.c3d", owner=name) for name in ("A22", "B07")]
    both = [moving("A22/duo.c3d", owner=name, subjects=["A22", "B07"]) for name in ("A22", "B07")]
    assert [person for person, _ in people_and_sessions(own + both)] == ["A22", "B07", "A22", "B07"]


def test_folders_with_one_static_in_all_are_one_session() -> None:
    files = [standing("P1/static/a.c3d"), moving("P1/walking/b.c3d"), moving("P2/walking/c.c3d")]
    assert [session for _, session in people_and_sessions(files)] == ["P1", "P1", "P2"]


def test_statics_in_one_folder_make_sessions_if_names_pair_them() -> None:
    files = [standing("Cal_pre.c3d"), moving("Walk_pre_1.c3d"), standing("Cal_post.c3d"), moving("Walk_post_1.c3d")]
    roles = {file.name: "static" if file.stands else "gait" for file in files}
    groups = trial_roles.by_static(files, roles)
    assert groups == {"pre": files[:2], "post": files[2:]}
    files[1] = moving("Walk_fast_1.c3d")  # of which static?
    assert trial_roles.by_static(files, roles | {"Walk_fast_1.c3d": "gait"}) == {"": files}


def test_walks_that_share_a_name_share_a_condition() -> None:
    files = {name: moving(name) for name in ("A_flat_1.c3d", "A_flat_2.c3d", "A_odd.c3d", "Trial1.c3d", "Trial2.c3d")}
    found = trial_roles.conditions(files, dict.fromkeys(files, "gait"), dict.fromkeys(files, ("A", "A")))
    assert list(found.values()) == ["flat", "flat", "walk", "walk", "walk"]


def test_folders_of_one_session_are_conditions() -> None:
    names = ("P1/Static/P1-01.c3d", "P1/Straight/P1-02.c3d", "P1/Turn/P1-03.c3d", "P2/day1/P2Gait04.c3d")
    files = {name: moving(name) for name in names}
    owners = dict(zip(names, (*[("P1", "P1")] * 3, ("P2", "P2_day1")), strict=True))
    roles = dict.fromkeys(names, "gait") | {names[0]: "static"}
    assert list(trial_roles.conditions(files, roles, owners).values()) == ["static", "Straight", "Turn", "walk"]


@pytest.mark.parametrize(
    ("file", "role", "condition"),
    [
        (standing("walk_01.c3d"), "static", "static"),  # motion is better evidence than names
        (moving("Static.c3d"), "static", "static"),
        (replace(standing("walk_01.c3d"), frame_count=5), "gait", "walk"),  # nobody moves far in five frames
        (moving("Gehen_02.c3d"), "gait", "walk"),
        (moving("Statik.c3d"), "static", "static"),
        (moving("marcha lenta.c3d"), "gait", "walk"),
        (moving("walk_01.c3d"), "gait", "walk"),
        (moving("HC002D06.c3d"), "gait", "walk"),
        (moving("slow walk 12.c3d"), "gait", "slow-walk"),
        (moving("FunctionalLHip.c3d"), "functional", "hip_left"),
        (moving("right_knee_func.c3d"), "functional", "knee_right"),
        (moving("FunctionalWalk.c3d"), "gait", "walk"),
        (moving("hip_replacement_walk_3.c3d"), "gait", "walk"),  # a word used once may mean anything
        (moving("walk_fast_01.c3d"), "gait", "walk_fast"),
        (moving("Barefoot 1.c3d"), "gait", "Barefoot"),
        (moving("LHJC.c3d"), "functional", "hip_left"),
        (standing("Stat.c3d"), "static", "static"),
        (standing("MVC_quadriceps_left.c3d"), "emg_reference", "contraction"),
    ],
)
def test_roles_by_motion_then_by_name(file: Contents, role: str, condition: str) -> None:
    assert trial_roles.guess_role(file, "any", labelled=False) == role
    owners = {file.name: ("sub-01", "sub-01")}
    assert trial_roles.conditions({file.name: file}, {file.name: role}, owners) == {file.name: condition}


@pytest.mark.parametrize("text", ["a b", "ß", "-x-", "../../x", "日本", "a\tb", "x" * 300, "$(rm)", "", "1", "Ünï"])
def test_trial_names_are_valid_and_unique(text: str) -> None:
    names = trial_roles.trial_names([moving(f"{text}/{text}.c3d"), moving("a-b.c3d"), moving("A-B.c3d")])
    assert all(IDENTIFIER.fullmatch(name) for name in names)
    assert len({name.lower() for name in names}) == 3
