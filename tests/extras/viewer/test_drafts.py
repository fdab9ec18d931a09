"""Corrections that are tried in the viewer give what a run gives, and are saved beside those of others."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.extras.viewer.drafts import Drafts, changed_metrics, changes
from pipeline.extras.viewer.shown_trial import Session, shown_trial
from pipeline.results import netcdf
from pipeline.tables.corrections import append_corrections, read_corrections
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


def correction(study: Path, kind: str) -> dict[str, str]:
    """Return a correction of a kind that fits the trial."""
    trial = shown_trial(results(study), TRIAL["trial"])
    strikes = [one for one in trial.events if one.name == "foot_strike"]
    used = next(one for one in trial.contacts if one.verdict == "used")
    at = {
        "move_foot_strike": (strikes[1].side, strikes[1].time, f"{strikes[1].time + 0.02:.3f}", ""),
        "remove_foot_strike": (strikes[2].side, strikes[2].time, "", ""),
        "refuse_contact": (used.side, used.start, "", ""),
        "leave_out_cycle": (used.side, used.start, "", ""),
        "hide_marker": ("", trial.time[20], f"{trial.time[24]:.3f}", trial.marker[4]),
        "exchange_labels": ("", trial.time[0], f"{trial.time[-1]:.3f}", ", ".join(trial.marker[2:4])),
    }
    side, seconds, to, given = at[kind]
    return {**TRIAL, "kind": kind, "side": side, "time_s": f"{seconds:.3f}", "to_s": to, "given": given}


@pytest.mark.parametrize(
    ("first", "kinds"),
    [
        ("contacts", ("move_foot_strike", "remove_foot_strike", "refuse_contact")),
        ("cycles", ("leave_out_cycle",)),
        ("clean", ("hide_marker", "exchange_labels")),
    ],
)
def test_every_bit_of_a_preview_is_that_of_the_run_after_it(study: Path, first: str, kinds: tuple[str, ...]) -> None:
    drafts, before = Drafts(open_study(study)), results(study)
    for kind in kinds:
        drafts.add(**correction(study, kind))
    shown = drafts.preview("sub-01")
    assert next(iter(shown)) == first
    assert not shown["cycles"].identical(before["cycles"])
    drafts.save()
    run_steps(study)
    after = results(study)
    for step, data in shown.items():
        assert after[step].identical(data), step
    for step in before.keys() - shown.keys():
        assert after[step].identical(before[step]), step


def test_what_changes_is_in_words(study: Path) -> None:
    drafts, before = Drafts(open_study(study)), results(study)
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
    drafts = Drafts(open_study(study))
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
    drafts = Drafts(open_study(study))
    drafts.add(**correction(study, "remove_foot_strike") | {"time_s": "1.05"})
    with pytest.raises(UserError, match=r"there is no \w+ foot strike"):
        drafts.preview("sub-01")
    drafts.undo()
    assert drafts.preview("sub-01") == {}


def test_rows_that_others_have_saved_meanwhile_stay(study: Path) -> None:
    mine = Drafts(open_study(study))
    mine.add(**correction(study, "leave_out_cycle"))
    theirs = {**correction(study, "move_foot_strike"), "by": "CD", "date": "2026-01-01"}
    append_corrections(study / "corrections.tsv", [theirs])
    with pytest.raises(UserError, match="has been changed since it was read"):
        mine.save()
    assert mine.rows
    mine.save()
    assert [row["by"] for row in read_corrections(study / "corrections.tsv")] == ["CD", "AB"]
    assert [row["by"] for row in mine.study.every_correction] == ["CD", "AB"]
    assert mine.rows == []


def test_results_of_other_recordings_are_refused(study: Path) -> None:
    drafts = Drafts(open_study(study))
    (study / "derived" / "checksums" / "sub-01" / "read.nc.sha256").unlink()
    with pytest.raises(UserError, match="run the study first"):
        drafts.preview("sub-01")
