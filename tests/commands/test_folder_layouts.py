"""Folder layouts of laboratories: ``init`` finds the people and their visits, or asks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.commands.init.people import people_and_sessions
from tests.campaigns.folder_layouts import ASKED, PEOPLE, RIGHT, judge, tried
from tests.support.studies.folder_layouts import KNOWN, UNKNOWN, layouts


@pytest.mark.parametrize(("words", "least_right"), [(KNOWN, 0.7), (UNKNOWN, 0.4)])
def test_nobody_is_wrong_in_any_layout(words: str, least_right: float) -> None:
    """Nor is any visit; words that the program does not know are asked for more often."""
    count = 200
    ends = tried(count, words, seed=1)
    assert ends[RIGHT] + ends[ASKED] == count, ends
    assert ends[RIGHT] > least_right * count


def test_the_judge_sees_wrong_people() -> None:
    """One person for all files, as a program that never asks would say."""
    found = []
    for one in layouts(20, words=KNOWN, seed=1):
        owners = [replace(owner, person="sub-01", asked=False) for owner in people_and_sessions(one.files)]
        found.append((judge(one, owners) == PEOPLE, len({person for person, *_ in one.truth}) > 1))
    assert all(wrong == several for wrong, several in found)
    assert sum(wrong for wrong, _ in found) > 5
