"""Step ``read``: known walks written as C3D in every lab and convention, broken files, real files of many vendors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from recordings import (
    ANALOG_HZ,
    BODY_MODEL,
    LABELS,
    MARKER_HZ,
    SPEED_M_S,
    Rectangle,
    Walk,
    channels,
    markers,
    walk,
    wrenches,
    write_c3d,
)
from scipy.spatial.transform import Rotation

from pipeline.body_model import positions
from pipeline.c3d import read_c3d
from pipeline.errors import UserError
from pipeline.read import read

Array = NDArray[np.float64]

# rows: the file's axes in ISB lab axes, for a person facing +x, -x, +y and -y of a lab whose z is up, and +z, -x of
# one whose y is up
LABS = {
    "z up, +x": [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    "z up, -x": [[-1, 0, 0], [0, 0, 1], [0, 1, 0]],
    "z up, +y": [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
    "z up, -y": [[0, 0, -1], [-1, 0, 0], [0, 1, 0]],
    "y up, +z": [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
    "y up, -x": [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
}
Z_UP = np.array(LABS["z up, +x"], dtype=float)
PLATES = (Rectangle(0.3, 0.8, -0.05, 0.25), Rectangle(1.0, 1.5, -0.25, 0.05))
SINGLE_M = 1e-6  # the file holds millimetres in single precision: 2e-7 m at 3 m, twice that for a turn
SINGLE_N = 1e-4  # 3e-5 N at 800 N, and corners of that precision in the moment


def recorded(known: Walk, turn: Array = Z_UP, *, names: dict[str, str] = LABELS) -> dict[str, Array]:
    """Return label -> (frame, 3) of a walk in file axes."""
    return {names[name]: path @ turn.T for name, path in markers(known).items()}


def read_it(path: Path, lab_axes: str = "quarter_turn") -> xr.Dataset:
    return read(path, body_model=BODY_MODEL, lab_axes=lab_axes)


def position(trial: xr.Dataset, landmark: str) -> Array:
    return np.asarray(trial.marker_position.sel(marker=LABELS[landmark]).values)


# --- axes and units --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("unit", ["mm", "m"])
def test_every_lab_gives_the_same_isb_walk(tmp_path: Path, lab: str, unit: str) -> None:
    known, turn = walk(strides=1), np.array(LABS[lab], dtype=float)
    force, moment = wrenches(known, PLATES, known.times(ANALOG_HZ))
    plates = [channels(plate, force[:, i], moment[:, i], turn) for i, plate in enumerate(PLATES)]
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(known, turn), unit=unit, plates=plates))
    for name, path in markers(known).items():
        np.testing.assert_allclose(position(trial, name), path, rtol=0, atol=SINGLE_M)
    np.testing.assert_allclose(trial.plate_force, force, rtol=0, atol=SINGLE_N)
    np.testing.assert_allclose(trial.plate_moment, moment, rtol=0, atol=SINGLE_N)
    np.testing.assert_allclose(trial.plate_corner, [plate.corners for plate in PLATES], rtol=0, atol=SINGLE_M)
    np.testing.assert_allclose(trial.plate_time, known.times(ANALOG_HZ), rtol=0, atol=1e-9)
    assert np.abs(force).max() > 400
    assert trial.attrs["direction_of_travel"] == "forwards"


def test_a_diagonal_walk_is_turned_freely_on_request_only(tmp_path: Path) -> None:
    known = walk()
    diagonal = Rotation.from_euler("z", 30, degrees=True).as_matrix() @ Z_UP
    path = write_c3d(tmp_path / "walk.c3d", recorded(known, diagonal))
    np.testing.assert_allclose(position(read_it(path, "free"), "heel_left"), markers(known)["heel_left"], atol=SINGLE_M)
    quarter = np.reshape(read_it(path).attrs["lab_rotation"], (3, 3))
    np.testing.assert_array_equal(quarter, Z_UP.T)


def test_who_walks_on_a_treadmill_faces_right(tmp_path: Path) -> None:
    """Nobody travels, and each heel ends behind where it began: only the body tells where forward is."""
    known = walk(belt_m_s=SPEED_M_S)
    turn = np.array(LABS["z up, -x"], dtype=float)
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(known, turn)))
    np.testing.assert_allclose(position(trial, "toe_left"), markers(known)["toe_left"], rtol=0, atol=SINGLE_M)
    assert trial.attrs["direction_of_travel"] == "none"


def test_walking_backwards_is_said(tmp_path: Path) -> None:
    known = walk()
    points = {label: path[::-1] for label, path in recorded(known).items()}
    trial = read_it(write_c3d(tmp_path / "walk.c3d", points))
    assert trial.attrs["direction_of_travel"] == "backwards"
    np.testing.assert_allclose(position(trial, "heel_left"), markers(known)["heel_left"][::-1], atol=SINGLE_M)


@pytest.mark.parametrize(
    "exchanged",
    [("asis_left", "asis_right"), ("heel_left", "toe_left", "heel_right", "toe_right")],
)
def test_exchanged_labels_are_refused(tmp_path: Path, exchanged: tuple[str, ...]) -> None:
    partner = dict(zip(exchanged[::2], exchanged[1::2], strict=True))
    partner |= {b: a for a, b in partner.items()}
    points = recorded(walk(), names={name: LABELS[partner.get(name, name)] for name in LABELS})
    path = write_c3d(tmp_path / "walk.c3d", points)
    with pytest.raises(UserError, match=r"walk\.c3d: pelvis and feet face opposite ways.*exchanged"):
        read_it(path)


@pytest.mark.parametrize("absent", [("ASI",), ("HEE", "TOE")])
def test_without_pelvis_or_feet_nobody_knows_where_up_is(tmp_path: Path, absent: tuple[str, ...]) -> None:
    points = {label: path for label, path in recorded(walk()).items() if label[1:] not in absent}
    path = write_c3d(tmp_path / "walk.c3d", points)
    with pytest.raises(UserError, match=r"walk\.c3d: cannot tell where up is"):
        read_it(path)


# --- labels, gaps, time ----------------------------------------------------------------------------------------


def test_model_outputs_are_no_markers(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    ones = np.ones_like(points["LASI"])
    outputs = {"ANGLES": {"LKneeAngles": 30 * ones}, "MOMENTS": {"LKneeMoment": ones}, "POWERS": {"LKneePower": ones}}
    trial = read_it(write_c3d(tmp_path / "walk.c3d", points, outputs=outputs))
    assert list(trial.marker.values) == list(points)


def test_a_group_of_the_labs_own_is_no_marker_either(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    path = write_c3d(tmp_path / "walk.c3d", points, outputs={"MODELED": {"Belt": np.ones_like(points["LASI"])}})
    assert "Belt" in read_it(path).marker, "an unknown group alone says nothing"
    file = ezc3d.c3d(str(path))
    file.add_parameter("POINT", "TYPE_GROUPS", ["MODELED"])
    file.write(str(path))
    assert list(read_it(path).marker.values) == list(points)


def test_subject_prefixes_are_taken_off(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    trial = read_it(write_c3d(tmp_path / "walk.c3d", {f"A22:{label}": path for label, path in points.items()}))
    assert list(trial.marker.values) == list(points)


def test_two_people_in_one_file_are_not_mixed(tmp_path: Path) -> None:
    """Anna's left heel is not labelled, Bert's is: it is not Anna's. Refusing such a file is right too."""
    anna = {f"Anna:{label}": path for label, path in recorded(walk(strides=1)).items() if label != "LHEE"}
    bert = {f"Bert:{label}": path + np.array([0, 3, 0]) for label, path in recorded(walk(strides=1)).items()}
    path = write_c3d(tmp_path / "walk.c3d", anna | bert)
    try:
        trial = read_it(path)
    except UserError:
        return
    assert "LHEE" not in trial.marker


def test_the_first_of_two_equal_labels_counts(tmp_path: Path) -> None:
    known = walk(strides=1)
    points = recorded(known)
    path = write_c3d(tmp_path / "walk.c3d", points | {"again": points["LHEE"] + 1})
    file = ezc3d.c3d(str(path))
    file["parameters"]["POINT"]["LABELS"]["value"][-1] = "LHEE"
    file.write(str(path))
    trial = read_it(path)
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
    assert np.isfinite(trial.marker_position.drop_sel(marker="LHEE")).all()


def test_a_zero_coordinate_is_no_gap(tmp_path: Path) -> None:
    points = recorded(walk(strides=1))
    points["LHEE"] = points["LHEE"] * [1, 0, 1]
    assert np.isfinite(read_it(write_c3d(tmp_path / "walk.c3d", points)).marker_position).all()


def test_a_trimmed_file_keeps_markers_plates_and_events_on_one_axis(tmp_path: Path) -> None:
    """A file that begins at frame 241 begins 2.4 s after the recording; its events count from the recording."""
    known = walk(strides=1, start_s=2.4)
    force, moment = wrenches(known, PLATES, known.times(ANALOG_HZ))
    plates = [channels(plate, force[:, i], moment[:, i], Z_UP) for i, plate in enumerate(PLATES)]
    strike = known.seen()[0]
    path = write_c3d(
        tmp_path / "walk.c3d", recorded(known), first_frame=241, plates=plates,
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
    # one sample of 1 ms, and the 0.3 ms that the half sine takes to reach 1 N
    np.testing.assert_allclose(loaded[[0, -1]], trial.event_time, rtol=0, atol=2e-3)


def test_events_count_minutes_and_seconds(tmp_path: Path) -> None:
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


def test_contexts_of_other_languages_are_sides(tmp_path: Path) -> None:
    events = [(0.3, "Fersenkontakt", "Links"), (0.6, "Contact initial", "Droit"), (0.9, "Foot Strike", "Dominant")]
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), events=events))
    assert list(trial.event_side.values) == ["left", "right", ""]


def test_events_of_another_subject_are_left_out(tmp_path: Path) -> None:
    """EVENT:SUBJECTS names whose each is; where it does not know the markers' owner, all count."""
    points = {f"A22:{label}": path for label, path in recorded(walk(strides=1)).items()}
    path = write_c3d(tmp_path / "walk.c3d", points, events=[(0.3, "Foot Strike", "Left"), (0.6, "Foot Off", "Left")])
    for subjects, times in ((["A22", "B07"], [0.3]), (["x", "y"], [0.3, 0.6])):
        file = ezc3d.c3d(str(path))
        file.add_parameter("EVENT", "SUBJECTS", subjects)
        file.write(str(tmp_path / "named.c3d"))
        np.testing.assert_allclose(read_it(tmp_path / "named.c3d").event_time, times, atol=1e-6)


def test_event_times_in_one_row_are_pairs(tmp_path: Path) -> None:
    """Minutes and seconds by turns, as some software stores them."""
    path = write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), events=[(0.5, "LHS", ""), (61.0, "LTO", "")])
    file = ezc3d.c3d(str(path))
    file["parameters"]["EVENT"]["TIMES"]["value"] = np.array([0.0, 0.5, 1.0, 1.0])
    file.write(str(tmp_path / "row.c3d"))
    np.testing.assert_allclose(read_it(tmp_path / "row.c3d").event_time, [0.5, 61.0], atol=1e-6)


def test_anthropometry_of_plug_in_gait_is_metres_and_kilograms(tmp_path: Path) -> None:
    """Keys come with and without blanks, lengths in millimetres; zero means that it was left out."""
    sizes = {"Bodymass": 71.5, "Height": 1780.0, "L Knee Width": 105.0, "RLegLength": 930.0, "MarkerDiameter": 14.0,
             "InterAsisDistance": 0.0, "Unrelated": 3.0}  # fmt: skip
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)), processing=sizes))
    expected = {"mass_kg": 71.5, "height_m": 1.78, "knee_width_left_m": 0.105, "leg_length_right_m": 0.93,
                "marker_diameter_m": 0.014}  # fmt: skip
    assert json.loads(trial.attrs["anthropometry"]) == pytest.approx(expected)


def test_zero_frames_are_passed_on(tmp_path: Path) -> None:
    known = walk(strides=1)
    force, moment = wrenches(known, PLATES, known.times(ANALOG_HZ))
    plates = [channels(plate, force[:, i], moment[:, i], Z_UP) for i, plate in enumerate(PLATES)]
    off = read_it(write_c3d(tmp_path / "off.c3d", recorded(known), plates=plates))
    named = read_it(write_c3d(tmp_path / "on.c3d", recorded(known), plates=plates, zero=(1, 10)))
    assert "zero_frames" not in off.attrs
    assert tuple(named.attrs["zero_frames"]) == (1, 10)


def test_a_file_without_plates_has_empty_plates(tmp_path: Path) -> None:
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1))))
    assert (trial.sizes["plate"], trial.sizes["plate_time"]) == (0, 0)
    assert trial.plate_corner.shape == (0, 4, 3)


def test_a_plate_of_unknown_type_costs_only_itself(tmp_path: Path) -> None:
    known = walk(strides=1)
    force, moment = wrenches(known, PLATES, known.times(ANALOG_HZ))
    plates = [channels(plate, force[:, i], moment[:, i], Z_UP) for i, plate in enumerate(PLATES)]
    path = write_c3d(tmp_path / "walk.c3d", recorded(known), plates=plates)
    file = ezc3d.c3d(str(path))
    file["parameters"]["FORCE_PLATFORM"]["TYPE"]["value"] = np.array([7, 2])
    file.write(str(path))
    trial = read_it(path)
    assert list(trial.plate.values) == [2]
    np.testing.assert_allclose(trial.plate_force[:, 0], force[:, 1], rtol=0, atol=SINGLE_N)
    assert "force plate 1: type 7" in trial.attrs["plates_left_out"]


# --- files that cannot be read ---------------------------------------------------------------------------------


def test_absent_empty_and_foreign_files_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "empty.c3d").touch()
    (tmp_path / "text.c3d").write_text("time\tx\ty\tz\n" * 200)
    (tmp_path / "folder.c3d").mkdir()
    for name in ("absent", "empty", "text", "folder"):
        path = tmp_path / f"{name}.c3d"
        with pytest.raises(UserError) as refusal:
            read_c3d(path)
        assert str(refusal.value).startswith(f"{path}: ")
        assert "\n" not in str(refusal.value)


def test_a_cut_file_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    """ezc3d reads a file that was cut in its data as a shorter trial."""
    known = walk(strides=1)
    force, moment = wrenches(known, PLATES, known.times(ANALOG_HZ))
    plates = [channels(plate, force[:, i], moment[:, i], Z_UP) for i, plate in enumerate(PLATES)]
    whole = write_c3d(tmp_path / "whole.c3d", recorded(known), plates=plates, first_frame=241)
    _refuses_every_cut(whole, tmp_path / "cut.c3d")


@pytest.mark.parametrize(
    "file",
    [
        "studies/plug_in_gait/sub-01/PiG_Calibration3_FF.c3d",
        "studies/plug_in_gait/sub-06/PiG_Calibration-FlatFoot-One.c3d",
        "data/c3dorg_sample10_types/TYPE-3.c3d",
        "data/codamotion_type3/codamotion_gaitwands_19970212.c3d",
        "data/qualisys_cast/Qualisys.c3d",
        "studies/exact/sub-01/static.c3d",
    ],
)
def test_a_cut_real_file_is_refused_wherever_it_is_cut(shared: Path, tmp_path: Path, file: str) -> None:
    _refuses_every_cut(shared / file, tmp_path / "cut.c3d")


def _refuses_every_cut(whole: Path, cut: Path) -> None:
    """Cut at the ends of header, parameters and data, in between, and at 20 places of the data section."""
    content = whole.read_bytes()
    words = np.frombuffer(content[:24], dtype="<u2")
    start, frames = 512 * (int(words[8]) - 1), int(words[4]) - int(words[3]) + 1
    value_bytes = 4 if ezc3d.c3d(str(whole))["parameters"]["POINT"]["SCALE"]["value"][0] < 0 else 2
    end = start + frames * (4 * int(words[1]) + int(words[2])) * value_bytes
    assert frames == len(read_c3d(whole).markers)
    for size in {1, 511, 512, 600, start - 1, *np.linspace(start, end - 1, 20, dtype=int).tolist()}:
        cut.write_bytes(content[:size])
        with pytest.raises(UserError, match=r"cut\.c3d: "):
            read_c3d(cut)


def test_a_file_without_markers_is_refused(tmp_path: Path) -> None:
    path, file = tmp_path / "analog.c3d", ezc3d.c3d()
    file["data"]["points"] = np.empty((4, 0, 10))
    file["parameters"]["POINT"]["RATE"]["value"] = [MARKER_HZ]
    file.write(str(path))
    with pytest.raises(UserError, match="holds no marker frames"):
        read_c3d(path)


def test_an_unknown_length_unit_is_refused(tmp_path: Path) -> None:
    path = write_c3d(tmp_path / "walk.c3d", recorded(walk(strides=1)))
    file = ezc3d.c3d(str(path))
    file["parameters"]["POINT"]["UNITS"]["value"] = ["inch"]
    file.write(str(path))
    with pytest.raises(UserError, match="POINT:UNITS is 'inch'"):
        read_c3d(path)


# --- real files ------------------------------------------------------------------------------------------------

REFUSED = {
    "Empty", "badParameterOffset", "mocap36_missing_byte", "truncated_header_only_1024B",
    "sample18_bad_parameter_section", "labels_all_starred_10plates", "rotation_data_no_points", "sample20_zero_frames",
    "evart_fp_channel_not_filled", "type1_no_analog_sample28_type1",
}  # fmt: skip


def body_model(asis: str, heel: str, toe: str | list[list[str]], sides: str = "LR") -> dict[str, Any]:
    """Return what ``read`` asks of a body model: a lab's names of the landmarks that tell where a person faces."""
    return BODY_MODEL | {
        "side_labels": dict(zip(("left", "right"), sides, strict=True)),
        "landmarks": {"asis": asis, "heel": heel, "toe": toe},
    }


@pytest.mark.parametrize(
    ("files", "model"),
    [
        ("studies/exact/sub-01/*", body_model("{side}ASI", "{side}HEE", "{side}MT2")),
        ("studies/functional/*/*", BODY_MODEL),
        ("studies/gait2354/*/*", body_model("{side}.ASIS", "{side}.Heel", "{side}.Toe.Tip")),
        ("studies/plug_in_gait/*/*", BODY_MODEL),
        ("data/c3dorg_sample10_types/TYPE-[234]*a*", BODY_MODEL),
        ("data/c3dorg_sample10_types/TYPE-3*", BODY_MODEL),
        ("data/c3dparser_AUC/*", body_model("{side}ASI", "{side}HEE", "{side}LA_TOE")),
        ("data/codamotion_type3/*", body_model("{side}.ASIS", "{side}.Heel", "{side}.Toe")),
        ("data/opensim_walking/*", body_model("{side}ASI", "{side}CAL", "{side}MT2")),
        ("data/qualisys_cast/*", body_model("{side}_IAS", "{side}_FCC", [["{side}_FM1", "{side}_FM5"]])),
    ],
)
def test_the_files_of_every_lab_show_a_person_who_stands_on_the_floor(
    shared: Path, files: str, model: dict[str, Any]
) -> None:
    paths = [path for path in sorted(shared.glob(files)) if path.suffix == ".c3d"]
    assert paths
    for path in paths:
        trial = read(path, body_model=model, lab_axes="quarter_turn")
        rotation = np.reshape(trial.attrs["lab_rotation"], (3, 3))
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(rotation) == pytest.approx(1)
        points = positions(model, [str(label) for label in trial.marker.values], trial.marker_position.values)
        (_, height, _), (ahead, _, _), (_, _, across) = (
            np.nanmedian(points[to] - points[start], axis=0)
            for start, to in (("heel_right", "asis_right"), ("heel_right", "toe_right"), ("asis_left", "asis_right"))
        )
        assert 0.5 < height < 1.2, "ASIS above heel, children and grown-ups"
        assert 0.1 < ahead < 0.3, "toe before heel"
        assert 0.15 < across < 0.4, "right ASIS to the right"
        assert np.nanmax(trial.plate_force.values[..., 1], initial=0) < 2500, "the reaction on one person, N"


@pytest.mark.parametrize(
    ("file", "model", "forward"),
    [
        ("studies/exact/sub-01/walk_01.c3d", body_model("{side}ASI", "{side}HEE", "{side}MT2"), [1, 0, 0]),
        ("studies/exact/sub-01/walk_02.c3d", body_model("{side}ASI", "{side}HEE", "{side}MT2"), [-1, 0, 0]),
        ("studies/exact/sub-01/walk_03.c3d", body_model("{side}ASI", "{side}HEE", "{side}MT2"), [0, 1, 0]),
        (
            "data/codamotion_type3/codamotion_gaitwands_19970212.c3d",
            body_model("{side}.ASIS", "{side}.Heel", "{side}.Toe"),
            [-1, 0, 0],
        ),
    ],
)
def test_real_people_face_where_their_lab_says(
    shared: Path, file: str, model: dict[str, Any], forward: list[float]
) -> None:
    rotation = np.reshape(read(shared / file, body_model=model, lab_axes="quarter_turn").attrs["lab_rotation"], (3, 3))
    np.testing.assert_array_equal(rotation[0], forward)


READ = {
    "16bit_unsigned_analog", "MyCube_1frame", "duplicate_labels",
    "nan_markers_no_forces", "type3_bad_scale_24kN", "unzeroed_baseline_plates",
}  # fmt: skip


@pytest.mark.parametrize("file", sorted(REFUSED | READ))
def test_strange_files_are_read_or_refused(shared: Path, file: str) -> None:
    path = shared / "data" / "odd" / f"{file}.c3d"
    if file in REFUSED:
        with pytest.raises(UserError, match=file):
            read_c3d(path)
        return
    recording = read_c3d(path)
    assert recording.markers.shape[1:] == (len(recording.labels), 3)
    assert len(set(recording.labels)) == len(recording.labels)
    with np.errstate(invalid="ignore"):
        assert not (np.abs(recording.markers) > 1e3).any()
