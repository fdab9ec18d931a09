"""The scale and the axes of a model's pelvis from the spines of a person and of the model; without OpenSim."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.arrays import Array
from pipeline.extras.opensim.muscles.pelvis import BONES, SKIN_DEPTH_M, SKIN_WIDTH_M, Spines, fit_pelvis, shifts

ANTERIOR, POSTERIOR = np.array([0.0, 0.0, 0.125]), np.array([-0.16, 0.0, 0.05])
LEVEL = {"RASI": ANTERIOR, "LASI": ANTERIOR * (1, 1, -1), "RPSI": POSTERIOR, "LPSI": POSTERIOR * (1, 1, -1)}
BY_EYE = {  # gait2392_Scale_MarkerSet.xml of OpenSim
    "R.ASIS": np.array([0.02, 0.03, 0.128]),
    "L.ASIS": np.array([0.02, 0.03, -0.128]),
    "V.Sacral": np.array([-0.16, 0.04, 0.0]),
}
OWN = Spines(0.25, 0.16)


def both(hip: Array) -> dict[str, Array]:
    return {"right": hip, "left": hip * (1, 1, -1)}


HIPS = both(np.array([-0.048, -0.086, 0.09]))
GAIT2392 = both(BONES["Gait2392"].hip)


def test_a_person_with_the_spines_of_the_model_has_its_scale_and_axes() -> None:
    found = fit_pelvis(LEVEL, HIPS, HIPS, OWN)
    np.testing.assert_allclose(found.factors, 1)
    assert found.tilt_rad == pytest.approx(0)
    for shift in shifts(HIPS, HIPS, found.tilt_rad).values():
        np.testing.assert_allclose(shift, 0, atol=1e-15)


def test_a_hip_elsewhere_changes_neither_scale_nor_axes() -> None:
    """A regression or a functional hip decides on where the hips are alone."""
    found = fit_pelvis(LEVEL, HIPS, both(np.array([-0.07, -0.06, 0.07])), OWN)
    np.testing.assert_allclose(found.factors, 1)
    assert found.tilt_rad == pytest.approx(0)


def test_width_and_depth_have_an_axis_each() -> None:
    np.testing.assert_allclose(fit_pelvis(LEVEL, HIPS, HIPS, Spines(0.5, 0.16)).factors, [1, 1.5, 2])
    np.testing.assert_allclose(fit_pelvis(LEVEL, HIPS, HIPS, Spines(0.25, 0.24)).factors, [1.5, 1.25, 1])


def test_markers_by_eye_give_way_to_the_bone() -> None:
    """They would turn the pelvis by 3 degrees only, and have the hips 35 mm from where people have them."""
    person = both(np.array([-0.05, -0.085, 0.09]))
    with_markers = fit_pelvis(BY_EYE, GAIT2392, person, OWN)
    without = fit_pelvis({}, GAIT2392, person, OWN)
    assert with_markers.spines == without.spines == "Gait2392"
    np.testing.assert_allclose(with_markers.factors, without.factors)
    assert np.degrees(without.tilt_rad) == pytest.approx(14.8, abs=1.0), "the bone's spines, as scaled"


@pytest.mark.parametrize("name", BONES)
def test_a_known_bone_is_found_in_any_size(name: str) -> None:
    bone = BONES[name]
    depth_m = float(np.hypot(*(bone.anterior - bone.posterior)[:2])) + SKIN_DEPTH_M
    spines = Spines(2 * float(bone.anterior[2]) + SKIN_WIDTH_M, depth_m)
    found = fit_pelvis({}, both(bone.hip), both(bone.hip), spines)
    assert found.spines == name
    np.testing.assert_allclose(found.factors, 1)
    slope = np.arctan2(bone.posterior[1], -bone.posterior[0])
    assert found.tilt_rad == pytest.approx(slope), "x of the model points above the spines"
    assert fit_pelvis({}, both(1.05 * bone.hip), both(bone.hip), spines).spines == name


def test_without_spines_the_hips_decide_and_the_reason_is_said() -> None:
    wide = both(HIPS["right"] * (1, 1, 1.2))
    for markers, hips, spines, reason in (
        (LEVEL, HIPS, None, "the person's are not seen"),
        ({}, both(np.array([-0.02, -0.12, 0.05])), OWN, "its pelvis is that of no known model"),
    ):
        found = fit_pelvis(markers, hips, wide, spines)
        assert found.spines.startswith("hips decide")
        assert reason in found.spines
        np.testing.assert_allclose(found.factors, wide["right"][2] / hips["right"][2])


def test_hips_are_moved_to_the_persons_places() -> None:
    person = {"right": np.array([-0.05, -0.08, 0.08]), "left": np.array([-0.04, -0.09, -0.09])}
    tilt = np.radians(15)
    turn = np.array([[np.cos(tilt), -np.sin(tilt), 0], [np.sin(tilt), np.cos(tilt), 0], [0, 0, 1]])
    moved = {side: HIPS[side] + shift for side, shift in shifts(HIPS, person, tilt).items()}
    np.testing.assert_allclose(turn @ (moved["right"] - moved["left"]), person["right"] - person["left"])
    np.testing.assert_allclose(moved["right"] + moved["left"], HIPS["right"] + HIPS["left"])
