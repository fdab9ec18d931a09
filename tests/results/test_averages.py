"""Averages: means of participants over cycles, and the symmetry index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.results.averages import participant_means, symmetry

NAMES = ["step_length", "work_a1"]
ROWS = [  # participant, session, condition, side, step_length, work_a1; the last one is a stance without a cycle
    ("p2", "s2", "slow", "left", 0.6, -0.2),
    ("p2", "s2", "slow", "left", 0.7, np.nan),
    ("p2", "s2", "slow", "right", 0.75, -0.1),
    ("p2", "s2", "fast", "right", 0.9, np.nan),
    ("p1", "s1", "slow", "left", 0.5, 0.3),
    ("p1", "s1", "slow", "right", 0.5, -0.3),
    ("p1", "s0", "slow", "right", 0.4, 0.0),
    ("p1", "s0", "slow", "left", 0.4, 0.0),
    ("p2", "s2", "slow", "left", 9.9, 9.9),
]
METRICS = pd.DataFrame(ROWS, columns=["participant", "session", "condition", "side", *NAMES])
METRICS["part"] = [*["cycle"] * 8, "stance"]


def test_means_and_counts_of_known_values() -> None:
    means = participant_means(METRICS, NAMES)
    assert list(means.columns) == [
        "participant", "session", "condition", "side", "cycles", "stances_alone",
        "step_length", "step_length_n", "work_a1", "work_a1_n",
    ]  # fmt: skip
    assert means.iloc[0, :4].tolist() == ["p2", "s2", "slow", "left"]
    assert means.iloc[0, 4:].tolist() == pytest.approx([2, 1, 0.65, 2, -0.2, 1])
    assert means.work_a1_n.tolist() == [1, 1, 0, 1, 1, 1, 1]
    assert np.isnan(means.work_a1[2])
    assert len(means) == 7, "sessions, conditions and sides are kept apart"


def test_the_symmetry_index() -> None:
    """Positive if the right side is larger, 0 if equal, NaN if a side is missing or both are 0."""
    table: Any = symmetry(participant_means(METRICS, NAMES), NAMES).set_index(["session", "condition"])
    assert len(table) == 4
    slow = table.loc[("s2", "slow")]
    assert slow.step_length == pytest.approx(100 * 0.1 / 0.7)
    assert slow.work_a1 == pytest.approx(100 * 0.1 / 0.15)
    assert np.isnan([*table.loc[("s2", "fast")][NAMES]]).all()
    assert table.loc[("s1", "slow")].step_length == 0
    assert table.loc[("s1", "slow")].work_a1 == pytest.approx(-200)
    assert np.isnan(table.loc[("s0", "slow")].work_a1)


def test_swapped_sides_change_the_sign() -> None:
    other = METRICS.assign(side=METRICS.side.map({"left": "right", "right": "left"}))
    here, there = (symmetry(participant_means(table, NAMES), NAMES)[NAMES] for table in (METRICS, other))
    pd.testing.assert_frame_equal(here, -there)


def test_no_cycles_give_empty_tables() -> None:
    means = participant_means(METRICS.iloc[:0], NAMES)
    assert means.empty
    assert list(symmetry(means, NAMES).columns) == ["participant", "session", "condition", *NAMES]
