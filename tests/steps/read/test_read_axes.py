"""Step ``read``: up and forward are found in the axes and units of any lab, for known and real walks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline.body.body_model import BodyModel
from pipeline.body.landmarks import positions
from pipeline.conventions import SIDES
from pipeline.errors import UserError
from pipeline.plates.incline import normal_of_ground
from pipeline.recording import Load, Recording
from pipeline.steps.read.plates_and_channels import decode_plates
from pipeline.steps.read.step import read as read_session
from pipeline.steps.read.step import read_trial as read
from pipeline.trials.session import one_trial
from tests.support.files.c3d_writer import write_c3d
from tests.support.settings import settings_of
from tests.support.walks.as_c3d import (
    PLATES,
    SINGLE_M,
    SINGLE_N,
    Z_UP,
    on_plates,
    position,
    read_it,
    recorded,
    recorded_plates,
)
from tests.support.walks.as_clean import ANALOG_HZ, BODY_MODEL, LABELS, SPEED_M_S, markers, walk

# rows: the file's axes in ISB lab axes, for a person facing +x, -x, +y and -y of a lab with z up, and +z, -x of one
# with y up
LABS = {
    "z up, +x": [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    "z up, -x": [[-1, 0, 0], [0, 0, 1], [0, 1, 0]],
    "z up, +y": [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
    "z up, -y": [[0, 0, -1], [-1, 0, 0], [0, 1, 0]],
    "y up, +z": [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
    "y up, -x": [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
}


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("unit", ["mm", "m"])
def test_every_lab_gives_the_same_isb_walk(tmp_path: Path, lab: str, unit: str) -> None:
    known, turn = walk(strides=1), np.array(LABS[lab], dtype=float)
    force, moment = on_plates(known)
    plates = recorded_plates(known, turn)
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(known, turn), unit=unit, plates=plates))
    for name, path in markers(known).items():
        np.testing.assert_allclose(position(trial, name), path, rtol=0, atol=SINGLE_M)
    np.testing.assert_allclose(trial.plate_force, force, rtol=0, atol=SINGLE_N)
    np.testing.assert_allclose(trial.plate_moment, moment, rtol=0, atol=SINGLE_N)
    np.testing.assert_allclose(trial.plate_corner, [plate.corners for plate in PLATES], rtol=0, atol=SINGLE_M)
    np.testing.assert_allclose(trial.plate_time, known.times(ANALOG_HZ), rtol=0, atol=1e-9)
    assert np.abs(force).max() > 400
    assert trial.attrs["direction_of_travel"] == "forwards"


@pytest.mark.parametrize("lab", LABS)
def test_axes_that_rise_with_a_treadmill_are_turned_to_the_vertical(tmp_path: Path, lab: str) -> None:
    known, slope_deg = walk(strides=1), 8.0
    turn = np.array(LABS[lab], dtype=float) @ Rotation.from_euler("z", -slope_deg, degrees=True).as_matrix()
    force, moment = on_plates(known)
    path = write_c3d(tmp_path / "walk.c3d", recorded(known, turn), unit="mm", plates=recorded_plates(known, turn))
    trial = read(path, body_model=BODY_MODEL, lab_axes="quarter_turn", slope_deg=slope_deg)
    for name, places in markers(known).items():
        np.testing.assert_allclose(position(trial, name), places, rtol=0, atol=SINGLE_M)
    np.testing.assert_allclose(trial.plate_force, force, rtol=0, atol=SINGLE_N)
    np.testing.assert_allclose(trial.plate_moment, moment, rtol=0, atol=SINGLE_N)
    np.testing.assert_allclose(trial.plate_corner, [plate.corners for plate in PLATES], rtol=0, atol=SINGLE_M)


@pytest.mark.parametrize("slope_deg", [8.0, -12.0, 0.0])
def test_loads_without_plates_press_on_ground_that_slopes_as_stated(slope_deg: float) -> None:
    """A MOT file has no corners: its ground is level in the file's axes, and slopes with them."""
    rng = np.random.default_rng(2)
    point = np.stack([*rng.uniform(-0.2, 0.2, (2, 50)), np.zeros(50)], axis=1)  # z up
    load = Load(np.tile([0.0, 0.0, 700.0], (50, 1)), np.zeros((50, 3)), point)
    recording = Recording([], np.empty((0, 0, 3)), 100.0, 0.0, 1.0, loads=(load,))
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    slope = Rotation.from_euler("z", slope_deg, degrees=True).as_matrix()
    plates = decode_plates(recording, slope @ turn)
    np.testing.assert_allclose(normal_of_ground(plates.corners), slope[:, 1], atol=SINGLE_M)
    place = plates.corners[0] @ slope  # in the axes of the file, y up
    np.testing.assert_allclose(place, decode_plates(recording, turn).corners[0], atol=SINGLE_M)


def test_a_trial_states_its_own_slope(tmp_path: Path) -> None:
    """The static trial is level, the walk uphill by 8 degrees, and one that faces the other way downhill by as much."""
    known, rows = walk(strides=1), []
    labs = {"static": ("z up, +x", 0.0), "up": ("z up, +x", 8.0), "down": ("z up, -x", -8.0)}
    for name, (lab, slope_deg) in labs.items():
        turn = np.array(LABS[lab], dtype=float) @ Rotation.from_euler("z", -slope_deg, degrees=True).as_matrix()
        path = write_c3d(tmp_path / f"{name}.c3d", recorded(known, turn), plates=recorded_plates(known, turn))
        row = {"trial": name, "file": str(path), "sha256": "", "role": "gait", "subject": "", "participant": ""}
        rows.append(row | ({} if name == "up" else {"slope_degrees": slope_deg}))
    settings = settings_of("read", slope_deg=8.0)
    session = read_session(rows, body_model=BODY_MODEL, settings=settings)
    assert session.slope_degrees.values.tolist() == [0.0, 8.0, -8.0]
    level = read_session(rows[:1], body_model=BODY_MODEL, settings=settings_of("read"))
    assert "slope_degrees" not in level
    force, _ = on_plates(known)
    for name in labs:
        trial = one_trial(session, name)
        np.testing.assert_allclose(position(trial, "toe_left"), markers(known)["toe_left"], rtol=0, atol=SINGLE_M)
        np.testing.assert_allclose(trial.plate_force, force, rtol=0, atol=SINGLE_N)


def test_a_diagonal_walk_is_turned_freely_only_on_request(tmp_path: Path) -> None:
    known = walk()
    diagonal = Rotation.from_euler("z", 30, degrees=True).as_matrix() @ Z_UP
    path = write_c3d(tmp_path / "walk.c3d", recorded(known, diagonal))
    np.testing.assert_allclose(position(read_it(path, "free"), "heel_left"), markers(known)["heel_left"], atol=SINGLE_M)
    quarter = read_it(path).lab_rotation.values
    np.testing.assert_array_equal(quarter, Z_UP.T)


def test_forward_is_found_on_a_treadmill(tmp_path: Path) -> None:
    """The person does not travel, and each heel ends behind its start; only the body shows where forward is."""
    known = walk(belt_m_s=SPEED_M_S)
    turn = np.array(LABS["z up, -x"], dtype=float)
    trial = read_it(write_c3d(tmp_path / "walk.c3d", recorded(known, turn)))
    np.testing.assert_allclose(position(trial, "toe_left"), markers(known)["toe_left"], rtol=0, atol=SINGLE_M)
    assert trial.attrs["direction_of_travel"] == "none"


def test_walking_backwards_is_recorded(tmp_path: Path) -> None:
    known = walk()
    points = {label: path[::-1] for label, path in recorded(known).items()}
    trial = read_it(write_c3d(tmp_path / "walk.c3d", points))
    assert trial.attrs["direction_of_travel"] == "backwards"
    np.testing.assert_allclose(position(trial, "heel_left"), markers(known)["heel_left"][::-1], atol=SINGLE_M)


@pytest.mark.parametrize(
    "exchanged", [("asis_left", "asis_right"), ("heel_left", "toe_left", "heel_right", "toe_right")]
)
def test_exchanged_labels_are_refused(tmp_path: Path, exchanged: tuple[str, ...]) -> None:
    partner = dict(zip(exchanged[::2], exchanged[1::2], strict=True))
    partner |= {b: a for a, b in partner.items()}
    points = recorded(walk(), names={name: LABELS[partner.get(name, name)] for name in LABELS})
    path = write_c3d(tmp_path / "walk.c3d", points)
    with pytest.raises(UserError, match=r"walk\.c3d: pelvis and feet face opposite ways.*exchanged"):
        read_it(path)


@pytest.mark.parametrize("absent", [("ASI",), ("HEE", "TOE")])
def test_pelvis_and_feet_are_needed_to_find_up(tmp_path: Path, absent: tuple[str, ...]) -> None:
    points = {label: path for label, path in recorded(walk()).items() if label[1:] not in absent}
    path = write_c3d(tmp_path / "walk.c3d", points)
    with pytest.raises(UserError, match=r"walk\.c3d: cannot tell where up is"):
        read_it(path)


# ---- real files


def body_model(asis: str, heel: str, toe: str | list[list[str]], sides: str = "LR") -> BodyModel:
    """Return a body model with a lab's labels of the landmarks that ``read`` needs."""
    return BodyModel.of(
        BODY_MODEL.definition
        | {"side_labels": dict(zip(SIDES, sides, strict=True)), "landmarks": {"asis": asis, "heel": heel, "toe": toe}}
    )


EXACT = body_model("{side}ASI", "{side}HEE", "{side}MT2")
CODAMOTION = body_model("{side}.ASIS", "{side}.Heel", "{side}.Toe")


@pytest.mark.parametrize(
    ("files", "model"),
    [
        ("studies/exact/sub-01/*", EXACT),
        ("studies/functional/*/*", BODY_MODEL),
        ("studies/gait2354/*/*", body_model("{side}.ASIS", "{side}.Heel", "{side}.Toe.Tip")),
        ("studies/plug_in_gait/*/*", BODY_MODEL),
        ("data/c3dorg_sample10_types/TYPE-[234]*a*", BODY_MODEL),
        ("data/c3dorg_sample10_types/TYPE-3*", BODY_MODEL),
        ("data/c3dparser_AUC/*", body_model("{side}ASI", "{side}HEE", "{side}LA_TOE")),
        ("data/codamotion_type3/*", CODAMOTION),
        ("data/opensim_walking/*", body_model("{side}ASI", "{side}CAL", "{side}MT2")),
        ("data/qualisys_cast/*", body_model("{side}_IAS", "{side}_FCC", [["{side}_FM1", "{side}_FM5"]])),
    ],
)
def test_people_are_upright_on_the_floor_in_the_files_of_every_lab(shared: Path, files: str, model: BodyModel) -> None:
    paths = [path for path in sorted(shared.glob(files)) if path.suffix == ".c3d"]
    assert paths
    for path in paths:
        trial = read(path, body_model=model, lab_axes="quarter_turn")
        rotation = trial.lab_rotation.values
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
        ("studies/exact/sub-01/walk_01.c3d", EXACT, [1, 0, 0]),
        ("studies/exact/sub-01/walk_02.c3d", EXACT, [-1, 0, 0]),
        ("studies/exact/sub-01/walk_03.c3d", EXACT, [0, 1, 0]),
        ("data/codamotion_type3/codamotion_gaitwands_19970212.c3d", CODAMOTION, [-1, 0, 0]),
    ],
)
def test_real_people_face_forward(shared: Path, file: str, model: BodyModel, forward: list[float]) -> None:
    rotation = read(shared / file, body_model=model, lab_axes="quarter_turn").lab_rotation.values
    np.testing.assert_array_equal(rotation[0], forward)
