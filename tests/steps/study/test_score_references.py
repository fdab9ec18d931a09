"""References of gait scores: a table of means, another study, the same study."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.results.study_file import table_of
from pipeline.steps.study.gait_scores import reference_gait, score_cycles, scores
from pipeline.steps.study.reference import name_differences, name_differences_from_conventional
from pipeline.steps.study.step import per_participant
from pipeline.tables.reference_curves import COLUMNS, reference_of
from pipeline.variables.gait_profile import typical_scores
from pipeline.variables.metrics import GAIT_ANGLES
from pipeline.variables.schema import describe
from tests.support.studies.run_steps import ResultsOf, gathered
from tests.support.studies.scored_cycles import CONTROLS, COORDINATES, PLACES, PROFILE, REFERENCE, changed, walked


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
    found, remarks = score_cycles(gait, table, gdi_features=15)
    assert remarks == []
    assert set(found) == set(PROFILE)
    plain = scores(gait, REFERENCE, gdi_features=15)
    for name in PROFILE:
        np.testing.assert_allclose(found[name], plain[name], atol=1e-4, err_msg=name)  # digits of the table
    rows = [line for line in table.splitlines() if not line.startswith("foot_progression")]
    part = score_cycles(gait, "\n".join(rows), gdi_features=15)[0]
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


def test_the_band_of_a_study_has_neither_turns_nor_a_lateral_force() -> None:
    """The lateral force of the sides is opposite; pelvic rotation in a turn is the turn."""
    headings = {name: ("cycle", np.zeros(CONTROLS.sizes["cycle"])) for name in ("turning_angle", "progression_offset")}
    straight = CONTROLS.assign(headings)
    turned = straight.isel(cycle=[0]).assign(
        turning_angle=("cycle", [45.0]), pelvis_angle=straight.pelvis_angle[:1] + 30
    )
    both = xr.concat([straight, turned], "cycle")
    assert table_of_means(both) == table_of_means(straight)
    assert ("ground_force", "z") not in reference_of(table_of_means(straight), where="study.nc")[None]


def test_an_unusable_reference_is_reported() -> None:
    with pytest.raises(UserError, match=r"not a study\.nc"):
        reference_gait(xr.Dataset({"time": ("time", [0.0])}))
    with pytest.raises(UserError, match="no gait cycle has all nine angles"):
        reference_gait(changed(CONTROLS, PLACES[4], np.nan))
    settings = [{"kinematics": {"static_offset": offset}, "body_model": "cast"} for offset in ("keep", "subtract")]
    there, here = ({"settings": json.dumps(made)} for made in settings)
    with pytest.raises(UserError, match=r"computed with kinematics\.static_offset keep, this study with subtract"):
        name_differences(there, here)
    assert name_differences(there, there) == name_differences({}, there) == []
    other = {"settings": json.dumps(settings[0] | {"body_model": "ior"})}
    (words,) = name_differences(there, other)
    assert words.startswith("the reference has the body model cast, this study ior: constant differences")
    filtered = {"settings": json.dumps(settings[0] | {"clean": {"marker_cutoff_hz": 6, "force_cutoff_hz": None}})}
    (words,) = name_differences(there, filtered)
    assert "filters of markers/forces of none/none, this study of 6 Hz/none" in words


@pytest.mark.parametrize(("force_hz", "count"), [(10, 1), (50, 0), (None, 0)])
def test_a_filter_of_forces_that_published_gait_lacks_is_named(force_hz: float | None, count: int) -> None:
    found = name_differences_from_conventional({"settings": json.dumps({"clean": {"force_cutoff_hz": force_hz}})})
    assert ["filtered at 10 Hz" in remark for remark in found] == [True] * count


def at_speeds(gait: xr.Dataset, speed: list[float], stance: float = 60.0) -> xr.Dataset:
    """Return cycles of one condition with dimensionless speeds and a share of stance."""
    count = gait.sizes["cycle"]
    return gait.assign(
        walking_speed_dimensionless=("cycle", speed), stance_share=("cycle", np.full(count, stance))
    ).assign_coords(condition=("cycle", np.full(count, "walk")))


def by_speed(*tables: tuple[float, xr.Dataset]) -> str:
    """Return one table of the means of several groups, each at its speed."""
    rows = [(speed, table_of_means(gait).replace("\t", ",").splitlines()) for speed, gait in tables]
    return "\n".join([f"speed,{rows[0][1][0]}", *(f"{speed},{line}" for speed, table in rows for line in table[1:])])


def test_scores_are_from_the_reference_at_the_median_speed_of_participant_session_and_condition() -> None:
    """The same as from a table of the curves at that speed, for both sides and every cycle."""
    other = changed(CONTROLS, PLACES[6], 12.0)
    gait = at_speeds(walked(["p", "q"], "lrlr", seed=9), [0.2, 0.31, 0.29, 0.3, 0.4, 0.41, np.nan, 0.6])
    found, remarks = score_cycles(gait, by_speed((0.2, CONTROLS), (0.4, other)), gdi_features=None)
    assert remarks == []
    np.testing.assert_allclose(found["reference_speed"], [0.295] * 4 + [0.4] * 4)  # 0.41 is above the reference
    for share, rows in ((0.475, slice(4)), (1.0, slice(4, 8))):
        between = changed(CONTROLS, PLACES[6], 12.0 * share)
        expected = scores(gait.isel(cycle=rows), reference_gait(between), gdi_features=None)
        for name in PROFILE:
            # digits of the table
            np.testing.assert_allclose(found[name][rows], expected[name], atol=1e-4, err_msg=name)


def test_cycles_that_turn_have_no_scores_and_do_not_change_those_of_others() -> None:
    """Neither their own, nor the overall score of their partner; they count neither for the speed nor as controls."""
    gait = walked(["p"], "lrlrlr", seed=9)
    table = by_speed((0.2, CONTROLS), (0.4, CONTROLS))
    straight = at_speeds(gait, [0.3, 0.3, 0.3, 0.3, 0.2, 0.2])
    turning = straight.assign(
        turning_angle=("cycle", [-5.0, 8.0, np.nan, 19.0, -21.0, 4.0]),
        progression_offset=("cycle", [3.0, -9.0, np.nan, 9.0, 4.0, 11.0]),
    )
    found, before = (score_cycles(own, table, gdi_features=None)[0] for own in (turning, straight))
    for name, values in found.items():
        assert np.isnan(values[4:]).all(), name
        np.testing.assert_array_equal(values[:3], before[name][:3], err_msg=name)
    np.testing.assert_array_equal(found["reference_speed"][:4], 0.3)
    of_controls = reference_gait(turning)
    np.testing.assert_array_equal(of_controls.cycles, reference_gait(straight).cycles[:4])


def test_an_unknown_speed_has_the_middle_of_the_reference_and_running_none() -> None:
    gait = walked(["p"], "lr", seed=9)
    table = by_speed((0.2, CONTROLS), (0.4, CONTROLS), (0.5, CONTROLS))
    unknown = score_cycles(at_speeds(gait, [np.nan, np.nan]), table, gdi_features=None)[0]
    np.testing.assert_array_equal(unknown["reference_speed"], 0.4)
    running = score_cycles(at_speeds(gait, [0.9, 0.9], stance=42.0), table, gdi_features=None)[0]
    assert all(np.isnan(values).all() for values in running.values())
    # own controls are whom the user compares with, at any speed
    assert np.isfinite(
        score_cycles(at_speeds(gait, [0.9, 0.9], 42.0), CONTROLS, gdi_features=None)[0]["gait_profile_score"]
    ).all()


def test_a_typical_score_is_the_root_mean_square_among_the_people_of_the_reference() -> None:
    """One cycle each, so that the table has the deviation of the same curves; with n - 1 in it, against n."""
    people = walked([f"c{i}" for i in range(30)], "l")
    typical = typical_scores(reference_of(table_of_means(people), where="")[None])
    found = scores(people, reference_gait(people), gdi_features=None)
    names = [name for name in PROFILE if name != "gait_profile_score_overall"]
    assert {*typical} == {*PROFILE}
    for name in names:
        assert typical[name] == pytest.approx(np.sqrt(np.sum(found[name] ** 2) / 29), rel=1e-4), name
    squares = [typical[f"gait_variable_score_{name}"] ** 2 for name in GAIT_ANGLES]
    assert typical["gait_profile_score_overall"] == pytest.approx(np.sqrt((sum(squares) + sum(squares[3:])) / 15))


@pytest.mark.parametrize(
    ("kinematics", "words"),
    [
        ({"angle_convention": "plug_in_gait", "static_offset": "keep"}, []),
        (
            {"angle_convention": "isb", "static_offset": "keep"},
            ["conventional gait model, this study the body model x"],
        ),
        ({"angle_convention": "plug_in_gait", "static_offset": "subtract"}, ["static_offset removes the angles"]),
    ],
)
def test_another_kind_of_body_model_than_that_of_the_published_gait_is_named(
    kinematics: dict[str, str], words: list[str]
) -> None:
    found = name_differences_from_conventional({"settings": json.dumps({"body_model": "x", "kinematics": kinematics})})
    assert len(found) == len(words)
    assert all(part in remark for part, remark in zip(words, found, strict=True))


def test_real_people_differ_more_from_others_than_from_themselves(shared: Path, results_of: ResultsOf) -> None:
    """Children and an adult, processed by the whole pipeline, each scored against all.

    A person compared with the others alone scores farther than with a reference that holds the own cycles, and the
    scores reach study.nc and the tables. No published number exists for these people.
    """
    sessions = results_of(shared / "studies" / "plug_in_gait")
    unscored = gathered(sessions)[0]
    dataset, metrics, _ = gathered(sessions, reference=unscored, gdi_features=15)
    describe("study", dataset)
    assert set(PROFILE) <= set(metrics) & set(per_participant(metrics)[0])
    (remark,) = json.loads(dataset.attrs["reference"])["remarks"]
    assert remark.startswith("no deviation index: the reference has 6 people")
    known = np.isfinite(metrics.gait_profile_score)
    assert known.sum() > 10
    own = metrics[known].groupby("participant")
    for person, rows in own:
        others = unscored.isel(cycle=unscored.participant.values != person)
        mine = unscored.isel(cycle=rows.index.to_numpy())
        far = scores(mine, reference_gait(others), gdi_features=15)
        assert far["gait_profile_score"].mean() > rows.gait_profile_score.mean()
        # healthy adults score some 5 degrees, children with cerebral palsy up to some 20 (Baker 2009)
        assert 2 < far["gait_profile_score"].mean() < 25
