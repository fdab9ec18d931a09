"""A preview computes what changes and no more; test_drafts.py compares it with a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.extras.viewer.preview import Previews
from pipeline.workflow.open_study import open_study


@pytest.fixture
def study(small_study: Path) -> Path:
    return small_study / "data" / "demo"


def test_without_a_change_nothing_is_computed(study: Path) -> None:
    opened = open_study(study)
    assert Previews().preview(opened, "sub-01") == {}


def test_what_is_in_memory_is_not_computed_again(study: Path) -> None:
    """A preview with a further row computes what this row changes, from the results of the one before."""
    previews, computed = Previews(), []
    first = open_study(study, overrides={"clean": {"marker_cutoff_hz": 9}})
    both = open_study(study, overrides={"clean": {"marker_cutoff_hz": 9}, "cycles": {"hands_bear_weight": True}})
    before = previews.preview(first, "sub-01", before_each_step=lambda: computed.append("first"))
    after = previews.preview(both, "sub-01", before_each_step=lambda: computed.append("further"))
    assert computed == ["first"] * 5 + ["further"]
    assert {step for step in after if after[step] is not before[step]} == {"cycles"}
    assert Previews().preview(both, "sub-01")["cycles"].identical(after["cycles"])
    again = previews.preview(first, "sub-01")
    assert all(again[step] is data for step, data in before.items())
    assert len(computed) == 6


def test_one_that_is_no_longer_wanted_is_given_up(study: Path) -> None:
    previews, steps = Previews(), iter([False, True])

    def give_up() -> None:
        if next(steps):
            raise TimeoutError

    with pytest.raises(TimeoutError):
        previews.preview(
            open_study(study, overrides={"clean": {"marker_cutoff_hz": 8}}), "sub-01", before_each_step=give_up
        )
    assert len([data for data in previews.known.values() if "fill" in data]) == 1  # clean alone was computed
