"""Gait Profile Score and Gait Deviation Index: closed forms, what must not change them, and real people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from studies import run_study

from pipeline.errors import UserError
from pipeline.gait_scores import (
    PHASE,
    ReferenceGait,
    deviation_index,
    nine_angles,
    profiles,
    reference_gait,
    scores,
)
from pipeline.metrics import DEVIATION_INDEX, GAIT_ANGLES, SCORES
from pipeline.reference_curves import COLUMNS, reference_of
from pipeline.reference_study import differences, table_of
from pipeline.study import per_participant, study
from pipeline.vocabulary import described

Array = NDArray[np.float64]
COORDINATES: dict[str, Any] = {
    "joint": ["ankle", "knee", "hip"], "angle": ["flexion", "adduction", "rotation"], "axis": list("xyz"),
    "phase": np.arange(101.0),
}  # fmt: skip
PLACES: list[tuple[Any, ...]] = [  # by hand, in the order of GAIT_ANGLES: variable, and indices of joint and angle
    ("pelvis_angle", 0), ("pelvis_angle", 1), ("pelvis_angle", 2),
    ("joint_angle", 2, 0), ("joint_angle", 2, 1), ("joint_angle", 2, 2), ("joint_angle", 1, 0), ("joint_angle", 0, 0),
    ("foot_progression",),
]  # fmt: skip


def walked(people: Sequence[str], sides: str, *, seed: int = 1, spread: float = 5.0) -> xr.Dataset:
    """Return cycles, of each person one per letter of ``sides``, a second long and half a second apart, degrees.

    Angles are smooth: a level and two harmonics, the same for all, and each person's and each cycle's own.
    """
    rng = np.random.default_rng(seed)
    owner = np.repeat(people, len(sides))
    waves = np.stack([np.ones(101), *(f(k * np.pi * np.arange(101) / 50) for k in (1, 2) for f in (np.sin, np.cos))])

    def curves(*shape: int) -> Array:
        usual = np.random.default_rng(0).normal(0, 20, (*shape, 5))
        own = rng.normal(0, spread, (len(people), *shape, 5))[np.repeat(np.arange(len(people)), len(sides))]
        return np.asarray((usual + own + rng.normal(0, 0.3 * spread, (len(owner), *shape, 5))) @ waves)

    begin = np.tile(0.5 * np.arange(len(sides)), len(people))
    side = np.tile([{"l": "left", "r": "right"}[letter] for letter in sides], len(people))
    return xr.Dataset(
        {
            "joint_angle": (("cycle", "joint", "angle", "phase"), curves(3, 3)),
            "pelvis_angle": (("cycle", "angle", "phase"), curves(3)),
            "foot_progression": (("cycle", "phase"), curves()),
        },
        COORDINATES
        | dict.fromkeys(("participant", "session"), ("cycle", owner))
        | {"trial": ("cycle", np.full(len(owner), "walk")), "side": ("cycle", side)}
        | {"start_time": ("cycle", begin), "end_time": ("cycle", begin + 1)},
    )


def changed(gait: xr.Dataset, place: tuple[Any, ...], by: float | Array) -> xr.Dataset:
    """Return cycles with one angle changed."""
    values = gait[place[0]].values.copy()
    values[(slice(None), *place[1:])] += by
    return gait.assign({place[0]: (gait[place[0]].dims, values)})


PEOPLE = [f"c{i}" for i in range(12)]
CONTROLS = walked(PEOPLE, "lrlr")
REFERENCE = reference_gait(CONTROLS)


def average_walker() -> xr.Dataset:
    """Return a left and a right cycle with the reference's mean curves."""
    both = walked(["x"], "lr")
    return both.assign(
        {
            name: (both[name].dims, np.repeat(CONTROLS[name].values.mean(axis=0, keepdims=True), 2, axis=0))
            for name in both.data_vars
        }
    )


def test_the_nine_angles_are_those_of_the_paper() -> None:
    """Every second percent, 51 instants."""
    got = nine_angles(CONTROLS)
    assert got.shape == (48, 9, 51)
    np.testing.assert_array_equal(PHASE, np.arange(0, 101, 2))
    for i, place in enumerate(PLACES):
        np.testing.assert_array_equal(got[:, i], CONTROLS[place[0]].values[(slice(None), *place[1:])][:, ::2])


def test_who_walks_as_the_reference_does_on_average_scores_nothing() -> None:
    found = scores(average_walker(), REFERENCE, gdi_features=15)
    for name in SCORES:
        # rounding of means of angles up to 100 degrees
        np.testing.assert_allclose(found[name], 0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("i", range(9))
def test_an_offset_of_d_degrees_scores_d_in_its_angle(i: int) -> None:
    """The side's GPS is d over the root of 9, that of both sides d over the root of 15 per side with the offset."""
    shifted = changed(average_walker(), PLACES[i], -7.5)
    found = scores(shifted, REFERENCE, gdi_features=15)
    for k, name in enumerate(GAIT_ANGLES):
        np.testing.assert_allclose(found[f"gait_variable_score_{name}"], 7.5 * (k == i), atol=1e-12)
    np.testing.assert_allclose(found["gait_profile_score"], 7.5 / 3)
    sides = 1 if GAIT_ANGLES[i].startswith("pelvis") else 2
    np.testing.assert_allclose(found["gait_profile_score_overall"], 7.5 * np.sqrt(sides / 15))


def test_a_sine_beside_the_reference_scores_its_amplitude_over_the_root_of_two() -> None:
    """51 instants hold 0 and 100 %: the sum of squared sines is 25 amplitudes squared, over 51."""
    waved = changed(average_walker(), PLACES[6], 8 * np.sin(2 * np.pi * np.arange(101) / 100))
    found = scores(waved, REFERENCE, gdi_features=15)
    np.testing.assert_allclose(found["gait_variable_score_knee_flexion"], 8 * np.sqrt(25 / 51))


def test_the_overall_score_takes_the_pelvis_of_the_left_side_alone() -> None:
    """And of the other side the cycle that overlaps most: not that of another trial or person."""
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


@pytest.mark.parametrize("features", [3, 15, None])
def test_the_reference_has_a_deviation_index_of_100_and_10(features: int | None) -> None:
    found = scores(CONTROLS, REFERENCE, gdi_features=features)
    index = found["gait_deviation_index"]
    assert index.mean() == pytest.approx(100)
    assert index.std() == pytest.approx(10)


def test_each_person_of_the_reference_weighs_the_same() -> None:
    """However many cycles: one person's four times over change no score."""
    twice = xr.concat([CONTROLS, *[CONTROLS.isel(cycle=slice(0, 4))] * 3], dim="cycle")
    others = walked(["p", "q"], "lr", seed=7, spread=9)
    plain, weighted = (scores(others, reference_gait(of), gdi_features=8) for of in (CONTROLS, twice))
    for name, values in plain.items():
        # singular vectors of two matrices: rounding of 459 numbers of 100 degrees in the root of their squares
        np.testing.assert_allclose(weighted[name], values, rtol=1e-9, err_msg=name)


def test_an_index_of_all_directions_is_the_profile_score_in_another_scale() -> None:
    """Ln of GPS, scaled by that of the reference."""
    others = walked(["p", "q", "r"], "lr", seed=3, spread=12)
    found = scores(others, REFERENCE, gdi_features=None)
    assert "gait_deviation_index_share" not in found
    of_controls = np.log(scores(CONTROLS, REFERENCE, gdi_features=None)["gait_profile_score"])
    z = (np.log(found["gait_profile_score"]) - of_controls.mean()) / of_controls.std()
    np.testing.assert_allclose(found["gait_deviation_index"], 100 - 10 * z)


def test_the_index_by_hand_in_a_plane_of_two_features() -> None:
    """Four people at the corners of a kite about a mean far away: distances known, features the plane through it.

    A third direction, that no control goes, changes the share and not the index.
    """
    size = (9, 51)
    e = np.eye(459)[:3].reshape(3, *size)
    corners = np.array([[1, 0], [-1, 0], [0, np.e], [0, -np.e]])
    mean = 1000 * e[0]
    cycles = mean + np.tensordot(corners, e[:2], 1)
    reference = ReferenceGait(mean, cycles, np.full(4, 0.25), 4)
    gait = mean + np.stack([np.e**2 * e[1], np.e**2 * e[1] + np.e**2 * e[2]])
    index, share = deviation_index(gait, reference, features=2)
    # ln of the controls' distances: 0, 0, 1, 1, of mean 1/2 and SD 1/2; of the stranger 2: z = 3
    np.testing.assert_allclose(index, 70)
    np.testing.assert_allclose(share, [100, 50])


def test_scores_do_not_depend_on_the_order_of_cycles_or_angles_in_the_file() -> None:
    others = walked(["p", "q"], "lr", seed=7)
    mixed = others.isel(cycle=[2, 0, 3, 1], joint=[1, 2, 0], angle=[2, 0, 1])
    shuffled = reference_gait(CONTROLS.isel(cycle=np.random.default_rng(0).permutation(48), joint=[2, 0, 1]))
    plain, other = scores(others, REFERENCE, gdi_features=15), scores(mixed, shuffled, gdi_features=15)
    for name, values in plain.items():
        np.testing.assert_allclose(other[name], values[[2, 0, 3, 1]], rtol=1e-9, err_msg=name)  # as above


def test_a_common_change_of_people_and_reference_costs_nothing() -> None:
    """Another zero of every angle: the profile stays, and the index of all directions."""
    others = walked(["p", "q"], "lr", seed=7)
    shifted = [gait + 13.0 for gait in (others, CONTROLS)]
    plain = scores(others, REFERENCE, gdi_features=None)
    for name, values in scores(shifted[0], reference_gait(shifted[1]), gdi_features=None).items():
        np.testing.assert_allclose(values, plain[name], rtol=1e-9, err_msg=name)


def test_a_missing_sample_costs_what_needs_it() -> None:
    gait = walked(["p"], "lr")
    gait.joint_angle.values[0, 1, 0, 60] = np.nan  # the left knee
    found = scores(gait, REFERENCE, gdi_features=15)
    lost = {name for name, values in found.items() if np.isnan(values[0])}
    assert lost == {"gait_profile_score", "gait_profile_score_overall", "gait_variable_score_knee_flexion"} | {
        *DEVIATION_INDEX
    }
    assert {name for name, values in found.items() if np.isnan(values[1])} == {"gait_profile_score_overall"}
    some = CONTROLS.copy(deep=True)
    some.pelvis_angle.values[3, 1, 4] = np.nan
    without = reference_gait(CONTROLS.isel(cycle=np.delete(np.arange(48), 3)))
    np.testing.assert_allclose(reference_gait(some).mean, without.mean)


def test_a_study_without_a_cycle_has_scores_of_none() -> None:
    found = scores(CONTROLS.isel(cycle=slice(0)), REFERENCE, gdi_features=15)
    assert {name: values.shape for name, values in found.items()} == dict.fromkeys((*SCORES, *DEVIATION_INDEX), (0,))


def test_a_table_of_means_gives_the_profile_and_no_index() -> None:
    """Where it reaches: without foot progression there is neither its score nor the sum of all."""
    table = table_of_means(CONTROLS)
    gait = walked(["p"], "lr", seed=9)
    found = scores(gait, reference_gait(table), gdi_features=15)
    assert set(found) == set(SCORES)
    plain = scores(gait, REFERENCE, gdi_features=15)
    for name in SCORES:
        np.testing.assert_allclose(found[name], plain[name], atol=1e-4, err_msg=name)  # digits of the table
    rows = [line for line in table.splitlines() if not line.startswith("foot_progression")]
    part = scores(gait, reference_gait("\n".join(rows)), gdi_features=15)
    assert np.isnan(part["gait_variable_score_foot_progression"]).all()
    assert np.isnan(part["gait_profile_score"]).all()
    assert np.isfinite(part["gait_variable_score_hip_rotation"]).all()


def table_of_means(gait: xr.Dataset) -> str:
    """Return the table of a study that has kinetics of one constant."""
    loads = {
        "joint_moment_jcs": ("joint", "angle", "phase"), "joint_power": ("joint", "phase"),
        "ground_force": ("axis", "phase"),
    }  # fmt: skip
    shapes = {name: [gait.sizes["cycle"], *(len(COORDINATES[dim]) for dim in dims)] for name, dims in loads.items()}
    return table_of(gait.assign({name: (("cycle", *dims), np.ones(shapes[name])) for name, dims in loads.items()}))


def test_the_band_of_a_study_is_that_of_its_people() -> None:
    """Standard deviation over people, 12, of their means, not over 48 cycles."""
    curves = reference_of(table_of_means(CONTROLS), where="study.nc")
    assert table_of_means(CONTROLS).splitlines()[0].split() == list(COLUMNS)
    knee = CONTROLS.joint_angle.values[:, 1, 0].reshape(12, 4, 101).mean(axis=1)
    got = curves[("joint_angle", "knee", "flexion")]
    np.testing.assert_allclose(got.mean, knee.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(got.sd, knee.std(axis=0, ddof=1), rtol=1e-4)
    assert curves[("ground_force", "y")].mean[50] == 1


def test_a_reference_that_cannot_be_used_is_said() -> None:
    with pytest.raises(UserError, match=r"no study\.nc"):
        reference_gait(xr.Dataset({"time": ("time", [0.0])}))
    with pytest.raises(UserError, match="no gait cycle in it has all nine angles"):
        reference_gait(changed(CONTROLS, PLACES[4], np.nan))
    settings = [{"kinematics": {"static_offset": offset}, "body_model": "cast"} for offset in ("keep", "subtract")]
    there, here = ({"settings": json.dumps(made)} for made in settings)
    with pytest.raises(UserError, match=r"made with kinematics\.static_offset keep, this study with subtract"):
        differences(there, here)
    assert differences(there, there) == differences({}, there) == ""
    other = {"settings": json.dumps(settings[0] | {"body_model": "ior"})}
    assert differences(there, other) == "body_model cast there, ior here"


def test_one_person_is_no_reference_for_an_index() -> None:
    found = scores(CONTROLS, reference_gait(walked(["c1"], "lrlr")), gdi_features=15)
    assert set(found) == set(SCORES)


def test_real_people_differ_more_from_others_than_from_themselves(shared: Path) -> None:
    """Children and an adult with Plug-in Gait, walked through the whole pipeline, each against all of them.

    A person compared with the others alone scores farther than with a reference that holds the own cycles, and the
    scores reach study.nc and the tables. No published number exists for these people.
    """
    sessions = run_study(shared / "studies" / "plug_in_gait", {})
    cycles = {name: {trial: steps["cycles"] for trial, steps in one.trials.items()} for name, one in sessions.items()}
    about: dict[str, Any] = {
        name: {
            "participant": {"participant_id": name[:6]},
            "trials": {trial: {"condition": "walk", "role": "gait"} for trial in trials},
        }
        for name, trials in cycles.items()
    }
    gathered = study(cycles, sessions=about, reference=None, gdi_features=15)[0]
    dataset, metrics, _ = study(cycles, sessions=about, reference=gathered, gdi_features=15)
    described("study", dataset)
    assert set(SCORES) | set(DEVIATION_INDEX) <= set(metrics) & set(per_participant(metrics)[0])
    known = np.isfinite(metrics.gait_profile_score)
    assert known.sum() > 10
    own = metrics[known].groupby("participant")
    index = np.average(own.gait_deviation_index.mean())
    assert index == pytest.approx(100)
    assert (metrics.gait_deviation_index_share[known] > 90).all()
    for person, rows in own:
        others = gathered.isel(cycle=gathered.participant.values != person)
        mine = gathered.isel(cycle=rows.index.to_numpy())
        far = scores(mine, reference_gait(others), gdi_features=15)
        assert far["gait_profile_score"].mean() > rows.gait_profile_score.mean()
        # healthy adults score some 5 degrees, children with cerebral palsy up to some 20 (Baker 2009)
        assert 2 < far["gait_profile_score"].mean() < 25
