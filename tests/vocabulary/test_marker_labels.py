"""Marker names from the labels of a file, and labels of a body model from marker names."""

from __future__ import annotations

import pytest

from pipeline.body.landmarks import choose_labels
from pipeline.errors import UserError
from pipeline.vocabulary.marker_labels import PersonMarkers, SeveralSubjectsError, choose_person
from tests.support.walks.person import body_model

NAMES = ["LASI", "RASI", "LKNE", "RKNE", "LHEE", "RHEE"]


def names(labels: list[str], *, subjects: tuple[str, ...] = (), **person: str) -> list[str]:
    return choose_person(labels, subjects, [True] * len(labels), **person).names


@pytest.mark.parametrize("pattern", ["A22:{}", "Subject1_{}", "walk.{}", "{}_pos", "A22:{}-1", "lab {}"])
def test_prefixes_and_suffixes_are_removed(pattern: str) -> None:
    assert names([pattern.format(name) for name in NAMES]) == NAMES


@pytest.mark.parametrize("pattern", ["S1{}", "Skeleton 001_{}", "QTM_Subject_01-{}", "lab{}", "Ann:S1_{}"])
def test_a_beginning_of_several_parts_or_without_a_separator_is_removed(pattern: str) -> None:
    assert names([pattern.format(name) for name in NAMES]) == NAMES


@pytest.mark.parametrize("forms", [("S1{}", "S2{}"), ("S1_{}", "S2_{}"), ("Skeleton 001_{}", "Skeleton 002_{}"),
                                   ("lab:S1-{}", "lab:S2-{}")])  # fmt: skip
def test_two_people_are_parted_by_what_begins_the_same_names(forms: tuple[str, str]) -> None:
    labels = [form.format(name) for form in forms for name in NAMES]
    with pytest.raises(SeveralSubjectsError) as caught:
        names(labels)
    first, second = caught.value.subjects
    chosen = choose_person(labels, (), [True] * len(labels), subject=second)
    assert (chosen.names, chosen.columns) == (NAMES, list(range(6, 12)))
    assert names(labels, subject=first) == NAMES


@pytest.mark.parametrize(
    "text",
    [
        "RASI RKNE RHEE RANK RTOE",  # one side alone
        "LLKNE LMKNE LLANK LMANK RLKNE RMKNE RLANK RMANK",  # lateral and medial
        "L1 L2 L3 L4 R1 R2 R3 R4",
        "heel_l heel_r knee_l knee_r ankle_l ankle_r",
    ],
)
def test_what_begins_with_no_sides_is_no_prefix(text: str) -> None:
    assert names(text.split()) == text.split()


@pytest.mark.parametrize("text", ["L_IAS R_IAS L_FLE R_FLE", "L_IAS L_IPS L_FLE L_FME", "HEE_L TOE_L ANK_L KNE_L"])
def test_a_side_is_not_a_prefix(text: str) -> None:
    assert names(text.split()) == text.split()


def test_a_named_subjects_prefix_is_removed_if_others_have_none() -> None:
    assert names(["Ann_LKNE", "Ann_RKNE", "wall", "door", "lamp"], subjects=("Ann",)) == [
        "LKNE", "RKNE", "wall", "door", "lamp"
    ]  # fmt: skip


def test_unlabelled_trajectories_are_ignored() -> None:
    person = choose_person(["*12", "LKNE", "", "RKNE", "*300"], (), [True] * 5)
    assert person == PersonMarkers(["LKNE", "RKNE"], [1, 3], owner="", subjects=[], notes=[])


def test_a_repeated_label_uses_the_first_with_data_and_is_noted() -> None:
    person = choose_person(["LKNE", "RKNE", "LKNE", "LKNE"], (), [False, True, True, True])
    assert dict(zip(person.names, person.columns, strict=True)) == {"LKNE": 2, "RKNE": 1}
    assert person.notes == ["LKNE occurs 3 times (points 1, 3, 4): point 3 is used"]


TWO = [f"{owner}:{name}" for owner in ("Ann", "Bob") for name in NAMES]


@pytest.mark.parametrize("person", [{"subject": "Bob"}, {"subject": "bob"}, {"participant": "bob"},
                                   {"participant": "Ann", "subject": "Bob"}])  # fmt: skip
def test_the_chosen_one_of_several_subjects(person: dict[str, str]) -> None:
    chosen = choose_person(TWO, (), [True] * len(TWO), **person)
    assert chosen.columns == list(range(6, 12))
    assert chosen.names == NAMES


def test_several_subjects_are_refused_without_a_choice() -> None:
    """The message lists codes, with the nearest one, but not possible names of people."""
    with pytest.raises(UserError, match=r"holds several subjects \(2 not shown.*\); name one in the column 'subject'"):
        names(TWO, participant="sub-01")
    coded = [label.replace("Ann", "Ann1").replace("Bob", "Bob2") for label in TWO]
    with pytest.raises(UserError, match=r"holds several subjects \(Ann1, Bob2\)"):
        names(coded, participant="sub-01")
    with pytest.raises(UserError, match=r"no subject 'Bob3'; it has Ann1, Bob2; did you mean"):
        names(coded, subject="Bob3")


def test_other_objects_are_not_a_second_subject() -> None:
    assert names([*(f"Ann:{name}" for name in NAMES), "Treadmill:front", "Treadmill:back"], participant="x") == [
        *NAMES, "front", "back"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "L.ASIS R.ASIS L.Knee R.Knee L.Heel R.Heel L.TO R.TO",
        "ASI_L ASI_R KNE_L KNE_R HEE_L HEE_R TOE_L TOE_R",
        "LeftASIS RightASIS LeftKnee RightKnee LeftHeel RightHeel LeftToe RightToe",
        "l_asi r_asi l_kne r_kne l_hee r_hee l_toe r_toe",
        "asisL asisR kneeL kneeR heelL heelR toeL toeR",
        "L-Asis R-Asis L-Knee R-Knee L-Heel R-Heel L-Toe R-Toe",
    ],
)
def test_conventions_of_side_and_separator(text: str) -> None:
    labels = text.split()
    found = choose_labels(body_model("plug_in_gait"), labels)
    order = [f"{name}_{side}" for name in ("asis", "lateral_epicondyle", "heel", "toe") for side in ("left", "right")]
    assert [found[name] for name in order] == [(label,) for label in labels]


@pytest.mark.parametrize(
    "labels",
    [
        ["HEEL", "KNEER"],  # no side: HEEL is no left HEE
        ["LKNE_MED", "KNE"],  # another marker of the knee, a knee of no side
        ["L_KNE", "KNE_L"],  # which of the two?
        ["RKNE", "LLKNE"],  # the other side, other letters
    ],
)
def test_a_landmark_is_not_found_by_a_likely_label(labels: list[str]) -> None:
    found = choose_labels(body_model("plug_in_gait"), labels)
    assert not {"heel_left", "lateral_epicondyle_left"} & found.keys()


@pytest.mark.parametrize("label", ["LKNM", "LKNEM", "LKNEMED", "LMKNE", "L.Knee.Medial", "KNEE_MED_L", "L Knee Medial"])
def test_names_of_the_medial_knee_marker(label: str) -> None:
    found = choose_labels(body_model("plug_in_gait_medial"), ["LKNE", label, "LMED", "LANK"])
    assert found["medial_epicondyle_left"] == (label,)
    assert found["lateral_epicondyle_left"] == ("LKNE",)
    assert found["medial_malleolus_left"] == ("LMED",)


def test_case_and_blanks_do_not_matter_if_one_label_matches() -> None:
    model = body_model("bts_davis")
    found = choose_labels(model, ["R ASIS", "lasi", "r knee1", "R_MET", "r heel", "R Heel", "RBAR1", "r bar 1"])
    assert found["asis_right"] == ("R ASIS",)
    assert found["asis_left"] == ("lasi",)
    assert found["lateral_epicondyle_right"] == ("r knee1",)
    assert found["heel_right"] == ("r heel",), "as the model spells it"
    assert found["thigh_wand_right"] == ("r bar 1",)
    assert found["toe_right"] == ("R_MET",)
    assert "heel_right" not in choose_labels(model, ["R heel", "R Heel"]), "which of the two?"


def test_markers_beside_keypoints_of_a_pose_estimator_are_told_apart() -> None:
    """Files of both: ``LKnee`` is a joint centre, ``l_knee`` the marker, whatever letters the model has."""
    labels = [f"{side}{joint}" for side in "lr" for joint in ("_knee", "_ankle")] + [
        "LKnee",
        "RKnee",
        "LAnkle",
        "RAnkle",
    ]
    found = choose_labels(body_model("opencap"), labels)
    assert found == {
        "lateral_epicondyle_left": ("l_knee",),
        "lateral_epicondyle_right": ("r_knee",),
        "lateral_malleolus_left": ("l_ankle",),
        "lateral_malleolus_right": ("r_ankle",),
    }
