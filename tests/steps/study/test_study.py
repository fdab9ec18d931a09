"""Step ``study``: cycles of several sessions in one dataset, as a user opens it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.steps.study.step import per_participant, study
from pipeline.tables.study_tables import read_participants
from pipeline.variables.cycle_variables import IDENTITY
from pipeline.variables.data_dictionary import RESERVED
from pipeline.variables.metrics import METRICS, SCORES
from pipeline.variables.schema import VARIABLES, describe
from tests.support.studies.rejected import rejection
from tests.support.studies.two_people import ABSENT, ALONE, CYCLES, PEOPLE, Trials, gathered, sessions, stored, trial

TAKEN = ("side", "condition", "reason", "trial", "session", "start_time", "joint", "phase", "stance_phase")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    """Return the study as a user opens it, without this package."""
    path = tmp_path_factory.mktemp("study") / "study.nc"
    netcdf.save(path, describe("study", gathered()[0]))
    return xr.load_dataset(path)


def test_every_cycle_occurs_once_with_its_origin(opened: xr.Dataset) -> None:
    assert list(opened.joint_angle[:, 1, 2, 50].values) == [10, 11, 20, 21, 22, 30, 31]
    assert list(opened.participant.values) == ["p1"] * 5 + ["p2"] * 2
    assert list(opened.session.values) == ["s1"] * 5 + ["s2"] * 2
    assert list(opened.trial.values) == ["fast_1"] * 2 + ["slow_1"] * 3 + ["fast_1"] * 2
    assert list(opened.condition.values) == ["fast"] * 2 + ["slow"] * 3 + ["fast"] * 2
    assert list(opened.side.values) == ["right", "left", "right", "left", "right", "left", "right"]
    assert list(opened.start_time.values) == [10, 11, 20, 21, 22, 30, 31]
    assert list(opened.kinetics_valid.values) == [True, True, True, False, True, True, True]
    assert opened.reason_code.values[3] == "two_feet_on_plate"
    assert list(opened.cycle.values) == list(range(7))


def test_two_people_may_have_the_same_trial_names(opened: xr.Dataset) -> None:
    counts = pd.Series(opened.trial.values).groupby([opened.participant.values, opened.trial.values]).size()
    assert counts.to_dict() == {("p1", "fast_1"): 2, ("p1", "slow_1"): 3, ("p2", "fast_1"): 2}


def test_columns_of_participants_are_numbers_if_possible(opened: xr.Dataset) -> None:
    """Empty cells in a column of numbers are NaN; one word makes it a column of text."""
    assert list(opened.mass_kg.values) == [70.5] * 5 + [60.0] * 2
    np.testing.assert_array_equal(opened.height_m, [1.8] * 5 + [np.nan] * 2)
    np.testing.assert_array_equal(opened.age_years, [31.0] * 5 + [np.nan] * 2)
    assert list(opened.group.values) == ["a"] * 5 + ["7"] * 2
    assert list(opened.sex.values) == ["M"] * 5 + ["F"] * 2
    assert "participant_id" not in opened.variables


@pytest.mark.parametrize("column", [*TAKEN, *METRICS, *SCORES])
def test_a_column_of_participants_replaces_nothing(column: str, tmp_path: Path) -> None:
    """``side``, for the affected side, is a likely column: it is refused, or the side of the cycle is kept."""
    table = tmp_path / "participants.tsv"
    table.write_text(f"participant_id\tmass_kg\theight_m\tsex\t{column}\np1\t70\t1.8\tM\tleft\n")
    try:
        read_participants(table, reserved=RESERVED)
    except UserError as error:
        assert column in str(error)  # noqa: PT017 (refusing is one of two good answers)
        return
    plain = gathered()[0]
    dataset = study(stored(CYCLES), sessions=sessions(**{column: "left"}), **ALONE)[0]
    np.testing.assert_array_equal(dataset[column].values, plain[column].values)


def test_a_user_groups_selects_and_averages(opened: xr.Dataset) -> None:
    """A typical first notebook with study.nc."""
    knee = opened.joint_angle.sel(joint="knee", angle="flexion")
    by_condition = knee.groupby("condition").mean("cycle")
    assert by_condition.sel(condition="fast").values == pytest.approx((10 + 11 + 30 + 31) / 4)
    assert by_condition.sel(condition="slow").values == pytest.approx(21)
    right = opened.where(opened.side == "right", drop=True)
    assert list(right.stride_time.groupby("participant").mean().values) == pytest.approx([(10 + 20 + 22) / 3, 31])
    good = opened.isel(cycle=opened.kinetics_valid)
    assert np.isfinite(good.joint_moment_jcs).all()
    assert good.sizes["cycle"] == 6
    assert float(opened.joint_power.groupby("condition").mean("cycle").sel(condition="slow")[0, 0]) == pytest.approx(21)
    assert float(opened.stride_time.isel(cycle=opened.mass_kg.values > 65).mean()) == pytest.approx(16.8)
    assert opened.swap_dims(cycle="trial").sel(trial="slow_1").sizes["trial"] == 3


def test_further_curves_reach_the_study(tmp_path: Path) -> None:
    """With the labels of their dimensions; the tables do not have them."""
    further = ("interaction_torque", "joint_moment_lab")
    cycles = {"s1": {"fast_1": trial(10, "rl", further=further)}, "s2": {"fast_1": trial(30, "l", further=further)}}
    dataset, metrics, _ = study(stored(cycles), sessions=sessions(), **ALONE)
    netcdf.save(tmp_path / "study.nc", describe("study", dataset))
    opened = xr.load_dataset(tmp_path / "study.nc")
    share = opened.interaction_torque.sel(joint="knee", angle="flexion", cause="hip", motion="velocity")
    assert list(share[:, 50].values) == [10, 11, 30]
    assert opened.interaction_torque.attrs["units"] == "N m kg-1"
    assert list(opened.joint_moment_lab.sel(joint="hip", axis="y")[:, 0].values) == [10, 11, 30]
    assert list(metrics.columns) == list(gathered()[1].columns)
    assert len(metrics) == 3


def test_draws_of_errors_become_standard_uncertainties() -> None:
    """Of each cycle in metrics.csv, of means and of the difference of the sides, in which the same error cancels."""
    shift = np.tile([-2.0, 2.0], 3)
    cycles = {
        session: {
            name: one if "rejected" in one.attrs else one.assign(
                metric_draw=(("cycle", "metric", "draw"), one.metric_value.values[..., None] + shift)
            )
            for name, one in trials.items()
        }
        for session, trials in CYCLES.items()
    }  # fmt: skip
    dataset, metrics, _ = study(stored(cycles), sessions=sessions(), **ALONE)
    means, sides = per_participant(metrics, dataset.metric_draw)
    plain_means, plain_sides = per_participant(gathered()[1])
    assert "stride_time_u" not in metrics, "no error of times is drawn"
    assert list(metrics.columns[[*metrics.columns].index("peak_knee_flexion") :][:2]) == [
        "peak_knee_flexion", "peak_knee_flexion_u"
    ]  # fmt: skip
    assert (metrics.peak_knee_flexion_u[metrics.part == "cycle"] == 2).all()
    assert metrics.peak_knee_flexion_u[metrics.part == "stance"].isna().all()
    assert (means.peak_knee_flexion_u.dropna() == 2).all()
    assert list(means.columns[[*means.columns].index("peak_knee_flexion_n") :][:2]) == [
        "peak_knee_flexion_n", "peak_knee_flexion_u"
    ]  # fmt: skip
    assert (sides.difference_u[sides.metric == "peak_knee_flexion"].dropna() < 1e-6).all()
    pd.testing.assert_frame_equal(means[plain_means.columns], plain_means)
    pd.testing.assert_frame_equal(sides[plain_sides.columns], plain_sides)


def test_a_study_without_further_curves_has_none(opened: xr.Dataset) -> None:
    assert not set(opened.variables) & {*ABSENT, "cause", "motion", "segment"}


@pytest.mark.parametrize(
    "cycles",
    [
        {"s1": {"lost": rejection("no such file", {}).dataset()}, "s2": {"lost": rejection("no static trial", {})}},
        {"s1": {"none": trial(0, "")}, "s2": {"none": trial(0, "")}},
    ],
)
def test_a_study_without_a_cycle_still_has_its_files(cycles: Trials, tmp_path: Path) -> None:
    dataset, metrics, quality = study(stored(cycles), sessions=sessions(cycles), **ALONE)
    netcdf.save(tmp_path / "study.nc", describe("study", dataset))
    opened = xr.load_dataset(tmp_path / "study.nc")
    assert opened.sizes["cycle"] == 0
    assert set(IDENTITY) <= set(opened.coords)
    assert set(opened.data_vars) == set(VARIABLES["study"]) - set(ABSENT)
    assert metrics.empty
    assert [len(table) for table in per_participant(metrics)] == [0, 0]
    assert list(metrics.columns) == ["cycle", "part", *IDENTITY, *list(PEOPLE["p1"])[1:], *METRICS, "doubted_numbers"]
    assert len(quality) == 2
    assert set(quality.verdict) <= {"refused", "not on a plate"}


def test_gathering_takes_little_more_memory_than_what_it_returns() -> None:
    """Each array is created once; the tables, small compared with the curves, may need the other half."""
    trials = {"s1": {f"fast_{i}": trial(i, "rlrlr") for i in range(40)}}
    cycles, about = stored(trials), sessions(trials)
    study(stored(CYCLES), sessions=sessions(), **ALONE)  # what is made once and kept
    tracemalloc.start()
    try:
        dataset = study(cycles, sessions=about, **ALONE)[0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert dataset.sizes["cycle"] == 200
    assert peak < 1.5 * dataset.nbytes
