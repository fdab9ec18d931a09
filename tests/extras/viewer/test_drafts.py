"""Corrections that are tried in the viewer give what a run gives, and are saved beside those of others."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.extras.viewer.answers import PLAIN, Answers, ReplacedError
from pipeline.extras.viewer.drafts import (
    as_saved,
    changed_metrics,
    changes,
    completed,
    refuse_unfit,
    save,
    take_back,
    with_drafts,
)
from pipeline.extras.viewer.preview import Previews
from pipeline.extras.viewer.shown_trial import Session, ShownTrial, shown_trial
from pipeline.results import netcdf
from pipeline.tables.corrections import KINDS, append_corrections, read_corrections
from pipeline.tables.tsv import Row
from pipeline.trials.session import one_trial
from pipeline.workflow.open_study import open_study
from tests.support.step_names import SESSION_STEPS
from tests.support.studies.small_study import run_steps

TRIAL = {"session": "sub-01", "trial": "comfortable_01", "reason": "seen in the video", "by": "AB"}


@pytest.fixture
def study(small_study: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_study / "data" / "demo", tmp_path / "study"))


def results(study: Path) -> Session:
    return {step: netcdf.load(study / "derived" / "sub-01" / f"{step}.nc") for step in SESSION_STEPS}


class Trying:
    """Corrections of a study that a person tries."""

    def __init__(self, path: Path) -> None:
        self.study, self.rows, self.previews = open_study(path), list[Row](), Previews()

    def add(self, **cells: str) -> None:
        row = completed(self.study, cells)
        with_drafts(self.study, as_saved(self.study), [*self.rows, row])
        self.rows.append(row)

    def preview(self, session: str) -> Session:
        corrected = with_drafts(self.study, as_saved(self.study), self.rows)
        shown = self.previews.preview(corrected, session)
        refuse_unfit(shown, self.rows)
        return shown


@cache
def finished_trial(study: Path) -> ShownTrial:
    """Return the trial as the study was copied, whatever has run since it was first asked for."""
    return shown_trial(results(study), TRIAL["trial"])


def correction(study: Path, kind: str) -> dict[str, str]:
    """Return a correction of a kind that fits the trial."""
    trial = finished_trial(study)
    strikes = [one for one in trial.events if one.name == "foot_strike"]
    used = next(one for one in trial.contacts if one.verdict == "used")
    at = {
        "move_foot_strike": (strikes[1].side, strikes[1].time, f"{strikes[1].time + 0.02:.3f}", ""),
        "remove_foot_strike": (strikes[2].side, strikes[2].time, "", ""),
        "refuse_contact": (used.side, used.start, "", ""),
        "leave_out_cycle": (used.side, used.start, "", ""),
        "hide_marker": ("", trial.time[20], f"{trial.time[24]:.3f}", trial.marker[3]),
        "exchange_labels": ("", trial.time[0], f"{trial.time[-1]:.3f}", ", ".join(trial.marker[2:4])),
    }
    side, seconds, to, given = at[kind]
    return {**TRIAL, "kind": kind, "side": side, "time_s": f"{seconds:.3f}", "to_s": to, "given": given}


@pytest.mark.parametrize(
    ("steps", "kinds"),
    [
        (["contacts", "kinetics", "cycles"], ["refuse_contact", "remove_foot_strike", "move_foot_strike"]),
        (["cycles"], ["leave_out_cycle"]),
        (["clean", "contacts", "kinematics", "kinetics", "cycles"], ["hide_marker", "exchange_labels"]),
    ],
)
def test_every_bit_of_a_preview_is_that_of_the_run_after_it(study: Path, steps: list[str], kinds: list[str]) -> None:
    """Each kind changes the cycles; corrections that begin with one step are run together."""
    drafts, before = Trying(study), results(study)
    cycles = before["cycles"]
    for row in [correction(study, kind) for kind in kinds]:
        drafts.add(**row)
        shown = drafts.preview("sub-01")
        assert {*shown} == {*steps}
        assert not shown["cycles"].identical(cycles)
        cycles = shown["cycles"]
    save(drafts.study, drafts.rows, as_saved(drafts.study).sha256)
    run_steps(study, tables=False)
    after = results(study)
    for step, data in shown.items():
        assert after[step].identical(data), step
    for step in before.keys() - shown.keys():
        assert after[step].identical(before[step]), step


def test_what_changes_is_in_words(study: Path) -> None:
    drafts, before = Trying(study), results(study)
    row = correction(study, "refuse_contact")
    drafts.add(**row)
    after = {**before, **drafts.preview("sub-01")}
    trials = [shown_trial(data, TRIAL["trial"]) for data in (before, after)]
    (line,) = changes(*trials)
    assert line == (
        f"{row['side']} stance at {float(row['time_s']):.2f} s: used, then refused (refused by hand: seen in the video)"
    )
    assert [*changes(trials[0], trials[0])] == []
    metrics = changed_metrics(before["cycles"], after["cycles"], TRIAL["trial"])
    assert {side for _, side, *_ in metrics} == {row["side"]}
    name, side, old, new = metrics[0]
    for cycles, mean in ((before["cycles"], old), (after["cycles"], new)):
        cycle = one_trial(cycles, TRIAL["trial"])
        values = cycle.metric_value.values[cycle.side.values == side, cycle.metric.values.tolist().index(name)]
        known = values[np.isfinite(values)]
        assert mean == pytest.approx(known.mean() if known.size else np.nan, nan_ok=True)


def test_the_first_cycles_of_a_session_are_a_change(study: Path) -> None:
    after = results(study)["cycles"]
    before = after.isel(cycle=slice(0, 0))
    metrics = changed_metrics(before, after, TRIAL["trial"])
    assert metrics
    assert all(np.isnan(old) and np.isfinite(new) for *_, old, new in metrics)
    one = after.isel(cycle=slice(0, 1))
    assert changed_metrics(one, one, TRIAL["trial"]) == []


def test_a_wrong_correction_is_refused_at_once(study: Path) -> None:
    drafts = Trying(study)
    for cells, what in (
        ({"reason": ""}, "reason is missing"),
        ({"side": "middle"}, "side is 'middle'"),
        ({"kind": "move_it"}, "kind is 'move_it'"),
        ({"time_s": "soon"}, "time_s"),
    ):
        with pytest.raises(UserError, match=what):
            drafts.add(**correction(study, "refuse_contact") | cells)
    assert drafts.rows == []
    drafts.add(**correction(study, "refuse_contact"))
    with pytest.raises(UserError, match="contradicts"):
        drafts.add(**correction(study, "refuse_contact") | {"kind": "accept_contact"})


def test_a_correction_that_fits_nothing_says_so(study: Path) -> None:
    drafts = Trying(study)
    drafts.add(**correction(study, "remove_foot_strike") | {"time_s": "1.05"})
    with pytest.raises(UserError, match=r"there is no \w+ foot strike"):
        drafts.preview("sub-01")
    drafts.rows.clear()
    assert drafts.preview("sub-01") == {}


def test_rows_that_others_have_saved_meanwhile_stay(study: Path) -> None:
    mine, path = Trying(study), study / "corrections.tsv"
    mine.add(**correction(study, "leave_out_cycle"))
    seen = as_saved(mine.study).sha256
    theirs = {**correction(study, "move_foot_strike"), "by": "CD", "date": "2026-01-01"}
    append_corrections(path, [theirs])
    with pytest.raises(UserError, match="has been changed since it was read"):
        save(mine.study, mine.rows, seen)
    assert [row["by"] for row in read_corrections(path)] == ["CD"]
    save(mine.study, mine.rows, as_saved(mine.study).sha256)
    assert [row["by"] for row in read_corrections(path)] == ["CD", "AB"]


def test_a_row_that_contradicts_a_saved_one_is_not_saved(study: Path) -> None:
    mine = Trying(study)
    mine.add(**correction(study, "refuse_contact"))
    save(mine.study, mine.rows, as_saved(mine.study).sha256)
    with pytest.raises(UserError, match=r"^\w+ contact at [\d.]+ s refused: contradicts '\w+ contact .*AB"):
        save(mine.study, mine.rows, as_saved(mine.study).sha256)
    assert len(read_corrections(study / "corrections.tsv")) == 1


def test_a_row_that_is_taken_back_is_gone_and_others_stay(study: Path) -> None:
    opened, path = open_study(study), study / "corrections.tsv"
    rows = [completed(opened, correction(study, kind)) for kind in ("leave_out_cycle", "move_foot_strike")]
    append_corrections(path, [rows[1]])
    alone = path.read_bytes()
    append_corrections(path, [rows[0]])
    take_back(opened, rows[0])
    assert path.read_bytes() == alone
    with pytest.raises(UserError, match="no longer there"):
        take_back(opened, rows[0])
    assert path.read_bytes() == alone


def test_every_kind_has_plain_words(study: Path) -> None:
    assert {*PLAIN} == {*KINDS}
    assert not [words for words in PLAIN.values() if "_" in words]


def ask(answers: Answers, drafts: list[dict[str, str]], number: int = 1) -> dict[str, Any]:
    asked = {"window": "w", "number": number, "session": "sub-01", "trial": TRIAL["trial"], "drafts": drafts}
    return answers.trial_shown(asked)


def test_the_effect_is_that_of_the_last_row(study: Path) -> None:
    """A second row of another kind shows its own changes, not those of the first."""
    answers = Answers(open_study(study))
    move, refuse = (correction(study, kind) for kind in ("move_foot_strike", "refuse_contact"))
    assert ask(answers, [])["effect"] is None
    first, both = ask(answers, [move])["effect"], ask(answers, [move, refuse])["effect"]
    assert any(line.endswith(": new") for line in first["changes"])
    assert not any(line.endswith(": new") for line in both["changes"])
    assert any("refused by hand" in line for line in both["changes"])


def test_what_is_saved_is_shown_before_a_run_and_goes_when_taken_back(study: Path) -> None:
    answers, row = Answers(open_study(study)), correction(study, "move_foot_strike")
    before = ask(answers, [])
    shown = ask(answers, [row])
    answers.saved({"drafts": [row], "seen": shown["seen"]})
    after = ask(answers, [])
    assert after["trial"] == shown["trial"]
    (saved,) = after["saved"]
    assert (saved["row"]["time_s"], saved["why"]) == (row["time_s"], "")
    answers.taken_back({"row": saved["row"]})
    again = ask(answers, [])
    assert (again["trial"], again["saved"]) == (before["trial"], [])
    run_steps(study, tables=False)
    assert ask(answers, [])["trial"] == before["trial"]


def test_a_saved_row_that_does_not_fit_says_why(study: Path) -> None:
    row = {**correction(study, "remove_foot_strike"), "time_s": "1.05"}
    append_corrections(study / "corrections.tsv", [completed(open_study(study), row)])
    (saved,) = ask(Answers(open_study(study)), [])["saved"]
    assert "there is no" in saved["why"]


def test_a_replaced_request_is_not_computed(study: Path) -> None:
    answers = Answers(open_study(study))
    ask(answers, [], number=5)
    with pytest.raises(ReplacedError):
        ask(answers, [correction(study, "refuse_contact")], number=4)
    assert answers.previews.known == {}
    with pytest.raises(ReplacedError):
        answers.session_shown({"window": "w", "number": 3, "session": "sub-01"})
    ask(answers, [], number=6)


def test_results_of_other_recordings_are_refused(study: Path) -> None:
    drafts = Trying(study)
    (study / "derived" / "checksums" / "sub-01" / "read.nc.sha256").unlink()
    with pytest.raises(UserError, match="run the study first"):
        drafts.preview("sub-01")
