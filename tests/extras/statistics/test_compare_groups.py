"""``gaitlab compare-groups``: a table of all metrics, tables and figures of chosen curves."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from pipeline.errors import UserError
from pipeline.extras.statistics.curve_tests import curve_tests_of
from pipeline.extras.statistics.groups import compare_groups
from pipeline.results import netcdf
from pipeline.results.averages import PHASES
from pipeline.variables.metrics import NUMBERS
from pipeline.variables.rows import DOUBT
from pipeline.variables.stance_verdicts import Verdict, as_text
from tests.support.studies import for_report
from tests.support.studies.for_report import made, trial_cycles

OF = {"c1": -1.0, "c2": 0.0, "c3": 1.0, "c4": 0.5, "p1": 9.0, "p2": 10.0, "p3": 12.0}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a study whose curves and metrics differ by the shift of the person; the last lacks samples at the end."""
    for name, shift in OF.items():
        monkeypatch.setitem(for_report.SHIFT, name, shift)
        monkeypatch.setitem(for_report.REPEATS, name, 2)
    trials = {name: {"walk": trial_cycles(name, "slow", ["left", "right"])} for name in OF}
    groups = {name: {"group": "control" if name[0] == "c" else "patient"} for name in OF}
    study = made(trials, {"walk": "slow"}, groups).study
    study.joint_angle[(study.participant == "p3").values, ..., 96:] = np.nan
    (tmp_path / "derived").mkdir()
    netcdf.save(tmp_path / "derived" / "study.nc", study)
    return tmp_path


def test_a_curve_is_tested_where_all_have_samples_and_who_lacks_some_is_named(folder: Path) -> None:
    said = compare_groups(folder, output=folder / "found", curves=["knee flexion angle"])
    assert "patient minus control, slow, 3 and 4 people, over the gait cycle" in said
    assert "tested from 0 to 95 % only, where all have data; samples missing: p3 (5)" in said
    assert (folder / "found" / "knee_flexion_angle_patient_minus_control_slow.svg").stat().st_size > 5000
    (shown,) = curve_tests_of(folder, "found")
    assert shown["picture"].startswith("data:image/svg+xml;base64,")
    assert "patient minus control, slow" in shown["words"]
    with (folder / "found" / "knee_flexion_angle_patient_minus_control_slow.csv").open() as handle:
        rows = [*csv.DictReader(handle)]
    assert len(rows) == 96
    shifts = [np.mean([shift for name, shift in OF.items() if name[0] == letter]) for letter in "pc"]
    assert float(rows[0]["patient"]) - float(rows[0]["control"]) == pytest.approx(shifts[0] - shifts[1], rel=1e-4)


def test_one_table_has_the_threshold_and_clusters_of_each_test(folder: Path) -> None:
    curves = ["knee flexion angle", "hip flexion angle"]
    said = compare_groups(folder, output=folder / "found", curves=curves)
    assert "2.50% of such studies, and along any of the 2 curves tested in at most 5%" in said
    with (folder / "found" / "curve_tests.csv").open() as handle:
        rows = [*csv.DictReader(handle)]
    assert [row["curve"] for row in rows] == curves  # with one cluster each: the groups differ by a constant
    for row in rows:
        assert (row["first"], row["second"], row["within"], row["tests"]) == ("control", "patient", "slow", "2")
        with (folder / "found" / f"{row['curve'].replace(' ', '_')}_patient_minus_control_slow.csv").open() as handle:
            table = [*csv.DictReader(handle)]
        assert {one["threshold"] for one in table} == {row["threshold"]}
        inside = [float(row["from_percent"]) <= float(one["percent"]) <= float(row["to_percent"]) for one in table]
        assert any(inside)
        assert [abs(float(one["t"])) > float(one["threshold"]) for one in table] == inside


def test_a_person_without_a_curve_is_named_with_what_it_is_doubted_for(folder: Path) -> None:
    study = netcdf.load(folder / "derived" / "study.nc")
    mine = (study.participant == "c4").values
    study.joint_angle[mine] = np.nan
    doubt = np.where(mine, "the mass is doubted", study.doubt.values).astype(str)
    netcdf.save(folder / "derived" / "study.nc", study.assign_coords(doubt=("cycle", doubt)))
    said = compare_groups(folder, output=folder / "found", curves=["knee flexion angle"])
    assert "c4 left out: 101 of 101 samples missing, doubted: the mass is doubted" in said


@pytest.fixture
def walks_of_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a study of three groups who walk at two speeds."""
    trials: dict[str, dict[str, xr.Dataset]] = {}
    for i, name in enumerate(f"{letter}{number}" for letter in "abc" for number in range(3)):
        monkeypatch.setitem(for_report.REPEATS, name, 2)
        for condition, shift in (("slow", 0.1 * i), ("fast", 0.3 * i)):
            monkeypatch.setitem(for_report.SHIFT, name, shift)
            trials.setdefault(name, {})[condition] = trial_cycles(name, condition, ["left", "right"])
    study = made(trials, {"slow": "slow", "fast": "fast"}, {name: {"group": name[0]} for name in trials}).study
    (tmp_path / "derived").mkdir()
    netcdf.save(tmp_path / "derived" / "study.nc", study)
    return tmp_path


def pairs_in(folder: Path) -> set[tuple[str, str, str]]:
    with (folder / "differences.csv").open() as handle:
        return {(row["first"], row["second"], row["condition"]) for row in csv.DictReader(handle)}


def test_two_groups_or_conditions_are_compared_alone(walks_of_groups: Path) -> None:
    study = walks_of_groups
    compare_groups(study, output=study / "groups", between=("b", "c"))
    assert pairs_in(study / "groups") == {("b", "c", "slow"), ("b", "c", "fast")}
    compare_groups(study, output=study / "one", between=("c", "b"), conditions=["fast"])
    assert pairs_in(study / "one") == {("c", "b", "fast")}
    compare_groups(study, output=study / "conditions", between=("fast", "slow"))
    assert pairs_in(study / "conditions") == {("fast", "slow", group) for group in "abc"}
    compare_groups(study, output=study / "slow", conditions=["slow"])
    assert pairs_in(study / "slow") == {("a", "b", "slow"), ("a", "c", "slow")}
    for chosen, words in (
        ({"between": ("b", "fst")}, "did you mean 'fast'"),
        ({"between": ("b", "fast")}, "give two groups, conditions or visits: a, b, c"),
        ({"conditions": ["fst"]}, "did you mean 'fast'"),
        ({"between": ("fast", "slow"), "conditions": ["fast"]}, "name both conditions of a pair"),
    ):
        with pytest.raises(UserError, match=words):
            compare_groups(study, output=study / "x", **chosen)
    assert not (study / "x").exists()


def test_a_group_difference_is_that_of_plain_pandas_on_study_nc(walks_of_groups: Path) -> None:
    study = walks_of_groups
    compare_groups(study, output=study / "found", between=("b", "c"), conditions=["fast"])
    rows: Any = pd.read_csv(study / "found" / "differences.csv").set_index("metric")
    data = netcdf.load(study / "derived" / "study.nc")
    columns = {name: data[name].values for name in ("participant", "condition", "side", "group", "walking_speed")}
    cycles = pd.DataFrame(columns).query("condition == 'fast'")
    sides = cycles.groupby(["group", "participant", "side"]).walking_speed.mean()
    groups = sides.groupby(["group", "participant"]).mean().groupby("group").mean()
    assert rows.difference["walking_speed"] == pytest.approx(groups["c"] - groups["b"], rel=1e-5)


def test_what_cannot_be_compared_is_refused_with_a_remedy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="did you mean 'knee flexion angle'"):
        compare_groups(folder, output=folder / "x", curves=["knee flexon angle"])
    with pytest.raises(UserError, match="exists"):
        compare_groups(folder, output=folder)
    monkeypatch.setitem(sys.modules, "spm1d", None)
    with pytest.raises(UserError, match="pip install"):
        compare_groups(folder, output=folder / "x", curves=["knee flexion angle"])
    assert not (folder / "x").exists()
    compare_groups(folder, output=folder / "x")
    one = netcdf.load(folder / "derived" / "study.nc").drop_vars("group")
    netcdf.save(folder / "derived" / "study.nc", one)
    with pytest.raises(UserError, match="neither two groups nor two conditions"):
        compare_groups(folder, output=folder / "y")


def test_visits_are_compared_and_never_averaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first person alone was seen a third time, and moments are unknown: no plate was in the laboratory."""
    gained = {"a": 1.0, "b": 2.0, "c": 4.5, "d": 0.5}
    visits = {f"{name}_{i}": visit for name in gained for i, visit in enumerate(("pre", "post"))} | {"a_2": "late"}
    trials = {}
    for session, visit in visits.items():
        monkeypatch.setitem(for_report.REPEATS, session[0], 2)
        monkeypatch.setitem(for_report.SHIFT, session[0], (visit == "post") * gained[session[0]])
        trials[session] = {"walk": trial_cycles(session[0], "slow", ["left", "right"])}
    study = made(trials, {"walk": "slow"}).study
    study = study.assign_coords(visit=("cycle", [visits[name] for name in study.session.values.tolist()]))
    study["joint_moment_jcs_of_stance"][:] = np.nan
    (tmp_path / "derived").mkdir()
    netcdf.save(tmp_path / "derived" / "study.nc", study)
    compare_groups(tmp_path, output=tmp_path / "found")
    with (tmp_path / "found" / "differences.csv").open() as handle:
        post, late = (row for row in csv.DictReader(handle) if row["metric"] == "walking_speed")
    assert (post["first"], post["second"], post["n_second"]) == ("slow, pre", "slow, post", "4")
    ends = stats.ttest_1samp([*gained.values()], 0).confidence_interval(0.95)
    assert [float(post[name]) for name in ("difference", "low", "high")] == pytest.approx(
        [np.mean([*gained.values()]), ends.low, ends.high], rel=1e-4
    )
    assert (late["second"], late["n_second"], late["difference"]) == ("slow, late", "1", "nan")
    with pytest.raises(UserError, match="0 and 0 people with complete curves"):
        compare_groups(tmp_path, output=tmp_path / "x", curves=["knee adduction moment"])


def test_a_person_without_one_side_in_one_condition_counts_by_the_other_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials: dict[str, dict[str, xr.Dataset]] = {}
    for name, shifts in {"c1": (0.0, 3.0), "c2": (1.0, 3.5), "c3": (2.0, 6.0), "c4": (0.5, 2.5)}.items():
        monkeypatch.setitem(for_report.REPEATS, name, 2)
        for condition, shift in zip(("slow", "fast"), shifts, strict=True):
            monkeypatch.setitem(for_report.SHIFT, name, shift)
            sides = ["left"] if (name, condition) == ("c4", "fast") else ["left", "right"]
            trials.setdefault(name, {})[condition] = trial_cycles(name, condition, sides)
    (tmp_path / "derived").mkdir()
    netcdf.save(tmp_path / "derived" / "study.nc", made(trials, {"slow": "slow", "fast": "fast"}).study)
    said = compare_groups(tmp_path, output=tmp_path / "found", curves=["knee flexion angle"])
    assert "fast minus slow, 4 people" in said
    assert "left out" not in said


@pytest.fixture
def doubted_walks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a study of two groups whose metrics differ by cycle; every third cycle is doubted, for large numbers."""
    random = np.random.default_rng(3)
    trials: dict[str, dict[str, xr.Dataset]] = {}
    for name in OF:
        monkeypatch.setitem(for_report.SHIFT, name, 0.0)
        monkeypatch.setitem(for_report.REPEATS, name, 6)
        for condition in ("slow", "fast"):
            made_of = trial_cycles(name, condition, ["left", "right"], alone=1)
            doubted = np.arange(made_of.sizes["cycle"]) % 3 == 1
            values = random.uniform(85, 115, made_of.metric_value.shape) % 100  # phases on both sides of 0
            made_of["metric_value"] = made_of.metric_value.dims, np.where(doubted[:, None], 1.5, 1) * values
            texts = ("the mass is doubted", "mass_disagrees", as_text([Verdict("mass_disagrees", {})]))
            doubts: dict[str, Any] = {
                column: ("cycle", np.where(doubted, text, "")) for column, text in zip(DOUBT, texts, strict=True)
            }
            trials.setdefault(name, {})[condition] = made_of.assign_coords(kinetics_valid=("cycle", ~doubted), **doubts)
    groups = {name: {"group": "control" if name[0] == "c" else "patient"} for name in OF}
    part = made(trials, {"slow": "slow", "fast": "fast"}, groups)
    netcdf.save(tmp_path / "derived" / "study.nc", part.study)
    (tmp_path / "derived" / "metrics.csv").write_text(part.metrics)
    return tmp_path


def plain_means(cycles: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return means as pandas takes them; of phases the direction of the mean vector."""
    names = [name for name in NUMBERS if name in cycles]
    means = cycles.groupby(by)[names].mean()
    for name in PHASES & {*names}:
        angle = 2 * np.pi / 100 * cycles[name]
        sine, cosine = (part(angle).groupby([cycles[one] for one in by]).mean() for part in (np.sin, np.cos))
        means[name] = np.arctan2(sine, cosine) / (2 * np.pi / 100) % 100
    return means.reset_index()


def test_a_plain_mean_of_the_table_gives_the_difference_of_groups(doubted_walks: Path) -> None:
    """Of every metric, though a third of the cycles is doubted: their numbers are in a column of their own.

    Phases are counted from their circular mean over all people, as docs/statistics.md says.
    """
    table = pd.read_csv(doubted_walks / "derived" / "metrics.csv")
    cycles = table[table.part == "cycle"]
    assert cycles.doubted_numbers.notna().mean() == pytest.approx(1 / 3)
    people = plain_means(cycles, ["group", "condition", "participant", "side"])
    people = plain_means(people, ["group", "condition", "participant"])
    centre = plain_means(people, ["condition"]).set_index("condition")
    for name in PHASES & {*people}:
        people[name] = (people[name] - people.condition.map(centre[name]) + 50) % 100 - 50
    groups = people.groupby(["condition", "group"])[[name for name in NUMBERS if name in table]].mean()
    compare_groups(doubted_walks, output=doubted_walks / "found")
    found = pd.read_csv(doubted_walks / "found" / "differences.csv")
    found = found[found.method == "Welch"]
    assert {*found.metric} == {name for name in NUMBERS if name in table}
    for row in found.to_dict("records"):
        second, first = (groups.loc[(row["condition"], row[which]), row["metric"]] for which in ("second", "first"))
        assert row["difference"] == pytest.approx(second - first, rel=1e-4, abs=1e-3), row["metric"]  # 6 digits of 100
