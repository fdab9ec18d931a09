"""The knee's own axis: hinges with a known axis, people whose epicondyles are marked wrong, skin, a real knee."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from scipy.spatial.transform import Rotation

from pipeline.__main__ import main
from pipeline.body.segment_poses import fit_pose
from pipeline.c3d.reader import read_c3d
from pipeline.conventions import SIDE_SIGN, SIDES
from pipeline.errors import UserError
from pipeline.json_text import from_text
from pipeline.steps.calibrate.knee_axis import hinge, turn_by_crosstalk
from pipeline.steps.calibrate.step import calibrate
from pipeline.trials.session import join_trials
from tests.support.studies.run_steps import run_study
from tests.support.walks.person import (
    PLACES,
    PROPERTY,
    SEED,
    SHANK_M,
    THIGH_M,
    Array,
    Landmarks,
    Pose,
    body_model,
    calibration_of,
    close,
    landmarks,
    recorded,
    standing,
    walk,
)

CLUSTERS = "isb_clusters"
FOOT, SHANK, THIGH = range(3)
NOISE_M, WITHIN_DEG = 0.005, 2.0  # what was promised: independent errors of 5 mm, and the axis within 2 degrees


def bending(turn_deg: float, range_deg: float = 100.0, count: int = 600) -> Pose:
    """Return a person whose knees bend about an axis that is turned inwards about the thigh, and nothing else moves."""
    pose = walk(np.linspace(0, 6, count))
    rotation, centre = pose.rotation.copy(), pose.centre.copy()
    rotation[:, :, THIGH] = rotation[:1, :, THIGH]
    bend = np.radians(range_deg) * (1 - np.cos(np.linspace(0, 8 * np.pi, count))) / 2
    for i, side in enumerate(SIDES):
        angle = SIDE_SIGN[side] * np.radians(turn_deg)
        axis = np.array([np.sin(angle), 0, np.cos(angle)])
        rotation[:, i, SHANK] = Rotation.from_rotvec(bend[:, None] * axis).as_matrix() @ rotation[:, i, THIGH]
        centre[:, i, 2] = centre[:1, i, 2]
        centre[:, i, 1] = centre[:, i, 2] - THIGH_M * rotation[:, i, THIGH, 1]
        centre[:, i, 0] = centre[:, i, 1] - SHANK_M * rotation[:, i, SHANK, 1]
    rotation[:, :, FOOT] = rotation[:, :, SHANK]
    rotation[:, :, 3], origin = rotation[:1, :, 3], np.broadcast_to(pose.pelvis_origin[:1], pose.pelvis_origin.shape)
    return Pose(rotation, centre, origin, pose.angle)


def noisy(points: Landmarks, seed: int, size_m: float = NOISE_M) -> Landmarks:
    rng = np.random.default_rng(seed)
    return {name: where + size_m * rng.normal(size=where.shape) for name, where in points.items()}


def found(
    name: str, bent: Landmarks, condition: str = "knee", still: Landmarks | None = None, **changes: Any
) -> xr.Dataset:
    model = body_model(name)
    trials = {"standing": recorded(model, still or standing()), "bend": recorded(model, bent, role="functional")}
    choices = {"body_model": model, **calibration_of(**{"segment_parameters": "dempster", **changes})}
    return calibrate(join_trials(trials), functional={"bend": condition}, **choices)


def turns(calibration: xr.Dataset, way: str = "functional") -> Array:
    return np.asarray(calibration.knee_axis_turn.sel(knee_axis_way=way).values)


def axes_deg(calibration: xr.Dataset) -> Array:
    """Return the direction of each knee's axis in the person who stands along the lab's axes, inwards positive."""
    z = calibration.static_rotation.sel(pose="thigh").values[:, 2]
    signs = np.array([SIDE_SIGN[side] for side in SIDES])
    return np.asarray(np.degrees(np.arctan2(z[:, 0], z[:, 2])) * signs)


@given(SEED)
@PROPERTY
def test_the_hinge_is_that_of_the_stacked_equations(seed: int) -> None:
    """The singular vector of [R, -S] of all frames, of noisy rotations in any axes."""
    rng = np.random.default_rng(seed)
    thigh, mounted = Rotation.random(300, random_state=rng), Rotation.random(random_state=rng)
    axis = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
    turn = Rotation.from_rotvec(rng.uniform(0, 1.8, 300)[:, None] * axis)
    shank = thigh * turn * Rotation.from_rotvec(0.05 * rng.normal(size=(300, 3))) * mounted
    stacked = np.concatenate([thigh.as_matrix(), -shank.as_matrix()], axis=2).reshape(-1, 6)
    known = np.linalg.svd(stacked)[2][-1]
    ours = hinge((thigh.inv() * shank).as_matrix())
    for mine, theirs in zip(ours, (known[:3], known[3:]), strict=True):
        close(np.abs(mine @ theirs) / np.linalg.norm(theirs), 1.0, 1e-9)
    assert ours[0] @ axis > np.cos(np.radians(2))  # 3 degrees a frame, 300 frames, 100 degrees


@given(SEED)
@PROPERTY
def test_least_crosstalk_has_the_least_variance_of_all_turns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    relative = Rotation.from_euler("ZXY", rng.uniform([-1.5, -0.2, -0.3], [0, 0.2, 0.3], (200, 3))).as_matrix()
    along = relative[:, :, 1]

    def variance(turn: float) -> float:
        return float(np.var(along[:, 2] * np.cos(turn) + along[:, 0] * np.sin(turn)))

    least = min(variance(turn) for turn in np.linspace(-np.pi / 2, np.pi / 2, 1801))
    assert variance(turn_by_crosstalk(relative)) <= least


@pytest.mark.parametrize("way", ["functional", "least_crosstalk"])
@pytest.mark.parametrize("turn_deg", [-15.0, 8.0])
@pytest.mark.parametrize("name", [CLUSTERS, "anatomical", "codamotion"])
def test_the_axis_of_a_person_whose_epicondyles_are_marked_wrong_is_found(name: str, turn_deg: float, way: str) -> None:
    """Independent errors of 5 mm in the motion."""
    model = found(name, noisy(landmarks(bending(turn_deg)), 4), knee_axis=way)
    assert np.abs(axes_deg(model) - turn_deg).max() < WITHIN_DEG
    assert all(model.attrs[f"knee_axis_{side}"].startswith(way) for side in SIDES)


@pytest.mark.parametrize("way", ["functional", "least_crosstalk"])
@pytest.mark.parametrize("turn_deg", [-15.0, 8.0])
@pytest.mark.parametrize("name", ["plug_in_gait", "plug_in_gait_kad"])
def test_the_axis_of_a_person_whose_wand_or_device_is_placed_wrong_is_found(
    name: str, turn_deg: float, way: str
) -> None:
    """Errors of 5 mm. The centre moves with the axis, on which a chord assumes the lateral marker to lie."""
    out = 0.05 * np.array([np.sin(np.radians(turn_deg)), 0, np.cos(np.radians(turn_deg))])
    ends = {"lateral_epicondyle": out, "medial_epicondyle": -out}
    places = {**PLACES} | {key: ("thigh", tuple(end + np.array([0, -THIGH_M, 0]))) for key, end in ends.items()}
    bent = noisy(landmarks(bending(turn_deg), places), 4)
    model = found(name, bent, still=standing(places=places), knee_axis=way)
    assert np.abs(axes_deg(model) - turn_deg).max() < WITHIN_DEG


def test_the_thigh_turns_and_nothing_else_does() -> None:
    bent = landmarks(bending(10.0))
    plain, turned = found(CLUSTERS, bent), found(CLUSTERS, bent, knee_axis="functional")
    close(axes_deg(turned) - axes_deg(plain), np.full(2, 10.0), 1e-6)
    for name, variable in plain.data_vars.items():
        if variable.dtype.kind == "f" and "pose" in variable.dims:
            others = [pose for pose in plain.pose.values if pose != "thigh"]
            np.testing.assert_array_equal(turned[name].sel(pose=others), variable.sel(pose=others), err_msg=str(name))
    still = plain.joint_position.sel(joint=["hip", "ankle"])
    np.testing.assert_array_equal(turned.joint_position.sel(joint=["hip", "ankle"]), still)


def test_without_knees_nothing_is_stored() -> None:
    model = found(CLUSTERS, landmarks(bending(5.0)), condition="hip_left")
    assert "knee_axis_turn" not in model
    assert not [name for name in model.attrs if name.startswith("knee_axis")]
    beside = found(CLUSTERS, landmarks(bending(5.0)), condition="knee_left")
    np.testing.assert_array_equal(beside.static_rotation, model.static_rotation)
    close(turns(beside)[0], 5.0, 1e-6)
    assert np.isnan(turns(beside)[1])
    assert beside.attrs["knee_axis_left"].startswith("markers; ")


@pytest.mark.parametrize(("slides_m", "doubts"), [(0.02, 0), (0.08, 2)])
def test_markers_that_slide_with_flexion_are_told(slides_m: float, doubts: int) -> None:
    """The skin takes the epicondyles round the thigh, in proportion to flexion; the rest of the cluster stays."""
    pose = bending(0.0)
    points = landmarks(pose)
    bend = (1 - np.cos(np.linspace(0, 8 * np.pi, len(pose.rotation)))) / 2
    for i, side in enumerate(SIDES):
        forward = pose.rotation[:, i, THIGH, 0]
        for name, sign in (("lateral_epicondyle", -1), ("medial_epicondyle", 1)):
            points[f"{name}_{side}"] = points[f"{name}_{side}"] + slides_m * sign * bend[:, None] * forward
    model = found("anatomical", points, knee_axis="functional")
    every, away = turns(model), turns(model, "functional_without_knee_markers")
    assert np.abs(away).max() < 0.1
    assert np.abs(every).min() > 1
    doubted = [one for one in from_text(model.attrs["findings"]) if one["code"] == "functional_knee_differs"]
    assert len(doubted) == doubts


@pytest.mark.parametrize("way", ["functional", "least_crosstalk"])
@pytest.mark.parametrize(("turns_deg", "doubts"), [(0, 0), (10, 2), (20, 2)])
def test_skin_that_turns_with_flexion_is_told_by_the_other_way(turns_deg: float, doubts: int, way: str) -> None:
    """All markers of the thigh turn about its long axis as the knee bends, by so much for each 60 degrees.

    The axis is then off by the turn at about the mean flexion, and no choice of these markers shows it.
    """
    pose, names = bending(0.0), list(body_model(CLUSTERS).segments["thigh"].cluster)
    points = noisy(landmarks(pose), seed=3)
    bend_deg = 50 * (1 - np.cos(np.linspace(0, 8 * np.pi, len(pose.rotation))))
    for i, side in enumerate(SIDES):
        axes, knee = pose.rotation[:, i, THIGH], pose.centre[:, i, 1]
        turn = Rotation.from_rotvec(np.radians(SIDE_SIGN[side] * turns_deg / 60 * bend_deg)[:, None] * axes[:, 1])
        for name in names:
            points[f"{name}_{side}"] = knee + turn.apply(points[f"{name}_{side}"] - knee)
    model = found(CLUSTERS, points, knee_axis=way)
    error_deg = np.abs(turns(model, way))
    assert (error_deg < WITHIN_DEG).all() if not turns_deg else (error_deg > 5).all()
    doubted = [one for one in from_text(model.attrs["findings"]) if one["code"] == "functional_knee_differs"]
    assert len(doubted) == doubts


def test_a_trial_of_the_other_leg_is_asked_about() -> None:
    with pytest.raises(UserError) as refused:
        found(CLUSTERS, landmarks(bending(5.0, range_deg=1.0)), knee_axis="functional", condition="knee_left")
    (problem,) = refused.value.problems
    assert "condition" in problem.remedy
    assert problem.where == "functional trial bend"


@pytest.mark.parametrize(("changed", "message"), [({"range_deg": 30.0}, "bends by"), ({"count": 40}, "40 frames show")])
def test_a_motion_that_shows_no_axis_is_refused(changed: dict[str, Any], message: str) -> None:
    bent = landmarks(bending(5.0, **changed))
    with pytest.raises(UserError, match=message) as refused:
        found(CLUSTERS, bent, knee_axis="functional")
    assert refused.value.problems[0].code == "functional_trial_unusable"
    kept = found(CLUSTERS, bent)  # beside the markers' axis, it is but said
    assert message in kept.attrs["knee_axis_left"]


def test_a_knee_that_nothing_shows_is_not_made_up() -> None:
    with pytest.raises(UserError, match="no functional trial of a knee is listed"):
        found(CLUSTERS, landmarks(bending(5.0)), condition="hip", knee_axis="functional")
    rng = np.random.default_rng(1)
    wild = {name: where + 0.03 * rng.normal(size=(len(where) // 60, 3)).repeat(60, axis=0) for name, where in
            landmarks(bending(5.0, range_deg=60)).items()}  # fmt: skip
    with pytest.raises(UserError, match="standard error"):
        found(CLUSTERS, wild, knee_axis="functional")


def test_walks_show_the_axis_of_least_crosstalk_where_no_knee_was_bent() -> None:
    model = body_model(CLUSTERS)
    trials = {"standing": recorded(model, standing()), "walk": recorded(model, landmarks(bending(-7.0)), role="gait")}
    choices = {"body_model": model, **calibration_of(knee_axis="least_crosstalk")}
    calibration = calibrate(join_trials(trials), **choices)
    close(turns(calibration, "least_crosstalk"), np.full(2, -7.0), 1e-6)
    assert np.isnan(turns(calibration)).all()
    trials["walk"] = recorded(model, landmarks(bending(-7.0, range_deg=30)), role="gait")
    with pytest.raises(UserError) as refused:
        calibrate(join_trials(trials), **choices)
    assert refused.value.problems[0].where == "walk walk"


def test_a_real_knee_shows_what_another_program_found(shared: Path) -> None:
    """Clusters of three: 19 degrees off the epicondyles with these in the thigh, 27 without, by SARA elsewhere."""
    folder = shared / "labs" / "functional_knee"
    if not folder.is_dir():
        pytest.skip("the recordings of other labs are absent")
    static, bent = (read_c3d(folder / f"{name}.c3d") for name in ("static", "right_knee"))

    def rotation(names: list[str]) -> Array:
        still, moved = (one.markers[:, [one.labels.index(name) for name in names]] for one in (static, bent))
        return fit_pose(np.nanmean(still, axis=0), moved)[0]

    epicondyles = [np.nanmean(static.markers[:, static.labels.index(name)], axis=0) for name in ("RMFE", "RLFE")]
    line = (epicondyles[1] - epicondyles[0]) / np.linalg.norm(epicondyles[1] - epicondyles[0])
    cluster, shank = ["RTHI1", "RTHI2", "RTHI3"], rotation(["RLEG1", "RLEG2", "RLEG3"])
    for names, known_deg in (([*cluster, "RLFE", "RMFE"], 19), (cluster, 27)):
        relative = rotation(names) @ np.swapaxes(shank, 1, 2)
        axis = hinge(relative[np.isfinite(relative).all(axis=(1, 2))])[0]
        assert np.degrees(np.arccos(abs(axis @ line))) == pytest.approx(known_deg, abs=1), names


def test_no_cross_talk_is_left_in_walks_of_another_lab(shared: Path, tmp_path: Path) -> None:
    """The witness of the walks, a slope of adduction on flexion, had 4 to 8 degrees with a knee alignment device."""
    if not (shared / "labs" / "kad_fmc").is_dir():
        pytest.skip("the recordings of other labs are absent")
    study = tmp_path / "kad_fmc"
    shutil.copytree(shared / "labs" / "kad_fmc", study)
    assert main(["init", str(study)]) == 0
    chosen = {"knee_axis": "least_crosstalk", "static_results": "static"}
    (session,) = run_study(study, {"calibrate": chosen}).values()
    for trial in session.trials.values():
        assert np.abs(trial["kinematics"].knee_axis_error).max() < 2
    with pytest.raises(UserError, match="files state the rotation of the thigh"):
        run_study(study, {"calibrate": {"knee_axis": "least_crosstalk"}})
