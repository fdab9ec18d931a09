"""Poses of segments in place of markers: a generated walk with known moments, and a recording of Theia3D."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.arrays import Array
from pipeline.body.segment_poses import fit_pose
from pipeline.c3d.reader import read_c3d
from pipeline.c3d.segment_poses import ARM_M, ENDS, read_poses
from pipeline.commands.check.command import check
from pipeline.commands.init.command import initialise
from pipeline.conventions import JOINTS, SIDES
from pipeline.json_text import to_text
from pipeline.signals.filters import low_pass
from pipeline.variables.methods_text import describe_methods
from tests.support.studies.references import rms
from tests.support.studies.run_steps import Session, run_study

SEGMENTS = {"hip": "thigh", "knee": "shank", "ankle": "foot"}
RIGHT_FORWARD_UP = [2, 0, 1]  # rows of a rotation to segment axes, in the order of Theia's columns
NO_FILTER = {"clean": {"marker_cutoff_hz": None, "force_cutoff_hz": None}}
THEIA = Path("data") / "segment_poses" / "theia.c3d"


def poses_in_file(steps: dict[str, xr.Dataset], truth: xr.Dataset) -> dict[str, Array]:
    """Return the 4 x 4 matrices (time, 4, 4) of a generated walk by label, in file axes and mm.

    Legs are the known answer's; pelvis, heels and toes, which it lacks, come from the noise-free markers. Its lab
    origin is shifted to that of the markers.
    """
    moved, raw = steps["kinematics"], steps["read"]
    turn = raw.lab_rotation.values
    shift = (moved.joint_centre - truth.joint_centre).sel(joint="hip").mean(("time", "side")).values
    rotation, origin = {}, {}
    for side in SIDES:
        for joint, segment in SEGMENTS.items():
            name = f"{side[0]}_{segment}_4X4"
            rotation[name] = truth.rotation.sel(side=side, segment=segment).values
            origin[name] = truth.joint_centre.sel(side=side, joint=joint).values + shift
        for name in ("toes", "heel"):
            landmark = steps["clean"].marker_position.sel(marker=f"{name.removesuffix('s')}_{side}").values
            rotation[f"{side[0]}_{name}_4X4"] = rotation[f"{side[0]}_foot_4X4"]
            origin[f"{side[0]}_{name}_4X4"] = landmark
    rotation["pelvis_4X4"] = moved.rotation.sel(side="left", segment="pelvis").values
    origin["pelvis_4X4"] = (origin["l_thigh_4X4"] + origin["r_thigh_4X4"]) / 2
    poses = {}
    for name, to_segment in rotation.items():
        pose = np.tile(np.eye(4), (len(to_segment), 1, 1))
        pose[:, :3, :3] = np.swapaxes((to_segment @ turn)[:, RIGHT_FORWARD_UP], 1, 2)
        pose[:, :3, 3] = 1000 * origin[name] @ turn
        poses[name] = pose
    return poses


def write_poses(source: Path, target: Path, poses: dict[str, Array]) -> None:
    """Write a copy of a C3D file with poses in place of its markers, as Theia3D does."""
    content = ezc3d.c3d(str(source))
    count = content["data"]["points"].shape[2]
    heels = {name[:6]: poses.pop(f"{name[:6]}_4X4") for name in [*poses] if "_heel_" in name}
    for name, pose in heels.items():
        foot = poses[f"{name[0]}_foot_4X4"]
        arm = np.einsum("tai,ta->ti", foot[:, :3, :3], pose[:, :3, 3] - foot[:, :3, 3]).mean(axis=0) / 1000
        content.add_parameter("THEIA3D", name, arm.tolist())
    content["data"]["points"] = np.empty((4, 0, count))
    del content["data"]["meta_points"]
    for name in ("LABELS", "DESCRIPTIONS"):
        content["parameters"]["POINT"][name]["value"] = []
    content.add_parameter("ROTATION", "LABELS", [*poses])
    content.add_parameter("ROTATION", "RATE", [content["parameters"]["POINT"]["RATE"]["value"][0]])
    content["data"]["rotations"] = np.moveaxis(np.stack([*poses.values()]), (0, 1), (2, 3))
    content.write(str(target))


def moment_errors(session: Session, truths: dict[str, xr.Dataset]) -> dict[str, float]:
    """Return the root-mean-square error of the moments of each joint, N m; a spline is unconstrained at its ends."""
    errors: dict[str, list[Array]] = {joint: [] for joint in JOINTS}
    for trial, truth in truths.items():
        steps = session.trials[trial]
        like = {"joint": truth.joint, "side": truth.side}
        rotation = steps["kinematics"].rotation.sel(segment=truth.segment, side=truth.side).values
        moment = np.einsum("tsjla,tsjl->tsja", rotation, steps["kinetics"].joint_moment.sel(like).values)
        difference = (moment - truth.joint_moment_lab.values)[10:-10]
        for i, joint in enumerate(truth.joint.values.tolist()):
            errors[joint].append(difference[:, :, i][np.isfinite(difference[:, :, i]).all(axis=-1)])
    return {joint: rms(np.concatenate(each)) for joint, each in errors.items()}


def test_poses_of_a_walk_give_moments_as_good_as_its_markers(shared: Path, tmp_path: Path) -> None:
    source, study = shared / "studies" / "exact", tmp_path / "study"
    truths = {
        trial: xr.load_dataset(shared / "studies" / "exact-truth" / f"sub-01_{trial}.nc")
        for trial in ("walk_01", "walk_02", "walk_03")
    }
    by_markers = run_study(source, NO_FILTER | {"kinematics": {"method": "segments"}}, only={"sub-01"})["sub-01"]
    (study / "sub-01").mkdir(parents=True)
    for name in ("participants.tsv", "segments.tsv"):
        shutil.copy(source / name, study)
    for trial, truth in truths.items():
        file = f"sub-01/{trial}.c3d"
        write_poses(source / file, study / file, poses_in_file(by_markers.trials[trial], truth))
    rows = [f"sub-01\t{trial}\tsub-01/{trial}.c3d\tgait\twalk" for trial in truths]
    rows = ["participant_id\ttrial\tfile\trole\tcondition", "sub-01\tstill\tsub-01/walk_01.c3d\tstatic\tstatic", *rows]
    (study / "trials.tsv").write_text("\n".join(rows) + "\n")
    (study / "study.yaml").write_text("body_model: segment_poses\n")
    by_poses = run_study(study, NO_FILTER, only={"sub-01"})["sub-01"]
    of_markers, of_poses = (moment_errors(one, truths) for one in (by_markers, by_poses))
    rounding = 1e-4  # N m: a centre is one number of single precision here, by markers the mean of several
    for joint in JOINTS:
        assert of_poses[joint] < of_markers[joint] + rounding


@pytest.fixture(scope="module")
def theia(shared: Path) -> Array:
    """Return the matrices (segment, time, 4, 4) of the recording, in mm, by ezc3d's own interface."""
    return np.moveaxis(ezc3d.c3d(str(shared / THEIA))["data"]["rotations"], (2, 3), (0, 1))


@pytest.mark.parametrize("name", ["l_thigh_4X4", "r_shank_4X4", "r_foot_4X4", "pelvis_4X4"])
def test_filtered_ends_are_the_filtered_position_and_rotation_vector(name: str, shared: Path, theia: Array) -> None:
    """The rest is of third order in the turn within the filter's memory, and of vectors about the mean rotation.

    Root mean square .0003 degrees (pelvis), .004 (thigh), .022 (shank), .074 (foot), where the filter takes .76 to 1.3.
    """
    recording = read_c3d(shared / THEIA)
    labels = ezc3d.c3d(str(shared / THEIA))["parameters"]["ROTATION"]["LABELS"]["value"]
    pose = theia[labels.index(name)]
    seen = np.flatnonzero(np.isfinite(pose).all(axis=(1, 2)))
    stretch = max(np.split(seen, np.flatnonzero(np.diff(seen) > 1) + 1), key=len)
    pose = pose[stretch]

    def smooth(values: Array) -> Array:
        return low_pass(values, rate_hz=recording.marker_rate_hz, cutoff_hz=6.0, order=4)

    columns = [recording.labels.index(name + end) for end in ENDS]
    ends = recording.markers[stretch][:, columns]
    places = ARM_M * np.array([*ENDS.values()], dtype=float)
    rotation, origin, _ = fit_pose(places, smooth(ends))
    middle = Rotation.from_matrix(pose[:, :3, :3]).mean()
    vector = (middle.inv() * Rotation.from_matrix(pose[:, :3, :3])).as_rotvec()
    by_vector = middle * Rotation.from_rotvec(smooth(vector))
    apart_deg = np.degrees((by_vector.inv() * Rotation.from_matrix(np.swapaxes(rotation, 1, 2))).magnitude())
    taken_deg = np.degrees((by_vector.inv() * Rotation.from_matrix(pose[:, :3, :3])).magnitude())
    assert rms(apart_deg) < 0.1
    assert rms(apart_deg) < 0.1 * rms(taken_deg)
    assert np.abs(origin - smooth(pose[:, :3, 3] / 1000)).max() < 1e-6


def test_theia_file_gives_angles_in_the_right_direction(shared: Path, tmp_path: Path, theia: Array) -> None:
    """Knee flexion is the angle between the thigh's and the shank's long axes, which the file shows by itself."""
    shutil.copy(shared / THEIA, tmp_path)
    (tmp_path / "participants.tsv").write_text("participant_id\tmass_kg\theight_m\tsex\nsub-01\t70\t1.75\tF\n")
    rows = ["participant_id\ttrial\tfile\trole\tcondition", "sub-01\twalk\ttheia.c3d\tgait\twalk",
            "sub-01\tstill\ttheia.c3d\tstatic\tstatic"]  # fmt: skip
    (tmp_path / "trials.tsv").write_text("\n".join(rows) + "\n")
    (tmp_path / "study.yaml").write_text("body_model: segment_poses\n")
    session = run_study(tmp_path, NO_FILTER)["sub-01"]
    assert "static_trial_moves" not in session.calibration.attrs["findings"]  # nothing but sizes is taken from it
    assert "static_trial_moves" not in [finding.code for finding in check(tmp_path)]
    told = describe_methods({"settings": to_text({"body_model": "segment_poses"})}, [session.calibration.attrs])
    assert "poses that the recordings state" in told
    assert "shown" not in told
    steps = session.trials["walk"]
    angle = steps["kinematics"].joint_angle
    labels = ezc3d.c3d(str(shared / THEIA))["parameters"]["ROTATION"]["LABELS"]["value"]
    assert angle.sizes["time"] == 340
    for side in SIDES:
        thigh, shank = (theia[labels.index(f"{side[0]}_{name}_4X4")] for name in ("thigh", "shank"))
        _, ahead, up = np.einsum("tia,ti->at", thigh[:, :3, :3], shank[:, :3, 2])  # the shank's long axis in the thigh
        knee = angle.sel(side=side, joint="knee", angle="flexion").values
        seen = np.isfinite(ahead)
        assert np.abs(knee - np.degrees(np.arctan2(ahead, up)))[seen].max() < 1  # apart by adduction alone
        assert np.isnan(knee).tolist() == (~seen).tolist()
        assert (~seen).sum() == 5
        assert np.nanmin(knee) > -3  # as in the file: the knees are straight, and a little more
        assert 55 < np.nanmax(knee) < 70


def test_init_recognises_poses(shared: Path, tmp_path: Path) -> None:
    shutil.copy(shared / THEIA, tmp_path)
    initialise(tmp_path)
    assert "\nbody_model: segment_poses\n" in (tmp_path / "study.yaml").read_text()
    trials = (tmp_path / "trials.tsv").read_text()
    assert "\tgait\t" in trials
    assert "\tstatic\t" in trials


def test_poses_of_another_program_are_near_to_the_model_of_poses(shared: Path, tmp_path: Path) -> None:
    """By other names no model finds anything; the proposal takes poses all the same."""
    content = ezc3d.c3d(str(shared / THEIA))
    labels = content["parameters"]["ROTATION"]["LABELS"]["value"]
    content["parameters"]["ROTATION"]["LABELS"]["value"] = [f"Seg{i}" for i, _ in enumerate(labels)]
    content.write(str(tmp_path / "walk.c3d"))
    initialise(tmp_path)
    assert "\nextends: segment_poses\n" in (tmp_path / "body_model_proposal.yaml").read_text()


def test_a_pose_becomes_its_origin_and_ends_and_the_heel() -> None:
    pose = np.eye(4)
    pose[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    pose[:3, 3] = [100, 200, 300]
    parameters: dict[str, dict[str, Any]] = {
        "ROTATION": {"LABELS": ["A1:l_foot_4X4"]},
        "THEIA3D": {"l_heel": np.array([0, -0.04, -0.05])},
    }
    labels, points = read_poses(parameters, np.tile(pose[:, :, None, None], (1, 1, 1, 2)), 2, 0.001)
    found = dict(zip(labels, np.moveaxis(points, 0, -1)[:, 1].tolist(), strict=True))
    assert found == {
        "l_foot_4X4.o": [100, 200, 300], "l_foot_4X4.x+": [100, 400, 300], "l_foot_4X4.x-": [100, 0, 300],
        "l_foot_4X4.y+": [-100, 200, 300], "l_foot_4X4.y-": [300, 200, 300], "l_foot_4X4.z+": [100, 200, 500],
        "l_foot_4X4.z-": [100, 200, 100], "l_foot_4X4.heel": [140, 200, 250],
    }  # fmt: skip


@pytest.mark.parametrize(
    "matrix", [np.zeros((4, 4)), 2 * np.eye(4), np.full((4, 4), np.nan), np.diag([1.0, 1.0, -1.0, 1.0])]
)
def test_a_matrix_that_is_none_of_a_rotation_is_missing(matrix: Array) -> None:
    labels, points = read_poses({"ROTATION": {"LABELS": ["pelvis"]}}, matrix[:, :, None, None], 1, 1.0)
    assert labels == [f"pelvis{end}" for end in ENDS]
    assert np.isnan(points).all()


def test_of_several_poses_a_frame_the_first_counts() -> None:
    poses = np.tile(np.eye(4)[:, :, None, None], (1, 1, 1, 6))
    poses[0, 3, 0] = range(6)
    labels, points = read_poses({"ROTATION": {"LABELS": ["pelvis"]}}, poses, 3, 1.0)
    assert points[0, labels.index("pelvis.o")].tolist() == [0, 2, 4]
