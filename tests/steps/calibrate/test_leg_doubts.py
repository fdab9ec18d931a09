"""Doubts about a leg by its static trial: segments that markers define badly, and bent knees."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.body.plausibility import LARGEST_STANDING_BEND_DEG
from pipeline.body.segment_poses import fit_pose
from pipeline.conventions import SIDES
from pipeline.json_text import from_text
from pipeline.steps.calibrate.leg_doubts import LARGEST_TURN_DEG, MARKER_ERROR_M, singular_values
from tests.support.settings import settings_of
from tests.support.steps import kinematics
from tests.support.walks.person import (
    PLACES,
    Landmarks,
    body_model,
    calibrated,
    cleaned,
    close,
    landmarks,
    of_side,
    standing,
    walk,
)

WALK_S = np.linspace(0, 1.1, 30)
MODEL = body_model("isb_clusters")


def doubts(calibration: xr.Dataset) -> list[tuple[str, str]]:
    """Return the first two words and the code of each finding on legs."""
    findings = from_text(calibration.attrs["leg_findings"])
    assert [one for one in from_text(calibration.attrs["findings"]) if one in findings] == findings
    return [(" ".join(one["what"].split()[:2]), one["code"]) for one in findings]


def beside_a_line(width_m: float, side: str) -> Landmarks:
    """Return a person standing with the shank's markers on a line but for one, ``width_m`` beside it."""
    person = standing()
    for i in range(4):
        place = of_side((0.05 + (width_m if i == 1 else 0.0), -0.1 - 0.06 * i, 0.02), side)
        person[f"shank_{i + 1}_{side}"] = person[f"knee_point_{side}"] + place
    return person


@pytest.mark.parametrize("side", SIDES)
def test_a_segment_of_markers_nearly_on_a_line_is_named(side: str) -> None:
    """The lever of one marker beside the line of three others is its width times some root of 3 / 4."""
    lever_m = MARKER_ERROR_M / np.radians(LARGEST_TURN_DEG)
    assert doubts(calibrated(MODEL, standing())) == []
    assert doubts(calibrated(MODEL, beside_a_line(lever_m, side))) == [(f"{side} shank", "leg_ill_defined")]
    assert doubts(calibrated(MODEL, beside_a_line(1.5 * lever_m, side))) == []


def test_the_error_of_an_orientation_is_that_of_many_noisy_fits() -> None:
    """Root mean square error about the worst axis, by 4000 draws, of which it is known within 1 / sqrt(2 x 4000)."""
    rng, calibration = np.random.default_rng(4), calibrated(MODEL, beside_a_line(0.03, "left"))
    own = (calibration.cluster_side == "left") & (calibration.cluster_segment == "shank")
    cluster = calibration.cluster_position.values[own.values]
    draws = cluster + 1e-4 * rng.normal(size=(4000, *cluster.shape))
    turns = Rotation.from_matrix(fit_pose(cluster, draws)[0]).as_rotvec()
    worst = np.sqrt(np.linalg.eigvalsh(turns.T @ turns / len(turns))[-1]) / 1e-4
    close(calibration.orientation_noise.sel(side="left", pose="shank") / worst, 1, 3 / np.sqrt(8000))
    extent = calibration.cluster_extent.sel(side="left", pose="shank").values
    close(extent, singular_values({str(i): place for i, place in enumerate(cluster)}))
    close(worst * np.hypot(*extent[1:]), 1, 0.05)  # it is about the cluster's long axis


def with_bent_knee(side: str, degrees: float) -> Landmarks:
    """Return a person standing with one knee bent: shank and foot are turned back about it."""
    person = standing()
    turn = Rotation.from_euler("z", -degrees, degrees=True)
    knee = person[f"knee_point_{side}"]
    for name, (segment, _) in PLACES.items():
        if segment in ("shank", "foot"):
            person[f"{name}_{side}"] = knee + turn.apply(person[f"{name}_{side}"] - knee)
    return person


@pytest.mark.parametrize("side", SIDES)
def test_a_bent_knee_is_named_and_gives_no_zero_of_angles(side: str) -> None:
    assert doubts(calibrated(MODEL, with_bent_knee(side, LARGEST_STANDING_BEND_DEG - 5))) == []
    calibration = calibrated(MODEL, with_bent_knee(side, LARGEST_STANDING_BEND_DEG + 5))
    assert doubts(calibration) == [(f"{side} knee", "static_knee_bent")]
    close(calibration.static_knee_flexion.sel(side=side), LARGEST_STANDING_BEND_DEG + 5, 0.5)
    moving = cleaned(MODEL, landmarks(walk(WALK_S)), WALK_S)
    for choice, known in (("keep", {*SIDES}), ("subtract", {*SIDES} - {side})):
        settings = settings_of("kinematics", static_offset=choice)
        angle = kinematics(moving, calibration, settings=settings, body_model=MODEL).joint_angle
        assert {each for each in SIDES if np.isfinite(angle.sel(side=each)).all()} == known


def test_a_walk_that_serves_as_static_shows_the_straightest_knee() -> None:
    flexion = np.degrees(walk(WALK_S).angle[:, :, 1, 0])
    close(calibrated(MODEL, landmarks(walk(WALK_S))).static_knee_flexion, np.percentile(flexion, 10, axis=0), 2.0)
