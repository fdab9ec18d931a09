"""Step ``read``: markers, gaps, events, sizes and plates of a known walk in a C3D file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.person.shown_sizes import ShownSizes
from pipeline.steps.read.recording_contents import Contents
from tests.support.files.c3d_writer import write_c3d
from tests.support.files.changes import set_parameter
from tests.support.walks.as_c3d import read_it, recorded, recorded_plates
from tests.support.walks.as_clean import walk

# ---- labels and gaps


def test_outputs_of_a_labs_own_group_are_ignored(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    path = write_c3d(tmp_path / "walk.c3d", points, outputs={"MODELED": {"Belt": np.ones_like(points["LASI"])}})
    assert "Belt" in read_it(path).marker, "an unknown group alone says nothing"
    set_parameter(path, "POINT", "TYPE_GROUPS", ["MODELED"])
    assert list(read_it(path).marker.values) == list(points)


def test_two_people_in_one_file_are_not_mixed(tmp_path: Path) -> None:
    """Bert's left heel is not taken for Anna's missing one; the file may also be refused."""
    anna = {f"Anna:{label}": path for label, path in recorded(walk(strides=1)).items() if label != "LHEE"}
    bert = {f"Bert:{label}": path + np.array([0, 3, 0]) for label, path in recorded(walk(strides=1)).items()}
    path = write_c3d(tmp_path / "walk.c3d", anna | bert)
    try:
        trial = read_it(path)
    except UserError:
        return
    assert "LHEE" not in trial.marker


def test_a_single_zero_coordinate_is_not_a_gap(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    points["LHEE"] = points["LHEE"] * [1, 0, 1]
    assert np.isfinite(read_it(write_c3d(tmp_path / "walk.c3d", points)).marker_position).all()


# ---- time and events


def test_one_event_and_none(tmp_path: Path) -> None:
    """Arrays of one entry lose a dimension in C3D."""
    points = recorded(walk(strides=1))
    trial = read_it(write_c3d(tmp_path / "one.c3d", points, events=[(0.5, "Foot Off", "General")]))
    assert trial.event_time.values == pytest.approx([0.5])
    assert list(trial.event_side.values) == [""]
    assert read_it(write_c3d(tmp_path / "none.c3d", points)).sizes["event"] == 0


def test_events_named_by_their_contexts(tmp_path: Path) -> None:
    """Some files leave the labels empty and write LHS, RTO as contexts."""
    events = [(0.3, "", "LHS"), (0.6, "", "RTO")]
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), events=events))
    assert list(trial.event.values) == ["LHS", "RTO"]
    assert list(trial.event_side.values) == ["left", "right"]


def test_events_of_another_subject_are_ignored(tmp_path: Path) -> None:
    """By EVENT:SUBJECTS, unless this lacks the markers' owner."""
    points = {f"A22:{label}": path for label, path in recorded(walk(strides=1)).items()}
    path = write_c3d(tmp_path / "walk.c3d", points, events=[(0.3, "Foot Strike", "Left"), (0.6, "Foot Off", "Left")])
    for subjects, times in ((["A22", "B07"], [0.3]), (["x", "y"], [0.3, 0.6])):
        named = set_parameter(path, "EVENT", "SUBJECTS", subjects, tmp_path / "named.c3d")
        np.testing.assert_allclose(read_it(named).event_time, times, atol=1e-6)


def test_event_times_in_one_row_are_pairs(tmp_path: Path) -> None:
    """Some software stores minutes and seconds alternately."""
    path = write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), events=[(0.5, "LHS", ""), (61.0, "LTO", "")])
    set_parameter(path, "EVENT", "TIMES", np.array([0.0, 0.5, 1.0, 1.0]))
    np.testing.assert_allclose(read_it(path).event_time, [0.5, 61.0], atol=1e-6)


# ---- anthropometry and plates


def test_anthropometry_of_plug_in_gait_in_metres_and_kilograms(tmp_path: Path) -> None:
    """Names may have blanks, lengths are millimetres, zero means missing."""
    sizes = {"Bodymass": 71.5, "Height": 1780.0, "L Knee Width": 105.0, "RLegLength": 930.0, "MarkerDiameter": 14.0,
             "InterAsisDistance": 0.0, "Unrelated": 3.0}  # fmt: skip
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), processing=sizes))
    expected = {"mass_kg": 71.5, "height_m": 1.78, "knee_width_left_m": 0.105, "leg_length_right_m": 0.93,
                "marker_diameter_m": 0.014}  # fmt: skip
    assert json.loads(trial.attrs["anthropometry"]) == pytest.approx(expected)


def test_zero_frames_are_passed_on(tmp_path: Path) -> None:
    known = walk(strides=1)
    off = read_it(write_c3d(tmp_path / "off.c3d", recorded(known), plates=recorded_plates(known)))
    named = read_it(write_c3d(tmp_path / "on.c3d", recorded(known), plates=recorded_plates(known), zero=(1, 10)))
    assert np.isnan(off.zero_frames).all()
    assert named.zero_frames.values.tolist() == [1, 10]


@pytest.mark.parametrize(
    ("extent_m", "span_m", "stands"), [(0.01, 1.5, True), (2.0, 1.5, False), (0.003, 0.0015, False)]
)
def test_a_walk_in_a_wrong_unit_does_not_stand(extent_m: float, span_m: float, stands: bool) -> None:
    """Metres taken for millimetres move by less than anybody who stands, and by more than they span."""
    assert Contents("walk.trc", shown=ShownSizes(extent_m=extent_m), span_m=span_m).stands == stands
