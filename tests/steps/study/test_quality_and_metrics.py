"""Step ``study``: the tables of metrics, of quality and of participants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.json_text import from_text
from pipeline.steps.study.step import QUALITY, participants_columns, per_participant, study
from pipeline.tables.csv_files import csv_of
from pipeline.variables.cycle_variables import IDENTITY, KINETICS, RESIDUALS
from pipeline.variables.metrics import METRICS, OF_STANCE
from pipeline.variables.schema import REPAIRS
from tests.support.studies.two_people import ALONE, CYCLES, gathered, sessions, stored, trial


def test_the_table_of_metrics_is_tidy() -> None:
    metrics = gathered()[1]
    own = ["mass_kg", "height_m", "sex", "age_years", "group"]
    assert list(metrics.columns) == ["cycle", "part", *IDENTITY, *own, *METRICS, "doubted_numbers"]
    assert list(metrics.stride_time) == [10, 11, 20, 21, 22, 30, 31]
    np.testing.assert_array_equal(metrics.peak_ankle_power, [10, 11, 20, np.nan, 22, 30, 31])  # one is refused
    means = metrics.groupby(["participant", "condition"]).walking_speed.mean()
    assert means.to_dict() == {("p1", "fast"): 10.5, ("p1", "slow"): 21.0, ("p2", "fast"): 30.5}


def test_a_stance_without_a_cycle_has_a_row_and_counts_in_no_mean() -> None:
    """After the cycles; stances of cycles have none, and metrics of whole cycles are empty."""
    cycles = {"s1": {"fast_1": trial(10, "rl", alone=True)}, "s2": {"fast_1": trial(30, "", alone=True)}}
    dataset, metrics, _ = study(stored(cycles), sessions=sessions(cycles), **ALONE)
    assert list(metrics.part) == ["cycle", "cycle", "stance", "stance"]
    assert list(metrics.cycle.isna()) == [False, False, True, True]
    assert list(metrics.peak_ankle_power) == [10, 11, 12, 30]
    assert list(metrics.start_time) == [10, 11, 12, 30]
    assert list(metrics.participant) == ["p1", "p1", "p1", "p2"]
    assert list(metrics.group) == ["a", "a", "a", "7"]
    assert list(metrics.kinetics_valid) == [True] * 4
    alone = metrics[metrics.part == "stance"]
    assert alone[[name for name in METRICS if name not in OF_STANCE]].isna().all(axis=None)
    assert alone[[*OF_STANCE]].notna().all(axis=None)
    assert dataset.cycle_of_stance.values.tolist() == [0, 1, -1, -1]
    means, symmetry = per_participant(metrics)
    counts = ["participant", "side", "cycles", "stances_alone", "peak_ankle_power_n"]
    assert means[counts].values.tolist() == [
        ["p1", "right", 1, 1, 1],
        ["p1", "left", 1, 0, 1],
        ["p2", "right", 0, 1, 0],
    ]
    assert means.peak_ankle_power.tolist()[:2] == [10, 11]
    assert symmetry[symmetry.metric == "peak_ankle_power"].difference.isna().tolist() == [False, True]


def test_a_table_read_back_is_the_same(tmp_path: Path) -> None:
    metrics = gathered()[1]
    metrics.to_csv(tmp_path / "metrics.csv", index=False)
    again = pd.read_csv(tmp_path / "metrics.csv", keep_default_na=False, na_values=[""])
    for name in ("reason", "doubt", "doubt_code", "doubted_numbers"):
        again[name] = again[name].astype(object).fillna("")
    pd.testing.assert_frame_equal(again, metrics, check_dtype=False)


def test_the_table_of_quality_has_every_stance_and_every_rejected_trial() -> None:
    quality = gathered()[2]
    assert tuple(quality.columns) == QUALITY
    lost = quality[quality.trial == "lost"]
    assert lost[["participant", "session", "condition", "side", "verdict", "reason"]].values.tolist() == [
        ["p1", "s1", "lost", "", "refused", "cut off: 3 bytes"]
    ]
    assert lost[["start_s", "end_s"]].isna().all(axis=None)
    slow = quality[quality.trial == "slow_1"]
    assert list(slow.verdict) == ["used", "refused", "used", "not on a plate"]
    assert list(slow.code) == ["", "two_feet_on_plate", "", "no_plate"]
    assert list(slow.plates) == ["1 2", "1 2", "1 2", ""]
    assert list(slow.start_s) == [20, 21, 22, 23]
    assert list(slow.end_s) == [20.6123, 21.6123, 22.6123, 23.6123]
    assert list(quality[quality.trial == "none"].code) == ["no_plate"], "a trial without cycles has its stances"
    assert len(quality) == 1 + 3 + 4 + 3 + 1


def test_a_trial_without_a_stance_keeps_its_row_and_its_corrections() -> None:
    """Without a row, a correction that does not fit would appear on no page and not in the summary of the run."""
    cycles = stored(CYCLES)
    (session,) = [name for name, data in cycles.items() if "none" in data.trial.values]
    data = cycles[session]
    unfit = {"session": session, "trial": "none", "why": "no left stance begins then"}
    seen = data.stance_trial.values != data.trial.values.tolist().index("none")
    bare = data.isel(stance=seen).assign_attrs(corrections_not_applied=json.dumps([unfit]))
    quality = study(cycles | {session: bare}, sessions=sessions(), corrected=True, **ALONE)[2]
    (row,) = quality[quality.trial == "none"].to_dict("records")
    assert (row["side"], row["verdict"], row["code"]) == ("", "not on a plate", "no_gait_event")
    assert json.loads(row["corrections_not_applied"]) == [unfit]


def test_the_table_of_quality_has_the_checks_of_every_stance() -> None:
    """Three digits, the largest energy closure of the segments, nothing for a rejected trial."""
    quality = gathered()[2]
    slow = quality[quality.trial == "slow_1"]
    assert list(slow.stance_seen_percent) == [90] * 4
    assert list(slow.disagreement_n_m) == [2e-8] * 4
    closures = ["forward_closure_ankle_deg", "forward_closure_knee_deg", "forward_closure_hip_deg"]
    assert slow[closures].values.tolist() == [[1, 2, 3]] * 4
    assert list(slow.energy_closure_w) == [6] * 4
    assert slow[[*RESIDUALS]].values.tolist() == [[7.0 + i for i in range(len(RESIDUALS))]] * 4
    lost = quality[quality.trial == "lost"]
    assert lost[["disagreement_n_m", *closures, "energy_closure_w", *RESIDUALS]].isna().all(axis=None)


def test_the_table_of_quality_counts_repairs(tmp_path: Path) -> None:
    """Whole numbers, those of the trial for each of its stances, none for a rejected trial."""
    mended = {name: 10 + number for number, name in enumerate(REPAIRS)}
    cycles = {"s1": {**CYCLES["s1"], "fast_1": trial(10, "rl").assign_attrs(mended)}, "s2": CYCLES["s2"]}
    study(stored(cycles), sessions=sessions(), **ALONE)[2].to_csv(tmp_path / "quality.csv", index=False)
    rows = pd.read_csv(tmp_path / "quality.csv", dtype=str, keep_default_na=False)
    fast = rows[(rows.trial == "fast_1") & (rows.session == "s1")]
    assert fast[[*REPAIRS]].values.tolist() == [["10", "11", "12", "13", "14"]] * 3
    assert set(rows[rows.trial == "lost"][[*REPAIRS]].values.ravel()) == {""}


def test_participants_have_the_means_of_their_cycles() -> None:
    """Only of known values: the left slow cycle has no kinetics; its stride time counts."""
    means, symmetry = per_participant(gathered()[1])
    rows: Any = means.set_index(["participant", "condition", "side"])
    assert len(rows) == 6
    assert rows.loc[("p1", "slow", "right"), ["cycles", "stride_time", "stride_time_n"]].tolist() == [2, 21, 2]
    assert rows.loc[("p1", "slow", "left"), ["stride_time", "peak_ankle_power_n"]].tolist() == [21, 0]
    assert set(METRICS) <= set(means.columns)
    stride = symmetry[symmetry.metric == "stride_time"]
    assert stride.symmetry_index.tolist() == pytest.approx([100 * -1 / 10.5, 0, 100 * 1 / 30.5])
    assert list(symmetry.metric) == [*METRICS] * 3


def test_doubted_kinetics_are_in_the_tables_but_in_no_mean() -> None:
    """Of three right cycles, 10 to 12, the first is doubted; distances and angles count.

    Its kinetics are in a column of their own, so that a plain mean of the table leaves them out.
    """
    cycles = {"s1": {"fast_1": trial(10, "rrr", doubted=(0,), invalid=(2,))}}
    dataset, metrics, quality = study(stored(cycles), sessions=sessions(cycles), **ALONE)
    np.testing.assert_array_equal(metrics.peak_ankle_power[:2], [np.nan, 11])
    assert list(metrics.stride_time) == [10, 11, 12]
    apart = [from_text(text) if text else {} for text in metrics.doubted_numbers]
    assert apart[0] == {name: 10 for name in METRICS if name in KINETICS}
    assert apart[1] == {}
    assert list(metrics.kinetics_valid) == [False, True, False]
    assert list(metrics.doubt_code) == ["h w", "", ""]
    assert list(metrics.doubt) == ["hot; wet", "", ""]
    assert list(quality.verdict) == ["doubted", "used", "refused", "not on a plate"]
    assert list(quality.doubt) == ["hot; wet", "", "", ""]
    assert list(quality.doubt_code) == ["h w", "", "", ""]
    assert dataset.doubt_code.values.tolist() == ["h w", "", ""]
    assert dataset.doubt_code_of_stance.values.tolist() == ["h w", ""]
    assert dataset.kinetics_valid_of_stance.values.tolist() == [False, True]
    assert np.isfinite(dataset.joint_power.values[0]).all()
    means = per_participant(metrics)[0]
    row: Any = means.iloc[0]
    assert row[["cycles", "cycles_doubted", "peak_ankle_power", "peak_ankle_power_n"]].tolist() == [3, 1, 11, 1]
    assert row[["stride_time", "stride_time_n", "peak_knee_flexion_stance_n"]].tolist() == [11, 3, 3]


def test_tables_of_participants_are_grouped_by_the_columns_of_participants_tsv(tmp_path: Path) -> None:
    """A fresh reader: group, sex and age are there as they were given, in all tables of metrics."""
    metrics = gathered()[1]
    for i, table in enumerate((metrics, *per_participant(metrics))):
        (tmp_path / f"{i}.csv").write_bytes(csv_of(table, exact=participants_columns(metrics)))
        read = pd.read_csv(tmp_path / f"{i}.csv")
        assert read.groupby("group").size().index.tolist() == ["7", "a"]
        people = read.groupby("participant").first()
        assert people[["mass_kg", "sex"]].values.tolist() == [[70.5, "M"], [60.0, "F"]]
        assert people.age_years.isna().tolist() == [False, True]
    means = pd.read_csv(tmp_path / "1.csv")
    assert means.groupby("group").walking_speed.mean().to_dict() == {"7": 30.5, "a": (10 + 11 + 21 + 21) / 4}
