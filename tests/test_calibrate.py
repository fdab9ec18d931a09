"""Calibration: frames, joint centres and body-segment parameters by themselves, then the step on a known person."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from geometry import (
    BODY_MODELS,
    HIP_M,
    PARTICIPANT,
    PLACES,
    PROPERTY,
    SEED,
    SHANK_M,
    SIDES,
    THIGH_M,
    Array,
    Landmarks,
    body_model,
    calibrated,
    close,
    landmarks,
    mirrored,
    of_side,
    random_turns,
    recorded,
    standing,
    turned,
    walk,
)
from hypothesis import given
from hypothesis import strategies as st

from pipeline.body_model import positions
from pipeline.calibrate import calibrate
from pipeline.errors import UserError
from pipeline.frames import frame
from pipeline.joint_centres import REGRESSIONS, chord, hip_centre
from pipeline.segment_parameters import SegmentParameters, from_measurement, from_table
from pipeline.settings import segment_table
from pipeline.skeleton import ORDER, Skeleton
from pipeline.standing import static_rules, static_skeleton
from pipeline.vocabulary import described

FLIP = np.diag([1.0, 1, -1])
SIZES = {"marker_diameter_m": 0.014} | {name: float(size) for name, size in PARTICIPANT.items() if name.endswith("_m")}
ISB = "isb_clusters"
Triple = tuple[float, float, float]


def skeleton_of(name: str, seen: Landmarks, side: str) -> Skeleton:
    model = body_model(name)
    trial = recorded(model, seen)
    points = positions(model, list(trial.marker.values), trial.marker_position.values)
    rules, absent = static_rules(points, model, side)
    assert not absent
    return static_skeleton(points, model, rules, side, SIZES, hip_centre="harrington")


def jittered(seen: Landmarks, seed: int) -> Landmarks:
    """Return a person whose markers were put on by hand, differently on both sides."""
    rng = np.random.default_rng(seed)
    return {name: where + rng.normal(size=3) * 0.01 for name, where in seen.items()}


# ---- frames.py


@given(SEED, st.floats(-3, 3))
@PROPERTY
def test_first_rule_is_kept_and_second_gives_the_plane(seed: int, slant: float) -> None:
    """Whichever two axes the rules name, the frame that the directions were taken from comes back."""
    axes = random_turns(np.random.default_rng(seed), 1)[0]
    for first, second in permutations("xyz", 2):
        i, j = "xyz".index(first), "xyz".index(second)
        points = {"o": np.zeros(3), "a": 0.4 * axes[i], "b": 0.1 * axes[j] + slant * axes[i]}
        rules = [{"axis": first, "from": "o", "to": "a"}, {"axis": second, "from": "o", "to": "b"}]
        close(frame(rules, points, {}, "right"), axes)
        # medial to lateral points to the subject's right on the right, and the other way round on the left
        across = [rules[0], {"axis": second, "medial": "o", "lateral": "b"}]
        close(frame(across, points, {}, "right"), axes)
        close(frame(across, points | {"b": -points["b"]}, {}, "left"), axes)
        along = [rules[0], {"axis": second, "along": f"other.{second}"}]
        close(frame(along, points, {"other": axes}, "left"), axes)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", BODY_MODELS)
def test_axes_of_a_standing_person_point_forward_up_and_right(name: str, side: str) -> None:
    for segment, rotation in skeleton_of(name, standing(), side).frames.items():
        close(rotation @ np.swapaxes(rotation, 1, 2), np.eye(3) + 0 * rotation)
        close(np.linalg.det(rotation), 1)
        # the lines between skin markers are tilted against the true axes, by up to 15 degrees here
        assert (np.diagonal(rotation, axis1=1, axis2=2) > np.cos(np.radians(15))).all(), segment


@pytest.mark.parametrize("side", SIDES)
def test_isb_frames_of_the_standing_person_are_the_labs(side: str) -> None:
    still = skeleton_of(ISB, standing(), side)
    for segment in ORDER:
        close(still.frames[segment][0], np.eye(3))


@pytest.mark.parametrize("side", SIDES)
def test_plug_in_gait_foot_takes_its_plane_from_the_shank(side: str) -> None:
    """Its markers show a line only: its y axis is normal to the z axis of the shank, in any posture."""
    frames = skeleton_of("plug_in_gait", landmarks(walk(np.full(3, 0.7))), side).frames
    close((frames["foot"][:, 1] * frames["shank"][:, 2]).sum(axis=1), 0)


@pytest.mark.parametrize("name", BODY_MODELS)
def test_mirrored_person_has_mirrored_frames_and_joint_centres(name: str) -> None:
    person = jittered(standing(), seed=1)
    for side, other in zip(SIDES, SIDES[::-1], strict=True):
        still, image = skeleton_of(name, person, side), skeleton_of(name, mirrored(person), other)
        for segment in ORDER:
            close(image.frames[segment], FLIP @ still.frames[segment] @ FLIP)
        for centre, place in still.centres.items():
            close(image.centres[centre], place @ FLIP)


@pytest.mark.parametrize("name", BODY_MODELS)
@pytest.mark.parametrize("seed", range(5))
def test_frames_turn_with_the_person(name: str, seed: int) -> None:
    turn = random_turns(np.random.default_rng(seed), 1)[0]
    person = jittered(standing(1), seed)
    there = {landmark: where @ turn.T + 3 for landmark, where in person.items()}
    still, moved = skeleton_of(name, person, "left"), skeleton_of(name, there, "left")
    for segment in ORDER:
        close(moved.frames[segment], still.frames[segment] @ turn.T)


# ---- joint_centres.py

HIP_TABLE = {  # mm per mm of pelvis width, pelvis depth and leg length, and mm; rows anterior, up, lateral
    "harrington": [(0, -0.24, 0, -9.9), (-0.30, 0, 0, -10.9), (0.33, 0, 0, 7.3)],
    "harrington_multiple": [(0, -0.24, 0, -9.9), (-0.16, 0, -0.04, -7.1), (0.16, 0.28, 0, 7.9)],
    "sangeux": [(-0.138, 0, 0, -10.4), (-0.305, 0, 0, -10.9), (0.33, 0, 0, 7.3)],
    "bell": [(-0.19, 0, 0, 0), (-0.30, 0, 0, 0), (0.36, 0, 0, 0)],
    "hara": [(0, 0, -0.063, 11), (0, 0, -0.078, -9), (0, 0, 0.086, 8)],
}
# by hand for 240 mm width, 900 mm legs, 14 mm markers: C = 88.2, distance to the trochanter 67.36
DAVIS_MM = (-46.745, -96.766, 78.050)


@given(st.floats(150, 300), st.floats(100, 220), st.floats(500, 1100))
@PROPERTY
def test_hip_regressions_are_the_published_ones(width: float, depth: float, leg: float) -> None:
    sizes = {"pelvis_width": width / 1000, "pelvis_depth": depth / 1000, "leg_length": leg / 1000}
    for method, rows in HIP_TABLE.items():
        anterior, up, lateral = np.array(rows) @ (width, depth, leg, 1)
        close(1000 * hip_centre(method, "right", sizes), [anterior, up, lateral])
        close(1000 * hip_centre(method, "left", sizes), [anterior, up, -lateral])
    assert set(REGRESSIONS) == {*HIP_TABLE, "davis"}


@given(st.floats(150, 300), st.floats(500, 1100), st.floats(500, 1100))
@PROPERTY
def test_hip_centre_of_davis(width: float, leg: float, other_leg: float) -> None:
    c = 0.115 * (leg + other_leg) / 2 - 15.3
    measured = {"pelvis_width": width, "leg_length": leg, "leg_length_mean": (leg + other_leg) / 2, "marker_radius": 7}
    for distance, known in ((0.1288 * leg - 48.56, {}), (83.0, {"asis_trochanter_distance": 83.0})):
        sizes = {name: value / 1000 for name, value in (measured | known).items()}
        cos_t, sin_t, cos_b, sin_b = (f(np.radians(a)) for a in (28.4, 18) for f in (np.cos, np.sin))
        back, down = -distance - 7, c * cos_t
        expected = np.array([back * cos_b + down * sin_b, back * sin_b - down * cos_b, width / 2 - c * sin_t])
        close(1000 * hip_centre("davis", "right", sizes), expected)
        close(1000 * hip_centre("davis", "left", sizes), expected @ FLIP)


@given(SEED, st.floats(0.01, 0.99))
@PROPERTY
def test_chord_is_a_right_angle_in_the_markers_plane_away_from_the_wand(seed: int, share: float) -> None:
    proximal, lateral, wand = np.random.default_rng(seed).normal(size=(3, 3))
    radius = share * float(np.linalg.norm(proximal - lateral))
    centre = chord(proximal, lateral, wand, radius)
    arm, up, away = centre - lateral, proximal - lateral, wand - lateral
    close(np.linalg.norm(arm), radius)
    close([arm @ (centre - proximal), np.linalg.det([arm, up, away])], 0)
    assert np.cross(up, arm) @ np.cross(up, away) < 0


def test_chord_of_a_joint_wider_than_its_segment_is_nan() -> None:
    proximal, wand = np.array([[0, 0.4, 0], [0, 0.05, 0]]), np.array([0.0, 0.2, 0.1])
    centre = chord(proximal, np.zeros(3), wand, 0.06)
    assert np.isfinite(centre[0]).all()
    assert np.isnan(centre[1]).all()


# ---- segment_parameters.py

LONG_RADIUS = {"foot": (0.124 + 0.139) / 2, "shank": (0.102 + 0.092) / 2, "thigh": (0.149 + 0.162) / 2}
DEMPSTER = {"foot": (0.0145, 0.500, 0.475), "shank": (0.0465, 0.433, 0.302), "thigh": (0.100, 0.433, 0.323)}
DE_LEVA = {  # mass, centre of mass, radii about the sagittal, transverse and longitudinal axes
    "thigh": {"M": (0.1416, 0.4095, 0.329, 0.329, 0.149), "F": (0.1478, 0.3612, 0.369, 0.364, 0.162)},
    "shank": {"M": (0.0433, 0.4395, 0.251, 0.246, 0.102), "F": (0.0481, 0.4352, 0.267, 0.263, 0.092)},
    "foot": {"M": (0.0137, 0.4415, 0.257, 0.245, 0.124), "F": (0.0129, 0.4014, 0.299, 0.279, 0.139)},
}
# mass; centre of mass x y z; radii xx yy zz; xy xz yz, negative where the paper prints an i; right side
DUMAS: dict[str, dict[str, tuple[float, Triple, Triple, Triple]]] = {
    "thigh": {
        "M": (0.123, (-0.041, -0.429, 0.033), (0.29, 0.15, 0.30), (0.07, -0.02, -0.07)),
        "F": (0.146, (-0.077, -0.377, 0.009), (0.31, 0.19, 0.32), (0.07, -0.02, -0.07)),
    },
    "shank": {
        "M": (0.048, (-0.048, -0.410, 0.007), (0.28, 0.10, 0.28), (-0.04, -0.02, 0.05)),
        "F": (0.045, (-0.049, -0.404, 0.031), (0.28, 0.10, 0.28), (0.02, 0.01, 0.06)),
    },
    "foot": {
        "M": (0.012, (0.502, -0.199, 0.034), (0.22, 0.49, 0.48), (0.17, -0.11, 0)),
        "F": (0.010, (0.382, -0.309, 0.055), (0.24, 0.51, 0.50), (-0.15, 0.09, -0.05)),
    },
}
MASS_KG = 70.0
LANDMARKS: dict[str, dict[str, Triple]] = {  # in segment axes from the proximal joint centre, m
    "foot": {
        "ankle_centre": (0, 0, 0), "heel": (-0.05, -0.07, 0), "toe": (0.15, -0.06, -0.01),
        "forefoot": (0.13, -0.07, 0), "lateral_malleolus": (0, -0.004, 0.035),
    },
    "shank": {"knee_centre": (0, 0, 0), "ankle_centre": (0, -SHANK_M, 0)},
    "thigh": {"hip_centre": (0, 0, 0), "knee_centre": (0, -THIGH_M, 0)},
}  # fmt: skip
LENGTH_M = {"foot": float(np.hypot(0.13, 0.07)), "shank": SHANK_M, "thigh": THIGH_M}  # foot: ankle to mid-forefoot


def parameters(
    table: str, segment: str, marked: Landmarks | None = None, *, side: str = "right", sex: str = "M"
) -> SegmentParameters:
    places = {name: of_side(place, side) for name, place in LANDMARKS[segment].items()} | (marked or {})
    return from_table(segment_table(table), segment, side=side, sex=sex, body_mass_kg=MASS_KG, landmarks=places)


def expect(found: SegmentParameters, mass: float, com: Array, radii_m: Array) -> None:
    """Check mass fraction, centre of mass (m) and radii of gyration (m) of a segment without products of inertia."""
    close(found.mass_kg, mass * MASS_KG)
    close(found.com, com)
    close(found.inertia, mass * MASS_KG * np.diag(np.square(radii_m)))


@pytest.mark.parametrize("segment", ["shank", "thigh"])
def test_dempster_and_de_leva_leg(segment: str) -> None:
    length = LENGTH_M[segment]
    mass, com, rho = DEMPSTER[segment]
    down = np.array([0, -length, 0])
    expect(parameters("dempster", segment), mass, com * down, length * np.array([rho, LONG_RADIUS[segment], rho]))
    for sex, (mass, com, sagittal, transverse, longitudinal) in DE_LEVA[segment].items():
        radii = length * np.array([sagittal, longitudinal, transverse])
        expect(parameters("de_leva", segment, sex=sex), mass, com * down, radii)


def test_dempster_foot_lies_between_ankle_and_toe_and_is_as_long_as_malleolus_to_toe() -> None:
    length = np.sqrt(0.15**2 + 0.056**2 + 0.045**2)
    mass, com, rho = DEMPSTER["foot"]
    radii = length * np.array([LONG_RADIUS["foot"], rho, rho])
    expect(parameters("dempster", "foot"), mass, com * np.array(LANDMARKS["foot"]["toe"]), radii)


@pytest.mark.parametrize("sex", ["M", "F"])
def test_de_leva_foot_reaches_from_heel_to_toe_tip(sex: str) -> None:
    mass, com, sagittal, transverse, longitudinal = DE_LEVA["foot"][sex]
    heel, toe = (np.array(LANDMARKS["foot"][name]) for name in ("heel", "toe"))
    for tip, marked in ((heel + 1.35 * (toe - heel), {}), (toe + 0.07, {"toe_tip": toe + 0.07})):
        radii = np.linalg.norm(tip - heel) * np.array([longitudinal, sagittal, transverse])
        expect(parameters("de_leva", "foot", marked, sex=sex), mass, heel + com * (tip - heel), radii)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("sex", ["M", "F"])
@pytest.mark.parametrize("segment", ["foot", "shank", "thigh"])
def test_dumas_with_signs_mirrored_on_the_left(segment: str, sex: str, side: str) -> None:
    mass, com, (xx, yy, zz), (xy, xz, yz) = DUMAS[segment][sex]
    length = LENGTH_M[segment]
    out = -1 if side == "left" else 1
    found = parameters("dumas", segment, side=side, sex=sex)
    close(found.mass_kg, mass * MASS_KG)
    close(found.com, length * np.array(com) * (1, 1, out))
    signed = [[xx, xy, out * xz], [xy, yy, out * yz], [out * xz, out * yz, zz]]
    expected = mass * MASS_KG * length**2 * np.square(signed) * np.sign(signed)
    close(found.inertia, expected)


@pytest.mark.parametrize("table", ["dempster", "de_leva", "dumas"])
@pytest.mark.parametrize("segment", ["foot", "shank", "thigh"])
def test_every_table_gives_rigid_bodies_mirrored_sides_and_a_mean_of_the_sexes(table: str, segment: str) -> None:
    men, women, either = (parameters(table, segment, sex=sex) for sex in ("M", "F", "n/a"))
    for one in (men, women, either):
        moments = np.linalg.eigvalsh(one.inertia)
        assert moments[0] > 0
        assert moments[2] <= moments[0] + moments[1]
    for field in SegmentParameters._fields:
        close(getattr(either, field), (getattr(men, field) + getattr(women, field)) / 2)
    left = parameters(table, segment, side="left")
    close(left.com, men.com @ FLIP)
    close(left.inertia, FLIP @ men.inertia @ FLIP)


@pytest.mark.parametrize(("table", "lost"), [("dempster", "lateral_malleolus"), ("de_leva", "heel"), ("dumas", "toe")])
def test_absent_landmark_of_a_table_is_the_users_to_mend(table: str, lost: str) -> None:
    for places in ({"ankle_centre": np.zeros(3)}, {"ankle_centre": np.zeros(3), lost: np.full(3, np.nan)}):
        with pytest.raises(UserError, match="the foot's parameters need the landmark"):
            from_table(segment_table(table), "foot", side="left", sex="M", body_mass_kg=MASS_KG, landmarks=places)


MEASURED = {
    "participant_id": "sub-01", "side": "left", "segment": "shank", "mass_kg": "3.5",
    "com_x_m": "0.01", "com_y_m": "-0.2", "com_z_m": "0.02",
    "ixx_kg_m2": "0.05", "iyy_kg_m2": "0.01", "izz_kg_m2": "0.055",
    "ixy_kg_m2": "0.001", "ixz_kg_m2": "-0.002", "iyz_kg_m2": "0.003",
}  # fmt: skip
TENSOR = np.array([[0.05, 0.001, -0.002], [0.001, 0.01, 0.003], [-0.002, 0.003, 0.055]])


ROD = dict.fromkeys(("iyy_kg_m2", "ixy_kg_m2", "ixz_kg_m2", "iyz_kg_m2"), "0") | {"izz_kg_m2": "0.05"}


@pytest.mark.parametrize("change", [{"ixx_kg_m2": "-0.05"}, {"izz_kg_m2": "0.07"}, {"iyz_kg_m2": "0.03"}, ROD])
def test_measured_tensor_that_no_body_has_is_refused(change: dict[str, str]) -> None:
    """Negative; one moment above the sum of the others; a product beyond its moments; a line without width."""
    with pytest.raises(UserError, match=r"segments\.tsv: sub-01 left shank: the inertia tensor"):
        from_measurement(MEASURED | change)


def test_measured_parameters_win_over_the_table() -> None:
    found = calibrated(body_model(ISB), standing(), segments=[MEASURED])
    plain = calibrated(body_model(ISB), standing())
    own = {"side": "left", "segment": "shank"}
    assert found.segment_mass.sel(own) == 3.5
    np.testing.assert_array_equal(found.segment_com.sel(own), [0.01, -0.2, 0.02])
    np.testing.assert_array_equal(found.segment_inertia.sel(own), TENSOR)
    for name in ("segment_mass", "segment_com", "segment_inertia"):
        changed = (found[name] != plain[name]).any([dim for dim in found[name].dims if dim not in own])
        assert changed.sel(own)
        assert changed.sum() == 1
    rows = [MEASURED | {"side": side, "segment": segment} for side in SIDES for segment in ("foot", "shank", "thigh")]
    assert calibrated(body_model(ISB), standing(), segments=rows).attrs["segment_parameters"] == "segments.tsv"


# ---- the step

STEP_SETTINGS: dict[str, Any] = {
    "segments": [], "segment_table": segment_table("dempster"), "segment_parameters": "dempster", "hip_centre": "bell"
}  # fmt: skip


@pytest.mark.parametrize("degrees", [0, 90, 200])
def test_geometry_is_found_in_whatever_posture_the_person_stands(degrees: float) -> None:
    posture = turned(landmarks(walk(np.full(4, 0.7))), degrees)
    found = described("calibrate", calibrated(body_model(ISB), posture))
    for i, side in enumerate(SIDES):
        joints = [(0, -SHANK_M, 0), (0, 0, 0), HIP_M]
        close(found.joint_position[i], np.stack([of_side(joint, side) for joint in joints]))
    markers = zip(found.cluster_side.values, found.cluster_segment.values, found.cluster_marker.values, strict=True)
    for (side, segment, marker), place in zip(markers, found.cluster_position.values, strict=True):
        name, _, end = marker.rpartition("_")
        home, expected = PLACES[name if end in SIDES else marker]
        assert home == segment
        close(place, of_side(expected, end if end in SIDES else side))
    close(found.segment_length, [list(LENGTH_M.values())] * 2)


def test_frames_of_the_static_that_hide_markers_are_left_out() -> None:
    person = jittered(standing(6), seed=3)
    holed = {name: where.copy() for name, where in person.items()}
    for i, name in enumerate(("asis_left", "medial_epicondyle_right", "heel_left", "shank_3_left", "toe_right")):
        holed[name][i] = np.nan
    whole, found = (calibrated(body_model(ISB), points) for points in (person, holed))
    for name in ("joint_position", "cluster_position", "segment_com", "segment_inertia"):
        close(found[name], whole[name])


@pytest.mark.parametrize("method", [*HIP_TABLE, "davis"])
def test_hip_centre_setting(method: str) -> None:
    found = calibrated(body_model(ISB), standing(), hip_centre=method).joint_position.sel(joint="hip")
    expected = np.array(HIP_TABLE[method]) @ (240, 150, 900, 1) if method in HIP_TABLE else np.array(DAVIS_MM)
    for side in SIDES:
        close(1000 * found.sel(side=side), of_side(expected, side), 6e-4)  # worked by hand to three decimals


def test_each_leg_has_its_own_length_and_one_known_serves_both() -> None:
    def hips(**lengths: str) -> Array:
        person = {name: value for name, value in PARTICIPANT.items() if "leg_length" not in name} | lengths
        found = calibrated(body_model(ISB), standing(), hip_centre="hara", participant=person)
        return np.asarray(1000 * found.joint_position.sel(joint="hip", local_axis="y"))

    close(hips(leg_length_left_m="0.8", leg_length_right_m="0.9"), [-71.4, -79.2])
    close(hips(leg_length_right_m="0.9"), [-79.2, -79.2])


def test_measured_distance_between_the_asis_serves_davis_alone() -> None:
    """30 mm more than the markers show, where they cannot sit on the bone: half of it goes to each side."""
    person = PARTICIPANT | {"asis_distance_m": "0.27"}
    for method, outwards in (("davis", 0.015), ("harrington", 0)):
        plain, measured = (
            calibrated(body_model(ISB), standing(), hip_centre=method, participant=one).joint_position.sel(joint="hip")
            for one in (PARTICIPANT, person)
        )
        close(measured - plain, [[0, 0, -outwards], [0, 0, outwards]])


@pytest.mark.parametrize("method", ["davis", "hara", "harrington_multiple"])
def test_missing_leg_length_names_the_column(method: str) -> None:
    person = {name: value for name, value in PARTICIPANT.items() if "leg_length" not in name}
    with pytest.raises(UserError, match=r"leg length: add leg_length_left_m to participants\.tsv"):
        calibrated(body_model(ISB), standing(), hip_centre=method, participant=person)


@pytest.mark.parametrize("joint", ["knee", "ankle"])
def test_missing_joint_width_names_the_column(joint: str) -> None:
    person = {name: value for name, value in PARTICIPANT.items() if name != f"{joint}_width_right_m"}
    with pytest.raises(UserError, match=rf"{joint} width: add {joint}_width_right_m to participants\.tsv"):
        calibrated(body_model("plug_in_gait"), standing(), participant=person)


def test_chord_radius_is_half_the_width_and_a_marker_radius() -> None:
    person = PARTICIPANT | {"knee_width_left_m": "0.11", "marker_diameter_m": "0.025"}
    found = calibrated(body_model("plug_in_gait"), standing(), participant=person).chord_radius
    close(found.sel(joint="knee"), [(0.11 + 0.025) / 2, (0.1 + 0.025) / 2])


def test_chord_serves_where_a_body_model_allows_it_and_medial_markers_are_absent() -> None:
    person = standing()
    without_medial = {name: where for name, where in person.items() if not name.startswith("medial")}
    for joint, marker, radius_m in (("knee", "lateral_epicondyle", 0.057), ("ankle", "lateral_malleolus", 0.042)):
        lateral, medial = (person[f"{end}_{marker.partition('_')[2]}_left"] for end in ("lateral", "medial"))
        by_midpoint, by_chord = (
            skeleton_of("functional_clusters", seen, "left").centres[f"{joint}_centre"]
            for seen in (person, without_medial)
        )
        close(by_midpoint, (lateral + medial) / 2)
        close(np.linalg.norm(by_chord - lateral, axis=1), radius_m)
    with pytest.raises(UserError, match="medial epicondyle left"):
        calibrated(body_model(ISB), without_medial)


def test_body_mass_of_the_table_wins_then_the_static_files_then_the_others() -> None:
    model = body_model(ISB)
    settings = STEP_SETTINGS | {"body_model": model}

    def mass(cell: str, static: float | None) -> tuple[float, str]:
        trials = {
            "walk": recorded(model, standing(), {"mass_kg": 66.0}, role="gait"),
            "standing": recorded(model, standing(), {"mass_kg": static} if static else {}),
        }
        found = calibrate(trials, participant={"participant_id": "sub-01", "mass_kg": cell}, **settings)
        close(found.segment_mass.sel(segment="thigh"), 0.1 * found.attrs["body_mass_kg"])
        return found.attrs["body_mass_kg"], found.attrs["body_mass_source"]

    assert mass("70", 68.0) == (70, "participants.tsv")
    assert mass("n/a", 68.0) == (68, "static.c3d")
    assert mass("0", None) == (66, "gait.c3d")
    with pytest.raises(UserError, match="sub-01 has no body mass: give mass_kg"):
        calibrated(model, standing(), participant=PARTICIPANT | {"mass_kg": "n/a"})


def test_unknown_sex_is_said_where_the_table_asks_for_it() -> None:
    def note(table: str, sex: str) -> str:
        person = PARTICIPANT | {"sex": sex}
        found = calibrated(body_model(ISB), standing(), segment_parameters=table, participant=person)
        return str(found.attrs["note"])

    assert "mean of both sexes" in note("dumas", "n/a")
    assert {note("dumas", "F"), note("dempster", "n/a")} == {""}


def test_session_without_usable_static_trial() -> None:
    gait = recorded(body_model(ISB), standing(), role="gait")
    rejected = gait.drop_vars("marker_position").assign_attrs(role="static", rejected="the file is cut short")
    settings = STEP_SETTINGS | {"body_model": body_model(ISB), "participant": PARTICIPANT}
    with pytest.raises(UserError, match="no static trial"):
        calibrate({"walk": gait}, **settings)
    with pytest.raises(UserError, match="static trial standing: the file is cut short"):
        calibrate({"walk": gait, "standing": rejected}, **settings)


@pytest.mark.parametrize("hidden", [False, True])
def test_landmarks_that_the_static_lacks_are_named_all_at_once(hidden: bool) -> None:
    person = standing()
    for name in ("medial_epicondyle_right", "metatarsal_5_right"):
        person[name] = np.full_like(person[name], np.nan)
    if not hidden:
        person = {name: where for name, where in person.items() if np.isfinite(where).all()}
    with pytest.raises(UserError) as raised:
        calibrated(body_model(ISB), person)
    for text in ("static.c3d: ", "medial epicondyle right", "RMEK", "metatarsal 5 right", "RMT5"):
        assert text in str(raised.value)


@pytest.mark.parametrize("hidden", [False, True])
def test_three_markers_of_a_cluster_will_do_and_two_will_not(hidden: bool) -> None:
    person = standing()
    for left, name in ((4, "thigh_1_left"), (3, "thigh_2_left")):
        found = calibrated(body_model(ISB), person)
        assert np.count_nonzero((found.cluster_side == "left") & (found.cluster_segment == "thigh")) == left
        person[name] = np.full_like(person[name], np.nan)
        if not hidden:
            del person[name]
    with pytest.raises(UserError, match=r"left thigh has 2 of its cluster markers .* three are needed"):
        calibrated(body_model(ISB), person)


def in_turn(first: str, second: str) -> Landmarks:
    """Return a static in which two landmarks are both seen, but never in the same frame."""
    person = {name: where.copy() for name, where in standing(10).items()}
    person[first][:5], person[second][5:] = np.nan, np.nan
    return person


@pytest.mark.parametrize(
    ("model", "first", "second", "segment"),
    [
        (ISB, "lateral_epicondyle_left", "medial_epicondyle_left", "left thigh"),
        (ISB, "asis_left", "psis_left", "left pelvis"),
        ("plug_in_gait", "heel_right", "toe_right", "right foot"),
    ],
)
def test_landmarks_of_a_segment_that_no_frame_shows_together(model: str, first: str, second: str, segment: str) -> None:
    with pytest.raises(UserError, match=f"no frame shows all landmarks that the {segment} is built from"):
        calibrated(body_model(model), in_turn(first, second))


def test_cluster_marker_that_no_frame_shows_with_its_segment_is_left_out() -> None:
    found = calibrated(body_model(ISB), in_turn("shank_1_left", "lateral_malleolus_left"))
    own = (found.cluster_side == "left") & (found.cluster_segment == "shank")
    assert list(found.cluster_marker.values[own]) == ["shank_2", "shank_3", "shank_4"]
    assert np.isfinite(found.cluster_position).all()


def test_anthropometry_is_recorded() -> None:
    assert json.loads(calibrated(body_model(ISB), standing()).attrs["anthropometry"])["leg_length_left_m"] == 0.9
