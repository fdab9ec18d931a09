"""MOT files: loads by the names of their columns, samples by their times, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.opensim_files.mot import at_rate, read_mot
from tests.support.files.opensim import load_columns, mot_text

TIME = np.arange(11) / 100
RNG = np.random.default_rng(3)
FORCE, POINT, TORQUE = RNG.normal([[0, 700, 0]], 20, (11, 3)), RNG.normal(0.3, 0.1, (11, 3)), RNG.normal(0, 5, (11, 3))
MOMENT = np.cross(POINT, FORCE) + TORQUE


def written(folder: Path, text: str) -> Path:
    path = folder / "walk.mot"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "names",
    [
        [("", ""), ("1_", "")],  # OpenSim's examples
        [("", "_1"), ("", "_2")],
        [("R_", ""), ("L_", "")],
        [("", "_r"), ("", "_l")],
        [("", "_calcn_r"), ("", "_calcn_l")],  # AddBiomechanics
        [("", "1"), ("", "2")],
    ],
)
def test_loads_are_told_apart_by_their_labels(tmp_path: Path, names: list[tuple[str, str]]) -> None:
    """In whatever order columns of different loads follow each other."""
    first, second = ({"before": before, "after": after} for before, after in names)
    one, two = load_columns(FORCE, POINT, TORQUE, **first), load_columns(2 * FORCE, POINT, 0 * TORQUE, **second)
    both = [*one.items(), *two.items()]
    mixed = dict(sorted(both, key=lambda item: "torque" in item[0]))  # torques last, as in OpenSim's examples
    found = read_mot(written(tmp_path, mot_text(TIME, mixed)))
    assert len(found.loads) == 2
    np.testing.assert_allclose(found.loads[0].force, FORCE, rtol=1e-7)
    np.testing.assert_allclose(found.loads[0].moment, MOMENT, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(found.loads[1].moment, 2 * np.cross(POINT, FORCE), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("torque", ["ground_force_r_m", "ground_moment_r_m", "ground_torque_r_v", "ground_moment_r_"])
def test_torques_have_several_names(tmp_path: Path, torque: str) -> None:
    columns = load_columns(FORCE, POINT, TORQUE, after="_r")
    named = {name.replace("ground_torque_r_", torque): values for name, values in columns.items()}
    np.testing.assert_allclose(read_mot(written(tmp_path, mot_text(TIME, named))).loads[0].moment, MOMENT, atol=1e-4)


def test_a_load_without_torque_is_a_force_at_its_point(tmp_path: Path) -> None:
    columns = {name: values for name, values in load_columns(FORCE, POINT, TORQUE).items() if "torque" not in name}
    [load] = read_mot(written(tmp_path, mot_text(TIME, columns))).loads
    np.testing.assert_allclose(load.moment, np.cross(POINT, FORCE), atol=1e-4)


def test_a_point_without_force_means_nothing(tmp_path: Path) -> None:
    point = POINT.copy()
    point[3] = np.nan
    text = mot_text(TIME, load_columns(np.where(np.isnan(point), 0, FORCE), point, 0 * TORQUE))
    [load] = read_mot(written(tmp_path, text)).loads
    assert (load.moment[3] == 0).all()


def test_samples_are_taken_by_their_times(tmp_path: Path) -> None:
    """Within the markers' span; where the file has no samples, nothing is made up."""
    time = 1 + np.round(np.arange(600) / 600, 4)  # as written by programs
    wave = np.sin(2 * np.pi * (np.arange(600) / 600))[:, None] * [10, 700, 20]
    forces = read_mot(written(tmp_path, mot_text(time, load_columns(wave, 0 * wave, 0 * wave))))
    rate_hz, [load] = at_rate(forces, start_s=0.9, end_s=1.5)
    assert rate_hz == pytest.approx(600, rel=1e-6)
    assert load.force.shape == (361, 3)  # the last one at the last frame
    assert np.isnan(load.force[:60]).all()
    np.testing.assert_allclose(load.force[60:, 1], 700 * np.sin(2 * np.pi * np.arange(301) / 600), atol=0.3)


@pytest.mark.parametrize(("end_s", "frame_s", "count"), [(1.5, 0.01, 306), (1.5, 1 / 240, 303), (1.99, 0.01, 600)])
def test_samples_go_on_to_the_next_frame(tmp_path: Path, end_s: float, frame_s: float, count: int) -> None:
    """As in a C3D file: 5 and 2 after the last frame, and none after the end of the file at 1 + 599 / 600 s."""
    time, force = 1 + np.arange(600) / 600, np.tile([0.0, 700.0, 0.0], (600, 1))
    forces = read_mot(written(tmp_path, mot_text(time, load_columns(force, 0 * force, 0 * force))))
    rate_hz, [load] = at_rate(forces, start_s=1, end_s=end_s, frame_s=frame_s)
    assert load.force.shape == (count, 3)
    assert rate_hz == pytest.approx(600, rel=1e-3)
    assert np.isfinite(load.force).all()


def test_a_gap_in_the_samples_stays_one(tmp_path: Path) -> None:
    time = np.delete(np.arange(100) / 100, slice(40, 60))
    force = np.tile([0.0, 700.0, 0.0], (80, 1))
    forces = read_mot(written(tmp_path, mot_text(time, load_columns(force, 0 * force, 0 * force))))
    _, [load] = at_rate(forces, start_s=0, end_s=0.99)
    assert np.flatnonzero(np.isnan(load.force[:, 1])).tolist() == list(range(40, 60))


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("endheader\ntime", "frame", "not a MOT file: no line of labels that begins with 'time'"),
        ("\ntime", "\nframe", "not a MOT file: no line of labels that begins with 'time'"),
        ("ground_force_v", "hip_flexion_", "no ground reaction force among its columns: hip_flexion_x, "),
        (
            "ground_force_px",
            "ground_force_qx",
            "the point of application of ground_force_vx has columns y, z, not x, y, z",
        ),
        ("\n0.05\t", "\n0.04\t", "time is 0.04 s in row 6 of its numbers, which does not follow 0.04 s"),
        ("\n0.05\t", "\n0.05\t\t", "line 13 has 11 cells, its header names 10 columns"),
        ("\n0.05\t", "\n0.05s\t", "line 13: '0.05s' is no number"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, before: str, after: str, reason: str) -> None:
    text = mot_text(TIME, load_columns(FORCE, POINT, TORQUE))
    assert before in text
    with pytest.raises(UserError) as caught:
        read_mot(written(tmp_path, text.replace(before, after)))
    assert f"walk.mot: {reason}" in str(caught.value)
    assert all(problem.remedy for problem in caught.value.problems)


def test_a_file_cut_off_within_a_line_is_refused(tmp_path: Path) -> None:
    text = mot_text(TIME, load_columns(FORCE, POINT, TORQUE)).replace("nRows=11", "nRows=12")
    assert len(read_mot(written(tmp_path, text)).time) == 11
    with pytest.raises(UserError, match="nRows is 12, the file has 11 rows of numbers and ends within the last"):
        read_mot(written(tmp_path, text[:-3]))
    with pytest.raises(UserError, match="line 18 has 9 cells, its header names 10 columns"):
        read_mot(written(tmp_path, text.rstrip().rpartition("\t")[0]))
