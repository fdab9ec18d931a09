"""Gait Profile Score and its parts: closed forms and invariances."""

from __future__ import annotations

import numpy as np
import xarray as xr

from pipeline.steps.study.gait_scores import profiles, reference_gait, scores
from pipeline.variables.gait_profile import PHASE, nine_angles
from pipeline.variables.metrics import GAIT_ANGLES, SCORES
from tests.support.studies.scored_cycles import (
    CONTROLS,
    PLACES,
    PROFILE,
    REFERENCE,
    SINGULAR,
    average_walker,
    changed,
    walked,
)


def test_the_nine_angles_are_those_of_the_paper() -> None:
    """Every second percent, 51 instants."""
    got = nine_angles(CONTROLS)
    assert got.shape == (48, 9, 51)
    np.testing.assert_array_equal(PHASE, np.arange(0, 101, 2))
    for i, place in enumerate(PLACES):
        np.testing.assert_array_equal(got[:, i], CONTROLS[place[0]].values[(slice(None), *place[1:])][:, ::2])


def test_the_mean_gait_of_the_reference_scores_zero() -> None:
    found = scores(average_walker(), REFERENCE, gdi_features=15)
    for name in PROFILE:
        # rounding of means of angles up to 100 degrees
        np.testing.assert_allclose(found[name], 0, atol=1e-12, err_msg=name)


def test_an_offset_of_d_degrees_scores_d_for_its_angle() -> None:
    """The GPS of the side is d / sqrt(9), that of both sides d / sqrt(15) per side with the offset."""
    walker = average_walker()
    shifted = [
        changed(walker, place, -7.5).assign_coords(trial=("cycle", [name] * 2))
        for place, name in zip(PLACES, GAIT_ANGLES, strict=True)
    ]
    found = scores(xr.concat(shifted, "cycle"), REFERENCE, gdi_features=15)
    for k, name in enumerate(GAIT_ANGLES):
        expected = np.repeat(7.5 * (np.arange(9) == k), 2)  # a left and a right cycle of each angle
        np.testing.assert_allclose(found[f"gait_variable_score_{name}"], expected, atol=1e-12)
    np.testing.assert_allclose(found["gait_profile_score"], np.full(18, 7.5 / 3))
    sides = np.repeat([1 if name.startswith("pelvis") else 2 for name in GAIT_ANGLES], 2)
    np.testing.assert_allclose(found["gait_profile_score_overall"], 7.5 * np.sqrt(sides / 15))


def test_a_sine_added_to_the_reference_scores_its_amplitude_over_root_two() -> None:
    """51 instants hold 0 and 100 %: the sum of squared sines is 25 amplitudes squared, over 51."""
    waved = changed(average_walker(), PLACES[6], 8 * np.sin(2 * np.pi * np.arange(101) / 100))
    found = scores(waved, REFERENCE, gdi_features=15)
    np.testing.assert_allclose(found["gait_variable_score_knee_flexion"], 8 * np.sqrt(25 / 51))


def test_the_overall_score_takes_the_pelvis_of_the_left_side_alone() -> None:
    """And the overlapping cycle of the other side, not one of another trial or person."""
    both = average_walker()
    left = both.pelvis_angle.values.copy()
    left[0] += 6
    found = scores(both.assign(pelvis_angle=(both.pelvis_angle.dims, left)), REFERENCE, gdi_features=15)
    np.testing.assert_allclose(found["gait_profile_score"], [6 / np.sqrt(3), 0], atol=1e-12)
    np.testing.assert_allclose(found["gait_profile_score_overall"], 6 * np.sqrt(3 / 15))
    gait = walked(["a", "b"], "lrl", seed=4)
    profile = profiles(nine_angles(gait), REFERENCE)
    partner = [1, 0, 1, 4, 3, 4]  # the right cycle overlaps both left ones alike: the earlier one is taken
    of = [(i, j) if gait.side.values[i] == "left" else (j, i) for i, j in enumerate(partner)]
    expected = [np.sqrt((np.sum(profile[i] ** 2) + np.sum(profile[j, 3:] ** 2)) / 15) for i, j in of]
    np.testing.assert_allclose(scores(gait, REFERENCE, gdi_features=15)["gait_profile_score_overall"], expected)
    alone = scores(gait.isel(cycle=[0, 4]), REFERENCE, gdi_features=15)
    assert np.isnan(alone["gait_profile_score_overall"]).all()
    assert np.isfinite(alone["gait_profile_score"]).all()


def test_scores_do_not_depend_on_the_order_of_cycles_or_angles_in_the_file() -> None:
    others = walked(["p", "q"], "lr", seed=7)
    mixed = others.isel(cycle=[2, 0, 3, 1], joint=[1, 2, 0], angle=[2, 0, 1])
    shuffled = reference_gait(CONTROLS.isel(cycle=np.random.default_rng(0).permutation(48), joint=[2, 0, 1]))
    plain, other = scores(others, REFERENCE, gdi_features=15), scores(mixed, shuffled, gdi_features=15)
    for name, values in plain.items():
        np.testing.assert_allclose(other[name], values[[2, 0, 3, 1]], rtol=SINGULAR, err_msg=name)


def test_a_missing_sample_affects_the_scores_that_need_it() -> None:
    gait = walked(["p"], "lr")
    gait.joint_angle.values[0, 1, 0, 60] = np.nan  # the left knee
    found = scores(gait, REFERENCE, gdi_features=15)
    lost = {name for name, values in found.items() if np.isnan(values[0])}
    profile = {"gait_profile_score", "gait_profile_score_overall", "gait_variable_score_knee_flexion"}
    assert lost == profile | {"reference_deviation_index", "reference_deviation_index_share"}
    assert {name for name, values in found.items() if np.isnan(values[1])} == {"gait_profile_score_overall"}
    some = CONTROLS.copy(deep=True)
    some.pelvis_angle.values[3, 1, 4] = np.nan
    without = reference_gait(CONTROLS.isel(cycle=np.delete(np.arange(48), 3)))
    np.testing.assert_allclose(reference_gait(some).mean, without.mean)


def test_a_study_without_cycles_has_empty_scores() -> None:
    found = scores(CONTROLS.isel(cycle=slice(0)), REFERENCE, gdi_features=15)
    assert {name: values.shape for name, values in found.items()} == dict.fromkeys(
        {*SCORES} - {"reference_speed"}, (0,)
    )
