"""Averages: means over cycles and people, of phases on the circle; the differences between the sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from pipeline.results.averages import (
    average,
    errors_of,
    errors_of_means,
    known_throughout,
    mean_curves,
    participant_means,
    pool,
    shortest_way,
    standard_uncertainty,
    without_steps,
)
from pipeline.results.symmetry import symmetry
from pipeline.variables.metrics import METRICS as DEFINED

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
METRICS["group"] = METRICS.participant.map({"p1": "control", "p2": "patient"})
PHASE = "phase_of_peak_hip_flexion"
OF_USERS = [87.0, 99, 81, 1, 84]  # percent of the cycle, cycles of one walker: a plain mean is 70.4 (SD 39.4)


def test_means_sds_and_counts_of_known_values() -> None:
    means = participant_means(METRICS, NAMES, ["group"])
    assert list(means.columns) == [
        "participant", "session", "condition", "side", "group", "cycles", "stances_alone",
        "step_length", "step_length_sd", "step_length_n", "work_a1", "work_a1_sd", "work_a1_n",
    ]  # fmt: skip
    assert means.iloc[0, :5].tolist() == ["p2", "s2", "slow", "left", "patient"]
    assert means.iloc[0, 5:-2].tolist() == pytest.approx([2, 1, 0.65, 0.1 / np.sqrt(2), 2, -0.2])
    assert np.isnan(means.work_a1_sd[0]), "one cycle has no standard deviation"
    assert means.work_a1_n.tolist() == [1, 1, 0, 1, 1, 1, 1]
    assert np.isnan(means.work_a1[2])
    assert len(means) == 7, "sessions, conditions and sides are kept apart"
    assert means.groupby("group").step_length.mean().to_dict() == pytest.approx(
        {"control": (0.5 + 0.5 + 0.4 + 0.4) / 4, "patient": (0.65 + 0.75 + 0.9) / 3}
    )


def test_sizes_have_an_index_of_symmetry() -> None:
    """Positive if the right side is larger in size, 0 if equal, empty if a side is missing or both are 0."""
    table: Any = symmetry(participant_means(METRICS, NAMES), NAMES).set_index(["session", "condition", "metric"])
    table = table.sort_index()
    assert len(table) == 4 * len(NAMES)
    step = table.loc[("s2", "slow", "step_length")]
    assert step[["left", "right", "difference", "symmetry_index"]].tolist() == pytest.approx(
        [0.65, 0.75, 0.1, 100 * 0.1 / 0.7]
    )
    assert (step.kind, step.units) == ("size", "m")
    work = table.loc[("s2", "slow", "work_a1")]
    assert work.difference == pytest.approx(0.1)
    assert work.symmetry_index == pytest.approx(-100 * 0.1 / 0.15), "less work is absorbed on the right"
    assert table.loc[("s2", "fast")][["difference", "symmetry_index"]].isna().to_numpy().all()
    assert table.loc[("s1", "slow", "step_length")].symmetry_index == 0
    assert np.isnan(table.loc[("s0", "slow", "work_a1")].symmetry_index)


def test_sides_that_are_both_small_have_no_index() -> None:
    """A quarter of the usual size of work_a1 is 0.023 J/kg."""
    rows = METRICS[METRICS.session == "s1"]
    for left, right, expected in ((0.001, -0.041, np.nan), (0.005, 0.035, np.nan), (0.005, 0.045, 160.0)):
        table = symmetry(participant_means(rows.assign(work_a1=[left, right]), NAMES), NAMES).set_index("metric")
        assert table.symmetry_index["work_a1"] == pytest.approx(expected, nan_ok=True)
        assert table.difference["work_a1"] == pytest.approx(right - left)


def test_what_crosses_zero_and_phases_have_differences_only() -> None:
    """No index of +-200 % of a moment of both signs; 98 % and 2 % of the cycle are 4 % apart."""
    names = ["peak_knee_extensor_moment", PHASE]
    assert [DEFINED[name].kind for name in names] == ["signed", "phase"]
    rows = pd.DataFrame([("left", -0.1, 98.0), ("right", 0.1, 2.0)], columns=["side", *names])
    rows = rows.assign(participant="p", session="s", condition="slow", part="cycle", group="a")
    sides: Any = symmetry(participant_means(rows, names, ["group"]), names, ["group"])
    moment, phase = sides.itertuples()
    assert (moment.kind, moment.units, moment.group) == ("signed", "N m kg-1", "a")
    assert moment.difference == pytest.approx(0.2)
    assert (phase.kind, phase.units) == ("phase", "percent")
    assert phase.difference == pytest.approx(4)
    assert np.isnan([moment.symmetry_index, phase.symmetry_index]).all()


def test_steps_of_which_one_goes_backwards_have_no_index() -> None:
    """A person who always leads with the left foot and ends with the right one behind it; 0 is no other sign."""
    rows = pd.DataFrame([("left", 0.3), ("right", -0.05)], columns=["side", "step_length"])
    rows = rows.assign(participant="p", session="s", condition="slow", part="cycle")
    for right, expected in ((-0.05, np.nan), (0.0, -200.0), (0.3, 0.0)):
        rows.loc[1, "step_length"] = right
        (row,) = symmetry(participant_means(rows, ["step_length"]), ["step_length"]).itertuples()
        assert row.symmetry_index == pytest.approx(expected, nan_ok=True)
        assert row.difference == pytest.approx(right - 0.3)


def test_swapped_sides_change_the_sign() -> None:
    other = METRICS.assign(side=METRICS.side.map({"left": "right", "right": "left"}))
    here, there = (symmetry(participant_means(table, NAMES), NAMES) for table in (METRICS, other))
    for column in ("difference", "symmetry_index"):
        np.testing.assert_allclose(here[column], -there[column])
    np.testing.assert_array_equal(here.left, there.right)


def test_no_cycles_give_empty_tables() -> None:
    means = participant_means(METRICS.iloc[:0], NAMES, ["group"])
    assert means.empty
    table = symmetry(means, NAMES, ["group"])
    assert table.empty
    assert list(table.columns) == [
        "participant", "session", "condition", "group",
        "metric", "kind", "left", "right", "difference", "units", "symmetry_index",
    ]  # fmt: skip


# --- phases -----------------------------------------------------------------------------------------------------------


def test_phases_are_averaged_on_the_circle() -> None:
    """Against SciPy, which divides the variance by n."""
    values = np.array([[phase, 0.0] for phase in OF_USERS])
    mean, sd, n = average(values, phase=np.array([True, False]))
    angles = np.array(OF_USERS) * 2 * np.pi / 100
    assert mean[0] == pytest.approx(stats.circmean(angles) * 100 / (2 * np.pi))
    assert mean[0] == pytest.approx(90.3, abs=0.05)
    assert sd[0] == pytest.approx(stats.circstd(angles) * np.sqrt(5 / 4) * 100 / (2 * np.pi))
    assert sd[0] == pytest.approx(9.2, abs=0.05)
    assert n.tolist() == [5, 5]


@pytest.mark.parametrize("turn", [0, 30, 49.5, 99])
def test_turned_phases_turn_the_mean_and_keep_the_spread(turn: float) -> None:
    values = np.array([*OF_USERS, np.nan])
    mean, sd, n = average(values, phase=True)
    turned = average((values + turn) % 100, phase=True)
    assert shortest_way(turned.mean - mean - turn) == pytest.approx(0, abs=1e-9)
    assert turned.sd == pytest.approx(sd)
    assert turned.n == n == 5
    assert 0 <= turned.mean < 100


def test_phases_close_together_have_the_usual_mean_and_sd() -> None:
    values = np.array([48.0, 48.2, 48.1, 47.9])
    circular, plain = average(values, phase=True), average(values)
    assert circular.mean == pytest.approx(plain.mean)
    assert circular.sd == pytest.approx(plain.sd, rel=1e-4)  # the next order is the square of the spread in radians
    assert average(np.full(3, 48.1), phase=True).sd == pytest.approx(0, abs=1e-9)


def test_opposite_phases_have_no_mean() -> None:
    mean, sd, n = average(np.array([10.0, 60.0]), phase=True)
    assert np.isnan([mean, sd]).all()
    assert n == 2
    alone = average(np.array([10.0, np.nan]), phase=True)
    assert alone.mean == pytest.approx(10)
    assert np.isnan(alone.sd)


def test_means_of_people_and_of_tables_are_circular_too() -> None:
    """Over people, in participants.csv and by mean_curves; a person counts once."""
    person = np.array(["a", "a", "b"])
    values = np.array([98.0, 0.0, 3.0])
    mean, _, n = average(values, person, phase=True)
    assert mean == pytest.approx(1)
    assert n == 2
    table = METRICS.iloc[:3].assign(**{PHASE: values}, side="left")
    means = participant_means(table, [PHASE])
    assert means[PHASE].tolist() == pytest.approx([float(average(values, phase=True).mean)])
    assert means[f"{PHASE}_sd"].tolist() == pytest.approx([float(average(values, phase=True).sd)])
    labels = {"participant": person, "side": ["left"] * 3, "condition": ["slow"] * 3}
    curve = xr.DataArray(values, dims="cycle", coords={key: ("cycle", of) for key, of in labels.items()}, name=PHASE)
    assert mean_curves(curve).values.ravel().tolist() == pytest.approx([99, 3])


def test_a_mean_is_of_the_curves_known_throughout_where_there_are_three() -> None:
    """Curves of size 1 to 5: the last two end early, or so do all but two."""
    curves = np.arange(1.0, 6)[:, None] * np.ones(101)
    curves[3:, 60:] = np.nan
    mean, _, n = average(known_throughout(curves))
    assert set(mean) == {2.0}
    assert set(n) == {3}
    curves[2, :30] = np.nan
    mean, _, n = average(known_throughout(curves))
    assert n.tolist() == [4] * 30 + [5] * 30 + [3] * 41
    assert mean[[0, 30, 60]].tolist() == [3.0, 3.0, 2.0]
    steady, _, counts = average(without_steps(curves))
    assert (set(steady), set(counts)) == ({1.5}, {2}), "of the two that are known throughout"
    curves[:2, :30] = np.nan
    steady, _, counts = average(without_steps(curves))
    assert np.flatnonzero(np.isfinite(steady)).tolist() == [*range(30, 60)], "where most are known"
    assert set(counts[30:60]) == {5}


def test_each_component_of_curves_has_its_own_cycles() -> None:
    curves = np.ones((4, 2, 101))
    curves[0, 1, 0] = np.nan
    assert np.isfinite(known_throughout(curves)).all(axis=-1).sum(axis=0).tolist() == [4, 3]
    people = np.array(["a", "a", "b", "b"])
    kept = np.isfinite(without_steps(curves, [people]))
    assert kept[:, 0].all()
    assert not kept[0, 1].any()
    assert kept[1:, 1].all()


def test_averages_of_parts_are_pooled_to_that_of_all() -> None:
    """To rounding; where one part, or both, know nothing or one value, the count tells."""
    values = np.random.default_rng(1).normal(100, 1, (30, 6))
    values[:, 0], values[:12, 1], values[12:, 2], values[1:, 3] = np.nan, np.nan, np.nan, np.nan
    values[np.r_[0:11, 13:30], 4] = np.nan
    parts = [average(values[rows]) for rows in (slice(0, 12), slice(12, 13), slice(13, 30))]
    found, expected = pool(pool(parts[0], parts[1]), parts[2]), average(values)
    np.testing.assert_array_equal(found.n, expected.n)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-14)
    np.testing.assert_allclose(found.sd, expected.sd, rtol=1e-12)


# ---- errors of measurement


def test_a_standard_uncertainty_is_the_root_mean_square_of_known_errors() -> None:
    errors = np.array([[3.0, 4.0, np.nan, np.nan], [1.0, np.nan, np.nan, np.nan], [2.0, 2.0, 2.0, 2.0]])
    np.testing.assert_allclose(standard_uncertainty(errors), [np.sqrt(12.5), np.nan, 2.0])


def test_errors_of_phases_go_the_shorter_way() -> None:
    draws, values = np.array([[[99.0, 3.0], [99.0, 3.0]]]), np.array([[1.0, 1.0]])
    np.testing.assert_array_equal(errors_of(draws, values, np.array([True, False])), [[[-2, 2], [98, 2]]])


def test_errors_that_cycles_share_do_not_average_out_and_cancel_between_sides() -> None:
    """One error of the person in all cycles, one of the left side, and one of each cycle."""
    rng, draws = np.random.default_rng(3), 4000
    person, left = 3 * rng.standard_normal(draws), 2 * rng.standard_normal(draws)
    own = rng.standard_normal((8, draws))
    is_left = (METRICS.side[:8] == "left").to_numpy()[:, None]
    errors = np.stack([person + own + is_left * left] * 2, axis=1)
    errors = np.concatenate([errors, np.full((1, 2, draws), np.nan)])  # the stance is in no mean
    errors[1, 1] = np.nan  # nor is a metric that is not known
    means = participant_means(METRICS, NAMES)
    of_means = errors_of_means(errors, METRICS, means)
    spread = standard_uncertainty(of_means)
    expected = np.sqrt([9 + 4 + 1 / 2, 9 + 1, 9 + 1, 9 + 4 + 1, 9 + 1, 9 + 1, 9 + 4 + 1])
    np.testing.assert_allclose(spread[:, 0], expected, rtol=0.05)
    np.testing.assert_allclose(spread[0, 1], np.sqrt(14), rtol=0.05)
    table: Any = symmetry(means, NAMES, errors=of_means).set_index(["session", "condition", "metric"]).sort_index()
    assert table.difference_u[("s1", "slow", "step_length")] == pytest.approx(np.sqrt(4 + 1 + 1), rel=0.05)
    assert table.difference_u[("s2", "slow", "step_length")] == pytest.approx(np.sqrt(4 + 1 / 2 + 1), rel=0.05)
    assert np.isnan(table.difference_u[("s2", "fast", "step_length")]), "one side alone"
