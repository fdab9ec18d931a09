"""Step ``study``: cycles of several sessions in one dataset, as a user meets it, through its files."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline import netcdf
from pipeline.bridge import rejected
from pipeline.curves import METRICS, ON_REQUEST, SCORES
from pipeline.errors import UserError
from pipeline.metrics import in_one
from pipeline.study import IDENTITY, QUALITY, per_participant, study
from pipeline.tables import read_participants
from pipeline.vocabulary import REPAIRS, VARIABLES, described

ABSENT = (*ON_REQUEST, *SCORES)
ALONE: dict[str, Any] = {"reference": None, "gdi_features": 15}
Gathered = tuple[xr.Dataset, pd.DataFrame, pd.DataFrame]
NAMES: dict[str, Any] = {
    "joint": ["ankle", "knee", "hip"], "segment": ["foot", "shank", "thigh"], "axis": list("xyz"),
    "angle": ["flexion", "adduction", "rotation"], "phase": np.arange(101.0),
    "cause": ["ankle", "knee", "hip", "pelvis", "translation"], "motion": ["acceleration", "velocity"],
}  # fmt: skip
PEOPLE = {
    "p1": {"participant_id": "p1", "mass_kg": "70.5", "height_m": "1.8", "sex": "M", "age_years": "31", "group": "a"},
    "p2": {"participant_id": "p2", "mass_kg": "60", "height_m": "n/a", "sex": "F", "age_years": "", "group": "7"},
}


def trial(level: float, sides: str, *, invalid: tuple[int, ...] = (), further: tuple[str, ...] = ()) -> xr.Dataset:
    """Return a trial's cycles.nc: cycle ``i`` is ``level + i`` everywhere; sides as in ``rlr``; a stance more.

    Checks of a stance: disagreement ``level`` * 1e-9, forward closure 1, 2, 3 degrees, energy closure 4, 6, 5 W, all
    with more digits than mean something. ``further`` names curves on request.
    """
    count = len(sides)
    values = level + np.arange(float(count))
    reason = np.array(["two feet on the plate" if i in invalid else "" for i in range(count)], dtype=str)
    side = np.array([{"r": "right", "l": "left"}[letter] for letter in sides], dtype=str)
    variables = {}
    stacked, names = in_one(dict.fromkeys(METRICS, values))
    usual = {name: variable.dims for name, variable in VARIABLES["study"].items() if name not in (*ABSENT, *METRICS)}
    for name, dims in (usual | {name: ON_REQUEST[name].dims for name in further}).items():
        shape = [count, *(len(NAMES[dim]) for dim in dims[1:])]
        data = np.broadcast_to(values.reshape(-1, *[1] * (len(shape) - 1)), shape).copy()
        if name in ("joint_moment_jcs", "joint_power"):
            data[list(invalid)] = np.nan
        variables[name] = (dims, data)
    start = np.append(values, level + count)
    checks = {
        "stance_start": ("stance", start), "stance_end": ("stance", start + 0.61234567),
        "stance_disagreement": ("stance", np.full(count + 1, level * 1.0001e-9)),
        "stance_forward_closure": (("stance", "joint"), np.tile([1.0001, 2.0001, 3.0001], (count + 1, 1))),
        "stance_energy_closure": (("stance", "segment"), np.tile([4.0001, 6.0001, 5.0001], (count + 1, 1))),
    }  # fmt: skip
    dims_used = {dim for dims, _ in variables.values() for dim in dims[1:]} | {"segment"}
    return described(
        "cycles",
        xr.Dataset(
            variables | stacked | checks,
            names
            | {
                **{name: NAMES[name] for name in NAMES if name in dims_used},
                "side": ("cycle", side), "start_time": ("cycle", values), "end_time": ("cycle", values + 1),
                "kinetics_valid": ("cycle", reason == ""), "reason": ("cycle", reason),
                "stance_side": ("stance", np.append(side, "right")),
                "stance_plates": ("stance", np.append(np.where(reason == "", "1 2", ""), "")),
                "stance_reason": ("stance", np.append(reason, "no plate")),
            },
        ),
    )  # fmt: skip


CYCLES = {
    "s1": {"fast_1": trial(10, "rl"), "slow_1": trial(20, "rlr", invalid=(1,)), "lost": rejected("cut off: 3 bytes")},
    "s2": {"fast_1": trial(30, "lr"), "none": trial(0, "")},
}


def sessions(**columns: str) -> dict[str, dict[str, Any]]:
    """Return the rows of the tables; ``columns`` are added to both participants."""
    return {
        session: {
            "participant": PEOPLE[person] | columns,
            "trials": {name: {"condition": name.partition("_")[0], "role": "gait"} for name in CYCLES[session]},
        }
        for session, person in (("s1", "p1"), ("s2", "p2"))
    }


@pytest.fixture(scope="module")
def gathered() -> Gathered:
    return study(CYCLES, sessions=sessions(), **ALONE)


@pytest.fixture(scope="module")
def opened(gathered: Gathered, tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    """The study as a user opens it, without this package."""
    path = tmp_path_factory.mktemp("study") / "study.nc"
    netcdf.save(path, described("study", gathered[0]))
    return xr.load_dataset(path)


def test_every_cycle_is_there_once_with_where_it_came_from(opened: xr.Dataset) -> None:
    assert list(opened.joint_angle[:, 1, 2, 50].values) == [10, 11, 20, 21, 22, 30, 31]
    assert list(opened.participant.values) == ["p1"] * 5 + ["p2"] * 2
    assert list(opened.session.values) == ["s1"] * 5 + ["s2"] * 2
    assert list(opened.trial.values) == ["fast_1"] * 2 + ["slow_1"] * 3 + ["fast_1"] * 2
    assert list(opened.condition.values) == ["fast"] * 2 + ["slow"] * 3 + ["fast"] * 2
    assert list(opened.side.values) == ["right", "left", "right", "left", "right", "left", "right"]
    assert list(opened.start_time.values) == [10, 11, 20, 21, 22, 30, 31]
    assert list(opened.kinetics_valid.values) == [True, True, True, False, True, True, True]
    assert opened.reason.values[3] == "two feet on the plate"
    assert list(opened.cycle.values) == list(range(7))


def test_columns_of_participants_are_numbers_where_they_can_be(opened: xr.Dataset) -> None:
    """Absent cells of a column of numbers are NaN; one word makes a column of words."""
    assert list(opened.mass_kg.values) == [70.5] * 5 + [60.0] * 2
    np.testing.assert_array_equal(opened.height_m, [1.8] * 5 + [np.nan] * 2)
    np.testing.assert_array_equal(opened.age_years, [31.0] * 5 + [np.nan] * 2)
    assert list(opened.group.values) == ["a"] * 5 + ["7"] * 2
    assert list(opened.sex.values) == ["M"] * 5 + ["F"] * 2
    assert "participant_id" not in opened.variables


def test_a_user_groups_selects_and_averages(opened: xr.Dataset) -> None:
    """What a first notebook does with study.nc."""
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


def test_the_table_of_metrics_is_tidy(gathered: Gathered) -> None:
    metrics = gathered[1]
    own = ["mass_kg", "height_m", "sex", "age_years", "group"]
    assert list(metrics.columns) == ["cycle", *IDENTITY, *own, *METRICS]
    assert list(metrics.stride_time) == [10, 11, 20, 21, 22, 30, 31]
    assert list(metrics.peak_ankle_power) == [10, 11, 20, 21, 22, 30, 31]
    means = metrics.groupby(["participant", "condition"]).walking_speed.mean()
    assert means.to_dict() == {("p1", "fast"): 10.5, ("p1", "slow"): 21.0, ("p2", "fast"): 30.5}


def test_the_table_of_quality_has_every_stance_and_every_rejected_trial(
    gathered: Gathered,
) -> None:
    quality = gathered[2]
    assert tuple(quality.columns) == QUALITY
    lost = quality[quality.trial == "lost"]
    assert lost[["participant", "session", "condition", "side", "verdict", "reason"]].values.tolist() == [
        ["p1", "s1", "lost", "", "rejected", "cut off: 3 bytes"]
    ]
    assert lost[["start_s", "end_s"]].isna().all(axis=None)
    slow = quality[quality.trial == "slow_1"]
    assert list(slow.verdict) == ["used", "rejected", "used", "rejected"]
    assert list(slow.reason) == ["", "two feet on the plate", "", "no plate"]
    assert list(slow.plates) == ["1 2", "", "1 2", ""]
    assert list(slow.start_s) == [20, 21, 22, 23]
    assert list(slow.end_s) == [20.6123, 21.6123, 22.6123, 23.6123]
    assert list(quality[quality.trial == "none"].reason) == ["no plate"], "a trial without cycles has its stances"
    assert len(quality) == 1 + 3 + 4 + 3 + 1


def test_the_table_of_quality_tells_the_checks_of_every_stance(gathered: Gathered) -> None:
    """Three digits; of the segments the largest energy closure; nothing of a rejected trial."""
    quality = gathered[2]
    slow = quality[quality.trial == "slow_1"]
    assert list(slow.disagreement_n_m) == [2e-8] * 4
    closures = ["forward_closure_ankle_deg", "forward_closure_knee_deg", "forward_closure_hip_deg"]
    assert slow[closures].values.tolist() == [[1, 2, 3]] * 4
    assert list(slow.energy_closure_w) == [6] * 4
    lost = quality[quality.trial == "lost"]
    assert lost[["disagreement_n_m", *closures, "energy_closure_w"]].isna().all(axis=None)


def test_the_table_of_quality_counts_what_was_mended(tmp_path: Path) -> None:
    """Whole numbers in the file as well, the trial's on each of its stances, none of a rejected trial."""
    mended = {name: 10 + number for number, name in enumerate(REPAIRS)}
    cycles = {"s1": {**CYCLES["s1"], "fast_1": trial(10, "rl").assign_attrs(mended)}, "s2": CYCLES["s2"]}
    study(cycles, sessions=sessions(), **ALONE)[2].to_csv(tmp_path / "quality.csv", index=False)
    rows = pd.read_csv(tmp_path / "quality.csv", dtype=str, keep_default_na=False)
    assert (
        rows[(rows.trial == "fast_1") & (rows.session == "s1")][[*REPAIRS]].values.tolist()
        == [["10", "11", "12", "13", "14"]] * 3
    )
    assert set(rows[rows.trial == "lost"][[*REPAIRS]].values.ravel()) == {""}


def test_participants_have_the_means_of_their_cycles(gathered: Gathered) -> None:
    """Of those that are known: the left slow cycle has no kinetics; its stride time counts."""
    means, symmetry = per_participant(gathered[1])
    rows: Any = means.set_index(["participant", "condition", "side"])
    assert len(rows) == 6
    assert rows.loc[("p1", "slow", "right"), ["cycles", "stride_time", "stride_time_n"]].tolist() == [2, 21, 2]
    assert rows.loc[("p1", "slow", "left"), ["stride_time", "peak_ankle_power_n"]].tolist() == [21, 1]
    assert set(METRICS) <= set(means.columns)
    assert list(symmetry.columns) == ["participant", "session", "condition", *METRICS]
    assert symmetry.stride_time.tolist() == pytest.approx([100 * -1 / 10.5, 0, 100 * 1 / 30.5])


def test_further_curves_reach_the_study(tmp_path: Path) -> None:
    """As a user opens them, with the names of their dimensions; the tables know nothing of them."""
    further = ("interaction_torque", "joint_moment_lab")
    cycles = {"s1": {"fast_1": trial(10, "rl", further=further)}, "s2": {"fast_1": trial(30, "l", further=further)}}
    dataset, metrics, _ = study(cycles, sessions=sessions(), **ALONE)
    netcdf.save(tmp_path / "study.nc", described("study", dataset))
    opened = xr.load_dataset(tmp_path / "study.nc")
    share = opened.interaction_torque.sel(joint="knee", angle="flexion", cause="hip", motion="velocity")
    assert list(share[:, 50].values) == [10, 11, 30]
    assert opened.interaction_torque.attrs["units"] == "N m kg-1"
    assert list(opened.joint_moment_lab.sel(joint="hip", axis="y")[:, 0].values) == [10, 11, 30]
    assert list(metrics.columns) == list(study(CYCLES, sessions=sessions(), **ALONE)[1].columns)
    assert len(metrics) == 3


def test_gathering_takes_little_more_memory_than_what_it_returns() -> None:
    """Each array is made once; the tables, which are small beside the curves, are left the other half."""
    cycles = {"s1": {f"fast_{i}": trial(i, "rlrlr") for i in range(40)}}
    about = sessions()["s1"] | {"trials": {name: {"condition": "fast"} for name in cycles["s1"]}}
    study(CYCLES, sessions=sessions(), **ALONE)  # what is made once and kept
    tracemalloc.start()
    try:
        dataset = study(cycles, sessions={"s1": about}, **ALONE)[0]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert dataset.sizes["cycle"] == 200
    assert peak < 1.5 * dataset.nbytes


def test_a_study_without_further_curves_has_none(opened: xr.Dataset) -> None:
    assert not set(opened.variables) & {*ABSENT, "cause", "motion", "stance", "segment"}


def test_a_table_read_back_is_the_same(gathered: Gathered, tmp_path: Path) -> None:
    metrics = gathered[1]
    metrics.to_csv(tmp_path / "metrics.csv", index=False)
    again = pd.read_csv(tmp_path / "metrics.csv", keep_default_na=False, na_values=[""])
    again["reason"] = again.reason.fillna("")
    pd.testing.assert_frame_equal(again, metrics, check_dtype=False)


@pytest.mark.parametrize(
    "cycles",
    [
        {"s1": {"lost": rejected("no such file")}, "s2": {"lost": rejected("no static trial")}},
        {"s1": {"none": trial(0, "")}, "s2": {"none": trial(0, "")}},
    ],
)
def test_a_study_without_a_cycle_still_has_its_files(cycles: dict[str, dict[str, xr.Dataset]], tmp_path: Path) -> None:
    about = {
        session: {"participant": PEOPLE[person], "trials": {trial: {"condition": "x"} for trial in cycles[session]}}
        for session, person in (("s1", "p1"), ("s2", "p2"))
    }
    dataset, metrics, quality = study(cycles, sessions=about, **ALONE)
    netcdf.save(tmp_path / "study.nc", described("study", dataset))
    opened = xr.load_dataset(tmp_path / "study.nc")
    assert opened.sizes["cycle"] == 0
    assert set(IDENTITY) <= set(opened.coords)
    assert set(opened.data_vars) == set(VARIABLES["study"]) - set(ABSENT)
    assert metrics.empty
    assert [len(table) for table in per_participant(metrics)] == [0, 0]
    assert list(metrics.columns) == ["cycle", *IDENTITY, *list(PEOPLE["p1"])[1:], *METRICS]
    assert len(quality) == 2
    assert set(quality.verdict) == {"rejected"}


TAKEN = [
    "side",
    "condition",
    "reason",
    "trial",
    "session",
    "start_time",
    "joint",
    "phase",
    "stance_phase",
    *METRICS,
    *SCORES,
]


@pytest.mark.parametrize("column", TAKEN)
def test_a_column_of_participants_replaces_nothing(column: str, tmp_path: Path) -> None:
    """``side``, for the affected side, is a likely column: it is refused, or the cycle's own side stands."""
    table = tmp_path / "participants.tsv"
    table.write_text(f"participant_id\tmass_kg\theight_m\tsex\t{column}\np1\t70\t1.8\tM\tleft\n")
    try:
        read_participants(table)
    except UserError as error:
        assert column in str(error)  # noqa: PT017 (refusing is one of two good answers)
        return
    plain = study(CYCLES, sessions=sessions(), **ALONE)[0]
    dataset = study(CYCLES, sessions=sessions(**{column: "left"}), **ALONE)[0]
    np.testing.assert_array_equal(dataset[column].values, plain[column].values)


def test_two_people_may_name_their_trials_alike(opened: xr.Dataset) -> None:
    counts = pd.Series(opened.trial.values).groupby([opened.participant.values, opened.trial.values]).size()
    assert counts.to_dict() == {("p1", "fast_1"): 2, ("p1", "slow_1"): 3, ("p2", "fast_1"): 2}


def test_a_session_file_gives_back_its_trials(tmp_path: Path) -> None:
    """Text, empty dimensions, rejected groups, units and the root's attributes; coordinates without fill values."""
    path = tmp_path / "cycles.nc"
    netcdf.save_tree(path, CYCLES["s2"] | CYCLES["s1"], {"title": "Gait cycles of a session", "Conventions": "CF-1.11"})
    groups, root = netcdf.load_tree(path)
    assert list(groups) == ["fast_1", "none", "slow_1", "lost"]
    assert root == {"title": "Gait cycles of a session", "Conventions": "CF-1.11"}
    for name, group in (CYCLES["s2"] | CYCLES["s1"]).items():
        xr.testing.assert_identical(groups[name], group)
    assert groups["lost"].attrs == {"rejected": "cut off: 3 bytes"}
    assert groups["none"].sizes["cycle"] == 0
    alone = xr.load_dataset(path, group="slow_1", decode_cf=False)
    assert [name for name in alone.coords if "_FillValue" in alone[name].attrs] == []
    assert alone.start_time.attrs["units"] == "s"
    with netCDF4.Dataset(path) as file:
        kinds = {variable.dtype for variable in file["slow_1"].variables.values()}
    assert str not in kinds, "text of variable length has no checksum"


def test_the_same_dataset_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        netcdf.save_tree(tmp_path / name, CYCLES["s1"], {"title": "x"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
