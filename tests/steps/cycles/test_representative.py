"""The trial of a session that the report shows: its choice, and the samples that are kept."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.cycles.representative import MARGIN_S, points_of_figure
from pipeline.trials.session import join_trials
from pipeline.variables.cycle_variables import REPRESENTATIVE
from pipeline.variables.schema import describe
from pipeline.whole_body.skeleton import JOINTS, SEGMENTS
from tests.support.studies.for_report import of_session, trial_cycles, trial_steps
from tests.support.studies.rejected import rejection

SLOW, BOTH = "slow", ["left", "right"]


def chosen(trials: dict[str, xr.Dataset], conditions: dict[str, str] | None = None) -> xr.Dataset:
    return of_session(join_trials(trials), trials, conditions or dict.fromkeys(trials, SLOW))


def moved(trial: xr.Dataset, away: float) -> xr.Dataset:
    return trial.assign({name: trial[name] + away for name in ("joint_angle", "joint_moment_jcs")})


def test_the_trial_nearest_to_the_means_is_shown() -> None:
    aways = (9.0, -2.0, 1.0, -8.0)  # mean 0
    trials = {f"walk_{i}": moved(trial_cycles("sub-01", SLOW, BOTH), away) for i, away in enumerate(aways)}
    assert chosen(trials).attrs == {"trial": "walk_2", "condition": SLOW}


def test_the_mean_is_that_of_the_trials_condition() -> None:
    """The nearest to the mean of all is the farthest from that of its condition."""
    slow, fast = (-30.0, -22.0, -20.0), (10.0, 31.0, 31.0)
    trials = {f"slow_{i}": moved(trial_cycles("sub-01", SLOW, BOTH), away) for i, away in enumerate(slow)}
    trials |= {f"fast_{i}": moved(trial_cycles("sub-01", SLOW, BOTH), away) for i, away in enumerate(fast)}
    assert chosen(trials, {name: name[:4] for name in trials}).trial == "slow_1"


def test_a_trial_with_kinetics_on_both_sides_comes_before_a_nearer_one() -> None:
    trials = {
        "one_side": trial_cycles("sub-01", SLOW, ["left"]),
        "without": trial_cycles("sub-01", SLOW, BOTH, valid=False, reason="no plate"),
        "both": trial_cycles("sub-01", SLOW, BOTH),
    }
    trials["both"]["joint_angle"] = trials["both"].joint_angle + 30
    shown = chosen(trials)
    assert shown.trial == "both"
    assert shown.cycle_has_kinetics.values.tolist() == [True, True]
    assert np.isfinite(shown.cycle_start).all()


def test_the_samples_around_the_cycles_are_kept() -> None:
    """Of a trial after a rejected one; a side without a cycle has no times."""
    trial = trial_cycles("sub-03", SLOW, ["left"])
    trials = {"lost": rejection("cut short", {}).dataset(), "walk": trial}
    shown = describe("representative", chosen(trials))
    assert shown.trial == "walk"
    assert set(shown.data_vars) == set(REPRESENTATIVE)
    start, end = float(shown.cycle_start.sel(side="left")), float(shown.cycle_end.sel(side="left"))
    assert end == start + 1
    assert np.isnan([shown.cycle_start.sel(side="right"), shown.cycle_end.sel(side="right")]).all()
    assert shown.cycle_has_kinetics.values.tolist() == [1, 0]
    time = trial_steps(trial)["kinetics"].time.values
    within = time[(time >= start - MARGIN_S) & (time <= end + MARGIN_S)]
    np.testing.assert_array_equal(shown.time, within)
    expected = {name: data.sel(time=within) for name, data in trial_steps(trial).items() if name != "kinetics"}
    np.testing.assert_array_equal(shown.ground_force, expected["contacts"].ground_force)
    knee = expected["kinematics"].joint_centre.sel(side="right", joint="knee")
    np.testing.assert_array_equal(shown.point_position.sel(point="knee right"), knee.astype(np.float32))
    heel = expected["clean"].marker_position.sel(marker="heel_left")
    np.testing.assert_array_equal(shown.point_position.sel(point="heel left"), heel.astype(np.float32))
    assert np.isfinite(shown.joint_moment_by_term.sel(side="left")).all()
    assert np.isnan(shown.joint_moment_by_term.sel(side="right")).all()


def test_trunk_and_arms_have_points_where_they_are_seen() -> None:
    """A segment that is not seen has an assumed place, which is not drawn; the ends of those next to it are seen."""
    motion, markers = (trial_steps(trial_cycles("sub-01", SLOW, BOTH))[name] for name in ("kinematics", "clean"))
    count = motion.sizes["time"]
    centre = np.arange(len(JOINTS))[:, None] + np.array([0.1, 0.2, 0.3])
    com = 100 + np.arange(len(SEGMENTS))[:, None] + np.array([0.1, 0.2, 0.3])
    seen = [name not in ("forearm_left", "hand_left") for name in SEGMENTS]
    motion = motion.assign(
        upper_joint_centre=(("time", "upper_joint", "axis"), np.broadcast_to(centre, (count, *centre.shape))),
        upper_com_position=(("time", "upper_segment", "axis"), np.broadcast_to(com, (count, *com.shape))),
        upper_segment_seen=("upper_segment", np.array(seen, dtype=np.int8)),
        whole_body_centre_of_mass=(("time", "axis"), np.full((count, 3), 0.9)),
    )
    legs = points_of_figure(motion.drop_vars("upper_segment_seen"), markers)
    points = points_of_figure(motion, markers)
    own = points.keys() - legs.keys()
    sides = {f"{joint} {side}" for joint in ("shoulder", "elbow", "wrist", "hand") for side in BOTH}
    assert own == {"waist", "neck", "head", "centre of mass", *sides} - {"wrist left", "hand left"}
    for name in ("neck", "waist", "shoulder right", "elbow left", "wrist right"):
        np.testing.assert_array_equal(points[name][0], centre[JOINTS.index(name.replace(" ", "_"))])
    for name in ("head", "hand right"):
        np.testing.assert_array_equal(points[name][0], com[SEGMENTS.index(name.replace(" ", "_"))])
    np.testing.assert_array_equal(points["centre of mass"], 0.9)


@pytest.mark.parametrize(
    "trial", [rejection("cut short", {}).dataset(), trial_cycles("sub-01", SLOW, [])], ids=["rejected", "no cycle"]
)
def test_without_a_cycle_nothing_is_shown(trial: xr.Dataset) -> None:
    assert not chosen({"walk": trial}).variables
