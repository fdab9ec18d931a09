"""The viewer on recordings of laboratories: it opens, plays, corrects, and its preview is what a run gives."""

from __future__ import annotations

import csv
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.commands.init.command import initialise
from pipeline.extras.viewer.answers import Answers
from pipeline.extras.viewer.server import LocalServer
from pipeline.results import netcdf
from pipeline.workflow.open_study import open_study
from tests.extras.viewer.test_page import READY, choose, enter, say_why, seconds_shown, text_of
from tests.support.processes.browser import Tab, browsing, found_chromium
from tests.support.studies.small_study import run_steps

LABS = {  # folder in ../shared, files to leave out
    "children": ("labs/children/HC036A", ("Turn",)),
    "treadmill": ("studies/exact", ("sub-02", "*.tsv", "*.yaml", "walk_0[23]*")),
    "opencap_trc": ("labs/opencap_trc", ()),
}


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    chromium = found_chromium()
    if not chromium:
        pytest.skip("no chromium is installed")
    with browsing(chromium, tmp_path_factory.mktemp("profile")) as tab:
        tab.size(1280, 800)
        yield tab


@pytest.mark.parametrize("lab", LABS)
def test_a_laboratory(lab: str, shared: Path, tmp_path: Path, tab: Tab) -> None:
    source, left_out = LABS[lab]
    study = Path(shutil.copytree(shared / source, tmp_path / lab, ignore=shutil.ignore_patterns(*left_out)))
    for path in study.rglob("*"):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    initialise(study)
    run_steps(study, tables=False)
    answers = Answers(open_study(study))
    session, trial, stance = used_stance(answers)
    server = LocalServer(8790, answers)
    try:
        tab.renew()
        enter(tab, server)
        tab.until(READY.split(" && ")[0])
        choose_and_wait(tab, "#session", session)
        choose_and_wait(tab, "#trial", trial)
        tab.until(READY)
        first = seconds_shown(tab)
        tab.press(" ")
        tab.until(lambda: seconds_shown(tab) != first)
        tab.press(" ")
        say_why(tab)
        choose(tab, "#what", "refuse_contact")
        tab.evaluate(f"document.getElementById('time_s').value = '{stance['start']:.3f}'")
        choose(tab, "select.side", stance["side"])
        tab.drag("#try", (0, 0))
        tab.until("document.querySelectorAll('#drafts button').length === 1")
        assert "refused by hand: seen in the video" in text_of(tab, "effect")
        tab.drag("#save", (0, 0))
        tab.until("document.querySelectorAll('#saved button').length === 1")
        tab.until(READY)
        shown = answers.previews.preview(open_study(study), session)
    finally:
        server.stop()
    run_steps(study)
    assert {*shown} >= {"contacts", "cycles"}
    for step, data in shown.items():
        assert netcdf.load(study / "derived" / session / f"{step}.nc").identical(data), step
    assert verdicts_shown(answers) == verdicts_stored(study)


def verdicts_shown(answers: Answers) -> list[tuple[str, ...]]:
    """Return session, trial, side, start (s), verdict and why of every stance that the page shows."""
    asked: dict[str, Any] = {"window": "all", "number": 1, "drafts": []}
    trials = [
        (session, trial["name"])
        for session in answers.study.sessions
        for trial in answers.session_shown({**asked, "session": session})["trials"]
    ]
    return sorted(
        (session, trial, one["side"], f"{one['start']:.3f}", one["verdict"], one["why"])
        for session, trial in trials
        for one in answers.trial_shown({**asked, "session": session, "trial": trial})["trial"]["contacts"]
    )


def verdicts_stored(study: Path) -> list[tuple[str, ...]]:
    """Return the same of quality.csv."""
    with (study / "derived" / "quality.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["side"]]
    keys = ("session", "trial", "side")
    return sorted(
        (*(row[key] for key in keys), f"{float(row['start_s']):.3f}", row["verdict"], row["reason"] or row["doubt"])
        for row in rows
    )


def choose_and_wait(tab: Tab, selector: str, value: str) -> None:
    choose(tab, selector, value)
    tab.until(READY.split(" && ")[0])


def used_stance(answers: Answers) -> tuple[str, str, dict[str, Any]]:
    """Return the first used stance of the study, with its session and trial."""
    for session in answers.study.sessions:
        asked: dict[str, Any] = {"window": "test", "number": 1, "session": session, "drafts": []}
        for trial in answers.session_shown(asked)["trials"]:
            for one in answers.trial_shown({**asked, "trial": trial["name"]})["trial"]["contacts"]:
                if one["verdict"] == "used":
                    return session, trial["name"], one
    raise AssertionError("no stance is used")
