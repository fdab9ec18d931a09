"""Body models: files that extend others, every shipped model on a known person, features of single models."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline.__main__ import main
from pipeline.body.body_model import BodyModel
from pipeline.body.landmarks import positions
from pipeline.body.resolved_model import resolve
from pipeline.body.skeleton import moving_legs, read_sides
from pipeline.body.static_skeleton import static_skeleton
from pipeline.c3d.reader import read_c3d
from pipeline.conventions import FROM_PELVIS, JOINTS, SEGMENTS, SIDE_SIGN, SIDES
from pipeline.errors import UserError
from pipeline.whole_body import skeleton as upper
from pipeline.workflow.settings import load_body_model, shipped_body_models
from tests.support.checkout import HOUSE
from tests.support.walks.person import (
    PARTICIPANT,
    PLACES,
    Landmarks,
    body_model,
    calibrated,
    cleaned,
    close,
    landmarks,
    of_side,
    recorded,
    standing,
    walk,
)

SHIPPED = shipped_body_models()
OF_MARKERS = [name for name in SHIPPED if name != "segment_poses"]  # of poses: tests/c3d/test_segment_poses.py
HEEL_AT_ANKLE = ("helen_hayes_no_heel", "plug_in_gait_bones")
WALK_S = np.linspace(0, 1.1, 30)


# ---- files that extend others


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\ndescription: a test\n{text}")
    return path


def test_a_model_has_what_it_extends_but_for_what_it_names(tmp_path: Path) -> None:
    written(tmp_path, "mine", "extends: plug_in_gait\nlandmarks: {toe: '{side}MT2', tip: '{side}TIP'}\n")
    written(tmp_path, "theirs", "extends: mine.yaml\nsettings: {clean: {max_gap_s: 0.2}}\n")
    model, base = (
        load_body_model(name, where="study.yaml", study_path=tmp_path) for name in ("theirs.yaml", "plug_in_gait")
    )
    assert model.name == "theirs"
    assert model.definition["landmarks"] == base.definition["landmarks"] | {"toe": "{side}MT2", "tip": "{side}TIP"}
    assert model.landmarks["tip_left"] == (("LTIP",),)
    assert model.joint_centres == base.joint_centres
    assert model.settings == {**base.settings, "clean": {"max_gap_s": 0.2}}
    assert "extends" not in model.definition


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: plug_in_gate\n", r"mine\.yaml: no body model 'plug_in_gate'; did you mean 'plug_in_gait'"),
        ("extends: mine.yaml\n", "body models extend each other: mine.yaml > mine.yaml"),
        ("extends: plug_in_gait\nlandmark: {}\n", "unknown key 'landmark'; did you mean 'landmarks'"),
        ("extends: plug_in_gait\nlandmarks: [LASI]\n", "landmarks is .* expected 'key: value' lines"),
        ("extends: plug_in_gait\nvirtual: {patella: {method: alignment_device, markers: [heel, toe, knee]}}\n",
         "virtual: no landmark 'patella'(.|\n)*virtual.patella: no landmark 'knee'"),
        ("extends: plug_in_gait\njoint_centres: {knee: {method: predictive, from: heel, moves_with: shank}}\n",
         "joint_centres.knee: predictive lacks 'axes'(.|\n)*lacks 'of'(.|\n)*lacks 'shift'"),
        ("extends: plug_in_gait\nsegments: {foot: {axes: [{axis: x, from: heel}, {axis: z, along: shank.z}]}}\n",
         "segments.foot: axis x has no direction; add from and to"),
        ("extends: plug_in_gait\nsegments: {shank: {axes: [{axis: x, along: foot.x}, {axis: z, along: thigh.w}]}}\n",
         r"cannot follow 'foot\.x'(.|\n)*cannot follow 'thigh\.w'; name an axis of a more proximal segment"),
    ],
)  # fmt: skip
def test_what_a_model_cannot_extend_or_name_is_refused(tmp_path: Path, text: str, message: str) -> None:
    written(tmp_path, "mine", text)
    with pytest.raises(UserError, match=message):
        load_body_model("mine.yaml", where="study.yaml", study_path=tmp_path)


# ---- every shipped model


def page_examples() -> list[str]:
    page = (HOUSE / "docs" / "body_models.md").read_text()
    return re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_pages_short_example_differs_in_what_it_names(tmp_path: Path) -> None:
    text, _ = (block for block in page_examples() if "extends:" in block)
    (tmp_path / "our_gait.yaml").write_text(text)
    model = load_body_model("our_gait.yaml", where="study.yaml", study_path=tmp_path).definition
    base = body_model("plug_in_gait_flat_foot").definition
    assert {key for key in base if model[key] != base[key]} == {"name", "description", "landmarks"}


def test_the_pages_example_of_an_upper_body_builds_all_of_it(tmp_path: Path) -> None:
    _, text = (block for block in page_examples() if "extends:" in block)
    (tmp_path / "our_gait.yaml").write_text(text)
    model = load_body_model("our_gait.yaml", where="study.yaml", study_path=tmp_path)
    middle = {"c7": (-0.06, 1.45, 0), "t10": (-0.08, 1.2, 0), "clavicle": (0.06, 1.4, 0), "sternum": (0.1, 1.2, 0)}
    right = {
        "head_front": (0.1, 1.62, 0.07), "head_back": (-0.08, 1.62, 0.07), "acromion": (0, 1.42, 0.18),
        "elbow_lateral": (0, 1.1, 0.25), "elbow_medial": (0, 1.1, 0.17), "wrist_radial": (0, 0.85, 0.25),
        "wrist_ulnar": (0, 0.85, 0.19), "knuckle": (0, 0.76, 0.22),
    }  # fmt: skip
    sided = {
        f"{name}_{side}": (x, y, sign * z) for name, (x, y, z) in right.items() for side, sign in SIDE_SIGN.items()
    }
    markers = {name: np.array([place], dtype=float) for name, place in (middle | sided).items()}
    hips, waist = np.array([[-0.05, 0.9, 0.0]]), np.array([[-0.1, 1.0, 0.0]])
    sizes = upper.upper_sizes({"marker_diameter_m": 0.014}, 1.75)
    whole = upper.build(model.upper_body, markers, np.eye(3)[None], hips, waist, sizes)
    assert whole is not None
    assert whole.seen == upper.SEGMENTS
    np.testing.assert_allclose(whole.centres["elbow_left"], [[0, 1.1, -0.21]])
    np.testing.assert_allclose(whole.frames["hand_left"][0], np.eye(3), atol=1e-12)
    assert (np.diagonal(np.stack([*whole.frames.values()]), axis1=-2, axis2=-1) > 0.8).all()


def test_every_shipped_model_is_named_in_the_page_about_them() -> None:
    page = (HOUSE / "docs" / "body_models.md").read_text()
    assert [name for name in SHIPPED if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_no_label_serves_two_landmarks(name: str) -> None:
    """Sides differ, and a copying mistake does not give two landmarks one marker. Means may share markers."""
    singles = [
        group[0]
        for landmark, groups in body_model(name).landmarks.items()
        for group in groups
        if len(group) == 1 and not (name in HEEL_AT_ANKLE and landmark.startswith("heel"))
    ]
    assert sorted(singles) == sorted(set(singles))


@pytest.mark.parametrize("name", OF_MARKERS)
def test_a_known_person_has_what_every_model_needs(name: str) -> None:
    model = body_model(name)
    trial = recorded(model, standing())
    seen = set(positions(model, list(trial.marker.values), trial.marker_position.values))
    resolved = resolve(model, seen)
    assert resolved.lacking == []
    assert resolved.lacking_in_motion(seen) == []


def with_true_centres(name: str) -> bool:
    """Return whether a model finds knee and ankle midway between markers or shown, exact in the known person."""
    return all(
        rules[0].method in ("regression", "midpoint", "shown") for rules in body_model(name).joint_centres.values()
    )


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", OF_MARKERS)
def test_frames_and_centres_follow_a_walking_person(name: str, side: str) -> None:
    """Where joint centres are true, frames are fixed in the true segments; chords and predictions miss the knee.

    They miss it because half a joint width plus a marker's radius is 7 mm more than the distance from marker to knee
    here, and the markers are 4 mm off the axis. A foot with its plane from the shank turns with the ankle: left out.
    """
    model, pose = body_model(name), walk(WALK_S)
    trial = cleaned(model, landmarks(pose), WALK_S)
    points = {str(label): trial.marker_position.values[:, i] for i, label in enumerate(trial.marker.values)}
    leg = moving_legs(points, model.legs, read_sides(calibrated(model, standing())), len(WALK_S))[side]
    i, true = SIDES.index(side), with_true_centres(name)
    own_foot = not any(rule.along for rule in model.segments["foot"].axes)
    for segment in FROM_PELVIS if own_foot else FROM_PELVIS[:3]:
        inside = pose.rotation[:, i, SEGMENTS.index(segment)] @ np.swapaxes(leg.frames[segment], 1, 2)
        close(inside, np.broadcast_to(inside[0], inside.shape), 1e-7 if true else 0.04)
        assert np.trace(inside[0]) > 1 + 2 * np.cos(np.radians(16)), "near the true axes"
    for joint in ("hip", "knee", "ankle"):
        away = leg.centres[f"{joint}_centre"] - pose.centre[:, i, JOINTS.index(joint)]
        assert np.linalg.norm(away, axis=1).max() < (1e-7 if true or joint == "hip" else 0.012), joint


# ---- features of single models


@pytest.mark.parametrize("side", SIDES)
def test_alignment_device_stands_in_for_the_knee_marker(side: str) -> None:
    """In the known person, the device's corner and the knee marker are at one place: both give the same leg."""
    model = body_model("plug_in_gait_kad")
    with_marker, with_device = standing(), standing()
    for name in list(with_device):
        if name.startswith("lateral_epicondyle"):
            del with_device[name]
    one, other = (calibrated(model, person) for person in (with_marker, with_device))
    for name in ("chord_radius", "chord_rotation", "chord_abduction", "tibial_torsion", "segment_com"):
        close(one[name], other[name])
    # the knee centre lies along the device's axis, which is the flexion axis here; the malleoli lie along it too
    leg = moving_legs(with_marker, model.legs, read_sides(other), 5)[side]
    close((leg.centres["knee_centre"] - with_marker[f"lateral_epicondyle_{side}"])[:, 0], 0)
    close(other.tibial_torsion, 0)


def test_alignment_device_is_asked_for_by_name() -> None:
    person = {name: where for name, where in standing().items() if not name.startswith("device_1")}
    with pytest.raises(UserError, match="no marker for device 1 left"):
        calibrated(body_model("plug_in_gait_kad"), person)


@pytest.mark.parametrize(
    ("moved", "match"),
    [
        ({"device_1": "lateral_malleolus"}, "right knee alignment device are not equally far apart"),
        ({"device_axis": "device_1", "device_1": "device_axis"}, "not the axis marker is the outermost of the right"),
    ],
)
def test_a_wrong_marker_of_the_alignment_device_is_refused(moved: dict[str, str], match: str) -> None:
    person = {name: where for name, where in standing().items() if not name.startswith("lateral_epicondyle")}
    shown = person | {f"{name}_right": person[f"{other}_right"] for name, other in moved.items()}
    found = calibrated(body_model("plug_in_gait_kad"), shown)
    left, right = (found.leg_refused.sel(side=side).item() for side in ("left", "right"))
    assert left == ""
    assert match in right


def with_predictive_ankle(person: Landmarks, side: str) -> float:
    """Return how far the ankle centre of Bruening et al. 2008 lies below the one midway between the malleoli, m."""
    (rule,) = (yaml.safe_load(block)["joint_centres"]["ankle"] for block in page_examples() if "predictive" in block)
    plain_model = body_model("isb_clusters")
    centres = plain_model.definition["joint_centres"] | {"ankle": rule}
    models = (plain_model, BodyModel.of(plain_model.definition | {"joint_centres": centres}))
    plain, lower = (calibrated(one, person).joint_position.sel(side=side, joint="ankle") for one in models)
    close(lower[[0, 2]], plain[[0, 2]], 1e-9)
    return float(plain[1] - lower[1])


@pytest.mark.parametrize("side", SIDES)
def test_predicted_ankle_centre_lies_2_7_percent_of_the_shank_lower(side: str) -> None:
    lateral = of_side(PLACES["lateral_malleolus"][1], side)
    close(with_predictive_ankle(standing(), side), 0.027 * np.linalg.norm(lateral))


@pytest.mark.parametrize("side", SIDES)
def test_codamotion_centres_lie_half_a_width_inwards(side: str) -> None:
    """Its wands lie fore and aft in the known person, so that inwards is along z: 50 mm from the knee marker."""
    found = calibrated(body_model("codamotion"), standing(), participant=PARTICIPANT)
    own = (
        (found.cluster_side == side)
        & (found.cluster_segment == "thigh")
        & (found.cluster_marker == "lateral_epicondyle")
    )
    marker = found.cluster_position.values[own.values][0]
    away = marker - found.joint_position.sel(side=side, joint="knee").values
    close(np.linalg.norm(away), 0.05)
    lean = np.radians(8)  # more than the line from the knee marker to the hip leans
    assert away[2] * (1 if side == "right" else -1) > 0.05 * np.cos(lean)
    with pytest.raises(UserError, match="knee width; add knee_width_left_m"):
        calibrated(body_model("codamotion"), standing(), participant={"participant_id": "x", "mass_kg": "70"})


def test_centres_of_cortex_are_the_points_of_the_file(shared: Path) -> None:
    """The thigh marker of this walk is in front of the thigh: a chord through it would miss the knee by 90 mm."""
    recording = read_c3d(shared / "labs" / "cortex" / "walk" / "Walk1.c3d")
    model = body_model("cortex")
    points = positions(model, recording.labels, recording.markers)
    sizes, resolved = {"marker_diameter_m": 0.014}, resolve(model, points.keys())
    for side in SIDES:
        assert resolved.legs[side].lacking == []
        still, _ = static_skeleton(points, resolved.legs[side], sizes, hip_centre="bell")
        for joint in JOINTS:
            close(still.centres[f"{joint}_centre"], points[f"{joint}_point_{side}"])
        inwards = points[f"knee_point_{side}"] - points[f"lateral_epicondyle_{side}"]
        close(np.linalg.norm(inwards, axis=1), 0.0645, 0.0015)  # half a knee of 115 mm and a marker of 14
    assert resolved.find_needed_sizes(hip_centre="bell") == []


@pytest.mark.parametrize("side", SIDES)
def test_a_hip_centre_between_two_markers_is_no_regression(tmp_path: Path, side: str) -> None:
    """Its markers are in the static trial only; no leg length is needed, and the pelvis carries it in motion."""
    text = """extends: isb_clusters
landmarks: {hip_front: '{side}HFR', hip_rear: '{side}HRE'}
joint_centres: {hip: {method: midpoint, between: [hip_front, hip_rear], moves_with: pelvis}}
"""
    written(tmp_path, "mine", text)
    model = load_body_model("mine.yaml", where="study.yaml", study_path=tmp_path)
    seen = standing()
    middle = seen[f"hip_point_{side}"] + np.array([0.01, -0.02, 0.005])
    for end in SIDES:
        seen |= {f"hip_front_{end}": seen[f"hip_point_{end}"], f"hip_rear_{end}": seen[f"hip_point_{end}"]}
    seen |= {f"hip_{place}_{side}": middle + sign * 0.03 for place, sign in (("front", 1), ("rear", -1))}
    trial = recorded(model, seen)
    points = positions(model, list(trial.marker.values), trial.marker_position.values)
    resolved = resolve(model, points.keys())
    still, found = static_skeleton(points, resolved.legs[side], {"marker_diameter_m": 0.014}, hip_centre="davis")
    close(still.centres["hip_centre"], middle)
    assert found.carrier["hip"] == "pelvis"
    assert resolved.find_needed_sizes(hip_centre="davis") == []


# ---- the drawing


def test_body_model_command_draws_and_says_which_label_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shared: Path
) -> None:
    static = shared / "studies" / "plug_in_gait" / "sub-03" / "HC030A01.c3d"
    page = tmp_path / "model.html"
    assert main(["body-model", "plug_in_gait", str(static), "--output", str(page)]) == 0
    said = capsys.readouterr().out
    assert "lateral_epicondyle_left   LKNE" in said
    assert "sacrum                    SACR" in said
    assert "shoulder_left             LSHO" in said
    drawn = page.read_text()
    assert drawn.count('class="centre"') == 12  # three of each leg, from the side and from the front
    assert ">lateral_epicondyle</text>" in drawn
    assert "http" not in drawn.replace("http://www.w3.org", ""), "needs nothing else"


def test_body_model_command_says_what_it_cannot_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shared: Path
) -> None:
    static = shared / "studies" / "gait2354" / "sub-01" / "static.c3d"
    assert main(["body-model", "qualisys", str(static), "--output", str(tmp_path / "a.html")]) == 1
    assert "cannot tell where up is" in capsys.readouterr().err
    static = shared / "data" / "c3dorg_sample10_types" / "TYPE-2a.c3d"
    assert main(["body-model", "helen_hayes", str(static), "--output", str(tmp_path / "a.html")]) == 0
    assert "leg: the body model needs the knee width" in capsys.readouterr().out
    assert main(["body-model", "helen_hayes"]) == 0
    assert "LSHA or LSHANK" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["_study", ""])
def test_opencap_labels_are_found_with_and_without_study(suffix: str) -> None:
    """In files of augmented markers alone ``_study`` ends all labels, and is removed on reading."""
    both = [
        ".ASIS",
        ".PSIS",
        "_calc",
        "_toe",
        "_5meta",
        *(f"_{part}{n}" for part in ("thigh", "sh") for n in (1, 2, 3)),
    ]
    both += [f"_{medial}{joint}" for medial in ("", "m") for joint in ("knee", "ankle")]
    labels = [f"{side}{name}{suffix}" for side in ("r", "L") for name in both]
    model = load_body_model("opencap", where="test", study_path=HOUSE)
    found = set(positions(model, labels, np.ones((2, len(labels), 3))))
    assert resolve(model, found).lacking == []
    assert {f"{name}_{side}" for name in ("asis", "heel", "toe", "shank_3") for side in SIDES} <= found
