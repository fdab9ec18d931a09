"""Gait Deviation Index: by hand, as the profile score on another scale, and invariances."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.study.gait_scores import ReferenceGait, deviation_index, reference_gait, score_cycles, scores
from tests.support.studies.scored_cycles import CONTROLS, PEOPLE, PROFILE, REFERENCE, SINGULAR, walked


@pytest.mark.parametrize("features", [3, 15, None])
def test_the_reference_has_a_deviation_index_of_100_and_10(features: int | None) -> None:
    found = scores(CONTROLS, REFERENCE, gdi_features=features)
    index = found["reference_deviation_index"]
    assert index.mean() == pytest.approx(100)
    assert index.std() == pytest.approx(10)


def test_an_index_of_all_directions_is_the_profile_score_on_another_scale() -> None:
    """The logarithm of the GPS, scaled by that of the reference."""
    others = walked(["p", "q", "r"], "lr", seed=3, spread=12)
    found = scores(others, REFERENCE, gdi_features=None)
    assert "reference_deviation_index_share" not in found
    of_controls = np.log(scores(CONTROLS, REFERENCE, gdi_features=None)["gait_profile_score"])
    z = (np.log(found["gait_profile_score"]) - of_controls.mean()) / of_controls.std()
    np.testing.assert_allclose(found["reference_deviation_index"], 100 - 10 * z)


def test_the_index_by_hand_in_a_plane_of_two_features() -> None:
    """Four people at the corners of a kite about a distant mean: known distances, features that span its plane.

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


def test_each_person_of_the_reference_has_the_same_weight() -> None:
    """Repeating the cycles of one person four times changes no score."""
    twice = xr.concat([CONTROLS, *[CONTROLS.isel(cycle=slice(0, 4))] * 3], dim="cycle")
    others = walked(["p", "q"], "lr", seed=7, spread=9)
    plain, weighted = (scores(others, reference_gait(of), gdi_features=8) for of in (CONTROLS, twice))
    for name, values in plain.items():
        np.testing.assert_allclose(weighted[name], values, rtol=SINGULAR, err_msg=name)


def test_the_same_offset_in_people_and_reference_changes_no_score() -> None:
    """Another zero of every angle changes neither the profile nor the index of all directions."""
    others = walked(["p", "q"], "lr", seed=7)
    shifted = [gait + 13.0 for gait in (others, CONTROLS)]
    plain = scores(others, REFERENCE, gdi_features=None)
    for name, values in scores(shifted[0], reference_gait(shifted[1]), gdi_features=None).items():
        np.testing.assert_allclose(values, plain[name], rtol=SINGULAR, err_msg=name)


def test_an_index_needs_ten_people_and_a_remark_states_it() -> None:
    """With fewer people, their standard deviation, the scale of the index, is known too badly."""
    for count, words in ((9, "the reference has 9 people, 10 or more are needed"), (10, "")):
        found, remarks = score_cycles(CONTROLS, walked(PEOPLE[:count], "lrlr"), gdi_features=15)
        assert set(PROFILE) <= set(found)
        assert ("reference_deviation_index" in found) == (not words)
        assert bool(remarks) == bool(words)
        assert all(words in remark for remark in remarks)
