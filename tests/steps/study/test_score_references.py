"""References of gait scores: a table of means, another study, the same study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.results.schema import described
from pipeline.results.study_file import differences, table_of
from pipeline.results.trials import joined
from pipeline.steps.study.gait_scores import reference_gait, scored, scores
from pipeline.steps.study.step import per_participant, study
from pipeline.tables.reference_curves import COLUMNS, reference_of
from tests.support.scored_walks import CONTROLS, COORDINATES, PLACES, PROFILE, REFERENCE, changed, walked
from tests.support.studies import run_study


def table_of_means(gait: xr.Dataset) -> str:
    """Return the table of a study with constant kinetics."""
    loads = {
        "joint_moment_jcs": ("joint", "angle", "phase"), "joint_power": ("joint", "phase"),
        "ground_force": ("axis", "phase"),
    }  # fmt: skip
    shapes = {name: [gait.sizes["cycle"], *(len(COORDINATES[dim]) for dim in dims)] for name, dims in loads.items()}
    return table_of(gait.assign({name: (("cycle", *dims), np.ones(shapes[name])) for name, dims in loads.items()}))


def test_a_table_of_means_gives_the_profile_and_no_index() -> None:
    """Without foot progression there is neither its score nor the profile score."""
    table = table_of_means(CONTROLS)
    gait = walked(["p"], "lr", seed=9)
    found, remarks = scored(gait, table, gdi_features=15)
    assert remarks == []
    assert set(found) == set(PROFILE)
    plain = scores(gait, REFERENCE, gdi_features=15)
    for name in PROFILE:
        np.testing.assert_allclose(found[name], plain[name], atol=1e-4, err_msg=name)  # digits of the table
    rows = [line for line in table.splitlines() if not line.startswith("foot_progression")]
    part = scored(gait, "\n".join(rows), gdi_features=15)[0]
    assert np.isnan(part["gait_variable_score_foot_progression"]).all()
    assert np.isnan(part["gait_profile_score"]).all()
    assert np.isfinite(part["gait_variable_score_hip_rotation"]).all()


def test_the_band_of_a_study_is_over_its_people() -> None:
    """Standard deviation over people, 12, of their means, not over 48 cycles."""
    curves = reference_of(table_of_means(CONTROLS), where="study.nc")[None]
    assert table_of_means(CONTROLS).splitlines()[0].split() == list(COLUMNS)
    knee = CONTROLS.joint_angle.values[:, 1, 0].reshape(12, 4, 101).mean(axis=1)
    got = curves[("joint_angle", "knee", "flexion")]
    np.testing.assert_allclose(got.mean, knee.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(got.sd, knee.std(axis=0, ddof=1), rtol=1e-4)
    assert curves[("ground_force", "y")].mean[50] == 1


def test_an_unusable_reference_is_reported() -> None:
    with pytest.raises(UserError, match=r"not a study\.nc"):
        reference_gait(xr.Dataset({"time": ("time", [0.0])}))
    with pytest.raises(UserError, match="no gait cycle has all nine angles"):
        reference_gait(changed(CONTROLS, PLACES[4], np.nan))
    settings = [{"kinematics": {"static_offset": offset}, "body_model": "cast"} for offset in ("keep", "subtract")]
    there, here = ({"settings": json.dumps(made)} for made in settings)
    with pytest.raises(UserError, match=r"computed with kinematics\.static_offset keep, this study with subtract"):
        differences(there, here)
    assert differences(there, there) == differences({}, there) == []
    other = {"settings": json.dumps(settings[0] | {"body_model": "ior"})}
    (words,) = differences(there, other)
    assert words.startswith("the reference has the body model cast, this study ior: constant differences")


def real_study(shared: Path) -> tuple[xr.Dataset, xr.Dataset, pd.DataFrame]:
    """Return a study with Plug-in Gait without scores, and dataset and metrics of the same scored against itself."""
    sessions = run_study(shared / "studies" / "plug_in_gait", {})
    cycles = {
        name: joined({trial: steps["cycles"] for trial, steps in one.trials.items()}) for name, one in sessions.items()
    }
    about: dict[str, Any] = {
        name: {
            "participant": {"participant_id": name[:6]},
            "trials": {trial: {"condition": "walk", "role": "gait"} for trial in one.trials},
        }
        for name, one in sessions.items()
    }
    gathered = study(cycles, sessions=about, reference=None, gdi_features=15)[0]
    dataset, metrics, _ = study(cycles, sessions=about, reference=gathered, gdi_features=15)
    return gathered, dataset, metrics


def test_real_people_differ_more_from_others_than_from_themselves(shared: Path) -> None:
    """Children and an adult, processed by the whole pipeline, each scored against all.

    A person compared with the others alone scores farther than with a reference that holds the own cycles, and the
    scores reach study.nc and the tables. No published number exists for these people.
    """
    gathered, dataset, metrics = real_study(shared)
    described("study", dataset)
    assert set(PROFILE) <= set(metrics) & set(per_participant(metrics)[0])
    (remark,) = json.loads(dataset.attrs["reference"])["remarks"]
    assert remark.startswith("no Gait Deviation Index: the reference has 6 people")
    known = np.isfinite(metrics.gait_profile_score)
    assert known.sum() > 10
    own = metrics[known].groupby("participant")
    for person, rows in own:
        others = gathered.isel(cycle=gathered.participant.values != person)
        mine = gathered.isel(cycle=rows.index.to_numpy())
        far = scores(mine, reference_gait(others), gdi_features=15)
        assert far["gait_profile_score"].mean() > rows.gait_profile_score.mean()
        # healthy adults score some 5 degrees, children with cerebral palsy up to some 20 (Baker 2009)
        assert 2 < far["gait_profile_score"].mean() < 25
