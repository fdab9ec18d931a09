"""Step ``read``: markers, gaps, events, sizes and plates of a known walk in a C3D file."""

from __future__ import annotations

import json
from pathlib import Path

import ezc3d
import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.person.shown_sizes import ShownSizes
from pipeline.steps.read.recording_contents import Contents
from pipeline.trials.left_out import from_text
from tests.support.files.c3d_writer import write_c3d
from tests.support.files.changes import relabel, rewrite, set_parameter
from tests.support.walks.as_c3d import SINGLE_M, SINGLE_N, Z_UP, on_plates, position, read_it, recorded, recorded_plates
from tests.support.walks.as_clean import ANALOG_HZ, MARKER_HZ, markers, walk

# ---- labels and gaps


def test_model_outputs_are_ignored(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    ones = np.ones_like(points["LASI"])
    outputs = {"ANGLES": {"LKneeAngles": 30 * ones}, "MOMENTS": {"LKneeMoment": ones}, "POWERS": {"LKneePower": ones}}
    trial = read_it(write_c3d(tmp_path / "walk.c3d", points, outputs=outputs))
    assert list(trial.marker.values) == list(points)


def test_outputs_of_a_labs_own_group_are_ignored(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    path = write_c3d(tmp_path / "walk.c3d", points, outputs={"MODELED": {"Belt": np.ones_like(points["LASI"])}})
    assert "Belt" in read_it(path).marker, "an unknown group alone says nothing"
    set_parameter(path, "POINT", "TYPE_GROUPS", ["MODELED"])
    assert list(read_it(path).marker.values) == list(points)


def test_subject_prefixes_are_removed(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    trial = read_it(write_c3d(tmp_path / "walk.c3d", {f"A22:{label}": path for label, path in points.items()}))
    assert list(trial.marker.values) == list(points)


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


def test_the_first_of_two_equal_labels_is_used(tmp_path: Path) -> None:
    known = walk(strides=1)
    points = recorded(known)
    path = write_c3d(tmp_path / "walk.c3d", points | {"again": points["LHEE"] + 1})
    trial = read_it(rewrite(path, relabel(again="LHEE")))
    assert list(trial.marker.values) == list(points)
    np.testing.assert_allclose(position(trial, "heel_left"), markers(known)["heel_left"], rtol=0, atol=SINGLE_M)


def test_labels_beyond_255_are_read(tmp_path: Path) -> None:
    known = walk(strides=1)
    points = recorded(known)
    others = {f"M{i:03d}": np.full_like(points["LASI"], 0.001 * (i + 1)) for i in range(300)}
    path = write_c3d(tmp_path / "walk.c3d", others | points)
    assert "LABELS2" in ezc3d.c3d(str(path))["parameters"]["POINT"]
    trial = read_it(path)
    assert list(trial.marker.values) == [*others, *points]
    np.testing.assert_allclose(position(trial, "heel_left"), markers(known)["heel_left"], rtol=0, atol=SINGLE_M)
    np.testing.assert_allclose(trial.marker_position.sel(marker="M299")[0], Z_UP.T @ [0.3, 0.3, 0.3], atol=SINGLE_M)


@pytest.mark.parametrize("missing", [0.0, np.nan, 1e7])
def test_zeros_nan_and_wild_values_are_gaps(tmp_path: Path, missing: float) -> None:
    points = recorded(walk(strides=1))
    points["LHEE"] = points["LHEE"].copy()
    points["LHEE"][10:15] = missing
    trial = read_it(write_c3d(tmp_path / "walk.c3d", points))
    gap = np.isnan(position(trial, "heel_left")).all(axis=1)
    assert list(np.flatnonzero(gap)) == [10, 11, 12, 13, 14]
    assert np.isfinite(trial.marker_position[:, trial.marker.values != "LHEE"]).all()


def test_a_single_zero_coordinate_is_not_a_gap(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    points["LHEE"] = points["LHEE"] * [1, 0, 1]
    assert np.isfinite(read_it(write_c3d(tmp_path / "walk.c3d", points)).marker_position).all()


# ---- time and events


def test_a_trimmed_file_keeps_markers_plates_and_events_on_one_axis(tmp_path: Path) -> None:
    """A file from frame 241 on begins 2.4 s after the recording; events count from the recording's start."""
    known = walk(strides=1, start_s=2.4)
    strike = known.seen()[0]
    path = write_c3d(
        tmp_path / "walk.c3d", recorded(known), first_frame=241, plates=recorded_plates(known),
        events=[(strike.start_s, "Foot Strike", "Right"), (strike.end_s, "Foot Off", "Right")],
    )  # fmt: skip
    trial = read_it(path)
    assert trial.time[0] == pytest.approx(2.4, abs=1e-9)
    np.testing.assert_allclose(trial.time.diff("time"), 1 / MARKER_HZ)
    assert trial.plate_time[0] == trial.time[0]
    np.testing.assert_allclose(trial.plate_time.diff("plate_time"), 1 / ANALOG_HZ)
    loaded = trial.plate_time[np.flatnonzero(trial.plate_force[:, 0, 1] > 1)]
    single_s = 1e-6  # event times are single precision: 2e-7 at 3 s
    np.testing.assert_allclose(trial.event_time, [strike.start_s, strike.end_s], rtol=0, atol=single_s)
    # one sample of 1 ms, and 0.3 ms until the half sine reaches 1 N
    np.testing.assert_allclose(loaded[[0, -1]], trial.event_time, rtol=0, atol=2e-3)


def test_event_times_are_minutes_and_seconds(tmp_path: Path) -> None:
    events = [(65.25, "Foot Strike", "Left"), (0.5, "Foot Off", "Right")]
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), events=events))
    np.testing.assert_allclose(trial.event_time, [65.25, 0.5])
    assert list(trial.event.values) == ["Foot Strike", "Foot Off"]
    assert list(trial.event_side.values) == ["left", "right"]


def test_one_event_and_none(tmp_path: Path) -> None:
    """Arrays of one entry lose a dimension in C3D."""
    points = recorded(walk(strides=1))
    trial = read_it(write_c3d(tmp_path / "one.c3d", points, events=[(0.5, "Foot Off", "General")]))
    assert trial.event_time.values == pytest.approx([0.5])
    assert list(trial.event_side.values) == [""]
    assert read_it(write_c3d(tmp_path / "none.c3d", points)).sizes["event"] == 0


def test_events_without_contexts_keep_their_labels(tmp_path: Path) -> None:
    events = [(0.3, "LHS", ""), (0.6, "RTO", "")]
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), events=events, contexts=False))
    assert list(trial.event.values) == ["LHS", "RTO"]
    assert list(trial.event_side.values) == ["", ""]


def test_events_named_by_their_contexts(tmp_path: Path) -> None:
    """Some files leave the labels empty and write LHS, RTO as contexts."""
    events = [(0.3, "", "LHS"), (0.6, "", "RTO")]
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), events=events))
    assert list(trial.event.values) == ["LHS", "RTO"]
    assert list(trial.event_side.values) == ["left", "right"]


def test_contexts_of_other_languages_are_sides(tmp_path: Path) -> None:
    events = [(0.3, "Fersenkontakt", "Links"), (0.6, "Contact initial", "Droit"), (0.9, "Foot Strike", "Dominant")]
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), events=events))
    assert list(trial.event_side.values) == ["left", "right", ""]


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


def test_a_file_without_plates_has_empty_plates(tmp_path: Path) -> None:
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1))))
    assert (trial.sizes["plate"], trial.sizes["plate_time"]) == (0, 0)
    assert trial.plate_corner.shape == (0, 4, 3)


def test_a_plate_of_unknown_type_is_left_out(tmp_path: Path) -> None:
    known = walk(strides=1)
    path = write_c3d(tmp_path / "walk.c3d", recorded(known), plates=recorded_plates(known))
    trial = read_it(set_parameter(path, "FORCE_PLATFORM", "TYPE", np.array([7, 2])))
    assert list(trial.plate.values) == [2]
    np.testing.assert_allclose(trial.plate_force[:, 0], on_plates(known)[0][:, 1], rtol=0, atol=SINGLE_N)
    (left_out,) = from_text(trial.attrs["plates_left_out"])
    assert (left_out.which, left_out.code) == ([1], "plate_unusable")
    assert left_out.words.startswith("force plate 1: type 7")


@pytest.mark.parametrize(
    ("extent_m", "span_m", "stands"), [(0.01, 1.5, True), (2.0, 1.5, False), (0.003, 0.0015, False)]
)
def test_a_walk_in_a_wrong_unit_does_not_stand(extent_m: float, span_m: float, stands: bool) -> None:
    """Metres taken for millimetres move by less than anybody who stands, and by more than they span."""
    assert Contents("walk.trc", shown=ShownSizes(extent_m=extent_m), span_m=span_m).stands == stands
