"""Functional hip centre: spheres with a known centre, a generated person, a real trial with three other answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

from pipeline.body.landmarks import positions
from pipeline.body.segment_poses import frame
from pipeline.conventions import SIDES
from pipeline.errors import UserError
from pipeline.steps.calibrate.functional_hip import functional_hip, sphere_centre
from pipeline.steps.calibrate.step import calibrate
from pipeline.steps.read.step import read_trial as read
from pipeline.trials.session import join_trials
from tests.support.studies.rejected import rejection
from tests.support.walks.person import (
    HIP_M,
    PROPERTY,
    SEED,
    Array,
    Landmarks,
    Pose,
    body_model,
    calibrated,
    calibration_of,
    close,
    landmarks,
    of_side,
    recorded,
    standing,
    walk,
)

ISB = "isb_clusters"


def circling(count: int, range_deg: float, rng: np.random.Generator) -> Array:
    """Return rotation matrices (time, 3, 3) of a thigh that turns by up to half of a range about each axis."""
    angles = rng.uniform(-0.5, 0.5, size=(count, 3)) * range_deg
    return np.asarray(Rotation.from_euler("ZXY", angles, degrees=True).as_matrix())


@given(SEED)
@PROPERTY
def test_markers_on_spheres_give_their_centre(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centre, cluster = rng.normal(size=3), rng.normal(size=(4, 3)) * 0.3
    points = centre + np.einsum("tij,mj->tmi", circling(200, 60, rng), cluster)
    points[rng.random(points.shape[:2]) < 0.2] = np.nan
    found = sphere_centre(points)
    close(found.centre, centre, 1e-7)  # squares of metres: half the digits of a double
    assert found.residual_m < 1e-7


@pytest.mark.parametrize("noise_m", [0.002, 0.005])
def test_noise_is_told_and_does_not_draw_the_centre_to_the_markers(noise_m: float) -> None:
    """4 markers, 20,000 frames: the error is a tenth of that of the uncorrected equations."""
    rng = np.random.default_rng(1)
    cluster = np.array([[0.05, -0.2, 0.06], [0, -0.2, 0.09], [0.05, -0.3, 0.05], [-0.02, -0.3, 0.08]])
    exact = np.einsum("tij,mj->tmi", circling(20_000, 40, rng), cluster)
    noisy = exact + rng.normal(size=exact.shape) * noise_m
    found, uncorrected = sphere_centre(noisy), sphere_centre(noisy, repetitions=1)
    close(found.residual_m, noise_m, 0.05 * noise_m)
    assert np.linalg.norm(found.centre) < 0.1 * np.linalg.norm(uncorrected.centre)
    assert uncorrected.centre[1] < 0  # towards the markers


def leg_circles(range_deg: float, count: int = 400) -> Landmarks:
    """Return a person with thighs that turn about the hips while the pelvis sways."""
    rng = np.random.default_rng(3)
    pose = walk(np.linspace(0, 4, count))
    hip = np.stack([of_side(HIP_M, side) for side in SIDES])
    rotation, centre = pose.rotation.copy(), pose.centre.copy()
    centre[:, :, 2] = pose.pelvis_origin[:, None] + hip @ pose.rotation[:, 0, 3]
    turns = np.stack([circling(count, range_deg, rng) for _ in SIDES], axis=1)
    rotation[:, :, 2] = turns @ rotation[:, :, 3]
    return landmarks(Pose(rotation, centre, pose.pelvis_origin, pose.angle))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", [ISB, "plug_in_gait", "ior", "gait2354"])
def test_hip_of_a_person_who_circles_the_leg(name: str, side: str) -> None:
    """With or without a cluster on the thigh. Pelvis axes of plug_in_gait and gait2354 are those of the sacrum."""
    model = body_model(name)
    found = functional_hip(leg_circles(60), model.legs[side])
    close(found.centre, of_side(HIP_M, side), 1e-6)
    assert 40 < min(found.sagittal_deg, found.frontal_deg) < 60
    assert found.residual_m < 1e-6


def test_what_cannot_be_used_is_refused() -> None:
    model = body_model(ISB)
    wide = leg_circles(60)
    hidden = {name: where for name, where in wide.items() if not name.startswith("thigh")}
    slipping = {name: where.copy() for name, where in wide.items()}
    slipping["thigh_1_left"][::2] += 0.2
    for seen, message in (
        (leg_circles(15), r"moves by \d+ degrees forward and back and \d+ to the sides, expected 20 or more"),
        (leg_circles(60, count=40), "40 frames show the pelvis"),
        (hidden, "the left thigh is not seen: none of thigh_1"),
        ({name: where for name, where in wide.items() if name != "psis_left"}, "pelvis is not seen: no psis left"),
        (slipping, "stray from their spheres"),
    ):
        with pytest.raises(UserError, match=message):
            functional_hip(seen, model.legs["left"])


def test_calibration_takes_the_functional_hip_where_there_is_one() -> None:
    model = body_model(ISB)
    trials = {"standing": recorded(model, standing()), "circles": recorded(model, leg_circles(60), role="functional")}
    plain = calibrated(model, standing())
    choices = {"body_model": model, **calibration_of(segment_parameters="dempster", hip_centre="functional")}
    found = calibrate(join_trials(trials), functional={"circles": "hip_left"}, **choices)
    hips = found.joint_position.sel(joint="hip")
    close(hips.sel(side="left"), of_side(HIP_M, "left"), 1e-6)
    close(hips.sel(side="right"), plain.joint_position.sel(joint="hip", side="right"))
    assert found.attrs["hip_centre_left"].startswith("functional: markers 0.0 mm")
    assert found.attrs["hip_centre_right"] == "harrington, no functional trial of this side"
    with pytest.raises(
        UserError, match="no functional trial is listed; list one with role functional and condition hip"
    ):
        calibrate(join_trials(trials), functional={"circles": "knee_left"}, **choices)
    lost = trials | {"circles": rejection("the file is cut short", {"role": "functional"}).dataset()}
    with pytest.raises(UserError, match="functional trial circles: the file is cut short; or choose another"):
        calibrate(join_trials(lost), functional={"circles": "hip"}, **choices)


def test_real_trial_agrees_with_the_methods_of_another_program(shared: Path) -> None:
    """The walking file stores the hip centre by three functional methods, 4 to 11 mm apart; ours agrees with the first.

    Between the two lie other pelvis axes, other markers and the correction for noise.
    """
    folder, model = shared / "studies" / "functional" / "sub-01", body_model("functional_clusters")

    def seen(file: str) -> tuple[Landmarks, dict[str, Array]]:
        trial = read(folder / file, body_model=model, lab_axes="quarter_turn")
        labels, where = list(trial.marker.values), trial.marker_position.values
        return positions(model, labels, where), {label: where[:, i] for i, label in enumerate(labels)}

    circles, _ = seen("FunctionalLHip.c3d")
    ours = functional_hip(circles, model.legs["left"])
    points, stored = seen("FunctionalWalk.c3d")
    pelvis = frame(model.segments["pelvis"].axes, points, {}, "left")
    middle = (points["asis_left"] + points["asis_right"]) / 2
    theirs = {
        name: np.einsum("tij,tj->ti", pelvis, stored[f"LeftHipCenter{name}"] - middle).mean(axis=0)
        for name in ("Gamage", "Score", "NM")
    }
    assert np.linalg.norm(ours.centre - theirs["Gamage"]) < 0.006
    assert max(np.linalg.norm(ours.centre - centre) for centre in theirs.values()) < 0.012
    assert ours.residual_m < 0.004
    with pytest.raises(UserError, match="the right thigh moves by 7 degrees"):
        functional_hip(circles, model.legs["right"])
