"""Walks with foot impacts have an exact answer, and the protocol that compares filters follows its own rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.demo.body import segment_parameters
from pipeline.demo.loads import ground, joint_wrenches
from pipeline.demo.walk import motion
from tests.campaigns.filter_truth import (
    CURVES,
    DEFAULT,
    PEAKS,
    Result,
    compared,
    decide,
    errors,
    score,
    write_hard_walk,
)
from tests.support.studies.run_steps import run_study
from tests.support.walks.impacts import Impact, strike_hard
from tests.support.walks.on_plates import any_walk

HARD = Impact(size=0.5, rise_s=0.01, braking=0.2, passive=1.0)


def test_an_impact_is_balanced_by_the_leg_that_it_stops() -> None:
    """A free foot turns as the force demands, without a moment of the ankle; the force alone needs 0.18 N m/kg."""
    walk, _ = any_walk(1)
    hard_motion, hard_ground = strike_hard(walk, HARD)
    step = int(np.flatnonzero(walk.strike > 0.3)[0])
    time, side = walk.strike[step] + np.arange(-0.01, 0.03, 0.001), int(walk.side[step])
    moments = {}
    for name, (moving, loading) in {
        "smooth": (motion(walk), ground), "hard": (hard_motion, hard_ground), "force": (motion(walk), hard_ground),
    }.items():  # fmt: skip
        body = moving(time)
        loads = joint_wrenches(moving, time, segment_parameters(walk.walker), loading(walk, body, time))
        moments[name] = loads.moment[:, side, :, 2] / walk.walker.mass_kg
        lengths = np.linalg.norm(np.diff(body.centre[:, side], axis=1), axis=-1)
        np.testing.assert_allclose(lengths, [[walk.walker.shank_m, walk.walker.thigh_m]] * len(time), atol=1e-12)
    peak = 0.5 * 9.81 * walk.walker.mass_kg
    body = hard_motion(time)
    added = hard_ground(walk, body, time).force[:, side] - ground(walk, body, time).force[:, side]
    assert added[:, 1].max() == pytest.approx(peak, rel=0.01)
    assert abs(time[added[:, 1].argmax()] - walk.strike[step] - HARD.rise_s) < 0.002
    # the slower motion that takes the turn back needs moments, which change within 35 ms and not within 10
    jump = {name: np.ptp((each - moments["smooth"])[:, 0]) for name, each in moments.items()}
    assert jump["hard"] < 0.15 * jump["force"]


def test_without_filters_noise_and_soft_tissue_the_answer_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 100 Hz the spline follows an impact that rises in 8 to 20 ms, but for a few percent of the smallest curve."""
    monkeypatch.setattr("tests.campaigns.filter_truth.NOISE_MM", (0.0, 0.0))
    truth = write_hard_walk(tmp_path, 2, soft_tissue_share=0.0)
    (session,) = run_study(tmp_path, {"clean": {"marker_cutoff_hz": None, "force_cutoff_hz": None}}).values()
    walk = session.trials["walk"]
    found = compared(walk["cycles"], {name: walk["kinetics"][name].values / truth.mass_kg for name in CURVES}, truth)
    every = errors([found])
    assert max(every.values()) < 0.03
    assert score(every) < 0.003


def test_the_default_changes_only_if_the_gain_is_large_with_both_methods() -> None:
    columns = [DEFAULT, "20/20", "moments 10"]
    for other, chosen in (([0.9, 0.9, 0.1], "20/20"), ([0.9, 0.96, 0.1], DEFAULT), ([1.1, 1.1, 0.1], DEFAULT)):
        rows = [[1.0, value, other[2]] for value in other[:2]]
        assert decide(pd.DataFrame(rows, columns=columns)) == chosen


def test_a_peak_that_only_one_has_counts_in_full() -> None:
    ones = {name: np.ones(4) for name in PEAKS}
    curves = {
        "joint_moment_jcs": np.tile(np.arange(101.0), (4, 3, 3, 1)),
        "joint_power": np.tile(np.arange(101.0), (4, 3, 1)),
    }
    half = {name: np.array([1.0, 1.0, np.nan, np.nan]) for name in PEAKS}
    found = errors([Result(ones | curves, half | curves, {})])
    assert found[PEAKS[0]] == pytest.approx(np.sqrt(0.5))
    assert found["power: hip"] == 0
