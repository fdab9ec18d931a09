"""repeatability.nc and repeatability.csv of simulated studies."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.extras.statistics.repeatability.components import repeatability_of
from pipeline.extras.statistics.repeatability.job import COLUMNS
from pipeline.extras.statistics.repeatability.settings import Settings
from pipeline.extras.statistics.repeatability.step import repeatability
from pipeline.variables import schema
from pipeline.variables.data_dictionary import as_json, data_dictionary
from tests.extras.statistics.repeated import PEAK_TIME, SPEED, repeated_study, without

KNEE = {"joint": "knee", "angle": "flexion"}


def result(study: xr.Dataset, rows: dict[str, dict[str, str]], *visits: str) -> tuple[xr.Dataset, pd.DataFrame]:
    data, table = repeatability(study, settings=Settings(visits=visits), sessions=rows)
    return schema.describe("repeatability", data), table


def test_numbers_are_those_of_the_means_of_sessions() -> None:
    study, rows = repeated_study(12, 3)
    data, table = result(study, rows, "v0", "v1", "v2")
    frame = study[[SPEED]].to_dataframe().reset_index()
    for side in ("left", "right", "mean"):
        mine = frame if side == "mean" else frame[frame.side == side]
        means = mine.groupby(["participant", "session"], sort=True)[SPEED].mean().to_numpy().reshape(12, 3)
        expected = repeatability_of(means.reshape(-1, 1), [each.ravel() for each in np.indices(means.shape)])
        found = data.sel(side=side, metric=SPEED, condition="walk")
        assert found.metric_icc.values == pytest.approx(expected.agreement.icc[:, 0])
        assert found.metric_sem.values == pytest.approx(expected.agreement.sem[:, 0])
        assert found.metric_mdc.values == pytest.approx(1.96 * np.sqrt(2) * expected.agreement.sem[:, 0])
        assert found.metric_icc_consistency.values == pytest.approx(expected.consistency.icc[:, 0])
        assert found.metric_mdc_consistency.values == pytest.approx(1.96 * np.sqrt(2) * expected.consistency.sem[:, 0])
        assert found.metric_visits == 3
        assert np.isnan(found.metric_assessors)
        assert float(found.metric_within_person_sd) == pytest.approx(np.sqrt(means.var(axis=1, ddof=1).mean()))
        row = table[(table.side == side) & (table.metric == SPEED)].iloc[0]
        assert (row.people, row.model, row.units) == (12, "ICC(A,1)", "m s-1")
        assert row.mdc == pytest.approx(float(found.metric_mdc.sel(bound="value")))
    within = frame.groupby(["session", "side"])[SPEED].var().unstack("side")["left"].mean()
    assert float(data.metric_cycle_sd.sel(side="left", metric=SPEED).squeeze()) == pytest.approx(np.sqrt(within))
    assert data.metric_cycles.sel(side="left", metric=SPEED).squeeze() == 3


def test_a_curve_has_the_numbers_of_a_metric_with_its_values() -> None:
    """The simulated angle is the speed in other units, the same at each percent."""
    study, rows = repeated_study(15, 2, 2)
    data, _ = result(study, rows, "v0", "v1")
    for name, factor in (("icc", 1), ("sem", 50), ("mdc", 50)):
        curve = data[f"joint_angle_{name}"].sel(KNEE)
        assert curve.dims == ("condition", "side", "phase", "bound")
        expected = factor * data[f"metric_{name}"].sel(metric=SPEED)
        assert np.allclose(curve.values, expected.values[:, :, None], rtol=1e-5)
    assert np.isnan(data.joint_angle_mdc.sel(joint="hip")).all()
    assert data.joint_angle_mdc.attrs["units"] == "degree"
    in_order = dict.fromkeys(dim for variable in data.data_vars.values() for dim in variable.dims)
    along = [dim for dim in in_order if dim in ("joint", "angle", "phase")]
    assert [name for name in data.variables if name in along] == along, "not the same bytes each time"


def test_times_of_peaks_are_compared_around_the_circle() -> None:
    study, rows = repeated_study(12, 2)
    data, _ = result(study, rows, "v0", "v1")
    assert study[PEAK_TIME].max() > 90
    assert study[PEAK_TIME].min() < 10
    ratio = data.metric_sem.sel(metric=PEAK_TIME, side="left") / data.metric_sem.sel(metric=SPEED, side="left")
    assert ratio.values == pytest.approx(np.full((1, 3), 20), rel=1e-2)  # 2 % instead of 0.1 m/s


def test_missing_measurements() -> None:
    """All people with two or more take part, in metrics and in curves."""
    study, rows = repeated_study(12, 3)
    rows = without(rows, "p0_0_0", "p1_1_0", "p2_0_0", "p2_1_0")
    study["joint_angle"] = study.joint_angle.where(study.session != "p3_0_0")
    data, _ = result(study, rows, "v0", "v1", "v2")
    left = data.sel(side="left").squeeze("condition")
    assert left.metric_people.sel(metric=SPEED) == 11
    assert (left.joint_angle_people.sel(KNEE) == 11).all()
    assert np.isfinite(left.metric_mdc.sel(metric=SPEED)).all()
    full, _ = result(*repeated_study(12, 3), "v0", "v1", "v2")
    other = full.metric_sem.sel(side="left", metric=SPEED, bound="value")
    assert float(left.metric_sem.sel(metric=SPEED, bound="value")) == pytest.approx(other.item(), rel=0.3)


def test_conditions_are_apart_and_small_ones_are_unknown() -> None:
    study, rows = repeated_study(6, 2)
    few = np.isin(study.participant.values, ["p0", "p1"])
    study = study.assign_coords(condition=("cycle", np.where(few, "slow", "walk")))
    data, _ = result(study, rows, "v0", "v1")
    assert data.condition.values.tolist() == ["slow", "walk"]
    assert data.metric_people.sel(condition="walk", metric=SPEED).values.tolist() == [4, 4, 4]
    assert np.isnan(data.metric_icc.sel(condition="slow")).all()
    assert np.isfinite(data.metric_icc.sel(condition="walk", metric=SPEED)).all()


def test_equal_measurements_have_no_numbers() -> None:
    study, rows = repeated_study(5, 2)
    study[SPEED] = study[SPEED] * 0 + 1.3
    for visits in (("v0", "v1"), ()):
        rows = rows if visits else {name: row | {"visit": "only"} for name, row in rows.items()}
        data, _ = result(study, rows, *visits)
        assert np.isnan(data.metric_mdc.sel(metric=SPEED)).all()


def test_every_column_is_in_the_data_dictionary() -> None:
    for assessors in (1, 2):
        _, table = result(*repeated_study(8, 2, assessors), "v0", "v1")
        about = json.loads(as_json(data_dictionary("repeatability", table.columns, own=COLUMNS)))
        assert [name for name, entry in about.items() if "participants.tsv" in entry["Description"]] == []
        assert ("variance_assessor" in table) == (assessors == 2)
