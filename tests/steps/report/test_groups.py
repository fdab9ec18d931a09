"""Groups in the overview: never averaged together, and their differences with intervals."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

from tests.support.studies import for_report
from tests.support.studies.for_report import CONDITION_GAIN, Made, Page, curve_of, made, mean_flexion, trial_cycles

OF = {"c1": -1.0, "c2": 0.0, "c3": 1.0, "c4": 0.5, "p1": 9.0, "p2": 10.0, "p3": 12.0}  # shifts of the curves
GROUPS = {name: "control" if name[0] == "c" else "patient" for name in OF}


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Made:
    for i, (name, shift) in enumerate(OF.items()):
        monkeypatch.setitem(for_report.SHIFT, name, shift)
        monkeypatch.setitem(for_report.REPEATS, name, 2 * (1 + i % 3))
    walks = {"walk_1": "slow", "walk_2": "fast"}
    trials = {
        name: {walk: trial_cycles(name, condition, ["left", "right"]) for walk, condition in walks.items()}
        for name in OF
    }
    own = {name: {"group": group} for name, group in GROUPS.items()}
    return made(trials, walks, own)._replace(groups=GROUPS)


@pytest.mark.parametrize("at_a_time", [1, 100])
def test_each_group_has_its_own_curves_and_counts(study: Made, at_a_time: int) -> None:
    html = study.pages(at_a_time=at_a_time, only="report.html")["report.html"]
    (figures,) = Page(html).figures()
    for group in ("control", "patient"):
        shifts = np.array([OF[name] for name in OF if GROUPS[name] == group])
        for condition in CONDITION_GAIN:
            curve = curve_of(figures, "Knee flexion", "left", f"{group}, {condition}")
            expected = mean_flexion("knee", "left", condition) + shifts.mean()
            np.testing.assert_allclose(curve["mean"], expected, rtol=0, atol=5.1e-4 * np.abs(expected).max())
            np.testing.assert_allclose(curve["sd"], shifts.std(ddof=1), rtol=5.1e-4)
            assert curve["n"] == len(shifts)
    assert len({curve["dash"] for curve in figures[0]["curves"]}) == 4
    words = Page(html).words
    assert "control (4), patient (3)" in " ".join(words.split())
    assert re.search(r"Stride time\W+s\s+1\.12 \(0\.85\)", words)  # mean of the four controls, not of the seven


def test_the_difference_of_groups_has_the_interval_of_welch(study: Made) -> None:
    """The metrics are 1 + shift, for both sides and conditions, so that conditions do not differ."""
    words = " ".join(Page(study.overview()).words.partition("Differences between groups")[2].split())
    of = [[1 + OF[name] for name in OF if GROUPS[name] == group] for group in ("patient", "control")]
    ends = stats.ttest_ind(*of, equal_var=False).confidence_interval(0.95)
    difference = np.mean(of[0]) - np.mean(of[1])
    assert "patient minus control (n 3 and 4)" in words
    assert words.count(f"{difference:.2f} ({ends.low:.2f} to {ends.high:.2f})") > 20
    assert "fast minus slow (n 4)" in words
    assert "0.00 (0.00 to 0.00)" in words
    assert "not adjusted" in words


def test_people_without_a_group_are_drawn_apart_and_not_compared(study: Made) -> None:
    groups = {**GROUPS, "c1": "no group"}
    html = study._replace(groups=groups).overview()
    (figures,) = Page(html).figures()
    assert curve_of(figures, "Knee flexion", "left", "no group, slow")["n"] == 1
    assert "minus no group" not in html
    assert "patient minus control" in html


def test_a_study_without_groups_has_paired_differences_of_conditions_only(study: Made) -> None:
    html = study._replace(groups={}).overview()
    assert "Differences between conditions" in html
    assert "patient minus control" not in html
    assert {curve["n"] for figure in Page(html).figures()[0] for curve in figure["curves"]} == {7}
