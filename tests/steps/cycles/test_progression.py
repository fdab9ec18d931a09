"""Angles from the line of progression: walks in any direction, on generated poses and turned recordings."""

from __future__ import annotations

import shutil
from pathlib import Path

import ezc3d
import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from pipeline.signals.time_normalisation import phase_frames
from pipeline.steps.cycles.curves import SEGMENT, along_line, headings, progression_angles
from tests.support.studies.run_steps import Session, run_study
from tests.support.walks.person import Array

TURNS = (10, 45, 170)  # degrees, to the left
SIDE = np.array([0, 1])
SAME_DEGREES = 0.01


def motion(turn_degrees: float) -> xr.Dataset:
    """Return swaying poses of foot and pelvis, all turned to the left."""
    time = np.arange(0, 2, 0.02)
    sway = np.stack([40 * np.sin(5 * time), 20 * np.cos(7 * time), 30 * np.sin(3 * time)], axis=1)
    poses = Rotation.from_euler("y", turn_degrees, degrees=True) * Rotation.from_euler("YXZ", sway, degrees=True)
    rotation = np.swapaxes(poses.as_matrix(), 1, 2)[:, None, None].repeat(2, axis=1).repeat(2, axis=2)
    return xr.Dataset(
        {
            "rotation": (("sample", "side", "segment", "local_axis", "axis"), rotation),
            "smallest_floating_axis": ("trial", [0.1]),
        },
        {"segment": ["foot", "pelvis"]},
    )


@pytest.mark.parametrize("name", SEGMENT)
@pytest.mark.parametrize("turn", TURNS)
def test_a_walk_in_any_direction_has_the_angles_of_the_walk_along_lab_x(name: str, turn: float) -> None:
    """The line is the stride's; interpolation between frames does not depend on it either."""
    frames = phase_frames(np.arange(0, 2, 0.02), np.array([0.113, 0.3]), np.array([1.217, 1.4]))
    straight, along = (
        progression_angles(name, motion(degrees), frames, SIDE, np.radians([degrees, degrees])) for degrees in (0, turn)
    )
    np.testing.assert_allclose(along, straight, atol=1e-9)
    from_lab = progression_angles(name, motion(turn), frames, SIDE, np.zeros(2))
    assert np.abs(from_lab - straight).max() > 5


def test_a_vector_along_the_line_is_forward() -> None:
    ahead = np.array([np.cos(0.3), 2.0, -np.sin(0.3)])[None, :, None].repeat(101, axis=2)  # 0.3 rad to the left
    np.testing.assert_allclose(along_line(ahead, np.array([0.3]))[0, :, 0], [1, 2, 0], atol=1e-12)


def test_the_line_is_lab_x_by_choice_or_if_it_is_not_known() -> None:
    np.testing.assert_allclose(headings("walker", np.array([30.0, np.nan])), [np.pi / 6, 0])
    np.testing.assert_array_equal(headings("lab", np.array([30.0, np.nan])), 0)


def test_turned_recordings_have_the_same_angles_and_ground_force(shared: Path, tmp_path: Path) -> None:
    """A child's turn: five strides in five directions, of which none is lab x."""
    straight, *turned = (walked(shared, tmp_path / str(turn), turn) for turn in (0, *TURNS))
    for trial in turned:
        for name in (*SEGMENT, "ground_force"):
            np.testing.assert_allclose(trial[name], straight[name], atol=SAME_DEGREES, err_msg=name)
    pelvis = straight.pelvis_angle.sel(angle="rotation").values
    assert np.nanmax(np.abs(np.nanmean(pelvis, axis=1))) < 25  # from lab x 90


def walked(shared: Path, study: Path, turn_degrees: float) -> xr.Dataset:
    """Return the cycles of a child's turn from files that are turned about the vertical."""
    turn: Array = Rotation.from_euler("z", turn_degrees, degrees=True).as_matrix()
    study.mkdir()
    shutil.copyfile(shared / "labs/children/HC032A/Static/HC032A01.c3d", study / "static.c3d")
    content = ezc3d.c3d(str(shared / "labs/children/HC032A/Turn/HC032A18.c3d"))
    content["data"]["points"][:3] = np.einsum("ij,jkt->ikt", turn, content["data"]["points"][:3])
    corners = content["parameters"]["FORCE_PLATFORM"]["CORNERS"]
    corners["value"] = np.einsum("ij,jkn->ikn", turn, corners["value"])
    content.write(str(study / "turn.c3d"))
    (study / "study.yaml").write_text("body_model: plug_in_gait\n")
    (study / "participants.tsv").write_text("participant_id\tmass_kg\theight_m\tsex\nHC032A\t60.3\t1.58\tn/a\n")
    rows = ["participant_id\tsession\ttrial\tfile\trole\tcondition", "HC032A\ts1\tstatic\tstatic.c3d\tstatic\tstatic"]
    (study / "trials.tsv").write_text("\n".join([*rows, "HC032A\ts1\tturn\tturn.c3d\tgait\tturn"]) + "\n")
    session: Session = run_study(study, {})["s1"]
    return session.trials["turn"]["cycles"]
