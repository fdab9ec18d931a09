"""The step ``calibrate`` on a known person; its parts have tests of their own."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from pipeline.conventions import NO_STATIC, SIDES
from pipeline.errors import UserError
from pipeline.steps.calibrate.step import calibrate
from pipeline.trials.session import join_trials
from pipeline.variables.schema import describe
from tests.body.test_joint_centres import HIP_TABLE
from tests.steps.calibrate.test_segment_parameters import LENGTH_M
from tests.support.studies.rejected import rejection
from tests.support.walks.person import (
    HIP_M,
    PARTICIPANT,
    PLACES,
    SHANK_M,
    Array,
    Landmarks,
    body_model,
    calibrated,
    calibration_of,
    close,
    jittered,
    landmarks,
    of_side,
    recorded,
    skeleton_of,
    standing,
    turned,
    walk,
)

ISB = "isb_clusters"
# by hand for 240 mm width, 900 mm legs, 14 mm markers: C = 88.2, distance to the trochanter 67.36
DAVIS_MM = (-46.745, -96.766, 78.050)
CHOICES = calibration_of(segment_parameters="dempster", hip_centre="bell")


def refused(*person: Any, **changes: Any) -> dict[str, str]:
    """Return, by side, why a static does not serve a leg."""
    found = calibrated(*person, **changes)
    return dict(zip(found.side.values.tolist(), found.leg_refused.values.tolist(), strict=True))


@pytest.mark.parametrize("degrees", [0, 90, 200])
def test_geometry_is_found_in_whatever_posture_the_person_stands(degrees: float) -> None:
    posture = turned(landmarks(walk(np.full(4, 0.7))), degrees)
    found = describe("calibrate", calibrated(body_model(ISB), posture))
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
    """A measured distance 30 mm above that of the markers moves each side by half of it."""
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
    with pytest.raises(UserError, match=r"leg length; add leg_length_left_m to participants\.tsv"):
        calibrated(body_model(ISB), standing(), hip_centre=method, participant=person)


@pytest.mark.parametrize("joint", ["knee", "ankle"])
def test_missing_joint_width_names_the_column(joint: str) -> None:
    person = {name: value for name, value in PARTICIPANT.items() if name != f"{joint}_width_right_m"}
    found = refused(body_model("plug_in_gait"), standing(), participant=person)
    assert found["left"] == ""
    assert f"{joint} width; add {joint}_width_right_m to participants.tsv" in found["right"]


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
    choices = CHOICES | {"body_model": model}

    def mass(cell: str, static: float | None) -> tuple[float, str]:
        trials = {
            "walk": recorded(model, standing(), {"mass_kg": 66.0}, role="gait"),
            "standing": recorded(model, standing(), {"mass_kg": static} if static else {}),
        }
        found = calibrate(
            join_trials(trials), **choices | {"participant": {"participant_id": "sub-01", "mass_kg": cell}}
        )
        close(found.segment_mass.sel(segment="thigh"), 0.1 * found.attrs["body_mass_kg"])
        return found.attrs["body_mass_kg"], found.attrs["body_mass_source"]

    assert mass("70", 68.0) == (70, "participants.tsv")
    assert mass("n/a", 68.0) == (68, "static.c3d")
    assert mass("0", None) == (66, "gait.c3d")
    with pytest.raises(UserError, match=r"participants\.tsv: sub-01 has no body mass, .*; give mass_kg"):
        calibrated(model, standing(), participant=PARTICIPANT | {"mass_kg": "n/a"})


def test_sizes_that_are_estimates_are_called_so() -> None:
    person = PARTICIPANT | {"mass_kg": "70", "mass_source": "estimate: plates", "width_source": "estimate: body mass"}
    found = calibrated(body_model(ISB), standing(), participant=person)
    assert found.attrs["body_mass_source"] == "participants.tsv, estimate: plates"
    assert "joint widths are an estimate: body mass" in found.attrs["note"]
    measured = calibrated(
        body_model(ISB), standing(), participant=person | dict.fromkeys(("mass_source", "width_source"), "n/a")
    )
    assert measured.attrs["body_mass_source"] == "participants.tsv"
    assert "widths" not in measured.attrs["note"]


def test_unknown_sex_is_said_where_the_table_asks_for_it() -> None:
    def note(table: str, sex: str) -> str:
        person = PARTICIPANT | {"sex": sex}
        found = calibrated(body_model(ISB), standing(), segment_parameters=table, participant=person)
        return str(found.attrs["note"])

    assert "mean of both sexes" in note("dumas", "n/a")
    assert "sexes" not in note("dumas", "F") + note("dempster", "n/a")
    assert note("dempster", "n/a") == ""
    assert "parameters of shank are used in the body model's axes" in note("dumas", "F"), "no fibula head marked"


def test_session_without_usable_static_trial() -> None:
    gait = recorded(body_model(ISB), standing(), role="gait")
    rejected = rejection("the file is cut short", {"role": "static"}).dataset()
    choices = CHOICES | {"body_model": body_model(ISB)}
    for trials, why in (
        ({"walk": gait}, "no static trial"),
        ({"walk": gait, "standing": rejected}, "static trial standing: the file is cut short"),
    ):
        found = describe("calibrate", calibrate(join_trials(trials), **choices))
        assert (found.attrs["rejected_code"], why in found.attrs["rejected"]) == (NO_STATIC, True)
        assert (found.leg_refused != "").all()
        assert np.isnan(found.segment_mass).all()
        assert found.attrs["body_mass_kg"] == float(CHOICES["participant"]["mass_kg"])
        without_mass = {**choices, "participant": {"participant_id": "A1"}}
        assert np.isnan(calibrate(join_trials(trials), **without_mass).attrs["body_mass_kg"])


@pytest.mark.parametrize("hidden", [False, True])
def test_landmarks_that_the_static_lacks_are_named_all_at_once(hidden: bool) -> None:
    person = standing()
    for name in ("medial_epicondyle_right", "metatarsal_5_right", "metatarsal_1_left"):
        person[name] = np.full_like(person[name], np.nan)
    if not hidden:
        person = {name: where for name, where in person.items() if np.isfinite(where).all()}
    with pytest.raises(UserError) as raised:
        calibrated(body_model(ISB), person)
    for text in ("static.c3d: ", "medial epicondyle right", "RMEK", "metatarsal 5 right", "RMT5", "LMT1"):
        assert text in str(raised.value)


def test_a_leg_that_lacks_a_landmark_costs_itself_only() -> None:
    """Its parameters are NaN, and those of the other leg are as ever, as is the effect of every marker on it."""
    person = standing()
    whole = calibrated(body_model(ISB), person)
    del person["metatarsal_5_left"]
    found = describe("calibrate", calibrated(body_model(ISB), person))
    assert found.leg_refused.values.tolist()[1] == ""
    assert "no marker for forefoot left (looked for LMT1 + LMT5)" in found.leg_refused.values[0]
    for name in ("segment_mass", "segment_com", "joint_position", "joint_distance", "static_rotation"):
        close(found[name].sel(side="right"), whole[name].sel(side="right"))
        assert np.isnan(found[name].sel(side="left")).all()
    effects = ("segment_turn_per_marker", "segment_origin_per_marker", "joint_centre_per_marker")
    for name in effects:
        close(found[name].sel(side="right"), whole[name].sel(side="right", marker=found.marker))
        of_leg = found[name].sel(side="left")
        assert not (of_leg.drop_sel(pose="pelvis") if "pose" in of_leg.dims else of_leg).any()


def test_a_leg_that_no_person_has_is_refused() -> None:
    """The left thigh's wand is in front of the thigh, so that the chord puts the knee centre behind the marker."""
    model, person = body_model("plug_in_gait"), standing()
    person["thigh_wand_left"] = person["thigh_front_left"] + [0.05, 0, 0.02]
    found = refused(model, person)
    assert found["right"] == ""
    assert re.search(
        r"static\.c3d: the left knee centre is not medial of its lateral marker.* expected 0 to 65", found["left"]
    )
    person["thigh_wand_right"] = person["thigh_front_right"] + [0.05, 0, -0.02]
    with pytest.raises(UserError, match=r"static\.c3d: the left knee .*\n.*static\.c3d: the right knee"):
        calibrated(model, person)


@pytest.mark.parametrize("hidden", [False, True])
def test_three_markers_of_a_cluster_will_do_and_two_will_not(hidden: bool) -> None:
    person = standing()
    for left, name in ((4, "thigh_1_left"), (3, "thigh_2_left")):
        found = calibrated(body_model(ISB), person)
        assert np.count_nonzero((found.cluster_side == "left") & (found.cluster_segment == "thigh")) == left
        person[name] = np.full_like(person[name], np.nan)
        if not hidden:
            del person[name]
    assert re.search(
        "left thigh has 2 of its cluster markers .* expected three", refused(body_model(ISB), person)["left"]
    )


def in_turn(first: str, second: str) -> Landmarks:
    """Return a static in which two landmarks are both seen, but never in the same frame."""
    person = {name: where.copy() for name, where in standing(10).items()}
    person[first][:5], person[second][5:] = np.nan, np.nan
    return person


@pytest.mark.parametrize(
    ("model", "first", "second", "segment"),
    [
        (ISB, "lateral_epicondyle_left", "medial_epicondyle_left", "left thigh"),
        ("plug_in_gait", "heel_right", "toe_right", "right foot"),
    ],
)
def test_landmarks_of_a_segment_that_no_frame_shows_together(model: str, first: str, second: str, segment: str) -> None:
    found = refused(body_model(model), in_turn(first, second))
    assert f"no frame shows all landmarks that the {segment} is built from" in found[segment.split(maxsplit=1)[0]]
    with pytest.raises(UserError, match="no frame shows all landmarks that the left pelvis is built from"):
        calibrated(body_model(ISB), in_turn("asis_left", "psis_left"))


def test_cluster_marker_that_no_frame_shows_with_its_segment_is_left_out() -> None:
    found = calibrated(body_model(ISB), in_turn("shank_1_left", "lateral_malleolus_left"))
    own = (found.cluster_side == "left") & (found.cluster_segment == "shank")
    assert list(found.cluster_marker.values[own]) == ["shank_2", "shank_3", "shank_4"]
    assert np.isfinite(found.cluster_position).all()


def test_anthropometry_is_recorded() -> None:
    assert json.loads(calibrated(body_model(ISB), standing()).attrs["anthropometry"])["leg_length_left_m"] == 0.9
