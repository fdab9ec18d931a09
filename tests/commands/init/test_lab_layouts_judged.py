"""Study folders of laboratories: ``init`` understands them or asks, and says nothing wrong in silence."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pipeline.commands.init.command import initialise
from tests.campaigns.layouts import scored
from tests.commands.init.layouts.generated import generated
from tests.commands.init.layouts.judge import ASKED, KINDS, RIGHT, WRONG, Tables, judge, tables_in, tables_of, worst
from tests.commands.init.layouts.layout import Layout, lab_layouts
from tests.commands.init.layouts.write import write
from tests.support.checkout import FULL

LAYOUTS = {layout.name: layout for layout in lab_layouts()}
# what the command sees of recordings is alike in most: these state people or sizes, have other formats, copies or
# movements; and a twentieth
WRITTEN = [
    name
    for number, (name, layout) in enumerate(LAYOUTS.items())
    if FULL
    or number % 20 == 0
    or any(
        one.copy_of
        or one.subject
        or one.mass_kg
        or one.height_m
        or one.role not in ("static", "walk")
        or not path.lower().endswith(".c3d")
        for path, one in layout.recordings.items()
    )
]
MOST_WRONG, LEAST_RIGHT = 0.01, 0.8  # shares of generated layouts
NO_QUESTION = (  # names tell all, and the only visit of a person keeps its date and word
    "law_baseline_trials",
    "law_codes_like_amounts",
    "law_crossover_stated",
    "law_pairs_below_one_code",
    "law_role_of_the_folder",
    "law_with_above_speed_word",
    *("nexus_german_hospital_number", "qtm_danish", "bts_italian", "french_bilans_dated", "cadences", "afo_sides"),
    *("single_dual_abbreviated", "groups", "thesis_of_two_groups", "prosthetic_feet_days", "knee_brace_folders"),
    *("year_then_initials", "german_deep_mzp", "portuguese_assessments", "test_retest", "english_retest_same_day"),
    *("numbered_through", "italian_speed_with_year_visits", "stranger_nexus_german_real_names"),
    *("stranger_nexus_french_toxin", "stranger_sessions_a_b_crossover", "stranger_older_adults_tug"),
    "stranger_fatigue_one_static",
    *("backup_folder_of_one_person", "bad_trials_moved_away", "polish_roman_examinations"),
    "swedish_with_and_without_shoes",
    *("two_amputees_of_a_study", "knees_with_gaps", "strokes_with_gaps", "record_numbers"),
    *("months_after_surgery", "three_months_after_surgery", "months_with_unit_behind"),
    *("carbon_and_steel_behind_the_number", "people_by_code_with_barefoot_and_shod"),
    "centre_above_codes_that_files_state",
)
QUESTION = (
    "gait_analysis_numbers_of_the_lab",  # a folder that is read as another one
    "microprocessor_knee_weeks",  # a device beside a visit
    "mvc_rom_zero_among_walks",  # V08 and V09 may be visits or people
    "old_folder_superseded",
    "fatigue_minutes_in_name",
    "spanish_names_in_capitals",  # descalzo and descalza
    "stranger8_practice_and_failed_trials",  # a word behind the number of a trial
    "stranger3_qualisys_swedish_short_dates",  # day or year first
)


@cache
def verdicts_of(name: str) -> dict[str, str]:
    """Return how what ``init`` says of a layout compares with the truth."""
    return judge(LAYOUTS[name], tables_of(LAYOUTS[name]))


@pytest.mark.parametrize("name", LAYOUTS)
def test_init_understands_or_asks(name: str) -> None:
    """By names and by what the files state; the command with recordings gives the same tables, see below."""
    verdicts = verdicts_of(name)
    assert [kind for kind in KINDS if verdicts[kind] == WRONG] == []


@pytest.mark.usefixtures("parsed_here")
@pytest.mark.parametrize("name", WRITTEN)
def test_the_command_says_of_recordings_what_the_judge_says_of_their_names(tmp_path: Path, name: str) -> None:
    layout = LAYOUTS[name]
    summary = initialise(write(layout, tmp_path / "study"))
    tables = tables_in(tmp_path / "study")
    assert ("Which visit came first?" in " ".join(summary.split())) == any(
        row.get("visit_number") == "n/a" for row in tables.sessions
    )
    assert verdicts_of(name) == judge(layout, tables)


@pytest.mark.parametrize("name", NO_QUESTION)
def test_init_asks_nothing_where_names_tell_all(name: str) -> None:
    assert {*verdicts_of(name).values()} == {RIGHT}


@pytest.mark.parametrize("name", QUESTION)
def test_init_asks_where_names_may_say_two_things(name: str) -> None:
    assert worst(verdicts_of(name).values()) == ASKED


def test_generated_layouts_are_understood_or_asked_about() -> None:
    ends, _ = scored(generated(300, seed=7))
    assert ends["whole"][WRONG] <= MOST_WRONG * 300, ends
    assert ends["whole"][RIGHT] >= LEAST_RIGHT * 300, ends


def changed(tables: Tables, **cells: str) -> Tables:
    return tables._replace(trials=[row | cells for row in tables.trials])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ({"participant_id": "sub-01"}, "person"),
        ({"visit": "pre", "date": ""}, "visit"),
        ({"date": "2020-01-01"}, "date"),
        ({"role": "gait"}, "role"),
        ({"condition": "walk"}, "condition"),
        ({"trial": "Zbigniew1"}, "private"),
    ],
)
def test_the_judge_sees_what_is_wrong(cells: dict[str, str], kind: str) -> None:
    """One person, one visit, ... for all files, as a program that never asks would say."""
    wrong = {
        layout.name: judge(layout, changed(tables_of(layout), **cells))[kind]
        for layout in (LAYOUTS["polish_name_with_visit_and_condition"], LAYOUTS["letter_v_for_visit"])
    }
    assert WRONG in wrong.values()


def test_the_judge_sees_a_wrong_order_and_one_that_is_asked() -> None:
    layout = LAYOUTS["polish_name_with_visit_and_condition"]
    tables = tables_of(layout)
    assert judge(layout, tables)["order"] == RIGHT
    numbers = {"1": "2", "2": "1"}
    swapped = [row | {"visit_number": numbers[row["visit_number"]]} for row in tables.sessions]
    assert judge(layout, tables._replace(sessions=swapped))["order"] == WRONG
    blank = [row | {"visit_number": "n/a"} for row in tables.sessions]
    assert judge(layout, tables._replace(sessions=blank))["order"] == ASKED


def test_the_judge_sees_a_copy_that_counts_twice() -> None:
    layout = LAYOUTS["code_and_capitals"]
    assert judge(layout, tables_of(layout))["copy"] == RIGHT
    different: Layout = replace(
        layout, recordings={path: replace(one, copy_of="") for path, one in layout.recordings.items()}
    )
    assert judge(layout, tables_of(different))["copy"] == WRONG
