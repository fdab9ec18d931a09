"""Long tables of the overview in a real browser: searched, chosen from, sorted and leafed through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.steps.report.curves.cycles import MOST_SINGLE, Chosen
from pipeline.steps.report.tables import MOST_ROWS
from tests.support.processes.browser import Tab
from tests.support.studies.for_report import Page, made, trial_cycles, written

PEOPLE = "[...document.querySelector('.listing').querySelectorAll('tbody th')].map((cell) => cell.textContent)"
FOUND = "document.querySelector('.listing output').textContent"
REFUSED = "two feet on plate 1"


@pytest.fixture(scope="module")
def overview(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the overview of 60 people; of the last ten the contacts are refused."""
    trials = {
        f"p{i:02d}": {
            "walk": trial_cycles("sub-01", "slow", ["left", "right"], valid=i < 50, reason=REFUSED * (i >= 50))
        }
        for i in range(60)
    }
    pages = {"report.html": made(trials, {"walk": "slow"}).overview()}
    return written(pages, tmp_path_factory.mktemp("pages")) / "report.html"


def test_without_scripts_a_long_table_shows_its_first_rows_and_names_the_file_of_all(overview: Path) -> None:
    words = Page(overview.read_text(encoding="utf-8")).words
    assert f"The first {MOST_ROWS} of 60; all are in participants.csv and quality.csv." in words
    assert " p49 " in words
    assert " p50 " not in words


def test_a_participant_is_found_by_name_state_and_reason(tab: Tab, overview: Path) -> None:
    tab.console.clear()
    tab.size(1200, 900)
    tab.open(overview)
    tab.until(f"{FOUND} === '1 to {MOST_ROWS} of 60'")
    tab.evaluate("document.querySelector('[data-go=\"1\"]').click()")
    assert tab.evaluate(FOUND) == "51 to 60 of 60"
    search = "document.querySelector('.listing input')"
    tab.evaluate(f"{search}.value = 'P07'; {search}.dispatchEvent(new Event('input'))")
    assert tab.evaluate(PEOPLE) == ["p07"]
    assert tab.evaluate("document.querySelector('.listing tbody a').getAttribute('href')") == "report/p07.html"
    tab.evaluate(f"{search}.value = ''; {search}.dispatchEvent(new Event('input'))")
    reasons = "document.querySelector('.listing select:not([data-column])')"
    names = tab.evaluate(f"[...{reasons}.options].map((option) => option.text)")
    assert names == ["any or nothing", "two feet on the plate (10)"]
    tab.evaluate(f"{reasons}.selectedIndex = 1; {reasons}.dispatchEvent(new Event('change'))")
    assert tab.evaluate(PEOPLE) == [f"p{i}" for i in range(50, 60)]
    tab.evaluate("document.querySelector('.listing thead button').click()")
    tab.evaluate("document.querySelector('.listing thead button').click()")
    assert tab.evaluate(PEOPLE)[0] == "p59"
    state = "document.querySelector('.listing [data-column]')"
    assert tab.evaluate(f"[...{state}.options].map((option) => option.text)") == ["all", "bad (10)", "look (50)"]
    assert tab.console == []


def test_curves_are_chosen_evenly_from_any_number() -> None:
    """All up to twice as many as are drawn; then every second, fourth, ... that is known."""
    chosen, curve = Chosen(), np.zeros(101)
    for i in range(1000):
        chosen.add(f"p{i:04d}", curve)
        chosen.add("unknown", np.full(101, np.nan))
    labels = [int(label[1:]) for label, _ in chosen.curves]
    assert MOST_SINGLE <= len(labels) <= 2 * MOST_SINGLE
    assert set(np.diff(labels)) == {chosen.every}
    assert len(chosen.single()["labels"]) == MOST_SINGLE
