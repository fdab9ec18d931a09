"""Recordings of a folder in several forms, and the forces beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.commands.check.command import check
from pipeline.commands.init.command import initialise
from pipeline.commands.shared.find_recordings import forces_in, recordings_in, unclaimed_tables
from pipeline.errors import UserError
from pipeline.opensim_files.mot import OTHERS
from pipeline.tables import tsv
from tests.support.checkout import DEMO
from tests.support.files.opensim import as_opensim, load_columns, mot_text, trc_text

FORCES = mot_text(np.arange(3) / 100, load_columns(*np.ones((3, 3, 3))))
ANGLES = mot_text(np.arange(3) / 100, {"pelvis_tx": np.ones(3), "knee_angle_r": np.ones(3)})


def made(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "taken"),
    [
        (["a/walk.c3d", "a/walk.trc"], ["a/walk.c3d"]),
        (["a/walk.c3d", "b/walk.trc"], ["a/walk.c3d", "b/walk.trc"]),
        (
            ["w_0-9.trc", "w_0-9_filt_butterworth.trc", "w_0-9_filt_butterworth_LSTM.trc"],
            ["w_0-9_filt_butterworth_LSTM.trc"],
        ),
        (["w_0-9.trc", "w_filt_butterworth_0-9.trc"], ["w_filt_butterworth_0-9.trc"]),
        (
            ["MarkerData/PreAugmentation/w.trc", "MarkerData/PostAugmentation/w.trc"],
            ["MarkerData/PostAugmentation/w.trc"],
        ),
        (["walk.c3d", "walk.C3D"], ["walk.C3D", "walk.c3d"]),
        ([".w.trc", "derived/w.trc", "w.mot", "w.TRC"], ["w.TRC"]),
    ],
)
def test_one_form_of_each_recording_is_taken(tmp_path: Path, files: list[str], taken: list[str]) -> None:
    assert recordings_in(made(tmp_path, dict.fromkeys(files, ""))) == taken


def test_a_folder_without_recordings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no C3D or TRC files there"):
        recordings_in(made(tmp_path, {"walk.mot": FORCES}))


@pytest.mark.parametrize(
    ("markers", "forces"),
    [
        ("S1/walk1.trc", "S1/walk1_grf.mot"),
        ("S1/walk1.trc", "S1/walk1.mot"),
        ("S1/walk1.trc", "S1/Walk1_GRF.sto"),
        ("S1/walk1.trc", "S1/grf_walk1.mot"),
        ("S1/walk1.trc", "S1/forces/walk1_ground_reaction.mot"),
        ("S1/walk1_markers.trc", "S1/walk1_grfs.sto"),  # Kuopio
        ("S1/TRC/walk1_TRC.trc", "S1/GRF/walk1_GRF.mot"),
        ("S1/walk1/markers.trc", "S1/walk1/grf.mot"),  # AddBiomechanics
        ("S1/walk1/markers_experimental.trc", "S1/walk1/grf.mot"),
        ("S1/MarkerData/walk1.trc", "S1/ForceData/walk1.mot"),  # OpenCap
        ("S1/MarkerData/Mocap/walk1.trc", "S1/ForceData/walk1_forces.mot"),
        ("S1/MarkerData/walk1.trc", "S1/ID/walk1_grf.mot"),  # AddBiomechanics
    ],
)
def test_forces_are_found_by_name_and_folder(tmp_path: Path, markers: str, forces: str) -> None:
    """Neither those of another trial, nor joint angles, nor those of another person."""
    others = {"S1/walk11_grf.mot": FORCES, "S1/IK/walk1.mot": ANGLES, "S2/walk1_grf.mot": FORCES, "S2/w.trc": ""}
    study = made(tmp_path, {markers: "", forces: FORCES} | others)
    assert forces_in(study, recordings_in(study)) == {markers: forces}


@pytest.mark.parametrize(
    ("markers", "forces", "pairs"),
    [
        (["walk_new", "static_new"], ["walk_grf"], {"walk_new": "walk_grf"}),
        (["walk_fast", "static"], ["walk_grf"], {}),  # another walk's, as far as names tell
        (["walk1_new", "walk10_new"], ["walk1_grf"], {"walk1_new": "walk1_grf"}),
        (["s1_walk", "s1_static"], ["s1_grf"], {}),  # of either
        (["walk_filtered"], ["walk_grf_filtered"], {"walk_filtered": "walk_grf_filtered"}),
        (["walk_marker_data"], ["walk_force_data"], {"walk_marker_data": "walk_force_data"}),
        (["walk", "static"], ["walk", "other_grf"], {"walk": "walk"}),
    ],
)
def test_names_pair_by_their_words(
    tmp_path: Path, markers: list[str], forces: list[str], pairs: dict[str, str]
) -> None:
    files = {f"{name}.trc": "" for name in markers} | {f"{name}.mot": FORCES for name in forces}
    study = made(tmp_path, files | {"walk_ik.mot": ANGLES})
    found = forces_in(study, recordings_in(study))
    assert found == {f"{trc}.trc": f"{mot}.mot" for trc, mot in pairs.items()}
    left = unclaimed_tables(study, found.values())
    assert left[OTHERS] == ["walk_ik.mot"]
    assert left.get("ground reaction forces", []) == [f"{name}.mot" for name in forces if name not in pairs.values()]


def test_another_persons_forces_are_never_taken(tmp_path: Path) -> None:
    study = made(tmp_path, {"S1/walk1.trc": "", "S2/walk1.trc": "", "S2/walk1_grf.mot": FORCES})
    assert forces_in(study, recordings_in(study)) == {"S2/walk1.trc": "S2/walk1_grf.mot"}


def test_init_and_check_understand_a_folder_of_text_files(tmp_path: Path) -> None:
    made(tmp_path, {"P1/MarkerData/x": "", "P1/ForceData/x": ""})
    as_opensim(DEMO / "sub-01/static.c3d", tmp_path / "P1/MarkerData/neutral.trc", None)
    for walk in ("fast_01", "fast_02"):
        forces = tmp_path / f"P1/ForceData/{walk}.mot" if walk == "fast_01" else None
        as_opensim(DEMO / f"sub-01/{walk}.c3d", tmp_path / f"P1/MarkerData/{walk}.trc", forces)
    initialise(tmp_path)
    rows = {row["trial"]: row for row in tsv.read_table(tmp_path / "trials.tsv", required=("forces",))}
    assert {trial: (row["role"], row["forces"]) for trial, row in rows.items()} == {
        "neutral": ("static", ""),
        "fast_01": ("gait", "P1/ForceData/fast_01.mot"),
        "fast_02": ("gait", ""),
    }
    [person] = tsv.read_table(tmp_path / "participants.tsv", required=("mass_kg",))
    assert float(person["mass_kg"]) == pytest.approx(72, rel=0.06)  # by the loads of the walk
    found = check(tmp_path)
    assert [finding for finding in found if finding.severity == "error"] == []
    [lonely] = [finding for finding in found if "no force plate" in finding.what]
    assert (lonely.where, "column forces" in lonely.remedy) == ("P1/MarkerData/fast_02.trc", True)


def test_folders_of_trials_give_their_names(tmp_path: Path) -> None:
    """AddBiomechanics has a folder with markers.trc and grf.mot for each trial."""
    for trial in ("neutral", "walk1"):
        made(tmp_path, {f"S01/trials/{trial}/grf.mot": FORCES})
        c3d = DEMO / f"sub-01/{'static' if trial == 'neutral' else 'fast_01'}.c3d"
        as_opensim(c3d, tmp_path / f"S01/trials/{trial}/markers.trc", None)
    initialise(tmp_path)
    rows = tsv.read_table(tmp_path / "trials.tsv", required=("forces",))
    assert [(row["participant_id"], row["trial"], row["role"], row["forces"]) for row in rows] == [
        ("S01", "neutral", "static", "S01/trials/neutral/grf.mot"),
        ("S01", "walk1", "gait", "S01/trials/walk1/grf.mot"),
    ]


def test_keypoints_alone_are_refused_with_a_remedy(tmp_path: Path) -> None:
    labels = [f"{side}{joint}" for side in "RL" for joint in ("Hip", "Knee", "Ankle", "BigToe", "Heel")]
    positions = np.random.default_rng(1).normal(0, 0.4, (1, 10, 3)) + np.zeros((50, 1, 1))
    (tmp_path / "walk.trc").write_text(trc_text(labels, positions, 60))
    assert "Give the file\nwith augmented markers, of Pose2Sim ..._LSTM.trc" in initialise(tmp_path)
    assert any(finding.what.startswith("body_model is not set") for finding in check(tmp_path))


def test_forces_of_a_c3d_file_are_refused(tmp_path: Path) -> None:
    columns = "participant_id\ttrial\tfile\tforces\trole\tcondition\n"
    for file, forces, what in (
        ("w.c3d", "w.mot", "forces 'w.mot' are given beside w.c3d, which is no TRC file"),
        ("w.trc", "w.csv", "forces 'w.csv' is not a .mot or .sto file"),
        ("w.trc", "../w.mot", "forces '../w.mot' is not inside the study"),
    ):
        made(tmp_path, {
            "study.yaml": "body_model: gait2354\n",
            "participants.tsv": "participant_id\tmass_kg\theight_m\tsex\nA1\t70\t1.7\tM\n",
            "trials.tsv": f"{columns}A1\tw\t{file}\t{forces}\tgait\twalk\n",
        })  # fmt: skip
        assert what in {finding.what for finding in check(tmp_path)}
