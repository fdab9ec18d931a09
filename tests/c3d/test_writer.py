"""Copies of C3D files with results, compared to the source and to the Plug-in Gait outputs in real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.__main__ import main
from pipeline.c3d.plug_in_gait import POINTS, UNITS, Output, gait_events, model_outputs, oppose_angles, upper_outputs
from pipeline.c3d.reader import read_c3d
from pipeline.c3d.writer import without_person, write_c3d
from pipeline.conventions import SIDES
from pipeline.errors import UserError
from pipeline.whole_body import plug_in_gait as upper
from pipeline.whole_body.skeleton import JOINTS, SEGMENTS
from tests.odd_files.every_row import ROWS
from tests.support.checkout import HOUSE
from tests.support.studies.run_steps import Session, run_study

Array = NDArray[np.float64]
DEMO = HOUSE / "data" / "demo" / "sub-01"
EVENTS = [(1.5, "Foot Strike", "Left"), (61.25, "Foot Off", "Right")]
SINGLE = 1e-6  # a C3D file holds numbers of 32 bits


@pytest.mark.parametrize("anonymous", [False, True])
@pytest.mark.parametrize("name", ["mips", "offsets", "corner", "types", "rate_119p88000_10", "frame_6001"])
def test_a_file_that_ezc3d_misreads_is_copied_as_it_is_read(name: str, tmp_path: Path, *, anonymous: bool) -> None:
    """Of another machine, with names that are not the standard's, with rates that ezc3d divides to 9 instead of 10."""
    next(row for row in ROWS if row.name == name).write(tmp_path)
    write_c3d(tmp_path / "walk.c3d", tmp_path / "copy.c3d", [], [], anonymous=anonymous)
    source, copy = (read_c3d(tmp_path / f"{file}.c3d") for file in ("walk", "copy"))
    assert (copy.labels, copy.first_frame, copy.analog_rate_hz) == (
        source.labels, source.first_frame, source.analog_rate_hz
    )  # fmt: skip
    np.testing.assert_allclose(copy.markers, source.markers, rtol=SINGLE)
    np.testing.assert_allclose(copy.analog, source.analog, rtol=SINGLE, atol=SINGLE)
    for parameter in ("TYPE", "CORNERS", "ORIGIN", "CHANNEL"):
        np.testing.assert_allclose(copy.force_platform[parameter], source.force_platform[parameter], rtol=SINGLE)


def made_up(frames: int) -> list[Output]:
    """Return an output of each group; the third frame of the first is missing."""
    rng = np.random.default_rng(0)
    outputs = [
        Output(group, f"L{group.capitalize()}", rng.normal(size=(frames, 3)) * 50, f"{group} of the test")
        for group in UNITS
    ]
    outputs[0].values[2] = np.nan
    return outputs


def point(path: Path) -> tuple[Any, Any, list[str]]:
    """Return content, POINT and all labels of a file as ezc3d reads it."""
    content = ezc3d.c3d(str(path))
    parts = content["parameters"]["POINT"]
    names = ["LABELS", *(f"LABELS{i}" for i in range(2, 9) if f"LABELS{i}" in parts)]
    return content, parts, [label for name in names for label in parts[name]["value"]]


def values_of(path: Path, label: str) -> Array:
    content, _, labels = point(path)
    return np.asarray(content["data"]["points"][:3, labels.index(label)].T)


def real_files(shared: Path) -> list[Path]:
    names = ["plug_in_gait/sub-02/HC002D06.c3d", "plug_in_gait/sub-01/PiG_Motion3_FF.c3d", "gait2354/sub-01/walk1.c3d"]
    return [shared / "studies" / name for name in names]


def assert_carried_over(source: Path, target: Path) -> None:
    """Compare markers, analog channels, plates, rates and sizes of a copy with its source."""
    before, after = read_c3d(source), read_c3d(target)
    assert after.labels == before.labels
    np.testing.assert_array_equal(np.isnan(after.markers), np.isnan(before.markers))
    np.testing.assert_allclose(after.markers, before.markers, rtol=0, atol=SINGLE)
    scale = np.abs(before.analog).max(initial=1.0)
    np.testing.assert_allclose(after.analog, before.analog, rtol=0, atol=SINGLE * scale)
    for name in ("marker_rate_hz", "analog_rate_hz", "first_frame", "length_unit_m", "subject_names", "analog_units"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.processing == pytest.approx(dict(before.processing))
    for name, value in before.force_platform.items():
        np.testing.assert_array_equal(np.asarray(after.force_platform[name]), np.asarray(value), err_msg=name)


def check_copy(source: Path, target: Path) -> None:
    bytes_before = source.read_bytes()
    outputs = made_up(len(read_c3d(source).markers))
    write_c3d(source, target, outputs, EVENTS)
    assert source.read_bytes() == bytes_before
    assert_carried_over(source, target)
    _, parts, labels = point(target)
    assert labels[: len(point(source)[2])] == point(source)[2]
    for output in outputs:
        np.testing.assert_allclose(values_of(target, output.label), output.values, rtol=SINGLE, atol=SINGLE)
        assert output.label in parts[output.group]["value"]
        unit = parts["UNITS" if output.group == POINTS else f"{output.group[:-1]}_UNITS"]
        assert unit["value"][0] == UNITS[output.group]
    groups = parts["TYPE_GROUPS"]["value"]
    assert {(group, group[:-1]) for group in UNITS} <= set(zip(groups[::2], groups[1::2], strict=True))
    got = [(event.time_s, event.label, event.side) for event in read_c3d(target).events]
    assert [event[1:] for event in got] == [("Foot Strike", "left"), ("Foot Off", "right")]
    assert [event[0] for event in got] == pytest.approx([1.5, 61.25])
    assert not list(target.parent.glob(".*partial*"))


def test_a_copy_has_the_sources_data_and_the_results(tmp_path: Path) -> None:
    check_copy(DEMO / "fast_01.c3d", tmp_path / "new" / "copy.c3d")


@pytest.mark.parametrize("number", range(3))
def test_a_copy_of_a_real_file(number: int, shared: Path, tmp_path: Path) -> None:
    """More than 255 labels, Vicon files with their own outputs, and a file with another first_frame than 1."""
    check_copy(real_files(shared)[number], tmp_path / "copy.c3d")


def test_a_second_writing_replaces_the_first(tmp_path: Path) -> None:
    source, once, twice = DEMO / "fast_01.c3d", tmp_path / "once.c3d", tmp_path / "twice.c3d"
    outputs = made_up(len(read_c3d(source).markers))
    write_c3d(source, once, outputs, EVENTS)
    doubled = [output._replace(values=2 * output.values) for output in outputs]
    write_c3d(once, twice, doubled, EVENTS[:1])
    assert point(twice)[2] == point(once)[2]
    for output in doubled:
        np.testing.assert_allclose(values_of(twice, output.label), output.values, rtol=SINGLE, atol=SINGLE)
    assert len(read_c3d(twice).events) == 1
    assert_carried_over(once, twice)


def test_a_recording_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "walk.c3d"
    source.write_bytes((DEMO / "fast_01.c3d").read_bytes())
    (tmp_path / "link.c3d").symlink_to(source)
    for target in (source, tmp_path / "link.c3d"):
        with pytest.raises(UserError, match="is the recording itself"):
            write_c3d(source, target, [], [])
    assert source.read_bytes() == (DEMO / "fast_01.c3d").read_bytes()


@pytest.fixture(scope="module")
def whole(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Return the session of a full-body recording, on two plates."""
    folder, study = tmp_path_factory.mktemp("whole"), shared / "studies" / "plug_in_gait"
    (folder / "study.yaml").write_text("body_model: plug_in_gait\n")
    (folder / "participants.tsv").write_bytes((study / "participants.tsv").read_bytes())
    lines = (study / "trials.tsv").read_text().splitlines()
    (folder / "trials.tsv").write_text("\n".join([lines[0], *(line for line in lines if "HC002D" in line)]) + "\n")
    (folder / "sub-02").symlink_to(study / "sub-02")
    return run_study(folder, {})["sub-02"]


def test_outputs_agree_with_those_of_plug_in_gait(whole: Session, shared: Path, tmp_path: Path) -> None:
    """Names, axes, signs and units agree: each component follows the file's own with a slope near 1.

    The own ones come from other joint centres and filters, hence the room; a wrong sign, axis or unit has none.
    """
    steps, source = whole.trials["walk"], shared / "studies/plug_in_gait/sub-02/HC002D06.c3d"
    outputs = model_outputs(
        steps["kinematics"], steps["kinetics"], steps["contacts"],
        body_mass_kg=float(whole.calibration.attrs["body_mass_kg"]),
        lab_rotation=steps["read"].lab_rotation.values,
    )  # fmt: skip
    # all three rows, by definition: only the filter differs
    for letter in "LR":
        name = f"{letter}FootProgressAngles"
        (foot,) = (output.values for output in outputs if output.label == name)
        apart = (foot - values_of(source, name) + 180) % 360 - 180
        assert np.sqrt(np.nanmean(apart**2, axis=0)).max() < 0.15, name
    target = tmp_path / "walk.c3d"
    write_c3d(source, target, outputs, gait_events(steps["contacts"]))
    compared = {
        **dict.fromkeys(("AnkleAngles", "KneeAngles", "HipAngles", "PelvisAngles"), (0, 1, 2)),
        **dict.fromkeys(("AnkleMoment", "KneeMoment", "HipMoment", "GroundReactionForce"), (0, 1, 2)),
        **dict.fromkeys(("AnklePower", "KneePower", "HipPower", "FootProgressAngles"), (2,)),
    }
    for letter in "LR":
        for name, axes in compared.items():
            ours, theirs = (values_of(path, letter + name) for path in (target, source))
            for axis in axes:
                both = np.isfinite(ours[:, axis]) & np.isfinite(theirs[:, axis]) & (np.abs(theirs).max(axis=1) > 0)
                a, b = theirs[both, axis], ours[both, axis]
                where = f"{letter}{name} {axis}: {len(a)} frames, r {np.corrcoef(a, b)[0, 1]:.3f}"
                assert len(a) > 50, where
                assert np.corrcoef(a, b)[0, 1] > 0.8, where
                assert 0.7 < np.std(b) / np.std(a) < 1.4, where
    events = [(event.label, event.side) for event in read_c3d(target).events]
    assert ("Foot Strike", "left") in events
    assert ("Foot Off", "right") in events


def test_trunk_and_arms_agree_with_those_of_plug_in_gait(whole: Session, shared: Path, tmp_path: Path) -> None:
    """Angles are the file's own, by the same rules. Its filter differs, and it levels the head by a mean (.2 degrees).

    Moments of the arms have its signs; it puts their masses and its filter elsewhere. Waist and neck have none to
    compare: the file's come from below, and only one foot is on a plate at a time. Its centre of mass has the masses of
    the limbs at distal joints, and the hips of the pelvis markers.
    """
    steps, source = whole.trials["walk"], shared / "studies/plug_in_gait/sub-02/HC002D06.c3d"
    moved, loaded = steps["kinematics"], steps["kinetics"]
    outputs = upper_outputs(
        upper.angles(moved), upper.moments(moved, loaded), moved, loaded,
        body_mass_kg=float(whole.calibration.attrs["body_mass_kg"]), lab_rotation=steps["read"].lab_rotation.values,
    )  # fmt: skip
    target = tmp_path / "walk.c3d"
    write_c3d(source, target, outputs, gait_events(steps["contacts"]))
    labels = {output.label for output in outputs}
    assert {"CentreOfMass", "LWaistMoment", "RNeckPower"} <= labels
    assert labels <= {*point(source)[2]}  # nothing is named otherwise
    centres = ["CentreOfMass", "CentreOfMassFloor"]  # are no markers any more
    assert read_c3d(target).labels == [label for label in read_c3d(source).labels if label not in centres]
    for side, part in ((side, part) for side in "LR" for part in upper.SIGNS):
        ours, theirs = (values_of(path, f"{side}{part.capitalize()}Angles") for path in (target, source))
        known = (theirs != 0).any(axis=1)
        apart = (ours - theirs + 180) % 360 - 180
        rms = np.sqrt(np.nanmean(apart[known] ** 2, axis=0))
        assert (rms < [0.3 if part in ("head", "neck") else 0.02, 0.02, 0.02]).all(), (side, part, rms)
    for label in (f"{side}{joint}Moment" for side in "LR" for joint in ("Shoulder", "Elbow")):
        ours, theirs = values_of(target, label), values_of(source, label)
        known = np.isfinite(ours).all(axis=1) & (theirs != 0).any(axis=1)
        for a, b in zip(theirs[known].T, ours[known].T, strict=True):
            assert np.corrcoef(a, b)[0, 1] > 0.95, label
            assert 0.5 < np.std(b) / np.std(a) < 1.4, label
    centre, floor = (values_of(target, name) for name in centres)
    assert np.abs(np.nanmean(centre - values_of(source, "CentreOfMass"), axis=0)).max() < 60
    np.testing.assert_allclose(floor, centre * [1, 1, 0], atol=1e-3)


def test_moments_of_the_waist_are_those_of_the_thorax_on_the_pelvis() -> None:
    """Rows: backward tilt of the thorax by the pelvis, then this side down and this side backward."""
    turn = np.eye(3)
    moment = np.zeros((1, len(JOINTS), 3))
    moment[0, JOINTS.index("waist")] = [-2.0, 3.0, 5.0]  # on the thorax: left side down, forward, back
    axes = ("time", "upper_joint", "local_axis")
    frames = xr.Dataset(
        {
            "rotation": (("time", "side", "segment", "i", "j"), np.broadcast_to(turn, (1, 2, 1, 3, 3))),
            "upper_rotation": (("time", "upper_segment", "i", "j"), np.broadcast_to(turn, (1, len(SEGMENTS), 3, 3))),
        },
        {"side": [*SIDES], "segment": ["pelvis"]},
    )
    result = upper.moments(frames, xr.Dataset({"upper_joint_moment": (axes, moment)}))
    np.testing.assert_allclose(result["right", "waist"], [[5, -2, -3]])
    np.testing.assert_allclose(result["left", "waist"], [[5, 2, 3]])


def test_a_centre_of_mass_has_the_length_unit_of_the_file(tmp_path: Path) -> None:
    content = ezc3d.c3d(str(DEMO / "fast_01.c3d"))
    content.add_parameter("POINT", "UNITS", ["m"])
    content.write(str(tmp_path / "metres.c3d"))
    outputs = made_up(content["data"]["points"].shape[2])
    write_c3d(tmp_path / "metres.c3d", tmp_path / "copy.c3d", outputs, [])
    for output in outputs:
        scale = 1e-3 if output.group == POINTS else 1
        np.testing.assert_allclose(values_of(tmp_path / "copy.c3d", output.label), scale * output.values, rtol=SINGLE)


def test_moments_resist_positive_angles_on_both_sides() -> None:
    """Plantarflexor, knee extensor and hip abductor moments are positive on both sides."""
    axes = {"joint": ["ankle", "knee", "hip"], "local_axis": list("xyz")}
    right = [
        [-1.0, -2, -3],
        [-4, -5, 6],
        [-7, -8, -9],
    ]  # x adduction, y internal rotation, z flexion, knee the other way
    expected = [[3, 1, 2], [6, 4, 5], [9, 7, 8]]
    for side, mirror in (("right", 1.0), ("left", -1.0)):
        moment = xr.DataArray(np.array([right]) * [mirror, mirror, 1], axes, ("time", "joint", "local_axis"))
        np.testing.assert_array_equal(oppose_angles(moment, side), [expected])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--session", "sub-03"], "no session 'sub-03' in trials.tsv; did you mean 'sub-02'?"),
        ([], "kinematics.nc: no such file; run the workflow first"),
    ],
)
def test_errors_of_the_command(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("study.yaml", "participants.tsv", "trials.tsv", "segments.tsv"):
        (tmp_path / name).write_bytes((HOUSE / "data" / "demo" / name).read_bytes())
    assert main(["write-c3d", str(tmp_path), *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "derived").exists()


def test_an_anonymous_copy_has_no_description_and_no_name() -> None:
    """A program may write anything into the description of a parameter."""
    names: dict[str, Any] = {"value": ["Anna Smith:LHEE", "annasmith_RHEE"], "description": "of Anna Smith", "type": -1}
    rate: dict[str, Any] = {"value": np.array([100.0]), "description": "patient Anna Smith, born 1990", "type": 4}
    parameters = {"POINT": {"LABELS": names, "RATE": rate}, "SUBJECTS": {"NAMES": {"value": ["Anna Smith"]}}}
    kept = without_person(parameters, ["Anna Smith", "AnnaSmith"])
    assert [*kept] == ["POINT"]
    assert kept["POINT"]["LABELS"]["value"] == ["LHEE", "RHEE"]
    assert kept["POINT"]["RATE"]["value"].tolist() == [100.0]
    assert "smith" not in str(kept).lower()
