"""Study folders of laboratories: ``init`` understands them or asks, and says nothing wrong in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from pipeline.commands.init.command import initialise
from tests.commands.init.layouts.judge import KINDS, WRONG, judge, tables_in
from tests.commands.init.layouts.layout import lab_layouts
from tests.commands.init.layouts.write import write

LAYOUTS = {layout.name: layout for layout in lab_layouts()}
WRONG_YET = frozenset(
    {
        "nexus_hospital_number",
        "qtm_project",
        "motonms_input_data",
        "german_straight_and_curve",
        "lab_name_before_everything",
        "shoes_in_folders_same_file_names",
        "one_prefix_for_all_and_surface_folders",
        "dutch_single_and_dual_task",
        "pre_barefoot_post_shoes",
        "german_role_folders_initials",
        "role_folders_with_visits",
        "knees_of_one_register",
        "two_people_told_by_size_only",
        "healthy_group_flat",
        "code_and_capitals",
        "coded_speeds_of_a_public_set",
        "speeds_after_codes",
        "gait_among_other_tasks",
        "german_surname_and_first_name",
        "dutch_name_folder_and_dates",
        "spanish_names_in_a_nexus_tree",
        "name_and_birthday",
        "polish_name_with_visit_and_condition",
        "nexus_defaults",
        "bids_motion_shod",
        "bids_tasks_are_conditions",
        "theia_one_folder_per_trial",
        "trc_with_forces",
        "german_operation_and_follow_ups",
        "weeks_in_folders",
        "numbered_visits_above_nine",
        "swedish_before_after",
        "post_dated_before_pre",
        "dutch_before_after",
        "letter_v_for_visit",
        "baseline_and_follow_ups",
        "german_date_first",
        "date_of_unknown_order",
        "months_after_hip_replacement",
        "norwegian_before_after",
        "polish_before_after",
        "turkish_before_after",
        "french_conditions_and_visits",
        "spanish_before_after",
        "italian_with_and_without_orthosis",
        "weeks_without_zeros",
        "retest_days_run_on",
        "camel_case",
        "visit_last",
    }
)


def named(name: str) -> ParameterSet:
    return pytest.param(name, marks=pytest.mark.xfail(strict=True) if name in WRONG_YET else ())


@pytest.mark.parametrize("name", [named(name) for name in LAYOUTS])
def test_init_understands_or_asks(tmp_path: Path, name: str) -> None:
    """By the command, with recordings in the folder."""
    layout = LAYOUTS[name]
    initialise(write(layout, tmp_path / "study"))
    verdicts = judge(layout, tables_in(tmp_path / "study"))
    assert [kind for kind in KINDS if verdicts[kind] == WRONG] == []
